/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters and their mistakes, on the terminal. */
#include "tools/filter_option.h"

#include "conf/expr/expr_caret.h"
#include "tools/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

void filter_complain(const char *command, const char *what, const char *text, const struct ktr_error *err)
{
	char caret[512];

	fail(command, "%s: column %u: %s", what, err->column, err->text);
	print_visible(stderr, ktr__expr_caret(text, err, caret, sizeof(caret)));
}

int filter_use(const char *command, struct ktr_reader *reader, const char *text)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = text ? ktr_reader_filter(reader, text, &err) : 0;

	if (!rc)
		return 0;
	if (rc != -EINVAL && rc != -E2BIG && rc != -ERANGE)
		return fail_with(command, &err);
	filter_complain(command, "--filter", text, &err);
	return 2;
}

void filter_tell(const char *command, const struct ktr_reader *reader)
{
	uint64_t n = ktr_reader_n_filtered(reader);

	if (n)
		fprintf(stderr, "%s: the filter passed over %" PRIu64 " event%s\n", command, n,
			n == 1 ? "" : "s");
}

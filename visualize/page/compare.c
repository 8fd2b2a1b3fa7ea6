/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts two pages into one. */
#include "visualize/page/compare.h"

#include "analyze/print/newfile.h"
#include "visualize/model/label.h"
#include "visualize/page/blob.h"
#include "visualize/page/page_fill.h"
#include "visualize/page/page_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define COMPARE_BYTES 65536

struct compare {
	const struct ktr__compare_side *side;
	struct ktr__blob blob;
	char buffer[COMPARE_BYTES];
};

/* The pages, as the elements "A" and "B". */
static int compare_put_pages(void *context, const char *mark, FILE *to)
{
	struct compare *compare = context;

	(void)mark;
	for (int i = 0; i < 2; i++) {
		FILE *page = compare->side[i].page;
		size_t n;

		rewind(page);
		if (ktr__blob_begin(&compare->blob, to, i == 0 ? "A" : "B") != 0)
			return -ENOMEM;
		while ((n = fread(compare->buffer, 1, sizeof(compare->buffer), page)) > 0)
			ktr__blob_add(&compare->blob, compare->buffer, n);
		ktr__blob_end(&compare->blob);
		if (ferror(page))
			return -EIO;
	}
	return 0;
}

static int compare_put(struct compare *compare, const char *command, FILE *to)
{
	char name[2][PATH_MAX];

	for (int i = 0; i < 2; i++)
		ktr__label_clean(name[i], sizeof(name[i]), compare->side[i].name, strlen(compare->side[i].name));
	return ktr__page_fill(to, ktr__compare_html,
			      (const struct ktr__page_text[]){ { "A", name[0], 0 },
							       { "B", name[1], 0 },
							       { "command", command, 0 },
							       { "css", ktr__page_css, 1 },
							       { "js", ktr__compare_js, 1 },
							       { NULL, NULL, 0 } },
			      compare_put_pages, compare);
}

int ktr__compare_write(const char *path, const struct ktr__compare_side side[2], const char *command,
		       struct ktr_error *err)
{
	struct compare *compare = malloc(sizeof(*compare));
	struct ktr__newfile file;
	int rc;

	if (compare == NULL)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	compare->side = side;
	rc = ktr__newfile_begin(&file, path, err);
	if (rc == 0) {
		rc = compare_put(compare, command, file.to);
		if (rc != 0)
			ktr_error_at(err, path, 0, 0, -rc, "cannot be written: %s", strerror(-rc));
		rc = ktr__newfile_end(&file, rc, err);
	}
	free(compare);
	return rc;
}

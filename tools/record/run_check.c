/* SPDX-License-Identifier: BSD-2-Clause */
/* Masks are parsed by the parser that the program's library will use, with the names known so far. */
#include "tools/record/run_check.h"

#include "conf/names.h"
#include "ktr/knob/knobs.h"
#include "ktr/session/session_find.h"
#include "ktr/session/session_rw.h"
#include "tools/options.h"
#include "tools/record/program.h"
#include "writer/format/stream.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct run_names {
	struct ktr__knob_context *usual;
	const char *mask;
	const char *path; /* of the program */
	enum program_kind kind;
	unsigned n_usual;
};

/* The idx-th word of a mask, without sign and prefix. 0 when there is none. */
static int run_word(const char *mask, unsigned idx, char *word, size_t size)
{
	size_t n;

	for (;; mask += n) {
		mask += strspn(mask, "|, \t+-");
		n = strcspn(mask, "|, \t");
		if (!n || !idx--)
			break;
	}
	if (n > 4 && ktr__same_word(mask, 4, "KTR_")) {
		mask += 4;
		n -= 4;
	}
	if (!n || n >= size)
		return 0;
	memcpy(word, mask, n);
	word[n] = '\0';
	return 1;
}

/* Could it be a class of the program's own? */
static int run_may_be_its_own(struct run_names *names, const char *word)
{
	char string[KTR_NAME_BYTES + 2] = "", nearest[KTR_NAME_BYTES];
	size_t n = strlen(word);

	if (*word >= '0' && *word <= '9')
		return 0; /* a number, and a wrong one */
	if (names->kind != PROGRAM_LINKED)
		return 1;
	memcpy(string + 1, word, n + 1);
	return program_contains(names->path, string, n + 2) ||
	       !ktr_nearest(word, ktr__knob_class_names, names->usual, nearest, sizeof(nearest));
}

/* The usual classes, then those words of the mask that may be the program's. */
static int run_class_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	struct run_names *names = context;
	char word[KTR_NAME_BYTES];
	int rc = idx < names->n_usual ? ktr__knob_class_names(names->usual, idx, name, size, value)
				      : -ENOENT;

	if (rc >= 0)
		return rc;
	if (idx < names->n_usual)
		names->n_usual = idx;
	if (!run_word(names->mask, idx - names->n_usual, word, sizeof(word)))
		return -ENOENT;
	if (!run_may_be_its_own(names, word))
		return 1;
	snprintf(name, size, "%s", word);
	*value = 1ull << KTR_CLASS_APP_FIRST;
	return 0;
}

int run_check_mask(const char *command, const char *mask, const char *program)
{
	struct ktr__session_rw none = { .fd = -1 };
	struct ktr__knob_context usual = { .session = &none };
	struct run_names names = { .usual = &usual, .mask = mask, .n_usual = UINT_MAX };
	struct ktr_error err = KTR_ERROR_NONE;
	char path[PATH_MAX], line[KTR_ERROR_LINE_BYTES];
	uint64_t bits;

	names.path = path;
	names.kind = program_look(program, path);
	if (ktr__parse_mask(mask, run_class_names, &names, 0, &bits, &err) == 0)
		return 0;
	return usage_error(command, "-m %s: %s", mask, ktr_error_print(&err, line, sizeof(line)));
}

int run_check_entries(const char *command, const char *entries)
{
	uint64_t number;

	for (unsigned i = 0; i < ktr__n_knob_rows; i++) {
		const struct ktr_knob *knob = &ktr__knob_rows[i];

		if (strcmp(knob->name, "debug.ktr.entries") == 0)
			return option_number(command, "-e", entries, (uint64_t)knob->min,
					     (uint64_t)knob->max, &number);
	}
	return 0;
}

int run_check_session(const char *command, const char *name)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char path[PATH_MAX];

	if (ktr__session_path_of(name, path, sizeof(path), &err) == 0)
		return 0;
	return usage_error(command, "-s: %s", err.text);
}

/* The directory that the trace goes into is looked at before the program has run for nothing. */
int run_check_output(const char *command, const char *trace, const char *path)
{
	char dir[PATH_MAX], *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	slash[slash == dir] = '\0';
	if (access(dir, W_OK | X_OK) == 0)
		return 0;
	return fail(command, "-o %s: %s: %s", trace, dir, strerror(errno));
}

/* A trace that is written is not moved aside. */
int run_check_unwritten(const char *command, const char *trace, const char *path)
{
	if (ktr__trace_locked(path) != 1)
		return 0;
	return fail(command, "%s: another program is being recorded into this trace: -o names another one", trace);
}

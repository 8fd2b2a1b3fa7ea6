/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identifiers out of source text: "*peer->name" becomes peer_name, "f(a, b)" becomes f_a_b.
 *
 * Words that TSDL or our metadata give a meaning get an underscore in front; readers of CTF take
 * it off again (CTF 1.8.3, section 7.3.2 leaves the reason to them: LTTng writes all names so).
 */
#include "writer/format/ident.h"

#include "writer/format/arg_name.h"

#include <stdio.h>
#include <string.h>

static const char *const ident_words[] = {
	"align",
	"callsite",
	"char",
	"clock",
	"const",
	"double",
	"enum",
	"env",
	"event",
	"floating_point",
	"float",
	"inf",
	"int",
	"integer",
	"long",
	"short",
	"signed",
	"stream",
	"string",
	"struct",
	"trace",
	"typealias",
	"typedef",
	"unsigned",
	"variant",
	"void",
	/* the names of our types */
	"i8",
	"i16",
	"i32",
	"i64",
	"u8",
	"u16",
	"u32",
	"u64",
	"f64",
	"ptr",
	"t32",
	"t64",
};

static int ident_is_word(const char *name)
{
	for (size_t i = 0; i < sizeof(ident_words) / sizeof(ident_words[0]); i++)
		if (strcmp(name, ident_words[i]) == 0)
			return 1;
	return strncmp(name, "ktr_", 4) == 0;
}

static int ident_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Makes an identifier of text[0..n), "" when nothing of it can be part of one. */
static void ident_clean(const char *text, size_t n, char *name, size_t size)
{
	size_t at = 0;
	int gap = 0;

	for (size_t i = 0; i < n && at + 3 < size; i++) {
		if (!ident_is_letter(text[i])) {
			gap = at > 0;
			continue;
		}
		if (gap)
			name[at++] = '_';
		name[at++] = text[i];
		gap = 0;
	}
	name[at] = 0;
	if (at && (ident_is_word(name) || (name[0] >= '0' && name[0] <= '9'))) {
		memmove(name + 1, name, at + 1);
		name[0] = '_';
	}
}

/* How many attributes a KTRGRAPH format has, and where they are. */
static unsigned ident_attributes(const char *format, const char *at[KTR_ARGS_MAX])
{
	static const char begin[] = "KTRGRAPH ", mark[] = ", attributes: ";
	unsigned n = 0;

	if (strncmp(format, begin, sizeof(begin) - 1) != 0)
		return 0;
	format = strstr(format, mark);
	if (!format || strcmp(format + sizeof(mark) - 1, "none") == 0)
		return 0;
	for (format += sizeof(mark) - 1; format && n < KTR_ARGS_MAX; n++) {
		at[n] = format;
		format = strstr(format, ", ");
		if (format)
			format += 2;
	}
	return n;
}

/* Tells the name of argument `arg` from those before it: n, n_2, n_3. */
static void ident_unique(char ident[KTR_ARGS_MAX][KTR_IDENT_MAX], unsigned arg)
{
	size_t n = strlen(ident[arg]);
	unsigned number = 1;

	if (n > KTR_IDENT_MAX - 4)
		n = KTR_IDENT_MAX - 4;
	for (unsigned i = 0; i < arg; i++) {
		if (strcmp(ident[i] + (ident[i][0] == '_'), ident[arg] + (ident[arg][0] == '_')) !=
		    0)
			continue;
		snprintf(ident[arg] + n, KTR_IDENT_MAX - n, "_%u", ++number);
		i = UINT32_MAX; /* the new name may be taken too: from the beginning */
	}
}

void ktr__ident_args(const char *names, const char *format, unsigned n_args,
		     char ident[KTR_ARGS_MAX][KTR_IDENT_MAX])
{
	const char *attribute[KTR_ARGS_MAX], *from, *to, *end = names + strlen(names);
	unsigned n_attributes = ident_attributes(format, attribute);

	for (unsigned i = 0; i < n_args; i++) {
		names = ktr__arg_name(names, end, &from, &to);
		ident_clean(from, (size_t)(to - from), ident[i], KTR_IDENT_MAX);
	}
	for (unsigned i = 0; i < n_attributes && n_attributes <= n_args; i++)
		ident_clean(attribute[i], strcspn(attribute[i], ":"),
			    ident[n_args - n_attributes + i], KTR_IDENT_MAX);
	for (unsigned i = 0; i < n_args; i++) {
		if (!ident[i][0])
			snprintf(ident[i], KTR_IDENT_MAX, "arg%u", i);
		ident_unique(ident, i);
	}
}

const char *ktr__ident_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

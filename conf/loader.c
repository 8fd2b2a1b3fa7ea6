/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loader.conf: reads settings line by line, out of memory or out of a file.
 *
 * The grammar is that of FreeBSD's loader, from loader.conf(5) and the two parsers after it:
 *
 *	line	= [ name "=" value ] [ "#" anything ]		blanks anywhere between these
 *	name	= letter { letter | digit | "_" | "." | "-" }
 *	value	= '"' { byte | "\" byte | "$" name | "${" name "}" } '"' | word
 *
 * stand/forth/support.4th gives the grammar and the meaning of the backslash (the next byte is
 * literal, whatever it is); stand/lua/config.lua adds the dollar. Where they fall short this
 * parser follows the grammar: the Forth one loses escaped backslashes, the Lua one takes the last
 * quote of the line, comment included, for the closing one. Words without quotes may also hold
 * / , : + @ and %, which sh(1), whose syntax this is a part of, takes literally too.
 *
 * A line that is wrong is reported and left out, the lines around it count: FreeBSD's loader stops
 * at the first error, which its manual page lists under BUGS. Binary content is recognised by a NUL
 * byte before anything of the same text is applied.
 */
#include "conf/loader.h"

#include "conf/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One line on its way through the parser; errors gather in bad, one per line. */
struct loader_line {
	struct ktr_loader *loader;
	const char *start;
	const char *end;
	struct ktr_error bad;
};

static int loader_bad(struct loader_line *line, const char *at, const char *what)
{
	return ktr_error_at(&line->bad, line->loader->file, line->loader->line,
			    (unsigned)(at - line->start) + 1, EINVAL, "%s", what);
}

static const char *loader_blanks(const char *p, const char *end)
{
	while (p < end && ktr__is_blank(*p))
		p++;
	return p;
}

static int loader_is_letter(char c)
{
	return ktr__lower(c) >= 'a' && ktr__lower(c) <= 'z';
}

static int loader_in_name(char c)
{
	return loader_is_letter(c) || ktr__is_digit(c) || c == '_' || c == '.' || c == '-';
}

static int loader_in_word(char c)
{
	return loader_in_name(c) || (c && strchr("/,:+@%", c)) || (unsigned char)c >= 0x80;
}

/* A name at *at, copied; *at moves after it. */
static int loader_name(struct loader_line *line, const char **at, char name[KTR_KNOB_NAME_BYTES])
{
	const char *p = *at;
	size_t length;

	while (p < line->end && loader_in_name(*p))
		p++;
	length = (size_t)(p - *at);
	if (!length || !loader_is_letter(**at))
		return loader_bad(line, *at, "a name beginning with a letter is expected here");
	if (length >= KTR_KNOB_NAME_BYTES)
		return loader_bad(line, *at, "the name is too long");
	memcpy(name, *at, length);
	name[length] = '\0';
	*at = p;
	return 0;
}

/* $name or ${name} at *at: appends its value, of which *length bytes are there already. */
static int loader_dollar(struct loader_line *line, const char **at, char *value, size_t *length)
{
	struct ktr_loader *loader = line->loader;
	char name[KTR_KNOB_NAME_BYTES];
	const char *p = *at + 1;
	int braces = p < line->end && *p == '{', rc;

	p += braces;
	if (p == line->end || !loader_is_letter(*p) || !loader->expand)
		return loader_bad(line, *at,
				  "'$' stands for a knob's value here; for the character"
				  " itself write \\$");
	rc = loader_name(line, &p, name);
	if (rc)
		return rc;
	if (braces && (p == line->end || *p++ != '}'))
		return loader_bad(line, *at, "the '}' of ${name} is missing");
	value += *length;
	rc = loader->expand(loader, name, value, KTR_LOADER_LINE_BYTES - *length, &line->bad);
	if (rc < 0) {
		ktr_error_set(&line->bad, rc, "\"%s\" has no value", name);
		ktr_error_place(&line->bad, loader->file, loader->line,
				(unsigned)(*at - line->start) + 1);
		return rc;
	}
	*length += strlen(value);
	*at = p;
	return 0;
}

/*
 * The text between quotes from *at on, decoded, until limit bytes are there or the closing quote
 * is reached; *at moves to where it stopped. The limit serves to find where in the line a byte of
 * the decoded value came from.
 */
static int loader_quoted(struct loader_line *line, const char **at, char *value, size_t limit)
{
	const char *p = *at, *end = line->end;
	size_t length = 0;
	int rc = 0;

	while (length < limit && p < end && *p != '"') {
		if (*p == '$') {
			rc = loader_dollar(line, &p, value, &length);
		} else {
			p += *p == '\\' && p + 1 < end;
			value[length++] = *p++;
		}
		if (!rc && length + 1 >= KTR_LOADER_LINE_BYTES)
			rc = loader_bad(line, *at, "the value is too long");
		if (rc)
			return rc;
	}
	if (p == end)
		return loader_bad(line, *at - 1, "the closing quote is missing");
	value[length] = '\0';
	*at = p;
	return 0;
}

static int loader_word(struct loader_line *line, const char **at, char *value)
{
	const char *p = *at;
	size_t length;

	while (p < line->end && loader_in_word(*p))
		p++;
	length = (size_t)(p - *at);
	if (p < line->end && *p != '#' && !ktr__is_blank(*p))
		return loader_bad(line, p, "this must stand between double quotes: NAME=\"VALUE\"");
	if (!length)
		return loader_bad(line, p, "a value is missing (an empty one is \"\")");
	memcpy(value, *at, length);
	value[length] = '\0';
	*at = p;
	return 0;
}

/* Turns a column within the value into one of the line, and adds the place. */
static int loader_refused(struct loader_line *line, const char *name_at, const char *value_at,
			  char *value, int rc)
{
	struct ktr_error *bad = &line->bad;
	const char *at = name_at;

	ktr_error_set(bad, rc, "the setting is refused");
	/* The record is filled: what goes wrong below does not change it. */
	if (bad->column && *value_at == '"') {
		at = value_at + 1;
		if (loader_quoted(line, &at, value, bad->column - 1))
			at = value_at;
	} else if (bad->column) {
		at = value_at + bad->column - 1;
	}
	bad->line = 0;
	bad->column = 0;
	bad->file[0] = '\0';
	ktr_error_place(bad, line->loader->file, line->loader->line,
			(unsigned)(at - line->start) + 1);
	return rc;
}

static int loader_setting(struct loader_line *line, const char *p)
{
	char name[KTR_KNOB_NAME_BYTES], value[KTR_LOADER_LINE_BYTES];
	const char *name_at = p, *value_at;
	struct ktr_loader *loader = line->loader;
	int rc = loader_name(line, &p, name);

	if (rc)
		return rc;
	p = loader_blanks(p, line->end);
	if (p == line->end || *p != '=')
		return loader_bad(line, p, "a '=' is expected here");
	p = value_at = loader_blanks(p + 1, line->end);
	if (p < line->end && *p == '"') {
		p++;
		rc = loader_quoted(line, &p, value, sizeof(value));
		p += !rc;
	} else {
		rc = loader_word(line, &p, value);
	}
	if (rc)
		return rc;
	p = loader_blanks(p, line->end);
	if (p < line->end && *p != '#')
		return loader_bad(line, p, "nothing but a comment may follow the value");
	rc = loader->set(loader, name, value, &line->bad);
	if (rc < 0)
		return loader_refused(line, name_at, value_at, value, rc);
	loader->n_kept += rc == 0;
	loader->n_aside += rc > 0;
	return 0;
}

int ktr__loader_fail(struct ktr_loader *loader, struct ktr_error *failed, struct ktr_error *err)
{
	if (loader->report)
		loader->report(loader, failed);
	if (err && !err->code)
		*err = *failed;
	return -failed->code;
}

/* One line without its newline. 0, or -errno when it was refused. */
static int loader_line(struct ktr_loader *loader, const char *start, const char *end,
		       struct ktr_error *err)
{
	struct loader_line line = { .loader = loader, .start = start };
	const char *p;

	loader->line++;
	if (end > start && end[-1] == '\r')
		end--;
	line.end = end;
	if (end - start >= KTR_LOADER_LINE_BYTES)
		loader_bad(&line, start, "the line is too long, 4095 bytes are allowed");
	for (p = start; p < end && !line.bad.code; p++)
		if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
			loader_bad(&line, p, "a control byte cannot be part of a setting");
	p = loader_blanks(start, end);
	if (!line.bad.code && p < end && *p != '#')
		loader_setting(&line, p);
	if (!line.bad.code)
		return 0;
	loader->n_refused++;
	return ktr__loader_fail(loader, &line.bad, err);
}

/* A NUL byte in the text: not settings, whatever the lines around it look like. */
static int loader_binary(struct ktr_loader *loader, const char *text, const char *nul,
			 struct ktr_error *err)
{
	struct ktr_error bad;
	unsigned line = loader->line + 1;
	const char *start = text;

	for (const char *p = text; p < nul; p++) {
		if (*p == '\n') {
			start = p + 1;
			line++;
		}
	}
	ktr_error_clear(&bad);
	ktr_error_at(&bad, loader->file, line, (unsigned)(nul - start) + 1, EINVAL,
		     "this is a binary file, not settings; nothing is read from here on");
	return ktr__loader_fail(loader, &bad, err);
}

size_t ktr__loader_lines(struct ktr_loader *loader, const char *text, size_t length, int at_end,
			 int *first, struct ktr_error *err)
{
	const char *p = text, *end = text + length, *newline, *nul = memchr(text, 0, length);
	int rc;

	if (nul) {
		rc = loader_binary(loader, text, nul, err);
		*first = *first ? *first : rc;
		return SIZE_MAX;
	}
	/* UTF-8 byte order mark, which some editors put in front. */
	if (!loader->line && length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	for (; p < end; p = newline + 1) {
		newline = memchr(p, '\n', (size_t)(end - p));
		if (!newline && !at_end)
			break;
		rc = loader_line(loader, p, newline ? newline : end, err);
		*first = *first ? *first : rc;
		if (!newline)
			return length;
	}
	return loader->line ? (size_t)(p - text) : 0; /* a mark without a line is not used yet */
}

int ktr_loader_text(struct ktr_loader *loader, const char *file, const char *text, size_t length,
		    struct ktr_error *err)
{
	int first = 0;

	loader->file = file;
	loader->line = 0;
	if (length)
		ktr__loader_lines(loader, text, length, 1, &first, err);
	return first;
}

int ktr_loader_print(const char *name, const char *value, char *buffer, size_t size)
{
	int n = snprintf(buffer, size, "%s=\"", name);
	size_t at = (size_t)n;

	if (!loader_is_letter(*name))
		return -EINVAL;
	for (const char *p = name; *p; p++)
		if (!loader_in_name(*p))
			return -EINVAL;
	for (; *value; value++) {
		if (((unsigned char)*value < 0x20 && *value != '\t') || *value == 0x7f)
			return -EINVAL;
		if (at + 4 > size)
			return -ENOSPC;
		if (strchr("\"\\$", *value))
			buffer[at++] = '\\';
		buffer[at++] = *value;
	}
	if (at + 2 > size)
		return -ENOSPC;
	memcpy(buffer + at, "\"", 2);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills and prints error records.
 *
 * A record is written once and then left alone, so that it tells the cause of a failure whatever
 * its consequences report. What comes from the input (names, values, paths) is made harmless for
 * terminals at the moment it is recorded: everybody may print the text as it stands.
 */
#include <ktr/error.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* C1 controls are U+0080 to U+009F, in UTF-8 c2 80 to c2 9f; some terminals obey them. */
static int error_is_c1(const unsigned char *p)
{
	return p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f;
}

static void error_disarm(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f || error_is_c1(p))
			*p = '?';
	}
}

/* Of a path too long to keep, the end says more than the beginning. */
static void error_keep_file(struct ktr_error *err, const char *file)
{
	size_t length = strlen(file), room = sizeof(err->file) - 1;
	bool fits = length <= room;

	snprintf(err->file, sizeof(err->file), "%s%s", fits ? "" : "...", fits ? file : file + length - (room - 3));
	error_disarm(err->file);
}

static int error_code(int code)
{
	if (code == 0)
		return EINVAL;
	return code < 0 ? -code : code;
}

/* Where there is a record and it is empty: fills it. Returns -code. */
static int __attribute__((format(printf, 4, 0)))
error_fill(struct ktr_error *err, int code, const char *file, const char *format, va_list args)
{
	int length, saved = errno;

	code = error_code(code);
	if (!err || err->code)
		return -code;
	err->code = code;
	if (file)
		error_keep_file(err, file);
	errno = code; /* for %m */
	length = vsnprintf(err->text, sizeof(err->text), format, args);
	errno = saved;
	if (length < 0)
		err->text[0] = '\0';
	else if ((size_t)length >= sizeof(err->text))
		memcpy(err->text + sizeof(err->text) - 4, "...", 4);
	error_disarm(err->text);
	return -code;
}

int ktr_error_set(struct ktr_error *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	code = error_fill(err, code, NULL, format, args);
	va_end(args);
	return code;
}

int ktr_error_at(struct ktr_error *err, const char *file, unsigned line, unsigned column, int code,
		 const char *format, ...)
{
	va_list args;

	if (err && !err->code) {
		err->line = line;
		err->column = column;
	}
	va_start(args, format);
	code = error_fill(err, code, file, format, args);
	va_end(args);
	return code;
}

int ktr_error_at_offset(struct ktr_error *err, const char *file, uint64_t offset, int code,
			const char *format, ...)
{
	va_list args;

	if (err && !err->code) {
		err->has_offset = 1;
		err->offset = offset;
	}
	va_start(args, format);
	code = error_fill(err, code, file, format, args);
	va_end(args);
	return code;
}

void ktr_error_place(struct ktr_error *err, const char *file, unsigned line, unsigned column)
{
	if (!err || !err->code)
		return;
	if (file && !err->file[0])
		error_keep_file(err, file);
	if (!err->line)
		err->line = line;
	if (!err->column)
		err->column = column;
}

void ktr_error_clear(struct ktr_error *err)
{
	if (err)
		memset(err, 0, sizeof(*err));
}

/*
 * A column without a line is a position within a value, of use to whoever knows where the value
 * stands; it is not printed.
 */
const char *ktr_error_print(const struct ktr_error *err, char *buffer, size_t size)
{
	const char *file = err->file[0] ? err->file : err->line ? "line " : "";
	bool lines = err->line && !err->has_offset;
	char place[32] = "";

	if (!err->code) {
		snprintf(buffer, size, "no error");
		return buffer;
	}
	if (err->has_offset)
		snprintf(place, sizeof(place), "byte %llu: ", (unsigned long long)err->offset);
	else if (err->line)
		snprintf(place, sizeof(place), err->column ? "%u:%u: " : "%u: ", err->line, err->column);
	snprintf(buffer, size, "%s%s%s%s", file, !err->file[0] ? "" : lines ? ":" : ": ", place, err->text);
	return buffer;
}

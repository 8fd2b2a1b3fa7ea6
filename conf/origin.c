/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a value came from, as a record that may lie in shared memory and as text.
 *
 * Records are read from memory that others write: whatever they hold, printing stays within the
 * record and writes nothing that a terminal would obey.
 */
#include <ktr/conf.h>

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct ktr_origin) == 128, "origin records lie in session files");

void ktr_origin_set(struct ktr_origin *origin, unsigned kind, const char *file, unsigned line)
{
	size_t length = file ? strlen(file) : 0, room = sizeof(origin->file) - 1;

	memset(origin, 0, sizeof(*origin));
	origin->kind = kind;
	origin->line = line;
	if (length > room) { /* the end of a path says more than its beginning */
		memcpy(origin->file, "...", 3);
		memcpy(origin->file + 3, file + length - (room - 3), room - 3);
	} else if (file) {
		memcpy(origin->file, file, length);
	}
}

const char *ktr_origin_print(const struct ktr_origin *origin, char *buffer, size_t size)
{
	int length = (int)strnlen(origin->file, sizeof(origin->file));

	switch (origin->kind) {
	case KTR_ORIGIN_DEFAULT:
		snprintf(buffer, size, "default");
		break;
	case KTR_ORIGIN_FILE:
		snprintf(buffer, size, "%.*s:%u", length, origin->file, (unsigned)origin->line);
		break;
	case KTR_ORIGIN_ENVIRONMENT:
		snprintf(buffer, size, "environment %.*s", length, origin->file);
		break;
	case KTR_ORIGIN_API:
	case KTR_ORIGIN_SYSCTL:
		snprintf(buffer, size, origin->pid ? "%s by pid %u" : "%s",
			 origin->kind == KTR_ORIGIN_API ? "API" : "sysctl", (unsigned)origin->pid);
		break;
	default:
		snprintf(buffer, size, "unknown origin %u", (unsigned)origin->kind);
	}
	for (char *p = buffer; size && *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return buffer;
}

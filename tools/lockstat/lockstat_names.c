/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/lockstat/lockstat_names.h"

#include "tools/stack_line.h"
#include "visualize/model/label.h"

#include <inttypes.h>
#include <string.h>

#define LOCKSTAT_DEPTH 8 /* callers of a stack */

static const char *lockstat_name(const struct lockstat_view *view, uint32_t proc, uint64_t address,
				 enum ktr__symbols_kind kind, char text[LOCKSTAT_NAME])
{
	const char *name = view->symbols ? ktr__symbols_at(view->symbols, proc, address, kind) : NULL;
	size_t n = name ? strlen(name) : 0;

	if (!name) {
		snprintf(text, LOCKSTAT_NAME, "0x%" PRIx64, address);
		return text;
	}
	if (n > 4 && strcmp(name + n - 4, "+0x0") == 0)
		n -= 4;
	ktr__label_clean(text, LOCKSTAT_NAME, name, n);
	return text;
}

const char *lockstat_lock(const struct lockstat_view *view, uint32_t proc, uint64_t lock, char text[LOCKSTAT_NAME])
{
	return lockstat_name(view, proc, lock, KTR__SYMBOLS_POINTER, text);
}

const char *lockstat_caller(const struct lockstat_view *view, uint32_t proc, uint64_t caller,
			    char text[LOCKSTAT_NAME])
{
	return lockstat_name(view, proc, caller, KTR__SYMBOLS_RETURN, text);
}

void lockstat_stack(const struct lockstat_view *view, const char *what, const struct ktr__framed *stack, FILE *to)
{
	if (!stack)
		return;
	fprintf(to, "%15s%s ", "", what);
	stack_line(view->symbols, stack, LOCKSTAT_DEPTH, to);
	fputc('\n', to);
}

void lockstat_thread(const struct ktr_reader_thread *thread, FILE *to)
{
	char name[LOCKSTAT_NAME];

	ktr__label_clean(name, sizeof(name), thread->name, strlen(thread->name));
	fprintf(to, "thread %" PRIu32 " (%s)", thread->tid, name);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/lockstat/lockstat_names.h"

#include "conf/eval/glob.h"
#include "tools/stack_line.h"
#include "visualize/model/label.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOCKSTAT_DEPTH 8 /* callers of a stack */

/* What lies behind the name of something, "+0x12", is left out. */
static void lockstat_cut(char *name)
{
	char *plus = strstr(name, "+0x");

	if (plus)
		*plus = '\0';
}

const char *lockstat_lock(const struct lockstat_view *view, uint32_t proc, uint64_t lock, uint32_t life,
			  char text[LOCKSTAT_NAME])
{
	char name[KTR__LOCK_NAME_BYTES];

	if (!ktr__lock_names_of(view->names, proc, lock, life, name))
		snprintf(text, LOCKSTAT_NAME, "0x%" PRIx64, lock);
	else
		ktr__label_clean(text, LOCKSTAT_NAME, name, strlen(name));
	if (view->merged & LOCKSTAT_BY_VARIABLE)
		lockstat_cut(text);
	return text;
}

const char *lockstat_caller(const struct lockstat_view *view, uint32_t proc, uint64_t caller,
			    char text[LOCKSTAT_NAME])
{
	const char *name = view->symbols ? ktr__symbols_at(view->symbols, proc, caller, KTR__SYMBOLS_RETURN) : NULL;

	if (!name)
		snprintf(text, LOCKSTAT_NAME, "0x%" PRIx64, caller);
	else
		ktr__label_clean(text, LOCKSTAT_NAME, name, strlen(name));
	if (view->merged & LOCKSTAT_BY_FUNCTION)
		lockstat_cut(text);
	return text;
}

/* "0x7f12,40": does the lock lie there? -1: that is no address. */
static int lockstat_is_at(const char *pattern, uint64_t lock)
{
	uint64_t begin, n_bytes = 1;
	char *end;

	if (strncmp(pattern, "0x", 2) != 0)
		return -1;
	begin = strtoull(pattern, &end, 16);
	if (*end == ',')
		n_bytes = strtoull(end + 1, &end, 0);
	return *end ? -1 : lock - begin < n_bytes;
}

int lockstat_is_lock(const struct lockstat_view *view, const struct ktr__locks_row *row)
{
	char name[LOCKSTAT_NAME];
	int at;

	if (!view->lock)
		return 1;
	at = lockstat_is_at(view->lock, row->lock);
	if (at >= 0)
		return at;
	lockstat_lock(view, row->proc, row->lock, row->life, name);
	if (ktr__glob(view->lock, strlen(view->lock), name, strlen(name)))
		return 1;
	/* By its variable alone, too. */
	lockstat_cut(name);
	if (ktr__glob(view->lock, strlen(view->lock), name, strlen(name)))
		return 1;
	name[strcspn(name, "[.")] = '\0';
	return ktr__glob(view->lock, strlen(view->lock), name, strlen(name));
}

int lockstat_is_shown(const struct lockstat_view *view, const struct ktr__locks_row *row)
{
	char name[LOCKSTAT_NAME];

	if (!lockstat_is_lock(view, row))
		return 0;
	if (!view->function)
		return 1;
	lockstat_caller(view, row->proc, row->caller, name);
	lockstat_cut(name);
	return ktr__glob(view->function, strlen(view->function), name, strlen(name));
}

void lockstat_stack(const struct lockstat_view *view, const char *what, const struct ktr__framed *stack, FILE *to)
{
	if (!stack)
		return;
	fprintf(to, "%15s%s ", "", what);
	stack_line(view->symbols, stack, view->depth ? view->depth : LOCKSTAT_DEPTH, NULL, to);
	fputc('\n', to);
}

void lockstat_thread(const struct ktr_reader_thread *thread, FILE *to)
{
	char name[LOCKSTAT_NAME];

	ktr__label_clean(name, sizeof(name), thread->name, strlen(thread->name));
	fprintf(to, "thread %" PRIu32 " (%s)", thread->tid, name);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts events outside of ktr, beside each point of a foreign program:
 *
 *	COUNTED(CTR1(KTR_CLASS(cache), "hit %s", key));
 *	COUNTED_SCOPE(KTR_SCOPE(KTR_CLASS(cache), "lookup"));
 *
 * The counts lie in the file that ORACLE names, which every process of a run maps, so that they outlive each of
 * them however it ends. A row is a place in the source, as ktr names call sites: FILE:LINE. It is counted before
 * the event and after it: a process that is killed in between has begun one more than it did, and what ktr has is
 * neither below the second count nor above the first. Without ORACLE nothing is counted. judge.py reads the file.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ORACLE_ROWS 256

struct oracle_row {
	uint64_t begun;
	uint64_t done;
	char place[112]; /* empty: a free row; its first byte is written last */
};

#define ORACLE_BYTES (ORACLE_ROWS * sizeof(struct oracle_row))

/* What a place remembers when nothing is counted: a program that is only measured does not look again and again. */
#define ORACLE_NONE ((struct oracle_row *)-1)

/* Every file that counts has a mapping of its own: a header cannot have one variable for all of C and C++. */
__attribute__((unused)) static struct oracle_row *oracle_map(void)
{
	static struct oracle_row *rows;
	struct oracle_row *map = __atomic_load_n(&rows, __ATOMIC_ACQUIRE);
	const char *name = getenv("ORACLE");
	int fd;

	if (map || !name)
		return map;
	fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	map = (struct oracle_row *)mmap(NULL, ORACLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == (struct oracle_row *)MAP_FAILED)
		return NULL;
	__atomic_store_n(&rows, map, __ATOMIC_RELEASE);
	return map;
}

/* A row's first byte is its lock: two processes that claim one at once take different rows. */
__attribute__((unused)) static struct oracle_row *oracle_find(const char *place)
{
	struct oracle_row *map = oracle_map();

	for (int i = 0; map && i < ORACLE_ROWS; i++) {
		char *name = map[i].place;
		char none = 0, first = __atomic_load_n(name, __ATOMIC_ACQUIRE);

		if (!first &&
		    __atomic_compare_exchange_n(name, &none, '?', 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			strncpy(name + 1, place + 1, sizeof(map[i].place) - 2);
			__atomic_store_n(name, place[0], __ATOMIC_RELEASE);
		}
		while (__atomic_load_n(name, __ATOMIC_ACQUIRE) == '?')
			;
		if (strncmp(name, place, sizeof(map[i].place) - 1) == 0)
			return &map[i];
	}
	return ORACLE_NONE;
}

__attribute__((unused)) static struct oracle_row *oracle_begin(struct oracle_row **here, const char *place,
							       uint64_t n)
{
	struct oracle_row *row = __atomic_load_n(here, __ATOMIC_ACQUIRE);

	if (!row) {
		row = oracle_find(place);
		__atomic_store_n(here, row, __ATOMIC_RELEASE);
	}
	if (row != ORACLE_NONE)
		__atomic_fetch_add(&row->begun, n, __ATOMIC_RELAXED);
	return row;
}

__attribute__((unused)) static void oracle_end(struct oracle_row *row, uint64_t n)
{
	if (row != ORACLE_NONE)
		__atomic_fetch_add(&row->done, n, __ATOMIC_RELAXED);
}

__attribute__((unused)) static struct oracle_row *oracle_begun_scope(struct oracle_row *row)
{
	oracle_end(row, 1);
	return row;
}

__attribute__((unused)) static void oracle_ends_scope(struct oracle_row **row)
{
	if (*row != ORACLE_NONE)
		__atomic_fetch_add(&(*row)->begun, 1, __ATOMIC_RELAXED);
}

__attribute__((unused)) static void oracle_ended_scope(struct oracle_row **row)
{
	oracle_end(*row, 1);
}

#define ORACLE_TEXT_(x) #x
#define ORACLE_TEXT(x)	ORACLE_TEXT_(x)
#define ORACLE_PLACE	__FILE__ ":" ORACLE_TEXT(__LINE__)

#define COUNTED(...) \
	do { \
		static struct oracle_row *oracle_here; \
		struct oracle_row *oracle_row_ = oracle_begin(&oracle_here, ORACLE_PLACE, 1); \
		__VA_ARGS__; \
		oracle_end(oracle_row_, 1); \
	} while (0)

/*
 * One in a block. Its variables lie around that of the scope within, whose end is counted by one before it and by
 * the other after it: a process that ends inside the block has begun one event there, not two.
 */
#define COUNTED_SCOPE(...) \
	static struct oracle_row *oracle_scope_here; \
	__attribute__((cleanup(oracle_ended_scope), unused)) struct oracle_row *oracle_scope_ = \
		oracle_begin(&oracle_scope_here, ORACLE_PLACE, 1); \
	__VA_ARGS__; \
	__attribute__((cleanup(oracle_ends_scope), unused)) struct oracle_row *oracle_scope_in = \
		oracle_begun_scope(oracle_scope_)

#endif

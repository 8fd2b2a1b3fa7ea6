/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions are those that /proc/self/maps has. What only reserves addresses counts with the code that lies beside
 * it: engines reserve a range, and make parts of it executable as they need them.
 *
 * For who walks a stack there are two tables of them, of which one is read; a look fills in the other one. A reader
 * that has seen the tables change sides meanwhile takes nothing for code: the walk is cut, as it is where code has
 * come since the last look.
 */
#include "ktr/provider/profile/code.h"

#include "ktr/record/module.h"
#include "ktr/record/own.h"
#include "ktr/record/proc.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CODE_REGIONS 4096 /* of a session; further ones have no row */

struct code_region {
	uint64_t begin, end;
};

static struct code_region code_known[CODE_REGIONS]; /* a forked child has copies of the rows */
static uint32_t code_n_known;
static uint32_t code_at; /* the last one found: regions come in the order of addresses, time and again */
static uint8_t code_session[sizeof(ktr__own.header.uuid)]; /* whose rows they are */

static struct code_table {
	uint32_t n; /* atomic, as what it counts */
	struct code_region at[CODE_REGIONS]; /* in the order of addresses; files that are mapped as code, too */
} code_table[2];
static uint32_t code_turn; /* atomic: the lowest bit is the table that is read */

/* ---- who walks ---- */

bool ktr__code_has(uint64_t pc)
{
	uint32_t turn = __atomic_load_n(&code_turn, __ATOMIC_ACQUIRE), low = 0, high, middle;
	const struct code_table *table = &code_table[turn & 1];
	bool has = false;

	high = __atomic_load_n(&table->n, __ATOMIC_RELAXED);
	while (low < high && !has) {
		middle = (low + high) / 2;
		if (pc >= __atomic_load_n(&table->at[middle].end, __ATOMIC_RELAXED))
			low = middle + 1;
		else if (pc < __atomic_load_n(&table->at[middle].begin, __ATOMIC_RELAXED))
			high = middle;
		else
			has = true;
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return has && __atomic_load_n(&code_turn, __ATOMIC_RELAXED) == turn;
}

static void code_take(struct code_table *table, uint64_t begin, uint64_t end)
{
	uint32_t n = table->n; /* by who looks alone */

	if (n == CODE_REGIONS)
		return;
	__atomic_store_n(&table->at[n].begin, begin, __ATOMIC_RELAXED);
	__atomic_store_n(&table->at[n].end, end, __ATOMIC_RELAXED);
	__atomic_store_n(&table->n, n + 1, __ATOMIC_RELAXED);
}

/* ---- who looks ---- */

/* A row, unless there is one that holds it. */
static void code_tell(uint64_t begin, uint64_t end, const char *path)
{
	struct ktr__object object = { .base = begin, .end = end };

	for (uint32_t i = 0; i < code_n_known; i++) {
		uint32_t at = (code_at + i) % code_n_known;

		if (code_known[at].begin <= begin && end <= code_known[at].end) {
			code_at = at;
			return;
		}
	}
	if (code_n_known == CODE_REGIONS)
		return;
	code_known[code_n_known++] = (struct code_region){ begin, end };
	snprintf(object.path, sizeof(object.path), "%s", path);
	ktr__proc_module_add(&object);
}

static void code_end(struct code_table *table, const struct code_region *region, bool is_code)
{
	if (!is_code)
		return;
	code_take(table, region->begin, region->end);
	code_tell(region->begin, region->end, "[jit]");
}

/* Of no file, or of memory that has two mappings: code, or addresses that are reserved. */
static bool code_may_be(const char *access, uint64_t inode, const char *name)
{
	if (strncmp(name, "/memfd:", 7) == 0)
		return access[2] == 'x';
	return (access[2] == 'x' || strncmp(access, "---", 3) == 0) && !inode &&
	       (!*name || strncmp(name, "[anon:", 6) == 0);
}

/* Is it the page by which a jitdump is found? */
static bool code_is_jitdump(const char *path)
{
	const char *slash = strrchr(path, '/');
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "jit-%ld.dump", (long)getpid());
	return slash && strcmp(slash + 1, wanted) == 0;
}

void ktr__code_look(void)
{
	FILE *maps = ktr__own.map && ktr__rec.proc ? fopen("/proc/self/maps", "re") : NULL;
	uint32_t turn = __atomic_load_n(&code_turn, __ATOMIC_RELAXED);
	struct code_table *table = &code_table[~turn & 1];
	struct code_region region = { 0, 0 };
	bool is_code = false;
	char line[4096];

	/* A later session of the process has no rows yet. */
	if (maps && memcmp(code_session, ktr__own.header.uuid, sizeof(code_session)) != 0) {
		memcpy(code_session, ktr__own.header.uuid, sizeof(code_session));
		code_n_known = code_at = 0;
	}
	__atomic_store_n(&table->n, 0, __ATOMIC_RELAXED);
	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t begin, end, inode;
		char access[5];
		int path = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %" SCNu64 " %n", &begin, &end, access, &inode,
			   &path) < 4 || !path)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (access[2] == 'x' && code_is_jitdump(line + path))
			code_tell(begin, end, line + path);
		if (!code_may_be(access, inode, line + path) || begin != region.end) {
			code_end(table, &region, is_code);
			is_code = false;
			region = (struct code_region){ begin, begin };
		}
		if (code_may_be(access, inode, line + path))
			region.end = end;
		else if (access[2] == 'x')
			code_take(table, begin, end);
		is_code |= access[2] == 'x' && region.end == end;
	}
	code_end(table, &region, is_code);
	__atomic_store_n(&code_turn, turn + 1, __ATOMIC_RELEASE);
	if (maps)
		fclose(maps);
}

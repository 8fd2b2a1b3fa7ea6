/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock says whether anybody is left, the table of processes who. A process of another pid namespace has another
 * number here, which is looked for in /proc.
 */
#include "tools/record/run_live.h"

#include "ktr/session/clock.h"
#include "ktr/session/kernel.h"
#include "ktr/session/session_map.h"
#include "ktr/session/session_proc.h"

#include <stdio.h>
#include <string.h>

#define LIVE_NAPS 200 /* [ms] */

/* The number that a process of the table has here; 0: it has ended, or is not seen from here. */
static uint32_t live_number(const struct ktr_proc_row *row)
{
	if (ktr__proc_alive(row))
		return row->pid;
	return row->state == KTR_ROW_READY && row->pid_ns != ktr__proc_own_ns() ? ktr__proc_foreign(row) : 0;
}

static void live_find(const struct ktr__session_map *map, struct run_live *live)
{
	struct ktr_control control;
	struct ktr_proc_row row;
	uint32_t n, pid;

	if (ktr__map_control(map, &control))
		return;
	n = ktr__map_n_rows(map, &control, KTR_REGION_proc);
	for (uint32_t i = 1; i < n; i++) {
		if (ktr__map_proc(map, i, &row) || !(pid = live_number(&row)))
			continue;
		live->pid = pid;
		snprintf(live->name, sizeof(live->name), "%.*s", (int)sizeof(live->name) - 1, row.name);
		if (row.pid == control.writer)
			return;
	}
}

int run_live(const char *path, struct run_live *live)
{
	struct ktr__session_map map;
	const char *name = strrchr(path, '/');
	int alive;

	memset(live, 0, sizeof(*live));
	if (ktr__map_open(path, KTR__MAP_OWN, &map, NULL))
		return 0;
	alive = ktr__map_alive(&map) > 0;
	/* Who holds the lock and is not in the table may be a tool that looks, too, and has it for a moment. */
	for (int i = 0; alive && i < LIVE_NAPS; i++) {
		live_find(&map, live);
		if (live->pid)
			break;
		ktr__nap();
		alive = ktr__map_alive(&map) > 0;
	}
	/* Who becomes another program has it until exec(2) has closed the last of its descriptors. */
	if (alive) {
		ktr__nap();
		alive = ktr__map_alive(&map) > 0;
	}
	ktr__map_close(&map);
	name = name ? name + 1 : path;
	snprintf(live->session, sizeof(live->session), "%.*s", (int)(strlen(name) - strlen(KTR_SESSION_SUFFIX)), name);
	return alive;
}

void run_live_text(const struct run_live *live, char *text, int size)
{
	char who[64] = "somebody in its session";

	if (live->pid)
		snprintf(who, sizeof(who), "process %u (%s)", live->pid, live->name);
	snprintf(text, (size_t)size, "; %s goes on: ktr tail -s %s", who, live->session);
}

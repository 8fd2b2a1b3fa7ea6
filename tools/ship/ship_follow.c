/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of a folder take turns, a step of each, in one thread and over one connection. One that has come to its
 * end is closed, and opened again when what describes it has changed: somebody goes on with it, or another has its
 * name. One that fails is tried again later; the same complaint is made once.
 */
#include "tools/ship/ship_follow.h"

#include "conf/kit/array.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/ship/ship_walk.h"

#include <ktr/trace_file.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLLOW_LOOK_NS	 2000000000ull	/* between two looks for traces */
#define FOLLOW_RETRY_NS	 5000000000ull	/* after the first failure; it doubles, */
#define FOLLOW_RETRY_MAX 60000000000ull /* up to this */
#define FOLLOW_IDLE_NS	 200000000l	/* where none has anything */

/* By what it is told whether a trace has changed: the file of its first lines. */
struct follow_sign {
	ino_t ino;
	off_t size;
	struct timespec changed;
};

struct follow_trace {
	char *path;	   /* owned */
	struct ship *ship; /* owned; NULL: it is not open */
	struct follow_sign sign; /* when it was opened last */
	uint64_t retry_ns;	 /* not before, of CLOCK_MONOTONIC */
	uint64_t pause_ns;	 /* until another try; 0: the last one was no failure */
	int is_left, is_seen;	 /* its writer was killed: the rest is found by another walk; it is in the folder */
	char said[KTR_ERROR_LINE_BYTES];
};

struct follow {
	const struct ship *like;
	struct follow_trace *trace; /* owned */
	uint32_t n, room;
	int failed; /* 1: no memory */
};

void ship_tell(const struct ship *ship)
{
	const struct ship_counts *n = &ship->counts;

	fprintf(stderr, "ktr: %s: %llu events and %llu spans in %llu batches, %.1f MB; %llu lost\n", ship->path,
		(unsigned long long)n->n_events, (unsigned long long)n->n_spans, (unsigned long long)n->n_batches,
		(double)n->n_bytes / 1e6, (unsigned long long)n->n_lost);
	if (n->n_gone)
		fprintf(stderr, "%s: %s: %llu events were removed by rotation before they were shipped\n", ship->command,
			ship->path, (unsigned long long)n->n_gone);
}

static int follow_sign(const char *path, struct follow_sign *sign)
{
	char info[PATH_MAX + 32];
	struct stat st;

	memset(sign, 0, sizeof(*sign));
	snprintf(info, sizeof(info), "%.4095s/" KTR_TRACE_DIR "/info.jsonl", path);
	if (stat(info, &st))
		return -errno;
	*sign = (struct follow_sign){ st.st_ino, st.st_size, st.st_mtim };
	return 0;
}

static int follow_is_same(const struct follow_sign *a, const struct follow_sign *b)
{
	return a->ino == b->ino && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

/* What folder_traces() finds. */
static void follow_found(void *context, const char *path, const char *host)
{
	struct follow *f = context;

	(void)host;
	for (uint32_t i = 0; i < f->n; i++)
		if (strcmp(f->trace[i].path, path) == 0) {
			f->trace[i].is_seen = 1;
			return;
		}
	if (ktr__array_grow(&f->trace, &f->room, f->n, sizeof(*f->trace))) {
		f->failed = 1;
		return;
	}
	f->trace[f->n] = (struct follow_trace){ .path = strdup(path), .is_seen = 1 };
	f->failed |= !f->trace[f->n].path;
	f->n += f->trace[f->n].path != NULL;
}

/* Another look at the folder. 0 or -errno. */
static int follow_look(struct follow *f, const char *folder)
{
	int n;

	for (uint32_t i = 0; i < f->n; i++)
		f->trace[i].is_seen = 0;
	n = folder_traces(folder, 0, follow_found, f);
	for (uint32_t i = f->n; i-- > 0;)
		if (!f->trace[i].is_seen && !f->trace[i].ship) {
			free(f->trace[i].path);
			f->trace[i] = f->trace[--f->n];
		}
	return n < 0 ? n : f->failed ? -ENOMEM : 0;
}

/* It is over, for now: err tells whether it failed. */
static void follow_close(struct follow_trace *t, struct ktr_error *err)
{
	char line[KTR_ERROR_LINE_BYTES];

	t->is_left = !err->code && t->ship->is_left;
	if (err->code) {
		t->pause_ns = t->pause_ns ? t->pause_ns * 2 : FOLLOW_RETRY_NS;
		if (t->pause_ns > FOLLOW_RETRY_MAX)
			t->pause_ns = FOLLOW_RETRY_MAX;
		t->retry_ns = store_now() + t->pause_ns;
		ktr_error_print(err, line, sizeof(line));
		if (strcmp(line, t->said) != 0)
			fail_with(t->ship->command, err);
		snprintf(t->said, sizeof(t->said), "%s", line);
	} else {
		t->pause_ns = 0;
		t->said[0] = 0;
		if (!t->ship->is_told)
			ship_tell(t->ship);
	}
	ship_walk_close(t->ship);
	free(t->ship);
	t->ship = NULL;
}

/* Opens it where there is something to be done. */
static void follow_open(const struct follow *f, struct follow_trace *t)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct follow_sign sign;

	if (store_now() < t->retry_ns || follow_sign(t->path, &sign) ||
	    (!t->pause_ns && !t->is_left && follow_is_same(&sign, &t->sign)))
		return;
	t->ship = malloc(sizeof(*t->ship));
	if (!t->ship)
		return;
	t->sign = sign;
	*t->ship = *f->like;
	t->ship->path = t->path;
	t->ship->follow = !t->is_left;
	if (ship_walk_begin(t->ship, &err))
		follow_close(t, &err);
}

/* A step. Has it done anything? */
static int follow_step(struct follow_trace *t)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = ship_walk_step(t->ship, 0, &err), busy = !t->ship->n_waits;

	if (rc)
		follow_close(t, &err);
	return busy;
}

/* What there is goes: a walk that is interrupted ends. */
static void follow_end(struct follow *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		while (f->trace[i].ship)
			follow_step(&f->trace[i]);
		free(f->trace[i].path);
	}
	free(f->trace);
}

int ship_follow(const struct ship *like, const char *folder)
{
	static const struct timespec idle = { 0, FOLLOW_IDLE_NS };
	struct follow f = { .like = like };
	uint64_t looked_ns = 0;
	int rc = 0;

	while (!rc && !interrupt_came()) {
		int busy = 0;

		if (!looked_ns || store_now() - looked_ns >= FOLLOW_LOOK_NS) {
			rc = follow_look(&f, folder);
			looked_ns = store_now();
		}
		for (uint32_t i = 0; i < f.n && !interrupt_came(); i++) {
			if (!f.trace[i].ship)
				follow_open(&f, &f.trace[i]);
			if (f.trace[i].ship)
				busy |= follow_step(&f.trace[i]);
		}
		if (!busy && !interrupt_came())
			nanosleep(&idle, NULL);
	}
	follow_end(&f);
	return rc ? fail(like->command, "%s: %s", folder, strerror(-rc)) : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes and threads of a session have ended without telling, and what threads are called by now.
 *
 * _exit(2), SIGKILL, the raw system call, a crash, exec(2): no code of ours runs there. So whoever writes a trace
 * looks at /proc now and then, and once more in the end. What has ended did so after it was last seen alive and
 * before it was found gone; nothing more is known, and nothing more is told. One struct belongs to one drain.
 */
#ifndef WRITER_LIVES_H
#define WRITER_LIVES_H

#include "ktr/session/session_map.h"

#include <ktr/session.h>
#include <ktr/trace_file.h>

#include <stdbool.h>

enum ktr__life_state {
	KTR__LIFE_NONE,
	KTR__LIFE_WATCHED,
	KTR__LIFE_OVER /* it has told of its end, or was found gone */
};

/* A row of the session's table of processes or threads. */
struct ktr__life {
	int64_t frame_ns; /* a process: what to add to its times to have the session's */
	uint64_t start_ns;
	uint64_t alive_ns; /* CLOCK_MONOTONIC: when it was last seen to live, by a look or an event; 0: never */
	uint64_t gone_ns;  /* 0: it was not found gone */
	uint64_t start_time;
	uint32_t pid;
	uint32_t tid;  /* 0: a process */
	uint32_t proc; /* a thread: row of its process */
	uint8_t state; /* enum ktr__life_state */
	uint8_t named; /* a thread: not by the kernel */
	uint8_t is_new; /* the last look has found something new of it */
	char name[16]; /* what the kernel calls it; "": not known */
};

struct ktr__lives {
	struct ktr__life *proc, *thread; /* owned, by row */
	uint32_t n_procs, n_threads;     /* rows there can be */
	uint32_t end_procs, end_threads; /* after the last row that is watched */
	uint64_t session_ino;
	uint64_t pid_ns; /* ours: numbers of another mean nothing here */
	uint64_t next_ns;
	struct ktr_trace_clock clock; /* of the trace; mult 0: not known yet */
	int64_t frame_ns; /* what to add to our CLOCK_MONOTONIC to have the session's */
	bool here; /* the session is of this boot of this machine */
};

/* 0 or -ENOMEM. */
int ktr__lives_init(struct ktr__lives *lives, const struct ktr__session_map *map);
void ktr__lives_fini(struct ktr__lives *lives);

/* What the trace's clock makes of ticks. */
uint64_t ktr__lives_ns(const struct ktr_trace_clock *clock, uint64_t ticks);

/*
 * A row as it stands; from then on it is watched. Gives the thread the name that it has, and times of another time
 * namespace become those of the session.
 */
void ktr__lives_proc(struct ktr__lives *lives, uint32_t idx, struct ktr_proc_row *row);
void ktr__lives_thread(struct ktr__lives *lives, uint32_t idx, struct ktr_thread_row *row);

/* A trace that is gone on with has this already. */
void ktr__lives_known(struct ktr__life *life, uint64_t alive_ns, uint64_t gone_ns);

/*
 * Looks, when next_ns has come, and marks what is new. last: in the end. Returns since when somebody who has been
 * found gone may have recorded what is not known here; 0: nobody is gone.
 */
uint64_t ktr__lives_look(struct ktr__lives *lives, uint64_t now_ns, bool last);

#endif

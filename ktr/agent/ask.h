/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `ktr attach` asks of a process, and how it goes: memory of that process, which the command fills through
 * /proc/PID/mem, a thread that it has made there works through (tools/attach/inject_code.S), and the agent gives
 * back. The command and an agent that is in a process already may be of different versions; magic and bytes tell.
 *
 * state goes up only. Who finds it too late for a step leaves all as it is:
 *
 *	BEGUN	 the command has made the thread
 *	FILE	 the thread has an empty file for the agent, by the number fd in its own table of descriptors
 *	FILLED	 the command has written the agent into it
 *	CALLED	 the agent is there, and does what knobs say
 *	DONE	 code and text say how it went
 *	TAKEN	 the command has read that; the memory may go
 */
#ifndef KTR_AGENT_ASK_H
#define KTR_AGENT_ASK_H

#define KTR__ASK_MAGIC     0x314b53415254 /* "TRASK1" and changes with the layout */

#define KTR__ASK_BEGUN     0
#define KTR__ASK_FILE      1
#define KTR__ASK_FILLED    2
#define KTR__ASK_CALLED    3
#define KTR__ASK_DONE      4
#define KTR__ASK_TAKEN     5

/* Where inject_code.S finds things. */
#define KTR__ASK_AT_CREATE 8
#define KTR__ASK_AT_DETACH 16
#define KTR__ASK_AT_DLOPEN 24
#define KTR__ASK_AT_DLSYM  32
#define KTR__ASK_AT_ERROR  40
#define KTR__ASK_AT_CALL   48
#define KTR__ASK_AT_THREAD 56
#define KTR__ASK_AT_BASE   64
#define KTR__ASK_AT_BYTES  72
#define KTR__ASK_AT_STATE  104
#define KTR__ASK_AT_CODE   108
#define KTR__ASK_AT_FD     112
#define KTR__ASK_AT_PATH   120
#define KTR__ASK_AT_SYMBOL 152
#define KTR__ASK_AT_TEXT   184
#define KTR__ASK_TEXT      1024

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct ktr__ask {
	uint64_t magic;
	uint64_t pthread_create, pthread_detach, dlopen, dlsym,
		dlerror; /* of the process's C library */
	uint64_t call;   /* ktr__agent_call() of an agent that is there already; 0: it is loaded */
	uint64_t thread; /* pthread_t of the second thread */
	uint64_t base, bytes;           /* this memory, with the first thread's stack, */
	uint64_t code_base, code_bytes; /* and its instructions */
	uint64_t maker; /* where the number of the first thread is, 0 when that has ended */
	uint32_t state; /* atomic */
	int32_t code;   /* 0 or -errno */
	uint32_t fd;
	uint32_t keep; /* the memory stays: somebody may still read of it */
	char path[32];
	char symbol[32];
	char text[KTR__ASK_TEXT]; /* why not */
	char session[512];        /* the path of the process's session */
	char knobs[2048];         /* name=value, a line each */
	int64_t left[2];          /* a timespec: what is left of the call that the stop has ended */
};

_Static_assert(offsetof(struct ktr__ask, pthread_create) == KTR__ASK_AT_CREATE, "");
_Static_assert(offsetof(struct ktr__ask, pthread_detach) == KTR__ASK_AT_DETACH, "");
_Static_assert(offsetof(struct ktr__ask, dlopen) == KTR__ASK_AT_DLOPEN, "");
_Static_assert(offsetof(struct ktr__ask, dlsym) == KTR__ASK_AT_DLSYM, "");
_Static_assert(offsetof(struct ktr__ask, dlerror) == KTR__ASK_AT_ERROR, "");
_Static_assert(offsetof(struct ktr__ask, call) == KTR__ASK_AT_CALL, "");
_Static_assert(offsetof(struct ktr__ask, thread) == KTR__ASK_AT_THREAD, "");
_Static_assert(offsetof(struct ktr__ask, base) == KTR__ASK_AT_BASE, "");
_Static_assert(offsetof(struct ktr__ask, bytes) == KTR__ASK_AT_BYTES, "");
_Static_assert(offsetof(struct ktr__ask, state) == KTR__ASK_AT_STATE, "");
_Static_assert(offsetof(struct ktr__ask, code) == KTR__ASK_AT_CODE, "");
_Static_assert(offsetof(struct ktr__ask, fd) == KTR__ASK_AT_FD, "");
_Static_assert(offsetof(struct ktr__ask, path) == KTR__ASK_AT_PATH, "");
_Static_assert(offsetof(struct ktr__ask, symbol) == KTR__ASK_AT_SYMBOL, "");
_Static_assert(offsetof(struct ktr__ask, text) == KTR__ASK_AT_TEXT, "");
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A session as those see it who write into it: the recording process, and whoever controls one from outside. */
#ifndef KTR_SESSION_RW_H
#define KTR_SESSION_RW_H

#include <ktr/session.h>

#include <stdbool.h>
#include <stddef.h>

/* A mapped session. header is a private copy that was checked; the rest is shared and untrusted. */
struct ktr__session_rw {
	int fd; /* holds the shared lock that says "alive"; a host may close it behind our back */
	char *map; /* of another open file, which has no lock: children inherit it */
	char *lock; /* a page mapped of fd's open file, which keeps the lock then; NULL: none */
	struct ktr_control *control;
	struct ktr_ring *rings;
	bool records; /* this process has had a ring to write to */
	uint64_t dev, ino; /* of the file, to tell whether fd is still ours */
	uint32_t sealed; /* in a sandbox: [rows] of the thread table are there; nothing more is made present */
	struct ktr_header header;
	char path[512];
};

/* -Oz would call it. */
static inline __attribute__((always_inline)) uint64_t ktr__load_word(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

#define ktr__region_rows(session, id, type)                                                           \
	((type *)(void *)((session)->map + (session)->header.region[KTR_REGION_##id].offset))

#endif

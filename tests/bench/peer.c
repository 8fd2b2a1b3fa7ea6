/* SPDX-License-Identifier: BSD-2-Clause */
/* See peer.h. */
#include "peer.h"
#include "ticks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PEER_SLOT 64	/* [bytes] as large as ktr's */
#define PEER_OVER 65536 /* [bytes] for a string that goes on after the last slot */

static __thread struct {
	char *slots;
	uint64_t head; /* [bytes] */
	uint64_t mask;
	uint64_t thread;
	uint64_t ticks;
} peer __attribute__((tls_model("initial-exec")));

int peer_open(uint64_t n_slots)
{
	size_t bytes = n_slots * PEER_SLOT;

	peer.slots = mmap(NULL, bytes + PEER_OVER, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	peer.mask = bytes - 1;
	peer.thread = (uint64_t)syscall(SYS_gettid) << 32;
	return peer.slots == MAP_FAILED ? -1 : 0;
}

static inline uint64_t *peer_slot(uint32_t id, uint64_t ticks)
{
	uint64_t *slot;

#ifdef PEER_OPENS
	if (__builtin_expect(!peer.slots, 0) && peer_open(65536))
		abort();
#endif
	slot = (uint64_t *)(void *)(peer.slots + (peer.head & peer.mask));
	slot[0] = ticks;
	slot[1] = peer.thread | id;
	return slot;
}

__attribute__((noinline)) void peer_0(uint32_t id)
{
	peer_slot(id, event_ticks());
	peer.head += PEER_SLOT;
}

__attribute__((noinline)) void peer_2(uint32_t id, uint64_t a, uint64_t b)
{
	uint64_t *slot = peer_slot(id, event_ticks());

	slot[2] = a;
	slot[3] = b;
	peer.head += PEER_SLOT;
}

__attribute__((noinline)) void peer_3(uint32_t id, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t *slot = peer_slot(id, event_ticks());

	slot[2] = a;
	slot[3] = b;
	slot[4] = c;
	peer.head += PEER_SLOT;
}

__attribute__((noinline)) void peer_6(uint32_t id, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
				      uint64_t f)
{
	uint64_t *slot = peer_slot(id, event_ticks());

	slot[2] = a;
	slot[3] = b;
	slot[4] = c;
	slot[5] = d;
	slot[6] = e;
	slot[7] = f;
	peer.head += PEER_SLOT;
}

__attribute__((noinline)) void peer_6_8th(uint32_t id, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
					  uint64_t f)
{
	uint64_t *slot;

	if (!(peer.head & (8 * PEER_SLOT - 1)))
		peer.ticks = event_ticks();
	slot = peer_slot(id, peer.ticks);
	slot[2] = a;
	slot[3] = b;
	slot[4] = c;
	slot[5] = d;
	slot[6] = e;
	slot[7] = f;
	peer.head += PEER_SLOT;
}

static inline void peer_copy(uint64_t *slot, const char *text)
{
	size_t n = strlen(text);

	slot[2] = n;
	memcpy(peer.slots + ((peer.head + PEER_SLOT) & peer.mask), text, n);
	peer.head += PEER_SLOT + ((n + PEER_SLOT - 1) & ~(size_t)(PEER_SLOT - 1));
}

__attribute__((noinline)) void peer_string(uint32_t id, const char *text)
{
	peer_copy(peer_slot(id, event_ticks()), text);
}

__attribute__((noinline)) void peer_word_string(uint32_t id, uint64_t word, const char *text)
{
	uint64_t *slot = peer_slot(id, event_ticks());

	slot[3] = word;
	peer_copy(slot, text);
}

/* The second follows the first, in the same slots. */
__attribute__((noinline)) void peer_strings(uint32_t id, const char *one, const char *other)
{
	uint64_t *slot = peer_slot(id, event_ticks());
	char *to = peer.slots + ((peer.head + PEER_SLOT) & peer.mask);
	size_t n = strlen(one), m = strlen(other);

	slot[2] = n;
	slot[3] = m;
	memcpy(to, one, n);
	memcpy(to + n, other, m);
	peer.head += PEER_SLOT + ((n + m + PEER_SLOT - 1) & ~(size_t)(PEER_SLOT - 1));
}

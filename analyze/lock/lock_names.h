/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What locks are called: by KTR_LOCK_NAME of the program, whose events are plain ones of a format of its own, or by
 * the symbol of their variable, and what they are of that, "shards[7].lock", by its type where debug information has it.
 *
 * Where one lock is made in place of another that had a name, or a place gets another name, it is another one: its
 * life is told by a number, 0 of the first.
 */
#ifndef ANALYZE_LOCK_NAMES_H
#define ANALYZE_LOCK_NAMES_H

#include "analyze/lock/lock_events.h"
#include "analyze/stats/keyed.h"
#include "analyze/symbols/symbols.h"

#include <ktr/reader.h>

#define KTR__LOCK_NAME_BYTES 256

/* Zeroed is empty. */
struct ktr__lock_names {
	uint8_t *is_site; /* owned; by id */
	unsigned n_sites;
	struct ktr__keyed given, lives;
	struct ktr__symbols *symbols; /* borrowed; NULL: addresses have no names */
	int no_members; /* set after init: variables and offsets alone, "shards+0x1c0" */
};

/* 0 or -ENOMEM; ktr__lock_names_free() is due in any case. */
int ktr__lock_names_init(struct ktr__lock_names *names, struct ktr_reader *reader);
void ktr__lock_names_free(struct ktr__lock_names *names);

/* Is it one of KTR_LOCK_NAME? */
int ktr__lock_names_is_site(const struct ktr__lock_names *names, const struct ktr_reader_site *site);

/* Takes in an event; one that gives no name is nothing to it. 0 or -ENOMEM. */
int ktr__lock_names_event(struct ktr__lock_names *names, const struct ktr_event *event);

/* Which life of its lock an event is of: into e->life. 0 or -ENOMEM. */
int ktr__lock_names_live(struct ktr__lock_names *names, struct ktr__lock_event *e);

/* The one that lies there now. */
uint32_t ktr__lock_names_life(const struct ktr__lock_names *names, uint32_t proc, uint64_t lock);

/*
 * The name of a lock of a process (its row), or NULL: it has none but its address. As it was given, of any bytes;
 * text is where it is, cut if need be.
 */
const char *ktr__lock_names_of(const struct ktr__lock_names *names, uint32_t proc, uint64_t lock, uint32_t life,
			       char text[KTR__LOCK_NAME_BYTES]);

#endif

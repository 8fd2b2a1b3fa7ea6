/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of a trace that rotation removes, kept by who has not read them yet: beside the trace,
 *
 *	.ktr-ship/NAME.UUID.KEY/NUMBER-INODE
 *
 * a directory of links to the files of what was NAME.NUMBER, of the session UUID in 32 digits. KEY is that of who
 * keeps it, for others may have read other pieces. It is told from other directories by the inode of its
 * info.jsonl, which nothing else can have as long as it is there. analyze/read/trace_set.h takes them for what they
 * were.
 */
#ifndef ANALYZE_KEPT_H
#define ANALYZE_KEPT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KTR__KEPT_DIR ".ktr-ship"

struct ktr__kept {
	uint32_t number; /* from 1 */
	ino_t ino; /* of its info.jsonl */
};

/*
 * The folder of a trace's pieces, whether it is there or not. *folder: owned by the caller; NULL: a trace by such a
 * name has none. 0 or -ENOMEM.
 */
int ktr__kept_folder(const char *trace, const uint8_t uuid[16], const char *key, char **folder);

/* Its pieces, by number, *pieces owned by the caller. Returns how many, or -ENOMEM. */
int ktr__kept_pieces(const char *folder, struct ktr__kept **pieces);

/* The path of one. Owned by the caller, or NULL. */
char *ktr__kept_path(const char *folder, const struct ktr__kept *piece);

#endif

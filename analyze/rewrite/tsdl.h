/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metadata of a trace, as far as it says again what the sidecars say: this reader needs it only
 * to notice that it is damaged, and in place of sidecar lines that are. Only text of our own
 * making (writer/format/metadata.c) is understood.
 */
#ifndef ANALYZE_TSDL_H
#define ANALYZE_TSDL_H

#include "analyze/read/trace_head.h"

#include <stddef.h>

struct ktr__tsdl {
	char *text; /* owned; ends in a NUL */
	size_t n;   /* [bytes] */
};

/* Reads the file. 0 or -errno; -ENOENT where it is missing. */
int ktr__tsdl_load(struct ktr__tsdl *tsdl, int dir_fd);
void ktr__tsdl_free(struct ktr__tsdl *tsdl);

/*
 * The piece that begins at *from, up to its checksum's line: 1 when it is whole, -EBADMSG when it is
 * damaged, -ENODATA when the text ends before it does, 0 at the end. *from moves after it.
 */
int ktr__tsdl_piece(const struct ktr__tsdl *tsdl, size_t *from);

/* What it says of the trace as a whole. 0, -EPROTO (nothing whole to be had), or -ENOMEM. */
int ktr__tsdl_head(const struct ktr__tsdl *tsdl, struct ktr__arena *arena,
		   struct ktr__trace_head *head);

/*
 * Adds the call sites that the tables lack: with names and types of arguments, but without format,
 * function and module. Returns how many, or -ENOMEM.
 */
int ktr__tsdl_sites(const struct ktr__tsdl *tsdl, struct ktr__tables *tables);

#endif

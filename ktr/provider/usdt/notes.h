/* SPDX-License-Identifier: BSD-2-Clause */
/* The static probes that a file lists: section .note.stapsdt. */
#ifndef KTR_USDT_NOTES_H
#define KTR_USDT_NOTES_H

#include "ktr/record/module.h"

/* Addresses are the file's own: what the object was moved by when it was loaded has to be added. */
struct ktr__usdt_note {
	const char *provider;
	const char *name;
	const char *args;
	uint64_t at; /* of the nop */
	uint64_t semaphore; /* 0: there is none */
	bool may_be_ktr; /* the file has call sites of ktr's */
	void *file; /* for ktr__usdt_notes_symbol() */
};

typedef void ktr__usdt_note_fn(void *context, const struct ktr__usdt_note *note);

/*
 * Calls back for each, of the first 16,384; strings live as long as the call. 0 or -errno; -ESTALE: the file is not
 * that of which the object was loaded any more.
 */
int ktr__usdt_notes(const char *path, const struct ktr__object *loaded, ktr__usdt_note_fn *call, void *context);

/* n bytes of text as the file has them, at an address of its own. False: it has none there. */
bool ktr__usdt_notes_bytes(const struct ktr__usdt_note *note, uint64_t at, uint8_t *to, size_t n);

/* A symbol's address in the file; 0: it has none. */
uint64_t ktr__usdt_notes_symbol(const struct ktr__usdt_note *note, const char *name, size_t n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binary data within a page: a script element that no browser runs, whose text is zlib's format in
 * base64.
 */
#ifndef VISUALIZE_BLOB_H
#define VISUALIZE_BLOB_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#define KTR__BLOB_BYTES 49152 /* compressed bytes at a time; a multiple of 3, see blob.c */

struct ktr__blob {
	FILE *to; /* borrowed; the caller looks at ferror() */
	z_stream z;
	uint8_t bytes[KTR__BLOB_BYTES];
};

/* Begins the element with that id (letters and digits). 0 or -ENOMEM; then nothing is owned. */
int ktr__blob_begin(struct ktr__blob *blob, FILE *to, const char *id);
void ktr__blob_add(struct ktr__blob *blob, const void *bytes, size_t n);
void ktr__blob_end(struct ktr__blob *blob);

#endif

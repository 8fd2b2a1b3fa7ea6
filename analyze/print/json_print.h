/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON as we print it. RFC 8259 lets a string hold DEL, the controls of C1 and what turns the direction of text
 * as they stand, and jansson does so; a terminal that the output gets to obeys them. So they are written as
 * \uNNNN, which reads as the same string.
 */
#ifndef ANALYZE_JSON_PRINT_H
#define ANALYZE_JSON_PRINT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* [bytes] How much of the beginning of JSON text needs no escape. */
size_t ktr__json_harmless(const char *json, size_t n);

/* A tree; flags of json_dumpf(3). 0, or -1: no memory, or what put or the file said. */
int ktr__json_print_to(const json_t *tree, json_dump_callback_t put, void *context, size_t flags);
int ktr__json_print(const json_t *tree, FILE *to, size_t flags);

/* The same as a string. Owned, of malloc(3); NULL without memory. */
char *ktr__json_string(const json_t *tree, size_t flags);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that grow, and what ClickHouse's format Native has of lengths and texts. */
#ifndef FLEET_NATIVE_BUFFER_H
#define FLEET_NATIVE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. All zero: none. */
struct native_buffer {
	uint8_t *at; /* owned */
	size_t n, room;
	int failed; /* 1: memory ran out */
};

/* Room for n bytes more, which do not count yet; NULL without memory. */
uint8_t *native_buffer_grow(struct native_buffer *buffer, size_t n);
static inline uint8_t *native_buffer_room(struct native_buffer *buffer, size_t n)
{
	return n <= buffer->room - buffer->n && buffer->at ? buffer->at + buffer->n : native_buffer_grow(buffer, n);
}

/* The same, which count at once. */
uint8_t *native_buffer_take(struct native_buffer *buffer, size_t n);

void native_buffer_add(struct native_buffer *buffer, const void *bytes, size_t n);
void native_buffer_text(struct native_buffer *buffer, const char *text); /* without its NUL */
void native_buffer_zeros(struct native_buffer *buffer, size_t n);
void native_buffer_length(struct native_buffer *buffer, uint64_t n); /* seven bits a byte, the lowest first */
void native_buffer_string(struct native_buffer *buffer, const void *bytes, size_t n); /* after its length */
void native_buffer_free(struct native_buffer *buffer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/native_buffer.h"

#include <stdlib.h>
#include <string.h>

#define NATIVE_BUFFER_LEAPS ((size_t)64 << 10) /* [bytes] room grows faster up to here */

void native_buffer_free(struct native_buffer *buffer)
{
	free(buffer->at);
	memset(buffer, 0, sizeof(*buffer));
}

uint8_t *native_buffer_grow(struct native_buffer *buffer, size_t n)
{
	size_t room = buffer->room ? buffer->room : 256;
	uint8_t *grown;

	if (buffer->failed || n > SIZE_MAX / 4 - buffer->n)
		return NULL;
	/* What is not touched costs little, where pages are not large: few copies are made of what there is. */
	while (room < buffer->n + n)
		room *= room < NATIVE_BUFFER_LEAPS ? 8 : 2;
	if (room != buffer->room) {
		grown = realloc(buffer->at, room);
		if (!grown) {
			buffer->failed = 1;
			return NULL;
		}
		buffer->at = grown;
		buffer->room = room;
	}
	return buffer->at + buffer->n;
}

uint8_t *native_buffer_take(struct native_buffer *buffer, size_t n)
{
	uint8_t *to = native_buffer_room(buffer, n);

	buffer->n += to ? n : 0;
	return to;
}

void native_buffer_add(struct native_buffer *buffer, const void *bytes, size_t n)
{
	uint8_t *to = native_buffer_take(buffer, n);

	if (to && n)
		memcpy(to, bytes, n);
}

void native_buffer_text(struct native_buffer *buffer, const char *text)
{
	native_buffer_add(buffer, text, strlen(text));
}

void native_buffer_zeros(struct native_buffer *buffer, size_t n)
{
	uint8_t *to = native_buffer_take(buffer, n);

	if (to)
		memset(to, 0, n);
}

void native_buffer_length(struct native_buffer *buffer, uint64_t n)
{
	uint8_t bytes[10];
	unsigned i = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[i++] = (uint8_t)(n | 0x80);
	bytes[i++] = (uint8_t)n;
	native_buffer_add(buffer, bytes, i);
}

void native_buffer_string(struct native_buffer *buffer, const void *bytes, size_t n)
{
	native_buffer_length(buffer, n);
	native_buffer_add(buffer, bytes, n);
}

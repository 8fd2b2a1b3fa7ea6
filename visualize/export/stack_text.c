/* SPDX-License-Identifier: BSD-2-Clause */
#include "visualize/export/stack_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t ktr__stack_text(const struct ktr_event *event, unsigned arg, struct ktr__symbols *symbols,
		       const char *between, char text[KTR__STACK_TEXT])
{
	const struct ktr_event_bytes *stack = &event->str[arg];
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t at = 0; at + 8 <= stack->n_bytes && used + 300 < KTR__STACK_TEXT; at += 8) {
		const char *name = NULL;
		uint64_t pc;

		memcpy(&pc, stack->bytes + at, sizeof(pc));
		if (symbols != NULL)
			name = ktr__symbols_at(symbols, ktr__tables_proc(event->thread), pc,
					       KTR__SYMBOLS_RETURN);
		used += (size_t)(name != NULL ? snprintf(text + used, KTR__STACK_TEXT - used,
							 "%s%.250s", at ? between : "", name)
					      : snprintf(text + used, KTR__STACK_TEXT - used,
							 "%s0x%" PRIx64, at ? between : "", pc));
	}
	return used;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stack_line.h"

#include "visualize/model/label.h"

#include <inttypes.h>
#include <string.h>

static const char *stack_line_name(struct ktr__symbols *symbols, const struct ktr__framed *stack, uint32_t i,
				   int exact, char text[STACK_LINE_NAME])
{
	const char *name = NULL, *plus;
	size_t n;

	if (symbols)
		name = ktr__symbols_at(symbols, stack->proc, stack->pc[i], KTR__SYMBOLS_RETURN);
	if (!name) {
		snprintf(text, STACK_LINE_NAME, "0x%" PRIx64, stack->pc[i]);
		return text;
	}
	plus = strrchr(name, '+');
	n = strlen(name);
	if (!exact && plus && plus > name && strncmp(plus, "+0x", 3) == 0)
		n = (size_t)(plus - name);
	ktr__label_clean(text, STACK_LINE_NAME, name, n);
	return text;
}

const char *stack_line_frame(struct ktr__symbols *symbols, const struct ktr__framed *stack, uint32_t i,
			     char text[STACK_LINE_NAME])
{
	return stack_line_name(symbols, stack, i, 0, text);
}

void stack_line(struct ktr__symbols *symbols, const struct ktr__framed *stack, uint64_t depth,
		const unsigned char *exact, FILE *to)
{
	uint32_t n = depth && stack->n > depth ? (uint32_t)depth : stack->n;
	char name[STACK_LINE_NAME];

	for (uint32_t i = 0; i < n; i++)
		fprintf(to, "%s%s", i ? " < " : "", stack_line_name(symbols, stack, i, exact && exact[i], name));
	fputs(!stack->n ? "?" : n < stack->n || stack->is_cut ? " < ..." : "", to);
}

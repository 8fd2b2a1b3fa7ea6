/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows where an expression is wrong. Columns are bytes; the caret stands below a character, so bytes
 * that continue one are not counted, and what a terminal would not print is shown as '?'.
 */
#include "conf/expr/expr_caret.h"

#include <stdio.h>
#include <string.h>

#define EXPR_CARET_WIDTH 100 /* [bytes] shown of a long expression */

static int expr_caret_continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

const char *ktr__expr_caret(const char *text, const struct ktr_error *err, char *buffer,
			    size_t size)
{
	size_t length = strlen(text), at = err->column ? err->column - 1 : 0, from = 0, n,
	       blanks = 0;
	char shown[EXPR_CARET_WIDTH + 1];

	buffer[0] = '\0';
	if (!err->column || at > length)
		return buffer;
	if (length > EXPR_CARET_WIDTH && at > EXPR_CARET_WIDTH / 2)
		from = at - EXPR_CARET_WIDTH / 2;
	while (from && expr_caret_continues(text[from]))
		from--;
	n = length - from < EXPR_CARET_WIDTH ? length - from : EXPR_CARET_WIDTH;
	while (n < length - from && n && expr_caret_continues(text[from + n]))
		n--;
	memcpy(shown, text + from, n);
	shown[n] = '\0';
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)shown[i] < 0x20 || shown[i] == 0x7f)
			shown[i] = '?';
		blanks += i < at - from && !expr_caret_continues(shown[i]);
	}
	snprintf(buffer, size, "  %s\n  %*s^\n", shown, (int)blanks, "");
	return buffer;
}

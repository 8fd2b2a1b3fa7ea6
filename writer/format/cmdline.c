/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command lines come from /proc/PID/cmdline, where each argument ends in a NUL, and so may be empty. A program that
 * changes its title leaves NULs after that: the last arguments of many empty ones are none.
 */
#include "writer/format/cmdline.h"

#include <string.h>

#define CMDLINE_EMPTY 8 /* empty arguments at the end that are taken for such */

struct cmdline_out {
	char *to, *end; /* of the room, its NUL left out */
};

static void cmdline_put(struct cmdline_out *out, const char *bytes, size_t n)
{
	if (n > (size_t)(out->end - out->to))
		n = (size_t)(out->end - out->to);
	memcpy(out->to, bytes, n);
	out->to += n;
}

/* All that a shell takes as it stands, and bytes of characters that are not ASCII. */
static int cmdline_is_plain(const char *word, size_t n)
{
	static const char other[] = "_-./+=:@%,";

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)word[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80 ||
		      memchr(other, c, sizeof(other) - 1)))
			return 0;
	}
	return n > 0;
}

static void cmdline_word(struct cmdline_out *out, const char *word, size_t n)
{
	if (cmdline_is_plain(word, n)) {
		cmdline_put(out, word, n);
		return;
	}
	cmdline_put(out, "'", 1);
	for (size_t i = 0; i < n; i++) {
		if (word[i] == '\'')
			cmdline_put(out, "'\\'", 3);
		cmdline_put(out, word + i, 1);
	}
	cmdline_put(out, "'", 1);
}

void ktr__cmdline_quote(const char *raw, char *text, size_t size)
{
	struct cmdline_out out = { text, text + size - 1 };
	size_t n = strlen(raw), end = n, from = 0;

	while (end && raw[end - 1] == KTR_CMDLINE_END)
		end--;
	if (n - end > CMDLINE_EMPTY + 1)
		n = end;
	if (!memchr(raw, KTR_CMDLINE_END, n)) {
		cmdline_put(&out, raw, n);
	} else {
		while (from < n) {
			const char *at = memchr(raw + from, KTR_CMDLINE_END, n - from);
			size_t length = at ? (size_t)(at - raw) - from : n - from;

			if (from)
				cmdline_put(&out, " ", 1);
			cmdline_word(&out, raw + from, length);
			from += length + 1;
		}
	}
	*out.to = '\0';
}

void ktr__map_cmdline(const struct ktr__session_map *map, uint32_t offset, char *text, size_t size)
{
	char raw[1024] = "";

	ktr__map_string(map, offset, raw, sizeof(raw));
	ktr__cmdline_quote(raw, text, size);
}

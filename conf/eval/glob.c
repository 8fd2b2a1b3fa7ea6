/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shell patterns over counted bytes; fnmatch(3) wants a NUL, reads the locale and may allocate.
 *
 * A '*' is tried with nothing first and given one byte more each time the rest fails. Only the last star
 * is ever taken back: an earlier one that took more would leave less for it (R. Cox, "Glob Matching Can
 * Be Simple And Fast Too", 2017).
 */
#include "conf/eval/glob.h"

/*
 * The set at p[0] == '[': 1 or 0 for a byte in or out of it, with *next after the bracket; -1 where it
 * is not closed. A ']' that stands first is one of the set.
 */
static int glob_set(const char *p, const char *end, unsigned char c, const char **next)
{
	int negated = p + 1 < end && (p[1] == '!' || p[1] == '^'), in = 0;
	const char *first = p += 1 + negated;

	for (; p < end && (*p != ']' || p == first); p++) {
		unsigned char from, to;

		p += *p == '\\' && p + 1 < end;
		from = to = (unsigned char)*p;
		if (p + 2 < end && p[1] == '-' && p[2] != ']')
			to = (unsigned char)*(p += 2);
		in |= c >= from && c <= to;
	}
	*next = p + 1;
	return p < end ? in ^ negated : -1;
}

/* Does what stands at *p, no star, match a byte? Moves *p after it. */
static int glob_one(const char **p, const char *end, char c)
{
	const char *at = *p;
	int in;

	if (*at == '[' && (in = glob_set(at, end, (unsigned char)c, p)) >= 0)
		return in;
	*p = at + 1;
	if (*at == '?')
		return 1;
	if (*at == '\\' && at + 1 < end)
		*p = ++at + 1;
	return *at == c;
}

int ktr__glob(const char *pattern, size_t n_pattern, const char *text, size_t n_text)
{
	const char *p = pattern, *p_end = pattern + n_pattern, *t = text, *t_end = text + n_text;
	const char *star = NULL, *from = NULL;

	while (t < t_end || p < p_end) {
		if (p < p_end && *p == '*') {
			star = ++p;
			from = t;
		} else if (p < p_end && t < t_end && glob_one(&p, p_end, *t)) {
			t++;
		} else if (star && from < t_end) {
			p = star;
			t = ++from;
		} else {
			return 0;
		}
	}
	return 1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/utc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define UTC_SECOND_NS 1000000000ll
#define UTC_LAST_S    7258118400ll /* 2200-01-01 */

/* ".25" and the end, in nanoseconds. */
static int utc_fraction(const char *text, int64_t *ns)
{
	int64_t unit = UTC_SECOND_NS / 10;

	*ns = 0;
	if (*text == 'Z' && !text[1])
		return 0;
	if (!*text)
		return 0;
	if (*text++ != '.' || !*text)
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++, unit /= 10)
		*ns += (*text - '0') * unit;
	return *text == 0 || (*text == 'Z' && !text[1]) ? 0 : -EINVAL;
}

int utc_parse(const char *text, int64_t *ns)
{
	struct tm tm = { .tm_mday = 1 };
	int64_t seconds = 0, fraction;
	size_t n = strspn(text, "0123456789");
	int at = 0, rest = 0, more = 0;

	if (text[n] == '-') {
		if (sscanf(text, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &at) != 3 ||
			tm.tm_year < 1970)
			return -EINVAL;
		if (text[at] == 'T' || text[at] == ' ') {
			if (sscanf(text + at + 1, "%2d:%2d%n", &tm.tm_hour, &tm.tm_min, &rest) != 2)
				return -EINVAL;
			at += 1 + rest;
			if (sscanf(text + at, ":%2d%n", &tm.tm_sec, &more) == 1)
				at += more;
		}
		if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour < 0 ||
			tm.tm_hour > 23 ||
		    tm.tm_min < 0 || tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60)
			return -EINVAL;
		tm.tm_year -= 1900;
		tm.tm_mon--;
		seconds = timegm(&tm);
	} else {
		if (!n || n > 10)
			return -EINVAL;
		for (; at < (int)n; at++)
			seconds = seconds * 10 + (text[at] - '0');
	}
	if (utc_fraction(text + at, &fraction) || seconds < 0 || seconds > UTC_LAST_S)
		return -EINVAL;
	*ns = seconds * UTC_SECOND_NS + fraction;
	return 0;
}

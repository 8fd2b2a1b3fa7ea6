/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments of a trace as people type them. Numbers are read as integers with a decimal fraction, so
 * that 1.000000001s is exact; digits below a nanosecond are cut off.
 */
#include "visualize/model/time_spec.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	uint64_t ns;
} time_spec_units[] = { { "ns", 1 },           { "us", 1000 },      { "µs", 1000 },
		   { "ms", 1000000 },     { "s", 1000000000 }, { "min", 60000000000 },
		   { "h", 3600000000000 } };

static int time_spec_fail(const char *text, const char *at, int code, const char *what,
		     struct ktr_error *err)
{
	return ktr_error_at(err, NULL, 0, (unsigned)(at - text) + 1, code,
			    "'%.60s': %s; a time is a number and ns, us, ms, s, min or h", text,
			    what);
}

static int time_spec_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The unit at *at, which moves after it; seconds where there is none; 0 for an unknown one. */
static uint64_t time_spec_unit(const char **at)
{
	size_t n = strcspn(*at, "+-\302 "); /* \302 begins the sign ±, and µ, which is no end */

	if (strncmp(*at, "µs", strlen("µs")) == 0)
		n = strlen("µs");
	if (n == 0)
		return 1000000000;
	for (size_t i = 0; i < sizeof(time_spec_units) / sizeof(time_spec_units[0]); i++) {
		if (strlen(time_spec_units[i].name) == n && strncmp(*at, time_spec_units[i].name, n) == 0) {
			*at += n;
			return time_spec_units[i].ns;
		}
	}
	return 0;
}

/* A number with a unit; *end is what follows. */
static int time_spec_duration(const char *text, const char *at, const char **end, uint64_t *ns,
			 struct ktr_error *err)
{
	const char *fraction = "", *digits = at;
	uint64_t whole = 0, unit, scale;

	for (; time_spec_is_digit(*at); at++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
			return time_spec_fail(text, at, ERANGE, "too far away", err);
	if (*at == '.')
		for (fraction = ++at; time_spec_is_digit(*at);)
			at++;
	if (!time_spec_is_digit(*digits) && !time_spec_is_digit(*fraction))
		return time_spec_fail(text, digits, EINVAL, "no number here", err);
	*end = at;
	unit = time_spec_unit(end);
	if (unit == 0)
		return time_spec_fail(text, at, EINVAL, "no such unit", err);
	if (__builtin_mul_overflow(whole, unit, ns))
		return time_spec_fail(text, digits, ERANGE, "too far away", err);
	scale = unit;
	for (; time_spec_is_digit(*fraction) && scale >= 1; fraction++) {
		/* Units have factors 6 and 36, so tenths of them need not be whole: min, h. */
		*ns += scale * (uint64_t)(*fraction - '0') / 10;
		scale /= 10;
	}
	return 0;
}

static int time_spec_moment(const char *text, const char **end, const struct ktr_reader_info *info,
		       uint64_t *ns, struct ktr_error *err)
{
	const char *at = text + (*text == '+' || *text == '-');
	uint64_t distance;
	int error = time_spec_duration(text, at, end, &distance, err);

	if (error != 0)
		return error;
	if (*text == '-')
		*ns = distance > info->last_ns - info->first_ns ? info->first_ns
								: info->last_ns - distance;
	else if (__builtin_add_overflow(info->first_ns, distance, ns))
		return time_spec_fail(text, text, ERANGE, "too far away", err);
	return 0;
}

int ktr__time_spec_parse(const char *text, const struct ktr_reader_info *info, uint64_t *ns,
		    struct ktr_error *err)
{
	const char *end;
	int error = time_spec_moment(text, &end, info, ns, err);

	if (error == 0 && *end != '\0')
		return time_spec_fail(text, end, EINVAL, "something follows the unit", err);
	return error;
}

int ktr__time_spec_around(const char *text, const struct ktr_reader_info *info, uint64_t *from_ns,
		     uint64_t *to_ns, struct ktr_error *err)
{
	uint64_t at, distance = (info->last_ns - info->first_ns) / 20 + 1;
	const char *end;
	int error = time_spec_moment(text, &end, info, &at, err);

	if (error != 0)
		return error;
	if (*end != '\0') {
		size_t sign = strncmp(end, "+/-", 3) == 0 ? 3 : strncmp(end, "±", 2) == 0 ? 2 : 0;

		if (sign == 0)
			return time_spec_fail(text, end, EINVAL, "+/- and a distance could follow here",
					 err);
		error = time_spec_duration(text, end + sign, &end, &distance, err);
		if (error == 0 && *end != '\0')
			return time_spec_fail(text, end, EINVAL, "something follows the unit", err);
		if (error != 0)
			return error;
	}
	*from_ns = at > info->first_ns + distance ? at - distance : info->first_ns;
	*to_ns = at > UINT64_MAX - distance - 1 ? UINT64_MAX : at + distance + 1;
	return 0;
}

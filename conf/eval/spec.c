/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe's name against a SPEC, part by part. */
#include "conf/eval/spec.h"

#include "conf/eval/glob.h"

#include <string.h>

static size_t spec_part(const char *text, size_t n, int i)
{
	const char *end = i < 3 ? memchr(text, ':', n) : NULL;

	return end ? (size_t)(end - text) : n;
}

bool ktr__spec_fits(const char *spec, size_t n, const char *probe)
{
	for (int i = 0; n; i++) {
		size_t n_glob = spec_part(spec, n, i), n_text = spec_part(probe, strlen(probe), i);

		if (n_glob && !ktr__glob(spec, n_glob, probe, n_text))
			return false;
		spec += n_glob;
		n -= n_glob;
		probe += n_text;
		if (n && *spec == ':')
			spec++, n--;
		if (*probe == ':')
			probe++;
		if (i == 3)
			break;
	}
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of the command line. */
#include "tools/pair_option.h"

#include <string.h>

int pair_option_pair(void *at, const char *what, const char *value, char **argv)
{
	struct pair_options *pairs = at;
	struct ktr_error err = KTR_ERROR_NONE;
	int rc;

	if (pairs->n == KTR__PAIRS_MAX)
		return usage_error(argv[0], "%s: more than %d pairs", what, KTR__PAIRS_MAX);
	if (strstr(value, ".."))
		rc = ktr__pair_parse(&pairs->pair[pairs->n], value, &err);
	else if (argv[optind] && argv[optind][0] != '-')
		rc = ktr__pair_set(&pairs->pair[pairs->n], value, argv[optind++], NULL, &err);
	else
		return usage_error(argv[0], "%s %s: the second site is missing", what, value);
	if (rc)
		return usage_error(argv[0], "%s: %s", what, err.text);
	pairs->n++;
	return 0;
}

/* The key is of the pair that was named last. */
int pair_option_key(void *at, const char *what, const char *value, char **argv)
{
	struct pair_options *pairs = at;
	struct ktr__pair *pair;

	if (!pairs->n)
		return usage_error(argv[0], "%s is of a pair: --pair A..B --key %s", what, value);
	pair = &pairs->pair[pairs->n - 1];
	if (pair->key[0])
		return usage_error(argv[0], "%s: the pair has the key %s already", what, pair->key);
	if (!value[0] || strlen(value) >= sizeof(pair->key))
		return usage_error(argv[0], "%s: '%.20s' is no name of an argument", what, value);
	strcpy(pair->key, value);
	return 0;
}

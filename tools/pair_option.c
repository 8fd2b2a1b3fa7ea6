/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of the command line. */
#include "tools/pair_option.h"

#include <string.h>

static int pair_option_pair(struct pair_options *pairs, const char *value, int argc, char **argv)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc;

	if (pairs->n == KTR__PAIRS_MAX)
		return usage_error(argv[0], "--pair: more than %d pairs", KTR__PAIRS_MAX);
	if (strstr(value, ".."))
		rc = ktr__pair_parse(&pairs->pair[pairs->n], value, &err);
	else if (optind < argc && argv[optind][0] != '-')
		rc = ktr__pair_set(&pairs->pair[pairs->n], value, argv[optind++], NULL, &err);
	else
		return usage_error(argv[0], "--pair %s: the second site is missing", value);
	if (rc)
		return usage_error(argv[0], "--pair: %s", err.text);
	pairs->n++;
	return 0;
}

/* The key is of the pair that was named last. */
static int pair_option_key(struct pair_options *pairs, const char *value, char **argv)
{
	struct ktr__pair *pair;

	if (!pairs->n)
		return usage_error(argv[0], "--key is of a pair: --pair A..B --key %s", value);
	pair = &pairs->pair[pairs->n - 1];
	if (pair->key[0])
		return usage_error(argv[0], "--key: the pair has the key %s already", pair->key);
	if (!value[0] || strlen(value) >= sizeof(pair->key))
		return usage_error(argv[0], "--key: '%.20s' is no name of an argument", value);
	strcpy(pair->key, value);
	return 0;
}

int pair_option(struct pair_options *pairs, int id, const char *value, int argc, char **argv)
{
	if (id == PAIR_OPTION)
		return pair_option_pair(pairs, value, argc, argv) ? -2 : 1;
	if (id == KEY_OPTION)
		return pair_option_key(pairs, value, argv) ? -2 : 1;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as a value of every type: what a parser takes, its printer prints and the parser reads
 * back as the same; what it refuses, it refuses with a sentence and a place within the text.
 *
 * The first byte chooses the type, the second the form of printing, the rest is the text.
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -I. \
 *		tests/fuzz/fuzz_value.c conf/[a-z]*.c -o fuzz_value
 */
#include "conf/cpulist.h"
#include "conf/names.h"
#include "conf/number.h"
#include "conf/quote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_CPUS 200
#define WORDS  ((N_CPUS + 63) / 64)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names that are easily confused with each other and with numbers. */
static int fuzz_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char *const names[] = { "net", "Net", "",   "KTR_net", "lock", "none",
					     "12",  "a|b", "-x", "sched",   "all",  "KTR_" };

	(void)context;
	if (idx >= sizeof(names) / sizeof(names[0]))
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = names[idx][0] == 'a' && names[idx][1] == 'l' ? 0x7ff : 1ull << idx;
	return !names[idx][0];
}

struct fuzz_value {
	uint64_t number;
	uint64_t bits[WORDS];
	char string[64];
};

static int fuzz_parse(unsigned type, const char *text, struct fuzz_value *value,
		      struct ktr_error *err)
{
	int64_t number = 0;
	int rc;

	memset(value, 0, sizeof(*value));
	switch (type) {
	case KTR_KNOB_BOOL:
		return ktr__parse_bool(text, &value->number, err);
	case KTR_KNOB_INT:
		rc = ktr__parse_int(text, &number, err);
		value->number = (uint64_t)number;
		return rc;
	case KTR_KNOB_UINT:
		return ktr__parse_uint(text, &value->number, err);
	case KTR_KNOB_SIZE:
		return ktr__parse_size(text, &value->number, err);
	case KTR_KNOB_DURATION:
		return ktr__parse_duration(text, &value->number, err);
	case KTR_KNOB_STRING:
		rc = ktr__parse_string(text, value->string, sizeof(value->string), err);
		if (!rc)
			memset(value->string + strlen(value->string), 0,
			       sizeof(value->string) - strlen(value->string));
		return rc;
	case KTR_KNOB_MASK:
		return ktr__parse_mask(text, fuzz_names, NULL, 0x55, &value->number, err);
	case KTR_KNOB_CHOICE:
		return ktr__parse_choice(text, fuzz_names, NULL, &value->number, err);
	default:
		return ktr__parse_cpus(text, value->bits, N_CPUS, err);
	}
}

static int fuzz_print(unsigned type, const struct fuzz_value *value, unsigned flags, char *buffer,
		      size_t size)
{
	switch (type) {
	case KTR_KNOB_INT:
		return ktr__print_int((int64_t)value->number, flags, buffer, size);
	case KTR_KNOB_SIZE:
		return ktr__print_size(value->number, flags, buffer, size);
	case KTR_KNOB_DURATION:
		return ktr__print_duration(value->number, flags, buffer, size);
	case KTR_KNOB_STRING:
		return ktr__print_string(value->string, buffer, size);
	case KTR_KNOB_MASK:
		return ktr__print_mask(value->number, fuzz_names, NULL, flags, buffer, size);
	case KTR_KNOB_CHOICE:
		return ktr__print_choice(value->number, fuzz_names, NULL, flags, buffer, size);
	case KTR_KNOB_CPUS:
		return ktr__print_cpus(value->bits, N_CPUS, buffer, size);
	default: /* booleans are read as 0, 1 or a word, not as hexadecimal */
		return ktr__print_uint(value->number, type == KTR_KNOB_BOOL ? 0 : flags, buffer,
				       size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_value value, back;
	struct ktr_error err = KTR_ERROR_NONE;
	char printed[1024], *text;
	unsigned type, flags;
	int rc;

	if (size < 2)
		return 0;
	type = data[0] % KTR_KNOB_CPUS + 1;
	flags = data[1] % 8;
	text = malloc(size - 1);
	if (!text)
		return 0;
	memcpy(text, data + 2, size - 2);
	text[size - 2] = '\0';
	rc = fuzz_parse(type, text, &value, &err);
	if (rc ? err.code != -rc || !err.text[0] || err.column > strlen(text) + 1 : err.code)
		abort();
	if (!rc && (fuzz_print(type, &value, flags, printed, sizeof(printed)) ||
		    fuzz_parse(type, printed, &back, &err) || memcmp(&value, &back, sizeof(value))))
		abort();
	free(text);
	return 0;
}

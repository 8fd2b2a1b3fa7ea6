/* SPDX-License-Identifier: BSD-2-Clause */
/* The letters are those of FreeBSD's ktrace(1); what Linux does not tell of is accepted, and recorded never. */
#include "tools/bsd/trpoints.h"

#include "ktr/provider/syscall/tracee_event.h"
#include "tools/options.h"
#include "writer/ktrace/layout.h"

#define TRPOINTS_BIT(type) (1u << KTR__KTRACE_##type)

static const struct {
	char letter;
	uint32_t records; /* bits */
	uint32_t points;  /* of the tracer; 0: none tells of it */
} trpoints_rows[] = {
	{ 'c', TRPOINTS_BIT(SYSCALL) | TRPOINTS_BIT(SYSRET), KTR__POINT_CALLS },
	{ 'f', TRPOINTS_BIT(FAULT) | TRPOINTS_BIT(FAULTEND), 0 },
	{ 'i', TRPOINTS_BIT(GENIO), KTR__POINT_IO },
	{ 'n', TRPOINTS_BIT(NAMEI), KTR__POINT_PATHS },
	{ 'p', TRPOINTS_BIT(CAPFAIL), 0 },
	{ 's', TRPOINTS_BIT(PSIG), KTR__POINT_SIGNALS },
	{ 't', TRPOINTS_BIT(STRUCT) | TRPOINTS_BIT(STRUCT_ARRAY), KTR__POINT_STRUCTS },
	{ 'u', TRPOINTS_BIT(USER), KTR__POINT_USER },
	{ 'w', TRPOINTS_BIT(CSW), 0 },
	{ 'y', TRPOINTS_BIT(SYSCTL), 0 },
};

#define TRPOINTS_N (sizeof(trpoints_rows) / sizeof(trpoints_rows[0]))

uint32_t trpoints_default(void)
{
	uint32_t all = 0;

	for (unsigned i = 0; i < TRPOINTS_N; i++)
		if (trpoints_rows[i].letter != 'w' && trpoints_rows[i].letter != 'f')
			all |= trpoints_rows[i].records;
	return all;
}

static uint32_t trpoints_letter(char letter)
{
	if (letter == '+')
		return trpoints_default();
	for (unsigned i = 0; i < TRPOINTS_N; i++)
		if (trpoints_rows[i].letter == letter)
			return trpoints_rows[i].records;
	return 0;
}

int trpoints_take(void *at, const char *what, const char *value, char **argv)
{
	uint32_t *to = at, records;

	*to = 0;
	for (const char *letter = value; *letter; letter++) {
		records = trpoints_letter(*letter);
		if (!records)
			return usage_error(argv[0], "%s %s: \"%c\" is none of cfinpstuwy+", what, value, *letter);
		*to |= records;
	}
	return *to ? 0 : usage_error(argv[0], "%s: which records? some of cfinpstuwy+", what);
}

uint32_t trpoints_of_tracer(uint32_t records)
{
	uint32_t points = 0;

	for (unsigned i = 0; i < TRPOINTS_N; i++)
		if (trpoints_rows[i].records & records)
			points |= trpoints_rows[i].points;
	return points;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* A plugin whose strings begin with LETTER, in every kind of memory; what the letter has to be is in each event. */
#include <ktr.h>

#include <stdio.h>
#include <string.h>

static const char in_array[] = LETTER " array";
static const char *const in_table[] = { LETTER " one", LETTER " two" };
/* Written by the dynamic linker, then read-only. */
static const struct {
	const char *const *table;
	char text[16];
} in_relro = { in_table, LETTER " relro" };
static char in_data[16];

void plugin_trace(unsigned n)
{
	KTR_STATE0(KTR_GEN, "plugin", LETTER " row", LETTER " state");
	KTR_STATE1(KTR_GEN, "plugin", in_table[n & 1], LETTER " busy", "n:%d", n);
	snprintf(in_data, sizeof(in_data), LETTER " %u", n);
	CTR4(KTR_GEN, "%s|%s|%s|%s", in_data, in_relro.text, in_array, LETTER " literal");
	memset(in_data, 'x', sizeof(in_data) - 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Loaded by late_host.c. */
#include <stdlib.h>

void *plugin_get(size_t n);
void plugin_give(void *block);

void *plugin_get(size_t n)
{
	void *block = malloc(n);

	return block;
}

void plugin_give(void *block)
{
	free(block);
}

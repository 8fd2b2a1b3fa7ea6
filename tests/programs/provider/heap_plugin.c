/* SPDX-License-Identifier: BSD-2-Clause */
/* An object that comes and goes: it gets memory when it is loaded, when it is called, and when it goes. */
#include <stdlib.h>

static void *volatile heap_kept;

void heap_plugin(void);

void heap_plugin(void)
{
	heap_kept = realloc(heap_kept, 5000);
}

__attribute__((constructor)) static void plugin_begin(void)
{
	heap_kept = malloc(100);
}

__attribute__((destructor)) static void plugin_end(void)
{
	free(heap_kept);
}

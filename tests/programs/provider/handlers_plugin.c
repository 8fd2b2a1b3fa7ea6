/* SPDX-License-Identifier: BSD-2-Clause */
/* A module with points of its own, for tests/programs/provider/handlers.c. It says when it begins to close. */
#include <ktr/probe.h>

extern void (*handlers_closing)(void);
void plugin_fire(void);

void plugin_fire(void)
{
	CTR0(KTR_GEN, "the plugin traces");
	KTR_PROBE_POINT1(KTR_PROBE_CUSTOM, "plugin", 1);
}

__attribute__((destructor)) static void plugin_end(void)
{
	if (handlers_closing)
		handlers_closing();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent: libktr and its providers in one object, for programs that know nothing of them. The loader takes it in
 * before anything else of the program, as `ktr run --agent` asks by LD_PRELOAD. It has a copy of the library, so a
 * program that has another one, in a plugin say, has two, which find each other in the session.
 *
 * What the program starts is not traced unless that was asked for: the agent takes itself out of the environment,
 * in place, for nothing of the program has run yet. So the program sees there what it would see without us.
 *
 * What `ktr attach` loads into a program that runs is loaded by a thread of its own, which calls call.c after that.
 */
#include "ktr/agent/call.h"
#include "ktr/agent/descriptor.h"
#include "ktr/knob/probes_asked.h"
#include "ktr/provider/plain/plain.h"
#include "ktr/provider/profile/profile.h"
#include "ktr/provider/usdt/usdt.h"
#include "ktr/start/attach.h"

#include <ktr.h>

#include <string.h>
#include <unistd.h>

#define PRELOAD_VARIABLE "LD_PRELOAD="
#define PRELOAD_CHILDREN "KTR_AGENT_CHILDREN="

static char *preload_variable(const char *name, char ***at)
{
	size_t n = strlen(name);

	for (*at = environ; *at && **at; (*at)++)
		if (strncmp(**at, name, n) == 0)
			return **at + n;
	return NULL;
}

static void preload_take_out(char **at)
{
	for (; at[0]; at++)
		at[0] = at[1];
}

/* The agent is the first of the objects named there: ld.so(8) takes blanks and colons to part them. */
static void preload_leave(void)
{
	char **at, *value = preload_variable(PRELOAD_VARIABLE, &at), *rest;

	if (!value)
		return;
	rest = value + strcspn(value, ": ");
	rest += strspn(rest, ": ");
	if (*rest)
		memmove(value, rest, strlen(rest) + 1);
	else
		preload_take_out(at);
}

bool ktr__agent_preloaded;

__attribute__((constructor)) static void preload_begin(void)
{
	char **at;

	if (gettid() != getpid())
		return;
	ktr__agent_preloaded = true;
	if (!preload_variable(PRELOAD_CHILDREN, &at))
		preload_leave();
	ktr__module_attach(&ktr__module_entry);
	ktr__descriptor_start();
	/* It brings a thread: programs that nobody asks about their probes have none. */
	if (ktr__probe_asked("", "")) {
		ktr__usdt_begin();
		ktr__plain_begin();
		ktr__profile_begin();
	}
}

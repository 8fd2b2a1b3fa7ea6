/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Called by a thread that `ktr attach` has made, with all signals blocked and a table of descriptors of its own,
 * once for each time that it attaches. What is asked for are knobs; the session is made by the first call, or by
 * the loader's constructors where the agent was preloaded.
 *
 * A descriptor of the session that this thread opens is none of the process's others: it is closed, and the file
 * opened anew by its name where it is needed, as for hosts that close all descriptors.
 */
#include "ktr/agent/call.h"

#include "ktr/agent/ask.h"
#include "ktr/agent/descriptor.h"
#include "ktr/knob/settings.h"
#include "ktr/provider/heap/heap.h"
#include "ktr/provider/lock/lock.h"
#include "ktr/provider/modules/modules.h"
#include "ktr/provider/offcpu/offcpu.h"
#include "ktr/provider/plain/plain.h"
#include "ktr/provider/profile/profile.h"
#include "ktr/provider/usdt/usdt.h"
#include "ktr/record/own.h"
#include "ktr/session/session_again.h"
#include "ktr/start/attach.h"

#include <ktr/ctl.h>
#include <ktr.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define CALL_NAPS 5000 /* of 1 ms, for the command to read the answer */

static int call_no_session(struct ktr_error *err)
{
	return ktr_error_set(
		err, ENXIO,
		"there is no session: KTR_DISABLE is in its environment, or it said why on "
		"its standard error");
}

/* Once. The process may be a child that was forked after that. */
static int call_begin(struct ktr_error *err)
{
	static bool begun;

	if (!begun) {
		begun = true;
		ktr__module_attach(&ktr__module_entry);
		if (!ktr__agent_preloaded) {
			if (ktr__session_fd_ours(&ktr__own))
				close(ktr__own.fd);
			ktr__own.fd = -1;
			ktr__descriptor_start();
		}
	}
	if (!ktr__own.map)
		return call_no_session(err);
	ktr__modules_all();
	ktr__usdt_begin();
	ktr__plain_begin();
	ktr__profile_begin();
	ktr__lock_begin();
	ktr__offcpu_begin();
	ktr__heap_begin();
	return ktr__own.sealed
		       ? ktr_error_set(err, EPERM, "it is in a sandbox, where no knob is set")
		       : 0;
}

/* A line each: name=value. */
static int call_knobs(char *lines, struct ktr_error *err)
{
	char *rest = lines, *line, *value;
	int code = 0;

	while (!code && (line = strsep(&rest, "\n")) != NULL) {
		value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = '\0';
		code = ktr_set(line, value, err);
	}
	return code;
}

static void call_answer(struct ktr__ask *ask, int code, const struct ktr_error *err)
{
	if (code)
		ktr_error_print(err, ask->text, sizeof(ask->text));
	snprintf(ask->session, sizeof(ask->session), "%s", ktr_session_path());
	ask->code = code;
	__atomic_store_n(&ask->state, KTR__ASK_DONE, __ATOMIC_RELEASE);
}

/* The answer has been read, and the thread that has made ours has ended; or nobody reads it any more. */
static void call_give_back(struct ktr__ask *ask)
{
	const uint32_t *maker = (const uint32_t *)ask->maker; // NOLINT
	const struct timespec nap = { 0, 1000000 };
	void *base = (void *)ask->base, *code = (void *)ask->code_base;

	for (int i = 0;
	     i < CALL_NAPS && (__atomic_load_n(&ask->state, __ATOMIC_ACQUIRE) != KTR__ASK_TAKEN ||
			       __atomic_load_n(maker, __ATOMIC_ACQUIRE));
	     i++)
		nanosleep(&nap, NULL);
	if (ask->keep || __atomic_load_n(maker, __ATOMIC_ACQUIRE))
		return;
	munmap(code, ask->code_bytes);
	munmap(base, ask->bytes);
}

__attribute__((visibility("default"))) void *ktr__agent_call(struct ktr__ask *ask)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char knobs[sizeof(ask->knobs)];
	uint32_t state = __atomic_load_n(&ask->state, __ATOMIC_ACQUIRE);
	int code = 0;

	prctl(PR_SET_NAME, "ktr-attach");
	ktr__profile_own_thread();
	if (ask->magic != KTR__ASK_MAGIC)
		return NULL; /* of another version: whoever asks waits in vain, and says so */
	if (!__atomic_compare_exchange_n(&ask->state, &state, KTR__ASK_CALLED, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
	    state >= KTR__ASK_CALLED)
		return NULL; /* nobody waits any more */
	memcpy(knobs, ask->knobs, sizeof(knobs));
	knobs[sizeof(knobs) - 1] = '\0';
	code = call_begin(&err);
	if (!code)
		code = call_knobs(knobs, &err);
	call_answer(ask, code, &err);
	call_give_back(ask);
	return NULL;
}

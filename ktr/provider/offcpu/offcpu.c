/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider offcpu: offcpu:::blocked is a thread that was off the CPU in a call that waits: how long the call
 * was, how much CPU time it took, which it was, and the stack. It comes when the call has returned. Nobody is sent
 * a signal. It is there in programs that were started with it asked for, and in those that the agent was put into:
 * while it is on, the objects' pointers to the C library's functions are led to us.
 */
#include "ktr/provider/offcpu/offcpu.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/lock/waits.h"
#include "ktr/provider/offcpu/calls.h"
#include "ktr/provider/profile/create.h"
#include "ktr/provider/profile/off.h"
#include "ktr/provider/profile/stacks.h"
#include "ktr/record/module.h"
#include "ktr/record/own.h"
#include "ktr/start/attach.h"

#include <errno.h>
#include <unistd.h>

static int offcpu_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	if (ktr__own_session()->sealed)
		return ktr_error_set(why, EPERM, "it is in a sandbox");
	ktr__stacks_look();
	__atomic_store_n(&ktr__off_probe, probe, __ATOMIC_RELEASE);
	__atomic_store_n(&ktr__off_teller, &ktr__off_events, __ATOMIC_RELEASE);
	if (ktr__imports_lead(&ktr__offcpu_imports, why)) {
		__atomic_store_n(&ktr__off_teller, NULL, __ATOMIC_RELEASE);
		return -why->code;
	}
	ktr__create_lead();
	ktr__lock_waits(true);
	return 0;
}

static void offcpu_disable(struct ktr_provider_probe *probe)
{
	(void)probe;
	__atomic_store_n(&ktr__off_teller, NULL, __ATOMIC_RELEASE);
	ktr__imports_restore(&ktr__offcpu_imports);
	ktr__create_restore();
	ktr__lock_waits(false);
}

static int offcpu_argument(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	static const struct ktr_provider_arg arguments[] = { { "ns", "int64_t", KTR_ARG_I64 },
							     { "cpu_ns", "int64_t", KTR_ARG_I64 },
							     { "how", "const char *", KTR_ARG_STR },
							     { "stack", "stack", KTR_ARG_STACK } };

	(void)probe;
	if (number >= sizeof(arguments) / sizeof(arguments[0]))
		return -ENOENT;
	*arg = arguments[number];
	return 0;
}

/* Once a second, and when a stack went through something new. */
static void offcpu_look(struct ktr_provider *provider)
{
	(void)provider;
	ktr__imports_look(&ktr__offcpu_imports);
	ktr__create_look();
	if (__atomic_load_n(&ktr__off_teller, __ATOMIC_RELAXED))
		ktr__stacks_look();
}

static const struct ktr_provider_ops offcpu_ops = {
	.size = sizeof(offcpu_ops),
	.enable = offcpu_enable,
	.disable = offcpu_disable,
	.arg_desc = offcpu_argument,
	.look = offcpu_look,
};

void ktr__offcpu_begin(void)
{
	static bool is_there;
	struct ktr_provider_probe *probe;
	struct ktr_provider *provider;

	if (is_there)
		return;
	is_there = true;
	if (!ktr__offcpu_resolve())
		return;
	ktr__create_begin();
	ktr__stacks_want();
	if (ktr_provider_register("offcpu", &offcpu_ops, NULL, &provider) == 0)
		ktr_provider_offer(provider, NULL, NULL, "blocked", NULL, &probe);
}

__attribute__((constructor)) static void offcpu_loaded(void)
{
	if (gettid() != getpid())
		return; /* `ktr attach` */
	ktr__offcpu_at_start();
	ktr__module_attach(&ktr__module_entry);
	if (!ktr__probe_asked("", "offcpu:::blocked"))
		return;
	ktr__lock_ready();
	ktr__offcpu_begin();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider offcpu: offcpu:::blocked is a thread that was off the CPU in a call that waits: how long the call
 * was, how much CPU time it took, which it was, and the stack. It comes when the call has returned. Nobody is sent
 * a signal. It is there in programs that were started with it asked for; one that runs already calls the C library.
 */
#include "ktr/knob/probes_asked.h"
#include "ktr/provider/lock/waits.h"
#include "ktr/provider/offcpu/calls.h"
#include "ktr/provider/profile/off.h"
#include "ktr/provider/profile/stacks.h"
#include "ktr/record/module.h"
#include "ktr/start/attach.h"

#include <errno.h>
#include <unistd.h>

static int offcpu_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	if (!ktr__offcpu_is_first())
		return ktr_error_set(why, ENOTSUP, "the program calls another object than the agent's, which was there "
				     "first");
	ktr__stacks_look();
	__atomic_store_n(&ktr__off_probe, probe, __ATOMIC_RELEASE);
	__atomic_store_n(&ktr__off_teller, &ktr__off_events, __ATOMIC_RELEASE);
	ktr__offcpu_lead(true);
	ktr__lock_waits(true);
	return 0;
}

static void offcpu_disable(struct ktr_provider_probe *probe)
{
	(void)probe;
	__atomic_store_n(&ktr__off_teller, NULL, __ATOMIC_RELEASE);
	ktr__offcpu_lead(false);
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

__attribute__((constructor)) static void offcpu_begin(void)
{
	struct ktr_provider_probe *probe;
	struct ktr_provider *provider;

	if (gettid() != getpid())
		return; /* `ktr attach`: its calls go to the C library already */
	ktr__offcpu_resolve();
	ktr__module_attach(&ktr__module_entry);
	if (!ktr__probe_asked("", "offcpu:::blocked"))
		return;
	ktr__lock_ready();
	ktr__stacks_want();
	if (ktr_provider_register("offcpu", &offcpu_ops, NULL, &provider) == 0)
		ktr_provider_offer(provider, NULL, NULL, "blocked", NULL, &probe);
}

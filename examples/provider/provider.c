/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * provider: a queue whose owner offers probes, queue::put:done and queue::take:done with how many items there are,
 * and queue:::stall, which can only be watched by who is allowed to. Nothing of it costs more than a test until
 * somebody asks for it, from outside or at start.
 *
 *	KTR_PROBES='queue:' ktr run build/examples/provider
 *	ktr dump --filter 'class == queue'
 *	ktr probe list -p PID 'queue:'; ktr probe enable -p PID 'queue::*:done'
 */
#include <ktr/provider.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ktr_provider_probe *put, *take, *stall;

/* Only what has to be done for it: most probes need nothing. */
static int queue_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	if (strcmp(probe->name, "stall") == 0 && !getenv("QUEUE_MAY_STALL"))
		return ktr_error_set(why, EPERM, "QUEUE_MAY_STALL is not set");
	return 0;
}

static int queue_arg(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	static const struct ktr_provider_arg args[] = { { "item", "int", KTR_ARG_I32 },
							{ "n", "unsigned", KTR_ARG_U32 } };

	(void)probe;
	if (number >= sizeof(args) / sizeof(args[0]))
		return -ENOENT;
	*arg = args[number];
	return 0;
}

static const struct ktr_provider_ops queue_ops = {
	.size = sizeof(queue_ops), .enable = queue_enable, .arg_desc = queue_arg,
};

int main(void)
{
	int queue[16], sum = 0;
	struct ktr_provider *provider;
	unsigned n = 0;

	if (ktr_provider_register("queue", &queue_ops, NULL, &provider) ||
	    ktr_provider_offer(provider, NULL, "put", "done", NULL, &put) ||
	    ktr_provider_offer(provider, NULL, "take", "done", NULL, &take) ||
	    ktr_provider_offer(provider, NULL, NULL, "stall", NULL, &stall))
		return 1;
	for (int i = 0; i < 1000; i++) {
		if (n < 16) {
			queue[n++] = i;
			ktr_provider_fire2(put, i, n);
		} else {
			ktr_provider_fire2(stall, i, n);
		}
		while (n && i % 3 == 0) {
			sum += queue[--n];
			ktr_provider_fire2(take, queue[n], n);
		}
	}
	printf("%d\n", sum);
	return ktr_provider_unregister(provider) != 0;
}

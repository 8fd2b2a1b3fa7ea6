/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe of a provider fires. Nothing here locks, allocates or asks the kernel for anything. */
#include "ktr/provider/registry/registry.h"

#include "ktr/record/record_words.h"

void ktr__provider_fire(struct ktr_provider_probe *probe, uint32_t n_args, uint64_t a0, uint64_t a1, uint64_t a2,
			uint64_t a3, uint64_t a4, uint64_t a5)
{
	uint64_t a[KTR_ARGS_MAX] = { a0, a1, a2, a3, a4, a5 };
	const struct ktr_provider_ops *ops = probe->provider->ops;

	if (!(KTR__GATE() & probe->site.mask))
		return;
	for (uint32_t i = n_args; ops->arg_value && i < probe->site.n_args; i++)
		a[i] = ops->arg_value(probe, i);
	ktr__record_words(&probe->site, probe->site.n_args, a[0], a[1], a[2], a[3], a[4], a[5]);
}

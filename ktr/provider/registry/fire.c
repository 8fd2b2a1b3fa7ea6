/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe of a provider fires. Nothing here locks, allocates or asks the kernel for anything. */
#include "ktr/provider/registry/registry.h"

static void fire_record(struct ktr_site *site, const uint64_t a[KTR_ARGS_MAX])
{
	switch (site->n_args) {
	case 0:
		ktr__record0(site);
		break;
	case 1:
		ktr__record1(site, a[0]);
		break;
	case 2:
		ktr__record2(site, a[0], a[1]);
		break;
	case 3:
		ktr__record3(site, a[0], a[1], a[2]);
		break;
	case 4:
		ktr__record4(site, a[0], a[1], a[2], a[3]);
		break;
	case 5:
		ktr__record5(site, a[0], a[1], a[2], a[3], a[4]);
		break;
	default:
		ktr__record6(site, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}

void ktr__provider_fire(struct ktr_provider_probe *probe, uint32_t n_args, uint64_t a0, uint64_t a1, uint64_t a2,
			uint64_t a3, uint64_t a4, uint64_t a5)
{
	uint64_t a[KTR_ARGS_MAX] = { a0, a1, a2, a3, a4, a5 };
	const struct ktr_provider_ops *ops = probe->provider->ops;

	if (!(KTR__GATE() & probe->site.mask))
		return;
	for (uint32_t i = n_args; ops->arg_value && i < probe->site.n_args; i++)
		a[i] = ops->arg_value(probe, i);
	fire_record(&probe->site, a);
}

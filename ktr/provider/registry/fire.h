/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Firing a probe of a provider that gives all arguments itself, in the library that records: ktr_provider_fire4()
 * and the like without a call between, and without a look for arguments that are missing.
 */
#ifndef KTR_REGISTRY_FIRE_H
#define KTR_REGISTRY_FIRE_H

#include <ktr/provider.h>

/* Is it on, and its class recorded? */
static inline bool ktr__fire_is_wanted(const struct ktr_provider_probe *probe)
{
	return __builtin_expect(ktr__provider_on(probe), 1) && KTR__GATE() & probe->site.mask;
}

/* n: as many arguments as its site has. Async-signal-safe; keeps errno. */
#define KTR__FIRE(n, probe, ...)                                                                 \
	do {                                                                                     \
		struct ktr_provider_probe *ktr__p = (probe);                                     \
		if (ktr__fire_is_wanted(ktr__p))                                                 \
			ktr__record##n(&ktr__p->site, __VA_ARGS__);                              \
	} while (0)
#define KTR__FIRE2(probe, a, b)	     KTR__FIRE(2, probe, KTR__BITS(a), KTR__BITS(b))
#define KTR__FIRE3(probe, a, b, c)   KTR__FIRE(3, probe, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c))
#define KTR__FIRE4(probe, a, b, c, d) KTR__FIRE(4, probe, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d))
#define KTR__FIRE5(probe, a, b, c, d, e)                                                         \
	KTR__FIRE(5, probe, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e))
#define KTR__FIRE6(probe, a, b, c, d, e, f)                                                      \
	KTR__FIRE(6, probe, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e), KTR__BITS(f))

#endif

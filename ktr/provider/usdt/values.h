/* SPDX-License-Identifier: BSD-2-Clause */
/* What an event of a static probe says. */
#ifndef KTR_USDT_VALUES_H
#define KTR_USDT_VALUES_H

#include "ktr/provider/usdt/point.h"

/* What an argument is, beyond its size. */
enum ktr__usdt_kind {
	KTR__USDT_NUMBER,
	KTR__USDT_ADDRESS,
	KTR__USDT_STRING, /* points to text */
	KTR__USDT_TYPE /* points to a std::type_info */
};

/* Arguments of a known probe; what is not known are numbers, arg0 to arg5. */
struct ktr__usdt_arguments {
	char name[KTR__USDT_ARGS][24];
	uint8_t kind[KTR__USDT_ARGS];
};

void ktr__usdt_arguments(const char *provider, const char *name, struct ktr__usdt_arguments *known);

/*
 * An argument of all places that a probe has, which need not have it in one length: as it is recorded. -ENOENT:
 * none of them has so many.
 */
int ktr__usdt_describe(const struct ktr__usdt_point *points, const struct ktr__usdt_arguments *known,
		       unsigned number, struct ktr_provider_arg *arg);

/* Records it. Async-signal-safe. */
void ktr__usdt_fire(const struct ktr__usdt_point *point, struct ktr_provider_probe *probe, const ucontext_t *at);

#endif

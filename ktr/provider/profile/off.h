/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells of calls that waited (ktr/provider/timer/off.h), by an event each. */
#ifndef KTR_PROFILE_OFF_H
#define KTR_PROFILE_OFF_H

#include "ktr/provider/timer/off.h"

#include <ktr/provider.h>

extern struct ktr_provider_probe *ktr__off_probe; /* there before this is the teller. Atomic */
extern const struct ktr__off_teller ktr__off_events;

#endif

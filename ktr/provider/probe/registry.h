/* SPDX-License-Identifier: BSD-2-Clause */
/* The probes of this process. */
#ifndef KTR_PROBE_REGISTRY_H
#define KTR_PROBE_REGISTRY_H

/* ktr starts when a program's module attaches or a probe is made, never because this library is linked in. */
#define KTR_NO_AUTOSTART

#include "ktr/record/record.h"

#include <ktr/probe.h>

#include <stdbool.h>

/* Of all that is here and in table.h. enter() is what any call that changes something begins with. */
void ktr__probe_lock(void);
void ktr__probe_enter(void);
void ktr__probe_unlock(void);

/* All under the lock. Has somebody registered it, or does a point name it? */
bool ktr__probe_there(const struct ktr_probe *probe);

/* What has become of a probe is told to the session and to its points. */
void ktr__probe_update(struct ktr_probe *probe);

/* One that has just been made is on if the settings say so. */
void ktr__probe_made(struct ktr_probe *probe);

#endif

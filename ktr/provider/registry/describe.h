/* SPDX-License-Identifier: BSD-2-Clause */
/* What the events of a probe look like. */
#ifndef KTR_DESCRIBE_H
#define KTR_DESCRIBE_H

#include "ktr/provider/registry/registry.h"

#define KTR__DESCRIBE_FORMAT 1024 /* [bytes]; what is longer is cut */

/* Fills in the probe's site, all but its format and number, with the arguments that its provider tells of. */
void ktr__describe_site(struct ktr__offered *offered);

/* The format: function and name, and each argument by its name. */
void ktr__describe_format(const struct ktr_provider_probe *probe, char format[KTR__DESCRIBE_FORMAT]);

#endif

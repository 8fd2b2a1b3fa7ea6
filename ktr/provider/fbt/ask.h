/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking the kernel while a probe is fired. */
#ifndef KTR_FBT_ASK_H
#define KTR_FBT_ASK_H

#include "ktr/arch/ask.h"

#define ktr__fbt_ask ktr__ask

#endif

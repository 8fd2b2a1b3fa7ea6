/* SPDX-License-Identifier: BSD-2-Clause */
/* The one ladder over architectures; generic.h fills in what a file leaves out. */
#ifndef KTR_ARCH_H
#define KTR_ARCH_H

#if defined(__x86_64__) && !defined(__ILP32__)
#include "ktr/arch/x86_64.h"
#elif defined(__aarch64__) && !defined(__ILP32__)
#include "ktr/arch/arm64.h"
#endif
#include "ktr/arch/generic.h"

#endif

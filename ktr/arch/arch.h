/* SPDX-License-Identifier: BSD-2-Clause */
/* The one ladder over architectures; generic.h fills in what a file leaves out. */
#ifndef KTR_ARCH_H
#define KTR_ARCH_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KTR_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define KTR_TSAN 1
#endif
#ifndef KTR_TSAN
#define KTR_TSAN 0
#endif

#if defined(__x86_64__) && !defined(__ILP32__)
#include "ktr/arch/x86_64.h"
#elif defined(__aarch64__) && !defined(__ILP32__)
#include "ktr/arch/arm64.h"
#endif
#include "ktr/arch/generic.h"

#endif

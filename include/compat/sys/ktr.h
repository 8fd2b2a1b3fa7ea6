/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/ktr.h> for code that comes from FreeBSD: put include/compat on the include path and it compiles
 * unchanged. Kernel formats (%b, %D, %jX of any integer) are taken as they are, so the compiler does
 * not check them; they are shown as they stand.
 */
#ifndef KTR_COMPAT_SYS_KTR_H
#define KTR_COMPAT_SYS_KTR_H

#ifndef KTR_NO_FORMAT_CHECK
#define KTR_NO_FORMAT_CHECK
#endif

#include <sys/types.h>
#include <ktr.h>

#define KTR_VERSION 2
#define KTR_PARMS   6

#ifndef KTR
#define KTR 1
#endif

#endif

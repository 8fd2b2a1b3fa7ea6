/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that calls are led to while a probe needs them, ktr__traced_NAME. Each does what the real one does,
 * with the same result and errno.
 */
#ifndef KTR_HEAP_TRACED_H
#define KTR_HEAP_TRACED_H

#include "ktr/provider/heap/calls.h"

#define HEAP_TRACED(type, name, parameters, arguments, version) type ktr__traced_##name parameters;
KTR__HEAP_CALLS(HEAP_TRACED)
#undef HEAP_TRACED

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of traced processes as records of a ktrace.out. */
#ifndef KTRACE_ENCODE_H
#define KTRACE_ENCODE_H

#include "ktr/provider/syscall/tracee_event.h"
#include "writer/ktrace/out.h"

/* A sink that fills a file. */
struct ktr__tracee_sink ktr__ktrace_sink(struct ktr__ktrace_out *out);

#endif

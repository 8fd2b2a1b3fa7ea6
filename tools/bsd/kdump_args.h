/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of a call, in kdump's lines. */
#ifndef TOOLS_KDUMP_ARGS_H
#define TOOLS_KDUMP_ARGS_H

#include "ktr/provider/syscall/calls.h"
#include "tools/bsd/kdump.h"

/* "(a,b,c)"; nothing where there is none. call: NULL, nothing is known of it. */
void kdump_args(const struct kdump_format *format, const struct ktr__call *call, const uint64_t *args, unsigned n);

/* Flags by their names: "0x3<PROT_READ|PROT_WRITE>". */
struct kdump_names;
void kdump_args_mask(const struct kdump_format *format, const struct kdump_names *names, uint64_t value);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The letters of -t, in ktrace and kdump: which records. */
#ifndef TOOLS_TRPOINTS_H
#define TOOLS_TRPOINTS_H

#include <stdint.h>

/* Bit t: records of the type t (enum ktr__ktrace_type). */
#define TRPOINTS_ALL UINT32_MAX

/* The option's function (tools/options.h): into a uint32_t. */
int trpoints_take(void *at, const char *what, const char *value, char **argv);

/* What + stands for, and what ktrace records without -t. */
uint32_t trpoints_default(void);

/* As the tracer takes it (enum ktr__tracee_points): those of the bits that Linux tells of. */
uint32_t trpoints_of_tracer(uint32_t trpoints);

#endif

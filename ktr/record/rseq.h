/* SPDX-License-Identifier: BSD-2-Clause */
/* Restartable sequences, as the C library has registered threads for them. */
#ifndef KTR_RSEQ_H
#define KTR_RSEQ_H

#include <stdbool.h>
#include <stddef.h>

/* Is this process to record by them? And where struct rseq lies, as ktr__rseq_look() says. */
bool ktr__rseq_wanted(ptrdiff_t *offset);

#endif

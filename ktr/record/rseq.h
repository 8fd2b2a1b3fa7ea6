/* SPDX-License-Identifier: BSD-2-Clause */
/* Restartable sequences, as the C library has registered threads for them. */
#ifndef KTR_RSEQ_H
#define KTR_RSEQ_H

#include <stdbool.h>
#include <stddef.h>

/* Where struct rseq lies, from the thread pointer. False: there is none. */
bool ktr__rseq_look(ptrdiff_t *offset);

/* The same, and whether this process is to record by them. */
bool ktr__rseq_wanted(ptrdiff_t *offset);

#endif

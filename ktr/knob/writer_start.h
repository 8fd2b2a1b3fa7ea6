/* SPDX-License-Identifier: BSD-2-Clause */
/* The process's own writer begins. */
#ifndef KTR_WRITER_START_H
#define KTR_WRITER_START_H

#include <ktr/error.h>

/*
 * On debug.ktr.alq_file, or ktr.out. 0, or -errno with err filled: -EBUSY (another process of the session writes),
 * and those of ktr__writer_start().
 */
int ktr__writer_enable(struct ktr_error *err);

/* The same for a thread that prints for debug.ktr.verbose, which has been set, and writes no trace. */
int ktr__writer_verbose(struct ktr_error *err);

#endif

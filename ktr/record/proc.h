/* SPDX-License-Identifier: BSD-2-Clause */
/* The process: its row, and one for each object that it has mapped. */
#ifndef KTR_PROC_H
#define KTR_PROC_H

#include "ktr/session/session_rw.h"

void ktr__proc_register(void);
void ktr__proc_fork_child(const struct ktr__session_rw *parent); /* which may be our own session */
struct ktr__object;
void ktr__proc_module_add(const struct ktr__object *object); /* that was loaded later */
void ktr__proc_identify(struct ktr_proc_row *row); /* pid, pid_ns, start_time and image of ours */
void ktr__proc_exit(void);
extern char ktr__proc_name[16]; /* as it was when its row was made */
uint64_t ktr__proc_now_ns(void); /* CLOCK_MONOTONIC, in a sandbox as ktr__sandbox_now_ns() */

#endif

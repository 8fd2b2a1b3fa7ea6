/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One number for each process, for viewers that know processes by nothing but their pid: its pid, or where another
 * one had that first, a number above all pids of Linux. Zeroed memory is an empty table.
 */
#ifndef VISUALIZE_PIDS_H
#define VISUALIZE_PIDS_H

#include "visualize/model/keymap.h"

#define KTR__PIDS_MAX 4194304u /* PID_MAX_LIMIT: pids lie below it */

struct ktr__pids {
	struct ktr__keymap number; /* by process */
	struct ktr__keymap taken;  /* by pid */
};

/* The pid itself without memory. */
uint32_t ktr__pids_of(struct ktr__pids *pids, uint64_t process_key, uint32_t pid);
void ktr__pids_free(struct ktr__pids *pids);

#endif

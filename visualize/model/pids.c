/* SPDX-License-Identifier: BSD-2-Clause */
/* See pids.h. */
#include "visualize/model/pids.h"

uint32_t ktr__pids_of(struct ktr__pids *pids, uint64_t process_key, uint32_t pid)
{
	uint32_t *taken = pid != 0 ? ktr__keymap_at(&pids->taken, pid) : NULL;
	uint32_t *number = taken != NULL ? ktr__keymap_at(&pids->number, process_key) : NULL;

	if (number == NULL)
		return pid;
	if (*number == 0)
		*number = *taken != 0 ? KTR__PIDS_MAX + pids->number.n : pid;
	*taken = 1;
	return *number;
}

void ktr__pids_free(struct ktr__pids *pids)
{
	ktr__keymap_free(&pids->number);
	ktr__keymap_free(&pids->taken);
}

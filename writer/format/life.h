/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WRITER_LIFE_H
#define WRITER_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/* What /proc tells of a process or thread. */
struct ktr__life_stat {
	uint64_t start_time; /* [clock ticks since boot]; 0: it has ended */
	char name[16];
};

/* tid 0: the process, its name that of its first thread. False: nobody says. */
bool ktr__life_stat(uint32_t pid, uint32_t tid, struct ktr__life_stat *stat);

#endif

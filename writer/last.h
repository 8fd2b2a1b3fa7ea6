/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the process still have threads of the program's own? See last.c. */
#ifndef WRITER_LAST_H
#define WRITER_LAST_H

#include <stdbool.h>
#include <stdint.h>

/* What the writer's thread, or a successor's, looks at; in its own table of descriptors. */
struct ktr__last_files {
	int task_fd; /* /proc/self/task, or -1 */
	int stat_fd; /* /proc/self/stat, of the main thread */
	uint64_t looked_ns;
	int status;    /* that the main thread ended with */
	bool outlived; /* another thread was seen when it had */
};

/* The program's thread that starts a writer: where main has ended already, nobody has left a keeper. */
void ktr__last_begin(void);

void ktr__last_open(struct ktr__last_files *files);

/*
 * For the writer's thread, each time it wakes. True: all others have ended, and it is to end the trace and itself.
 * Where that is a keeper's business, wakes the keeper.
 */
bool ktr__last_look(struct ktr__last_files *files);

/* What the last of ours is to end with, so that the process does: 0 is what any thread ends with. */
int ktr__last_status(const struct ktr__last_files *files);

/* In a forked child: it has neither keeper nor history. */
void ktr__last_forget(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/kernel/kernel_born.h"

#include <stdio.h>
#include <stdlib.h>

static void born_add(struct ktr__kernel_born *born, uint32_t pid)
{
	if (born->n == born->room) {
		uint32_t room = 2 * born->room + 16;
		uint32_t *more = realloc(born->pid, room * sizeof(*more));

		if (!more)
			return;
		born->pid = more;
		born->room = room;
	}
	born->pid[born->n++] = pid;
}

void ktr__kernel_born_of(struct ktr__kernel_born *born, uint32_t pid, uint32_t tid)
{
	char path[64];
	unsigned child;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, tid);
	file = fopen(path, "re");
	while (file && fscanf(file, "%u", &child) == 1)
		born_add(born, child);
	if (file)
		fclose(file);
}

bool ktr__kernel_born_take(struct ktr__kernel_born *born, uint32_t pid)
{
	for (uint32_t i = 0; i < born->n; i++)
		if (born->pid[i] == pid) {
			born->pid[i] = born->pid[--born->n];
			return true;
		}
	return false;
}

void ktr__kernel_born_free(struct ktr__kernel_born *born)
{
	free(born->pid);
	*born = (struct ktr__kernel_born){ 0 };
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Two hash tables of chains, by number. */
#include "ktr/provider/syscall/tracees.h"

#include <stdlib.h>

static unsigned tracees_bucket(pid_t id)
{
	return (unsigned)id % KTR__TRACEES_BUCKETS;
}

struct ktr__task *ktr__tracees_task(const struct ktr__tracees *tracees, pid_t tid)
{
	struct ktr__task *task = tracees->task[tracees_bucket(tid)];

	while (task && task->tid != tid)
		task = task->next;
	return task;
}

struct ktr__process *ktr__tracees_process(const struct ktr__tracees *tracees, pid_t pid)
{
	struct ktr__process *process = tracees->process[tracees_bucket(pid)];

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

struct ktr__process *ktr__tracees_add_process(struct ktr__tracees *tracees, pid_t pid)
{
	struct ktr__process *process = ktr__tracees_process(tracees, pid),
			    **head = &tracees->process[tracees_bucket(pid)];

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->next = *head;
	return *head = process;
}

struct ktr__task *ktr__tracees_add_task(struct ktr__tracees *tracees, struct ktr__process *process, pid_t tid)
{
	struct ktr__task *task = ktr__tracees_task(tracees, tid), **head = &tracees->task[tracees_bucket(tid)];

	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->tid = tid;
	task->process = process;
	task->is_new = 1;
	task->next = *head;
	process->n_tasks++;
	process->n_alive++;
	process->ended = 0;
	tracees->n_tasks++;
	return *head = task;
}

static void tracees_unlink(struct ktr__tracees *tracees, struct ktr__task *task)
{
	struct ktr__task **at = &tracees->task[tracees_bucket(task->tid)];

	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
}

void ktr__tracees_drop(struct ktr__tracees *tracees, struct ktr__process *process)
{
	struct ktr__process **at = &tracees->process[tracees_bucket(process->pid)];

	while (*at != process)
		at = &(*at)->next;
	*at = process->next;
	free(process);
}

void ktr__tracees_remove(struct ktr__tracees *tracees, struct ktr__task *task)
{
	struct ktr__process *process = task->process;

	tracees_unlink(tracees, task);
	tracees->n_tasks--;
	if (!task->ending)
		process->n_alive--;
	free(task);
	if (--process->n_tasks == 0)
		ktr__tracees_drop(tracees, process);
}

void ktr__tracees_renumber(struct ktr__tracees *tracees, struct ktr__task *task, pid_t tid)
{
	tracees_unlink(tracees, task);
	task->tid = tid;
	task->next = tracees->task[tracees_bucket(tid)];
	tracees->task[tracees_bucket(tid)] = task;
}

void ktr__tracees_each(struct ktr__tracees *tracees, void (*call)(void *context, struct ktr__task *task),
		       void *context)
{
	struct ktr__task *task, *next;

	for (unsigned i = 0; i < KTR__TRACEES_BUCKETS; i++)
		for (task = tracees->task[i]; task; task = next) {
			next = task->next;
			call(context, task);
		}
}

static void tracees_forget(void *context, struct ktr__task *task)
{
	ktr__tracees_remove(context, task);
}

void ktr__tracees_free(struct ktr__tracees *tracees)
{
	ktr__tracees_each(tracees, tracees_forget, tracees);
}

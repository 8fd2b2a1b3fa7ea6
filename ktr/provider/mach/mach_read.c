/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of probes and of the kernel, read by the program itself, and the numbers about probes. */
#include "ktr/provider/mach/mach_read.h"

#include "ktr/provider/mach/mach.h"
#include "ktr/provider/view/take.h"
#include "ktr/record/own.h"
#include "ktr/session/mach_own.h"

#include <pthread.h>
#include <string.h>

#define MACH_READ_KINDS 3 /* of rings: those of the kernel, too */
#define MACH_READ_KERNEL (1u << 31) /* a call site of the kernel's: its line */

static uint32_t mach_read_site(uint32_t site);

static pthread_mutex_t mach_read_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ktr__taker mach_read_taker = { .of_site = mach_read_site, .n_kinds = MACH_READ_KINDS, .fd = -1 };

/* The line of one of the kernel's call sites, which others may have written; 0: it is none. */
static uint32_t mach_read_line(uint32_t site)
{
	const struct ktr__session_rw *own = ktr__own_session();
	const struct ktr_site_row *row = ktr__session_ready(own, KTR_REGION_site, site);
	const char *file;
	size_t n;

	if (!row || row->module || !row->line || row->line >= KTR__KERNEL_SITES_END)
		return 0;
	file = ktr__session_bytes(own, row->file, &n);
	return n == strlen(KTR_KERNEL_FILE) && memcmp(file, KTR_KERNEL_FILE, n) == 0 ? row->line : 0;
}

static bool mach_read_is(const struct ktr__mach_probe *probe, uint32_t site)
{
	if (probe->offered && probe->offered->site.id == site)
		return true;
	for (const struct ktr__dtrace_point *point = probe->points; point; point = point->next)
		if (point->site->id == site)
			return true;
	for (uint32_t i = 0; i < probe->n_sites; i++)
		if (probe->site[i] == site)
			return true;
	return false;
}

static uint32_t mach_read_site(uint32_t site)
{
	uint32_t found = 0, line;

	ktr__mach_enter();
	for (uint32_t i = 1; i < ktr__mach_n() && !found; i++)
		if (mach_read_is(ktr__mach_at(i), site))
			found = i;
	ktr__mach_unlock();
	line = found ? 0 : mach_read_line(site);
	return line ? line | MACH_READ_KERNEL : found;
}

/* Counts it as a fire of its probe, for nobody else has. */
static uint32_t mach_read_fired(enum ktr__mach_own_id own)
{
	struct ktr__mach_probe *probe = ktr__mach_find(ktr__mach_own[own].type, ktr__mach_own[own].name);
	uint32_t id = probe ? __atomic_load_n(&probe->id, __ATOMIC_ACQUIRE) : 0;

	if (id)
		__atomic_fetch_add(&probe->count[0].fires, 1, __ATOMIC_RELAXED);
	return id;
}

/* What the kernel told, as what the framework's own kernel would have said. */
static void mach_read_kernel(const struct ktr__taken *taken, dtrace_event_t *event)
{
	static const uint8_t why[] = { [KTR__KERNEL_IN] = 0, [KTR__KERNEL_BLOCKED] = 1, [KTR__KERNEL_PREEMPTED] = 2,
				       [KTR__KERNEL_EXIT] = 3 };
	uint32_t line = taken->probe & ~MACH_READ_KERNEL;

	memset(event->args, 0, sizeof(event->args));
	if (line == KTR__KERNEL_MINOR || line == KTR__KERNEL_MAJOR) {
		event->probe_id = mach_read_fired(KTR__MACH_OWN_VM_FAULT);
		event->args[0] = taken->arg[2];
		event->args[1] = line == KTR__KERNEL_MAJOR ? 2 : 1;
		event->args[2] = taken->arg[3];
		return;
	}
	event->probe_id = mach_read_fired(KTR__MACH_OWN_THREAD_SWITCH);
	event->args[line == KTR__KERNEL_IN] = taken->tid;
	event->args[2] = why[line];
}

static void mach_read_event(const struct ktr__taken *taken, dtrace_event_t *event)
{
	const struct ktr__mach_probe *probe;

	event->timestamp = taken->ns;
	event->cpu_id = taken->cpu;
	event->thread_id = taken->tid;
	event->task_id = taken->pid;
	if (taken->probe & MACH_READ_KERNEL) {
		mach_read_kernel(taken, event);
		return;
	}
	probe = ktr__mach_at(taken->probe);
	event->probe_id = probe ? __atomic_load_n(&probe->id, __ATOMIC_ACQUIRE) : 0;
	for (int i = 0; i < KTR_ARGS_MAX; i++)
		event->args[i] = taken->arg[i];
}

void ktr__mach_read_hold(void)
{
	pthread_mutex_lock(&mach_read_lock);
}

void ktr__mach_read_release(void)
{
	pthread_mutex_unlock(&mach_read_lock);
}

uint32_t dtrace_buffer_read(dtrace_event_t *events, uint32_t n)
{
	struct ktr__taken taken;
	uint32_t got = 0;

	pthread_mutex_lock(&mach_read_lock);
	for (; events && got < n && ktr__take(&mach_read_taker, &taken); got++)
		mach_read_event(&taken, &events[got]);
	pthread_mutex_unlock(&mach_read_lock);
	return got;
}

void dtrace_buffer_clear(void)
{
	dtrace_event_t events[64];

	while (dtrace_buffer_read(events, 64) == 64)
		;
}

void dtrace_get_metrics(dtrace_metrics_t *metrics)
{
	memset(metrics, 0, sizeof(*metrics));
	metrics->max_probes = UINT32_MAX;
	ktr__mach_enter();
	for (uint32_t i = 1; i < ktr__mach_n(); i++) {
		const struct ktr__mach_probe *probe = ktr__mach_at(i);

		metrics->active_probes += probe->id && ktr__mach_enabled(probe);
		for (int k = 0; k < KTR__MACH_COUNTS; k++) {
			metrics->total_probes_fired += __atomic_load_n(&probe->count[k].fires, __ATOMIC_RELAXED);
			metrics->events_filtered += __atomic_load_n(&probe->count[k].filtered, __ATOMIC_RELAXED);
			metrics->probe_overhead_ns += __atomic_load_n(&probe->count[k].ns, __ATOMIC_RELAXED);
		}
	}
	ktr__mach_unlock();
	metrics->total_events_captured = metrics->total_probes_fired - metrics->events_filtered;
	pthread_mutex_lock(&mach_read_lock);
	metrics->buffer_overruns = mach_read_taker.n_overruns;
	pthread_mutex_unlock(&mach_read_lock);
}

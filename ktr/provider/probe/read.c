/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of probes, read by the program itself, and the numbers about probes. One mutex for all of it. */
#include "ktr/provider/probe/fire.h"
#include "ktr/provider/probe/look.h"
#include "ktr/provider/probe/registry.h"
#include "ktr/provider/view/take.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t read_lock = PTHREAD_MUTEX_INITIALIZER;
/* Sites do not change their probe. */
static struct ktr__taker read_taker = { .of_site = ktr__probe_of_site, .n_kinds = 2, .fd = -1 };

size_t ktr_probe_read(struct ktr_probe_event *events, size_t n)
{
	struct ktr__taken taken;
	size_t got = 0;

	pthread_mutex_lock(&read_lock);
	for (; got < n && ktr__take(&read_taker, &taken); got++) {
		struct ktr_probe_event *event = &events[got];

		memset(event, 0, sizeof(*event));
		event->probe = ktr__probe_id(taken.probe);
		event->cpu = taken.cpu;
		event->tid = taken.tid;
		event->pid = taken.pid;
		event->time_ns = taken.ns;
		memcpy(event->arg, taken.arg, sizeof(event->arg));
	}
	pthread_mutex_unlock(&read_lock);
	return got;
}

int ktr_probe_metrics(struct ktr_probe_metrics *metrics)
{
	struct ktr_probe_metrics now = { .size = sizeof(now) };
	struct ktr__probe_sums sums;
	size_t size;

	if (!metrics || metrics->size < sizeof(metrics->size))
		return -EINVAL;
	size = metrics->size < sizeof(now) ? metrics->size : sizeof(now);
	ktr__probe_totals(&now.n_probes, &now.n_enabled, &now.n_fired, &now.overhead_ns);
	ktr__probe_sum(&sums);
	now.n_captured = sums.captured;
	now.n_filtered = sums.filtered;
	now.n_sampled = sums.n_sampled;
	now.sampled_ns = sums.n_sampled ? sums.sampled_ns / sums.n_sampled : 0;
	pthread_mutex_lock(&read_lock);
	now.n_overruns = read_taker.n_overruns;
	pthread_mutex_unlock(&read_lock);
	now.size = metrics->size;
	memcpy(metrics, &now, size);
	return 0;
}

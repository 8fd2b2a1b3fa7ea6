/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of ktr/dtrace.h on top of those of ktr/probe.h. */

#include "ktr/provider/probe/registry.h"

#include <ktr/dtrace.h>

#include <errno.h>
#include <string.h>

static void dtrace_refresh(dtrace_probe_t *view, const struct ktr_probe *probe)
{
	view->id = probe->id;
	view->type = (dtrace_probe_type_t)probe->type;
	view->name = probe->name;
	view->function = probe->function;
	view->enabled = ktr_probe_enabled(probe);
	view->fire_count = ktr_probe_fires(probe);
	view->total_time = __atomic_load_n(&probe->total_ns, __ATOMIC_RELAXED);
	view->arg_count = __atomic_load_n(&probe->n_args, __ATOMIC_RELAXED);
	view->handler = __atomic_load_n(&probe->context, __ATOMIC_ACQUIRE);
}

/* The view lives in the thread's stack: handlers of one probe may run in several threads. */
static void dtrace_call(struct ktr_probe *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			uint64_t a5)
{
	dtrace_handler_t handler;
	dtrace_probe_t view = { 0 };
	void *context = __atomic_load_n(&probe->context, __ATOMIC_ACQUIRE);

	if (!context)
		return;
	memcpy(&handler, &context, sizeof(handler));
	dtrace_refresh(&view, probe);
	handler(&view, a0, a1, a2, a3, a4, a5);
}

void dtrace_init(void)
{
}

void dtrace_enable(void)
{
	ktr_probes_enable();
}

void dtrace_disable(void)
{
	ktr_probes_disable();
}

boolean_t dtrace_is_enabled(void)
{
	return ktr_probes_enabled();
}

uint32_t dtrace_probe_register(dtrace_probe_type_t type, const char *name, const char *function,
			       dtrace_handler_t handler)
{
	struct ktr_probe *probe;
	void *context;
	int code = ktr_probe_register((enum ktr_probe_type)type, name, function, NULL, &probe);

	if (code) {
		errno = -code;
		return 0;
	}
	memcpy(&context, &handler, sizeof(context));
	if (handler)
		ktr_probe_handler(probe, dtrace_call, context);
	return probe->id;
}

int dtrace_probe_enable(uint32_t id)
{
	struct ktr_probe *probe = ktr_probe_by_id(id);

	return probe ? ktr_probe_enable(probe) : -ENOENT;
}

int dtrace_probe_disable(uint32_t id)
{
	struct ktr_probe *probe = ktr_probe_by_id(id);

	return probe ? ktr_probe_disable(probe) : -ENOENT;
}

int dtrace_probe_remove(uint32_t id)
{
	struct ktr_probe *probe = ktr_probe_by_id(id);

	return probe ? ktr_probe_remove(probe) : -ENOENT;
}

int dtrace_probe_get(uint32_t id, dtrace_probe_t *view)
{
	const struct ktr_probe *probe = ktr_probe_by_id(id);

	if (!probe)
		return -ENOENT;
	memset(view, 0, sizeof(*view));
	dtrace_refresh(view, probe);
	return 0;
}

uint32_t dtrace_buffer_read(dtrace_event_t *events, uint32_t n)
{
	uint32_t got = 0;
	struct ktr_probe_event event;

	while (got < n && ktr_probe_read(&event, 1) == 1) {
		dtrace_event_t *to = &events[got++];

		to->probe_id = event.probe;
		to->timestamp = event.time_ns;
		to->cpu_id = event.cpu;
		to->thread_id = event.tid;
		to->task_id = event.pid;
		for (int i = 0; i < KTR_ARGS_MAX; i++)
			to->args[i] = event.arg[i];
	}
	return got;
}

void dtrace_get_metrics(dtrace_metrics_t *metrics)
{
	struct ktr_probe_metrics now = { .size = sizeof(now) };

	ktr_probe_metrics(&now);
	metrics->total_probes_fired = now.n_fired;
	metrics->total_events_captured = now.n_captured;
	metrics->buffer_overruns = now.n_overruns;
	metrics->probe_overhead_ns = now.overhead_ns;
	metrics->events_filtered = now.n_filtered;
}

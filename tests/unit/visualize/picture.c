/* SPDX-License-Identifier: BSD-2-Clause */
/* A made-up trace for the tests of pictures. */
#include "analyze/read/tables.h"
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void picture_open(struct picture *p, double ms)
{
	struct ktr_sink *sink = p->sink;

	memset(p, 0, sizeof(*p));
	p->sink = sink;
	p->info.path = "ktr.out";
	p->info.name = "indexer";
	p->info.host = "testhost";
	p->info.cmdline = "/usr/bin/indexer -o /tmp/index /usr/include";
	p->info.first_ns = PICTURE_BEGIN_NS;
	p->info.last_ns = PICTURE_BEGIN_NS + (uint64_t)(ms * 1e6);
	p->info.utc_offset_ns = 1700000000000000000;
	p->info.n_cpus = 2;
	p->info.clock = "tsc";
	p->thread = calloc(PICTURE_THREADS, sizeof(*p->thread));
	p->thread_name = calloc(PICTURE_THREADS, sizeof(*p->thread_name));
}

void picture_close(struct picture *p)
{
	free(p->thread);
	free(p->thread_name);
	p->thread = NULL;
	p->thread_name = NULL;
}

struct ktr__thread *picture_thread(struct picture *p, unsigned n)
{
	struct ktr__thread *thread = &p->thread[n];

	if (thread->thread.id == 0) {
		thread->process_key = 100;
		snprintf(p->thread_name[n], sizeof(p->thread_name[n]), "worker %u", n % 100000);
		thread->thread = (struct ktr_reader_thread){ n, 100 + n, 100, p->thread_name[n], "indexer", 0, 0 };
	}
	return thread;
}

/* The site of a kind and group, and of a scope's name; made when it is new. */
static const struct ktr_reader_site *picture_site(struct picture *p, enum ktr_event_kind kind,
						  const char *group, const char *scope)
{
	struct ktr_reader_site *site;

	for (unsigned i = 0; i < p->n_sites; i++)
		if (p->site[i].kind == kind &&
		    (group == p->site[i].group || (group && strcmp(p->site[i].group, group) == 0)) &&
		    (!scope || strcmp(p->site[i].ident, scope) == 0))
			return &p->site[i];
	site = &p->site[p->n_sites];
	site->id = p->n_sites++;
	site->mask = 1;
	site->class_name = "gen";
	site->name = "indexer.c:1";
	site->file = "indexer.c";
	site->line = 1;
	site->func = "main";
	site->format = "x";
	site->module = "";
	site->kind = kind;
	site->group = group;
	site->value_arg = kind == KTR_KIND_EVENT ? -1 : 1;
	site->first_attr = 2;
	site->n_args = kind == KTR_KIND_EVENT ? 0 : 2;
	site->arg[0] = (struct ktr_reader_arg){ "id", KTR_ARG_STR };
	site->arg[1] = (struct ktr_reader_arg){ "value", KTR_ARG_U64 };
	if (kind == KTR_KIND_STATE || kind == KTR_KIND_POINT)
		site->arg[1].type = KTR_ARG_STR;
	if (scope) {
		site->ident = scope;
		site->value_arg = 0;
		site->n_args = 1;
		site->arg[0] = (struct ktr_reader_arg){ "key", KTR_ARG_U64 };
	}
	if (kind == KTR_KIND_COUNTER)
		site->arg[1].type = KTR_ARG_I32;
	return site;
}

static struct ktr_event_bytes picture_bytes(const char *text)
{
	return (struct ktr_event_bytes){ text, (uint32_t)strlen(text), 0, 0 };
}

static void picture_send(struct picture *p, enum ktr_event_kind kind, double ms, unsigned thread,
			 const char *group, const char *ident, const char *text, uint64_t value)
{
	struct ktr_event *event = &p->event;

	event->time_ns = PICTURE_BEGIN_NS + (uint64_t)(ms * 1e6 + 0.5);
	event->index = p->n_events++;
	event->site = picture_site(p, kind, group, group && strcmp(group, "scope") == 0 ? ident : NULL);
	event->thread = &picture_thread(p, thread)->thread;
	event->arg[0] = ident ? strlen(ident) : 0;
	event->arg[1] = value;
	if (event->site->ident)
		event->arg[0] = value;
	event->str[0] = picture_bytes(ident ? ident : "");
	event->str[1] = picture_bytes(text);
	if (p->result == 0)
		p->result = p->sink->event(p->sink, event);
}

void picture_state(struct picture *p, double ms, unsigned thread, const char *group,
		   const char *ident, const char *state)
{
	picture_send(p, KTR_KIND_STATE, ms, thread, group, ident, state, strlen(state));
}

void picture_counter(struct picture *p, double ms, unsigned thread, const char *group,
		     const char *ident, int value)
{
	picture_send(p, KTR_KIND_COUNTER, ms, thread, group, ident, "", (uint64_t)(int64_t)value);
}

void picture_start(struct picture *p, double ms, unsigned thread, const char *group,
		   const char *ident, uint64_t key)
{
	picture_send(p, KTR_KIND_START, ms, thread, group, ident, "", key);
}

void picture_stop(struct picture *p, double ms, unsigned thread, const char *group,
		  const char *ident, uint64_t key)
{
	picture_send(p, KTR_KIND_STOP, ms, thread, group, ident, "", key);
}

void picture_enter(struct picture *p, double ms, unsigned thread, const char *name, uint64_t key)
{
	picture_send(p, KTR_KIND_START, ms, thread, "scope", name, "", key);
}

void picture_leave(struct picture *p, double ms, unsigned thread, const char *name, uint64_t key)
{
	picture_send(p, KTR_KIND_STOP, ms, thread, "scope", name, "", key);
}

void picture_point(struct picture *p, double ms, unsigned thread, const char *group,
		   const char *ident)
{
	picture_send(p, KTR_KIND_POINT, ms, thread, group, ident, "here", 4);
}

void picture_event(struct picture *p, double ms, unsigned thread, unsigned cpu)
{
	p->event.cpu = cpu;
	picture_send(p, KTR_KIND_EVENT, ms, thread, NULL, NULL, "", 0);
	p->event.cpu = 0;
}

void picture_loss(struct picture *p, unsigned cpu, double from_ms, double to_ms, uint64_t n_events)
{
	struct ktr_loss loss = { cpu, 0, 0, n_events, PICTURE_BEGIN_NS + (uint64_t)(from_ms * 1e6),
				 PICTURE_BEGIN_NS + (uint64_t)(to_ms * 1e6) };

	if (p->result == 0 && p->sink->loss)
		p->result = p->sink->loss(p->sink, &loss);
}

/* 10 ms of one of the three workers that have nothing to complain about. */
static void picture_work(struct picture *p, double ms, unsigned thread, int waits)
{
	char name[16];

	snprintf(name, sizeof(name), "worker %u", thread);
	picture_state(p, ms + 2, thread, "worker", name, "reading");
	picture_state(p, ms + 5, thread, "worker", name, "cutting");
	picture_event(p, ms + 6, thread, thread % 2);
	if (waits) {
		picture_state(p, ms + 6, thread, "worker", name, "waiting for lock");
		picture_start(p, ms + 6, thread, "lock wait", name, 3);
		picture_state(p, ms + 7, thread, "worker", name, "cutting");
		picture_stop(p, ms + 7, thread, "lock wait", name, 3);
	}
	picture_state(p, ms + 9, thread, "worker", name, "idle");
}

/* 100 ms of the story that picture_indexer() tells; ms is where they begin. */
static void picture_round(struct picture *p, double ms, unsigned round)
{
	picture_work(p, ms, 1, 0);
	picture_state(p, ms + 10, 4, "worker", "worker 4", "waiting for lock");
	picture_start(p, ms + 10, 4, "lock wait", "worker 4", 7);
	for (unsigned i = 1; i < 9; i++)
		picture_work(p, ms + 10 * i, 1 + i % 3, i == 5 && round % 10 == 0);
	picture_stop(p, ms + 90, 4, "lock wait", "worker 4", 7);
	picture_state(p, ms + 90, 5, "shard", "shard 7", "worker 4");
	picture_state(p, ms + 90, 4, "worker", "worker 4", "cutting");
	picture_state(p, ms + 97, 5, "shard", "shard 7", "flusher");
	picture_state(p, ms + 97, 5, "worker", "flusher", "writing");
}

void picture_indexer(struct picture *p)
{
	picture_state(p, 0, 5, "worker", "flusher", "idle");
	picture_state(p, 0, 5, "shard", "shard 7", "flusher");
	for (unsigned i = 0; i < 100; i++) {
		picture_counter(p, 100 * i, 6, "queue", "files queued",
				(int)(i < 50 ? i : 100 - i));
		picture_round(p, 100 * i, i);
		if (i == 40)
			picture_loss(p, 0, 4100, 4300, 12345);
	}
}

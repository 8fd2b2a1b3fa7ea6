/* SPDX-License-Identifier: BSD-2-Clause */
/* See dtrace_events.h. Which probe an event is of its call site says: its class, and the text of ktr/dtrace.h. */
#include "tools/bsd/dtrace_events.h"

#include "ktr/control/session_join.h"
#include "ktr/provider/session/specs.h"
#include "ktr/session/mach_own.h"

#include <ktr/probe_type.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const dtrace_events_types[] = { "unknown",
#define DTRACE_EVENTS_TYPE(NAME, name) name,
						   KTR_PROBE_TYPES(DTRACE_EVENTS_TYPE)
#undef DTRACE_EVENTS_TYPE
};

const char *dtrace_type_name(uint32_t type)
{
	return dtrace_events_types[type < KTR_PROBE_TYPES_END ? type : 0];
}

/* The type that a text of n bytes names; 0: none. */
static uint32_t dtrace_events_type(const char *text, size_t n)
{
	for (uint32_t i = 1; i < KTR_PROBE_TYPES_END; i++)
		if (strlen(dtrace_events_types[i]) == n && memcmp(dtrace_events_types[i], text, n) == 0)
			return i;
	return 0;
}

/* A probe of a type and name, made if need be: its number + 2, or 0 without memory. */
static uint32_t dtrace_events_probe(struct dtrace_events *events, uint32_t type, const char *name, size_t n)
{
	struct dtrace_probe_seen *probe = events->probe, made = { .type = type, .enabled = -1 };

	snprintf(made.name, sizeof(made.name), "%.*s", (int)(n < DTRACE_NAME ? n : DTRACE_NAME - 1), name);
	for (uint32_t i = 0; i < events->n_probes; i++)
		if (probe[i].type == type && strcmp(probe[i].name, made.name) == 0)
			return i + 2;
	made.id = ktr__mach_own_id(type, made.name);
	/* Doubled when it is full, at each power of two. */
	if (!(events->n_probes & (events->n_probes - 1)))
		probe = realloc(probe, (events->n_probes ? 2 * (size_t)events->n_probes : 1) * sizeof(*probe));
	if (!probe)
		return 0;
	events->probe = probe;
	probe[events->n_probes] = made;
	return events->n_probes++ + 2;
}

uint32_t dtrace_events_named(struct dtrace_events *events, uint32_t type, const char *name)
{
	return dtrace_events_probe(events, type, name, strlen(name));
}

/* ---- events of a reader ---- */

static uint32_t dtrace_events_own(struct dtrace_events *events, enum ktr__mach_own_id id)
{
	return dtrace_events_named(events, ktr__mach_own[id].type, ktr__mach_own[id].name);
}

/* The probe of a call site: its number + 2, 1 for none of ours, 0 without memory. */
static uint32_t dtrace_events_site(struct dtrace_events *events, const struct ktr_reader_site *site)
{
	const char *format = site->format, *colon = strchr(format, ':');
	uint32_t type;
	size_t n;

	if (strcmp(site->class_name, KTR_KERNEL_SWITCH_CLASS) == 0)
		return dtrace_events_own(events, KTR__MACH_OWN_THREAD_SWITCH);
	if (strcmp(site->class_name, KTR_KERNEL_FAULT_CLASS) == 0)
		return dtrace_events_own(events, KTR__MACH_OWN_VM_FAULT);
	if (strcmp(site->class_name, "mach") != 0)
		return 1;
	/* Of a point "TYPE:NAME %#llx ..."; of one that is fired by name the type is where points have the file. */
	type = colon ? dtrace_events_type(format, (size_t)(colon - format)) : 0;
	if (!type)
		type = dtrace_events_type(site->file, strlen(site->file));
	if (!type)
		return 1;
	format = colon ? colon + 1 : format;
	n = strlen(format);
	for (unsigned i = 0; i < site->n_args; i++)
		while (n && format[--n] != ' ')
			;
	return dtrace_events_probe(events, type, format, n);
}

struct dtrace_seen *dtrace_events_room(struct dtrace_events *events)
{
	size_t room = events->room ? 2 * events->room : 1024;
	struct dtrace_seen *grown;

	if (events->keep && events->n == events->keep) {
		events->n_passed++;
		events->first++;
		return &events->event[(events->first - 1) % events->keep];
	}
	if (events->n == events->room) {
		grown = realloc(events->event, room * sizeof(*grown));
		if (!grown)
			return NULL;
		events->event = grown;
		events->room = room;
	}
	return &events->event[events->n++];
}

/* What the kernel told, as dtrace_buffer_read() gives it. */
static void dtrace_events_kernel(struct dtrace_seen *seen, const struct ktr_event *event)
{
	seen->n_args = 3;
	memset(seen->arg, 0, sizeof(seen->arg));
	switch (event->site->line) {
	case KTR__KERNEL_MINOR:
	case KTR__KERNEL_MAJOR:
		seen->arg[0] = event->arg[2];
		seen->arg[1] = event->site->line == KTR__KERNEL_MAJOR ? 2 : 1;
		seen->arg[2] = event->arg[3];
		break;
	case KTR__KERNEL_IN:
		seen->arg[1] = event->thread->tid;
		break;
	default:
		seen->arg[0] = event->thread->tid;
		seen->arg[2] = event->site->line == KTR__KERNEL_BLOCKED ? 1 :
			       event->site->line == KTR__KERNEL_EXIT	? 3 : 2;
	}
}

static int dtrace_events_sites(struct dtrace_events *events, uint32_t id)
{
	uint32_t *grown;

	if (id < events->n_sites)
		return 0;
	grown = realloc(events->of_site, (id + 64) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + events->n_sites, 0, (id + 64 - events->n_sites) * sizeof(*grown));
	events->of_site = grown;
	events->n_sites = id + 64;
	return 0;
}

int dtrace_events_add(struct dtrace_events *events, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	struct dtrace_seen *seen;

	if (dtrace_events_sites(events, site->id))
		return -ENOMEM;
	if (!events->of_site[site->id])
		events->of_site[site->id] = dtrace_events_site(events, site);
	if (events->of_site[site->id] < 2)
		return events->of_site[site->id] ? 0 : -ENOMEM;
	seen = dtrace_events_room(events);
	if (!seen)
		return -ENOMEM;
	events->probe[events->of_site[site->id] - 2].fires++;
	seen->ns = event->time_ns;
	seen->probe = events->of_site[site->id] - 2;
	seen->cpu = event->cpu;
	seen->tid = event->thread->tid;
	seen->pid = event->thread->pid;
	seen->n_args = site->n_args;
	memcpy(seen->arg, event->arg, sizeof(seen->arg));
	if (strcmp(site->class_name, "mach") != 0)
		dtrace_events_kernel(seen, event);
	return 1;
}

int dtrace_events_read(struct dtrace_events *events, const char *command, struct ktr_reader *reader)
{
	struct ktr_event event;
	int what, rc = 0;

	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what == KTR_READ_EVENT && dtrace_events_add(events, &event) < 0)
			return fail(command, "not enough memory");
		if (what == KTR_READ_LOSS)
			events->n_lost += ktr_reader_loss(reader)->n_events;
		if (what == KTR_READ_NOTE) {
			fprintf(stderr, "%s: %s\n", command, ktr_reader_note(reader)->text);
			rc |= ktr_reader_note(reader)->damaged;
		}
	}
	return what < 0 ? fail_with(command, ktr_reader_error(reader)) : rc;
}

/* ---- a session's probes ---- */

/* mach:TYPE:FUNCTION:NAME */
static int dtrace_events_offered(void *context, const struct ktr__spec_probe *offered)
{
	struct dtrace_events *events = context;
	const char *type = offered->name + strlen("mach:"), *function = strchr(type, ':');
	const char *name = function ? strchr(function + 1, ':') : NULL;
	uint32_t number = name ? dtrace_events_type(type, (size_t)(function - type)) : 0;

	if (number)
		number = dtrace_events_probe(events, number, name + 1, strlen(name + 1));
	if (number)
		events->probe[number - 2].enabled = offered->on && !offered->failed;
	return 0;
}

void dtrace_events_session(struct dtrace_events *events, const char *path)
{
	struct ktr__session_rw session;
	struct ktr__specs specs = { &session, NULL };

	if (ktr__session_join(path, &session, NULL))
		return;
	ktr__specs_walk(&specs, "mach:", dtrace_events_offered, events);
	ktr__session_detach(&session);
}

/* ---- the end ---- */

static int dtrace_events_older(const void *a, const void *b)
{
	const struct dtrace_seen *one = a, *other = b;

	return one->ns < other->ns ? -1 : one->ns > other->ns;
}

void dtrace_events_end(struct dtrace_events *events)
{
	if (events->n)
		qsort(events->event, events->n, sizeof(*events->event), dtrace_events_older);
	for (uint32_t i = 0; i < events->n_probes; i++)
		events->probe[i].n = 0;
	for (size_t i = 0; i < events->n; i++)
		events->probe[events->event[i].probe].n++;
}

void dtrace_events_free(struct dtrace_events *events)
{
	free(events->probe);
	free(events->event);
	free(events->of_site);
}

int dtrace_source(const struct find *find, int argc, char **argv, char *path, size_t size)
{
	if (optind == argc && !find->pid && !find->session && access(FIND_TRACE, F_OK) != 0)
		return find_session(find, path, size);
	return find_source(find, argc, argv, 0, path, size);
}

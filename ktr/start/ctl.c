/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C API of ktr/ctl.h: thin calls over the knob table, for the program's own session and for those
 * of others, which differ in nothing but the context the table is given.
 */
#include <ktr/ctl.h>

#include "ktr/control/mask.h"
#include "ktr/control/session_join.h"
#include "ktr/control/stats.h"
#include "ktr/knob/knobs.h"
#include "ktr/knob/settings.h"
#include "ktr/knob/writer_start.h"
#include "ktr/record/freeze.h"
#include "ktr/record/own.h"
#include "ktr/record/thread.h"
#include "ktr/start/own_knobs.h"
#include "ktr/start/start.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ktr_session {
	struct ktr__session_rw map;
	struct ktr__knob_context context;
	struct ktr_knobs knobs;
	struct ktr_conf conf;
	struct ktr__shared_knob own[KTR_KNOBS_MAX];
};

static int ctl_apply(const char *name, const char *text, struct ktr_error *err)
{
	return text ? ktr_conf_set(ktr__own_conf(), name, text, err) : 0;
}

/* Options as they were at first end here: what a program does not know of is as if it were NULL. */
#define CTL_OPTIONS_MIN offsetof(struct ktr_options, rotate_size)

static int ctl_apply_all(const struct ktr_options *options, struct ktr_error *err)
{
	char entries[24];
	const char *const apply[][2] = {
		{ "debug.ktr.entries", options->entries ? entries : NULL },
		{ "debug.ktr.mask", options->mask },
		{ "debug.ktr.alq_rotate_size", options->rotate_size },
		{ "debug.ktr.alq_rotate_time", options->rotate_time },
		{ "debug.ktr.alq_rotate_keep", options->rotate_keep },
		{ "debug.ktr.alq_file", options->file },
	};
	int code = 0;

	snprintf(entries, sizeof(entries), "%llu", (unsigned long long)options->entries);
	for (size_t i = 0; !code && i < sizeof(apply) / sizeof(apply[0]); i++)
		code = ctl_apply(apply[i][0], apply[i][1], err);
	return code || !options->file ? code : ktr__writer_enable(err);
}

int ktr_open(const struct ktr_options *given, struct ktr_error *err)
{
	struct ktr_options options = { 0 };
	bool had = ktr__own.map != NULL;
	int code;

	if (given->size < CTL_OPTIONS_MIN)
		return ktr_error_set(err, EINVAL, "options of %zu bytes, expected %zu", given->size,
				     sizeof(options));
	memcpy(&options, given, given->size < sizeof(options) ? given->size : sizeof(options));
	if (!had)
		ktr__start_with(options.session);
	if (!ktr__own.map)
		return ktr_error_set(err, ENXIO, "no session");
	code = ctl_apply_all(&options, err);
	if (!code && had && options.session && strcmp(options.session, ktr_session_name()) != 0)
		code = ktr_error_set(err, EALREADY, "the session is %s already", ktr_session_name());
	return code;
}

int ktr_mask_get(uint64_t *mask)
{
	if (!ktr__own.map)
		return -ENXIO;
	*mask = ktr__load_word(&ktr__own.control->asked);
	return 0;
}

int ktr_mask_set(uint64_t mask, struct ktr_error *err)
{
	char text[24];

	if (!ktr__own.map)
		return ktr_error_set(err, ENXIO, "no session");
	snprintf(text, sizeof(text), "%llu", (unsigned long long)mask);
	return ctl_apply("debug.ktr.mask", text, err);
}

int ktr_mask_change(uint64_t on, uint64_t off, struct ktr_error *err)
{
	return ktr__own.map ? ktr__session_mask_change(&ktr__own, on, off, err) : ktr_error_set(err, ENXIO,
												"no session");
}

int ktr_get(const char *name, char *buffer, size_t size, struct ktr_error *err)
{
	return ktr_conf_get(ktr__own_conf(), name, buffer, size, err);
}

int ktr_set(const char *name, const char *text, struct ktr_error *err)
{
	return ktr_conf_set(ktr__own_conf(), name, text, err);
}

struct ktr_conf *ktr_conf(void)
{
	return ktr__own_conf();
}

int ktr_stats(struct ktr_stats *stats)
{
	struct ktr_stats now = { .size = sizeof(now) };
	const struct ktr_control *control = ktr__own.control;
	size_t size = stats->size < sizeof(now) ? stats->size : sizeof(now);

	if (!ktr__own.map)
		return -ENXIO;
	now.n_recorded = ktr__session_recorded(&ktr__own);
	now.n_dropped = ktr__session_dropped(&ktr__own);
	now.n_sites = __atomic_load_n(&control->n_sites, __ATOMIC_RELAXED) - 1;
	now.n_threads = __atomic_load_n(&control->n_threads, __ATOMIC_RELAXED) - 1;
	now.n_processes = __atomic_load_n(&control->n_procs, __ATOMIC_RELAXED) - 1;
	now.n_cpus = ktr__own.header.n_rings;
	now.entries = 1ull << (control->ring_log2 & 63);
	now.size = stats->size;
	memcpy(stats, &now, size);
	return 0;
}

const char *ktr_session_name(void)
{
	return ktr__own.map ? ktr__own.header.name : "";
}

const char *ktr_session_path(void)
{
	return ktr__own.map ? ktr__own.path : "";
}

void ktr_freeze(void)
{
	ktr__session_freeze(KTR_FROZE_CALL);
}

int ktr_flush(void)
{
	return ktr__own_flush();
}

int ktr_thread_name(const char *name)
{
	struct ktr_thread_row *row;

	if (!ktr__own.map)
		return -ENXIO;
	if (!ktr__self.row)
		ktr__thread_register(&ktr__self);
	if (!ktr__self.row)
		return -ENOSPC;
	row = ktr__region_rows(&ktr__own, thread, struct ktr_thread_row) + ktr__self.row;
	memset(row->name, 0, sizeof(row->name));
	memcpy(row->name, name, strnlen(name, sizeof(row->name) - 1));
	row->named = 1;
	return 0;
}

int ktr_session_attach(const char *path, struct ktr_session **out, struct ktr_error *err)
{
	struct ktr_session *session = calloc(1, sizeof(*session));
	int code;

	*out = NULL;
	if (!session)
		return ktr_error_set(err, ENOMEM, "out of memory");
	code = ktr__session_join(path, &session->map, err);
	if (code) {
		free(session);
		return code;
	}
	session->context.session = &session->map;
	session->knobs.rows = ktr__knob_rows;
	session->knobs.n_rows = ktr__n_knob_rows;
	session->knobs.context = &session->context;
	session->knobs.origins = ktr__region_rows(&session->map, origin, struct ktr_origin);
	ktr_conf_register(&session->conf, &session->knobs, NULL);
	/* No further than rows were handed out: after them the file may have no memory. */
	for (uint32_t i = 1; i < KTR_KNOBS_MAX && i < session->map.control->n_knobs; i++)
		if (ktr__shared_knob(&session->map, i, &session->own[i]))
			ktr_conf_register(&session->conf, &session->own[i].table, NULL);
	*out = session;
	return 0;
}

struct ktr_conf *ktr_session_conf(struct ktr_session *session)
{
	return &session->conf;
}

void ktr_session_close(struct ktr_session *session)
{
	if (!session)
		return;
	ktr__session_detach(&session->map);
	free(session);
}

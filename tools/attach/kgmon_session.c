/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler is the probe profile:::profile-N; BSD's low resolution is one rate, its high resolution another, and
 * one that somebody else has switched on is high from 500 Hz on. With it goes fbt_count:::arcs, of objects that are
 * built for it; a program that has no more counts without sampling.
 *
 * A trace that is being written has all since it began; without one there is what the rings hold. Both remember the
 * last reset: the rings are cleared, and the session has its time.
 */
#include "tools/attach/kgmon_session.h"

#include "ktr/control/session_join.h"
#include "ktr/provider/session/specs.h"
#include "ktr/session/table.h"
#include "tools/attach/deaf_threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KGMON_SPEC	"profile:::"
#define KGMON_COUNT	"fbt_count:::"
#define KGMON_LOW	"profile:::profile-99"
#define KGMON_HIGH	"profile:::profile-997"
#define KGMON_HIGH_HZ	500
#define KGMON_SOURCE	"debug.ktr.profile.source"
#define KGMON_USED	"debug.ktr.profile.used"
#define KGMON_BY_ANY	"0"
#define KGMON_BY_TIMERS "2"
#define KGMON_ASK_MS	2000
#define KGMON_WAIT_MS	10000 /* a process may have very many threads */

/* ---- state ---- */

struct kgmon_found {
	unsigned n, n_on;
	bool on, failed;
	unsigned long rate;
};

static int kgmon_found(void *context, const struct ktr__spec_probe *probe)
{
	struct kgmon_found *found = context;
	const char *dash = strrchr(probe->name, '-');
	unsigned long n = dash ? strtoul(dash + 1, NULL, 10) : 0;

	found->n++;
	found->failed |= probe->failed;
	if (!probe->on)
		return 0;
	found->n_on++;
	found->on = true;
	found->rate = n;
	if (n && strstr(dash, "us"))
		found->rate = 1000000 / n;
	else if (n && strstr(dash, "ms"))
		found->rate = 1000 / n;
	return 0;
}

static struct ktr__specs kgmon_specs(const struct kgmon_session *session)
{
	return (struct ktr__specs){ (struct ktr__session_rw *)(uintptr_t)&session->session,
				    ktr_session_conf(session->own) };
}

/* Who does not answer is not asked twice. */
static void kgmon_look(struct kgmon_session *session)
{
	struct ktr__specs specs = kgmon_specs(session);
	struct kgmon_found found = { 0 }, counts = { 0 };

	if (session->alive && !ktr__specs_ask(&specs, KGMON_SPEC, KGMON_ASK_MS))
		ktr__specs_ask(&specs, KGMON_COUNT, KGMON_ASK_MS);
	ktr__specs_walk(&specs, KGMON_SPEC, kgmon_found, &found);
	ktr__specs_walk(&specs, KGMON_COUNT, kgmon_found, &counts);
	session->samples = found.n > 0;
	session->counts = counts.n > 0;
	session->all_count = counts.n == counts.n_on;
	session->is_later = __atomic_load_n(&session->session.control->prof_all, __ATOMIC_RELAXED) != KTR_PROF_NONE;
	session->has_none = session->alive && !found.n && !counts.n;
	session->rate_hz = found.on ? found.rate : 0;
	session->state = !found.on && !counts.on ? KGMON_OFF : found.rate >= KGMON_HIGH_HZ ? KGMON_HIRES : KGMON_ON;
}

int kgmon_session_open(struct kgmon_session *session, const char *path, struct ktr_error *err)
{
	int rc;

	*session = (struct kgmon_session){ 0 };
	/* What was touched of another map of the session, if there is one, is not of this one. */
	ktr__table_forget();
	rc = ktr__map_open(path, KTR__MAP_OWN, &session->map, err);
	if (rc)
		return rc;
	snprintf(session->path, sizeof(session->path), "%s", path);
	session->alive = ktr__map_alive(&session->map) > 0;
	rc = ktr_session_attach(path, &session->own, err);
	if (!rc) {
		rc = ktr__session_join(path, &session->session, err);
		if (rc)
			ktr_session_close(session->own);
	}
	if (rc)
		ktr__map_close(&session->map);
	else
		kgmon_look(session);
	return rc;
}

void kgmon_session_close(struct kgmon_session *session)
{
	ktr__session_detach(&session->session);
	ktr_session_close(session->own);
	ktr__map_close(&session->map);
	ktr__table_forget();
}

/* 0, and in *change what to wait for; or -errno. */
static int kgmon_count(struct kgmon_session *session, bool on, uint32_t *change)
{
	struct ktr__specs specs = kgmon_specs(session);
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__specs_done done = { .change = 0 };
	int rc = session->counts ? ktr__specs_switch(&specs, KGMON_COUNT, on, &done, &err) : 0;

	*change = done.change ? done.change : *change;
	return rc;
}

bool kgmon_session_chose(const struct kgmon_session *session)
{
	return __atomic_load_n(&session->session.control->prof_all, __ATOMIC_ACQUIRE) == KTR_PROF_TIMERS;
}

/*
 * In low resolution samples are by timers, else by what there is, unless somebody has chosen. What we chose is
 * taken back with it.
 */
static void kgmon_choose_source(struct kgmon_session *session, enum kgmon_state wanted)
{
	uint32_t *all = &session->session.control->prof_all, now;
	bool ours = kgmon_session_chose(session);
	struct ktr_conf *conf = ktr_session_conf(session->own);
	char asked[32];

	if (ktr_conf_get(conf, KGMON_SOURCE, asked, sizeof(asked), NULL))
		asked[0] = '\0';
	if (wanted == KGMON_ON && session->samples && strcmp(asked, KGMON_BY_ANY) == 0)
		ours = ktr_conf_set(conf, KGMON_SOURCE, KGMON_BY_TIMERS, NULL) == 0;
	else if (wanted != KGMON_ON && ours && strcmp(asked, KGMON_BY_TIMERS) == 0)
		ktr_conf_set(conf, KGMON_SOURCE, KGMON_BY_ANY, NULL);
	/* Before what is there is asked for: who is loaded meanwhile finds one or the other. */
	now = wanted == KGMON_OFF ? KTR_PROF_NONE : wanted == KGMON_ON && ours ? KTR_PROF_TIMERS : KTR_PROF_ALL;
	__atomic_store_n(all, now, __ATOMIC_RELEASE);
}

int kgmon_session_switch(struct kgmon_session *session, enum kgmon_state wanted)
{
	const char *spec = wanted == KGMON_HIRES ? KGMON_HIGH : KGMON_LOW;
	struct ktr__specs specs = kgmon_specs(session);
	struct ktr_error err = KTR_ERROR_NONE;
	struct kgmon_found found = { 0 };
	struct ktr__specs_done done = { .change = 0 };
	int rc = 0, counts;

	kgmon_choose_source(session, wanted);
	/* One rate at a time. */
	if (session->samples && (session->state != KGMON_OFF || wanted == KGMON_OFF))
		rc = ktr__specs_switch(&specs, KGMON_SPEC, false, &done, &err);
	counts = kgmon_count(session, wanted != KGMON_OFF, &done.change);
	rc = rc ? rc : counts;
	if (wanted == KGMON_OFF || !session->samples)
		return rc ? rc : ktr__specs_wait(&specs, done.change, KGMON_WAIT_MS) ? -EAGAIN : 0;
	ktr__specs_ask(&specs, spec, KGMON_ASK_MS);
	rc = ktr__specs_switch(&specs, spec, true, &done, &err);
	if (rc)
		return rc;
	/* Who let go of the process before has taken the class away. */
	ktr_conf_set(ktr_session_conf(session->own), "debug.ktr.mask", "+profile", NULL);
	if (ktr__specs_wait(&specs, done.change, KGMON_WAIT_MS))
		return -EAGAIN;
	ktr__specs_walk(&specs, spec, kgmon_found, &found);
	return found.failed ? -EBUSY : 0;
}

unsigned kgmon_session_deaf(const struct kgmon_session *session)
{
	char used[32];
	struct ktr_proc_row proc;
	unsigned n = 0;
	uint32_t n_procs;

	if (ktr_conf_get(ktr_session_conf(session->own), KGMON_USED, used, sizeof(used), NULL) ||
	    strcmp(used, KGMON_BY_TIMERS) != 0)
		return 0;
	n_procs = ktr__map_n_rows(&session->map, session->session.control, KTR_REGION_proc);
	for (uint32_t i = 1; i < n_procs; i++)
		if (!ktr__map_proc(&session->map, i, &proc) && ktr__proc_alive(&proc))
			n += deaf_threads((pid_t)proc.pid);
	return n;
}

/* What calls were counted does so no more. */
static void kgmon_arcs_reset(const struct ktr__session_rw *session)
{
	uint32_t n = session->header.region[KTR_REGION_probe_count].n_rows;
	struct ktr_probe_head *head = ktr__session_at(session, KTR_REGION_probe, 0);
	uint32_t n_counts = head ? __atomic_load_n(&head->n_counts, __ATOMIC_ACQUIRE) : 0;

	if (!head || session->header.region[KTR_REGION_probe_count].row_bytes != sizeof(struct ktr_arcs))
		return;
	for (uint32_t i = 1; i < n && i < n_counts; i++) {
		struct ktr_arcs *arcs = ktr__session_ready(session, KTR_REGION_probe_count, i);

		for (unsigned k = 0; arcs && arcs->first == KTR_ARCS_FIRST &&
				     k < sizeof(arcs->arc) / sizeof(arcs->arc[0]); k++)
			__atomic_store_n(&arcs->arc[k].before, __atomic_load_n(&arcs->arc[k].n, __ATOMIC_RELAXED),
					 __ATOMIC_RELAXED);
	}
	__atomic_store_n(&head->uncounted_before, __atomic_load_n(&head->uncounted, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
}

void kgmon_session_reset(struct kgmon_session *session)
{
	struct ktr_control *control = session->session.control;
	struct timespec now;

	kgmon_arcs_reset(&session->session);
	clock_gettime(CLOCK_MONOTONIC, &now);
	ktr_conf_set(ktr_session_conf(session->own), "debug.ktr.clear", "1", NULL);
	__atomic_store_n(&control->prof_reset_ns, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
			 __ATOMIC_RELAXED);
}

/* ---- what there is ---- */

int kgmon_session_reader(struct kgmon_session *session, struct ktr_reader **reader, struct ktr_error *err)
{
	struct ktr_control *control = session->session.control;
	struct ktr_reader_options options = { .size = sizeof(options) };
	char file[sizeof(control->alq_file)];

	options.from_ns = __atomic_load_n(&control->prof_reset_ns, __ATOMIC_RELAXED);
	memcpy(file, control->alq_file, sizeof(file));
	file[sizeof(file) - 1] = '\0';
	if (__atomic_load_n(&control->alq_enable, __ATOMIC_RELAXED) && file[0] == '/' &&
	    ktr_reader_open(file, &options, reader, NULL) == 0) {
		if (memcmp(ktr_reader_info(*reader)->uuid, session->map.header.uuid, 16) == 0)
			return 0;
		ktr_reader_close(*reader);
	}
	return ktr_reader_open(session->path, &options, reader, err);
}

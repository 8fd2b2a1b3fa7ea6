/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From perf's records to entries of the kernel rings.
 *
 * Time: the kernel stamps with CLOCK_MONOTONIC_RAW (CLOCK_MONOTONIC where the session's clock is that).
 * With each round both clocks are read together after the buffers' heads. A record of this round came after
 * the heads of the last one, which were read after the moment of the one before that; so it lies between that
 * moment and this one on both clocks, and converting by the line through the two is good to the precision of
 * reading them, however long the session is and whatever NTP does to either.
 *
 * Of each CPU at most a quarter of its ring is taken in a round, so that the drain, which comes after
 * it, has read what is overwritten next.
 *
 * What a provider of the process has the kernel tell (struct ktr__kernel_also) is fed by an object of its own, the
 * leader, which then does the same for all others of the process: their rounds are its. So the rings have one
 * writer, in the order of time. The leader's rounds exclude each other by a mutex; others are told by one word to
 * give up what they have, and whoever is to lead waits for the lock of the session until they have.
 */
#include "ktr/provider/kernel/kernel_events.h"

#include "ktr/control/kernel_ring.h"
#include "ktr/control/mask.h"
#include "ktr/provider/kernel/feeder.h"
#include "ktr/provider/kernel/kernel_born.h"
#include "ktr/provider/kernel/kernel_clock.h"
#include "ktr/provider/kernel/kernel_site.h"
#include "ktr/provider/kernel/kernel_thread.h"
#include "ktr/provider/kernel/kernel_write.h"
#include "ktr/provider/kernel/perf.h"
#include "ktr/session/clock.h"
#include "ktr/session/kernel_event.h"
#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_LOOK_NS	1000000000ull /* between two looks for processes that have come */
#define KERNEL_RETRY_NS	1000000000ull /* after descriptors could not be had, or another feeder was there */
#define KERNEL_PAUSE_NS	20000000ull /* an idle round costs a few loads per CPU */
#define KERNEL_PAUSE_LEAST_NS 1000000ull
#define KERNEL_NAPS	300 /* of 1 ms, for another object of the process to give up the lock */

struct ktr__kernel_events {
	struct ktr__session_rw *session; /* borrowed */
	char *lock; /* while it is open */
	void (*say)(void *context, const char *line);
	void *context;
	bool all;
	bool open;
	bool said; /* why it cannot be had */
	struct ktr__perf perf;
	struct ktr__kernel_threads threads;
	struct ktr__kernel_ring *ring; /* owned; as perf.cpu */
	uint32_t n_procs; /* control.n_procs when last looked */
	uint8_t *proc; /* owned; 1: this process's threads are followed, by row */
	struct ktr__kernel_born born; /* before who bore them was followed */
	struct ktr__kernel_moment moment[3]; /* two rounds ago, the round before this one, now */
	uint64_t looked_ns, round_ns, retry_ns;
	uint32_t site[KTR__KERNEL_SITES_END];
	bool more; /* the last round has left records of before `now` */
	const struct ktr__kernel_also *also; /* of the leader */
	uint64_t took_ns; /* CLOCK_MONOTONIC, of the leader's last round. Atomic */
	/* Threads that have ended in this round: what other CPUs have of them is yet to come. */
	struct kernel_ended {
		uint32_t tid, row;
		uint64_t ns; /* CLOCK_MONOTONIC */
	} *ended; /* owned */
	unsigned n_ended, ended_room;
	/* For the callbacks of a round: */
	const struct ktr__kernel_entry *entry; /* also's, in the order of time */
	size_t n_entries, n_written, next;
	struct ktr__kernel_ring *at;
	uint64_t mono; /* [ns] CLOCK_MONOTONIC less perf's clock, nearly */
};

static uint64_t kernel_now(void)
{
	return ktr__clock_now(KTR_CLOCK_MONOTONIC);
}

static void kernel_say(struct ktr__kernel_events *kernel, const char *line)
{
	if (!kernel->said && kernel->say)
		kernel->say(kernel->context, line);
	kernel->said = true;
}

struct ktr__kernel_events *ktr__kernel_events_new(struct ktr__session_rw *session, bool all,
				void (*say)(void *context, const char *line), void *context)
{
	struct ktr__kernel_events *kernel = calloc(1, sizeof(*kernel));

	if (!kernel)
		return NULL;
	kernel->session = session;
	kernel->threads.session = session;
	kernel->say = say;
	kernel->context = context;
	kernel->all = all;
	ktr__table_forget(); /* this copy of it may know another session's */
	return kernel;
}

/* ---- what is wanted, and who feeds ---- */

/* What debug.ktr.probes asks for needs what whoever sets debug.ktr.kernel makes, and its class in the mask. */
static void kernel_probes(struct ktr__kernel_events *kernel)
{
	struct ktr_control *control = kernel->session->control;
	const uint64_t probes = KTR_KERNEL_SWITCH_PROBE | KTR_KERNEL_FAULT_PROBE;
	uint64_t asked = __atomic_fetch_and(&control->kernel, ~probes, __ATOMIC_ACQ_REL), mask = 0;
	struct ktr_error err = KTR_ERROR_NONE;

	if (ktr__kernel_open(kernel->session, &err)) {
		__atomic_store_n(&control->kernel, 0, __ATOMIC_RELEASE);
		kernel_say(kernel, err.text);
		return;
	}
	if (asked & KTR_KERNEL_SWITCH_PROBE)
		mask |= ktr__kernel_mask(kernel->session, KTR_KERNEL_SWITCH);
	if (asked & KTR_KERNEL_FAULT_PROBE)
		mask |= ktr__kernel_mask(kernel->session, KTR_KERNEL_FAULT);
	ktr__session_mask_change(kernel->session, mask, 0, NULL);
}

/* KTR_KERNEL_*: asked for, of a class that is recorded, while the rings do not stand still. */
static unsigned kernel_want(const struct ktr__kernel_events *kernel)
{
	const struct ktr_control *control = kernel->session->control;
	unsigned asked = (unsigned)__atomic_load_n(&control->kernel, __ATOMIC_ACQUIRE), want = 0;
	uint64_t mask = __atomic_load_n(&control->asked, __ATOMIC_RELAXED);

	if (!asked || __atomic_load_n(&control->frozen, __ATOMIC_RELAXED))
		return 0;
	if (asked & KTR_KERNEL_SWITCH && mask & ktr__kernel_mask(kernel->session, KTR_KERNEL_SWITCH))
		want |= KTR_KERNEL_SWITCH;
	if (asked & KTR_KERNEL_FAULT && mask & ktr__kernel_mask(kernel->session, KTR_KERNEL_FAULT))
		want |= KTR_KERNEL_FAULT;
	return want;
}

/* ---- the clock ---- */

static uint64_t kernel_clock_ns(const struct ktr__kernel_events *kernel)
{
	return ktr__kernel_clock_ns(kernel->perf.clock);
}

static struct ktr__kernel_moment kernel_moment(const struct ktr__kernel_events *kernel)
{
	return ktr__kernel_moment(kernel->session->header.clock, kernel->perf.clock);
}

static uint64_t kernel_ticks(const struct ktr__kernel_events *kernel, uint64_t ns)
{
	return ktr__kernel_ticks(&kernel->moment[0], &kernel->moment[2], ns);
}

/* ---- opening and closing ---- */

static int kernel_follow_proc(struct ktr__kernel_events *kernel, uint32_t pid)
{
	char path[64];
	const struct dirent *entry;
	int code = -ESRCH, one;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (!tid || tid == (uint32_t)gettid() || (kernel->also && ktr__kernel_thread_is_ours(pid, tid)))
			continue;
		ktr__kernel_born_of(&kernel->born, pid, tid);
		one = ktr__perf_add(&kernel->perf, tid);
		/* It has a row before it can record, and makes none of its own. */
		if (one == 0)
			ktr__kernel_thread(&kernel->threads, pid, tid, kernel_now());
		if (one == 0 || code == -ESRCH)
			code = one;
		if (one == -EMFILE || one == -ENFILE || one == -EACCES || one == -EPERM) {
			code = one;
			break;
		}
	}
	if (dir)
		closedir(dir);
	return code;
}

static uint32_t kernel_procs(const struct ktr__kernel_events *kernel)
{
	return __atomic_load_n(&kernel->session->control->n_procs, __ATOMIC_RELAXED);
}

/*
 * Follows the processes of the session that are not followed yet. Those are that were forked since their parent was
 * followed: what it was opened with is inherited. A program executed by a process has a row of its own there.
 */
static int kernel_follow(struct ktr__kernel_events *kernel)
{
	const struct ktr_proc_row *rows = ktr__region_rows(kernel->session, proc, struct ktr_proc_row);
	uint32_t n;
	int code = 0, one;

	kernel->n_procs = kernel_procs(kernel); /* first: what comes now is looked for the next time */
	n = ktr__kernel_events_n_procs(kernel->session);
	for (uint32_t i = 1; i < n; i++) {
		bool inherits = false, was_born;

		if (kernel->proc[i] || __atomic_load_n(&rows[i].state, __ATOMIC_ACQUIRE) != KTR_ROW_READY)
			continue;
		kernel->proc[i] = 1;
		was_born = ktr__kernel_born_take(&kernel->born, rows[i].pid) || !kernel->looked_ns;
		for (uint32_t j = 1; j < n; j++)
			inherits |= j != i && kernel->proc[j] &&
				    (rows[j].pid == rows[i].pid || (!was_born && rows[j].pid == rows[i].ppid));
		if (inherits || (!kernel->all && rows[i].pid != (uint32_t)getpid()))
			continue;
		one = kernel_follow_proc(kernel, rows[i].pid);
		if (one && one != -ESRCH)
			code = one;
	}
	kernel->looked_ns = kernel_now();
	return code;
}

static void kernel_shut(struct ktr__kernel_events *kernel)
{
	ktr__perf_close(&kernel->perf);
	ktr__kernel_born_free(&kernel->born);
	free(kernel->ring);
	free(kernel->proc);
	kernel->ring = NULL;
	kernel->proc = NULL;
	kernel->open = false;
	kernel->looked_ns = 0;
	if (kernel->also)
		return; /* a leader stays the feeder */
	ktr__feeder_release(kernel->session, kernel->lock);
	kernel->lock = NULL;
}

void ktr__kernel_events_free(struct ktr__kernel_events *kernel)
{
	if (!kernel)
		return;
	if (kernel->open)
		kernel_shut(kernel);
	free(kernel->threads.slot);
	free(kernel->ended);
	free(kernel);
}

static void kernel_missing(struct ktr__kernel_events *kernel, int code)
{
	char line[200];

	ktr__perf_tell(code, line, sizeof(line));
	kernel_say(kernel, line);
}

static int kernel_open(struct ktr__kernel_events *kernel, unsigned want)
{
	int code = ktr__perf_open(&kernel->perf, want, ktr__kernel_events_clock(kernel->session));

	kernel->open = true;
	kernel->ring = calloc(kernel->perf.n_cpus + 1, sizeof(*kernel->ring));
	kernel->proc = calloc(kernel->session->header.region[KTR_REGION_proc].n_rows, 1);
	if (code || !kernel->ring || !kernel->proc)
		return -ENOMEM;
	for (uint32_t i = 0; i < kernel->perf.n_cpus; i++)
		ktr__kernel_ring_open(kernel->session, &kernel->ring[i], kernel->perf.cpu[i].cpu);
	for (unsigned i = 1; i < KTR__KERNEL_SITES_END; i++)
		kernel->site[i] = ktr__kernel_site_row(kernel->session, i);
	kernel->moment[0] = kernel->moment[1] = kernel->moment[2] = kernel_moment(kernel);
	return want ? kernel_follow(kernel) : 0;
}

/* What is wanted has changed: opens, or closes. */
static void kernel_turn(struct ktr__kernel_events *kernel, unsigned want)
{
	uint64_t now = kernel_now();
	int code;

	if (kernel->open)
		kernel_shut(kernel);
	if ((!want && !kernel->also) || now < kernel->retry_ns)
		return;
	if (!kernel->lock)
		kernel->lock = ktr__feeder_claim(kernel->session);
	if (!kernel->lock) {
		kernel->retry_ns = now + KERNEL_RETRY_NS; /* somebody else does it */
		return;
	}
	code = kernel_open(kernel, want);
	if (code)
		kernel_missing(kernel, code);
	if (code && !kernel->perf.n_fds && (!kernel->also || code == -ENOMEM)) {
		kernel_shut(kernel);
		kernel->retry_ns = now + KERNEL_RETRY_NS;
	}
}

/* ---- records ---- */

/* An entry of n arguments and its string; what of it has no room there is in a continuation. */
static void kernel_write(struct ktr__kernel_ring *at, uint64_t ticks, struct ktr_entry *first, unsigned n_args,
			 const char *ident, size_t n_ident)
{
	uint64_t words[2][KTR__KERNEL_WORDS] = { 0 };
	size_t n_free = KTR_FREE_BYTES(n_args), n_first = n_ident < n_free ? n_ident : n_free;

	first->arg[0] = n_ident;
	memcpy(words[0], first, sizeof(words[0]));
	memcpy((char *)words[0] + KTR_ENTRY_BYTES - n_free, ident, n_first);
	memcpy(&words[1][1], ident + n_first, n_ident - n_first);
	ktr__kernel_ring_write(at, ticks, words, n_first < n_ident ? 2 : 1);
}

static uint32_t kernel_thread_word(const struct ktr__kernel_events *kernel, uint32_t thread, uint32_t cpu)
{
	return kernel->session->header.path == KTR_PATH_THREAD ? thread | cpu << KTR_THREAD_BITS : thread;
}

static void kernel_entry(struct ktr__kernel_events *kernel, unsigned line, uint32_t thread,
			 const struct ktr__perf_event *event,
		       uint32_t cpu)
{
	const uint8_t *site_ctl = ktr__region_rows(kernel->session, site_ctl, uint8_t);
	struct ktr_entry first = { .site = kernel->site[line] };
	char ident[40];

	if (!first.site || __atomic_load_n(&site_ctl[first.site], __ATOMIC_RELAXED) & KTR_SITE_OFF)
		return;
	first.thread = kernel_thread_word(kernel, thread, cpu);
	first.arg[2] = event->address;
	first.arg[3] = event->ip;
	kernel_write(kernel->at, kernel_ticks(kernel, event->ns), &first, ktr__kernel_site_args(line), ident,
		     ktr__kernel_thread_ident(kernel->session, thread, ident, sizeof(ident)));
}

static void kernel_ends(struct ktr__kernel_events *kernel, uint32_t tid, uint32_t row, uint64_t ns)
{
	if (kernel->n_ended == kernel->ended_room) {
		unsigned room = 2 * kernel->ended_room + 64;
		struct kernel_ended *more = realloc(kernel->ended, room * sizeof(*more));

		if (!more) {
			ktr__kernel_thread_end(&kernel->threads, tid, row, ns);
			return;
		}
		kernel->ended = more;
		kernel->ended_room = room;
	}
	kernel->ended[kernel->n_ended++] = (struct kernel_ended){ tid, row, ns };
}

static void kernel_ended(struct ktr__kernel_events *kernel)
{
	for (unsigned i = 0; i < kernel->n_ended; i++)
		ktr__kernel_thread_end(&kernel->threads, kernel->ended[i].tid, kernel->ended[i].row,
				       kernel->ended[i].ns);
	kernel->n_ended = 0;
}

/* One that a provider has brought. */
static void kernel_also(struct ktr__kernel_events *kernel, const struct ktr__kernel_entry *entry)
{
	uint32_t row = ktr__kernel_thread(&kernel->threads, (uint32_t)getpid(), entry->tid,
					  entry->ns + kernel->mono);
	uint64_t slot[KTR_SLOTS_MAX][KTR__KERNEL_WORDS];
	struct ktr_entry first;

	kernel->n_written++;
	if (entry->name)
		ktr__kernel_thread_name(&kernel->threads, row, entry->name);
	if (entry->n_slots && entry->n_slots <= KTR_SLOTS_MAX &&
	    ktr__cpu_wanted(kernel->session->control, entry->cpu)) {
		memcpy(slot, entry->slot, entry->n_slots * sizeof(slot[0]));
		memcpy(&first, slot[0], sizeof(first));
		first.thread = kernel_thread_word(kernel, row, entry->cpu);
		memcpy(slot[0], &first, sizeof(first));
		ktr__kernel_ring_write(kernel->at, kernel_ticks(kernel, entry->ns),
				       (const uint64_t(*)[KTR__KERNEL_WORDS])slot, entry->n_slots);
	}
	/* Where the kernel tells of its end, that is yet to come. */
	if (entry->ends && !kernel->perf.want)
		kernel_ends(kernel, entry->tid, row, entry->ns + kernel->mono);
}

/* Those of a CPU up to that moment. */
static void kernel_also_until(struct ktr__kernel_events *kernel, uint32_t cpu, uint64_t ns)
{
	for (; kernel->next < kernel->n_entries && kernel->entry[kernel->next].ns <= ns; kernel->next++)
		if (kernel->entry[kernel->next].cpu == cpu)
			kernel_also(kernel, &kernel->entry[kernel->next]);
}

static void kernel_found(void *context, uint32_t cpu, const struct ktr__perf_event *event)
{
	static const uint8_t sites[] = {
		[KTR__PERF_IN] = KTR__KERNEL_IN,	   [KTR__PERF_BLOCKED] = KTR__KERNEL_BLOCKED,
		[KTR__PERF_PREEMPTED] = KTR__KERNEL_PREEMPTED, [KTR__PERF_MINOR] = KTR__KERNEL_MINOR,
		[KTR__PERF_MAJOR] = KTR__KERNEL_MAJOR,	   [KTR__PERF_EXIT] = KTR__KERNEL_EXIT,
	};
	struct ktr__kernel_events *kernel = context;
	uint32_t row;

	kernel_also_until(kernel, cpu, event->ns);
	if (event->kind == KTR__PERF_LOST) {
		__atomic_fetch_add(&kernel->at->ring->dropped, event->address, __ATOMIC_RELAXED);
		return;
	}
	if (!ktr__cpu_wanted(kernel->session->control, cpu))
		return;
	row = ktr__kernel_thread(&kernel->threads, event->pid, event->tid, event->ns + kernel->mono);
	if (!row)
		return;
	if (event->kind == KTR__PERF_NAME) {
		ktr__kernel_thread_name(&kernel->threads, row, event->name);
		return;
	}
	if (event->kind != KTR__PERF_EXIT || kernel->perf.want & KTR_KERNEL_SWITCH)
		kernel_entry(kernel, sites[event->kind], row, event, cpu);
	if (event->kind == KTR__PERF_EXIT)
		kernel_ends(kernel, event->tid, row, event->ns + kernel->mono);
}

/* When the fullest buffer, filling as it did, will be a quarter full. */
static uint64_t kernel_pause(struct ktr__kernel_events *kernel, unsigned used)
{
	uint64_t now = kernel_now(), took = now - kernel->round_ns, pause;

	kernel->round_ns = now;
	pause = used ? took * 250 / used : KERNEL_PAUSE_NS;
	if (pause < KERNEL_PAUSE_LEAST_NS)
		pause = KERNEL_PAUSE_LEAST_NS;
	return pause < KERNEL_PAUSE_NS ? pause : KERNEL_PAUSE_NS;
}

static void kernel_round(struct ktr__kernel_events *kernel, uint64_t *pause_ns)
{
	unsigned want, used;
	uint64_t pause;

	if (kernel->session->control->kernel & (KTR_KERNEL_SWITCH_PROBE | KTR_KERNEL_FAULT_PROBE))
		kernel_probes(kernel);
	want = kernel_want(kernel);
	if (want != (kernel->open ? kernel->perf.want : 0) || (kernel->also && !kernel->open))
		kernel_turn(kernel, want);
	if (!kernel->open)
		return;
	used = ktr__perf_look(&kernel->perf);
	if (!kernel->more) {
		kernel->moment[0] = kernel->moment[1];
		kernel->moment[1] = kernel->moment[2];
	}
	kernel->moment[2] = kernel_moment(kernel);
	kernel->mono = kernel_now() - kernel_clock_ns(kernel);
	kernel->more = false;
	ktr__kernel_thread_look(&kernel->threads);
	kernel->n_entries = kernel->n_written = 0;
	if (kernel->also) {
		uint64_t until_ns = kernel->moment[2].ns ? kernel->moment[2].ns : kernel_clock_ns(kernel);

		kernel->entry = kernel->also->take(until_ns, &kernel->n_entries);
		__atomic_store_n(&kernel->took_ns, kernel_now(), __ATOMIC_RELAXED);
	}
	for (uint32_t i = 0; i < kernel->perf.n_cpus; i++) {
		kernel->at = &kernel->ring[i];
		kernel->next = 0;
		if (!kernel->at->ring)
			continue;
		/* Those of a leader are in the order of time with all that there is. */
		kernel->more |= ktr__perf_read(&kernel->perf, i, kernel->also ? UINT_MAX : kernel->at->room,
					       kernel_found, kernel);
		kernel_also_until(kernel, kernel->perf.cpu[i].cpu, UINT64_MAX);
	}
	kernel_ended(kernel);
	/* Of a CPU that has come since. */
	if (kernel->n_written < kernel->n_entries)
		__atomic_fetch_add(&kernel->session->control->drop_no_ring, kernel->n_entries - kernel->n_written,
				   __ATOMIC_RELAXED);
	pause = kernel->more ? 0 : kernel_pause(kernel, used);
	if (pause < *pause_ns)
		*pause_ns = pause;
	/* At once where processes have come: we may have begun to kernel when one was about to. */
	if (kernel->perf.want &&
	    (kernel_now() - kernel->looked_ns >= KERNEL_LOOK_NS || kernel_procs(kernel) != kernel->n_procs))
		kernel_follow(kernel);
}

/* ---- the leader ---- */

static pthread_mutex_t kernel_mutex = PTHREAD_MUTEX_INITIALIZER; /* of the leader's rounds */
static struct ktr__kernel_events *kernel_leader;		   /* atomic */

void ktr__kernel_events_round(struct ktr__kernel_events *kernel, uint64_t *pause_ns)
{
	if (!__atomic_load_n(&kernel_leader, __ATOMIC_SEQ_CST)) {
		kernel_round(kernel, pause_ns);
		return;
	}
	pthread_mutex_lock(&kernel_mutex);
	if (kernel_leader && kernel != kernel_leader && kernel->open)
		kernel_shut(kernel);
	kernel_round(kernel_leader ? kernel_leader : kernel, pause_ns);
	pthread_mutex_unlock(&kernel_mutex);
}

uint64_t ktr__kernel_events_since_ns(const struct ktr__kernel_events *kernel)
{
	uint64_t took_ns = __atomic_load_n(&kernel->took_ns, __ATOMIC_RELAXED);

	return took_ns ? kernel_now() - took_ns : UINT64_MAX;
}

void ktr__kernel_events_due(uint64_t *pause_ns)
{
	uint64_t own_ns = UINT64_MAX, next_ns, since_ns;
	struct ktr__kernel_events *kernel;

	pthread_mutex_lock(&kernel_mutex);
	kernel = kernel_leader;
	if (kernel && kernel->also && kernel->also->pause_ns) {
		next_ns = kernel->also->pause_ns;
		since_ns = ktr__kernel_events_since_ns(kernel);
		/* Who sleeps so long wakes up a little later, or was woken a little earlier. */
		if (since_ns >= next_ns - next_ns / 8)
			kernel_round(kernel, &own_ns);
		else
			next_ns -= since_ns;
		if (next_ns < *pause_ns)
			*pause_ns = next_ns;
	}
	pthread_mutex_unlock(&kernel_mutex);
}

bool ktr__kernel_events_led(void)
{
	return __atomic_load_n(&kernel_leader, __ATOMIC_RELAXED) != NULL;
}

int ktr__kernel_events_lead(struct ktr__kernel_events *kernel, const struct ktr__kernel_also *also)
{
	pthread_mutex_lock(&kernel_mutex);
	__atomic_store_n(&kernel_leader, kernel, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&kernel_mutex);
	for (unsigned i = 0; i < KERNEL_NAPS; i++) {
		pthread_mutex_lock(&kernel_mutex);
		if (!kernel->lock)
			kernel->lock = ktr__feeder_claim(kernel->session);
		kernel->also = kernel->lock ? also : NULL;
		if (kernel->also)
			__atomic_store_n(&kernel->session->records, true, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&kernel_mutex);
		if (kernel->also)
			return 0;
		ktr__nap();
	}
	ktr__kernel_events_unlead();
	return -EBUSY;
}

void ktr__kernel_events_unlead(void)
{
	struct ktr__kernel_events *kernel;

	pthread_mutex_lock(&kernel_mutex);
	kernel = kernel_leader;
	if (kernel)
		kernel->also = NULL;
	if (kernel && kernel->open)
		kernel_shut(kernel);
	else if (kernel)
		ktr__feeder_release(kernel->session, kernel->lock);
	if (kernel)
		kernel->lock = NULL;
	__atomic_store_n(&kernel_leader, NULL, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&kernel_mutex);
}

void ktr__kernel_events_forked(void)
{
	pthread_mutex_init(&kernel_mutex, NULL);
	__atomic_store_n(&kernel_leader, NULL, __ATOMIC_SEQ_CST);
}

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
 * A kernel ring has one writer, the feeder, and is written like the ring of a thread (record.c): entry
 * first, then head with release.
 *
 * Of each CPU at most a quarter of its ring is taken in a round, so that the drain, which comes after
 * it, has read what is overwritten next.
 */
#include "ktr/provider/kernel/kernel_events.h"

#include "ktr/control/kernel_ring.h"
#include "ktr/control/mask.h"
#include "ktr/provider/kernel/feeder.h"
#include "ktr/provider/kernel/kernel_thread.h"
#include "ktr/provider/kernel/perf.h"
#include "ktr/session/clock.h"
#include "ktr/session/kernel_event.h"
#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_LOOK_NS	1000000000ull /* between two looks for processes that have come */
#define KERNEL_RETRY_NS	1000000000ull /* after descriptors could not be had, or another feeder was there */
#define KERNEL_PAUSE_NS	20000000ull /* an idle round costs a few loads per CPU */
#define KERNEL_PAUSE_LEAST_NS 1000000ull
#define KERNEL_TRIES	9

struct kernel_moment {
	uint64_t ns; /* perf's clock */
	uint64_t ticks; /* the session's */
};

struct kernel_ring {
	struct ktr_ring *ring; /* NULL: this CPU has none */
	char *base;
	uint64_t mask; /* [bytes] */
	unsigned room; /* [records] taken in a round */
	uint64_t last; /* [ticks] */
};

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
	struct kernel_ring *ring; /* owned; as perf.cpu */
	uint32_t n_procs; /* control.n_procs when last looked */
	uint8_t *proc; /* owned; 1: this process's threads are followed, by row */
	struct kernel_moment moment[3]; /* two rounds ago, the round before this one, now */
	uint64_t looked_ns, round_ns, retry_ns;
	uint32_t site[KTR__KERNEL_SITES_END];
	bool more; /* the last round has left records of before `now` */
	/* For the callbacks of a round: */
	struct kernel_ring *at;
	uint64_t mono; /* [ns] CLOCK_MONOTONIC less perf's clock, nearly */
};

static const struct kernel_site {
	unsigned what; /* KTR_KERNEL_* */
	const char *func, *text;
	uint8_t n_args;
} kernel_sites[KTR__KERNEL_SITES_END] = {
#define KERNEL_SITE(name, what, func, text, n) [KTR__KERNEL_##name] = { KTR_KERNEL_##what, func, text, n },
	KTR_KERNEL_SITES(KERNEL_SITE)
#undef KERNEL_SITE
};

bool ktr__kernel_events_wanted(const struct ktr__session_rw *session)
{
	return __atomic_load_n(&session->control->kernel, __ATOMIC_ACQUIRE) != 0;
}

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

static uint64_t kernel_mask(const struct ktr__kernel_events *kernel, unsigned what)
{
	return what == KTR_KERNEL_SWITCH ?
		       ktr__session_class(kernel->session, KTR_KERNEL_SWITCH_CLASS, KTR_KERNEL_SWITCH_HELP) :
		       ktr__session_class(kernel->session, KTR_KERNEL_FAULT_CLASS, KTR_KERNEL_FAULT_HELP);
}

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
		mask |= kernel_mask(kernel, KTR_KERNEL_SWITCH);
	if (asked & KTR_KERNEL_FAULT_PROBE)
		mask |= kernel_mask(kernel, KTR_KERNEL_FAULT);
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
	if (asked & KTR_KERNEL_SWITCH && mask & kernel_mask(kernel, KTR_KERNEL_SWITCH))
		want |= KTR_KERNEL_SWITCH;
	if (asked & KTR_KERNEL_FAULT && mask & kernel_mask(kernel, KTR_KERNEL_FAULT))
		want |= KTR_KERNEL_FAULT;
	return want;
}

/* ---- what entries need ---- */

static uint32_t kernel_site_row(struct ktr__kernel_events *kernel, unsigned line)
{
	struct ktr__session_rw *session = kernel->session;
	struct ktr_site_row *row;
	const struct kernel_site *site = &kernel_sites[line];
	bool state = site->what == KTR_KERNEL_SWITCH;
	const char *format = state ? KTR_KERNEL_STATE_FORMAT : KTR_KERNEL_POINT_FORMAT;
	const char *names = state ? KTR_KERNEL_STATE_NAMES : KTR_KERNEL_POINT_NAMES;
	const uint64_t key = 0x6c656e72656b5bull; /* "[kernel" */
	uint32_t index;

	/* Rows are handed out in order: after one that cannot be there is none. */
	for (uint32_t i = 1, n = ktr__session_n_sites(session); i < n; i++) {
		row = session->sealed ? ktr__region_rows(session, site, struct ktr_site_row) + i :
					ktr__session_at(session, KTR_REGION_site, i);
		if (!row)
			break;
		if (row->key == key && row->offset == line &&
		    __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) >= KTR_ROW_READY)
			return session->sealed || ktr__session_touch(session, KTR_REGION_site_ctl, i, 1) ? i : 0;
	}
	index = ktr__session_row(session, &session->control->n_sites, KTR_REGION_site);
	row = ktr__region_rows(session, site, struct ktr_site_row) + index;
	if (!index || !ktr__session_touch(session, KTR_REGION_site_ctl, index, 1))
		return 0;
	row->line = line;
	row->mask = kernel_mask(kernel, site->what);
	row->key = key;
	row->offset = line;
	row->file = ktr__session_put(session, KTR_KERNEL_FILE, strlen(KTR_KERNEL_FILE));
	row->func = ktr__session_put(session, site->func, strlen(site->func));
	row->format = ktr__session_put(session, format, strlen(format));
	row->names = ktr__session_put(session, names, strlen(names));
	row->n_args = site->n_args;
	for (unsigned i = 0; i < site->n_args && i < KTR_ARGS_MAX; i++) {
		row->type[i] = i < 2 ? KTR_ARG_STR : KTR_ARG_PTR;
		row->how[i] = i == 0 ? KTR_HOW_COPY : i == 1 ? KTR_HOW_LITERAL : KTR_HOW_VALUE;
	}
	row->literal[1] = ktr__session_put(session, site->text, strlen(site->text));
	__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_RELEASE);
	return index;
}

/* The ring of a CPU, populated for this process. */
static void kernel_ring(struct ktr__kernel_events *kernel, struct kernel_ring *ring, uint32_t cpu)
{
	const struct ktr_header *header = &kernel->session->header;
	struct ktr_ring *head;
	uint64_t offset;
	unsigned log2;
	int code;

	memset(ring, 0, sizeof(*ring));
	if (cpu >= header->n_rings || ktr__header_n_ring_rows(header) < KTR_RING_KINDS * header->n_rings)
		return;
	head = &kernel->session->rings[KTR_RING_KERNEL * header->n_rings + cpu];
	if (ktr__geom_check(header, __atomic_load_n(&head->geom, __ATOMIC_ACQUIRE), &offset, &log2))
		return;
	code = ktr__populate(kernel->session->map + offset, (uint64_t)KTR_ENTRY_BYTES << log2);
	if (code && code != -ENOSYS)
		return;
	ring->base = kernel->session->map + offset;
	ring->mask = ((uint64_t)KTR_ENTRY_BYTES << log2) - KTR_ENTRY_BYTES;
	ring->room = 1u << log2 >> 3; /* of two entries each */
	ring->ring = head;
}

/* ---- the clock ---- */

static uint64_t kernel_clock_ns(const struct ktr__kernel_events *kernel)
{
	struct timespec ts;

	clock_gettime(kernel->perf.clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Both clocks at one moment. */
static struct kernel_moment kernel_moment(const struct ktr__kernel_events *kernel)
{
	uint32_t clock = kernel->session->header.clock;
	struct kernel_moment best = { 0, 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < KERNEL_TRIES && clock != KTR_CLOCK_MONOTONIC; i++) {
		uint64_t from = ktr__clock_now(clock), ns = kernel_clock_ns(kernel), to = ktr__clock_now(clock);

		if (to - from >= shortest)
			continue;
		shortest = to - from;
		best = (struct kernel_moment){ ns, from + shortest / 2 };
	}
	return best;
}

static uint64_t kernel_ticks(const struct ktr__kernel_events *kernel, uint64_t ns)
{
	const struct kernel_moment *a = &kernel->moment[0], *b = &kernel->moment[2];
	__extension__ unsigned __int128 ticks;

	if (b->ns <= a->ns || ns >= b->ns)
		return b->ns ? b->ticks : ns; /* the session's clock is perf's */
	if (ns <= a->ns)
		return a->ticks;
	ticks = (unsigned __int128)(ns - a->ns) * (b->ticks - a->ticks);
	return a->ticks + (uint64_t)(ticks / (b->ns - a->ns));
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

		if (!tid || tid == (uint32_t)gettid())
			continue;
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
 * Follows the processes of the session that are not followed yet. Those that were forked since are: what
 * their parent was opened with is inherited. A program executed by a process has a row of its own there.
 */
static int kernel_follow(struct ktr__kernel_events *kernel)
{
	const struct ktr_proc_row *rows = ktr__region_rows(kernel->session, proc, struct ktr_proc_row);
	uint32_t n;
	int code = 0, one;

	kernel->n_procs = kernel_procs(kernel); /* first: what comes now is looked for the next time */
	n = ktr__kernel_events_n_procs(kernel->session);
	for (uint32_t i = 1; i < n; i++) {
		bool inherits = false;

		if (kernel->proc[i] || __atomic_load_n(&rows[i].state, __ATOMIC_ACQUIRE) != KTR_ROW_READY)
			continue;
		kernel->proc[i] = 1;
		for (uint32_t j = 1; j < n; j++)
			inherits |= j != i && kernel->proc[j] &&
				    (rows[j].pid == rows[i].pid ||
				     (kernel->looked_ns && rows[j].pid == rows[i].ppid));
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
	free(kernel->ring);
	free(kernel->proc);
	kernel->ring = NULL;
	kernel->proc = NULL;
	kernel->open = false;
	kernel->looked_ns = 0;
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
	free(kernel);
}

static void kernel_missing(struct ktr__kernel_events *kernel, int code)
{
	char line[200], level[16] = "";
	int at = 0;

	if (code == -EACCES || code == -EPERM)
		at = ktr__kernel_text("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)) != 0;
	level[strcspn(level, "\n")] = '\0';
	errno = -code;
	snprintf(line, sizeof(line), "no events of the kernel: perf_event_open: %m%s%s%s",
		 at ? " (kernel.perf_event_paranoid is " : "", level,
		 at ? ", 2 or less allows it; so must seccomp and containers)" : "");
	kernel_say(kernel, line);
}

static int kernel_open(struct ktr__kernel_events *kernel, unsigned want)
{
	uint32_t clock = kernel->session->header.clock;
	int code = ktr__perf_open(&kernel->perf, want,
				  clock == KTR_CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW);

	kernel->open = true;
	kernel->ring = calloc(kernel->perf.n_cpus + 1, sizeof(*kernel->ring));
	kernel->proc = calloc(kernel->session->header.region[KTR_REGION_proc].n_rows, 1);
	if (code || !kernel->ring || !kernel->proc)
		return -ENOMEM;
	for (uint32_t i = 0; i < kernel->perf.n_cpus; i++)
		kernel_ring(kernel, &kernel->ring[i], kernel->perf.cpu[i].cpu);
	for (unsigned i = 1; i < KTR__KERNEL_SITES_END; i++)
		kernel->site[i] = kernel_site_row(kernel, i);
	kernel->moment[0] = kernel->moment[1] = kernel->moment[2] = kernel_moment(kernel);
	return kernel_follow(kernel);
}

/* What is wanted has changed: opens, or closes. */
static void kernel_turn(struct ktr__kernel_events *kernel, unsigned want)
{
	uint64_t now = kernel_now();
	int code;

	if (kernel->open)
		kernel_shut(kernel);
	if (!want || now < kernel->retry_ns)
		return;
	kernel->lock = ktr__feeder_claim(kernel->session);
	if (!kernel->lock) {
		kernel->retry_ns = now + KERNEL_RETRY_NS; /* somebody else does it */
		return;
	}
	code = kernel_open(kernel, want);
	if (code)
		kernel_missing(kernel, code);
	if (code && !kernel->perf.n_fds) {
		kernel_shut(kernel);
		kernel->retry_ns = now + KERNEL_RETRY_NS;
	}
}

/* ---- records ---- */

/* "name (tid)": what people tell threads apart by. */
static size_t kernel_ident(const struct ktr__kernel_events *kernel, uint32_t thread, char *text, size_t size)
{
	const struct ktr_thread_row *row = ktr__region_rows(kernel->session, thread,
							    struct ktr_thread_row) + thread;
	int n = snprintf(text, size, "%.15s (%u)", row->name, row->tid);

	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static void kernel_words(uint64_t *to, const uint64_t *from)
{
	for (int i = 0; i < KTR_ENTRY_BYTES / 8; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

/* An entry of n arguments and its string, published as one; what of it has no room there is in a continuation. */
static void kernel_write(const struct kernel_ring *at, struct ktr_entry *first, unsigned n_args, const char *ident,
			 size_t n_ident)
{
	uint64_t head = __atomic_load_n(&at->ring->head, __ATOMIC_SEQ_CST), next = head + 2;
	uint64_t words[2][KTR_ENTRY_BYTES / 8] = { 0 };
	size_t n_free = KTR_FREE_BYTES(n_args), n_first = n_ident < n_free ? n_ident : n_free;

	first->arg[0] = n_ident;
	memcpy(words[0], first, sizeof(words[0]));
	memcpy((char *)words[0] + KTR_ENTRY_BYTES - n_free, ident, n_first);
	kernel_words((uint64_t *)(void *)(at->base + (head * 32 & at->mask)), words[0]);
	if (n_first < n_ident) {
		words[1][0] = KTR_CONT_MARK | at->ring->cont[head & 1];
		memcpy(&words[1][1], ident + n_first, n_ident - n_first);
		kernel_words((uint64_t *)(void *)(at->base + ((head * 32 + KTR_ENTRY_BYTES) & at->mask)), words[1]);
		__atomic_store_n(&at->ring->cont[~head & 1], at->ring->cont[head & 1] + 1, __ATOMIC_RELAXED);
		next = (next + 2) ^ 1;
	}
	__atomic_store_n(&at->ring->head, next, __ATOMIC_RELEASE);
}

static void kernel_entry(struct ktr__kernel_events *kernel, unsigned line, uint32_t thread,
			 const struct ktr__perf_event *event,
		       uint32_t cpu)
{
	const uint8_t *site_ctl = ktr__region_rows(kernel->session, site_ctl, uint8_t);
	struct ktr_entry first = { .timestamp = kernel_ticks(kernel, event->ns), .site = kernel->site[line] };
	char ident[40];

	if (!first.site || __atomic_load_n(&site_ctl[first.site], __ATOMIC_RELAXED) & KTR_SITE_OFF)
		return;
	if (first.timestamp < kernel->at->last)
		first.timestamp = kernel->at->last;
	kernel->at->last = first.timestamp;
	first.thread = kernel->session->header.path == KTR_PATH_THREAD ? thread | cpu << KTR_THREAD_BITS : thread;
	first.arg[2] = event->address;
	first.arg[3] = event->ip;
	kernel_write(kernel->at, &first, kernel_sites[line].n_args, ident,
		     kernel_ident(kernel, thread, ident, sizeof(ident)));
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
		ktr__kernel_thread_end(&kernel->threads, event->tid, row, event->ns + kernel->mono);
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

void ktr__kernel_events_round(struct ktr__kernel_events *kernel, uint64_t *pause_ns)
{
	unsigned want, used;
	uint64_t pause;

	if (kernel->session->control->kernel & (KTR_KERNEL_SWITCH_PROBE | KTR_KERNEL_FAULT_PROBE))
		kernel_probes(kernel);
	want = kernel_want(kernel);
	if (want != (kernel->open ? kernel->perf.want : 0))
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
	for (uint32_t i = 0; i < kernel->perf.n_cpus; i++) {
		kernel->at = &kernel->ring[i];
		if (kernel->at->ring)
			kernel->more |= ktr__perf_read(&kernel->perf, i, kernel->at->room, kernel_found, kernel);
	}
	pause = kernel->more ? 0 : kernel_pause(kernel, used);
	if (pause < *pause_ns)
		*pause_ns = pause;
	/* At once where processes have come: we may have begun to kernel when one was about to. */
	if (kernel_now() - kernel->looked_ns >= KERNEL_LOOK_NS || kernel_procs(kernel) != kernel->n_procs)
		kernel_follow(kernel);
}

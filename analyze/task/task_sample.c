/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each sampling has a thread of its own, which makes rounds (analyze/live/live_rounds.c), packs what they find, and
 * writes. `samplings_lock` guards the list of outlets and what they have: a sampling's thread takes it never, so
 * whoever holds it may wait for one that is at its end. An outlet stays in the list with its samplings until it
 * is stopped, or another sampling begins on its descriptor when all of its own have ended; those that have ended
 * before the others go when another begins. While it is being stopped it is still there, and whoever wants to write
 * to the same file waits until it has gone: two would write into each other's buffers.
 *
 * A descriptor's number may be another file's by the time it is told again. Then that has an outlet of its own.
 */
#include <ktr/task.h>

#include "analyze/live/live_faults.h"
#include "analyze/live/live_rounds.h"
#include "analyze/live/live_take.h"
#include "analyze/task/task_call.h"
#include "analyze/task/task_outlet.h"
#include "analyze/task/task_pack.h"
#include "analyze/task/task_refuse.h"
#include "ktr/provider/syscall/tracee_wait.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAMPLE_LINGER_NS 1000000000ull /* that a reader gets in the end */
#define SAMPLE_SUMS_BYTES 64

_Static_assert(sizeof(struct ktr_sample_sums) == SAMPLE_SUMS_BYTES, "grows at its end alone");

struct sample_outlet;

/* What is asked for. */
struct sample_ask {
	pid_t pid, tid; /* tid 0: all threads */
	unsigned hz; /* 0: at faults, one in */
	unsigned every;
};

struct sampling {
	struct sampling *next;
	struct sample_outlet *to;
	struct ktr__live_rounds rounds;
	struct ktr__live_faults *faults; /* owned; NULL: at a rate */
	struct ktr__live_sink sink;
	struct ktr__pack pack;
	pthread_t thread;
	int stop;      /* an eventfd, readable when it is to end */
	uint64_t started; /* when whom it looks at was made; 0: not known */
	int code;      /* how it has ended, -errno; 0: it was stopped. Of its thread, read when that has ended */
	atomic_int ends;    /* it is to end: between two threads of a round, too */
	atomic_int is_over; /* it looks at nobody any more, */
	atomic_int is_done; /* and its thread is at its end */
};

struct sample_outlet {
	struct sample_outlet *next;
	struct ktr__outlet outlet;
	dev_t dev; /* of the descriptor's file */
	ino_t ino;
	struct sampling *first;
	struct ktr_sample_sums sums; /* of samplings that have ended, and are not there any more, */
	int code;		     /* and how the first of them ended, -errno; 0 */
	int is_ending;		     /* somebody stops it */
	atomic_int n_at_work; /* samplings that have not ended, and who begins one; the last one closes it */
};

static pthread_mutex_t samplings_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t samplings_gone = PTHREAD_COND_INITIALIZER; /* one that was ending has gone */
static struct sample_outlet *sample_outlets;

/* 1: it is not at its end, and stays so until sample_leave(); 0: it is. */
static int sample_join(struct sample_outlet *to)
{
	int n = atomic_load(&to->n_at_work);

	while (n && !atomic_compare_exchange_weak(&to->n_at_work, &n, n + 1))
		;
	return n != 0;
}

/* Whoever reads sees the end of it with the last one. */
static void sample_leave(struct sample_outlet *to)
{
	if (atomic_fetch_sub(&to->n_at_work, 1) == 1)
		ktr__outlet_close(&to->outlet);
}

/* ---- a sampling's thread ---- */

static int sample_take(void *context, const struct ktr__live_sample *sample)
{
	struct sampling *sampling = context;
	int rc = ktr__pack_add(&sampling->pack, sample);

	return !rc && atomic_load_explicit(&sampling->ends, memory_order_relaxed) ? -ECANCELED : rc;
}

static void sample_lost(void *context, uint64_t n)
{
	struct sampling *sampling = context;

	ktr__pack_lost(&sampling->pack, n);
}

static void sample_forget(void *context, struct ktr__live_row *row)
{
	(void)context;
	ktr__pack_forget(row);
}

/* Until a moment, writing what waits. 1: it is to end. */
static int sample_until(struct sampling *sampling, uint64_t due)
{
	struct pollfd poll[2] = { { .fd = sampling->stop, .events = POLLIN },
				  { .fd = sampling->to->outlet.out, .events = POLLOUT } };
	uint64_t now = ktr__tracee_wait_now();
	int waits = ktr__outlet_flush(&sampling->to->outlet);

	while (waits >= 0) {
		uint64_t left = due > now ? due - now : 0;
		const struct timespec time = { (time_t)(left / 1000000000), (long)(left % 1000000000) };

		if (ppoll(poll, waits ? 2 : 1, &time, NULL) > 0 && poll[0].revents)
			return 1;
		now = ktr__tracee_wait_now();
		if (now >= due)
			return 0;
		waits = ktr__outlet_flush(&sampling->to->outlet);
	}
	return 1;
}

static int sample_wait(void *context, uint64_t due)
{
	struct sampling *sampling = context;

	return ktr__pack_send_old(&sampling->pack, ktr__tracee_wait_now()) < 0 || sample_until(sampling, due);
}

/* Gives a reader its time: for as long as it takes when nobody has asked for an end, else a second. */
static void sample_linger(struct sampling *sampling)
{
	struct pollfd poll[2] = { { .fd = sampling->to->outlet.out, .events = POLLOUT },
				  { .fd = sampling->stop, .events = POLLIN } };
	const struct timespec look = { 0, 20000000 };
	uint64_t until = 0;

	while (ktr__outlet_flush(&sampling->to->outlet) > 0) {
		uint64_t now = ktr__tracee_wait_now();

		if (until && now >= until)
			return;
		if (ppoll(poll, until ? 1 : 2, until ? &look : NULL, NULL) > 0 && !until && poll[1].revents)
			until = now + SAMPLE_LINGER_NS;
	}
}

static void *sample_run(void *argument)
{
	struct sampling *sampling = argument;
	struct sample_outlet *to = sampling->to;
	int rc, flushed;

	pthread_setname_np(pthread_self(), "ktr-sample");
	ktr__live_warm(sampling->rounds.live);
	rc = sampling->faults ? ktr__live_faults(sampling->faults, &sampling->rounds) :
				ktr__live_rounds(&sampling->rounds);
	rc = rc == -ECANCELED ? 0 : rc;
	atomic_store(&sampling->is_over, 1);
	flushed = ktr__outlet_flush(&to->outlet);
	if (!rc && flushed < 0)
		rc = flushed;
	sampling->code = rc;
	ktr__pack_end(&sampling->pack, -rc);
	sample_linger(sampling);
	ktr__live_faults_close(sampling->faults);
	ktr__live_rounds_free(&sampling->rounds);
	ktr__live_close(sampling->rounds.live);
	sample_leave(to);
	atomic_store(&sampling->is_done, 1);
	return NULL;
}

/* ---- outlets, under samplings_lock ---- */

/* That of a descriptor's number. Of several, that whose file it is now, else the oldest. NULL: there is none. */
static struct sample_outlet *sample_find(int fd, int *is_same)
{
	struct sample_outlet *found = NULL;
	struct stat st;
	int is_file = fstat(fd, &st) == 0;

	*is_same = 0;
	for (struct sample_outlet *at = sample_outlets; at && !*is_same; at = at->next) {
		if (at->outlet.fd != fd)
			continue;
		found = at;
		*is_same = is_file && at->dev == st.st_dev && at->ino == st.st_ino;
	}
	return found;
}

static void sample_unlist(const struct sample_outlet *to)
{
	struct sample_outlet **at = &sample_outlets;

	while (*at && *at != to)
		at = &(*at)->next;
	if (*at)
		*at = to->next;
}

static void sample_add(struct ktr_sample_sums *sums, const struct sampling *sampling)
{
	const struct ktr__live_rounds *rounds = &sampling->rounds;

	sums->n_samplings++;
	sums->n_samples += sampling->pack.n_taken;
	sums->n_lost += sampling->pack.n_lost;
	sums->n_rounds += rounds->n_rounds;
	sums->n_missed += rounds->n_missed;
	sums->n_stops += rounds->n_stops;
	sums->stopped_ns += rounds->stopped_ns;
	if (sums->most_ns < rounds->most_ns)
		sums->most_ns = rounds->most_ns;
}

/* Waits for one that is to end, or has, and keeps what it has done. */
static void sample_reap(struct sample_outlet *to, struct sampling *sampling)
{
	pthread_join(sampling->thread, NULL);
	sample_add(&to->sums, sampling);
	to->code = to->code ? to->code : sampling->code;
	close(sampling->stop);
	free(sampling);
}

/* Those that have ended go. */
static void sample_reap_done(struct sample_outlet *to)
{
	struct sampling **at = &to->first;

	while (*at) {
		struct sampling *sampling = *at;

		if (!atomic_load(&sampling->is_done)) {
			at = &sampling->next;
			continue;
		}
		*at = sampling->next;
		sample_reap(to, sampling);
	}
}

/* Ends all that write there, and waits for them. */
static void sample_end(struct sample_outlet *to)
{
	for (struct sampling *sampling = to->first; sampling; sampling = sampling->next) {
		atomic_store(&sampling->ends, 1);
		eventfd_write(sampling->stop, 1);
	}
	while (to->first) {
		struct sampling *sampling = to->first;

		to->first = sampling->next;
		sample_reap(to, sampling);
	}
	ktr__outlet_close(&to->outlet);
	to->sums.n_lost += to->outlet.n_unsent;
}

/* That of a file that somebody stops just now; NULL: none. Whatever the number of the descriptor. */
static struct sample_outlet *sample_ending(const struct stat *st)
{
	struct sample_outlet *at = sample_outlets;

	while (at && !(at->is_ending && at->dev == st->st_dev && at->ino == st->st_ino))
		at = at->next;
	return at;
}

static int sample_outlet_new(int fd, const struct stat *st, struct sample_outlet **out)
{
	struct sample_outlet *to = calloc(1, sizeof(*to));
	int rc = to ? ktr__outlet_open(&to->outlet, fd) : -ENOMEM;

	if (rc) {
		free(to);
		return rc;
	}
	to->dev = st->st_dev;
	to->ino = st->st_ino;
	atomic_store(&to->n_at_work, 1);
	to->next = sample_outlets;
	sample_outlets = *out = to;
	return 0;
}

/* That of a descriptor, made if there is none, joined. 0 or -errno. */
static int sample_outlet(int fd, struct sample_outlet **out)
{
	struct sample_outlet *to;
	struct stat st;
	int is_same;

	*out = NULL;
	if (fstat(fd, &st))
		return -errno;
	while (sample_ending(&st))
		pthread_cond_wait(&samplings_gone, &samplings_lock);
	to = sample_find(fd, &is_same);
	if (to && is_same && sample_join(to)) {
		sample_reap_done(to);
		*out = to;
		return 0;
	}
	if (to && is_same) {
		sample_unlist(to);
		sample_end(to);
		free(to);
	}
	return sample_outlet_new(fd, &st, out);
}

/* One that nothing writes to goes. */
static void sample_unless_used(struct sample_outlet *to)
{
	if (to->first || to->sums.n_samplings)
		return;
	sample_unlist(to);
	free(to);
}

/* One that has ended, and waits for its reader, is not there; nor is that of another one of this number. */
static int sample_is_there(const struct sample_outlet *to, const struct sample_ask *ask, uint64_t started)
{
	for (const struct sampling *one = to->first; one; one = one->next)
		if (one->rounds.pid == ask->pid && one->rounds.tid == ask->tid && one->started == started &&
		    !one->rounds.every == !ask->every && !atomic_load(&one->is_over))
			return 1;
	return 0;
}

/* Makes its thread, which gets no signals, and leaves the outlet in the end. 0 or -errno. */
static int sample_start(struct sampling *sampling)
{
	sigset_t all, before;
	int rc;

	sample_join(sampling->to);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&sampling->thread, NULL, sample_run, sampling);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		sample_leave(sampling->to);
	return -rc;
}

/* live and faults are taken, if it is made. */
static int sample_make(struct sample_outlet *to, const struct sample_ask *ask, uint64_t started,
		       struct ktr__live **live, struct ktr__live_faults **faults)
{
	struct sampling *sampling = calloc(1, sizeof(*sampling));
	int rc;

	if (!sampling)
		return -ENOMEM;
	sampling->to = to;
	sampling->started = started;
	sampling->sink = (struct ktr__live_sink){ sample_take, sample_wait, sample_lost, sample_forget, sampling };
	sampling->rounds = (struct ktr__live_rounds){
		.pid = ask->pid, .tid = ask->tid, .period_ns = ask->hz ? 1000000000 / ask->hz : 0,
		.every = ask->every, .forgets = 1, .sink = &sampling->sink, .live = *live,
	};
	sampling->faults = *faults;
	sampling->pack = (struct ktr__pack){ .rounds = &sampling->rounds, .outlet = &to->outlet };
	sampling->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = sampling->stop < 0 ? -errno : sample_start(sampling);
	if (rc) {
		if (sampling->stop >= 0)
			close(sampling->stop);
		free(sampling);
		return rc;
	}
	*live = NULL;
	*faults = NULL;
	sampling->next = to->first;
	to->first = sampling;
	return 0;
}

/* ---- the calls ---- */

/* May it be stopped? One thread is, once. 0 or -errno. */
static int sample_try(pid_t pid, pid_t tid, const struct ktr__live_maps *maps)
{
	struct ktr__live_taken taken = { .pid = pid };
	uint32_t n = 1;
	pid_t *all = tid ? NULL : ktr__live_threads(pid, &n);
	int rc = tid || all ? -ESRCH : -errno;

	for (uint32_t i = 0; i < n && rc == -ESRCH; i++) {
		taken.tid = tid ? tid : all[i];
		rc = ktr__live_take_apart(&taken, maps);
		rc = rc ? rc : -taken.code;
	}
	free(all);
	/* Who does not stop now may stop later. */
	return rc == -EBUSY || rc == -ETIMEDOUT ? 0 : rc;
}

static int sample_fd(int code, int fd, struct ktr_error *err)
{
	if (code == -EBADF)
		return ktr_error_set(err, EBADF, "descriptor %d cannot be written to", fd);
	return ktr_error_set(err, -code, "samples to descriptor %d: %m", fd);
}

static int sample_begin(const struct sample_ask *ask, int fd, struct ktr__live **live,
			struct ktr__live_faults **faults, struct ktr_error *err)
{
	uint64_t started = ktr__task_started(ask->pid, ask->tid);
	struct sample_outlet *to;
	int rc = sample_outlet(fd, &to);

	if (rc)
		return sample_fd(rc, fd, err);
	rc = sample_is_there(to, ask, started) ? 0 : sample_make(to, ask, started, live, faults);
	sample_leave(to);
	sample_unless_used(to);
	return rc ? sample_fd(rc, fd, err) : 0;
}

/* What the kernel says to who wants to be told of faults. */
static int sample_refuse_faults(const struct sample_ask *ask, int code, struct ktr_error *err)
{
	switch (code) {
	case -EMFILE:
		return ktr_error_set(err, EMFILE, "process %d has more threads than this one may have descriptors, one for each "
				     "thread and CPU", (int)ask->pid);
	case -EACCES:
	case -EPERM:
	case -ENOSYS:
		return ktr_error_set(err, EACCES, "the kernel does not tell of page faults: perf_event_open(2) says %s; see "
				     "kernel.perf_event_paranoid", strerrordesc_np(-code));
	case -ENOTSUP:
		return ktr_error_set(err, ENOTSUP, "page faults are sampled on x86-64 alone");
	default:
		return ktr__task_refuse(ask->pid, ask->tid, code, err);
	}
}

static int sample_any(const struct sample_ask *ask, int fd, struct ktr_error *err)
{
	struct ktr__live_rounds rounds = { .pid = ask->pid, .tid = ask->tid, .every = ask->every };
	struct ktr__live_faults *faults = NULL;
	struct ktr__live *live = NULL;
	int rc = ktr__task_check(ask->pid, ask->tid, 1, err);

	if (rc)
		return rc;
	rc = ktr__live_open(ask->pid, &live);
	if (!rc && !ask->every)
		rc = sample_try(ask->pid, ask->tid, ktr__live_maps(live));
	if (rc) {
		rc = ktr__task_refuse(ask->pid, ask->tid, rc, err);
	} else if (ask->every && (rc = ktr__live_faults_open(&rounds, &faults))) {
		rc = sample_refuse_faults(ask, rc, err);
	} else {
		pthread_mutex_lock(&samplings_lock);
		rc = sample_begin(ask, fd, &live, &faults, err);
		pthread_mutex_unlock(&samplings_lock);
	}
	ktr__live_faults_close(faults);
	ktr__live_close(live);
	return rc;
}

static int sample_at_a_rate(pid_t pid, pid_t tid, unsigned hz, int fd, struct ktr_error *err)
{
	const struct sample_ask ask = { .pid = pid, .tid = tid, .hz = hz };

	if (!hz || hz > KTR_SAMPLE_HZ_MAX)
		return ktr_error_set(err, EINVAL, "%u Hz: 1 to %d", hz, KTR_SAMPLE_HZ_MAX);
	return sample_any(&ask, fd, err);
}

int ktr_sample_task(pid_t pid, unsigned hz, int fd, struct ktr_error *err)
{
	int before = ktr__task_enter(), rc = sample_at_a_rate(pid, 0, hz, fd, err);

	return ktr__task_leave(before, rc);
}

int ktr_sample_thread(pid_t pid, pid_t tid, unsigned hz, int fd, struct ktr_error *err)
{
	int before, rc;

	if (tid <= 0)
		return ktr_error_set(err, EINVAL, "%d is no number of a thread", (int)tid);
	before = ktr__task_enter();
	rc = sample_at_a_rate(pid, tid, hz, fd, err);
	return ktr__task_leave(before, rc);
}

int ktr_sample_faults(pid_t pid, pid_t tid, unsigned every, int fd, struct ktr_error *err)
{
	const struct sample_ask ask = { .pid = pid, .tid = tid, .every = every };
	int before, rc;

	if (tid < 0 || !every || every > INT32_MAX)
		return ktr_error_set(err, EINVAL, "a sample in %u faults of %d: at least 1, and 0 for all threads", every, (int)tid);
	before = ktr__task_enter();
	rc = sample_any(&ask, fd, err);
	return ktr__task_leave(before, rc);
}

static int sample_stop(int fd, struct ktr_sample_sums *sums, struct ktr_error *err)
{
	struct sample_outlet *to;
	int rc, is_same;

	if (sums && !ktr__task_size(sums->size, SAMPLE_SUMS_BYTES))
		return ktr_error_set(err, EINVAL, "struct ktr_sample_sums: its size is not set, or too small");
	pthread_mutex_lock(&samplings_lock);
	to = sample_find(fd, &is_same);
	if (to && to->is_ending)
		to = NULL;
	if (to)
		to->is_ending = 1;
	pthread_mutex_unlock(&samplings_lock);
	if (!to)
		return ktr_error_set(err, ENOENT, "nothing is sampled to descriptor %d", fd);
	sample_end(to);
	rc = to->code;
	if (sums)
		ktr__task_give(sums, &to->sums, sizeof(to->sums));
	pthread_mutex_lock(&samplings_lock);
	sample_unlist(to);
	pthread_cond_broadcast(&samplings_gone);
	pthread_mutex_unlock(&samplings_lock);
	free(to);
	if (rc == -ESRCH)
		return ktr_error_set(err, ESRCH, "what was sampled had ended before");
	return rc ? sample_fd(rc, fd, err) : 0;
}

int ktr_sample_stop(int fd, struct ktr_sample_sums *sums, struct ktr_error *err)
{
	int before = ktr__task_enter(), rc = sample_stop(fd, sums, err);

	return ktr__task_leave(before, rc);
}

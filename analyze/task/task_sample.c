/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each sampling has a thread of its own, which makes rounds (analyze/live/live_rounds.c), packs what they find, and
 * writes. `samplings_lock` guards the list of outlets and what they have: a sampling's thread takes it never, so
 * whoever holds it may wait for one. An outlet stays in the list with its samplings, ended or not, until it is
 * stopped, or another sampling begins on a descriptor of that number when all of its own have ended.
 */
#include <ktr/task.h>

#include "analyze/live/live_rounds.h"
#include "analyze/live/live_take.h"
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
#include <unistd.h>

#define SAMPLE_LINGER_NS 1000000000ull /* that a reader gets in the end */
#define SAMPLE_SUMS_BYTES 64

_Static_assert(sizeof(struct ktr_sample_sums) == SAMPLE_SUMS_BYTES, "grows at its end alone");

struct sample_outlet;

struct sampling {
	struct sampling *next;
	struct sample_outlet *to;
	struct ktr__live_rounds rounds;
	struct ktr__live_sink sink;
	struct ktr__pack pack;
	pthread_t thread;
	int stop;      /* an eventfd, readable when it is to end */
	int code;      /* how it has ended, -errno; 0: it was stopped. Of its thread, read when that has ended */
	atomic_int is_done; /* its thread is at its end */
};

struct sample_outlet {
	struct sample_outlet *next;
	struct ktr__outlet outlet;
	struct sampling *first;
	atomic_int n_at_work; /* samplings that have not ended, and who begins one; the last one closes it */
};

static pthread_mutex_t samplings_lock = PTHREAD_MUTEX_INITIALIZER;
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
	return ktr__pack_add(&((struct sampling *)context)->pack, sample);
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
	rc = ktr__live_rounds(&sampling->rounds);
	flushed = ktr__outlet_flush(&to->outlet);
	if (!rc && flushed < 0)
		rc = flushed;
	sampling->code = rc;
	ktr__pack_end(&sampling->pack, -rc);
	sample_linger(sampling);
	ktr__live_rounds_free(&sampling->rounds);
	ktr__live_close(sampling->rounds.live);
	sample_leave(to);
	atomic_store(&sampling->is_done, 1);
	return NULL;
}

/* ---- outlets, under samplings_lock ---- */

static struct sample_outlet **sample_find(int fd)
{
	struct sample_outlet **at = &sample_outlets;

	while (*at && (*at)->outlet.fd != fd)
		at = &(*at)->next;
	return at;
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

/* Ends all that write there, waits for them, and frees it. 0, or how the first of them had ended before, -errno. */
static int sample_end(struct sample_outlet *to, struct ktr_sample_sums *sums)
{
	int code = 0;

	for (struct sampling *sampling = to->first; sampling; sampling = sampling->next)
		eventfd_write(sampling->stop, 1);
	while (to->first) {
		struct sampling *sampling = to->first;

		to->first = sampling->next;
		pthread_join(sampling->thread, NULL);
		sample_add(sums, sampling);
		code = code ? code : sampling->code;
		close(sampling->stop);
		free(sampling);
	}
	ktr__outlet_close(&to->outlet);
	sums->n_lost += to->outlet.n_unsent;
	free(to);
	return code;
}

/* That of a descriptor, made if there is none, joined. 0 or -errno. */
static int sample_outlet(int fd, struct sample_outlet **out)
{
	struct sample_outlet **at = sample_find(fd), *to = *at;
	struct ktr_sample_sums none = { 0 };
	int rc;

	if (to && !sample_join(to)) {
		*at = to->next;
		sample_end(to, &none);
		to = NULL;
	}
	*out = to;
	if (to)
		return 0;
	to = calloc(1, sizeof(*to));
	if (!to)
		return -ENOMEM;
	rc = ktr__outlet_open(&to->outlet, fd);
	if (rc) {
		free(to);
		return rc;
	}
	atomic_store(&to->n_at_work, 1);
	to->next = sample_outlets;
	sample_outlets = *out = to;
	return 0;
}

/* One that nothing writes to goes. */
static void sample_unless_used(struct sample_outlet *to)
{
	if (to->first)
		return;
	*sample_find(to->outlet.fd) = to->next;
	free(to);
}

static int sample_is_there(const struct sample_outlet *to, pid_t pid, pid_t tid)
{
	for (const struct sampling *one = to->first; one; one = one->next)
		if (one->rounds.pid == pid && one->rounds.tid == tid && !atomic_load(&one->is_done))
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

static int sample_make(struct sample_outlet *to, pid_t pid, pid_t tid, unsigned hz, struct ktr__live **live)
{
	struct sampling *sampling = calloc(1, sizeof(*sampling));
	int rc;

	if (!sampling)
		return -ENOMEM;
	sampling->to = to;
	sampling->sink = (struct ktr__live_sink){ sample_take, sample_wait, sample_forget, sampling };
	sampling->rounds = (struct ktr__live_rounds){
		.pid = pid, .tid = tid, .period_ns = 1000000000 / hz, .forgets = 1, .sink = &sampling->sink,
		.live = *live,
	};
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

static int sample_begin(pid_t pid, pid_t tid, unsigned hz, int fd, struct ktr__live **live, struct ktr_error *err)
{
	struct sample_outlet *to;
	int rc = sample_outlet(fd, &to);

	if (rc)
		return sample_fd(rc, fd, err);
	rc = sample_is_there(to, pid, tid) ? 0 : sample_make(to, pid, tid, hz, live);
	sample_leave(to);
	sample_unless_used(to);
	return rc ? sample_fd(rc, fd, err) : 0;
}

static int sample_any(pid_t pid, pid_t tid, unsigned hz, int fd, struct ktr_error *err)
{
	struct ktr__live *live = NULL;
	int rc;

	if (!hz || hz > KTR_SAMPLE_HZ_MAX)
		return ktr_error_set(err, EINVAL, "%u Hz: 1 to %d", hz, KTR_SAMPLE_HZ_MAX);
	rc = ktr__task_check(pid, tid, 1, err);
	if (rc)
		return rc;
	rc = ktr__live_open(pid, &live);
	if (!rc)
		rc = sample_try(pid, tid, ktr__live_maps(live));
	if (rc) {
		rc = ktr__task_refuse(pid, tid, rc, err);
	} else {
		pthread_mutex_lock(&samplings_lock);
		rc = sample_begin(pid, tid, hz, fd, &live, err);
		pthread_mutex_unlock(&samplings_lock);
	}
	ktr__live_close(live);
	return rc;
}

int ktr_sample_task(pid_t pid, unsigned hz, int fd, struct ktr_error *err)
{
	return sample_any(pid, 0, hz, fd, err);
}

int ktr_sample_thread(pid_t pid, pid_t tid, unsigned hz, int fd, struct ktr_error *err)
{
	if (tid <= 0)
		return ktr_error_set(err, EINVAL, "%d is no number of a thread", (int)tid);
	return sample_any(pid, tid, hz, fd, err);
}

int ktr_sample_stop(int fd, struct ktr_sample_sums *sums, struct ktr_error *err)
{
	struct ktr_sample_sums all = { .size = sums ? sums->size : 0 };
	struct sample_outlet **at, *to;
	int rc;

	if (sums && sums->size < SAMPLE_SUMS_BYTES)
		return ktr_error_set(err, EINVAL, "struct ktr_sample_sums: its size is not set, or too small");
	pthread_mutex_lock(&samplings_lock);
	at = sample_find(fd);
	to = *at;
	if (to)
		*at = to->next;
	pthread_mutex_unlock(&samplings_lock);
	if (!to)
		return ktr_error_set(err, ENOENT, "nothing is sampled to descriptor %d", fd);
	rc = sample_end(to, &all);
	if (sums)
		memcpy(sums, &all, sums->size < sizeof(all) ? sums->size : sizeof(all));
	if (rc == -ESRCH)
		return ktr_error_set(err, ESRCH, "what was sampled had ended before");
	return rc ? sample_fd(rc, fd, err) : 0;
}

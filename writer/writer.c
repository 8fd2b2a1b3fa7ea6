/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer thread of a traced process.
 *
 * It lives in somebody else's program and stays out of its way: all signals are blocked; its stack
 * is small; and its descriptor table is its own (CLONE_FILES undone), empty but for /dev/null at 0
 * to 2 and what the drain opens, so that a host that closes all descriptors, or forks, or opens
 * others in their place, neither breaks the trace nor gets bytes of it. Root and working directory are
 * its own, too, where the kernel lets it: those of the start. What it has to say goes to
 * the host's standard error as long as that is the file it was at the start.
 *
 * It counts as one of the process's threads: last.c sees to it that a process all of whose own threads have ended
 * ends as it would without us.
 *
 * One lock guards struct ktr__writer (writer.h). The thread sleeps on a futex, so that waking up in an
 * idle session is one system call; those who wait for it use a condition.
 */
#include "writer/writer.h"

#include "ktr/load/writer_hook.h"
#include "ktr/session/kernel.h"
#include "ktr/session/libc.h"
#include "ktr/session/session_rw.h"
#include "writer/control.h"
#include "writer/crash.h"
#include "writer/handover.h"
#include "writer/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Streams opened at once by a program that may give up its user id, after which it could not open
 * them: a program without privileges does not. More are opened as CPUs come.
 */
#define WRITER_AHEAD 192

#define WRITER_VERBOSE_NS 20000000ull /* between two looks for events to print: people do not see less */

#define WRITER_ECHO_LAST 64 /* rounds of printing at the end: some 260,000 lines */

#define WRITER_ATTEND_TRIES 5 /* of 10 ms, which an exit takes longer at most */

#define WRITER_BUSY_NS	  1000000 /* between two tries to go on with a trace that is locked, */
#define WRITER_BUSY_TRIES 5	  /* by somebody who looks at it, or by another writer */

#define WRITER_STACK (256u << 10) /* [bytes] the deepest call takes some 30 KiB */

struct ktr__writer ktr__writer = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void writer_cond_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&ktr__writer.done, &attr);
	pthread_condattr_destroy(&attr);
}

void ktr__writer_renew(void)
{
	pthread_mutex_unlock(&ktr__writer.lock); /* ours since before the fork */
	writer_cond_init();
}

struct timespec ktr__writer_until(uint64_t ns)
{
	uint64_t until = ktr__drain_now() + ns;

	return (struct timespec){ (time_t)(until / 1000000000), (long)(until % 1000000000) };
}

void ktr__writer_ring(void)
{
	__atomic_fetch_add(&ktr__writer.wake_word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &ktr__writer.wake_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/*
 * A table of descriptors that the host's closefrom(3) does not reach, and that keeps none of its files and sockets
 * open. close_range(2) copies nothing that it would close at once, and may be called in containers whose filter
 * refuses unshare(2), as Docker's does.
 */
int ktr__writer_own_descriptors(struct ktr__writer_thread *self)
{
	if (self->owns_descriptors)
		return 0;
	if (ktr__close_unshared()) { /* kernels before 5.9 */
		/* The limit is no bound on numbers in use, but hosts know of it. */
		long n = sysconf(_SC_OPEN_MAX);

		if (unshare(CLONE_FILES))
			return -errno;
		for (int fd = 0; fd < (n > 0 && n < 65536 ? (int)n : 65536); fd++)
			close(fd);
	}
	self->owns_descriptors = true;
	/* A program may live where there is no /dev (chroot(2)). */
	for (int i = 0; i < 3; i++)
		if (open("/dev/null", O_RDWR) < 0 && open("/", O_PATH) < 0 && i == 0)
			return -errno;
	ktr__last_open(&self->last);
	return 0;
}

static void writer_print(void *context, const char *line, size_t n_bytes)
{
	struct ktr__writer_thread *self = context;

	ktr__message_print(&self->message, self->control.verbose_to != 0, line, n_bytes);
}

/* debug.ktr.verbose, which may change at any time. True: it is on. */
static bool writer_verbose(struct ktr__writer_thread *self, uint64_t *pause_ns)
{
	const struct ktr__ring_source source = {
		.header = &self->map.header, .base = ktr__writer_base(self), .fd = self->map.fd
	};
	uint64_t level = self->control.verbose;

	if (level && !ktr__writer.verbose)
		ktr__writer.verbose = ktr__verbose_open(&source);
	if (!ktr__writer.verbose)
		return level != 0;
	if (level)
		self->level = (unsigned)level;
	self->message.stuck = false;
	if (ktr__verbose_round(ktr__writer.verbose, &self->map, source.base, self->level, writer_print, self))
		*pause_ns = 0;
	else if (*pause_ns > WRITER_VERBOSE_NS)
		*pause_ns = WRITER_VERBOSE_NS;
	if (self->message.n_bytes)
		ktr__message_put(&self->message);
	if (!level) { /* what came before it was switched off is printed now */
		ktr__verbose_close(ktr__writer.verbose);
		ktr__writer.verbose = NULL;
	}
	return level != 0;
}

/* Maps the session for reading; without room for it, rings are read by pread(2). */
static void *writer_map(const struct ktr__session_map *map)
{
	void *base = mmap(NULL, map->header.file_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE,
			  map->fd, 0);

	if (base == MAP_FAILED)
		return NULL;
	madvise(base, map->header.file_bytes, MADV_DONTFORK);
	madvise(base, map->header.file_bytes, MADV_DONTDUMP);
	return base;
}

/* Undoes ktr__writer_open() but for the drain. */
void ktr__writer_shut(struct ktr__writer_thread *self)
{
	ktr__kernel_events_free(self->kernel_events);
	self->kernel_events = NULL;
	if (self->base)
		munmap(self->base, self->map.header.file_bytes);
	self->base = NULL;
	ktr__control_close(self);
	ktr__map_close(&self->map);
	ktr__message_close(&self->message);
}

/*
 * What the kernel tells goes into the rings before they are drained. Returns for how long that may wait. What is
 * led comes by itself (kernel_events.h), but for what there is now, and where who leads likes it to be done here.
 */
static uint64_t writer_kernel_events(struct ktr__writer_thread *self, bool now)
{
	uint64_t pause_ns = UINT64_MAX;

	if (!self->kernel_events || self->cut)
		return pause_ns;
	/* Once more when nothing is wanted any more. A process that feeds events records. */
	if (self->control.kernel || self->fed || (now && ktr__kernel_events_led()))
		ktr__kernel_events_round(self->kernel_events, &pause_ns);
	else if (ktr__kernel_events_led())
		ktr__kernel_events_due(&pause_ns);
	self->fed = self->control.kernel != 0;
	return pause_ns;
}

/* There is no trace of that name, or it is none of this session's, or damaged. */
static bool writer_is_elsewhere(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR || rc == -ESTALE || rc == -EPROTO;
}

/*
 * Of a session that has had a writer, which was killed or ended with its process, the trace is gone on with. Where
 * that is not to be found, another is begun with what the rings have. Who looks whether a trace is written holds
 * its lock for a moment.
 */
static int writer_open_trace(struct ktr__writer_thread *self, struct ktr__drain_plan *plan)
{
	const struct ktr_control *control = &self->control;
	const struct timespec nap = { 0, WRITER_BUSY_NS };
	struct ktr_error err;
	int rc = -EBUSY;

	if (plan->from != KTR__DRAIN_START || !control->alq_enable || control->writer_ends == KTR_WRITER_CLOSES)
		return ktr__drain_open(&self->drain, plan, ktr__writer.err);
	plan->from = KTR__DRAIN_RESUME;
	for (int i = 0; rc == -EBUSY && i < WRITER_BUSY_TRIES; i++) {
		if (i)
			nanosleep(&nap, NULL);
		err = (struct ktr_error)KTR_ERROR_NONE;
		rc = ktr__drain_open(&self->drain, plan, &err);
	}
	if (writer_is_elsewhere(rc)) {
		plan->from = control->alq_cnt ? KTR__DRAIN_OLDEST : KTR__DRAIN_START;
		return ktr__drain_open(&self->drain, plan, ktr__writer.err);
	}
	if (rc && ktr__writer.err)
		*ktr__writer.err = err;
	return rc;
}

int ktr__writer_open(struct ktr__writer_thread *self, enum ktr__drain_from from)
{
	struct ktr__drain_plan plan = { .sys = &ktr__sys, .from = from, .resume = ktr__resume };
	int rc;

	self->user = geteuid();
	ktr__message_open(&self->message);
	rc = ktr__map_open(ktr__writer.session->path, 0, &self->map, ktr__writer.err);
	if (rc)
		return rc;
	if (memcmp(self->map.header.uuid, ktr__writer.session->header.uuid,
		   sizeof(self->map.header.uuid)))
		return ktr_error_set(ktr__writer.err, ESTALE, "%s: the session has been replaced",
				     ktr__writer.session->path);
	rc = ktr__control_open(self);
	if (rc)
		return ktr_error_set(ktr__writer.err, rc, "%s: cannot be read: %m", ktr__writer.session->path);
	self->base = writer_map(&self->map);
	self->kernel_events = ktr__kernel_events_new(ktr__writer.session, false, ktr__message_say, &self->message);
	writer_kernel_events(self, true);
	if (!ktr__writer.path)
		return 0;
	plan.map = &self->map;
	plan.base = ktr__writer_base(self);
	plan.own = ktr__writer.session->map;
	plan.path = ktr__writer.full_path;
	plan.follow = KTR__FOLLOW_ALL;
	plan.n_ahead = geteuid() == 0 || getuid() != geteuid() ? WRITER_AHEAD : 0;
	plan.say = ktr__message_say;
	plan.context = &self->message;
	return writer_open_trace(self, &plan);
}

/* Sleeps until somebody wants something or the pause is over. Returns with the lock held. */
static void writer_pause(uint64_t pause_ns)
{
	const struct timespec ts = { (time_t)(pause_ns / 1000000000), (long)(pause_ns % 1000000000) };
	uint32_t wake_word;
	bool idle;

	pthread_mutex_lock(&ktr__writer.lock);
	wake_word = __atomic_load_n(&ktr__writer.wake_word, __ATOMIC_ACQUIRE);
	idle = pause_ns && ktr__writer.state == WRITER_RUNNING &&
	       ktr__writer.flush_wanted == ktr__writer.flush_done && !ktr__crash_asked();
	if (!idle)
		return;
	pthread_mutex_unlock(&ktr__writer.lock);
	syscall(SYS_futex, &ktr__writer.wake_word, FUTEX_WAIT_PRIVATE, wake_word, &ts, NULL, 0);
	pthread_mutex_lock(&ktr__writer.lock);
}

/* Tells how far it has come. True: it was told to end, from outside or by debug.ktr.alq_max. */
static bool writer_told(struct ktr__writer_thread *self)
{
	const struct ktr__drain_stats *stats = &self->drain->stats;
	uint64_t max = self->control.alq_max;

	ktr__control_put64(self, offsetof(struct ktr_control, alq_cnt), stats->events);
	ktr__control_put64(self, offsetof(struct ktr_control, alq_failed), stats->lost);
	return !self->control.alq_enable || (max && stats->events >= max);
}

/* Not all could be written: the session stays for that, and the user is told how to get it. */
static void writer_unwritten(struct ktr__writer_thread *self, const struct ktr__drain_stats *stats, int rc)
{
	const char *path = ktr__writer.full_path, *name = self->map.header.name;
	unsigned long long n = stats->unwritten;
	char line[PATH_MAX + 300];

	if (stats->limit) {
		snprintf(line, sizeof(line), "%llu events are not in the trace: it has reached its size limit", n);
		ktr__message_say(&self->message, line);
		return;
	}
	if (!self->control.keep_session)
		ktr__control_put32(self, offsetof(struct ktr_control, keep_session), KTR_KEEP_UNWRITTEN);
	if (stats->named)
		snprintf(line, sizeof(line), "%llu events could not be written (%s) and stay in session %s: ktr salvage %s",
			 n, strerror(-rc), name, path);
	else
		snprintf(line, sizeof(line), "%llu events could not be written (%s) and stay in session %s: "
					     "ktr snapshot -s %s -o %s", n, strerror(-rc), name, name, path);
	ktr__message_say(&self->message, line);
}

/*
 * A process that has given up its rights cannot remove its session at its exit. Where somebody stands by, who may
 * have to come back from a trace that was rotated away, he does.
 */
static void writer_leaves_session(struct ktr__writer_thread *self)
{
	const struct timespec nap = { 0, 10000000 };
	char line[2 * KTR_SESSION_NAME_MAX + 200];

	if (geteuid() == self->user || self->control.keep_session || ktr__writer.state == WRITER_RUNNING)
		return;
	for (int i = 0; i < WRITER_ATTEND_TRIES; i++) {
		if (ktr__trace_attended(&self->drain->trace))
			return;
		nanosleep(&nap, NULL);
	}
	snprintf(line, sizeof(line), "session %s stays: this process has given up the right to remove it: ktr rm %s",
		 self->map.header.name, self->map.header.name);
	ktr__message_say(&self->message, line);
}

/* Ends the trace. */
static void writer_finish(struct ktr__writer_thread *self)
{
	struct ktr__drain_stats stats;
	bool closes;
	int rc;

	/* Whoever records and then finds 0 there knows that the last round is to come: handover.c. */
	ktr__control_look(self);
	closes = ktr__writer.state == WRITER_RUNNING || !self->control.alq_enable;
	ktr__control_put32(self, offsetof(struct ktr_control, writer_ends),
			   closes ? KTR_WRITER_CLOSES : KTR_WRITER_LEAVES);
	__atomic_fetch_add(&ktr__writer.wake_word, 0, __ATOMIC_SEQ_CST); /* a fence that thread sanitizers see */
	writer_kernel_events(self, true);
	writer_leaves_session(self);
	rc = ktr__drain_close(self->drain, &stats);
	if (rc && stats.unwritten)
		writer_unwritten(self, &stats, rc);
	self->drain = NULL;
	__atomic_store_n(&ktr__writer.draining, false, __ATOMIC_RELAXED);
	ktr__control_put64(self, offsetof(struct ktr_control, alq_cnt), stats.events);
	ktr__control_put64(self, offsetof(struct ktr_control, alq_failed), stats.lost);
	ktr__control_put64(self, offsetof(struct ktr_control, writer_took), stats.took);
	/* At exit it stays on: a forked child may go on with the trace. */
	if (ktr__writer.state == WRITER_RUNNING && !ktr__writer.leave)
		ktr__control_put32(self, offsetof(struct ktr_control, alq_enable), 0);
}

/*
 * What this process may no longer do, somebody stands by to do: he goes on with the trace where it ends. What the
 * kernel tells is still for us to put into the rings.
 */
static void writer_yield(struct ktr__writer_thread *self)
{
	ktr__control_put32(self, offsetof(struct ktr_control, writer_ends), KTR_WRITER_YIELDS);
	ktr__drain_close(self->drain, NULL);
	self->drain = NULL;
	self->yielded = true;
	__atomic_store_n(&ktr__writer.draining, false, __ATOMIC_RELAXED);
}

/* debug.ktr.alq_crash, which may change at any time; it is for traces. */
static void writer_guard(const struct ktr__writer_thread *self)
{
	ktr__crash_look(self->drain && self->control.alq_crash);
}

/* Drains and prints once. False: there is nothing to do any more. */
static bool writer_round(struct ktr__writer_thread *self, unsigned flags, uint64_t *pause_ns, int *rc)
{
	uint64_t kernel_ns;
	bool on;

	ktr__control_look(self);
	kernel_ns = writer_kernel_events(self, (flags & KTR__DRAIN_ALL) != 0);
	*pause_ns = WRITER_VERBOSE_NS;
	*rc = 0;
	writer_guard(self);
	if (self->drain) {
		self->drain->source.base = ktr__writer_base(self);
		*rc = ktr__drain_round(self->drain, flags, pause_ns);
		if (writer_told(self))
			writer_finish(self);
		else if (self->drain->yields)
			writer_yield(self);
	} else if (self->yielded) {
		*rc = -ESRCH; /* when all is written, nobody knows here */
	}
	on = writer_verbose(self, pause_ns) || self->drain || self->control.kernel;
	if (kernel_ns < *pause_ns)
		*pause_ns = kernel_ns;
	return on;
}

static void writer_loop(struct ktr__writer_thread *self)
{
	uint64_t pause_ns = 0, wanted;
	uint32_t crashed;
	bool on = true;
	int rc;

	while (on && !(self->alone = ktr__last_look(&self->last))) {
		writer_pause(pause_ns);
		wanted = ktr__writer.flush_wanted;
		if (ktr__writer.state != WRITER_RUNNING || __atomic_load_n(&ktr__writer.leave, __ATOMIC_ACQUIRE)) {
			pthread_mutex_unlock(&ktr__writer.lock);
			break;
		}
		pthread_mutex_unlock(&ktr__writer.lock);
		crashed = ktr__crash_asked();
		on = writer_round(self, wanted == ktr__writer.flush_done && !crashed ? 0 : KTR__DRAIN_ALL,
				  &pause_ns,
				  &rc);
		if (crashed)
			ktr__crash_taken(crashed);
		pthread_mutex_lock(&ktr__writer.lock);
		if (!on && ktr__writer.state == WRITER_RUNNING)
			ktr__writer.state = WRITER_ENDED;
		if (ktr__writer.flush_done != wanted) {
			ktr__writer.flush_rc = rc;
			ktr__writer.flush_done = wanted;
		}
		pthread_cond_broadcast(&ktr__writer.done);
		pthread_mutex_unlock(&ktr__writer.lock);
	}
	if (self->alone) {
		pthread_mutex_lock(&ktr__writer.lock);
		ktr__writer.state = WRITER_STOPPING; /* it is not the trace that ends, but the process */
		pthread_mutex_unlock(&ktr__writer.lock);
	}
	/* What was recorded before is printed, but not for ever: others may go on recording. */
	for (int i = 0; i < WRITER_ECHO_LAST; i++) {
		pause_ns = 1;
		writer_verbose(self, &pause_ns);
		if (pause_ns)
			break;
	}
}

static void writer_close(struct ktr__writer_thread *self)
{
	ktr__crash_look(false);
	if (self->drain)
		writer_finish(self);
	else
		writer_kernel_events(self, true);
	if (self->map.fd >= 0)
		ktr__control_look(self);
	/* While we live nobody else puts himself there. */
	if (self->control.writer == (uint32_t)getpid())
		ktr__control_put32(self, offsetof(struct ktr_control, writer), 0);
	ktr__writer_shut(self);
}

static int writer_begin(struct ktr__writer_thread *self)
{
	int rc;

	/* Who shares root and working directory may not enter another mount namespace: the host shall. */
	unshare(CLONE_FS);
	rc = ktr__writer_own_descriptors(self);
	if (rc)
		return ktr_error_set(ktr__writer.err, rc, "no descriptor table for the writer: %m");
	return ktr__writer_open(self, KTR__DRAIN_START);
}

/* There is no thread any more that would join this one. It may have to run what the program does at its exit. */
static void writer_detach(void)
{
	pthread_mutex_lock(&ktr__writer.lock);
	ktr__writer.state = WRITER_NONE;
	pthread_detach(pthread_self());
	pthread_mutex_unlock(&ktr__writer.lock);
}

static void *writer_main(void *context)
{
	struct ktr__writer_thread self = { .map = { .fd = -1 },
					   .control_fd = -1,
					   .last = { .task_fd = -1, .stat_fd = -1 },
					   .message = ktr__writer.message };
	int rc;

	self.message.proc_fd = -1;
	rc = context ? ktr__handover_wait(&self) : writer_begin(&self);

	if (!rc) /* also where a writer that was killed has left a 1 */
		ktr__control_put32(&self, offsetof(struct ktr_control, alq_enable), self.drain != NULL);
	__atomic_store_n(&ktr__writer.draining, self.drain != NULL, __ATOMIC_RELAXED);
	if (!rc && self.drain)
		ktr__control_put32(&self, offsetof(struct ktr_control, writer_ends), 0);
	if (!rc) /* one that printed before us may have ended meanwhile, and said so */
		ktr__control_put32(&self, offsetof(struct ktr_control, writer), (uint32_t)getpid());
	if (!rc)
		writer_guard(&self);
	pthread_mutex_lock(&ktr__writer.lock);
	ktr__writer.start_rc = rc;
	if (!rc) {
		__atomic_store_n(&ktr__writer.pid, getpid(), __ATOMIC_RELAXED);
		ktr__writer.kin = true;
		ktr__writer.pid_ns = ktr__proc_own_ns();
	}
	/* A successor that has nothing to take over waits to be joined; whoever starts one joins it himself. */
	if (ktr__writer.state == WRITER_SUCCESSOR || ktr__writer.state == WRITER_STARTING)
		ktr__writer.state = !rc ? WRITER_RUNNING : context ? WRITER_ENDED : WRITER_NONE;
	pthread_cond_broadcast(&ktr__writer.done);
	pthread_mutex_unlock(&ktr__writer.lock);
	if (!rc)
		writer_loop(&self);
	writer_close(&self);
	__atomic_store_n(&ktr__writer.leave, 2, __ATOMIC_RELEASE);
	if (self.alone)
		writer_detach();
	if (self.alone && ktr__last_status(&self.last))
		syscall(SYS_exit, ktr__last_status(&self.last));
	return NULL;
}

int ktr__writer_create(void *successor)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, WRITER_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&ktr__writer.thread, &attr, writer_main, successor);
	if (rc ==
	    EINVAL) /* glibc puts the host's thread-local data on the stack, too much for ours */
		rc = pthread_create(&ktr__writer.thread, NULL, writer_main, successor);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (!rc)
		pthread_setname_np(ktr__writer.thread, "ktr-writer");
	return rc;
}

/* Waits for a thread that ends, and forgets it. One caller gets to do so. */
static void writer_bury(void)
{
	bool mine;

	pthread_mutex_lock(&ktr__writer.lock);
	mine = ktr__writer.state == WRITER_STOPPING || ktr__writer.state == WRITER_ENDED;
	if (mine)
		ktr__writer.state = WRITER_JOINING;
	pthread_mutex_unlock(&ktr__writer.lock);
	if (!mine)
		return;
	pthread_join(ktr__writer.thread, NULL);
	pthread_mutex_lock(&ktr__writer.lock);
	ktr__writer.state = WRITER_NONE;
	pthread_mutex_unlock(&ktr__writer.lock);
}

/* Who wants a writer of its own waits for no parent's. */
static void writer_disinherit(void)
{
	pthread_mutex_lock(&ktr__writer.lock);
	if (ktr__writer.state == WRITER_SUCCESSOR)
		ktr__writer.state = WRITER_STOPPING;
	pthread_mutex_unlock(&ktr__writer.lock);
}

/* A child takes over from wherever its parent's working directory may be by then. */
static void writer_full_path(const char *path)
{
	char dir[PATH_MAX - 300] = "";

	if (path && path[0] != '/' && getcwd(dir, sizeof(dir)))
		strcat(dir, "/");
	snprintf(ktr__writer.full_path, sizeof(ktr__writer.full_path), "%s%s", dir, path ? path : "");
}

int ktr__writer_start(struct ktr__session_rw *session, const char *path, struct ktr_error *err)
{
	const struct ktr__ring_source source = { .header = &session->header, .base = session->map, .fd = -1 };
	int rc;

	/* One that only prints is followed by one that does both. */
	if (path && !__atomic_load_n(&ktr__writer.draining, __ATOMIC_RELAXED))
		ktr__writer_stop();
	writer_disinherit();
	writer_bury();
	pthread_mutex_lock(&ktr__writer.lock);
	if (ktr__writer.state != WRITER_NONE) {
		pthread_mutex_unlock(&ktr__writer.lock);
		return ktr_error_set(err, EALREADY, "the writer runs already");
	}
	writer_cond_init();
	ktr__last_begin();
	ktr__writer.leave = 0;
	ktr__writer.state = WRITER_STARTING;
	ktr__writer.session = session;
	ktr__writer.path = path;
	ktr__writer.err = err;
	ktr__writer.pid = getpid();
	writer_full_path(path);
	ktr__writer.flush_wanted = ktr__writer.flush_done = 0;
	if (!ktr__writer.verbose && __atomic_load_n(&session->control->verbose, __ATOMIC_RELAXED))
		ktr__writer.verbose = ktr__verbose_open(&source);
	ktr__message_note(&ktr__writer.message);
	rc = ktr__writer_create(NULL);
	if (rc) {
		ktr__writer.state = WRITER_NONE;
		pthread_mutex_unlock(&ktr__writer.lock);
		return ktr_error_set(err, rc, "no thread for the writer: %m");
	}
	while (ktr__writer.state == WRITER_STARTING)
		pthread_cond_wait(&ktr__writer.done, &ktr__writer.lock);
	rc = ktr__writer.start_rc;
	pthread_mutex_unlock(&ktr__writer.lock);
	if (rc) {
		uint32_t own = (uint32_t)getpid();

		pthread_join(ktr__writer.thread, NULL);
		__atomic_compare_exchange_n(&session->control->writer, &own, 0, 0, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED);
	}
	return rc;
}

int ktr__writer_flush(void)
{
	uint64_t mine;
	int rc;

	pthread_mutex_lock(&ktr__writer.lock);
	if (ktr__writer.state != WRITER_RUNNING) {
		pthread_mutex_unlock(&ktr__writer.lock);
		return -ESRCH;
	}
	mine = ++ktr__writer.flush_wanted;
	ktr__writer_ring();
	while (ktr__writer.flush_done < mine && ktr__writer.state == WRITER_RUNNING)
		pthread_cond_wait(&ktr__writer.done, &ktr__writer.lock);
	rc = ktr__writer.flush_done < mine ? -ESRCH : ktr__writer.flush_rc;
	pthread_mutex_unlock(&ktr__writer.lock);
	return rc;
}

void ktr__writer_stop(void)
{
	pthread_mutex_lock(&ktr__writer.lock);
	ktr__handover_await();
	if (ktr__writer.state == WRITER_RUNNING) {
		ktr__writer.state = WRITER_STOPPING;
		ktr__writer_ring();
	}
	pthread_mutex_unlock(&ktr__writer.lock);
	writer_bury();
}

/* Nothing but loads and stores: the thread looks when it next wakes up. */
bool ktr__writer_leave(void)
{
	uint32_t no = 0;

	if (__atomic_load_n(&ktr__writer.state, __ATOMIC_RELAXED) != WRITER_RUNNING)
		return true;
	__atomic_compare_exchange_n(&ktr__writer.leave, &no, 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	return __atomic_load_n(&ktr__writer.leave, __ATOMIC_ACQUIRE) == 2;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer thread of a traced process.
 *
 * It lives in somebody else's program and stays out of its way: all signals are blocked; its stack
 * is small; and its descriptor table is its own (CLONE_FILES undone), empty but for /dev/null at 0
 * to 2 and what the drain opens, so that a host that closes all descriptors, or forks, or opens
 * others in their place, neither breaks the trace nor gets bytes of it. What it has to say goes to
 * the host's standard error as long as that is the file it was at the start.
 *
 * One lock, writer.lock, guards struct writer; it is held for moments only, never while the thread
 * drains. Before fork(2) it is taken, so that the child finds the struct whole; the child forgets
 * it.
 */
#include "ktr/writer_hook.h"
#include "writer/drain.h"
#include "writer/resume.h"
#include "writer/echo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/*
 * Streams opened at once by a program that may give up its user id, after which it could not open
 * them: a program without privileges does not. More are opened as CPUs come.
 */
#define WRITER_AHEAD 64

#define WRITER_ECHO_NS 20000000ull /* between two looks for events to print: people do not see less */

#define WRITER_ECHO_LAST 64 /* rounds of printing at the end: some 260,000 lines */

#define WRITER_STACK (256u << 10) /* [bytes] the deepest call takes some 30 KiB */

enum writer_state {
	WRITER_NONE,
	WRITER_HEIR, /* of a parent's writer: waits until that has gone */
	WRITER_STARTING,
	WRITER_RUNNING,
	WRITER_STOPPING,
	WRITER_ENDED, /* by itself: its thread waits to be joined */
	WRITER_JOINING
};

static struct writer {
	pthread_mutex_t lock;
	pthread_cond_t
		wake; /* for the thread: something is wanted; for others: something is done */
	pthread_t thread;
	enum writer_state state;
	uint64_t flush_wanted; /* requests so far */
	uint64_t flush_done;
	int flush_rc;
	/* For the time of starting: */
	struct ktr__session *session;
	const char *path;
	struct ktr_error *err;
	int start_rc;
	/* For children: */
	pid_t pid;   /* the writer's process */
	int may_bequeath; /* 1: the process had no other thread when it forked */
	char full_path[PATH_MAX];
	bool draining;		/* the thread has a trace */
	struct ktr__echo *echo; /* stays over the thread's lives, so that nothing goes unprinted */
	/* The host's standard error when the writer started. */
	dev_t stderr_dev;
	ino_t stderr_ino;
} writer = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* What the thread alone has. */
struct writer_thread {
	struct ktr__session_map map;
	void *base;
	bool owns_descriptors;
	int proc_fd; /* /proc/self/fd of the process, not of the thread */
	struct ktr__drain *drain; /* NULL: there is no trace, the thread only prints */
	unsigned level;		  /* debug.ktr.verbose as it was last on */
	bool stuck;		  /* syslogd takes nothing in this round */
	size_t n_bytes;		  /* of lines to print */
	char lines[4096];	  /* PIPE_BUF of pipe(7): all or nothing */
};

static void writer_cond_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&writer.wake, &attr);
	pthread_condattr_destroy(&attr);
}

/* Undoes the sharing of descriptors and lets go of the host's. 0 or -errno. */
static int writer_own_descriptors(void)
{
	if (unshare(CLONE_FILES))
		return -errno;
	if (close_range(0, ~0u, 0)) {
		/*
		 * Kernels before 5.9. The limit is no bound on numbers in use, but hosts know of
		 * it.
		 */
		long n = sysconf(_SC_OPEN_MAX);

		for (int fd = 0; fd < (n > 0 && n < 65536 ? (int)n : 65536); fd++)
			close(fd);
	}
	for (int i = 0; i < 3; i++)
		if (open("/dev/null", O_RDWR) < 0 && i == 0)
			return -errno;
	return 0;
}

/*
 * The host's standard error. /proc/self/fd shows the table of the process, not ours; what it opens is
 * without blocking. A file has to be the host's own, whose place we share: appended to by us alone, it
 * would be written over by the host (kernels before 5.6 have no way to get it).
 */
static int writer_stderr(const struct writer_thread *self, struct stat *st)
{
	int fd = openat(self->proc_fd, "2", O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int pid_fd, own = -1;

	if (fd < 0 || fstat(fd, st) || !S_ISREG(st->st_mode))
		return fd;
	pid_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (pid_fd >= 0)
		own = (int)syscall(SYS_pidfd_getfd, pid_fd, STDERR_FILENO, 0);
	close(pid_fd);
	if (own < 0)
		return fd;
	close(fd);
	return own;
}

/* One line for the user, as long as standard error is the file it was at the start. */
static void writer_say(void *context, const char *text)
{
	char line[600];
	struct stat st;
	int n, fd = writer_stderr(context, &st);

	if (fd < 0)
		return;
	n = snprintf(line, sizeof(line), "ktr: %s\n", text);
	if (st.st_dev == writer.stderr_dev && st.st_ino == writer.stderr_ino &&
	    write(fd, line, (size_t)n) < 0)
		n = 0; /* nobody reads it */
	close(fd);
}

/* Prints what has been collected on the host's standard error, or sends it to syslogd. */
static void writer_put(struct writer_thread *self)
{
	struct stat st;
	int fd = writer_stderr(self, &st);

	if (fd >= 0 && st.st_dev == writer.stderr_dev && st.st_ino == writer.stderr_ino &&
	    write(fd, self->lines, self->n_bytes) < 0)
		self->n_bytes = 0; /* nobody reads it */
	if (fd >= 0)
		close(fd);
	self->n_bytes = 0;
}

/*
 * syslog(3) would put a descriptor of ours into a variable of the process. RFC 3164: user, debug. Where
 * syslogd does not take a line for 50 ms, this round goes on without it.
 */
static void writer_syslog(struct writer_thread *self, const char *line, size_t n_bytes)
{
	const struct sockaddr_un to = { AF_UNIX, "/dev/log" };
	const struct timeval wait = { 0, 50000 };
	char text[1200];
	int fd = self->stuck ? -1 : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int n = snprintf(text, sizeof(text), "<15>%.64s[%d]: %.*s", program_invocation_short_name, (int)getpid(),
			 (int)n_bytes - 1, line);

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	self->stuck = sendto(fd, text, (size_t)n, MSG_NOSIGNAL, (const void *)&to, sizeof(to)) < 0;
	close(fd);
}

static void writer_print(void *context, const char *line, size_t n_bytes)
{
	struct writer_thread *self = context;

	if (__atomic_load_n(&writer.session->control->verbose_to, __ATOMIC_RELAXED)) {
		writer_syslog(self, line, n_bytes);
		return;
	}
	if (self->n_bytes + n_bytes > sizeof(self->lines))
		writer_put(self);
	memcpy(self->lines + self->n_bytes, line, n_bytes);
	self->n_bytes += n_bytes;
}

/* debug.ktr.verbose, which may change at any time. True: it is on. */
static bool writer_echo(struct writer_thread *self, uint64_t *pause_ns)
{
	const struct ktr__ring_source source = { &self->map.header, self->base, self->map.fd };
	uint64_t level = __atomic_load_n(&writer.session->control->verbose, __ATOMIC_RELAXED);

	if (level && !writer.echo)
		writer.echo = ktr__echo_open(&source);
	if (!writer.echo)
		return level != 0;
	if (level)
		self->level = (unsigned)level;
	self->stuck = false;
	if (ktr__echo_round(writer.echo, &self->map, self->base, self->level, writer_print, self))
		*pause_ns = 0;
	else if (*pause_ns > WRITER_ECHO_NS)
		*pause_ns = WRITER_ECHO_NS;
	if (self->n_bytes)
		writer_put(self);
	if (!level) { /* what came before it was switched off is printed now */
		ktr__echo_close(writer.echo);
		writer.echo = NULL;
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
	return base;
}

/* Undoes writer_open() but for the drain. */
static void writer_shut(struct writer_thread *self)
{
	if (self->base)
		munmap(self->base, self->map.header.file_bytes);
	self->base = NULL;
	ktr__map_close(&self->map);
	if (self->proc_fd >= 0)
		close(self->proc_fd);
	self->proc_fd = -1;
}

static int writer_open(struct writer_thread *self, enum ktr__drain_from from)
{
	struct ktr__drain_plan plan = { .sys = &ktr__sys, .from = from, .resume = ktr__resume };
	int rc;

	self->proc_fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = ktr__map_open(writer.session->path, 0, &self->map, writer.err);
	if (rc)
		return rc;
	if (memcmp(self->map.header.uuid, writer.session->header.uuid,
		   sizeof(self->map.header.uuid)))
		return ktr_error_set(writer.err, ESTALE, "%s: the session has been replaced",
				     writer.session->path);
	self->base = writer_map(&self->map);
	if (!writer.path)
		return 0;
	plan.map = &self->map;
	plan.base = self->base;
	plan.path = writer.full_path;
	plan.follow = KTR__FOLLOW_ALL;
	plan.n_ahead = geteuid() == 0 || getuid() != geteuid() ? WRITER_AHEAD : 0;
	plan.say = writer_say;
	plan.context = self;
	return ktr__drain_open(&self->drain, &plan, writer.err);
}

/* Sleeps until somebody wants something or the pause is over. Returns with the lock held. */
static void writer_pause(uint64_t pause_ns)
{
	uint64_t until = ktr__drain_now() + pause_ns;
	struct timespec ts = { (time_t)(until / 1000000000), (long)(until % 1000000000) };

	pthread_mutex_lock(&writer.lock);
	while (pause_ns && writer.state == WRITER_RUNNING &&
	       writer.flush_wanted == writer.flush_done)
		if (pthread_cond_timedwait(&writer.wake, &writer.lock, &ts))
			break;
}

/* Tells how far it has come. True: it was told to end, from outside or by debug.ktr.alq_max. */
static bool writer_told(const struct writer_thread *self)
{
	struct ktr_control *control = writer.session->control;
	const struct ktr__drain_stats *stats = &self->drain->stats;
	uint64_t max = __atomic_load_n(&control->alq_max, __ATOMIC_RELAXED);

	__atomic_store_n(&control->alq_cnt, stats->events, __ATOMIC_RELAXED);
	__atomic_store_n(&control->alq_failed, stats->lost, __ATOMIC_RELAXED);
	return !__atomic_load_n(&control->alq_enable, __ATOMIC_RELAXED) || (max && stats->events >= max);
}

/* Ends the trace. */
static void writer_finish(struct writer_thread *self)
{
	struct ktr_control *control = writer.session->control;
	struct ktr__drain_stats stats;
	char line[256];

	if (ktr__drain_close(self->drain, &stats)) {
		snprintf(line, sizeof(line),
			 "%llu events are not in the trace: it could not be written",
			 (unsigned long long)stats.unwritten);
		writer_say(self, line);
	}
	self->drain = NULL;
	__atomic_store_n(&writer.draining, false, __ATOMIC_RELAXED);
	__atomic_store_n(&control->alq_cnt, stats.events, __ATOMIC_RELAXED);
	__atomic_store_n(&control->alq_failed, stats.lost, __ATOMIC_RELAXED);
	/* At exit it stays on: a forked child may go on with the trace. */
	if (writer.state == WRITER_RUNNING)
		__atomic_store_n(&control->alq_enable, 0, __ATOMIC_RELAXED);
}

/* Drains and prints once. False: there is nothing to do any more. */
static bool writer_round(struct writer_thread *self, unsigned flags, uint64_t *pause_ns, int *rc)
{
	*pause_ns = WRITER_ECHO_NS;
	*rc = 0;
	if (self->drain) {
		*rc = ktr__drain_round(self->drain, flags, pause_ns);
		if (writer_told(self))
			writer_finish(self);
	}
	return writer_echo(self, pause_ns) || self->drain;
}

static void writer_loop(struct writer_thread *self)
{
	uint64_t pause_ns = 0, wanted;
	bool on = true;
	int rc;

	while (on) {
		writer_pause(pause_ns);
		wanted = writer.flush_wanted;
		if (writer.state != WRITER_RUNNING) {
			pthread_mutex_unlock(&writer.lock);
			break;
		}
		pthread_mutex_unlock(&writer.lock);
		on = writer_round(self, wanted == writer.flush_done ? 0 : KTR__DRAIN_ALL, &pause_ns, &rc);
		pthread_mutex_lock(&writer.lock);
		if (!on && writer.state == WRITER_RUNNING)
			writer.state = WRITER_ENDED;
		if (writer.flush_done != wanted) {
			writer.flush_rc = rc;
			writer.flush_done = wanted;
		}
		pthread_cond_broadcast(&writer.wake);
		pthread_mutex_unlock(&writer.lock);
	}
	/* What was recorded before is printed, but not for ever: others may go on recording. */
	for (int i = 0; i < WRITER_ECHO_LAST; i++) {
		pause_ns = 1;
		writer_echo(self, &pause_ns);
		if (pause_ns)
			break;
	}
}

static void writer_close(struct writer_thread *self)
{
	uint32_t own = (uint32_t)getpid();

	if (self->drain)
		writer_finish(self);
	__atomic_compare_exchange_n(&writer.session->control->writer, &own, 0, 0, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	writer_shut(self);
}

/* Waits so long for the end of the process whose writer we are to follow. 1 when it has ended, 0, -errno. */
static int writer_gone(int timeout_ms)
{
	struct pollfd wait = { (int)syscall(SYS_pidfd_open, writer.pid, 0), POLLIN, 0 };
	int n;

	if (wait.fd < 0)
		return errno == ESRCH ? 1 : -errno;
	n = poll(&wait, 1, timeout_ms);
	close(wait.fd);
	return n > 0;
}

/*
 * In a forked child: waits until the process whose writer we go on for has ended, by whatever death, and
 * takes over its trace where that ends. Of several heirs one gets it, and the others wait for that one. What
 * executes another program soon is spared the work. Nothing is taken over that was ended on purpose.
 */
static int writer_inherit(struct writer_thread *self)
{
	struct timespec nap = { 0, 5000000 };
	struct ktr_control *control = writer.session->control;
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = -EBUSY;

	writer.err = &err;
	while (rc == -EBUSY) {
		nanosleep(&nap, NULL);
		if (!self->owns_descriptors && writer_own_descriptors())
			return -EMFILE;
		self->owns_descriptors = true;
		nap.tv_nsec = 100000000;
		rc = writer_gone(-1);
		if (rc < 0)
			return rc;
		if (!__atomic_load_n(&control->alq_enable, __ATOMIC_RELAXED))
			return -ECANCELED;
		rc = writer_open(self, KTR__DRAIN_RESUME);
		if (rc && rc != -EBUSY)
			writer_say(self, err.text);
		if (rc)
			writer_shut(self);
		if (rc == -EBUSY && control->writer)
			writer.pid = (pid_t)__atomic_load_n(&control->writer, __ATOMIC_RELAXED);
		memset(&err, 0, sizeof(err));
	}
	writer.err = NULL;
	return rc;
}

static int writer_begin(struct writer_thread *self)
{
	int rc = writer_own_descriptors();

	if (rc)
		return ktr_error_set(writer.err, rc, "no descriptor table for the writer: %m");
	return writer_open(self, KTR__DRAIN_START);
}

static void *writer_main(void *context)
{
	struct writer_thread self = { .map = { .fd = -1 }, .proc_fd = -1 };
	int rc = context ? writer_inherit(&self) : writer_begin(&self);

	if (!rc) /* also where a writer that was killed has left a 1 */
		__atomic_store_n(&writer.session->control->alq_enable, self.drain != NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&writer.draining, self.drain != NULL, __ATOMIC_RELAXED);
	if (!rc) /* one that printed before us may have ended meanwhile, and said so */
		__atomic_store_n(&writer.session->control->writer, (uint32_t)getpid(), __ATOMIC_RELAXED);
	pthread_mutex_lock(&writer.lock);
	writer.start_rc = rc;
	writer.state = rc ? WRITER_NONE : WRITER_RUNNING;
	pthread_cond_broadcast(&writer.wake);
	pthread_mutex_unlock(&writer.lock);
	if (!rc)
		writer_loop(&self);
	writer_close(&self);
	return NULL;
}

/* heir: it waits for a parent's writer. */
static int writer_create(void *heir)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, WRITER_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&writer.thread, &attr, writer_main, heir);
	if (rc ==
	    EINVAL) /* glibc puts the host's thread-local data on the stack, too much for ours */
		rc = pthread_create(&writer.thread, NULL, writer_main, heir);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (!rc)
		pthread_setname_np(writer.thread, "ktr-writer");
	return rc;
}

/* Waits for a thread that ends, and forgets it. One caller gets to do so. */
static void writer_bury(void)
{
	bool mine;

	pthread_mutex_lock(&writer.lock);
	mine = writer.state == WRITER_STOPPING || writer.state == WRITER_ENDED;
	if (mine)
		writer.state = WRITER_JOINING;
	pthread_mutex_unlock(&writer.lock);
	if (!mine)
		return;
	pthread_join(writer.thread, NULL);
	pthread_mutex_lock(&writer.lock);
	writer.state = WRITER_NONE;
	pthread_mutex_unlock(&writer.lock);
}

/* A child takes over from wherever its parent's working directory may be by then. */
static void writer_full_path(const char *path)
{
	char dir[PATH_MAX - 300] = "";

	if (path && path[0] != '/' && getcwd(dir, sizeof(dir)))
		strcat(dir, "/");
	snprintf(writer.full_path, sizeof(writer.full_path), "%s%s", dir, path ? path : "");
}

int ktr__writer_start(struct ktr__session *session, const char *path, struct ktr_error *err)
{
	const struct ktr__ring_source source = { &session->header, session->map, -1 };
	struct stat st;
	int rc;

	/* One that only prints is followed by one that does both. */
	if (path && !__atomic_load_n(&writer.draining, __ATOMIC_RELAXED))
		ktr__writer_stop();
	writer_bury();
	pthread_mutex_lock(&writer.lock);
	if (writer.state != WRITER_NONE) {
		pthread_mutex_unlock(&writer.lock);
		return ktr_error_set(err, EALREADY, "the writer runs already");
	}
	writer_cond_init();
	writer.state = WRITER_STARTING;
	writer.session = session;
	writer.path = path;
	writer.err = err;
	writer.pid = getpid();
	writer_full_path(path);
	writer.flush_wanted = writer.flush_done = 0;
	if (!writer.echo && __atomic_load_n(&session->control->verbose, __ATOMIC_RELAXED))
		writer.echo = ktr__echo_open(&source);
	if (fstat(STDERR_FILENO, &st) == 0) {
		writer.stderr_dev = st.st_dev;
		writer.stderr_ino = st.st_ino;
	}
	rc = writer_create(NULL);
	if (rc) {
		writer.state = WRITER_NONE;
		pthread_mutex_unlock(&writer.lock);
		return ktr_error_set(err, rc, "no thread for the writer: %m");
	}
	while (writer.state == WRITER_STARTING)
		pthread_cond_wait(&writer.wake, &writer.lock);
	rc = writer.start_rc;
	pthread_mutex_unlock(&writer.lock);
	if (rc)
		pthread_join(writer.thread, NULL);
	return rc;
}

int ktr__writer_flush(void)
{
	uint64_t mine;
	int rc;

	pthread_mutex_lock(&writer.lock);
	if (writer.state != WRITER_RUNNING) {
		pthread_mutex_unlock(&writer.lock);
		return -ESRCH;
	}
	mine = ++writer.flush_wanted;
	pthread_cond_broadcast(&writer.wake);
	while (writer.flush_done < mine && writer.state == WRITER_RUNNING)
		pthread_cond_wait(&writer.wake, &writer.lock);
	rc = writer.flush_done < mine ? -ESRCH : writer.flush_rc;
	pthread_mutex_unlock(&writer.lock);
	return rc;
}

/* The process ends: whoever is about to take over a trace gets to do so first. */
static void writer_await_heir(void)
{
	while (writer.state == WRITER_HEIR && writer_gone(0) > 0) {
		uint64_t until = ktr__drain_now() + 10000000;
		struct timespec ts = { (time_t)(until / 1000000000), (long)(until % 1000000000) };

		pthread_cond_timedwait(&writer.wake, &writer.lock, &ts);
	}
}

void ktr__writer_stop(void)
{
	pthread_mutex_lock(&writer.lock);
	writer_await_heir();
	if (writer.state == WRITER_RUNNING) {
		writer.state = WRITER_STOPPING;
		pthread_cond_broadcast(&writer.wake);
	}
	pthread_mutex_unlock(&writer.lock);
	writer_bury();
}

/*
 * Heirs are for programs that become daemons, or fork workers. Those with threads of their own fork to
 * execute, and are spared a thread in the child.
 */
void ktr__writer_before_fork(void)
{
	struct stat st;

	pthread_mutex_lock(&writer.lock);
	/* A directory has a link for each in it, itself and its parent: the main thread's and the writer's. */
	writer.may_bequeath = (writer.state == WRITER_RUNNING || writer.state == WRITER_HEIR) &&
			      writer.path && stat("/proc/self/task", &st) == 0 && st.st_nlink == 4;
}

void ktr__writer_after_fork_parent(void)
{
	pthread_mutex_unlock(&writer.lock);
}

/* The thread is the parent's. Its memory is not here (MADV_DONTFORK) or is small. */
void ktr__writer_after_fork_child(void)
{
	ktr__echo_close(writer.echo);
	writer.echo = NULL;
	pthread_mutex_init(&writer.lock, NULL);
	writer_cond_init();
	writer.state = WRITER_NONE;
	if (!writer.may_bequeath)
		return;
	writer.state = WRITER_HEIR;
	if (writer_create(&writer))
		writer.state = WRITER_NONE;
}

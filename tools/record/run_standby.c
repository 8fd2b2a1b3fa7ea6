/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Standing by: a shared lock on the trace's ktr/losses.jsonl says that we do, and the wait for the lock on
 * ktr/info.jsonl, which its writer holds, ends the moment that is let go. A rotated trace is another directory,
 * which then has the name. Between two programs nobody writes, and nothing is done but to look for the next one.
 */
#include "tools/record/run_standby.h"

#include "ktr/control/session_join.h"
#include "ktr/session/libc.h"
#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"
#include "tools/record/save.h"
#include "writer/attach.h"
#include "writer/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Between two looks for a trace, or at one that nobody writes: a sixteenth of the time that has passed so far. */
#define STANDBY_LOOK_NS	 5000000ull
#define STANDBY_LOOK_MAX 100000000ull
#define STANDBY_OTHERS_NS 50000000ull   /* so long others of the session may take over, as they do by themselves */

struct standby {
	const char *trace;
	const struct stat *before;
	pid_t parent;
	struct run_hold hold;		/* our parent's: we have its name alone */
	int dir_fd, info_fd, losses_fd; /* of the trace that is waited for */
	char session[PATH_MAX];		/* "": not known yet */
	int keeps;			/* 1: it stays until we have looked whether all of it is written */
	uint64_t since_ns;		/* when the trace was let go, or somebody came after that */
};

static volatile sig_atomic_t standby_stop, standby_alone;
_Static_assert(sizeof(sig_atomic_t) == sizeof(int), "the writer's loop looks at an int");

/* ktr run ends. Whoever reads what it says shall not wait for us. */
static void standby_told(int sig)
{
	int null_fd;

	if (sig == SIGTERM) {
		standby_stop = 1;
		return;
	}
	standby_alone = 1;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd >= 0)
		dup2(null_fd, STDERR_FILENO);
	close(null_fd);
}

static void standby_say(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "ktr: %s\n", line);
}

static void standby_nap(uint64_t since_ns)
{
	uint64_t ns = (ktr__drain_now() - since_ns) / 16;
	struct timespec nap = { 0, (long)STANDBY_LOOK_MAX };

	if (ns < STANDBY_LOOK_MAX)
		nap.tv_nsec = (long)(ns < STANDBY_LOOK_NS ? STANDBY_LOOK_NS : ns);
	nanosleep(&nap, NULL);
}

/* ktr run has gone, and has told us or was killed: what there is to put in order is for us. */
static int standby_is_alone(const struct standby *s)
{
	return standby_alone || getppid() != s->parent;
}

static void standby_shut(struct standby *s)
{
	close(s->losses_fd);
	close(s->info_fd);
	close(s->dir_fd);
	s->losses_fd = s->info_fd = s->dir_fd = -1;
}

/* Has this directory the name still? */
static int standby_is_named(const struct standby *s)
{
	struct stat ours, named;

	return fstat(s->dir_fd, &ours) == 0 && lstat(s->trace, &named) == 0 && ours.st_ino == named.st_ino &&
	       ours.st_dev == named.st_dev;
}

/* The trace that the name has, if it is the program's: stands by for it. 1 or 0. */
static int standby_open(struct standby *s)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	struct stat st;

	s->dir_fd = open(s->trace, flags | O_DIRECTORY);
	if (s->dir_fd >= 0 && fstat(s->dir_fd, &st) == 0 &&
	    (st.st_dev != s->before->st_dev || st.st_ino != s->before->st_ino)) {
		s->info_fd = openat(s->dir_fd, KTR_TRACE_DIR "/info.jsonl", flags);
		s->losses_fd = openat(s->dir_fd, KTR_TRACE_DIR "/losses.jsonl", flags);
	}
	if (s->info_fd >= 0 && s->losses_fd >= 0 && flock(s->losses_fd, LOCK_SH | LOCK_NB) == 0 &&
	    (s->session[0] || !save_find_session(s->trace, s->session, sizeof(s->session), NULL)))
		return 1;
	standby_shut(s);
	return 0;
}

enum standby_next { STANDBY_WAIT, STANDBY_TAKE, STANDBY_DONE };

/*
 * Nobody writes the trace at the moment. Who leaves the session last meanwhile, and has no writer of his own, would
 * take with it what has been recorded since.
 */
static enum standby_next standby_look(struct standby *s)
{
	enum standby_next next = STANDBY_WAIT;
	struct ktr__session_map map;
	struct ktr_control control;

	if (ktr__map_open(s->session, KTR__MAP_OWN, &map, NULL))
		return STANDBY_DONE;
	if (ktr__map_control(&map, &control) || ktr__map_alive(&map) <= 0) {
		next = STANDBY_DONE;
	} else if (ktr__map_inhabited(&map) <= 0) {
		s->since_ns = ktr__drain_now();
	} else if (control.alq_enable && control.writer_ends != KTR_WRITER_CLOSES) {
		if (!control.keep_session)
			s->keeps = ktr__keep_begin(&map, s->session);
		if (control.writer_ends == KTR_WRITER_YIELDS || ktr__drain_now() - s->since_ns >= STANDBY_OTHERS_NS)
			next = STANDBY_TAKE;
	}
	ktr__map_close(&map);
	return next;
}

/* Goes on with the trace until nobody is left. */
static void standby_take(const struct standby *s)
{
	struct ktr__attach attach = { .session = s->session,
				      .trace = s->trace,
				      .from = KTR__DRAIN_RESUME,
				      .follow = KTR__FOLLOW_ALL,
				      .writes = true,
				      .over = true,
				      .stop = (const volatile int *)&standby_stop,
				      .say = standby_say };
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__session_rw session = { .fd = -1 };

	/* Whoever fed the kernel's events may do that still; where he has gone it is for us. */
	if (ktr__session_join(s->session, &session, NULL) == 0 && ktr__kernel_events_wanted(&session))
		attach.kernel_events = ktr__kernel_events_new(&session, true, standby_say, NULL);
	if (ktr__record_session(&attach, NULL, &err) && err.code != EBUSY && err.code != ENODEV)
		standby_say(NULL, err.text);
	ktr__kernel_events_free(attach.kernel_events);
	ktr__session_detach(&session);
}

/* Somebody writes again, who sees to it that the session stays or goes. */
static void standby_let_go(struct standby *s)
{
	struct ktr__session_map map;

	if (!s->keeps || ktr__map_open(s->session, KTR__MAP_OWN, &map, NULL))
		return;
	ktr__keep_put(&map, s->session, offsetof(struct ktr_control, keep_session), 0);
	ktr__map_close(&map);
	s->keeps = 0;
}

/* The lock was let go. 1: there is nothing more to wait for. */
static int standby_free(struct standby *s)
{
	uint64_t began_ns = ktr__drain_now();
	enum standby_next next = STANDBY_WAIT;

	s->since_ns = began_ns;
	while (!standby_stop && next == STANDBY_WAIT && standby_is_named(s) && ktr__trace_locked(s->trace) <= 0) {
		next = standby_look(s);
		if (next == STANDBY_WAIT)
			standby_nap(began_ns);
	}
	standby_shut(s);
	if (next == STANDBY_TAKE)
		standby_take(s);
	else if (next == STANDBY_WAIT && !standby_stop)
		standby_let_go(s);
	return next == STANDBY_DONE;
}

/* Nobody is left in the session, and nobody else puts in order what it has left. */
static void standby_order(struct standby *s)
{
	if (!standby_is_alone(s))
		return;
	if (!standby_alone) /* it was killed */
		run_hold_clear(&s->hold);
	if (s->session[0])
		save_left(s->trace, s->session, access(s->trace, F_OK) == 0, NULL, NULL);
}

/* There is no trace of the name. Will there ever be one? Not if nobody is left to write it. */
static int standby_is_over(const struct standby *s)
{
	struct ktr__session_map map;
	int alive;

	if (s->session[0]) {
		alive = !ktr__map_open(s->session, KTR__MAP_OWN, &map, NULL) && ktr__map_alive(&map) > 0;
		ktr__map_close(&map);
		return !alive;
	}
	return standby_is_alone(s);
}

static void standby_watch(struct standby *s)
{
	uint64_t began_ns = ktr__drain_now();
	int done = 0;

	while (!done && !standby_stop) {
		if (!standby_open(s)) {
			if (standby_is_over(s))
				break;
			standby_nap(began_ns);
			continue;
		}
		if (flock(s->info_fd, LOCK_EX) == 0)
			flock(s->info_fd, LOCK_UN);
		done = standby_free(s);
	}
	standby_order(s);
}

/* Not one of the terminal's, nor a reader or writer of any pipe but standard error. */
static void standby_apart(void)
{
	static const int signals[] = { SIGTERM, SIGUSR1 };
	struct sigaction action = { .sa_handler = standby_told };
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setsid();
	dup2(null_fd, STDIN_FILENO);
	dup2(null_fd, STDOUT_FILENO);
	if (syscall(SYS_close_range, 3u, ~0u, 0u))
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL); /* no SA_RESTART: the wait for the lock ends */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void run_standby_begin(struct run_standby *standby, const char *trace, const struct stat *before,
		       const struct run_hold *hold)
{
	struct standby s = { .trace = trace, .before = before, .parent = getpid(), .dir_fd = -1, .info_fd = -1,
			     .losses_fd = -1, .hold = *hold };

	standby->pid = fork();
	if (standby->pid < 0)
		standby->pid = 0; /* then there are the rights that the program has */
	else if (!standby->pid) {
		standby_apart();
		standby_watch(&s);
		_exit(0);
	}
}

void run_standby_end(struct run_standby *standby, int live)
{
	if (!standby->pid)
		return;
	kill(standby->pid, live ? SIGUSR1 : SIGTERM);
	if (!live)
		waitpid(standby->pid, NULL, 0);
	standby->pid = 0;
}

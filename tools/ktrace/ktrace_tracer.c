/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for stops of tracees alone: signals, of a request (SIGIO), of its own end (SIGTERM and the like), of a
 * tick, interrupt that, and their handler only notes them. One that comes between a look and a wait is seen at
 * the next tick: there are ticks while records wait to be written, and after every signal until it has been
 * looked at.
 */
#include "tools/ktrace/ktrace_tracer.h"

#include "conf/kit/array.h"
#include "ktr/provider/syscall/tracer.h"
#include "tools/ktrace/ktrace_control.h"
#include "tools/ktrace/ktrace_trace.h"
#include "tools/command.h"
#include "tools/options.h"
#include "writer/ktrace/encode.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define KTRACE_TRACER_TICK_US 100000 /* at most that long records wait */

/* Who waits until a process is let go of. */
struct ktrace_waiter {
	int peer;
	pid_t pid;
};

struct ktrace_tracer {
	const struct ktrace_job *job;
	struct ktr__tracer tracer;
	struct ktrace_trace *trace; /* owned; NULL: it is a file */
	struct ktr__ktrace_out out; /* the file */
	struct ktr__tracee_sink sink; /* of either */
	struct stat stat;	   /* likewise */
	int control;
	int ticks; /* there are, for records that wait */
	struct ktrace_waiter *waiter; /* owned */
	uint32_t n_waiters, room_waiters;
};

/* ---- where records go ---- */

static int ktrace_tracer_waits(const struct ktrace_tracer *self)
{
	return self->trace ? ktrace_trace_waits(self->trace) : self->out.n != 0;
}

static int ktrace_tracer_write(struct ktrace_tracer *self)
{
	return self->sink.flush(self->sink.context);
}

/* 0, or -1 after a complaint. */
static int ktrace_tracer_open(struct ktrace_tracer *self)
{
	struct ktr_error err = KTR_ERROR_NONE;

	if (self->job->fd >= 0) {
		self->out.fd = self->job->fd;
		self->sink = ktr__ktrace_sink(&self->out);
		fstat(self->job->fd, &self->stat);
		return 0;
	}
	if (ktrace_trace_open(&self->trace, self->job->path, self->job->cmdline, &err)) {
		fail_with(self->job->command, &err);
		return -1;
	}
	self->sink = ktrace_trace_sink(self->trace);
	stat(self->job->path, &self->stat);
	return 0;
}

/* ---- what the tracer is asked for from outside ---- */

#define KTRACE_TRACER_LEAVES 1       /* the answer comes when the process is let go of */
#define KTRACE_TRACER_ENDS   INT_MAX /* the answer is that we end */

/* 0, one of these, or -errno. */
static int ktrace_tracer_do(struct ktrace_tracer *self, const struct ktrace_request *request)
{
	int same = request->device == self->stat.st_dev && request->inode == self->stat.st_ino, rc;
	struct ktr__tracer_want want = { request->points, 0 };
	struct ktr__process *process;

	switch (request->op) {
	case KTRACE_CLEAR:
		rc = ktr__tracer_clear(&self->tracer, request->pid, request->points);
		process = ktr__tracees_process(&self->tracer.tracees, request->pid);
		rc = rc ? rc : process && process->leaving && !process->filter ? KTRACE_TRACER_LEAVES : 0;
		break;
	case KTRACE_SET:
		if (!same || !ktr__tracees_process(&self->tracer.tracees, request->pid))
			return -EBUSY;
		rc = ktr__tracer_attach(&self->tracer, request->pid, &want);
		break;
	case KTRACE_CLEAR_FILE:
	case KTRACE_CLEAR_ALL:
		if (!same && request->op == KTRACE_CLEAR_FILE)
			return 0;
		ktr__tracer_clear_all(&self->tracer);
		rc = self->tracer.filter ? 0 : KTRACE_TRACER_ENDS;
		break;
	default:
		return -EINVAL;
	}
	ktrace_tracer_write(self);
	return rc;
}

static void ktrace_tracer_requests(struct ktrace_tracer *self)
{
	struct ktrace_request request;
	int peer, rc;

	while (self->control >= 0 && ktrace_control_accept(self->control, &request, &peer)) {
		rc = ktrace_tracer_do(self, &request);
		if (rc == KTRACE_TRACER_LEAVES && ktr__array_grow(&self->waiter, &self->room_waiters,
								  self->n_waiters, sizeof(self->waiter[0])) == 0)
			self->waiter[self->n_waiters++] = (struct ktrace_waiter){ peer, request.pid };
		else if (rc != KTRACE_TRACER_ENDS)
			ktrace_control_answer(peer, rc < 0 ? rc : 0);
	}
}

/* Answers those whose process is gone. */
static void ktrace_tracer_answer(struct ktrace_tracer *self)
{
	for (uint32_t i = self->n_waiters; i > 0; i--) {
		struct ktrace_waiter *waiter = &self->waiter[i - 1];

		if (ktr__tracees_process(&self->tracer.tracees, waiter->pid))
			continue;
		ktrace_control_answer(waiter->peer, 0);
		*waiter = self->waiter[--self->n_waiters];
	}
}

/* ---- the loop ---- */

/* Tracing ends, the programs go on. */
static void ktrace_tracer_failed(struct ktrace_tracer *self, int rc)
{
	fail(self->job->command, "%s: %s: nothing more is traced", self->job->path, strerror(-rc));
	ktr__tracer_clear_all(&self->tracer);
}

static void ktrace_tracer_flush(struct ktrace_tracer *self)
{
	int rc = ktrace_tracer_write(self);

	if (rc)
		ktrace_tracer_failed(self, rc);
}

static volatile sig_atomic_t ktrace_tracer_asked, ktrace_tracer_ended, ktrace_tracer_ticked;

static void ktrace_tracer_tick(int on)
{
	struct itimerval timer = { { 0, on ? KTRACE_TRACER_TICK_US : 0 }, { 0, on ? KTRACE_TRACER_TICK_US : 0 } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void ktrace_tracer_handler(int number)
{
	int error = errno;

	if (number == SIGALRM)
		ktrace_tracer_ticked = 1;
	else if (number == SIGIO)
		ktrace_tracer_asked = 1;
	else
		ktrace_tracer_ended = 1;
	if (number != SIGALRM)
		ktrace_tracer_tick(1);
	errno = error;
}

/* A tick: records that wait are written; when none waits, and no signal has come, there are no more ticks. */
static void ktrace_tracer_at_tick(struct ktrace_tracer *self)
{
	ktrace_tracer_ticked = 0;
	if (ktrace_tracer_waits(self)) {
		ktrace_tracer_flush(self);
		return;
	}
	ktrace_tracer_tick(0);
	self->ticks = 0;
	if (ktrace_tracer_asked || ktrace_tracer_ended)
		ktrace_tracer_tick(1);
}

static void ktrace_tracer_look(struct ktrace_tracer *self)
{
	if (ktrace_tracer_asked) {
		ktrace_tracer_asked = 0;
		ktrace_tracer_requests(self);
	}
	if (ktrace_tracer_ended) {
		ktrace_tracer_ended = 0;
		ktr__tracer_clear_all(&self->tracer);
	}
	if (ktrace_tracer_ticked)
		ktrace_tracer_at_tick(self);
	if (self->n_waiters)
		ktrace_tracer_answer(self);
}

static void ktrace_tracer_loop(struct ktrace_tracer *self)
{
	int rc;

	while (self->tracer.tracees.n_tasks) {
		rc = ktr__tracer_step(&self->tracer);
		if (rc < 0)
			ktrace_tracer_failed(self, rc);
		ktrace_tracer_look(self);
		if (!self->ticks && ktrace_tracer_waits(self)) {
			self->ticks = 1;
			ktrace_tracer_tick(1);
		}
	}
}

/* ---- the start ---- */

static void ktrace_tracer_begin(struct ktrace_tracer *self, struct ktrace_started *started)
{
	const struct ktrace_job *job = self->job;
	struct ktr__tracer_want want = { job->points, job->inherit };
	int rc;

	if (job->launch) {
		rc = ktr__tracer_launch(&self->tracer, job->launch, &want);
		started->n = rc == 0;
		started->error = rc;
		started->pid = job->launch;
		return;
	}
	for (unsigned i = 0; i < job->n_pids; i++) {
		rc = ktr__tracer_attach(&self->tracer, job->pids[i], &want);
		started->n += rc == 0;
		if (rc && !started->error) {
			started->error = rc;
			started->pid = job->pids[i];
		}
	}
}

static void ktrace_tracer_close_others(int keep, int keep_too)
{
	int low = keep < keep_too ? keep : keep_too, high = keep < keep_too ? keep_too : keep;

	if (low > 3)
		syscall(SYS_close_range, 3u, (unsigned)low - 1, 0u);
	if (high > low + 1)
		syscall(SYS_close_range, (unsigned)low + 1, (unsigned)high - 1, 0u);
	syscall(SYS_close_range, (unsigned)high + 1, ~0u, 0u);
}

static void ktrace_tracer_null(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0 && null != fd) {
		dup2(null, fd);
		close(null);
	}
}

static void ktrace_tracer_signals(void)
{
	static const int numbers[] = { SIGALRM, SIGIO, SIGTERM, SIGINT, SIGHUP };
	struct sigaction action = { .sa_handler = ktrace_tracer_handler };
	sigset_t none;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaddset(&action.sa_mask, numbers[i]);
		sigaction(numbers[i], &action, NULL);
	}
	signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody is told of stops */
	signal(SIGTTOU, SIG_IGN); /* a complaint does not stop it */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * In the process of its own. Its standard error stays that of a program's start, for what goes wrong with the
 * file.
 */
static int ktrace_tracer_main(const struct ktrace_job *job, int report)
{
	struct ktrace_tracer *self = calloc(1, sizeof(*self));
	struct ktrace_started started = { .tracer = getpid() };

	if (!self)
		return 1;
	self->job = job;
	ktrace_tracer_close_others(job->fd >= 0 ? job->fd : report, report);
	ktrace_tracer_null(STDIN_FILENO);
	ktrace_tracer_null(STDOUT_FILENO);
	ktrace_tracer_signals();
	started.said = ktrace_tracer_open(self) != 0;
	ktr__tracer_init(&self->tracer, &self->sink);
	self->control = ktrace_control_listen();
	if (!started.said)
		ktrace_tracer_begin(self, &started);
	if (write(report, &started, sizeof(started)) != sizeof(started))
		ktr__tracer_clear_all(&self->tracer);
	close(report);
	if (!job->launch)
		ktrace_tracer_null(STDERR_FILENO);
	if (chdir("/") < 0)
		return 1;
	ktrace_tracer_loop(self);
	if (!started.said)
		ktrace_tracer_flush(self);
	ktrace_trace_close(self->trace);
	ktr__tracer_free(&self->tracer);
	free(self->waiter);
	free(self);
	return 0;
}

int ktrace_tracer_start(const struct ktrace_job *job, struct ktrace_started *started)
{
	ssize_t n;
	int pipe[2];
	pid_t pid;

	if (pipe2(pipe, O_CLOEXEC) < 0)
		return -errno;
	/*
	 * Where Yama restricts ptrace(2) to descendants, its target has to allow it; until it becomes the
	 * program.
	 */
	if (job->launch)
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	pid = fork();
	if (pid == 0) {
		/*
		 * A child's child is nobody's whom the program waits for, and ^C is not for it. It stays in the
		 * session: one of its own is scheduled apart (autogroup, sched(7)), so that where others run, too,
		 * each stop waited for its turn; dd bs=1 took five times as long.
		 */
		setpgid(0, 0);
		pid = fork();
		_exit(pid == 0 ? ktrace_tracer_main(job, pipe[1]) : pid < 0);
	}
	close(pipe[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	do
		n = pid < 0 ? 0 : read(pipe[0], started, sizeof(*started));
	while (n < 0 && errno == EINTR);
	close(pipe[0]);
	if (job->launch)
		prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	return n == sizeof(*started) ? 0 : -EAGAIN;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `ktr attach`, `ktr probe enable` and `ktr detach` do, one after the other. A signal that would end us has
 * all switched off first; after SIGKILL it is `ktr detach` that does it.
 */
#include "tools/attach/profile_attached.h"

#include "ktr/control/session_join.h"
#include "ktr/session/kernel_event.h"
#include "ktr/session/table.h"
#include "tools/attach/attach_ended.h"
#include "tools/attach/attach_knobs.h"
#include "tools/attach/attach_probes.h"
#include "tools/attach/cmd_attach.h"
#include "tools/attach/deaf_threads.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/report/trace_count.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROFILE_NAP_NS 10000000
#define PROFILE_TRIES  100 /* for the writer's next round; a process may not get to run */
#define PROFILE_BOTH   3 /* of debug.ktr.profile.used: perf events, and timers of some */
#define PROFILE_KERNEL KTR_KERNEL_SWITCH_CLASS "," KTR_KERNEL_FAULT_CLASS

static volatile sig_atomic_t profile_stop;

static void profile_signal(int number)
{
	(void)number;
	profile_stop = 1;
}

/* What ends us is blocked, but for the time that it is waited for. */
static void profile_catch(sigset_t *before)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = profile_signal };
	sigset_t ends;

	sigemptyset(&action.sa_mask);
	sigemptyset(&ends);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&ends, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &ends, before);
}

/* Does the process hear what the kernel tells? It tries once a second where it may not. */
static int profile_is_fed(const char *session)
{
	const struct timespec nap = { 0, PROFILE_NAP_NS };
	struct ktr__session_rw joined;
	int n_seen = 0;

	if (ktr__session_join(session, &joined, NULL))
		return 0;
	for (int i = 0; i < PROFILE_TRIES && n_seen < 2; i++) {
		nanosleep(&nap, NULL);
		n_seen = __atomic_load_n(&joined.control->feeder, __ATOMIC_ACQUIRE) ? n_seen + 1 : 0;
	}
	ktr__session_detach(&joined);
	ktr__table_forget(); /* it is mapped again, maybe at the same place */
	return n_seen == 2;
}

static int profile_listen(const struct profile_attached *p, const char *session, struct ktr_error *err)
{
	int rc = attach_knobs_set(session, "debug.ktr.kernel=all\ndebug.ktr.mask=" PROFILE_KERNEL "\n", err);

	if (!rc && !profile_is_fed(session))
		fprintf(stderr,
			"ktr: process %d may not hear of its context switches, by perf_event_open(2): its standard error says "
			"why. What is off the CPU is told by calls that wait alone\n",
			(int)p->pid);
	return rc;
}

/*
 * Has the probes switched on, and their classes recorded, which are there with their first probes: the kernel is
 * listened to from before the first of them. 0 or -errno.
 */
static int profile_begin(const struct profile_attached *p, const char *session, struct ktr_error *err)
{
	char knobs[256];
	int rc;

	snprintf(knobs, sizeof(knobs), "debug.ktr.profile.source=%u\n", p->source);
	rc = attach_knobs_set(session, knobs, err);
	rc = !rc && p->kernel ? profile_listen(p, session, err) : rc;
	rc = rc ? rc : attach_probes_on(session, p->probes, err);
	snprintf(knobs, sizeof(knobs), "debug.ktr.mask=%s%s\n", p->mask, p->kernel ? "," PROFILE_KERNEL : "");
	return rc ? rc : attach_knobs_set(session, knobs, err);
}

static void profile_say(const struct profile_attached *p, const char *session)
{
	if (attach_knobs_number(session, "debug.ktr.profile.used") % 2)
		fprintf(stderr, "ktr: sampling process %d by perf events: its system calls are not interrupted\n",
			(int)p->pid);
	else
		fprintf(stderr, "ktr: sampling process %d by timers of its threads: system calls that it does not expect to "
				"be interrupted may be; ktr-profile(1)\n", (int)p->pid);
}

/* Those that it makes later have the signal unblocked. */
static void profile_say_deaf(const struct profile_attached *p, const char *session)
{
	unsigned n = attach_knobs_number(session, "debug.ktr.profile.used") % 2 ? 0 : deaf_threads((pid_t)p->pid);

	if (n)
		fprintf(stderr, "ktr: no samples of %u %s all signals, for they are by timers\n",
			n, n == 1 ? "thread that blocks" : "threads that block");
}

static void profile_say_both(const struct profile_attached *p, const char *session)
{
	if (attach_knobs_number(session, "debug.ktr.profile.used") == PROFILE_BOTH)
		fprintf(stderr, "ktr: some threads of process %d could have no perf event, and had timers\n", (int)p->pid);
}

/* Has it ended? A parent may not have noticed yet. fd: of the process; < 0: it has none. */
static int profile_has_ended(const struct profile_attached *p, int fd)
{
	struct pollfd process = { .fd = fd, .events = POLLIN };

	return fd < 0 ? kill((pid_t)p->pid, 0) && errno == ESRCH : poll(&process, 1, 0) > 0;
}

/* Until its time is over, it has ended, or we are told to. */
static void profile_wait(const struct profile_attached *p, int fd, const sigset_t *signals)
{
	struct pollfd process = { .fd = fd, .events = POLLIN };
	struct timespec time = { (time_t)(p->for_ns / 1000000000), (long)(p->for_ns % 1000000000) };

	if (!profile_stop && !profile_has_ended(p, fd))
		ppoll(&process, fd >= 0, p->for_ns ? &time : NULL, signals);
}

static int profile_told(const struct profile_attached *p)
{
	struct trace_count count;
	int rc = trace_count(p->trace, &count);

	if (rc)
		return fail(p->command, "%s: %s", p->trace, strerror(-rc));
	fprintf(stderr, "ktr: %s: %" PRIu64 " samples, %" PRIu64 " lost; next: ktr report --profile %s, ktr flame %s\n",
		p->trace, count.events, count.lost, p->trace, p->trace);
	return 0;
}

int profile_attached(const struct profile_attached *p)
{
	struct attach_command attach = { .command = p->command, .pid = p->pid, .mask = "0", .trace = p->trace,
					 .force = p->force, .quiet = 1, .alone = 1 };
	struct ktr_error err = KTR_ERROR_NONE;
	char session[PATH_MAX];
	sigset_t before;
	int rc, fd;

	profile_catch(&before);
	rc = attach_process(&attach, session);
	if (rc)
		return rc;
	fd = (int)syscall(SYS_pidfd_open, (pid_t)p->pid, 0);
	rc = profile_begin(p, session, &err);
	if (rc && attach_has_ended((pid_t)p->pid, rc)) {
		fail(p->command, "process %d has ended", (int)p->pid);
	} else if (rc) {
		fail_with(p->command, &err);
	} else {
		profile_say(p, session);
		profile_say_deaf(p, session);
		profile_wait(p, fd, &before);
		profile_say_both(p, session);
	}
	if (!profile_has_ended(p, fd) && detach_process(p->command, p->pid) && !profile_has_ended(p, fd))
		rc = 1;
	if (fd >= 0)
		close(fd);
	if (rc)
		return 1;
	return profile_told(p);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr ktrace: FreeBSD's ktrace(1). Starts a program whose system calls and signals are recorded, or begins and
 * ends that for running ones. The program is this process, so its number, its parent, its terminal and its exit
 * status are as without; ktrace_tracer.c has who traces it.
 */
#include "ktr/provider/syscall/call_filter.h"
#include "ktr/provider/syscall/tracee_event.h"
#include "tools/ktrace/ktrace_control.h"
#include "tools/ktrace/ktrace_file.h"
#include "tools/ktrace/ktrace_pids.h"
#include "tools/ktrace/ktrace_tracer.h"
#include "tools/bsd/trpoints.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KTRACE_FILE "ktrace.out"

struct ktrace {
	const char *command; /* argv[0] */
	const char *path; /* of the file, or of the trace */
	const char *trace; /* NULL: a file is written */
	uint64_t pid, group;
	int append, clear, clear_all, descend, inherit;
	uint32_t records;
	uint32_t points; /* of records, those that the tracer tells of */
	struct ktrace_pids pids;
	uint64_t tell; /* a descriptor, UINT64_MAX: none; where ktr_ktrace(3) hears of */
	int error;     /* an errno: what went wrong first */
	char cmdline[256];
};

static const struct option_row ktrace_rows[] = {
	OPTION_FLAG('a', "append", struct ktrace, append, "append to FILE instead of replacing it"),
	OPTION_FLAG('C', "clear-all", struct ktrace, clear_all, "end all tracing of your processes"),
	OPTION_FLAG('c', "clear", struct ktrace, clear, "end tracing of -p or -g, or of all that goes to FILE"),
	OPTION_FLAG('d', "descend", struct ktrace, descend, "with -p or -g: their present descendants, too"),
	OPTION_FLAG('i', "inherit", struct ktrace, inherit, "trace children that come, too"),
	OPTION_NUMBER(0, "errno", "FD", struct ktrace, tell, 0, INT_MAX, "write to FD how it went: an errno, for ktr_ktrace(3)"),
	OPTION_TEXT('f', "file", "FILE", struct ktrace, path, "write to FILE (ktrace.out)"),
	OPTION_NUMBER('g', "group", "PID", struct ktrace, group, 1, INT_MAX, "the processes of a group"),
	OPTION_TEXT('o', "output", "TRACE", struct ktrace, trace, "write a trace, for ktr report, ktr timeline, ..."),
	OPTION_NUMBER('p', "pid", "PID", struct ktrace, pid, 1, INT_MAX, "a running process"),
	OPTION_TAKE('t', "trace", "TRSTR", struct ktrace, records, trpoints_take,
		    "what: calls, names (paths), i/o, signals, structures t; + the usual"),
};

static const struct options ktrace_options = {
	.operands = "[COMMAND [ARGUMENT...]]",
	.about = "Records system calls, their paths and data, and signals, as FreeBSD's ktrace(1) does, of a command\n"
		 "or of running processes. `ktr kdump` prints the file.",
	.examples = "ktr ktrace ls; ktr kdump\n"
		    "ktr ktrace -i make             what it starts, too\n"
		    "ktr ktrace -t cn -p 4711       calls and paths of a running process\n"
		    "ktr ktrace -c -p 4711          no more of it\n"
		    "ktr ktrace -i -o trace make    a trace: ktr report --syscalls trace, ktr timeline trace\n",
	OPTIONS_ROWS(ktrace_rows),
	.stop = 1,
};

/* Why not, in words; "" where the errno says it all. */
static const char *ktrace_why(int error, pid_t pid, char *text, size_t size)
{
	pid_t tracer = error == -EPERM ? ktrace_pids_tracer(pid) : 0;

	if (tracer > 0)
		snprintf(text, size, ": process %d traces it", (int)tracer);
	else if (error == -EPERM)
		snprintf(text, size, ": ptrace(2) refuses it; see ktr-ktrace(1)");
	else
		text[0] = '\0';
	return text;
}

/* Of what went wrong the first is told. */
static int ktrace_failed(struct ktrace *ktrace, int error)
{
	if (!ktrace->error)
		ktrace->error = error;
	return 1;
}

static int ktrace_refused(struct ktrace *ktrace, pid_t pid, int error)
{
	char why[96];

	ktrace_failed(ktrace, -error);
	return fail(ktrace->command, "process %d: %s%s", (int)pid, strerror(-error),
		    ktrace_why(error, pid, why, sizeof(why)));
}

/* ---- to begin ---- */

static int ktrace_exec(const struct ktrace *ktrace, char **argv)
{
	signal(SIGPIPE, command_sigpipe); /* main() ignores them; ignored signals stay so across exec */
	signal(SIGXFSZ, command_sigxfsz);
	interrupt_none();
	/* Where it cannot be, the program is stopped for all of its calls. */
	if (ktr__call_filter_saves(ktrace->points))
		ktr__call_filter_install(ktrace->points);
	execvp(argv[0], argv);
	return fail(ktrace->command, "exec of '%s' failed: %s", argv[0], strerror(errno));
}

/* Where the standard files are closed, ours are not to take their places; the program finds them closed. */
static void ktrace_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static int ktrace_start(struct ktrace *ktrace, struct ktrace_job *job)
{
	struct ktrace_started started = { 0 };
	int rc;

	ktrace_standard_files();
	job->command = ktrace->command;
	job->path = ktrace->path;
	job->points = ktrace->points;
	job->inherit = ktrace->inherit;
	job->cmdline = ktrace->cmdline;
	job->fd = ktrace->trace ? -1 : ktrace_file_open(ktrace->command, ktrace->path, ktrace->append);
	if (job->fd < 0 && !ktrace->trace)
		return ktrace_failed(ktrace, EACCES);
	rc = ktrace_tracer_start(job, &started);
	if (job->fd >= 0)
		close(job->fd);
	if (!rc && started.said)
		return 1;
	if (rc)
		return fail(ktrace->command, "the tracer did not start");
	return started.n ? 0 : ktrace_refused(ktrace, started.pid, started.error);
}

static int ktrace_launch(struct ktrace *ktrace, char **argv)
{
	struct ktrace_job job = { .launch = getpid() };
	int rc = ktrace_start(ktrace, &job);

	return rc ? rc : ktrace_exec(ktrace, argv);
}

/* ---- to end ---- */

static int ktrace_clear_pid(struct ktrace *ktrace, pid_t pid)
{
	struct ktrace_request request = { .op = KTRACE_CLEAR, .pid = pid, .points = ktrace->points };
	pid_t tracer = ktrace_pids_tracer(pid);
	int rc;

	if (tracer < 0) {
		ktrace_failed(ktrace, -tracer);
		return fail(ktrace->command, "process %d: %s", (int)pid, strerror(-tracer));
	}
	if (!tracer)
		return 0;
	rc = ktrace_control_ask(tracer, &request);
	if (rc && rc != -ESRCH)
		ktrace_failed(ktrace, rc == -ENOTCONN ? EPERM : -rc);
	if (rc == -ENOTCONN)
		return fail(ktrace->command, "process %d: process %d traces it, which is no ktrace of yours", (int)pid,
			    (int)tracer);
	/* It may have ended meanwhile. */
	return rc && rc != -ESRCH ? fail(ktrace->command, "process %d: its tracer: %s", (int)pid, strerror(-rc))
				  : 0;
}

static int ktrace_clear_tracers(struct ktrace *ktrace)
{
	struct ktrace_request request = { .op = ktrace->clear_all ? KTRACE_CLEAR_ALL : KTRACE_CLEAR_FILE };
	struct ktrace_pids tracers = { 0 };
	struct stat stat;
	int rc;

	if (ktrace->clear) {
		if (lstat(ktrace->path, &stat) < 0)
			return fail(ktrace->command, "%s: %s", ktrace->path, strerror(errno));
		request.device = stat.st_dev;
		request.inode = stat.st_ino;
	}
	rc = ktrace_pids_add_tracers(&tracers);
	/* Debuggers and the like are not asked, nor other users' tracers. */
	for (uint32_t i = 0; !rc && i < tracers.n; i++)
		ktrace_control_ask(tracers.pid[i], &request);
	ktrace_pids_free(&tracers);
	return rc ? fail(ktrace->command, "/proc: %s", strerror(-rc)) : 0;
}

/* ---- the processes that are meant ---- */

static int ktrace_collect(struct ktrace *ktrace)
{
	int rc = ktrace->group ? ktrace_pids_add_group(&ktrace->pids, (pid_t)ktrace->group)
			       : ktrace_pids_add(&ktrace->pids, (pid_t)ktrace->pid);

	if (!rc && ktrace->group && !ktrace->pids.n) {
		ktrace_failed(ktrace, ESRCH);
		return fail(ktrace->command, "group %d: %s", (int)ktrace->group, strerror(ESRCH));
	}
	if (!rc && ktrace->descend)
		rc = ktrace_pids_add_descendants(&ktrace->pids);
	return rc ? fail(ktrace->command, "/proc: %s", strerror(-rc)) : 0;
}

/*
 * A process that is traced already: to the file that is appended to, it is asked for more there; otherwise that
 * ends, so that it can begin here. 1: nothing is left to do; 0.
 */
static int ktrace_retrace(const struct ktrace *ktrace, pid_t pid)
{
	struct ktrace_request request = { .pid = pid, .points = ktrace->points };
	pid_t tracer = ktrace_pids_tracer(pid);
	struct stat stat;

	if (tracer <= 0)
		return 0;
	if (ktrace->append && lstat(ktrace->path, &stat) == 0) {
		request.op = KTRACE_SET;
		request.device = stat.st_dev;
		request.inode = stat.st_ino;
		if (ktrace_control_ask(tracer, &request) == 0)
			return 1;
	}
	request.op = KTRACE_CLEAR;
	request.points = UINT32_MAX;
	ktrace_control_ask(tracer, &request);
	return 0;
}

static int ktrace_attach(struct ktrace *ktrace)
{
	struct ktrace_job job = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < ktrace->pids.n; i++)
		if (!ktrace_retrace(ktrace, ktrace->pids.pid[i]))
			ktrace->pids.pid[n++] = ktrace->pids.pid[i];
	job.pids = ktrace->pids.pid;
	job.n_pids = n;
	return n ? ktrace_start(ktrace, &job) : 0;
}

static int ktrace_running(struct ktrace *ktrace)
{
	int rc = ktrace_collect(ktrace);

	if (rc || !ktrace->clear)
		return rc ? rc : ktrace_attach(ktrace);
	for (uint32_t i = 0; i < ktrace->pids.n; i++)
		rc |= ktrace_clear_pid(ktrace, ktrace->pids.pid[i]);
	return rc;
}

/* program: the first operand, NULL if there is none. */
static int ktrace_check(const struct ktrace *ktrace, const char *program)
{
	int running = ktrace->pid || ktrace->group, clearing = ktrace->clear || ktrace->clear_all;

	if (ktrace->clear && ktrace->clear_all)
		return usage_error(ktrace->command, "only one -c or -C flag is permitted");
	if (ktrace->clear_all && running)
		return usage_error(ktrace->command, "the -C flag may not be combined with -g or -p");
	if (ktrace->pid && ktrace->group)
		return usage_error(ktrace->command, "only one -g or -p flag is permitted");
	if (program && (running || clearing))
		return usage_error(ktrace->command, "\"%s\": a command goes without -C, -c, -g and -p", program);
	if (!program && !running && !clearing)
		return usage_error(ktrace->command, "a command, -p or -g is needed");
	if (ktrace->trace && ktrace->append)
		return usage_error(ktrace->command, "nothing is appended to a trace: -a goes with -f");
	if (ktrace->trace && ktrace->path)
		return usage_error(ktrace->command, "only one of -f and -o");
	if (!ktrace->points)
		return usage_error(ktrace->command, "Linux tells of none of these records");
	return 0;
}

static void ktrace_tell(const struct ktrace *ktrace, int rc)
{
	int32_t answer = !rc ? 0 : ktrace->error ? ktrace->error : EIO;

	if (ktrace->tell <= INT_MAX && write((int)ktrace->tell, &answer, sizeof(answer)) != sizeof(answer))
		fail(ktrace->command, "--errno: %s", strerror(errno));
}

/* What the trace says it is of. */
static void ktrace_cmdline(struct ktrace *ktrace, char **argv)
{
	size_t n = 0, room = sizeof(ktrace->cmdline);

	for (; *argv && n < room; argv++)
		n += (size_t)snprintf(ktrace->cmdline + n, room - n, "%s%s", n ? " " : "", *argv);
}

static int cmd_ktrace(int argc, char **argv)
{
	struct ktrace ktrace = { .command = argv[0], .tell = UINT64_MAX, .records = trpoints_default() };
	int rc;

	if (!options_parse(&ktrace_options, argc, argv, &ktrace, &rc))
		return rc;
	ktrace.points = trpoints_of_tracer(ktrace.records);
	rc = ktrace_check(&ktrace, optind < argc ? argv[optind] : NULL);
	if (rc)
		return rc;
	if (!ktrace.path)
		ktrace.path = ktrace.trace ? ktrace.trace : KTRACE_FILE;
	ktrace_cmdline(&ktrace, optind < argc ? argv + optind : argv);
	if (optind < argc)
		return ktrace_launch(&ktrace, argv + optind);
	rc = ktrace.pid || ktrace.group ? ktrace_running(&ktrace) : ktrace_clear_tracers(&ktrace);
	ktrace_tell(&ktrace, rc);
	ktrace_pids_free(&ktrace.pids);
	return rc;
}

COMMAND_ALONE(ktrace, "ktrace", "record system calls and signals, as FreeBSD's ktrace does", cmd_ktrace);

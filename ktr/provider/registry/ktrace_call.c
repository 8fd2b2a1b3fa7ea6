/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr_ktrace(): the command does it, for a tracer is a process of its own anyway, and tells through a pipe how that
 * went, which a host that ignores SIGCHLD hears, too.
 */
#include <ktr/ktrace.h>

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

#define KTRACE_CALL_ARGS 16
#define KTRACE_CALL_FD   3 /* where the command writes an errno */

struct ktrace_call {
	char *argv[KTRACE_CALL_ARGS + 1];
	unsigned n;
	char letters[16], number[16], fd[16];
};

static void ktrace_call_add(struct ktrace_call *call, const char *word)
{
	union {
		const char *in;
		char *out;
	} as = { word }; /* execve(2) does not write to it */

	if (call->n < KTRACE_CALL_ARGS)
		call->argv[call->n++] = as.out;
	call->argv[call->n] = NULL;
}

static void ktrace_call_letters(char *to, int points)
{
	static const struct {
		int points;
		char letter;
	} letters[] = {
		{ KTRFAC_SYSCALL | KTRFAC_SYSRET, 'c' },
		{ KTRFAC_NAMEI, 'n' },
		{ KTRFAC_GENIO, 'i' },
		{ KTRFAC_PSIG, 's' },
		{ KTRFAC_USER, 'u' },
		{ KTRFAC_STRUCT | KTRFAC_STRUCT_ARRAY, 't' },
		{ KTRFAC_CSW, 'w' },
		{ KTRFAC_SYSCTL, 'y' },
		{ KTRFAC_CAPFAIL, 'p' },
		{ KTRFAC_FAULT | KTRFAC_FAULTEND, 'f' },
	};

	for (unsigned i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (points & letters[i].points)
			*to++ = letters[i].letter;
	*to = '\0';
}

/* What is said of the file before anybody is traced. 0 or an errno. */
static int ktrace_call_check(const char *file, int ops, const char *letters)
{
	struct stat stat;

	if (KTROP(ops) > KTROP_CLEARFILE || (ops & ~(3 | KTRFLAG_DESCEND)) ||
	    (KTROP(ops) != KTROP_CLEARFILE && !letters[0]))
		return EINVAL;
	if (KTROP(ops) == KTROP_CLEAR)
		return 0;
	if (!file)
		return EFAULT;
	if (lstat(file, &stat) < 0)
		return errno;
	return S_ISREG(stat.st_mode) ? 0 : EACCES;
}

static void ktrace_call_words(struct ktrace_call *call, const char *file, int ops, int trpoints, pid_t pid)
{
	ktrace_call_add(call, "ktr");
	ktrace_call_add(call, "ktrace");
	ktrace_call_add(call, "--errno");
	ktrace_call_add(call, call->fd);
	if (KTROP(ops) == KTROP_SET)
		ktrace_call_add(call, "-a");
	else
		ktrace_call_add(call, "-c");
	if (KTROP(ops) != KTROP_CLEAR) {
		ktrace_call_add(call, "-f");
		ktrace_call_add(call, file);
	}
	if (KTROP(ops) == KTROP_CLEARFILE)
		return;
	ktrace_call_add(call, "-t");
	ktrace_call_add(call, call->letters);
	if (ops & KTRFLAG_DESCEND)
		ktrace_call_add(call, "-d");
	if (KTROP(ops) == KTROP_SET && (trpoints & KTRFAC_INHERIT))
		ktrace_call_add(call, "-i");
	ktrace_call_add(call, pid < 0 ? "-g" : "-p");
	ktrace_call_add(call, call->number);
}

/* 0 or an errno. */
static int ktrace_call_run(struct ktrace_call *call)
{
	posix_spawn_file_actions_t files;
	int pipe[2], rc, status;
	int32_t answer = ENOSYS;
	pid_t child;

	if (pipe2(pipe, O_CLOEXEC) < 0)
		return errno;
	posix_spawn_file_actions_init(&files);
	/* The command hands nothing on: whoever it starts closes what it has not opened. */
	rc = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0) |
	     posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO) |
	     posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDERR_FILENO) |
	     posix_spawn_file_actions_adddup2(&files, pipe[1], KTRACE_CALL_FD);
	rc = rc ? ENOMEM : posix_spawnp(&child, "ktr", &files, NULL, call->argv, environ);
	posix_spawn_file_actions_destroy(&files);
	close(pipe[1]);
	if (!rc) {
		while (read(pipe[0], &answer, sizeof(answer)) < 0 && errno == EINTR)
			;
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		rc = answer;
	}
	close(pipe[0]);
	return rc == ENOENT ? ENOSYS : rc;
}

int ktr_ktrace(const char *file, int ops, int trpoints, pid_t pid)
{
	struct ktrace_call call = { .n = 0 };
	int error = errno, rc;

	ktrace_call_letters(call.letters, trpoints);
	snprintf(call.number, sizeof(call.number), "%d", pid < 0 ? -pid : pid);
	snprintf(call.fd, sizeof(call.fd), "%d", KTRACE_CALL_FD);
	rc = ktrace_call_check(file, ops, call.letters);
	if (!rc && pid == 0 && KTROP(ops) != KTROP_CLEARFILE)
		rc = ESRCH;
	if (!rc) {
		ktrace_call_words(&call, file, ops, trpoints, pid);
		rc = ktrace_call_run(&call);
	}
	errno = rc ? rc : error;
	return rc ? -1 : 0;
}

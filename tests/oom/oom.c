/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation k fails for k = 0, 1, 2 ... until a run needs no k-th one:
 *
 *	oom [-s STEP] [-xtv] PRELOAD -- COMMAND ARGUMENTS
 *
 * Run k must end by itself within a minute and not by a signal. Where it exits with 0 its output is that of
 * a run with all the memory there is, or it has said on stderr what is missing; where it does not, it has
 * said why.
 *
 *	-s	every STEP-th k only, but all of the first hundred
 *	-x	all allocations from the k-th on fail
 *	-t	the command is a traced program: status and output are always the same
 *	-v	output varies, with the time of day
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OOM_OUTPUT (4u << 20)
#define OOM_FD     9
#define OOM_SERVE  8
#define OOM_SHOWN  10 /* failures printed */

struct run {
	char *out;
	size_t n_out;
	char err[4096];
	int status;
	int reached; /* the k-th allocation */
};

static const char *oom_preload;
static int oom_on, oom_traced, oom_varies;
static long oom_step = 1;

static int oom_fds[3]; /* output, complaints, and the byte that tells how far it came; each run finds them empty */
static int oom_served = -1;

/* The program, which waits at its start to be run (fail.c). */
static void oom_serve(char **argv)
{
	int ends[2];

	for (int i = 0; i < 3; i++) {
		char path[] = "/tmp/ktr-oom-XXXXXX";

		oom_fds[i] = mkostemp(path, O_CLOEXEC | O_APPEND);
		unlink(path);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(1);
	oom_served = ends[0];
	fcntl(oom_served, F_SETFD, FD_CLOEXEC);
	if (fork()) {
		close(ends[1]);
		signal(SIGPIPE, SIG_IGN);
	} else {
		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
		dup2(oom_fds[0], 1);
		dup2(oom_fds[1], 2);
		dup2(oom_fds[2], OOM_FD);
		dup2(ends[1], OOM_SERVE);
		if (ends[1] != OOM_SERVE)
			close(ends[1]);
		setenv("OOM_SERVE", "8", 1);
		setenv("OOM_FD", "9", 1);
		if (oom_on)
			setenv("OOM_ON", "1", 1);
		setenv("LD_PRELOAD", oom_preload, 1);
		execvp(argv[0], argv);
		_exit(125);
	}
}

static size_t oom_read(int fd, char *to, size_t size)
{
	ssize_t n = pread(fd, to, size - 1, 0);

	to[n < 0 ? 0 : n] = '\0';
	return n < 0 ? 0 : (size_t)n;
}

static void oom_run(char **argv, long k, struct run *run)
{
	char byte;

	if (oom_served < 0)
		oom_serve(argv);
	for (int i = 0; i < 3; i++)
		if (ftruncate(oom_fds[i], 0) || (i == 2 && ftruncate(oom_fds[i], 1)))
			exit(1);
	if (write(oom_served, &k, sizeof(k)) != (ssize_t)sizeof(k) ||
	    read(oom_served, &run->status, sizeof(run->status)) != (ssize_t)sizeof(run->status)) {
		fprintf(stderr, "%s cannot be run\n", argv[0]);
		exit(1);
	}
	run->n_out = oom_read(oom_fds[0], run->out, OOM_OUTPUT);
	oom_read(oom_fds[1], run->err, sizeof(run->err));
	run->reached = pread(oom_fds[2], &byte, 1, 0) == 1 && byte;
}

/* What is wrong with a run; NULL: nothing. */
static const char *oom_fault(const struct run *run, const struct run *good)
{
	int same = oom_varies ||
		   (run->n_out == good->n_out && memcmp(run->out, good->out, run->n_out) == 0);

	if (WIFSIGNALED(run->status))
		return WTERMSIG(run->status) == SIGALRM ? "it hangs" : "it dies by a signal";
	if (oom_traced && (run->status != good->status || !same))
		return "the program notices";
	if (oom_traced)
		return NULL;
	if (WEXITSTATUS(run->status) > 2)
		return "an exit status that is none of ours";
	if (run->status == good->status)
		return same || run->err[0] ? NULL : "another output, and nothing said";
	return run->err[0] ? NULL : "it fails and does not say why";
}

int main(int argc, char **argv)
{
	struct run run, good;
	unsigned n_bad = 0;
	long k = 0, n = 0;
	int c;

	while ((c = getopt(argc, argv, "+s:xtv")) != -1) {
		if (c == 's')
			oom_step = atol(optarg);
		oom_on |= c == 'x';
		oom_traced |= c == 't';
		oom_varies |= c == 'v';
	}
	if (argc - optind < 3 || oom_step < 1) {
		fprintf(stderr, "usage: oom [-s STEP] [-xtv] PRELOAD -- COMMAND ARGUMENTS\n");
		return 2;
	}
	oom_preload = argv[optind];
	argv += optind + 2;
	run.out = malloc(OOM_OUTPUT);
	good.out = malloc(OOM_OUTPUT);
	if (!run.out || !good.out)
		return 1;
	oom_run(argv, 1000000000, &good);
	if (!WIFEXITED(good.status) || WEXITSTATUS(good.status)) {
		fprintf(stderr, "%s %s fails by itself: %s\n", argv[0], argv[1] ? argv[1] : "",
			good.err);
		return 1;
	}
	do {
		const char *fault;

		oom_run(argv, k, &run);
		fault = oom_fault(&run, &good);
		if (fault && n_bad++ < OOM_SHOWN)
			fprintf(stderr, "allocation %ld of %s %s: %s (status 0x%x; %.200s)\n", k,
				argv[0], argv[1] ? argv[1] : "", fault, (unsigned)run.status,
				run.err);
		n++;
		k += k < 100 ? 1 : oom_step;
	} while (run.reached);
	printf("oom: %ld runs up to allocation %ld, %u wrong: %s %s\n", n, k - 1, n_bad, argv[0],
	       argv[1] ? argv[1] : "");
	return n_bad != 0;
}

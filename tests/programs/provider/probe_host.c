/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has probes, and does with them what its input says, a line at a time, each answered by a line:
 *
 *	fire N		fires all N times: "fired"
 *	register NAME	a custom probe with a handler: "0", or an error's number
 *	enable NAME, disable NAME, remove NAME
 *	calls		how often the handler was called
 *	many N		registers N probes: "0"
 *	fork [FILE]	goes on in a child whose input is FILE, when that is done the parent says "back"
 *	exec		becomes this program anew
 *	crash		dies
 */
#include <ktr/probe.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_PROBES 16

static struct ktr_probe *host_probe[HOST_PROBES];
static int n_probes;
static unsigned n_calls;

static void host_handler(struct ktr_probe *probe, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			 uint64_t a5)
{
	(void)probe, (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
	n_calls++;
}

static void host_fire(int n)
{
	for (int i = 0; i < n; i++) {
		KTR_PROBE_POINT2(KTR_PROBE_CUSTOM, "depth", i, "text");
		KTR_PROBE_POINT1(KTR_PROBE_CUSTOM, "depth", i);
		KTR_PROBE_POINT0(KTR_PROBE_IPC_SEND, "ipc_send");
		for (int k = 0; k < n_probes; k++)
			KTR_PROBE1(host_probe[k], i);
	}
}

static int host_register(const char *name)
{
	struct ktr_probe *probe;
	int code = ktr_probe_register(KTR_PROBE_CUSTOM, name, __func__, host_handler, &probe);

	for (int i = 0; i < n_probes; i++)
		if (host_probe[i] == probe)
			return code;
	if (!code && n_probes < HOST_PROBES)
		host_probe[n_probes++] = probe;
	return code;
}

static int host_many(int n)
{
	char name[32];
	int code = 0;

	for (int i = 0; i < n && !code; i++) {
		snprintf(name, sizeof(name), "many %d", i);
		code = ktr_probe_register(KTR_PROBE_FUNCTION_ENTRY, name, __func__, NULL, NULL);
	}
	return code;
}

static int host_switch(const char *how, const char *name)
{
	struct ktr_probe *probe = ktr_probe_find(KTR_PROBE_CUSTOM, name);

	return !probe		       ? -1 :
	       *how == 'e'	       ? ktr_probe_enable(probe) :
	       *how == 'd'	       ? ktr_probe_disable(probe) :
					 ktr_probe_remove(probe);
}

static void host_fork(const char *file)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (!freopen(file, "r", stdin))
			_exit(1);
		n_calls = 0;
		return;
	}
	waitpid(pid, &status, 0);
	puts("back");
}

int main(int argc, char **argv)
{
	char line[256], what[16], name[200];

	(void)argc;
	/* What is behind "exec" is for the program that comes then. */
	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		name[0] = '\0';
		sscanf(line, "%15s %199[^\n]", what, name);
		if (strcmp(what, "fire") == 0) {
			host_fire(atoi(name));
			puts("fired");
		} else if (strcmp(what, "calls") == 0)
			printf("%u\n", n_calls);
		else if (strcmp(what, "many") == 0)
			printf("%d\n", host_many(atoi(name)));
		else if (strcmp(what, "register") == 0)
			printf("%d\n", host_register(name));
		else if (strcmp(what, "fork") == 0)
			host_fork(name);
		else if (strcmp(what, "exec") == 0)
			execv(argv[0], argv);
		else if (strcmp(what, "crash") == 0)
			raise(SIGKILL);
		else
			printf("%d\n", host_switch(what, name));
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who asks a tracer to stop, and the tracer: a socket of the abstract namespace that is called after the tracer's
 * process, and is gone with it. The kernel tells each who the other is: a tracer listens to its own user and to
 * root.
 */
#ifndef TOOLS_KTRACE_CONTROL_H
#define TOOLS_KTRACE_CONTROL_H

#include <stdint.h>
#include <sys/types.h>

enum ktrace_request_op {
	KTRACE_CLEAR = 1,  /* some points of a process */
	KTRACE_CLEAR_ALL,  /* all that it traces */
	KTRACE_CLEAR_FILE, /* all, if it writes to that file */
	KTRACE_SET	   /* more points of a process that it traces, if it writes to that file */
};

struct ktrace_request {
	uint32_t op; /* enum ktrace_request_op */
	int32_t pid;
	uint32_t points; /* enum ktr__tracee_points */
	uint32_t pad;
	uint64_t device, inode;
};

/* The tracer's side: a socket that sends SIGIO to this thread, or -errno. */
int ktrace_control_listen(void);

/*
 * Takes one request. 1, and *peer is the socket that wants an answer, 0: there is none, or it was not somebody
 * whom we listen to.
 */
int ktrace_control_accept(int listening, struct ktrace_request *request, int *peer);
void ktrace_control_answer(int peer, int answer);

/*
 * The other side: what the tracer answers, 0 or -errno, when it has done what was asked for; 0 when it has ended
 * instead; -ENOTCONN: the process is no tracer of ours.
 */
int ktrace_control_ask(pid_t tracer, const struct ktrace_request *request);

#endif

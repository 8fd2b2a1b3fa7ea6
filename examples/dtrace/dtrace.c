/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dtrace: a server and its clients that pass messages through pipes, with probes of ktr/dtrace.h, as a Mach kernel
 * has them: messages sent and received, functions, a call, a probe of its own; and what Linux tells of switches and
 * page faults.
 *
 *	build/examples/dtrace			counts, and what it reads of its own probes
 *	ktr run build/examples/dtrace; ktr dtrace-analyze; ktr dtrace-visualize
 *	ktr probe list -p PID 'mach:'
 */
#include <ktr/dtrace.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLIENTS	 2
#define MESSAGES 20
#define BYTES	 (64u << 10) /* that the server touches for each message, which are new pages */

static int port[CLIENTS + 1][2]; /* pipes: the server's, then one for each client's answers */

struct message {
	unsigned from, number;
};

static void send_message(unsigned to, const struct message *message)
{
	DTRACE_IPC_SEND(to, sizeof(*message));
	if (write(port[to][1], message, sizeof(*message)) != sizeof(*message))
		abort();
}

static int receive_message(unsigned at, struct message *message)
{
	if (read(port[at][0], message, sizeof(*message)) != sizeof(*message))
		return 0;
	DTRACE_IPC_RECEIVE(at, sizeof(*message));
	return 1;
}

static unsigned work(const struct message *message)
{
	unsigned char *memory = malloc(BYTES);
	unsigned sum = 0;

	DTRACE_FUNCTION_ENTRY("work");
	memset(memory, (int)message->number, BYTES);
	for (unsigned i = 0; i < BYTES; i += 256)
		sum += memory[i];
	DTRACE_CUSTOM("depth", message->from, message->number, sum);
	free(memory);
	DTRACE_FUNCTION_EXIT("work");
	return sum;
}

static kern_return_t client_call(struct message *message)
{
	DTRACE_SYSCALL_ENTRY("client_call", message->number);
	send_message(0, message);
	receive_message(message->from, message);
	DTRACE_SYSCALL_EXIT("client_call", KERN_SUCCESS);
	return KERN_SUCCESS;
}

static void *client(void *number)
{
	struct message message = { .from = (unsigned)(uintptr_t)number };

	for (message.number = 0; message.number < MESSAGES; message.number++)
		client_call(&message);
	return NULL;
}

static void serve(void)
{
	struct message message;

	for (unsigned i = 0; i < CLIENTS * MESSAGES && receive_message(0, &message); i++) {
		work(&message);
		send_message(message.from, &message);
	}
}

/* All probes that this program's macros name. */
static void enable_all(void)
{
	static const struct {
		dtrace_probe_type_t type;
		const char *name;
	} all[] = { { DTRACE_PROBE_IPC_RECEIVE, "ipc_receive" },      { DTRACE_PROBE_CUSTOM, "depth" },
		    { DTRACE_PROBE_FUNCTION_ENTRY, "work" },	      { DTRACE_PROBE_FUNCTION_EXIT, "work" },
		    { DTRACE_PROBE_SYSCALL_ENTRY, "client_call" }, { DTRACE_PROBE_SYSCALL_EXIT, "client_call" } };

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		dtrace_probe_enable(dtrace_probe_register(all[i].type, all[i].name, "", NULL));
}

int main(void)
{
	static dtrace_event_t events[10000];
	pthread_t thread[CLIENTS];
	dtrace_metrics_t metrics;
	dtrace_probe_t probe;
	uint32_t n;

	dtrace_init();
	enable_all();
	for (unsigned i = 0; i <= CLIENTS; i++)
		if (pipe(port[i]))
			return 1;
	for (unsigned i = 0; i < CLIENTS; i++)
		pthread_create(&thread[i], NULL, client, (void *)(uintptr_t)(i + 1));
	serve();
	for (unsigned i = 0; i < CLIENTS; i++)
		pthread_join(thread[i], NULL);

	n = dtrace_buffer_read(events, 10000);
	for (uint32_t i = 0; dtrace_get_probe_info(i, &probe); i++)
		printf("%-15s fired %llu times\n", probe.name, probe.fire_count);
	dtrace_get_metrics(&metrics);
	printf("%u events read, %llu overwritten before; %llu ns in probes\n", n, metrics.buffer_overruns,
	       metrics.probe_overhead_ns);
	return 0;
}

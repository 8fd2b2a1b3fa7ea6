/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that uses ktr/dtrace.h as the framework's own manual shows it, block by block, and counts by itself
 * how often each macro was passed while its probe was enabled; C and C++. Prints "TYPE COUNT" for each type of
 * probe, and exits with 1 where what it reads is not what it has counted. With an argument it goes on until its
 * input ends, and sends a message for each byte.
 */
#include <ktr/dtrace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 7

/* Function instrumentation. */
static unsigned n_functions;

static void my_kernel_function(int arg)
{
	DTRACE_FUNCTION_ENTRY("my_kernel_function");

	n_functions += arg >= 0;

	DTRACE_FUNCTION_EXIT("my_kernel_function");
}

/* System call instrumentation. */
static kern_return_t do_work(int arg)
{
	return arg % 2 ? KERN_FAILURE : KERN_SUCCESS;
}

static kern_return_t my_syscall(int arg)
{
	kern_return_t result;

	DTRACE_SYSCALL_ENTRY("my_syscall", arg);

	result = do_work(arg);

	DTRACE_SYSCALL_EXIT("my_syscall", result);
	return result;
}

/* A handler of a probe of one's own. */
static unsigned n_handled;
static uint64_t handled[2];

static void my_probe_handler(dtrace_probe_t *probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
			     uint64_t arg4, uint64_t arg5)
{
	(void)arg2, (void)arg3, (void)arg4, (void)arg5;
	n_handled += strcmp(probe->name, "my_custom_probe") == 0 && strcmp(probe->function, "my_function") == 0;
	handled[0] = arg0;
	handled[1] = arg1;
}

static void all(int round)
{
	unsigned port_id = 3;
	size_t message_size = 128;
	unsigned long fault_address = 0x1000, fault_type = 2;
	void *old_thread = &port_id, *new_thread = &message_size;

	my_kernel_function(round);
	my_syscall(round);
	DTRACE_IPC_SEND(port_id, message_size);
	DTRACE_IPC_RECEIVE(port_id, message_size);
	DTRACE_VM_FAULT(fault_address, fault_type);
	DTRACE_THREAD_SWITCH(old_thread, new_thread);
	DTRACE_TIMER_TICK(round);
	DTRACE_CUSTOM("my_custom_probe", round, 2, 3, 4, 5, 6);
}

static uint32_t enable(dtrace_probe_type_t type, const char *name)
{
	uint32_t probe_id = dtrace_probe_register(type, name, "", NULL);

	if (probe_id && !dtrace_probe_enable(probe_id))
		exit(1);
	return probe_id;
}

static int wrong(const char *what)
{
	printf("not so: %s\n", what);
	return 1;
}

/* Reading, until all that was fired is there: what the kernel tells comes besides. */
static int read_all(uint32_t probe_id, unsigned n_custom)
{
	static dtrace_event_t events[20000];
	uint32_t count = dtrace_buffer_read(events, 20000), n = 0;
	dtrace_metrics_t metrics;

	for (uint32_t i = 0; i < count; i++)
		if (events[i].probe_id == probe_id && events[i].args[1] == 2 && events[i].args[5] == 6)
			n++;
	if (n != n_custom)
		return wrong("as many events of the custom probe as were fired");
	dtrace_get_metrics(&metrics);
	if (metrics.total_probes_fired < 10 * ROUNDS || metrics.buffer_overruns || !metrics.probe_overhead_ns ||
	    metrics.total_events_captured != metrics.total_probes_fired)
		return wrong("the metrics");
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t probe_id;
	char byte;

	(void)argv;
	dtrace_init();
	probe_id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "my_custom_probe", "my_function", my_probe_handler);
	dtrace_probe_enable(probe_id);
	enable(DTRACE_PROBE_FUNCTION_ENTRY, "my_kernel_function");
	enable(DTRACE_PROBE_FUNCTION_EXIT, "my_kernel_function");
	enable(DTRACE_PROBE_SYSCALL_ENTRY, "my_syscall");
	enable(DTRACE_PROBE_SYSCALL_EXIT, "my_syscall");
	enable(DTRACE_PROBE_IPC_RECEIVE, "ipc_receive");
	enable(DTRACE_PROBE_TIMER_TICK, "timer_tick");
	for (int i = 0; i < ROUNDS; i++)
		all(i);
	if (n_handled != ROUNDS || handled[0] != ROUNDS - 1 || handled[1] != 2)
		return wrong("the handler's calls");

	/* All at once, and one: what is fired meanwhile is not there. */
	dtrace_disable();
	if (dtrace_is_enabled())
		return wrong("disabled");
	all(100);
	dtrace_enable();
	if (!dtrace_is_enabled())
		return wrong("enabled");
	dtrace_probe_disable(probe_id);
	DTRACE_CUSTOM("my_custom_probe", 100, 2, 3, 4, 5, 6);
	if (read_all(probe_id, ROUNDS))
		return 1;
	dtrace_probe_remove(probe_id);
	DTRACE_CUSTOM("my_custom_probe", 100, 2, 3, 4, 5, 6);

	printf("function_entry %u\nfunction_exit %u\nsyscall_entry %d\nsyscall_exit %d\nipc_send %d\nipc_receive %d\n",
	       n_functions - 1, n_functions - 1, ROUNDS, ROUNDS, ROUNDS, ROUNDS);
	printf("timer_tick %d\ncustom %u\n", ROUNDS, n_handled);
	fflush(stdout);
	while (argc > 1 && read(STDIN_FILENO, &byte, 1) == 1)
		DTRACE_IPC_SEND(byte, 1);
	return 0;
}

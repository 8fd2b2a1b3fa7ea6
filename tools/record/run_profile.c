/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/record/run_profile.h"

#include "visualize/model/label.h"

#include <stdio.h>
#include <sys/resource.h>

#define PROFILE_TICK_NS	 10000000ull  /* of the kernel, at most: what a timer's sample may stand for */
#define PROFILE_LEAST_NS 200000000ull /* of less nobody wants to know */

/* Of what we have waited for: the program, and those that it has waited for. */
static uint64_t profile_cpu_ns(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_CHILDREN, &used))
		return 0;
	return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u;
}

void run_profile_say(const struct run *run, uint64_t n_events)
{
	uint64_t each_ns = run->profile_ns > PROFILE_TICK_NS ? run->profile_ns : PROFILE_TICK_NS;
	uint64_t cpu_ns = profile_cpu_ns();

	if (run->children || cpu_ns < PROFILE_LEAST_NS || n_events >= cpu_ns / 4 / each_ns)
		return;
	fprintf(stderr, "ktr: most of the CPU time, %s, is not in it: %s started another program, or became one; -i samples those, too\n",
		ktr__label_duration(cpu_ns).text, run->program[0]);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/record/run_profile.h"

#include "analyze/stats/sample.h"
#include "visualize/model/label.h"

#include <ktr/reader.h>

#include <stdio.h>
#include <sys/resource.h>

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

/* Do the samples of a trace stand for so much time? They may where it cannot be read, or some are lost. */
static bool profile_has(const char *trace, uint64_t ns)
{
	struct ktr_reader_options alone = { .size = sizeof(alone), .alone = 1 };
	struct ktr_event event;
	struct ktr__sample sample;
	struct ktr_reader *reader;
	uint64_t sum_ns = 0;
	int found = KTR_READ_END;

	if (ktr_reader_open(trace, &alone, &reader, NULL))
		return true;
	while (sum_ns < ns && (found = ktr_reader_next(reader, &event)) > 0 && found != KTR_READ_LOSS)
		if (found == KTR_READ_EVENT && ktr__sample_of(&event, &sample) && !ktr__sample_is_off(sample.how))
			sum_ns += sample.ns;
	ktr_reader_close(reader);
	return sum_ns >= ns || found != KTR_READ_END;
}

void run_profile_say(const struct run *run)
{
	uint64_t cpu_ns = profile_cpu_ns();

	if (run->children || cpu_ns < PROFILE_LEAST_NS || profile_has(run->trace, cpu_ns / 4))
		return;
	fprintf(stderr, "ktr: most of the CPU time, %s, is not in it: %s started another program, or became one; -i samples those, too\n",
		ktr__label_duration(cpu_ns).text, run->program[0]);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds of the events of any source, however damaged. */
#ifndef TESTS_FUZZ_FUZZ_EVENT_H
#define TESTS_FUZZ_FUZZ_EVENT_H

#include <ktr/reader.h>

#include <stdlib.h>

static inline void fuzz_check(int wrong)
{
	if (wrong)
		abort();
}

/*
 * Times never go back (in reverse, never forward); sites, threads and CPUs are within the bounds that the
 * reader tells; and the event has a text. *last_ns: of the event before, then of this one.
 */
static inline void fuzz_event(const struct ktr_reader *reader, const struct ktr_event *event,
			      int reverse, uint64_t *last_ns)
{
	char text[512];

	fuzz_check(reverse ? event->time_ns > *last_ns : event->time_ns < *last_ns);
	fuzz_check(event->cpu >= ktr_reader_info(reader)->n_cpus);
	fuzz_check(event->site->id >= ktr_reader_n_sites(reader));
	fuzz_check(event->thread->id >= ktr_reader_n_threads(reader));
	ktr_event_text(event, text, sizeof(text));
	*last_ns = event->time_ns;
}

#endif

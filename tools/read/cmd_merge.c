/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr merge: traces of several programs or machines as one.
 *
 * Programs of one machine, as long as it has not been booted in between, have one clock, and their CPUs
 * are the same ones. Traces of different machines are joined on UTC: by how far each trace's clock was
 * from it when the trace was begun. How far that may be wrong is told as far as the traces know: by
 * how much their clocks moved against UTC while they were written. How far the machines' ideas of UTC
 * were apart nobody knows but they; --shift corrects it.
 */
#include "tools/command.h"
#include "tools/options.h"
#include "tools/progress.h"

#include "analyze/print/unfinished.h"
#include "analyze/rewrite/trace_writer.h"
#include "conf/kit/array.h"
#include "conf/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MERGE_OUTPUT "ktr.merged"
#define MERGE_READ   1000 /* [ns] two clocks are read so far apart */

struct merge_source {
	const char *path;
	struct ktr_reader *reader;
	const struct ktr_reader_info *info;
	int64_t asked_ns; /* --shift */
	struct ktr__trace_writer_place place;
	int what; /* of what was read last */
	struct ktr_event event;
	struct ktr_loss *loss; /* owned; losses before it that are not written yet: [next_loss, n_losses) */
	uint32_t next_loss, n_losses, loss_room;
};

struct merge {
	const char *command;
	const char *output;
	struct option_list shift;
	struct merge_source *source; /* owned */
	int n;
	uint32_t n_cpus;
	int by_utc;
	struct ktr__trace_writer *writer;
	int damaged;
};

static const struct option_row merge_rows[] = {
	OPTION_TEXT('o', "output", "TRACE", struct merge, output, "the trace to write (" MERGE_OUTPUT ")"),
	OPTION_LIST('S', "shift", "N:TIME", struct merge, shift, "move the Nth trace by TIME: 2:1.5ms, 2:-20us"),
};

static const struct options merge_options = {
	.operands = "TRACE TRACE...",
	.about =
		"Writes several traces as one, in the order of time: of one machine by its clock, of several by\n"
		"UTC. Says by how much each was moved, and how far that may be wrong.",
	.examples = "ktr merge -o both.ktr client.ktr server.ktr\n"
		    "ktr merge --shift 2:-1.5ms here.ktr there.ktr\n",
	OPTIONS_ROWS(merge_rows),
};

/* "2:-1.5ms" */
static int merge_shift(struct merge *merge, const char *value)
{
	char *colon;
	unsigned long number = strtoul(value, &colon, 10);
	int is_negative = colon[0] == ':' && colon[1] == '-';
	uint64_t ns;

	if (*colon != ':' || !number || number > 1000)
		return usage_error(merge->command, "--shift is N:TIME, as 2:1.5ms, not \"%s\"",
				   value);
	colon += 1 + (colon[1] == '-' || colon[1] == '+');
	if (option_duration(colon, &ns) || ns > INT64_MAX)
		return usage_error(merge->command, "--shift: \"%s\" is no time", colon);
	if (number > (unsigned long)merge->n)
		return usage_error(merge->command, "--shift: there are %d traces", merge->n);
	merge->source[number - 1].asked_ns = is_negative ? -(int64_t)ns : (int64_t)ns;
	return 0;
}

static int merge_open(struct merge *merge)
{
	for (int i = 0; i < merge->n; i++) {
		struct merge_source *source = &merge->source[i];
		struct ktr_error err = KTR_ERROR_NONE;

		if (ktr_reader_open(source->path, NULL, &source->reader, &err))
			return fail_with(merge->command, &err);
		source->info = ktr_reader_info(source->reader);
	}
	return 0;
}

/* Of several machines each has a number; traces made by ktr merge tell their processes apart already. */
static uint64_t merge_machine(const struct ktr_reader_info *info)
{
	uint64_t word[2];

	memcpy(word, info->boot_id, sizeof(word));
	return word[0] ^ word[1];
}

static int merge_same_boot(const struct ktr_reader_info *a, const struct ktr_reader_info *b)
{
	static const uint8_t none[16];

	return memcmp(a->boot_id, none, 16) != 0 && memcmp(a->boot_id, b->boot_id, 16) == 0;
}

/* What is known of how far UTC may be off in a trace. */
static void merge_doubt(const struct merge_source *source, char *text, size_t size)
{
	char spread[64];

	ktr__print_duration(source->info->utc_spread_ns + MERGE_READ, 0, spread, sizeof(spread));
	if (source->info->utc_spread_ns == UINT64_MAX)
		snprintf(text, size, "by how much that may be wrong is not known");
	else
		snprintf(text, size, "its clock and UTC moved against each other by %s", spread);
}

/* Times, and CPUs, of each source in the trace. */
static void merge_place(struct merge *merge)
{
	const struct ktr_reader_info *first = merge->source[0].info;

	for (int i = 1; i < merge->n; i++)
		merge->by_utc |= !merge_same_boot(first, merge->source[i].info);
	for (int i = 0; i < merge->n; i++) {
		struct merge_source *source = &merge->source[i];
		const struct ktr_reader_info *info = source->info;
		int same = -1;

		source->place.machine = merge->by_utc ? merge_machine(info) : 0;
		source->place.shift_ns = source->asked_ns +
					 (merge->by_utc ? info->utc_offset_ns : 0);
		for (int k = 0; k < i && same < 0; k++)
			if (merge_same_boot(merge->source[k].info, info))
				same = k;
		source->place.first_cpu = same < 0 ? merge->n_cpus
						   : merge->source[same].place.first_cpu;
		/* One machine's offset is that of its first trace: its clock is one. */
		if (same >= 0 && merge->by_utc)
			source->place.shift_ns = source->asked_ns +
						 merge->source[same].info->utc_offset_ns;
		if (source->place.first_cpu + info->n_cpus > merge->n_cpus)
			merge->n_cpus = source->place.first_cpu + info->n_cpus;
	}
}

/* Is no time of a source moved below zero of the clock? 0 or 2 after a complaint. */
static int merge_check(const struct merge *merge)
{
	for (int i = 0; i < merge->n; i++) {
		const struct merge_source *source = &merge->source[i];
		uint64_t first_ns = source->info->first_ns;

		if (source->place.shift_ns < 0 && first_ns < -(uint64_t)source->place.shift_ns)
			return usage_error(merge->command, "%s: cannot be moved to before its clock began, %.9f s before it",
					   source->path, (double)first_ns / 1e9);
	}
	return 0;
}

/* Says how each source is placed against the first one. */
static void merge_say(const struct merge *merge)
{
	const struct merge_source *first = &merge->source[0];

	for (int i = 1; i < merge->n; i++) {
		const struct merge_source *source = &merge->source[i];
		double offset = (double)(source->place.shift_ns - first->place.shift_ns) / 1e9;
		char doubt[128];

		merge_doubt(source, doubt, sizeof(doubt));
		if (merge_same_boot(first->info, source->info))
			fprintf(stderr, "%s: %s: the same machine's clock as %s, moved by %.9f s\n",
				merge->command, source->path, first->path, offset);
		else
			fprintf(stderr,
				"%s: %s: joined with %s by UTC: moved by %.9f s, its CPU 0 is CPU %u; %s\n",
				merge->command, source->path, first->path, offset,
				source->place.first_cpu, doubt);
	}
}

/* Reads on to the next event, and keeps the losses on the way. 0 or -errno. */
static int merge_next(struct merge *merge, struct merge_source *source)
{
	int rc = 0;

	source->next_loss = source->n_losses = 0;
	while (!rc) {
		source->what = ktr_reader_next(source->reader, &source->event);
		if (source->what < 0) {
			merge->damaged = 1;
			fail_with(merge->command, ktr_reader_error(source->reader));
			source->what = KTR_READ_END;
		}
		if (source->what == KTR_READ_EVENT || source->what == KTR_READ_END)
			return 0;
		if (source->what == KTR_READ_LOSS) {
			rc = ktr__array_grow(&source->loss, &source->loss_room, source->n_losses,
					     sizeof(*source->loss));
			if (!rc)
				source->loss[source->n_losses++] = *ktr_reader_loss(source->reader);
		} else {
			merge->damaged |= ktr_reader_note(source->reader)->damaged;
			fprintf(stderr, "%s: %s\n", merge->command,
				ktr_reader_note(source->reader)->text);
		}
	}
	return rc;
}

/* When the source goes on, on the clock of the merged trace: a loss does where it ends. 0: at its end. */
static int merge_when(const struct merge_source *source, uint64_t *ns)
{
	const struct ktr_loss *loss;

	if (source->next_loss < source->n_losses) {
		loss = &source->loss[source->next_loss];
		*ns = loss->to_ns ? loss->to_ns : source->info->last_ns;
	} else if (source->what == KTR_READ_EVENT) {
		*ns = source->event.time_ns;
	} else {
		return 0;
	}
	*ns += (uint64_t)source->place.shift_ns;
	return 1;
}

/* The source that goes on first, or -1. */
static int merge_first(const struct merge *merge)
{
	uint64_t least = 0, ns;
	int first = -1;

	for (int i = 0; i < merge->n; i++) {
		if (!merge_when(&merge->source[i], &ns) || (first >= 0 && ns >= least))
			continue;
		first = i;
		least = ns;
	}
	return first;
}

static int merge_walk(struct merge *merge)
{
	int rc = 0, at;

	for (int i = 0; i < merge->n && !rc; i++)
		rc = merge_next(merge, &merge->source[i]);
	while (!rc && (at = merge_first(merge)) >= 0) {
		struct merge_source *source = &merge->source[at];

		if (source->next_loss < source->n_losses) {
			rc = ktr__trace_writer_loss(merge->writer, at, &source->loss[source->next_loss++]);
			continue;
		}
		rc = ktr__trace_writer_event(merge->writer, at, &source->event);
		if (!rc)
			rc = merge_next(merge, source);
	}
	return rc;
}

static int merge_run(struct merge *merge)
{
	const struct ktr_reader_info *info = merge->source[0].info;
	struct ktr__trace_head head = {
		.name = info->name,
		.host = info->host,
		.cmdline = info->cmdline,
		.clock_name = info->clock,
		.utc_offset_ns = merge->by_utc ? 0 : info->utc_offset_ns,
		.clock = { .mult = 1 },
	};
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__trace_writer_stats stats;
	int rc, unfinished = ktr__unfinished_trace(merge->output);

	if (!merge->by_utc)
		memcpy(head.boot_id, info->boot_id, sizeof(head.boot_id));
	rc = ktr__trace_writer_open(&merge->writer, merge->output, &head, merge->n_cpus, &err);
	if (rc)
		return fail_with(merge->command, &err);
	for (int i = 0; i < merge->n && rc >= 0; i++)
		rc = ktr__trace_writer_source(merge->writer, merge->source[i].reader, merge->source[i].place,
					      &err);
	if (rc >= 0)
		rc = ktr__trace_writer_begin(merge->writer, &err);
	progress_expect((unsigned)merge->n);
	for (int i = 0; i < merge->n; i++)
		progress_watch(merge->command, merge->source[i].reader, 0, 0);
	if (rc >= 0) {
		rc = merge_walk(merge);
		if (rc)
			ktr_error_set(&err, -rc, "%s: cannot write: %m", merge->output);
	}
	ktr__trace_writer_close(merge->writer, rc != 0, &stats, &err);
	ktr__unfinished_done(unfinished);
	progress_end();
	if (err.code)
		return fail_with(merge->command, &err);
	fprintf(stderr, "ktr: %s: %llu events of %d traces, %llu lost; next: ktr dump %s\n",
		merge->output, (unsigned long long)stats.n_events, merge->n,
		(unsigned long long)stats.n_lost, merge->output);
	return merge->damaged;
}

static int cmd_merge(int argc, char **argv)
{
	struct merge merge = { .command = argv[0], .output = MERGE_OUTPUT };
	int rc;

	if (!options_parse(&merge_options, argc, argv, &merge, &rc))
		return rc;
	merge.n = argc - optind;
	if (merge.n < 2)
		return usage_error(argv[0], "which traces? Two or more are made one");
	merge.source = calloc((size_t)merge.n, sizeof(*merge.source));
	if (!merge.source)
		return fail(argv[0], "no memory");
	for (int i = 0; i < merge.n; i++)
		merge.source[i].path = argv[optind + i];
	for (unsigned i = 0; i < merge.shift.n && !rc; i++)
		rc = merge_shift(&merge, merge.shift.text[i]);
	if (!rc)
		rc = merge_open(&merge);
	if (!rc) {
		merge_place(&merge);
		rc = merge_check(&merge);
	}
	if (!rc) {
		merge_say(&merge);
		rc = merge_run(&merge);
	}
	for (int i = 0; i < merge.n; i++) {
		ktr_reader_close(merge.source[i].reader);
		free(merge.source[i].loss);
	}
	free(merge.source);
	return rc;
}

COMMAND(merge, "write traces of several programs or machines as one", cmd_merge);

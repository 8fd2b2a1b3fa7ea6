/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of debug.ktr.*: FreeBSD's names where they make sense in user space (kern_ktr.c), and what
 * FreeBSD's users missed. The only file here that knows the knob tree.
 */
#include "ktr/knob/knobs.h"

#include "ktr/knob/knob_rows.h"

#include <errno.h>
#include <stddef.h>

#define KNOB_CLOCK_EVERY_MAX 1024

/* Rows that are a word of the control page and nothing else, a BOOL one of 32 bits: variable is its offset. */
static void *knobs_field(const struct ktr_knob_at *at)
{
	return (char *)ktr__knob_session(at)->control + (uintptr_t)at->knob->variable;
}

int ktr__knob_get_field(const struct ktr_knob_at *at, struct ktr_value *value)
{
	if (!ktr__knob_session(at))
		return -ENXIO;
	value->number = at->knob->type == KTR_KNOB_BOOL ?
				__atomic_load_n((uint32_t *)knobs_field(at), __ATOMIC_RELAXED) != 0 :
				__atomic_load_n((uint64_t *)knobs_field(at), __ATOMIC_RELAXED);
	return 0;
}

int ktr__knob_set_field(const struct ktr_knob_at *at, const struct ktr_value *value,
			struct ktr_error *err)
{
	(void)err;
	if (!ktr__knob_session(at))
		return 0;
	if (at->knob->type == KTR_KNOB_BOOL)
		__atomic_store_n((uint32_t *)knobs_field(at), (uint32_t)value->number, __ATOMIC_RELAXED);
	else
		__atomic_store_n((uint64_t *)knobs_field(at), value->number, __ATOMIC_RELAXED);
	return 0;
}

#define KNOB(knob_name, knob_type, knob_access, knob_unit, knob_initial, knob_env, knob_help, ...)  \
	{                                                                                        \
		.name = "debug.ktr." knob_name, .help = knob_help, .unit = knob_unit,            \
		.initial = knob_initial, .environment = knob_env, .type = KTR_KNOB_##knob_type,  \
		.access = knob_access, __VA_ARGS__                                               \
	}

/* Read, and set, as it is. */
#define FIELD(name)    .get = ktr__knob_get_field, .variable = (void *)offsetof(struct ktr_control, name)
#define FIELD_RW(name) FIELD(name), .set = ktr__knob_set_field

/*
 * A row's place in this list is that of its origin in the session, which a tool of another version may
 * read: new rows go to the end.
 */
const struct ktr_knob ktr__knob_rows[] = {
	KNOB("version", UINT, KTR_KNOB_RD, NULL, NULL, NULL, "version of the entry's format",
	     .get = ktr__knob_get_version),
	KNOB("session", STRING, KTR_KNOB_RDTUN, NULL, NULL, "KTR_SESSION",
	     "name of the session; processes that are given the same one share it",
	     .max = KTR_SESSION_NAME_MAX - 1, .get = ktr__knob_get_session, .set = ktr__knob_set_session),
	KNOB("entries", SIZE, KTR_KNOB_RWTUN, "entries per CPU", NULL, "KTR_ENTRIES",
	     "size of each CPU's ring, rounded up to a power of two", .min = 1 << KTR_RING_LOG2_MIN,
	     .max = 1 << 23, .get = ktr__knob_get_entries, .set = ktr__knob_set_entries),
	KNOB("keep", MASK, KTR_KNOB_RWTUN, NULL, "init|proc", NULL,
	     "classes that go to the small rings of rare events", .names = ktr__knob_class_names,
	     FIELD(keep), .set = ktr__knob_set_keep),
	KNOB("count", MASK, KTR_KNOB_RWTUN, NULL, "none", NULL,
	     "classes whose events are counted per call site instead of recorded",
	     .names = ktr__knob_class_names, FIELD(count), .set = ktr__knob_set_count),
	KNOB("clock", UINT, KTR_KNOB_RWTUN, "events", "1", NULL,
	     "the clock is read for every n-th event, a power of two", .min = 1,
	     .max = KNOB_CLOCK_EVERY_MAX, .get = ktr__knob_get_clock, .set = ktr__knob_set_clock),
	KNOB("clock_source", CHOICE, KTR_KNOB_RDTUN, NULL, NULL, "KTR_CLOCK_SOURCE", "the clock of the session",
	     .names = ktr__knob_clock_names, .get = ktr__knob_get_clock_source, .set = ktr__knob_set_clock_source),
	KNOB("keep_session", BOOL, KTR_KNOB_RWTUN, NULL, "0", "KTR_KEEP_SESSION",
	     "a clean exit leaves the session behind", FIELD(keep_session), .set = ktr__knob_set_keep_session),
	KNOB("alq_file", STRING, KTR_KNOB_RWTUN, NULL, NULL, "KTR_FILE",
	     "directory the writer puts the trace into; set at start, it starts the writer",
	     .max = KTR_ALQ_FILE_MAX - 1, .get = ktr__knob_get_alq_file, .set = ktr__knob_set_alq_file),
	KNOB("mask", MASK, KTR_KNOB_RWTUN, NULL, "none", "KTR_MASK", "classes that are recorded",
	     .names = ktr__knob_class_names, .get = ktr__knob_get_mask, .set = ktr__knob_set_mask),
	KNOB("freeze", BOOL, KTR_KNOB_RW, NULL, "0", NULL, "recording stands still, the rings stay as they are",
	     FIELD(frozen), .set = ktr__knob_set_freeze),
	KNOB("clear", BOOL, KTR_KNOB_RW, NULL, NULL, NULL, "1 forgets what the rings hold; reads 0",
	     .get = ktr__knob_get_clear, .set = ktr__knob_set_clear),
	KNOB("recorded", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events recorded since the session began", .get = ktr__knob_get_recorded),
	KNOB("dropped", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events that could not be recorded", .get = ktr__knob_get_dropped),
	KNOB("alq_rotate_size", SIZE, KTR_KNOB_RWTUN, "bytes", "1G", "KTR_ROTATE_SIZE",
	     "a trace of so many becomes NAME.1, NAME.2, ... and another begins; 0: never",
	     FIELD_RW(rotate_bytes)),
	KNOB("alq_rotate_time", DURATION, KTR_KNOB_RWTUN, NULL, "0", "KTR_ROTATE_TIME",
	     "so does one that is so old; 0: never", FIELD_RW(rotate_ns)),
	KNOB("alq_rotate_keep", UINT, KTR_KNOB_RWTUN, "traces", "4", "KTR_ROTATE_KEEP",
	     "older traces kept; 0: recording stops at alq_rotate_size", .max = 1000000,
	     FIELD_RW(rotate_keep)),
	KNOB("alq_rotate", BOOL, KTR_KNOB_WR, NULL, NULL, NULL, "1 rotates the trace now",
	     .set = ktr__knob_set_alq_rotate),
	KNOB("compile", MASK, KTR_KNOB_RD, NULL, NULL, NULL, "classes that call sites were compiled in for",
	     .names = ktr__knob_class_names, .get = ktr__knob_get_classes),
	KNOB("cpumask", CPUS, KTR_KNOB_RWTUN, NULL, "all", NULL,
	     "CPUs whose events are recorded; those of others are not counted either",
	     .get = ktr__knob_get_cpumask, .set = ktr__knob_set_cpumask),
	KNOB("alq_enable", BOOL, KTR_KNOB_RWTUN, NULL, "0", NULL,
	     "the program's writer thread writes to alq_file", FIELD(alq_enable), .set = ktr__knob_set_alq_enable),
	KNOB("alq_depth", SIZE, KTR_KNOB_RWTUN, "entries per CPU", NULL, NULL,
	     "how far the writer may be behind: the rings are its queue, this is their size",
	     .min = 1 << KTR_RING_LOG2_MIN, .max = 1 << 23, .get = ktr__knob_get_entries,
	     .set = ktr__knob_set_entries),
	KNOB("alq_max", UINT, KTR_KNOB_RWTUN, "events", "0", NULL,
	     "the writer ends when the trace has so many; 0: never", FIELD_RW(alq_max)),
	KNOB("alq_cnt", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events written since the writer began", FIELD(alq_cnt)),
	KNOB("alq_failed", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "events", NULL, NULL,
	     "events lost to the writer since then", FIELD(alq_failed)),
	KNOB("verbose", UINT, KTR_KNOB_RWTUN, NULL, "0", "KTR_VERBOSE",
	     "1: the writer thread prints events as text, 2: with file and line", .max = 2,
	     FIELD(verbose), .set = ktr__knob_set_verbose),
	KNOB("verbose_to", CHOICE, KTR_KNOB_RWTUN, NULL, "stderr", NULL, "where debug.ktr.verbose prints",
	     .names = ktr__knob_output_names, FIELD_RW(verbose_to)),
	KNOB("sites", STRING, KTR_KNOB_RWTUN, NULL, "none", "KTR_SITES",
	     "single call sites: +PATTERN records, -PATTERN does not, #PATTERN counts; FILE, FILE:LINE or FUNCTION()",
	     .max = KTR_SITES_MAX - 1, .get = ktr__knob_get_sites, .set = ktr__knob_set_sites),
	KNOB("follow_fork", CHOICE, KTR_KNOB_RWTUN, NULL, "same", "KTR_FOLLOW_FORK",
	     "where a forked child records: in the same session, in one of its own, or none",
	     .names = ktr__knob_follow_names, FIELD_RW(follow_fork)),
	KNOB("trigger", STRING, KTR_KNOB_RWTUN, NULL, "", "KTR_TRIGGER",
	     "condition, as of ktr-filter(7), that stops the rings", .max = KTR_KNOB_STRING_BYTES - 1,
	     .get = ktr__knob_get_trigger, .set = ktr__knob_set_trigger),
	KNOB("trigger_sites", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "call sites", NULL, NULL,
	     "call sites where the trigger may hold", .get = ktr__knob_get_trigger_sites),
	KNOB("freeze_after", UINT, KTR_KNOB_RWTUN, "events per ring", "0", "KTR_FREEZE_AFTER",
	     "events that each ring takes before it stops", .max = 1ull << 40, FIELD_RW(freeze_after)),
	KNOB("freeze_on", MASK, KTR_KNOB_RWTUN, NULL, "none", "KTR_FREEZE_ON",
	     "exit, and signals by name, that stop the rings", .names = ktr__knob_signal_names,
	     FIELD(freeze_on), .set = ktr__knob_set_freeze_on),
	KNOB("frozen_by", STRING, KTR_KNOB_RD, NULL, NULL, NULL, "what stopped the rings",
	     .max = 191, .get = ktr__knob_get_frozen_by),
	KNOB("kernel", MASK, KTR_KNOB_RWTUN, NULL, "none", "KTR_KERNEL",
	     "what the kernel tells of the threads is recorded: switch (class kswitch), fault (class kfault)",
	     .names = ktr__knob_kernel_names, FIELD(kernel), .set = ktr__knob_set_kernel),
	KNOB("alq_crash", BOOL, KTR_KNOB_RWTUN, NULL, "0", "KTR_ALQ_CRASH",
	     "before the program dies of a fault or abort(3) the writer takes what there is",
	     FIELD_RW(alq_crash)),
	KNOB("probes", STRING, KTR_KNOB_TUN, NULL, "none", "KTR_PROBES",
	     "run-time probes that are on from the start: patterns for TYPE.NAME or the name alone, separated by commas",
	     .max = KTR_KNOB_STRING_BYTES - 1, .set = ktr__knob_set_probes),
	KNOB("budget", UINT, KTR_KNOB_RWTUN, "%", "10", "KTR_BUDGET",
	     "share of a thread's time at which a provider's probe is switched off; 0: never", .max = 100,
	     FIELD_RW(budget)),
	KNOB("fbt_longer", DURATION, KTR_KNOB_RWTUN, NULL, "0", "KTR_FBT_LONGER",
	     "of functions, calls that took so long are recorded; 0: all", .max = 1ull << 50, FIELD_RW(fbt_longer_ns)),
	KNOB("fbt_depth", UINT, KTR_KNOB_RWTUN, "calls", "0", "KTR_FBT_DEPTH",
	     "of functions, calls so deep among those that are asked for; 0: however deep", .max = 1u << 30,
	     FIELD_RW(fbt_depth)),
	KNOB("fbt_within", BOOL, KTR_KNOB_RWTUN, NULL, "0", "KTR_FBT_WITHIN",
	     "of functions, only calls within those of functions whose probe fbt_caller:::within is on",
	     FIELD_RW(fbt_within)),
};

const unsigned ktr__n_knob_rows = sizeof(ktr__knob_rows) / sizeof(ktr__knob_rows[0]);

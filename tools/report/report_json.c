/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report as JSON, schema "ktr-report-1":
 *
 *	{"schema":"ktr-report-1",
 *	 "source":{"kind":"trace|live|dead","path","session","host","cmdline","uuid","clock",
 *		   "utc_offset_ns"},
 *	 "partial":false,		true: a part could not be read
 *	 "span":{"first_ns","last_ns","duration_ns","first_utc","last_utc"},
 *	 "events","events_per_s",
 *	 "losses":{"events","gaps"},
 *	 "classes":[{"class","bit","events"}],		an event counts in every class of its site
 *	 "sites":[{"site","name","class","file","line","func","format","kind","events"}],
 *	 "threads":[{"thread","tid","pid","name","process","events"}],
 *	 "cpus":[{"cpu","events","lost"}],
 *	 "spans":[{"group","id","pid","process",DURATIONS}],
 *	 "pairs":[{"pair","from","to","key","pid","process",DURATIONS}],	those of --pair
 *	 "states":[{"group","id","state","pid","process",DURATIONS}],
 *	 "state_time":[{"group","id","pid","process","known_ns","states":[{"state","ns","share"}]}],
 *	 "untracked",			beginnings left out because too many were open at once
 *	 "counters":[{"group","id","pid","process","count","min","mean","max","last"}],
 *	 "gaps":{"overall":[GAP],"threads":[{"thread","tid","pid","name","gaps":[GAP]}]},	with --gaps
 *	 "time_of_threads":[{"thread","tid","on_ns","ready_ns","off_ns","unknown_ns","switches","preempted",
 *			     "minor_faults","major_faults"}],	by the kernel's context switches and faults
 *	 "absences":[{"thread","tid","state":"ready|off","from_ns","ns","open","last":{"site","time_ns","text"}}],
 *	 "functions":[{"name","calls","self_ns","total_ns","mean_ns","p50_ns","p99_ns","max_ns","unknown"}],
 *					with --functions; unknown: calls, not among the others, whose begin or
 *					end was not seen
 *	 "functions_off":{"names":[...],"from_ns"},	those that debug.ktr.budget switched off, the first then
 *	 "profile":{"ns","due","stacks","cut","threads":[{"tid","name","ns","user_ns","kernel_ns","blocked_ns",
 *		    "missed_ns","lost_ns","due","stacks","cut"}],
 *		  "functions":[{"name","tid","self_ns","total_ns","stacks"}],
 *		    "lines":[{"line","self_ns","stacks"}]},	with --profile; tid null: of all threads;
 *					lines with --lines
 *	 "syscalls":{"calls":[{"name","calls","errors","restarts","total_ns","mean_ns","p50_ns","p99_ns","max_ns",
 *		     "bytes","unknown"}],"files":[OBJECT],"descriptors":[OBJECT with "pid","fd"],
 *		     "slowest":[{"name","ns","from_ns","tid","on"}],"errors":[{"name","error","calls","on"}]},
 *					with --syscalls; OBJECT: "on","calls","errors","total_ns","max_ns",
 *					"bytes_read","bytes_written"
 *	 "quantile_error":0.00390625}	of p50_ns ... p99_9_ns, relative
 *
 * DURATIONS: "count", "unsure" (of these, how many lie across a loss), "nested" (that began within
 * another one of the same key), "no_start", "no_end" (not among count), "open_ns" (how long those
 * without an end had lasted), "total_ns", "mean_ns", "deviation_ns", "min_ns", "p50_ns", "p90_ns",
 * "p99_ns", "p99_9_ns", "max_ns", and "histogram":[{"from_ns","to_ns","count"}] by powers of two,
 * to_ns not included; from total_ns on only if count is not 0, and of p50_ns to p99_9_ns those that so
 * many numbers tell (ktr__histogram_tell()). GAP: "ns", "from_ns", "to_ns",
 * "before", "after" (names of sites), "tid" (who ended it), "unsure" (events were lost in it). A row that stands
 * for all that found no room of their own has "id":null. Whatever has no events is left out of its list; lists
 * are sorted, the most events or the longest total first. Integers above 2^63-1 are strings of digits. Strings
 * are well-formed UTF-8 whatever was recorded.
 */
#include "tools/report/report_functions.h"
#include "tools/report/report_json.h"

#include "analyze/print/sink_json.h"
#include "analyze/read/ktrgraph.h"
#include "ktr/session/drop.h"
#include "tools/report/report.h"
#include "tools/report/report_oncpu.h"
#include "tools/report/report_profile.h"
#include "tools/report/report_rows.h"
#include "tools/report/report_syscalls.h"
#include "tools/report/report_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *report_json_text(const char *text)
{
	return ktr__jansson_text(text, strlen(text));
}

static json_t *report_json_bytes(const struct ktr_event_bytes *bytes)
{
	return ktr__jansson_text(bytes->bytes, bytes->n_bytes);
}

json_t *report_json_real(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

static json_t *report_json_source(const struct ktr_reader_info *info)
{
	static const char *const kinds[] = { "trace", "live", "dead" };

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "kind", kinds[info->kind],
			 "path", report_json_text(info->path), "session",
			 report_json_text(info->name), "host", report_json_text(info->host),
			 "cmdline", report_json_text(info->cmdline), "uuid",
			 ktr__jansson_uuid(info->uuid), "clock", report_json_text(info->clock),
			 "utc_offset_ns", (json_int_t)info->utc_offset_ns);
}

static json_t *report_json_span(const struct report *report)
{
	const struct ktr__tally *t = report->tally;
	char first[40], last[40];

	return json_pack("{s:o, s:o, s:o, s:s, s:s}", "first_ns", ktr__jansson_u64(t->first_ns),
			 "last_ns", ktr__jansson_u64(t->last_ns), "duration_ns",
			 ktr__jansson_u64(t->last_ns - t->first_ns), "first_utc",
			 report_utc(report, t->first_ns, first, sizeof(first)), "last_utc",
			 report_utc(report, t->last_ns, last, sizeof(last)));
}

/* ---- lists ---- */

struct report_json_entry {
	double rank;
	unsigned order;
	json_t *value;
};

static int report_json_compare(const void *a, const void *b)
{
	const struct report_json_entry *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

json_t *report_json_list(const void *of, unsigned n, report_json_item_fn *item)
{
	struct report_json_entry *entry = calloc(n + 1, sizeof(*entry));
	json_t *array = entry ? json_array() : NULL;
	unsigned n_entries = 0;
	int bad = !array;

	for (unsigned i = 0; i < n && !bad; i++) {
		struct report_json_entry one = { -1, i, NULL };

		one.value = item(of, i, &one.rank);
		bad = one.rank >= 0 && !one.value;
		if (one.value)
			entry[n_entries++] = one;
	}
	if (n_entries)
		qsort(entry, n_entries, sizeof(*entry), report_json_compare);
	for (unsigned i = 0; i < n_entries; i++)
		bad |= json_array_append_new(array, entry[i].value);
	free(entry);
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *report_json_class(const void *of, unsigned bit, double *rank)
{
	const struct report *report = of;
	const char *name = ktr_reader_class_name(report->reader, bit);
	uint64_t n = ktr__tally_class(report->tally, bit);

	if (!n)
		return NULL;
	*rank = (double)n;
	return json_pack("{s:o, s:i, s:o}", "class", name ? report_json_text(name) : json_null(), "bit", (int)bit,
			 "events", ktr__jansson_u64(n));
}

static json_t *report_json_site(const void *of, unsigned id, double *rank)
{
	const struct report *report = of;
	const struct ktr_reader_site *site = ktr_reader_site(report->reader, id);
	uint64_t n = report->tally->site[id];

	if (!site || !n)
		return NULL;
	*rank = (double)n;
	return json_pack("{s:i, s:o, s:o, s:o, s:I, s:o, s:o, s:s, s:o}", "site", (int)id, "name",
			 report_json_text(site->name), "class", report_json_text(site->class_name), "file",
			 report_json_text(site->file), "line", (json_int_t)site->line, "func",
			 report_json_text(site->func), "format", report_json_text(site->format), "kind",
			 ktr__ktrgraph_text(site->kind), "events", ktr__jansson_u64(n));
}

static json_t *report_json_thread(const void *of, unsigned id, double *rank)
{
	const struct report *report = of;
	const struct ktr_reader_thread *thread = ktr_reader_thread(report->reader, id);
	uint64_t n = report->tally->thread[id];

	if (!thread || !n)
		return NULL;
	*rank = (double)n;
	return json_pack("{s:i, s:I, s:I, s:o, s:o, s:o}", "thread", (int)id, "tid", (json_int_t)thread->tid, "pid",
			 (json_int_t)thread->pid, "name", report_json_text(thread->name), "process",
			 report_json_text(thread->process), "events", ktr__jansson_u64(n));
}

static json_t *report_json_cpu(const void *of, unsigned i, double *rank)
{
	const struct report *report = of;
	const struct ktr__tally_cpu *cpu = &report->tally->cpu[i];

	if (!cpu->n_events && !cpu->n_lost)
		return NULL;
	*rank = 0;
	return json_pack("{s:i, s:o, s:o}", "cpu", (int)i, "events", ktr__jansson_u64(cpu->n_events), "lost",
			 ktr__jansson_u64(cpu->n_lost));
}

/* ---- rows ---- */

static json_t *report_json_row(const struct ktr__tally_row *row)
{
	return json_pack("{s:o, s:o, s:I, s:o}", "group", report_json_text(row->group), "id",
			 row->other ? json_null() : report_json_bytes(&row->ident), "pid",
			 (json_int_t)(row->thread ? row->thread->pid : 0), "process",
			 report_json_text(row->thread ? row->thread->process : ""));
}

static json_t *report_json_histogram(const struct ktr__histogram *h)
{
	uint64_t count[KTR__HISTOGRAM_POWERS];
	json_t *array = json_array();

	ktr__histogram_powers(h, count);
	for (unsigned i = 0; i < KTR__HISTOGRAM_POWERS; i++)
		if (count[i] && json_array_append_new(array, json_pack("{s:o, s:o, s:o}", "from_ns",
				ktr__jansson_u64(i ? 1ull << (i - 1) : 0), "to_ns",
				ktr__jansson_u64(i < 64 ? 1ull << i : UINT64_MAX), "count",
				ktr__jansson_u64(count[i])))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

/* 0 or -1. */
static int report_json_durations(json_t *object, const struct ktr__tally_row *row)
{
	static const struct {
		const char *key;
		double q;
	} quantiles[] = {
		{ "p50_ns", 0.5 }, { "p90_ns", 0.9 }, { "p99_ns", 0.99 }, { "p99_9_ns", 0.999 }
	};
	const struct ktr__histogram *h = &row->durations;
	int bad = json_object_set_new(object, "count", ktr__jansson_u64(h->n));
	uint64_t ns;

	bad |= json_object_set_new(object, "unsure", ktr__jansson_u64(row->n_unsure));
	bad |= json_object_set_new(object, "nested", ktr__jansson_u64(row->n_nested));
	bad |= json_object_set_new(object, "no_start", ktr__jansson_u64(row->n_no_start));
	bad |= json_object_set_new(object, "no_end", ktr__jansson_u64(row->n_no_end));
	bad |= json_object_set_new(object, "open_ns", ktr__jansson_u64(row->open_ns));
	if (!h->n)
		return bad;
	bad |= json_object_set_new(object, "total_ns", ktr__jansson_u64((uint64_t)h->sum));
	bad |= json_object_set_new(object, "mean_ns", json_real(h->mean));
	bad |= json_object_set_new(object, "deviation_ns", json_real(ktr__histogram_deviation(h)));
	bad |= json_object_set_new(object, "min_ns", ktr__jansson_u64(h->min));
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		if (ktr__histogram_tell(h, quantiles[i].q, &ns))
			bad |= json_object_set_new(object, quantiles[i].key, ktr__jansson_u64(ns));
	bad |= json_object_set_new(object, "histogram", report_json_histogram(h));
	return bad | json_object_set_new(object, "max_ns", ktr__jansson_u64(h->max));
}

static json_t *report_json_timed(const struct ktr__tally_row *row, json_t *object, double *rank)
{
	*rank = row->durations.sum;
	if (!report_json_durations(object, row))
		return object;
	json_decref(object);
	return NULL;
}

static json_t *report_json_span_row(const void *of, unsigned i, double *rank)
{
	const struct ktr__tally_row *row = ((const struct report *)of)->tally->row[i];

	return row->kind == KTR_KIND_START && !row->pair ? report_json_timed(row, report_json_row(row), rank)
							 : NULL;
}

static json_t *report_json_state_row(const void *of, unsigned i, double *rank)
{
	const struct ktr__tally_row *row = ((const struct report *)of)->tally->row[i];
	json_t *object;

	if (row->kind != KTR_KIND_STATE || row->pair)
		return NULL;
	object = report_json_row(row);
	json_object_set_new(object, "state", row->other ? json_null() : report_json_bytes(&row->state));
	return report_json_timed(row, object, rank);
}

static json_t *report_json_pair(const void *of, unsigned i, double *rank)
{
	const struct report *report = of;
	const struct ktr__tally_row *row = report->tally->row[i];
	const struct ktr__pair *pair = &report->pair[row->pair ? row->pair - 1 : 0];
	json_t *object;

	if (!row->pair)
		return NULL;
	object = json_pack("{s:i, s:o, s:o, s:o, s:I, s:o}", "pair", (int)row->pair, "from",
			   report_json_text(pair->from), "to", report_json_text(pair->to), "key",
			   report_json_text(pair->key[0] ? pair->key : "thread"), "pid",
			   (json_int_t)(row->thread ? row->thread->pid : 0), "process",
			   report_json_text(row->thread ? row->thread->process : ""));
	return report_json_timed(row, object, rank);
}

/* The states of a row. */
struct report_json_states {
	const struct report *report;
	unsigned row;
	uint64_t ns; /* all of them */
};

static json_t *report_json_state(const void *of, unsigned i, double *rank)
{
	const struct report_json_states *states = of;
	const struct ktr__tally_row *row = states->report->tally->row[i];

	if (!report_state_same(states->report, states->row, i))
		return NULL;
	*rank = (double)report_state_ns(row);
	return json_pack("{s:o, s:o, s:f}", "state", report_json_bytes(&row->state), "ns",
			 ktr__jansson_u64(report_state_ns(row)), "share", *rank / (double)states->ns);
}

static json_t *report_json_state_time(const void *of, unsigned i, double *rank)
{
	const struct report *report = of;
	const struct report_json_states states = { report, i, report_states_ns(report, i) };
	json_t *object;

	if (!states.ns)
		return NULL;
	*rank = (double)states.ns;
	object = report_json_row(report->tally->row[i]);
	if (json_object_set_new(object, "known_ns", ktr__jansson_u64(states.ns)) == 0 &&
	    json_object_set_new(object, "states",
				report_json_list(&states, report->tally->n_rows, report_json_state)) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *report_json_counter(const void *of, unsigned i, double *rank)
{
	const struct ktr__tally_row *row = ((const struct report *)of)->tally->row[i];
	json_t *object;

	if (row->kind != KTR_KIND_COUNTER)
		return NULL;
	*rank = (double)row->n;
	object = report_json_row(row);
	json_object_set_new(object, "count", ktr__jansson_u64(row->n));
	json_object_set_new(object, "min", report_json_real(row->min));
	json_object_set_new(object, "mean", report_json_real(row->sum / (double)row->n));
	json_object_set_new(object, "max", report_json_real(row->max));
	json_object_set_new(object, "last", report_json_real(row->last));
	return object;
}

/* ---- gaps ---- */

static json_t *report_json_gap(const void *of, unsigned i, double *rank)
{
	const struct ktr__gap *gap = &((const struct ktr__gaps_list *)of)->gap[i];

	*rank = (double)(gap->to_ns - gap->from_ns);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:b}", "ns", ktr__jansson_u64(gap->to_ns - gap->from_ns),
			 "from_ns", ktr__jansson_u64(gap->from_ns), "to_ns", ktr__jansson_u64(gap->to_ns), "before",
			 report_json_text(gap->before->name), "after", report_json_text(gap->after->name), "tid",
			 (json_int_t)gap->thread->tid, "unsure", gap->unsure);
}

static json_t *report_json_thread_gaps(const void *of, unsigned id, double *rank)
{
	const struct ktr__gaps_list *list = &((const struct ktr__gaps *)of)->thread[id];
	const struct ktr_reader_thread *thread = list->n ? list->gap[0].thread : NULL;

	if (!thread)
		return NULL;
	*rank = (double)(list->gap[0].to_ns - list->gap[0].from_ns);
	return json_pack("{s:i, s:I, s:I, s:o, s:o}", "thread", (int)id, "tid", (json_int_t)thread->tid, "pid",
			 (json_int_t)thread->pid, "name", report_json_text(thread->name), "gaps",
			 report_json_list(list, list->n, report_json_gap));
}

static json_t *report_json_gaps(const struct ktr__gaps *gaps)
{
	return json_pack("{s:o, s:o}", "overall",
			 report_json_list(&gaps->overall, gaps->overall.n, report_json_gap), "threads",
			 report_json_list(gaps, gaps->n_threads, report_json_thread_gaps));
}

json_t *report_json(const struct report *report)
{
	const struct ktr__tally *t = report->tally;
	double seconds = (double)(t->last_ns - t->first_ns) / 1e9;
	json_t *tree;

	tree = json_pack(
		"{s:s, s:o, s:b, s:o, s:o, s:o, s:{s:o, s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
		" s:o, s:o, s:o, s:f}",
		"schema", "ktr-report-1", "source", report_json_source(report->info), "partial", report->partial,
		"span", report_json_span(report), "events", ktr__jansson_u64(t->n_events), "events_per_s",
		seconds > 0 ? json_real((double)t->n_events / seconds) : json_null(), "losses", "events",
		ktr__jansson_u64(t->n_lost + ktr__dropped_sum(report->info->n_dropped)), "gaps",
		ktr__jansson_u64(t->n_gaps), "dropped", ktr__jansson_dropped(report->info->n_dropped), "classes",
		report_json_list(report, KTR_CLASS_MAX, report_json_class), "sites",
		report_json_list(report, t->n_sites, report_json_site), "threads",
		report_json_list(report, t->n_threads, report_json_thread), "cpus",
		report_json_list(report, t->n_cpus, report_json_cpu), "spans",
		report_json_list(report, t->n_rows, report_json_span_row), "pairs",
		report_json_list(report, t->n_rows, report_json_pair), "states",
		report_json_list(report, t->n_rows, report_json_state_row), "state_time",
		report_json_list(report, t->n_rows, report_json_state_time), "untracked",
		ktr__jansson_u64(ktr__spans_n_untracked(t->spans)), "counters",
		report_json_list(report, t->n_rows, report_json_counter), "time_of_threads",
		report_oncpu_json(report), "absences", report_absences_json(report), "quantile_error",
		KTR__HISTOGRAM_ERROR);
	if (tree && t->gaps.n_kept && json_object_set_new(tree, "gaps", report_json_gaps(&t->gaps))) {
		json_decref(tree);
		return NULL;
	}
	if (tree && report->functions && json_object_set_new(tree, "functions", report_functions_json(report))) {
		json_decref(tree);
		return NULL;
	}
	if (tree && report->functions && report_functions_off_json(report, tree)) {
		json_decref(tree);
		return NULL;
	}
	if (tree && report->syscalls && json_object_set_new(tree, "syscalls", report_syscalls_json(report))) {
		json_decref(tree);
		return NULL;
	}
	if (tree && report->samples && json_object_set_new(tree, "profile", report_profile_json(report))) {
		json_decref(tree);
		return NULL;
	}
	return tree;
}

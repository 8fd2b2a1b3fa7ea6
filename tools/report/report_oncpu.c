/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of a report that the kernel's context switches allow, as text and as JSON. */
#include "tools/report/report_oncpu.h"

#include "analyze/print/sink_json.h"
#include "tools/report/report.h"
#include "tools/report/report_text.h"
#include "visualize/model/label.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Threads by the time they were off a CPU, the longest first. */
static int oncpu_compare(const void *a, const void *b)
{
	const struct ktr__oncpu_thread *x = *(const struct ktr__oncpu_thread *const *)a;
	const struct ktr__oncpu_thread *y = *(const struct ktr__oncpu_thread *const *)b;

	if (x->total_ns[KTR__ONCPU_ON] != y->total_ns[KTR__ONCPU_ON])
		return x->total_ns[KTR__ONCPU_ON] < y->total_ns[KTR__ONCPU_ON] ? 1 : -1;
	return (x->thread->id > y->thread->id) - (x->thread->id < y->thread->id);
}

/* Owned: those with events of the kernel; NULL without memory. */
static const struct ktr__oncpu_thread **oncpu_threads(const struct report *report, unsigned *n)
{
	const struct ktr__oncpu *oncpu = report->oncpu;
	const struct ktr__oncpu_thread **all = calloc(oncpu->n_threads + 1, sizeof(*all));

	*n = 0;
	*report->short_of_memory |= !all;
	for (unsigned i = 0; all && i < oncpu->n_threads; i++)
		if (oncpu->thread[i].thread)
			all[(*n)++] = &oncpu->thread[i];
	if (*n)
		qsort(all, *n, sizeof(*all), oncpu_compare);
	return all;
}

static void oncpu_name(FILE *to, const struct ktr_reader_thread *thread)
{
	char name[128];

	snprintf(name, sizeof(name), "%.100s/%u", thread->name, thread->tid);
	report_text_name(to, name, strlen(name));
}

static void oncpu_text_threads(const struct report *report, FILE *to)
{
	unsigned n, shown;
	const struct ktr__oncpu_thread **all = oncpu_threads(report, &n);

	shown = report->top && report->top < n ? report->top : n;
	if (n)
		report_text_heading(report, to,
				    "  running     ready       off   switches  preempted     faults from disk",
				    "time of threads");
	for (unsigned i = 0; i < shown; i++) {
		const struct ktr__oncpu_thread *t = all[i];

		oncpu_name(to, t->thread);
		for (unsigned state = KTR__ONCPU_ON; state <= KTR__ONCPU_OFF; state++)
			report_text_duration(to, (double)t->total_ns[state]);
		fprintf(to, " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %9" PRIu64, t->n_switches, t->n_preempted,
			t->n_minor + t->n_major, t->n_major);
		if (t->total_ns[KTR__ONCPU_UNKNOWN]) {
			fputs("  and", to);
			report_text_duration(to, (double)t->total_ns[KTR__ONCPU_UNKNOWN]);
			fputs(" that is not known", to);
		}
		fputc('\n', to);
	}
	if (shown < n)
		fprintf(to, "  and %u more threads\n", n - shown);
	free(all);
}

/* The last event before an absence. The strings it had are gone: its format stands for them. */
static void oncpu_last(const struct ktr_event *last, char *text, size_t size)
{
	char clean[160], plain[160] = "";

	if (last->site->in_str)
		snprintf(plain, sizeof(plain), "%s", last->site->format);
	else
		ktr_event_text(last, plain, sizeof(plain));
	ktr__label_clean(clean, sizeof(clean), plain, strlen(plain));
	snprintf(text, size, "%.60s: %s", last->site->name, clean);
}

static void oncpu_text_absences(const struct report *report, FILE *to)
{
	const struct ktr__oncpu *oncpu = report->oncpu;
	unsigned shown = report->top && report->top < oncpu->n_absences ? report->top : oncpu->n_absences;

	if (shown)
		report_text_heading(report, to, "   lasted        at            last event before", "longest absences");
	for (unsigned i = 0; i < shown; i++) {
		const struct ktr__oncpu_absence *a = &oncpu->absence[i];
		char text[256] = "none";

		oncpu_name(to, a->thread);
		report_text_duration(to, (double)a->ns);
		fprintf(to, " %9s %-7s ", ktr__label_duration(a->from_ns - report->info->first_ns).text,
			a->state == KTR__ONCPU_READY ? "ready"
			: a->open                    ? "off, on"
						     : "off");
		if (a->last.site)
			oncpu_last(&a->last, text, sizeof(text));
		fprintf(to, " %s", text);
		if (a->last.site)
			fprintf(to, " (%s before)",
				ktr__label_duration(a->from_ns > a->last.time_ns ? a->from_ns - a->last.time_ns : 0)
					.text);
		fputc('\n', to);
	}
}

void report_oncpu_text(const struct report *report, FILE *to)
{
	if (!report->oncpu->known_ns)
		return;
	oncpu_text_threads(report, to);
	oncpu_text_absences(report, to);
}

json_t *report_oncpu_json(const struct report *report)
{
	unsigned n;
	const struct ktr__oncpu_thread **all = oncpu_threads(report, &n);
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++) {
		const struct ktr__oncpu_thread *t = all[i];

		json_array_append_new(
			list, json_pack("{s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "thread", (int)t->thread->id,
					"tid", (json_int_t)t->thread->tid, "on_ns",
					ktr__jansson_u64(t->total_ns[KTR__ONCPU_ON]), "ready_ns",
					ktr__jansson_u64(t->total_ns[KTR__ONCPU_READY]), "off_ns",
					ktr__jansson_u64(t->total_ns[KTR__ONCPU_OFF]), "unknown_ns",
					ktr__jansson_u64(t->total_ns[KTR__ONCPU_UNKNOWN]), "switches",
					ktr__jansson_u64(t->n_switches), "preempted",
					ktr__jansson_u64(t->n_preempted),
					"minor_faults", ktr__jansson_u64(t->n_minor), "major_faults",
					ktr__jansson_u64(t->n_major)));
	}
	free(all);
	return list;
}

static json_t *oncpu_json_last(const struct ktr_event *last)
{
	char text[256];

	if (!last->site)
		return json_null();
	oncpu_last(last, text, sizeof(text));
	return json_pack("{s:i, s:o, s:o}", "site", (int)last->site->id, "time_ns", ktr__jansson_u64(last->time_ns),
			 "text",
			 ktr__jansson_text(text, strlen(text)));
}

json_t *report_absences_json(const struct report *report)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < report->oncpu->n_absences; i++) {
		const struct ktr__oncpu_absence *a = &report->oncpu->absence[i];

		json_array_append_new(list,
				      json_pack("{s:i, s:I, s:s, s:o, s:o, s:b, s:o}", "thread", (int)a->thread->id,
				      "tid",
						(json_int_t)a->thread->tid, "state",
						a->state == KTR__ONCPU_READY ? "ready" : "off", "from_ns",
						ktr__jansson_u64(a->from_ns), "ns", ktr__jansson_u64(a->ns), "open",
						a->open, "last", oncpu_json_last(&a->last)));
	}
	return list;
}

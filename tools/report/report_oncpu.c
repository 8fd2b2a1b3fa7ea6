/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of a report that the kernel's context switches allow, as text and as JSON. */
#include "tools/report/report_oncpu.h"

#include "analyze/print/render.h"
#include "analyze/print/sink_json.h"
#include "tools/report/report.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "visualize/model/label.h"

#include <inttypes.h>
#include <string.h>

/* Threads by the time they ran, the longest first: those with events of the kernel. */
static uint64_t oncpu_rank(const struct report *report, unsigned i)
{
	const struct ktr__oncpu_thread *t = &report->oncpu->thread[i];

	return t->thread ? t->total_ns[KTR__ONCPU_ON] + 1 : 0;
}

static void oncpu_text_thread(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__oncpu_thread *t = &report->oncpu->thread[i];

	report_text_thread(to, t->thread);
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

/* The last event before an absence. The strings it had are gone: its format stands for them. */
static void oncpu_last(const struct ktr_event *last, char *text, size_t size)
{
	char clean[160], plain[160] = "";

	if (last->site->in_str)
		ktr__render_said_format(last->site, plain, sizeof(plain));
	else
		ktr__render_said(last, NULL, plain, sizeof(plain));
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

		report_text_thread(to, a->thread);
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
	static const struct report_table threads = {
		"time of threads", "  running     ready       off   switches  preempted     faults from disk",
		"threads", oncpu_rank, oncpu_text_thread
	};

	if (!report->oncpu->known_ns)
		return;
	report_table(report, to, &threads, report->oncpu->n_threads);
	oncpu_text_absences(report, to);
}

static json_t *oncpu_json_thread(const void *of, unsigned i, double *rank)
{
	const struct ktr__oncpu_thread *t = &((const struct ktr__oncpu *)of)->thread[i];

	if (!t->thread)
		return NULL;
	*rank = (double)t->total_ns[KTR__ONCPU_ON];
	return json_pack("{s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "thread", (int)t->thread->id, "tid",
			 (json_int_t)t->thread->tid, "on_ns", ktr__jansson_u64(t->total_ns[KTR__ONCPU_ON]),
			 "ready_ns", ktr__jansson_u64(t->total_ns[KTR__ONCPU_READY]), "off_ns",
			 ktr__jansson_u64(t->total_ns[KTR__ONCPU_OFF]), "unknown_ns",
			 ktr__jansson_u64(t->total_ns[KTR__ONCPU_UNKNOWN]), "switches",
			 ktr__jansson_u64(t->n_switches), "preempted", ktr__jansson_u64(t->n_preempted),
			 "minor_faults", ktr__jansson_u64(t->n_minor), "major_faults",
			 ktr__jansson_u64(t->n_major));
}

json_t *report_oncpu_json(const struct report *report)
{
	return report_json_list(report->oncpu, report->oncpu->n_threads, oncpu_json_thread);
}

static json_t *oncpu_json_last(const struct ktr_event *last)
{
	char text[256];

	if (!last->site)
		return json_null();
	oncpu_last(last, text, sizeof(text));
	return json_pack("{s:i, s:o, s:o}", "site", (int)last->site->id, "time_ns", ktr__jansson_u64(last->time_ns),
			 "text", report_json_text(text));
}

static json_t *oncpu_json_absence(const void *of, unsigned i, double *rank)
{
	const struct ktr__oncpu_absence *a = &((const struct ktr__oncpu *)of)->absence[i];

	*rank = 0;
	return json_pack("{s:i, s:I, s:s, s:o, s:o, s:b, s:o}", "thread", (int)a->thread->id, "tid",
			 (json_int_t)a->thread->tid, "state", a->state == KTR__ONCPU_READY ? "ready" : "off",
			 "from_ns", ktr__jansson_u64(a->from_ns), "ns", ktr__jansson_u64(a->ns), "open", a->open,
			 "last", oncpu_json_last(&a->last));
}

json_t *report_absences_json(const struct report *report)
{
	return report_json_list(report->oncpu, report->oncpu->n_absences, oncpu_json_absence);
}

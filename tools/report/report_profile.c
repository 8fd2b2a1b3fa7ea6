/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was asked for is told beside what came: the time of a thread is the sum of all, and its functions have what
 * came with a stack.
 */
#include "tools/report/report_profile.h"

#include "analyze/print/sink_json.h"
#include "analyze/stats/samples.h"
#include "tools/report/report_json.h"
#include "tools/report/report_names.h"
#include "tools/report/report_source.h"
#include "tools/report/report_text.h"
#include "visualize/model/label.h"

#include <inttypes.h>
#include <string.h>

#define PROFILE_CELL	   10u /* [columns] of a duration or a count, with what is before it */
#define PROFILE_SHARE	   8u  /* [columns] of a share, likewise */
#define PROFILE_MOST_LEAST 16u /* [columns] of what a thread was most in, however narrow the terminal */

static uint64_t profile_sum(const uint64_t of[KTR__SAMPLE_HOWS])
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < KTR__SAMPLE_HOWS; i++)
		sum += of[i];
	return sum;
}

/* Off the CPU, of a trace that tells of it. */
static uint64_t profile_off(const uint64_t of[KTR__SAMPLE_HOWS])
{
	return of[KTR__SAMPLE_OFF] + of[KTR__SAMPLE_READY] + of[KTR__SAMPLE_FAULT] + of[KTR__SAMPLE_ASLEEP];
}

static double profile_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* ---- threads ---- */

static uint64_t profile_thread_rank(const struct report *report, unsigned i)
{
	const struct ktr__sampled_thread *t = &report->samples->thread[i];

	return t->thread ? profile_sum(t->ns) + 1 : 0;
}

/* [columns] that the table of threads leaves for its last one; names of threads have the least that they take. */
static unsigned profile_most_columns(const struct report *report)
{
	const struct ktr__samples *s = report->samples;
	unsigned off = s->n_off ? KTR__SAMPLE_ASLEEP - KTR__SAMPLE_OFF + 1u : 0u;
	unsigned cells = 5u + (s->ns[KTR__SAMPLE_WAITING] != 0) + off;
	unsigned before = 2u + REPORT_NAMES_LEAST + cells * PROFILE_CELL + PROFILE_SHARE + 2u;

	return report->width > before + PROFILE_MOST_LEAST ? report->width - before : PROFILE_MOST_LEAST;
}

/* On a terminal its middle is left out where it is too long; else it is whole. */
static void profile_most(const struct report *report, FILE *to, const char *name)
{
	char clean[4096], fit[KTR__LABEL_BYTES];

	ktr__label_clean(clean, sizeof(clean), name, strlen(name));
	if (report->width > 0)
		ktr__label_fit(fit, sizeof(fit), clean, profile_most_columns(report), 0);
	fprintf(to, "  %s", report->width > 0 ? fit : clean);
}

static void profile_thread_line(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__sampled_thread *t = &report->samples->thread[i];
	uint64_t all = profile_sum(report->samples->ns);

	report_text_thread(to, t->thread);
	report_text_duration(to, (double)profile_sum(t->ns));
	fprintf(to, " %5.1f %%", profile_percent(profile_sum(t->ns), all));
	report_text_duration(to, (double)t->ns[KTR__SAMPLE_USER]);
	report_text_duration(to, (double)t->ns[KTR__SAMPLE_KERNEL]);
	report_text_duration(to, (double)(t->ns[KTR__SAMPLE_BLOCKED] + t->ns[KTR__SAMPLE_MISSED] +
					  t->ns[KTR__SAMPLE_LOST]));
	if (report->samples->ns[KTR__SAMPLE_WAITING])
		report_text_duration(to, (double)t->ns[KTR__SAMPLE_WAITING]);
	for (unsigned how = KTR__SAMPLE_OFF; report->samples->n_off && how <= KTR__SAMPLE_ASLEEP; how++)
		report_text_duration(to, (double)t->ns[how]);
	report_text_count(to, t->n, 9);
	if (t->most)
		profile_most(report, to, t->most->name);
	fputc('\n', to);
}

/* ---- functions ---- */

static uint64_t profile_function_rank(const struct report *report, unsigned i)
{
	const struct ktr__sampled *f = report->samples->function.row[i];

	return f->thread ? 0 : f->self_ns + 1;
}

static void profile_function_line(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__sampled *f = report->samples->function.row[i];
	uint64_t all = profile_sum(report->samples->ns);

	report_text_name(to, f->name, strlen(f->name));
	report_text_duration(to, (double)f->self_ns);
	fprintf(to, " %5.1f %%", profile_percent(f->self_ns, all));
	report_text_duration(to, (double)f->total_ns);
	fprintf(to, " %5.1f %%", profile_percent(f->total_ns, all));
	report_text_count(to, f->n, 9);
	fputc('\n', to);
}

/* How long threads were off the CPU, and by what that is known. */
static void profile_text_off(const struct report *report, FILE *to)
{
	const struct ktr__samples *s = report->samples;
	uint64_t off = profile_off(s->ns), cpu = profile_sum(s->ns) - off, on = 0;

	if (!s->n_off)
		return;
	for (uint32_t i = 0; i < s->n_threads; i++)
		on += s->thread[i].thread ? ktr__sampler_on_ns(&s->sampler, i) : 0;
	fprintf(to, "off the CPU %s, %" PRIu64 " times: ", ktr__label_duration(off).text, s->n_off);
	fputs(s->sampler.has_switches ? "when, by the kernel's context switches; where, by calls that wait\n"
				      : "by calls that wait alone: what else a thread waits for is not known, as the kernel "
					"told of no context switches\n",
	      to);
	/* Beyond what samples can be off by. */
	if (on > cpu + cpu / 50 + 10000000)
		fprintf(to, "threads had CPUs for %s by context switches: what is more than their CPU time is that of "
			"interrupts, or of the machine, which others share\n", ktr__label_duration(on).text);
}

static uint64_t profile_source_rank(const struct report *report, unsigned i)
{
	return report->samples->line.row[i]->self_ns + 1;
}

static void profile_source_line(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__sampled *line = report->samples->line.row[i];

	report_text_name(to, line->name, strlen(line->name));
	report_text_duration(to, (double)line->self_ns);
	fprintf(to, " %5.1f %%", profile_percent(line->self_ns, profile_sum(report->samples->ns)));
	report_text_count(to, line->n, 9);
	fputc('\n', to);
}

static void profile_text_came(const struct report *report, FILE *to)
{
	const struct ktr__samples *s = report->samples;
	uint64_t off = profile_off(s->ns), due = profile_sum(s->n_ticks), blocked = s->n_ticks[KTR__SAMPLE_BLOCKED],
		 missed = s->n_ticks[KTR__SAMPLE_MISSED], lost = s->n_ticks[KTR__SAMPLE_LOST];

	fprintf(to, "\n%s of %s: %" PRIu64 " samples were due, %" PRIu64 " came, by %" PRIu64 " stacks\n",
		s->ns[KTR__SAMPLE_WAITING] ? "Time" : "CPU time", ktr__label_duration(profile_sum(s->ns) - off).text, due, due - blocked - missed - lost, s->n);
	if (blocked)
		fprintf(to, "%" PRIu64 " came while threads blocked the signal: it is not known where\n",
			blocked);
	if (missed)
		fprintf(to, "%" PRIu64 " did not come before the thread ended\n", missed);
	if (lost)
		fprintf(to, "%" PRIu64 " came and were lost: the kernel's ring was full\n", lost);
	if (s->n_cut)
		fprintf(to, "%" PRIu64 " stacks are cut: their outermost callers are not known\n", s->n_cut);
}

void report_profile_text(const struct report *report, FILE *to)
{
	static const struct report_table threads = {
		"thread", "     time   share      user    kernel   unknown    stacks  most in", "threads",
		profile_thread_rank, profile_thread_line
	};
	/* And with where threads were off it. */
	static const struct report_table both = {
		"thread",
		"     time   share      user    kernel   unknown     calls     ready     pages  unknown"
		"    stacks  most in",
		"threads", profile_thread_rank, profile_thread_line
	};
	/* Of ktr sample, where threads wait, too. */
	static const struct report_table waiting = {
		"thread", "     time   share      user    kernel   unknown   waiting    stacks  most in", "threads",
		profile_thread_rank, profile_thread_line
	};
	static const struct report_table functions = { "function",
						       "     self   share     total   share    stacks",
						       "functions", profile_function_rank,
						       profile_function_line };
	static const struct report_table lines = { "line", "     self   share    stacks", "lines",
						   profile_source_rank, profile_source_line };

	if (!profile_sum(report->samples->n_ticks) && !report->samples->n_off) {
		fputs("\nno sample: ktr profile PROGRAM\n", to);
		return;
	}
	profile_text_came(report, to);
	profile_text_off(report, to);
	report_table(report, to,
		     report->samples->n_off                      ? &both
		     : report->samples->ns[KTR__SAMPLE_WAITING] ? &waiting
							 : &threads,
		     report->samples->n_threads);
	report_table(report, to, &functions, report->samples->function.n);
	if (report->samples->wants_lines)
		report_table(report, to, &lines, report->samples->line.n);
	if (report->source && report_source_text(report, to))
		*report->short_of_memory = 1;
}

/* ---- JSON ---- */

static json_t *profile_json_thread(const void *of, unsigned i, double *rank)
{
	const struct ktr__samples *s = of;
	const struct ktr__sampled_thread *t = &s->thread[i];

	if (!t->thread)
		return NULL;
	*rank = (double)profile_sum(t->ns);
	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tid", (int)t->thread->tid,
			 "name", report_json_text(t->thread->name), "ns", ktr__jansson_u64(profile_sum(t->ns)),
			 "user_ns", ktr__jansson_u64(t->ns[KTR__SAMPLE_USER]), "kernel_ns",
			 ktr__jansson_u64(t->ns[KTR__SAMPLE_KERNEL]), "blocked_ns",
			 ktr__jansson_u64(t->ns[KTR__SAMPLE_BLOCKED]), "missed_ns",
			 ktr__jansson_u64(t->ns[KTR__SAMPLE_MISSED]), "lost_ns",
			 ktr__jansson_u64(t->ns[KTR__SAMPLE_LOST]), "waiting_ns",
			 ktr__jansson_u64(t->ns[KTR__SAMPLE_WAITING]), "due",
			 ktr__jansson_u64(profile_sum(t->n_ticks)), "stacks", ktr__jansson_u64(t->n), "cut",
			 ktr__jansson_u64(t->n_cut), "off_calls_ns", ktr__jansson_u64(t->ns[KTR__SAMPLE_OFF]),
			 "off_ready_ns", ktr__jansson_u64(t->ns[KTR__SAMPLE_READY]), "off_pages_ns",
			 ktr__jansson_u64(t->ns[KTR__SAMPLE_FAULT]), "off_unknown_ns",
			 ktr__jansson_u64(t->ns[KTR__SAMPLE_ASLEEP]), "off", ktr__jansson_u64(t->n_off), "on_ns",
			 ktr__jansson_u64(ktr__sampler_on_ns(&s->sampler, i)));
}

static json_t *profile_json_function(const void *of, unsigned i, double *rank)
{
	const struct ktr__sampled *f = ((const struct ktr__sampled_rows *)of)->row[i];

	*rank = (double)f->self_ns;
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", report_json_text(f->name), "tid",
			 f->thread ? json_integer(f->thread->tid) : json_null(), "self_ns",
			 ktr__jansson_u64(f->self_ns), "total_ns", ktr__jansson_u64(f->total_ns), "stacks",
			 ktr__jansson_u64(f->n));
}

static json_t *profile_json_line(const void *of, unsigned i, double *rank)
{
	const struct ktr__sampled *line = ((const struct ktr__sampled_rows *)of)->row[i];

	*rank = (double)line->self_ns;
	return json_pack("{s:o, s:o, s:o}", "line", report_json_text(line->name), "self_ns",
			 ktr__jansson_u64(line->self_ns), "stacks", ktr__jansson_u64(line->n));
}

json_t *report_profile_json(const struct report *report)
{
	const struct ktr__samples *s = report->samples;
	json_t *tree = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "ns", ktr__jansson_u64(profile_sum(s->ns)), "due",
			 ktr__jansson_u64(profile_sum(s->n_ticks)), "stacks", ktr__jansson_u64(s->n), "cut",
			 ktr__jansson_u64(s->n_cut), "threads",
			 report_json_list(s, s->n_threads, profile_json_thread), "functions",
			 report_json_list(&s->function, s->function.n, profile_json_function));

	if (tree && s->n_off)
		json_object_set_new(tree, "off_cpu",
				    json_pack("{s:o, s:o, s:s, s:s}", "ns", ktr__jansson_u64(profile_off(s->ns)), "n",
					      ktr__jansson_u64(s->n_off), "when",
					      s->sampler.has_switches ? "switches" : "calls", "where", "calls"));
	if (tree && s->wants_lines)
		json_object_set_new(tree, "lines", report_json_list(&s->line, s->line.n, profile_json_line));
	if (tree && report->source)
		json_object_set_new(tree, "source", report_source_json(report));
	return tree;
}

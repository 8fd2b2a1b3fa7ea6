/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A comparison as JSON, schema "ktr-diff-1":
 *
 *	{"schema":"ktr-diff-1",
 *	 "a":{"path","cmdline","host","events","lost","duration_ns"}, "b":...,
 *	 "alpha","least","tests","changes",
 *	 "spans":[{"name","kind":"span|state|pair",
 *		   "a":{"count","partial","p50_ns","p90_ns","p99_ns"} or null, "b":...,
 *		   "p50":TEST,"p90":TEST or "p99":TEST}],
 *	 "sites":[{"a":{"name","file","line","func","format","events"} or null, "b":..., "rate":TEST}]}
 *
 * TEST: "verdict" ("more", "less", "same", "unknown": too few), and unless it is unknown "ratio" (of B to
 * A; null where A has none), "low", "high" (the ratio's interval; of spans), "p" (of this test alone),
 * "p_family" (of all tests together, which the verdict goes by). partial: spans without one of their
 * ends or across a loss, which are not in the numbers.
 */
#include "tools/diff.h"

#include "analyze/sink_json.h"

#include <math.h>
#include <string.h>

static json_t *diff_json_text(const char *text)
{
	return ktr__jansson_text(text, strlen(text));
}

static json_t *diff_json_real(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

static json_t *diff_json_trace(const struct ktr_reader_info *info, const struct ktr__blocks *blocks)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "path", diff_json_text(info->path),
			 "cmdline", diff_json_text(info->cmdline), "host",
			 diff_json_text(info->host), "events", ktr__jansson_u64(blocks->n_events),
			 "lost", ktr__jansson_u64(blocks->n_lost), "duration_ns",
			 ktr__jansson_u64(blocks->to_ns - blocks->from_ns));
}

static json_t *diff_json_test(const struct ktr__diff_test *test, int with_interval)
{
	static const char *const verdicts[] = { "same", "more", "less", "unknown" };
	const struct ktr__ranks *r = &test->ranks;

	if (test->verdict == KTR__DIFF_UNKNOWN)
		return json_pack("{s:s}", "verdict", verdicts[test->verdict]);
	if (!with_interval)
		return json_pack("{s:s, s:o, s:f, s:f}", "verdict", verdicts[test->verdict],
				 "ratio", diff_json_real(r->ratio), "p", r->p, "p_family", test->p);
	return json_pack("{s:s, s:o, s:o, s:o, s:f, s:f}", "verdict", verdicts[test->verdict],
			 "ratio", diff_json_real(r->ratio), "low", diff_json_real(r->low), "high",
			 diff_json_real(r->high), "p", r->p, "p_family", test->p);
}

static json_t *diff_json_row(const struct ktr__blocks_row *row)
{
	if (!row)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "count", ktr__jansson_u64(row->all.n),
			 "partial", ktr__jansson_u64(row->n_partial), "p50_ns",
			 ktr__jansson_u64(ktr__histogram_quantile(&row->all, 0.5)), "p90_ns",
			 ktr__jansson_u64(ktr__histogram_quantile(&row->all, 0.9)), "p99_ns",
			 ktr__jansson_u64(ktr__histogram_quantile(&row->all, 0.99)));
}

static json_t *diff_json_span(const struct ktr__diff_span *span)
{
	const struct ktr__blocks_row *row = span->a ? span->a : span->b;
	json_t *object = json_pack("{s:o, s:s, s:o, s:o, s:o}", "name", diff_json_text(row->name),
				   "kind",
				   row->pair                     ? "pair"
				   : row->kind == KTR_KIND_STATE ? "state"
								 : "span",
				   "a", diff_json_row(span->a), "b", diff_json_row(span->b), "p50",
				   diff_json_test(&span->half, 1));

	if (object && span->tail_share)
		json_object_set_new(object, span->tail_share == 1 ? "p90" : "p99",
				    diff_json_test(&span->tail, 1));
	return object;
}

static json_t *diff_json_place(const struct ktr_reader_site *site, uint64_t n)
{
	if (!site)
		return json_null();
	return json_pack("{s:o, s:o, s:I, s:o, s:o, s:o}", "name", diff_json_text(site->name),
			 "file", diff_json_text(site->file), "line", (json_int_t)site->line, "func",
			 diff_json_text(site->func), "format", diff_json_text(site->format),
			 "events", ktr__jansson_u64(n));
}

json_t *diff_json(const struct diff_report *report)
{
	const struct ktr__diff *diff = report->diff;
	json_t *spans = json_array(), *sites = json_array();
	int bad = !spans || !sites;

	for (unsigned i = 0; i < diff->n_spans && !bad; i++)
		bad = json_array_append_new(spans, diff_json_span(&diff->span[i]));
	for (unsigned i = 0; i < diff->n_sites && !bad; i++) {
		const struct ktr__diff_site *s = &diff->site[i];

		bad = json_array_append_new(sites, json_pack("{s:o, s:o, s:o}", "a",
							     diff_json_place(s->a, s->n_a), "b",
							     diff_json_place(s->b, s->n_b), "rate",
							     diff_json_test(&s->rate, 0)));
	}
	if (bad) {
		json_decref(spans);
		json_decref(sites);
		return NULL;
	}
	return json_pack("{s:s, s:o, s:o, s:f, s:f, s:i, s:i, s:o, s:o}", "schema", "ktr-diff-1",
			 "a", diff_json_trace(report->info[0], diff->a), "b",
			 diff_json_trace(report->info[1], diff->b), "alpha", diff->options.alpha,
			 "least", diff->options.least, "tests", (int)diff->n_tests, "changes",
			 (int)diff->n_changes, "spans", spans, "sites", sites);
}

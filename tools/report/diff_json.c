/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A comparison as JSON, schema "ktr-diff-2":
 *
 *	{"schema":"ktr-diff-2",
 *	 "a":[{"path","cmdline","host","events","lost","duration_ns","active_ns"}, ...], "b":[...],
 *	 "alpha","least","tests","changes","same","unknown",
 *	 "rows":[{"what","name","verdict","a","b","unit","n_a","n_b","ratio","low","high","sees", ...}]}
 *
 * what: "duration", "events", "span", "spans", "class", "site". A row of a span has "kind" ("span", "state",
 * "pair"), "of" ("p50", "p90", "p99"; of durations) and "partial_a", "partial_b"; that of a site "file", "line",
 * "func" and "format". verdict: "more", "less", "same", "unknown". a, b: the values, in unit ("s", "ns", "1/s",
 * "share", "count").
 * ratio: of b to a, null where a has none; low and high: where it lies for sure, null where nothing is known;
 * sees: the least ratio above 1 that would have been told, null: none would.
 */
#include "tools/report/diff_json.h"

#include "analyze/print/sink_json.h"
#include "ktr/session/drop.h"
#include "tools/report/diff.h"
#include "tools/report/report_json.h"

#include <math.h>

static json_t *diff_json_trace(const struct ktr_reader_info *info, const struct ktr__blocks *blocks)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "path", report_json_text(info->path), "cmdline",
			 report_json_text(info->cmdline), "host", report_json_text(info->host), "events",
			 ktr__jansson_u64(blocks->n_events), "lost",
			 ktr__jansson_u64(blocks->n_lost + ktr__dropped_sum(info->n_dropped)), "duration_ns",
			 ktr__jansson_u64(blocks->to_ns - blocks->from_ns), "active_ns",
			 ktr__blocks_active(blocks));
}

static json_t *diff_json_side(const struct diff_report *report, int side)
{
	unsigned first = side ? report->diff->n_runs[0] : 0;
	json_t *array = json_array();

	for (unsigned i = first; i < first + report->diff->n_runs[side]; i++)
		if (json_array_append_new(array, diff_json_trace(report->runs->walk[i].info,
								 report->diff->run[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static const char *diff_json_unit(const struct diff_report *report, const struct ktr__diff_row *row)
{
	if (row->what == KTR__DIFF_DURATION)
		return "s";
	if (row->what == KTR__DIFF_TIME || row->what == KTR__DIFF_TAIL)
		return "ns";
	if (report->diff->options.share)
		return "share";
	return row->is_count ? "count" : "1/s";
}

/* What only some rows have. */
static int diff_json_more(json_t *object, const struct ktr__diff_row *row)
{
	static const char *const of[] = { "p50", "p90", "p99" };
	const struct ktr_reader_site *site = row->site[0] ? row->site[0] : row->site[1];
	json_t *more = NULL;

	if (site)
		more = json_pack("{s:o, s:I, s:o, s:o}", "file", report_json_text(site->file), "line",
				 (json_int_t)site->line, "func", report_json_text(site->func), "format",
				 report_json_text(site->format));
	else if (row->what == KTR__DIFF_TIME || row->what == KTR__DIFF_TAIL || row->what == KTR__DIFF_SPANS)
		more = json_pack("{s:s, s:o, s:o}", "kind",
				 row->pair			? "pair"
				 : row->kind == KTR_KIND_STATE ? "state"
								 : "span",
				 "partial_a", ktr__jansson_u64(row->n_partial[0]), "partial_b",
				 ktr__jansson_u64(row->n_partial[1]));
	else
		return 0;
	if (more && (row->what == KTR__DIFF_TIME || row->what == KTR__DIFF_TAIL))
		json_object_set_new(more, "of", json_string(of[row->share]));
	if (!more || json_object_update(object, more)) {
		json_decref(more);
		return -1;
	}
	json_decref(more);
	return 0;
}

static json_t *diff_json_row(const struct diff_report *report, const struct ktr__diff_row *row)
{
	static const char *const verdicts[] = { "same", "more", "less", "unknown" };
	static const char *const whats[KTR__DIFF_WHATS] = { "duration", "events", "span", "span",
							    "spans",	"class",  "site" };
	json_t *object = json_pack("{s:s, s:o, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "what",
				   whats[row->what], "name", row->name ? report_json_text(row->name) : json_null(),
				   "verdict", verdicts[row->verdict], "a", report_json_real(row->value[0]), "b",
				   report_json_real(row->value[1]), "unit", diff_json_unit(report, row), "n_a",
				   ktr__jansson_u64(row->n[0]), "n_b", ktr__jansson_u64(row->n[1]), "ratio",
				   report_json_real(row->ratio), "low",
				   isfinite(row->high) ? report_json_real(row->low) : json_null(), "high",
				   report_json_real(row->high), "sees", report_json_real(row->sees));

	if (object && diff_json_more(object, row)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *diff_json(const struct diff_report *report)
{
	const struct ktr__diff *diff = report->diff;
	json_t *rows = json_array();
	int bad = !rows;

	for (unsigned i = 0; i < diff->n_rows && !bad; i++)
		bad = json_array_append_new(rows, diff_json_row(report, &diff->row[i]));
	if (bad) {
		json_decref(rows);
		return NULL;
	}
	return json_pack("{s:s, s:o, s:o, s:f, s:f, s:i, s:i, s:i, s:i, s:o}", "schema", "ktr-diff-2", "a",
			 diff_json_side(report, 0), "b", diff_json_side(report, 1), "alpha", diff->options.alpha,
			 "least", diff->options.least, "tests", (int)diff->n_tests, "changes",
			 (int)(diff->n_of[KTR__DIFF_MORE] + diff->n_of[KTR__DIFF_LESS]), "same",
			 (int)diff->n_of[KTR__DIFF_SAME], "unknown", (int)diff->n_of[KTR__DIFF_UNKNOWN], "rows",
			 rows);
}

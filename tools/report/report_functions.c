/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_functions.h"

#include "analyze/print/sink_json.h"
#include "analyze/stats/functions.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "visualize/model/label.h"

#include <inttypes.h>
#include <string.h>

/* By the time of their own: what is to be made faster stands first. */
static uint64_t functions_rank(const struct report *report, unsigned i)
{
	const struct ktr__function *f = report->functions->function[i];

	return f->self_ns + 1;
}

static void functions_quantile(FILE *to, const struct ktr__histogram *h, double share)
{
	uint64_t ns;

	if (ktr__histogram_tell(h, share, &ns))
		report_text_duration(to, (double)ns);
	else
		fprintf(to, " %9s", "-");
}

static void functions_line(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__function *f = report->functions->function[i];
	const struct ktr__histogram *h = &f->durations;

	report_text_name(to, f->name, strlen(f->name));
	report_text_count(to, h->n, 10);
	report_text_duration(to, (double)f->self_ns);
	report_text_duration(to, (double)f->total_ns);
	report_text_duration(to, h->mean);
	functions_quantile(to, h, 0.5);
	functions_quantile(to, h, 0.99);
	report_text_duration(to, h->n ? (double)h->max : 0);
	if (f->n_unknown)
		fprintf(to, "  and %" PRIu64 " of unknown length", f->n_unknown);
	fputc('\n', to);
}

#define FUNCTIONS_OFF 5 /* names */

/* What was not recorded to the end. */
static void functions_off(const struct report *report, FILE *to)
{
	const struct ktr__functions *functions = report->functions;
	unsigned n = functions->n_off < FUNCTIONS_OFF ? functions->n_off : FUNCTIONS_OFF;
	uint64_t since_ns = functions->off_ns - report->info->first_ns;
	char clean[200];

	fprintf(to, "\nfrom %s on without ", ktr__label_duration(since_ns).text);
	for (unsigned i = 0; i < n; i++) {
		ktr__label_clean(clean, sizeof(clean), functions->off[i], strlen(functions->off[i]));
		fprintf(to, "%s%s", i ? ", " : "", clean);
	}
	if (n < functions->n_off)
		fprintf(to, " and %u others", functions->n_off - n);
	fputs(": switched off, as debug.ktr.budget has it, ktr_fbt(3)\n", to);
}

void report_functions_text(const struct report *report, FILE *to)
{
	static const struct report_table table = {
		"function", "     calls      self     total      mean       p50       p99       max", "functions",
		functions_rank, functions_line
	};

	report_table(report, to, &table, report->functions->n);
	if (report->functions->n_off)
		functions_off(report, to);
	if (!report->functions->n)
		fputs("\nno scope and no probed function: ktr run --fbt, ktr_fbt(3), KTR_SCOPE\n", to);
}

static json_t *functions_json(const void *of, unsigned i, double *rank)
{
	const struct ktr__function *f = ((const struct ktr__functions *)of)->function[i];
	const struct ktr__histogram *h = &f->durations;
	uint64_t p50 = 0, p99 = 0;

	*rank = (double)f->self_ns;
	/* What so few calls do not tell is left out. */
	return json_pack("{s:o, s:o, s:o, s:o, s:o*, s:o*, s:o*, s:o*, s:o}", "name",
			 ktr__jansson_text(f->name, strlen(f->name)), "calls", ktr__jansson_u64(h->n), "self_ns",
			 ktr__jansson_u64(f->self_ns), "total_ns", ktr__jansson_u64(f->total_ns), "mean_ns",
			 h->n ? json_real(h->mean) : NULL, "p50_ns",
			 ktr__histogram_tell(h, 0.5, &p50) ? ktr__jansson_u64(p50) : NULL, "p99_ns",
			 ktr__histogram_tell(h, 0.99, &p99) ? ktr__jansson_u64(p99) : NULL, "max_ns",
			 h->n ? ktr__jansson_u64(h->max) : NULL, "unknown", ktr__jansson_u64(f->n_unknown));
}

int report_functions_off_json(const struct report *report, json_t *tree)
{
	const struct ktr__functions *functions = report->functions;
	json_t *names;

	if (!functions->n_off)
		return 0;
	names = json_array();
	for (unsigned i = 0; names && i < functions->n_off; i++)
		json_array_append_new(names, ktr__jansson_text(functions->off[i], strlen(functions->off[i])));
	return json_object_set_new(tree, "functions_off",
				   json_pack("{s:o, s:o}", "names", names, "from_ns",
					     ktr__jansson_u64(functions->off_ns)));
}

json_t *report_functions_json(const struct report *report)
{
	return report_json_list(report->functions, report->functions->n, functions_json);
}

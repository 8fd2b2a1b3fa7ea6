/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What FreeBSD's schedgraph.py reads: a line per event as `ktrdump -ct` prints it, newest first:
 *
 *	INDEX CPU TIME KTRGRAPH group:"G", id:"I", state:"S", attributes: NAME:VALUE, NAME:VALUE
 */
#include "visualize/export/exports.h"
#include "visualize/export/schedgraph_back.h"

#include <inttypes.h>

static int export_schedgraph_begin(struct ktr__export *e)
{
	return ktr__schedgraph_back_init(e->data);
}

static void export_schedgraph_free(struct ktr__export *e)
{
	ktr__schedgraph_back_free(e->data);
}

static int export_schedgraph_event(struct ktr__export *e, const struct ktr_event *event)
{
	const struct ktr__schedgraph_back *back = e->data;

	return ktr__schedgraph_event(back->schedgraph, event);
}

static int export_schedgraph_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	const struct ktr__schedgraph_back *back = e->data;

	ktr__schedgraph_loss(back->schedgraph, loss);
	return 0;
}

static int export_schedgraph_line(void *context, const struct ktr_event *event, const char *text,
				  size_t n, uint32_t counter)
{
	struct ktr__export *e = context;

	(void)counter;
	fprintf(e->to, "%6" PRIu64 " %3" PRIu32 " %16" PRIu64 " %.*s\n", event->index, event->cpu,
		event->time_ns, (int)n, text);
	return 0;
}

static int export_schedgraph_end(struct ktr__export *e)
{
	uint64_t n_zero;
	int rc = ktr__schedgraph_back_run(e->data, export_schedgraph_line, e, &n_zero);

	if (n_zero > 0)
		snprintf(e->note, sizeof(e->note),
			 "%" PRIu64 " counter events were left out: " KTR__SCHEDGRAPH_ZEROS,
			 n_zero);
	return rc;
}

const struct ktr__export_format ktr__export_schedgraph = {
	.name = "schedgraph",
	.help = "ktrdump's lines, newest first: FreeBSD's schedgraph.py",
	.n_data = sizeof(struct ktr__schedgraph_back),
	.begin = export_schedgraph_begin,
	.event = export_schedgraph_event,
	.loss = export_schedgraph_loss,
	.end = export_schedgraph_end,
	.free = export_schedgraph_free,
};

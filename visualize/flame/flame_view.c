/* SPDX-License-Identifier: BSD-2-Clause */
/* See flame_view.h. */
#include "visualize/flame/flame_view.h"

#include "visualize/model/label.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ktr__label_text ktr__flame_number(const struct ktr__flame_view *view, double number)
{
	uint64_t whole = number >= 0x1p63 ? UINT64_MAX >> 1 : (uint64_t)(number + 0.5);
	struct ktr__label_text text;
	size_t n;

	if (!view->unit)
		return ktr__label_duration(whole);
	text = ktr__label_count(whole);
	n = strlen(text.text);
	snprintf(text.text + n, sizeof(text.text) - n, " %s%s", view->unit, whole == 1 ? "" : "s");
	return text;
}

double ktr__flame_change(const struct ktr__flame_view *view, uint32_t node)
{
	const struct ktr__flame_node *n = &view->flame->node[node];

	return view->diff ? (double)n->self[0] - view->scale * (double)n->self[1] : 0;
}

uint32_t ktr__flame_shade(int shade)
{
	unsigned faint = 245 - 165 * (unsigned)abs(shade) / KTR__FLAME_SHADES;

	if (shade == 0)
		return 0xf5f5f5u;
	return shade > 0 ? 0xf50000u | faint << 8 | faint : faint << 16 | (faint + (245 - faint) / 3) << 8 | 0xf5u;
}

/* Time off the CPU is dark blue, whatever it was: what else has a colour of its name's. */
uint32_t ktr__flame_name_colour(const struct ktr__flame_view *view, const char *name)
{
	size_t n = strlen(name), n_off = sizeof(KTR__SAMPLE_OFF_WORD) - 1;

	if (view->off && n > n_off && strcmp(name + n - n_off, KTR__SAMPLE_OFF_WORD) == 0)
		return KTR__FLAME_OFF_COLOUR;
	return ktr__colours_name(view->colours, name);
}

uint32_t ktr__flame_colour(const struct ktr__flame_view *view, uint32_t node)
{
	double share;

	if (!view->diff)
		return node == 0 ? KTR__PALE : ktr__flame_name_colour(view, ktr__flame_text(view->flame, node));
	share = view->most > 0 ? ktr__flame_change(view, node) / view->most * KTR__FLAME_SHADES : 0;
	return ktr__flame_shade((int)lrint(share));
}

void ktr__flame_tell(const struct ktr__flame_view *view, uint32_t node, char *text, size_t size)
{
	const struct ktr__flame_node *n = &view->flame->node[node];
	double all = (double)view->flame->node[0].total[0], change = ktr__flame_change(view, node);
	int used = snprintf(text, size, "%s: %s, %.2f %% of all; %s its own", ktr__flame_text(view->flame, node),
			    ktr__flame_number(view, (double)n->total[0]).text,
			    all > 0 ? 100 * (double)n->total[0] / all : 0,
			    ktr__flame_number(view, (double)n->self[0]).text);

	if (view->diff && used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used, ", before %s: %s%s",
			 ktr__flame_number(view, (double)n->self[1] * view->scale).text, change < 0 ? "-" : "+",
			 ktr__flame_number(view, fabs(change)).text);
}

/* The name with the largest sum of its own, or of changes of it; UINT32_MAX where several share it. */
static uint32_t flame_view_most(const struct ktr__flame_view *view, double *most, int *error)
{
	uint64_t *sum[2] = { ktr__flame_by_name(view->flame, 0), ktr__flame_by_name(view->flame, 1) };
	uint32_t which = UINT32_MAX;

	*most = 0;
	*error = sum[0] == NULL || sum[1] == NULL ? -ENOMEM : 0;
	for (uint32_t i = 0; *error == 0 && i < view->flame->n_names; i++) {
		double value = (double)sum[0][i] - (view->diff ? view->scale * (double)sum[1][i] : 0);

		if (fabs(value) < fabs(*most) || value == 0)
			continue;
		which = fabs(value) == fabs(*most) ? UINT32_MAX : i;
		*most = value;
	}
	free(sum[0]);
	free(sum[1]);
	return which;
}

static int flame_view_title(struct ktr__flame_view *view)
{
	double all = (double)view->flame->node[0].total[0], most;
	const char *recorded = view->frame.lost[0] != '\0' ? ", as far as recorded" : "";
	const char *what = view->what ? view->what : "";
	char name[KTR__LABEL_BYTES] = "";
	uint32_t which;
	int error;

	which = flame_view_most(view, &most, &error);
	if (which != UINT32_MAX)
		ktr__label_fit(name, sizeof(name), view->flame->name[which].text, 60, 0);
	if (which == UINT32_MAX)
		snprintf(view->frame.title, sizeof(view->frame.title), "%s: %s %s%s",
			 view->diff ? "no frame changed most" : "no frame has most for itself",
			 ktr__flame_number(view, all).text, *what ? what : "in all", recorded);
	else if (view->diff)
		snprintf(view->frame.title, sizeof(view->frame.title), "%s changed most: %s %s for itself%s", name,
			 ktr__flame_number(view, fabs(most)).text, most < 0 ? "less" : "more", recorded);
	else if (*what)
		snprintf(view->frame.title, sizeof(view->frame.title), "%s got %s of %s %s%s", name,
			 ktr__number_share(most, all).text, ktr__flame_number(view, all).text, what, recorded);
	else if (view->unit)
		snprintf(view->frame.title, sizeof(view->frame.title), "%s was innermost in %s of %s%s", name,
			 ktr__number_share(most, all).text, ktr__flame_number(view, all).text, recorded);
	else
		snprintf(view->frame.title, sizeof(view->frame.title), "%s had most time for itself: %s of %s%s",
			 name, ktr__number_share(most, all).text, ktr__flame_number(view, all).text, recorded);
	return error;
}

static void flame_view_lost(struct ktr__frame *frame, uint64_t n_lost)
{
	if (n_lost > 0)
		snprintf(frame->lost, sizeof(frame->lost), "%s events were lost: what they told of is missing",
			 ktr__label_count(n_lost).text);
}

static void flame_view_left_out(struct ktr__flame_view *view)
{
	if (view->flame->n_left_out > 0)
		ktr__frame_note(&view->frame, "more than %u different frames: others are their caller's",
				KTR__FLAME_NODES);
}

static void flame_view_words(struct ktr__flame_view *view, const struct ktr__flame_walk walk[2], uint64_t n_lost)
{
	struct ktr__frame *frame = &view->frame;
	uint64_t ns = walk[0].last_ns - walk[0].first_ns, n_before = 0, n_open = 0, n_unsure = 0, n_deep = 0;
	int off = view->samples && view->off;
	int waits = view->samples && (walk[0].n_waiting || (view->diff && walk[1].n_waiting));

	snprintf(frame->subtitle, sizeof(frame->subtitle),
		 off && walk[0].part == KTR__FLAME_OFF ?
			 "width: time off the CPU, dark blue, and where a thread was then; %s in %s%s"
		 : off		? "width: time that a frame is in, on the CPU, by samples, and off it, dark blue; %s in %s%s"
		 : waits		? "width: time that a frame is in, running or waiting, by samples; %s in %s%s"
		 : view->samples  ? "width: CPU time that a frame is in, by samples; %s in %s%s"
		 : view->unit ? "width: how many of the trace's stacks (CTRSTACK) a frame is in; %s in %s%s"
			      : "width: time in spans, the sum over all threads; %s in a trace of %s%s",
		 ktr__flame_number(view, (double)view->flame->node[0].total[0]).text, ktr__label_duration(ns).text,
		 view->diff == 0    ? ""
		 : view->scale == 1 ? "; colour: what a frame has for itself, against before"
				    : "; colour: what a frame has for itself, against before in as long a trace");
	for (int i = 0; i <= view->diff; i++) {
		n_before += walk[i].n_before;
		n_open += walk[i].n_open;
		n_unsure += walk[i].n_unsure;
		n_deep += walk[i].n_too_deep;
	}
	flame_view_lost(frame, n_lost);
	if (view->unit || view->samples)
		n_before = n_open = n_unsure = n_deep = 0;
	if (n_before > 0)
		ktr__frame_note(frame, "%s spans had begun before, and are not counted", ktr__label_count(n_before).text);
	if (n_open > 0)
		ktr__frame_note(frame, "%s spans lack their end, and count as far as is known",
				ktr__label_count(n_open).text);
	if (n_unsure > 0)
		ktr__frame_note(frame, "%s spans may be two, of which the end and the start between were lost",
				ktr__label_count(n_unsure).text);
	if (n_deep > 0)
		ktr__frame_note(frame, "%s spans were left out: more than %u within each other",
				ktr__label_count(n_deep).text, KTR__FLAME_DEPTH);
	flame_view_left_out(view);
	if (view->gone > 0)
		ktr__frame_note(frame, "frames that only the trace before has: %s",
				ktr__flame_number(view, view->gone).text);
}

int ktr__flame_view_init(struct ktr__flame_view *view, const struct ktr__flame_pair *trees,
			 const struct ktr__flame_walk walk[2], enum ktr__flame_compare compare,
			 const struct ktr_reader_info *info, const char *command, uint64_t n_lost)
{
	int samples = walk[0].n_samples > 0, stacks = !samples && walk[0].n_stacks > 0;
	int diff = compare != KTR__FLAME_ALONE;
	uint64_t ns[2] = { walk[0].last_ns - walk[0].first_ns, diff ? walk[1].last_ns - walk[1].first_ns : 0 };

	memset(view, 0, sizeof(*view));
	view->unit = stacks ? "stack" : NULL;
	view->diff = diff;
	view->samples = samples;
	view->off = walk[0].n_off > 0 || (diff && walk[1].n_off > 0);
	view->flame = samples ? &trees->samples : stacks ? &trees->stacks : &trees->spans;
	view->scale = compare == KTR__FLAME_RATES && ns[0] > 0 && ns[1] > 0 ? (double)ns[0] / (double)ns[1] : 1;
	ktr__frame_init(&view->frame, info, command);
	for (int side = 0; side <= diff; side++) {
		if (view->flame->node[0].total[side] > 0)
			continue;
		snprintf(view->frame.note, sizeof(view->frame.note), "%s has %s",
			 side ? "the trace before" : "the trace",
			 samples  ? "no samples"
			 : stacks ? "no stacks"
				  : "neither stacks (CTRSTACK) nor spans (KTR_START, KTR_SCOPE) that took time");
		return -ENOENT;
	}
	for (uint32_t i = 0; diff && i < view->flame->n_nodes; i++) {
		view->most = fmax(view->most, fabs(ktr__flame_change(view, i)));
		if (view->flame->node[i].total[0] == 0)
			view->gone += view->scale * (double)view->flame->node[i].self[1];
	}
	flame_view_words(view, walk, n_lost);
	return flame_view_title(view);
}

int ktr__flame_view_of(struct ktr__flame_view *view, const struct ktr__flame *flame, const char *unit,
		       const char *what, const struct ktr_reader_info *info, const char *command, uint64_t n_lost)
{
	*view = (struct ktr__flame_view){ .flame = flame, .unit = unit, .what = what, .scale = 1 };
	ktr__frame_init(&view->frame, info, command);
	if (flame->node[0].total[0] == 0) {
		snprintf(view->frame.note, sizeof(view->frame.note), "the trace has no %ss %s", unit, what);
		return -ENOENT;
	}
	snprintf(view->frame.subtitle, sizeof(view->frame.subtitle),
		 "width: %ss %s that a frame got, or what it called; %s", unit, what,
		 ktr__flame_number(view, (double)flame->node[0].total[0]).text);
	flame_view_lost(&view->frame, n_lost);
	flame_view_left_out(view);
	return flame_view_title(view);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts what a live session records. It reads as any drain does, which costs the program nothing. */
#include "tools/top/top_model.h"

#include "analyze/print/render.h"
#include "conf/kit/array.h"
#include "tools/report/session_info.h"

#include <ktr/conf.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOP_BATCH 4096u   /* [slots] */
#define TOP_SCAN  200000u /* events that are looked through for those of one site */

int top_open(struct top *top, const char *path, struct ktr_error *err)
{
	int rc;

	memset(top, 0, sizeof(*top));
	top->map.fd = -1;
	snprintf(top->path, sizeof(top->path), "%s", path);
	rc = ktr__map_open(path, 0, &top->map, err);
	if (rc == 0)
		rc = ktr_session_attach(path, &top->session, err);
	if (rc != 0)
		return rc;
	top->n_rings = ktr__header_n_ring_rows(&top->map.header);
	top->cursor = calloc(top->n_rings + 1, sizeof(*top->cursor));
	top->buffer = malloc(TOP_BATCH * sizeof(*top->buffer));
	if (top->cursor == NULL || top->buffer == NULL)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	for (uint32_t i = 0; i < top->n_rings; i++)
		top->cursor[i] = (struct ktr__ring_cursor)KTR__RING_FROM_OLDEST(i);
	return 0;
}

static void top_forget(struct top *top)
{
	for (unsigned i = 0; i < top->n_last; i++)
		free(top->last[i]);
	top->n_last = 0;
	ktr_reader_close(top->reader);
	top->reader = NULL;
}

void top_close(struct top *top)
{
	top_forget(top);
	ktr_session_close(top->session);
	if (top->map.fd >= 0)
		ktr__map_close(&top->map);
	free(top->cursor);
	free(top->buffer);
	free(top->seen);
	free(top->sum);
	free(top->site);
}

/* Counts a batch's events by site. */
static int top_count(struct top *top, const struct ktr__ring_batch *batch)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t site = batch->entry[i].site;

		if (ktr__slot_is_cont(&batch->entry[i]) || site >= KTR_SITES_MAX)
			continue;
		if (ktr__array_grow(&top->seen, &top->n_seen, site, sizeof(*top->seen)) != 0)
			return -ENOMEM;
		top->seen[site]++;
	}
	return 0;
}

/* A ring that cannot be read just now is read the next time. */
static int top_read(struct top *top, uint32_t ring)
{
	struct ktr__ring_source source = { .header = &top->map.header, .fd = top->map.fd };
	struct ktr__ring_cursor *cursor = &top->cursor[ring];
	uint64_t head = ktr__ring_head(&source, ring, NULL);
	struct ktr__ring_batch batch;
	int rc = 0;

	if (head == 0)
		return 0;
	if (head - cursor->next > TOP_LOOK) {
		*cursor = (struct ktr__ring_cursor)KTR__RING_FROM_OLDEST(ring);
		cursor->next = head - TOP_LOOK;
	}
	while (rc == 0 && ktr__ring_read(&source, cursor, head, top->buffer, TOP_BATCH, &batch) > 0)
		rc = top_count(top, &batch);
	return rc;
}

static int top_busier(const void *a, const void *b)
{
	const struct top_site *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Rates of sites, scaled so that they come to that of all. */
static int top_sites(struct top *top, uint64_t recorded)
{
	uint32_t room = 0;
	uint64_t seen = 0;
	double scale;

	for (uint32_t i = 0; i < top->n_seen; i++)
		seen += top->seen[i];
	scale = seen > 0 ? (double)recorded / (double)seen : 0;
	free(top->site);
	top->site = NULL;
	top->n_sites = 0;
	for (uint32_t i = 0; i < top->n_seen; i++) {
		double n = (double)top->seen[i] * scale;

		if (ktr__array_grow(&top->sum, &top->n_sum, i, sizeof(*top->sum)) != 0)
			return -ENOMEM;
		top->sum[i] += (uint64_t)n;
		top->seen[i] = 0;
		if (top->sum[i] == 0)
			continue;
		if (ktr__array_grow(&top->site, &room, top->n_sites, sizeof(*top->site)) != 0)
			return -ENOMEM;
		top->site[top->n_sites++] = (struct top_site){
			i, top->seconds > 0 ? n / top->seconds : 0, top->sum[i]
		};
	}
	if (top->n_sites > 0)
		qsort(top->site, top->n_sites, sizeof(*top->site), top_busier);
	return 0;
}

/* Classes that some call site has, with what their sites do. */
static void top_classes(struct top *top)
{
	uint64_t used = 0;

	for (unsigned i = 1; i < ktr_reader_n_sites(top->reader); i++) {
		const struct ktr_reader_site *site = ktr_reader_site(top->reader, i);

		used |= site != NULL ? site->mask : 0;
	}
	top->n_classes = 0;
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = ktr_reader_class_name(top->reader, bit);
		struct top_class *class_ = &top->class_[top->n_classes];

		if (name == NULL || !(used >> bit & 1))
			continue;
		memset(class_, 0, sizeof(*class_));
		snprintf(class_->name, sizeof(class_->name), "%s", name);
		class_->mask = 1ull << bit;
		class_->on = (top->control.asked & class_->mask) != 0;
		for (uint32_t i = 0; i < top->n_sites; i++) {
			const struct ktr_reader_site *site = ktr_reader_site(top->reader, top->site[i].id);

			if (site != NULL && site->mask & class_->mask)
				class_->rate += top->site[i].rate;
		}
		top->n_classes++;
	}
}

static void top_list(struct top *top, uint32_t site)
{
	struct ktr_event event;
	char text[512], line[640];
	int what;

	for (unsigned n = 0; site != 0 && top->n_last < TOP_LAST && n < TOP_SCAN &&
			     (what = ktr_reader_next(top->reader, &event)) > 0;
	     n++) {
		uint64_t ago = event.time_ns < top->at_ns ? top->at_ns - event.time_ns : 0;

		if (what != KTR_READ_EVENT || event.site->id != site)
			continue;
		ktr__render_said(&event, NULL, text, sizeof(text));
		snprintf(line, sizeof(line), "%9.3f s ago  %-15.15s CPU %-3" PRIu32 " %s",
			 (double)ago / 1e9, event.thread->name, event.cpu, text);
		top->last[top->n_last] = strdup(line);
		if (top->last[top->n_last] == NULL)
			return;
		top->n_last++;
	}
}

/* The writer's counts, and how far it is behind: what was recorded since it was seen without any lag. */
static void top_writer(struct top *top, double seconds)
{
	uint64_t done = top->control.alq_cnt + top->control.alq_failed, before = top->written;
	uint64_t ahead = top->events > done ? top->events - done : 0;

	top->has_writer = top->control.writer != 0;
	if (before == 0 && top->at_ns == 0)
		before = top->control.alq_cnt;
	if (top->at_ns == 0 || ahead < top->base)
		top->base = top->control.alq_cnt > 0 ? ahead : 0;
	top->behind = ahead - top->base;
	top->written = top->control.alq_cnt;
	top->writer_lost = top->control.alq_failed;
	top->write_rate = seconds > 0 && top->written >= before
				  ? (double)(top->written - before) / seconds
				  : 0;
}

uint64_t top_age_ns(const struct top *top)
{
	return session_now_ns() - top->at_ns;
}

int top_look(struct top *top, uint32_t site)
{
	const struct ktr_reader_options options = { .size = sizeof(options), .reverse = 1 };
	uint64_t events = top->events, dropped = top->dropped;
	uint64_t ns = session_now_ns();
	int rc = ktr__map_control(&top->map, &top->control);

	if (rc == 0)
		rc = session_counts(&top->map, &top->events, &top->dropped);
	for (uint32_t i = 0; i < top->n_rings && rc == 0; i++)
		rc = top_read(top, i);
	if (rc != 0)
		return rc;
	top->alive = ktr__map_alive(&top->map) > 0;
	top->seconds = top->at_ns ? (double)(ns - top->at_ns) / 1e9 : 0;
	top_writer(top, top->seconds);
	top->rate = top->seconds > 0 ? (double)(top->events - events) / top->seconds : 0;
	top->drop_rate = top->seconds > 0 ? (double)(top->dropped - dropped) / top->seconds : 0;
	top->at_ns = ns;
	rc = top_sites(top, top->seconds > 0 ? top->events - events : top->events);
	top_forget(top);
	if (rc == 0)
		rc = ktr_reader_open(top->path, &options, &top->reader, NULL);
	if (rc != 0)
		return rc;
	top_classes(top);
	top_list(top, site);
	return 0;
}

int top_switch(struct top *top, const struct top_class *class_, struct ktr_error *err)
{
	char value[KTR_CLASS_NAME_MAX + 2];
	struct ktr_origin origin;
	struct ktr_knob_at at;
	int rc = ktr_conf_find(ktr_session_conf(top->session), "debug.ktr.mask", &at, err);

	snprintf(value, sizeof(value), "%c%s", class_->on ? '-' : '+', class_->name);
	ktr_origin_set(&origin, KTR_ORIGIN_SYSCTL, NULL, 0);
	origin.pid = (uint32_t)getpid();
	return rc != 0 ? rc : ktr_knob_write(&at, value, &origin, err);
}

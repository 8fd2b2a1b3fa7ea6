/* SPDX-License-Identifier: BSD-2-Clause */
/* See made.h. A failure to make anything fails the test that asked for it. */
#include "made.h"
#include "lay.h"
#include "suite.h"

#include "ktr/session/format.h"
#include "ktr/session/session_map.h"
#include "writer/drain.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>

void made_open(struct made *made)
{
	struct ktr_anchor *anchor;

	memset(made, 0, sizeof(*made));
	image_make(&made->image, "made");
	made->image.header->clock = KTR_CLOCK_MONOTONIC;
	made->image.header->ticks_per_s = 1000000000;
	for (unsigned i = 0; i < sizeof(made->image.header->uuid); i++)
		made->image.header->uuid[i] = (uint8_t)(i * 7);
	anchor = image_region(&made->image, KTR_REGION_anchor);
	*anchor = (struct ktr_anchor){ KTR_ROW_READY, 500, 500, 1000000000000000500 };
	made->image.control->n_anchors = 1;
	for (unsigned i = 0; i < 2 * IMAGE_RINGS; i++)
		image_ring_open(&made->image, i, MADE_LOG2, i, 1);
	strcpy(made->dir, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(made->dir));
	snprintf(made->session, sizeof(made->session), "%s/made.ktr", made->dir);
	snprintf(made->trace, sizeof(made->trace), "%s/ktr.out", made->dir);
}

static int made_remove(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st;
	(void)flag;
	(void)at;
	return remove(path);
}

void made_close(struct made *made)
{
	if (made->drain)
		made_trace(made);
	nftw(made->dir, made_remove, 8, FTW_DEPTH | FTW_PHYS);
	free(made->image.bytes);
}

static uint32_t made_string(struct made *made, const char *text)
{
	uint64_t at = made->image.control->string_bytes;

	CU_ASSERT_FATAL(at + strlen(text) < image_n_rows(KTR_REGION_string));
	strcpy((char *)image_region(&made->image, KTR_REGION_string) + at, text);
	made->image.control->string_bytes += strlen(text) + 1;
	return (uint32_t)at;
}

uint32_t made_site(struct made *made, uint64_t mask, const char *file, uint32_t line,
		   const char *format, const char *names, unsigned n_args, ...)
{
	uint32_t id = made->image.control->n_sites++;
	struct ktr_site_row *row = (struct ktr_site_row *)image_region(&made->image,
								       KTR_REGION_site) +
				   id;
	va_list ap;

	CU_ASSERT_FATAL(id < IMAGE_ROWS);
	va_start(ap, n_args);
	for (unsigned i = 0; i < n_args; i++)
		row->type[i] = (uint8_t)va_arg(ap, int);
	va_end(ap);
	row->mask = mask;
	row->line = line;
	row->key = id * 77777u;
	row->file = made_string(made, file);
	row->func = made_string(made, "function");
	row->format = made_string(made, format);
	row->names = made_string(made, names);
	row->module = made_string(made, "/bin/made");
	row->n_args = (uint8_t)n_args;
	ktr__format_how(format, n_args, row->type, row->how, row->limit);
	for (unsigned i = 0; i < n_args; i++)
		if (row->type[i] == KTR_ARG_STACK)
			row->how[i] = KTR_HOW_STACK;
	memcpy(made->type[id], row->type, sizeof(row->type));
	memcpy(made->how[id], row->how, sizeof(row->how));
	row->state = KTR_ROW_READY;
	return id;
}

uint32_t made_thread(struct made *made, uint32_t tid, uint32_t pid, const char *name)
{
	uint32_t id = made->image.control->n_threads++;
	struct ktr_thread_row *row = (struct ktr_thread_row *)image_region(&made->image,
									   KTR_REGION_thread) +
				     id;

	CU_ASSERT_FATAL(id < IMAGE_ROWS);
	row->tid = tid;
	row->pid = pid;
	row->start_ns = 600;
	memcpy(row->name, name, strlen(name));
	row->state = KTR_ROW_READY;
	return id;
}

static struct ktr_entry *made_slot(struct made *made, unsigned ring, uint64_t slot)
{
	uint64_t offset = KTR_GEOM_OFFSET(image_ring(&made->image, ring)->geom);
	struct ktr_entry *entries = (void *)(made->image.bytes + offset);

	return &entries[slot & ((1u << MADE_LOG2) - 1)];
}

void made_event(struct made *made, unsigned ring, uint64_t ticks, uint32_t site, uint32_t thread,
		...)
{
	struct ktr_entry slot[KTR_SLOTS_MAX + 1] = { { ticks, site, thread, { 0 } } };
	char payload[KTR_PAYLOAD_BYTES] = "";
	struct ktr_ring *row = image_ring(&made->image, ring);
	unsigned n_args = 0, n_conts, t = row->head & 1;
	size_t n = 0;
	va_list ap;

	va_start(ap, thread);
	for (; n_args < KTR_ARGS_MAX && made->type[site][n_args]; n_args++) {
		const char *text;

		if (made->how[site][n_args] == KTR_HOW_VALUE) {
			slot[0].arg[n_args] = va_arg(ap, uint64_t);
			continue;
		}
		text = va_arg(ap, const char *);
		slot[0].arg[n_args] = text ? strlen(text) : KTR_PAYLOAD_NULL;
		memcpy(payload + n, text ? text : "", text ? strlen(text) : 0);
		n = lay_next(n, text ? strlen(text) : 0);
	}
	va_end(ap);
	n_conts = lay(slot, n_args, payload, n);
	for (unsigned i = 0; i <= n_conts; i++) {
		if (i)
			slot[i].timestamp = KTR_CONT_MARK | made->conts[ring]++;
		*made_slot(made, ring, made->slots[ring]++) = slot[i];
	}
	if (n_conts)
		row->cont[t = !t] = made->conts[ring];
	row->head = made->slots[ring] << 1 | t;
}

void made_session(struct made *made)
{
	CU_ASSERT_FATAL(image_write(&made->image, made->session, made->image.n_bytes) == 0);
}

static void made_begin(struct made *made)
{
	struct ktr_error err = KTR_ERROR_NONE;

	made->map = malloc(sizeof(*made->map));
	CU_ASSERT_FATAL(ktr__map_open(made->session, 0, made->map, &err) == 0);
	CU_ASSERT_FATAL(ktr__drain_open(&made->drain,
					&(struct ktr__drain_plan){
						.map = made->map,
						.sys = &ktr__sys,
						.path = made->trace,
						.from = KTR__DRAIN_START,
					},
					&err) == 0);
}

void made_drain(struct made *made)
{
	uint64_t pause_ns;

	made_session(made);
	if (!made->drain)
		made_begin(made);
	CU_ASSERT(ktr__drain_round(made->drain, KTR__DRAIN_ALL, &pause_ns) == 0);
}

void made_trace(struct made *made)
{
	made_drain(made);
	CU_ASSERT(ktr__drain_close(made->drain, NULL) == 0);
	ktr__map_close(made->map);
	free(made->map);
	made->drain = NULL;
	made->map = NULL;
}

/* What is said besides events, as a line. */
static void made_said(FILE *to, int what, const struct ktr_reader *reader)
{
	const struct ktr_loss *loss = ktr_reader_loss(reader);

	if (what == KTR_READ_LOSS)
		fprintf(to, "lost %" PRIu64 " cpu%u%s %" PRIu64 "-%" PRIu64 "\n", loss->n_events, loss->cpu,
			loss->keep ? "k" : "", loss->from_ns, loss->to_ns);
	else
		fprintf(to, "note%s %s\n", ktr_reader_note(reader)->damaged ? "!" : "",
			ktr_reader_note(reader)->text);
}

int made_counts(const char *path, const struct ktr_reader_options *options, const char *lines)
{
	uint64_t n_events = 0, n_lines = 0, n_said = 0;
	char *said = NULL, *next;
	struct ktr_reader *reader;
	int what, good;
	size_t n;
	FILE *to;

	if (ktr_reader_open(path, options, &reader, NULL))
		return 0;
	to = open_memstream(&said, &n);
	for (; (what = ktr_reader_count(reader, &n_events)) > 0; n_said++)
		made_said(to, what, reader);
	fclose(to);
	ktr_reader_close(reader);
	good = what == KTR_READ_END;
	for (const char *line = lines; *line; line = strchr(line, '\n') + 1) {
		if (*line >= '0' && *line <= '9')
			n_lines++;
		else
			n_said--;
	}
	for (char *line = said; *line && good; line = next) {
		char keep;

		next = strchr(line, '\n') + 1;
		keep = *next;
		*next = '\0';
		good = strstr(lines, line) != NULL;
		*next = keep;
	}
	if (!good || n_events != n_lines || n_said)
		fprintf(stderr, "\ncounted %" PRIu64 " events, and\n%sinstead of\n%s", n_events, said, lines);
	free(said);
	return good && n_events == n_lines && !n_said;
}

char *made_walk(const char *path, const struct ktr_reader_options *options)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char line[KTR_ERROR_LINE_BYTES], text[1024], *all = NULL;
	struct ktr_reader *reader;
	struct ktr_event event;
	size_t n;
	FILE *to;
	int what;

	if (ktr_reader_open(path, options, &reader, &err)) {
		fprintf(stderr, "%s\n", ktr_error_print(&err, line, sizeof(line)));
		return NULL;
	}
	to = open_memstream(&all, &n);
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what == KTR_READ_EVENT) {
			ktr_event_text(&event, text, sizeof(text));
			fprintf(to, "%" PRIu64 " #%" PRIu64 " cpu%u%s%s %s/%u/%u %s %s [%s] %s\n",
				event.time_ns, event.index, event.cpu, event.keep ? "k" : "",
				event.approx ? "~" : "", event.thread->name, event.thread->tid,
				event.thread->pid, event.site->class_name, event.site->name,
				event.site->n_args ? event.site->arg[0].name : "", text);
		} else {
			made_said(to, what, reader);
		}
	}
	if (what < 0)
		fprintf(to, "error %s\n",
			ktr_error_print(ktr_reader_error(reader), line, sizeof(line)));
	fclose(to);
	ktr_reader_close(reader);
	return all;
}

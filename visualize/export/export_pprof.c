/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profile of samples that pprof reads: one message of protocol buffers, gzip around it. Of a thread, samples
 * with one stack are one, with how many they were and their time.
 *
 * https://github.com/google/pprof/blob/main/proto/profile.proto has the fields.
 */
#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "visualize/export/exports.h"
#include "visualize/export/stack_set.h"
#include "visualize/model/column.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { /* Profile */
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT
};
enum {
	VALUE_TYPE = 1,
	VALUE_UNIT
};
enum {
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE,
	SAMPLE_LABEL
};
enum {
	LABEL_KEY = 1,
	LABEL_STR,
	LABEL_NUM
};
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID,
	MAPPING_FUNCTIONS,
	MAPPING_FILES,
	MAPPING_LINES,
	MAPPING_INLINE
};
enum {
	LOCATION_ID = 1,
	LOCATION_MAPPING,
	LOCATION_ADDRESS,
	LOCATION_LINE
};
enum {
	LINE_FUNCTION = 1,
	LINE_LINE
};
enum {
	FUNCTION_ID = 1,
	FUNCTION_NAME,
	FUNCTION_SYSTEM_NAME,
	FUNCTION_FILE
};

#define PPROF_LEVEL 6 /* zlib's level */

/* Samples of a thread with one stack. */
struct pprof_sum {
	uint32_t thread, node;
	uint64_t n, ns;
};

struct pprof {
	struct ktr__stack_set set;
	struct ktr__column out, part, inner; /* the message, one in it, and one in that */
	struct ktr__keymap strings; /* hash to index + 1 */
	uint32_t n_strings;
	struct pprof_sum *sum; /* owned */
	uint32_t n_sums, sum_room;
	struct ktr__keymap sum_of;
};

/* ---- fields ---- */

/* The number of a string, which is written where it is new. */
static uint64_t pprof_string(struct pprof *p, const char *text)
{
	uint32_t *found = ktr__keymap_at(&p->strings, ktr__hash_bytes(0, text, strlen(text)));

	if (!found) {
		p->out.error = -ENOMEM;
		return 0;
	}
	if (!*found) {
		ktr__column_field_bytes(&p->out, PROFILE_STRING, text, strlen(text));
		*found = ++p->n_strings;
	}
	return *found - 1;
}

/* The same of one that a program chose. */
static uint64_t pprof_clean(struct pprof *p, const char *text)
{
	char clean[4 * 1024 + 4];
	size_t n = strlen(text);

	ktr__label_clean(clean, sizeof(clean), text, n < 1024 ? n : 1024);
	return pprof_string(p, clean);
}

/* ---- what samples refer to ---- */

static void pprof_mapping(struct pprof *p, uint64_t id, const struct ktr__module_entry *entry, int has_lines)
{
	char hex[2 * KTR_BUILD_ID_MAX + 1] = "";

	for (unsigned i = 0; i < entry->n_build_id; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", entry->build_id[i]);
	ktr__column_field(&p->part, MAPPING_ID, id);
	ktr__column_field(&p->part, MAPPING_START, entry->base);
	ktr__column_field(&p->part, MAPPING_LIMIT, entry->end);
	ktr__column_field(&p->part, MAPPING_FILE, pprof_clean(p, entry->path));
	ktr__column_field(&p->part, MAPPING_BUILD_ID, pprof_string(p, hex));
	ktr__column_field(&p->part, MAPPING_FUNCTIONS, 1);
	if (has_lines) {
		ktr__column_field(&p->part, MAPPING_FILES, 1);
		ktr__column_field(&p->part, MAPPING_LINES, 1);
		ktr__column_field(&p->part, MAPPING_INLINE, 1);
	}
	ktr__column_message(&p->out, PROFILE_MAPPING, &p->part);
}

/* Does some frame of the object have a line? */
static int pprof_has_lines(const struct ktr__stack_set *set, uint32_t module)
{
	for (uint32_t i = 0; i < set->n_frames; i++)
		if (set->frame[i].module == module + 1 && set->line[set->frame[i].line].line != 0)
			return 1;
	return 0;
}

/* The first mapping is taken for the program: that of the first sample, whose row is ahead of its libraries'. */
static const struct ktr__module_entry *pprof_program(struct ktr_reader *reader, const struct ktr__stack_set *set)
{
	const struct ktr__tables *tables = ktr__reader_tables(reader);
	uint32_t proc = set->n_threads ? ktr__tables_proc(set->thread[0].thread) : 0;

	for (uint32_t row = 0; row < tables->n_modules && proc; row++)
		if (tables->module[row] && tables->module[row]->proc == proc)
			return tables->module[row];
	return NULL;
}

static void pprof_mappings(struct pprof *p, struct ktr_reader *reader)
{
	const struct ktr__module_entry *program = pprof_program(reader, &p->set);
	uint32_t at = 0;

	while (at < p->set.n_modules && p->set.module[at].entry != program)
		at++;
	if (program)
		pprof_mapping(p, at + 1ull, program, pprof_has_lines(&p->set, at));
	for (uint32_t i = 0; i < p->set.n_modules; i++)
		if (i != at)
			pprof_mapping(p, i + 1ull, p->set.module[i].entry, pprof_has_lines(&p->set, i));
}

static void pprof_locations(struct pprof *p)
{
	for (uint32_t i = 0; i < p->set.n_frames; i++) {
		const struct ktr__stack_frame *frame = &p->set.frame[i];

		ktr__column_field(&p->part, LOCATION_ID, i + 1ull);
		if (frame->module)
			ktr__column_field(&p->part, LOCATION_MAPPING, frame->module);
		if (frame->address)
			ktr__column_field(&p->part, LOCATION_ADDRESS, frame->address);
		for (uint32_t k = 0; k < frame->n_lines; k++) {
			const struct ktr__stack_line *line = &p->set.line[frame->line + k];

			ktr__column_field(&p->inner, LINE_FUNCTION, line->function + 1ull);
			if (line->line)
				ktr__column_field(&p->inner, LINE_LINE, line->line);
			ktr__column_message(&p->part, LOCATION_LINE, &p->inner);
		}
		ktr__column_message(&p->out, PROFILE_LOCATION, &p->part);
	}
}

static void pprof_functions(struct pprof *p)
{
	for (uint32_t i = 0; i < p->set.n_functions; i++) {
		const struct ktr__stack_function *function = &p->set.function[i];
		uint64_t name = pprof_string(p, function->name);

		ktr__column_field(&p->part, FUNCTION_ID, i + 1ull);
		ktr__column_field(&p->part, FUNCTION_NAME, name);
		ktr__column_field(&p->part, FUNCTION_SYSTEM_NAME, name);
		if (function->file)
			ktr__column_field(&p->part, FUNCTION_FILE, pprof_string(p, function->file));
		ktr__column_message(&p->out, PROFILE_FUNCTION, &p->part);
	}
}

/* ---- samples ---- */

static int pprof_add(struct pprof *p, uint32_t thread, const struct ktr__stack_sample *sample)
{
	uint32_t *found = ktr__keymap_at(&p->sum_of, (uint64_t)thread << 32 | sample->node);

	if (!found || ktr__array_grow(&p->sum, &p->sum_room, p->n_sums, sizeof(*p->sum)))
		return -ENOMEM;
	if (!*found) {
		p->sum[p->n_sums] = (struct pprof_sum){ thread, sample->node, 0, 0 };
		*found = ++p->n_sums;
	}
	p->sum[*found - 1].n += sample->n_ticks;
	p->sum[*found - 1].ns += sample->ns;
	return 0;
}

static void pprof_label(struct pprof *p, const char *key, unsigned field, uint64_t value)
{
	ktr__column_field(&p->inner, LABEL_KEY, pprof_string(p, key));
	ktr__column_field(&p->inner, field, value);
	ktr__column_message(&p->part, SAMPLE_LABEL, &p->inner);
}

static void pprof_sample(struct pprof *p, const struct pprof_sum *sum)
{
	const struct ktr_reader_thread *thread = p->set.thread[sum->thread].thread;

	for (uint32_t node = sum->node; node != 0; node = p->set.node[node].parent)
		ktr__column_number(&p->inner, p->set.node[node].frame + 1ull);
	if (p->inner.n > 0)
		ktr__column_message(&p->part, SAMPLE_LOCATION, &p->inner);
	ktr__column_number(&p->inner, sum->n);
	ktr__column_number(&p->inner, sum->ns);
	ktr__column_message(&p->part, SAMPLE_VALUE, &p->inner);
	pprof_label(p, "thread", LABEL_STR, pprof_clean(p, thread->name));
	pprof_label(p, "tid", LABEL_NUM, thread->tid);
	pprof_label(p, "pid", LABEL_NUM, thread->pid);
	pprof_label(p, "process", LABEL_STR, pprof_clean(p, thread->process));
	ktr__column_message(&p->out, PROFILE_SAMPLE, &p->part);
}

static int pprof_samples(struct pprof *p)
{
	int rc = 0;

	for (uint32_t i = 0; i < p->set.n_threads; i++)
		for (uint32_t k = 0; k < p->set.thread[i].n && rc == 0; k++)
			rc = pprof_add(p, i, &p->set.thread[i].sample[k]);
	for (uint32_t i = 0; i < p->n_sums && rc == 0; i++)
		pprof_sample(p, &p->sum[i]);
	return rc;
}

/* ---- the message ---- */

static void pprof_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	ktr__column_field(&p->part, VALUE_TYPE, pprof_string(p, type));
	ktr__column_field(&p->part, VALUE_UNIT, pprof_string(p, unit));
	ktr__column_message(&p->out, field, &p->part);
}

static void pprof_head(struct ktr__export *e, struct pprof *p)
{
	const char *what = p->set.is_wall ? "wall" : "cpu";

	pprof_string(p, "");
	pprof_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
	pprof_type(p, PROFILE_SAMPLE_TYPE, what, "nanoseconds");
	pprof_type(p, PROFILE_PERIOD_TYPE, what, "nanoseconds");
	ktr__column_field(&p->out, PROFILE_PERIOD, ktr__stack_set_period(&p->set));
	ktr__column_field(&p->out, PROFILE_TIME, p->set.sampler.first_ns + (uint64_t)e->info->utc_offset_ns);
	ktr__column_field(&p->out, PROFILE_DURATION, p->set.sampler.last_ns - p->set.sampler.first_ns);
	if (e->info->cmdline[0] != '\0')
		ktr__column_field(&p->out, PROFILE_COMMENT, pprof_clean(p, e->info->cmdline));
}

/* 0 or -errno. */
static int pprof_gzip(const struct ktr__column *from, FILE *to)
{
	z_stream z = { 0 };
	size_t at = 0;
	uint8_t bytes[16 * 1024];
	int rc;

	if (deflateInit2(&z, PPROF_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		if (z.avail_in == 0 && at < from->n) {
			z.next_in = from->bytes + at;
			z.avail_in = from->n - at < 1u << 30 ? (uInt)(from->n - at) : 1u << 30;
			at += z.avail_in;
		}
		z.next_out = bytes;
		z.avail_out = sizeof(bytes);
		rc = deflate(&z, at < from->n ? Z_NO_FLUSH : Z_FINISH);
		fwrite(bytes, 1, sizeof(bytes) - z.avail_out, to);
	} while (rc != Z_STREAM_END && rc >= Z_OK && !ferror(to));
	deflateEnd(&z);
	return 0;
}

/* ---- the exporter ---- */

static int pprof_begin(struct ktr__export *e)
{
	return ktr__stack_set_begin(&((struct pprof *)e->data)->set, e->symbols, e->reader);
}

static int pprof_event(struct ktr__export *e, const struct ktr_event *event)
{
	return ktr__stack_set_event(&((struct pprof *)e->data)->set, event);
}

static int pprof_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	(void)loss;
	ktr__stack_set_loss(&((struct pprof *)e->data)->set);
	return 0;
}

static int pprof_end(struct ktr__export *e)
{
	struct pprof *p = e->data;
	int rc = ktr__stack_set_finish(&p->set);

	if (rc != 0)
		return rc;
	pprof_head(e, p);
	pprof_mappings(p, e->reader);
	pprof_locations(p);
	pprof_functions(p);
	rc = pprof_samples(p);
	ktr__stack_set_note(&p->set, e->note, sizeof(e->note));
	if (rc == 0 && (p->out.error != 0 || p->part.error != 0 || p->inner.error != 0))
		rc = -ENOMEM;
	return rc != 0 ? rc : pprof_gzip(&p->out, e->to);
}

static void pprof_free(struct ktr__export *e)
{
	struct pprof *p = e->data;

	ktr__stack_set_free(&p->set);
	ktr__keymap_free(&p->strings);
	ktr__keymap_free(&p->sum_of);
	free(p->sum);
	free(p->out.bytes);
	free(p->part.bytes);
	free(p->inner.bytes);
}

const struct ktr__export_format ktr__export_pprof = {
	.name = "pprof",
	.help = "samples: go tool pprof, and what else reads profile.proto",
	.n_data = sizeof(struct pprof),
	.begin = pprof_begin,
	.event = pprof_event,
	.loss = pprof_loss,
	.end = pprof_end,
	.free = pprof_free,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.dat, version 6: what trace-cmd and KernelShark read. trace-cmd.dat.v6(5) describes the file; the
 * pages in it are those of the kernel's ring buffer (Documentation/trace/ring-buffer-design.rst).
 *
 * Each call site is an event of system "ktr", with its arguments as fields; `ktr_msg` is its text, ready
 * to print, since the readers' printf knows neither doubles nor all our conversions.
 * Thread ids stand where the kernel has pids. Losses are told by the page after them.
 *
 * While the walk goes on, one page per CPU is filled, and full ones go to a file without a name, each
 * with its CPU noted. In the end they are put one CPU after the other.
 */
#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "visualize/export/exports.h"
#include "visualize/export/stack_text.h"
#include "visualize/model/label.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACEDAT_PAGE    4096u
#define TRACEDAT_HEAD    16u        /* [bytes] of a page: time and commit */
#define TRACEDAT_COMMON  8u         /* [bytes] of an event: type, flags, preempt count, pid */
#define TRACEDAT_MISSED  (1u << 31) /* in commit: events are missing before this page */
#define TRACEDAT_STORED  (1u << 30) /* and their number stands after its data */
#define TRACEDAT_DELTA   ((uint64_t)1 << 27) /* [ns] what an event's header has room for */
#define TRACEDAT_SMALL   28u   /* [words] of data whose length the header itself tells */
#define TRACEDAT_EXTEND  30u   /* type: only time passes */
#define TRACEDAT_IDS     1000u /* ids below are the kernel's own */
#define TRACEDAT_STRING  256u  /* [bytes] of each string that is kept */
#define TRACEDAT_MESSAGE 1024u /* [bytes] likewise */
#define TRACEDAT_CPUS    65536u

struct tracedat_cpu {
	uint8_t page[TRACEDAT_PAGE];
	unsigned used;
	uint64_t last_ns;
	uint64_t missed; /* before the page that comes next */
	uint64_t missed_here;
};

struct tracedat {
	FILE *pages;
	uint32_t *page_cpu; /* of each page in the file */
	uint32_t n_pages, page_room;
	struct tracedat_cpu **cpu;
	uint32_t n_cpus;
	const struct ktr_reader_site **site; /* in the order of their ids here */
	uint32_t n_sites, site_room;
	uint32_t *site_id; /* 1 + index, by the reader's id */
	uint32_t n_site_ids;
	uint64_t n_left_out;
};

static int tracedat_begin(struct ktr__export *e)
{
	struct tracedat *t = e->data;

	t->pages = tmpfile();
	return t->pages != NULL ? 0 : -errno;
}

static void tracedat_free(struct ktr__export *e)
{
	struct tracedat *t = e->data;

	if (t->pages != NULL)
		fclose(t->pages);
	for (uint32_t i = 0; i < t->n_cpus; i++)
		free(t->cpu[i]);
	free(t->page_cpu);
	free(t->cpu);
	free(t->site);
	free(t->site_id);
}

/* ---- pages ---- */

static int tracedat_flush(struct tracedat *t, uint32_t cpu)
{
	struct tracedat_cpu *c = t->cpu[cpu];
	uint64_t commit = c->used - TRACEDAT_HEAD;

	if (c->used <= TRACEDAT_HEAD)
		return 0;
	if (c->missed_here > 0) {
		memcpy(c->page + c->used, &c->missed_here, 8);
		commit |= TRACEDAT_MISSED | TRACEDAT_STORED;
	}
	memcpy(c->page + 8, &commit, 8);
	if (ktr__array_grow(&t->page_cpu, &t->page_room, t->n_pages, sizeof(*t->page_cpu)) != 0)
		return -ENOMEM;
	t->page_cpu[t->n_pages++] = cpu;
	c->used = 0;
	return fwrite(c->page, TRACEDAT_PAGE, 1, t->pages) == 1 ? 0 : -EIO;
}

static void tracedat_page(struct tracedat_cpu *c, uint64_t ns)
{
	memset(c->page, 0, sizeof(c->page));
	memcpy(c->page, &ns, 8);
	c->used = TRACEDAT_HEAD;
	c->last_ns = ns;
	c->missed_here = c->missed;
	c->missed = 0;
}

static void tracedat_word(struct tracedat_cpu *c, uint32_t word)
{
	memcpy(c->page + c->used, &word, 4);
	c->used += 4;
}

/* Puts n bytes, at most a page's worth, into the CPU's page. */
static int tracedat_put(struct tracedat *t, uint32_t cpu, uint64_t ns, const uint8_t *data,
			unsigned n)
{
	struct tracedat_cpu *c = t->cpu[cpu];
	unsigned words = (n + 3) / 4,
		 need = 4 * words + 8 + 8 + 8; /* headers, time, number missed */
	uint64_t delta;
	int rc = 0;

	if (c->used + need > TRACEDAT_PAGE)
		rc = tracedat_flush(t, cpu);
	if (c->used == 0)
		tracedat_page(c, ns);
	delta = ns - c->last_ns;
	if (delta >= TRACEDAT_DELTA) {
		tracedat_word(c, TRACEDAT_EXTEND | (uint32_t)(delta & (TRACEDAT_DELTA - 1)) << 5);
		tracedat_word(c, (uint32_t)(delta / TRACEDAT_DELTA));
		delta = 0;
	}
	tracedat_word(c, (words <= TRACEDAT_SMALL ? words : 0) | (uint32_t)delta << 5);
	if (words > TRACEDAT_SMALL)
		tracedat_word(c, 4 * words + 4);
	memcpy(c->page + c->used, data, n);
	c->used += 4 * words;
	c->last_ns = ns;
	return rc;
}

/* ---- events ---- */

/* 0 or -ENOMEM. */
static int tracedat_cpu(struct tracedat *t, uint32_t cpu)
{
	if (ktr__array_grow(&t->cpu, &t->n_cpus, cpu, sizeof(*t->cpu)) != 0)
		return -ENOMEM;
	if (t->cpu[cpu] == NULL)
		t->cpu[cpu] = calloc(1, sizeof(struct tracedat_cpu));
	return t->cpu[cpu] != NULL ? 0 : -ENOMEM;
}

/* The site's index, UINT32_MAX without memory or ids. */
static uint32_t tracedat_site(struct tracedat *t, const struct ktr_reader_site *site)
{
	if (ktr__array_grow(&t->site_id, &t->n_site_ids, site->id, sizeof(*t->site_id)) != 0)
		return UINT32_MAX;
	if (t->site_id[site->id] == 0) {
		if (t->n_sites > UINT16_MAX - TRACEDAT_IDS ||
		    ktr__array_grow(&t->site, &t->site_room, t->n_sites, sizeof(*t->site)) != 0)
			return UINT32_MAX;
		t->site[t->n_sites] = site;
		t->site_id[site->id] = ++t->n_sites;
	}
	return t->site_id[site->id] - 1;
}

/* Strings lie after the fields; a field has their offset and length. */
static unsigned tracedat_string(uint8_t *data, unsigned field, unsigned at, const char *bytes,
				size_t n, size_t most)
{
	char text[TRACEDAT_MESSAGE];
	size_t length = ktr__label_clean(text, most, bytes, n);
	uint32_t where = at | (uint32_t)(length + 1) << 16;

	memcpy(data + field, &where, 4);
	memcpy(data + at, text, length + 1);
	return at + (unsigned)length + 1;
}

static int tracedat_is_text(enum ktr_arg_type type)
{
	return type == KTR_ARG_STR || type == KTR_ARG_STACK;
}

static int tracedat_event(struct ktr__export *e, const struct ktr_event *event)
{
	struct tracedat *t = e->data;
	const struct ktr_reader_site *site = event->site;
	uint8_t data[TRACEDAT_COMMON + 8 * KTR_ARGS_MAX + 4 + KTR_ARGS_MAX * TRACEDAT_STRING +
		     TRACEDAT_MESSAGE];
	char text[TRACEDAT_MESSAGE], stack[KTR__STACK_TEXT];
	uint32_t index = tracedat_site(t, site), tid = event->thread->tid;
	unsigned message = TRACEDAT_COMMON + 8 * site->n_args, at = message + 4;
	uint16_t type = (uint16_t)(TRACEDAT_IDS + index);
	size_t n;

	if (index == UINT32_MAX || event->cpu >= TRACEDAT_CPUS) {
		t->n_left_out++;
		return 0;
	}
	if (tracedat_cpu(t, event->cpu) != 0)
		return -ENOMEM;
	memset(data, 0, at);
	memcpy(data, &type, 2);
	memcpy(data + 4, &tid, 4);
	for (unsigned i = 0; i < site->n_args; i++) {
		const struct ktr_event_bytes *str = &event->str[i];
		unsigned field = TRACEDAT_COMMON + 8 * i;

		if (site->arg[i].type == KTR_ARG_STACK) {
			n = ktr__stack_text(event, i, ktr__reader_symbols(e->reader), " < ", stack);
			at = tracedat_string(data, field, at, stack, n, TRACEDAT_STRING);
		} else if (site->arg[i].type == KTR_ARG_STR) {
			at = tracedat_string(data, field, at, str->is_null ? "(null)" : str->bytes,
					     str->is_null ? 6 : str->n_bytes, TRACEDAT_STRING);
		} else {
			memcpy(data + field, &event->arg[i], 8);
		}
	}
	n = ktr_event_text(event, text, sizeof(text));
	at = tracedat_string(data, message, at, text, n < sizeof(text) ? n : sizeof(text) - 1,
			     sizeof(text));
	return tracedat_put(t, event->cpu, event->time_ns, data, at);
}

/* The page that is open ends here; the next one tells. */
static int tracedat_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	struct tracedat *t = e->data;

	if (loss->cpu >= TRACEDAT_CPUS)
		return 0;
	if (tracedat_cpu(t, loss->cpu) != 0)
		return -ENOMEM;
	t->cpu[loss->cpu]->missed += loss->n_events;
	return tracedat_flush(t, loss->cpu);
}

/* ---- the file ---- */

/* An identifier of C. */
static void tracedat_identifier(char *to, size_t size, const char *name)
{
	size_t used = 0;

	if (!isalpha((unsigned char)name[0]))
		used = (size_t)snprintf(to, size, "_");
	for (; *name != '\0' && used + 1 < size; name++)
		to[used++] = isalnum((unsigned char)*name) ? *name : '_';
	to[used] = '\0';
}

/* A text with its size before it, eight bytes. */
static void tracedat_sized(FILE *to, const char *text, size_t n)
{
	uint64_t size = n;

	fwrite(&size, 8, 1, to);
	fwrite(text, 1, n, to);
}

static void tracedat_u32(FILE *to, uint32_t number)
{
	fwrite(&number, 4, 1, to);
}

static void tracedat_headers(FILE *to)
{
	static const char magic[] =
		"\x17\x08\x44tracing6\0\0\x08"; /* version 6, little endian, longs of 8 */
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	static const char event[] =
		"# compressed entry header\n"
		"\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
		"\tpadding     : type == 29\n\ttime_extend : type == 30\n"
		"\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";

	fwrite(magic, 1, sizeof(magic) - 1, to);
	tracedat_u32(to, TRACEDAT_PAGE);
	fwrite("header_page", 1, 12, to);
	tracedat_sized(to, page, sizeof(page) - 1);
	fwrite("header_event", 1, 13, to);
	tracedat_sized(to, event, sizeof(event) - 1);
	tracedat_u32(to, 0); /* formats of ftrace itself */
}

/* A site's description as the kernel would have it. Owned text, NULL without memory. */
static char *tracedat_format(const struct ktr_reader_site *site, uint32_t index, size_t *n)
{
	char name[128], *text = NULL;
	FILE *to = open_memstream(&text, n);

	if (to == NULL)
		return NULL;
	tracedat_identifier(name, sizeof(name), site->name);
	fprintf(to,
		"name: %s\nID: %" PRIu32 "\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		name, TRACEDAT_IDS + index);
	for (unsigned i = 0; i < site->n_args; i++) {
		enum ktr_arg_type type = site->arg[i].type;
		int is_signed = type == KTR_ARG_I8 || type == KTR_ARG_I16 || type == KTR_ARG_I32 ||
				type == KTR_ARG_I64;

		tracedat_identifier(name, sizeof(name), site->arg[i].name);
		fprintf(to, "\tfield:%s %s;\toffset:%u;\tsize:%d;\tsigned:%d;\n",
			tracedat_is_text(type) ? "__data_loc char[]"
			: is_signed            ? "s64"
					       : "u64",
			name, TRACEDAT_COMMON + 8 * i, tracedat_is_text(type) ? 4 : 8, is_signed);
	}
	fprintf(to,
		"\tfield:__data_loc char[] ktr_msg;\toffset:%u;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%%s\", __get_str(ktr_msg)\n",
		TRACEDAT_COMMON + 8 * site->n_args);
	if (fclose(to) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* One system for all: names of classes need not differ as identifiers. */
static int tracedat_events(const struct tracedat *t, FILE *to)
{
	tracedat_u32(to, t->n_sites > 0);
	if (t->n_sites == 0)
		return 0;
	fwrite("ktr", 1, 4, to);
	tracedat_u32(to, t->n_sites);
	for (uint32_t i = 0; i < t->n_sites; i++) {
		size_t n = 0;
		char *text = tracedat_format(t->site[i], i, &n);

		if (text == NULL)
			return -ENOMEM;
		tracedat_sized(to, text, n);
		free(text);
	}
	return 0;
}

static int tracedat_names(struct ktr__export *e, FILE *head)
{
	char *text = NULL, name[64];
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	if (to == NULL)
		return -ENOMEM;
	for (unsigned i = 1; i < ktr_reader_n_threads(e->reader); i++) {
		const struct ktr_reader_thread *thread = ktr_reader_thread(e->reader, i);

		if (thread == NULL)
			continue;
		ktr__label_clean(name, sizeof(name), thread->name, strlen(thread->name));
		fprintf(to, "%" PRIu32 " %s\n", thread->tid, name);
	}
	if (fclose(to) != 0) {
		free(text);
		return -ENOMEM;
	}
	tracedat_u32(head, 0); /* kernel symbols */
	tracedat_u32(head, 0); /* formats of trace_printk */
	tracedat_sized(head, text, n);
	free(text);
	return 0;
}

/* Where each CPU's pages lie: after the head, which is a whole number of pages. */
static int tracedat_places(struct ktr__export *e, const struct tracedat *t, FILE *head)
{
	uint32_t n_cpus = e->info->n_cpus < TRACEDAT_CPUS ? e->info->n_cpus : TRACEDAT_CPUS;
	uint64_t offset, size, *n = calloc((size_t)n_cpus + 1, sizeof(*n));

	if (n == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_pages; i++)
		if (t->page_cpu[i] < n_cpus)
			n[t->page_cpu[i]] += TRACEDAT_PAGE;
	tracedat_u32(head, n_cpus);
	fwrite("options  \0\0", 1, 12, head); /* none */
	fwrite("flyrecord", 1, 10, head);
	offset = (uint64_t)ftello(head) + 16 * (uint64_t)n_cpus;
	offset = (offset + TRACEDAT_PAGE - 1) / TRACEDAT_PAGE * TRACEDAT_PAGE;
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		size = n[cpu];
		fwrite(&offset, 8, 1, head);
		fwrite(&size, 8, 1, head);
		offset += size;
	}
	while (ftello(head) % TRACEDAT_PAGE != 0 && !ferror(head))
		putc(0, head);
	free(n);
	return 0;
}

static int tracedat_head(struct ktr__export *e, const struct tracedat *t)
{
	char *text = NULL;
	size_t n = 0;
	FILE *head = open_memstream(&text, &n);
	int rc;

	if (head == NULL)
		return -ENOMEM;
	tracedat_headers(head);
	rc = tracedat_events(t, head);
	if (rc == 0)
		rc = tracedat_names(e, head);
	if (rc == 0)
		rc = tracedat_places(e, t, head);
	if (fclose(head) != 0)
		rc = -ENOMEM;
	if (rc == 0)
		fwrite(text, 1, n, e->to);
	free(text);
	return rc;
}

/* The pages, one CPU after the other. */
static int tracedat_pages(struct ktr__export *e, const struct tracedat *t)
{
	uint8_t page[TRACEDAT_PAGE];

	for (uint32_t cpu = 0; cpu < t->n_cpus; cpu++)
		for (uint32_t i = 0; i < t->n_pages && t->cpu[cpu] != NULL; i++) {
			if (t->page_cpu[i] != cpu)
				continue;
			if (pread(fileno(t->pages), page, sizeof(page), (off_t)i * TRACEDAT_PAGE) !=
			    (ssize_t)sizeof(page))
				return -EIO;
			fwrite(page, sizeof(page), 1, e->to);
		}
	return 0;
}

static int tracedat_end(struct ktr__export *e)
{
	struct tracedat *t = e->data;
	int rc = 0;

	for (uint32_t i = 0; i < t->n_cpus && rc == 0; i++)
		if (t->cpu[i] != NULL)
			rc = tracedat_flush(t, i);
	if (rc == 0 && fflush(t->pages) != 0)
		rc = -errno;
	if (rc != 0)
		return rc;
	if (t->n_left_out > 0)
		snprintf(e->note, sizeof(e->note),
			 "%" PRIu64 " events were left out: trace.dat has no more ids",
			 t->n_left_out);
	rc = tracedat_head(e, t);
	return rc == 0 ? tracedat_pages(e, t) : rc;
}

const struct ktr__export_format ktr__export_tracedat = {
	.name = "tracedat",
	.help = "trace.dat: trace-cmd report, KernelShark",
	.n_data = sizeof(struct tracedat),
	.begin = tracedat_begin,
	.event = tracedat_event,
	.loss = tracedat_loss,
	.end = tracedat_end,
	.free = tracedat_free,
};

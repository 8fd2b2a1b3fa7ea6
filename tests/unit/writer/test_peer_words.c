/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words that a peer may write into a session which is being drained: whatever it is, a round ends, the drain goes
 * on, and the trace can be read. tests/stress/ has peers that write at random.
 */
#include "writer/rotate.h"
#include "drained.h"

#include "writer/verbose.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const uint64_t words[] = { UINT64_MAX, 0, 1, 1ull << 63, 0x7fffffffffffffffull, 0xffffffffull << 32,
				  0x80000001ull, 0x003f000000010000ull };

#define N_WORDS (sizeof(words) / sizeof(words[0]))

/* What a walk over the trace alone says, or NULL with a failure. The caller frees it. */
static char *walk_alone(const char *path)
{
	const struct ktr_reader_options options = { .size = sizeof(options), .alone = 1 };
	char *lines = made_walk(path, &options);

	CU_ASSERT_PTR_NOT_NULL(lines);
	return lines;
}

static unsigned count(const char *lines, const char *part)
{
	unsigned n = 0;

	while (lines && (lines = strstr(lines, part))) {
		n++;
		lines++;
	}
	return n;
}

/* The row of site 1. */
static struct ktr_site_row *site_row(void)
{
	return (struct ktr_site_row *)image_region(&made.image, KTR_REGION_site) + 1;
}

static void a_new_trace_packs_no_site_that_it_does_not_describe(void)
{
	uint32_t site, thread;
	size_t n = 0;
	char *text;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 10);
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	site_row()->state = KTR_ROW_FREE;
	made_session(&made);
	CU_ASSERT_EQUAL(ktr__rotate(drain, ktr__drain_now()), 0);
	burst(site, thread, 10, 7);
	CU_ASSERT_EQUAL(again(), 0);
	end();
	text = look_file(made.trace, "metadata", &n);
	CU_ASSERT_PTR_NULL(text ? strstr(text, "event { id = 2;") : text);
	free(text);
	text = walk_alone(made.trace);
	CU_ASSERT_EQUAL(count(text, " #"), 7);
	free(text);
	made_close(&made);
}

static void a_resumed_trace_packs_as_it_says(void)
{
	struct ktr_site_row *row;
	uint32_t site, thread;
	pid_t pid;
	int status;
	char *text;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 10);
	pid = fork();
	if (pid == 0) {
		begin(KTR__DRAIN_START);
		_exit(again() != 0);
	}
	CU_ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
	row = site_row();
	row->n_args = 2;
	row->type[0] = KTR_ARG_U8;
	row->type[1] = KTR_ARG_U16;
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(open_drain(KTR__DRAIN_RESUME, 0, 0), 0);
	burst(site, thread, 10, 7);
	CU_ASSERT_EQUAL(again(), 0);
	end();
	text = walk_alone(made.trace);
	CU_ASSERT_EQUAL(count(text, " #"), 17);
	free(text);
	row->n_args = 1;
	row->type[0] = KTR_ARG_I64;
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_1").n_wrong, 0);
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_1").sum, 16 * 17 / 2);
	made_close(&made);
}

static void drops_that_cannot_be_do_not_count(void)
{
	struct ktr_ring *ring;
	uint32_t site, thread;
	struct look look;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	ring = image_ring(&made.image, 1);
	burst(site, thread, 0, 10);
	begin(KTR__DRAIN_START);
	for (unsigned i = 0; i < N_WORDS; i++) {
		ring->dropped = words[i] | 1ull << 50;
		made_session(&made);
		drain->look_ns = 0; /* a second has passed */
		burst(site, thread, 10 + i, 1);
		CU_ASSERT_EQUAL(again(), 0);
	}
	ring->dropped += 5;
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT_EQUAL(end().lost, 6); /* one of the words is one more than that before it */
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.discarded, 6);
	made_close(&made);
}

static void a_ring_that_made_no_sense_is_gone_on_with(void)
{
	for (unsigned i = 0; i < N_WORDS; i++) {
		uint32_t site, thread;
		struct look look;
		uint64_t geom;

		made_open(&made);
		site = number_site();
		thread = made_thread(&made, 4712, 4711, "worker");
		burst(site, thread, 0, 10);
		begin(KTR__DRAIN_START);
		geom = image_ring(&made.image, 1)->geom;
		image_ring(&made.image, 1)->geom = words[i];
		CU_ASSERT_EQUAL(again(), 0);
		image_ring(&made.image, 1)->geom = geom;
		burst(site, thread, 10, 7);
		CU_ASSERT_EQUAL(again(), 0);
		end();
		look = look_stream(&made, made.trace, "cpu_1");
		CU_ASSERT_EQUAL(look.n_wrong, 0);
		CU_ASSERT_EQUAL(look.n_events, 17);
		made_close(&made);
	}
}

/* A ring's old area, given back while it is copied: reading takes no memory there, which there may be none of. */
static void a_hole_is_not_filled_by_reading(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);
	static struct ktr_entry slot[KTR__RING_BUFFER_MIN];
	struct ktr__ring_source source = { 0 };
	struct ktr__ring_batch batch;
	struct stat before, after;
	uint64_t offset;
	unsigned log2;
	void *base;

	made_open(&made);
	burst(number_site(), made_thread(&made, 4712, 4711, "worker"), 0, 300);
	source.header = made.image.header;
	source.fd = memfd_create("peer", MFD_CLOEXEC);
	CU_ASSERT_EQUAL(write(source.fd, made.image.bytes, made.image.n_bytes), (ssize_t)made.image.n_bytes);
	base = mmap(NULL, made.image.n_bytes, PROT_READ, MAP_SHARED, source.fd, 0);
	CU_ASSERT_FATAL(base != MAP_FAILED);
	source.base = base;
	CU_ASSERT_EQUAL(ktr__geom_check(source.header, image_ring(&made.image, 1)->geom, &offset, &log2), 0);
	CU_ASSERT_EQUAL(fallocate(source.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
				  (off_t)KTR_ENTRY_BYTES << log2), 0);
	CU_ASSERT_EQUAL(fstat(source.fd, &before), 0);
	while (ktr__ring_read(&source, &cursor, UINT64_MAX, slot, KTR__RING_BUFFER_MIN, &batch) > 0)
		;
	CU_ASSERT_EQUAL(fstat(source.fd, &after), 0);
	CU_ASSERT_EQUAL(cursor.next, 300);
	CU_ASSERT_EQUAL(before.st_blocks, after.st_blocks);
	munmap(base, made.image.n_bytes);
	close(source.fd);
	made_close(&made);
}

static void print(void *context, const char *line, size_t n_bytes)
{
	CU_ASSERT(memchr(line, '\n', n_bytes) == line + n_bytes - 1);
	++*(unsigned *)context;
}

/* One word of the session is spoilt in each way, and mended, while events come. */
static void spoil_word(char *word, uint32_t site, uint32_t text_site, uint32_t thread, struct ktr__verbose *echo)
{
	unsigned n_lines = 0;
	uint64_t before, pause_ns;

	memcpy(&before, word, sizeof(before));
	for (unsigned i = 0; i < N_WORDS; i++) {
		memcpy(word, &words[i], sizeof(words[i]));
		made_session(&made);
		ktr__drain_round(drain, KTR__DRAIN_ALL, &pause_ns);
		drain->look_ns = 0; /* a second has passed */
		ktr__verbose_round(echo, &map, NULL, 2, print, &n_lines);
		memcpy(word, &before, sizeof(before));
		burst(site, thread, made.slots[1], 3);
		made_event(&made, 0, 1000 + made.slots[0], text_site, thread, "text", (uint64_t)-3, (uint64_t)9,
			   "more");
		CU_ASSERT_EQUAL(again(), 0);
		ktr__verbose_round(echo, &map, NULL, 2, print, &n_lines);
	}
}

static void spoil(enum ktr_region_id region, size_t from, size_t n_bytes)
{
	struct ktr__ring_source source = { .header = &map.header, .fd = -1 };
	uint32_t site, text_site, thread;
	struct ktr__verbose *echo;
	struct look look;
	char *lines;

	made_open(&made);
	site = number_site();
	text_site = made_site(&made, KTR_NET, "text.c", 7, "%s of %*.*s", "a,b,c,d", 4, KTR_ARG_STR, KTR_ARG_I32,
			      KTR_ARG_I32, KTR_ARG_STR);
	thread = made_thread(&made, 4712, 4711, "worker");
	begin(KTR__DRAIN_START);
	source.fd = map.fd;
	echo = ktr__verbose_open(&source);
	for (size_t at = from; at + sizeof(uint64_t) <= from + n_bytes; at += sizeof(uint64_t))
		spoil_word((char *)image_region(&made.image, region) + at, site, text_site, thread, echo);
	ktr__verbose_close(echo);
	end();
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT(look.n_events + look.discarded >= made.slots[1]);
	lines = walk_alone(made.trace);
	CU_ASSERT_PTR_NULL(lines ? strstr(lines, "error ") : NULL);
	CU_ASSERT(count(lines, " #") > 0);
	free(lines);
	made_close(&made);
}

static void any_word_of_the_control_page(void)
{
	spoil(KTR_REGION_control, 0, offsetof(struct ktr_control, cpumask));
	spoil(KTR_REGION_control, offsetof(struct ktr_control, n_classes), 64 + 128);
}

static void any_word_of_a_ring(void)
{
	spoil(KTR_REGION_ring, sizeof(struct ktr_ring), sizeof(struct ktr_ring));
}

static void any_word_of_a_row(void)
{
	spoil(KTR_REGION_site, sizeof(struct ktr_site_row), sizeof(struct ktr_site_row));
	spoil(KTR_REGION_site, 2 * sizeof(struct ktr_site_row), sizeof(struct ktr_site_row));
	spoil(KTR_REGION_thread, sizeof(struct ktr_thread_row), sizeof(struct ktr_thread_row));
	spoil(KTR_REGION_proc, sizeof(struct ktr_proc_row), sizeof(struct ktr_proc_row));
	spoil(KTR_REGION_class_, sizeof(struct ktr_class_row), sizeof(struct ktr_class_row));
	spoil(KTR_REGION_anchor, 0, sizeof(struct ktr_anchor));
	spoil(KTR_REGION_string, 0, 128);
}

static void any_word_of_an_entry(void)
{
	spoil(KTR_REGION_data, 0, 4 * KTR_ENTRY_BYTES);
}

SUITE(peer_words, TEST(a_new_trace_packs_no_site_that_it_does_not_describe), TEST(a_resumed_trace_packs_as_it_says),
      TEST(drops_that_cannot_be_do_not_count), TEST(a_ring_that_made_no_sense_is_gone_on_with),
      TEST(a_hole_is_not_filled_by_reading), TEST(any_word_of_the_control_page), TEST(any_word_of_a_ring),
      TEST(any_word_of_a_row), TEST(any_word_of_an_entry));

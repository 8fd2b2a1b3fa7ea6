/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader against traces and sessions that were cut, spoilt or made up: what can be read is
 * read, what cannot is told, and nothing that was not recorded is shown.
 */
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "writer/format/packet.h"

#include <errno.h>
#include <inttypes.h>

struct damage_file {
	char path[192];
	char *bytes;
	size_t n;
};

static struct damage_file damage_load(const char *dir, const char *name)
{
	struct damage_file file;
	struct stat st;
	int fd;

	snprintf(file.path, sizeof(file.path), "%s%s%s", dir, name[0] ? "/" : "", name);
	fd = open(file.path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0 && fstat(fd, &st) == 0);
	file.n = (size_t)st.st_size;
	file.bytes = malloc(file.n + 1);
	CU_ASSERT_FATAL(read(fd, file.bytes, file.n) == (ssize_t)file.n);
	close(fd);
	return file;
}

/* Flips a bit of the file, and of the copy in memory. */
static void damage_flip(struct damage_file *file, size_t bit)
{
	int fd = open(file->path, O_WRONLY | O_CLOEXEC);

	file->bytes[bit / 8] ^= (char)(1 << bit % 8);
	CU_ASSERT_FATAL(fd >= 0 &&
			pwrite(fd, file->bytes + bit / 8, 1, (off_t)(bit / 8)) == 1);
	close(fd);
}

static void damage_store(const struct damage_file *file, size_t n)
{
	int fd = open(file->path, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);

	CU_ASSERT_FATAL(fd >= 0 && write(fd, file->bytes, n) == (ssize_t)n);
	close(fd);
}

/* A trace of two streams; cpu_0 has three packets of 20 events, cpu_1 one. */
#define DAMAGE_EVENTS 60

static void damage_make(struct made *made)
{
	uint32_t a, b, one;

	made_open(made);
	a = made_site(made, KTR_GEN, "t.c", 1, "%u is %s", "n,s", 2, KTR_ARG_U32, KTR_ARG_STR);
	b = made_site(made, KTR_NET, "t.c", 2, "other %d", "n", 1, KTR_ARG_I32);
	one = made_thread(made, 101, 100, "one");
	for (uint64_t i = 0; i < 10; i++)
		made_event(made, 1, 1005 + 70 * i, b, one, i);
	for (uint64_t i = 0; i < DAMAGE_EVENTS; i++) {
		made_event(made, 0, 1000 + 10 * i, a, one, i, i % 3 ? "some text" : "");
		if (i % 20 == 19)
			made_drain(made);
	}
	made_trace(made);
}

struct damage_count {
	unsigned n_events; /* of cpu 0, as they were recorded */
	unsigned n_all;	   /* of both, whatever they look like */
	unsigned n_lost;
	unsigned n_alarms; /* notes about damage */
	unsigned n_alien;  /* lines that the undamaged walk does not have */
	unsigned n_named;  /* notes about damage that name the file */
};

/* The file that is damaged. */
static const char *damage_name = "cpu_0";

/* What a walk says, held against the walk of what was recorded. */
static struct damage_count damage_walk_from(const char *path, int reverse, uint64_t from_ns,
					    const char *good)
{
	struct ktr_reader_options options = {
		.size = sizeof(options),
		.reverse = reverse,
		.from_ns = from_ns,
	};
	static unsigned n_walks;
	struct damage_count count = { 0, 0, 0, 0, 0, 0 };
	char *all = made_walk(path, &options), *next;

	CU_ASSERT_PTR_NOT_NULL_FATAL(all);
	/* Counting opens once more: every fifth time, which is of either direction, unless there is time. */
	if (n_walks++ % 5 == 0 || getenv("KTR_TEST_ALL"))
		CU_ASSERT(made_counts(path, &options, all));
	for (char *line = all; *line; line = next) {
		char keep;

		next = strchr(line, '\n') + 1;
		keep = *next;
		*next = '\0';
		count.n_all += strstr(line, " cpu") && line[0] >= '0' && line[0] <= '9';
		if (strncmp(line, "note!", 5) == 0) {
			count.n_alarms++;
			count.n_named += strstr(line, damage_name) != NULL;
		}
		if (strncmp(line, "lost ", 5) == 0)
			count.n_lost += (unsigned)strtoul(line + 5, NULL, 10);
		else if (strncmp(line, "note", 4) != 0 && !strstr(good, line))
			count.n_alien++;
		else if (strstr(line, " cpu0 "))
			count.n_events++;
		*next = keep;
	}
	free(all);
	return count;
}

static struct damage_count damage_walk(const char *path, int reverse, const char *good)
{
	return damage_walk_from(path, reverse, 0, good);
}

static void a_stream_may_be_cut_anywhere(void)
{
	struct damage_file file;
	struct made made;
	char *good;

	damage_make(&made);
	good = made_walk(made.trace, NULL);
	file = damage_load(made.trace, "cpu_0");
	for (size_t n = 0; n <= file.n; n++) {
		struct damage_count forth, back;

		damage_store(&file, n);
		forth = damage_walk(made.trace, 0, good);
		back = damage_walk(made.trace, 1, good);
		CU_ASSERT(forth.n_alien == 0 && back.n_alien == 0);
		CU_ASSERT(forth.n_events % 20 == 0 && forth.n_events == back.n_events);
		CU_ASSERT(forth.n_lost == 0 && back.n_lost == 0);
		/* Also where it was cut between two packets. */
		CU_ASSERT((forth.n_alarms > 0) == (n < file.n));
		CU_ASSERT(forth.n_alarms <= 2 && forth.n_alarms == back.n_alarms);
	}
	free(file.bytes);
	free(good);
	made_close(&made);
}

static void a_flipped_bit_costs_its_packet(void)
{
	struct damage_file file;
	struct made made;
	char *good;

	damage_make(&made);
	good = made_walk(made.trace, NULL);
	file = damage_load(made.trace, "cpu_0");
	for (size_t bit = 0; bit < file.n * 8; bit++) {
		struct damage_count count;

		damage_flip(&file, bit);
		count = damage_walk(made.trace, bit % 2, good);
		CU_ASSERT(count.n_alien == 0 && count.n_events == 40);
		CU_ASSERT(count.n_alarms >= 1 && count.n_named >= 1);
		/* Of a middle packet it is known how many events are missing. */
		CU_ASSERT(count.n_lost <= 20);
		if (bit / 8 > file.n * 2 / 5 && bit / 8 < file.n * 3 / 5)
			CU_ASSERT(count.n_lost == 20);
		damage_flip(&file, bit);
	}
	free(file.bytes);
	free(good);
	made_close(&made);
}

/* From the middle of the second packet on: what is not damaged is found. */
static void damage_does_not_mislead_a_seek(void)
{
	static const unsigned n_left[] = { 29, 20, 9 }; /* events behind 1305, less a packet's */
	struct ktr_packet_header head;
	struct damage_file file;
	struct made made;
	char *good;
	size_t end = 0;

	damage_make(&made);
	good = made_walk(made.trace, NULL);
	file = damage_load(made.trace, "cpu_0");
	for (unsigned packet = 0; packet < 3; packet++) {
		size_t begin = end;

		end += (size_t)ktr__packet_peek((uint8_t *)file.bytes + begin, file.n - begin,
						&head);
		for (size_t bit = begin * 8; bit < end * 8; bit += 7) {
			struct damage_count count;

			file.bytes[bit / 8] ^= (char)(1 << bit % 8);
			damage_store(&file, file.n);
			count = damage_walk_from(made.trace, bit % 2, 1305, good);
			CU_ASSERT(count.n_alien == 0 && count.n_events == n_left[packet]);
			file.bytes[bit / 8] ^= (char)(1 << bit % 8);
		}
	}
	CU_ASSERT(end == file.n);
	free(file.bytes);
	free(good);
	made_close(&made);
}

/*
 * Whatever describes the events may be damaged at any bit: it is told where, and every event is
 * read, if need be with what the metadata knows of it.
 */
static void a_flipped_bit_of_what_describes_is_told(void)
{
	static const char *const names[] = {
		"metadata",
#define DAMAGE_NAME(name, file) "ktr/" file,
		KTR_SIDECAR_LIST(DAMAGE_NAME)
#undef DAMAGE_NAME
	};
	struct made made;
	char *good;

	damage_make(&made);
	good = made_walk(made.trace, NULL);
	for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
		struct damage_file file = damage_load(made.trace, names[f]);

		/* The metadata is long: of its bits some, unless there is time. */
		size_t step = f || getenv("KTR_TEST_ALL") ? 1 : 5;

		damage_name = names[f];
		for (size_t bit = 0; bit < file.n * 8; bit += step) {
			struct damage_count count;

			damage_flip(&file, bit);
			count = damage_walk(made.trace, bit % 2, good);
			CU_ASSERT(count.n_alarms >= 1 && count.n_named >= 1);
			CU_ASSERT(count.n_all == DAMAGE_EVENTS + 10 && count.n_lost == 0);
			damage_flip(&file, bit);
		}
		free(file.bytes);
	}
	damage_name = "cpu_0";
	free(good);
	made_close(&made);
}

/* The same for any cut. */
/* Nothing tells any more of a call site whose events are among others: where one is, the packet's rest is lost. */
static void events_that_nothing_describes(void)
{
	struct damage_file sites, metadata;
	uint32_t known, unknown;
	struct made made;
	char *got;

	made_open(&made);
	known = made_site(&made, KTR_GEN, "t.c", 1, "known %d", "n", 1, KTR_ARG_I32);
	unknown = made_site(&made, KTR_GEN, "t.c", 2, "unknown", "", 0);
	for (uint64_t i = 0; i < DAMAGE_EVENTS; i++) {
		made_event(&made, 0, 1000 + 10 * i, i % 20 == 7 ? unknown : known, 0, i);
		if (i % 20 == 19)
			made_drain(&made);
	}
	made_trace(&made);
	sites = damage_load(made.trace, "ktr/sites.jsonl");
	metadata = damage_load(made.trace, "metadata");
	damage_store(&sites, (size_t)((char *)memchr(sites.bytes, '\n', sites.n) + 1 - sites.bytes));
	damage_store(&metadata, 0);
	got = made_walk(made.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(got);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "known 6\n"));
	CU_ASSERT_PTR_NULL(strstr(got, "known 8\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "hold an event of an unknown call site"));
	CU_ASSERT(made_counts(made.trace, NULL, got));
	free(got);
	free(sites.bytes);
	free(metadata.bytes);
	made_close(&made);
}

static void what_describes_may_be_cut_anywhere(void)
{
	static const char *const names[] = { "metadata", "ktr/info.jsonl", "ktr/sites.jsonl",
					     "ktr/threads.jsonl" };
	struct made made;
	char *good;

	damage_make(&made);
	good = made_walk(made.trace, NULL);
	for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
		struct damage_file file = damage_load(made.trace, names[f]);

		damage_name = names[f];
		for (size_t n = 0; n < file.n; n++) {
			struct damage_count count;
			int whole = n && file.bytes[n - 1] == '\n';

			damage_store(&file, n);
			count = damage_walk(made.trace, n % 2, good);
			CU_ASSERT(count.n_all == DAMAGE_EVENTS + 10 && count.n_lost == 0);
			CU_ASSERT(count.n_named >= 1 || whole || !n || names[f][4] == 'i');
		}
		damage_store(&file, file.n);
		free(file.bytes);
	}
	damage_name = "cpu_0";
	free(good);
	made_close(&made);
}

/* Opens what should not open; the error must name the path and match. */
static void damage_refused(const char *path, int code, const char *text)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_reader *reader;

	CU_ASSERT(ktr_reader_open(path, NULL, &reader, &err) == -code);
	CU_ASSERT_PTR_NULL(reader);
	CU_ASSERT(err.code == code && strcmp(err.file, path) == 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, text));
	if (!strstr(err.text, text))
		fprintf(stderr, "\n%s\n", err.text);
	CU_ASSERT(ktr_reader_open(path, NULL, &reader, NULL) == -code);
}

static void what_is_no_trace_is_refused(void)
{
	struct damage_file info, foreign;
	char path[128];
	struct made made;

	damage_make(&made);
	damage_refused("/tmp/there/is/nothing", ENOENT, "No such file");
	damage_refused(made.dir, EINVAL, "not a trace");
	damage_refused("/dev/null", EINVAL, "neither");
	snprintf(path, sizeof(path), "%s/metadata", made.trace);
	damage_refused(path, EINVAL, "is a part of a trace: name the directory");
	snprintf(path, sizeof(path), "%s/metadata", made.dir);
	foreign = (struct damage_file){ .bytes = (char[]){ "/* CTF 1.8 */" }, .n = 13 };
	memcpy(foreign.path, path, sizeof(path));
	damage_store(&foreign, foreign.n);
	damage_refused(made.dir, EINVAL, "a CTF trace, but not one of ktr");
	info = damage_load(made.trace, "ktr/info.jsonl");
	foreign = damage_load(made.trace, "metadata");
	damage_store(&foreign, 0);
	damage_store(&info, 0);
	damage_refused(made.trace, EPROTO, "does not describe a trace");
	info.bytes[20] ^= 1;
	damage_store(&info, info.n);
	damage_refused(made.trace, EPROTO, "does not describe a trace");
	free(foreign.bytes);
	free(info.bytes);
	made_close(&made);
}

static void a_trace_without_an_end_says_so(void)
{
	struct damage_file info;
	struct made made;
	char *all;

	damage_make(&made);
	info = damage_load(made.trace, "ktr/info.jsonl");
	damage_store(&info, (size_t)(strstr(info.bytes, "{\"kind\":\"end\"") - info.bytes));
	all = made_walk(made.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(all, "the trace was not finished"));
	free(all);
	free(info.bytes);
	made_close(&made);
}

/* What holds whatever the input is: the order of times, and the bounds of ids. */
static void damage_check(const char *path, int reverse)
{
	struct ktr_reader_options options = { .size = sizeof(options), .reverse = reverse };
	uint64_t last = reverse ? UINT64_MAX : 0;
	struct ktr_reader *reader;
	struct ktr_event event;
	char text[256];
	int what;

	if (ktr_reader_open(path, &options, &reader, NULL))
		return;
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what != KTR_READ_EVENT)
			continue;
		CU_ASSERT(reverse ? event.time_ns <= last : event.time_ns >= last);
		CU_ASSERT(event.cpu < ktr_reader_info(reader)->n_cpus);
		CU_ASSERT(event.site->id < ktr_reader_n_sites(reader));
		CU_ASSERT(event.thread->id < ktr_reader_n_threads(reader));
		ktr_event_text(&event, text, sizeof(text));
		last = event.time_ns;
	}
	ktr_reader_close(reader);
}

static void random_damage_to_sessions_does_no_harm(void)
{
	struct damage_file file;
	uint64_t random = 12345;
	struct made made;

	damage_make(&made);
	file = damage_load(made.session, "");
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 1 + round % 9; i++) {
			uint64_t r = image_random(&random);
			/* The header, the rows that are in use, the rings. */
			size_t region = r % 3 ? made.image.header->region[r / 3 % KTR_REGIONS]
							.offset
					      : 0;

			file.bytes[(region + (r >> 32) % 1024) % file.n] = (char)(r >> 24);
		}
		damage_store(&file, round % 5 ? file.n : image_random(&random) % file.n);
		damage_check(made.session, round % 2);
		if (round % 10 == 9)
			memcpy(file.bytes, made.image.bytes, file.n);
	}
	free(file.bytes);
	made_close(&made);
}

/* Packets whose checksum is right and whose content is not: somebody made them. */
static void packets_made_to_deceive_do_no_harm(void)
{
	struct damage_file file;
	char *good;
	uint64_t random = 54321;
	struct made made;

	damage_make(&made);
	file = damage_load(made.trace, "cpu_0");
	good = malloc(file.n);
	memcpy(good, file.bytes, file.n);
	for (int round = 0; round < 2000; round++) {
		struct ktr_packet_header head;
		size_t at = 0, length;

		memcpy(file.bytes, good, file.n);
		for (unsigned i = 0; i < (unsigned)round % 3; i++)
			at += (size_t)ktr__packet_peek((uint8_t *)good + at, file.n - at, &head);
		length = (size_t)ktr__packet_peek((uint8_t *)good + at, file.n - at, &head);
		for (int i = 0; i < 1 + round % 4; i++) {
			uint64_t r = image_random(&random);
			size_t byte = r % 2 ? 32 + (r >> 8) % 68 : (r >> 8) % length;

			file.bytes[at + byte] = (char)(r >> 40);
		}
		memset(file.bytes + at + offsetof(struct ktr_packet_header, crc), 0, 4);
		head.crc = ktr__crc32c(0, file.bytes + at, length);
		memcpy(file.bytes + at + offsetof(struct ktr_packet_header, crc), &head.crc, 4);
		damage_store(&file, file.n);
		damage_check(made.trace, round % 2);
	}
	free(good);
	free(file.bytes);
	made_close(&made);
}

SUITE(reader_damage, TEST(a_stream_may_be_cut_anywhere), TEST(a_flipped_bit_costs_its_packet),
      TEST(damage_does_not_mislead_a_seek), TEST(a_flipped_bit_of_what_describes_is_told),
      TEST(what_describes_may_be_cut_anywhere), TEST(events_that_nothing_describes),
      TEST(what_is_no_trace_is_refused), TEST(a_trace_without_an_end_says_so),
      TEST(random_damage_to_sessions_does_no_harm), TEST(packets_made_to_deceive_do_no_harm));

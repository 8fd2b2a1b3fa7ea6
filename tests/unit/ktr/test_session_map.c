/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Session files as untrusted input: a good one reads back, each field of the header with each
 * value that it must not have is refused, files cut short or of another kind are, and what is read
 * later stays within what was checked.
 */
#include "tests/unit/suite.h"
#include "tests/unit/test_image.h"

#include "ktr/session/session_map.h"

#include <sys/file.h>
#include <sys/wait.h>

/* A directory of its own per test, with one session file in it. */
struct place {
	char dir[64];
	char path[96];
	struct image image;
	struct ktr__session_map map;
	struct ktr_error err;
};

static void place_make(struct place *place)
{
	memset(place, 0, sizeof(*place));
	strcpy(place->dir, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place->dir));
	snprintf(place->path, sizeof(place->path), "%s/one.ktr", place->dir);
	image_make(&place->image, "one");
	place->map.fd = -1;
}

static void place_save(struct place *place)
{
	CU_ASSERT_EQUAL_FATAL(image_write(&place->image, place->path, place->image.n_bytes), 0);
}

static int place_open(struct place *place)
{
	ktr_error_clear(&place->err);
	return ktr__map_open(place->path, KTR__MAP_OWN, &place->map, &place->err);
}

static void place_drop(struct place *place)
{
	ktr__map_close(&place->map);
	unlink(place->path);
	rmdir(place->dir);
	free(place->image.bytes);
}

/* Opening fails with this code, leaves nothing open, and says why. */
static int place_refused(struct place *place, int code)
{
	int rc = place_open(place);
	int ok = rc == -code && place->map.fd == -1 && place->err.code == code &&
		 place->err.text[0] && strcmp(place->err.file, place->path) == 0;

	if (!ok)
		fprintf(stderr, "expected %d, got %d: %s\n", -code, rc, place->err.text);
	ktr__map_close(&place->map);
	return ok;
}

static void a_good_session_reads_back(void)
{
	struct ktr_control control;
	struct ktr_ring ring;
	struct place place;
	uint8_t ctl;

	place_make(&place);
	place.image.control->record = 0x1234;
	image_ring(&place.image, 3)->head = 99;
	((uint8_t *)image_region(&place.image, KTR_REGION_site_ctl))[5] = KTR_SITE_OFF;
	place_save(&place);
	CU_ASSERT_EQUAL_FATAL(place_open(&place), 0);
	CU_ASSERT_STRING_EQUAL(place.map.header.name, "one");
	CU_ASSERT_EQUAL(ktr__map_control(&place.map, &control), 0);
	CU_ASSERT_EQUAL(control.record, 0x1234);
	CU_ASSERT_EQUAL(ktr__header_n_ring_rows(&place.map.header), 4);
	CU_ASSERT_EQUAL(ktr__map_ring(&place.map, 3, &ring), 0);
	CU_ASSERT_EQUAL(ring.head, 99);
	CU_ASSERT_EQUAL(ktr__map_ring(&place.map, 4, &ring), -ERANGE);
	CU_ASSERT_EQUAL(ktr__map_site_ctl(&place.map, 5, &ctl), 0);
	CU_ASSERT_EQUAL(ctl, KTR_SITE_OFF);
	CU_ASSERT_EQUAL(ktr__map_site_ctl(&place.map, IMAGE_ROWS, &ctl), -ERANGE);
	place_drop(&place);
}

static void rows_show_when_they_are_ready(void)
{
	/* "%p %s %d %p", and a stack */
	const uint8_t type[] = { KTR_ARG_STR, KTR_ARG_PTR, KTR_ARG_I32, KTR_ARG_STACK, KTR_ARG_STACK };
	const uint8_t how[] = { KTR_HOW_VALUE, KTR_HOW_COPY, KTR_HOW_VALUE, KTR_HOW_VALUE, KTR_HOW_STACK };
	const uint8_t recorded[] = { KTR_ARG_PTR, KTR_ARG_STR, KTR_ARG_I32, KTR_ARG_PTR, KTR_ARG_STACK };
	struct ktr_site_row *rows, row;
	struct ktr_control control;
	struct ktr_anchor anchor, *anchors;
	struct place place;

	place_make(&place);
	rows = image_region(&place.image, KTR_REGION_site);
	anchors = image_region(&place.image, KTR_REGION_anchor);
	for (uint32_t i = 0; i < IMAGE_ROWS; i++) {
		rows[i].state = i % 6;
		rows[i].line = 100 + i;
	}
	memcpy(rows[2].type, type, sizeof(type));
	memcpy(rows[2].how, how, sizeof(how));
	anchors[2].state = KTR_ROW_READY;
	anchors[2].utc_ns = 77;
	place.image.control->n_sites = UINT32_MAX; /* overrun: more came than there is room for */
	place.image.control->n_anchors = 3;
	place.image.control->string_bytes = UINT64_MAX;
	place_save(&place);
	CU_ASSERT_EQUAL_FATAL(place_open(&place), 0);
	for (uint32_t i = 0; i < IMAGE_ROWS; i++) {
		int shown = i % 6 == KTR_ROW_READY || i % 6 == KTR_ROW_GONE;

		CU_ASSERT_EQUAL(ktr__map_site(&place.map, i, &row), shown ? 0 : -ENOENT);
		if (shown)
			CU_ASSERT_EQUAL(row.line, 100 + i);
	}
	CU_ASSERT_EQUAL(ktr__map_site(&place.map, 2, &row), 0);
	CU_ASSERT(memcmp(row.type, recorded, sizeof(recorded)) == 0);
	CU_ASSERT_EQUAL(ktr__map_site(&place.map, IMAGE_ROWS, &row), -ERANGE);
	CU_ASSERT_EQUAL(ktr__map_site(&place.map, UINT32_MAX, &row), -ERANGE);
	CU_ASSERT_EQUAL(ktr__map_anchor(&place.map, 2, &anchor), 0);
	CU_ASSERT_EQUAL(anchor.utc_ns, 77);
	CU_ASSERT_EQUAL(ktr__map_control(&place.map, &control), 0);
	CU_ASSERT_EQUAL(ktr__map_n_rows(&place.map, &control, KTR_REGION_site), IMAGE_ROWS);
	CU_ASSERT_EQUAL(ktr__map_n_rows(&place.map, &control, KTR_REGION_anchor), 3);
	CU_ASSERT_EQUAL(ktr__map_n_rows(&place.map, &control, KTR_REGION_string), 4096);
	CU_ASSERT_EQUAL(ktr__map_n_rows(&place.map, &control, KTR_REGION_ring), 4);
	place_drop(&place);
}

/* Rows that a later minor version has made longer. */
static void longer_rows_are_read_by_their_own_stride(void)
{
	struct ktr_region *region;
	struct ktr_thread_row row, *at;
	struct place place;

	place_make(&place);
	region = &place.image.header->region[KTR_REGION_thread];
	region->row_bytes = 96;
	at = (void *)((char *)image_region(&place.image, KTR_REGION_thread) + 3 * 96);
	at->state = KTR_ROW_READY;
	at->tid = 4242;
	place_save(&place);
	CU_ASSERT_EQUAL_FATAL(place_open(&place), 0);
	CU_ASSERT_EQUAL(ktr__map_thread(&place.map, 3, &row), 0);
	CU_ASSERT_EQUAL(row.tid, 4242);
	CU_ASSERT_EQUAL(ktr__map_thread(&place.map, 2, &row), -ENOENT);
	place_drop(&place);
}

static void strings_end(void)
{
	struct place place;
	char text[32], *strings;

	place_make(&place);
	strings = image_region(&place.image, KTR_REGION_string);
	strcpy(strings + 1, "hello");
	memset(strings + 100, 'x', 3996); /* to the table's end, and nothing ends it */
	place_save(&place);
	CU_ASSERT_EQUAL_FATAL(place_open(&place), 0);
	CU_ASSERT_EQUAL(ktr__map_string(&place.map, 1, text, sizeof(text)), 5);
	CU_ASSERT_STRING_EQUAL(text, "hello");
	CU_ASSERT_EQUAL(ktr__map_string(&place.map, 1, text, 4), 3);
	CU_ASSERT_STRING_EQUAL(text, "hel");
	CU_ASSERT_EQUAL(ktr__map_string(&place.map, 1, text, 1), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	CU_ASSERT_EQUAL(ktr__map_string(&place.map, 0, text, sizeof(text)), 0);
	CU_ASSERT_EQUAL(ktr__map_string(&place.map, 50, text, sizeof(text)), 0);
	CU_ASSERT_EQUAL(ktr__map_string(&place.map, 100, text, sizeof(text)), 31);
	strcpy(text, "stale");
	CU_ASSERT_EQUAL(ktr__map_string(&place.map, 4090, text, sizeof(text)), -EPROTO);
	CU_ASSERT_STRING_EQUAL(text, "");
	CU_ASSERT_EQUAL(ktr__map_string(&place.map, 4096, text, sizeof(text)), -ERANGE);
	CU_ASSERT_EQUAL(ktr__map_string(&place.map, UINT32_MAX, text, sizeof(text)), -ERANGE);
	place_drop(&place);
}

/* Values that a field must not have. */
#define FIELD(name) offsetof(struct ktr_header, name), sizeof(((struct ktr_header *)0)->name)
#define REGION(id, name)                                                                           \
	offsetof(struct ktr_header, region) + (id) * sizeof(struct ktr_region) +                   \
		offsetof(struct ktr_region, name),                                                 \
		sizeof(((struct ktr_region *)0)->name)

static const struct {
	size_t offset;
	size_t n_bytes;
	uint64_t value;
	int code;
} hostile[] = {
	{ FIELD(magic), 0, EINVAL },
	{ FIELD(magic), 0x4b54525353534e31ull, EINVAL },
	{ FIELD(magic), 0xab44525353534e31ull, EINVAL },
	{ FIELD(major), 0, ENOTSUP },
	{ FIELD(major), KTR_SESSION_MAJOR - 1, ENOTSUP },
	{ FIELD(major), KTR_SESSION_MAJOR + 1, ENOTSUP },
	{ FIELD(major), 0xffff, ENOTSUP },
	{ FIELD(header_bytes), 0, EPROTO },
	{ FIELD(header_bytes), sizeof(struct ktr_header) - 1, EPROTO },
	{ FIELD(header_bytes), 65537, EPROTO },
	{ FIELD(ready), 0, EAGAIN },
	{ FIELD(arch), 0, EPROTO },
	{ FIELD(arch), 4, EPROTO },
	{ FIELD(path), 0, EPROTO },
	{ FIELD(path), 3, EPROTO },
	{ FIELD(clock), 0, EPROTO },
	{ FIELD(clock), 4, EPROTO },
	{ FIELD(file_bytes), 0, EPROTO },
	{ FIELD(file_bytes), 65536, EPROTO },
	{ FIELD(file_bytes), UINT64_MAX, EPROTO },
	{ FIELD(n_rings), 0, EPROTO },
	{ FIELD(n_rings), 5, EPROTO },
	{ FIELD(n_rings), KTR_CPU_MAX + 1, EPROTO },
	{ FIELD(n_rings), UINT32_MAX, EPROTO },
	{ FIELD(ring_log2_max), 7, EPROTO },
	{ FIELD(ring_log2_max), 33, EPROTO },
	{ FIELD(ring_log2_max), UINT32_MAX, EPROTO },
	{ FIELD(keep_log2_max), 0, EPROTO },
	{ FIELD(keep_log2_max), 64, EPROTO },
	{ FIELD(n_regions), 0, EPROTO },
	{ FIELD(n_regions), KTR_REGIONS_FIRST - 1, EPROTO },
	{ FIELD(n_regions), KTR_REGIONS_FIRST, 0 }, /* of minor version 0 */
	{ FIELD(n_regions), KTR_REGIONS + 1, 0 }, /* one more, empty: of a later minor version */
	{ FIELD(n_regions), KTR_REGIONS_MAX + 1, EPROTO },
	{ FIELD(n_regions), UINT32_MAX, EPROTO },
	{ FIELD(name[0]), 0, EPROTO },
	{ FIELD(name[0]), '/', EPROTO },
	{ FIELD(name[0]), '.', EPROTO },
	{ FIELD(name[2]), '\n', EPROTO },
	{ FIELD(host[0]), '\033', EPROTO },
	{ FIELD(host[1]), ' ', EPROTO },
	{ REGION(KTR_REGION_control, offset), 0, EPROTO },
	{ REGION(KTR_REGION_control, offset), 65537, EPROTO },
	{ REGION(KTR_REGION_control, bytes), 0, EPROTO },
	{ REGION(KTR_REGION_control, bytes), 65536 + 1, EPROTO },
	{ REGION(KTR_REGION_control, row_bytes), sizeof(struct ktr_control) - 8, EPROTO },
	{ REGION(KTR_REGION_control, n_rows), 0, EPROTO },
	{ REGION(KTR_REGION_site, offset), UINT64_MAX - 65535, EPROTO },
	{ REGION(KTR_REGION_site, bytes), UINT64_MAX, EPROTO },
	{ REGION(KTR_REGION_site, bytes), 128, EPROTO },
	{ REGION(KTR_REGION_site, row_bytes), 127, EPROTO },
	{ REGION(KTR_REGION_site, row_bytes), 129, EPROTO },
	{ REGION(KTR_REGION_site, row_bytes), UINT32_MAX, EPROTO },
	{ REGION(KTR_REGION_site, n_rows), UINT32_MAX, EPROTO },
	{ REGION(KTR_REGION_site, n_rows), IMAGE_ROWS + 1, EPROTO }, /* more than override bytes */
	{ REGION(KTR_REGION_site_ctl, row_bytes), 2, EPROTO },
	{ REGION(KTR_REGION_string, row_bytes), 2, EPROTO },
	{ REGION(KTR_REGION_ring, n_rows), IMAGE_RINGS - 1, EPROTO },
	{ REGION(KTR_REGION_ring, row_bytes), 128, EPROTO },
	{ REGION(KTR_REGION_data, row_bytes), 128, EPROTO },
	{ REGION(KTR_REGION_data, row_bytes), 56, EPROTO },
	{ REGION(KTR_REGION_data, n_rows), UINT32_MAX, EPROTO },
	{ REGION(KTR_REGION_data, offset), 2 * 65536, EPROTO },
	{ REGION(KTR_REGION_data, offset), 1ull << 62, EPROTO },
	{ REGION(KTR_REGIONS, bytes), 1, 0 }, /* beyond n_regions: nobody looks */
};

static void no_header_is_believed(void)
{
	struct place place;

	place_make(&place);
	place_save(&place);
	for (unsigned i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct ktr_header header = *place.image.header;
		int code = hostile[i].code, rc;

		memcpy((char *)place.image.header + hostile[i].offset, &hostile[i].value,
		       hostile[i].n_bytes);
		place_save(&place);
		rc = code ? place_refused(&place, code) : place_open(&place) == 0;
		CU_ASSERT_TRUE(rc);
		if (!rc)
			fprintf(stderr, "hostile[%u]\n", i);
		ktr__map_close(&place.map);
		*place.image.header = header;
	}
	place.image.header->magic = __builtin_bswap64(KTR_SESSION_MAGIC);
	place_save(&place);
	CU_ASSERT(place_refused(&place, ENOTSUP));
	CU_ASSERT_PTR_NOT_NULL(strstr(place.err.text, "byte order"));
	memset(place.image.header, 0, sizeof(*place.image.header));
	place_save(&place);
	CU_ASSERT(place_refused(&place, EAGAIN));
	place_drop(&place);
}

/* The text that a limit has ends where it ends. */
static void errors_are_whole(void)
{
	struct place place;

	place_make(&place);
	place.image.header->n_regions = 0;
	place_save(&place);
	CU_ASSERT(place_refused(&place, EPROTO));
	CU_ASSERT_STRING_EQUAL(place.err.text, "damaged session: impossible number of regions");
	place_drop(&place);
}

static void regions_must_not_overlap(void)
{
	struct ktr_header good, header;
	struct place place;

	place_make(&place);
	good = *place.image.header;
	CU_ASSERT_EQUAL(ktr__header_check(&good, good.file_bytes, "x", NULL), 0);
	CU_ASSERT_EQUAL(ktr__header_check(&good, good.file_bytes - 1, "x", NULL), -EPROTO);
	for (unsigned i = 0; i < KTR_REGIONS; i++)
		for (unsigned j = 0; j < KTR_REGIONS; j++) {
			header = good;
			header.region[i].offset = good.region[j].offset;
			CU_ASSERT_EQUAL(ktr__header_check(&header, good.file_bytes, "x", NULL),
					i == j ? 0 : -EPROTO);
		}
	place_drop(&place);
}

/* Whatever passes the check is harmless: all that a reader derives from it lies in the file. */
static void what_passes_is_harmless(void)
{
	uint64_t random = 7, offset;
	unsigned faults = 0, passed = 0, log2;
	struct ktr_header header;
	struct place place;

	place_make(&place);
	for (unsigned round = 0; round < 200000; round++) {
		uint64_t r = image_random(&random);
		size_t at = r % offsetof(struct ktr_header, region[KTR_REGIONS]);

		header = *place.image.header;
		if (round % 2)
			at = at / 8 * 8 + (r >> 40) % 2;
		((unsigned char *)&header)[at] = (unsigned char)(r >> 32);
		if (ktr__header_check(&header, place.image.n_bytes, "x", NULL))
			continue;
		passed++;
		for (unsigned i = 0; i < KTR_REGIONS; i++) {
			const struct ktr_region *region = &header.region[i];

			faults += region->offset + region->bytes > place.image.n_bytes;
			faults += (uint64_t)region->row_bytes * region->n_rows > region->bytes;
			faults += !region->n_rows;
		}
		if (ktr__geom_check(&header, image_random(&random), &offset, &log2) == 0)
			faults += offset + (64ull << log2) > place.image.n_bytes;
	}
	CU_ASSERT_EQUAL(faults, 0);
	CU_ASSERT(passed > 1000);
	place_drop(&place);
}

static void files_cut_short_are_refused(void)
{
	struct place place;
	int rc;

	place_make(&place);
	for (size_t n = 0; n < place.image.n_bytes; n += n < 4096 ? 97 : 4099) {
		CU_ASSERT_EQUAL_FATAL(image_write(&place.image, place.path, n), 0);
		rc = place_open(&place);
		CU_ASSERT(rc == -EINVAL || rc == -EPROTO);
		CU_ASSERT_EQUAL(place.map.fd, -1);
	}
	/* Cut after it was opened: an error, not a signal. */
	place_save(&place);
	CU_ASSERT_EQUAL_FATAL(place_open(&place), 0);
	CU_ASSERT_EQUAL(truncate(place.path, 4096), 0);
	{
		struct ktr_control control;
		struct ktr_ring ring;
		char text[8];

		CU_ASSERT_EQUAL(ktr__map_control(&place.map, &control), -EIO);
		CU_ASSERT_EQUAL(ktr__map_ring(&place.map, 0, &ring), -EIO);
		CU_ASSERT_EQUAL(ktr__map_string(&place.map, 9, text, sizeof(text)), -EIO);
		CU_ASSERT_EQUAL(ktr__map_alive(&place.map), -EIO);
	}
	place_drop(&place);
}

static void other_kinds_of_files_are_refused(void)
{
	struct place place;
	char target[128];

	place_make(&place);
	CU_ASSERT(place_refused(&place, ENOENT));
	CU_ASSERT_EQUAL(mkdir(place.path, 0700), 0);
	CU_ASSERT(place_refused(&place, EINVAL));
	rmdir(place.path);
	CU_ASSERT_EQUAL(mkfifo(place.path, 0600), 0);
	CU_ASSERT(place_refused(&place, EINVAL)); /* and does not wait for a writer */
	unlink(place.path);
	snprintf(target, sizeof(target), "%s.target", place.path);
	CU_ASSERT_EQUAL(image_write(&place.image, target, place.image.n_bytes), 0);
	CU_ASSERT_EQUAL(symlink(target, place.path), 0);
	CU_ASSERT(place_refused(&place, ELOOP));
	unlink(target);
	unlink(place.path);
	if (geteuid() == 0) {
		place_save(&place);
		CU_ASSERT_EQUAL(chown(place.path, 12345, 12345), 0);
		CU_ASSERT_EQUAL(chmod(place.path, 0644), 0);
		CU_ASSERT_EQUAL(chmod(place.dir, 0711), 0);
		CU_ASSERT_EQUAL(ktr__map_open(place.path, KTR__MAP_OWN, &place.map, NULL), 0);
		ktr__map_close(&place.map);
		CU_ASSERT_EQUAL(seteuid(54321), 0);
		CU_ASSERT(place_refused(&place, EPERM));
		CU_ASSERT_EQUAL(ktr__map_open(place.path, 0, &place.map, NULL), 0);
		CU_ASSERT_EQUAL(seteuid(0), 0);
	}
	place_drop(&place);
}

static void a_session_lives_as_long_as_its_processes(void)
{
	uint32_t self = (uint32_t)getpid();
	struct ktr_proc_row *procs;
	struct place place;
	void *in;
	int fd;

	place_make(&place);
	procs = image_region(&place.image, KTR_REGION_proc);
	place_save(&place);
	CU_ASSERT_EQUAL_FATAL(place_open(&place), 0);
	CU_ASSERT_EQUAL(ktr__map_alive(&place.map), 0);
	/* The lock alone. */
	fd = open(place.path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(flock(fd, LOCK_SH | LOCK_NB), 0);
	CU_ASSERT_EQUAL(ktr__map_alive(&place.map), 1);
	CU_ASSERT_EQUAL(flock(fd, LOCK_UN), 0);
	CU_ASSERT_EQUAL(ktr__map_alive(&place.map), 0);
	/* Asking leaves no lock behind. */
	CU_ASSERT_EQUAL(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
	/*
	 * A process that has left by exec(2), which has nothing of the session mapped; one that is in it; then one
	 * that only has the pid of a former one, and one that said goodbye.
	 */
	image_process(&place.image, 2, self, ktr__proc_start_time(0));
	place_save(&place);
	CU_ASSERT_EQUAL(ktr__map_alive(&place.map), 0);
	in = image_enter(place.path);
	CU_ASSERT_PTR_NOT_EQUAL_FATAL(in, MAP_FAILED);
	CU_ASSERT_EQUAL(ktr__map_alive(&place.map), 1);
	procs[2].start_time--;
	place_save(&place);
	CU_ASSERT_EQUAL(ktr__map_alive(&place.map), 0);
	procs[2].start_time++;
	procs[2].state = KTR_ROW_GONE;
	place_save(&place);
	CU_ASSERT_EQUAL(ktr__map_alive(&place.map), 0);
	procs[2].state = KTR_ROW_READY;
	procs[2].pid_ns++;
	place_save(&place);
	CU_ASSERT_EQUAL(ktr__map_alive(&place.map), 0);
	munmap(in, IMAGE_PAGE);
	place_drop(&place);
}

SUITE(session_map, TEST(a_good_session_reads_back), TEST(rows_show_when_they_are_ready),
      TEST(longer_rows_are_read_by_their_own_stride), TEST(strings_end),
      TEST(no_header_is_believed), TEST(errors_are_whole), TEST(regions_must_not_overlap),
      TEST(what_passes_is_harmless),
      TEST(files_cut_short_are_refused), TEST(other_kinds_of_files_are_refused),
      TEST(a_session_lives_as_long_as_its_processes));

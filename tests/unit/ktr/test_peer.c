/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words that a peer stores into the session, chosen so that they would lead a process that records or controls
 * it astray. tests/stress/peer.c chooses at random. Each test runs in a process of its own, which has so many
 * seconds: one that crashes or never ends is a failure of that test.
 */
#define KTR_NO_AUTOSTART

/* A copy of what makes a site what the rules say, in which somebody comes in between. */
#define ktr__glob	peer_glob
#define ktr__rules_set	 peer_rules_set
#define ktr__rules_check peer_rules_check
#define ktr__rules_site	 peer_rules_site
#define ktr__rules_text	 peer_rules_text
#define ktr__rules_probe peer_rules_probe
#include "ktr/control/rules.c"
#undef ktr__glob
#undef ktr__rules_set
#undef ktr__rules_check
#undef ktr__rules_site
#undef ktr__rules_text
#undef ktr__rules_probe

int ktr__glob(const char *pattern, size_t n_pattern, const char *text, size_t n_text);
int ktr__rules_set(struct ktr__session_rw *session, const char *text, bool check, struct ktr_error *err);

#include "tests/unit/suite.h"

#include <ktr.h>
#include <ktr/ctl.h>

#include "analyze/filter/trigger_make.h"
#include "ktr/control/rings.h"
#include "ktr/control/rules.h"
#include "ktr/control/session_join.h"
#include "ktr/record/own.h"
#include "ktr/load/resize.h"
#include "ktr/record/rseq.h"
#include "ktr/record/trigger.h"
#include "ktr/session/session_map.h"
#include "writer/describe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER_SECONDS 120
#define PEER_SPINS   200
#define PEER_ROWS    4000

/* What is wanted by a test's process. */
#define PEER_WANT(what)                                                                          \
	do {                                                                                     \
		if (!(what)) {                                                                   \
			printf("\n  %s:%d: %s ", __FILE__, __LINE__, #what);                     \
			fflush(stdout);                                                          \
			_exit(1);                                                                \
		}                                                                                \
	} while (0)

static char dir[64];
static struct ktr__session_rw session;

/* Runs a test in a process of its own, with a session of 2 rings for each CPU at most. */
static void peer_apart(void (*run)(void))
{
	int status = -1;
	pid_t pid;

	strcpy(dir, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(PEER_SECONDS);
		run();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("\n  died of signal %d ", WTERMSIG(status));
	CU_ASSERT_EQUAL(status, 0);
	if (dir[0] == '/') {
		char path[128];

		snprintf(path, sizeof(path), "%s/peer.ktr", dir);
		unlink(path);
		rmdir(dir);
	}
}

static void peer_session(void)
{
	struct ktr__session_plan plan = { .dir = dir, .name = "peer", .path = KTR_PATH_RSEQ, .clock = KTR_CLOCK_MONOTONIC };
	struct rlimit small = { 512u << 20, 512u << 20 };
	struct ktr_error err = KTR_ERROR_NONE;
	bool joined;

	/* What the rings may take follows from it. */
	PEER_WANT(setrlimit(RLIMIT_FSIZE, &small) == 0);
	PEER_WANT(ktr__session_create(&plan, &session, &joined, &err) == 0);
	ktr__table_forget();
}

static char *peer_region(enum ktr_region_id id)
{
	return session.map + session.header.region[id].offset;
}

/* ---- strings and rows ---- */

static void strings_run(void)
{
	char *strings, before[16];

	peer_session();
	strings = peer_region(KTR_REGION_string);
	memcpy(before, strings - sizeof(before), sizeof(before));
	for (uint64_t back = 1; back < 12; back++) {
		session.control->string_bytes = 0 - back;
		PEER_WANT(ktr__session_put(&session, "0123456789", 10) == 0);
	}
	PEER_WANT(memcmp(before, strings - sizeof(before), sizeof(before)) == 0);
}

/* A cursor that stands before the table's beginning, from where it reaches into it. */
static void strings_begin_within(void)
{
	peer_apart(strings_run);
}

static void nothing_run(void)
{
	peer_session();
	PEER_WANT(ktr__session_touch(&session, KTR_REGION_class_, 0, 0));
	/* Nothing of the rings has become accessible by it. */
	fflush(stdout);
	if (!fork()) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile char *)peer_region(KTR_REGION_data) = 1;
		_exit(0);
	}
	int status = 0;

	wait(&status);
	PEER_WANT(WIFSIGNALED(status));
	PEER_WANT(!ktr__session_touch(&session, KTR_REGION_class_,
				      session.header.region[KTR_REGION_class_].bytes, 1));
	PEER_WANT(!ktr__session_touch(&session, KTR_REGION_class_, ~0ull, 2));
}

/* A table that is said to have no rows is copied as that: not all of the address space. */
static void no_rows_are_none(void)
{
	peer_apart(nothing_run);
}

/* ---- rules ---- */

static void rules_run(void)
{
	struct ktr_control *control;

	peer_session();
	control = session.control;
	/* Each rule gets a sign when it is put back. */
	for (unsigned i = 0; i + 2 < KTR_SITES_MAX; i += 2)
		memcpy(control->sites + i, "a,", 2);
	PEER_WANT(ktr__rules_set(&session, "-b", false, NULL) == 0 || errno);
	control->sites[KTR_SITES_MAX - 1] = 'x';
	PEER_WANT(ktr__rules_set(&session, "-b", false, NULL) == 0 || errno);
}

static void rules_without_signs(void)
{
	peer_apart(rules_run);
}

/* Compares like the library's, and changes the rules meanwhile. */
int peer_glob(const char *pattern, size_t n_pattern, const char *text, size_t n_text)
{
	session.control->sites_change += 2;
	return ktr__glob(pattern, n_pattern, text, n_text);
}

static void rules_race_run(void)
{
	struct ktr_site_row *row;

	peer_session();
	row = (struct ktr_site_row *)(void *)peer_region(KTR_REGION_site) + 1;
	row->state = KTR_ROW_READY;
	session.control->sites_change = 1;
	strcpy(session.control->sites, "-a");
	peer_rules_site(&session, 1);
}

static void rules_that_never_rest(void)
{
	peer_apart(rules_race_run);
}

/* ---- trigger ---- */

static void trigger_run(void)
{
	struct ktr_site_row *row;
	char made[KTR_KNOB_STRING_BYTES];
	char *from, *to;

	peer_session();
	row = (struct ktr_site_row *)(void *)peer_region(KTR_REGION_site) + 1;
	PEER_WANT(ktr__trigger_make("arg(\"p->len\") == 1", NULL, NULL, made, sizeof(made), NULL) == 0);
	/*
	 * From the rows' strings on to the end of what is accessible hardly a byte ends one: 30 MiB for each
	 * row.
	 */
	from = peer_region(KTR_REGION_string);
	to = peer_region(KTR_REGION_count);
	memset(from, 'x', (size_t)(to - from));
	for (uint32_t i = 0; i < PEER_ROWS; i++) {
		row[i].names = row[i].file = row[i].func = row[i].format = 1;
		row[i].n_args = 255;
		row[i].state = KTR_ROW_READY;
	}
	session.control->n_sites = 1 + PEER_ROWS;
	ktr__trigger_set(&session, made, NULL);
}

static void names_without_an_end(void)
{
	peer_apart(trigger_run);
}

/* ---- rings ---- */

static void size_run(void)
{
	peer_session();
	session.control->ring_log2 = 64 + 12;
	ktr__rings_open(&session, 0, NULL);
	for (uint32_t i = 0; i < session.header.n_rings; i++)
		PEER_WANT(!(session.rings[i].geom & KTR_GEOM_CLOSED) && KTR_GEOM_LOG2(session.rings[i].geom) < 40);
	session.control->rings_open = 0;
	session.control->ring_log2 = UINT32_MAX;
	ktr__rings_open(&session, 0, NULL);
}

static void sizes_beyond_a_word(void)
{
	peer_apart(size_run);
}

/* [calls of read(2) and its kind] of this process, or 0 where the kernel does not count them. */
static unsigned long peer_reads(void)
{
	FILE *stream = fopen("/proc/self/io", "re");
	unsigned long n = 0;
	char line[64];

	while (stream && fgets(line, sizeof(line), stream))
		if (sscanf(line, "syscr: %lu", &n) == 1)
			break;
	if (stream)
		fclose(stream);
	return n;
}

/* Each table as long as it can be, with one row at its end: what nobody has written is not read row by row. */
static void lengths_run(void)
{
	static struct ktr__describe describe;
	struct ktr__session_map map;
	struct ktr_thread_row *thread;
	struct ktr_control *control;
	unsigned long before;

	peer_session();
	thread = ktr__session_at(&session, KTR_REGION_thread,
				 session.header.region[KTR_REGION_thread].n_rows - 1);
	PEER_WANT(thread != NULL);
	thread->tid = 4711;
	thread->state = KTR_ROW_READY;
	control = session.control;
	control->n_sites = control->n_threads = control->n_procs = UINT32_MAX;
	control->n_modules = control->n_classes = control->n_anchors = UINT32_MAX;
	PEER_WANT(ktr__map_open(session.path, 0, &map, NULL) == 0);
	PEER_WANT(ktr__describe_init(&describe, &map) == 0);
	before = peer_reads();
	ktr__describe_all(&describe);
	PEER_WANT(peer_reads() - before < 2000);
	/* The last one was found all the same; there it stays when the file ends in the middle of the tables. */
	PEER_WANT(describe.side[KTR_SIDECAR_THREADS].n &&
		  memmem(describe.side[KTR_SIDECAR_THREADS].text,
			 describe.side[KTR_SIDECAR_THREADS].n, "4711", 4));
	PEER_WANT(ftruncate(session.fd,
			    (off_t)(session.header.region[KTR_REGION_thread].offset + 1000)) == 0);
	before = peer_reads();
	ktr__describe_all(&describe);
	PEER_WANT(peer_reads() - before < 2000);
	ktr__describe_fini(&describe);
	ktr__map_close(&map);
}

static void tables_that_are_not_so_long(void)
{
	peer_apart(lengths_run);
}

static void *spin_head(void *word)
{
	for (uint64_t n = 0;; n++)
		__atomic_store_n((uint64_t *)word, n & 1 ? 200 : 1ull << 50, __ATOMIC_RELAXED);
	return NULL;
}

static void head_run(void)
{
	pthread_t thread;
	ptrdiff_t rseq;
	struct ktr_ring *ring;

	peer_session();
	if (!ktr__rseq_look(&rseq))
		return;
	PEER_WANT(ktr__rings_open(&session, 10, NULL) == 0);
	/* Of the CPU that the other thread does not take, where there are several. */
	ring = &session.rings[0];
	PEER_WANT(pthread_create(&thread, NULL, spin_head, &ring->head) == 0);
	for (int i = 0; i < PEER_SPINS; i++)
		ktr__ring_resize(&session, 0, i & 1 ? 10 : 11);
}

/* A head that goes back while the ring is copied is not waited for until it comes round. */
static void heads_that_go_back(void)
{
	peer_apart(head_run);
}

/* The session of this very process, whose view of a ring is looked at. */
static void view_run(void)
{
	struct ktr_options options = { .size = sizeof(options), .session = "peer", .mask = "gen", .entries = 4096 };
	const struct ktr__ring_view *view, *now;
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_ring *ring;
	uint64_t geom, other, base, mask;
	char path[128];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	PEER_WANT(setenv("KTR_DIR", dir, 1) == 0 && sched_setaffinity(0, sizeof(set), &set) == 0);
	PEER_WANT(ktr_open(&options, &err) == 0);
	ktr_start();
	CTR0(KTR_GEN, "before");
	if (ktr__rec.path != KTR_PATH_RSEQ || ktr__rec.views == NULL)
		_exit(0);
	PEER_WANT((uint32_t)sched_getcpu() < ktr__rec.n_rings);
	ring = &ktr__rec.rings[sched_getcpu()];
	view = ktr__rec.views[sched_getcpu()];
	base = (uintptr_t)view->base, mask = view->mask, geom = ring->geom;
	PEER_WANT(view->geom == geom);
	/* Every generation, and with it each of the few views that there may be, in the other area and smaller. */
	PEER_WANT(ktr__ring_next_geom(&ktr__own, (uint32_t)sched_getcpu(), geom, KTR_RING_LOG2_MIN, &other) == 0);
	for (int i = 0; i < 64; i++) {
		ring->geom = other + (uint64_t)i * KTR_GEOM_GENERATION;
		CTR1(KTR_GEN, "in between %d", i);
		now = ktr__rec.views[sched_getcpu()];
		PEER_WANT(now->geom == ring->geom);
		PEER_WANT(now->mask == (KTR_ENTRY_BYTES << KTR_RING_LOG2_MIN) - KTR_ENTRY_BYTES);
		PEER_WANT((uintptr_t)view->base == base && view->mask == mask);
	}
	ring->geom = geom;
	CTR0(KTR_GEN, "behind");
	PEER_WANT(ktr__rec.views[sched_getcpu()] == view && !ktr__rec.broken);
	unlink(ktr_session_path());
	snprintf(path, sizeof(path), "%s/ktr-%u", dir, (unsigned)geteuid());
	rmdir(path);
}

/* A sequence that holds a view keeps it, however many geometries come meanwhile. */
static void views_are_never_rewritten(void)
{
	if (ktr__own.map)
		return; /* another suite has a session, whose rings are not ours to turn about */
	peer_apart(view_run);
}

/* ---- headers ---- */

/* Stores a header with something changed, and asks for the session. 0: it passes to write; *reader 0: to read. */
static int header_asked(const struct ktr_header *header, int *reader)
{
	struct ktr__session_map map;
	struct ktr__session_rw other;
	char path[128];
	int fd, code;

	snprintf(path, sizeof(path), "%s/peer.ktr", dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	PEER_WANT(fd >= 0 && pwrite(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header));
	close(fd);
	*reader = ktr__map_open(path, 0, &map, NULL);
	ktr__map_close(&map);
	code = ktr__session_join(path, &other, NULL);
	if (!code)
		ktr__session_detach(&other);
	return code;
}

/* Of one that passes as a reader's. */
static int header_refused(const struct ktr_header *header)
{
	int reader, code = header_asked(header, &reader);

	PEER_WANT(reader == 0);
	return code;
}

static void header_run(void)
{
	struct ktr_header h;
	struct ktr_region swap;
	int reader;

	peer_session();
	h = session.header;
	PEER_WANT(header_refused(&h) == 0);
	h.file_bytes = h.region[KTR_REGIONS - 1].offset; /* the last region lies behind the end */
	PEER_WANT(header_asked(&h, &reader) == -EPROTO && reader == -EPROTO);
	h = session.header;
	h.ring_log2_max = 23; /* areas reach beyond the data region */
	PEER_WANT(h.ring_log2_max != session.header.ring_log2_max && header_refused(&h) == -EPROTO);
	h = session.header;
	h.n_rings = h.region[KTR_REGION_ring].n_rows; /* counts and keep rings do */
	PEER_WANT(header_refused(&h) == -EPROTO);
	h = session.header;
	swap = h.region[KTR_REGION_control]; /* where nothing may be written */
	h.region[KTR_REGION_control] = h.region[KTR_REGION_count];
	h.region[KTR_REGION_control].n_rows = 1;
	h.region[KTR_REGION_control].row_bytes = sizeof(struct ktr_control);
	h.region[KTR_REGION_count] = swap;
	h.region[KTR_REGION_count].row_bytes = 8;
	PEER_WANT(header_refused(&h) == -EPROTO);
	h = session.header;
	h.region[KTR_REGION_site].n_rows /= 2; /* another stride of counts */
	PEER_WANT(header_refused(&h) == -EPROTO);
	h = session.header;
	h.region[KTR_REGION_thread].row_bytes += 8;
	h.region[KTR_REGION_thread].n_rows /= 2;
	PEER_WANT(header_refused(&h) == -EPROTO);
}

static void layouts_of_others(void)
{
	peer_apart(header_run);
}

SUITE(peer,
      TEST(strings_begin_within),
      TEST(no_rows_are_none),
      TEST(rules_without_signs),
      TEST(rules_that_never_rest),
      TEST(names_without_an_end),
      TEST(sizes_beyond_a_word),
      TEST(tables_that_are_not_so_long),
      TEST(heads_that_go_back),
      TEST(views_are_never_rewritten),
      TEST(layouts_of_others));

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A writer is killed after each of its system calls in turn, and at each page within each of its writes: what it
 * leaves, the trace and the pieces that rotation has moved away, is whole packets and whole declarations, as
 * readers of CTF want it; of sidecars the last line may be torn. The trace is then gone on with, and every event
 * is there once or counted as lost.
 *
 * The writer is a forked child, whose table of calls counts; the session lies in a file, as it does when a program
 * is killed.
 */
#include "drained.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define STOPS_PAGE   4096 /* [bytes] where a write may be cut short */
#define STOPS_ROUNDS 7
#define STOPS_SITES  2 /* new ones in each round: an image has 15 */
#define STOPS_MAX    2000 /* calls, at most */
#ifdef __SANITIZE_ADDRESS__ /* to fork takes fifty times as long: every fourth call is tried */
#define STOPS_STEP 4
#else
#define STOPS_STEP 1
#endif

/* Shared with the child. */
static struct stops {
	unsigned at;	/* the call that is the last one, from 1 on; 0: none */
	unsigned tear;	/* 0: it is done; else so many pages of the file are reached, the last of them in vain */
	unsigned n;	/* calls so far */
	uint64_t produced;
	uint8_t n_pages[STOPS_MAX]; /* that the call, a write, goes to behind its first */
} *stops;

static struct ktr__sys stops_table;

static void stops_die(void)
{
	raise(SIGKILL);
}

/* Behind each call. */
static int stops_done(int rc)
{
	if (++stops->n == stops->at)
		stops_die();
	return rc;
}

static ssize_t stops_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	size_t first = STOPS_PAGE - (size_t)offset % STOPS_PAGE;
	ssize_t done;

	if (stops->tear && stops->n + 1 == stops->at) {
		ktr__sys.pwrite(fd, bytes, first + (stops->tear - 1) * (size_t)STOPS_PAGE, offset);
		stops_die();
	}
	done = ktr__sys.pwrite(fd, bytes, n, offset);
	if (stops->n < STOPS_MAX)
		stops->n_pages[stops->n] = (uint8_t)(n > first ? 1 + (n - first - 1) / STOPS_PAGE : 0);
	stops_done(0);
	return done;
}

static int stops_openat(int dir_fd, const char *name, int flags, mode_t mode)
{
	return stops_done(ktr__sys.openat(dir_fd, name, flags, mode));
}

static int stops_close(int fd)
{
	return stops_done(ktr__sys.close(fd));
}

static int stops_ftruncate(int fd, off_t length)
{
	return stops_done(ktr__sys.ftruncate(fd, length));
}

static int stops_fstat(int fd, struct stat *st)
{
	return stops_done(ktr__sys.fstat(fd, st));
}

static int stops_mkdirat(int dir_fd, const char *name, mode_t mode)
{
	return stops_done(ktr__sys.mkdirat(dir_fd, name, mode));
}

static int stops_rename_new(int dir_fd, const char *from, const char *to)
{
	return stops_done(ktr__sys.rename_new(dir_fd, from, to));
}

static int stops_exchange(int dir_fd, const char *one, const char *other)
{
	return stops_done(ktr__sys.exchange(dir_fd, one, other));
}

static int stops_unlinkat(int dir_fd, const char *name, int flags)
{
	return stops_done(ktr__sys.unlinkat(dir_fd, name, flags));
}

static int stops_unlink_later(int dir_fd, const char *name)
{
	return stops_done(ktr__sys.unlink_later(dir_fd, name));
}

static int stops_free_permille(int fd)
{
	return stops_done(ktr__sys.free_permille(fd));
}

/* ---- the writer ---- */

static uint32_t stops_thread;

/* Sites enough for some pages of metadata, with names of all lengths; of some the events have strings. */
static uint32_t stops_site(unsigned i)
{
	char file[200];

	snprintf(file, sizeof(file), "src/%.*s/f%u.c", (int)(i * 61 % 150),
		 "a_directory_with_a_name_of_some_length_that_goes_on_and_on_as_those_of_generated_sources_may_and_"
		 "a_bit_longer_than_that_so_that_it_is_enough_for_everybody",
		 i);
	return i % 3 ? made_site(&made, KTR_NET, file, i, "%d", "n", 1, KTR_ARG_I64) :
		       made_site(&made, KTR_NET, file, i, "%d %s", "n,text", 2, KTR_ARG_I64, KTR_ARG_STR);
}

static void stops_event(uint32_t site, unsigned i)
{
	static const char letters[] = "Some letters, as many as the number of the event says, so that packets end anywhere "
				      "in their pages and those of all lengths are among them, longer ones, too.";
	char text[sizeof(letters)];

	snprintf(text, sizeof(text), "%.*s", (int)(stops->produced * 37 % (sizeof(letters) - 1)), letters);
	if (i % 3)
		made_event(&made, 1, 1000 + stops->produced, site, stops_thread, stops->produced);
	else
		made_event(&made, 1, 1000 + stops->produced, site, stops_thread, stops->produced, text);
	stops->produced++;
}

/* New sites, then their events: more and more, at last more than the ring holds. */
static int stops_round(unsigned round)
{
	uint64_t pause_ns;

	for (unsigned i = 0; i < STOPS_SITES; i++) {
		unsigned number = STOPS_SITES * round + i;
		uint32_t site = stops_site(number);

		for (unsigned k = 0; k < 3 + 8 * round * round; k++)
			stops_event(site, number);
	}
	made_session(&made);
	return ktr__drain_round(drain, KTR__DRAIN_ALL, &pause_ns);
}

static int stops_write(void)
{
	struct ktr__drain_plan plan = { .map = &map,
					.sys = &stops_table,
					.path = made.trace,
					.from = KTR__DRAIN_START,
					.max_bytes = 16000,
					.n_keep = 100,
					.say = quiet };
	int rc = ktr__drain_open(&drain, &plan, NULL);

	for (unsigned round = 0; !rc && round < STOPS_ROUNDS; round++)
		rc = stops_round(round);
	return rc ? rc : ktr__drain_close(drain, NULL);
}

/* A writer that dies at the call. False: it has come to its end. */
static int stops_killed(unsigned at, unsigned tear)
{
	pid_t pid;
	int status = 0;

	stops->at = at;
	stops->tear = tear;
	stops->n = 0;
	stops->produced = 0;
	pid = fork();
	if (pid == 0)
		_exit(stops_write() != 0);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

/* ---- what it leaves ---- */

/* Does TSDL text end between two declarations? */
static int stops_is_whole_tsdl(const char *text)
{
	int depth = 0, said = 0;

	for (; *text; text++) {
		if (*text == '"') {
			for (text++; *text && *text != '"'; text++)
				text += *text == '\\' && text[1];
			if (!*text)
				return 0;
		} else if (text[0] == '/' && text[1] == '*') {
			text = strstr(text + 2, "*/");
			if (!text)
				return 0;
			text++;
			continue;
		}
		depth += (*text == '{') - (*text == '}');
		if (*text != '\n')
			said = *text != ';' || depth != 0;
	}
	return !said && !depth;
}

/* All lines but the last one, which may have no newline. */
static int stops_bad_lines(const char *trace, const char *name)
{
	size_t n = 0;
	char *text = look_file(trace, name, &n), *line = text;
	int bad = text == NULL;

	for (char *end; line && (end = strchr(line, '\n')); line = end + 1)
		bad += ktr__line_check(line, (size_t)(end - line)) != 0;
	free(text);
	return bad;
}

/* One directory. Returns how many things are wrong. */
static unsigned stops_look(const char *trace, struct look *look)
{
	static const char *const sidecars[] = {
#define STOPS_NAME(name, file) KTR_TRACE_DIR "/" file,
		KTR_SIDECAR_LIST(STOPS_NAME)
#undef STOPS_NAME
	};
	size_t n = 0;
	char *text = look_file(trace, KTR_TRACE_METADATA, &n);
	unsigned wrong = !text || !stops_is_whole_tsdl(text);

	free(text);
	for (unsigned i = 0; i < KTR_SIDECARS; i++)
		wrong += stops_bad_lines(trace, sidecars[i]) != 0;
	*look = look_stream(&made, trace, "cpu_1");
	return wrong + look->n_wrong;
}

/* All directories. Events and losses are added up. */
static unsigned stops_look_all(uint64_t *events)
{
	struct look look;
	char path[200];
	unsigned wrong = 0;

	*events = 0;
	for (unsigned i = 0; i < 100; i++) {
		char suffix[16] = "";

		if (i)
			snprintf(suffix, sizeof(suffix), ".%u", i);
		if (!there(suffix))
			continue;
		snprintf(path, sizeof(path), "%s%s", made.trace, suffix);
		wrong += stops_look(path, &look);
		*events += look.n_events + look.discarded;
	}
	return wrong;
}

/* The sites that the child has made are not in our image yet: the packets are looked at with them. */
static void stops_know_sites(void)
{
	for (unsigned i = 0; i < STOPS_SITES * STOPS_ROUNDS; i++)
		stops_site(i);
}

/* Returns how many things are wrong with what a killed writer has left, and then with what is made of it. */
static unsigned stops_check(void)
{
	uint64_t events;
	unsigned wrong = stops_look_all(&events);

	if (!there("")) /* not yet: once it is there, the name is never without a trace */
		return wrong + (events != 0);
	if (ktr__map_open(made.session, 0, &map, NULL) || open_drain(KTR__DRAIN_RESUME, 0, 0))
		return wrong + 1;
	wrong += ktr__drain_close(drain, NULL) != 0;
	ktr__map_close(&map);
	wrong += stops_look_all(&events) + (events != stops->produced);
	return wrong;
}

static void stops_begin(void)
{
	stops = mmap(NULL, sizeof(*stops), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(stops != MAP_FAILED);
	stops_table = (struct ktr__sys){ .openat = stops_openat,
					 .close = stops_close,
					 .pwrite = stops_pwrite,
					 .ftruncate = stops_ftruncate,
					 .fstat = stops_fstat,
					 .mkdirat = stops_mkdirat,
					 .rename_new = stops_rename_new,
					 .exchange = stops_exchange,
					 .unlinkat = stops_unlinkat,
					 .unlink_later = stops_unlink_later,
					 .forget = ktr__sys.forget,
					 .free_permille = stops_free_permille };
}

/* A session without events, which the child fills. */
static void stops_fresh(void)
{
	made_open(&made);
	stops_thread = made_thread(&made, 4712, 4711, "worker");
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
}

/* Kills it at one call. Returns what stops_killed() does. */
static int stops_once(unsigned at, unsigned tear, unsigned *wrong)
{
	int killed;

	stops_fresh();
	killed = stops_killed(at, tear);
	ktr__map_close(&map);
	stops_know_sites();
	*wrong += stops_check();
	made_close(&made);
	return killed;
}

static void killed_at_each_call(void)
{
	unsigned at = 0, wrong = 0, n_torn = 0;

	stops_begin();
	do
		at += STOPS_STEP;
	while (at < STOPS_MAX && stops_once(at, 0, &wrong));
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(at > 100 && at < STOPS_MAX);
	/* It has come to its end, so that it is known of each call what it writes. */
	for (unsigned i = 1; i < at; i++)
		for (unsigned tear = 1; tear <= stops->n_pages[i - 1]; tear++, n_torn++)
			CU_ASSERT(stops_once(i, tear, &wrong));
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(n_torn > 10);
	munmap(stops, sizeof(*stops));
}

SUITE(stops, TEST(killed_at_each_call));

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer that writes into every page of a session, against a host that must not mind:
 *
 *	peer KIND HOST PLUGIN KTR		environment: COUNT, SEED, SECONDS, TRUNCATE, WEDGE, WRAP
 *
 * Rounds of COUNT bursts of writes each, until SECONDS are over (0: one round). Each round starts a host of its
 * own (peer_host.c), maps its session as any process of the same user can, and writes random words, chosen ones
 * and whole pages, while commands of ktr control the session from outside. Judged are: the host ends by none
 * but its own exit, when told to, and in time; its own count goes on; its memory and its trace stay small; no
 * command crashes or hangs. With TRUNCATE=1 the file is also cut and holed, for which a SIGBUS is the
 * documented answer, of the host and of commands that control.
 *
 * From time to time what the session was is put back, so that there is something going on in it again.
 */
#include "tests/stress/peer.h"

#include <ktr/session.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PEER_BURST	 16	      /* writes between two looks at the host */
#define PEER_FILE_MAX	 (512u << 20) /* [bytes] RLIMIT_FSIZE of the host: its rings stay small */
#define PEER_ANON_MAX	 (512u << 10) /* [KiB] memory of the host's own */
#define PEER_TRACE_MAX	 (2048ull << 20) /* [bytes] */
#define PEER_END_SECONDS 60

static struct {
	const char *kind, *host, *plugin, *ktr;
	unsigned long count, seed, seconds, truncate, wedge;
} opt;

static struct peer_page *page;
static int page_fd;
static uint64_t state; /* of the generator */
static pid_t host;
static unsigned round_number;
static unsigned long n_writes, n_bursts, n_tools, n_bus;
static double longest_still, longest_end; /* [s] that a host's count stood still, that it took to end */

/* The session: as a peer has mapped it, and as it was. */
static char *map;
static int map_fd = -1;
static struct ktr_header header;
static struct ktr_control control;
static struct ktr_ring rings[3 * 1024];

static uint64_t rnd(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

static uint64_t below(uint64_t n)
{
	return n ? rnd() % n : 0;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

__attribute__((format(printf, 1, 2))) static void failed(const char *format, ...)
{
	va_list list;

	printf("FAILED: %s, SEED=%lu, round %u, burst %lu: ", opt.kind, opt.seed, round_number, n_bursts);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	if (host > 0 && kill(host, 0) == 0) {
		char command[256];

		fflush(stdout);
		snprintf(command, sizeof(command), "command -v gdb >/dev/null && for p in %d $(pgrep -P %d); do "
						   "timeout 30 gdb -p $p -batch -ex 'thread apply all bt 24' 2>/dev/null | "
						   "tail -60; done", (int)host, (int)host);
		if (getenv("PEER_GDB") && system(command))
			printf("no stacks\n");
		kill(host, SIGKILL);
	}
	exit(1);
}

/* ---- what is written ---- */

static uint64_t chosen(uint64_t old)
{
	switch (below(14)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return ~0ull;
	case 3:
		return old ^ 1ull << below(64);
	case 4:
		return old + below(16) - 8;
	case 5:
		return 0 - below(4200); /* near the end of all numbers */
	case 6:
		return header.region[below(KTR_REGIONS)].n_rows + below(3) - 1;
	case 7:
		return header.region[below(KTR_REGIONS)].bytes - below(70);
	case 8:
		return header.region[below(KTR_REGIONS)].offset + below(3) - 1;
	case 9:
		return 1ull << below(64);
	case 10:
		return below(300);
	case 11:
		return 0x7fffffffull + below(3) + (below(2) ? 0x7fffffffull << 32 : 0);
	case 12:
		return old << 32 | old >> 32;
	default:
		return rnd();
	}
}

/* A place in the session. Of most tables the beginning is in use. */
static uint64_t place(void)
{
	static const unsigned often[] = {
		KTR_REGION_control, KTR_REGION_control, KTR_REGION_control,  KTR_REGION_ring,
		KTR_REGION_ring,    KTR_REGION_trigger, KTR_REGION_site_ctl, KTR_REGION_data,
	};
	const struct ktr_region *region = &header.region[below(KTR_REGIONS)];
	uint64_t most;

	if (below(2))
		region = &header.region[often[below(sizeof(often) / sizeof(often[0]))]];
	most = region->bytes;
	if (below(24) == 0)
		return below(sizeof(header)) & ~7ull;
	if (region == &header.region[KTR_REGION_control]) {
		/* One word for all CPUs is enough. */
		most = sizeof(struct ktr_control) - sizeof(control.cpumask);
		most = below(most);
		return region->offset + (most < offsetof(struct ktr_control, cpumask) + 8 ?
						 most : most + sizeof(control.cpumask)) / 4 * 4;
	}
	if (below(32) == 0 && most > 65536)
		return (region->offset + most - 8 - below(4096)) & ~7ull;
	if (most > 8192)
		most = below(8) ? 8192 : below(8) || most < 262144 ? 65536 : 262144;
	if (most > region->bytes)
		most = region->bytes;
	return region->offset + (below(most) & ~3ull);
}

static void store(uint64_t at, uint64_t value)
{
	n_writes++;
	if (at % 8 == 0 && below(2))
		__atomic_store_n((uint64_t *)(void *)(map + at), value, __ATOMIC_RELAXED);
	else if (below(4))
		__atomic_store_n((uint32_t *)(void *)(map + at), (uint32_t)value, __ATOMIC_RELAXED);
	else
		__atomic_store_n(map + at + below(4), (char)value, __ATOMIC_RELAXED);
}

static uint64_t load(uint64_t at)
{
	return __atomic_load_n((uint64_t *)(void *)(map + (at & ~7ull)), __ATOMIC_RELAXED);
}

/* A geom word: of this ring, of another, closed, of another size; every fourth round of none. */
static void write_geom(void)
{
	uint64_t i = below(3ull * header.n_rings), area = header.region[KTR_REGION_data].offset;
	uint64_t main_bytes = 64ull << header.ring_log2_max, keep_bytes = 64ull << header.keep_log2_max, geom;
	struct ktr_ring *ring = (struct ktr_ring *)(void *)(map + header.region[KTR_REGION_ring].offset) + i;

	if (keep_bytes < KTR_SESSION_ALIGN)
		keep_bytes = KTR_SESSION_ALIGN;
	if (i < header.n_rings)
		area += (2 * i + below(2)) * main_bytes;
	else
		area += 2 * main_bytes * header.n_rings + (2 * (i - header.n_rings) + below(2)) * keep_bytes;
	geom = area >> 16 | (uint64_t)(KTR_RING_LOG2_MIN + below(5)) << 32 | below(8) * KTR_GEOM_GENERATION;
	if (below(8) == 0)
		geom = rings[i].geom;
	if (below(8) == 0)
		geom |= KTR_GEOM_CLOSED;
	if (round_number % 4 == 3)
		geom = chosen(geom);
	__atomic_store_n(&ring->geom, geom, __ATOMIC_RELAXED);
	n_writes++;
}

static void write_row(void)
{
	const struct ktr_region *region = &header.region[below(KTR_REGIONS)];
	uint64_t n = region->n_rows < 64 ? region->n_rows : 64, from, to;

	if (region == &header.region[KTR_REGION_data] || region->row_bytes > 4096 || region->bytes < 64)
		return;
	from = region->offset + below(n) * region->row_bytes;
	to = region->offset + below(n) * region->row_bytes;
	memmove(map + to, map + from, region->row_bytes);
	n_writes++;
}

/* So that strings have no end. */
static void write_run(void)
{
	uint64_t at = place() & ~4095ull;

	if (at < KTR_SESSION_ALIGN)
		return;
	memset(map + at, (int)"\1xaa\377a*,"[below(8)], 4096);
	n_writes++;
}

static void write_text(void)
{
	static const char *const rules[] = { "a,", "+*,", "-?,", "#*e*,", "[", "x/y:1,", " \t" };
	struct ktr_control *c = (struct ktr_control *)(void *)(map + header.region[KTR_REGION_control].offset);
	const char *rule = rules[below(7)];
	size_t n = strlen(rule), most = below(2) ? below(sizeof(c->sites)) : sizeof(c->sites);

	for (size_t i = 0; i < most; i++)
		c->sites[i] = rule[i % n];
	c->sites_change++;
	n_writes++;
}

/* What a trigger's program is made of: kinds of ops, and targets everywhere. */
static void write_trigger(void)
{
	struct ktr_trigger *t = (struct ktr_trigger *)(void *)(map + header.region[KTR_REGION_trigger].offset);
	uint8_t *ctl = (uint8_t *)(map + header.region[KTR_REGION_site_ctl].offset);

	for (int i = 0; i < KTR_TRIGGER_OPS; i++) {
		uint64_t op = rnd();

		if (below(4))
			op = (op & ~0xffull) | below(20);
		if (below(4) == 0)
			op |= 0xffffffffull << 32;
		t->op[i][0] = op;
		t->op[i][1] = below(2) ? below(400) : chosen(op);
	}
	t->n_ops = (uint32_t)below(KTR_TRIGGER_OPS + 2);
	t->n_texts = (uint32_t)below(KTR_TRIGGER_TEXTS + 2);
	t->generation &= ~1u;
	for (int i = 1; i < 256; i++)
		ctl[i] |= KTR_SITE_TRIGGER;
	n_writes++;
}

/* The session is as it was when the round began, but for what was recorded. */
static void repair(void)
{
	struct ktr_control *c = (struct ktr_control *)(void *)(map + header.region[KTR_REGION_control].offset);
	struct ktr_ring *ring = (struct ktr_ring *)(void *)(map + header.region[KTR_REGION_ring].offset);

	memcpy(map, &header, sizeof(header));
	memcpy(c, &control, offsetof(struct ktr_control, n_classes));
	c->alq_max = control.alq_max;
	c->kernel = control.kernel;
	c->feeder = control.feeder;
	c->follow_fork = below(3);
	c->asked = c->gate = c->record = ~0ull;
	c->special = c->keep;
	memset(map + header.region[KTR_REGION_site_ctl].offset, 0, 4096);
	for (unsigned i = 0; i < 3 * header.n_rings; i++) {
		if (rings[i].geom)
			ring[i].geom = rings[i].geom;
		ring[i].stop = 0;
	}
}

/* Nothing that is stored for good takes more than what the settings say. */
static void keep_small(void)
{
	struct ktr_control *c = (struct ktr_control *)(void *)(map + header.region[KTR_REGION_control].offset);

	c->rotate_bytes = control.rotate_bytes;
	c->rotate_keep = control.rotate_keep;
}

static void write_one(void)
{
	uint64_t at = place(), other = place();

	switch (below(64)) {
	case 0:
		write_run();
		break;
	case 1:
	case 2:
		write_row();
		break;
	case 3:
		write_text();
		break;
	case 4:
		write_trigger();
		break;
	case 5:
	case 6:
	case 7:
	case 8:
		write_geom();
		break;
	case 9:
	case 10:
		store(at & ~7ull, load(other));
		break;
	case 11: {
		uint64_t word = load(at);

		store(at & ~7ull, load(other));
		store(other & ~7ull, word);
		break;
	}
	default:
		/* The rings' places are said above. */
		if (at >= header.region[KTR_REGION_ring].offset && at < header.region[KTR_REGION_data].offset &&
		    (at - header.region[KTR_REGION_ring].offset) % sizeof(struct ktr_ring) < 8)
			at += 8;
		store(at, chosen(load(at)));
	}
}

/* ---- the host ---- */

static void start_host(void)
{
	static const char *const settings[][2] = {
		{ "KTR_MASK", "all" },	     { "KTR_FILE", "trace" },	  { "KTR_ROTATE_SIZE", "1M" },
		{ "KTR_ROTATE_KEEP", "1" },  { "KTR_ENTRIES", "1024" },	  { "KTR_CONF", "/dev/null" },
		{ "KTR_DEAD_SESSIONS", "0" },
	};
	struct rlimit file = { PEER_FILE_MAX, PEER_FILE_MAX };
	char fd[16];

	memset(page, 0, sizeof(*page));
	snprintf(fd, sizeof(fd), "%d", page_fd);
	fflush(stdout);
	host = fork();
	if (host < 0)
		failed("fork: %s", strerror(errno));
	if (host)
		return;
	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		setenv(settings[i][0], settings[i][1], 1);
	/* One of the kinds has its events printed, by the writer. */
	if (strcmp(opt.kind, "threads") == 0 && round_number % 2)
		setenv("KTR_VERBOSE", "2", 1);
	if (strcmp(opt.kind, "probes") == 0)
		setenv("KTR_KERNEL", "all", 1);
	setrlimit(RLIMIT_FSIZE, &file);
	dup2(open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
	/* What is printed may be much. */
	if (getenv("KTR_VERBOSE"))
		dup2(open("/dev/null", O_WRONLY), 2);
	execl("/bin/sh", "sh", "-c", "exec $WRAP \"$@\"", "sh", opt.host, opt.kind, fd, opt.plugin, (char *)NULL);
	_exit(127);
}

/* Has it ended? Told to, by its exit, it may. */
static int host_ended(int may)
{
	int status;

	if (waitpid(host, &status, WNOHANG) != host)
		return 0;
	host = 0;
	if (opt.truncate && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) {
		n_bus++;
		return 1;
	}
	if (WIFSIGNALED(status) || WEXITSTATUS(status) || !may) {
		if (system("tail -n 40 out"))
			printf("nothing was printed\n");
		failed("the host ended with status %#x", status);
	}
	return 1;
}

static int open_session(void)
{
	double until = now() + (double)opt.wedge;

	while (!__atomic_load_n(&page->ready, __ATOMIC_ACQUIRE)) {
		if (host_ended(0) || now() > until)
			failed("the host does not begin");
		usleep(1000);
	}
	map_fd = open(page->path, O_RDWR | O_CLOEXEC);
	if (map_fd < 0 || pread(map_fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		failed("%s: %s", page->path, strerror(errno));
	if (header.n_rings > 1024)
		return 0;
	map = mmap(NULL, header.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, map_fd, 0);
	if (map == MAP_FAILED)
		failed("mmap: %s", strerror(errno));
	memcpy(&control, map + header.region[KTR_REGION_control].offset, sizeof(control));
	memcpy(rings, map + header.region[KTR_REGION_ring].offset, 3 * header.n_rings * sizeof(rings[0]));
	return 1;
}

static uint64_t trace_bytes;

static int add_file(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)path, (void)flag, (void)at;
	trace_bytes += (uint64_t)st->st_blocks * 512;
	return 0;
}

static void look_at_sizes(void)
{
	char path[64], line[256];
	unsigned long kib = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)host);
	stream = fopen(path, "r");
	while (stream && fgets(line, sizeof(line), stream))
		if (sscanf(line, "RssAnon: %lu", &kib) == 1)
			break;
	if (stream)
		fclose(stream);
	if (!getenv("WRAP") && !getenv("ASAN_OPTIONS") && kib > PEER_ANON_MAX)
		failed("the host has %lu KiB of memory of its own", kib);
	trace_bytes = 0;
	nftw(".", add_file, 16, FTW_PHYS);
	if (trace_bytes > PEER_TRACE_MAX)
		failed("traces of %llu bytes", (unsigned long long)trace_bytes);
}

/* ---- control from outside ---- */

static pid_t tool;
static double tool_began;
static unsigned tool_number;

static void tool_end(int wait)
{
	int status = 0;

	if (!tool || waitpid(tool, &status, wait ? 0 : WNOHANG) != tool) {
		if (tool && now() > tool_began + 3 * (double)opt.wedge) {
			kill(tool, SIGKILL);
			failed("command %u of ktr hangs", tool_number);
		}
		return;
	}
	tool = 0;
	if (WIFSIGNALED(status) && !(opt.truncate && WTERMSIG(status) == SIGBUS))
		failed("command %u of ktr died of signal %d", tool_number, WTERMSIG(status));
}

static void tool_begin(void)
{
	static const char *const commands[] = {
		"sysctl -p -a",
		"sysctl -p debug.ktr.mask=all",
		"sysctl -p debug.ktr.entries=2048",
		"sysctl -p debug.ktr.entries=512",
		"sysctl -p debug.ktr.freeze=1",
		"sysctl -p debug.ktr.freeze=0",
		"sysctl -p debug.ktr.sites=+*",
		"sysctl -p debug.ktr.sites=#*",
		"sysctl -p debug.ktr.sites=none",
		"sysctl -p debug.ktr.trigger=arg0==7",
		"sysctl -p debug.ktr.trigger=",
		"sysctl -p debug.ktr.count=gen",
		"sysctl -p debug.ktr.count=none",
		"sysctl -p debug.ktr.keep=net",
		"sysctl -p debug.ktr.cpumask=0",
		"sysctl -p debug.ktr.cpumask=all",
		"sysctl -p debug.ktr.clear=1",
		"sysctl -p debug.ktr.follow_fork=own",
		"sysctl -p debug.ktr.clock=8",
		"sysctl -p debug.ktr.kernel=all",
		"probe list -p",
		"probe enable -p",
		"probe disable -p",
		"ls",
		"sysctl -p peer.depth=3",
		"sysctl -p -d debug.ktr",
	};
	char command[128], pid[16];
	int null;

	if (tool || !opt.ktr[0])
		return;
	tool_number = (unsigned)below(sizeof(commands) / sizeof(commands[0]));
	snprintf(command, sizeof(command), "%s", commands[tool_number]);
	snprintf(pid, sizeof(pid), "%d", (int)host);
	tool_began = now();
	n_tools++;
	fflush(stdout);
	tool = fork();
	if (tool)
		return;
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	setenv("COMMAND", command, 1);
	setenv("PID", pid, 1);
	/* The process's number goes behind -p. */
	execl("/bin/sh", "sh", "-c", "set -f; for word in $COMMAND; do set -- \"$@\" \"$word\"; "
				     "[ \"$word\" != -p ] || set -- \"$@\" $PID; done; exec \"$0\" \"$@\"",
	      opt.ktr, (char *)NULL);
	_exit(127);
}

/* ---- a round ---- */

static void cut(void)
{
	struct stat st;

	if (fstat(map_fd, &st) != 0)
		return;
	if (below(2))
		fallocate(map_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(place() & ~4095ull), 65536);
	else if (below(16) == 0)
		ftruncate(map_fd, (off_t)below((uint64_t)st.st_size));
}

static sigjmp_buf cut_short;

static void end_host(void)
{
	double began = now(), until = began + (opt.wedge > PEER_END_SECONDS ? (double)opt.wedge : PEER_END_SECONDS);

	__atomic_store_n(&page->stop, 1, __ATOMIC_RELAXED);
	while (host && !host_ended(1)) {
		if (now() > until)
			failed("the host does not end");
		tool_end(0);
		usleep(1000);
	}
	if (now() - began > longest_end)
		longest_end = now() - began;
	tool_end(1);
	if (page->bad)
		failed("line %llu of the host", (unsigned long long)page->bad);
}

static void play(void)
{
	volatile uint64_t loops = 0;
	double alive, looked;

	start_host();
	if (!open_session())
		return;
	alive = looked = now();
	for (volatile unsigned long i = 0; i < opt.count && !host_ended(0); i++, n_bursts++) {
		/* With the file shorter than it was the host may go on for as long as it can. */
		if (opt.truncate && sigsetjmp(cut_short, 1))
			break;
		if (!opt.truncate || i % 256 != 255)
			for (int k = 0; k < PEER_BURST; k++)
				write_one();
		else
			cut();
		keep_small();
		if (i % 64 == 63)
			repair();
		if (i % 128 == 127)
			tool_begin();
		tool_end(0);
		if (__atomic_load_n(&page->loops, __ATOMIC_RELAXED) != loops) {
			loops = page->loops;
			if (now() - alive > longest_still)
				longest_still = now() - alive;
			alive = now();
		} else if (now() > alive + (double)opt.wedge) {
			failed("the host's own count stands still at %llu", (unsigned long long)loops);
		}
		if (now() > looked + 1) {
			look_at_sizes();
			looked = now();
		}
		usleep(100);
	}
	if (host && page->loops == 0)
		while (!host_ended(0) && !page->loops && now() < alive + (double)opt.wedge)
			usleep(1000);
	end_host();
	munmap(map, header.file_bytes);
	close(map_fd);
	unlink(page->path);
	if (system("rm -rf trace*"))
		failed("traces cannot be removed");
}

/* A file that is cut is one under the judge, too. */
static void on_bus(int number)
{
	(void)number;
	if (!opt.truncate)
		_exit(4);
	siglongjmp(cut_short, 1);
}

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	double began = now();

	if (argc != 5)
		return 2;
	opt.kind = argv[1], opt.host = argv[2], opt.plugin = argv[3], opt.ktr = argv[4];
	opt.count = number("COUNT", 2000);
	opt.seed = number("SEED", 1);
	opt.seconds = number("SECONDS", 0);
	opt.truncate = number("TRUNCATE", 0);
	opt.wedge = number("WEDGE", 60);
	page_fd = memfd_create("peer", 0);
	if (page_fd < 0 || ftruncate(page_fd, sizeof(*page)) != 0)
		return 2;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
	if (page == MAP_FAILED)
		return 2;
	signal(SIGBUS, on_bus);
	do {
		/* Each round can be had again by its own seed. */
		state = (opt.seed + round_number) * 0x9e3779b97f4a7c15ull + 1;
		play();
		round_number++;
	} while (now() < began + (double)opt.seconds);
	printf("%s: %u hosts, %lu writes, %lu commands of ktr, %.0f s; stood still for %.1f s, ended in %.1f s; SEED=%lu",
	       opt.kind, round_number, n_writes, n_tools, now() - began, longest_still, longest_end, opt.seed);
	printf(n_bus ? ", %lu ended by SIGBUS\n" : "\n", n_bus);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the cases of odd_*.c, each in a process of its own, in a session of its own, on the path with
 * restartable sequences and on the one without, and has them check what they left.
 *
 *	odd [case]...
 */
#include "tests/stress/odd.h"

#include "tests/stress/event.h"
#include "tests/stress/look.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ODD_FD	   9
#define ODD_EVENTS 100000

uint64_t *odd_fact;
const struct odd_event *odd_events;
unsigned odd_n_events;
struct ktr_control odd_control;
bool odd_thread_path;

static struct odd_case *odd_cases;
static struct odd_event *odd_room;
static struct look odd_look;
static unsigned odd_failures;

void odd_add(struct odd_case *odd)
{
	struct odd_case **at = &odd_cases;

	while (*at && strcmp((*at)->name, odd->name) < 0)
		at = &(*at)->next;
	odd->next = *at;
	*at = odd;
}

void odd_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "odd: %s:%d: not so: %s\n", file, line, what);
	odd_failures++;
}

unsigned odd_count(const char *format)
{
	unsigned n = 0;

	for (unsigned i = 0; i < odd_n_events; i++)
		n += strcmp(odd_events[i].format, format) == 0;
	return n;
}

const struct odd_event *odd_find(const char *format)
{
	for (unsigned i = 0; i < odd_n_events; i++)
		if (strcmp(odd_events[i].format, format) == 0)
			return &odd_events[i];
	return NULL;
}

bool odd_counts_up(const char *format, uint64_t first, uint64_t n)
{
	uint64_t next = first;

	for (unsigned i = 0; i < odd_n_events; i++)
		if (strcmp(odd_events[i].format, format) == 0 && odd_events[i].entry.arg[0] != next++)
			return false;
	return next == first + n;
}

bool odd_thread_row(const struct odd_event *event, struct ktr_thread_row *row)
{
	uint32_t index = event->entry.thread;

	if (odd_thread_path)
		index &= KTR_THREAD_INDEX;
	return ktr__map_thread(&odd_look.map, index, row) == 0;
}

bool odd_class_row(const char *name, struct ktr_class_row *row)
{
	for (uint32_t i = 1; i < odd_control.n_classes; i++)
		if (ktr__map_class(&odd_look.map, i, row) == 0 && strcmp(row->name, name) == 0)
			return true;
	return false;
}

const char *odd_dir(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = 0;
	return dirname(path);
}

bool odd_long(void)
{
	return getenv("ODD_LONG") != NULL;
}

static bool odd_see(void *context, uint32_t ring, const struct ktr_entry *entry, uint32_t n_conts)
{
	struct odd_event *event = &odd_room[odd_n_events];
	size_t n_free, bytes = n_conts * KTR_CONT_BYTES;

	(void)context;
	if (odd_n_events == ODD_EVENTS || ktr__map_site(&odd_look.map, entry->site, &event->site))
		return false;
	memset(event->text, 0, sizeof(event->text));
	event->ring = ring;
	event->n_conts = n_conts;
	event->entry = *entry;
	ktr__map_string(&odd_look.map, event->site.format, event->format, sizeof(event->format));
	if (strncmp(event->format, "busy ", 5) == 0)
		return true;
	ktr__map_string(&odd_look.map, event->site.file, event->file, sizeof(event->file));
	n_free = 8 * (6 - event->site.n_args);
	memcpy(event->text, (const char *)entry + sizeof(*entry) - n_free, n_free);
	if (bytes > sizeof(event->text) - 1 - n_free)
		bytes = (sizeof(event->text) - 1 - n_free) / KTR_CONT_BYTES * KTR_CONT_BYTES;
	for (unsigned i = 0; i * KTR_CONT_BYTES < bytes; i++)
		memcpy(event->text + n_free + i * KTR_CONT_BYTES,
		       ((const struct ktr_cont *)(const void *)&entry[1 + i])->data,
		       KTR_CONT_BYTES);
	for (unsigned i = 0; i < event->site.n_args; i++)
		if (event->site.how[i] == KTR_HOW_LITERAL)
			ktr__map_string(&odd_look.map, event->site.literal[i], event->text, sizeof(event->text));
	odd_n_events++;
	return true;
}

static int odd_by_time(const void *a, const void *b)
{
	const struct odd_event *x = a, *y = b;
	uint64_t s = x->entry.timestamp & KTR_TIME_TICKS, t = y->entry.timestamp & KTR_TIME_TICKS;

	return s < t ? -1 : s > t;
}

/* Reads what a case has left, and has it checked. */
static void odd_check(const struct odd_case *odd, const char *path)
{
	int64_t n;

	if (!look_open(&odd_look, path, false)) {
		odd_fail(odd->name, 0, "there is a session");
		return;
	}
	odd_look.all = odd_see;
	odd_n_events = 0;
	odd_thread_path = odd_look.map.header.path == KTR_PATH_THREAD;
	do
		n = look_pass(&odd_look, NULL, NULL);
	while (n > 0);
	if (n < 0)
		odd_fail(odd->name, 0, "all events are whole");
	qsort(odd_room, odd_n_events, sizeof(*odd_room), odd_by_time);
	odd_events = odd_room;
	if (ktr__map_control(&odd_look.map, &odd_control))
		odd_fail(odd->name, 0, "the control page can be read");
	odd->check();
	look_close(&odd_look);
}

static void odd_one(const struct odd_case *odd, bool thread_path)
{
	const char *dir = getenv("KTR_DIR");
	unsigned before = odd_failures;
	char name[64], path[512];
	int status = -1;
	pid_t pid;

	snprintf(name, sizeof(name), "odd-%s-%d", odd->name, (int)getpid());
	snprintf(path, sizeof(path), "%s/ktr-%u/%s.ktr", dir ? dir : "/dev/shm", (unsigned)geteuid(), name);
	memset(odd_fact, 0, ODD_FACTS * sizeof(*odd_fact));
	pid = fork();
	if (!pid) {
		setenv("KTR_SESSION", name, 1);
		setenv("KTR_MASK", odd->mask, 1);
		setenv("KTR_ENTRIES", odd->entries, 0);
		setenv("KTR_KEEP_SESSION", "1", 1);
		unsetenv("KTR_DISABLE");
		if (thread_path)
			setenv("KTR_PATH", "thread", 1);
		execl("/proc/self/exe", "odd", "--run", odd->name, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		odd_fail(odd->name, status, "the program ran and ended well");
	odd_check(odd, path);
	unlink(path);
	printf("odd: %-14s %-6s %s\n", odd->name, odd_thread_path ? "thread" : "rseq",
	       odd_failures == before ? "ok" : "FAILED");
}

static bool odd_wanted(const struct odd_case *odd, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], odd->name) == 0)
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	bool inner = argc == 3 && strcmp(argv[1], "--run") == 0;
	bool forced = getenv("KTR_PATH") != NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!inner && (dup2(memfd_create("odd", 0), ODD_FD) != ODD_FD ||
		       ftruncate(ODD_FD, ODD_FACTS * sizeof(*odd_fact)) != 0))
		return 1;
	odd_fact = mmap(NULL, ODD_FACTS * sizeof(*odd_fact), PROT_READ | PROT_WRITE, MAP_SHARED, ODD_FD, 0);
	odd_room = calloc(ODD_EVENTS, sizeof(*odd_room));
	if (odd_fact == MAP_FAILED || !odd_room)
		return 1;
	for (const struct odd_case *odd = odd_cases; odd; odd = odd->next) {
		if (inner && strcmp(odd->name, argv[2]) == 0)
			odd->run();
		if (inner || !odd_wanted(odd, argc, argv))
			continue;
		if (!forced)
			odd_one(odd, false);
		odd_one(odd, true);
	}
	return odd_failures != 0;
}

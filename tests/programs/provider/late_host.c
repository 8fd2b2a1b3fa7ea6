/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that runs already when somebody wants to know of its locks and its memory, and says what it did:
 *
 *	late_host FOLDER THREADS ROUNDS PLUGIN
 *
 * Its threads get a block each and take a lock once before anybody looks, and its main thread has another one,
 * which it gives back in the first part when one of them waits for it. It writes FOLDER/begun, and does a part
 * for each of FOLDER/go1, go2, go3 as they appear, after which it writes done1 and so on. The second begins
 * with PLUGIN being loaded, a while before it is used. At the end, FOLDER/go4, it says what each part did, and
 * whether the same mappings of files may be written to as at the beginning, and malloc(3) has the address that
 * it had.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #what), _exit(1)))
#define PARTS 3
#define MOST 16

static const char *folder;
static unsigned n_threads, n_rounds;
static pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER, old_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static void *early[MOST];
static unsigned n_early_given;
static uint64_t got[PARTS], got_bytes[PARTS], gave[PARTS], locked[PARTS]; /* under the lock */
static uintptr_t lead;
static void *(*plugin_get)(size_t n);
static void (*plugin_give)(void *block);

static void mark(const char *name, int part)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s%.*d", folder, name, part > 0, part);
	CHECK(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
}

static void wait_for(int part)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/go%d", folder, part);
	while (access(path, F_OK))
		usleep(2000);
}

/* Every other block is kept. */
static __attribute__((noinline)) void late_round(int part, size_t n)
{
	void *block = plugin_get && n % 2 ? plugin_get(n) : malloc(n);

	CHECK(block);
	memset(block, 1, n);
	pthread_mutex_lock(&common);
	locked[part]++;
	got[part]++;
	got_bytes[part] += n;
	gave[part] += n % 4 < 2;
	pthread_mutex_unlock(&common);
	if (n % 4 < 2) {
		if (plugin_give && n % 8 < 4)
			plugin_give(block);
		else
			free(block);
	}
}

static __attribute__((noinline)) void late_work(int part, unsigned id)
{
	for (unsigned i = 0; i < n_rounds; i++)
		late_round(part, 1 + (i * 7 + id) % 500);
	if (part == 0 && id == 0) {
		pthread_mutex_lock(&old_lock);
		pthread_mutex_unlock(&old_lock);
		pthread_mutex_lock(&common);
		locked[part] += 2;
		pthread_mutex_unlock(&common);
	}
	if (part == 0) {
		free(early[id]);
		__atomic_fetch_add(&n_early_given, 1, __ATOMIC_RELAXED);
	}
}

static void *work(void *context)
{
	unsigned id = (unsigned)(uintptr_t)context;

	early[id] = malloc(100 + id);
	CHECK(early[id]);
	pthread_mutex_lock(&common);
	pthread_mutex_unlock(&common);
	for (int part = 0; part < PARTS; part++) {
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		late_work(part, id);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* As the loader has put it down for this object, or of its own entry for it. */
static __attribute__((noinline)) uintptr_t address_of_malloc(void)
{
	void *(*volatile address)(size_t) = malloc;

	return (uintptr_t)address;
}

/* A bit for each mapping of a file: may it be written to? */
static unsigned mappings(char *list, unsigned most)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4352], access[5];
	unsigned n = 0;

	CHECK(maps);
	while (fgets(line, sizeof(line), maps) && n < most)
		if ((strstr(line, "/late_host\n") || strstr(line, "/libc")) &&
		    sscanf(line, "%*s %4s", access) == 1)
			list[n++] = access[1];
	fclose(maps);
	return n;
}

static void load(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY);

	CHECK(handle);
	plugin_get = (void *(*)(size_t))(uintptr_t)dlsym(handle, "plugin_get");
	plugin_give = (void (*)(void *))(uintptr_t)dlsym(handle, "plugin_give");
	CHECK(plugin_get && plugin_give);
	plugin_give(plugin_get(1)); /* the loader has bound them */
	usleep(2200000);
}

/* When somebody sleeps for it: glibc's mutexes say so. */
static void give_old(void)
{
	while (__atomic_load_n(&old_lock.__data.__lock, __ATOMIC_RELAXED) != 2)
		usleep(1000);
	pthread_mutex_unlock(&old_lock);
}

int main(int argc, char **argv)
{
	char before[256], after[256];
	pthread_t thread[MOST];
	unsigned n;

	CHECK(argc == 5);
	lead = address_of_malloc();
	free(malloc(1));
	pthread_mutex_lock(&common);
	pthread_mutex_unlock(&common);
	pthread_mutex_lock(&old_lock);
	folder = argv[1];
	n_threads = (unsigned)atoi(argv[2]);
	n_rounds = (unsigned)atoi(argv[3]);
	CHECK(n_threads > 0 && n_threads <= MOST);
	n = mappings(before, sizeof(before));
	pthread_barrier_init(&barrier, NULL, n_threads + 1);
	for (unsigned i = 0; i < n_threads; i++)
		CHECK(!pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i));
	for (int part = 0; part < PARTS; part++) {
		pthread_barrier_wait(&barrier); /* all are here */
		mark(part ? "done" : "begun", part);
		if (part == 1 && lead != address_of_malloc())
			puts("led while attached");
		wait_for(part + 1);
		if (part == 1)
			load(argv[4]);
		pthread_barrier_wait(&barrier);
		if (part == 0)
			give_old();
		pthread_barrier_wait(&barrier);
	}
	mark("done", PARTS);
	for (unsigned i = 0; i < n_threads; i++)
		pthread_join(thread[i], NULL);
	wait_for(PARTS + 1);
	for (int part = 0; part < PARTS; part++)
		printf("part %d: got=%ju got_bytes=%ju live=%ju locked=%ju\n", part + 1, (uintmax_t)got[part],
		       (uintmax_t)got_bytes[part], (uintmax_t)(got[part] - gave[part]), (uintmax_t)locked[part]);
	printf("early: %u\n", n_early_given);
	puts(lead == address_of_malloc() ? "led as before" : "led elsewhere");
	puts(n == mappings(after, sizeof(after)) && memcmp(before, after, n) == 0 ? "as protected as before" :
										     "protected otherwise");
	return 0;
}

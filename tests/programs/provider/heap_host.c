/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that knows nothing of ktr, gets memory in all ways there are and gives it back, and says what it did:
 *
 *	heap_host count THREADS ROUNDS SEED	name=value: blocks and bytes got, given back, by others
 *	heap_host fail				calls that get nothing
 *	heap_host arena				the C library's own count of what is in use, between two marks
 *	heap_host fork				a child that gives back what its parent got
 *	heap_host loop N BYTES			gets and gives back N times, and says how long that took [ns each]
 *	heap_host storm THREADS N PLUGIN [PACE]	N blocks, while children are forked and an object comes and goes; a
 *						thread naps 10 ms after PACE of them
 *	heap_host exit US			ends with 7 in a handler that comes between allocations, after US
 *	heap_host leak N			keeps N blocks of 1000 bytes of one place, and none of another
 *	heap_host maps				maps, moves, unmaps by parts: calls, bytes in all, at the end
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #what), _exit(1)))
#define KEPT 1024 /* blocks that all threads have in common */
#define MARK 123457

static struct {
	pthread_mutex_t lock;
	void *block;
	size_t size;
	unsigned owner; /* the thread that got it */
} kept[KEPT];

struct counts {
	uint64_t got, got_bytes, gave, gave_bytes, other, moved;
	unsigned id;
	uint64_t rounds, random;
};

static uint64_t draw(struct counts *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random >> 11;
}

static void *get(struct counts *c, size_t n)
{
	void *block = NULL;

	switch (draw(c) % 8) {
	case 0:
		block = calloc(n, 1);
		break;
	case 1:
		CHECK(!posix_memalign(&block, 64, n));
		break;
	case 2:
		block = aligned_alloc(32, n);
		break;
	case 3:
		block = memalign(256, n);
		break;
	case 4:
		block = realloc(NULL, n);
		break;
	default:
		block = malloc(n);
		break;
	}
	CHECK(block);
	memset(block, (int)n, n < 64 ? n : 64);
	c->got++;
	c->got_bytes += n;
	return block;
}

static void give(struct counts *c, void *block, size_t size, unsigned owner)
{
	c->gave++;
	c->gave_bytes += size;
	c->other += owner != c->id;
	free(block);
}

/* A block where there is none; what there is becomes another, or is given back. */
static void work_at(struct counts *c, unsigned at, size_t n)
{
	if (!kept[at].block) {
		kept[at].block = get(c, n);
	} else if (draw(c) % 4 == 0) {
		c->gave++;
		c->gave_bytes += kept[at].size;
		c->other += kept[at].owner != c->id;
		c->moved++;
		c->got++;
		c->got_bytes += n;
		kept[at].block = realloc(kept[at].block, n);
		CHECK(kept[at].block);
	} else {
		give(c, kept[at].block, kept[at].size, kept[at].owner);
		kept[at].block = NULL;
	}
	kept[at].size = n;
	kept[at].owner = c->id;
}

static void *work(void *context)
{
	struct counts *c = context;

	for (uint64_t i = 0; i < c->rounds; i++) {
		unsigned at = (unsigned)(draw(c) % KEPT);
		size_t n = 1 + (size_t)(draw(c) % (draw(c) % 100 ? 300 : 200000));

		pthread_mutex_lock(&kept[at].lock);
		work_at(c, at, n);
		pthread_mutex_unlock(&kept[at].lock);
	}
	return NULL;
}

static int count(unsigned n_threads, uint64_t rounds, uint64_t seed)
{
	struct counts *c = calloc(n_threads, sizeof(*c)), all = { .id = 0 };
	pthread_t *thread = calloc(n_threads, sizeof(*thread));

	CHECK(c && thread);
	for (unsigned i = 0; i < KEPT; i++)
		pthread_mutex_init(&kept[i].lock, NULL);
	for (unsigned i = 0; i < n_threads; i++) {
		c[i].id = i + 1;
		c[i].rounds = rounds;
		c[i].random = seed * 0x9e3779b97f4a7c15ull + i + 1;
		CHECK(!pthread_create(&thread[i], NULL, work, &c[i]));
	}
	for (unsigned i = 0; i < n_threads; i++) {
		pthread_join(thread[i], NULL);
		all.got += c[i].got;
		all.got_bytes += c[i].got_bytes;
		all.gave += c[i].gave;
		all.gave_bytes += c[i].gave_bytes;
		all.other += c[i].other;
		all.moved += c[i].moved;
	}
	printf("got=%ju got_bytes=%ju live=%ju live_bytes=%ju other=%ju moved=%ju\n", (uintmax_t)all.got,
	       (uintmax_t)all.got_bytes, (uintmax_t)(all.got - all.gave),
	       (uintmax_t)(all.got_bytes - all.gave_bytes), (uintmax_t)all.other, (uintmax_t)all.moved);
	return 0;
}

static volatile size_t too_much = SIZE_MAX / 4;

static int fail(void)
{
	void *block = malloc(77), *none = &none;
	char *text;

	CHECK(block && !malloc(too_much) && errno == ENOMEM);
	CHECK(!calloc(too_much, 16) && !realloc(block, too_much));
	CHECK(posix_memalign(&none, 64, too_much) == ENOMEM && none == &none);
	CHECK(posix_memalign(&none, 3, 100) == EINVAL);
	block = realloc(block, 78);
	text = strdup("a text");
	CHECK(block && text);
	free(NULL);
	CHECK(!realloc(text, 0));
	puts("as they should be");
	return 0;
}

/* [bytes] A block that takes up all of what was free there may have more than it needs (glibc's request2size). */
static size_t more_than_needed(void *block, size_t size)
{
	size_t needs = (size + sizeof(size_t) + 15) & ~(size_t)15;

	return malloc_usable_size(block) + sizeof(size_t) - (needs < 32 ? 32 : needs);
}

static int arena(void)
{
	void *kept_here[200], *volatile mark;
	struct mallinfo2 before, after;
	size_t more = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	mark = malloc(MARK);
	free(mark);
	before = mallinfo2();
	for (size_t i = 0; i < 200; i++)
		kept_here[i] = i % 3 ? malloc(i * 37 % 5000) : strdup("some text that is kept");
	for (size_t i = 0; i < 200; i += 7)
		free(kept_here[i]);
	after = mallinfo2();
	mark = malloc(MARK);
	free(mark);
	for (size_t i = 0; i < 200; i++)
		if (i % 7)
			more += more_than_needed(kept_here[i],
						 i % 3 ? i * 37 % 5000 : sizeof("some text that is kept"));
	printf("%zu\n", after.uordblks - before.uordblks - more);
	return 0;
}

static int fork_one(void)
{
	void *block = malloc(5000), *its;
	pid_t child;
	int status;

	CHECK(block);
	child = fork();
	if (child == 0) {
		free(block);
		its = malloc(6000);
		CHECK(its);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	puts("joined");
	return 0;
}

static int loop(uint64_t n, size_t n_bytes)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint64_t i = 0; i < n; i++) {
		void *volatile block = malloc(n_bytes);

		free(block);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.3f\n",
	       (double)((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec) / (double)n);
	return 0;
}

/* ---- an end in the middle of an allocation ---- */

static int exit_status;
static volatile sig_atomic_t exit_within; /* the allocator may be in use by who was interrupted */

static void exit_handler(int number)
{
	(void)number;
	exit_within = 1;
	exit(exit_status);
}

static void *exit_work(void *context)
{
	for (unsigned i = 0;; i++) {
		void *volatile block = malloc(1 + i % 5000), *volatile other = malloc(1 + i % 777);

		block = realloc(block, 1 + i % 9000);
		free(other);
		free(block);
	}
	return context;
}

/* It does not return. */
static void exit_between(long us, int status, int with_thread)
{
	const struct itimerval when = { .it_value = { us / 1000000, us % 1000000 } };
	pthread_t thread;

	exit_status = status;
	signal(SIGALRM, exit_handler);
	if (with_thread)
		CHECK(!pthread_create(&thread, NULL, exit_work, NULL));
	setitimer(ITIMER_REAL, &when, NULL);
	exit_work(NULL);
}

/* ---- storm ---- */

static int storm_is_over;
static uint64_t storm_pace; /* 0: it does not nap */

static void *storm_thread(void *context)
{
	const struct timespec nap = { 0, 10000000 };
	struct counts *c = context;
	void *mine[64] = { NULL };
	size_t size[64] = { 0 };

	for (uint64_t i = 0; i < c->rounds; i++) {
		unsigned at = (unsigned)(draw(c) % 64);
		size_t n = 1 + (size_t)(draw(c) % 500);

		c->gave += mine[at] != NULL;
		c->gave_bytes += size[at];
		free(mine[at]);
		mine[at] = malloc(n);
		CHECK(mine[at]);
		*(unsigned char *)mine[at] = 1;
		size[at] = n;
		c->got++;
		c->got_bytes += n;
		if (storm_pace && i % storm_pace == 0)
			nanosleep(&nap, NULL);
	}
	for (unsigned i = 0; i < 64; i += 2) {
		c->gave += mine[i] != NULL;
		c->gave_bytes += size[i];
		free(mine[i]);
	}
	return NULL;
}

static void at_exit(void)
{
	void *volatile block = exit_within ? NULL : malloc(100);

	free(block);
}

/* Children that get memory and end in all ways. */
static void storm_child(unsigned how)
{
	void *volatile block;
	pid_t child = fork();
	int status;

	if (child == 0) {
		block = malloc(1000);
		free(block);
		if (how % 4 == 0)
			exit(0);
		if (how % 4 == 1)
			_exit(0);
		if (how % 4 == 2)
			exit_between(100 + how % 1000, 0, 0);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void *storm_around(void *context)
{
	for (unsigned i = 0; !__atomic_load_n(&storm_is_over, __ATOMIC_RELAXED); i++) {
		void *object = dlopen(context, RTLD_NOW);
		void (*call)(void);

		CHECK(object);
		call = (void (*)(void))dlsym(object, "heap_plugin");
		CHECK(call);
		call();
		dlclose(object);
		storm_child(i);
	}
	return NULL;
}

static int storm(unsigned n_threads, uint64_t n, char *plugin)
{
	struct counts c[64] = { { .id = 0 } }, all = { .id = 0 };
	pthread_t thread[64], around;

	atexit(at_exit);
	CHECK(n_threads <= 64 && !pthread_create(&around, NULL, storm_around, plugin));
	for (unsigned i = 0; i < n_threads; i++) {
		c[i].rounds = n / n_threads;
		c[i].random = i + 1;
		CHECK(!pthread_create(&thread[i], NULL, storm_thread, &c[i]));
	}
	for (unsigned i = 0; i < n_threads; i++) {
		pthread_join(thread[i], NULL);
		all.got += c[i].got;
		all.got_bytes += c[i].got_bytes;
		all.gave += c[i].gave;
		all.gave_bytes += c[i].gave_bytes;
	}
	__atomic_store_n(&storm_is_over, 1, __ATOMIC_RELAXED);
	pthread_join(around, NULL);
	printf("got=%ju got_bytes=%ju live=%ju live_bytes=%ju other=0\n", (uintmax_t)all.got, (uintmax_t)all.got_bytes,
	       (uintmax_t)(all.got - all.gave), (uintmax_t)(all.got_bytes - all.gave_bytes));
	return 0;
}

static void *leaked[100000];

__attribute__((noinline)) static void planted_leak(unsigned i)
{
	leaked[i] = malloc(1000);
	CHECK(leaked[i]);
}

__attribute__((noinline)) static void *tidy(void)
{
	void *block = malloc(3000);

	CHECK(block);
	return block;
}

__attribute__((noinline)) static int leak(unsigned n)
{
	for (unsigned i = 0; i < n && i < 100000; i++) {
		void *block = tidy();

		planted_leak(i);
		free(block);
	}
	puts("leaked");
	return 0;
}

#define PAGE 4096ul

static char *map_pages(size_t n)
{
	return mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* A page of `a` is mapped anew in its place, two in its middle are gone; `b` grows, and cannot grow without end. */
static __attribute__((noinline)) int maps(void)
{
	char *a = map_pages(8), *b = map_pages(4), *gone = map_pages(100);

	CHECK(a != MAP_FAILED && b != MAP_FAILED && gone != MAP_FAILED);
	CHECK(munmap(a + 2 * PAGE, 2 * PAGE) == 0);
	CHECK(mmap(a, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == a);
	b = mremap(b, 4 * PAGE, 1000 * PAGE, MREMAP_MAYMOVE);
	CHECK(b != MAP_FAILED);
	CHECK(mremap(b, 1000 * PAGE, 1ul << 60, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(munmap(a + 1, PAGE) == -1 && errno == EINVAL);
	CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	CHECK(munmap(gone, 100 * PAGE) == 0);
	printf("5 calls %lu got %lu live, 3 failed\n", (8 + 4 + 100 + 1 + 1000) * PAGE, (6 + 1000) * PAGE);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t number[3] = { 4, 10000, 1 };

	for (int i = 2; i < argc && i < 5; i++)
		number[i - 2] = strtoull(argv[i], NULL, 10);
	if (strcmp(what, "count") == 0)
		return count((unsigned)number[0], number[1], number[2]);
	if (strcmp(what, "fail") == 0)
		return fail();
	if (strcmp(what, "arena") == 0)
		return arena();
	if (strcmp(what, "fork") == 0)
		return fork_one();
	if (strcmp(what, "loop") == 0)
		return loop(number[0], (size_t)number[1]);
	if (strcmp(what, "storm") == 0 && argc > 4) {
		storm_pace = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
		return storm((unsigned)number[0], number[1], argv[4]);
	}
	if (strcmp(what, "exit") == 0)
		exit_between((long)number[0], 7, 1);
	if (strcmp(what, "maps") == 0)
		return maps();
	if (strcmp(what, "leak") == 0)
		return leak((unsigned)number[0]);
	return 2;
}

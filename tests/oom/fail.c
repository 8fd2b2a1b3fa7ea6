/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocator that says no, to be preloaded: OOM_AT=k fails the k-th allocation of the program, counted
 * from 0; with OOM_ON=1 all behind it as well. The first byte of descriptor OOM_FD tells that it came so far. What
 * the program starts itself is left alone. glibc: its own functions, strdup(3) and the like, allocate
 * through these symbols too.
 *
 * With OOM_SERVE=fd the program is run again and again, each time in a child that goes on from here, before main()
 * and before libktr's start: fd, a socket, says k, and is told the status. Nothing is loaded and linked anew for
 * that, which takes longer than most runs.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t n);
void *__libc_memalign(size_t align, size_t n);

static long fail_at = -1;
static long fail_count;
static int fail_on;
static char *fail_told;

static long fail_number(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

/* Returns in each child alone, whose k is then fail_at. */
static void fail_serve(int fd)
{
	int status;
	pid_t pid;
	long k;

	while (read(fd, &k, sizeof(k)) == (ssize_t)sizeof(k)) {
		pid = fork();
		if (pid == 0) {
			close(fd);
			alarm(60);
			fail_at = k;
			return;
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid ||
		    write(fd, &status, sizeof(status)) != (ssize_t)sizeof(status))
			break;
	}
	_exit(0);
}

__attribute__((constructor)) static void fail_start(void)
{
	long at = fail_number("OOM_AT", -1);
	int serve = (int)fail_number("OOM_SERVE", -1);

	if (serve >= 0) {
		fail_serve(serve);
		at = fail_at;
		fail_at = -1;
	}
	/* Memory, since a thread may have closed its descriptors. */
	fail_told = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED,
			 (int)fail_number("OOM_FD", -1), 0);
	fail_on = (int)fail_number("OOM_ON", 0);
	unsetenv("OOM_AT");
	unsetenv("OOM_SERVE");
	unsetenv("LD_PRELOAD");
	fail_at = at;
}

static int fail_now(void)
{
	long n;

	if (fail_at < 0)
		return 0;
	n = __atomic_fetch_add(&fail_count, 1, __ATOMIC_RELAXED);
	if (n != fail_at && !(fail_on && n > fail_at))
		return 0;
	if (fail_told != MAP_FAILED)
		*fail_told = 1;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	return fail_now() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fail_now() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
	return fail_now() ? NULL : __libc_realloc(old, n);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return NULL;
	return realloc(old, n * size);
}

void *memalign(size_t align, size_t n)
{
	return fail_now() ? NULL : __libc_memalign(align, n);
}

void *aligned_alloc(size_t align, size_t n)
{
	return memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
	void *at = memalign(align, n);

	if (!at)
		return ENOMEM;
	*out = at;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* See stops.h. The table is put in place before the library's own constructor starts the writer. */
#include "tests/kill/stops.h"

#include "writer/format/sys.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define STOPS_PAGE 4096u

extern const struct ktr__sys __real_ktr__sys; /* the linker's name for the table of writer/format/sys.c */
extern struct ktr__sys __wrap_ktr__sys;

static struct stops stops_none, *stops = &stops_none;

static int stops_done(int rc)
{
	uint32_t n = __atomic_add_fetch(&stops->n, 1, __ATOMIC_RELAXED);

	stops->full += rc == -ENOSPC;
	if (stops->at && n == stops->at)
		kill(getpid(), SIGKILL);
	return rc;
}

static ssize_t stops_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	size_t first = STOPS_PAGE - (size_t)offset % STOPS_PAGE;
	ssize_t done;

	if (stops->tear && stops->at && stops->n + 1 == stops->at) {
		first += (stops->tear - 1) * (size_t)STOPS_PAGE;
		if (first < n)
			__real_ktr__sys.pwrite(fd, bytes, first, offset);
		kill(getpid(), SIGKILL);
	}
	done = __real_ktr__sys.pwrite(fd, bytes, n, offset);
	if (stops->n < STOPS_MAX && first < n)
		stops->n_pages[stops->n] = (uint8_t)(1 + (n - first - 1) / STOPS_PAGE);
	stops_done(done < 0 ? (int)done : 0);
	return done;
}

static int stops_openat(int dir_fd, const char *name, int flags, mode_t mode)
{
	return stops_done(__real_ktr__sys.openat(dir_fd, name, flags, mode));
}

static int stops_close(int fd)
{
	return stops_done(__real_ktr__sys.close(fd));
}

static int stops_ftruncate(int fd, off_t length)
{
	return stops_done(__real_ktr__sys.ftruncate(fd, length));
}

static int stops_fstat(int fd, struct stat *st)
{
	return stops_done(__real_ktr__sys.fstat(fd, st));
}

static int stops_mkdirat(int dir_fd, const char *name, mode_t mode)
{
	return stops_done(__real_ktr__sys.mkdirat(dir_fd, name, mode));
}

static int stops_rename_new(int dir_fd, const char *from, const char *to)
{
	return stops_done(__real_ktr__sys.rename_new(dir_fd, from, to));
}

static int stops_exchange(int dir_fd, const char *one, const char *other)
{
	return stops_done(__real_ktr__sys.exchange(dir_fd, one, other));
}

static int stops_unlinkat(int dir_fd, const char *name, int flags)
{
	return stops_done(__real_ktr__sys.unlinkat(dir_fd, name, flags));
}

static int stops_unlink_later(int dir_fd, const char *name)
{
	return stops_done(__real_ktr__sys.unlink_later(dir_fd, name));
}

static void stops_forget(int fd, uint64_t from, uint64_t to)
{
	__real_ktr__sys.forget(fd, from, to);
	stops_done(0);
}

static int stops_free_permille(int fd)
{
	return stops_done(__real_ktr__sys.free_permille(fd));
}

/* A call that is not counted here is made as it is. */
static void stops_table(struct ktr__sys *table)
{
	*table = __real_ktr__sys;
	table->openat = stops_openat;
	table->close = stops_close;
	table->pwrite = stops_pwrite;
	table->ftruncate = stops_ftruncate;
	table->fstat = stops_fstat;
	table->mkdirat = stops_mkdirat;
	table->rename_new = stops_rename_new;
	table->exchange = stops_exchange;
	table->unlinkat = stops_unlinkat;
	table->unlink_later = stops_unlink_later;
	table->forget = stops_forget;
	table->free_permille = stops_free_permille;
}

struct ktr__sys __wrap_ktr__sys;

static __attribute__((constructor(101))) void stops_map(void)
{
	void *at = mmap(NULL, sizeof(*stops), PROT_READ | PROT_WRITE, MAP_SHARED, STOPS_FD, 0);

	if (at != MAP_FAILED)
		stops = at;
	stops_table(&__wrap_ktr__sys);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creating, joining and leaving a session file.
 *
 * A new session is built under a temporary name and moved to its own when it is complete, so that
 * nobody ever sees half of one, and two processes that create the same shared name end up in one
 * session: the loser of the race joins the winner. The file is sparse at its largest size from the
 * start; it is mapped as a whole, the data region without access until a ring's memory is populated, so
 * that neither a host's mlockall(2) nor a stray pointer touches what is not in use.
 */
#include "ktr/control/session_join.h"

#include "ktr/control/session_layout.h"
#include "ktr/arch/arch.h"
#include "ktr/session/clock.h"
#include "ktr/session/cpu.h"
#include "ktr/session/libc.h"
#include "ktr/session/session_again.h"
#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOIN_PAGE 4096u /* [bytes] mapped to keep a lock; less than a page is one */
#define JOIN_NAPS 20 /* [ms] for those who hold a lock for a moment only, so as to see that they do */
#define JOIN_TRIES 1000 /* joining one that comes and goes; each try is some system calls */

/*
 * Maps the file from an open file that nobody ever locks: a forked child inherits the mapping, and with it what it
 * was made of. By a lock on that it would hold its parent's for ever.
 */
static int join_map_apart(struct ktr__session_rw *session, struct ktr_error *err)
{
	int fd = ktr__session_open_again(session), code = 0;

	if (fd < 0)
		return ktr_error_set(err, errno, "%s: %m", session->path);
	session->map = mmap(NULL, session->header.file_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (session->map == MAP_FAILED) {
		code = errno;
		session->map = NULL;
		code = ktr_error_set(err, code, "cannot map %llu MiB: %m",
				     (unsigned long long)session->header.file_bytes >> 20);
	}
	close(fd);
	return code;
}

/* Maps the file: everything in front of the rings' entries read-write, those without access. */
static int join_map(struct ktr__session_rw *session, struct ktr_error *err)
{
	const struct ktr_region *data = &session->header.region[KTR_REGION_data];
	const struct ktr_region *count = &session->header.region[KTR_REGION_count];
	const struct ktr_region *ring = &session->header.region[KTR_REGION_ring];
	struct stat st;
	int code;

	if (fstat(session->fd, &st) == 0) {
		session->dev = st.st_dev;
		session->ino = st.st_ino;
	}
	code = join_map_apart(session, err);
	if (code)
		return code;
	/* The header is read only for everybody; its creator has written the file. */
	if (mprotect(session->map, KTR_SESSION_ALIGN, PROT_READ) != 0 ||
	    mprotect(session->map + KTR_SESSION_ALIGN, count->offset - KTR_SESSION_ALIGN,
		     PROT_READ | PROT_WRITE) != 0 ||
	    mprotect(session->map + ring->offset, data->offset - ring->offset,
		     PROT_READ | PROT_WRITE) != 0)
		return ktr_error_set(err, errno, "cannot make the session writable: %m");
	ktr__layout_dump(session);
	session->control = ktr__region_rows(session, control, struct ktr_control);
	session->rings = ktr__region_rows(session, ring, struct ktr_ring);
	return 0;
}

int ktr__session_again(const struct ktr__session_rw *session)
{
	int fd = ktr__session_open_again(session);

	if (fd >= 0)
		flock(fd, LOCK_SH | LOCK_NB);
	return fd;
}

/*
 * The lock outlives the descriptor, which a host may close behind our back: a mapping of one page, which nobody
 * touches, keeps its open file. No child inherits that. Without it the descriptor alone holds the lock.
 */
static void join_keep(struct ktr__session_rw *session, int fd)
{
	void *page = mmap(NULL, JOIN_PAGE, PROT_NONE, MAP_SHARED, fd, 0);

	session->lock = page == MAP_FAILED ? NULL : page;
	if (session->lock && madvise(session->lock, JOIN_PAGE, MADV_DONTFORK)) {
		munmap(session->lock, JOIN_PAGE);
		session->lock = NULL;
	}
}

/* Fills the new file that session->fd has open, which lies at session->path. */
static int join_build(const struct ktr__session_plan *plan, struct ktr__session_rw *session,
			 struct ktr_error *err)
{
	struct ktr_header *header = &session->header;
	int code = ktr__layout_plan(plan, header, err);

	if (code)
		return code;
	ktr__layout_fill(plan, header);
	if (ftruncate(session->fd, (off_t)header->file_bytes) != 0)
		return ktr_error_set(err, errno, "cannot make a sparse file of %llu MiB: %m",
				     (unsigned long long)header->file_bytes >> 20);
	code = ktr__layout_allocate(session->fd, header);
	if (code)
		return ktr_error_set(err, code, "cannot allocate the session's tables: %m");
	code = join_map(session, err);
	if (code)
		return code;
	ktr__layout_first_rows(session);
	header->ready = 1;
	if (pwrite(session->fd, header, sizeof(*header), 0) != (ssize_t)sizeof(*header))
		return ktr_error_set(err, errno ? errno : EIO, "cannot write the session's header");
	return 0;
}

static int join_directory(const char *dir, struct ktr_error *err)
{
	struct stat st;

	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return ktr_error_set(err, errno, "cannot make the directory %s: %m", dir);
	if (lstat(dir, &st) != 0)
		return ktr_error_set(err, errno, "%s: %m", dir);
	if (!S_ISDIR(st.st_mode))
		return ktr_error_set(err, ENOTDIR, "%s is not a directory", dir);
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return ktr_error_set(err, EPERM, "%s belongs to somebody else or lets others write", dir);
	return 0;
}

int ktr__session_join(const char *path, struct ktr__session_rw *session, struct ktr_error *err)
{
	struct ktr__session_map map;
	int code = ktr__map_open(path, KTR__MAP_OWN | KTR__MAP_WRITE, &map, err);

	memset(session, 0, sizeof(*session));
	session->fd = -1;
	if (code)
		return code;
	session->fd = map.fd;
	session->header = map.header;
	snprintf(session->path, sizeof(session->path), "%s", path);
	code = ktr__layout_check(&map.header, path, err);
	if (!code)
		code = join_map(session, err);
	if (code)
		ktr__session_detach(session);
	return code;
}

void ktr__session_detach(struct ktr__session_rw *session)
{
	if (session->map)
		munmap(session->map, session->header.file_bytes);
	if (session->lock)
		munmap(session->lock, JOIN_PAGE);
	if (session->fd >= 0)
		close(session->fd);
	session->map = session->lock = NULL;
	session->fd = -1;
}

bool ktr__session_cut(const struct ktr__session_rw *session)
{
	struct stat st;

	return ktr__session_is(session, fstat(session->fd, &st), &st) &&
	       (uint64_t)st.st_size < session->header.file_bytes;
}

static bool join_path_same(const struct ktr__session_rw *session, const char *path)
{
	struct stat st;

	return ktr__session_is(session, stat(path, &st), &st);
}

void ktr__session_reopen(struct ktr__session_rw *session, int fd)
{
	int old = session->fd;

	session->lock = NULL; /* the parent's, which is not here */
	if (fd >= 0)
		join_keep(session, fd);
	if (ktr__session_fd_ours(session)) {
		session->fd = fd;
		close(old);
	} else if (fd >= 0) {
		close(fd);
	}
}

/* Copies row i of the processes; false after the last one. */
static bool join_proc(const struct ktr__session_rw *session, uint32_t i, struct ktr_proc_row *row)
{
	const struct ktr_proc_row *from;

	if (i >= __atomic_load_n(&session->control->n_procs, __ATOMIC_RELAXED) ||
	    !(from = ktr__session_at(session, KTR_REGION_proc, i)))
		return false;
	memcpy(row, from, sizeof(*row));
	return true;
}

/*
 * Does the process of a row live, and has it not left for good by exec(2)? We ourselves have the session: where the
 * numbers of mappings are not those of files, nobody is seen to have left.
 */
static bool join_has(const struct ktr__session_rw *session, const struct ktr_proc_row *row)
{
	return ktr__proc_alive(row) &&
	       (ktr__proc_stays(row->pid, session->ino) || !ktr__proc_maps((uint32_t)getpid(), session->ino));
}

/* Does any process of the table still live? Somebody may have lost the lock with all its descriptors. */
static bool join_inhabited(const struct ktr__session_rw *session)
{
	struct ktr_proc_row row;

	for (uint32_t i = 1; join_proc(session, i, &row); i++)
		if (join_has(session, &row))
			return true;
	return false;
}

uint32_t ktr__session_sandboxed(const struct ktr__session_rw *session)
{
	struct ktr_proc_row row;

	for (uint32_t i = 1; join_proc(session, i, &row); i++)
		if (row.sandboxed && ktr__proc_alive(&row))
			return row.pid;
	return 0;
}

/* The same of others, who are not about to end. Rows of this process are of what it was before exec(2). */
static bool join_shared(const struct ktr__session_rw *session)
{
	struct ktr_proc_row row;

	for (uint32_t i = 1; join_proc(session, i, &row); i++)
		if (row.pid != (uint32_t)getpid() && join_has(session, &row) && !ktr__proc_exits(row.pid))
			return true;
	return false;
}

/*
 * Who holds the lock and is not in the table is a tool that looks whether anybody is left, or a process that has
 * nearly ended, as a daemon's parent has: both take a moment.
 */
static bool join_lock_alone(const struct ktr__session_rw *session)
{
	for (int i = 0; !join_shared(session) && i < JOIN_NAPS; i++) {
		if (flock(session->fd, LOCK_EX | LOCK_NB) == 0)
			return !join_shared(session);
		ktr__nap();
	}
	flock(session->fd, LOCK_UN); /* nothing of ours keeps those who leave after us from being alone */
	return false;
}

bool ktr__session_other(const struct ktr__session_rw *session, uint32_t pid)
{
	uint64_t pid_ns = ktr__proc_own_ns(), start_time = 0;
	struct ktr_proc_row row;

	if (pid != (uint32_t)getpid())
		start_time = ktr__proc_start_time(pid);
	for (uint32_t i = 1; join_proc(session, i, &row); i++)
		if (row.pid == pid && (row.pid_ns == pid_ns ? start_time && row.start_time == start_time :
							      row.state == KTR_ROW_READY))
			return true;
	return false;
}

bool ktr__session_alone(struct ktr__session_rw *session)
{
	if (!ktr__session_fd_ours(session)) {
		session->fd = ktr__session_open_again(session);
		if (session->lock)
			munmap(session->lock, JOIN_PAGE); /* with the lock of what the host has closed */
		session->lock = NULL;
	}
	/* The lock stays: whoever comes now waits until the name has gone, and makes a session of its own. */
	return session->fd >= 0 && join_lock_alone(session) && join_path_same(session, session->path);
}

/* Is this process in the session already? 1: before exec(2); 2: by another copy of the library, now. */
static int join_has_us(const struct ktr__session_rw *session, const struct ktr_proc_row *self)
{
	struct ktr_proc_row row;
	int has = 0;

	for (uint32_t i = 1; has < 2 && join_proc(session, i, &row); i++)
		if (row.state == KTR_ROW_READY && row.pid == self->pid && row.pid_ns == self->pid_ns &&
		    row.start_time == self->start_time)
			has = row.image == self->image ? 2 : 1;
	return has;
}

static int join_two_copies(struct ktr_error *err)
{
	return ktr_error_set(err, EALREADY, "another copy of ktr in this process has the session");
}

/* Takes the shared lock; true if the path still leads to the session. */
static bool join_hold(const struct ktr__session_rw *session, const char *path)
{
	return flock(session->fd, LOCK_SH | LOCK_NB) == 0 && join_path_same(session, path);
}

/*
 * A session of the name ours would get, made by this very process: it has gone through exec(2), and goes
 * on in it. -ENOENT: there is none of that kind.
 */
static int join_former(const struct ktr__session_plan *plan, const char *path,
			  struct ktr__session_rw *session, struct ktr_error *err)
{
	int has, code = -ENOENT;

	if (access(path, F_OK) != 0 || ktr__session_join(path, session, NULL) != 0)
		return code;
	has = join_has_us(session, &plan->self);
	if (has == 2)
		code = join_two_copies(err);
	else if (has == 1 && session->header.path == plan->path && join_hold(session, path))
		return 0;
	ktr__session_detach(session);
	return code;
}

/* Renames a dead session that the path still leads to. -ENOENT: done. */
static int join_aside(const struct ktr__session_rw *session, const char *path, struct ktr_error *err)
{
	char old[sizeof(session->path) + 8];

	snprintf(old, sizeof(old), "%.*s.old" KTR_SESSION_SUFFIX,
		 (int)(strlen(path) - strlen(KTR_SESSION_SUFFIX)), path);
	if (join_path_same(session, path) && rename(path, old) != 0)
		return ktr_error_set(err, errno, "cannot move the dead session %s aside: %m", path);
	return -ENOENT;
}

/*
 * Joins a live session of this name. -ENOENT: there is none, a dead one has been moved aside; -EAGAIN:
 * it went away meanwhile, try again. Whoever renames or removes a session holds its lock exclusively and
 * has seen that the path still leads to it; whoever joins holds it shared and looks at the path after
 * that. So nobody joins what is about to go, and no live session is moved, nor one that somebody looks after.
 */
static int join_existing(const struct ktr__session_plan *plan, const char *path,
			struct ktr__session_rw *session, struct ktr_error *err)
{
	int code;

	if (access(path, F_OK) != 0)
		return -ENOENT;
	code = ktr__session_join(path, session, err);
	if (code)
		return code == -ENOENT ? -EAGAIN : code;
	if (!join_hold(session, path))
		code = -EAGAIN;
	else if (!ktr__session_attended(path) && flock(session->fd, LOCK_EX | LOCK_NB) == 0 &&
		 !join_inhabited(session))
		code = join_aside(session, path, err);
	/* A lock is given up before it is converted (flock(2)): somebody may have left for good meanwhile. */
	else if (!join_hold(session, path))
		code = -EAGAIN;
	else if (join_has_us(session, &plan->self) == 2)
		code = join_two_copies(err);
	else if (session->header.path != plan->path)
		code = ktr_error_set(err, EXDEV,
				     "session %s records by another path (%s restartable sequences)",
				     plan->name, plan->path == KTR_PATH_RSEQ ? "without" : "with");
	if (code)
		ktr__session_detach(session);
	return code;
}

/* DIR/NAME.ktr, and for a number above 0 DIR/NAME.number.ktr. */
static void join_name(const struct ktr__session_plan *plan, unsigned number, char *path, size_t size)
{
	snprintf(path, size, number ? "%s/%s.%u" KTR_SESSION_SUFFIX : "%s/%s" KTR_SESSION_SUFFIX, plan->dir, plan->name,
		 number);
}

/*
 * Gives a file its name unless that is taken. A file that is renamed shows under its new name in
 * /proc/PID/maps, where it is looked for; one that is linked goes on under the old. Not every file system
 * can rename so.
 */
static int join_give_name(const char *temporary, const char *path)
{
	int rc = ktr__rename_new(AT_FDCWD, temporary, AT_FDCWD, path);

	return rc != 0 && (errno == EINVAL || errno == ENOSYS) ? link(temporary, path) : rc;
}

/* Moves the finished temporary file to the first free name. -EAGAIN: a shared one has been taken. */
static int join_publish(const struct ktr__session_plan *plan, const char *temporary,
			   struct ktr__session_rw *session, struct ktr_error *err)
{
	for (unsigned i = 0; i < 1000; i++) {
		join_name(plan, i, session->path, sizeof(session->path));
		if (join_give_name(temporary, session->path) == 0)
			return 0;
		if (errno == EEXIST && plan->shared_name)
			return -EAGAIN;
		if (errno != EEXIST)
			return ktr_error_set(err, errno, "cannot name the session %s: %m", session->path);
	}
	return ktr_error_set(err, EEXIST, "too many sessions named %s", plan->name);
}

static int join_make(const struct ktr__session_plan *plan, struct ktr__session_rw *session,
			struct ktr_error *err)
{
	char temporary[sizeof(session->path)];
	int code;

	memset(session, 0, sizeof(*session));
	snprintf(temporary, sizeof(temporary), "%s/.%s.%ld.new", plan->dir, plan->name, (long)getpid());
	unlink(temporary);
	session->fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (session->fd < 0)
		return ktr_error_set(err, errno, "cannot create %s: %m", temporary);
	strcpy(session->path, temporary);
	code = join_build(plan, session, err);
	if (!code)
		flock(session->fd, LOCK_SH | LOCK_NB);
	if (!code)
		code = join_publish(plan, temporary, session, err);
	unlink(temporary);
	if (code)
		ktr__session_detach(session);
	return code;
}

int ktr__session_create(const struct ktr__session_plan *plan, struct ktr__session_rw *session,
			bool *joined, struct ktr_error *err)
{
	int code = join_directory(plan->dir, err);
	char path[sizeof(session->path)];

	*joined = false;
	if (code)
		return code;
	join_name(plan, 0, path, sizeof(path));
	for (int i = 0; i < JOIN_TRIES; i++) {
		code = plan->shared_name ? join_existing(plan, path, session, err) :
					   join_former(plan, path, session, err);
		*joined = code == 0;
		if (code == -ENOENT)
			code = join_make(plan, session, err);
		if (!code)
			join_keep(session, session->fd);
		if (code != -EAGAIN)
			return code;
		sched_yield(); /* it went away, or somebody was faster: join */
	}
	return ktr_error_set(err, EBUSY, "session %s comes and goes", plan->name);
}

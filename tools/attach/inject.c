/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is made in the process: a page of instructions, and an area
 *
 *	struct ktr__ask | stack of the first thread | its thread-local data, all 0 | its struct pthread
 *
 * The first thread is none of the C library's. It has what pthread_create(3) looks at: its own address and number,
 * the guards of stacks and pointers, and that there are several threads. malloc(3) finds no cache of this thread's
 * and no arena, and takes another arena than that of the thread that is stopped.
 *
 * A process with one thread is kept until the agent is there, 50 ms at most: so it does not fork, nor change its
 * environment, in the middle of that.
 */
#include "tools/attach/inject.h"

#include <errno.h>

#if defined(__x86_64__)
#include "ktr/agent/ask.h"
#include "ktr/provider/syscall/tracee_memory.h"
#include "tools/attach/inject_elf.h"
#include "tools/attach/inject_memory.h"
#include "tools/attach/inject_stop.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INJECT_CODE_BYTES      4096ull
#define INJECT_ASK_BYTES       8192ull
#define INJECT_STACK_BYTES     65536ull
#define INJECT_TLS_SPARE       65536ull /* for objects that were loaded and have their data there, too */
#define INJECT_TLS_MAX         (1ull << 30)
#define INJECT_SELF_BYTES      16384ull       /* struct pthread has 2,368 with glibc 2.36 */
#define INJECT_WAIT_NS         10000000000ull /* for the answer */
#define INJECT_HOLD_NS         50000000ull    /* ... while the process's only thread is kept */
#define INJECT_GIVE_UP_NS      100000000ull   /* for a thread to come back to its call */

/* glibc's tcbhead_t, which its ABI for stack protectors and its loader has fixed, and struct pthread after it. */
#define INJECT_SELF_AT_THREADS 0x18
#define INJECT_SELF_AT_GUARDS  0x28 /* two words */
#define INJECT_SELF_AT_CET     0x48
#define INJECT_SELF_AT_TID     0x2d0

extern const char inject_code[], inject_code_end[];

struct inject_work {
	struct inject *inject;
	struct ktr_error *err;
	int memory;
	struct inject_maps maps;
	struct inject_avoid avoid;
	struct inject_stop stop;
	struct ktr__ask ask;
	uint64_t rseq_at; /* where the loader keeps the offset of rseq(2)'s area; 0: it has none */
	uint64_t tls;
	uint64_t self; /* the struct pthread of the first thread */
	pid_t maker;
	int held;
};

_Static_assert(sizeof(struct ktr__ask) <= INJECT_ASK_BYTES, "it has its place");

/* ---- what is there ---- */

static const struct inject_object *inject_object(const struct inject_maps *maps, const char *one,
						 const char *other)
{
	const struct inject_object *object = inject_maps_find(maps, one);

	return object ? object : inject_maps_find(maps, other);
}

/* A function of the C library, which with glibc before 2.34 is three objects. 0: it has none. */
static uint64_t inject_function(const struct inject_work *work, const char *name)
{
	static const char *const objects[][2] = { { "libc.so.6", "libc-2" },
						  { "libpthread.so.0", "libpthread-2" },
						  { "libdl.so.2", "libdl-2" } };
	uint64_t found = 0;

	for (unsigned i = 0; i < sizeof(objects) / sizeof(objects[0]) && !found; i++) {
		const struct inject_object *object = inject_object(&work->maps, objects[i][0],
								   objects[i][1]);
		struct inject_elf elf;

		if (object && inject_elf_open(work->memory, object->base, &elf))
			found = inject_elf_symbol(&elf, name);
	}
	return found;
}

static int inject_functions(struct inject_work *work)
{
	struct ktr__ask *ask = &work->ask;
	const struct {
		const char *name;
		uint64_t *at;
	} functions[] = { { "pthread_create", &ask->pthread_create },
			  { "pthread_detach", &ask->pthread_detach },
			  { "dlopen", &ask->dlopen },
			  { "dlsym", &ask->dlsym },
			  { "dlerror", &ask->dlerror } };

	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		*functions[i].at = inject_function(work, functions[i].name);
		if (!*functions[i].at)
			return ktr_error_set(
				work->err, ENOSYS,
				"its C library has no %s(3): ktr attach needs glibc 2.34, or "
				"libpthread and libdl in the program",
				functions[i].name);
	}
	return 0;
}

static int inject_forbidden(struct inject_work *work, int rc)
{
	work->inject->refused = -rc;
	return ktr_error_set(work->err, -rc, "the kernel forbids it: %m");
}

/* A child of vfork(2) has its parent's memory, until it executes another program. */
static int inject_shared(struct inject_work *work)
{
	uint64_t parent = 0;

	ktr__tracee_status(work->inject->pid, "PPid:", 10, &parent);
	if (!parent || syscall(SYS_kcmp, work->inject->pid, (pid_t)parent, KCMP_VM, 0, 0) != 0)
		return 0;
	return ktr_error_set(
		work->err, EBUSY,
		"it shares its memory with process %d, which waits for it to execute another "
		"program (vfork(2))",
		(int)parent);
}

/*
 * The first thread gets memory in pthread_create(3). It has no variables of threads but zeros, which are what
 * glibc's malloc(3) begins with; jemalloc takes them for a thread that has begun.
 */
static int inject_allocator(struct inject_work *work)
{
	static const char *const known[] = { "libc.so.6", "libc-2", "ld-linux-x86-64", "ld-2", "libktr-agent",
					     "memfd:ktr-agent" };
	const struct inject_object *object;
	struct inject_elf elf;

	for (unsigned i = 0; i < work->maps.n; i++) {
		object = &work->maps.object[i];
		for (unsigned k = 0; k < sizeof(known) / sizeof(known[0]) && object; k++)
			object = strncmp(object->name, known[k], strlen(known[k])) == 0 ? NULL : object;
		if (object && inject_elf_open(work->memory, object->base, &elf) &&
		    inject_elf_symbol(&elf, "calloc"))
			return ktr_error_set(work->err, ENOTSUP,
					     "its memory is another allocator's than the C library's, %s, "
					     "which a thread from outside must not call: start it with ktr run "
					     "--agent",
					     object->name);
	}
	return 0;
}

/* Looks through its objects. 0 or -errno. */
static int inject_look(struct inject_work *work)
{
	const struct inject_object *agent;
	struct inject_elf elf;
	int rc = inject_maps_read("/proc", work->inject->pid, &work->maps);

	if (rc)
		return ktr_error_set(work->err, -rc, "its mappings: %m");
	work->avoid.libc = inject_object(&work->maps, "libc.so.6", "libc-2");
	work->avoid.loader = inject_object(&work->maps, "ld-linux-x86-64", "ld-2");
	if (!work->avoid.libc || !work->avoid.loader)
		return ktr_error_set(work->err, ENOSYS, "it has no C library that ktr knows");
	rc = inject_functions(work);
	rc = rc ? rc : inject_allocator(work);
	if (rc)
		return rc;
	if (inject_elf_open(work->memory, work->avoid.loader->base, &elf))
		work->rseq_at = inject_elf_symbol(&elf, "__rseq_offset");
	for (unsigned i = 0; i < work->maps.n; i++)
		if (inject_elf_open(work->memory, work->maps.object[i].base, &elf) &&
		    elf.tls < INJECT_TLS_MAX)
			work->tls += elf.tls;
	agent = inject_object(&work->maps, "libktr-agent", "memfd:ktr-agent");
	if (!agent)
		return 0;
	work->inject->was_there = 1;
	if (inject_elf_open(work->memory, agent->base, &elf))
		work->ask.call = inject_elf_symbol(&elf, "ktr__agent_call");
	return work->ask.call
		       ? 0
		       : ktr_error_set(work->err, ENOEXEC,
				       "the agent that is in it is of another version of ktr");
}

/* ---- what is made ---- */

/* The struct pthread of the first thread, with what it takes from that of the stopped one. */
static int inject_self(struct inject_work *work)
{
	uint64_t from = work->stop.thread.regs.fs_base, guards[2],
		 self[3] = { work->self, work->self, work->self };
	uint32_t one = 1, cet = 0, failed = UINT32_MAX - 1, cpu, tid = 0;
	int64_t rseq = 0;

	if (!inject_memory_read(work->memory, from, self, sizeof(self)) || self[0] != from ||
	    self[2] != from ||
	    !inject_memory_read(work->memory, from + INJECT_SELF_AT_TID, &tid, sizeof(tid)) ||
	    tid != (uint32_t)work->stop.thread.tid)
		return ktr_error_set(
			work->err, ENOTSUP,
			"its thread %d is none of the C library's, or the C library is "
			"another than ktr knows",
			(int)work->stop.thread.tid);
	self[0] = self[2] = work->self;
	self[1] = work->self + INJECT_SELF_BYTES / 2; /* where all is 0: nothing loaded since */
	if (!inject_memory_read(work->memory, from + INJECT_SELF_AT_GUARDS, guards,
				sizeof(guards)) ||
	    !inject_memory_read(work->memory, from + INJECT_SELF_AT_CET, &cet, sizeof(cet)) ||
	    !inject_memory_write(work->memory, work->self, self, sizeof(self)) ||
	    !inject_memory_write(work->memory, work->self + INJECT_SELF_AT_THREADS, &one,
				 sizeof(one)) ||
	    !inject_memory_write(work->memory, work->self + INJECT_SELF_AT_GUARDS, guards,
				 sizeof(guards)) ||
	    !inject_memory_write(work->memory, work->self + INJECT_SELF_AT_CET, &cet, sizeof(cet)))
		return ktr_error_set(work->err, EFAULT, "its memory cannot be written");
	/* Where the program has declined rseq(2), a new thread does, too. */
	if (work->rseq_at && inject_memory_read(work->memory, work->rseq_at, &rseq, sizeof(rseq)) &&
	    inject_memory_read(work->memory, from + (uint64_t)rseq + 4, &cpu, sizeof(cpu)) &&
	    (int32_t)cpu < 0)
		inject_memory_write(work->memory, work->self + (uint64_t)rseq + 4, &failed,
				    sizeof(failed));
	/* glibc of before 2.34 leaves out the lock prefix where a thread is the only one, as it believes. */
	if (work->stop.alone)
		inject_memory_write(work->memory, from + INJECT_SELF_AT_THREADS, &one, sizeof(one));
	return 0;
}

static int inject_refused(struct inject_work *work, const char *call, int64_t rc)
{
	return ktr_error_set(
		work->err, (int)-rc, "%s in it: %m%s", call,
		rc == -EACCES || rc == -EPERM ? " (a seccomp filter or SELinux forbids that)" : "");
}

static int inject_map(struct inject_work *work, uint64_t bytes, int access, uint64_t *at)
{
	const uint64_t args[6] = {
		0,          bytes, (uint64_t)access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		UINT64_MAX, 0
	};
	int64_t rc = inject_stop_call(&work->stop, work->stop.syscall, 0, SYS_mmap, args);

	if (rc < 0 && rc > -4096)
		return inject_refused(work, "mmap(2)", rc);
	*at = (uint64_t)rc;
	return 0;
}

static int inject_fill(struct inject_work *work)
{
	struct ktr__ask *ask = &work->ask;

	ask->magic = KTR__ASK_MAGIC;
	ask->maker = work->self + INJECT_SELF_AT_TID;
	strcpy(ask->path, "/proc/thread-self/fd/0");
	strcpy(ask->symbol, "ktr__agent_call");
	snprintf(ask->knobs, sizeof(ask->knobs), "%s", work->inject->knobs);
	if (!inject_memory_write(work->memory, ask->base, ask, sizeof(*ask)) ||
	    !inject_memory_write(work->memory, ask->code_base, inject_code,
				 (size_t)(inject_code_end - inject_code)))
		return ktr_error_set(work->err, EFAULT, "its memory cannot be written");
	return inject_self(work);
}

static int inject_clone(struct inject_work *work)
{
	const uint64_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			       CLONE_SYSVSEM | CLONE_SETTLS | CLONE_CHILD_SETTID |
			       CLONE_CHILD_CLEARTID | CLONE_UNTRACED;
	const uint64_t args[6] = {
		flags,      work->ask.base + INJECT_ASK_BYTES + INJECT_STACK_BYTES,
		0,          work->ask.maker,
		work->self, 0
	};
	int64_t rc = inject_stop_call(&work->stop, work->ask.code_base, work->ask.base, SYS_clone,
				      args);

	if (rc < 0)
		return inject_refused(work, "clone(2)", rc);
	work->maker = (pid_t)rc;
	return 0;
}

static int inject_make(struct inject_work *work)
{
	struct ktr__ask *ask = &work->ask;
	uint64_t tls = (work->tls + INJECT_TLS_SPARE + 4095) & ~4095ull;
	int rc;

	ask->code_bytes = INJECT_CODE_BYTES;
	ask->bytes = INJECT_ASK_BYTES + INJECT_STACK_BYTES + tls + INJECT_SELF_BYTES;
	rc = inject_map(work, ask->code_bytes, PROT_READ | PROT_EXEC, &ask->code_base);
	if (!rc)
		rc = inject_map(work, ask->bytes, PROT_READ | PROT_WRITE, &ask->base);
	work->self = ask->base + ask->bytes - INJECT_SELF_BYTES;
	if (!rc)
		rc = inject_fill(work);
	if (!rc)
		rc = inject_clone(work);
	if (rc && ask->base) {
		const uint64_t area[6] = { ask->base, ask->bytes };

		inject_stop_call(&work->stop, work->stop.syscall, 0, SYS_munmap, area);
	}
	if (rc && ask->code_base) {
		const uint64_t code[6] = { ask->code_base, ask->code_bytes };

		inject_stop_call(&work->stop, work->stop.syscall, 0, SYS_munmap, code);
	}
	return rc;
}

/* ---- what comes of it ---- */

static uint32_t inject_state(const struct inject_work *work)
{
	uint32_t state = KTR__ASK_TAKEN;

	inject_memory_read(work->memory, work->ask.base + KTR__ASK_AT_STATE, &state, sizeof(state));
	return state;
}

static int inject_state_set(const struct inject_work *work, uint32_t state)
{
	return inject_memory_write(work->memory, work->ask.base + KTR__ASK_AT_STATE, &state,
				   sizeof(state));
}

/* Writes the agent into the file that the first thread has made. */
static int inject_file(struct inject_work *work)
{
	int from = open(work->inject->library, O_RDONLY | O_CLOEXEC), to, rc = 0;
	char path[96], piece[65536];
	uint32_t fd = 0;
	ssize_t n;

	inject_memory_read(work->memory, work->ask.base + KTR__ASK_AT_FD, &fd, sizeof(fd));
	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%u", (int)work->inject->pid,
		 (int)work->maker, fd);
	to = open(path, O_WRONLY | O_CLOEXEC);
	while (from >= 0 && to >= 0 && (n = read(from, piece, sizeof(piece))) > 0 && !rc)
		rc = write(to, piece, (size_t)n) == n ? 0 : -EIO;
	if (from < 0)
		rc = ktr_error_set(work->err, ENOENT, "%s: %m", work->inject->library);
	else if (to < 0 || rc)
		rc = ktr_error_set(work->err, EIO, "the agent cannot be written into it: %m");
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return rc ? rc : inject_state_set(work, KTR__ASK_FILLED) ? 0 : -ESRCH;
}

/* The thread that we keep goes on. */
static void inject_let_go(struct inject_work *work)
{
	uint32_t keep = 1;

	if (!work->held)
		return;
	work->held = 0;
	if (inject_stop_go(&work->stop, work->ask.base + offsetof(struct ktr__ask, left)) != 1)
		return;
	/* It reads from our area as soon as it makes its call. */
	for (uint64_t until = ktr__tracee_wait_now() + INJECT_GIVE_UP_NS; ktr__tracee_wait_now() < until;) {
		const struct timespec nap = { 0, 200000 };
		struct ktr__tracee_wait wait;

		ktr__tracee_wait_look("/proc", work->inject->pid, work->stop.thread.tid, &wait);
		if (wait.call == (long)work->stop.thread.regs.orig_rax)
			return;
		nanosleep(&nap, NULL);
	}
	inject_memory_write(work->memory, work->ask.base + offsetof(struct ktr__ask, keep), &keep,
			    sizeof(keep));
}

static int inject_answer(struct inject_work *work)
{
	struct ktr__ask *ask = &work->ask;

	if (!inject_memory_read(work->memory, ask->base, ask, sizeof(*ask)))
		return ktr_error_set(work->err, ESRCH,
				     "it has ended meanwhile, or become another program");
	ask->text[sizeof(ask->text) - 1] = ask->session[sizeof(ask->session) - 1] = '\0';
	snprintf(work->inject->session, sizeof(work->inject->session), "%s", ask->session);
	if (!ask->code)
		return 0;
	if (ask->text[0])
		return ktr_error_set(work->err, -ask->code, "%s", ask->text);
	return ktr_error_set(work->err, -ask->code, "no thread for the agent: %m");
}

static int inject_await(struct inject_work *work)
{
	const struct timespec nap = { 0, 100000 };
	uint64_t began = ktr__tracee_wait_now(), over = 0;
	uint32_t state = 0;
	int rc = 0;

	while (!rc && (state = inject_state(work)) < KTR__ASK_DONE && over < INJECT_WAIT_NS) {
		if (state == KTR__ASK_FILE)
			rc = inject_file(work);
		if (over > INJECT_HOLD_NS)
			inject_let_go(work);
		nanosleep(&nap, NULL);
		over = ktr__tracee_wait_now() - began;
	}
	inject_let_go(work);
	if (!rc && state < KTR__ASK_DONE)
		rc = ktr_error_set(
			work->err, ETIMEDOUT,
			"somebody in it holds the loader's or another lock: nothing is done to "
			"it when that is free; try again");
	else if (!rc)
		rc = inject_answer(work);
	inject_state_set(work, KTR__ASK_TAKEN);
	return rc;
}

static int inject_stopped(struct inject_work *work)
{
	int rc = inject_make(work), back = inject_stop_restore(&work->stop);

	work->held = 1;
	if (rc || !work->stop.alone)
		inject_let_go(work);
	if (!rc && back == -ESRCH)
		return ktr_error_set(work->err, ESRCH,
				     "it has ended meanwhile, or become another program");
	return rc ? rc : inject_await(work);
}

int inject_agent(struct inject *inject, struct ktr_error *err)
{
	struct inject_work *work = calloc(1, sizeof(*work));
	int rc;

	if (!work)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	work->inject = inject;
	work->err = err;
	inject->session[0] = '\0';
	inject->was_there = 0;
	inject->refused = 0;
	work->memory = inject_memory_open(inject->pid);
	rc = work->memory < 0 ? inject_forbidden(work, work->memory) : inject_shared(work);
	if (!rc)
		rc = inject_look(work);
	if (!rc) {
		rc = inject_stop_one(inject->pid, work->memory, &work->avoid, &work->stop, err);
		if (rc == -EPERM || rc == -EACCES || rc == -ENOSYS || rc == -EIO || rc == -EINVAL)
			rc = inject_forbidden(work, rc);
		if (!rc)
			rc = inject_stopped(work);
	}
	if (work->memory >= 0)
		close(work->memory);
	free(work);
	return rc;
}
#else
int inject_agent(struct inject *inject, struct ktr_error *err)
{
	(void)inject;
	return ktr_error_set(
		err, ENOTSUP,
		"ktr attach is for x86-64; ktr run --agent starts a program with the agent");
}
#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before main, at fork, at exit.
 *
 * The first module or class that attaches starts the library: a session is made or joined, settings are
 * read (loader.conf, then environment), and whatever they ask for is switched on, so that constructors
 * behind it are traced. That happens silently; only where tracing was asked for and cannot be had does
 * one line on stderr say why. No signal handler is installed.
 *
 * A mask may name application classes that are defined in modules which attach later. Such a mask is
 * put aside and tried again whenever a class is bound; if the executable itself has attached and a name
 * is still unknown, that is the one line.
 */
#include "ktr/record/own.h"

#include "ktr/arch/arch.h"
#include "ktr/session/clock.h"
#include "ktr/session/cpu.h"
#include "ktr/session/kernel.h"
#include "ktr/knob/knobs.h"
#include "ktr/record/own_site.h"
#include "ktr/session/session_find.h"
#include "ktr/load/sweep.h"
#include "ktr/load/writer_hook.h"

#include <ktr/event.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

struct ktr__session_rw ktr__own = { .fd = -1 };
static int start_fork_fd = -1; /* the session, for the child of the fork that is under way */
static const struct ktr__self *start_forking; /* the thread in fork(3), between our handlers */
static bool start_orphan; /* no handler told this process that it is a child: it has no writer */

static struct ktr__knob_context start_context = { .session = &ktr__own, .own = true };
static struct ktr_knobs start_knobs = { .context = &start_context };
static struct ktr_conf start_conf;
static struct ktr_error start_pending; /* the error of settings that were refused at start */
static bool start_unresolved;	       /* one that may be right later: a mask of classes not known yet */
static bool start_telling;	       /* each error is told of */
static const char *start_session_name; /* of ktr_open() */
static bool start_apart; /* meant to share a session, and could not */
static bool start_asked;	       /* somebody asked for tracing */
static int start_state;		       /* 0 not yet, 1 under way, 2 done */

void ktr__complain(const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	if (ktr__own.sealed)
		return;
	n = snprintf(line, sizeof(line), "ktr: ");
	va_start(args, format);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, args);
	va_end(args);
	if ((size_t)n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n + 1) < 0)
		return; /* nobody to tell */
}

bool ktr__start_asked(void)
{
	return start_asked;
}

static void start_complain_error(const char *what, const struct ktr_error *err)
{
	char text[KTR_ERROR_LINE_BYTES];

	ktr__complain("%s: %s", what, ktr_error_print(err, text, sizeof(text)));
}

/* glibc registers every thread for restartable sequences and says where; weak, for C libraries that do
 * not have them. A size of 0 means that the kernel, or a tunable, said no. */
#if KTR_ARCH_HAS_RSEQ
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

bool ktr__rseq_look(ptrdiff_t *offset)
{
	if (!&__rseq_size || !&__rseq_offset || !__rseq_size)
		return false;
	*offset = __rseq_offset;
	return true;
}
#else
bool ktr__rseq_look(ptrdiff_t *offset)
{
	*offset = 0;
	return false;
}
#endif

/*
 * KTR_PATH=thread chooses the path without restartable sequences, to try it or to compare; KTR_PATH=rseq
 * the other, even where the kernel is known to break them.
 */
static bool start_has_rseq(ptrdiff_t *offset)
{
	const char *forced = getauxval(AT_SECURE) ? NULL : getenv("KTR_PATH");

	if (forced && strcmp(forced, "thread") == 0)
		return false;
#if defined(__aarch64__)
	struct utsname name;

	if (!(forced && strcmp(forced, "rseq") == 0) && uname(&name) == 0 && !ktr__release_restarts(name.release))
		return false;
#endif
	return ktr__rseq_look(offset);
}

static const char *start_env(const char *name)
{
	const char *value = getauxval(AT_SECURE) ? NULL : getenv(name);

	return value && value[0] ? value : NULL;
}

/* A session's name: the program's own word, or what the settings say, or NULL. */
static const char *start_given(void)
{
	if (start_apart)
		return NULL;
	return start_session_name ? start_session_name : start_context.name[0] ? start_context.name : NULL;
}

/* The program's name and process id, of the letters a session's name may have. */
static void start_name(char *name, size_t size)
{
	const char *given = start_given();
	size_t n = 0;

	for (const char *p = given ? given : program_invocation_short_name; *p && n < 40 && n + 1 < size; p++)
		name[n++] = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
					    (*p >= '0' && *p <= '9') || strchr("._-", *p) ?
				    *p :
				    '_';
	name[n] = 0;
	if (!n || name[0] == '.')
		name[0] = '_', name[n ? n : 1] = 0;
	if (!given)
		snprintf(name + strlen(name), size - strlen(name), ".%ld", (long)getpid());
}

static int start_session(struct ktr_error *err)
{
	struct ktr__session_plan plan = { 0 };
	char dir[400], name[KTR_SESSION_NAME_MAX];
	ptrdiff_t rseq_offset = 0;
	bool joined;
	int code = ktr__session_dir(geteuid(), dir, sizeof(dir), err);

	if (code)
		return code;
	start_name(name, sizeof(name));
	plan.dir = dir;
	plan.name = name;
	plan.shared_name = start_given() != NULL;
	plan.path = start_has_rseq(&rseq_offset) ? KTR_PATH_RSEQ : KTR_PATH_THREAD;
	plan.clock = ktr__clock_choose(start_context.clock);
	if (!plan.clock)
		return ktr_error_set(err, ENOTSUP, "reading the CPU's clock traps (PR_SET_TSC)");
	ktr__proc_identify(&plan.self);
	ktr__sweep(name);
	code = ktr__session_create(&plan, &ktr__own, &joined, err);
	if (code == -EXDEV) {
		/* A session records by one path; this process gets one of its own and says so. */
		ktr__complain("%s; this process has one of its own", err->text);
		memset(err, 0, sizeof(*err));
		plan.shared_name = false;
		start_apart = true;
		code = ktr__session_create(&plan, &ktr__own, &joined, err);
	}
	ktr__rec.rseq_offset = rseq_offset;
	return code;
}

/* What the usual event needs; control is set last, the cold path looks at it first. */
static void start_hot(void)
{
	ktr__hot.rseq_offset = ktr__rec.rseq_offset;
	ktr__hot.views = ktr__rec.views;
	ktr__hot.rings = ktr__rec.rings;
	ktr__hot.n_rings = ktr__rec.n_rings;
	__atomic_store_n(&ktr__hot.site_ctl, ktr__rec.site_ctl, __ATOMIC_RELEASE);
	__atomic_store_n(&ktr__hot.control, ktr__rec.control, __ATOMIC_RELEASE);
}

/* The private view of the session; path is set last, everything else looks at it first. */
static int start_record(void)
{
	uint32_t n_rings = ktr__own.header.n_rings;
	struct ktr__rec *rec = &ktr__rec;
	int code;

	ktr__cpu_look();
	rec->n_rings = n_rings;
	code = ktr__ring_views();
	if (code)
		return code;
	rec->map = ktr__own.map;
	rec->rings = ktr__own.rings;
	rec->control = ktr__own.control;
	rec->site_ctl = ktr__region_rows(&ktr__own, site_ctl, uint8_t);
	rec->count_stride = ktr__own.header.region[KTR_REGION_site].n_rows;
	rec->clock = ktr__own.header.clock;
	/* Linux 4.14; without it a child that no handler is told of records as its parent. */
	madvise(&ktr__hot, sizeof(ktr__hot), MADV_WIPEONFORK);
	start_hot();
	__atomic_store_n(&rec->path, ktr__own.header.path, __ATOMIC_RELEASE);
	return 0;
}

static void start_report(void *context, const struct ktr_error *err)
{
	(void)context;
	if (err->code == EAGAIN)
		return; /* a name the program may register later */
	/* No descriptor for one file means none for the others. */
	if (start_telling && !(err->code == EMFILE && start_pending.code == EMFILE))
		start_complain_error("settings", err);
	if (!start_pending.code)
		start_pending = *err;
	start_unresolved |= err->code == EINVAL;
}

/* Reads loader.conf files and the environment into the knobs; of errors it tells when asked to. */
static void start_settings(bool tell)
{
	struct ktr_source source;
	struct ktr_load load = { .source = &source, .report = start_report };

	memset(&start_pending, 0, sizeof(start_pending));
	start_unresolved = false;
	start_telling = tell;
	ktr_source_init(&source);
	ktr_conf_load(&start_conf, &load, NULL);
	/* Of the only setting there is the line above has said everything. */
	if (tell && start_pending.code != EMFILE && load.n_kept + load.n_refused != 1)
		ktr__complain("settings: %u kept, %u left out", load.n_kept, load.n_refused);
	start_asked |= start_context.early_mask != 0 || start_pending.code || start_context.file[0] ||
		       start_context.enable == KTR__ENABLE_YES || start_context.early_sites;
}

void ktr__start_retry(bool last)
{
	if (!start_unresolved || ktr__own.sealed)
		return;
	start_settings(false);
	/* What the kernel tells is wanted from now on, and the writer does not know yet. */
	if (!start_unresolved && ktr__own.map && ktr__load_word(&ktr__own.control->kernel))
		ktr__own_flush();
	if (start_pending.code && last) {
		start_settings(true);
		start_unresolved = false;
	}
}

/*
 * One process of a session writes its trace. A process that was given somebody else's KTR_FILE with the
 * session leaves it to that one, as long as it lives.
 */
static bool start_may_write(void)
{
	uint32_t writer = __atomic_load_n(&ktr__own.control->writer, __ATOMIC_ACQUIRE);

	if (start_orphan || start_apart || (writer && ktr__session_other(&ktr__own, writer)))
		return false;
	return __atomic_compare_exchange_n(&ktr__own.control->writer, &writer, (uint32_t)getpid(), 0,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int ktr__writer_enable(struct ktr_error *err)
{
	const char *file = ktr__own.control->alq_file;

	if (!start_may_write())
		return ktr_error_set(err, EBUSY, "another process of the session writes its trace");
	snprintf(start_context.file, sizeof(start_context.file), "%.*s", KTR_ALQ_FILE_MAX - 1,
		 file[0] ? file : "ktr.out");
	memcpy(ktr__own.control->alq_file, start_context.file, sizeof(start_context.file));
	return ktr__writer_start(&ktr__own, start_context.file, err);
}

int ktr__writer_verbose(struct ktr_error *err)
{
	if (!start_may_write())
		return ktr_error_set(err, EBUSY, "another process of the session has the writer thread");
	return ktr__writer_start(&ktr__own, NULL, err);
}

static void start_writer(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int code;

	if (start_context.enable == KTR__ENABLE_YES ||
	    (start_context.enable == KTR__ENABLE_UNSAID && start_context.file[0]))
		code = ktr__writer_enable(&err);
	else if (ktr__load_word(&ktr__own.control->verbose) || ktr__load_word(&ktr__own.control->kernel))
		code = ktr__writer_verbose(&err);
	else
		return;
	if (code == -EBUSY)
		return;
	if (!start_context.early_mask && !start_context.early_sites && !start_unresolved)
		ktr__complain("%s%sno class is recorded: set KTR_MASK or debug.ktr.mask",
			      start_context.file, start_context.file[0] ? ": " : "");
	if (code)
		start_complain_error("no trace", &err);
}

/*
 * The child's open file is made before there is a child: a parent that exits at once would find nobody
 * else in the session, and remove it.
 */
static void start_before_fork(void)
{
	ktr__sites_before_fork();
	__atomic_store_n(&start_forking, &ktr__self, __ATOMIC_RELAXED);
	start_fork_fd = -1; /* one fork at a time, by that lock */
	if (ktr__own.sealed)
		return;
	if (ktr__rec.path)
		start_fork_fd = ktr__session_again(&ktr__own);
	if (!start_orphan)
		ktr__writer_before_fork();
}

static void start_after_fork_parent(void)
{
	if (!start_orphan && !ktr__own.sealed)
		ktr__writer_after_fork_parent();
	__atomic_store_n(&start_forking, NULL, __ATOMIC_RELAXED);
	if (start_fork_fd >= 0)
		close(start_fork_fd);
	start_fork_fd = -1;
	ktr__sites_after_fork();
}

/* Makes our new session what the parent's is: settings, classes, sites with their numbers. */
static bool start_copy(const struct ktr__session_rw *parent)
{
	struct ktr_control *control = ktr__own.control;
	const struct ktr_region *origins = &ktr__own.header.region[KTR_REGION_origin];

	if (start_record() || !ktr__sites_copy(parent))
		return false;
	memcpy(control, parent->control, offsetof(struct ktr_control, n_classes));
	control->gate = control->record = control->asked = 0;
	control->writer = control->rings_open = 0;
	control->cpus_part = parent->control->cpus_part;
	control->follow_fork = parent->control->follow_fork;
	control->sites_change = parent->control->sites_change;
	memcpy(control->sites, parent->control->sites, sizeof(control->sites));
	start_knobs.origins = ktr__region_rows(&ktr__own, origin, struct ktr_origin);
	memcpy(start_knobs.origins, ktr__region_rows(parent, origin, struct ktr_origin), origins->bytes);
	return (!control->count || !ktr__counts_open(&ktr__own, control->n_sites)) &&
	       !ktr__session_mask_set(&ktr__own, parent->control->asked, NULL);
}

/*
 * A child that does not stay in its parent's session. Its gates are shut first, so that nothing of its
 * own, a signal handler's event, comes upon a session that is being changed.
 */
static void start_child_leaves(bool own)
{
	static const uint64_t shut;
	struct ktr__session_rw parent = ktr__own;

	parent.lock = NULL; /* not in a child */
	ktr__sites_gate(&shut);
	__atomic_store_n(&ktr__rec.path, 0, __ATOMIC_RELEASE);
	memset(&ktr__hot, 0, sizeof(ktr__hot)); /* where the kernel has not done so */
	if (!ktr__session_fd_ours(&parent))
		parent.fd = -1;
	memset(&ktr__own, 0, sizeof(ktr__own));
	ktr__own.fd = -1;
	ktr__rec.counts = NULL;
	start_knobs.origins = NULL;
	ktr__table_forget();
	start_apart = true;
	if (own && start_session(NULL) == 0) {
		if (start_copy(&parent)) {
			ktr__proc_fork_child(&parent);
			ktr__sites_gate(&ktr__own.control->gate);
		} else {
			ktr__rec.path = 0;
			unlink(ktr__own.path);
			ktr__session_detach(&ktr__own);
		}
	}
	start_apart = false;
	ktr__session_detach(&parent);
}

/*
 * The thread that called fork has become another. Events of it that a handler interrupted, and then forked in, go
 * on here in their parent's rings: those stay in their levels until the levels are used anew (ring.c). rseq_cs may
 * still be ours (Linux 6.19), so here must be of no CPU.
 */
static void start_self_forked(struct ktr__self *self)
{
	self->forks++;
	self->armed = 0;
	self->own = 0;
	self->row = 0;
	self->no_ring = 0;
	self->here_cpu = UINT32_MAX;
	self->here.geom = 0;
	self->forked = self->nest < KTR_LEVELS ? self->nest : 0;
	for (int i = 0; i < KTR_LEVELS; i++)
		self->level[0][i].at.geom = self->level[1][i].at.geom = 0;
	for (uint32_t i = self->forked; i < KTR_LEVELS; i++)
		self->level[0][i].at.ring = self->level[1][i].at.ring = NULL;
}

/*
 * The child is a process of its own in the same session: another row, another thread; it populates
 * rings for itself, and on the thread path it must leave its parent's rings alone. The writer stays
 * with the parent.
 */
static void start_child_stays(int fd)
{
	ktr__ring_forget();
	ktr__own.records = false;
	ktr__session_reopen(&ktr__own, fd);
	ktr__proc_fork_child(&ktr__own);
	start_hot();
}

/* A child whose writer may have an heir. If debug.ktr.follow_fork says so it leaves the session. */
static void start_after_fork_child(void)
{
	int saved = errno, fd = start_fork_fd;

	start_fork_fd = -1;
	start_asked = false; /* what there is to complain about, the parent does */
	start_self_forked(&ktr__self);
	if (ktr__own.sealed) {
		/* Who it is nobody may ask: it records nothing. */
		start_orphan = true;
		memset(&ktr__hot, 0, sizeof(ktr__hot));
	} else if (ktr__rec.path && ktr__own.control->follow_fork) {
		close(fd);
		start_child_leaves(ktr__own.control->follow_fork == KTR_FOLLOW_OWN);
	} else if (ktr__rec.path) {
		start_child_stays(fd);
	} else if (fd >= 0) {
		close(fd);
	}
	ktr__thread_mark();
	if (!start_orphan)
		ktr__writer_after_fork_child();
	__atomic_store_n(&start_forking, NULL, __ATOMIC_RELAXED);
	ktr__sites_after_fork();
	if (!ktr__own.sealed)
		CTR2(KTR_PROC, "process %d forked from %d", (int)getpid(), (int)getppid());
	errno = saved;
}

/*
 * As start_after_fork_child(), in the middle of an event and perhaps of a handler of a signal, where no lock may be
 * taken and no thread started: this process goes without a writer. Of several events at once the first one does
 * it; the others are dropped. An event between the birth of a child and our handler is, too, and one of a child
 * that debug.ktr.follow_fork does not leave in its parent's session, or whose parent is in a sandbox.
 */
bool ktr__start_adopt(void)
{
	uint32_t no = 0;

	if (__atomic_load_n(&start_forking, __ATOMIC_RELAXED) == &ktr__self || ktr__own.sealed ||
	    __atomic_load_n(&ktr__own.control->follow_fork, __ATOMIC_RELAXED) ||
	    !__atomic_compare_exchange_n(&ktr__hot.adopting, &no, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		ktr__count_drop(&ktr__own.control->drop_closed);
		return false;
	}
	start_orphan = true;
	start_asked = false;
	start_forking = NULL;
	start_fork_fd = -1;
	start_self_forked(&ktr__self);
	start_child_stays(ktr__session_again(&ktr__own));
	return true;
}

/*
 * A plugin with a copy of the library in it stays mapped when it is closed: other threads have a key with
 * our destructor, and perhaps a restartable sequence of ours that the kernel looks at when they are next
 * interrupted. Code for executables needs none of it, and a static one has no loader.
 */
static void start_stay(void)
{
#if defined(__PIC__) && !defined(__PIE__)
	struct ktr__object object;

	if (ktr__object_find(&ktr__own, &object) && !object.executable)
		dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

static void start_everything(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int code;

	start_knobs.rows = ktr__knob_rows;
	start_knobs.n_rows = ktr__n_knob_rows;
	ktr_conf_register(&start_conf, &start_knobs, NULL);
	/* Of the settings the session's name is wanted now; the others are made when there is a session. */
	start_settings(false);
	code = start_session(&err);
	if (!code && (code = start_record())) {
		ktr_error_set(&err, -code, "%m");
		unlink(ktr__own.path);
		ktr__session_detach(&ktr__own);
	}
	if (!code)
		start_knobs.origins = ktr__region_rows(&ktr__own, origin, struct ktr_origin);
	if (!code) {
		start_stay();
		ktr__threads_start();
		ktr__proc_register();
		pthread_atfork(start_before_fork, start_after_fork_parent, start_after_fork_child);
	}
	start_settings(false);
	if (code) {
		if (start_asked || code == -EALREADY)
			start_complain_error("not traced", &err);
		return;
	}
	/* The kernel's classes are there once they have been asked for, which a mask may have come before. */
	if (start_unresolved && ktr__load_word(&ktr__own.control->kernel))
		start_settings(false);
	if (start_pending.code && !start_unresolved)
		start_settings(true);
	start_writer();
}

/*
 * Runs once, in the first constructor that gets here; constructors are serialised by the loader. What
 * attaches while it runs (our own module) waits for nothing and finds the session or none.
 */
void ktr__start_once(void)
{
	int none = 0;

	if (likely(__atomic_load_n(&start_state, __ATOMIC_ACQUIRE)))
		return;
	if (!__atomic_compare_exchange_n(&start_state, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	if (!start_env("KTR_DISABLE") || strcmp(start_env("KTR_DISABLE"), "0") == 0) {
		int saved = errno;

		start_everything();
		ktr_start();
		errno = saved;
	}
	__atomic_store_n(&start_state, 2, __ATOMIC_RELEASE);
	CTR2(KTR_PROC, "process %d started: %s", (int)getpid(), program_invocation_short_name);
}

void ktr__start_with(const char *session)
{
	start_session_name = session;
	ktr__start_once();
	start_session_name = NULL;
}

int ktr__own_flush(void)
{
	return start_orphan ? -ESRCH : ktr__writer_flush();
}

/* In a sandbox the writer notices by itself, within a tenth of a second; nobody asks the kernel meanwhile. */
#define START_LEAVES_NS 10000000000ull

void ktr__own_stop(void)
{
	uint64_t until = ktr__own.sealed ? ktr__sandbox_now_ns() + START_LEAVES_NS : 0;

	if (start_orphan)
		return;
	if (!ktr__own.sealed)
		ktr__writer_stop();
	else
		while (!ktr__writer_leave() && ktr__sandbox_now_ns() < until)
			;
}

struct ktr_conf *ktr__own_conf(void)
{
	return &start_conf;
}

/* What was asked for and never met a call site: an empty trace shall not go without a word. */
static void start_unmatched(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	uint64_t asked = ktr__load_word(&ktr__own.control->asked);
	char mask[256];

	if (!start_asked || ktr__site_refused)
		return;
	if (asked && !(asked & ktr__session_classes(&ktr__own)) &&
	    ktr_conf_get(&start_conf, "debug.ktr.mask", mask, sizeof(mask), NULL) == 0)
		ktr__complain("debug.ktr.mask: no call site was of class %s", mask);
	if (ktr__rules_check(&ktr__own, &err))
		start_complain_error("debug.ktr.sites", &err);
	ktr__probes_unmatched();
}

/*
 * A clean exit: the writer drains, rows say that the process has ended, and the session goes unless it
 * was asked to stay, a trace is not there to replace it, or somebody else is still in it.
 */
__attribute__((destructor(101))) static void start_exit(void)
{
	/* A child that has recorded nothing, and that nobody told of, has nothing to end (nor on old kernels). */
	if (!ktr__rec.path || !ktr__hot.control || (!ktr__own.sealed && ktr__rec.pid != (uint32_t)getpid()))
		return;
	if (!ktr__own.sealed && ktr__session_cut(&ktr__own)) {
		ktr__own_stop();
		return;
	}
	CTR1(KTR_PROC, "process %d exits", (int)ktr__rec.pid);
	if (ktr__load_word(&ktr__own.control->freeze_on) & KTR_FREEZE_ON_EXIT)
		ktr__session_freeze(KTR_FROZE_EXIT);
	if (!ktr__own.sealed) {
		ktr__start_retry(true);
		start_unmatched();
	}
	ktr__proc_exit();
	ktr__own_stop();
	/* What a writer that was killed has not written yet is in the session alone. */
	if (!ktr__own.sealed && !ktr__own.control->keep_session && ktr__session_alone(&ktr__own) &&
	    !(ktr__own.control->writer && ktr__own.control->alq_enable))
		unlink(ktr__own.path);
}

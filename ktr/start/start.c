/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before main and at exit.
 *
 * The first module or class that attaches starts the library: a session is made or joined, settings are
 * read (loader.conf, then environment), and whatever they ask for is switched on, so that constructors
 * after it are traced. That happens silently; only where tracing was asked for and cannot be had does
 * one line on stderr say why. No signal handler is installed.
 */
#include "ktr/start/start.h"

#include "ktr/control/mask.h"
#include "ktr/control/rules.h"
#include "ktr/control/session_join.h"
#include "ktr/control/stats.h"
#include "ktr/knob/probes_asked.h"
#include "ktr/knob/settings.h"
#include "ktr/knob/writer_start.h"
#include "ktr/load/sweep.h"
#include "ktr/record/begin.h"
#include "ktr/record/freeze.h"
#include "ktr/record/module.h"
#include "ktr/record/own.h"
#include "ktr/record/proc.h"
#include "ktr/record/rseq.h"
#include "ktr/record/thread.h"
#include "ktr/session/clock.h"
#include "ktr/session/session_again.h"
#include "ktr/session/session_find.h"
#include "ktr/session/session_map.h"
#include "ktr/start/attach.h"
#include "ktr/start/fork.h"

#include <ktr/event.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char *start_session_name; /* of ktr_open() */
static int start_state;		       /* 0 not yet, 1 under way, 2 done */

static const char *start_env(const char *name)
{
	const char *value = getauxval(AT_SECURE) ? NULL : getenv(name);

	return value && value[0] ? value : NULL;
}

/* A session's name: the program's own word, or what the settings say, or NULL. */
static const char *start_given(void)
{
	if (ktr__own_apart)
		return NULL;
	if (start_session_name)
		return start_session_name;
	return ktr__settings.context.name[0] ? ktr__settings.context.name : NULL;
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

int ktr__start_session(struct ktr_error *err)
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
	plan.path = ktr__rseq_wanted(&rseq_offset) ? KTR_PATH_RSEQ : KTR_PATH_THREAD;
	plan.clock = ktr__clock_choose(ktr__settings.context.clock);
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
		ktr__own_apart = true;
		code = ktr__session_create(&plan, &ktr__own, &joined, err);
	}
	ktr__rec.rseq_offset = rseq_offset;
	return code;
}

static void start_writer(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int code;

	if (ktr__settings.context.enable == KTR__ENABLE_YES ||
	    (ktr__settings.context.enable == KTR__ENABLE_UNSAID && ktr__settings.context.file[0]))
		code = ktr__writer_enable(&err);
	else if (ktr__load_word(&ktr__own.control->verbose) || ktr__load_word(&ktr__own.control->kernel))
		code = ktr__writer_verbose(&err);
	else
		return;
	if (code == -EBUSY)
		return;
	if (!ktr__settings.context.early_mask && !ktr__settings.context.early_sites && !ktr__settings.unresolved)
		ktr__complain("%s%sno class is recorded: set KTR_MASK or debug.ktr.mask",
			      ktr__settings.context.file, ktr__settings.context.file[0] ? ": " : "");
	if (code)
		ktr__complain_error("no trace", &err);
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

	ktr__settings_begin();
	/* Of the settings the session's name is wanted now; the others are made when there is a session. */
	ktr__settings_read(false);
	code = ktr__start_session(&err);
	if (!code && (code = ktr__begin())) {
		ktr_error_set(&err, -code, "%m");
		unlink(ktr__own.path);
		ktr__session_detach(&ktr__own);
	}
	if (!code)
		ktr__settings_origins(ktr__region_rows(&ktr__own, origin, struct ktr_origin));
	if (!code) {
		start_stay();
		ktr__threads_start();
		ktr__proc_register();
		ktr__fork_start();
	}
	ktr__settings_read(false);
	if (code) {
		if (ktr__own_asked || code == -EALREADY)
			ktr__complain_error("not traced", &err);
		return;
	}
	/* The kernel's classes are there once they have been asked for, which a mask may have come before. */
	if (ktr__settings.unresolved && ktr__load_word(&ktr__own.control->kernel))
		ktr__settings_read(false);
	if (ktr__settings.pending.code && !ktr__settings.unresolved)
		ktr__settings_read(true);
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

/* What was asked for and never met a call site: an empty trace shall not go without a word. */
static void start_unmatched(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	uint64_t asked = ktr__load_word(&ktr__own.control->asked);
	char mask[256];

	if (!ktr__own_asked || ktr__attach_refused)
		return;
	if (asked && !(asked & ktr__session_classes(&ktr__own)) &&
	    ktr_conf_get(&ktr__settings.conf, "debug.ktr.mask", mask, sizeof(mask), NULL) == 0)
		ktr__complain("debug.ktr.mask: no call site was of class %s", mask);
	if (ktr__rules_check(&ktr__own, &err))
		ktr__complain_error("debug.ktr.sites", &err);
	ktr__probes_unmatched();
}

/*
 * The last one out. The session goes, unless it has what the trace has not: a writer was killed, or others have
 * recorded since its last round, as threads do that go on until the process is no more.
 */
static void start_leave(struct ktr_control *control)
{
	if (!control->alq_enable || (!control->writer && ktr__session_recorded(&ktr__own) <= control->writer_took))
		unlink(ktr__own.path);
	else if (!control->writer)
		control->keep_session = KTR_KEEP_UNWRITTEN;
}

/*
 * A clean exit: the writer drains, rows say that the process has ended, and the session goes unless it was asked to
 * stay, somebody looks after it, a trace is not there to replace it, or somebody else is still in it.
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
		ktr__settings_retry(true);
		start_unmatched();
	}
	ktr__proc_exit();
	ktr__own_stop();
	if (!ktr__own.sealed && !ktr__own.control->keep_session && !ktr__session_attended(ktr__own.path) &&
	    ktr__session_alone(&ktr__own))
		start_leave(ktr__own.control);
}

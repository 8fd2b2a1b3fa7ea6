/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork(2): the child is another process of its parent's session, or leaves it, as debug.ktr.follow_fork says.
 * Where no handler runs, for _Fork(3) and system calls made directly, ktr__begin_adopt() does what is needed.
 */
#include "ktr/start/fork.h"

#include "ktr/control/counts.h"
#include "ktr/control/mask.h"
#include "ktr/control/session_join.h"
#include "ktr/knob/settings.h"
#include "ktr/load/writer_hook.h"
#include "ktr/record/begin.h"
#include "ktr/record/own.h"
#include "ktr/record/proc.h"
#include "ktr/record/site.h"
#include "ktr/record/thread.h"
#include "ktr/session/clock.h"
#include "ktr/session/session_again.h"
#include "ktr/start/attach.h"
#include "ktr/start/start.h"

#include <ktr/event.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int fork_fd = -1; /* the session, for the child of the fork that is under way */

/*
 * The child's open file is made before there is a child: a parent that exits at once would find nobody
 * else in the session, and remove it.
 */
static void fork_before(void)
{
	ktr__sites_lock();
	ktr__begin_forking(&ktr__self);
	fork_fd = -1; /* one fork at a time, by that lock */
	if (ktr__own.sealed)
		return;
	if (ktr__rec.path)
		fork_fd = ktr__session_again(&ktr__own);
	if (!ktr__own_orphan)
		ktr__writer_before_fork();
}

static void fork_parent(void)
{
	if (!ktr__own_orphan && !ktr__own.sealed)
		ktr__writer_after_fork_parent();
	ktr__begin_forking(NULL);
	if (fork_fd >= 0)
		close(fork_fd);
	fork_fd = -1;
	ktr__sites_unlock();
}

/* Makes our new session what the parent's is: settings, classes, sites with their numbers. */
static bool fork_copy(const struct ktr__session_rw *parent)
{
	struct ktr_control *control = ktr__own.control;
	const struct ktr_region *origins = &ktr__own.header.region[KTR_REGION_origin];

	if (ktr__begin() || !ktr__sites_copy(parent))
		return false;
	/* With the number of changes, which grows below: no site is ready for that. */
	memcpy(control, parent->control, offsetof(struct ktr_control, n_classes));
	control->gate = control->record = control->asked = 0;
	control->writer = control->rings_open = 0;
	control->cpus_part = parent->control->cpus_part;
	control->follow_fork = parent->control->follow_fork;
	control->freeze_after = parent->control->freeze_after;
	control->freeze_on = parent->control->freeze_on;
	control->verbose_to = parent->control->verbose_to;
	control->alq_max = parent->control->alq_max;
	control->sites_change = parent->control->sites_change;
	control->fbt_within = parent->control->fbt_within;
	memcpy(&control->budget, &parent->control->budget, sizeof(*control) - offsetof(struct ktr_control, budget));
	memcpy(control->sites, parent->control->sites, sizeof(control->sites));
	memcpy(ktr__region_rows(&ktr__own, trigger, struct ktr_trigger),
	       ktr__region_rows(parent, trigger, struct ktr_trigger), offsetof(struct ktr_trigger, why));
	ktr__settings_origins(ktr__region_rows(&ktr__own, origin, struct ktr_origin));
	memcpy(ktr__settings.knobs.origins, ktr__region_rows(parent, origin, struct ktr_origin), origins->bytes);
	return (!control->count || !ktr__counts_open(&ktr__own, control->n_sites)) &&
	       !ktr__session_mask_set(&ktr__own, parent->control->asked, NULL);
}

/*
 * A child that does not stay in its parent's session. Its gates are shut first, so that nothing of its
 * own, a signal handler's event, comes upon a session that is being changed.
 */
static void fork_leaves(bool own)
{
	static const uint64_t shut;
	struct ktr__session_rw parent = ktr__own;

	parent.lock = NULL; /* not in a child */
	ktr__attach_gate(&shut);
	__atomic_store_n(&ktr__rec.path, 0, __ATOMIC_RELEASE);
	memset(&ktr__hot, 0, sizeof(ktr__hot)); /* where the kernel has not done so */
	if (!ktr__session_fd_ours(&parent))
		parent.fd = -1;
	memset(&ktr__own, 0, sizeof(ktr__own));
	ktr__own.fd = -1;
	ktr__rec.counts = NULL;
	ktr__settings_origins(NULL);
	ktr__table_forget();
	ktr__own_apart = true;
	if (own && ktr__start_session(NULL) == 0) {
		if (fork_copy(&parent)) {
			ktr__proc_fork_child(&parent);
			ktr__attach_gate(&ktr__own.control->gate);
		} else {
			ktr__rec.path = 0;
			unlink(ktr__own.path);
			ktr__session_detach(&ktr__own);
		}
	}
	ktr__own_apart = false;
	ktr__session_detach(&parent);
}

/* A child; the writer may be handed over to it. If debug.ktr.follow_fork says so it leaves the session. */
static void fork_child(void)
{
	int saved = errno, fd = fork_fd;

	fork_fd = -1;
	ktr__own_asked = false; /* what there is to complain about, the parent does */
	ktr__begin_forked(&ktr__self);
	if (!ktr__own.sealed)
		ktr__clock_forget();
	if (ktr__own.sealed) {
		/* Who it is nobody may ask: it records nothing. */
		ktr__own_orphan = true;
		memset(&ktr__hot, 0, sizeof(ktr__hot));
	} else if (ktr__rec.path && ktr__own.control->follow_fork) {
		close(fd);
		fork_leaves(ktr__own.control->follow_fork == KTR_FOLLOW_OWN);
	} else if (ktr__rec.path) {
		ktr__begin_child(fd);
	} else if (fd >= 0) {
		close(fd);
	}
	ktr__thread_mark();
	if (!ktr__own_orphan)
		ktr__writer_after_fork_child();
	ktr__begin_forking(NULL);
	ktr__sites_unlock();
	if (!ktr__own.sealed)
		CTR2(KTR_PROC, "process %d forked from %d", (int)getpid(), (int)getppid());
	errno = saved;
}

void ktr__fork_start(void)
{
	pthread_atfork(fork_before, fork_parent, fork_child);
}

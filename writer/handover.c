/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Successors: a forked child goes on with the trace of a parent that has gone, as daemons need it.
 *
 * The child of a process that writes, and has no thread but the writer's, gets a thread that sleeps until
 * nobody writes the trace any more, and then resumes it where it ends. Whether somebody does is told by the lock
 * on the trace, and by control.writer_ends, not by the life of a process: a parent whose writer has ended may
 * live on, and from another pid namespace it cannot be seen at all. Its death (pidfd_open(2)) wakes the thread at
 * once where it can be seen. Of several successors one gets the trace, by the lock, and the others wait for
 * that one. Like the writer a successor blocks all signals and has its own descriptors; root and working
 * directory are its own too, so that a daemon may chroot(2) before its parent has gone.
 *
 * Before fork(2) the writer's lock is taken, so that the child finds the struct whole. The thread tells
 * that it has ended by WRITER_ENDED: whoever starts or stops a writer next joins it.
 */
#include "writer/handover.h"

#include "ktr/load/writer_hook.h"
#include "ktr/session/kernel.h"
#include "ktr/session/libc.h"
#include "writer/writer.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HANDOVER_NAP_NS   5000000 /* what executes another program soon is spared the work */
/* Between two looks whether the process still has threads, and wants no writer of its own: 0.02 % of a core. */
#define HANDOVER_LOOK_MS  250
#define HANDOVER_RETRY_NS 100000000
#define HANDOVER_AWAIT_NS 1000000000ull /* at most, of an exit; a last round takes a few ms */

/* The session's control page. Not through the mapping: see control.c. */
static int handover_control(struct ktr_control *control)
{
	struct ktr__session_map map;
	int rc = ktr__map_open(ktr__writer.session->path, 0, &map, NULL);

	if (rc)
		return rc;
	rc = ktr__map_control(&map, control);
	ktr__map_close(&map);
	return rc;
}

/* Waits so long for the end of the process that writes. 1 when it has ended, 0: not known. */
static int handover_gone(pid_t pid, int timeout_ms)
{
	struct pollfd wait = { -1, POLLIN, 0 };
	int n, code;

	if (ktr__writer.kin)
		wait.fd = ktr__pidfd_open(pid);
	code = errno;
	if (ktr__writer.kin && wait.fd < 0 && code == ESRCH)
		return 1;
	n = poll(&wait, 1, timeout_ms); /* of -1 it takes no notice */
	if (wait.fd >= 0)
		close(wait.fd);
	return n > 0;
}

/* It has ended, or is about to: no round of its writer comes any more. */
static bool handover_goes(pid_t pid)
{
	return handover_gone(pid, 0) || (ktr__writer.kin && ktr__proc_exits((uint32_t)pid));
}

/*
 * Is the trace there for who takes it? gone: the process that wrote it has ended. Another successor may write
 * by now; in another pid namespace its number is nobody's, or a stranger's, who wakes us too soon at worst.
 */
static bool handover_free(int gone)
{
	struct ktr_control control;
	int locked = ktr__trace_locked(ktr__writer.full_path);

	if (locked < 0 || handover_control(&control))
		return gone; /* trying tells why not */
	if (locked && control.writer)
		__atomic_store_n(&ktr__writer.pid, (pid_t)control.writer, __ATOMIC_RELAXED);
	return !locked && (gone || (control.alq_enable && control.writer_ends != KTR_WRITER_CLOSES));
}

/* Sleeps until the trace is free. 0, -ECANCELED: nobody wants the successor any more. */
static int handover_sleep(struct ktr__writer_thread *self)
{
	const struct timespec nap = { 0, HANDOVER_RETRY_NS };
	int gone = 0;

	for (;;) {
		self->alone = ktr__last_look(&self->last);
		if (self->alone || __atomic_load_n(&ktr__writer.state, __ATOMIC_RELAXED) != WRITER_SUCCESSOR)
			return -ECANCELED;
		if (handover_free(gone))
			return 0;
		if (gone) /* and yet somebody writes: another successor */
			nanosleep(&nap, NULL);
		gone = handover_gone(ktr__writer.pid, gone ? 0 : HANDOVER_LOOK_MS);
	}
}

/*
 * We may not open the trace any more. Is there somebody who may, and takes over when he is told? Otherwise what is
 * recorded stays in the session, which who ends last may not remove either, and the user is told.
 */
static void handover_refused(struct ktr__writer_thread *self, int rc)
{
	uint32_t *ends = &ktr__writer.session->control->writer_ends;
	const struct timespec nap = { 0, HANDOVER_NAP_NS };
	uint64_t until = ktr__drain_now() + HANDOVER_AWAIT_NS;
	char line[PATH_MAX + 200];

	/* Of several successors one asks. */
	if ((rc != -EACCES && rc != -EPERM) ||
	    __atomic_exchange_n(ends, KTR_WRITER_YIELDS, __ATOMIC_ACQ_REL) == KTR_WRITER_YIELDS)
		return;
	while (__atomic_load_n(ends, __ATOMIC_ACQUIRE) == KTR_WRITER_YIELDS && ktr__drain_now() < until)
		nanosleep(&nap, NULL);
	if (__atomic_load_n(ends, __ATOMIC_ACQUIRE) != KTR_WRITER_YIELDS)
		return;
	snprintf(line, sizeof(line), "%s: its writer has ended, and no successor may go on with it: %s; recording goes on in memory",
		 ktr__writer.full_path, strerror(-rc));
	if (self->message.proc_fd < 0)
		ktr__message_open(&self->message);
	ktr__message_say(&self->message, line);
}

/* Nobody writes. 0, -EBUSY: another successor has the trace, -errno. */
static int handover_take(struct ktr__writer_thread *self)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_control control;
	int rc = handover_control(&control);

	/* Nothing is taken over that was ended on purpose. */
	if (rc) {
		handover_refused(self, rc);
		return rc;
	}
	if (!control.alq_enable)
		return -ECANCELED;
	ktr__writer.err = &err;
	rc = ktr__writer_open(self, KTR__DRAIN_RESUME);
	ktr__writer.err = NULL;
	if (rc == -EACCES || rc == -EPERM)
		handover_refused(self, rc);
	else if (rc && rc != -EBUSY)
		ktr__message_say(&self->message, err.text);
	if (rc)
		ktr__writer_shut(self);
	return rc;
}

int ktr__handover_wait(struct ktr__writer_thread *self)
{
	struct timespec nap = { 0, HANDOVER_NAP_NS };
	int rc;

	/* Without it a relative path or another root is what the host makes of it. */
	unshare(CLONE_FS);
	pthread_mutex_lock(&ktr__writer.lock);
	ktr__writer.apart = true;
	pthread_cond_broadcast(&ktr__writer.done);
	pthread_mutex_unlock(&ktr__writer.lock);
	nanosleep(&nap, NULL);
	rc = ktr__writer_own_descriptors(self);
	nap.tv_nsec = HANDOVER_RETRY_NS;
	while (!rc) {
		rc = handover_sleep(self);
		if (!rc)
			rc = handover_take(self);
		if (rc != -EBUSY)
			break;
		nanosleep(&nap, NULL);
		rc = 0;
	}
	return rc;
}

/*
 * A writer that has not begun its last round takes what is recorded by now, and goes on or is killed: then the
 * session is left. Of one that has, the trace is free soon, and our thread takes it; who is stopped meanwhile, or
 * writes to what is slow, is not waited for.
 */
void ktr__handover_await(void)
{
	struct ktr_control *control = ktr__writer.session ? ktr__writer.session->control : NULL;
	uint64_t until = ktr__drain_now() + HANDOVER_AWAIT_NS;

	while (control && ktr__writer.state == WRITER_SUCCESSOR && ktr__drain_now() < until &&
	       (__atomic_fetch_add(&control->writer_ends, 0, __ATOMIC_SEQ_CST) == KTR_WRITER_LEAVES ||
		(control->writer && handover_goes((pid_t)control->writer)))) {
		struct timespec ts = ktr__writer_until(10000000);

		pthread_cond_timedwait(&ktr__writer.done, &ktr__writer.lock, &ts);
	}
}

/*
 * Successors are for programs that become daemons, or fork workers. Those with threads of their own fork to
 * execute, and are spared a thread in the child.
 */
void ktr__writer_before_fork(void)
{
	struct stat st;

	pthread_mutex_lock(&ktr__writer.lock);
	/* A directory has a link for each in it, itself and its parent: the main thread's and the writer's. */
	ktr__writer.can_hand_over = (ktr__writer.state == WRITER_RUNNING ||
				    ktr__writer.state == WRITER_SUCCESSOR) &&
				   ktr__writer.path && stat("/proc/self/task", &st) == 0 &&
				   st.st_nlink == 4;
	ktr__writer.forks = getpid();
	ktr__writer.control = ktr__writer.can_hand_over ? ktr__writer.session->control : NULL;
}

void ktr__writer_after_fork_parent(void)
{
	pthread_mutex_unlock(&ktr__writer.lock);
}

/* The thread is the parent's. Its memory is not here (MADV_DONTFORK) or is small. */
void ktr__writer_after_fork_child(void)
{
	ktr__verbose_close(ktr__writer.verbose);
	ktr__writer.verbose = NULL;
	ktr__writer_renew();
	ktr__last_forget();
	ktr__writer.state = WRITER_NONE;
	/* A child that has left its parent's session (debug.ktr.follow_fork) has nothing to do with its trace. */
	if (!ktr__writer.can_hand_over || ktr__writer.control != ktr__writer.session->control)
		return;
	/* 0, or who takes orphans: our parent's numbers are not ours, or it has gone already. */
	if (getppid() != ktr__writer.forks)
		ktr__writer.kin = ktr__writer.pid_ns && ktr__proc_own_ns() == ktr__writer.pid_ns;
	ktr__writer.apart = false;
	ktr__writer.state = WRITER_SUCCESSOR;
	if (ktr__writer_create(&ktr__writer)) {
		ktr__writer.state = WRITER_NONE;
		return;
	}
	/* The host may be about to enter another mount namespace, which who shares root and directory may not. */
	pthread_mutex_lock(&ktr__writer.lock);
	while (!ktr__writer.apart)
		pthread_cond_wait(&ktr__writer.done, &ktr__writer.lock);
	pthread_mutex_unlock(&ktr__writer.lock);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heirs: a forked child goes on with the trace of a parent that has gone, as daemons need it.
 *
 * The child of a process that writes, and has no thread but the writer's, gets a thread that sleeps until
 * the writer's process has ended, by whatever death (pidfd_open(2)), and then resumes the trace where that
 * ends. Of several heirs one gets it, by the lock on the trace, and the others wait for that one. Like the
 * writer an heir blocks all signals and has its own descriptors; root and working directory are its own
 * too, so that a daemon may chroot(2) before its parent has gone.
 *
 * Before fork(2) the writer's lock is taken, so that the child finds the struct whole. The thread tells
 * that it has ended by WRITER_ENDED: whoever starts or stops a writer next joins it.
 */
#include "writer/writer.h"

#include "ktr/libc.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEIR_NAP_NS   5000000 /* what executes another program soon is spared the work */
/* Between two looks whether the process still has threads, and wants no writer of its own: 0.02 % of a core. */
#define HEIR_LOOK_MS  250
#define HEIR_RETRY_NS 100000000

/* Waits so long for the end of the process whose writer we are to follow. 1 when it has ended, 0, -errno. */
static int heir_gone(int timeout_ms)
{
	struct pollfd wait = { ktr__pidfd_open(__atomic_load_n(&ktr__writer.pid, __ATOMIC_RELAXED)),
			       POLLIN, 0 };
	int n;

	if (wait.fd < 0)
		return errno == ESRCH ? 1 : -errno;
	n = poll(&wait, 1, timeout_ms);
	close(wait.fd);
	return n > 0;
}

/* Sleeps until the writer's process has ended. 0, -ECANCELED: nobody wants the heir any more, -errno. */
static int heir_sleep(struct ktr__writer_thread *self)
{
	int rc = 0;

	while (!rc) {
		self->alone = ktr__last_look(&self->last);
		if (self->alone || __atomic_load_n(&ktr__writer.state, __ATOMIC_RELAXED) != WRITER_HEIR)
			return -ECANCELED;
		rc = heir_gone(HEIR_LOOK_MS);
	}
	return rc < 0 ? rc : 0;
}

/* The session's control page. Not through the mapping: see control.c. */
static int heir_control(struct ktr_control *control)
{
	struct ktr__session_map map;
	int rc = ktr__map_open(ktr__writer.session->path, 0, &map, NULL);

	if (rc)
		return rc;
	rc = ktr__map_control(&map, control);
	ktr__map_close(&map);
	return rc;
}

/* The writer's process has ended. 0, -EBUSY: another heir has the trace, -errno. */
static int heir_take(struct ktr__writer_thread *self)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_control control;
	int rc = heir_control(&control);

	/* Nothing is taken over that was ended on purpose. */
	if (rc || !control.alq_enable)
		return rc ? rc : -ECANCELED;
	ktr__writer.err = &err;
	rc = ktr__writer_open(self, KTR__DRAIN_RESUME);
	ktr__writer.err = NULL;
	if (rc && rc != -EBUSY)
		ktr__voice_say(&self->voice, err.text);
	if (rc)
		ktr__writer_shut(self);
	if (rc == -EBUSY && heir_control(&control) == 0 && control.writer)
		__atomic_store_n(&ktr__writer.pid, (pid_t)control.writer, __ATOMIC_RELAXED);
	return rc;
}

int ktr__heir_wait(struct ktr__writer_thread *self)
{
	struct timespec nap = { 0, HEIR_NAP_NS };
	int rc;

	unshare(CLONE_FS); /* without it a relative path or another root is what the host makes of it */
	nanosleep(&nap, NULL);
	rc = ktr__writer_own_descriptors(self);
	nap.tv_nsec = HEIR_RETRY_NS;
	while (!rc) {
		rc = heir_sleep(self);
		if (!rc)
			rc = heir_take(self);
		if (rc != -EBUSY)
			break;
		nanosleep(&nap, NULL);
		rc = 0;
	}
	return rc;
}

void ktr__heir_await(void)
{
	while (ktr__writer.state == WRITER_HEIR && heir_gone(0) > 0) {
		struct timespec ts = ktr__writer_until(10000000);

		pthread_cond_timedwait(&ktr__writer.done, &ktr__writer.lock, &ts);
	}
}

/*
 * Heirs are for programs that become daemons, or fork workers. Those with threads of their own fork to
 * execute, and are spared a thread in the child.
 */
void ktr__writer_before_fork(void)
{
	struct stat st;

	pthread_mutex_lock(&ktr__writer.lock);
	/* A directory has a link for each in it, itself and its parent: the main thread's and the writer's. */
	ktr__writer.may_bequeath = (ktr__writer.state == WRITER_RUNNING ||
				    ktr__writer.state == WRITER_HEIR) &&
				   ktr__writer.path && stat("/proc/self/task", &st) == 0 &&
				   st.st_nlink == 4;
	ktr__writer.control = ktr__writer.may_bequeath ? ktr__writer.session->control : NULL;
}

void ktr__writer_after_fork_parent(void)
{
	pthread_mutex_unlock(&ktr__writer.lock);
}

/* The thread is the parent's. Its memory is not here (MADV_DONTFORK) or is small. */
void ktr__writer_after_fork_child(void)
{
	ktr__echo_close(ktr__writer.echo);
	ktr__writer.echo = NULL;
	ktr__writer_renew();
	ktr__last_forget();
	ktr__writer.state = WRITER_NONE;
	/* A child that has left its parent's session (debug.ktr.follow_fork) has nothing to do with its trace. */
	if (!ktr__writer.may_bequeath || ktr__writer.control != ktr__writer.session->control)
		return;
	ktr__writer.state = WRITER_HEIR;
	if (ktr__writer_create(&ktr__writer))
		ktr__writer.state = WRITER_NONE;
}

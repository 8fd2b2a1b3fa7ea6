/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each refusal names the rule and a way out. Rules of the kernel: ptrace(2), "Ptrace access mode checking", and
 * Documentation/admin-guide/LSM/Yama.rst.
 */
#include "tools/attach/attach_refuse.h"

#include <errno.h>
#include <signal.h>

/* What else there is for who wants more than to look at it. */
static const char *refuse_instead(const struct attach_facts *facts)
{
	return facts->is_looked_at ? "" : "; ktr run --agent starts it with the agent";
}

/* Whether it lives in a way that allows it. */
static int refuse_state(const struct attach_facts *facts, struct ktr_error *err)
{
	if (!facts->there)
		return ktr_error_set(err, ESRCH, "there is no such process");
	if (facts->is_kernel)
		return ktr_error_set(err, ENOEXEC, "it is a thread of the kernel, not a program's");
	switch (facts->state) {
	case 'Z':
	case 'X':
		if (facts->is_looked_at && facts->threads > 1)
			break;
		return ktr_error_set(err, ESRCH, "it has ended, or its first thread has");
	case 'T':
		if (facts->is_looked_at)
			break;
		return ktr_error_set(err, EBUSY, "it is stopped: kill -CONT %d first",
				     (int)facts->pid);
	default:
		break;
	}
	if (facts->tracer)
		return ktr_error_set(
			err, EBUSY,
			"process %d (%s) traces it, and only one may: let that end first",
			(int)facts->tracer, facts->tracer_name);
	return 0;
}

/* What is looked at keeps nothing of ours: it may live anywhere. */
static int refuse_look(const struct attach_facts *facts, struct ktr_error *err)
{
	int pid = (int)facts->pid;

	if (facts->uid != facts->our_uid && !facts->may_ptrace)
		return ktr_error_set(err, EPERM, "it is user %ld's: this command looks at it by sudo -u '#%ld'",
				     facts->uid, facts->uid);
	if (facts->is_32bit || facts->other_machine)
		return ktr_error_set(err, ENOEXEC,
				     "it is for another processor than ktr; `ktr ktrace -p %d` records its system calls",
				     pid);
	return 0;
}

static int refuse_place(const struct attach_facts *facts, struct ktr_error *err)
{
	int pid = (int)facts->pid;

	if (facts->uid != facts->our_uid)
		return ktr_error_set(
			err, EPERM,
			"it is user %ld's, and its session would be, too: run this by sudo -u '#%ld'", facts->uid,
			facts->uid);
	if (facts->other_user)
		return ktr_error_set(
			err, EXDEV,
			"it lives in another user namespace: attach from there: nsenter -t %d "
			"--user --preserve-credentials, and the numbers of there",
			pid);
	if (facts->other_pid)
		return ktr_error_set(
			err, EXDEV,
			"it lives in another pid namespace, a container's: run ktr attach in there: "
			"nsenter -t %d -a, or docker exec, and the numbers of there",
			pid);
	if (facts->other_mount)
		return ktr_error_set(
			err, EXDEV,
			"it lives in another mount namespace, where its session would be: run ktr "
			"attach in there: nsenter -t %d -m",
			pid);
	if (facts->root[0])
		return ktr_error_set(
			err, EXDEV,
			"its root directory is %s, where its session would be: start it with ktr run "
			"--agent, which opens what it needs before",
			facts->root);
	return 0;
}

static int refuse_program(const struct attach_facts *facts, struct ktr_error *err)
{
	if (facts->is_32bit || facts->other_machine)
		return ktr_error_set(
			err, ENOEXEC,
			"it is for another processor than the agent; `ktr ktrace -p %d` records its "
			"system calls",
			(int)facts->pid);
	switch (facts->libc) {
	case ATTACH_LIBC_NONE:
		return ktr_error_set(
			err, ENOEXEC,
			"it is linked statically, so it has no loader that takes the agent in; "
			"`ktr ktrace -p %d` records its system calls",
			(int)facts->pid);
	case ATTACH_LIBC_MUSL:
		return ktr_error_set(
			err, ENOEXEC,
			"its C library is musl, and the agent is for glibc: link it with libktr.a "
			"(make one)");
	default:
		return 0;
	}
}

static int refuse_rules(const struct attach_facts *facts, int force, struct ktr_error *err)
{
	if (facts->yama >= 3)
		return ktr_error_set(
			err, EPERM,
			"nobody may use ptrace(2) until the next boot: kernel.yama.ptrace_scope is "
			"3%s",
			refuse_instead(facts));
	if (facts->yama == 2 && !facts->may_ptrace)
		return ktr_error_set(
			err, EPERM,
			"ptrace(2) is for CAP_SYS_PTRACE alone: kernel.yama.ptrace_scope is 2: sudo "
			"sysctl kernel.yama.ptrace_scope=0%s",
			refuse_instead(facts));
	if (facts->undumpable && !facts->may_ptrace)
		return ktr_error_set(
			err, EPERM,
			"it holds secrets or raised rights, and is not dumpable (prctl(2), "
			"PR_SET_DUMPABLE): only CAP_SYS_PTRACE may look into it");
	if (facts->is_looked_at)
		return 0;
	if (facts->seccomp == 1)
		return ktr_error_set(
			err, EPERM,
			"it has shut itself in (seccomp(2), strict): any call of ours would end it%s",
			refuse_instead(facts));
	if (facts->seccomp && !force)
		return ktr_error_set(
			err, EPERM,
			"a filter of its system calls (seccomp(2)) may end it for those that the "
			"agent makes: -f tries it all the same%s",
			refuse_instead(facts));
	if (facts->is_notified && !force)
		return ktr_error_set(
			err, EBUSY,
			"a message queue is to notify it (mq_notify(3)), which would end: threads of the agent's have "
			"tables of descriptors of their own: -f attaches all the same%s",
			refuse_instead(facts));
	return 0;
}

int attach_refuse(const struct attach_facts *facts, int force, struct ktr_error *err)
{
	int rc = refuse_state(facts, err);

	if (!rc)
		rc = facts->is_looked_at ? refuse_look(facts, err) : refuse_place(facts, err);
	if (!rc && !facts->is_looked_at)
		rc = refuse_program(facts, err);
	return rc ? rc : refuse_rules(facts, force, err);
}

int attach_refused(const struct attach_facts *facts, int code, struct ktr_error *err)
{
	switch (code) {
	case ESRCH:
	case ENOENT:
		return ktr_error_set(err, ESRCH, "it has ended meanwhile");
	case EPERM:
	case EACCES:
		if (facts->yama == 1 && !facts->may_ptrace)
			return ktr_error_set(
				err, EPERM,
				"only its parents may use ptrace(2) on it: kernel.yama.ptrace_scope is "
				"1: sudo sysctl kernel.yama.ptrace_scope=0; or it allows it by prctl(2), "
				"PR_SET_PTRACER%s",
				refuse_instead(facts));
		if (!facts->may_ptrace)
			return ktr_error_set(
				err, EPERM,
				"the kernel forbids it (%m): it may have rights that you have not, or "
				"a container without CAP_SYS_PTRACE may (docker run "
				"--cap-add=SYS_PTRACE)%s",
				refuse_instead(facts));
		return ktr_error_set(
			err, EPERM,
			"the kernel forbids it (%m): a seccomp filter or another security module "
			"does%s",
			refuse_instead(facts));
	case ENOSYS:
		return ktr_error_set(
			err, ENOSYS,
			"there is no ptrace(2) here: a seccomp filter hides it, or the kernel has "
			"none%s",
			refuse_instead(facts));
	case EIO:
	case EINVAL:
		return ktr_error_set(
			err, code,
			"this kernel's ptrace(2) does not do what is needed (%m), as before Linux 3.4 "
			"and in some sandboxes%s",
			refuse_instead(facts));
	default:
		return ktr_error_set(err, code, "%m%s", refuse_instead(facts));
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What cannot be read is taken not to hinder: the kernel says no then, attach_refuse.c says what that may mean. */
#include "tools/attach/attach_facts.h"

#include "ktr/provider/syscall/tracee_proc.h"
#include "tools/attach/inject_maps.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FACTS_CAP_SYS_PTRACE 19
#define FACTS_KERNEL_THREAD  0x200000ul /* PF_KTHREAD of the kernel's sched.h */
#define FACTS_QUEUE	     0x19800202 /* its MQUEUE_MAGIC */

#if defined(__x86_64__)
#define FACTS_MACHINE EM_X86_64
#else
#define FACTS_MACHINE EM_AARCH64
#endif

static long facts_number(const char *text, const char *name, int base, int nth)
{
	const char *at = ktr__tracee_field(text, name);
	char *end = NULL;
	long value = 0;

	for (int i = 0; at && i <= nth; i++) {
		value = (long)strtoull(at, &end, base);
		at = end;
	}
	return value;
}

static void facts_name(const char *text, char name[16])
{
	const char *at = strncmp(text, "Name:", 5) == 0 ? text + 5 + strspn(text + 5, " \t") : "";

	snprintf(name, 16, "%.*s", (int)strcspn(at, "\n"), at);
}

static void facts_tracer(const char *proc, struct attach_facts *facts)
{
	char path[PATH_MAX], text[4096];

	snprintf(path, sizeof(path), "%s/%d/status", proc, (int)facts->tracer);
	if (facts->tracer && ktr__tracee_text(path, text, sizeof(text)) > 0)
		facts_name(text, facts->tracer_name);
}

static void facts_status(const char *proc, struct attach_facts *facts)
{
	char path[PATH_MAX], text[4096];
	const char *state;

	snprintf(path, sizeof(path), "%s/%d/status", proc, (int)facts->pid);
	if (ktr__tracee_text(path, text, sizeof(text)) <= 0)
		return;
	facts->there = 1;
	facts_name(text, facts->name);
	state = ktr__tracee_field(text, "State");
	facts->state = state ? *state : '?';
	facts->uid = facts_number(text, "Uid", 10, 1);
	facts->tracer = (pid_t)facts_number(text, "TracerPid", 10, 0);
	facts->seccomp = facts_number(text, "Seccomp", 10, 0);
	facts->threads = facts_number(text, "Threads", 10, 0);
	facts_tracer(proc, facts);
}

/* Its flags, the 9th field; the second ends with the last bracket. */
static void facts_kernel(const char *proc, struct attach_facts *facts)
{
	char path[PATH_MAX], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "%s/%d/stat", proc, (int)facts->pid);
	at = ktr__tracee_text(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	for (int i = 2; at && i < 9; i++)
		at = strchr(at + 1, ' ');
	facts->is_kernel = at && strtoul(at, NULL, 10) & FACTS_KERNEL_THREAD;
}

static void facts_ours(const char *proc, struct attach_facts *facts)
{
	char path[PATH_MAX], text[4096];

	snprintf(path, sizeof(path), "%s/self/status", proc);
	if (ktr__tracee_text(path, text, sizeof(text)) > 0) {
		facts->our_uid = facts_number(text, "Uid", 10, 1);
		facts->may_ptrace = (int)(facts_number(text, "CapEff", 16, 0) >>
						  FACTS_CAP_SYS_PTRACE &
					  1);
	}
	snprintf(path, sizeof(path), "%s/sys/kernel/yama/ptrace_scope", proc);
	facts->yama = ktr__tracee_text(path, text, sizeof(text)) > 0 ? atoi(text) : 0;
}

/* A link of the process that leads elsewhere than ours does; 0 also where either cannot be read. */
static int facts_differs(const char *proc, pid_t pid, const char *what, char *target, size_t size)
{
	char path[PATH_MAX], theirs[256], ours[256];
	ssize_t n, m;

	snprintf(path, sizeof(path), "%s/%d/%s", proc, (int)pid, what);
	n = readlink(path, theirs, sizeof(theirs) - 1);
	snprintf(path, sizeof(path), "%s/self/%s", proc, what);
	m = readlink(path, ours, sizeof(ours) - 1);
	if (n < 0 || m < 0)
		return 0;
	theirs[n] = ours[m] = '\0';
	if (strcmp(theirs, ours) == 0)
		return 0;
	if (target)
		snprintf(target, size, "%s", theirs);
	return 1;
}

static void facts_program(const char *proc, struct attach_facts *facts)
{
	union {
		Elf64_Ehdr elf;
		char bytes[sizeof(Elf64_Ehdr)];
	} head = { .bytes = "" };
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%d/exe", proc, (int)facts->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (read(fd, head.bytes, sizeof(head)) == sizeof(head) &&
	    memcmp(head.bytes, ELFMAG, SELFMAG) == 0) {
		facts->is_32bit = head.elf.e_ident[EI_CLASS] != ELFCLASS64;
		facts->other_machine = !facts->is_32bit && head.elf.e_machine != FACTS_MACHINE;
	}
	close(fd);
}

/* Where it is not a link to the loader, as in Debian, its file has the one name that glibc's has not. */
static bool facts_musl(const struct inject_maps *maps)
{
	const struct inject_object *plain = inject_maps_find(maps, "libc.so");

	return inject_maps_find(maps, "ld-musl-x86_64") || inject_maps_find(maps, "libc.musl-x86_64") ||
	       (plain && strcmp(plain->name, "libc.so") == 0);
}

static void facts_objects(const char *proc, struct attach_facts *facts)
{
	struct inject_maps *maps = calloc(1, sizeof(*maps));

	if (maps && inject_maps_read(proc, facts->pid, maps) == 0 && maps->n) {
		facts->libc = ATTACH_LIBC_NONE;
		if (facts_musl(maps))
			facts->libc = ATTACH_LIBC_MUSL;
		else if (inject_maps_find(maps, "libc.so.6") || inject_maps_find(maps, "libc-2"))
			facts->libc = ATTACH_LIBC_GLIBC;
		facts->has_agent = inject_maps_find(maps, "libktr-agent") ||
				   inject_maps_find(maps, "memfd:ktr-agent");
	}
	free(maps);
}

/* The file of a message queue says whom it is to notify: mq_overview(7), "Mounting the message queue ...". */
static int facts_queue(const char *path, pid_t pid)
{
	char text[256] = "";
	struct statfs of;
	const char *at;

	if (statfs(path, &of) || of.f_type != FACTS_QUEUE ||
	    ktr__tracee_text(path, text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, "NOTIFY_PID:");
	return at && atol(at + strlen("NOTIFY_PID:")) == pid;
}

/* It may be one: of others nothing is asked, for whoever serves their file system may not answer. */
static int facts_may_queue(const char *path)
{
	char target[256];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0)
		return 0;
	target[n] = '\0';
	return target[0] == '/' && (!strchr(target + 1, '/') || strncmp(target, "/dev/mqueue/", 12) == 0);
}

static void facts_notified(const char *proc, struct attach_facts *facts)
{
	char path[PATH_MAX];
	const struct dirent *at;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/fd", proc, (int)facts->pid);
	dir = opendir(path);
	while (dir && !facts->is_notified && (at = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "%s/%d/fd/%s", proc, (int)facts->pid, at->d_name);
		facts->is_notified = facts_may_queue(path) && facts_queue(path, facts->pid);
	}
	if (dir)
		closedir(dir);
}

void attach_facts(const char *proc, pid_t pid, struct attach_facts *facts)
{
	char path[PATH_MAX];
	struct stat st;

	*facts = (struct attach_facts){ .pid = pid };
	facts_ours(proc, facts);
	facts_status(proc, facts);
	if (!facts->there)
		return;
	facts_kernel(proc, facts);
	snprintf(path, sizeof(path), "%s/%d/auxv", proc, (int)pid);
	facts->undumpable = stat(path, &st) == 0 && (long)st.st_uid != facts->uid;
	facts->other_user = facts_differs(proc, pid, "ns/user", NULL, 0);
	facts->other_pid = facts_differs(proc, pid, "ns/pid", NULL, 0);
	facts->other_mount = facts_differs(proc, pid, "ns/mnt", NULL, 0);
	facts_differs(proc, pid, "root", facts->root, sizeof(facts->root));
	facts_program(proc, facts);
	facts_objects(proc, facts);
	facts_notified(proc, facts);
}

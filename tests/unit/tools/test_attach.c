/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may be attached to, told by a folder that looks like /proc; and what is left of a call's time. */
#include "tests/unit/suite.h"

#include "ktr/provider/syscall/tracee_wait.h"
#include "tools/attach/attach_facts.h"
#include "tools/attach/attach_refuse.h"
#include "tools/attach/inject_maps.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A made-up process 42 of ours, user 1000, and we. */
struct made {
	char dir[64];
	struct attach_facts facts;
	struct ktr_error err;
};

static void made_write(const struct made *made, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", made->dir, name);
	for (char *slash = strchr(path + strlen(made->dir) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

static void made_link(const struct made *made, const char *name, const char *to)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", made->dir, name);
	unlink(path);
	CU_ASSERT_EQUAL(symlink(to, path), 0);
}

static void made_status(const struct made *made, char state, int uid, int tracer, int seccomp)
{
	char text[256];

	snprintf(
		text, sizeof(text),
		"Name:\tserver\nState:\t%c (some)\nTgid:\t42\nTracerPid:\t%d\nUid:\t%d\t%d\t%d\t%d\n"
		"Seccomp:\t%d\n",
		state, tracer, uid, uid, uid, uid, seccomp);
	made_write(made, "42/status", text);
}

static void made_ours(const struct made *made, const char *caps)
{
	char text[256];

	snprintf(text, sizeof(text), "Name:\tktr\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t%s\n",
		 caps);
	made_write(made, "self/status", text);
}

#define MADE_GLIBC                                                                                 \
	"55d0-55d1 r--p 00000000 08:01 1                          /usr/bin/server\n"               \
	"7f00-7f01 r--p 00000000 08:01 2                          /usr/lib/libc.so.6\n"            \
	"7f01-7f02 r-xp 00001000 08:01 2                          /usr/lib/libc.so.6\n"            \
	"7f08-7f09 r--p 00000000 08:01 3                          /usr/lib/ld-linux-x86-64.so.2\n"

static void made_elf(const struct made *made, int class, int machine)
{
	Elf64_Ehdr head = { .e_machine = (Elf64_Half)machine };
	char path[256];
	FILE *file;

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = (unsigned char)class;
	snprintf(path, sizeof(path), "%s/42/exe", made->dir);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fwrite(&head, sizeof(head), 1, file);
	fclose(file);
}

#if defined(__x86_64__)
#define MADE_MACHINE EM_X86_64
#else
#define MADE_MACHINE EM_AARCH64
#endif

static void made_begin(struct made *made)
{
	const char *const links[] = { "ns/user", "ns/pid", "ns/mnt", "root" };
	char name[64];

	memset(made, 0, sizeof(*made));
	strcpy(made->dir, "/tmp/ktr-attach.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(made->dir));
	made_status(made, 'S', 1000, 0, 0);
	made_ours(made, "0");
	made_write(made, "42/maps", MADE_GLIBC);
	made_write(made, "42/ns/x", "");
	made_write(made, "self/ns/x", "");
	made_elf(made, ELFCLASS64, MADE_MACHINE);
	for (unsigned i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		snprintf(name, sizeof(name), "42/%s", links[i]);
		made_link(made, name, i == 3 ? "/" : "one:[1]");
		snprintf(name, sizeof(name), "self/%s", links[i]);
		made_link(made, name, i == 3 ? "/" : "one:[1]");
	}
}

static void made_end(const struct made *made)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", made->dir);
	CU_ASSERT_EQUAL(system(command), 0);
}

/* Is it refused with that errno, and do the words have that? NULL: it is not refused. */
static int made_says(struct made *made, int force, int code, const char *words)
{
	int rc;

	memset(&made->err, 0, sizeof(made->err));
	attach_facts(made->dir, 42, &made->facts);
	rc = attach_refuse(&made->facts, force, &made->err);
	if (!words)
		return rc == 0;
	return rc == -code && strstr(made->err.text, words) != NULL;
}

static void one_of_ours_is_taken(void)
{
	struct made made;

	made_begin(&made);
	/* Whose auxv it is decides; here it is whoever runs this test. */
	CU_ASSERT(made_says(&made, 0, 0, NULL));
	CU_ASSERT_STRING_EQUAL(made.facts.name, "server");
	CU_ASSERT_EQUAL(made.facts.libc, ATTACH_LIBC_GLIBC);
	CU_ASSERT(!made.facts.has_agent);
	made_write(&made, "42/maps",
		   MADE_GLIBC
		   "7f20-7f21 r--p 00000000 00:01 9          /memfd:ktr-agent (deleted)\n");
	CU_ASSERT(made_says(&made, 0, 0, NULL));
	CU_ASSERT(made.facts.has_agent);
	made_end(&made);
}

static void states_are_named(void)
{
	struct made made;

	made_begin(&made);
	made_status(&made, 'T', 1000, 0, 0);
	CU_ASSERT(made_says(&made, 0, EBUSY, "kill -CONT 42"));
	made_status(&made, 'Z', 1000, 0, 0);
	CU_ASSERT(made_says(&made, 0, ESRCH, "has ended"));
	made_write(&made, "77/status", "Name:\tgdb\nState:\tS\n");
	made_status(&made, 'S', 1000, 77, 0);
	CU_ASSERT(made_says(&made, 0, EBUSY, "process 77 (gdb) traces it"));
	attach_facts(made.dir, 43, &made.facts);
	CU_ASSERT_EQUAL(attach_refuse(&made.facts, 0, &made.err), -ESRCH);
	made_end(&made);
}

static void rules_of_the_kernel_are_named(void)
{
	struct made made;

	made_begin(&made);
	made_status(&made, 'S', 33, 0, 0);
	CU_ASSERT(made_says(&made, 0, EPERM, "run this by sudo -u '#33'"));
	made_status(&made, 'S', 1000, 0, 0);
	made_write(&made, "sys/kernel/yama/ptrace_scope", "0\n");
	CU_ASSERT(made_says(&made, 0, 0, NULL));
	made_write(&made, "sys/kernel/yama/ptrace_scope", "1\n");
	CU_ASSERT(made_says(&made, 0, 0, NULL)); /* it may have allowed it */
	CU_ASSERT_EQUAL(attach_refused(&made.facts, EPERM, &made.err), -EPERM);
	CU_ASSERT_PTR_NOT_NULL(strstr(made.err.text, "ptrace_scope is 1: sudo sysctl"));
	CU_ASSERT_PTR_NOT_NULL(strstr(made.err.text, "ktr run --agent"));
	made_write(&made, "sys/kernel/yama/ptrace_scope", "2\n");
	CU_ASSERT(made_says(&made, 0, EPERM, "ptrace_scope is 2"));
	made_ours(&made, "0000000000080000");
	CU_ASSERT(made_says(&made, 0, 0, NULL));
	made_write(&made, "sys/kernel/yama/ptrace_scope", "3\n");
	CU_ASSERT(made_says(&made, 0, EPERM, "until the next boot"));
	made_end(&made);
}

/* ktr stacks puts nothing into it. */
static void who_is_looked_at_needs_less(void)
{
	struct made made;

	made_begin(&made);
	made_write(&made, "42/maps", "55d0-55d1 r-xp 00000000 08:01 1                          /usr/bin/server\n");
	made_link(&made, "42/root", "/srv/jail");
	made_status(&made, 'T', 1000, 0, 1);
	attach_facts(made.dir, 42, &made.facts);
	made.facts.is_looked_at = 1;
	CU_ASSERT_EQUAL(attach_refuse(&made.facts, 0, &made.err), 0);
	made.facts.uid = 33;
	CU_ASSERT_EQUAL(attach_refuse(&made.facts, 0, &made.err), -EPERM);
	CU_ASSERT_PTR_NOT_NULL(strstr(made.err.text, "this command looks at it by sudo -u"));
	made.facts.may_ptrace = 1;
	made.err = (struct ktr_error)KTR_ERROR_NONE;
	CU_ASSERT_EQUAL(attach_refuse(&made.facts, 0, &made.err), 0);
	made.facts.state = 'Z';
	made.facts.threads = 1;
	CU_ASSERT_EQUAL(attach_refuse(&made.facts, 0, &made.err), -ESRCH);
	made.facts.threads = 2;
	made.err = (struct ktr_error)KTR_ERROR_NONE;
	CU_ASSERT_EQUAL(attach_refuse(&made.facts, 0, &made.err), 0);
	CU_ASSERT_EQUAL(attach_refused(&made.facts, EPERM, &made.err), -EPERM);
	CU_ASSERT_PTR_NULL(strstr(made.err.text, "agent"));
	made_write(&made, "42/stat", "42 (a) b) S 1 2 3 4 5 2097216 7\n");
	attach_facts(made.dir, 42, &made.facts);
	CU_ASSERT(made.facts.is_kernel);
	CU_ASSERT_EQUAL(attach_refuse(&made.facts, 0, &made.err), -ENOEXEC);
	made_end(&made);
}

static void filters_are_named(void)
{
	struct made made;

	made_begin(&made);
	made_status(&made, 'S', 1000, 0, 2);
	CU_ASSERT(made_says(&made, 0, EPERM, "-f tries it"));
	CU_ASSERT(made_says(&made, 1, 0, NULL));
	made_status(&made, 'S', 1000, 0, 1);
	CU_ASSERT(made_says(&made, 1, EPERM, "shut itself in"));
	made_end(&made);
}

static void places_are_named(void)
{
	struct made made;

	made_begin(&made);
	made_link(&made, "42/root", "/srv/jail");
	CU_ASSERT(made_says(&made, 0, EXDEV, "its root directory is /srv/jail"));
	made_link(&made, "42/ns/mnt", "one:[2]");
	CU_ASSERT(made_says(&made, 0, EXDEV, "mount namespace"));
	made_link(&made, "42/ns/pid", "one:[2]");
	CU_ASSERT(made_says(&made, 0, EXDEV, "nsenter -t 42 -a"));
	made_link(&made, "42/ns/user", "one:[2]");
	CU_ASSERT(made_says(&made, 0, EXDEV, "user namespace"));
	made_end(&made);
}

static void programs_are_named(void)
{
	struct made made;

	made_begin(&made);
	made_write(&made, "42/maps",
		   "55d0-55d1 r-xp 00000000 08:01 1                          /usr/bin/server\n");
	CU_ASSERT(made_says(&made, 0, ENOEXEC, "linked statically"));
	made_write(
		&made, "42/maps",
		"55d0-55d1 r-xp 00000000 08:01 1                          /usr/bin/server\n"
		"7f00-7f01 r-xp 00000000 08:01 2                          /lib/ld-musl-x86_64.so.1\n");
	CU_ASSERT(made_says(&made, 0, ENOEXEC, "musl"));
	made_write(&made, "42/maps", MADE_GLIBC);
	made_elf(&made, ELFCLASS32, EM_386);
	CU_ASSERT(made_says(&made, 0, ENOEXEC, "another processor"));
	made_elf(&made, ELFCLASS64, EM_S390);
	CU_ASSERT(made_says(&made, 0, ENOEXEC, "another processor"));
	made_end(&made);
}

static void each_errno_has_its_words(void)
{
	static const struct {
		int code;
		const char *words;
	} said[] = { { ESRCH, "has ended" },       { EPERM, "CAP_SYS_PTRACE" },
		     { EACCES, "CAP_SYS_PTRACE" }, { ENOSYS, "no ptrace(2) here" },
		     { EIO, "does not do what" },  { EINVAL, "does not do what" },
		     { EFAULT, "Bad address" } };
	struct attach_facts facts = { .pid = 42, .there = 1 };

	for (unsigned i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		struct ktr_error err = KTR_ERROR_NONE;

		CU_ASSERT(attach_refused(&facts, said[i].code, &err) < 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, said[i].words));
	}
	facts.may_ptrace = 1;
	for (unsigned i = 1; i < 3; i++) {
		struct ktr_error err = KTR_ERROR_NONE;

		CU_ASSERT_EQUAL(attach_refused(&facts, said[i].code, &err), -EPERM);
		CU_ASSERT_PTR_NOT_NULL(
			strstr(err.text, "seccomp filter or another security module"));
	}
}

static void mappings_are_those_of_objects(void)
{
	struct inject_maps *maps = calloc(1, sizeof(*maps));
	const struct inject_object *object;
	struct made made;

	CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
	made_begin(&made);
	CU_ASSERT_EQUAL(inject_maps_read(made.dir, 42, maps), 0);
	CU_ASSERT_EQUAL(maps->n, 3);
	object = inject_maps_find(maps, "libc.so.6");
	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
	CU_ASSERT(object->base == 0x7f00 && object->end == 0x7f02);
	CU_ASSERT(object->text == 0x7f01 && object->text_end == 0x7f02);
	CU_ASSERT_PTR_NULL(inject_maps_find(maps, "libc-2"));
	CU_ASSERT_PTR_NULL(inject_maps_find(maps, "lib"));
	CU_ASSERT_EQUAL(inject_maps_read(made.dir, 43, maps), -ENOENT);
	made_end(&made);
	free(maps);
}

/* A thread of the made-up process, in a call. */
static enum ktr__tracee_rank made_rank(const struct made *made, char state, const char *call)
{
	struct ktr__tracee_wait wait;
	char text[128];

	snprintf(text, sizeof(text), "42 (a ) b) %c 1 1\n", state);
	made_write(made, "42/task/42/stat", text);
	made_write(made, "42/task/42/syscall", call);
	ktr__tracee_wait_look(made->dir, 42, 42, &wait);
	return wait.rank;
}

static void a_thread_that_loses_nothing_is_chosen(void)
{
	struct made made;
	char text[128];

	made_begin(&made);
	CU_ASSERT_EQUAL(made_rank(&made, 'R', "running\n"), KTR__RANK_RUNS);
	CU_ASSERT_EQUAL(made_rank(&made, 'D', "running\n"), KTR__RANK_BUSY);
	CU_ASSERT_EQUAL(made_rank(&made, 'Z', ""), KTR__RANK_NEVER);
	CU_ASSERT_EQUAL(made_rank(&made, 't', ""), KTR__RANK_NEVER);
	CU_ASSERT_EQUAL(made_rank(&made, 'S', "-1 0x7ffe 0x55d0\n"), KTR__RANK_BUSY);
	snprintf(text, sizeof(text), "%d 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffe 0x55d0\n", SYS_futex);
	CU_ASSERT_EQUAL(made_rank(&made, 'S', text), KTR__RANK_RESTARTS);
	snprintf(text, sizeof(text), "%d 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffe 0x55d0\n", SYS_mmap);
	CU_ASSERT_EQUAL(made_rank(&made, 'S', text), KTR__RANK_BUSY);
	snprintf(text, sizeof(text), "%d 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffe 0x55d0\n", SYS_accept);
	CU_ASSERT_EQUAL(made_rank(&made, 'S', text), KTR__RANK_REPEATS);
	snprintf(text, sizeof(text), "%d 0x1 0x2 0x3 0x64 0x5 0x6 0x7ffe 0x55d0\n",
		 SYS_epoll_pwait);
	CU_ASSERT_EQUAL(made_rank(&made, 'S', text), KTR__RANK_TIMED);
	snprintf(text, sizeof(text), "%d 0x1 0x2 0x3 0xffffffff 0x5 0x6 0x7ffe 0x55d0\n",
		 SYS_epoll_pwait);
	CU_ASSERT_EQUAL(made_rank(&made, 'S', text), KTR__RANK_REPEATS);
	snprintf(text, sizeof(text), "%d 0x1 0x2 0x0 0x4 0x5 0x6 0x7ffe 0x55d0\n",
		 SYS_rt_sigtimedwait);
	CU_ASSERT_EQUAL(made_rank(&made, 'S', text), KTR__RANK_REPEATS);
	made_end(&made);
}

static void what_is_left_of_a_time(void)
{
	CU_ASSERT_EQUAL(ktr__tracee_wait_left(100, 30), 70);
	CU_ASSERT_EQUAL(ktr__tracee_wait_left(100, 100), 0);
	CU_ASSERT_EQUAL(ktr__tracee_wait_left(100, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(ktr__tracee_wait_left(0, 0), 0);
	CU_ASSERT_EQUAL(ktr__tracee_wait_left(INT64_MAX, 1), INT64_MAX - 1);
}

SUITE(attach, TEST(one_of_ours_is_taken), TEST(states_are_named),
      TEST(rules_of_the_kernel_are_named), TEST(who_is_looked_at_needs_less), TEST(filters_are_named),
      TEST(places_are_named),
      TEST(programs_are_named), TEST(each_errno_has_its_words), TEST(mappings_are_those_of_objects),
      TEST(a_thread_that_loses_nothing_is_chosen), TEST(what_is_left_of_a_time));

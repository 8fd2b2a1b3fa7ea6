/* SPDX-License-Identifier: BSD-2-Clause */
/* Lives of a program with SIGTRAP: what it asks for it has, and its throws are recorded. */
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
/* A probe as sys/sdt.h makes it: a nop of one byte, its semaphore, and where its arguments are. */
extern "C" {
unsigned short usdt_semaphore __attribute__((section(".probes"), used));
int usdt_word = 1234;
}
#define PROBE(name, args, ...)                                                                   \
	__asm__ volatile("990: nop\n\t"                                                          \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n\t"                           \
			 ".balign 4\n\t.4byte 992f-991f, 994f-993f, 3\n\t"                       \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n\t"                            \
			 "993: .8byte 990b, 0, usdt_semaphore\n\t"                              \
			 ".asciz \"mine\", \"" name "\", \"" args "\"\n994: .balign 4\n\t"           \
			 ".popsection" ::__VA_ARGS__)

/* Two at one place, as a linker leaves them that makes one function of two; and what no file should say. */
#define NOTE(place, semaphore, name)                                                             \
	".pushsection .note.stapsdt,\"\",\"note\"\n\t.balign 4\n\t.4byte 8, 994f-993f, 3\n\t"        \
	".asciz \"stapsdt\"\n993: .8byte " place ", 0, " semaphore "\n\t"                         \
	".asciz \"mine\", \"" name "\", \"8@4(\"\n994: .balign 4\n\t.popsection\n\t"
#define TWICE()                                                                                  \
	__asm__ volatile(".globl usdt_place\nusdt_place: nop\n\t" NOTE("usdt_place", "0", "one") \
			 NOTE("usdt_place", "0", "two") NOTE("main", "usdt_semaphore", "not_a_nop")  \
			 NOTE("-1", "0", "beyond") NOTE("usdt_place", "main", "in_text")            \
			 NOTE("usdt_place", "-1", "nowhere") NOTE("0x10", "0", "before"))

static volatile int traps, n_thrown;
static sigjmp_buf back;

static void own(int) { traps = traps + 1; }
static void leaves(int) { siglongjmp(back, 1); }

static void throws()
{
	n_thrown = n_thrown + 1;
	errno = 77;
	try { throw std::runtime_error("x"); } catch (const std::exception &) {}
	if (errno != 77) { puts("errno"); exit(3); }
}

static void *thread(void *) { for (int i = 0; i < 100; i++) throws(); return nullptr; }
static void in_handler(int) { throws(); }
static void nothing(int) {}
static __attribute__((noinline)) void place() { TWICE(); }

static void *waits(void *)
{
	sigset_t all;

	sigfillset(&all);
	ppoll(nullptr, 0, nullptr, &all);
	return nullptr;
}

/* Each call that waits with a mask of its own, which has SIGTRAP in it; a handler comes there, and throws. */
static int masks()
{
	const struct timespec ms = { 0, 1000000 };
	struct epoll_event event = { EPOLLIN, {} };
	sigset_t all, old;
	int fds[2], at = epoll_create1(0);
	pthread_t thread;
	void *result;
	fd_set set;

	if (pipe(fds) || epoll_ctl(at, EPOLL_CTL_ADD, fds[0], &event)) return 1;
	signal(SIGUSR1, in_handler);
	sigemptyset(&all);
	sigaddset(&all, SIGUSR1);
	sigprocmask(SIG_BLOCK, &all, &old);
	sigfillset(&all);
	sigdelset(&all, SIGUSR1);
	for (int i = 0; i < 5; i++) {
		int got = 0;

		raise(SIGUSR1);
		errno = 0;
		if (i == 0) got = sigsuspend(&all);
		if (i == 1) got = ppoll(nullptr, 0, nullptr, &all);
		if (i == 2) got = pselect(0, nullptr, nullptr, nullptr, nullptr, &all);
		if (i == 3) got = epoll_pwait(at, &event, 1, -1, &all);
		if (i == 4) got = epoll_pwait2(at, &event, 1, nullptr, &all);
		if (got != -1 || errno != EINTR || n_thrown != i + 2) { printf("call %d: %d\n", i, got); return 1; }
	}
	/* Otherwise they do what they do. */
	if (ppoll(nullptr, 0, &ms, nullptr) || epoll_pwait(at, &event, 1, 1, &all)) return 2;
	if (epoll_pwait2(at, &event, 1, &ms, nullptr)) return 2;
	if (write(fds[1], "x", 1) != 1) return 3;
	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	if (pselect(fds[0] + 1, &set, nullptr, nullptr, &ms, &all) != 1 || !FD_ISSET(fds[0], &set)) return 4;
	struct pollfd poll = { fds[0], POLLIN, 0 };
	if (ppoll(&poll, 1, nullptr, &all) != 1 || poll.revents != POLLIN) return 5;
	if (epoll_pwait(at, &event, 1, -1, &all) != 1) return 5;
	errno = 0;
	if (epoll_pwait(-1, &event, 1, -1, nullptr) != -1 || errno != EBADF) return 6;
	/* And can be cancelled. */
	if (pthread_create(&thread, nullptr, waits, nullptr)) return 7;
	usleep(1000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED) return 8;
	sigprocmask(SIG_SETMASK, nullptr, &all);
	return sigismember(&all, SIGTRAP) ? 9 : 0;
}

/* A library comes and goes; each time it waits until its probe is on. */
static int library(const char *path)
{
	for (int i = 0; i < 2; i++) {
		void *at = dlopen(path, RTLD_NOW);
		volatile unsigned short *semaphore = (unsigned short *)dlsym(at, "probed_semaphore");
		int (*probed)(int) = (int (*)(int))dlsym(at, "probed");

		if (!at) { puts(dlerror()); return 1; }
		for (int k = 0; k < 120000 && !*semaphore; k++)
			usleep(1000);
		if (probed(i) != i + 1) return 2;
		dlclose(at);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";
	struct sigaction action = {}, before = {};
	sigset_t all, old;

	if (!strcmp(how, "forms")) {
		const char *volatile text = "no text";
		struct { long a, b; } pair = { 5, -6 };

		PROBE("forms", "-4@%[a] 8@%[b] -1@$-3 -4@usdt_word(%%rip) -8@8(%[c]) 2@%[d]", [a] "r"(-7), [b] "r"(8ul),
		      [c] "r"(&pair), [d] "r"((short)-1), "m"(pair));
		PROBE("floats", "8f@%[a] 4f@%[b]", [a] "x"(1.5), [b] "x"(2.5f));
		PROBE("bad", "8@8(%[a]) 8@nowhere(%%rip) 3@%[a] 8@%[b]", [a] "r"(16ul), [b] "r"(text));
		place();
		printf("semaphore %d\n", usdt_semaphore);
		return 0;
	}
	if (!strcmp(how, "price")) {
		struct timespec from, to;

		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i < 1000000; i++)
			PROBE("price", "-4@%[a]", [a] "r"(i));
		clock_gettime(CLOCK_MONOTONIC, &to);
		printf("%.1f ns\n", ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 1e6);
		return 0;
	}
	if (!strcmp(how, "library"))
		return library(argv[2]);
	throws();
	if (!strcmp(how, "masks")) {
		int code = masks();
		if (code) { printf("masks %d\n", code); return 3; }
	} else if (!strcmp(how, "vfork")) {
		int status;
		pid_t pid = vfork();
		if (!pid) { PROBE("child", "8@$1"); _exit(0); }
		if (waitpid(pid, &status, 0) != pid || status) return 3;
		throws();
	} else if (!strcmp(how, "exec")) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, nullptr);
		execl("/proc/self/exe", argv[0], "plain", nullptr);
	} else if (!strcmp(how, "place")) { /* comes there once more when told to, and ends when told to */
		char path[256];
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		snprintf(path, sizeof(path), "%s.go", argv[2]);
		place();
		while (access(path, F_OK)) usleep(1000);
		for (int i = 0; i < 100; i++) place();
		puts("passed"), fflush(stdout);
		while (access(argv[2], F_OK)) { place(); usleep(1000); }
	} else if (!strcmp(how, "suspended")) { /* blocks SIGTRAP but while it waits */
		signal(SIGUSR1, nothing);
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, nullptr);
		sigemptyset(&old);
		sigsuspend(&old);
		throws();
	} else if (!strcmp(how, "mdwe")) { /* no page becomes executable any more */
		if (prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0)) return 77;
		puts("mdwe"), fflush(stdout);
		while (access(argv[2], F_OK)) usleep(1000);
	} else if (!strcmp(how, "wait")) {
		while (access(argv[2], F_OK)) {
			throws();
			usleep(1000);
		}
	} else if (!strcmp(how, "kept")) { /* a thread that blocks SIGTRAP past us */
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, nullptr);
		while (access(argv[2], F_OK))
			usleep(1000);
	} else if (!strcmp(how, "handler")) {
		action.sa_handler = own;
		sigaction(SIGTRAP, &action, nullptr);
		throws();
		raise(SIGTRAP);
		__asm__ volatile("int3");
		sigaction(SIGTRAP, nullptr, &before);
		if (traps != 2 || before.sa_handler != own) { printf("traps %d\n", traps); return 3; }
		throws();
	} else if (!strcmp(how, "ignore")) {
		signal(SIGTRAP, SIG_IGN);
		throws();
		raise(SIGTRAP);
	} else if (!strcmp(how, "longjmp")) {
		signal(SIGTRAP, leaves);
		for (volatile int i = 0; i < 3; i = i + 1) {
			if (!sigsetjmp(back, 1))
				__asm__ volatile("int3");
			throws();
		}
	} else if (!strcmp(how, "default")) {
		printf("thrown %d\n", n_thrown), fflush(stdout);
		__asm__ volatile("int3");
	} else if (!strcmp(how, "blocked")) {
		signal(SIGTRAP, own);
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, &old);
		if (sigismember(&old, SIGTRAP)) return 3;
		throws();
		raise(SIGTRAP);
		if (traps) { puts("not put off"); return 3; }
		sigprocmask(SIG_SETMASK, &old, &all);
		if (!sigismember(&all, SIGTRAP) || traps != 1) { printf("traps %d\n", traps); return 3; }
		throws();
	} else if (!strcmp(how, "mask")) {
		action.sa_handler = in_handler;
		sigfillset(&action.sa_mask);
		sigaction(SIGUSR1, &action, nullptr);
		raise(SIGUSR1);
	} else if (!strcmp(how, "threads")) {
		pthread_t t[4];
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, nullptr);
		for (auto &at : t) pthread_create(&at, nullptr, thread, nullptr);
		for (auto &at : t) pthread_join(at, nullptr);
		n_thrown = 401;
	} else if (!strcmp(how, "spawn")) {
		const char *child[] = { "/bin/true", nullptr };
		int status = 0;
		pid_t pid;
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, nullptr);
		if (posix_spawn(&pid, child[0], nullptr, nullptr, (char **)child, environ)) return 3;
		waitpid(pid, &status, 0);
		if (status || system("exit 3") != 3 << 8) { printf("status %#x\n", status); return 3; }
		throws();
	} else if (!strcmp(how, "altstack")) {
		stack_t s = {};
		s.ss_size = 65536;
		s.ss_sp = malloc(s.ss_size);
		sigaltstack(&s, nullptr);
		throws();
	} else if (!strcmp(how, "fork")) {
		int status;

		fflush(stdout);
		if (!fork()) { throws(); _exit(0); }
		wait(&status);
		if (status) return 3;
		n_thrown = n_thrown + 1;
	}
	printf("thrown %d\n", n_thrown);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Lives of a program with SIGTRAP: what it asks for it has, and its throws are recorded. */
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdexcept>
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
	throws();
	if (!strcmp(how, "wait")) {
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

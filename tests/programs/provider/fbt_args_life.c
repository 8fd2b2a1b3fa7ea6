/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls life_said() whose arguments and result belong together: "N", N, N / 2.0, and N + 1.
 *
 *	fbt_args_life calls N			so often
 *	fbt_args_life sandbox N			and again in a sandbox, which a call of the kernel ends
 *	fbt_args_life wait			when a line comes, by four threads, until another line comes
 *	fbt_args_life plugins PATH FILE...	loads each FILE as PATH, and calls its plugin_call()
 *
 * 0: all results were right.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef LIFE_SANDBOX
#include <ktr/ctl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

static int life_ends;
static unsigned long life_wrong;

__attribute__((noinline)) long life_said(const char *text, long n, double half);
__attribute__((noinline)) long life_said(const char *text, long n, double half)
{
	__asm__ volatile("" ::"r"(text), "x"(half) : "memory");
	return n + 1;
}

static void say(long n)
{
	char digits[24], *at = digits + sizeof(digits);

	*--at = '\0';
	for (long rest = n; rest || !*at; rest /= 10)
		*--at = (char)('0' + rest % 10);
	if (life_said(at, n, (double)n / 2) != n + 1)
		__atomic_fetch_add(&life_wrong, 1, __ATOMIC_RELAXED);
}

static void *says(void *first)
{
	for (long n = (long)first; !__atomic_load_n(&life_ends, __ATOMIC_RELAXED); n++)
		say(n);
	return first;
}

static void life_threads(void)
{
	pthread_t thread[4];

	getchar();
	for (long i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, says, (void *)(i * 1000000000));
	getchar();
	__atomic_store_n(&life_ends, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void life_plugin(const char *path, const char *file)
{
	void *plugin = rename(file, path) ? NULL : dlopen(path, RTLD_NOW);
	int (*call)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin_call") : NULL;

	life_wrong += !call || call();
	if (plugin)
		dlclose(plugin);
}

#ifdef LIFE_SANDBOX
/* Nothing but the end. */
static void life_seal(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (ktr_sandbox() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		life_wrong++;
}
#endif

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;

	for (long i = 0; i < n; i++)
		say(i);
	if (strcmp(how, "wait") == 0)
		life_threads();
	for (int i = 3; i < argc && strcmp(how, "plugins") == 0; i++)
		life_plugin(argv[2], argv[i]);
#ifdef LIFE_SANDBOX
	if (strcmp(how, "sandbox") == 0) {
		life_seal();
		for (long i = 0; i < n; i++)
			say(n + i);
		syscall(SYS_exit_group, life_wrong != 0);
	}
#endif
	return life_wrong != 0;
}

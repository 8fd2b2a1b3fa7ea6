/* SPDX-License-Identifier: BSD-2-Clause */
/* A child of vfork(2) calls a function a hundred times, its parent another one once. It knows nothing of ktr. */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void called_in_child(volatile int *n)
{
	++*n;
}

__attribute__((noinline)) void called_in_parent(volatile int *n)
{
	++*n;
}

int main(void)
{
	volatile int n = 0;
	int status;
	pid_t pid;

	called_in_child(&n);
	pid = vfork();
	if (pid == 0) {
		for (int i = 0; i < 100; i++)
			called_in_child(&n);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return 1;
	called_in_parent(&n);
	return n != 102;
}

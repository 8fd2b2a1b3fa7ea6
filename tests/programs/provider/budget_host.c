/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls a function that does nothing all the time, and another one seldom, until it is ended: what the first one's
 * probe takes is most of the thread's time.
 */
#include <unistd.h>

__attribute__((noinline)) long busy_step(long n);
__attribute__((noinline)) long busy_step(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

__attribute__((noinline)) long seldom_step(long n);
__attribute__((noinline)) long seldom_step(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

int main(void)
{
	long n = 0;

	alarm(300);
	if (write(STDOUT_FILENO, "begun\n", 6) != 6)
		return 1;
	for (;;) {
		for (int i = 0; i < 4000000; i++)
			n = busy_step(n);
		n = seldom_step(n);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded: the first time that ppoll(2) tells of a key, its caller is kept until SIGINT has come, and says so.
 * What was typed before ^C the terminal throws away.
 */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	static const char told[] = "a key is there";
	static int done;
	int (*next)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *) = dlsym(RTLD_NEXT, "ppoll");
	int result = next(fds, n, timeout, mask);
	sigset_t pending;

	if (result <= 0 || done)
		return result;
	done = 1;
	if (write(STDOUT_FILENO, told, sizeof(told) - 1) < 0)
		return result;
	do {
		usleep(1000);
		sigpending(&pending);
	} while (!sigismember(&pending, SIGINT));
	return result;
}

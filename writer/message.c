/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer's message. See message.h. Nothing here waits: standard error is opened without blocking, what a
 * full pipe does not take is not printed, and SIGPIPE is blocked in the thread, as all signals are.
 */
#include "writer/message.h"

#include "ktr/session/libc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

void ktr__message_note(struct ktr__message *message)
{
	struct stat st;

	if (fstat(STDERR_FILENO, &st))
		return;
	message->dev = st.st_dev;
	message->ino = st.st_ino;
}

void ktr__message_open(struct ktr__message *message)
{
	message->proc_fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void ktr__message_close(struct ktr__message *message)
{
	if (message->proc_fd >= 0)
		close(message->proc_fd);
	message->proc_fd = -1;
}

/* The host's own descriptor, or -1: kernels before 5.6 do not give it. */
static int message_own(void)
{
	int pid_fd = ktr__pidfd_open(getpid()), own = -1;

	if (pid_fd >= 0)
		own = ktr__pidfd_getfd(pid_fd, STDERR_FILENO);
	close(pid_fd);
	return own;
}

/*
 * Of a process whose main thread has ended the kernel shows no descriptors but under the threads that are left, of
 * which all but ours have the host's.
 */
static int message_of_others(const struct ktr__message *message, int flags)
{
	int task_fd = openat(message->proc_fd, "../task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	DIR *dir = task_fd < 0 ? NULL : fdopendir(task_fd);
	const struct dirent *entry;
	struct stat st;
	char path[64];

	while (fd < 0 && dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%.32s/fd/2", entry->d_name);
		fd = entry->d_name[0] == '.' ? -1 : openat(task_fd, path, flags);
		if (fd >= 0 && (fstat(fd, &st) || st.st_dev != message->dev || st.st_ino != message->ino)) {
			close(fd);
			fd = -1;
		}
	}
	if (dir)
		closedir(dir);
	else if (task_fd >= 0)
		close(task_fd);
	return fd;
}

/*
 * The host's standard error. /proc/self/fd shows the table of the process, not ours; what it opens is
 * without blocking. A file has to be the host's own, whose place we share: appended to by us alone, it
 * would be written over by the host. So has what another user may not open by now; what would block is left.
 */
static int message_stderr(const struct ktr__message *message, struct stat *st)
{
	const int flags = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = openat(message->proc_fd, "2", flags);
	struct pollfd room = { -1, POLLOUT, 0 };

	if (fd < 0 && errno == ENOENT)
		fd = message_of_others(message, flags);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode)))
		return fd;
	room.fd = message_own();
	if (room.fd < 0 || fstat(room.fd, st) || (!S_ISREG(st->st_mode) && poll(&room, 1, 0) <= 0)) {
		close(room.fd);
		return fd;
	}
	close(fd);
	return room.fd;
}

/* One line for the user, as long as standard error is the file it was at the start. */
void ktr__message_say(void *context, const char *text)
{
	const struct ktr__message *message = context;
	char line[PATH_MAX + 400];
	struct stat st;
	int n, fd = message_stderr(message, &st);

	if (fd < 0)
		return;
	n = snprintf(line, sizeof(line), "ktr: %s\n", text);
	if (st.st_dev == message->dev && st.st_ino == message->ino && write(fd, line, (size_t)n) < 0)
		n = 0; /* nobody reads it */
	close(fd);
}

void ktr__message_put(struct ktr__message *message)
{
	struct stat st;
	int fd = message_stderr(message, &st);

	if (fd >= 0 && st.st_dev == message->dev && st.st_ino == message->ino &&
	    write(fd, message->lines, message->n_bytes) < 0)
		message->n_bytes = 0; /* nobody reads it */
	if (fd >= 0)
		close(fd);
	message->n_bytes = 0;
}

/*
 * syslog(3) would put a descriptor of ours into a variable of the process. RFC 3164: user, debug. Where
 * syslogd does not take a line for 50 ms, this round goes on without it.
 */
static void message_syslog(struct ktr__message *message, const char *line, size_t n_bytes)
{
	const struct sockaddr_un to = { AF_UNIX, "/dev/log" };
	const struct timeval wait = { 0, 50000 };
	char text[1200];
	int fd = message->stuck ? -1 : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int n = snprintf(text, sizeof(text), "<15>%.64s[%d]: %.*s", program_invocation_short_name,
			 (int)getpid(), (int)n_bytes - 1, line);

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	message->stuck = sendto(fd, text, (size_t)n, MSG_NOSIGNAL, (const void *)&to, sizeof(to)) < 0;
	close(fd);
}

void ktr__message_print(struct ktr__message *message, bool to_syslog, const char *line, size_t n_bytes)
{
	if (to_syslog) {
		message_syslog(message, line, n_bytes);
		return;
	}
	if (message->n_bytes + n_bytes > sizeof(message->lines))
		ktr__message_put(message);
	memcpy(message->lines + message->n_bytes, line, n_bytes);
	message->n_bytes += n_bytes;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small files of the kernel's, read whole and taken apart. What cannot be read counts as not said:
 * containers hide some of these files, and nobody here can do anything about it.
 */
#include "ktr/session/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_PF_EXITING 4u /* linux/sched.h */

size_t ktr__kernel_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	if (n < 0)
		n = 0;
	text[n] = '\0';
	return (size_t)n;
}

int ktr__kernel_number(const char **at, uint64_t *number)
{
	char *end;

	*number = 0;
	if (**at < '0' || **at > '9')
		return 0;
	*number = strtoull(*at, &end, 10);
	*at = end;
	return 1;
}

void ktr__kernel_boot_id(uint64_t id[2])
{
	char text[40];
	unsigned n = 0;

	id[0] = id[1] = 0;
	ktr__kernel_text("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (const char *p = text; *p && n < 32; p++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = strchr(digits, *p);

		if (digit) {
			id[n / 16] = id[n / 16] << 4 | (uint64_t)(digit - digits);
			n++;
		}
	}
}

/* Skips n blanks-separated fields. */
static const char *kernel_skip_fields(const char *p, unsigned n)
{
	while (n--) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	return p;
}

/*
 * proc_pid_stat(5): "pid (comm) state ppid ..."; comm may hold blanks and parentheses, so the
 * fields are counted from the last ')'. state is field 3, num_threads 20, starttime 22. A zombie
 * that is not merely the first of several threads has ended.
 */
static const char *kernel_stat(uint32_t pid, char text[1024])
{
	char path[32] = "/proc/self/stat";
	const char *p;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	ktr__kernel_text(path, text, 1024);
	p = strrchr(text, ')');
	return p && p[1] == ' ' ? p + 2 : NULL;
}

uint64_t ktr__proc_start_time(uint32_t pid)
{
	char text[1024];
	const char *p = kernel_stat(pid, text);

	if (!p)
		return 0;
	if ((*p == 'Z' || *p == 'X') && strtoul(kernel_skip_fields(p, 17), NULL, 10) <= 1)
		return 0;
	return strtoull(kernel_skip_fields(p, 19), NULL, 10);
}

/* flags is field 9. */
int ktr__proc_exits(uint32_t pid)
{
	char text[1024];
	const char *p = kernel_stat(pid, text);

	return p && strtoul(kernel_skip_fields(p, 6), NULL, 10) & KERNEL_PF_EXITING &&
	       strtoul(kernel_skip_fields(p, 17), NULL, 10) <= 2;
}

/* Has the process's file of /proc these bytes? 1 also where it cannot be read, or has nothing. */
static int kernel_has(uint32_t pid, const char *file, const char *wanted)
{
	size_t kept = 0, length = strlen(wanted);
	char path[40], text[4096];
	int fd, any = 0, has = 0;
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && !has && (n = read(fd, text + kept, sizeof(text) - kept)) > 0) {
		any = 1;
		n += (ssize_t)kept;
		has = memmem(text, (size_t)n, wanted, length) != NULL;
		kept = (size_t)n < length ? (size_t)n : length; /* they may lie across two reads */
		memmove(text, text + n - kept, kept);
	}
	if (fd >= 0)
		close(fd);
	return has || !any || n < 0;
}

/* A line is "from-to perms offset dev inode path". A path with the same number in it is no harm: nobody has left. */
int ktr__proc_maps(uint32_t pid, uint64_t ino)
{
	char wanted[32];

	snprintf(wanted, sizeof(wanted), " %llu ", (unsigned long long)ino);
	return kernel_has(pid, "maps", wanted);
}

int ktr__proc_stays(uint32_t pid, uint64_t ino)
{
	return ktr__proc_maps(pid, ino) || kernel_has(pid, "environ", "KTR_SESSION=") ||
	       kernel_has(pid, "environ", "KTR_CONF=");
}

int ktr__proc_exists(uint32_t pid)
{
	return pid && pid <= INT_MAX && (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

uint64_t ktr__proc_own_ns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 ? 0 : (uint64_t)st.st_ino;
}

int ktr__release_restarts(const char *release)
{
	static const char bad[][5] = { "6.19", "7.0" };

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(bad[i]);

		if (strncmp(release, bad[i], n) == 0 && !(release[n] >= '0' && release[n] <= '9'))
			return 0;
	}
	return 1;
}

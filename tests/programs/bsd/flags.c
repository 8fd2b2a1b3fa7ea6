/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls with flags, modes and names of each kind, so that what two tracers print of them can be compared. What a
 * call does is of no matter, as long as it does the same at every run; many are refused.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buffer[4096];
static int one = 1;

static int flags_files(void)
{
	static const int flags[] = { O_WRONLY | O_NOFOLLOW | O_NOATIME | O_SYNC, O_PATH | O_DIRECTORY,
				     O_TMPFILE | O_RDWR, O_RDONLY | O_DSYNC | O_DIRECT | O_NOCTTY,
				     O_RDONLY | O_NONBLOCK | O_CLOEXEC };
	int fd = open("x", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0640);

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		close(open(i == 1 || i == 2 ? "." : "x", flags[i], 0600));
	syscall(SYS_mkdir, "d", 01777);
	syscall(SYS_mknod, "fifo", S_IFIFO | 0644, 0);
	syscall(SYS_mknodat, AT_FDCWD, "socket", S_IFSOCK | 0600, 0);
	syscall(SYS_access, "x", R_OK | W_OK | X_OK);
	syscall(SYS_access, "x", F_OK);
	syscall(SYS_faccessat2, AT_FDCWD, "x", R_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW);
	syscall(SYS_linkat, AT_FDCWD, "x", AT_FDCWD, "l", AT_SYMLINK_FOLLOW);
	syscall(SYS_renameat2, AT_FDCWD, "l", AT_FDCWD, "x", 1);
	syscall(SYS_unlinkat, AT_FDCWD, "d", AT_REMOVEDIR);
	syscall(SYS_chmod, "x", 04755);
	syscall(SYS_umask, 027);
	syscall(SYS_fchownat, AT_FDCWD, "x", -1, -1, AT_SYMLINK_NOFOLLOW);
	syscall(SYS_utimensat, AT_FDCWD, "x", NULL, AT_SYMLINK_NOFOLLOW);
	syscall(SYS_newfstatat, AT_FDCWD, "x", buffer, AT_SYMLINK_NOFOLLOW);
	syscall(SYS_statx, AT_FDCWD, "x", AT_SYMLINK_NOFOLLOW, 0x7ffu, buffer);
	syscall(SYS_statx, AT_FDCWD, "x", 0, 0x200u, buffer);
	syscall(SYS_execveat, -1, "", NULL, NULL, AT_EMPTY_PATH);
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	syscall(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 10);
	syscall(SYS_sync_file_range, fd, 0L, 0L, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_BEFORE);
	for (int whence = SEEK_SET; whence <= SEEK_HOLE; whence++)
		lseek(fd, 0, whence);
	flock(fd, LOCK_EX | LOCK_NB);
	flock(fd, LOCK_SH);
	flock(fd, LOCK_UN);
	return fd;
}

static void flags_descriptors(int fd)
{
	static const int commands[] = { F_GETFL,  F_GETFD,	F_DUPFD,    F_DUPFD_CLOEXEC,
					F_GETOWN, F_GETPIPE_SZ, F_GETLEASE, F_GET_SEALS };
	int ends[2], epoll;
	struct epoll_event event = { EPOLLIN, { 0 } };
	sigset_t none;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fcntl(fd, commands[i], 20);
	fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	pipe2(ends, O_DIRECT | O_CLOEXEC);
	syscall(SYS_splice, fd, NULL, ends[1], NULL, 10, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	dup3(fd, 51, O_CLOEXEC);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	for (int op = EPOLL_CTL_ADD; op <= EPOLL_CTL_MOD; op++)
		epoll_ctl(epoll, op, ends[0], &event);
	eventfd(1, EFD_SEMAPHORE | EFD_CLOEXEC);
	inotify_add_watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK), ".", IN_CREATE | IN_DELETE);
	sigemptyset(&none);
	signalfd(-1, &none, SFD_CLOEXEC | SFD_NONBLOCK);
	ioctl(fd, FIONBIO, &one);
	ioctl(0, TIOCGWINSZ, buffer);
	syscall(SYS_close_range, 100u, 200u, CLOSE_RANGE_CLOEXEC);
	syscall(SYS_memfd_create, "m", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static void flags_memory(void)
{
	static const int advice[] = { MADV_WILLNEED, MADV_FREE, MADV_HUGEPAGE, MADV_DONTFORK, MADV_DONTNEED };
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);

	mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_GROWSDOWN | MAP_POPULATE, -1, 0);
	mprotect(at, 4096, PROT_NONE);
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		madvise(at, 4096, advice[i]);
	msync(at, 4096, MS_SYNC | MS_INVALIDATE);
	msync(at, 4096, MS_ASYNC);
	mremap(at, 8192, 4096, MREMAP_MAYMOVE);
	mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
	munlockall();
	syscall(SYS_mlock2, at, 4096, 1);
	getrandom(buffer, 0, GRND_RANDOM | GRND_NONBLOCK);
}

static void flags_sockets(void)
{
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP), pair[2];
	socklen_t n = sizeof(one);

	socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
	socket(AF_UNIX, SOCK_SEQPACKET, 0);
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	getsockopt(s, SOL_SOCKET, SO_ERROR, &one, &n);
	sendto(pair[1], "a", 1, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
	recvfrom(pair[0], buffer, 10, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
	shutdown(pair[0], SHUT_WR);
	shutdown(pair[0], SHUT_RDWR);
}

static void flags_signals(void)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN };
	sigset_t none;

	for (int number = 1; number < 65; number++)
		syscall(SYS_rt_sigaction, number, NULL, buffer, 8);
	sigaction(SIGIO, &ignored, NULL);
	sigemptyset(&none);
	for (int how = SIG_BLOCK; how <= SIG_SETMASK; how++)
		syscall(SYS_rt_sigprocmask, how, &none, NULL, 8);
	syscall(SYS_wait4, -1, NULL, WNOHANG | WCONTINUED, NULL);
	syscall(SYS_waitid, P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT, NULL);
	syscall(SYS_waitid, P_PID, 1, NULL, WEXITED | WNOHANG, NULL);
	syscall(SYS_futex, &one, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 1);
}

static void flags_clocks(void)
{
	static const int clocks[] = { CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID,
				      CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_COARSE };
	struct itimerspec timer = { { 0, 0 }, { 1, 0 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct timespec soon = { 0, 1 };

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		syscall(SYS_clock_getres, clocks[i], &soon);
	soon.tv_nsec = 1;
	syscall(SYS_clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &soon, NULL);
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
		setitimer(which, &never, NULL);
	timerfd_settime(timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK), TFD_TIMER_ABSTIME, &timer, NULL);
}

static void flags_processes(void)
{
	for (int resource = RLIMIT_CPU; resource <= RLIMIT_RTTIME; resource++)
		syscall(SYS_prlimit64, 0, resource, NULL, buffer);
	syscall(SYS_getrusage, RUSAGE_CHILDREN, buffer);
	syscall(SYS_getrusage, RUSAGE_THREAD, buffer);
	syscall(SYS_getpriority, PRIO_USER, 0);
	syscall(SYS_sched_get_priority_max, SCHED_FIFO);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	syscall(SYS_mount, "none", "/nonexistent", "tmpfs", MS_NOSUID | MS_NODEV, NULL);
	syscall(SYS_umount2, "/nonexistent", MNT_DETACH | UMOUNT_NOFOLLOW);
	syscall(SYS_setns, -1, CLONE_NEWNET);
}

int main(void)
{
	flags_descriptors(flags_files());
	flags_memory();
	flags_sockets();
	flags_signals();
	flags_clocks();
	flags_processes();
	return 0;
}

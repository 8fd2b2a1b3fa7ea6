/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of the C library in which threads wait, but for locks (ktr/provider/lock/calls.h) and signals
 * (ktr/provider/timer/wait.c).
 *
 * A row: what it returns, name, parameters, arguments, the version that programs ask for which are linked today,
 * and the one of those that were linked before glibc 2.17 or 2.34 ("": there is none). Versions are those of
 * x86-64. open(2) and fcntl(2) are not there: who they are called by cannot be told from how many arguments they
 * take.
 */
#ifndef KTR_OFFCPU_CALLS_H
#define KTR_OFFCPU_CALLS_H

#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#define KTR__OFFCPU_CALLS(X)                                                                                      \
	X(int, nanosleep, (const struct timespec *t, struct timespec *left), (t, left), "GLIBC_2.2.5", "")        \
	X(int, clock_nanosleep, (clockid_t c, int flags, const struct timespec *t, struct timespec *left),        \
	  (c, flags, t, left), "GLIBC_2.17", "GLIBC_2.2.5")                                                       \
	X(int, usleep, (useconds_t us), (us), "GLIBC_2.2.5", "")                                                  \
	X(unsigned, sleep, (unsigned s), (s), "GLIBC_2.2.5", "")                                                  \
	X(int, thrd_sleep, (const struct timespec *t, struct timespec *left), (t, left), "GLIBC_2.28", "")        \
	X(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), "GLIBC_2.2.5", "")                    \
	X(int, __poll_chk, (struct pollfd * fds, nfds_t n, int ms, size_t bytes), (fds, n, ms, bytes),            \
	  "GLIBC_2.16", "")                                                                                       \
	X(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *t, const sigset_t *set),             \
	  (fds, n, t, set), "GLIBC_2.4", "")                                                                      \
	X(int, __ppoll_chk,                                                                                       \
	  (struct pollfd * fds, nfds_t n, const struct timespec *t, const sigset_t *set, size_t bytes),           \
	  (fds, n, t, set, bytes), "GLIBC_2.16", "")                                                              \
	X(int, select, (int n, fd_set *in, fd_set *out, fd_set *ex, struct timeval *t), (n, in, out, ex, t),      \
	  "GLIBC_2.2.5", "")                                                                                      \
	X(int, pselect,                                                                                           \
	  (int n, fd_set *in, fd_set *out, fd_set *ex, const struct timespec *t, const sigset_t *set),            \
	  (n, in, out, ex, t, set), "GLIBC_2.2.5", "")                                                            \
	X(int, epoll_wait, (int fd, struct epoll_event * events, int n, int ms), (fd, events, n, ms),             \
	  "GLIBC_2.3.2", "")                                                                                      \
	X(int, epoll_pwait, (int fd, struct epoll_event * events, int n, int ms, const sigset_t *set),            \
	  (fd, events, n, ms, set), "GLIBC_2.6", "")                                                              \
	X(int, epoll_pwait2,                                                                                      \
	  (int fd, struct epoll_event * events, int n, const struct timespec *t, const sigset_t *set),            \
	  (fd, events, n, t, set), "GLIBC_2.35", "")                                                              \
	X(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), "GLIBC_2.2.5", "")                            \
	X(ssize_t, __read_chk, (int fd, void *to, size_t n, size_t bytes), (fd, to, n, bytes), "GLIBC_2.4", "")   \
	X(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), "GLIBC_2.2.5", "")             \
	X(ssize_t, pread64, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), "GLIBC_2.2.5", "")           \
	X(ssize_t, readv, (int fd, const struct iovec *to, int n), (fd, to, n), "GLIBC_2.2.5", "")                \
	X(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n), "GLIBC_2.2.5", "")                 \
	X(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), "GLIBC_2.2.5", "")  \
	X(ssize_t, pwrite64, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), "GLIBC_2.2.5", "") \
	X(ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n), "GLIBC_2.2.5", "")           \
	X(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), "GLIBC_2.2.5", "")          \
	X(ssize_t, __recv_chk, (int fd, void *to, size_t n, size_t bytes, int flags), (fd, to, n, bytes, flags),  \
	  "GLIBC_2.4", "")                                                                                        \
	X(ssize_t, recvfrom, (int fd, void *to, size_t n, int flags, struct sockaddr *who, socklen_t *len),       \
	  (fd, to, n, flags, who, len), "GLIBC_2.2.5", "")                                                        \
	X(ssize_t, __recvfrom_chk,                                                                                \
	  (int fd, void *to, size_t n, size_t bytes, int flags, struct sockaddr *who, socklen_t *len),            \
	  (fd, to, n, bytes, flags, who, len), "GLIBC_2.4", "")                                                   \
	X(ssize_t, recvmsg, (int fd, struct msghdr *to, int flags), (fd, to, flags), "GLIBC_2.2.5", "")           \
	X(int, recvmmsg, (int fd, struct mmsghdr * to, unsigned n, int flags, struct timespec *t),                \
	  (fd, to, n, flags, t), "GLIBC_2.12", "")                                                                \
	X(ssize_t, send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags), "GLIBC_2.2.5", "") \
	X(ssize_t, sendto,                                                                                        \
	  (int fd, const void *from, size_t n, int flags, const struct sockaddr *who, socklen_t len),             \
	  (fd, from, n, flags, who, len), "GLIBC_2.2.5", "")                                                      \
	X(ssize_t, sendmsg, (int fd, const struct msghdr *from, int flags), (fd, from, flags), "GLIBC_2.2.5", "") \
	X(int, sendmmsg, (int fd, struct mmsghdr * from, unsigned n, int flags), (fd, from, n, flags),            \
	  "GLIBC_2.14", "")                                                                                       \
	X(int, accept, (int fd, struct sockaddr *who, socklen_t *len), (fd, who, len), "GLIBC_2.2.5", "")         \
	X(int, accept4, (int fd, struct sockaddr *who, socklen_t *len, int flags), (fd, who, len, flags),         \
	  "GLIBC_2.10", "")                                                                                       \
	X(int, connect, (int fd, const struct sockaddr *who, socklen_t len), (fd, who, len), "GLIBC_2.2.5", "")   \
	X(ssize_t, sendfile, (int to, int from, off_t *at, size_t n), (to, from, at, n), "GLIBC_2.2.5", "")       \
	X(ssize_t, sendfile64, (int to, int from, off_t *at, size_t n), (to, from, at, n), "GLIBC_2.3", "")       \
	X(ssize_t, splice, (int from, off_t *at, int to, off_t *into, size_t n, unsigned flags),                  \
	  (from, at, to, into, n, flags), "GLIBC_2.5", "")                                                        \
	X(ssize_t, copy_file_range, (int from, off_t *at, int to, off_t *into, size_t n, unsigned flags),         \
	  (from, at, to, into, n, flags), "GLIBC_2.27", "")                                                       \
	X(int, fsync, (int fd), (fd), "GLIBC_2.2.5", "")                                                          \
	X(int, fdatasync, (int fd), (fd), "GLIBC_2.2.5", "")                                                      \
	X(int, syncfs, (int fd), (fd), "GLIBC_2.14", "")                                                          \
	X(int, msync, (void *at, size_t n, int flags), (at, n, flags), "GLIBC_2.2.5", "")                         \
	X(int, flock, (int fd, int how), (fd, how), "GLIBC_2.2.5", "")                                            \
	X(int, lockf, (int fd, int how, off_t n), (fd, how, n), "GLIBC_2.2.5", "")                                \
	X(int, lockf64, (int fd, int how, off_t n), (fd, how, n), "GLIBC_2.2.5", "")                              \
	X(pid_t, wait, (int *status), (status), "GLIBC_2.2.5", "")                                                \
	X(pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags), "GLIBC_2.2.5", "")           \
	X(pid_t, wait3, (int *status, int flags, struct rusage *usage), (status, flags, usage), "GLIBC_2.2.5", "") \
	X(pid_t, wait4, (pid_t pid, int *status, int flags, struct rusage *usage), (pid, status, flags, usage),   \
	  "GLIBC_2.2.5", "")                                                                                      \
	X(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int flags), (type, id, info, flags),             \
	  "GLIBC_2.2.5", "")                                                                                      \
	X(int, pause, (void), (), "GLIBC_2.2.5", "")                                                              \
	X(int, sigsuspend, (const sigset_t *set), (set), "GLIBC_2.2.5", "")                                       \
	X(ssize_t, msgrcv, (int queue, void *to, size_t n, long type, int flags), (queue, to, n, type, flags),    \
	  "GLIBC_2.2.5", "")                                                                                      \
	X(int, msgsnd, (int queue, const void *from, size_t n, int flags), (queue, from, n, flags),               \
	  "GLIBC_2.2.5", "")                                                                                      \
	X(int, semop, (int sem, struct sembuf * what, size_t n), (sem, what, n), "GLIBC_2.2.5", "")               \
	X(int, semtimedop, (int sem, struct sembuf * what, size_t n, const struct timespec *t), (sem, what, n, t), \
	  "GLIBC_2.3.3", "")                                                                                      \
	X(ssize_t, mq_receive, (mqd_t queue, char *to, size_t n, unsigned *priority), (queue, to, n, priority),   \
	  "GLIBC_2.34", "GLIBC_2.3.4")                                                                            \
	X(ssize_t, mq_timedreceive,                                                                               \
	  (mqd_t queue, char *to, size_t n, unsigned *priority, const struct timespec *t),                        \
	  (queue, to, n, priority, t), "GLIBC_2.34", "GLIBC_2.3.4")                                               \
	X(int, mq_send, (mqd_t queue, const char *from, size_t n, unsigned priority), (queue, from, n, priority), \
	  "GLIBC_2.34", "GLIBC_2.3.4")                                                                            \
	X(int, mq_timedsend,                                                                                      \
	  (mqd_t queue, const char *from, size_t n, unsigned priority, const struct timespec *t),                 \
	  (queue, from, n, priority, t), "GLIBC_2.34", "GLIBC_2.3.4")                                             \
	X(int, pthread_join, (pthread_t thread, void **result), (thread, result), "GLIBC_2.34", "GLIBC_2.2.5")    \
	X(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *t),                 \
	  (thread, result, t), "GLIBC_2.34", "GLIBC_2.3.3")                                                       \
	X(int, thrd_join, (thrd_t thread, int *result), (thread, result), "GLIBC_2.34", "GLIBC_2.28")

struct ktr__offcpu_calls {
#define OFFCPU_MEMBER(type, name, parameters, arguments, version, old) type(*name) parameters;
	KTR__OFFCPU_CALLS(OFFCPU_MEMBER)
#undef OFFCPU_MEMBER
};

/* Finds the real functions, once: asks the loader. Also done by the first call that comes before. */
void ktr__offcpu_resolve(void);

/* Calls go to functions that tell of them, or to the real ones again. */
void ktr__offcpu_lead(bool on);

/* Does the process call ours? Not where another object stands before this one in the loader's order. */
bool ktr__offcpu_is_first(void);

#endif

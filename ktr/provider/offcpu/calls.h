/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of the C library in which threads wait, but for locks (ktr/provider/lock/calls.h) and signals
 * (ktr/provider/timer/wait.c).
 *
 * A row: what it returns, name, parameters, arguments. open(2) and fcntl(2) are not there: who they are called by
 * cannot be told from how many arguments they take.
 */
#ifndef KTR_OFFCPU_CALLS_H
#define KTR_OFFCPU_CALLS_H

#include "ktr/provider/imports/imports.h"

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

#define KTR__OFFCPU_CALLS(X)											\
	X(int, nanosleep, (const struct timespec *t, struct timespec *left), (t, left))				\
	X(int, clock_nanosleep, (clockid_t c, int flags, const struct timespec *t, struct timespec *left),	\
	  (c, flags, t, left))											\
	X(int, usleep, (useconds_t us), (us))									\
	X(unsigned, sleep, (unsigned s), (s))									\
	X(int, thrd_sleep, (const struct timespec *t, struct timespec *left), (t, left))			\
	X(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))					\
	X(int, __poll_chk, (struct pollfd * fds, nfds_t n, int ms, size_t bytes), (fds, n, ms, bytes))		\
	X(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *t, const sigset_t *set),		\
	  (fds, n, t, set))											\
	X(int, __ppoll_chk,											\
	  (struct pollfd * fds, nfds_t n, const struct timespec *t, const sigset_t *set, size_t bytes),		\
	  (fds, n, t, set, bytes))										\
	X(int, select, (int n, fd_set *in, fd_set *out, fd_set *ex, struct timeval *t), (n, in, out, ex, t))	\
	X(int, pselect,												\
	  (int n, fd_set *in, fd_set *out, fd_set *ex, const struct timespec *t, const sigset_t *set),		\
	  (n, in, out, ex, t, set))										\
	X(int, epoll_wait, (int fd, struct epoll_event * events, int n, int ms), (fd, events, n, ms))		\
	X(int, epoll_pwait, (int fd, struct epoll_event * events, int n, int ms, const sigset_t *set),		\
	  (fd, events, n, ms, set))										\
	X(int, epoll_pwait2,											\
	  (int fd, struct epoll_event * events, int n, const struct timespec *t, const sigset_t *set),		\
	  (fd, events, n, t, set))										\
	X(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))						\
	X(ssize_t, __read_chk, (int fd, void *to, size_t n, size_t bytes), (fd, to, n, bytes))			\
	X(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))				\
	X(ssize_t, pread64, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))				\
	X(ssize_t, __pread_chk, (int fd, void *to, size_t n, off_t at, size_t bytes), (fd, to, n, at, bytes))	\
	X(ssize_t, __pread64_chk, (int fd, void *to, size_t n, off_t at, size_t bytes), (fd, to, n, at, bytes))	\
	X(ssize_t, readv, (int fd, const struct iovec *to, int n), (fd, to, n))					\
	X(ssize_t, preadv, (int fd, const struct iovec *to, int n, off_t at), (fd, to, n, at))			\
	X(ssize_t, preadv64, (int fd, const struct iovec *to, int n, off_t at), (fd, to, n, at))		\
	X(ssize_t, preadv2, (int fd, const struct iovec *to, int n, off_t at, int flags),			\
	  (fd, to, n, at, flags))										\
	X(ssize_t, preadv64v2, (int fd, const struct iovec *to, int n, off_t at, int flags),			\
	  (fd, to, n, at, flags))										\
	X(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n))					\
	X(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))			\
	X(ssize_t, pwrite64, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))			\
	X(ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n))				\
	X(ssize_t, pwritev, (int fd, const struct iovec *from, int n, off_t at), (fd, from, n, at))		\
	X(ssize_t, pwritev64, (int fd, const struct iovec *from, int n, off_t at), (fd, from, n, at))		\
	X(ssize_t, pwritev2, (int fd, const struct iovec *from, int n, off_t at, int flags),			\
	  (fd, from, n, at, flags))										\
	X(ssize_t, pwritev64v2, (int fd, const struct iovec *from, int n, off_t at, int flags),			\
	  (fd, from, n, at, flags))										\
	X(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags))				\
	X(ssize_t, __recv_chk, (int fd, void *to, size_t n, size_t bytes, int flags), (fd, to, n, bytes, flags)) \
	X(ssize_t, recvfrom, (int fd, void *to, size_t n, int flags, struct sockaddr *who, socklen_t *len),	\
	  (fd, to, n, flags, who, len))										\
	X(ssize_t, __recvfrom_chk,										\
	  (int fd, void *to, size_t n, size_t bytes, int flags, struct sockaddr *who, socklen_t *len),		\
	  (fd, to, n, bytes, flags, who, len))									\
	X(ssize_t, recvmsg, (int fd, struct msghdr *to, int flags), (fd, to, flags))				\
	X(int, recvmmsg, (int fd, struct mmsghdr * to, unsigned n, int flags, struct timespec *t),		\
	  (fd, to, n, flags, t))										\
	X(ssize_t, send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags))			\
	X(ssize_t, sendto,											\
	  (int fd, const void *from, size_t n, int flags, const struct sockaddr *who, socklen_t len),		\
	  (fd, from, n, flags, who, len))									\
	X(ssize_t, sendmsg, (int fd, const struct msghdr *from, int flags), (fd, from, flags))			\
	X(int, sendmmsg, (int fd, struct mmsghdr * from, unsigned n, int flags), (fd, from, n, flags))		\
	X(int, accept, (int fd, struct sockaddr *who, socklen_t *len), (fd, who, len))				\
	X(int, accept4, (int fd, struct sockaddr *who, socklen_t *len, int flags), (fd, who, len, flags))	\
	X(int, connect, (int fd, const struct sockaddr *who, socklen_t len), (fd, who, len))			\
	X(ssize_t, sendfile, (int to, int from, off_t *at, size_t n), (to, from, at, n))			\
	X(ssize_t, sendfile64, (int to, int from, off_t *at, size_t n), (to, from, at, n))			\
	X(ssize_t, splice, (int from, off_t *at, int to, off_t *into, size_t n, unsigned flags),		\
	  (from, at, to, into, n, flags))									\
	X(ssize_t, copy_file_range, (int from, off_t *at, int to, off_t *into, size_t n, unsigned flags),	\
	  (from, at, to, into, n, flags))									\
	X(int, fsync, (int fd), (fd))										\
	X(int, fdatasync, (int fd), (fd))									\
	X(int, syncfs, (int fd), (fd))										\
	X(int, sync_file_range, (int fd, off_t at, off_t n, unsigned flags), (fd, at, n, flags))		\
	X(int, msync, (void *at, size_t n, int flags), (at, n, flags))						\
	X(int, flock, (int fd, int how), (fd, how))								\
	X(int, lockf, (int fd, int how, off_t n), (fd, how, n))							\
	X(int, lockf64, (int fd, int how, off_t n), (fd, how, n))						\
	X(pid_t, wait, (int *status), (status))									\
	X(pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags))				\
	X(pid_t, wait3, (int *status, int flags, struct rusage *usage), (status, flags, usage))			\
	X(pid_t, wait4, (pid_t pid, int *status, int flags, struct rusage *usage), (pid, status, flags, usage))	\
	X(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int flags), (type, id, info, flags))		\
	X(int, pause, (void), ())										\
	X(int, sigsuspend, (const sigset_t *set), (set))							\
	X(ssize_t, msgrcv, (int queue, void *to, size_t n, long type, int flags), (queue, to, n, type, flags))	\
	X(int, msgsnd, (int queue, const void *from, size_t n, int flags), (queue, from, n, flags))		\
	X(int, semop, (int sem, struct sembuf * what, size_t n), (sem, what, n))				\
	X(int, semtimedop, (int sem, struct sembuf * what, size_t n, const struct timespec *t),			\
	  (sem, what, n, t))											\
	X(ssize_t, mq_receive, (mqd_t queue, char *to, size_t n, unsigned *priority), (queue, to, n, priority))	\
	X(ssize_t, mq_timedreceive,										\
	  (mqd_t queue, char *to, size_t n, unsigned *priority, const struct timespec *t),			\
	  (queue, to, n, priority, t))										\
	X(int, mq_send, (mqd_t queue, const char *from, size_t n, unsigned priority),				\
	  (queue, from, n, priority))										\
	X(int, mq_timedsend,											\
	  (mqd_t queue, const char *from, size_t n, unsigned priority, const struct timespec *t),		\
	  (queue, from, n, priority, t))									\
	X(int, pthread_join, (pthread_t thread, void **result), (thread, result))				\
	X(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *t),		\
	  (thread, result, t))											\
	X(int, pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t c, const struct timespec *t),	\
	  (thread, result, c, t))										\
	X(int, thrd_join, (thrd_t thread, int *result), (thread, result))

/*
 * Has them call ours by the pointers of what is loaded. Of what another object stands before the C library with
 * nothing is known, so that is left as it is.
 */
extern struct ktr__imports ktr__offcpu_imports;

/* How much is loaded as the program begins: before anything of it runs. */
void ktr__offcpu_at_start(void);

/* Finds the C library's own: asks the loader. Once, before any is led. False: there is none. */
bool ktr__offcpu_resolve(void);

#endif

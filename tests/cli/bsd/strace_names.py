# SPDX-License-Identifier: BSD-2-Clause
"""Names of x86-64's calls by their numbers, of FreeBSD's errors and of its signals."""
import errno
import re

HEADER = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h'
NAMES = {int(n): name for name, n in re.findall(r'#define __NR_(\w+) (\d+)', open(HEADER).read())}
# Errors: FreeBSD's numbers by name, for those that are not Linux's, from <sys/errno.h> there.
FREEBSD = {35: 'EAGAIN', 78: 'ENOSYS', 36: 'EINPROGRESS', 66: 'ENOTEMPTY', 62: 'ELOOP', 87: 'ENODATA', 61: 'ECONNREFUSED',
           45: 'EOPNOTSUPP', 60: 'ETIMEDOUT', 11: 'EDEADLK', 57: 'ENOTCONN', 47: 'EAFNOSUPPORT'}
SIGNALS = {1: 'SIGHUP', 2: 'SIGINT', 3: 'SIGQUIT', 6: 'SIGABRT', 8: 'SIGFPE', 9: 'SIGKILL', 10: 'SIGBUS', 11: 'SIGSEGV',
           13: 'SIGPIPE', 14: 'SIGALRM', 15: 'SIGTERM', 20: 'SIGCHLD', 30: 'SIGUSR1', 31: 'SIGUSR2', 65: 'SIGRT_32',
           66: 'SIGRT_33', 67: 'SIGRTMIN'}


def errno_name(number):
    return FREEBSD.get(number) or errno.errorcode.get(number - 1000 if number > 1000 else number)

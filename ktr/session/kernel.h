/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says in the small files of /proc and /sys. No call here allocates. */
#ifndef KTR_KERNEL_H
#define KTR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads a file whole, up to size - 1 bytes, and ends it with a NUL. Returns the number of bytes, 0 for
 * a file that is not there or says nothing; text is empty then. Async-signal-safe.
 */
size_t ktr__kernel_text(const char *path, char *text, size_t size);

/* The number at *at, which moves past it; false where there is no digit. Too large ones are clipped. */
int ktr__kernel_number(const char **at, uint64_t *number);

/* /proc/sys/kernel/random/boot_id, which differs from boot to boot; zeros where unknown. */
void ktr__kernel_boot_id(uint64_t id[2]);

/*
 * Field 22 of /proc/PID/stat: when a process started, in clock ticks since boot; pid 0 asks for
 * our own. 0 where there is no such process.
 */
uint64_t ktr__proc_start_time(uint32_t pid);

/* Is it in the midst of ending, which releases its files one by one? Known of those with one thread, or two. */
int ktr__proc_exits(uint32_t pid);

/*
 * Has the process a mapping of the file of inode `ino`? One that has gone through exec(2) is still there, and has
 * left the session. 1 also where that is not to be seen.
 */
int ktr__proc_maps(uint32_t pid, uint64_t ino);

/*
 * Is a process that was in the session of inode `ino` in it, or may it come back? What it has become by exec(2)
 * joins the session of the name that it is told, as a server's new binary does, but not before it has started.
 */
int ktr__proc_stays(uint32_t pid, uint64_t ino);

/* Has a process, also a zombie, this number? One system call, where the above takes a dozen. */
int ktr__proc_exists(uint32_t pid);

/* Inode of our own pid namespace, 0 where unknown. */
uint64_t ktr__proc_own_ns(void);

/*
 * Does a kernel of this release (uname(2)) abort the restartable sequences of arm64 whenever it preempts
 * the thread? 6.19 and 7.0 do so only when the thread comes back on another CPU: reported in April 2026,
 * "[REGRESSION] rseq: refactoring in v6.19 broke everyone on arm64", linux-arm-kernel. Later point
 * releases of both may have been mended; they are not told apart, since the other path costs no more.
 */
int ktr__release_restarts(const char *release);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libktr-task: the threads of another process, looked at from outside, by the calls that Mach has for its tasks:
 * which threads there are, what each does, its registers, what is in the process's memory, and samples of stacks,
 * at a rate. The process may be any that the caller may use ptrace(2) on, of the caller's machine. It need not know
 * of ktr, and may be linked statically.
 *
 *	struct ktr_error err = KTR_ERROR_NONE;
 *	char line[KTR_ERROR_LINE_BYTES];
 *
 *	if (ktr_sample_task(pid, 100, fd, &err))
 *		fprintf(stderr, "%s\n", ktr_error_print(&err, line, sizeof(line)));
 *
 * All calls return 0, or what they found, and -errno where they fail; err may be NULL, and else says in a sentence
 * which rule it was. These are common to all: -ESRCH, there is no such process or thread, or it has ended (of a
 * zombie ktr_task_threads() and ktr_thread_info() tell, and no other call); -EPERM, it is another user's, or the
 * kernel's rules forbid it; -EBUSY, another tracer has it; -EINVAL, it is the calling process, or an argument is
 * none; -ENOEXEC, it is of another machine's code; -ENOMEM.
 *
 * ktr_thread_state() and the samples stop a thread for a moment, one at a time. It goes on as if nothing had been:
 * a call that it waits in is made again. All calls may be made by several threads at once, and block for as long
 * as the kernel takes (a thread that does not stop, two seconds). None is a point at which pthread_cancel(3) ends
 * the caller. They are not for handlers of signals, nor for a forked child of a program with threads before it
 * calls execve(2).
 *
 * Of the caller's process: each stop sends it SIGCHLD, unless it has a handler with SA_NOCLDSTOP or takes no
 * notice of that, and a call that waits for any child, waitpid(-1), may be told of a stop that is not its own:
 * such a program waits for its children by number. Of a child of its own that is looked at, also waitpid(2) by
 * number may tell of a stop: while WIFSTOPPED says so it is called again. The end of a child is told to who
 * waits for it, as without.
 */
#ifndef KTR_TASK_H
#define KTR_TASK_H

#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#ifdef __cplusplus
extern "C" {
#endif
/* A function may have the name of its structure, as stat(2) has; g++'s -Wshadow is against it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC visibility push(default)

/* ---- threads ---- */

/*
 * The ids of a process's threads, ascending: *tid is an array of *n, owned by the caller, who frees it by free(3).
 * On failure it is NULL, and *n is 0. Threads may come and end at any time.
 */
int ktr_task_threads(pid_t pid, pid_t **tid, uint32_t *n, struct ktr_error *err);

/* What the kernel tells of a thread without stopping it. */
struct ktr_thread_info {
	uint32_t size;		/* [bytes] sizeof(struct ktr_thread_info), by the caller */
	char state;		/* as in /proc/PID/stat: R, S, D, T, t, Z, X, I */
	char name[16];		/* with its NUL; any bytes */
	uint8_t reserved[3];	/* 0 */
	int32_t cpu;		/* that it runs on, or ran on last */
	int32_t nice;		/* -20 to 19 */
	int32_t priority;	/* as in /proc/PID/stat: of a real-time policy negative */
	int32_t call;		/* the system call that it is in, by number; -1: none, or not known */
	uint64_t user_ns;	/* time on a CPU in the program, and */
	uint64_t system_ns;	/* in the kernel: to a tick of USER_HZ, 10 ms */
	uint64_t cpu_ns;	/* both, exactly; 0: this kernel does not tell */
	uint64_t start_ns;	/* CLOCK_BOOTTIME when it was made, to a tick */
	uint64_t n_voluntary;	/* how often it has gone to sleep, and */
	uint64_t n_involuntary; /* how often it was made to give way */
};

/* Fills *info of a thread of a process. The caller has set info->size; -EINVAL: to less than this library's. */
int ktr_thread_info(pid_t pid, pid_t tid, struct ktr_thread_info *info, struct ktr_error *err);

/* A thread's registers as they were while it was stopped, as ptrace(2) has them (NT_PRSTATUS). */
struct ktr_thread_state {
	uint32_t size;	     /* [bytes] sizeof(struct ktr_thread_state), by the caller */
	char state;	     /* before it was stopped, as in struct ktr_thread_info */
	uint8_t reserved[3]; /* 0 */
	uint64_t stopped_ns; /* how long it stood, at most: since it was seen last to run */
	struct user_regs_struct regs;
};

/*
 * Stops a thread, reads its registers, and lets it go. Errors besides: -ETIMEDOUT, it did not come out of the
 * kernel within two seconds; -EAGAIN, it waits where no signal reaches it (D), and was not asked.
 */
int ktr_thread_state(pid_t pid, pid_t tid, struct ktr_thread_state *state, struct ktr_error *err);

/* ---- memory ---- */

/*
 * Reads n bytes at an address of a process, which goes on meanwhile: how many there were, less than n where what
 * cannot be read begins. -EFAULT: none.
 */
ssize_t ktr_vm_read(pid_t pid, uint64_t address, void *to, size_t n, struct ktr_error *err);

#define KTR_VM_PATH 4096 /* [bytes] with its NUL */

struct ktr_vm_region {
	uint32_t size;	     /* [bytes] sizeof(struct ktr_vm_region), by the caller */
	char access[4];	     /* r, w, x, or '-' in its place; then s or p: shared, or private */
	uint64_t start, end; /* [bytes] the first address, and the one behind the last */
	uint64_t offset;     /* [bytes] in its file */
	uint64_t inode;	     /* 0: no file's */
	uint32_t major, minor;	/* of the file's device */
	char path[KTR_VM_PATH]; /* as in /proc/PID/maps, "[stack]", "/lib/x.so (deleted)"; "": none */
};

/*
 * The region that an address lies in, else the next one above: -ENOENT where there is none. Whoever goes through
 * all of them asks for region.end next.
 */
int ktr_vm_region(pid_t pid, uint64_t address, struct ktr_vm_region *region, struct ktr_error *err);

/* ---- samples ---- */

#define KTR_SAMPLE_HZ_MAX 10000

/*
 * Begins to sample the stacks of a thread, or of all threads that a process has and gets, hz times in a second (1
 * to KTR_SAMPLE_HZ_MAX), whether they run or wait. A thread of the library's own does that, and writes to the
 * descriptor fd of a file, a pipe or a stream's socket, which it duplicates: a buffer when it is full, and else
 * after a second. It never waits for a reader: what there is no room for is lost, and counted.
 * The sampling ends by ktr_sample_stop(), when what is sampled ends, or when nobody reads any more; that call is
 * due in any case, and frees what it had. Several may write to one descriptor, a buffer at a time. One that is
 * there already, of the same process or thread, and goes on, stays as it is, and 0 is returned. While another
 * thread stops what writes to the same file, that is waited for. Errors besides: -EBADF, fd cannot be written to;
 * -EAGAIN, no thread could be made.
 */
int ktr_sample_thread(pid_t pid, pid_t tid, unsigned hz, int fd, struct ktr_error *err);
int ktr_sample_task(pid_t pid, unsigned hz, int fd, struct ktr_error *err);

/*
 * The same at page faults: a sample of the thread, or of any of the process's with tid 0, in `every` of its
 * faults, as the kernel tells of them (perf_event_open(2)): nothing is stopped, and a thread that has none has no
 * samples. Those that the kernel had no room for are lost, and counted. Faults in the kernel, as read(2) into new
 * memory has them, are told of to who may see them (kernel.perf_event_paranoid, CAP_PERFMON). Errors besides:
 * -EACCES, the kernel does not tell; -EMFILE, each thread that there is takes a descriptor for each CPU;
 * -ENOTSUP, on this machine.
 */
int ktr_sample_faults(pid_t pid, pid_t tid, unsigned every, int fd, struct ktr_error *err);

/* What samplings have done, in all. */
struct ktr_sample_sums {
	uint32_t size;		  /* [bytes] sizeof(struct ktr_sample_sums), by the caller */
	uint32_t n_samplings;	  /* that wrote to the descriptor */
	uint64_t n_samples;	  /* taken: written or lost */
	uint64_t n_lost;	  /* that no buffer has, or one of which not all was written */
	uint64_t n_rounds;	  /* in which each thread was looked at, and */
	uint64_t n_missed;	  /* those that came too late, and were left out */
	uint64_t n_stops;	  /* of threads. One that has slept on since its last is not stopped again. */
	uint64_t stopped_ns;	  /* how long they stood, all together, and */
	uint64_t most_ns;	  /* the longest */
};

/*
 * Ends what is written to a descriptor, after the thread that is just looked at, and waits for that: the last
 * buffers are written, with is_last set, if there is room for them within a second. sums, if not NULL, is what was
 * done in all. Of two files that had the number one after the other, the one that has it goes first, and another
 * call is due. 0; -ENOENT, nothing is written there; else how it ended before: -ESRCH with what was sampled, -EPIPE
 * when nobody read any more, -ENOSPC and others as write(2) has them.
 */
int ktr_sample_stop(int fd, struct ktr_sample_sums *sums, struct ktr_error *err);

#define KTR_SAMPLE_MAGIC      0x5053544bu /* "KTSP" */
#define KTR_SAMPLE_VERSION    1
#define KTR_SAMPLE_BUFFER_MAX 32768 /* [bytes] of a buffer */
#define KTR_SAMPLE_FRAMES_MAX 512   /* of a sample; deeper stacks are cut */

/*
 * What arrives on the descriptor, little-endian: this, and n_bytes - header_bytes bytes of samples. One that ends
 * early is the last, and was counted as lost.
 */
struct ktr_sample_buffer {
	uint32_t magic;	       /* KTR_SAMPLE_MAGIC */
	uint16_t version;      /* KTR_SAMPLE_VERSION */
	uint16_t header_bytes; /* to the first sample */
	uint32_t n_bytes;      /* of all */
	uint32_t n_samples;
	uint64_t number;    /* of the buffer, from 0: none is left out */
	uint64_t first;	    /* running number of its first sample, lost ones counted */
	uint64_t n_lost;    /* samples lost before that, since the beginning: first less all that came in buffers */
	uint64_t n_rounds;  /* since the beginning, as in struct ktr_sample_sums */
	uint64_t n_missed;
	uint64_t n_stops;
	uint64_t stopped_ns;
	uint64_t most_ns;
	uint64_t period_ns; /* between two rounds; 0: of faults */
	int32_t pid;
	int32_t tid;	   /* 0: all threads */
	uint32_t is_last;  /* 1: nothing comes after it */
	int32_t code;	   /* of the last: 0, it was stopped; ESRCH, what was sampled has ended; else an errno */
};

/* ktr_sample_stack.flags */
#define KTR_SAMPLE_FAULT 4u /* of a page fault */
#define KTR_SAMPLE_CUT	 1u /* there are more frames, which could not be followed */
#define KTR_SAMPLE_SLEPT 2u /* it has slept since its last sample, in the same call, and was not stopped */

struct ktr_sample_stack {
	uint32_t n_bytes;    /* of this one, a multiple of 8 */
	int32_t tid;
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	/*
	 * From 0, left out ones counted: each thread has one in each that was done. That of n_rounds + n_missed was
	 * ended before it was done. Of a fault: the address that it was at.
	 */
	uint64_t round;
	uint32_t stopped_ns; /* how long the thread stood for it; 0: it did not */
	uint32_t back;	     /* [bytes] its frames are those of the sample so far before this one; 0: its own */
	uint16_t n_frames;
	char state;	     /* as in struct ktr_thread_info */
	uint8_t flags;
	int32_t code;	     /* 0, or why there are no frames: an errno */
	/* Frames of 8 bytes follow, the innermost first, as ktr_sample_frames() gives them. */
};

/*
 * Goes through the samples of a buffer, of which n bytes are there: the one after `last`, or the first, if that is
 * NULL. NULL: there are no more, or what is there is no buffer, as `*code`, if code is not NULL, says: 0 or
 * -EBADMSG.
 */
const struct ktr_sample_stack *ktr_sample_next(const struct ktr_sample_buffer *buffer, size_t n,
					 const struct ktr_sample_stack *last, int *code);

/*
 * The frames of one that ktr_sample_next() gave, n_frames of them: where the thread is, then return addresses,
 * which belong to what the byte before them belongs to. Borrowed from the buffer.
 */
const uint64_t *ktr_sample_frames(const struct ktr_sample_stack *sample);

#pragma GCC visibility pop
#pragma GCC diagnostic pop

#ifdef __cplusplus
}
#endif
#endif

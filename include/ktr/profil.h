/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libktr-profil: profil(2) as BSD has it, and right for threads. The program's buffer is a histogram of where its
 * threads spend their CPU time: each tick of a thread's own clock, 100 in a second unless told otherwise, adds one
 * to the counter that belongs to the address that the thread is at.
 *
 *	static unsigned short counter[65536];
 *
 *	ktr_profil(counter, sizeof(counter), (size_t)first_function, 0x10000);
 *	...
 *	ktr_profil(NULL, 0, 0, 0);
 *
 * It needs nothing else of ktr. Each thread has a timer of its CPU time; what comes late counts for as many ticks
 * as it is late. The threads that are there when profiling begins are found; those that pthread_create(3) and
 * thrd_create(3) make later are where the shared library is linked before the C library, or the archive with what
 * pkg-config --static --libs ktr-profil gives; then those that a shared library makes, such as that of C++, are
 * not. Any other calls ktr_profil_thread().
 *
 * Ticks are told by a signal of real time that the program does not use, whose handler makes no call that a handler
 * may not make, keeps errno, and has calls go on that were interrupted. The calls here are for any thread, one
 * after another by themselves; but for ktr_profil_thread() they are not for handlers of signals.
 */
#ifndef KTR_PROFIL_H
#define KTR_PROFIL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* A function may have the name of its structure, as stat(2) has; g++'s -Wshadow is against it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC visibility push(default)

#define KTR_PROFIL_SCALE_ONE 0x10000u /* a counter of 2 bytes for each 2 bytes of text; 0x8000: for each 4, ... */

/*
 * From now on the ticks of all threads are counted in `samples`, counters of 16 bits, `size` bytes of them, which
 * the caller owns: that at ((pc - offset) * scale >> 16) & ~1 bytes. One that is full goes on from 0. An address
 * below `offset`, or whose counter is not whole within the buffer, is in none. What was counted into before is no
 * more once the call has returned.
 *
 * A scale of 0 or 1 ends it; the other arguments are not looked at then. A buffer that cannot be written to ends
 * it, too, without a word. It goes on in a child of fork(2), in its own copy of the buffer, and ends with
 * execve(2).
 *
 * 0, or -1 and errno: EINVAL, a scale above KTR_PROFIL_SCALE_ONE; EBUSY, the program uses all signals of real time;
 * EAGAIN, ENOMEM, the kernel gives no timers, and nothing is counted.
 */
int ktr_profil(void *samples, size_t size, size_t offset, unsigned scale);

#define KTR_PROFIL_HZ_MAX 10000

/*
 * How many ticks a second of a thread's CPU time has: `hz` (1 to KTR_PROFIL_HZ_MAX) from now on, or as before where
 * that is 0. Returns what it is: 100, until it is told. The kernel looks at such clocks 100 to 1000 times a second
 * itself; of more ticks than that several come at once, for one address. While something is counted, or for a
 * number out of range, it stays as it is.
 */
unsigned ktr_profil_hz(unsigned hz);

/* The calling thread, which is none of pthread_create's, is counted, too. 0 or -1 and errno. Async-signal-safe. */
int ktr_profil_thread(void);

/* What there has been since the process began; a child begins with what its parent had. */
struct ktr_profil_sums {
	uint32_t size;	    /* [bytes] sizeof(struct ktr_profil_sums), by the caller */
	uint32_t is_on;	    /* 1: ticks are counted */
	uint64_t n_ticks;   /* all that came, and */
	uint64_t n_outside; /* those of them that were in no counter */
	uint64_t n_missed;  /* that were due to threads which ended before the kernel looked: nobody knows where */
	uint64_t n_without; /* times that a thread could have no timer */
};

/* Fills *sums. 0 or -1 and errno: EINVAL, sums->size is less than this library's. */
int ktr_profil_sums(struct ktr_profil_sums *sums);

/*
 * As monstartup(3): gathers a histogram of the text from lowpc to highpc, in memory of its own, whose counters do
 * not begin from 0 again, and has it written when the program exits. What was gathered by an earlier call is
 * forgotten. 0 or -1 and errno, as ktr_profil(); EINVAL: there is nothing between the two.
 */
int ktr_monstartup(unsigned long lowpc, unsigned long highpc);

/* As moncontrol(3): 0 ends, anything else resumes what ktr_monstartup() began. Without that nothing happens. */
void ktr_moncontrol(int mode);

/*
 * Ends it, and writes gmon.out in the current folder, or PREFIX.PID where the variable GMON_OUT_PREFIX gives one,
 * for gprof(1), in GNU's form, with the addresses of the file that the text is of. It has times and no calls: ktr
 * run --fbt counts those. The exit calls it, where ktr_monstartup() has been called. 0, also where that has not
 * been; or -1 and errno.
 */
int ktr_mcleanup(void);

#pragma GCC visibility pop
#pragma GCC diagnostic pop

#ifdef __cplusplus
}
#endif

/* For code that calls them by their own names: -DKTR_PROFIL_NAMES -include ktr/profil.h. */
#ifdef KTR_PROFIL_NAMES
#include <unistd.h>
#if __has_include(<sys/gmon.h>)
#include <sys/gmon.h>
#endif
#define profil(samples, size, offset, scale) \
	ktr_profil((samples), (size_t)(size), (size_t)(offset), (unsigned)(scale))
#define monstartup(lowpc, highpc) ((void)ktr_monstartup((unsigned long)(lowpc), (unsigned long)(highpc)))
#define moncontrol(mode)	  ktr_moncontrol(mode)
#define _mcleanup()		  ((void)ktr_mcleanup())
#endif
#endif

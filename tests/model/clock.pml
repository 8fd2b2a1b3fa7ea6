/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.pml: `debug.ktr.clock` = every k-th event: when may an event take an older time?
 *
 * Names here            names in ktr
 *   K, MAX              k; slots of the longest event (MAX_SLOTS)
 *   rseq_cs[thread]     the thread's rseq_cs word: 0, or the descriptor of a sequence. There are two
 *                       sequences, so two descriptors (an event of one slot, an event of several).
 *                       It is left standing after an event; the kernel clears it when it switches the
 *                       thread, and so it tells at the next event whether the thread was switched
 *   cached[thread]      the time last read by the thread, in its own memory
 *   ring_time           -DRING_TIME: the time last read by anybody, in the ring's header
 *   head                slots recorded; it also serves as the clock, since time that passes without
 *                       an event cannot bring two events into the wrong order
 *   kernel()            what the kernel does to a thread that it takes off the CPU or sends a
 *                       signal: if the thread stands inside the sequence that rseq_cs names, it goes
 *                       on at the sequence's beginning; in any case rseq_cs becomes 0
 *   thread 0, 1         two threads on one CPU; process 2 is a signal handler of thread 0
 *
 * -DKERNEL_V2: Linux from 6.19 on looks at rseq_cs only if the thread was interrupted in user mode:
 * who sleeps in a system call between two events finds rseq_cs as it left it, although others have
 * recorded meanwhile ("Optimized RSEQ V2", row 2 of the table in Documentation/userspace-api/rseq.rst;
 * rseq_update_usr() in include/linux/rseq_entry.h). The thread's own time is then too old. The time
 * kept in the ring is right on every kernel: then rseq_cs decides about precision alone.
 *
 * Properties: time never goes back in ring order; no event's time is older than the last K slots
 * and the event that they begin in.
 *
 * Bounds: LAST slots, K and MAX as given, one signal.
 */

#ifndef K
#define K 3
#endif
#define MAX 2
#ifndef LAST
#define LAST 9
#endif

byte head;
byte last_time;
byte ring_time;
byte rseq_cs[2];
byte cached[2];
bit cpu;
bit in_handler;
bit signalled;

#define THREAD		(_pid == 2 -> 0 : _pid)
#ifdef RING_TIME
#define OLD_TIME	ring_time
#else
#define OLD_TIME	cached[THREAD]
#endif

/* The test for "switched meanwhile": any descriptor will not do, it has to be our own. */
#ifdef BREAK_ANY_CS
#define SWITCHED	(seen == 0)
#else
#define SWITCHED	(seen != d)
#endif

/* Off the CPU, or a signal to thread 0; back later. INSIDE: the sequence d is being run. */
#define LEAVE		rseq_cs[THREAD] = 0; cpu = 0
#define HANDLER		rseq_cs[0] = 0; signalled = 1; in_handler = 1
#define COME_BACK	atomic { cpu == 0 -> cpu = 1 }
#define OUTSIDE(x) \
	do \
	:: atomic { x; break } \
	:: atomic { LEAVE }; COME_BACK \
	:: atomic { _pid == 0 && !signalled -> HANDLER }; !in_handler \
	od
#define INSIDE(x) \
	do \
	:: atomic { x; break } \
	:: atomic { rseq_cs[THREAD] != d -> LEAVE }; COME_BACK \
	:: atomic { rseq_cs[THREAD] == d -> LEAVE }; COME_BACK; goto again \
	:: atomic { _pid == 0 && !signalled && rseq_cs[0] != d -> HANDLER }; !in_handler \
	:: atomic { _pid == 0 && !signalled && rseq_cs[0] == d -> HANDLER }; !in_handler; goto again \
	od

inline record()
{
again:
#ifdef BREAK_TEST_OUTSIDE
	OUTSIDE(seen = rseq_cs[THREAD]);
	OUTSIDE(rseq_cs[THREAD] = d);
#else
	INSIDE(seen = rseq_cs[THREAD]);
	if
	:: seen == d
	:: seen != d -> INSIDE(rseq_cs[THREAD] = d)
	fi;
#endif
	INSIDE(h = head);
	if
#ifdef BREAK_NO_TEST
	:: (h % K) == 0 || (h % K) + n > K ->
#else
	:: SWITCHED || (h % K) == 0 || (h % K) + n > K ->
#endif
		INSIDE(time = head);
		INSIDE(OLD_TIME = time)
	:: else -> INSIDE(time = OLD_TIME)
	fi;
	INSIDE(commit())
}

inline commit()
{
	assert(time >= last_time);			/* time never goes back in ring order */
	assert(h < time + K + MAX - 1);			/* nor does it lag by more */
	last_time = time;
	head = h + n
}

active [3] proctype thread()
{
	byte h, n, d, seen, time;

	if
	:: _pid == 2 ->
end:		in_handler
	:: else -> COME_BACK
	fi;
next:
	atomic {
		if
		:: head >= LAST -> goto gone
		:: head + 1 <= LAST -> d = 1; n = 1
		:: head + 2 <= LAST -> d = 2; n = 2
		fi
	}
	record();
	atomic {
		h = 0; seen = 0; time = 0; n = 0; d = 0;
		if
		:: _pid == 2 -> goto gone
		:: else
		fi
	}
	/* Between two events: neither, preempted, asleep in a system call. */
	if
	:: goto next
	:: atomic { LEAVE }; COME_BACK; goto next
#ifdef KERNEL_V2
	:: atomic { cpu = 0 }; COME_BACK; goto next
#endif
	fi;
gone:
	if
	:: _pid == 2 -> in_handler = 0
	:: else -> cpu = 0
	fi
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.pml: `debug.ktr.clock` = every k-th event: when may an event take an older time?
 *
 * Names here            names in ktr
 *   K, MAX              k; slots of the longest event (MAX_SLOTS)
 *   rseq_cs[thread]     the thread's rseq_cs word: 0, or the descriptor of a sequence: 1, an event of
 *                       one slot, which leaves it standing; 2, an event of several, which takes it
 *                       back; 3, somebody else's. The kernel clears it when it switches the thread,
 *                       so it tells at the next event whether the thread was switched
 *   before, continued   the first word of the slot before head: a time, or that of a continuation
 *   cached[thread]      -DOWN_TIME: the time last read by the thread, in its own memory
 *   came[thread]        where head was when the thread was last put on the CPU
 *   head                slots recorded; it also serves as the clock, since time that passes without
 *                       an event cannot bring two events into the wrong order
 *   ABORTED             the thread stands inside the sequence that rseq_cs names when the kernel
 *                       takes it off the CPU or sends it a signal: it goes on at the sequence's
 *                       beginning. Whether or not, rseq_cs becomes 0
 *   thread 0, 1         two threads on one CPU; process 2 is a signal handler of thread 0
 *
 * An event of several slots always reads the clock; one of a single slot where head is a multiple of K,
 * where rseq_cs is not its own, or where the slot before head has no time.
 *
 * -DKERNEL_V2: Linux from 6.19 on looks at rseq_cs only if the thread was interrupted in user mode
 * (rseq_update_usr() in include/linux/rseq_entry.h; later releases: for threads registered as
 * "Optimized RSEQ V2", Documentation/userspace-api/rseq.rst). Who sleeps in a system call between
 * two events finds rseq_cs as it left it, although others have recorded meanwhile; the thread's own
 * time is then too old. The time in the slot before is in order on every kernel: then rseq_cs
 * decides about precision alone.
 *
 * Properties: time never goes back in ring order; no event's time is older than the last K slots
 * and the event that they begin in; and but for KERNEL_V2, none is from before its thread was last put
 * on the CPU.
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
byte before;
bit continued;
byte rseq_cs[2];
byte cached[2];
byte came[2];
bit cpu;
bit in_handler;
bit signalled;
hidden byte time_never_goes_back, time_lags_by_k_at_most, time_is_of_this_turn;

#define THREAD		(_pid == 2 -> 0 : _pid)
#ifdef OWN_TIME
#define OLD_TIME	cached[THREAD]
#else
#define OLD_TIME	before
#endif

/* The test for "switched meanwhile": any descriptor will not do, it has to be our own. */
#ifdef BREAK_ANY_CS
#define SWITCHED	(seen == 0)
#elif defined(BREAK_NO_TEST)
#define SWITCHED	false
#else
#define SWITCHED	(seen != d)
#endif
#define FORGET		h = 0; n = 0; d = 0; seen = 0; time = 0
#define READ_CLOCK	(n > 1 || SWITCHED || head % K == 0 || continued)

inline commit()
{
	time_never_goes_back = (time >= last_time);	/* in ring order */
	assert(time_never_goes_back);
	time_lags_by_k_at_most = (h < time + K + MAX - 1);
	assert(time_lags_by_k_at_most);
#ifndef KERNEL_V2
	time_is_of_this_turn = (time >= came[THREAD]);
	assert(time_is_of_this_turn);
#endif
	last_time = time;
#ifdef BREAK_CONTINUED
	before = (n > 1 -> before : time);
#else
	before = time;
	continued = (n > 1);
#endif
	head = h + n;
	FORGET;
	inside = 0
}

/*
 * STEP is one instruction; before each, and after the last, the thread may be taken off the CPU or
 * get a signal. In the sequence, named by rseq_cs, that event is forgotten and another one recorded
 * instead.
 */
#define ABORTED		(inside && rseq_cs[THREAD] == d)
#define COME_BACK	atomic { cpu == 0 -> cpu = 1; came[THREAD] = head }
#define STEP(x) \
	do \
	:: atomic { x; break } \
	:: atomic { \
		true -> cpu = 0; \
		if \
		:: ABORTED -> rseq_cs[THREAD] = 0; FORGET; goto back \
		:: else -> rseq_cs[THREAD] = 0 \
		fi \
	   }; COME_BACK \
	:: atomic { \
		_pid == 0 && !signalled -> signalled = 1; in_handler = 1; \
		if \
		:: ABORTED -> rseq_cs[0] = 0; FORGET; goto handled \
		:: else -> rseq_cs[0] = 0 \
		fi \
	   }; !in_handler \
	od

active [3] proctype thread()
{
	byte h, n, d, seen, time;
	bit inside, many;

	if
	:: _pid == 2 ->
end:		in_handler; goto next
	:: else
	fi;
back:
	COME_BACK;
handled:
	_pid != 0 || !in_handler;
next:
	atomic {
		inside = 0;
		if
		:: head >= LAST -> goto gone
		:: head + 1 <= LAST -> d = 1; n = 1
		:: head + 2 <= LAST -> d = 2; n = 2
		fi
	}
	if
	:: n > 1 -> STEP(rseq_cs[THREAD] = d; inside = 1)
	:: else ->
#ifdef BREAK_TEST_OUTSIDE
		STEP(seen = rseq_cs[THREAD]);
		STEP(rseq_cs[THREAD] = d; inside = 1)
#else
		STEP(seen = rseq_cs[THREAD]; inside = 1);
		if
		:: seen == d
		:: seen != d -> STEP(rseq_cs[THREAD] = d)
		fi
#endif
	fi;
	if
	:: READ_CLOCK ->
		STEP(h = head; time = head);
#ifdef OWN_TIME
		STEP(cached[THREAD] = time)
#endif
	:: !READ_CLOCK ->
		STEP(h = head; time = OLD_TIME)
	fi;
	many = (n > 1);
	STEP(commit());
	if
	:: many -> many = 0; STEP(rseq_cs[THREAD] = 0)
	:: else
	fi;
	if
	:: _pid == 2 -> goto gone
	:: else
	fi;
	/* Between two events: nothing, or asleep in a system call. Preempted: see STEP. */
	if
	:: goto next
	:: rseq_cs[THREAD] = 3; goto next
#ifdef KERNEL_V2
	:: atomic { cpu = 0; goto back }
#else
	:: atomic { rseq_cs[THREAD] = 0; cpu = 0; goto back }
#endif
	fi;
gone:
	if
	:: _pid == 2 -> in_handler = 0
	:: else -> cpu = 0
	fi
}

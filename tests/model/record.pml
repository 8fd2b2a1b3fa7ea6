/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.pml: recording into one ring, on both paths, and draining it.
 *
 * Names here            names in ktr
 *   A_HEAD, xhead, xt   the ring's head = slots << 1 | t: as everybody sees it; as its CPU sees it
 *   A_CONT0 + t         cont[t], how many continuations the ring has seen, valid for the current t
 *   xcont[]             cont[] as the ring's CPU sees it
 *   cpu                 the CPU of the ring (rseq path): one thread at a time runs a sequence on it
 *   writer              a thread that records: on the rseq path N_WRITERS threads or processes,
 *                       or a thread and its signal handler, on one CPU; with -DTHREAD the one
 *                       thread that owns the ring at one level of signal nesting
 *   PREEMPTED           preemption, migration, signal: the sequence starts from the beginning
 *   killed              SIGKILL: the thread stops where it is, what it stored stays
 *   reader              a drain with a cursor: writer thread, `ktr record`, `ktr tail`, a snapshot
 *   first               the ring's first valid index, raised by `debug.ktr.clear`
 *   CAP, MAX            slots of the ring; slots of the longest event (MAX_SLOTS)
 *
 * An event that is preempted is forgotten and perhaps recorded anew with another length: every
 * event takes 1 to MAX slots, as it likes. The reader never writes, so that one stands for any
 * number. The clock counts committed events, the coarsest clock that can tell two orders apart.
 *
 * Bounds: LAST slots recorded in all, CAP and MAX as given, N_WRITERS threads, one of them killed
 * at most, one clear (-DCLEAR), N_WORDS words per slot. The reader drains as often as it likes.
 *
 * -DBREAK_x breaks one rule, check.sh knows which assertion has to find it. -DWITNESS_x asserts
 * that something interesting never happens; spin has to disagree.
 */

#ifndef CAP
#define CAP 4
#endif
#ifndef MAX
#define MAX 2
#endif
#ifndef LAST
#define LAST 8
#endif
#ifndef N_WORDS
#define N_WORDS 1
#endif
#ifndef N_WRITERS
#ifdef THREAD
#define N_WRITERS 1
#else
#define N_WRITERS 2
#endif
#endif

#define SLOT(i, word)	(((i) % CAP) * N_WORDS + (word))
#define A_CONT0		(CAP * N_WORDS)
#define N_PLAIN		(A_CONT0 + 2)
#define A_HEAD		N_PLAIN
#define N_ADDR		(N_PLAIN + 1)
#define LANDED(a)	skip
#include "ring.pml"

#define SLOTS(head)	((head) >> 1)
#define T(head)		((head) & 1)

byte xhead;
bit xt;
byte xcont[2];
byte first;
byte last_time;		/* the time of the newest committed event */
byte clock;
bit cpu;
bit killed;
byte n_gone;		/* writers that have finished or were killed */

#define QUIET	(n_gone == N_WRITERS && ALL_VISIBLE)

/*
 * The sequence. STEP is one instruction of it; before each the thread may be thrown out. An attempt
 * knows from its beginning whether it is doomed, that is, will be aborted or killed. That takes
 * nothing from what can happen, and lets the words of all doomed attempts be 0, a word that no
 * committed entry has. Where a preempted sequence goes on (BREAK_NO_RESTART, BREAK_SHARED) no
 * attempt is doomed, and the writer's number is in the word. The locals are reset so that states
 * which differ in nothing that matters are the same state.
 *
 * Head, cont[t] and the clock are loaded in one step: nobody else changes them while this CPU runs
 * the sequence.
 */
#if defined(BREAK_SHARED) || defined(BREAK_NO_RESTART)
#define WRITER		(_pid & 1)
#define MAY_COMMIT	true
#define PREEMPTED	:: atomic { cpu = 0 }; atomic { cpu == 0 -> cpu = 1 }
#define KILLED
#else
#define WRITER		0
#define MAY_COMMIT	!doomed
#ifdef THREAD
#define PREEMPTED
#else
#define PREEMPTED	:: atomic { doomed -> FORGET; cpu = 0; goto again }
#endif
#define KILLED		:: atomic { doomed && !killed -> killed = 1; goto gone }
#endif
#define FORGET		h = 0; t = 0; n = 0; k = 0; c = 0; time = 0; doomed = 0
#define STEP(x)		do :: atomic { x; break } PREEMPTED KILLED od

#ifdef BREAK_ORDINAL
#define ORDINAL(j)	((j) - 1)		/* counts within the event */
#else
#define ORDINAL(j)	(c + (j) - 1)		/* counts in the ring's life */
#endif
#define ENTRY(j)	(doomed -> 0 : WORD(h + (j), WRITER, ((j) == 0 -> 0 : 1 + ORDINAL(j))))

inline commit()
{
	MAY_COMMIT && ROOM(A_HEAD) ->
#ifdef WITNESS_AFTER_KILL
	HOLDS(this_never_happens, !killed);
#endif
	HOLDS(time_never_goes_back, time >= last_time);	/* in ring order */
	last_time = time;
	clock++;
	j = 0;
	do
	:: j < n -> truth[h + j] = ENTRY(j); j++
	:: else -> break
	od;
	j = 0;
	xhead = h + n;
#ifndef BREAK_CONT_IN_PLACE
	xt = (n > 1 -> !t : t);
#endif
	RELEASE(A_HEAD, xhead * 2 + xt)
}

active [N_WRITERS] proctype writer()
{
	byte h, n, j, k, c, time;
	bit t, doomed;

again:
#ifdef BREAK_CLOCK_OUTSIDE
	time = clock;
#endif
	atomic {
		cpu == 0 && ACQUIRED -> cpu = 1;
#if !defined(BREAK_SHARED) && !defined(BREAK_NO_RESTART)
		if
		:: doomed = 0
		:: doomed = 1
		fi;
#endif
		h = xhead;
		t = xt;
		c = xcont[t];
#ifndef BREAK_CLOCK_OUTSIDE
		time = clock;
#endif
		if
		:: h >= LAST -> goto gone
		:: h + 1 <= LAST -> n = 1
		:: h + 2 <= LAST -> n = 2
#if MAX > 2
		:: h + 3 <= LAST -> n = 3
#endif
		fi
	}
#ifdef BREAK_COMMIT_FIRST
	STEP(commit());
#endif
	do
	:: k < n * N_WORDS ->
		STEP(STORE(SLOT(h + k / N_WORDS, k % N_WORDS), ENTRY(k / N_WORDS)); k++)
	:: else -> break
	od;
	if
	:: n > 1 ->
#ifdef BREAK_CONT_IN_PLACE
		STEP(STORE(A_CONT0 + t, c + n - 1); xcont[t] = c + n - 1)
#else
		STEP(STORE(A_CONT0 + !t, c + n - 1); xcont[!t] = c + n - 1)
#endif
	:: else
	fi;
#ifdef BREAK_COMMIT_FIRST
	atomic { FORGET; cpu = 0; goto again };
#else
	STEP(commit(); FORGET; cpu = 0; goto again);
#endif
gone:
	atomic { FORGET; cpu = 0; n_gone++ }
}

#if defined(BREAK_NO_MARGIN)
#define MARGIN	0
#elif defined(BREAK_SMALL_MARGIN)
#define MARGIN	(MAX - 1)
#elif defined(BREAK_WIDE_MARGIN)
#define MARGIN	(2 * MAX)
#else
#define MARGIN	MAX
#endif
#ifdef BREAK_COUNT_SLOTS
#define LOST	(q - cur)
#else
#define LOST	(q - cur - (c - cur_conts))
#endif

/* Picks any word of the newest slots of [cur, h), to be loaded later. */
inline pick(h)
{
	i = (h > cur + CAP -> h - CAP : cur);
	do
	:: i + 1 < h -> i++
	:: break
	od;
#if N_WORDS > 1
	if
	:: word = 0
	:: word = 1
	fi
#endif
}

/* BREAK_HEAD_HALVES: a head that is not read by one load of 64 bits. */
inline load_head(h)
{
#ifdef BREAK_HEAD_HALVES
	h = mem[A_HEAD] & ~7;
	h = h | (mem[A_HEAD] & 7)
#else
	h = mem[A_HEAD]
#endif
}

/*
 * Continuations before h1, from cont[t]. Either head is read once more afterwards and has not
 * moved; or, with -DCONT_TWICE, cont[t] was the same before head was read and after it, which
 * events of one slot cannot disturb.
 */
inline load_conts()
{
#ifdef CONT_TWICE
	if
	:: steady
	:: !steady -> HOLDS(a_quiet_ring_can_be_read, !calm); goto again
	fi
#else
	c = mem[A_CONT0 + T(h1)];
#ifndef BREAK_NO_REREAD
	if
	:: mem[A_HEAD] == h1
	:: mem[A_HEAD] != h1 -> HOLDS(a_quiet_ring_can_be_read, !calm); goto again
	fi
#endif
#endif
#ifdef WITNESS_CONT_T
	HOLDS(this_never_happens, q == cur);
#endif
	skip
}

#define FORGET_PASS	h1 = 0; h2 = 0; i = 0; word = 0; torn = 0; q = 0; lo = 0; c = 0; k = 0; \
			calm = 0; was = 0

active proctype reader()
{
	byte cur;		/* cursor: all slots below it are accounted for */
	byte cur_conts;		/* continuations among the slots below it */
	byte h1, h2, i, word, lo, q, c, j, k;
	bit torn, calm;
	short was;
#ifdef CONT_TWICE
	bit steady;
	byte c0, c1;
#endif

again:
	atomic {
		FORGET_PASS;
		SLOTS(mem[A_HEAD]) != cur || QUIET ->
		calm = QUIET;
		if
		:: SLOTS(mem[A_HEAD]) == cur && calm -> goto done
		:: else
		fi
	}
#ifdef CONT_TWICE
	c0 = mem[A_CONT0];
	c1 = mem[A_CONT0 + 1];
#endif
#ifdef BREAK_LATE_H1
	atomic { pick(LAST); was = mem[SLOT(i, word)] }
	atomic {
		h1 = mem[A_HEAD];
		if
		:: i < SLOTS(h1) -> torn = (was != truth[i])
		:: else -> goto again
		fi
	}
#else
	load_head(h1);
#ifdef BREAK_EARLY_H2
	load_head(h2);
#endif
#ifdef CONT_TWICE
	atomic {
		c = mem[A_CONT0 + T(h1)];
		steady = (c == (T(h1) -> c1 : c0));
		c0 = 0;
		c1 = 0
	}
#endif
	atomic { pick(SLOTS(h1)) }
	torn = (mem[SLOT(i, word)] != truth[i]);
#endif
#if defined(BREAK_NO_H2)
	h2 = h1;
#elif !defined(BREAK_EARLY_H2)
	load_head(h2);
#endif
	atomic {
		HOLDS(head_never_goes_back, cur <= SLOTS(h1));
		lo = (SLOTS(h2) + MARGIN > CAP -> SLOTS(h2) + MARGIN - CAP : 0);
		lo = (first > lo -> first : lo);
		lo = (cur > lo -> cur : lo);
		h2 = 0;
		if
		:: lo > SLOTS(h1) ->			/* lapped while copying */
			HOLDS(a_quiet_ring_can_be_read, !calm);
			goto again
		:: else
		fi;
#ifdef WITNESS_REFUSED
		HOLDS(this_never_happens, !(torn && i < lo));
#endif
		HOLDS(no_torn_entry_is_accepted, !(torn && i >= lo));
		torn = 0; i = 0; word = 0; was = 0;
		q = lo;
#ifndef BREAK_NO_SKIP
		do
		:: q < SLOTS(h1) && KIND(truth[q]) != 0 -> q++
		:: else -> break
		od;
#endif
		HOLDS(no_continuation_is_taken_for_an_event, q == SLOTS(h1) || KIND(truth[q]) == 0);
#ifdef WITNESS_SKIP
		HOLDS(this_never_happens, q == lo);
#endif
		lo = 0;
		k = q;
		do
		:: k < SLOTS(h1) && KIND(truth[k]) == 0 -> k++
		:: else -> break
		od
	}
	if
	:: q == cur -> c = cur_conts
	:: q > cur && k < SLOTS(h1) -> c = KIND(truth[k]) - 1	/* the next continuation says it */
	:: q > cur && k == SLOTS(h1) -> load_conts()
	fi;
	atomic {
		count(cur, q, k);
		HOLDS(losses_are_exact, LOST == q - cur - k);
		k = q;
		do
		:: k > cur -> k--; if :: KIND(truth[k]) == 0 -> break :: else fi
		:: else -> break
		od;
		/* What is given up was cleared, or an event in the making could overwrite it. */
		HOLDS(nothing_is_given_up_too_early,
		    q == cur || k + CAP < xhead + MAX || k < first);
		count(q, SLOTS(h1), k);
		cur_conts = c + k;
		cur = SLOTS(h1);
		k = 0;
		do
		:: k < cur -> truth[k] = 0; k++
		:: else -> break
		od;
		goto again
	}
done:
	skip
}

#if defined(CLEAR) || defined(BREAK_CLEAR_RESET)
active proctype clear()
{
	byte h;

#ifdef BREAK_CLEAR_RESET
	atomic { ALL_VISIBLE -> mem[A_HEAD] = mem[A_HEAD] & 1; xhead = 0 }
#else
	h = mem[A_HEAD];
	atomic { first = (SLOTS(h) > first -> SLOTS(h) : first); h = 0 }
#endif
}
#endif

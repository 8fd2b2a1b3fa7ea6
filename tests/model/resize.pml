/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resize.pml: changing a ring's geom under writers and a reader: resizing, freezing, closing.
 *
 * Names here            names in ktr
 *   A_GEOM, xgeom       the ring's geom word, here its generation g alone; as everybody sees it; as
 *                       the ring's CPU sees it. Area and capacity follow from it: BASE(g), CAP(g)
 *   own[p]              process p's private, validated copy of geom
 *   cold path           what a writer does when geom and copy differ: takes a new copy, or drops
 *   freed[g]            the area of generation g is closed and handed to another ring: from then on
 *                       no store of ours may land there, and what stands there is not ours
 *   A_FIRST             the ring's first valid index; entries below it lie in an area that is gone
 *   resizer             `ktr sysctl`, a trigger that freezes, CPU hotplug: pins itself to the
 *                       ring's CPU, raises first, and commits geom in a restartable sequence that
 *                       also checks that head is still where first was taken from
 *   want                -DTHREAD: the geom asked for. Nobody can throw the owner of a ring without
 *                       rseq out of its event, so geom is stored by the owner, at its next event;
 *                       the area is freed only then, or when the owner is dead
 *   the rest            as in record.pml
 *
 * A frozen ring keeps its area to be read, so freezing leaves first alone.
 *
 * Bounds: N_CHANGES changes of geom; the last one closes the ring and frees its area with -DCLOSE,
 * or freezes it with -DFREEZE; LAST slots in all; CAP0 and CAP1 slots, events of 1 or MAX;
 * N_WRITERS writers, in two processes or with -DONE_PROCESS in one; with -DTHREAD one writer, who
 * may be killed. (On the rseq path a kill is a thread that never runs again; spin looks at those.)
 */

#define MAX 2
#ifndef CAP0
#define CAP0 4
#endif
#ifndef CAP1
#define CAP1 4
#endif
#ifndef LAST
#define LAST 5
#endif
#ifndef N_CHANGES
#define N_CHANGES 1
#endif
#ifndef N_WRITERS
#ifdef THREAD
#define N_WRITERS 1
#else
#define N_WRITERS 2
#endif
#endif
#if defined(ONE_PROCESS) || defined(THREAD)
#define PROCESS	0
#else
#define PROCESS	(_pid & 1)
#endif

#define CAP(g)		(PLACE(g) == 1 -> CAP1 : CAP0)
#define BASE(g)		(PLACE(g) == 0 -> 0 : (PLACE(g) == 1 -> CAP0 : CAP0 + CAP1))
#define AREA(a)		((a) < CAP0 -> 0 : ((a) < CAP0 + CAP1 -> 1 : 2))
/* The closed bit: geom still names the area of the generation before. */
#if defined(CLOSE) || defined(FREEZE)
#define CLOSED(g)	((g) == N_CHANGES)
#else
#define CLOSED(g)	false
#endif
#define PLACE(g)	(CLOSED(g) -> (g) - 1 : (g))
#ifdef FREEZE
#define KEPT(g)		CLOSED(g)		/* the area stays, for readers */
#else
#define KEPT(g)		false
#endif
#define READABLE(g)	(!CLOSED(g) || KEPT(g))
#if N_CHANGES > 1
#define N_SLOTS		(CAP0 + CAP1 + CAP0)
#else
#define N_SLOTS		(CAP0 + CAP1)
#endif

#define SLOT(g, i)	(BASE(g) + (i) % CAP(g))
#define A_CONT0		N_SLOTS
#define A_FIRST		(N_SLOTS + 2)
#define N_PLAIN		(N_SLOTS + 3)
#define A_HEAD		N_PLAIN
#define A_GEOM		(N_PLAIN + 1)
#define N_ADDR		(N_PLAIN + 2)

bit freed[3];
bit frozen;
hidden byte nothing_is_recorded_when_frozen;
/* No store lands in an area that is gone. */
#define LANDED(a) \
	HOLDS(no_store_lands_in_a_closed_area, (a) >= N_SLOTS || !freed[AREA(a)])
#include "ring.pml"

#define SLOTS(head)	((head) >> 1)
#define T(head)		((head) & 1)

byte xhead;
bit xt;
byte xcont[2];
byte xgeom;
byte want;
byte own[2];
#ifdef BREAK_SPLIT_COPY
byte own_base[2];
#endif
bit cpu;
byte n_gone;
bit resized;

#define QUIET	(n_gone == N_WRITERS && resized && ALL_VISIBLE)

#ifdef THREAD
#define PREEMPTED	:: atomic { doomed -> goto gone }		/* killed */
#else
#define PREEMPTED	:: atomic { doomed -> FORGET; cpu = 0; goto RESTART }
#endif
#ifdef BREAK_GEOM_OUTSIDE
#define RESTART		restart
#else
#define RESTART		again
#endif
#ifdef THREAD
#define RING_GEOM	want
#else
#define RING_GEOM	xgeom
#endif
#define FORGET		h = 0; t = 0; n = 0; k = 0; c = 0; g = 0; doomed = 0
#define STEP(x)		do :: atomic { x; break } PREEMPTED od

#define ENTRY(j)	(doomed -> 0 : WORD(h + (j), 0, ((j) == 0 -> 0 : c + (j))))

inline commit()
{
	!doomed && ROOM(A_HEAD) ->
	HOLDS(nothing_is_recorded_when_frozen, !frozen);
	j = 0;
	do
	:: j < n -> truth[h + j] = ENTRY(j); j++
	:: else -> break
	od;
	j = 0;
	xhead = h + n;
	xt = (n > 1 -> !t : t);
	RELEASE(A_HEAD, xhead * 2 + xt)
}

#ifdef BREAK_IGNORE_CLOSED
#define DROP	skip
#else
#define DROP	if :: CLOSED(g) -> goto gone :: else fi
#endif

/*
 * The cold path: outside the sequence, on whatever CPU the thread is by now. The copy is ONE word;
 * with -DBREAK_SPLIT_COPY the address of the area is kept beside it.
 */
inline cold_path()
{
#ifdef THREAD
	/* The owner alone stores geom, between two events of its own. */
	g = want;
	if
	:: KEPT(g)
	:: else -> atomic { STORE(A_FIRST, xhead) }
	fi;
	atomic { RELEASE(A_GEOM, g); own[0] = g };
	DROP
#else
	g = mem[A_GEOM];
	DROP;
#ifdef BREAK_SPLIT_COPY
	own_base[PROCESS] = g;
#endif
	own[PROCESS] = g
#endif
}

/*
 * Geom, the private copy and head are loaded in one step: nobody else changes head or cont[] while
 * this CPU runs the sequence, nor geom if the rules are kept, and the copy is loaded once.
 */
inline load_head()
{
	h = xhead;
	t = xt;
	c = xcont[t];
	if
	:: h >= LAST -> goto gone
	:: h + 1 <= LAST -> n = 1
	:: h + 2 <= LAST -> n = 2
	fi;
	if
	:: doomed = 0
	:: doomed = 1
	fi
}

active [N_WRITERS] proctype writer()
{
	byte h, n, j, k, c, g;
	bit t, doomed;

again:
	if
	:: RING_GEOM != own[PROCESS] ->
		cold_path();
		atomic { FORGET; goto again }
#ifdef BREAK_GEOM_OUTSIDE
	:: RING_GEOM == own[PROCESS]
	fi;
restart:
	atomic { cpu == 0 && ACQUIRED -> cpu = 1; g = own[PROCESS]; load_head() };
#else
	:: atomic {
		cpu == 0 && ACQUIRED && RING_GEOM == own[PROCESS] ->
		cpu = 1;
		g = RING_GEOM;
		load_head()
	}
	fi;
#endif
#ifdef BREAK_SPLIT_COPY
	STEP(g = own_base[PROCESS]);
#endif
	do
	:: k < n -> STEP(STORE(SLOT(g, h + k), ENTRY(k)); k++)
	:: else -> break
	od;
	if
	:: n > 1 -> STEP(STORE(A_CONT0 + !t, c + n - 1); xcont[!t] = c + n - 1)
	:: else
	fi;
	STEP(commit(); FORGET; cpu = 0; goto again);
gone:
	atomic { FORGET; cpu = 0; n_gone++ }
}

/* The old area belongs to somebody else now, who writes what he likes. */
inline free_area(old)
{
	d_step {
		freed[old] = 1;
		k = BASE(old);
		do
		:: k < BASE(old) + CAP(old) -> mem[k] = 0; k++
		:: else -> break
		od;
		k = 0
	}
}

active proctype resizer()
{
	byte h, g, k;

	do
	:: g < N_CHANGES ->
#if defined(THREAD) && !defined(BREAK_UNPINNED)
		want = g + 1;
		if
		:: mem[A_GEOM] == g + 1
		:: n_gone == N_WRITERS && ALL_VISIBLE && mem[A_GEOM] != g + 1 ->
			/* The owner is gone: nobody else can be writing. */
			mem[A_FIRST] = (KEPT(g + 1) -> mem[A_FIRST] : xhead);
			mem[A_GEOM] = g + 1
		fi;
#elif defined(BREAK_UNPINNED)
		h = SLOTS(mem[A_HEAD]);
		mem[A_FIRST] = (KEPT(g + 1) -> mem[A_FIRST] : h);
		if
		:: SLOTS(mem[A_HEAD]) == h
		:: else -> goto gone
		fi;
		atomic { mem[A_GEOM] = g + 1; xgeom = g + 1; want = g + 1 };
#else
retry:
		/* Pinned to the CPU of the ring: what it sees is what that CPU sees. */
		h = xhead;
#ifndef BREAK_LATE_FIRST
		if
		:: KEPT(g + 1)
		:: else -> atomic { STORE(A_FIRST, h) }
		fi;
#endif
again:
		atomic { cpu == 0 -> cpu = 1 };
#ifndef BREAK_NO_HEAD_CHECK
		if
		:: xhead == h
		:: xhead != h -> atomic { cpu = 0; goto retry }
		fi;
#endif
		if
		:: atomic { RELEASE(A_GEOM, g + 1); xgeom = g + 1; cpu = 0 }
		:: atomic { cpu = 0; goto again }			/* preempted */
		fi;
		mem[A_GEOM] == g + 1;
#ifdef BREAK_LATE_FIRST
		atomic { STORE(A_FIRST, h) };
#endif
#endif
		if
		:: KEPT(g + 1) -> frozen = 1
		:: else -> free_area(g)
		fi;
		g++;
		h = 0
	:: else -> break
	od;
gone:
	resized = 1
}

/* As in record.pml, with geom read before everything else and again at the end. */
#ifndef NO_READER
#define FORGET_PASS	h1 = 0; i = 0; torn = 0; q = 0; lo = 0; c = 0; k = 0; g1 = 0; f = 0; \
			calm = 0

active proctype reader()
{
	byte cur, cur_conts, g1, f, h1, i, lo, q, c, j, k;
	bit torn, calm;

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
#ifdef BREAK_EARLY_FIRST
	f = mem[A_FIRST];
#endif
	atomic {
		g1 = mem[A_GEOM];
#ifndef BREAK_EARLY_FIRST
		f = mem[A_FIRST]		/* right behind it is worst: it only grows */
#endif
	}
	atomic {
		h1 = mem[A_HEAD];
		i = cur;
		do
		:: i + 1 < SLOTS(h1) -> i++
		:: break
		od;
		if
		:: !READABLE(g1) || i >= SLOTS(h1)
		:: else -> goto load
		fi
	}
	goto loaded;
load:
	torn = (mem[SLOT(g1, i)] != truth[i]);
loaded:
	lo = SLOTS(mem[A_HEAD]) + MAX;			/* h2 */
#ifndef BREAK_GEOM_ONCE
	if
	:: mem[A_GEOM] == g1
	:: mem[A_GEOM] != g1 -> HOLDS(a_quiet_ring_can_be_read, !calm); goto again
	fi;
#endif
	atomic {
		lo = (lo > CAP(g1) -> lo - CAP(g1) : 0);
		lo = (READABLE(g1) -> lo : SLOTS(h1));	/* no area, nothing to accept */
		lo = (f > lo -> f : lo);
		lo = (cur > lo -> cur : lo);
		if
		:: lo > SLOTS(h1) -> HOLDS(a_quiet_ring_can_be_read, !calm); goto again
		:: else
		fi;
		HOLDS(no_torn_entry_is_accepted, !(torn && i >= lo));
		torn = 0; i = 0;
#ifdef WITNESS_KEPT
		HOLDS(this_never_happens, g1 == 0 || lo == SLOTS(h1));
#endif
		q = lo;
		do
		:: q < SLOTS(h1) && KIND(truth[q]) != 0 -> q++
		:: else -> break
		od;
		lo = 0; f = 0;
		k = q;
		do
		:: k < SLOTS(h1) && KIND(truth[k]) == 0 -> k++
		:: else -> break
		od
	}
	if
	:: q == cur -> c = cur_conts
	:: q > cur && k < SLOTS(h1) -> c = KIND(truth[k]) - 1
	:: q > cur && k == SLOTS(h1) ->
		c = mem[A_CONT0 + T(h1)];
		if
		:: mem[A_HEAD] == h1
		:: mem[A_HEAD] != h1 -> HOLDS(a_quiet_ring_can_be_read, !calm); goto again
		fi
	fi;
	atomic {
		count(cur, q, k);
		HOLDS(losses_are_exact, c - cur_conts == k);
		k = q;
		do
		:: k > cur -> k--; if :: KIND(truth[k]) == 0 -> break :: else fi
		:: else -> break
		od;
		/* What is given up lay in an area that is gone, or could be overwritten. */
		HOLDS(nothing_is_given_up_too_early,
		    q == cur || k + CAP(g1) < xhead + MAX || k < mem[A_FIRST] || !READABLE(g1));
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
#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring.pml: what the models of the ring share: memory, and the store buffer in front of it.
 *
 * Names here            names in ktr
 *   mem[]               shared memory as other CPUs and the readers see it
 *   STORE(a, v)         a plain store by the CPU the ring belongs to (rseq path) or by the one
 *                       thread that writes it (thread path): executed now, visible some time later
 *   RELEASE(a, v)       the committing store: STLR on arm64, a plain mov on x86-64
 *   ACQUIRED            whether head may be read: LDAR on arm64 waits until every earlier STLR is
 *                       visible; a plain load on x86-64 waits for nothing
 *   bus                 the hardware that makes executed stores visible
 *   MM                  0 sequentially consistent: at once; 1 TSO (x86-64): in program order;
 *                       2 arm64: in any order, but a release store after all that were executed
 *                       before it. Stores executed AFTER a release store may overtake it
 *
 * An entry is N_WORDS words of one value, made of the slot index, the writer and the kind: 0 for a
 * first entry, 1 + ordinal for a continuation. A word that differs from the committed one is of
 * another lap, another writer or an event that was never committed: accepted, it is a torn entry.
 *
 * A reader loads ONE word of the window that it copies, any one, at any moment between its load of
 * h1 and its load of h2. That is as good as a copy of all: whether accepted entries are whole is a
 * question about each word alone, what spin shows it shows for every word and every moment, and
 * the loads of a copy may be done in any order.
 *
 * Bounds: slot indices below 16. On arm64 one store to each address waits in the buffer at a time
 * (the next one to that address waits until it is visible), on x86-64 N_SB stores.
 *
 * A model defines before it includes this file: N_PLAIN, addresses 0 to N_PLAIN - 1 take plain
 * stores; N_ADDR, those up to N_ADDR - 1 take committing stores; LANDED(a), run for each plain
 * store that becomes visible.
 */

#ifndef MM
#define MM 2
#endif
#ifndef N_SB
#define N_SB 3
#endif

#define WORD(i, writer, kind)	(((i) + 1) * 64 + (writer) * 32 + (kind))
#define KIND(word)		((word) & 31)
#define NONE			2047

short mem[N_ADDR];
short truth[16];		/* ghost: the word of the committed entry at each slot index */

/* A property has a name, so that a run can say which one failed. */
hidden byte no_torn_entry_is_accepted, no_continuation_is_taken_for_an_event;
hidden byte losses_are_exact, nothing_is_given_up_too_early, head_never_goes_back;
hidden byte time_never_goes_back, a_quiet_ring_can_be_read, no_store_lands_in_a_closed_area;
hidden byte this_never_happens;
#define HOLDS(property, x)	property = (x); assert(property)

/* Ghost: the continuations among the slots [from, to); uses j. */
inline count(from, to, conts)
{
	conts = 0;
	j = from;
	do
	:: j < to -> conts = conts + (KIND(truth[j]) != 0 -> 1 : 0); j++
	:: else -> break
	od;
	j = 0
}

#if MM == 0

#define ROOM(a)			true
#define STORE(a, v)		mem[a] = v; LANDED(a)
#define RELEASE(a, v)		mem[a] = v
#define ALL_VISIBLE		true
#define ACQUIRED		true

#elif MM == 1

chan sb = [N_SB] of { byte, short };
#define ROOM(a)			nfull(sb)
#define STORE(a, v)		sb!a, v
#define RELEASE(a, v)		sb!a, v
#define ALL_VISIBLE		empty(sb)
#define ACQUIRED		true

active proctype bus()
{
	byte a;
	short v;

end:	do
	:: atomic {
		sb?a, v -> mem[a] = v;
		if
		:: a < N_PLAIN -> LANDED(a)
		:: else
		fi;
		a = 0;
		v = 0
	}
	od
}

#else

short pending[N_ADDR] = NONE;
byte n_plain;			/* plain stores pending, for which a release store has to wait */
byte n_release;			/* release stores pending */
#define ROOM(a)			(pending[a] == NONE)
#define RELEASE(a, v)		ROOM(a) -> pending[a] = v; n_release++
#define ALL_VISIBLE		(n_plain == 0 && n_release == 0)

/* A store executed behind a pending release store: only where LDAR is missing. */
#ifdef BREAK_NO_LDAR
#define ACQUIRED		true
bit late[N_PLAIN];
byte n_late;
#define STORE(a, v) \
	ROOM(a) -> pending[a] = v; late[a] = (n_release > 0); \
	n_late = n_late + late[a]; n_plain = n_plain + !late[a]
#define VISIBLE(a)		n_late = n_late - late[a]; n_plain = n_plain - !late[a]; late[a] = 0
#define RELEASED \
	n_plain = n_plain + n_late; n_late = 0; x = 0; \
	do :: x < N_PLAIN -> late[x] = 0; x++ :: else -> break od; x = 0
#else
#ifdef BREAK_NO_STLR
#define ACQUIRED		true
#else
#define ACQUIRED		(n_release == 0)
#endif
#define STORE(a, v)		ROOM(a) -> pending[a] = v; n_plain++
#define VISIBLE(a)		n_plain--
#define RELEASED		skip
#endif

#if defined(BREAK_NO_STLR) || defined(BREAK_PLAIN_GEOM)
#define IN_ORDER		true
#else
#define IN_ORDER		(n_plain == 0)
#endif

#define LAND(a) \
	:: atomic { \
		pending[a] != NONE -> mem[a] = pending[a]; pending[a] = NONE; \
		VISIBLE(a); LANDED(a) \
	   }

active proctype bus()
{
	byte x;

end:	do
	:: atomic {
		IN_ORDER && pending[N_PLAIN] != NONE ->
		mem[N_PLAIN] = pending[N_PLAIN];
		pending[N_PLAIN] = NONE;
		n_release--;
		RELEASED
	}
#if N_ADDR > N_PLAIN + 1
	:: atomic {
		IN_ORDER && pending[N_PLAIN + 1] != NONE ->
		mem[N_PLAIN + 1] = pending[N_PLAIN + 1];
		pending[N_PLAIN + 1] = NONE;
		n_release--;
		RELEASED
	}
#endif
	LAND(0) LAND(1) LAND(2) LAND(3) LAND(4) LAND(5)
#if N_PLAIN > 6
	LAND(6)
#endif
#if N_PLAIN > 7
	LAND(7)
#endif
#if N_PLAIN > 8
	LAND(8)
#endif
#if N_PLAIN > 9
	LAND(9)
#endif
#if N_PLAIN > 10
	LAND(10)
#endif
#if N_PLAIN > 11
	LAND(11)
#endif
#if N_PLAIN > 12
	LAND(12)
#endif
#if N_PLAIN > 13
	LAND(13)
#endif
#if N_PLAIN > 14
	LAND(14)
#endif
#if N_PLAIN > 15
	LAND(15)
#endif
#if N_PLAIN > 16
	LAND(16)
#endif
#if N_PLAIN > 17
	LAND(17)
#endif
#if N_PLAIN > 18
	LAND(18)
#endif
#if N_PLAIN > 19
	LAND(19)
#endif
#if N_PLAIN > 20
	LAND(20)
#endif
#if N_PLAIN > 21
	LAND(21)
#endif
#if N_PLAIN > 22
	LAND(22)
#endif
#if N_PLAIN > 23
	LAND(23)
#endif
	od
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ready.pml: may the usual event trust one number instead of looking at what decides?
 *
 * Names here         names in ktr
 *   asked[c]         what controller c wants: control.asked, keep, site_ctl and the like; 1: events are special
 *   special          control.special, which follows from them (mask_derive())
 *   generation       control.generation
 *   ready            site.ready, of one site
 *   controller c     somebody in ktr__mask_publish(): here, another process, in a signal handler
 *   recorder         a thread with events of that site: ktr__record6v() and, where the two numbers differ,
 *                    record_event() and record_ready()
 *
 * A mask's words are stores of their own; here as there each controller derives them anew until nobody else has
 * counted a change meanwhile.
 *
 * Property: an event that begins after every controller has come back does what they asked for. (In between either
 * is right.) Memory is sequential: the recorder's two loads are an acquire load and one after it, the controllers'
 * counts are sequentially consistent, and on the usual way there is one load to be had.
 *
 * Bounds: two controllers with CHANGES changes each, RECORDERS recorders with EVENTS events each.
 */

#ifndef CHANGES
#define CHANGES 1
#endif
#ifndef RECORDERS
#define RECORDERS 2
#endif
#ifndef EVENTS
#define EVENTS 2
#endif

byte generation = 1;
byte ready;
bit asked[2];
bit special;
byte busy = 2;

hidden byte settled_events_do_as_asked, this_never_happens;

proctype controller(bit c)
{
	byte n, change, now;
	bit first, second;

	do
	:: n == CHANGES -> break
	:: n < CHANGES ->
		n++;
		asked[c] = !asked[c];
		atomic { generation++; now = generation };
		change = 0;
		do
		:: now == change -> break
		:: now != change ->
			change = now;
			first = asked[0];
			second = asked[1];
			special = first || second;
#ifdef BREAK_ONCE
			break
#else
			now = generation
#endif
		od;
#ifndef BREAK_NOT_AFTER
		generation++
#endif
	od;
	atomic { change = 0; now = 0; first = 0; second = 0; busy-- }
}

proctype recorder()
{
	byte n, seen;
	bit settled, was;

	do
	:: n == EVENTS -> break
	:: n < EVENTS ->
		n++;
		atomic { settled = (busy == 0); seen = ready };
		if
		:: atomic {
			seen == generation ->
#ifdef WITNESS_USUAL
			if
			:: settled -> assert(this_never_happens)
			:: else
			fi;
#endif
			settled_events_do_as_asked = !(settled && (asked[0] || asked[1]));
			assert(settled_events_do_as_asked)
		   }
		:: atomic { else -> skip };
#ifdef BREAK_LATE_NUMBER
			was = special;
			seen = generation;
#else
			seen = generation;
			was = special;
#endif
			settled_events_do_as_asked = !(settled && was != (asked[0] || asked[1]));
			assert(settled_events_do_as_asked);
			if
			:: !was -> ready = seen
			:: else
			fi
		fi;
		atomic { seen = 0; was = 0; settled = 0 }
	od
}

init {
	atomic {
		run controller(0);
		run controller(1);
		run recorder();
#if RECORDERS > 1
		run recorder()
#endif
	}
}

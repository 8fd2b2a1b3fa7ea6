/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Triggers: what an expression can ask of an event in the program that records it, and how its program
 * gets into a session.
 *
 * Expressions are compiled by tools (analyze/filter/trigger_make.c); libktr only evaluates them. The text that
 * a tool gives to debug.ktr.trigger is a program already:
 *
 *	=OPS TEXTS WORD WORD ... :texts source
 *
 * with OPS and TEXTS their numbers, two WORDs per op, all hexadecimal; the texts are TEXTS bytes, and
 * what follows them is the expression as it was written.
 */
#ifndef KTR_TRIGGER_FIELDS_H
#define KTR_TRIGGER_FIELDS_H

#define KTR__TRIGGER_MARK '='

/* Numbers of LOAD. Argument i is ARG + i; NAMED has the argument's name as its text. */
enum ktr__trigger_field {
	KTR__TRIGGER_CLASS = 1,
	KTR__TRIGGER_CLASS_NAME, /* of an application class */
	KTR__TRIGGER_ID,
	KTR__TRIGGER_FILE,
	KTR__TRIGGER_LINE,
	KTR__TRIGGER_FUNC,
	KTR__TRIGGER_FORMAT,
	/* The event's from here on. */
	KTR__TRIGGER_CPU,
	KTR__TRIGGER_PID,
	KTR__TRIGGER_TID,
	KTR__TRIGGER_THREAD,
	KTR__TRIGGER_ARG = 16,
	KTR__TRIGGER_NAMED = 32
};

#endif

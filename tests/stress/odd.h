/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Odd lives: what a traced program may do besides running straight to its end. Each case is a function
 * that runs in a program of its own, traced into a session of its own, and one that looks afterwards at
 * what was recorded. odd.c runs them on both paths.
 *
 *	static void run(void) { CTR1(KTR_GEN, "number %d", 7); }
 *	static void check(void) { ODD_CHECK(odd_count("number %d") == 1); }
 *	ODD_CASE(numbers, run, check);
 */
#ifndef TESTS_STRESS_ODD_H
#define TESTS_STRESS_ODD_H

#include <ktr/session.h>

#include <stdbool.h>
#include <stdint.h>

struct odd_case {
	const char *name;
	void (*run)(void);
	void (*check)(void);
	const char *mask; /* classes recorded */
	const char *entries; /* of a ring */
	struct odd_case *next;
};

void odd_add(struct odd_case *odd);

#define ODD_CASE(case_name, run_function, check_function)                                        \
	ODD_CASE_MASK(case_name, run_function, check_function, "all")
#define ODD_CASE_MASK(case_name, run_function, check_function, classes)                          \
	ODD_CASE_LARGE(case_name, run_function, check_function, classes, "65536")
#define ODD_CASE_LARGE(case_name, run_function, check_function, classes, n_entries)              \
	static struct odd_case case_name##_case = { #case_name, run_function, check_function,   \
						    classes, n_entries, 0 };                     \
	static void __attribute__((constructor)) case_name##_add(void)                           \
	{                                                                                        \
		odd_add(&case_name##_case);                                                      \
	}                                                                                        \
	extern int odd_needs_a_semicolon

/* An event of the session that was looked at. */
struct odd_event {
	uint32_t ring;
	uint32_t n_conts;
	struct ktr_entry entry;
	struct ktr_site_row site;
	char format[128];
	char file[256];
	char text[512]; /* the beginning of the payload, with a NUL */
};

/* What run() tells check(), in memory both share. */
extern uint64_t *odd_fact;
#define ODD_FACTS 64

/* For check(): the session as it was left, without events whose format begins with "busy ". */
extern const struct odd_event *odd_events;
extern unsigned odd_n_events;
extern struct ktr_control odd_control;
extern bool odd_thread_path;

/* Events whose format is this one. */
unsigned odd_count(const char *format);
/* The first of them, or NULL. */
const struct odd_event *odd_find(const char *format);
/* All of ours and no other: events of these formats together, each argument 0 once, in order. */
bool odd_counts_up(const char *format, uint64_t first, uint64_t n);
/* The thread and process rows of an event's thread. */
bool odd_thread_row(const struct odd_event *event, struct ktr_thread_row *row);
/* The whole of a class's row by name. */
bool odd_class_row(const char *name, struct ktr_class_row *row);

/* The directory of this program and of the plugins built beside it. */
const char *odd_dir(void);

/* Has the campaign time? (ODD_LONG in the environment) */
bool odd_long(void);

void odd_fail(const char *file, int line, const char *what);
#define ODD_CHECK(condition)                                                                     \
	do {                                                                                     \
		if (!(condition))                                                                \
			odd_fail(__FILE__, __LINE__, #condition);                                \
	} while (0)

#endif

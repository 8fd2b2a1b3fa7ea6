/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample: where a thread was, and for how much of its time that stands.
 */
#ifndef ANALYZE_SAMPLE_H
#define ANALYZE_SAMPLE_H

#include "analyze/symbols/symbols.h"

#include <ktr/reader.h>

enum ktr__sample_how {
	KTR__SAMPLE_USER,
	KTR__SAMPLE_KERNEL,  /* in the system call that the stack ends in */
	KTR__SAMPLE_BLOCKED, /* while the thread blocked the signal: where is not known */
	KTR__SAMPLE_MISSED,  /* it ended before the kernel looked: likewise */
	KTR__SAMPLE_LOST,    /* it came, and there was no room for it: likewise */
	KTR__SAMPLE_WAITING, /* in a call that does not go on: of ktr sample, whose time is that of a clock */
	/* Off the CPU, beside those of the provider profile: */
	KTR__SAMPLE_OFF,    /* in a call that waits; the sample's word says which */
	KTR__SAMPLE_READY,  /* it could have run: others had the CPU */
	KTR__SAMPLE_FAULT,  /* until a page had come */
	KTR__SAMPLE_ASLEEP, /* in what is not known */
	KTR__SAMPLE_HOWS
};

struct ktr__sample {
	uint64_t n_ticks, ns; /* off the CPU there are no ticks */
	enum ktr__sample_how how;
	const struct ktr_event_bytes *stack;
	char word[48]; /* OFF: what stands innermost */
};

static inline int ktr__sample_is_off(enum ktr__sample_how how)
{
	return how >= KTR__SAMPLE_OFF && how < KTR__SAMPLE_HOWS;
}

/* What names of frames end in that stand for time off the CPU. */
#define KTR__SAMPLE_OFF_WORD " [off CPU]"

/* Is it the site of samples? */
int ktr__sample_site(const struct ktr_reader_site *site);

/* Is the event one, on the CPU or of ktr sample? */
int ktr__sample_of(const struct ktr_event *event, struct ktr__sample *sample);

/* What stands, within the frames of its stack, for where a sample was; NULL: the innermost of them does. */
const char *ktr__sample_word(enum ktr__sample_how how);

/* The same of a sample, in which that may be its own. */
const char *ktr__sample_inner(const struct ktr__sample *sample);

/* The function that a frame of a stack is in, or its address: valid until the next call. *n: its bytes. */
const char *ktr__sample_function(struct ktr__symbols *symbols, const struct ktr_event *event, uint64_t pc,
				 size_t *n, char text[24]);

/* A function that a frame is in: the one that has the code, or one that was inlined there. */
struct ktr__sample_line {
	const char *name; /* n bytes */
	size_t n;
	const char *file; /* NULL: not known */
	unsigned line;	  /* 0: likewise */
};

/*
 * Those of a frame, the innermost first; one where lines are not wanted, or not known. How many; valid until the
 * next call.
 */
unsigned ktr__sample_lines(struct ktr__symbols *symbols, const struct ktr_event *event, uint64_t pc,
			   struct ktr__sample_line line[KTR__DEBUG_LINES], char text[24]);

#endif

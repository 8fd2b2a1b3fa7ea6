/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ktrace.out that is read, record by record, whoever wrote it. What is no record ends nothing: the next that is
 * one is looked for.
 */
#ifndef KTRACE_IN_H
#define KTRACE_IN_H

#include "writer/ktrace/layout.h"

#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>

#define KTR__KTRACE_LEN_MAX (1 << 20) /* [bytes] of a record's rest; FreeBSD writes a page or little more */

struct ktr__ktrace_in {
	int fd; /* owned by the caller */
	const char *path;
	int follow; /* more may come: what is there half is waited for */
	uint64_t offset;  /* [bytes] of buffer[at] in the file */
	size_t at, end;	  /* of what is in the buffer and not read yet */
	int ended;	  /* the file has no more */
	struct ktr_error error; /* the first thing that was wrong */
	char *buffer;
};

struct ktr__ktrace_record {
	struct ktr__ktrace_header header; /* type without its two bits; version 0 or 1 */
	int dropped;	  /* events of its process were lost before it */
	uint64_t offset;  /* of its header in the file */
	const void *data; /* [header.len], aligned for any type, until the next call */
};

/* 0 or -ENOMEM. */
int ktr__ktrace_in_init(struct ktr__ktrace_in *in, int fd, const char *path);
void ktr__ktrace_in_free(struct ktr__ktrace_in *in);

/*
 * The next record. 1; 0: there is none, but one may come (nothing is said of one that has half come); -errno of
 * read(2). What was skipped is in in->error, if it is the first.
 */
int ktr__ktrace_in_next(struct ktr__ktrace_in *in, struct ktr__ktrace_record *record);

/* No more will come: a record that is there half is an error now. */
void ktr__ktrace_in_end(struct ktr__ktrace_in *in);

#endif

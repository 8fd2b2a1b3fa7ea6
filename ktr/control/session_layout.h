/* SPDX-License-Identifier: BSD-2-Clause */
/* What a new session file holds, and where. */
#ifndef KTR_SESSION_LAYOUT_H
#define KTR_SESSION_LAYOUT_H

#include <ktr/error.h>
#include <ktr/session.h>

struct ktr__session_plan;
struct ktr__session_rw;

/* Regions for as many rings as the machine and the limits of the process allow. 0, or -errno with err filled. */
int ktr__layout_plan(const struct ktr__session_plan *plan, struct ktr_header *header, struct ktr_error *err);

/* Whose session it is: all of a planned header but that it is ready. */
void ktr__layout_fill(const struct ktr__session_plan *plan, struct ktr_header *header);

/* Allocates in the file what is there before anybody sees it. 0 or an error number. */
int ktr__layout_allocate(int fd, const struct ktr_header *header);

/* What a new session begins with; it is mapped. */
void ktr__layout_first_rows(struct ktr__session_rw *session);

/* Is the header of a file at a path one that we would make? 0, or -EPROTO with err filled. */
int ktr__layout_check(const struct ktr_header *header, const char *path, struct ktr_error *err);

/* A core takes what is used of the mapping. */
void ktr__layout_dump(const struct ktr__session_rw *session);

#endif

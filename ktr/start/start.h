/* SPDX-License-Identifier: BSD-2-Clause */
/* The library starts, with the first module or class that attaches. */
#ifndef KTR_START_H
#define KTR_START_H

#include <ktr/error.h>

void ktr__start_once(void);
void ktr__start_with(const char *session); /* ktr_open(): as ktr__start_once(), with a session's name */

/* Makes a session or joins one, as the settings say. 0, or -errno with err filled. */
int ktr__start_session(struct ktr_error *err);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A function is led away, or let go again. */
#ifndef KTR_PLAIN_TEXT_H
#define KTR_PLAIN_TEXT_H

#include "ktr/provider/plain/judge.h"

/*
 * Changes its first instruction, if it is as it was before: to lead to a stub, and back. Within the loader's walk,
 * one caller at a time. 0; -EBUSY: something else is there; -errno.
 */
int ktr__plain_text_lead(const struct ktr__plain_function *function, const uint8_t *stub);
int ktr__plain_text_let_go(const struct ktr__plain_function *function, const uint8_t *stub);

/* It was led to a stub, and is as in its file: unloaded meanwhile, and loaded again at the same place. */
bool ktr__plain_text_is_new(const struct ktr__plain_function *function);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace that is large or old enough makes room for the next. */
#ifndef WRITER_ROTATE_H
#define WRITER_ROTATE_H

#include <stdint.h>

struct ktr__drain;

/* Takes the settings over that the session decides; all: however short ago that was. */
void ktr__rotate_follow(struct ktr__drain *drain, uint64_t now, int all);

/* Is the present trace large or old enough, or has somebody asked? */
int ktr__rotate_due(const struct ktr__drain *drain, uint64_t now);

/*
 * Closes the present trace, moves it to NAME.N and begins another. 0, also where it cannot be moved
 * and is gone on with, or -errno.
 */
int ktr__rotate(struct ktr__drain *drain, uint64_t now);

#endif

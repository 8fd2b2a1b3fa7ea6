/* SPDX-License-Identifier: BSD-2-Clause */
/* Somebody who turns a session's knobs without end. */
#ifndef TESTS_STRESS_CONTROL_H
#define TESTS_STRESS_CONTROL_H

#include <stdint.h>

/*
 * Changes sizes of rings and the sparseness of the clock, and clears, in an order that seed decides, until
 * *done is set. Counts into *changes. Returns 0, or 1 with the reason printed.
 */
int control_run(const char *path, const uint32_t *done, uint64_t seed, uint64_t *changes);

#endif

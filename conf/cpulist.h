/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of CPUs, "0-3,8"; what parsers and printers return is said in value.h. */
#ifndef CONF_CPULIST_H
#define CONF_CPULIST_H

#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>

/* CPU n is bit n % 64 of bits[n / 64]; on failure the set is undefined. n_bits up to 8192. */
int ktr__parse_cpus(const char *text, uint64_t *bits, unsigned n_bits, struct ktr_error *err);
int ktr__print_cpus(const uint64_t *bits, unsigned n_bits, char *buffer, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for the counts of sites that are counted. */
#ifndef KTR_COUNTS_H
#define KTR_COUNTS_H

#include <stdint.h>

#define KTR__COUNT_PAGE 4096u /* [bytes] no smaller pages exist */

struct ktr__session_rw;

/* For the first n_sites sites on all CPUs. 0 or -errno. */
int ktr__counts_open(struct ktr__session_rw *session, uint32_t n_sites);

/* Of each CPU's counts so many bytes from `at` on. 0 or -errno. Async-signal-safe. */
int ktr__counts_populate(const struct ktr__session_rw *session, uint64_t at, uint64_t bytes);

#endif

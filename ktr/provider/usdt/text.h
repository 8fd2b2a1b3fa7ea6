/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing text. */
#ifndef KTR_USDT_TEXT_H
#define KTR_USDT_TEXT_H

#include <stdint.h>

/* One byte, which threads may be running over. 0 or -errno. */
int ktr__usdt_text_byte(uint8_t *at, uint8_t byte);

/* Eight bytes at once, at an address that is a multiple of 8. 0 or -errno. */
int ktr__usdt_text_word(uint8_t *at, uint64_t word);

#endif

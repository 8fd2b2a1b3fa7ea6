/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as decimal digits, two at a time. */
#ifndef CONF_DECIMAL_H
#define CONF_DECIMAL_H

#include <stdint.h>
#include <string.h>

#define KTR__DECIMAL_MAX 20 /* [bytes] the digits of UINT64_MAX */

/* Writes the digits of a number so that they end before `end`, and no NUL. Returns the first one. */
static inline char *ktr__decimal(char *end, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	while (number >= 100) {
		end -= 2;
		memcpy(end, pairs + number % 100 * 2, 2);
		number /= 100;
	}
	if (number >= 10) {
		end -= 2;
		memcpy(end, pairs + number * 2, 2);
	} else {
		*--end = (char)('0' + number);
	}
	return end;
}

/* How many digits a number has: by its bits, of which each is log10(2) = 1233/4096 of one. */
static inline unsigned ktr__decimal_digits(uint64_t number)
{
	static const uint64_t least[KTR__DECIMAL_MAX] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000u,
	};
	unsigned n = (64 - (unsigned)__builtin_clzll(number | 1)) * 1233 >> 12;

	return n + (number >= least[n]);
}

/* Writes the digits of a number from `to` on, and no NUL. Returns where they end. */
static inline char *ktr__decimal_put(char *to, uint64_t number)
{
	unsigned n = number ? ktr__decimal_digits(number) : 1;

	ktr__decimal(to + n, number);
	return to + n;
}

/*
 * Writes a number below 10^9 with all its nine digits, and no branch: halves of it are divided at once in one word,
 * by multiplication (Paul Khuong, "How to print integers really fast", pvk.ca, 2017).
 */
static inline void ktr__decimal_nine(char *to, uint32_t number)
{
	const uint64_t pairs = 0x0000007f0000007full, ones = 0x000f000f000f000full;
	uint32_t below = number % 100000000u;
	uint64_t halves = below / 10000u | (uint64_t)(below % 10000u) << 32;
	uint64_t hundreds = (halves * 10486u) >> 20 & pairs; /* of each half, /100 */
	uint64_t tens;

	halves = hundreds | (halves - 100 * hundreds) << 16;
	tens = (halves * 103u) >> 10 & ones; /* of each pair, /10 */
	halves = (tens | (halves - 10 * tens) << 8) | 0x3030303030303030u;
	to[0] = (char)('0' + number / 100000000u);
	memcpy(to + 1, &halves, 8);
}

/* What is above the last nine digits of the last number. All zero in the beginning. */
struct ktr__decimal_above {
	uint64_t number; /* with nine zeros after it */
	unsigned n;	 /* digits; 0: none yet */
	char digits[16];
};

/*
 * As ktr__decimal_put(), of numbers that hardly go on, as times in nanoseconds do: what is above the second is made
 * once a second. 25 bytes may be written.
 */
static inline char *ktr__decimal_near(struct ktr__decimal_above *above, char *to, uint64_t number)
{
	uint64_t below = number - above->number;

	if (above->n == 0 || below >= 1000000000u) {
		below = number / 1000000000u;
		above->number = below * 1000000000u;
		above->n = below ? (unsigned)(ktr__decimal_put(above->digits, below) - above->digits) : 0;
		return ktr__decimal_put(to, number);
	}
	memcpy(to, above->digits, sizeof(above->digits));
	ktr__decimal_nine(to + above->n, (uint32_t)below);
	return to + above->n + 9;
}

#endif

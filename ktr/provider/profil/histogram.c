/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's buffer may be gone when a tick comes. The kernel is asked to add nothing to it first, as futex(2)
 * may do in passing: which fails, where an access of our own would be the program's end. What is unmapped between
 * the two is unmapped while it is in use, and the program dies of it as of any such mistake.
 */
#include "ktr/provider/profil/histogram.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct ktr__histogram histogram_kept[2];
static const struct ktr__histogram *histogram_now; /* one of these; atomic */
static uint32_t histogram_inside;		   /* handlers that count; atomic */

bool ktr__histogram_set(const struct ktr__histogram *histogram)
{
	static const struct timespec moment = { 0, 50000 };
	const struct ktr__histogram *now = __atomic_load_n(&histogram_now, __ATOMIC_SEQ_CST);
	struct ktr__histogram *next = &histogram_kept[now == &histogram_kept[0]];

	if (histogram)
		*next = *histogram;
	now = __atomic_exchange_n(&histogram_now, histogram ? next : NULL, __ATOMIC_SEQ_CST);
	/* Sleeping, for one of them may have less priority. */
	while (__atomic_load_n(&histogram_inside, __ATOMIC_SEQ_CST))
		nanosleep(&moment, NULL);
	return now != NULL;
}

bool ktr__histogram_is_set(void)
{
	return __atomic_load_n(&histogram_now, __ATOMIC_ACQUIRE) != NULL;
}

void ktr__histogram_forked(void)
{
	__atomic_store_n(&histogram_inside, 0, __ATOMIC_RELAXED);
}

static bool histogram_writable(uintptr_t at)
{
	static uint32_t nobody_waits;
	uintptr_t word = at & ~(uintptr_t)3;

	return syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, word,
		       FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_LT, 0)) >= 0 ||
	       errno != EFAULT;
}

/*
 * A counter that lies across two words of the processor's, as BSD allows: two threads may lose each other's ticks.
 */
static void histogram_add_odd(void *counter, uint64_t n_ticks)
{
	uint16_t n;

	memcpy(&n, counter, sizeof(n));
	n = (uint16_t)(n + n_ticks);
	memcpy(counter, &n, sizeof(n));
}

static bool histogram_add(const struct ktr__histogram *histogram, size_t index, uint64_t n_ticks)
{
	uintptr_t at = histogram->base + index * (1 + histogram->wide), last = at + (histogram->wide ? 3 : 1);
	void *counter = (void *)at; // NOLINT

	if (!histogram_writable(at) || ((last & ~(uintptr_t)3) != (at & ~(uintptr_t)3)
	      && !histogram_writable(last)))
		return false;
	if (histogram->wide)
		__atomic_fetch_add((uint32_t *)counter, (uint32_t)n_ticks, __ATOMIC_RELAXED);
	else if (at % 2)
		histogram_add_odd(counter, n_ticks);
	else
		__atomic_fetch_add((uint16_t *)counter, (uint16_t)n_ticks, __ATOMIC_RELAXED);
	return true;
}

/* The index has more bits than a word: an address far away is not in the buffer by accident. */
static enum ktr__counted histogram_count(const struct ktr__histogram *histogram, uint64_t pc, uint64_t n_ticks)
{
	unsigned __int128 index = (unsigned __int128)(pc - histogram->offset) * histogram->scale >> 17 << 1;

	if (pc < histogram->offset || index + 2 > histogram->size)
		return KTR__COUNTED_OUTSIDE;
	return histogram_add(histogram, (size_t)index, n_ticks) ? KTR__COUNTED : KTR__COUNTED_FAULT;
}

enum ktr__counted ktr__histogram_count(uint64_t pc, uint64_t n_ticks)
{
	enum ktr__counted counted = KTR__COUNTED_NOT;
	const struct ktr__histogram *histogram;

	__atomic_fetch_add(&histogram_inside, 1, __ATOMIC_SEQ_CST);
	histogram = __atomic_load_n(&histogram_now, __ATOMIC_SEQ_CST);
	if (histogram)
		counted = histogram_count(histogram, pc, n_ticks);
	if (counted == KTR__COUNTED_FAULT)
		__atomic_compare_exchange_n(&histogram_now, &histogram, NULL, false, __ATOMIC_SEQ_CST,
		      __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&histogram_inside, 1, __ATOMIC_SEQ_CST);
	return counted;
}

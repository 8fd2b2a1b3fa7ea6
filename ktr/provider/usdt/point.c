/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/usdt/point.h"

#include "ktr/provider/usdt/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define POINT_BUCKETS 1024u

static struct ktr__usdt_point *point_bucket[POINT_BUCKETS]; /* atomic; only grow */

static struct ktr__usdt_point **point_bucket_of(const uint8_t *at)
{
	return &point_bucket[((uintptr_t)at ^ (uintptr_t)at >> 12) % POINT_BUCKETS];
}

/* Nobody is in an object that is gone, so nobody reads of its points but whether they are that. */
struct ktr__usdt_point *ktr__usdt_point_make(uint8_t *at)
{
	struct ktr__usdt_point *point = *point_bucket_of(at), *chain;

	while (point && (point->at != at || !point->is_gone))
		point = point->chain;
	if (!point) {
		point = calloc(1, sizeof(*point));
		if (point)
			point->at = at;
		return point;
	}
	chain = point->chain;
	*point = (struct ktr__usdt_point){ .chain = chain, .at = at, .is_gone = 1 };
	return point;
}

void ktr__usdt_point_add(struct ktr__usdt_point *point)
{
	struct ktr__usdt_point **bucket = point_bucket_of(point->at);

	if (point->is_gone) {
		__atomic_store_n(&point->is_gone, 0, __ATOMIC_RELEASE);
		return;
	}
	point->chain = *bucket;
	__atomic_store_n(bucket, point, __ATOMIC_RELEASE);
}

static struct ktr__usdt_point *point_from(struct ktr__usdt_point *point, const uint8_t *at)
{
	while (point && (point->at != at || __atomic_load_n(&point->is_gone, __ATOMIC_ACQUIRE)))
		point = point->chain;
	return point;
}

struct ktr__usdt_point *ktr__usdt_point_at(const uint8_t *at)
{
	return point_from(__atomic_load_n(point_bucket_of(at), __ATOMIC_ACQUIRE), at);
}

struct ktr__usdt_point *ktr__usdt_point_also(const struct ktr__usdt_point *point)
{
	return point_from(point->chain, point->at);
}

/* Is another one at its place on? */
static bool point_is_shared(const struct ktr__usdt_point *point)
{
	const struct ktr__usdt_point *at = ktr__usdt_point_at(point->at);

	while (at && (at == point || !at->is_on))
		at = ktr__usdt_point_also(at);
	return at;
}

/* What sys/sdt.h leaves there is of one byte; five are what include/ktr/usdt.h leaves. */
uint8_t ktr__usdt_point_nop(const uint8_t *at)
{
	static const uint8_t five[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	if (at[0] == 0x90)
		return 1;
	if (at[0] == 0x66 && at[1] == 0x90)
		return 2;
	return memcmp(at, five, sizeof(five)) == 0 ? sizeof(five) : 0;
}

int ktr__usdt_point_on(struct ktr__usdt_point *point)
{
	bool is_there = point_is_shared(point) || (point->was_on && *point->at == KTR__USDT_TRAP);
	int code;

	if (!is_there && *point->at != point->first)
		return -EBUSY;
	__atomic_store_n(&point->is_on, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&point->was_on, 1, __ATOMIC_SEQ_CST);
	code = is_there ? 0 : ktr__usdt_text_byte(point->at, KTR__USDT_TRAP);
	if (code)
		__atomic_store_n(&point->is_on, 0, __ATOMIC_SEQ_CST);
	return code;
}

/* A thread may have come to the trap and not yet to the handler: that sees that it is off, and goes on. */
int ktr__usdt_point_off(struct ktr__usdt_point *point)
{
	int code = -EBUSY;

	if (point_is_shared(point))
		code = 0;
	else if (*point->at == KTR__USDT_TRAP)
		code = ktr__usdt_text_byte(point->at, point->first);
	__atomic_store_n(&point->is_on, 0, __ATOMIC_SEQ_CST);
	return code;
}

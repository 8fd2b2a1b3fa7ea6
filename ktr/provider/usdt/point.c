/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/usdt/point.h"

#include "ktr/provider/usdt/text.h"

#include <errno.h>
#include <string.h>

#define POINT_BUCKETS 1024u

static struct ktr__usdt_point *point_bucket[POINT_BUCKETS]; /* atomic; only grow */

static struct ktr__usdt_point **point_bucket_of(const uint8_t *at)
{
	return &point_bucket[((uintptr_t)at ^ (uintptr_t)at >> 12) % POINT_BUCKETS];
}

void ktr__usdt_point_add(struct ktr__usdt_point *point)
{
	struct ktr__usdt_point **bucket = point_bucket_of(point->at);

	point->chain = *bucket;
	__atomic_store_n(bucket, point, __ATOMIC_RELEASE);
}

struct ktr__usdt_point *ktr__usdt_point_at(const uint8_t *at)
{
	struct ktr__usdt_point *point = __atomic_load_n(point_bucket_of(at), __ATOMIC_ACQUIRE);

	while (point && (point->at != at || __atomic_load_n(&point->is_gone, __ATOMIC_ACQUIRE)))
		point = point->chain;
	return point;
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
	int code;

	if (*point->at != point->first)
		return -EBUSY;
	__atomic_store_n(&point->is_on, 1, __ATOMIC_SEQ_CST);
	code = ktr__usdt_text_byte(point->at, KTR__USDT_TRAP);
	if (code)
		__atomic_store_n(&point->is_on, 0, __ATOMIC_SEQ_CST);
	return code;
}

/* A thread may have come to the trap and not yet to the handler: that sees that it is off, and goes on. */
int ktr__usdt_point_off(struct ktr__usdt_point *point)
{
	int code = *point->at == KTR__USDT_TRAP ? ktr__usdt_text_byte(point->at, point->first) : -EBUSY;

	/* It stays the answer to the trap where that cannot be taken back. */
	if (*point->at != KTR__USDT_TRAP)
		__atomic_store_n(&point->is_on, 0, __ATOMIC_SEQ_CST);
	return code;
}

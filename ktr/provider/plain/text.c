/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes that change lie in one aligned word, which is stored at once: /proc/self/mem does not promise that, so
 * the page is writable for the moment, as well as it may be run. What a short jump leads to is written before it,
 * and every CPU that runs this process has been through an instruction that makes it forget what it has read
 * (membarrier(2)) before any can come there. It stays when the function is let go: a thread may be about to run
 * it.
 */
#include "ktr/provider/plain/text.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT_LONG  5 /* [bytes] */
#define TEXT_SHORT 2
#define TEXT_WORD  8

static size_t text_changes(const struct ktr__plain_function *function)
{
	return function->form == KTR__PLAIN_LONG ? TEXT_LONG : TEXT_SHORT;
}

static void text_long(uint8_t to[TEXT_LONG], uintptr_t at, uintptr_t target)
{
	int32_t rel = (int32_t)(target - (at + TEXT_LONG));

	to[0] = 0xe9;
	memcpy(to + 1, &rel, sizeof(rel));
}

/* What its first bytes are when it leads away. */
static void text_away(const struct ktr__plain_function *function, const uint8_t *stub, uint8_t to[TEXT_LONG])
{
	if (function->form == KTR__PLAIN_LONG) {
		text_long(to, function->at, (uintptr_t)stub);
		return;
	}
	to[0] = 0xeb;
	to[1] = (uint8_t)(function->gap - (function->at + TEXT_SHORT));
}

/* Of processes with several threads; where the kernel has it not, there is nothing to be done. */
static void text_settle(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0)
		return;
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

struct text_span {
	uintptr_t page, end;
};

static struct text_span text_span(const struct ktr__plain_function *function)
{
	uintptr_t low = function->at, high = function->at + TEXT_WORD;

	if (function->gap && function->gap < low)
		low = function->gap;
	if (function->gap + TEXT_LONG > high)
		high = function->gap + TEXT_LONG;
	return (struct text_span){ low & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1), high };
}

static int text_protect(struct text_span span, int more)
{
	return mprotect((void *)span.page, span.end - span.page, PROT_READ | PROT_EXEC | more) ? -errno : 0;
}

static void text_store(const struct ktr__plain_function *function, const uint8_t *bytes)
{
	uint64_t *at = (uint64_t *)(function->at & ~(uintptr_t)(TEXT_WORD - 1)), word;

	word = __atomic_load_n(at, __ATOMIC_RELAXED);
	memcpy((uint8_t *)&word + (function->at & (TEXT_WORD - 1)), bytes, text_changes(function));
	__atomic_store_n(at, word, __ATOMIC_SEQ_CST);
}

static bool text_is(const struct ktr__plain_function *function, const uint8_t *bytes)
{
	return memcmp((const void *)function->at, bytes, text_changes(function)) == 0;
}

int ktr__plain_text_lead(const struct ktr__plain_function *function, const uint8_t *stub)
{
	struct text_span span = text_span(function);
	uint8_t away[TEXT_LONG], far[TEXT_LONG];
	int saved = errno, code;

	if (!text_is(function, function->before))
		return -EBUSY;
	code = text_protect(span, PROT_WRITE);
	if (!code) {
		if (function->gap) {
			text_long(far, function->gap, (uintptr_t)stub);
			for (int i = 0; i < TEXT_LONG; i++)
				__atomic_store_n((uint8_t *)function->gap + i, far[i], __ATOMIC_RELAXED);
		}
		text_settle();
		text_away(function, stub, away);
		text_store(function, away);
		text_protect(span, 0);
	}
	errno = saved;
	return code;
}

int ktr__plain_text_let_go(const struct ktr__plain_function *function, const uint8_t *stub)
{
	struct text_span span = text_span(function);
	uint8_t away[TEXT_LONG];
	int saved = errno, code;

	text_away(function, stub, away);
	if (!text_is(function, away))
		return -EBUSY;
	code = text_protect(span, PROT_WRITE);
	if (!code) {
		text_store(function, function->before);
		text_protect(span, 0);
	}
	errno = saved;
	return code;
}

bool ktr__plain_text_is_new(const struct ktr__plain_function *function)
{
	return text_is(function, function->before);
}

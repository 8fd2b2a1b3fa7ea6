/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A byte is written through /proc/self/mem, which needs no page to be writable and executable at once
 * (PR_SET_MDWE, SELinux's execmod); where there is no /proc, by mprotect(2). A word is written by one store, which
 * that file does not promise, so its page is made writable for the moment.
 */
#include "ktr/provider/usdt/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int text_protect(const uint8_t *at, int more)
{
	uintptr_t page = (uintptr_t)at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

	return mprotect((void *)page, (uintptr_t)at + 1 - page, PROT_READ | PROT_EXEC | more) ? -errno : 0;
}

int ktr__usdt_text_byte(uint8_t *at, uint8_t byte)
{
	int fd = open("/proc/self/mem", O_WRONLY | O_CLOEXEC), code = -EIO;

	if (fd >= 0) {
		if (pwrite(fd, &byte, 1, (off_t)(uintptr_t)at) == 1)
			code = 0;
		close(fd);
	}
	if (!code)
		return 0;
	code = text_protect(at, PROT_WRITE);
	if (code)
		return code;
	__atomic_store_n(at, byte, __ATOMIC_SEQ_CST);
	text_protect(at, 0);
	return 0;
}

int ktr__usdt_text_word(uint8_t *at, uint64_t word)
{
	int code = text_protect(at, PROT_WRITE);

	if (code)
		return code;
	__atomic_store_n((uint64_t *)(void *)at, word, __ATOMIC_SEQ_CST);
	text_protect(at, 0);
	return 0;
}

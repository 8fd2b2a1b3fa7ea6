/* SPDX-License-Identifier: BSD-2-Clause */
/* See feeder.h. */
#include "ktr/provider/kernel/feeder.h"

#include "ktr/session/ring_area.h"
#include "ktr/session/session_again.h"
#include "ktr/session/session_rw.h"

#include <sys/mman.h>
#include <unistd.h>

#define FEEDER_PAGE 4096u /* [bytes] */

/*
 * The lock is the open file's, and a page mapped of that, which nobody touches and no child inherits, keeps it open
 * when the descriptor is closed.
 */
char *ktr__feeder_claim(struct ktr__session_rw *session)
{
	int fd = ktr__session_lock(session, KTR__LOCK_FEEDER);
	void *page;

	if (fd < 0)
		return NULL;
	page = mmap(NULL, FEEDER_PAGE, PROT_NONE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED && madvise(page, FEEDER_PAGE, MADV_DONTFORK)) {
		munmap(page, FEEDER_PAGE);
		page = MAP_FAILED;
	}
	close(fd);
	if (page == MAP_FAILED)
		return NULL;
	__atomic_store_n(&session->control->feeder, (uint32_t)getpid(), __ATOMIC_RELEASE);
	return page;
}

void ktr__feeder_release(struct ktr__session_rw *session, char *lock)
{
	if (!lock)
		return;
	__atomic_store_n(&session->control->feeder, 0, __ATOMIC_RELEASE);
	munmap(lock, FEEDER_PAGE);
}

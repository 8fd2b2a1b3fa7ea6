/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/timer/signal.h"

#include "ktr/provider/timer/wait.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

bool ktr__timer_signal_is_ours(int number, ktr__timer_handler *handler)
{
	struct sigaction now;

	return number && sigaction(number, NULL, &now) == 0 && now.sa_sigaction == handler;
}

int ktr__timer_signal_take(int number, ktr__timer_handler *handler)
{
	struct sigaction now,
		ours = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	if (ktr__timer_signal_is_ours(number, handler))
		return number;
	/* Also the C library's own, which sigfillset(3) leaves out: one cancels a thread, in here, too. */
	memset(&ours.sa_mask, 0xff, sizeof(ours.sa_mask));
	for (number = KTR__TIMER_SIGNAL_MOST; number >= KTR__TIMER_SIGNAL_LEAST; number--) {
		if (sigaction(number, NULL, &now) || now.sa_handler != SIG_DFL)
			continue;
		if (sigaction(number, &ours, NULL))
			return -errno;
		__atomic_store_n(&ktr__wait_without, number, __ATOMIC_RELEASE);
		return number;
	}
	return -EBUSY;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The process's own writer begins. */
#include "ktr/knob/writer_start.h"

#include "ktr/control/session_join.h"
#include "ktr/knob/settings.h"
#include "ktr/load/writer_hook.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * One process of a session writes its trace. A process that was given somebody else's KTR_FILE with the
 * session leaves it to that one, as long as it lives.
 */
static bool writer_may_start(void)
{
	uint32_t writer = __atomic_load_n(&ktr__own.control->writer, __ATOMIC_ACQUIRE);

	if (ktr__own_orphan || ktr__own_apart || (writer && ktr__session_other(&ktr__own, writer)))
		return false;
	return __atomic_compare_exchange_n(&ktr__own.control->writer, &writer, (uint32_t)getpid(), 0,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int ktr__writer_enable(struct ktr_error *err)
{
	const char *file = ktr__own.control->alq_file;

	if (!writer_may_start())
		return ktr_error_set(err, EBUSY, "another process of the session writes its trace");
	snprintf(ktr__settings.context.file, sizeof(ktr__settings.context.file), "%.*s", KTR_ALQ_FILE_MAX - 1,
		 file[0] ? file : "ktr.out");
	memcpy(ktr__own.control->alq_file, ktr__settings.context.file, sizeof(ktr__settings.context.file));
	return ktr__writer_start(&ktr__own, ktr__settings.context.file, err);
}

int ktr__writer_verbose(struct ktr_error *err)
{
	if (!writer_may_start())
		return ktr_error_set(err, EBUSY, "another process of the session has the writer thread");
	return ktr__writer_start(&ktr__own, NULL, err);
}

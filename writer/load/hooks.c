/* SPDX-License-Identifier: BSD-2-Clause */
/* In libktr-writer.so alone: what libktr.so looks up in it (ktr/load/writer_load.c). */
#include "ktr/load/resize.h"
#include "ktr/load/sweep.h"
#include "ktr/load/writer_hook.h"

#include <ktr/version.h>

extern const struct ktr__writer_hooks ktr__writer_hooks;

__attribute__((visibility("default"))) const struct ktr__writer_hooks ktr__writer_hooks = {
	.version = KTR_VERSION_TEXT,
	.start = ktr__writer_start,
	.flush = ktr__writer_flush,
	.stop = ktr__writer_stop,
	.leave = ktr__writer_leave,
	.before_fork = ktr__writer_before_fork,
	.after_fork_parent = ktr__writer_after_fork_parent,
	.after_fork_child = ktr__writer_after_fork_child,
	.thread_end = ktr__writer_thread_end,
	.sweep = ktr__sweep,
	.resize = ktr__resize,
};

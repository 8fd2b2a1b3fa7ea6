/* SPDX-License-Identifier: BSD-2-Clause */
/* The process's own session, its writer as the files below see it, and the one line that may be said. */
#include "ktr/record/own.h"

#include "ktr/load/writer_hook.h"
#include "ktr/record/sandbox.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* In a sandbox the writer notices by itself, within a tenth of a second; nobody asks the kernel meanwhile. */
#define OWN_LEAVES_NS 10000000000ull

struct ktr__session_rw ktr__own = { .fd = -1 };
bool ktr__own_asked, ktr__own_apart, ktr__own_orphan;

__attribute__((visibility("default"))) const struct ktr__session_rw *ktr__own_session(void)
{
	return &ktr__own;
}

__attribute__((visibility("default"))) void ktr__complain(const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	if (ktr__own.sealed)
		return;
	n = snprintf(line, sizeof(line), "ktr: ");
	va_start(args, format);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, args);
	va_end(args);
	if ((size_t)n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n + 1) < 0)
		return; /* nobody to tell */
}

void ktr__complain_error(const char *what, const struct ktr_error *err)
{
	char text[KTR_ERROR_LINE_BYTES];

	ktr__complain("%s: %s", what, ktr_error_print(err, text, sizeof(text)));
}

int ktr__own_flush(void)
{
	return ktr__own_orphan ? -ESRCH : ktr__writer_flush();
}

void ktr__own_stop(void)
{
	uint64_t until = ktr__own.sealed ? ktr__sandbox_now_ns() + OWN_LEAVES_NS : 0;

	if (ktr__own_orphan)
		return;
	if (!ktr__own.sealed)
		ktr__writer_stop();
	else
		while (!ktr__writer_leave() && ktr__sandbox_now_ns() < until)
			;
}

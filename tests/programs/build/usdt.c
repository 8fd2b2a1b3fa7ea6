/* SPDX-License-Identifier: BSD-2-Clause */
/* Points that are user-space statically defined tracepoints, too: 1,000 of class rx, 100 of class net. */
#include <ktr.h>

#include <stdint.h>
#include <stdio.h>

KTR_CLASS_DEFINE(rx, "received");

int main(int argc, char **argv)
{
	static const char *const peer[] = { "left", "right" };

	for (int i = 0; i < 1000; i++) {
		CTR4(KTR_CLASS(rx), "got %d of %s, %lld, %u", i - 500, peer[i % 2], 1ll << 40, (unsigned)argc);
		if (i % 10 == 0)
			CTR0(KTR_NET, "tenth");
		KTR_STATE0(KTR_SCHED, "row", argv[0], "busy");
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* dtrace_demo.json, as it lies beside; make runs in the top directory. */
	.section .rodata
	.globl	dtrace_demo, dtrace_demo_end
	.hidden	dtrace_demo, dtrace_demo_end
dtrace_demo:
	.incbin	"tools/bsd/dtrace_demo.json"
dtrace_demo_end:
	.byte	0

#include "ktr/arch/property.h"

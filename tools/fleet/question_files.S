/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions, as they lie beside; make runs in the top directory. */
	.section .rodata
	.macro	question name
	.globl	question_\name, question_\name\()_end
	.hidden	question_\name, question_\name\()_end
question_\name:
	.incbin	"tools/fleet/questions/\name\().sql"
question_\name\()_end:
	.byte	0
	.endm
	question top
	question slow
	question losses
	question hosts
	question span
	question diff
	question basis

#include "ktr/arch/property.h"

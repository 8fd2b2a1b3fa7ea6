/* SPDX-License-Identifier: BSD-2-Clause */
/* The page's own texts, as they lie in visualize/flame/; make runs in the top directory. */
	.section .rodata
	.globl	ktr__flame_html, ktr__flame_css, ktr__flame_js
	.hidden	ktr__flame_html, ktr__flame_css, ktr__flame_js
ktr__flame_html:
	.incbin	"visualize/flame/flame.html"
	.byte	0
ktr__flame_css:
	.incbin	"visualize/flame/flame.css"
	.byte	0
ktr__flame_js:
	.incbin	"visualize/flame/flame.js"
	.byte	0

#include "ktr/arch/property.h"

/* SPDX-License-Identifier: BSD-2-Clause */
/* The page's own texts, as they lie in visualize/page/program/; make runs in the top directory. */
	.section .rodata
	.globl	ktr__page_html, ktr__page_css, ktr__page_engine, ktr__page_js, ktr__compare_html, ktr__compare_js
	.hidden	ktr__page_html, ktr__page_css, ktr__page_engine, ktr__page_js, ktr__compare_html, ktr__compare_js
ktr__page_html:
	.incbin	"visualize/page/program/page.html"
	.byte	0
ktr__page_css:
	.incbin	"visualize/page/program/page.css"
	.byte	0
/* What a worker runs as well; these are put together by make, without comments. */
ktr__page_engine:
	.incbin	"engine.js"
	.byte	0
ktr__page_js:
	.incbin	"view.js"
	.byte	0
/* Two pages in one. */
ktr__compare_html:
	.incbin	"visualize/page/program/compare.html"
	.byte	0
ktr__compare_js:
	.incbin	"compare.js"
	.byte	0

#include "ktr/arch/property.h"

/* SPDX-License-Identifier: BSD-2-Clause */
/* The page's own texts, as they lie in visualize/page/; make runs in the top directory. */
	.section .rodata
	.globl	ktr__page_html, ktr__page_css, ktr__page_js
	.hidden	ktr__page_html, ktr__page_css, ktr__page_js
ktr__page_html:
	.incbin	"visualize/page/page.html"
	.byte	0
ktr__page_css:
	.incbin	"visualize/page/page.css"
	.byte	0
ktr__page_js:
	.incbin	"visualize/page/text.js"
	.incbin	"visualize/page/data.js"
	.incbin	"visualize/page/rows.js"
	.incbin	"visualize/page/draw.js"
	.incbin	"visualize/page/search.js"
	.incbin	"visualize/page/panel.js"
	.incbin	"visualize/page/main.js"
	.byte	0

#include "ktr/arch/property.h"

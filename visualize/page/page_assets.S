/* SPDX-License-Identifier: BSD-2-Clause */
/* The page's own texts, as they lie in visualize/page/; make runs in the top directory. */
	.section .rodata
	.globl	ktr__page_html, ktr__page_css, ktr__page_engine, ktr__page_js
	.hidden	ktr__page_html, ktr__page_css, ktr__page_engine, ktr__page_js
ktr__page_html:
	.incbin	"visualize/page/page.html"
	.byte	0
ktr__page_css:
	.incbin	"visualize/page/page.css"
	.byte	0
/* What a worker runs as well. */
ktr__page_engine:
	.incbin	"visualize/page/text.js"
	.incbin	"visualize/page/data.js"
	.incbin	"visualize/page/rows.js"
	.incbin	"visualize/page/histogram.js"
	.incbin	"visualize/page/filter.js"
	.incbin	"visualize/page/match.js"
	.incbin	"visualize/page/kinds.js"
	.incbin	"visualize/page/window.js"
	.incbin	"visualize/page/tasks.js"
	.byte	0
ktr__page_js:
	.incbin	"visualize/page/ask.js"
	.incbin	"visualize/page/draw.js"
	.incbin	"visualize/page/marks.js"
	.incbin	"visualize/page/hit.js"
	.incbin	"visualize/page/search.js"
	.incbin	"visualize/page/panel.js"
	.incbin	"visualize/page/detail.js"
	.incbin	"visualize/page/range.js"
	.incbin	"visualize/page/link.js"
	.incbin	"visualize/page/main.js"
	.byte	0

#include "ktr/arch/property.h"

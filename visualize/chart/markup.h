/* SPDX-License-Identifier: BSD-2-Clause */
/* Text within HTML and SVG. */
#ifndef VISUALIZE_MARKUP_H
#define VISUALIZE_MARKUP_H

#include <stdio.h>

/*
 * Writes a clean text (visualize/model/label.h) as text or attribute of HTML or XML. U+FFFE and U+FFFF, which no
 * XML may have, become U+FFFD.
 */
void ktr__markup_text(FILE *to, const char *text);

/* Writes a text of JSON for the inside of a script element: no byte of it ends the element or begins a comment. */
void ktr__markup_json(FILE *to, const char *json);

#endif

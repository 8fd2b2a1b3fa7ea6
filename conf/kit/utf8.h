/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that a program logged, made fit for a terminal or for JSON.
 */
#ifndef ANALYZE_UTF8_H
#define ANALYZE_UTF8_H

#include <stddef.h>

/*
 * Length of the well-formed UTF-8 character that n bytes begin with (Unicode 15, table 3-7); 0
 * when they do not begin with one.
 */
size_t ktr__utf8_char(const char *bytes, size_t n);

/* How many leading bytes are printable ASCII. */
size_t ktr__utf8_plain(const char *bytes, size_t n);

/*
 * Is this well-formed character a control character (C1 and DEL included), or one that turns the direction of what
 * follows or ends a line elsewhere than here?
 */
int ktr__utf8_is_control(const char *bytes, size_t length);

/*
 * Writes bytes so that they neither move a cursor nor break a line or turn its direction: control
 * characters, C1 and bidirectional ones included, and what is not UTF-8 become \xNN (\n, \t, \r as such),
 * everything else stays. At most 4 * n bytes are written, no NUL. Returns their number.
 */
size_t ktr__utf8_visible(char *to, const char *bytes, size_t n);

/*
 * Would a spreadsheet take a cell for a formula? So it is with what begins with = + - @, a tab or a carriage
 * return (OWASP, "CSV Injection"), unless it is a number, such as -7. A quote in front makes text of it.
 */
int ktr__utf8_is_formula(const char *bytes, size_t n);

/*
 * Writes bytes as well-formed UTF-8: what is not becomes U+FFFD, one for each byte. At most 3 * n
 * bytes are written, no NUL. Returns their number.
 */
size_t ktr__utf8_repair(char *to, const char *bytes, size_t n);

#endif

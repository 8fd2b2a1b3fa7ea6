/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first columns of a report's tables, which are known only when a table is complete: a report is printed with
 * its names in full between marks, which no name has, and laid out then.
 */
#ifndef TOOLS_REPORT_NAMES_H
#define TOOLS_REPORT_NAMES_H

#include <stdio.h>

#define REPORT_NAMES_TABLE "\001" /* a table begins with the name of its first column */
#define REPORT_NAMES_NAME  "\002" /* a name; clean */
#define REPORT_NAMES_END   "\003" /* of either */
#define REPORT_NAMES_LEAST 32u	  /* [columns] of names, whatever they are */

/*
 * Writes a report. Names are whole where width is 0, else lines are as wide as that at most, as far as names can
 * help it: names that differ are not cut to the same. 0 or -ENOMEM.
 */
int report_names_write(FILE *to, const char *text, unsigned width);

/* The columns of standard output for it; 0 where that is no terminal. */
unsigned report_names_width(void);

#endif

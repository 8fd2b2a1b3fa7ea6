/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr under its other name; ktr.c asks for it. */
#ifndef TOOLS_KTRDUMP_H
#define TOOLS_KTRDUMP_H

#define KTRDUMP_NAME "ktrdump"

/* The exit status. argv[0] is KTRDUMP_NAME. */
int ktrdump_main(int argc, char **argv);

#endif

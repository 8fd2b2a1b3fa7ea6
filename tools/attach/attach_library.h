/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the agent lies that is of the same build as this command. */
#ifndef TOOLS_ATTACH_LIBRARY_H
#define TOOLS_ATTACH_LIBRARY_H

#include <stddef.h>

#define ATTACH_LIBRARY "libktr-agent.so.0"

/* Beside the command, as it is built and installed; else its bare name, which the loader looks for. 0 or -errno. */
int attach_library(char *path, size_t size);

#endif

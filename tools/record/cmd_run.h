/* SPDX-License-Identifier: BSD-2-Clause */
/* What `ktr run` does, for commands that run a program for a purpose. */
#ifndef TOOLS_CMD_RUN_H
#define TOOLS_CMD_RUN_H

#include "tools/find.h"
#include "tools/record/run_environment.h"

#define RUN_OPTIONS(name)                                                                                \
	{                                                                                                \
		.command = (name), .trace = FIND_TRACE, .after = RUN_AS_IT_IS,                           \
		.longer_ns = RUN_AS_IT_IS, .depth = RUN_AS_IT_IS, .rotate = ROTATE_OPTIONS               \
	}

/* Runs a program, with its arguments, as was asked for, and says what came of it. The exit status. */
int run_program(struct run *run, char **program);

#endif

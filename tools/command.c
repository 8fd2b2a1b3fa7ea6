/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of subcommands, which add themselves before main() begins. */
#include "tools/command.h"

#include <signal.h>
#include <string.h>

void (*command_sigpipe)(int) = SIG_DFL;
void (*command_sigxfsz)(int) = SIG_DFL;

struct command *command_first;

void command_add(struct command *command)
{
	struct command **at = &command_first;

	while (*at && strcmp((*at)->name, command->name) < 0)
		at = &(*at)->next;
	command->next = *at;
	*at = command;
}

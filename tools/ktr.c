/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ktr command: finds the subcommand and runs it. Subcommands add themselves (command.h) before
 * main() begins; this file knows none of them by name.
 */
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/options.h"

#include <ktr/conf.h>
#include <ktr/version.h>

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct command *ktr_find(const char *name)
{
	struct command *c = command_first;

	while (c && strcmp(c->name, name) != 0)
		c = c->next;
	return c;
}

static int ktr_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	struct command *c = *(struct command **)context;

	*value = idx;
	for (; c && idx; idx--)
		c = c->next;
	if (!c)
		return -ENOENT;
	snprintf(name, size, "%s", c->name);
	return 0;
}

static void ktr_help(FILE *to)
{
	fprintf(to, "examples:\n"
		    "  ktr run ./program        run it traced, write ./ktr.out\n"
		    "  ktr dump                 print what ./ktr.out holds\n"
		    "  ktr ls                   what is being traced now\n"
		    "\n"
		    "usage: ktr COMMAND [OPTIONS] [OPERANDS]\n"
		    "       ktr help COMMAND\n"
		    "\n"
		    "commands:\n");
	for (struct command *c = command_first; c; c = c->next)
		if (c->help)
			fprintf(to, "  %-12s %s\n", c->name, c->help);
}

static int ktr_unknown(const char *name)
{
	char nearest[64];

	if (ktr_nearest(name, ktr_names, &command_first, nearest, sizeof(nearest)))
		fprintf(stderr, "ktr: there is no command \"%s\"; did you mean `ktr %s`?\n", name,
			nearest);
	else
		fprintf(stderr, "ktr: there is no command \"%s\"; `ktr help` lists them\n", name);
	return 2;
}

/* name: what it is called by, in its own messages, too. */
static int ktr_run_as(struct command *command, char *name, int argc, char **argv)
{
	int rc;

	argv[0] = name;
	rc = command->run(argc, argv);
	/*
	 * Output that did not reach its place is a failure of the command, however well it went; but a
	 * reader that wants no more of it is none. 2 has been explained, and to ktr diff 1 is no failure.
	 */
	if (rc != 2 && (fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE)
		return fail(name, "cannot write the output: %s", strerror(errno));
	return rc;
}

static int ktr_run(int argc, char **argv)
{
	struct command *command = ktr_find(argv[0]);
	char name[64];

	if (!command)
		return ktr_unknown(argv[0]);
	snprintf(name, sizeof(name), "ktr %s", command->name);
	return ktr_run_as(command, name, argc, argv);
}

static int ktr_help_about(int argc, char **argv)
{
	char option[] = "--help", *args[] = { argc > 0 ? argv[0] : NULL, option, NULL };

	if (argc > 0)
		return ktr_run(2, args);
	ktr_help(stdout);
	return 0;
}

/*
 * jansson does not tell of every allocation that fails: a text that it reads may come out shorter. So one
 * that fails ends the command.
 */
static void *ktr_json_alloc(size_t n)
{
	void *at = malloc(n);

	if (at || !n)
		return at;
	fflush(stdout);
	fputs("ktr: not enough memory\n", stderr);
	_exit(1);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	struct command *own;

	/* `ktr dump | head` ends with a write error that is seen, not with a signal. */
	json_set_alloc_funcs(ktr_json_alloc, free);
	interrupt_init();
	command_sigpipe = signal(SIGPIPE, SIG_IGN);
	command_sigxfsz = signal(SIGXFSZ, SIG_IGN); /* EFBIG is an error like others */
	/* By the name of a program that it replaces it is that one. A copy of ktr called test or run is ktr. */
	own = argc ? ktr_find(basename(argv[0])) : NULL;
	if (own && own->alone)
		return ktr_run_as(own, basename(argv[0]), argc, argv);
	if (!*word) {
		ktr_help(stderr);
		return 2;
	}
	if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return ktr_help_about(argc - 2, argv + 2);
	if (strcmp(word, "--version") == 0) {
		printf("ktr %d.%d.%d\n", KTR_VERSION_MAJOR, KTR_VERSION_MINOR, KTR_VERSION_PATCH);
		return 0;
	}
	if (*word == '-') {
		fprintf(stderr, "ktr: options go behind the command; `ktr help` lists commands\n");
		return 2;
	}
	return ktr_run(argc - 1, argv + 1);
}

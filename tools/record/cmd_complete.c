/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr complete: what the last of some words of a command line may become, for shells; scripts/completions.sh is
 * what they load. The command that is named is run up to where it would look at its options: its own table of
 * them says what there is. Values come from the trace that the words name, or from the sessions that there are.
 *
 *	$ ktr complete ktr dump --fi	"--filter<tab>help", one a line; ":files" where a file may stand
 */
#include "analyze/read/reader.h"
#include "conf/kit/utf8.h"
#include "ktr/session/class_name.h"
#include "ktr/session/session_find.h"
#include "ktr/session/session_proc.h"
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/report/session_info.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct complete {
	int argc;
	char **argv;	    /* of the command, the last one being written */
	const char *word;   /* that one, or what of it is the value */
	const char *before; /* what stands before the value in the same word: "--group=" */
	const struct options *options;
	struct ktr_reader *reader; /* of the trace, or NULL */
};

static struct complete complete;

/* ---- candidates ---- */

/*
 * One line, if it begins as the word does. Names that a terminal would not show as they are cannot be typed
 * either.
 */
static void complete_offer(const char *text, const char *help)
{
	size_t n = strlen(text);

	if (!n || ktr__utf8_plain(text, n) != n || strncmp(text, complete.word, strlen(complete.word)) != 0)
		return;
	printf("%s%s%s%s\n", complete.before, text, help ? "\t" : "", help ? help : "");
}

static void complete_files(void)
{
	puts(":files");
}

/* Name i that a call site gives; NULL after the last. */
typedef const char *complete_name_fn(const struct ktr_reader_site *site, unsigned i);

static int complete_has(const struct ktr_reader_site *site, complete_name_fn *name, const char *text)
{
	const char *one;

	for (unsigned i = 0; (one = name(site, i)) != NULL; i++)
		if (strcmp(one, text) == 0)
			return 1;
	return 0;
}

/* Each of the names that the trace's call sites give; some come several times. */
static void complete_sites(complete_name_fn *name, const char *help)
{
	unsigned n = complete.reader ? ktr_reader_n_sites(complete.reader) : 0;

	for (unsigned id = 1; id < n; id++) {
		const struct ktr_reader_site *site = ktr_reader_site(complete.reader, id), *other;
		const char *text;

		for (unsigned i = 0; site && (text = name(site, i)) != NULL; i++) {
			int again = 0;

			for (unsigned k = 1; k < id && !again; k++)
				again = (other = ktr_reader_site(complete.reader, k)) != NULL &&
					complete_has(other, name, text);
			if (!again)
				complete_offer(text, help);
		}
	}
}

static const char *complete_group(const struct ktr_reader_site *site, unsigned i)
{
	return i ? NULL : site->group;
}

static const char *complete_span(const struct ktr_reader_site *site, unsigned i)
{
	int is_span = site->kind == KTR_KIND_START || site->kind == KTR_KIND_STATE;

	return is_span && !i ? site->group : is_span && i == 1 ? site->ident : NULL;
}

static const char *complete_site(const struct ktr_reader_site *site, unsigned i)
{
	return i ? NULL : site->name;
}

static const char *complete_argument(const struct ktr_reader_site *site, unsigned i)
{
	return i < site->n_args ? site->arg[i].name : NULL;
}

/* Classes, behind what of a mask is there already. */
static void complete_mask(void)
{
	const char *last = complete.word + strlen(complete.word);
	char before[256], name[KTR_CLASS_NAME_MAX];

	while (last > complete.word && !strchr("|,+-", last[-1]))
		last--;
	snprintf(before, sizeof(before), "%s%.*s", complete.before, (int)(last - complete.word), complete.word);
	complete.before = before;
	complete.word = last;
	complete_offer("all", NULL);
	for (unsigned bit = 0; bit < KTR_CLASS_MAX; bit++) {
		const char *known = complete.reader ? ktr_reader_class_name(complete.reader, bit) : NULL;

		if (!known && bit < KTR_CLASS_APP_FIRST) {
			ktr__class_name(bit, name);
			known = name;
		}
		if (known)
			complete_offer(known, NULL);
	}
}

static int complete_session(void *context, const char *path, const char *name)
{
	struct ktr__session_map map;
	static struct session_info info;
	char pid[24];
	int pids = *(int *)context;

	if (ktr__map_open(path, KTR__MAP_OWN, &map, NULL))
		return 0;
	if (session_info(&map, &info) == 0 && !pids)
		complete_offer(name, info.cmdline);
	else if (pids && info.alive)
		for (unsigned i = 0; i < info.n_pids; i++) {
			snprintf(pid, sizeof(pid), "%d", (int)info.process[i].pid);
			complete_offer(pid, info.cmdline);
		}
	ktr__map_close(&map);
	return 0;
}

static void complete_sessions(int pids)
{
	ktr__session_walk(complete_session, &pids, NULL);
}

/* ---- what stands where ---- */

static void complete_groups(void)
{
	complete_sites(complete_group, "group");
}

static void complete_spans(void)
{
	complete_sites(complete_span, NULL);
}

static void complete_all_sites(void)
{
	complete_sites(complete_site, NULL);
}

static void complete_arguments(void)
{
	complete_sites(complete_argument, NULL);
}

static void complete_names(void)
{
	complete_sessions(0);
}

static void complete_pids(void)
{
	complete_sessions(1);
}

/* By what the option is called, NULL: whatever it is, and its value. */
static const struct {
	const char *option, *value;
	void (*offer)(void);
} complete_rows[] = {
	{ "session", "NAME", complete_names }, { "span", "NAME", complete_spans },
	{ "x", "NAME", complete_arguments },   { "y", "NAME", complete_arguments },
	{ NULL, "PID", complete_pids },	       { NULL, "GROUP", complete_groups },
	{ NULL, "SITE", complete_all_sites },  { NULL, "A..B", complete_all_sites },
	{ NULL, "KEY", complete_arguments },   { NULL, "MASK", complete_mask },
	{ NULL, "FILE", complete_files },      { NULL, "TRACE", complete_files },
};

static void complete_value(const struct option_row *row)
{
	for (unsigned i = 0; row->kind == OPTION_KIND_WORD && row->words[i]; i++)
		complete_offer(row->words[i], NULL);
	for (size_t i = 0; i < sizeof(complete_rows) / sizeof(complete_rows[0]); i++)
		if ((!complete_rows[i].option || strcmp(complete_rows[i].option, row->name) == 0) &&
		    strcmp(complete_rows[i].value, row->value) == 0)
			complete_rows[i].offer();
}

static void complete_options(void)
{
	char text[80];

	for (unsigned i = 0; i <= complete.options->n_rows; i++) {
		const struct option_row *row = options_row(complete.options, i);

		snprintf(text, sizeof(text), "--%s", row->name);
		complete_offer(text, row->help);
		snprintf(text, sizeof(text), "-%c", row->letter);
		if (row->letter && strlen(complete.word) < 2)
			complete_offer(text, row->help);
	}
}

/* "list|enable|disable [GLOB...]": the words of the first operand. */
static void complete_verbs(const char *operands)
{
	char text[128], *save;
	size_t n = strspn(operands, "abcdefghijklmnopqrstuvwxyz|");

	snprintf(text, sizeof(text), "%.*s", (int)n, operands);
	for (char *word = strtok_r(text, "|", &save); word; word = strtok_r(NULL, "|", &save))
		complete_offer(word, NULL);
}

/* The operand, before which stand n others. */
static void complete_operand(unsigned n)
{
	const char *operands = complete.options->operands, *help = NULL, *name;

	for (unsigned i = 0; n == 0 && complete.options->first && (name = complete.options->first(i, &help)); i++)
		complete_offer(name, help);
	if (n == 0)
		complete_verbs(operands);
	if (n == 0 && (complete.options->first || strspn(operands, "abcdefghijklmnopqrstuvwxyz")))
		return;
	if (strstr(operands, "NAME...") || strstr(operands, "[NAME"))
		complete_names();
	if (strstr(operands, "TRACE") || strstr(operands, "PROGRAM") || strstr(operands, "A B"))
		complete_files();
}

/* ---- the words ---- */

/* The option that a word is, which wants its value in the next one; NULL: it is no such. */
static const struct option_row *complete_wants(const char *word)
{
	for (unsigned i = 0; word[0] == '-' && i <= complete.options->n_rows; i++) {
		const struct option_row *row = options_row(complete.options, i);

		if (row->value && ((word[1] == '-' && strcmp(word + 2, row->name) == 0) ||
				   (row->letter && word[1] == row->letter && !word[2])))
			return row;
	}
	return NULL;
}

/* The trace or session that the words name, to take names from. */
static void complete_source(void)
{
	const char *trace = FIND_TRACE;
	char path[PATH_MAX] = "";

	for (int i = 1; i + 1 < complete.argc; i++) {
		const char *word = complete.argv[i], *next = complete.argv[i + 1];

		snprintf(path, sizeof(path), "%s/metadata", word);
		if (access(path, F_OK) == 0)
			trace = word;
		*path = 0;
		if ((strcmp(word, "-s") == 0 || strcmp(word, "--session") == 0) && i + 2 < complete.argc &&
		    ktr__session_find_name(next, path, sizeof(path), NULL) == 0)
			break;
		*path = 0;
		if ((strcmp(word, "-p") == 0 || strcmp(word, "--pid") == 0) && i + 2 < complete.argc &&
		    ktr__session_find_pid((pid_t)atoi(next), path, sizeof(path), NULL) == 0)
			break;
		*path = 0;
	}
	ktr_reader_open(*path ? path : trace, NULL, &complete.reader, NULL);
}

/* What options_parse() calls. */
static void complete_with(const struct options *options)
{
	const char *previous = complete.argc > 2 ? complete.argv[complete.argc - 2] : "";
	const struct option_row *row;
	char before[128], *equals;
	unsigned n = 0;

	complete.options = options;
	equals = strncmp(complete.word, "--", 2) == 0 ? strchr(complete.word, '=') : NULL;
	if (equals) {
		snprintf(before, sizeof(before), "%.*s", (int)(equals + 1 - complete.word), complete.word);
		complete.before = before;
		complete.word = equals + 1;
		*equals = 0;
		previous = complete.argv[complete.argc - 1];
	}
	row = complete_wants(previous);
	if (row || !equals)
		complete_source();
	if (row) {
		complete_value(row);
	} else if (complete.word[0] == '-') {
		complete_options();
	} else if (!equals) {
		for (int i = 1; i + 1 < complete.argc; i++) {
			n += complete.argv[i][0] != '-';
			i += complete_wants(complete.argv[i]) != NULL;
		}
		complete_operand(n);
	}
	ktr_reader_close(complete.reader);
}

static void complete_commands(void)
{
	for (struct command *c = command_first; c; c = c->next)
		if (c->help)
			complete_offer(c->name, c->help);
}

/* argv: of the command line that is completed, without "ktr". */
static int complete_words(int argc, char **argv)
{
	struct command *c = command_first;

	complete.before = "";
	complete.word = argv[argc - 1];
	if (argc == 1) {
		complete_commands();
		complete_offer("help", "print how a command is used");
		return 0;
	}
	if (strcmp(argv[0], "help") == 0) {
		complete_commands();
		return 0;
	}
	while (c && strcmp(c->name, argv[0]) != 0)
		c = c->next;
	if (!c)
		return 0;
	complete.argc = argc;
	complete.argv = argv;
	options_told = complete_with;
	c->run(argc, argv);
	return 0;
}

static int cmd_complete(int argc, char **argv)
{
	const char *slash;
	char *program;

	if (argc < 3)
		return usage_error(argv[0], "wants the words of a command line: ktr complete ktr dump --fo");
	slash = strrchr(argv[1], '/');
	program = slash ? argv[1] + (slash + 1 - argv[1]) : argv[1];
	/* Another name of the program is another command. */
	argv[1] = program;
	return strcmp(program, "ktr") == 0 ? complete_words(argc - 2, argv + 2) : complete_words(argc - 1, argv + 1);
}

COMMAND(complete, NULL, cmd_complete);

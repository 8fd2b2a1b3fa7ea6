/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr sysctl: reads and sets the knobs of a session while its programs run, with the flags and the
 * output of FreeBSD's sysctl(8). A name may leave out the leading "debug.ktr.", and a name that is
 * a node stands for all below it.
 *
 * Several settings are made in order; one that fails does not keep the rest from being made, and
 * shows in the exit status.
 */
#include "analyze/filter/trigger_make.h"
#include "conf/expr/expr_caret.h"
#include "conf/names.h"
#include "conf/quote.h"
#include "tools/probe/probes.h"
#include "tools/attach/prof_knobs.h"
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/record/computed_knobs.h"
#include "tools/record/trigger_names.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSCTL_ROOT "debug.ktr"

struct sysctl {
	const char *command;
	const char *path; /* of the session */
	struct find find;
	struct ktr_conf *conf;
	struct computed_knobs computed;
	struct probes probes;
	struct prof_knobs prof;
	int all;          /* -a */
	int describe;     /* -d */
	int types;        /* -t */
	int origins;      /* --origin */
	int files;        /* --files */
	int ignore;       /* -i: unknown names are no error */
	int no_name;      /* -n */
	int names_only;   /* -N */
	int quiet;        /* -q */
	int opaque;       /* -o: text of several lines too */
	int only_tun;     /* -T */
	int only_write;   /* -W */
	int sweeping;     /* this is a listing of everything */
	int equals;       /* -e: '=' instead of ": " */
	unsigned print;   /* KTR_PRINT_* */
	const char *file; /* -f */
	unsigned n_failed;
	char trigger[4 * KTR_KNOB_STRING_BYTES];
	char value[KTR_VALUE_BYTES];
	char old[KTR_VALUE_BYTES];
};

static void sysctl_failed(struct sysctl *s, const struct ktr_error *err)
{
	if (!s->quiet)
		fail_with(s->command, err);
	s->n_failed++;
}

static void sysctl_print_name(const struct sysctl *s, const char *name)
{
	if (!s->no_name)
		printf("%s%s", name, s->equals ? "=" : ": ");
}

static void sysctl_origin(const struct sysctl *s, const struct ktr_knob_at *at)
{
	struct ktr_origin origin;
	char text[192];

	ktr_knob_origin(at, &origin);
	sysctl_print_name(s, at->name);
	printf("%s\n", ktr_origin_print(&origin, text, sizeof(text)));
}

static void sysctl_describe(const struct sysctl *s, const struct ktr_knob_at *at)
{
	static const char *const types[] = { "?",      "bool", "int",    "uint", "size", "duration",
					     "string", "mask", "choice", "cpus", "text" };
	uint32_t type = at->knob->type;

	sysctl_print_name(s, at->name);
	if (s->describe)
		printf("%s%s%s%s\n", at->knob->help, at->knob->unit ? " [" : "",
		       at->knob->unit ? at->knob->unit : "", at->knob->unit ? "]" : "");
	else
		printf("%s\n", type < sizeof(types) / sizeof(types[0]) ? types[type] : "?");
}

/* Prints one knob. Listings leave out what was not asked for by its own name. */
static void sysctl_show(struct sysctl *s, const struct ktr_knob_at *at, int listed)
{
	struct ktr_error err = KTR_ERROR_NONE;
	uint32_t access = at->knob->access;

	if ((s->only_tun && !(access & KTR_KNOB_TUN)) ||
	    (s->only_write && (!(access & KTR_KNOB_WR) || access & KTR_KNOB_STATS)))
		return;
	if (listed && ((access & KTR_KNOB_SKIP && s->sweeping) || (at->knob->type == KTR_KNOB_TEXT && !s->opaque)))
		return;
	if (s->names_only) {
		printf("%s\n", at->name);
		return;
	}
	if (s->describe || s->types) {
		sysctl_describe(s, at);
		return;
	}
	if (s->origins) {
		if (access & (KTR_KNOB_WR | KTR_KNOB_TUN))
			sysctl_origin(s, at);
		return;
	}
	if (listed && !(access & KTR_KNOB_RD))
		return;
	if (ktr_knob_read(at, s->print, s->value, sizeof(s->value), &err)) {
		sysctl_failed(s, &err);
		return;
	}
	sysctl_print_name(s, at->name);
	printf("%s\n", s->value);
}

/* Prints all knobs at and below a name. Returns how many there are. */
static unsigned sysctl_list(struct sysctl *s, const char *prefix)
{
	struct ktr_knob_at at;
	unsigned n = 0;

	/* What is left out of listings is left out of those of everything. */
	s->sweeping = !*prefix || strcmp(prefix, "debug") == 0 || strcmp(prefix, SYSCTL_ROOT) == 0;
	memset(&at, 0, sizeof(at));
	for (; ktr_conf_next(s->conf, prefix, &at) > 0; n++)
		sysctl_show(s, &at, strcmp(at.name, prefix) != 0);
	return n;
}

/* The full name: as it is if it exists, else below debug.ktr if it exists there. */
static int sysctl_find(struct sysctl *s, const char *name, struct ktr_knob_at *at,
		       struct ktr_error *err)
{
	char full[sizeof(SYSCTL_ROOT) + KTR_KNOB_NAME_BYTES];

	if (ktr_conf_find(s->conf, name, at, NULL) == 0)
		return 0;
	snprintf(full, sizeof(full), "%s.%s", SYSCTL_ROOT, name);
	return ktr_conf_find(s->conf, strncmp(name, "debug.", 6) == 0 ? name : full, at, err);
}

/* Is this a node below which there could be knobs, of which there are none now? */
static int sysctl_empty(const struct sysctl *s, const char *name)
{
	size_t length = strlen(name);

	for (const struct ktr_knobs *t = s->conf->tables; t; t = t->next)
		for (unsigned i = 0; i < t->n_rows; i++)
			if (strncmp(t->rows[i].name, name, length) == 0 &&
			    strncmp(t->rows[i].name + length, ".*", 2) == 0)
				return 1;
	return 0;
}

static void sysctl_get(struct sysctl *s, const char *name)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char full[sizeof(SYSCTL_ROOT) + KTR_KNOB_NAME_BYTES];
	struct ktr_knob_at at;

	if (sysctl_find(s, name, &at, &err) == 0) {
		sysctl_show(s, &at, 0);
		return;
	}
	snprintf(full, sizeof(full), "%s.%s", SYSCTL_ROOT, name);
	if (sysctl_list(s, name) || sysctl_list(s, full) || s->ignore)
		return;
	if (!sysctl_empty(s, name) && !sysctl_empty(s, full))
		sysctl_failed(s, &err);
	else if (!s->quiet)
		fprintf(stderr, "%s: %s: there is none now\n", s->command, name);
}

/* debug.ktr.trigger takes a program: expressions are compiled here, with the session's classes. */
static int sysctl_trigger(struct sysctl *s, const char **text, struct ktr_error *err)
{
	char source[KTR_KNOB_STRING_BYTES], made[KTR_KNOB_STRING_BYTES], caret[512];
	struct ktr_error why = KTR_ERROR_NONE;
	struct ktr_knob_at mask;
	int rc = ktr__parse_string(*text, source, sizeof(source), err);

	if (!rc)
		rc = ktr_conf_find(s->conf, SYSCTL_ROOT ".mask", &mask, err);
	if (rc)
		return rc;
	rc = ktr__trigger_make(source, mask.knob->names, mask.table->context, made, sizeof(made), &why);
	if (!rc)
		rc = ktr__print_string(made, s->trigger, sizeof(s->trigger));
	*text = s->trigger;
	if (why.code && !s->quiet)
		fputs(ktr__expr_caret(source, &why, caret, sizeof(caret)), stderr);
	return rc ? ktr_error_at(err, NULL, 0, 0, -rc, SYSCTL_ROOT ".trigger: column %u: %s", why.column,
				 why.code ? why.text : "too long") : 0;
}

/* A trigger that waits for call sites which are not there is said to. */
static void sysctl_trigger_set(const struct sysctl *s, const char *source, const char *text)
{
	char n[32];

	if (!*text || ktr_conf_get(s->conf, SYSCTL_ROOT ".trigger_sites", n, sizeof(n), NULL) ||
	    strcmp(n, "0") != 0)
		return;
	printf("matches no call site yet\n");
	fflush(stdout);
	if (!s->quiet)
		trigger_names_check(s->command, SYSCTL_ROOT ".trigger", source, s->path);
}

/* A mask as a number; 0 where it cannot be read. */
static uint64_t sysctl_mask(const struct sysctl *s, const char *name)
{
	struct ktr_knob_at at;
	char text[32];

	if (ktr_conf_find(s->conf, name, &at, NULL) ||
	    ktr_knob_read(&at, KTR_PRINT_NUMBER, text, sizeof(text), NULL))
		return 0;
	return strtoull(text, NULL, 10);
}

/* Says which classes were added that no call site is of; "all" means those there are. */
static void sysctl_note(const struct sysctl *s, const struct ktr_knob_at *at, const char *text, uint64_t before)
{
	uint64_t none = sysctl_mask(s, at->name) & ~before & ~sysctl_mask(s, SYSCTL_ROOT ".compile");
	char names[512];

	if (s->quiet || !none || strstr(text, "all") ||
	    ktr__print_mask(none, at->knob->names, at->table->context, 0, names, sizeof(names)))
		return;
	fprintf(stderr, "%s: %s: no call site is of class %s yet\n", s->command, at->name, names);
}

static int sysctl_set(struct sysctl *s, const char *name, const char *text, struct ktr_error *err)
{
	struct ktr_knob_at at;
	struct ktr_origin origin;
	const char *source = text;
	uint64_t before;
	size_t length;
	int rc, readable, trigger;

	rc = sysctl_find(s, name, &at, err);
	if (rc)
		return s->ignore && rc == -ENOENT ? 0 : rc;
	trigger = strcmp(at.name, SYSCTL_ROOT ".trigger") == 0;
	if (trigger && (rc = sysctl_trigger(s, &text, err)))
		return rc;
	readable = ktr_knob_read(&at, s->print, s->old, sizeof(s->old), NULL) == 0;
	before = at.knob->type == KTR_KNOB_MASK ? sysctl_mask(s, at.name) : 0;
	ktr_origin_set(&origin, KTR_ORIGIN_SYSCTL, NULL, 0);
	origin.pid = (uint32_t)getpid();
	rc = ktr_knob_write(&at, text, &origin, err);
	if (rc < 0) {
		length = strlen(err->text);
		if (readable)
			snprintf(err->text + length, sizeof(err->text) - length, "; %s stays %s", at.name, s->old);
		return rc;
	}
	/* What providers go by, as they look at it when they are woken. */
	if (strncmp(at.name, SYSCTL_ROOT ".fbt_", strlen(SYSCTL_ROOT ".fbt_")) == 0)
		probes_settle(&s->probes);
	sysctl_print_name(s, at.name);
	if (readable && ktr_knob_read(&at, s->print, s->value, sizeof(s->value), NULL) == 0)
		printf("%s -> %s\n", s->old, s->value);
	else
		printf("%s\n", text);
	if (trigger)
		sysctl_trigger_set(s, source, text);
	if (at.knob->type == KTR_KNOB_MASK)
		sysctl_note(s, &at, text, before);
	return 0;
}

/* NAME or NAME=VALUE */
static void sysctl_operand(struct sysctl *s, const char *operand)
{
	size_t length = strcspn(operand, "=");
	struct ktr_error err = KTR_ERROR_NONE;
	char name[KTR_KNOB_NAME_BYTES];

	if (length >= sizeof(name)) {
		ktr_error_set(&err, ENOENT, "\"%.40s...\" is no knob's name", operand);
		sysctl_failed(s, &err);
		return;
	}
	memcpy(name, operand, length);
	name[length] = '\0';
	if (!operand[length])
		sysctl_get(s, name);
	else if (sysctl_set(s, name, operand + length + 1, &err))
		sysctl_failed(s, &err);
}

static int sysctl_file_set(struct ktr_loader *loader, const char *name, const char *value,
			   struct ktr_error *err)
{
	return sysctl_set(loader->context, name, value, err);
}

static void sysctl_file_report(struct ktr_loader *loader, const struct ktr_error *err)
{
	sysctl_failed(loader->context, err);
}

/* What a program of this name reads at its start, in order, and whether it is there. */
static int sysctl_files(const char *program)
{
	const char *base = program ? strrchr(program, '/') : NULL, *say;
	struct ktr_source source;
	char path[PATH_MAX];
	struct stat st;
	int rc;

	ktr_source_init(&source);
	source.program = base ? base + 1 : program ? program : "PROGRAM";
	for (unsigned i = 0; (rc = ktr_source_path(&source, i, path, sizeof(path))) != -ENODATA; i++) {
		say = rc == 1 ? "is read" : rc == 0 ? "is not there" : strerror(-rc);
		if (rc == 1 && !source.conf && stat(path, &st) == 0 && st.st_mode & S_IWOTH)
			say = "is not read: everybody may write to it";
		printf("%s: %s\n", path, say);
	}
	if (source.conf && !*source.conf)
		printf("KTR_CONF is empty: no file is read\n");
	return 0;
}

static const struct option_row sysctl_rows[] = {
	OPTIONS_SOURCE(struct sysctl, find),
	OPTION_FLAG('a', "all", struct sysctl, all, "show all knobs"),
	OPTION_FLAG('d', "description", struct sysctl, describe, "show what knobs are for instead of values"),
	OPTION_FLAG('t', "type", struct sysctl, types, "show types instead of values"),
	OPTION_FLAG('e', "equals", struct sysctl, equals, "separate name and value by '='"),
	OPTION_TEXT('f', "file", "FILE", struct sysctl, file, "make the settings of a file, written as loader.conf"),
	OPTION_BITS('h', "human", struct sysctl, print, KTR_PRINT_HUMAN, "sizes with K, M, G"),
	OPTION_FLAG('i', "ignore", struct sysctl, ignore, "unknown names are no error"),
	OPTION_FLAG('n', "no-name", struct sysctl, no_name, "values without names"),
	OPTION_FLAG('N', "names", struct sysctl, names_only, "names without values"),
	OPTION_FLAG('o', "opaque", struct sysctl, opaque, "list texts of several lines too"),
	OPTION_FLAG('q', "quiet", struct sysctl, quiet, "no complaints; the exit status tells"),
	OPTION_FLAG('T', "tunable", struct sysctl, only_tun, "only knobs that can be set at start"),
	OPTION_FLAG('W', "writable", struct sysctl, only_write, "only knobs that can be set now, no counts"),
	OPTION_BITS('x', "hex", struct sysctl, print, KTR_PRINT_HEX, "numbers and masks in hexadecimal"),
	OPTION_FLAG(0, "files", struct sysctl, files, "show the loader.conf files of a program: ktr sysctl --files NAME"),
	OPTION_FLAG(0, "origin", struct sysctl, origins, "show where values came from instead of values"),
};

static const struct options sysctl_options = {
	.operands = "[NAME[=VALUE]...]",
	.about =
		"Shows and sets the knobs of a session: the only live one, or the one that -p or\n"
		"-s names. What is set takes effect at the next event.",
	.examples = "ktr sysctl -a\n"
		    "ktr sysctl -d debug.ktr.mask\n"
		    "ktr sysctl -p 4711 debug.ktr.mask='sched|lock'\n"
		    "ktr sysctl mask=+net entries\n"
		    "ktr sysctl --origin mask\n"
		    "ktr sysctl --files indexer\n",
	OPTIONS_ROWS(sysctl_rows),
};

static int sysctl_run(struct sysctl *s, int argc, char **argv)
{
	struct ktr_loader loader = { .set = sysctl_file_set,
				     .report = sysctl_file_report,
				     .context = s };

	if (s->file && ktr_loader_file(&loader, s->file, NULL) && !s->quiet)
		fprintf(stderr, "%s: %s: %u settings made, %u left out\n", s->command, s->file,
			loader.n_kept, loader.n_refused);
	for (int i = optind; i < argc; i++)
		sysctl_operand(s, argv[i]);
	if (optind == argc && (s->all || !s->file))
		sysctl_list(s, "");
	return s->n_failed ? 1 : 0;
}

/* With the knobs that only tools have. */
static int sysctl_session(struct sysctl *s, const char *path, int argc, char **argv)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_session *session;
	int rc = -1;

	if (ktr_session_attach(path, &session, &err))
		return fail_with(s->command, &err);
	s->conf = ktr_session_conf(session);
	s->path = path;
	if (computed_knobs_open(&s->computed, path, s->conf, &err) == 0) {
		if (probes_open(&s->probes, path, s->conf, &err) == 0) {
			if (prof_knobs_open(&s->prof, path, s->conf, &err) == 0) {
				rc = sysctl_run(s, argc, argv);
				prof_knobs_close(&s->prof, s->conf);
			}
			probes_close(&s->probes);
		}
		computed_knobs_close(&s->computed, s->conf);
	}
	ktr_session_close(session);
	return rc < 0 ? fail_with(s->command, &err) : rc;
}

static int sysctl_start(struct sysctl *s, int argc, char **argv)
{
	char path[PATH_MAX];
	int rc;

	if (s->files) {
		rc = operands_at_most(argv[0], argc, argv, 1);
		return rc ? rc : sysctl_files(argv[optind]);
	}
	if (optind == argc && !(s->all | s->names_only | s->only_tun | s->only_write | s->origins) && !s->file)
		return usage_error(argv[0], "name a knob, or give -a for all");
	rc = find_session(&s->find, path, sizeof(path));
	return rc ? rc : sysctl_session(s, path, argc, argv);
}

static int cmd_sysctl(int argc, char **argv)
{
	static struct sysctl s; /* some pages */
	int rc;

	s.command = s.find.command = argv[0];
	return options_parse(&sysctl_options, argc, argv, &s, &rc) ? sysctl_start(&s, argc, argv) : rc;
}

COMMAND(sysctl, "show and set the knobs of a session", cmd_sysctl);

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr top: what a session records, live.
 */
#include "tools/command.h"
#include "tools/find.h"
#include "tools/interrupt.h"
#include "tools/options.h"

#include <unistd.h>

#if KTR_HAVE_NCURSES
#include "tools/top/top_model.h"

#include "visualize/model/label.h"

#include <limits.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif

struct top_command {
	struct find find;
	uint64_t delay_s;
};

static const struct option_row top_rows[] = {
	OPTIONS_SOURCE(struct top_command, find),
	OPTION_NUMBER('d', "delay", "SECONDS", struct top_command, delay_s, 1, 60,
		      "between two looks, 1 to 60 (1)"),
};

static const struct options top_options = {
	.operands = "",
	.about =
		"Shows live what a session records: the rates of classes and call sites, what is lost, how far\n"
		"the writer is behind, and the last events of a site. Classes are switched with a key.",
	.examples = "ktr top\n"
		    "ktr top -p 4711\n",
	OPTIONS_ROWS(top_rows),
};

#if !KTR_HAVE_NCURSES
static int cmd_top(int argc, char **argv)
{
	struct top_command c = { .delay_s = 1 };
	int rc;

	return options_parse(&top_options, argc, argv, &c, &rc) ?
		fail(argv[0], "built without ncurses; install libncurses-dev and build again") : rc;
}
#else

#define TOP_CLASS_WIDTH 34 /* [columns] of the list of classes */
#define TOP_CLASS_NAME	16 /* [columns] in it of a name */
#define TOP_SITE_NAME	24 /* [columns] */
#define TOP_SITE_CLASS	14 /* [columns] */
#define TOP_SHOWN	4096 /* call sites that are listed */

struct top_screen {
	struct top top;
	uint64_t delay_s;
	unsigned site, class_; /* that are selected */
	uint32_t site_id;      /* the same site, wherever it is in the list */
	int in_classes;        /* keys move in the list of classes */
	int stopped;           /* nothing is looked at */
	int helps;             /* the keys are shown instead */
	int typing;            /* keys are of the filter */
	int by_name;           /* sites are in the order of their names, not of their rates */
	char filter[64];       /* only sites that have it in their name, class or text */
	unsigned shown[TOP_SHOWN], n_shown; /* of top.site, in the order on the screen */
	char said[KTR_ERROR_LINE_BYTES];
};

/* A text of any bytes, cut to so many columns; attributes: of curses. */
static void top_put(int y, int x, int columns, int attributes, const char *text)
{
	char clean[1024], fit[1100];

	if (y >= LINES || x >= COLS || columns <= 0)
		return;
	ktr__label_clean(clean, sizeof(clean), text, strlen(text));
	ktr__label_fit(fit, sizeof(fit), clean, (unsigned)(columns < COLS - x ? columns : COLS - x),
		       0);
	attrset((attr_t)attributes);
	mvaddstr(y, x, fit);
	attrset(A_NORMAL);
}

static const char *top_rate(char text[16], double rate)
{
	static const char *const unit[] = { "", "k", "M", "G" };
	unsigned i = 0;

	for (; rate >= 999.5 && i < 3; i++)
		rate /= 1000;
	snprintf(text, 16,
		 i > 0 && rate < 9.995   ? "%.2f %s/s"
		 : rate < 99.95 && i > 0 ? "%.1f %s/s"
					 : "%.0f %s/s",
		 rate, unit[i]);
	return text;
}

static void top_head(const struct top_screen *s)
{
	const struct top *t = &s->top;
	char line[256], rate[16], drop[16];

	snprintf(line, sizeof(line), "ktr top: %s, %s%s", t->map.header.name,
		 t->alive ? "live" : "dead",
		 s->stopped          ? ", display stopped"
		 : t->control.frozen ? ", frozen"
				     : "");
	top_put(0, 0, COLS, A_BOLD, line);
	snprintf(line, sizeof(line), "%s events, %s;  %s could not be recorded, %s",
		 ktr__label_count(t->events).text, top_rate(rate, t->rate), ktr__label_count(t->dropped).text,
		 top_rate(drop, t->drop_rate));
	top_put(1, 0, COLS, t->drop_rate > 0 ? COLOR_PAIR(1) : A_NORMAL, line);
	if (!t->has_writer) {
		top_put(2, 0, COLS, A_NORMAL, "no writer: the rings keep the latest events");
		return;
	}
	snprintf(line, sizeof(line), "writer of process %u: %s, %s events behind;  %s lost to it",
		 t->control.writer, top_rate(rate, t->write_rate), ktr__label_count(t->behind).text,
		 ktr__label_count(t->writer_lost).text);
	top_put(2, 0, COLS, t->writer_lost > 0 ? COLOR_PAIR(1) : A_NORMAL, line);
}

/* A name in its column. */
static const char *top_column(char *text, size_t size, const struct ktr__label_name *name)
{
	snprintf(text, size, "%s%*s", name->fit, (int)(name->columns - name->used), "");
	return text;
}

static void top_draw_classes(const struct top_screen *s, int y, int end)
{
	static struct ktr__label_name name[KTR_CLASS_MAX];
	char line[128], rate[16], column[KTR__LABEL_BYTES];

	top_put(y++, 0, TOP_CLASS_WIDTH - 2, A_REVERSE, "    class                   rate");
	for (unsigned i = 0; i < s->top.n_classes; i++)
		name[i] = (struct ktr__label_name){ .text = s->top.class_[i].name, .columns = TOP_CLASS_NAME };
	ktr__label_fit_names(name, s->top.n_classes, 0);
	for (unsigned i = 0; i < s->top.n_classes && y < end; i++, y++) {
		const struct top_class *c = &s->top.class_[i];

		snprintf(line, sizeof(line), "[%c] %.80s %11s", c->on ? 'x' : ' ',
			 top_column(column, sizeof(column), &name[i]), top_rate(rate, c->rate));
		top_put(y, 0, TOP_CLASS_WIDTH - 2,
			s->in_classes && i == s->class_ ? A_STANDOUT
			: c->on                         ? A_NORMAL
							: A_DIM,
			line);
	}
}

/* One line of the list: a site of the KTR_STATE family says what it is, others their format. */
static void top_site_line(const struct top_screen *s, const struct top_site *at, const char *name,
			  const char *class_, char *line, size_t size)
{
	static const char *const kinds[] = {
		"event", "state", "counter", "point", "start", "stop"
	};
	const struct ktr_reader_site *site = ktr_reader_site(s->top.reader, at->id);
	char rate[16], text[420] = "";

	if (site != NULL && site->group != NULL)
		snprintf(text, sizeof(text), "%s of %.400s", kinds[site->kind], site->group);
	else if (site != NULL)
		snprintf(text, sizeof(text), "%.400s", site->format);
	snprintf(line, size, "%11s  %.300s %.200s %s", top_rate(rate, at->rate), name, class_, text);
}

static const char *top_site_name(const struct top_screen *s, const struct top_site *at)
{
	const struct ktr_reader_site *site = ktr_reader_site(s->top.reader, at->id);

	return site != NULL ? site->name : "?";
}

static const char *top_site_class(const struct top_screen *s, const struct top_site *at)
{
	const struct ktr_reader_site *site = ktr_reader_site(s->top.reader, at->id);

	return site != NULL ? site->class_name : "?";
}

/* ---- which sites, and in which order ---- */

static const struct top_screen *top_sorted; /* for qsort(3) */

static int top_order(const void *a, const void *b)
{
	unsigned i = *(const unsigned *)a, k = *(const unsigned *)b;
	const struct ktr_reader_site *x = ktr_reader_site(top_sorted->top.reader, top_sorted->top.site[i].id);
	const struct ktr_reader_site *y = ktr_reader_site(top_sorted->top.reader, top_sorted->top.site[k].id);
	int order = x && y ? strverscmp(x->name, y->name) : 0;

	return order ? order : i < k ? -1 : i > k;
}

/* The busiest come first as they are. */
static void top_choose(struct top_screen *s)
{
	char line[512];

	s->n_shown = s->site = 0;
	for (unsigned i = 0; i < s->top.n_sites && s->n_shown < TOP_SHOWN; i++) {
		top_site_line(s, &s->top.site[i], top_site_name(s, &s->top.site[i]),
			      top_site_class(s, &s->top.site[i]), line, sizeof(line));
		if (!s->filter[0] || strcasestr(line, s->filter))
			s->shown[s->n_shown++] = i;
	}
	top_sorted = s;
	if (s->by_name)
		qsort(s->shown, s->n_shown, sizeof(s->shown[0]), top_order);
	for (unsigned i = 0; i < s->n_shown; i++)
		if (s->top.site[s->shown[i]].id == s->site_id)
			s->site = i;
}

static void top_draw_help(void)
{
	static const char *const help[] = {
		"tab, left, right   to the list of classes, to that of call sites",
		"up, down, k, j     select one",
		"space, return      switch the selected class on or off",
		"s                  call sites by their rate, or by their name",
		"/                  only call sites that have a text in what is shown of them; return ends it,",
		"                   escape takes it away",
		"p                  stop and go on",
		"q, ^C              end",
		"?                  this, and any key back",
	};

	erase();
	top_put(0, 0, COLS, A_BOLD, "ktr top: keys");
	for (unsigned i = 0; i < sizeof(help) / sizeof(help[0]); i++)
		top_put(2 + (int)i, 2, COLS, A_NORMAL, help[i]);
	refresh();
}

static void top_draw_sites(const struct top_screen *s, int y, int end)
{
	unsigned rows = end > y + 1 ? (unsigned)(end - y - 1) : 1;
	unsigned first = s->site >= rows ? s->site - rows + 1 : 0;
	unsigned n = s->n_shown - first < rows ? s->n_shown - first : rows;
	struct ktr__label_name *name = calloc(2 * n + 1, sizeof(*name)), *class_ = name + n;
	char line[1024], column[2][KTR__LABEL_BYTES];

	for (unsigned i = 0; name != NULL && i < n; i++) {
		const struct top_site *at = &s->top.site[s->shown[first + i]];

		name[i] = (struct ktr__label_name){ .text = top_site_name(s, at), .columns = TOP_SITE_NAME };
		class_[i] = (struct ktr__label_name){ .text = top_site_class(s, at), .columns = TOP_SITE_CLASS };
	}
	if (name != NULL) {
		ktr__label_fit_names(name, n, 0);
		ktr__label_fit_names(class_, n, 0);
	}

	top_put(y++, TOP_CLASS_WIDTH, COLS, A_REVERSE,
		"       rate  call site                class          text");
	for (unsigned i = 0; name != NULL && i < n && y < end; i++, y++) {
		top_site_line(s, &s->top.site[s->shown[first + i]],
			      top_column(column[0], sizeof(column[0]), &name[i]),
			      top_column(column[1], sizeof(column[1]), &class_[i]), line, sizeof(line));
		top_put(y, TOP_CLASS_WIDTH, COLS,
			!s->in_classes && first + i == s->site ? A_STANDOUT : A_NORMAL, line);
	}
	free(name);
}

static void top_draw(const struct top_screen *s)
{
	int middle = 4 + (LINES - 6) / 2, y = middle + 1;
	char foot[256];

	erase();
	top_head(s);
	top_draw_classes(s, 4, middle);
	top_draw_sites(s, 4, middle);
	top_put(middle, 0, COLS, A_REVERSE,
		s->top.n_last ? "last events of the selected site"
			      : "last events: select a call site (tab, arrows)");
	for (unsigned i = 0; i < s->top.n_last && y < LINES - 1; i++, y++)
		top_put(y, 0, COLS, A_NORMAL, s->top.last[i]);
	foot[0] = 0;
	if (s->typing || s->filter[0])
		snprintf(foot, sizeof(foot), "/%s%s  ", s->filter, s->typing ? "_" : "");
	if (!s->typing)
		strcat(foot, "?: keys  tab: classes, sites  arrows: select  space: switch the class"
			     "  /: filter  s: sort  q: quit");
	top_put(LINES - 1, 0, COLS, s->said[0] ? COLOR_PAIR(1) : A_DIM, s->said[0] ? s->said : foot);
	refresh();
}

static void top_toggle(struct top_screen *s)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct top_class *class_ = &s->top.class_[s->class_];

	if (s->class_ >= s->top.n_classes)
		return;
	if (top_switch(&s->top, class_, &err) != 0)
		ktr_error_print(&err, s->said, sizeof(s->said));
	else
		class_->on = !class_->on;
}

static void top_move(struct top_screen *s, int by)
{
	unsigned *at = s->in_classes ? &s->class_ : &s->site;
	unsigned n = s->in_classes ? s->top.n_classes : s->n_shown;

	if (by < 0 && *at > 0)
		--*at;
	else if (by > 0 && *at + 1 < n)
		++*at;
	if (!s->in_classes && s->site < s->n_shown)
		s->site_id = s->top.site[s->shown[s->site]].id;
}

/* A key of the filter. */
static void top_type(struct top_screen *s, int key)
{
	size_t n = strlen(s->filter);

	if (key == '\n' || key == KEY_ENTER || key == '\033')
		s->typing = 0;
	if (key == '\033')
		s->filter[0] = '\0';
	else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && n > 0)
		s->filter[n - 1] = '\0';
	else if (key >= ' ' && key < 127 && n + 1 < sizeof(s->filter))
		memcpy(s->filter + n, (char[]){ (char)key, '\0' }, 2);
	top_choose(s);
}

/* 0 when the user has enough. */
static int top_key(struct top_screen *s, int key)
{
	s->said[0] = '\0';
	if (s->typing) {
		top_type(s, key);
		return 1;
	}
	if (s->helps) {
		s->helps = 0;
		return 1;
	}
	switch (key) {
	case 'q':
	case 'Q':
		return 0;
	case '\t':
	case KEY_LEFT:
	case KEY_RIGHT:
		s->in_classes = !s->in_classes;
		break;
	case KEY_UP:
	case 'k':
		top_move(s, -1);
		break;
	case KEY_DOWN:
	case 'j':
		top_move(s, 1);
		break;
	case ' ':
	case '\n':
		if (s->in_classes)
			top_toggle(s);
		break;
	case 'p':
		s->stopped = !s->stopped;
		break;
	case '?':
		s->helps = 1;
		break;
	case '/':
		s->typing = 1;
		s->filter[0] = '\0';
		top_choose(s);
		break;
	case '\033':
		s->filter[0] = '\0';
		top_choose(s);
		break;
	case 's':
		s->by_name = !s->by_name;
		top_choose(s);
		break;
	default:
		break;
	}
	return 1;
}

/* Looks, and finds the selected site again. */
static int top_again(struct top_screen *s)
{
	int rc = top_look(&s->top, s->site_id);

	top_choose(s);
	if (s->site_id == 0 && s->top.n_sites > 0)
		s->site_id = s->top.site[0].id;
	return rc;
}

static int top_run(struct top_screen *s)
{
	int key = 0, rc = 0;

	timeout((int)s->delay_s * 1000);
	while (rc == 0) {
		if (s->helps)
			top_draw_help();
		else
			top_draw(s);
		key = getch();
		if (interrupt_came())
			return 0;
		if (key != ERR && !top_key(s, key))
			return 0;
		/* A key is answered at once; what was counted since is too little for a rate. */
		if (!s->stopped && (key == ERR || top_age_ns(&s->top) >= s->delay_s * 1000000000))
			rc = top_again(s);
	}
	return rc;
}

/* getch(3) comes back with nothing. */
static void top_interrupted(void)
{
}

static int top_start(struct top_screen *s, const char *command, const char *path)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = top_open(&s->top, path, &err);

	if (rc != 0)
		return fail_with(command, &err);
	rc = top_again(s);
	if (rc == 0) {
		signal(SIGTERM, SIG_DFL); /* curses sees to it, and leaves the terminal as it was */
		set_escdelay(100);
		if (initscr() == NULL)
			return fail(command, "this terminal cannot be used");
		cbreak();
		noecho();
		keypad(stdscr, TRUE);
		curs_set(0);
		if (has_colors()) {
			start_color();
			use_default_colors();
			init_pair(1, COLOR_RED, -1);
		}
		interrupt_call(top_interrupted);
		rc = top_run(s);
		endwin();
		if (interrupt_came())
			interrupt_end();
	}
	return rc != 0 ? fail(command, "%s: %s", path, strerror(-rc)) : 0;
}

static int cmd_top(int argc, char **argv)
{
	struct top_command c = { .find.command = argv[0], .delay_s = 1 };
	static struct top_screen s; /* some pages */
	char path[PATH_MAX];
	int rc;

	if (!options_parse(&top_options, argc, argv, &c, &rc))
		return rc;
	rc = operands_at_most(argv[0], argc, argv, 0);
	if (rc == 0)
		rc = find_session(&c.find, path, sizeof(path));
	if (rc != 0)
		return rc;
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return fail(argv[0], "needs a terminal; ktr report -s NAME and ktr sysctl print without one");
	s.delay_s = c.delay_s;
	s.top.map.fd = -1;
	s.in_classes = 1;
	setlocale(LC_ALL, "");
	rc = top_start(&s, argv[0], path);
	top_close(&s.top);
	return rc;
}
#endif

COMMAND(top, "show live what a session records; switch classes with a key", cmd_top);

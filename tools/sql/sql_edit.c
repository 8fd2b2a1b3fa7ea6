/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libedit by its own interface, editline(3). ^C while a line is typed ends the reading of it with EINTR, and the
 * line is thrown away.
 */
#include "tools/options.h"

#if KTR_HAVE_SQLITE
#include "tools/sql/sql_edit.h"

#include "tools/interrupt.h"
#include "tools/sql/sql_names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#if KTR_HAVE_EDIT
#include <histedit.h>
#endif

#define EDIT_HISTORY 1000 /* queries */
#define EDIT_WORD    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

struct sql_edit {
	struct ktr__sql *sql;
	const char *const *words;
	const char *prompt;
	char *line; /* owned */
	size_t size;
#if KTR_HAVE_EDIT
	EditLine *el;
	History *history;
	HistEvent event;
	char path[4096]; /* of the history; "": none is kept */
	int keys;	 /* the terminal that keys come from */
#endif
};

#if KTR_HAVE_EDIT
static struct sql_edit *edit_of(EditLine *el)
{
	struct sql_edit *edit;

	el_get(el, EL_CLIENTDATA, &edit);
	return edit;
}

static char *edit_prompt(EditLine *el)
{
	static char prompt[16];

	snprintf(prompt, sizeof(prompt), "%s", edit_of(el)->prompt);
	return prompt;
}

/* ---- completion ---- */

/* What the word from `from` to the cursor may become. */
static void edit_candidates(struct sql_edit *edit, const LineInfo *line, const char *from, struct sql_names *names)
{
	size_t n = (size_t)(line->cursor - from);
	struct sql_names all = { 0 };
	int dot = line->buffer[0] == '.';

	for (unsigned i = 0; dot && from == line->buffer && edit->words[i]; i++)
		if (strncasecmp(edit->words[i], from, n) == 0)
			sql_names_take(names, edit->words[i]);
	if (!dot)
		sql_names_get(&all, edit->sql,
			      SQL_NAMES_TABLES | SQL_NAMES_COLUMNS | SQL_NAMES_FUNCTIONS | SQL_NAMES_KEYWORDS);
	else if (from != line->buffer)
		sql_names_get(&all, edit->sql, SQL_NAMES_TABLES);
	for (unsigned i = 0; i < all.n; i++)
		if (strncasecmp(all.name[i], from, n) == 0)
			sql_names_take(names, all.name[i]);
	sql_names_free(&all);
}

static void edit_list(const struct sql_names *names)
{
	unsigned width = 0, columns = 80, x = 0;

	for (unsigned i = 0; i < names->n; i++)
		width = strlen(names->name[i]) + 2 > width ? (unsigned)strlen(names->name[i]) + 2 : width;
	putchar('\n');
	for (unsigned i = 0; i < names->n; i++) {
		printf("%-*s", (int)width, names->name[i]);
		x += width;
		if (x + width > columns || i + 1 == names->n) {
			putchar('\n');
			x = 0;
		}
	}
	fflush(stdout);
}

static size_t edit_common(const struct sql_names *names)
{
	size_t n = strlen(names->name[0]);

	for (unsigned i = 1; i < names->n; i++) {
		size_t k = 0;

		while (k < n && strncasecmp(names->name[0] + k, names->name[i] + k, 1) == 0)
			k++;
		n = k;
	}
	return n;
}

static unsigned char edit_complete(EditLine *el, int key)
{
	struct sql_edit *edit = edit_of(el);
	const LineInfo *line = el_line(el);
	const char *from = line->cursor;
	struct sql_names names = { 0 };
	unsigned char result = CC_ERROR;
	char more[256];
	size_t n;

	(void)key;
	while (from > line->buffer && strchr(EDIT_WORD, from[-1]))
		from--;
	if (from == line->buffer + 1 && from[-1] == '.')
		from--;
	n = (size_t)(line->cursor - from);
	edit_candidates(edit, line, from, &names);
	if (names.n) {
		size_t common = edit_common(&names);

		snprintf(more, sizeof(more), "%.*s%s", (int)(common > n ? common - n : 0), names.name[0] + n,
			 names.n == 1 ? " " : "");
		if (*more) {
			el_insertstr(el, more);
			result = CC_REFRESH;
		} else {
			edit_list(&names);
			result = CC_REDISPLAY;
		}
	}
	sql_names_free(&names);
	return result;
}

/* ---- the editor ---- */

static void edit_history(struct sql_edit *edit)
{
	const char *home = getenv("HOME");

	edit->history = history_init();
	if (!edit->history)
		return;
	history(edit->history, &edit->event, H_SETSIZE, EDIT_HISTORY);
	history(edit->history, &edit->event, H_SETUNIQUE, 1);
	if (home && *home && strlen(home) < sizeof(edit->path) - 32) {
		snprintf(edit->path, sizeof(edit->path), "%s/.ktr_sql_history", home);
		history(edit->history, &edit->event, H_LOAD, edit->path);
	}
	el_set(edit->el, EL_HIST, history, edit->history);
}

/*
 * The next byte. ^C is let in nowhere but while it is waited for: who has just had names listed can take the line
 * back at once. ^C also throws away what was typed before it, so that a byte may be gone between poll and read. 1,
 * 0 at the end, or -1 with errno.
 */
static ssize_t edit_byte(int keys, const sigset_t *inside, char *byte)
{
	struct pollfd in = { .fd = keys, .events = POLLIN };
	ssize_t n;

	do {
		if (ppoll(&in, 1, NULL, inside) < 0)
			return -1;
		n = read(keys, byte, 1);
	} while (n < 0 && errno == EAGAIN);
	return n;
}

/* The next character. 1, or what ends the reading of the line: 0 at the end, -1 with errno. */
static int edit_getc(EditLine *el, wchar_t *c)
{
	mbstate_t state = { 0 };
	sigset_t inside;

	sigprocmask(SIG_SETMASK, NULL, &inside);
	sigdelset(&inside, SIGINT);
	for (int i = 0; i < MB_LEN_MAX; i++) {
		char byte;
		ssize_t n = edit_byte(edit_of(el)->keys, &inside, &byte);

		if (n <= 0)
			return (int)n;
		if (mbrtowc(c, &byte, 1, &state) != (size_t)-2)
			break;
	}
	if (mbsinit(&state))
		return 1;
	errno = EILSEQ;
	return -1;
}

/*
 * Opens the terminal once more, for that it does not wait is then ours alone and not that of everybody who has it.
 * Whose terminal it is may forbid that: it is read as it is.
 */
static int edit_keys(void)
{
	int keys = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return keys >= 0 ? keys : STDIN_FILENO;
}

static void edit_start(struct sql_edit *edit)
{
	edit->el = el_init("ktr", stdin, stdout, stderr);
	if (!edit->el)
		return;
	edit->keys = edit_keys();
	el_set(edit->el, EL_CLIENTDATA, edit);
	el_set(edit->el, EL_PROMPT, edit_prompt);
	el_set(edit->el, EL_EDITOR, "emacs");
	edit_history(edit);
	el_set(edit->el, EL_ADDFN, "ktr-complete", "complete a name", edit_complete);
	el_set(edit->el, EL_GETCFN, edit_getc);
	el_source(edit->el, NULL);
	el_set(edit->el, EL_BIND, "^I", "ktr-complete", NULL);
	el_set(edit->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
}

/*
 * A line by libedit, with SIGINT held back but in edit_getc(). Keys are taken one by one before the prompt is
 * shown, not after it: a ^D between the two would be the terminal's, which makes a NUL of it.
 */
static const char *edit_gets(struct sql_edit *edit, int *n)
{
	sigset_t held, was;
	const char *line;
	int error;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigprocmask(SIG_BLOCK, &held, &was);
	el_set(edit->el, EL_PREP_TERM, 1);
	line = el_gets(edit->el, n);
	error = errno;
	sigprocmask(SIG_SETMASK, &was, NULL);
	errno = error;
	return line;
}

static const char *edit_typed(struct sql_edit *edit, int *dropped)
{
	const char *line;
	int n = 0;

	line = edit_gets(edit, &n);
	if (line && n > 0)
		return line;
	*dropped = interrupt_came();
	if (*dropped)
		puts("^C");
	return *dropped ? "" : NULL;
}
#endif

struct sql_edit *sql_edit_open(struct ktr__sql *sql, const char *const *words)
{
	struct sql_edit *edit = calloc(1, sizeof(*edit));

	if (!edit)
		return NULL;
	edit->sql = sql;
	edit->words = words;
#if KTR_HAVE_EDIT
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		edit_start(edit);
#endif
	return edit;
}

void sql_edit_close(struct sql_edit *edit)
{
	if (!edit)
		return;
#if KTR_HAVE_EDIT
	if (edit->history) {
		mode_t mask = umask(077);

		if (edit->path[0])
			history(edit->history, &edit->event, H_SAVE, edit->path);
		umask(mask);
		history_end(edit->history);
	}
	if (edit->el) {
		el_end(edit->el);
		if (edit->keys != STDIN_FILENO)
			close(edit->keys);
	}
#endif
	free(edit->line);
	free(edit);
}

const char *sql_edit_line(struct sql_edit *edit, const char *prompt, int *dropped)
{
	edit->prompt = prompt;
	*dropped = 0;
#if KTR_HAVE_EDIT
	if (edit->el)
		return edit_typed(edit, dropped);
#endif
	if (isatty(STDIN_FILENO)) {
		fputs(prompt, stdout);
		fflush(stdout);
	}
	if (getline(&edit->line, &edit->size, stdin) >= 0)
		return edit->line;
	if (!feof(stdin) && errno == EINTR && interrupt_came()) {
		clearerr(stdin);
		putchar('\n');
		*dropped = 1;
		return "";
	}
	return NULL;
}

void sql_edit_remember(struct sql_edit *edit, const char *query)
{
#if KTR_HAVE_EDIT
	char *line = strdup(query);

	/* It is one line when it comes back. */
	for (char *at = line; at && *at; at++)
		*at = *at == '\n' && at[1] ? ' ' : *at;
	if (line && edit->history)
		history(edit->history, &edit->event, H_ENTER, line);
	free(line);
#else
	(void)edit;
	(void)query;
#endif
}
#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Timelines on a terminal: golden texts, and properties that hold for any width. */
#include "tests/unit/suite.h"
#include "picture.h"

#include "visualize/terminal/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct picture picture;
static struct ktr__timeline timeline;

/* Draws what picture_indexer() tells. The text is the caller's to free. */
static char *draw(const struct ktr__term_options *options, enum ktr__timeline_by by,
		  void (*tell)(struct picture *))
{
	struct ktr__timeline_options o = { .by = by, .n_columns = ktr__term_columns(options) };
	struct ktr__view view;
	struct ktr__frame frame;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	picture_open(&picture, 10000);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_init(&timeline, &picture.info, &o), 0);
	picture.sink = &timeline.sink;
	tell(&picture);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_end(&timeline), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, ktr__term_lines(options)), 0);
	ktr__frame_init(&frame, &picture.info, "ktr timeline");
	ktr__frame_timeline(&frame, &view);
	ktr__term_draw(to, &view, &frame, options);
	fclose(to);
	ktr__view_free(&view);
	ktr__timeline_free(&timeline);
	picture_close(&picture);
	return text;
}

static void expect(char *text, const char *expected)
{
	CU_ASSERT_STRING_EQUAL(text, expected);
	if (strcmp(text, expected) != 0)
		printf("\n--- expected\n%s--- drawn\n%s", expected, text);
	free(text);
}

static void golden_ascii(void)
{
	struct ktr__term_options options = { .width = 72, .ascii = 1 };

	expect(draw(&options, KTR__BY_IDS, picture_indexer),
	       "worker 4 is \"waiting for lock\" at least 78 % of the time: 7.84 s, 80.0\n"
	       "ms of it at once (median of worker: at most 2.3 %)\n"
	       "indexer: 10.0 s, 4,442 events: worker, shard, lock wait, queue\n"
	       "12,345 events were lost (74 %): what happened there is not known\n"
	       "time [s]      0          2          4           6          8         10\n"
	       "              +----------+----------+-----------+----------+----------+\n"
	       "worker\n"
	       "  flusher     :rrrrrrrrrrrrrrrrrrrrrr//rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr\n"
	       "  worker 1    ::::::::::::::::::::::://::::::::::::::::::::::::::::::::\n"
	       "  worker 2    ::::::::::::::::::::::://::::::::::::::::::::::::::::::::\n"
	       "  worker 3    :::::::::::::::::::::::/R::::::::::::::::::::::::::::::::\n"
	       "> worker 4    WWWWWWWWWWWWWWWWWWWWWWW//WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW\n"
	       "shard\n"
	       "  shard 7     FFFFFFFFFFFFFFFFFFFFFFF//FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF\n"
	       "lock wait\n"
	       "  worker 3    1     1    1     1     //   1     1     1    1     1     \n"
	       "  worker 4    11111111111111111111111//11111111111111111111111111111111\n"
	       "queue\n"
	       "  files~ueued ........::::::::+++++++//#########++++++++::::::::.......\n"
	       "  events lost                        //                                \n"
	       "worker        . idle  : and more  r writing  W waiting for lock\n"
	       "              C cutting  R reading  + none has a third\n"
	       "shard         F flusher  w worker 4  + none has a third\n"
	       "spans         1 1 open\n"
	       "from a loss on a row's state is not known until its next event\n"
	       "/usr/bin/indexer -o /tmp/index /usr/include on testhost, 2023-11-14\n"
	       "22:13:25 UTC, 10.0 s traced\n");
}

static void golden_wide_utf8(void)
{
	struct ktr__term_options options = { .width = 100, .height = 22 };

	expect(draw(&options, KTR__BY_IDS, picture_indexer),
	       "worker 4 is \"waiting for lock\" at least 78 % of the time: 7.84 s, 80.0 ms of it at once (median of\n"
	       "worker: at most 2.3 %)\n"
	       "indexer: 10.0 s, 4,442 events: worker, shard\n"
	       "12,345 events were lost (74 %): what happened there is not known\n"
	       "time [s]            0          2          4           6          8         10\n"
	       "                    ┬──────────┬──────────┬───────────┬──────────┬──────────┬\n"
	       "worker\n"
	       "  flusher           :rrrrrrrrrrrrrrrrrrrrrr╱╱rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr writing 96 %\n"
	       "  worker 1          :::::::::::::::::::::::╱╱:::::::::::::::::::::::::::::::: cutting 12 %\n"
	       "  worker 2          :::::::::::::::::::::::╱╱:::::::::::::::::::::::::::::::: cutting 12 %\n"
	       "  worker 3          :::::::::::::::::::::::╱R:::::::::::::::::::::::::::::::: cutting 12 %\n"
	       "> worker 4          WWWWWWWWWWWWWWWWWWWWWWW╱╱WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW waiting for lock 78 %\n"
	       "shard\n"
	       "  shard 7           FFFFFFFFFFFFFFFFFFFFFFF╱╱FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF flusher 90 %\n"
	       "3 more rows         ▇▇▇▅▅▇▇▅▅▇▇▇▅▇▇▅▅▇▇▅▅▇▇╱╱▇▇▇▇▇▇▇▅▇▇▇▅▅▇▇▇▅▇▇▅▇▇▇▅▅▇▇▅▅▇▇▅ 320 events\n"
	       "  events lost                              ╱╱                                \n"
	       "worker              . idle  : and more  r writing  W waiting for lock  C cutting  R reading …\n"
	       "shard               F flusher  w worker 4  + none has a third\n"
	       "6 of 9 rows have a line, those that stand out and the busiest; from a loss on a row's state is not\n"
	       "known until its next event\n");
}

static void tell_little(struct picture *p)
{
	picture_state(p, 0, 1, "worker", "a", "busy");
	picture_counter(p, 2500, 1, "queue", "q", 4);
	picture_state(p, 5000, 1, "worker", "a", "idle");
	picture_counter(p, 7500, 1, "queue", "q", 8);
	picture_loss(p, 0, 8000, 9000, 7);
}

static void golden_colours(void)
{
	struct ktr__term_options options = { .width = 40, .colour = KTR__TERM_256 };

	expect(draw(&options, KTR__BY_IDS, tell_little),
	       "\033[1mWhat indexer did during 10.0 s\n"
	       "\033[0mindexer: 10.0 s, 4 events: worker, queue\n"
	       "\033[0;38;5;166m7 events were lost (64 %): what happened\n"
	       "there is not known\n"
	       "\033[0mtime [s]    0            5           10\n"
	       "            ┬────────────┬────────────┬\n"
	       "\033[1mworker\033[0m\n"
	       "  a         \033[0;38;5;74m▇▇▇▇▇▇▇▇▇▇▇▇▇\033[0;38;5;246;48;5;74m▌\033[0;38;5;246m▂▂▂▂▂▂▂▂╱╱╱╱╱\033[0m\n"
	       "\033[1mqueue\033[0m\n"
	       "  q         \033[0;38;5;25m      ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▇▇\033[0;38;5;246m╱╱╱╱╱\033[0m\n"
	       "  even… lost\033[0;38;5;166m                     ╱╱╱╱  \033[0m\n"
	       "worker      \033[0;38;5;16;48;5;74m \033[0m busy  \033[0;38;5;246m▂\033[0m idle\n"
	       "\033[0;38;5;246mheights are shares of the time\n"
	       "\033[0m\033[0;38;5;246mfrom a loss on a row's state is not\n"
	       "known until its next event\n"
	       "/usr/bin/indexer -o /tmp/index\n"
	       "/usr/include on testhost, 2023-11-14\n"
	       "22:13:25 UTC, 10.0 s traced\n"
	       "\033[0m");
}

static void tell_attack(struct picture *p)
{
	picture_state(p, 1, 1, "\033]0;owned\a", "\033[2J\033[H", "\033[31m\nfake line");
	picture_counter(p, 2, 1, "g\r\n",
			"\x9b"
			"31m",
			3);
	picture_start(p, 3, 1, "\xe2\x80\xae", "\b\b\b", 1);
	picture_event(p, 4, 1, 0);
}

/* Of all that a trace can say, no byte but a newline reaches the terminal as a control. */
static void no_escapes_from_names(void)
{
	struct ktr__term_options options = { .width = 80 };

	for (int by = KTR__BY_AUTO; by <= KTR__BY_IDS; by++) {
		char *text = draw(&options, (enum ktr__timeline_by)by, tell_attack);

		for (const char *p = text; *p != '\0'; p++)
			CU_ASSERT_TRUE(*p == '\n' || ((unsigned char)*p >= 0x20 && *p != 0x7f));
		CU_ASSERT_PTR_NULL(strstr(text, "\xc2\x9b"));
		CU_ASSERT_PTR_NULL(strstr(text, "\nfake"));
		CU_ASSERT_PTR_NULL(strstr(text, "\xe2\x80\xae"));
		free(text);
	}
}

static void no_line_is_too_wide(void)
{
	for (unsigned width = 40; width < 220; width += 7) {
		struct ktr__term_options options = { .width = width, .height = 30, .ascii = 1 };

		for (int by = KTR__BY_THREADS; by <= KTR__BY_IDS; by++) {
			char *text = draw(&options, (enum ktr__timeline_by)by, picture_indexer);
			unsigned lines = 0;

			for (char *line = strtok(text, "\n"); line != NULL;
			     line = strtok(NULL, "\n")) {
				CU_ASSERT_TRUE(strlen(line) <= width);
				lines++;
			}
			if (width >= 80)
				CU_ASSERT_TRUE(lines <= options.height);
			free(text);
		}
	}
}

static void detects_a_pipe(void)
{
	struct ktr__term_options options;
	char *columns = getenv("COLUMNS") ? strdup(getenv("COLUMNS")) : NULL;
	int fds[2];

	CU_ASSERT_EQUAL_FATAL(pipe(fds), 0);
	unsetenv("COLUMNS");
	ktr__term_detect(&options, fds[1], "auto");
	CU_ASSERT_EQUAL(options.width, 80);
	CU_ASSERT_EQUAL(options.height, 0);
	CU_ASSERT_EQUAL(options.colour, KTR__TERM_PLAIN);
	setenv("COLUMNS", "133", 1);
	ktr__term_detect(&options, fds[1], "always");
	CU_ASSERT_EQUAL(options.width, 133);
	CU_ASSERT_NOT_EQUAL(options.colour, KTR__TERM_PLAIN);
	if (columns != NULL)
		setenv("COLUMNS", columns, 1);
	else
		unsetenv("COLUMNS");
	free(columns);
	close(fds[0]);
	close(fds[1]);
}

SUITE(term, TEST(golden_ascii), TEST(golden_wide_utf8), TEST(golden_colours),
      TEST(no_escapes_from_names), TEST(no_line_is_too_wide), TEST(detects_a_pipe));

/* SPDX-License-Identifier: BSD-2-Clause */
/* The nearest name: slips of the finger, habits, and what is no longer near. */
#include "test_conf.h"

static const char *const commands[] = { "run",  "sysctl", "ls",     "rm",    "record", "snapshot",
					"tail", "dump",   "report", "merge", "export", "timeline" };
static const char *const knobs[] = { "debug.ktr.mask",      "debug.ktr.cpumask",
				     "debug.ktr.entries",   "debug.ktr.clear",
				     "debug.ktr.verbose",   "debug.ktr.alq_file",
				     "debug.ktr.alq_depth", "app.workers" };

static const char *near_command(const char *word)
{
	return ktr_nearest_of(word, commands, sizeof(commands) / sizeof(commands[0]));
}

static const char *near_knob(const char *word)
{
	return ktr_nearest_of(word, knobs, sizeof(knobs) / sizeof(knobs[0]));
}

static void slips(void)
{
	CU_ASSERT_STRING_EQUAL(near_command("reocrd"), "record");  /* swapped */
	CU_ASSERT_STRING_EQUAL(near_command("recrd"), "record");   /* missing */
	CU_ASSERT_STRING_EQUAL(near_command("reccord"), "record"); /* one too many */
	CU_ASSERT_STRING_EQUAL(near_command("recort"), "record");  /* wrong */
	CU_ASSERT_STRING_EQUAL(near_command("RECORD"), "record");
	CU_ASSERT_STRING_EQUAL(near_command("sysclt"), "sysctl");
	CU_ASSERT_STRING_EQUAL(near_command("timelin"), "timeline");
	CU_ASSERT_STRING_EQUAL(near_command("dmup"), "dump");
}

static void habits(void)
{
	CU_ASSERT_STRING_EQUAL(near_command("snap"), "snapshot");
	CU_ASSERT_STRING_EQUAL(near_command("time"), "timeline");
	CU_ASSERT_STRING_EQUAL(near_knob("mask"), "debug.ktr.mask");
	CU_ASSERT_STRING_EQUAL(near_knob("workers"), "app.workers");
	CU_ASSERT_STRING_EQUAL(near_knob("ktr.mask"), "debug.ktr.mask");
	CU_ASSERT_STRING_EQUAL(near_knob("debug.ktr.masc"), "debug.ktr.mask");
	CU_ASSERT_STRING_EQUAL(near_knob("debug.krt.mask"), "debug.ktr.mask");
	CU_ASSERT_STRING_EQUAL(near_knob("debug.ktr.alq_fil"), "debug.ktr.alq_file");
	CU_ASSERT_STRING_EQUAL(near_knob("debug.ktr.entires"), "debug.ktr.entries");
}

static void not_near(void)
{
	static const char *const letters[] = { "a", "b" };

	CU_ASSERT_PTR_NULL(near_command("frobnicate"));
	CU_ASSERT_PTR_NULL(near_command("x"));
	CU_ASSERT_PTR_NULL(near_command(""));
	CU_ASSERT_PTR_NULL(near_command("zz"));
	CU_ASSERT_PTR_NULL(near_knob("debug.ktr.xyz"));
	CU_ASSERT_PTR_NULL(near_knob("net.inet.tcp"));
	CU_ASSERT_PTR_NULL(ktr_nearest_of("x", NULL, 0));
	CU_ASSERT_PTR_NULL(ktr_nearest_of("x", letters, 2));
}

static void long_words_are_left_alone(void)
{
	char word[4096];
	static const char *const names[1] = { "a" };

	memset(word, 'a', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	CU_ASSERT_PTR_NULL(ktr_nearest_of(word, names, 1));
	word[127] = '\0';
	CU_ASSERT_PTR_NULL(near_command(word));
	word[126] = 'b';
	{
		static char other[128];
		const char *const list[1] = { other };

		memset(other, 'a', 127);
		CU_ASSERT_PTR_EQUAL(ktr_nearest_of(word, list, 1), other);
	}
}

static void names_that_do_not_fit_are_passed_over(void)
{
	static struct named_bits list[] = { { "recorder", 0 }, { "record", 0 }, { NULL, 0 } };
	char best[7];

	CU_ASSERT_EQUAL(ktr_nearest("recorde", list_names, list, best, sizeof(best)), 1);
	CU_ASSERT_STRING_EQUAL(best, "record");
	CU_ASSERT_EQUAL(ktr_nearest("recorde", list_names, list, best, 6), 0);
	CU_ASSERT_EQUAL(ktr_nearest("recorde", list_names, list, best, 0), 0);
}

/* The distance a plain full matrix gives, to compare with. */
static unsigned matrix(const char *a, const char *b)
{
	unsigned d[12][12];
	size_t n = strlen(a), m = strlen(b);

	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			unsigned best = i ? j ? 99 : (unsigned)i : (unsigned)j;

			if (i && j) {
				best = d[i - 1][j] + 1;
				if (d[i][j - 1] + 1 < best)
					best = d[i][j - 1] + 1;
				if (d[i - 1][j - 1] + (a[i - 1] != b[j - 1]) < best)
					best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			}
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	}
	return d[n][m];
}

static void random_word(uint64_t *state, char word[12])
{
	size_t length = random_next(state) % 6 + 4;

	for (size_t i = 0; i < length; i++)
		word[i] = (char)('a' + random_next(state) % 3);
	word[length] = '\0';
}

/* Of two names the one that is nearer by the plain matrix is chosen. */
static void nearest_agrees_with_a_plain_matrix(void)
{
	uint64_t state = 5;
	unsigned n_compared = 0;

	for (unsigned i = 0; i < 50000; i++) {
		char word[12], a[12], b[12];
		const char *names[2] = { a, b }, *best;
		unsigned to_a, to_b, limit;

		random_word(&state, word);
		random_word(&state, a);
		random_word(&state, b);
		limit = (unsigned)(strlen(word) + 2) / 3;
		if (strstr(a, word) || strstr(b, word)) /* abbreviations have a rule of their own */
			continue;
		to_a = matrix(word, a);
		to_b = matrix(word, b);
		best = ktr_nearest_of(word, names, 2);
		n_compared++;
		if (to_a > limit && to_b > limit) {
			CU_ASSERT_FATAL(best == NULL);
		} else if (to_a != to_b) {
			CU_ASSERT_FATAL(best == (to_a < to_b ? a : b));
		}
	}
	CU_ASSERT_TRUE(n_compared > 40000);
}

SUITE(conf_nearest, TEST(slips), TEST(habits), TEST(not_near), TEST(long_words_are_left_alone),
      TEST(names_that_do_not_fit_are_passed_over), TEST(nearest_agrees_with_a_plain_matrix));

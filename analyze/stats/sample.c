/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/sample.h"

#include "analyze/read/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* As ktr/provider/profile/profile.c offers it. */
int ktr__sample_site(const struct ktr_reader_site *site)
{
	return site->n_args == 4 && site->arg[2].type == KTR_ARG_STR && site->arg[3].type == KTR_ARG_STACK &&
	       strcmp(site->class_name, "profile") == 0 && strcmp(site->file, "profile") == 0 &&
	       strncmp(site->func, "profile-", 8) == 0;
}

static void samples_take(const struct ktr_event *event, struct ktr__sample *sample)
{
	static const char *const hows[] = { [KTR__SAMPLE_USER] = "user",
					    [KTR__SAMPLE_KERNEL] = "kernel",
					    [KTR__SAMPLE_BLOCKED] = "blocked",
					    [KTR__SAMPLE_MISSED] = "missed",
					    [KTR__SAMPLE_LOST] = "lost",
					    [KTR__SAMPLE_WAITING] = "waiting" };

	*sample = (struct ktr__sample){ event->arg[0], event->arg[1], KTR__SAMPLE_USER, &event->str[3], "" };
	for (unsigned i = 0; i <= KTR__SAMPLE_WAITING; i++)
		if (strlen(hows[i]) == event->str[2].n_bytes &&
		    memcmp(hows[i], event->str[2].bytes, event->str[2].n_bytes) == 0)
			sample->how = (enum ktr__sample_how)i;
}

int ktr__sample_of(const struct ktr_event *event, struct ktr__sample *sample)
{
	if (!ktr__sample_site(event->site))
		return 0;
	samples_take(event, sample);
	return 1;
}

const char *ktr__sample_word(enum ktr__sample_how how)
{
	static const char *const words[] = { [KTR__SAMPLE_KERNEL] = "[kernel]",
					     [KTR__SAMPLE_BLOCKED] = "[signals blocked]",
					     [KTR__SAMPLE_MISSED] = "[not seen]",
					     [KTR__SAMPLE_LOST] = "[lost]",
					     [KTR__SAMPLE_WAITING] = "[waiting]",
					     [KTR__SAMPLE_OFF] = "a call" KTR__SAMPLE_OFF_WORD,
					     [KTR__SAMPLE_READY] = "ready to run" KTR__SAMPLE_OFF_WORD,
					     [KTR__SAMPLE_FAULT] = "page fault" KTR__SAMPLE_OFF_WORD,
					     [KTR__SAMPLE_ASLEEP] = "not known where" KTR__SAMPLE_OFF_WORD };

	return words[how];
}

const char *ktr__sample_inner(const struct ktr__sample *sample)
{
	return sample->word[0] ? sample->word : ktr__sample_word(sample->how);
}

const char *ktr__sample_function(struct ktr__symbols *symbols, const struct ktr_event *event, uint64_t pc,
				 size_t *n, char text[24])
{
	const char *name = NULL, *plus;

	if (symbols)
		name = ktr__symbols_at(symbols, ktr__tables_proc(event->thread), pc, KTR__SYMBOLS_RETURN);
	if (!name) {
		snprintf(text, 24, "0x%" PRIx64, pc);
		name = text;
	}
	plus = strrchr(name, '+');
	if (!plus || plus == name || strncmp(plus, "+0x", 3) != 0)
		plus = name + strlen(name);
	*n = (size_t)(plus - name);
	return name;
}

unsigned ktr__sample_lines(struct ktr__symbols *symbols, const struct ktr_event *event, uint64_t pc,
			   struct ktr__sample_line line[KTR__DEBUG_LINES], char text[24])
{
	const struct ktr__debug_line *known = NULL;
	uint32_t proc = ktr__tables_proc(event->thread);
	unsigned n = symbols ? ktr__symbols_lines(symbols, proc, pc - 1, &known) : 0, last = n ? n - 1 : 0;

	line[0] = (struct ktr__sample_line){ NULL, 0, NULL, 0 };
	for (unsigned i = 0; i < n; i++) {
		const char *name = known[i].function;

		line[i] = (struct ktr__sample_line){ name, name ? strlen(name) : 0, known[i].file, known[i].line };
	}
	line[last].name = ktr__sample_function(symbols, event, pc, &line[last].n, text);
	return last + 1;
}

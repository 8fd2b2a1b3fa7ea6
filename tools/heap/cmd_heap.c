/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr heap: who got memory, who has it at the end, who had it when the most was in use, and who gets it for a
 * moment only.
 */
#include "analyze/read/reader.h"
#include "tools/agent_run.h"
#include "tools/command.h"
#include "tools/heap/heap_flame.h"
#include "tools/heap/heap_json.h"
#include "tools/heap/heap_text.h"
#include "tools/options.h"
#include "tools/ask/ask_heap.h"
#include "tools/walk.h"
#include "visualize/model/label.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct heap_command {
	struct walk walk;
	uint64_t top, depth;
	int by; /* -1: the usual tables */
	const char *sample, *output;
	unsigned json, folded;
	char command[512];
};

static int heap_take_by(void *at, const char *what, const char *text, char **argv)
{
	*(int *)at = heap_measure(text);
	if (*(int *)at >= 0)
		return 0;
	return usage_error(argv[0], "%s %s: one of live, peak, got, bytes, brief, other, mapped, maps", what, text);
}

static int heap_take_sample(void *at, const char *what, const char *text, char **argv)
{
	if (!isdigit((unsigned char)*text))
		return usage_error(argv[0], "%s %s: not a number of bytes, 512k say", what, text);
	return ask_heap_take(at, what, text, argv);
}

static const struct option_row heap_rows[] = {
	OPTIONS_SOURCE(struct heap_command, walk.find),
	OPTION_TAKE(0, "by", "WHAT", struct heap_command, by, heap_take_by,
		    "one table: live (bytes at the end), peak, got (blocks), bytes, brief, other (threads), mapped, maps"),
	OPTION_NUMBER('n', "top", "N", struct heap_command, top, 0, UINT32_MAX,
		      "lines of each table, 10 by default; 0: all"),
	OPTION_NUMBER(0, "depth", "N", struct heap_command, depth, 0, UINT32_MAX,
		      "callers that a line names, 5 by default; 0: all"),
	OPTION_FLAG(0, "folded", struct heap_command, folded, "stacks of --by (live), a line each, for flame graphs"),
	OPTION_TEXT('o', "output", "FILE", struct heap_command, output,
		    "draw a flame graph of --by (live): FILE.svg, FILE.html, or lines, FILE.folded"),
	OPTION_FLAG('j', "json", struct heap_command, json, "as JSON, all places unless -n"),
	OPTION_TAKE(0, "sample", "BYTES", struct heap_command, sample, heap_take_sample,
		    "of a program: one block in so many bytes, 512k say, not all"),
	OPTIONS_WINDOW(struct heap_command, walk),
	OPTION_FILTER(struct heap_command, walk.filter),
};

static const struct options heap_options = {
	.operands = "[TRACE | -- PROGRAM [ARGUMENTS]]",
	.about = "Sums up memory by who got it, as ktr run --agent --heap has recorded it; or runs a program so. Without "
		 "either, ./ktr.out is read.",
	.examples = "ktr heap -- ./indexer -v\n"
		    "ktr heap --sample 512k -- ./server\n"
		    "ktr heap --by peak -n 20 --depth 0\n"
		    "ktr heap -o heap.html\n"
		    "ktr heap -p 4711                  what the rings of a running program hold\n",
	OPTIONS_ROWS(heap_rows),
};

static int heap_draw(const struct heap_command *c, const struct heap_view *view)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = heap_flame(view, c->walk.reader, c->command, c->output, &err);

	if (rc && rc != -ENOMEM)
		fail_with(c->walk.find.command, &err);
	return rc;
}

static int heap_print(const struct heap_command *c, const struct ktr__heap *heap, uint64_t top)
{
	const struct heap_view view = {
		.heap = heap,
		.symbols = ktr__reader_symbols(c->walk.reader),
		.top = top,
		.depth = c->depth,
		.by = c->by,
	};

	if (c->output)
		return heap_draw(c, &view);
	if (c->json)
		return heap_json(&view, stdout);
	return c->folded ? heap_folded(&view, stdout) : heap_tables(&view, stdout);
}

static int cmd_heap(int argc, char **argv)
{
	struct heap_command c = { .walk.find.command = argv[0], .top = UINT64_MAX, .depth = 5, .by = -1 };
	struct ktr__heap heap;
	int rc = 0, saved;

	snprintf(c.command, sizeof(c.command), "%s", argv[0]);
	for (int i = 1; i < argc; i++)
		ktr__label_word(c.command, sizeof(c.command), argv[i]);
	if (!options_parse(&heap_options, argc, argv, &c, &rc))
		return rc;
	if ((c.json != 0) + (c.folded != 0) + (c.output != NULL) > 1)
		return usage_error(argv[0], "--json, --folded, or -o: one of them");
	if (c.output && !heap_flame_is(c.output))
		return usage_error(argv[0], "%s: writes .svg, .html and .folded", c.output);
	if (optind < argc && optind > 1 && strcmp(argv[optind - 1], "--") == 0) {
		if (c.walk.find.pid || c.walk.find.session)
			return usage_error(argv[0], "a program, or -p or -s: one of them");
		rc = agent_run(argv[0], "--heap", c.sample ? c.sample : "all", argv + optind);
		optind = argc; /* the trace is ./ktr.out */
	} else if (c.sample) {
		return usage_error(argv[0], "--sample goes with a program");
	}
	rc = rc ? rc : walk_open(&c.walk, argc, argv);
	if (rc)
		return rc;
	rc = ktr__heap_init(&heap, c.walk.reader);
	if (!rc && !heap.sites.n_probes) {
		ktr__heap_free(&heap);
		walk_close(&c.walk);
		return fail(argv[0], "%s: nothing of memory was recorded: ktr run --agent --heap all", c.walk.path);
	}
	rc = rc ? rc : walk_run(&c.walk, (struct ktr_sink *[]){ &heap.sink }, 1);
	ktr__heap_finish(&heap);
	rc = rc ? rc : heap_print(&c, &heap, c.top != UINT64_MAX ? c.top : c.json ? 0 : 10);
	saved = errno; /* of what could not be written */
	if (rc == -ENOMEM)
		fail(argv[0], "no memory");
	ktr__heap_free(&heap);
	rc = walk_close(&c.walk) | (rc != 0);
	errno = saved;
	return rc;
}

COMMAND(heap, "sum up memory by who got it, has it, and had it at the peak", cmd_heap);

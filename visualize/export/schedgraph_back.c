/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines are written to a file without a name while the walk goes forward, each with its length after it,
 * and read from its end. A group whose counters are all zero is left out, which is known at the end only.
 */
#include "visualize/export/schedgraph_back.h"

#include <errno.h>
#include <unistd.h>

/* Behind each line of the file without a name. */
struct schedgraph_back_tail {
	uint32_t length; /* of the line without this */
	uint32_t counter;
	uint32_t cpu;
	uint32_t pad;
	uint64_t ns;
};

static int schedgraph_back_keep(void *context, const struct ktr_event *event, const char *text,
				size_t n, uint32_t counter)
{
	struct ktr__schedgraph_back *back = context;
	struct schedgraph_back_tail tail = {
		.length = (uint32_t)n, .counter = counter, .cpu = event->cpu, .ns = event->time_ns
	};

	fwrite(text, 1, n, back->lines);
	fwrite(&tail, sizeof(tail), 1, back->lines);
	back->n++;
	return ferror(back->lines) ? -EIO : 0;
}

int ktr__schedgraph_back_init(struct ktr__schedgraph_back *back)
{
	back->n = 0;
	back->schedgraph = NULL;
	back->lines = tmpfile();
	return back->lines != NULL ? ktr__schedgraph_new(&back->schedgraph, schedgraph_back_keep, back) : -errno;
}

void ktr__schedgraph_back_free(struct ktr__schedgraph_back *back)
{
	if (back->lines != NULL)
		fclose(back->lines);
	ktr__schedgraph_free(back->schedgraph);
}

int ktr__schedgraph_back_run(struct ktr__schedgraph_back *back, ktr__schedgraph_fn *line,
			     void *context, uint64_t *n_left_out)
{
	char text[KTR__SCHEDGRAPH_LINE];
	int fd = fileno(back->lines), rc = 0;
	off_t at;

	*n_left_out = 0;
	rc = ktr__schedgraph_end(back->schedgraph);
	if (rc != 0)
		return rc;
	if (fflush(back->lines) != 0)
		return -errno;
	at = ftello(back->lines);
	for (uint64_t i = back->n; i-- > 0 && rc == 0;) {
		struct ktr_event event = { .index = i };
		struct schedgraph_back_tail tail;

		at -= (off_t)sizeof(tail);
		if (pread(fd, &tail, sizeof(tail), at) != (ssize_t)sizeof(tail))
			return -EIO;
		at -= (off_t)tail.length;
		if (pread(fd, text, tail.length, at) != (ssize_t)tail.length)
			return -EIO;
		event.cpu = tail.cpu;
		event.time_ns = tail.ns;
		if (ktr__schedgraph_drawn(back->schedgraph, tail.counter))
			rc = line(context, &event, text, tail.length, tail.counter);
		else
			++*n_left_out;
	}
	return rc;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See dtrace_views.h. A call is a function's or system call's entry and the next exit of its name by the same
 * thread, the innermost first.
 */
#include "tools/bsd/dtrace_views.h"

#include <ktr/probe_type.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DTRACE_VIEWS_BAR 30 /* columns of the longest bar */
#define DTRACE_VIEWS_ROWS 12 /* of the timeline, at most: the most frequent probes */
#define DTRACE_VIEWS_OPEN 4096 /* open calls among which the one that ends is sought */

/* How many different values a member has. */
static size_t dtrace_views_unique(const struct dtrace_events *events, size_t at)
{
	size_t n = 0, n_slots = 2, unique = 0;
	uint32_t *seen;
	uint8_t *used;

	while (n_slots < 2 * events->n)
		n_slots *= 2;
	seen = malloc(n_slots * sizeof(*seen));
	used = calloc(n_slots, 1);
	for (; seen && used && n < events->n; n++) {
		uint32_t value = *(const uint32_t *)(const void *)((const char *)&events->event[n] + at);
		size_t slot = value * 2654435761u & (n_slots - 1); /* 2^32 / golden ratio */

		while (used[slot] && seen[slot] != value)
			slot = (slot + 1) & (n_slots - 1);
		unique += !used[slot];
		used[slot] = 1;
		seen[slot] = value;
	}
	free(seen);
	free(used);
	return unique;
}

/* ---- calls ---- */

struct dtrace_views_calls {
	uint64_t n, sum_ns, max_ns;
};

static uint32_t dtrace_views_exit(uint32_t entry)
{
	return entry == KTR_PROBE_FUNCTION_ENTRY ? KTR_PROBE_FUNCTION_EXIT :
	       entry == KTR_PROBE_SYSCALL_ENTRY	 ? KTR_PROBE_SYSCALL_EXIT : 0;
}

/* The probe of the exits that belong to a probe of entries; n_probes: none. */
static uint32_t dtrace_views_other(const struct dtrace_events *events, uint32_t entry)
{
	uint32_t type = dtrace_views_exit(events->probe[entry].type), i = 0;

	while (i < events->n_probes && (!type || events->probe[i].type != type ||
					strcmp(events->probe[i].name, events->probe[entry].name) != 0))
		i++;
	return i;
}

/* The calls of one name: each exit ends the newest entry of its thread that is open. */
static void dtrace_views_pair(const struct dtrace_events *events, uint32_t entry, uint32_t leave,
			      struct dtrace_views_calls *calls)
{
	size_t *open = malloc((events->probe[entry].n + 1) * sizeof(*open)), n = 0;

	for (size_t i = 0; open && i < events->n; i++) {
		const struct dtrace_seen *seen = &events->event[i];
		size_t k = n;
		uint64_t ns;

		if (seen->probe == entry)
			open[n++] = i;
		if (seen->probe != leave)
			continue;
		while (k && n - k < DTRACE_VIEWS_OPEN && events->event[open[k - 1]].tid != seen->tid)
			k--;
		if (!k || events->event[open[k - 1]].tid != seen->tid)
			continue;
		ns = seen->ns - events->event[open[k - 1]].ns;
		memmove(open + k - 1, open + k, (n - k) * sizeof(*open));
		n--;
		calls->n++;
		calls->sum_ns += ns;
		calls->max_ns = ns > calls->max_ns ? ns : calls->max_ns;
	}
	free(open);
}

static void dtrace_views_print_calls(const struct dtrace_events *events, FILE *to)
{
	int headed = 0;

	for (uint32_t i = 0; i < events->n_probes; i++) {
		struct dtrace_views_calls calls = { 0, 0, 0 };
		uint32_t leave = dtrace_views_other(events, i);
		char name[DTRACE_NAME + 8];

		if (leave < events->n_probes)
			dtrace_views_pair(events, i, leave, &calls);
		if (!calls.n)
			continue;
		if (!headed++)
			fprintf(to, "\n%-24s %8s %12s %12s %12s\n", "Calls", "count", "total us", "mean us",
				"longest us");
		snprintf(name, sizeof(name), "%-24s", events->probe[i].name);
		print_visible(to, name);
		fprintf(to, " %8" PRIu64 " %12.1f %12.1f %12.1f\n", calls.n, (double)calls.sum_ns / 1e3,
			(double)calls.sum_ns / 1e3 / (double)calls.n, (double)calls.max_ns / 1e3);
	}
}

void dtrace_view_performance(const struct dtrace_events *events, FILE *to)
{
	double ms = events->n ? (double)(events->event[events->n - 1].ns - events->event[0].ns) / 1e6 : 0;

	fprintf(to, "Performance Summary:\n==============================\n");
	fprintf(to, "Total events:     %zu\nDuration:         %.2f ms\n", events->n, ms);
	if (ms > 0)
		fprintf(to, "Events/second:    %.1f\n", (double)events->n / ms * 1e3);
	if (events->n_lost)
		fprintf(to, "Lost events:      %" PRIu64 "\n", events->n_lost);
	fprintf(to, "Unique threads:   %zu\n", dtrace_views_unique(events, offsetof(struct dtrace_seen, tid)));
	fprintf(to, "Unique tasks:     %zu\n", dtrace_views_unique(events, offsetof(struct dtrace_seen, pid)));
	fprintf(to, "CPUs involved:    %zu\n", dtrace_views_unique(events, offsetof(struct dtrace_seen, cpu)));
	dtrace_views_print_calls(events, to);
}

/* ---- frequency ---- */

static const struct dtrace_events *dtrace_views_sorted;

static int dtrace_views_more(const void *a, const void *b)
{
	const struct dtrace_probe_seen *one = &dtrace_views_sorted->probe[*(const uint32_t *)a];
	const struct dtrace_probe_seen *other = &dtrace_views_sorted->probe[*(const uint32_t *)b];

	return one->n > other->n ? -1 : one->n < other->n ? 1 : strcmp(one->name, other->name);
}

/* Numbers of the probes that have events, the most frequent first; owned by the caller. NULL: none. */
static uint32_t *dtrace_views_order(const struct dtrace_events *events, uint32_t *n)
{
	uint32_t *order = malloc((events->n_probes + 1) * sizeof(*order));

	*n = 0;
	for (uint32_t i = 0; order && i < events->n_probes; i++)
		if (events->probe[i].n)
			order[(*n)++] = i;
	dtrace_views_sorted = events;
	if (*n)
		qsort(order, *n, sizeof(*order), dtrace_views_more);
	return order;
}

static void dtrace_views_label(const struct dtrace_probe_seen *probe, FILE *to)
{
	char label[2 * DTRACE_NAME];

	if (strcmp(dtrace_type_name(probe->type), probe->name) == 0 || !probe->type)
		snprintf(label, sizeof(label), "%-32s", probe->name);
	else
		snprintf(label, sizeof(label), "%s:%-*s", dtrace_type_name(probe->type),
			 31 - (int)strlen(dtrace_type_name(probe->type)), probe->name);
	print_visible(to, label);
}

void dtrace_view_frequency(const struct dtrace_events *events, FILE *to)
{
	uint32_t n, *order = dtrace_views_order(events, &n);

	fprintf(to, "Event Frequency Analysis:\n========================================\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct dtrace_probe_seen *probe = &events->probe[order[i]];
		unsigned bar = (unsigned)((double)probe->n / (double)events->probe[order[0]].n * DTRACE_VIEWS_BAR);

		dtrace_views_label(probe, to);
		fprintf(to, " %8" PRIu64 " ", probe->n);
		for (unsigned k = 0; k < bar || !k; k++)
			putc('*', to);
		putc('\n', to);
	}
	free(order);
}

/* ---- timeline ---- */

static char dtrace_views_letter(uint32_t id)
{
	return id == 1 ? 'T' : id == 2 ? 'I' : id == 3 ? 'V' : '*';
}

/* A line of events of one probe; n_probes: of all, where the rarest of a column is shown. */
static void dtrace_views_line(const struct dtrace_events *events, uint32_t probe, unsigned width, char *line)
{
	uint64_t first = events->event[0].ns, span = events->event[events->n - 1].ns - first;

	memset(line, ' ', width);
	line[width] = '\0';
	for (size_t i = 0; i < events->n; i++) {
		const struct dtrace_seen *seen = &events->event[i];
		unsigned at = span ? (unsigned)((double)(seen->ns - first) / (double)span * (width - 1)) : 0;
		char letter = dtrace_views_letter(events->probe[seen->probe].id);

		if (probe == seen->probe || (probe == events->n_probes && (line[at] == ' ' || letter != 'V')))
			line[at] = letter;
	}
}

void dtrace_view_timeline(const struct dtrace_events *events, unsigned width, FILE *to)
{
	uint32_t n, *order = dtrace_views_order(events, &n);
	char *line = malloc(width + 1);

	fprintf(to, "Timeline (T=thread_switch, I=ipc_send, V=vm_fault, *=other):\n");
	if (line && order && events->n) {
		dtrace_views_line(events, events->n_probes, width, line);
		fprintf(to, "%s\n", line);
		for (uint32_t i = 0; n > 1 && i < n && i < DTRACE_VIEWS_ROWS; i++) {
			dtrace_views_line(events, order[i], width, line);
			fprintf(to, "%s ", line);
			dtrace_views_label(&events->probe[order[i]], to);
			putc('\n', to);
		}
		if (n > DTRACE_VIEWS_ROWS)
			fprintf(to, "and %" PRIu32 " more probes\n", n - DTRACE_VIEWS_ROWS);
		fprintf(to, "Time range: %.1f ms\n", (double)(events->event[events->n - 1].ns - events->event[0].ns) / 1e6);
	} else {
		fprintf(to, "No events to display\n");
	}
	free(line);
	free(order);
}

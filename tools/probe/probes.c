/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and switches the session's table of probes. */
#include "tools/probe/probes.h"

#include "ktr/control/session_join.h"
#include "ktr/provider/session/offers.h"
#include "ktr/provider/session/probe_rows.h"
#include "tools/report/session_info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBES_SETTLE_MS 2000 /* one that is stopped does it later */

static const struct probes_kernel {
	char name[24];
	char knob[8];
	char class_name[8];
	uint64_t bit;
} probes_kernel[] = {
	{ "thread_switch.kernel", "switch", "kswitch", KTR_KERNEL_SWITCH },
	{ "vm_fault.kernel", "fault", "kfault", KTR_KERNEL_FAULT },
};

#define PROBES_KERNEL (sizeof(probes_kernel) / sizeof(probes_kernel[0]))

static int probes_get_kernel(const struct probes *probes, unsigned i, struct probe_shown *shown)
{
	uint64_t mask = 0;
	char text[32];
	struct ktr_knob_at at;

	if (i >= PROBES_KERNEL)
		return -ENOENT;
	if (!probes->control.writer && !(probes->control.kernel & probes_kernel[i].bit))
		return 1;
	if (ktr_conf_find(probes->conf, "debug.ktr.kernel", &at, NULL) == 0 &&
	    ktr_knob_read(&at, KTR_PRINT_NUMBER, text, sizeof(text), NULL) == 0)
		mask = strtoull(text, NULL, 10);
	*shown = (struct probe_shown){ .fed = "kernel", .on = (mask & probes_kernel[i].bit) != 0 };
	snprintf(shown->name, sizeof(shown->name), "%s", probes_kernel[i].name);
	return 0;
}

/* A probe that no process has any more is shown of a dead session alone. */
int probes_get(const struct probes *probes, unsigned idx, struct probe_shown *shown)
{
	static const char fed[][16] = { "nothing", "macro", "run-time", "macro,run-time" };
	struct ktr_probe_row row;

	if (idx + 1 >= probes->n_rows)
		return probes_get_kernel(probes, idx + 1 - probes->n_rows, shown);
	if (ktr__map_row(&probes->map, KTR_REGION_probe, idx + 1, &row, sizeof(row)) ||
	    (probes->alive && !row.users))
		return 1;
	row.name[sizeof(row.name) - 1] = row.function[sizeof(row.function) - 1] = '\0';
	*shown = (struct probe_shown){ .fed = fed[row.fed & 3], .on = row.on != 0, .counted = 1 };
	snprintf(shown->name, sizeof(shown->name), "%s.%s", ktr__probe_type_text(row.type), row.name);
	snprintf(shown->function, sizeof(shown->function), "%s", row.function);
	session_disarm(shown->name);
	session_disarm(shown->function);
	return 0;
}

static int probes_head(const struct probes *probes, struct ktr_probe_head *head)
{
	return ktr__map_read(&probes->map, probes->map.header.region[KTR_REGION_probe].offset, head, sizeof(*head));
}

/* Adds up what each thread has counted. */
static uint64_t *probes_sum(const struct probes *probes)
{
	uint32_t n_counts = probes->map.header.region[KTR_REGION_probe_count].n_rows;
	uint64_t *fires = calloc(probes->n_rows, sizeof(*fires));
	struct ktr_probe_counts *counts = malloc(sizeof(*counts));
	struct ktr_probe_head head = { 0 };

	probes_head(probes, &head);
	for (uint32_t i = 1; fires && counts && i < n_counts && i < head.n_counts; i++) {
		if (ktr__map_row(&probes->map, KTR_REGION_probe_count, i, counts, sizeof(*counts)))
			continue;
		for (uint32_t k = 0; k < KTR_PROBE_COUNTS && counts->first < probes->n_rows - k; k++)
			fires[counts->first + k] += counts->count[k];
	}
	free(counts);
	return fires;
}

uint64_t probes_fires(struct probes *probes, unsigned idx)
{
	if (idx + 1 >= probes->n_rows)
		return 0;
	if (!probes->fires)
		probes->fires = probes_sum(probes);
	return probes->fires ? probes->fires[idx + 1] : 0;
}

static int probes_switch_kernel(struct probes *probes, unsigned i, int on, struct ktr_error *err)
{
	char text[16];
	int rc;

	snprintf(text, sizeof(text), "%c%s", on ? '+' : '-', probes_kernel[i].knob);
	rc = ktr_conf_set(probes->conf, "debug.ktr.kernel", text, err);
	snprintf(text, sizeof(text), "%c%s", on ? '+' : '-', probes_kernel[i].class_name);
	return rc ? rc : ktr_conf_set(probes->conf, "debug.ktr.mask", text, err);
}

void probes_settle(struct probes *probes)
{
	uint32_t change = 0;

	if (probes->alive && (probes->session.map || !ktr__session_join(probes->path, &probes->session, NULL)))
		change = ktr__offers_changed(&probes->session);
	if (change)
		ktr__offers_wait(&probes->session, change, PROBES_SETTLE_MS);
}

int probes_switch(struct probes *probes, unsigned idx, int on, struct ktr_error *err)
{
	int rc = 0;

	if (idx + 1 >= probes->n_rows)
		return probes_switch_kernel(probes, idx + 1 - probes->n_rows, on, err);
	if (!probes->session.map)
		rc = ktr__session_join(probes->path, &probes->session, err);
	if (rc)
		return rc;
	if (memcmp(&probes->session.header, &probes->map.header, sizeof(probes->map.header)) != 0)
		return ktr_error_set(err, EAGAIN, "%s was replaced while it was opened", probes->path);
	return ktr__probe_row_switch(&probes->session, idx + 1, on, err);
}

/* ---- as knobs ---- */

static struct probes *probes_of(const struct ktr_knob_at *at)
{
	return at->table->context;
}

static int probes_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	struct probe_shown shown;
	int rc = probes_get(context, idx, &shown);

	*value = idx;
	if (rc == 0 && strlen(shown.name) >= size)
		return 1;
	if (rc == 0)
		memcpy(name, shown.name, strlen(shown.name) + 1);
	return rc;
}

static int probes_enabled_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	struct probe_shown shown = { .on = 0 };

	probes_get(probes_of(at), at->instance, &shown);
	value->number = (uint64_t)shown.on;
	return 0;
}

static int probes_enabled_set(const struct ktr_knob_at *at, const struct ktr_value *value, struct ktr_error *err)
{
	return probes_switch(probes_of(at), at->instance, value->number != 0, err);
}

static int probes_fires_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	value->number = probes_fires(probes_of(at), at->instance);
	return 0;
}

static int probes_text(const struct ktr_knob_at *at, struct ktr_value *value, int function)
{
	struct probe_shown shown = { .fed = "" };

	probes_get(probes_of(at), at->instance, &shown);
	snprintf(value->text, value->text_size, "%s", function ? shown.function : shown.fed);
	return 0;
}

static int probes_fed_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	return probes_text(at, value, 0);
}

static int probes_function_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	return probes_text(at, value, 1);
}

#define PROBE_KNOB(knob_name, knob_type, knob_access, knob_help, ...)                              \
	{                                                                                          \
		.name = "debug.ktr.probe.*." knob_name, .help = knob_help, .type = KTR_KNOB_##knob_type, \
		.access = (knob_access) | KTR_KNOB_SKIP, .instances = probes_names, __VA_ARGS__    \
	}

static const struct ktr_knob probes_rows[] = {
	PROBE_KNOB("enabled", BOOL, KTR_KNOB_RW, "the probe is recorded, and its handler called, when it is fired",
		   .get = probes_enabled_get, .set = probes_enabled_set),
	PROBE_KNOB("fires", UINT, KTR_KNOB_RD | KTR_KNOB_STATS, "how often it was fired while it was enabled",
		   .get = probes_fires_get),
	PROBE_KNOB("fed", STRING, KTR_KNOB_RD | KTR_KNOB_STATS, "what feeds it: macro, run-time, kernel",
		   .get = probes_fed_get, .max = 31),
	PROBE_KNOB("function", STRING, KTR_KNOB_RD | KTR_KNOB_STATS, "the function that it was made with",
		   .get = probes_function_get, .max = KTR_PROBE_ROW_FUNCTION - 1),
};

int probes_open(struct probes *probes, const char *path, struct ktr_conf *conf, struct ktr_error *err)
{
	struct ktr_probe_head head = { 0 };
	uint32_t room;
	int rc;

	memset(probes, 0, sizeof(*probes));
	probes->session.fd = -1;
	probes->conf = conf;
	snprintf(probes->path, sizeof(probes->path), "%s", path);
	rc = ktr__map_open(path, KTR__MAP_OWN, &probes->map, err);
	if (rc)
		return rc;
	room = probes->map.header.region[KTR_REGION_probe].n_rows;
	rc = ktr__map_control(&probes->map, &probes->control);
	/* A session of an older version has no table. */
	if (!rc && room)
		rc = probes_head(probes, &head);
	probes->n_rows = head.n_probes < room ? head.n_probes : room;
	if (!probes->n_rows)
		probes->n_rows = 1;
	if (!rc)
		rc = probes->alive = ktr__map_alive(&probes->map);
	if (rc < 0)
		ktr_error_at(err, path, 0, 0, -rc, "cannot be read: %s", strerror(-rc));
	probes->table.rows = probes_rows;
	probes->table.n_rows = sizeof(probes_rows) / sizeof(probes_rows[0]);
	probes->table.context = probes;
	if (rc >= 0)
		rc = ktr_conf_register(conf, &probes->table, err);
	if (rc < 0)
		ktr__map_close(&probes->map);
	return rc;
}

void probes_close(struct probes *probes)
{
	ktr_conf_unregister(probes->conf, &probes->table);
	ktr__session_detach(&probes->session);
	ktr__map_close(&probes->map);
	free(probes->fires);
}

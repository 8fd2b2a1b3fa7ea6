/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session is read through its checked, read-only map, and all of it is somebody else's writing:
 * names are made printable by the tree, numbers are shown as they are.
 */
#include "tools/record/computed_knobs.h"

#include "conf/names.h"
#include "ktr/session/ring_read.h"
#include "tools/report/session_info.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_TEXT  512 /* bytes of a string of the session that are shown */
#define SHOWN_PLACE 96  /* bytes of FILE:LINE in a name; of a longer path the file alone */

static struct computed_knobs *computed_knobs_of(const struct ktr_knob_at *at)
{
	return at->table->context;
}

static int computed_knobs_site_row(struct computed_knobs *computed, unsigned idx, struct ktr_site_row *row)
{
	if (idx + 1 >= ktr__map_n_rows(&computed->map, &computed->control, KTR_REGION_site))
		return -ENOENT;
	return ktr__map_site(&computed->map, idx + 1, row) ? 1 : 0;
}

/* ---- what a CPU's rings, or on the path of threads a pair of rings, have done ---- */

static int computed_knobs_ring(struct computed_knobs *computed, unsigned idx, uint32_t path, char *name,
			       size_t size)
{
	struct ktr_ring main, keep;
	uint32_t n = computed->map.header.n_rings;

	if (computed->map.header.path != path || idx >= n || ktr__map_ring(&computed->map, idx, &main) ||
	    ktr__map_ring(&computed->map, n + idx, &keep))
		return -ENOENT;
	snprintf(name, size, "%u", idx);
	return !(main.geom | keep.geom | main.dropped | keep.dropped);
}

static int computed_knobs_cpus(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	*value = idx;
	return computed_knobs_ring(context, idx, KTR_PATH_RSEQ, name, size);
}

static int computed_knobs_rings(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	*value = idx;
	return computed_knobs_ring(context, idx, KTR_PATH_THREAD, name, size);
}

/* Sums a number up over the main and the keep ring. */
static int computed_knobs_both(const struct ktr_knob_at *at, uint64_t *sum,
		      int (*one)(struct computed_knobs *computed, uint32_t ring, uint64_t *n))
{
	struct computed_knobs *computed = computed_knobs_of(at);
	uint64_t n = 0;
	int rc = 0;

	*sum = 0;
	for (uint32_t kind = 0; kind < 2 && rc >= 0; kind++) {
		rc = one(computed, at->instance + kind * computed->map.header.n_rings, &n);
		*sum += n;
	}
	return rc;
}

static int computed_knobs_ring_recorded(struct computed_knobs *computed, uint32_t ring, uint64_t *n)
{
	struct ktr_ring row;
	int rc = ktr__map_ring(&computed->map, ring, &row);
	uint64_t conts = rc ? 0 : row.cont[row.head & 1];

	*n = rc || conts > row.head >> 1 ? 0 : (row.head >> 1) - conts;
	return rc;
}

static int computed_knobs_ring_dropped(struct computed_knobs *computed, uint32_t ring, uint64_t *n)
{
	struct ktr_ring row;
	int rc = ktr__map_ring(&computed->map, ring, &row);

	*n = rc ? 0 : row.dropped;
	return rc;
}

static int computed_knobs_ring_lost(struct computed_knobs *computed, uint32_t ring, uint64_t *n)
{
	struct ktr__ring_source source = { .header = &computed->map.header, .fd = computed->map.fd };
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(ring);
	struct ktr_entry buffer[KTR__RING_BUFFER_MIN];
	struct ktr__ring_batch batch = { 0 };
	int rc = ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, KTR__RING_BUFFER_MIN, &batch);

	*n = rc > 0 ? batch.lost : 0;
	return rc;
}

static int computed_knobs_recorded_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	return computed_knobs_both(at, &value->number, computed_knobs_ring_recorded);
}

static int computed_knobs_dropped_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	return computed_knobs_both(at, &value->number, computed_knobs_ring_dropped);
}

static int computed_knobs_lost_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	return computed_knobs_both(at, &value->number, computed_knobs_ring_lost);
}

/* ---- classes ---- */

static int computed_knobs_classes(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	struct computed_knobs *computed = context;
	int rc = session_class_names(&computed->map, idx, name, size, value);

	return rc == 0 && *value == KTR_ALL ? 1 : rc;
}

/* The bits of the class this knob is of. */
static uint64_t computed_knobs_class_mask(const struct ktr_knob_at *at)
{
	char name[KTR_NAME_BYTES];
	uint64_t mask = 0;

	return computed_knobs_classes(computed_knobs_of(at), at->instance, name, sizeof(name), &mask) ? 0 : mask;
}

static int computed_knobs_class_mask_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	value->number = computed_knobs_class_mask(at);
	return 0;
}

static int computed_knobs_class_bit_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	uint64_t mask = computed_knobs_class_mask(at);

	value->number = mask ? (uint64_t)__builtin_ctzll(mask) : 0;
	return 0;
}

static int computed_knobs_class_text_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	static const char *const help[] = {
#define SHOWN_HELP(name, bit, text) text,
		KTR_CLASS_LIST(SHOWN_HELP)
#undef SHOWN_HELP
	};
	const unsigned n_help = sizeof(help) / sizeof(help[0]);
	struct computed_knobs *computed = computed_knobs_of(at);
	struct ktr_class_row row;

	value->text[0] = '\0';
	if (at->instance < n_help)
		snprintf(value->text, value->text_size, "%s", help[at->instance]);
	else if (ktr__map_class(&computed->map, at->instance - n_help - 1, &row) == 0)
		ktr__map_string(&computed->map, row.help, value->text, value->text_size);
	return 0;
}

static int computed_knobs_class_sites_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	uint64_t mask = computed_knobs_class_mask(at);
	struct ktr_site_row row;
	int rc;

	value->number = 0;
	for (unsigned i = 0; (rc = computed_knobs_site_row(computed_knobs_of(at), i, &row)) >= 0; i++)
		value->number += rc == 0 && row.mask & mask;
	return 0;
}

/* ---- call sites ---- */

/* FILE:LINE */
static int computed_knobs_sites(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	struct computed_knobs *computed = context;
	char file[SHOWN_TEXT], *base;
	struct ktr_site_row row;
	int rc = computed_knobs_site_row(computed, idx, &row);

	*value = idx;
	if (rc)
		return rc;
	if (ktr__map_string(&computed->map, row.file, file, sizeof(file)) < 0)
		return 1;
	base = strrchr(file, '/');
	snprintf(name, size, "%s:%u", base && strlen(file) > SHOWN_PLACE ? base + 1 : file,
		 row.line);
	return 0;
}

static const char *computed_knobs_state(const struct ktr_control *control, const struct ktr_site_row *row,
			       uint8_t byte)
{
	if (byte & KTR_SITE_COUNT || (!byte && row->mask & control->count))
		return "counted";
	if (byte & KTR_SITE_ON || (!byte && row->mask & control->asked))
		return "on";
	return "off";
}

static int computed_knobs_site_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	struct computed_knobs *computed = computed_knobs_of(at);
	char classes[KTR_NAME_BYTES * 2] = "", func[128] = "", format[SHOWN_TEXT] = "";
	struct ktr_site_row row;
	uint8_t byte = 0;

	if (computed_knobs_site_row(computed, at->instance, &row))
		return -ENOENT;
	ktr__map_control(&computed->map, &computed->control);
	ktr__map_site_ctl(&computed->map, at->instance + 1, &byte);
	ktr__map_string(&computed->map, row.func, func, sizeof(func));
	ktr__map_string(&computed->map, row.format, format, sizeof(format));
	if (ktr__print_mask(row.mask, session_class_names, &computed->map, 0, classes,
			    sizeof(classes)))
		snprintf(classes, sizeof(classes), "0x%llx", (unsigned long long)row.mask);
	snprintf(value->text, value->text_size, "%s %s %s() \"%s\"",
		 computed_knobs_state(&computed->control, &row, byte), classes, func, format);
	return 0;
}

/* What was counted at a site on all CPUs. */
static uint64_t computed_knobs_counted(struct computed_knobs *computed, uint32_t site)
{
	const struct ktr_region *region = &computed->map.header.region[KTR_REGION_count];
	uint64_t stride = computed->map.header.region[KTR_REGION_site].n_rows, sum = 0, one;

	for (uint64_t cpu = 0;
	     cpu < computed->map.header.n_rings && cpu * stride + site < region->n_rows; cpu++)
		if (ktr__map_read(&computed->map, region->offset + (cpu * stride + site) * sizeof(one),
				  &one, sizeof(one)) == 0)
			sum += one;
	return sum;
}

static int computed_knobs_counts(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	int rc = computed_knobs_sites(context, idx, name, size, value);

	return rc ? rc : computed_knobs_counted(context, idx + 1) == 0;
}

static int computed_knobs_counts_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	value->number = computed_knobs_counted(computed_knobs_of(at), at->instance + 1);
	return 0;
}

#define STAT(knob_name, knob_type, knob_unit, knob_help, knob_instances, knob_get)                 \
	{                                                                                          \
		.name = "debug.ktr." knob_name, .help = knob_help, .unit = knob_unit,              \
		.type = KTR_KNOB_##knob_type,                                                      \
		.access = KTR_KNOB_RD | KTR_KNOB_STATS | KTR_KNOB_SKIP,                            \
		.instances = knob_instances, .get = knob_get, .max = SHOWN_MAX_##knob_type         \
	}
#define SHOWN_MAX_UINT   0
#define SHOWN_MAX_MASK   0
#define SHOWN_MAX_STRING (KTR_KNOB_STRING_BYTES - 1)

static const struct ktr_knob computed_knobs_rows[] = {
	STAT("cpu.*.recorded", UINT, "events", "events recorded on this CPU", computed_knobs_cpus,
	     computed_knobs_recorded_get),
	STAT("cpu.*.lost", UINT, "events", "events recorded there that its rings no longer hold",
	     computed_knobs_cpus, computed_knobs_lost_get),
	STAT("cpu.*.dropped", UINT, "events", "events that could not be recorded there", computed_knobs_cpus,
	     computed_knobs_dropped_get),
	STAT("ring.*.recorded", UINT, "events", "events recorded in this ring of a thread",
	     computed_knobs_rings, computed_knobs_recorded_get),
	STAT("ring.*.lost", UINT, "events", "events recorded there that it no longer holds",
	     computed_knobs_rings, computed_knobs_lost_get),
	STAT("ring.*.dropped", UINT, "events", "events that could not be recorded there",
	     computed_knobs_rings, computed_knobs_dropped_get),
	STAT("class.*.bit", UINT, NULL, "the class's bit in masks", computed_knobs_classes,
	     computed_knobs_class_bit_get),
	STAT("class.*.mask", MASK, NULL, "the same as a mask", computed_knobs_classes, computed_knobs_class_mask_get),
	STAT("class.*.description", STRING, NULL, "what the class is for", computed_knobs_classes,
	     computed_knobs_class_text_get),
	STAT("class.*.sites", UINT, "call sites", "call sites of the class", computed_knobs_classes,
	     computed_knobs_class_sites_get),
	STAT("site.*", STRING, NULL, "a call site: on, off or counted, class, function and format",
	     computed_knobs_sites, computed_knobs_site_get),
	STAT("counts.*", UINT, "events", "events counted at this call site", computed_knobs_counts,
	     computed_knobs_counts_get),
};

int computed_knobs_open(struct computed_knobs *computed, const char *path, struct ktr_conf *conf,
			struct ktr_error *err)
{
	int rc = ktr__map_open(path, KTR__MAP_OWN, &computed->map, err);

	if (rc)
		return rc;
	rc = ktr__map_control(&computed->map, &computed->control);
	computed->table.rows = computed_knobs_rows;
	computed->table.n_rows = sizeof(computed_knobs_rows) / sizeof(computed_knobs_rows[0]);
	computed->table.context = computed;
	if (!rc)
		rc = ktr_conf_register(conf, &computed->table, err);
	if (rc)
		ktr__map_close(&computed->map);
	return rc;
}

void computed_knobs_close(struct computed_knobs *computed, struct ktr_conf *conf)
{
	ktr_conf_unregister(conf, &computed->table);
	ktr__map_close(&computed->map);
}

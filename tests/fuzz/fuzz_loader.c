/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a loader.conf, applied to a tree that has a knob of every type.
 *
 * Beyond surviving: a text and a file of the same bytes give the same, every error has a place in
 * the text, and every setting that was kept can be written by ktr_loader_print() and read back.
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -I. \
 *		tests/fuzz/fuzz_loader.c conf/[a-z]*.c -o fuzz_loader
 *	./fuzz_loader tests/corpus/loader
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ktr/conf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	int flag;
	int64_t level;
	uint64_t count, bytes, delay, mask, mode, cpus[2];
	char path[32];
} values;

static int fuzz_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char *const names[] = { "net", "", "lock", "malloc", "sched", "KTR_odd", "8" };

	(void)context;
	if (idx >= sizeof(names) / sizeof(names[0]))
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = 1ull << idx;
	return !names[idx][0];
}

static int fuzz_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	value->number = at->instance;
	return 0;
}

static int fuzz_set(const struct ktr_knob_at *at, const struct ktr_value *value,
		    struct ktr_error *err)
{
	(void)at;
	return value->number & 1 ? ktr_error_set(err, EBUSY, "odd") : 0;
}

#define ROW(row_name, row_type, row_variable)                                                      \
	.name = row_name, .type = row_type, .access = KTR_KNOB_RWTUN, .variable = row_variable

static const struct ktr_knob rows[] = {
	{ ROW("d.flag", KTR_KNOB_BOOL, &values.flag) },
	{ ROW("d.level", KTR_KNOB_INT, &values.level), .min = -9, .max = 9 },
	{ ROW("d.count", KTR_KNOB_UINT, &values.count), .min = 2 },
	{ ROW("d.bytes", KTR_KNOB_SIZE, &values.bytes), .max = 1 << 30 },
	{ ROW("d.delay", KTR_KNOB_DURATION, &values.delay) },
	{ ROW("d.mask", KTR_KNOB_MASK, &values.mask), .names = fuzz_names },
	{ ROW("d.mode", KTR_KNOB_CHOICE, &values.mode), .names = fuzz_names },
	{ ROW("d.cpus", KTR_KNOB_CPUS, values.cpus), .max = 100 },
	{ ROW("d.path", KTR_KNOB_STRING, values.path), .max = sizeof(values.path) - 1 },
	{ .name = "d.*.on",
	  .type = KTR_KNOB_UINT,
	  .access = KTR_KNOB_RWTUN,
	  .get = fuzz_get,
	  .set = fuzz_set,
	  .instances = fuzz_names },
};

static struct ktr_origin origins[sizeof(rows) / sizeof(rows[0])];
static struct ktr_knobs table = { .rows = rows,
				  .n_rows = sizeof(rows) / sizeof(rows[0]),
				  .origins = origins };
static struct ktr_conf conf;

static int fuzz_back(struct ktr_loader *loader, const char *name, const char *value,
		     struct ktr_error *err)
{
	const char *const *wanted = loader->context;

	(void)err;
	if (strcmp(name, wanted[0]) != 0 || strcmp(value, wanted[1]) != 0)
		abort();
	return 0;
}

static void fuzz_write_and_read(const char *name, const char *value)
{
	static char line[2 * KTR_LOADER_LINE_BYTES + KTR_KNOB_NAME_BYTES];
	const char *wanted[2] = { name, value };
	struct ktr_loader loader = { .set = fuzz_back, .context = wanted };

	if (ktr_loader_print(name, value, line, sizeof(line)))
		abort();
	if (strlen(line) < KTR_LOADER_LINE_BYTES &&
	    (ktr_loader_text(&loader, "back", line, strlen(line), NULL) || loader.n_kept != 1))
		abort();
}

static int fuzz_take(struct ktr_loader *loader, const char *name, const char *value,
		     struct ktr_error *err)
{
	struct ktr_knob_at at;
	int rc = ktr_conf_find(&conf, name, &at, err);

	(void)loader;
	fuzz_write_and_read(name, value);
	return rc ? rc : ktr_knob_write(&at, value, NULL, err);
}

static int fuzz_expand(struct ktr_loader *loader, const char *name, char *buffer, size_t size,
		       struct ktr_error *err)
{
	(void)loader;
	return ktr_conf_get(&conf, name, buffer, size, err);
}

static void fuzz_report(struct ktr_loader *loader, const struct ktr_error *err)
{
	char line[KTR_ERROR_LINE_BYTES];

	(void)loader;
	if (!err->code || !err->text[0] || !err->line || !err->column)
		abort();
	ktr_error_print(err, line, sizeof(line));
	for (const char *p = line; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			abort();
}

static void fuzz_begin(struct ktr_loader *loader)
{
	memset(&values, 0, sizeof(values));
	memset(loader, 0, sizeof(*loader));
	loader->set = fuzz_take;
	loader->expand = fuzz_expand;
	loader->report = fuzz_report;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;
	struct ktr_loader text, file;
	int rc;

	if (fd < 0) {
		fd = memfd_create("fuzz_loader", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (fd < 0 || ktr_conf_register(&conf, &table, NULL))
			abort();
	}
	fuzz_begin(&text);
	rc = ktr_loader_text(&text, path, (const char *)data, size, NULL);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	fuzz_begin(&file);
	if (!ktr_loader_file(&file, path, NULL) != !rc)
		abort();
	if (!memchr(data, 0, size) &&
	    (file.n_kept != text.n_kept || file.n_refused != text.n_refused))
		abort();
	return 0;
}

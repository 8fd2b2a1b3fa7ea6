/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the JSON lines beside a trace's streams.
 *
 * Each line carries a checksum; one that is wrong, or does not say what it must, is noted with
 * file and line and left out. So is a last line without newline, unless the trace is still being
 * written or its writer was killed: nothing refers to it then. Lines are independent of each
 * other, except that a thread names the row of its process, so processes are read first.
 *
 * jansson's strings are well-formed UTF-8; bytes that were not are spelled as private characters,
 * which ktr__text_raw() turns back.
 */
#include "analyze/sidecar.h"
#include "writer/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define SIDECAR_LINE_MAX ((size_t)1 << 20) /* [bytes] a command line may be long */
#define SIDECAR_NOTES    4                 /* notes about the lines of one file; more is not told */

/* What processes.jsonl says, for the threads: row to name. */
struct sidecar_procs {
	const char **name;
	uint32_t n;
};

struct sidecar {
	struct ktr__source *source;
	struct sidecar_procs procs;
	const char *file;
	unsigned line;
	unsigned n_notes;
	int is_trace;  /* the line with the version has been seen */
	int has_ended; /* and the one of a clean stop */
	struct ktr_error *err;
};

/* Takes one line: 0, -EINVAL (it makes no sense), or another -errno that ends the reading. */
typedef int sidecar_fn(struct sidecar *s, const json_t *row);

static const char *const sidecar_files[KTR_SIDECARS] = {
#define SIDECAR_NAME(name, file) [KTR_SIDECAR_##name] = KTR_TRACE_DIR "/" file,
	KTR_SIDECAR_LIST(SIDECAR_NAME)
#undef SIDECAR_NAME
};

/* ---- members of a line ---- */

static uint64_t sidecar_u64(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	if (json_is_integer(value))
		return (uint64_t)json_integer_value(value);
	if (json_is_string(value))
		return strtoull(json_string_value(value), NULL, 0);
	return 0;
}

/* Numbers that do not fit come out as the largest, which is refused wherever it matters. */
static uint32_t sidecar_u32(const json_t *row, const char *key)
{
	uint64_t value = sidecar_u64(row, key);

	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/*
 * The text as it was before it became UTF-8, in the arena; "" where there is none, NULL without
 * memory.
 */
static const char *sidecar_text(struct sidecar *s, const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	char *copy = ktr__arena_copy(&s->source->tables.arena, text, strlen(text));

	if (copy)
		ktr__text_raw(copy);
	return copy;
}

static int sidecar_octets(const json_t *row, const char *key, uint8_t *bytes, size_t n)
{
	const char *text = json_string_value(json_object_get(row, key));

	for (size_t i = 0; i < n; i++) {
		unsigned octet;

		if (!text || sscanf(text + 2 * i, "%2x", &octet) != 1 || strlen(text) != 2 * n)
			return -EINVAL;
		bytes[i] = (uint8_t)octet;
	}
	return 0;
}

/* ---- lines ---- */

static int sidecar_trace(struct sidecar *s, const json_t *row)
{
	struct ktr_reader_info *info = &s->source->info;
	uint64_t major = sidecar_u64(row, "major");

	if (major != KTR_TRACE_MAJOR)
		return ktr_error_at(s->err, info->path, 0, 0, ENOTSUP,
				    "a trace of format %" PRIu64 ", this ktr reads format %d",
				    major, KTR_TRACE_MAJOR);
	info->name = sidecar_text(s, row, "session");
	info->host = sidecar_text(s, row, "host");
	info->cmdline = sidecar_text(s, row, "cmdline");
	info->clock = sidecar_text(s, row, "clock");
	info->utc_offset_ns = (int64_t)sidecar_u64(row, "utc_offset_ns");
	if (!info->name || !info->host || !info->cmdline || !info->clock)
		return -ENOMEM;
	s->is_trace = 1;
	return sidecar_octets(row, "uuid", info->uuid, sizeof(info->uuid));
}

static int sidecar_info_line(struct sidecar *s, const json_t *row)
{
	const char *kind = json_string_value(json_object_get(row, "kind"));

	if (kind && strcmp(kind, "trace") == 0 && !s->is_trace)
		return sidecar_trace(s, row);
	if (kind && strcmp(kind, "end") == 0)
		s->has_ended = 1;
	return 0;
}

static int sidecar_type(const char *name, uint8_t *type)
{
	static const char *const names[KTR_ARG_TYPES] = {
#define SIDECAR_TYPE(type_name, text, width) [KTR_ARG_##type_name] = #type_name,
		KTR_ARG_LIST(SIDECAR_TYPE)
#undef SIDECAR_TYPE
	};

	for (unsigned i = 0; name && i < KTR_ARG_TYPES; i++)
		if (strcmp(name, names[i]) == 0) {
			*type = (uint8_t)i;
			return 0;
		}
	return -EINVAL;
}

static int sidecar_site_args(const json_t *row, struct ktr__site_text *text)
{
	const json_t *types = json_object_get(row, "types"), *how = json_object_get(row, "how");

	if (json_array_size(types) > KTR_ARGS_MAX)
		return -EINVAL;
	text->n_args = (unsigned)json_array_size(types);
	for (unsigned i = 0; i < text->n_args; i++) {
		text->how[i] = (uint8_t)json_integer_value(json_array_get(how, i));
		if (sidecar_type(json_string_value(json_array_get(types, i)), &text->type[i]))
			return -EINVAL;
	}
	return 0;
}

static int sidecar_site(struct sidecar *s, const json_t *row)
{
	struct ktr__site_text text = {
		.mask = sidecar_u64(row, "mask"),
		.line = sidecar_u32(row, "line"),
		.file = sidecar_text(s, row, "file"),
		.func = sidecar_text(s, row, "func"),
		.format = sidecar_text(s, row, "format"),
		.names = sidecar_text(s, row, "names"),
		.module = sidecar_text(s, row, "module"),
	};
	int rc = sidecar_site_args(row, &text);

	if (!text.file || !text.func || !text.format || !text.names || !text.module)
		return -ENOMEM;
	return rc ? rc : ktr__tables_site(&s->source->tables, sidecar_u32(row, "site"), &text);
}

static int sidecar_proc(struct sidecar *s, const json_t *row)
{
	uint32_t id = sidecar_u32(row, "proc");
	const char **grown;

	if (id >= KTR__THREADS_MAX)
		return -EINVAL;
	if (id >= s->procs.n) {
		grown = realloc(s->procs.name, (size_t)(id * 2 + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + s->procs.n, 0, (size_t)(id * 2 + 1 - s->procs.n) * sizeof(*grown));
		s->procs.name = grown;
		s->procs.n = id * 2 + 1;
	}
	s->procs.name[id] = sidecar_text(s, row, "name");
	return s->procs.name[id] ? 0 : -ENOMEM;
}

static int sidecar_thread(struct sidecar *s, const json_t *row)
{
	uint32_t proc = sidecar_u32(row, "proc");
	struct ktr__thread_text text = {
		.tid = sidecar_u32(row, "tid"),
		.pid = sidecar_u32(row, "pid"),
		.word = sidecar_u32(row, "word"),
		.proc = proc,
		.name = sidecar_text(s, row, "name"),
		.process = proc < s->procs.n && s->procs.name[proc] ? s->procs.name[proc] : "",
		.start_ns = sidecar_u64(row, "start_ns"),
		.exit_ns = sidecar_u64(row, "exit_ns"),
	};

	if (!text.name)
		return -ENOMEM;
	return ktr__tables_thread(&s->source->tables, sidecar_u32(row, "thread"), &text);
}

static int sidecar_class(struct sidecar *s, const json_t *row)
{
	const char *name = sidecar_text(s, row, "name");

	return name ? ktr__tables_class(&s->source->tables, sidecar_u32(row, "bit"), name)
		    : -ENOMEM;
}

static int sidecar_module(struct sidecar *s, const json_t *row)
{
	size_t n = json_string_length(json_object_get(row, "build_id")) / 2;
	struct ktr__module module = {
		.proc = sidecar_u32(row, "proc"),
		.base = sidecar_u64(row, "base"),
		.end = sidecar_u64(row, "end"),
		.path = sidecar_text(s, row, "path"),
		.n_build_id = (uint8_t)n,
	};

	if (n > KTR_BUILD_ID_MAX || (n && sidecar_octets(row, "build_id", module.build_id, n)))
		return -EINVAL;
	if (!module.path)
		return -ENOMEM;
	return ktr__tables_module(&s->source->tables, sidecar_u32(row, "module"), &module);
}

/* ---- files ---- */

static void sidecar_left_out(struct sidecar *s, const char *why)
{
	if (++s->n_notes <= SIDECAR_NOTES)
		ktr__source_note(s->source, 1, "%s/%s:%u: %s; the line is left out%s",
				 s->source->info.path, s->file, s->line, why,
				 s->n_notes == SIDECAR_NOTES ? ", and further ones are not listed"
							     : "");
}

static int sidecar_line(struct sidecar *s, const char *line, size_t n, sidecar_fn *fn)
{
	json_error_t why;
	json_t *row;
	int rc;

	if (ktr__line_check(line, n)) {
		sidecar_left_out(s, "damaged");
		return 0;
	}
	row = json_loadb(line, n, 0, &why);
	rc = json_is_object(row) ? fn(s, row) : -EINVAL;
	json_decref(row);
	if (rc == -EINVAL)
		sidecar_left_out(s, "makes no sense");
	return rc == -EINVAL ? 0 : rc;
}

/*
 * Reads a line into buffer: its length without newline; SIDECAR_END behind the last, SIDECAR_TORN
 * when bytes without newline follow it, SIDECAR_LONG.
 */
#define SIDECAR_END  (-1)
#define SIDECAR_TORN (-2)
#define SIDECAR_LONG (-3)

static ssize_t sidecar_getline(FILE *file, char **buffer, size_t *room)
{
	size_t n = 0;

	for (int c; (c = getc_unlocked(file)) != EOF; n++) {
		if (n == *room) {
			char *grown = n < SIDECAR_LINE_MAX ? realloc(*buffer, n * 2 + 4096) : NULL;

			if (!grown)
				return SIDECAR_LONG;
			*buffer = grown;
			*room = n * 2 + 4096;
		}
		if (c == '\n')
			return (ssize_t)n;
		(*buffer)[n] = (char)c;
	}
	return n ? SIDECAR_TORN : SIDECAR_END;
}

static int sidecar_lines(struct sidecar *s, FILE *file, sidecar_fn *fn)
{
	char *buffer = NULL;
	size_t room = 0;
	int rc = 0;

	for (s->line = 1; !rc; s->line++) {
		ssize_t n = sidecar_getline(file, &buffer, &room);

		if (n == SIDECAR_TORN && s->source->finished)
			sidecar_left_out(s, "torn");
		if (n == SIDECAR_LONG)
			rc = ktr_error_at(s->err, s->source->info.path, 0, 0, EPROTO,
					  "%s:%u: the line is too long", s->file, s->line);
		if (n < 0)
			break;
		rc = sidecar_line(s, buffer, (size_t)n, fn);
	}
	free(buffer);
	return rc;
}

/* Opens a sidecar: a regular file, no link. NULL with *why on failure. */
static FILE *sidecar_open(int dir_fd, const char *name, int *why)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	*why = -errno;
	if (!file && fd >= 0)
		close(fd);
	return file;
}

/* Reads one file. One that is missing has no lines. 0 or -errno with err filled. */
static int sidecar_read(struct sidecar *s, int dir_fd, enum ktr_sidecar which, sidecar_fn *fn)
{
	int rc = 0;
	FILE *file;

	s->file = sidecar_files[which];
	s->n_notes = 0;
	file = sidecar_open(dir_fd, s->file, &rc);
	if (!file && rc == -ENOENT) {
		ktr__source_note(s->source, 1, "%s/%s is missing", s->source->info.path, s->file);
		return 0;
	}
	if (file) {
		rc = sidecar_lines(s, file, fn);
		fclose(file);
	}
	if (rc)
		ktr_error_at(s->err, s->source->info.path, 0, 0, -rc, "%s: %s", s->file,
			     strerror(-rc));
	return rc;
}

/* Why a trace has no end: somebody still writes it, or nobody could say goodbye. */
static void sidecar_unfinished(struct sidecar *s, int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
		flock(fd, LOCK_UN);
		ktr__source_note(
			s->source, 0,
			"%s: the trace was not finished: whoever wrote it was killed, and the last "
			"events may be missing",
			s->source->info.path);
	} else if (errno == EWOULDBLOCK) {
		ktr__source_note(s->source, 0, "%s: the trace is still being written",
				 s->source->info.path);
	}
}

int ktr__sidecar_info(struct ktr__source *source, int dir_fd, struct ktr_error *err)
{
	struct sidecar s = { .source = source,
			     .file = sidecar_files[KTR_SIDECAR_INFO],
			     .err = err };
	const char *path = source->info.path;
	int rc = 0;
	FILE *file = sidecar_open(dir_fd, s.file, &rc);

	if (!file && rc == -ENOENT)
		return ktr_error_at(err, path, 0, 0, EINVAL,
				    faccessat(dir_fd, KTR_TRACE_METADATA, F_OK, 0) == 0
					    ? "a CTF trace, but not one of ktr: it has no %s"
					    : "not a trace: it has no %s",
				    s.file);
	if (!file)
		return ktr_error_at(err, path, 0, 0, -rc, "%s: %s", s.file, strerror(-rc));
	rc = sidecar_lines(&s, file, sidecar_info_line);
	source->finished = s.has_ended;
	if (!rc && s.is_trace && !s.has_ended)
		sidecar_unfinished(&s, fileno(file));
	fclose(file);
	if (!rc && !s.is_trace)
		rc = ktr_error_at(err, path, 0, 0, EPROTO, "%s does not describe a trace", s.file);
	return rc;
}

int ktr__sidecar_tables(struct ktr__source *source, int dir_fd, struct ktr_error *err)
{
	struct sidecar s = { .source = source, .err = err };
	int rc = sidecar_read(&s, dir_fd, KTR_SIDECAR_CLASSES, sidecar_class);

	if (!rc)
		rc = sidecar_read(&s, dir_fd, KTR_SIDECAR_SITES, sidecar_site);
	if (!rc)
		rc = sidecar_read(&s, dir_fd, KTR_SIDECAR_PROCS, sidecar_proc);
	if (!rc)
		rc = sidecar_read(&s, dir_fd, KTR_SIDECAR_THREADS, sidecar_thread);
	if (!rc)
		rc = sidecar_read(&s, dir_fd, KTR_SIDECAR_MODULES, sidecar_module);
	free(s.procs.name);
	return rc;
}

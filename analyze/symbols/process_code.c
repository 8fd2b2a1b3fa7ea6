/* SPDX-License-Identifier: BSD-2-Clause */
/* See process_code.h. */
#include "analyze/symbols/process_code.h"

#include "analyze/read/lines.h"

#include "conf/kit/array.h"
#include "writer/format/ident.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a process's, made where there are none yet. NULL without memory. */
static struct ktr__code_names *code_of(struct ktr__process_code *code, uint32_t proc)
{
	if (ktr__array_grow(&code->process, &code->n, proc, sizeof(struct ktr__code_names *)))
		return NULL;
	if (!code->process[proc])
		code->process[proc] = calloc(1, sizeof(struct ktr__code_names));
	return code->process[proc];
}

/* ---- where the process ran ---- */

static uint32_t code_pid(const struct ktr__tables *tables, uint32_t proc)
{
	for (uint32_t i = 0; i < tables->n_threads; i++)
		if (tables->thread[i] && tables->thread[i]->proc == proc)
			return tables->thread[i]->thread.pid;
	return 0;
}

/* [s] of CLOCK_REALTIME when the process began; files of another one with its number are older. */
static int64_t code_since(const struct ktr__process_code *code, const struct ktr__tables *tables, uint32_t proc)
{
	const struct ktr__process *process = proc < tables->n_processes ? tables->process[proc] : NULL;

	if (!process || !process->end.start_ns)
		return INT64_MAX;
	/* Any bits: of a trace. */
	return (int64_t)(process->end.start_ns + (uint64_t)code->where.utc_offset_ns) / 1000000000;
}

/* What makes a jitdump has a page of it mapped, so that it can be found. */
static void code_jitdump(struct ktr__code_names *names, const struct ktr__tables *tables, uint32_t proc,
			 uint32_t pid, int64_t since_s)
{
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "jit-%" PRIu32 ".dump", pid);
	for (uint32_t i = 0; i < tables->n_modules; i++) {
		const struct ktr__module_entry *module = tables->module[i];

		if (module && module->proc == proc && module->path[0] == '/' &&
		    strcmp(ktr__ident_base(module->path), wanted) == 0) {
			ktr__code_names_read(names, module->path, since_s);
			return;
		}
	}
}

static void code_look(struct ktr__process_code *code, const struct ktr__tables *tables, uint32_t proc)
{
	struct ktr__code_names *names = code_of(code, proc);
	uint32_t pid = code_pid(tables, proc);
	int64_t since_s = code_since(code, tables, proc);
	char path[64];

	if (!names || !pid || !code->where.is_here)
		return;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
	ktr__code_names_read(names, path, since_s);
	code_jitdump(names, tables, proc, pid, since_s);
}

/* ---- what was kept ---- */

static void code_line(struct ktr__process_code *code, const char *line, size_t n)
{
	char *at;
	uint64_t proc = strtoull(line, &at, 10), address, size;
	struct ktr__code_names *names;

	if (proc >= KTR__THREADS_MAX || *at != ' ')
		return;
	address = strtoull(at, &at, 16);
	if (*at != ' ')
		return;
	size = strtoull(at, &at, 16);
	if (*at != ' ' || at + 1 >= line + n)
		return;
	names = code_of(code, (uint32_t)proc);
	if (names)
		ktr__code_names_add(names, address, size, at + 1, (size_t)(line + n - at - 1));
}

static void code_kept(struct ktr__process_code *code)
{
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	ssize_t n;
	FILE *from;
	int fd;

	code->is_kept = -1;
	if (!code->where.folder)
		return;
	snprintf(path, sizeof(path), "%s/" KTR__CODE_FILE, code->where.folder);
	fd = ktr__lines_open(AT_FDCWD, path);
	from = fd < 0 ? NULL : fdopen(fd, "r");
	if (!from && fd >= 0)
		close(fd);
	if (!from)
		return;
	code->is_kept = 1;
	while ((n = getline(&line, &room, from)) > 0 && line[n - 1] == '\n') {
		line[n - 1] = '\0';
		code_line(code, line, (size_t)n - 1);
	}
	free(line);
	fclose(from);
}

const char *ktr__process_code_find(struct ktr__process_code *code, const struct ktr__tables *tables, uint32_t proc,
				   uint64_t address, size_t *n, uint64_t *offset)
{
	if (!code->is_kept)
		code_kept(code);
	if (code->is_kept < 0 && (proc >= code->n || !code->process[proc]))
		code_look(code, tables, proc);
	if (proc >= code->n || !code->process[proc])
		return NULL;
	return ktr__code_names_find(code->process[proc], address, n, offset);
}

/* ---- keeping ---- */

static int64_t code_write(const struct ktr__process_code *code, FILE *to)
{
	int64_t n_names = 0;

	for (uint32_t proc = 0; proc < code->n; proc++) {
		for (uint32_t i = 0; code->process[proc] && i < code->process[proc]->n; i++, n_names++) {
			uint64_t address, size;
			size_t n;
			const char *name = ktr__code_names_row(code->process[proc], i, &address, &size, &n);

			/* A line has a name, and no end before its own. */
			if (!n || memchr(name, '\n', n))
				continue;
			fprintf(to, "%" PRIu32 " %" PRIx64 " %" PRIx64 " ", proc, address, size);
			fwrite(name, 1, n, to);
			putc('\n', to);
		}
	}
	return n_names;
}

int64_t ktr__process_code_keep(struct ktr__process_code *code, const struct ktr__tables *tables)
{
	char path[PATH_MAX], hidden[PATH_MAX + 8];
	int64_t n = 0;
	FILE *to;
	int fd, failed;

	for (uint32_t proc = 1; proc < tables->n_processes; proc++)
		if (tables->process[proc])
			code_look(code, tables, proc);
	for (uint32_t proc = 0; proc < code->n; proc++)
		n += code->process[proc] ? code->process[proc]->n : 0;
	if (!n || !code->where.folder)
		return 0;
	snprintf(path, sizeof(path), "%s/" KTR__CODE_FILE, code->where.folder);
	snprintf(hidden, sizeof(hidden), "%s/." KTR__CODE_FILE, code->where.folder);
	fd = open(hidden, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	to = fdopen(fd, "w");
	if (!to) {
		n = -errno;
		close(fd);
		unlink(hidden);
		return n;
	}
	n = code_write(code, to);
	failed = ferror(to);
	failed |= fclose(to);
	if (failed || rename(hidden, path)) {
		n = errno ? -errno : -EIO;
		unlink(hidden);
	}
	return n;
}

void ktr__process_code_free(struct ktr__process_code *code)
{
	for (uint32_t i = 0; i < code->n; i++)
		if (code->process[i]) {
			ktr__code_names_free(code->process[i]);
			free(code->process[i]);
		}
	free(code->process);
	*code = (struct ktr__process_code){ 0 };
}

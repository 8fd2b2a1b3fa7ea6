/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr kdump: FreeBSD's kdump(1), which prints what ktrace has recorded. */
#include "conf/kit/array.h"
#include "tools/bsd/kdump_calls.h"
#include "tools/bsd/kdump_lines.h"
#include "tools/bsd/trpoints.h"
#include "tools/command.h"
#include "tools/options.h"
#include "writer/ktrace/in.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define KDUMP_FILE  "ktrace.out"
#define KDUMP_WIDTH 80
#define KDUMP_WAIT_US 100000 /* between looks at a file that grows */

/* What PROCCTOR has said of a process. */
struct kdump_process {
	int32_t pid;
	uint32_t abi;
};

struct kdump {
	const char *command; /* argv[0] */
	const char *path;
	uint64_t pid;
	int follow;
	uint32_t records; /* which */
	struct kdump_lines lines;
	int strace, json;
	int said_32bit;
	struct kdump_calls calls; /* of these */
	struct kdump_process *process; /* owned; sorted by nothing: there are few */
	uint32_t n, room;
	struct ktr__ktrace_in in;
};

static const struct option_row kdump_rows[] = {
	OPTION_FLAG('A', "abi", struct kdump, lines.format.abi, "the ABI of the process: L64, L32, F64"),
	OPTION_FLAG('c', "cpu", struct kdump, lines.format.cpu, "the CPU, -1 where it is not known"),
	OPTION_FLAG('d', "decimal", struct kdump, lines.format.decimal, "numbers in decimal"),
	OPTION_BITS('E', "elapsed", struct kdump, lines.format.times, KDUMP_ELAPSED, "the time since the first line"),
	OPTION_TEXT('f', "file", "FILE", struct kdump, path, "read FILE (ktrace.out); -: standard input"),
	OPTION_FLAG('H', "thread", struct kdump, lines.format.threads, "the thread's id"),
	OPTION_FLAG(0, "json", struct kdump, json, "an object of JSON a line: calls with all they have, signals"),
	OPTION_FLAG('l', "live", struct kdump, follow, "go on with what comes"),
	OPTION_NUMBER('m', "max-data", "BYTES", struct kdump, lines.format.max_data, 0, INT_MAX, "at most so much of each i/o"),
	OPTION_FLAG('n', "plain", struct kdump, lines.format.plain, "numbers instead of names"),
	OPTION_NUMBER('p', "pid", "PID", struct kdump, pid, 1, INT_MAX, "a process or a thread alone"),
	OPTION_BITS('R', "relative", struct kdump, lines.format.times, KDUMP_RELATIVE, "the time since the line before"),
	OPTION_FLAG('r', "resolve", struct kdump, lines.format.resolve, "names of users, dates and modes of files"),
	OPTION_FLAG('S', "call-number", struct kdump, lines.format.call_number, "the call's number behind its name"),
	OPTION_FLAG('s', "no-data", struct kdump, lines.format.no_data, "no data of i/o"),
	OPTION_FLAG(0, "strace", struct kdump, strace, "the lines of strace -f -ttt -T"),
	OPTION_BITS('T', "timestamp", struct kdump, lines.format.times, KDUMP_ABSOLUTE, "the time since 1970"),
	OPTION_TAKE('t', "trace", "TRSTR", struct kdump, records, trpoints_take,
		    "which: calls, names (paths), i/o, signals, structures t, ..."),
};

static const struct options kdump_options = {
	.operands = "",
	.about = "Prints what `ktr ktrace` or FreeBSD's ktrace(1) has recorded, as FreeBSD's kdump(1) does.",
	.examples = "ktr kdump\n"
		    "ktr kdump -HT -t cn            calls and paths, with threads and times\n"
		    "ktr kdump -s -p 4711 -f FILE   one process, without its data\n"
		    "ktr kdump --strace             for tools that read strace's lines\n",
	OPTIONS_ROWS(kdump_rows),
};

/* ---- processes ---- */

static struct kdump_process *kdump_process(struct kdump *dump, int32_t pid)
{
	for (uint32_t i = 0; i < dump->n; i++)
		if (dump->process[i].pid == pid)
			return &dump->process[i];
	return NULL;
}

/* Is the record one of those that say what a process is, and are not printed? */
static int kdump_is_process(struct kdump *dump, const struct ktr__ktrace_record *record)
{
	struct kdump_process *process = kdump_process(dump, record->header.pid);

	if (record->header.type == KTR__KTRACE_PROCDTOR) {
		if (process)
			*process = dump->process[--dump->n];
		return 1;
	}
	if (record->header.type != KTR__KTRACE_PROCCTOR)
		return 0;
	if (!process && ktr__array_grow(&dump->process, &dump->room, dump->n, sizeof(*process)) == 0)
		process = &dump->process[dump->n++];
	if (process && (size_t)record->header.len >= sizeof(process->abi)) {
		process->pid = record->header.pid;
		memcpy(&process->abi, record->data, sizeof(process->abi));
	}
	return 1;
}

/* ---- records ---- */

static int kdump_is_wanted(const struct kdump *dump, const struct ktr__ktrace_header *header)
{
	return !dump->pid || header->pid == (int64_t)dump->pid || header->tid == (int64_t)dump->pid;
}

static void kdump_invalid(struct kdump *dump, const struct ktr__ktrace_record *record)
{
	ktr_error_at_offset(&dump->in.error, dump->path, record->offset, EINVAL,
			    "a record of type %u cannot have %d bytes like these", record->header.type, record->header.len);
}

/* Their calls are numbers: said once. */
static void kdump_says_32bit(struct kdump *dump, const struct ktr__ktrace_record *record)
{
	uint32_t abi;

	if (dump->said_32bit || record->header.type != KTR__KTRACE_PROCCTOR ||
	    (size_t)record->header.len < sizeof(abi))
		return;
	memcpy(&abi, record->data, sizeof(abi));
	if ((abi & KTR__KTRACE_ABI_MASK) != KTR__KTRACE_ABI_LINUX || !(abi & KTR__KTRACE_ILP32))
		return;
	dump->said_32bit = 1;
	fflush(dump->lines.format.out);
	fprintf(stderr, "%s: process %d is a 32-bit program: its calls are shown by their numbers\n", dump->command,
		record->header.pid);
}

/* --strace, --json. */
static void kdump_view(struct kdump *dump, const struct ktr__ktrace_record *record)
{
	struct kdump_process *process = kdump_process(dump, record->header.pid);
	int rc = 0;

	if (kdump_is_wanted(dump, &record->header))
		rc = kdump_calls_record(&dump->calls, record, process ? process->abi : 0);
	if (rc == -EINVAL)
		kdump_invalid(dump, record);
	kdump_is_process(dump, record);
}

static void kdump_record(struct kdump *dump, const struct ktr__ktrace_record *record)
{
	const struct ktr__ktrace_header *header = &record->header;
	struct kdump_process *process;

	kdump_says_32bit(dump, record);
	if (dump->calls.view) {
		kdump_view(dump, record);
		return;
	}
	if (record->dropped)
		kdump_line_dropped(&dump->lines, record);
	if (kdump_is_process(dump, record))
		return;
	if (!kdump_is_wanted(dump, header))
		return;
	if (dump->records != TRPOINTS_ALL && (header->type >= 32 || !(dump->records >> header->type & 1)))
		return;
	process = kdump_process(dump, header->pid);
	if (kdump_line(&dump->lines, record, process ? process->abi : 0))
		kdump_invalid(dump, record);
}

/* 0; 1 after a complaint. */
static int kdump_all(struct kdump *dump)
{
	struct ktr__ktrace_record record;
	int rc;

	for (;;) {
		/* Nobody reads on, or the disk is full: main() says which. */
		if (ferror(dump->lines.format.out))
			return 1;
		rc = ktr__ktrace_in_next(&dump->in, &record);
		if (rc < 0)
			return fail(dump->command, "%s: %s", dump->path, strerror(-rc));
		if (rc > 0) {
			kdump_record(dump, &record);
			continue;
		}
		fflush(dump->lines.format.out);
		if (!dump->follow)
			break;
		usleep(KDUMP_WAIT_US);
	}
	ktr__ktrace_in_end(&dump->in);
	if (dump->calls.view)
		kdump_calls_finish(&dump->calls);
	return dump->in.error.code ? fail_with(dump->command, &dump->in.error) : 0;
}

static int kdump_width(const struct kdump *dump)
{
	struct winsize size;

	if (!dump->lines.format.plain && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 8)
		return size.ws_col;
	return KDUMP_WIDTH;
}

static int cmd_kdump(int argc, char **argv)
{
	struct kdump dump = { .command = argv[0], .path = KDUMP_FILE, .records = TRPOINTS_ALL };
	int rc, fd;

	if (!options_parse(&kdump_options, argc, argv, &dump, &rc))
		return rc;
	rc = operands_at_most(argv[0], argc, argv, 0);
	if (rc)
		return rc;
	if (dump.strace && dump.json)
		return usage_error(argv[0], "only one of --strace and --json");
	fd = strcmp(dump.path, "-") == 0 ? STDIN_FILENO : open(dump.path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(argv[0], "%s: %s", dump.path, strerror(errno));
	dump.lines.format.out = stdout;
	dump.lines.format.width = kdump_width(&dump);
	if (ktr__ktrace_in_init(&dump.in, fd, dump.path))
		return fail(argv[0], "%s", strerror(ENOMEM));
	dump.in.follow = dump.follow;
	dump.calls.view = dump.strace ? &kdump_strace : dump.json ? &kdump_json : NULL;
	dump.calls.out = stdout;
	dump.calls.max_data = dump.lines.format.max_data ? dump.lines.format.max_data : KDUMP_CALLS_DATA;
	if (dump.lines.format.no_data)
		dump.calls.max_data = 0;
	rc = kdump_all(&dump);
	kdump_calls_free(&dump.calls);
	ktr__ktrace_in_free(&dump.in);
	free(dump.process);
	return rc;
}

COMMAND_ALONE(kdump, "kdump", "print what ktrace has recorded, as FreeBSD's kdump does", cmd_kdump);

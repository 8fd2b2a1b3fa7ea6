/* SPDX-License-Identifier: BSD-2-Clause */
/* What strace -c counts, and more: percentiles, bytes, files and peers, descriptors, the longest calls, errors. */
#include "tools/report/report_syscalls.h"

#include "analyze/print/sink_json.h"
#include "analyze/stats/syscalls.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "visualize/model/label.h"

#include <inttypes.h>
#include <string.h>

static const struct ktr__syscall *syscalls_call(const struct ktr__syscalls *s, unsigned i)
{
	return (const void *)s->calls.row[i];
}

static const struct ktr__syscall_object *syscalls_object(const struct ktr__keyed *keyed, unsigned i)
{
	return (const void *)keyed->row[i];
}

static const struct ktr__syscall_error *syscalls_error(const struct ktr__syscalls *s, unsigned i)
{
	return (const void *)s->errors.row[i];
}

/* ---- text ---- */

static void syscalls_quantile(FILE *to, const struct ktr__histogram *h, double share)
{
	uint64_t ns;

	if (ktr__histogram_tell(h, share, &ns))
		report_text_duration(to, (double)ns);
	else
		fprintf(to, " %9s", "-");
}

/* A text at the end of a line. */
static void syscalls_on(FILE *to, const char *on)
{
	char clean[4 * KTR__SYSCALLS_ON];

	ktr__label_clean(clean, sizeof(clean), on, strlen(on));
	fprintf(to, "  %s", clean);
}

static uint64_t syscalls_call_rank(const struct report *report, unsigned i)
{
	return syscalls_call(report->syscalls, i)->total_ns + 1;
}

static void syscalls_call_line(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__syscall *call = syscalls_call(report->syscalls, i);
	const struct ktr__histogram *h = &call->durations;

	report_text_name(to, call->name, strlen(call->name));
	report_text_count(to, h->n, 9);
	report_text_count(to, call->n_errors, 8);
	report_text_duration(to, (double)call->total_ns);
	report_text_duration(to, h->mean);
	syscalls_quantile(to, h, 0.5);
	syscalls_quantile(to, h, 0.99);
	report_text_duration(to, h->n ? (double)h->max : 0);
	report_text_count(to, call->bytes, 12);
	if (call->n_restarts)
		fprintf(to, "  %" PRIu64 " to be made again", call->n_restarts);
	if (call->n_unknown)
		fprintf(to, "  and %" PRIu64 " of unknown length", call->n_unknown);
	fputc('\n', to);
}

static void syscalls_object_cells(const struct ktr__syscall_object *object, FILE *to)
{
	report_text_count(to, object->n, 9);
	report_text_count(to, object->n_errors, 8);
	report_text_duration(to, (double)object->total_ns);
	report_text_duration(to, (double)object->max_ns);
	report_text_count(to, object->bytes_read, 12);
	report_text_count(to, object->bytes_written, 12);
}

static uint64_t syscalls_object_rank(const struct report *report, unsigned i)
{
	return syscalls_object(&report->syscalls->objects, i)->total_ns + 1;
}

static void syscalls_object_line(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__syscall_object *object = syscalls_object(&report->syscalls->objects, i);

	report_text_name(to, object->on, strlen(object->on));
	syscalls_object_cells(object, to);
	fputc('\n', to);
}

static uint64_t syscalls_descriptor_rank(const struct report *report, unsigned i)
{
	return syscalls_object(&report->syscalls->descriptors, i)->total_ns + 1;
}

static void syscalls_descriptor_line(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__syscall_object *object = syscalls_object(&report->syscalls->descriptors, i);
	char name[64];

	if (object->fd < 0)
		snprintf(name, sizeof(name), "(others)");
	else
		snprintf(name, sizeof(name), "%u fd %d", object->thread->pid, object->fd);
	report_text_name(to, name, strlen(name));
	syscalls_object_cells(object, to);
	syscalls_on(to, object->on);
	fputc('\n', to);
}

static uint64_t syscalls_slow_rank(const struct report *report, unsigned i)
{
	return report->syscalls->slow[i].ns + 1;
}

static void syscalls_slow_line(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__syscall_slow *slow = &report->syscalls->slow[i];

	report_text_name(to, slow->name, strlen(slow->name));
	report_text_duration(to, (double)slow->ns);
	report_text_duration(to, (double)(slow->from_ns - report->info->first_ns));
	fprintf(to, " %8u", slow->thread->tid);
	syscalls_on(to, slow->on);
	fputc('\n', to);
}

static uint64_t syscalls_error_rank(const struct report *report, unsigned i)
{
	return syscalls_error(report->syscalls, i)->n;
}

static void syscalls_error_line(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__syscall_error *error = syscalls_error(report->syscalls, i);
	char name[64];

	snprintf(name, sizeof(name), "%s %s", error->name, error->error);
	report_text_name(to, name, strlen(name));
	report_text_count(to, error->n, 9);
	if (error->on[0])
		syscalls_on(to, error->on);
	fputc('\n', to);
}

void report_syscalls_text(const struct report *report, FILE *to)
{
	static const struct report_table calls = {
		"system call", "    calls  errors     total      mean       p50       p99       max        bytes",
		"calls", syscalls_call_rank, syscalls_call_line
	};
	static const struct report_table objects = {
		"file or peer", "    calls  errors     total       max        read     written", "files and peers",
		syscalls_object_rank, syscalls_object_line
	};
	static const struct report_table descriptors = {
		"descriptor", "    calls  errors     total       max        read     written  is", "descriptors",
		syscalls_descriptor_rank, syscalls_descriptor_line
	};
	static const struct report_table slow = { "slowest", "      took        at   thread  on", "calls",
						  syscalls_slow_rank, syscalls_slow_line };
	static const struct report_table errors = { "error", "    calls  first on", "errors", syscalls_error_rank,
						    syscalls_error_line };
	const struct ktr__syscalls *s = report->syscalls;

	if (!s->calls.n) {
		fputs("\nno system call: ktr ktrace -o TRACE PROGRAM\n", to);
		return;
	}
	report_table(report, to, &calls, (unsigned)s->calls.n);
	report_table(report, to, &objects, (unsigned)s->objects.n);
	report_table(report, to, &descriptors, (unsigned)s->descriptors.n);
	report_table(report, to, &slow, s->n_slow);
	report_table(report, to, &errors, (unsigned)s->errors.n);
}

/* ---- JSON ---- */

static json_t *syscalls_json_text(const char *text)
{
	return ktr__jansson_text(text, strlen(text));
}

static json_t *syscalls_json_call(const void *of, unsigned i, double *rank)
{
	const struct ktr__syscall *call = syscalls_call(of, i);
	const struct ktr__histogram *h = &call->durations;
	uint64_t p50 = 0, p99 = 0;

	*rank = (double)call->total_ns;
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o*, s:o*, s:o*, s:o*, s:o, s:o}", "name",
			 syscalls_json_text(call->name), "calls", ktr__jansson_u64(h->n), "errors",
			 ktr__jansson_u64(call->n_errors), "restarts", ktr__jansson_u64(call->n_restarts),
			 "total_ns", ktr__jansson_u64(call->total_ns), "mean_ns", h->n ? json_real(h->mean) : NULL,
			 "p50_ns", ktr__histogram_tell(h, 0.5, &p50) ? ktr__jansson_u64(p50) : NULL, "p99_ns",
			 ktr__histogram_tell(h, 0.99, &p99) ? ktr__jansson_u64(p99) : NULL, "max_ns",
			 h->n ? ktr__jansson_u64(h->max) : NULL, "bytes", ktr__jansson_u64(call->bytes), "unknown",
			 ktr__jansson_u64(call->n_unknown));
}

static json_t *syscalls_json_object(const void *of, unsigned i, double *rank)
{
	const struct ktr__syscall_object *o = syscalls_object(of, i);

	*rank = (double)o->total_ns;
	return json_pack("{s:o, s:o*, s:o*, s:o, s:o, s:o, s:o, s:o, s:o}", "on", syscalls_json_text(o->on), "pid",
			 o->fd < 0 ? NULL : json_integer(o->thread->pid), "fd",
			 o->fd < 0 ? NULL : json_integer(o->fd), "calls", ktr__jansson_u64(o->n), "errors",
			 ktr__jansson_u64(o->n_errors), "total_ns", ktr__jansson_u64(o->total_ns), "max_ns",
			 ktr__jansson_u64(o->max_ns), "bytes_read", ktr__jansson_u64(o->bytes_read),
			 "bytes_written", ktr__jansson_u64(o->bytes_written));
}

static json_t *syscalls_json_slow(const void *of, unsigned i, double *rank)
{
	const struct ktr__syscall_slow *slow = &((const struct ktr__syscalls *)of)->slow[i];

	*rank = (double)slow->ns;
	return json_pack("{s:o, s:o, s:o, s:I, s:o}", "name", syscalls_json_text(slow->name), "ns",
			 ktr__jansson_u64(slow->ns), "from_ns", ktr__jansson_u64(slow->from_ns), "tid",
			 (json_int_t)slow->thread->tid, "on", syscalls_json_text(slow->on));
}

static json_t *syscalls_json_error(const void *of, unsigned i, double *rank)
{
	const struct ktr__syscall_error *error = syscalls_error(of, i);

	*rank = (double)error->n;
	return json_pack("{s:o, s:o, s:o, s:o}", "name", syscalls_json_text(error->name), "error",
			 syscalls_json_text(error->error), "calls", ktr__jansson_u64(error->n), "on",
			 syscalls_json_text(error->on));
}

json_t *report_syscalls_json(const struct report *report)
{
	const struct ktr__syscalls *s = report->syscalls;

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "calls",
			 report_json_list(s, (unsigned)s->calls.n, syscalls_json_call), "files",
			 report_json_list(&s->objects, (unsigned)s->objects.n, syscalls_json_object), "descriptors",
			 report_json_list(&s->descriptors, (unsigned)s->descriptors.n, syscalls_json_object),
			 "slowest", report_json_list(s, s->n_slow, syscalls_json_slow), "errors",
			 report_json_list(s, (unsigned)s->errors.n, syscalls_json_error));
}

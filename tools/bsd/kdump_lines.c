/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FreeBSD's lines, for its own files and for those of `ktr ktrace`. Errors and signals are FreeBSD's numbers in
 * both; the number that is printed of an error is that of the process's system, the text is this system's.
 */
#include "tools/bsd/kdump_lines.h"

#include "ktr/provider/syscall/calls.h"
#include "tools/bsd/kdump_args.h"
#include "tools/bsd/kdump_data.h"
#include "tools/bsd/kdump_names.h"
#include "tools/bsd/kdump_struct.h"
#include "tools/bsd/kdump_text.h"
#include "writer/ktrace/freebsd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define KDUMP_NS 1000000000

/* ---- before the record ---- */

static void kdump_line_who(const struct kdump_format *format, const struct ktr__ktrace_header *header)
{
	size_t n = strnlen(header->comm, sizeof(header->comm) - 1);

	fprintf(format->out, "%6d ", header->pid);
	if (format->threads)
		fprintf(format->out, "%6d ", header->tid > 0 ? (int)header->tid : 0);
	kdump_text(format->out, header->comm, n);
	fprintf(format->out, "%*s ", n < 8 ? (int)(8 - n) : 0, "");
}

static void kdump_line_time(const struct kdump_format *format, int version, int64_t ns)
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (version)
		fprintf(format->out, "%s%" PRIu64 ".%09" PRIu64 " ", sign, size / KDUMP_NS, size % KDUMP_NS);
	else
		fprintf(format->out, "%s%" PRIu64 ".%06" PRIu64 " ", sign, size / KDUMP_NS, size % KDUMP_NS / 1000);
}

static void kdump_line_times(struct kdump_lines *lines, const struct ktr__ktrace_header *header)
{
	/* Of a damaged record it may be anything. */
	int64_t ns = (int64_t)((uint64_t)header->sec * KDUMP_NS +
			       (uint64_t)header->fraction * (header->version ? 1 : 1000));

	if (!lines->any)
		lines->first_ns = lines->last_ns = ns;
	if (lines->format.times & KDUMP_ABSOLUTE)
		fprintf(lines->format.out,
			header->version ? "%" PRId64 ".%09" PRId64 " " : "%" PRId64 ".%06" PRId64 " ", header->sec,
			header->fraction);
	if (lines->format.times & KDUMP_ELAPSED)
		kdump_line_time(&lines->format, header->version,
				(int64_t)((uint64_t)ns - (uint64_t)lines->first_ns));
	if (lines->format.times & KDUMP_RELATIVE)
		kdump_line_time(&lines->format, header->version,
				(int64_t)((uint64_t)ns - (uint64_t)lines->last_ns));
	lines->last_ns = ns;
	lines->any = 1;
}

static void kdump_line_abi(const struct kdump_format *format, uint32_t abi)
{
	unsigned system = abi & KTR__KTRACE_ABI_MASK;

	fprintf(format->out, "%c%s  ", system == KTR__KTRACE_ABI_LINUX ? 'L' : system == KTR__KTRACE_ABI_FREEBSD ? 'F' : 'U',
		abi & KTR__KTRACE_LP64 ? "64" : abi & KTR__KTRACE_ILP32 ? "32" : "00");
}

static const char *kdump_line_type(unsigned type, char text[32])
{
	static const char *const names[] = {
		[KTR__KTRACE_SYSCALL] = "CALL", [KTR__KTRACE_SYSRET] = "RET ", [KTR__KTRACE_NAMEI] = "NAMI",
		[KTR__KTRACE_GENIO] = "GIO ", [KTR__KTRACE_PSIG] = "PSIG", [KTR__KTRACE_CSW] = "CSW ",
		[KTR__KTRACE_USER] = "USER", [KTR__KTRACE_STRUCT] = "STRU", [KTR__KTRACE_STRUCT_ARRAY] = "STRU",
		[KTR__KTRACE_SYSCTL] = "SCTL", [KTR__KTRACE_CAPFAIL] = "CAP ", [KTR__KTRACE_FAULT] = "PFLT",
		[KTR__KTRACE_FAULTEND] = "PRET",
	};

	if (type < sizeof(names) / sizeof(names[0]) && names[type])
		return names[type];
	snprintf(text, 32, "UNKNOWN(%u)", type);
	return text;
}

void kdump_line_dropped(struct kdump_lines *lines, const struct ktr__ktrace_record *record)
{
	if (lines->said_dropped)
		return;
	lines->said_dropped = 1;
	kdump_line_who(&lines->format, &record->header);
	fputs("Events dropped.\n", lines->format.out);
}

/* ---- calls ---- */

static const struct ktr__call *kdump_line_call(uint32_t abi, int code)
{
	if ((abi & KTR__KTRACE_ABI_MASK) != KTR__KTRACE_ABI_LINUX || !(abi & KTR__KTRACE_LP64))
		return NULL;
	return ktr__call_find(ktr__machine_own(), (uint64_t)code);
}

static const struct ktr__call *kdump_line_name(const struct kdump_format *format, uint32_t abi, int code)
{
	const struct ktr__call *call = kdump_line_call(abi, code);

	if (!call)
		fprintf(format->out, "[%d]", code);
	else if (format->call_number)
		fprintf(format->out, "%s[%d]", call->name, code);
	else
		fputs(call->name, format->out);
	return call;
}

static int kdump_line_syscall(const struct kdump_format *format, const struct ktr__ktrace_record *record,
			      uint32_t abi)
{
	const struct ktr__ktrace_syscall *record_call = record->data;
	size_t n = (size_t)record->header.len;
	const struct ktr__call *call;

	if (n < sizeof(*record_call) || record_call->n_args < 0 ||
	    n - sizeof(*record_call) != (size_t)record_call->n_args * sizeof(record_call->args[0]))
		return -EINVAL;
	call = kdump_line_name(format, abi, record_call->code);
	kdump_args(format, call, record_call->args, (unsigned)record_call->n_args);
	fputc('\n', format->out);
	return 0;
}

static void kdump_line_error(const struct kdump_format *format, int error, uint32_t abi)
{
	int own = ktr__freebsd_errno_back(error);
	int shown = (abi & KTR__KTRACE_ABI_MASK) == KTR__KTRACE_ABI_LINUX && own ? own : error;

	fprintf(format->out, "-1 errno %d", shown);
	if (!format->plain && own)
		fprintf(format->out, " %s", strerror(own));
	else if (!format->plain)
		fprintf(format->out, " Unknown error: %d", error);
}

static int kdump_line_sysret(const struct kdump_format *format, const struct ktr__ktrace_record *record,
			     uint32_t abi)
{
	const struct ktr__ktrace_sysret *ret = record->data;

	if (record->header.len != sizeof(*ret))
		return -EINVAL;
	kdump_line_name(format, abi, ret->code);
	fputc(' ', format->out);
	if (ret->error == KTR__KTRACE_ERESTART)
		fputs("RESTART", format->out);
	else if (ret->error == KTR__KTRACE_EJUSTRETURN)
		fputs("JUSTRETURN", format->out);
	else if (ret->error)
		kdump_line_error(format, ret->error, abi);
	else if (format->plain && !format->decimal)
		fprintf(format->out, "%#" PRIx64, ret->value);
	else
		fprintf(format->out, "%" PRId64, ret->value);
	if (!ret->error && !format->plain && (ret->value < 0 || ret->value > 9))
		fprintf(format->out, "/%#" PRIx64, ret->value);
	fputc('\n', format->out);
	return 0;
}

/* ---- the others ---- */

static int kdump_line_namei(const struct kdump_format *format, const struct ktr__ktrace_record *record,
			    uint32_t abi)
{
	(void)abi;
	fputc('"', format->out);
	kdump_text(format->out, record->data, (size_t)record->header.len);
	fputs("\"\n", format->out);
	return 0;
}

static int kdump_line_genio(const struct kdump_format *format, const struct ktr__ktrace_record *record,
			    uint32_t abi)
{
	const struct ktr__ktrace_genio *io = record->data;
	size_t n = (size_t)record->header.len - sizeof(*io);

	(void)abi;
	if ((size_t)record->header.len < sizeof(*io))
		return -EINVAL;
	fprintf(format->out, "fd %d %s %zu byte%s\n", io->fd, io->rw == 0 ? "read" : "wrote", n, n == 1 ? "" : "s");
	if (!format->no_data)
		kdump_data(format, io->data, format->max_data && n > format->max_data ? format->max_data : n);
	return 0;
}

static const struct kdump_name kdump_line_codes[] = {
	{ 0, "SI_NOINFO" }, { 0x10001, "SI_USER" }, { 0x10002, "SI_QUEUE" }, { 0x10003, "SI_TIMER" },
	{ 0x10004, "SI_ASYNCIO" }, { 0x10005, "SI_MESGQ" }, { 0x10006, "SI_KERNEL" }, { 0x10007, "SI_LWP" },
	{ 0, NULL },
};

/* Codes that a signal has of its own: FreeBSD's signal << 8 | FreeBSD's code. */
static const struct kdump_name kdump_line_own_codes[] = {
	{ 4 << 8 | 1, "ILL_ILLOPC" }, { 4 << 8 | 2, "ILL_ILLOPN" }, { 4 << 8 | 3, "ILL_ILLADR" },
	{ 4 << 8 | 4, "ILL_ILLTRP" }, { 4 << 8 | 5, "ILL_PRVOPC" }, { 4 << 8 | 6, "ILL_PRVREG" },
	{ 4 << 8 | 7, "ILL_COPROC" }, { 4 << 8 | 8, "ILL_BADSTK" }, { 5 << 8 | 1, "TRAP_BRKPT" },
	{ 5 << 8 | 2, "TRAP_TRACE" }, { 8 << 8 | 1, "FPE_INTOVF" }, { 8 << 8 | 2, "FPE_INTDIV" },
	{ 8 << 8 | 3, "FPE_FLTDIV" }, { 8 << 8 | 4, "FPE_FLTOVF" }, { 8 << 8 | 5, "FPE_FLTUND" },
	{ 8 << 8 | 6, "FPE_FLTRES" }, { 8 << 8 | 7, "FPE_FLTINV" }, { 8 << 8 | 8, "FPE_FLTSUB" },
	{ 10 << 8 | 1, "BUS_ADRALN" }, { 10 << 8 | 2, "BUS_ADRERR" }, { 10 << 8 | 3, "BUS_OBJERR" },
	{ 11 << 8 | 1, "SEGV_MAPERR" }, { 11 << 8 | 2, "SEGV_ACCERR" }, { 11 << 8 | 100, "SEGV_PKUERR" },
	{ 20 << 8 | 1, "CLD_EXITED" }, { 20 << 8 | 2, "CLD_KILLED" }, { 20 << 8 | 3, "CLD_DUMPED" },
	{ 20 << 8 | 4, "CLD_TRAPPED" }, { 20 << 8 | 5, "CLD_STOPPED" }, { 20 << 8 | 6, "CLD_CONTINUED" },
	{ 23 << 8 | 1, "POLL_IN" }, { 23 << 8 | 2, "POLL_OUT" }, { 23 << 8 | 3, "POLL_MSG" },
	{ 23 << 8 | 4, "POLL_ERR" }, { 23 << 8 | 5, "POLL_PRI" }, { 23 << 8 | 6, "POLL_HUP" },
	{ 0, NULL },
};

const char *kdump_line_code_name(const struct ktr__ktrace_psig *signal)
{
	const char *name = kdump_names_find(kdump_line_codes, (uint32_t)signal->code);

	if (!name && signal->code > 0 && signal->code < 256)
		name = kdump_names_find(kdump_line_own_codes,
					(uint64_t)(uint32_t)signal->signo << 8 | (uint32_t)signal->code);
	return name;
}

static void kdump_line_code(FILE *out, const struct ktr__ktrace_psig *signal)
{
	const char *name = kdump_line_code_name(signal);

	if (name)
		fprintf(out, " code=%s\n", name);
	else
		fprintf(out, " code=<invalid=%#x>\n", (unsigned)signal->code);
}

static int kdump_line_psig(const struct kdump_format *format, const struct ktr__ktrace_record *record, uint32_t abi)
{
	const struct ktr__ktrace_psig *signal = record->data;
	char text[32];

	(void)abi;
	if (record->header.len != sizeof(*signal))
		return -EINVAL;
	if (kdump_names_signal(ktr__freebsd_signal_back(signal->signo), text))
		fputs(text, format->out);
	else
		fprintf(format->out, "SIG %d", signal->signo);
	if (signal->action)
		fprintf(format->out, " caught handler=0x%" PRIx64 " mask=0x%x", signal->action, signal->mask[0]);
	else
		fputs(" SIG_DFL", format->out);
	kdump_line_code(format->out, signal);
	return 0;
}

/* An older form has no message. */
static int kdump_line_csw(const struct kdump_format *format, const struct ktr__ktrace_record *record, uint32_t abi)
{
	const struct ktr__ktrace_csw *csw = record->data;
	size_t n = (size_t)record->header.len;

	(void)abi;
	if (n != sizeof(*csw) && n != offsetof(struct ktr__ktrace_csw, wmesg))
		return -EINVAL;
	fprintf(format->out, "%s %s", csw->out ? "stop" : "resume", csw->user ? "user" : "kernel");
	if (n == sizeof(*csw)) {
		fputs(" \"", format->out);
		kdump_text(format->out, csw->wmesg, strnlen(csw->wmesg, sizeof(csw->wmesg)));
		fputc('"', format->out);
	}
	fputc('\n', format->out);
	return 0;
}

static int kdump_line_user(const struct kdump_format *format, const struct ktr__ktrace_record *record, uint32_t abi)
{
	const uint8_t *bytes = record->data;

	(void)abi;
	fprintf(format->out, "%d ", record->header.len);
	for (int i = 0; i < record->header.len; i++)
		fprintf(format->out, format->decimal ? " %d" : " %02x", bytes[i]);
	fputc('\n', format->out);
	return 0;
}

static int kdump_line_struct(const struct kdump_format *format, const struct ktr__ktrace_record *record,
			     uint32_t abi)
{
	(void)abi;
	if (record->header.type == KTR__KTRACE_STRUCT)
		kdump_struct(format, record->data, (size_t)record->header.len);
	else
		kdump_struct_array(format, record->data, (size_t)record->header.len);
	return 0;
}

/* Rights are FreeBSD's, and Linux has none: of what they are about no names are printed. */
static int kdump_line_capfail(const struct kdump_format *format, const struct ktr__ktrace_record *record,
			      uint32_t abi)
{
	static const char *const what[] = { "operation requires rights that the descriptor lacks",
					    "attempt to increase capabilities", "disallowed system call",
					    "restricted VFS lookup" };
	uint32_t type;

	(void)abi;
	if ((size_t)record->header.len < sizeof(type))
		return -EINVAL;
	memcpy(&type, record->data, sizeof(type));
	fprintf(format->out, "%s\n", type < sizeof(what) / sizeof(what[0]) ? what[type] : "unknown capability failure");
	return 0;
}

static const struct kdump_name kdump_line_access_names[] = {
	{ 0, "VM_PROT_NONE" }, { 1, "VM_PROT_READ" }, { 2, "VM_PROT_WRITE" }, { 4, "VM_PROT_EXECUTE" }, { 0, NULL },
};
static const struct kdump_names kdump_line_access = { '-', KDUMP_NAMES_MASK, 0, kdump_line_access_names };

static int kdump_line_fault(const struct kdump_format *format, const struct ktr__ktrace_record *record,
			    uint32_t abi)
{
	const struct ktr__ktrace_fault *fault = record->data;

	(void)abi;
	if (record->header.len != sizeof(*fault))
		return -EINVAL;
	fprintf(format->out, "0x%" PRIx64 " ", fault->address);
	kdump_args_mask(format, &kdump_line_access, (uint32_t)fault->type);
	fputc('\n', format->out);
	return 0;
}

static int kdump_line_faultend(const struct kdump_format *format, const struct ktr__ktrace_record *record,
			       uint32_t abi)
{
	static const char *const results[] = { "KERN_SUCCESS", "KERN_INVALID_ADDRESS", "KERN_PROTECTION_FAILURE",
					       "KERN_NO_SPACE", "KERN_INVALID_ARGUMENT", "KERN_FAILURE",
					       "KERN_RESOURCE_SHORTAGE", "KERN_NOT_RECEIVER", "KERN_NO_ACCESS",
					       "KERN_OUT_OF_BOUNDS", "KERN_RESTART" };
	int32_t result;

	(void)abi;
	if (record->header.len != sizeof(result))
		return -EINVAL;
	memcpy(&result, record->data, sizeof(result));
	if (result >= 0 && (size_t)result < sizeof(results) / sizeof(results[0]))
		fprintf(format->out, "%s\n", results[result]);
	else
		fprintf(format->out, "<invalid=%d>\n", result);
	return 0;
}

static int (*const kdump_line_bodies[])(const struct kdump_format *format, const struct ktr__ktrace_record *record,
					uint32_t abi) = {
	[KTR__KTRACE_SYSCALL] = kdump_line_syscall, [KTR__KTRACE_SYSRET] = kdump_line_sysret,
	[KTR__KTRACE_NAMEI] = kdump_line_namei, [KTR__KTRACE_GENIO] = kdump_line_genio,
	[KTR__KTRACE_PSIG] = kdump_line_psig, [KTR__KTRACE_CSW] = kdump_line_csw,
	[KTR__KTRACE_USER] = kdump_line_user, [KTR__KTRACE_STRUCT] = kdump_line_struct,
	[KTR__KTRACE_SYSCTL] = kdump_line_namei, [KTR__KTRACE_CAPFAIL] = kdump_line_capfail,
	[KTR__KTRACE_FAULT] = kdump_line_fault, [KTR__KTRACE_FAULTEND] = kdump_line_faultend,
	[KTR__KTRACE_STRUCT_ARRAY] = kdump_line_struct,
};

int kdump_line(struct kdump_lines *lines, const struct ktr__ktrace_record *record, uint32_t abi)
{
	const struct kdump_format *format = &lines->format;
	const struct ktr__ktrace_header *header = &record->header;
	char text[32];
	int rc = 0;

	kdump_line_who(format, header);
	kdump_line_times(lines, header);
	if (format->cpu && header->version)
		fprintf(format->out, "%3d ", header->cpu);
	fprintf(format->out, "%s  ", kdump_line_type(header->type, text));
	if (format->abi)
		kdump_line_abi(format, abi);
	lines->said_dropped = 0;
	if (header->type >= sizeof(kdump_line_bodies) / sizeof(kdump_line_bodies[0]) ||
	    !kdump_line_bodies[header->type])
		fputc('\n', format->out);
	else
		rc = kdump_line_bodies[header->type](format, record, abi);
	if (rc)
		fputs("invalid record\n", format->out);
	return rc;
}

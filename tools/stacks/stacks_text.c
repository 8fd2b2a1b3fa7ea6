/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes out of other people's files and processes is shown so that it moves no cursor and ends no line. */
#include "tools/stacks/stacks_text.h"

#include "conf/kit/utf8.h"
#include "ktr/provider/syscall/calls.h"
#include "tools/bsd/call_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void text_put(FILE *to, const char *text)
{
	char clean[4 * 256];

	for (size_t n; *text; text += n) {
		n = strnlen(text, 256);
		fwrite(clean, 1, ktr__utf8_visible(clean, text, n), to);
	}
}

static const char *text_state(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "waiting, not to be interrupted,";
	case 'T':
		return "stopped";
	case 't':
		return "stopped by a tracer";
	case 'Z':
	case 'X':
		return "ended";
	default:
		return "idle";
	}
}

/* What a descriptor is: " <pipe:[4711]>". */
static void text_descriptor(FILE *to, const struct ktr__live_taken *thread, int fd)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", (int)thread->pid, (int)thread->tid, fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	fputs(" <", to);
	text_put(to, target);
	fputc('>', to);
}

/* The variable that an address is of: " <lock+0x8>". */
static void text_variable(FILE *to, struct ktr__live *live, uint64_t address)
{
	static struct ktr__live_name name;

	if (address)
		ktr__live_name(live, address, 0, &name);
	if (!address || !name.symbol[0])
		return;
	fputs(" <", to);
	text_put(to, name.symbol);
	fprintf(to, name.offset ? "+0x%" PRIx64 ">" : ">", name.offset);
}

/* What it is in: from its registers, which are of the moment of its stack, or what /proc told before. */
static long text_call_of(const struct ktr__live_taken *thread, uint64_t args[KTR__CALL_ARGS])
{
#if defined(__x86_64__)
	const struct user_regs_struct *regs = &thread->stop.regs;
	const uint64_t of[KTR__CALL_ARGS] = { regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9 };

	if (!thread->code) {
		memcpy(args, of, sizeof(of));
		return (long)regs->orig_rax;
	}
#endif
	memcpy(args, thread->stop.wait.args, sizeof(thread->stop.wait.args));
	return thread->stop.wait.call;
}

static void text_call(FILE *to, struct ktr__live *live, const struct ktr__live_taken *thread)
{
	uint64_t args[KTR__CALL_ARGS];
	long number = text_call_of(thread, args);
	const struct ktr__call *call = number < 0 ? NULL : ktr__call_find(ktr__machine_own(), (uint64_t)number);
	char text[512];

	if (number < 0)
		return;
	if (!call) {
		fprintf(to, " in system call %ld", number);
		return;
	}
	fprintf(to, " in %s(", call->name);
	for (unsigned i = 0; i < call->n_args; i++) {
		struct ktr__call_arg arg;

		ktr__call_arg(call, i, &arg);
		call_text(call, args, i, text, sizeof(text));
		fputs(i ? ", " : "", to);
		text_put(to, text);
		if (arg.is_fd && (int)args[i] >= 0)
			text_descriptor(to, thread, (int)args[i]);
		else if (arg.kind == '*')
			text_variable(to, live, args[i]);
	}
	fputc(')', to);
}

static void text_frame(FILE *to, struct ktr__live *live, const struct ktr__live_frame *frame)
{
	static struct ktr__live_name name;

	ktr__live_name(live, frame->pc, frame->is_return, &name);
	fprintf(to, "    0x%016" PRIx64 "  ", frame->pc);
	text_put(to, name.symbol[0] ? name.symbol : "?");
	if (name.symbol[0])
		fprintf(to, "+0x%" PRIx64, name.offset);
	fputs("  ", to);
	text_put(to, name.object ? name.object : "?");
	if (name.object)
		fprintf(to, "+0x%" PRIx64, name.object_offset);
	if (name.file) {
		fputs("  ", to);
		text_put(to, name.file);
		fprintf(to, ":%d", name.line);
	}
	fputc('\n', to);
}

static const char *text_why_not(const struct ktr__live_taken *thread)
{
	switch (thread->code) {
	case EBUSY:
	case ETIMEDOUT:
		return "it does not stop, or its call would not be made again, before the kernel has done what it waits for";
	case ESRCH:
		return "it has no stack any more";
	case EPERM:
		return "another tracer has it, or the kernel forbids it";
	default:
		return strerror(thread->code);
	}
}

void stacks_text_what(FILE *to, struct ktr__live *live, const struct ktr__live_taken *thread)
{
	fputs(text_state(thread->state), to);
	text_call(to, live, thread);
	if (!thread->wchan[0])
		return;
	fputs(" [", to);
	text_put(to, thread->wchan);
	fputc(']', to);
}

void stacks_text(FILE *to, struct ktr__live *live, const struct ktr__live_taken *thread)
{
	static struct ktr__live_frame frame[KTR__LIVE_FRAMES];
	const char *why;
	unsigned n;

	fprintf(to, "%d (", (int)thread->tid);
	text_put(to, thread->name);
	fputs("): ", to);
	stacks_text_what(to, live, thread);
	fputc('\n', to);
	if (thread->code) {
		fprintf(to, "    no stack: %s\n", text_why_not(thread));
		return;
	}
	n = ktr__live_frames(live, &thread->live, frame, &why);
	for (unsigned i = 0; i < n; i++)
		text_frame(to, live, &frame[i]);
	if (why)
		fprintf(to, "    ... %s\n", why);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The notes' arguments: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation. A size in bytes,
 * negative for signed ones, an f for floats, and an operand of the assembler's, in its own order (AT&T):
 *
 *	-4@%edi		8@$-5		8@-16(%rbp)	2@4(%rax,%rcx,8)	8@counter+8(%rip)	8f@%xmm0
 *
 * Lists are parted by blanks.
 */
#include "ktr/provider/usdt/args.h"

#include "ktr/arch/ask.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define ARGS_PAGE 4096u /* [bytes] the smallest: parts of an area that is copied are there whole, or not at all */

struct args_register {
	char name[4][5]; /* of 8, 4, 2 and 1 byte */
	int8_t number;
};

static const struct args_register args_registers[] = {
	{ { "rax", "eax", "ax", "al" }, REG_RAX },     { { "rbx", "ebx", "bx", "bl" }, REG_RBX },
	{ { "rcx", "ecx", "cx", "cl" }, REG_RCX },     { { "rdx", "edx", "dx", "dl" }, REG_RDX },
	{ { "rsi", "esi", "si", "sil" }, REG_RSI },    { { "rdi", "edi", "di", "dil" }, REG_RDI },
	{ { "rbp", "ebp", "bp", "bpl" }, REG_RBP },    { { "rsp", "esp", "sp", "spl" }, REG_RSP },
	{ { "r8", "r8d", "r8w", "r8b" }, REG_R8 },     { { "r9", "r9d", "r9w", "r9b" }, REG_R9 },
	{ { "r10", "r10d", "r10w", "r10b" }, REG_R10 }, { { "r11", "r11d", "r11w", "r11b" }, REG_R11 },
	{ { "r12", "r12d", "r12w", "r12b" }, REG_R12 }, { { "r13", "r13d", "r13w", "r13b" }, REG_R13 },
	{ { "r14", "r14d", "r14w", "r14b" }, REG_R14 }, { { "r15", "r15d", "r15w", "r15b" }, REG_R15 },
	{ { "rip", "rip", "rip", "rip" }, REG_RIP },   { { "ah", "ah", "ah", "ah" }, REG_RAX },
	{ { "bh", "bh", "bh", "bh" }, REG_RBX },       { { "ch", "ch", "ch", "ch" }, REG_RCX },
	{ { "dh", "dh", "dh", "dh" }, REG_RDX },
};

/* %NAME: its number, or -1; *at comes to stand behind it. */
static int args_register(const char **at, uint8_t *shift)
{
	size_t n;

	if (**at != '%')
		return -1;
	++*at;
	n = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789");
	for (size_t i = 0; i < sizeof(args_registers) / sizeof(args_registers[0]); i++)
		for (int size = 0; size < 4; size++)
			if (strlen(args_registers[i].name[size]) == n &&
			    !memcmp(args_registers[i].name[size], *at, n)) {
				*at += n;
				*shift = at[0][-1] == 'h' ? 8 : 0;
				return args_registers[i].number;
			}
	return -1;
}

/* Digits, and no more than two: -1 where there are none. strtoul(3) would pass by blanks, and take a sign. */
static int args_small(const char **at)
{
	size_t n = strspn(*at, "0123456789");
	int number = 0;

	if (!n || n > 2)
		return -1;
	for (; n; n--)
		number = 10 * number + *(*at)++ - '0';
	return number;
}

static bool args_vector(struct ktr__usdt_arg *arg, const char **at)
{
	const char *digits = *at + 4;
	int number;

	if (strncmp(*at, "%xmm", 4) != 0 || (number = args_small(&digits)) < 0 || number > 15)
		return false;
	arg->where = KTR__USDT_VECTOR;
	arg->base = (int8_t)number;
	*at = digits;
	return true;
}

/* As an address is added to: it wraps round. */
static int64_t args_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* What is added to an address: a number, a symbol, or a symbol and a number, in any order. */
static bool args_offset(struct ktr__usdt_arg *arg, const char **at, ktr__usdt_symbol_fn *symbol, void *context,
			bool *is_symbol)
{
	while (**at && **at != '(' && **at != ' ') {
		const char *from = *at + (**at == '+');
		char *end;

		if ((*from >= '0' && *from <= '9') || *from == '-') {
			arg->value = args_sum(arg->value, strtoll(from, &end, 0));
			if (end == from)
				return false;
			*at = end;
		} else {
			size_t n = strcspn(from, "+-( ");
			uint64_t address = n && symbol ? symbol(context, from, n) : 0;

			if (!address)
				return false;
			arg->value = args_sum(arg->value, (int64_t)address);
			*is_symbol = true;
			*at = from + n;
		}
	}
	return true;
}

static bool args_memory(struct ktr__usdt_arg *arg, const char **at, ktr__usdt_symbol_fn *symbol, void *context)
{
	bool is_symbol = false;
	uint8_t shift;
	int scale;

	arg->where = KTR__USDT_MEMORY;
	if (!args_offset(arg, at, symbol, context, &is_symbol))
		return false;
	if (**at != '(')
		return is_symbol;
	++*at;
	if (**at == '%' && (arg->base = (int8_t)args_register(at, &shift)) < 0)
		return false;
	if (**at == ',') {
		++*at;
		if ((arg->index = (int8_t)args_register(at, &shift)) < 0)
			return false;
		if (**at == ',') {
			++*at;
			scale = args_small(at);
			if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
				return false;
			arg->scale = (uint8_t)scale;
		}
	}
	/* Symbols are addresses: what is added to %rip is the way to one. */
	if (arg->base == REG_RIP && is_symbol)
		arg->base = -1;
	if (**at != ')')
		return false;
	++*at;
	return true;
}

/* $5, $-5, $0x10. */
static bool args_constant(struct ktr__usdt_arg *arg, const char **at)
{
	const char *digits = *at + 1 + ((*at)[1] == '-');
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	arg->where = KTR__USDT_CONSTANT;
	arg->value = digits[-1] == '-' ? strtoll(*at + 1, &end, 0) : (int64_t)strtoull(digits, &end, 0);
	*at = end;
	return true;
}

/* Before the @: -4, 8, 8f. */
static bool args_size(struct ktr__usdt_arg *arg, const char **at)
{
	arg->is_signed = **at == '-';
	*at += arg->is_signed;
	if (!**at || !strchr("1248", **at))
		return false;
	arg->n_bytes = (uint8_t)(*(*at)++ - '0');
	arg->is_float = **at == 'f';
	*at += arg->is_float;
	return **at == '@' && (!arg->is_float || arg->n_bytes >= 4);
}

static bool args_one(struct ktr__usdt_arg *arg, const char **at, ktr__usdt_symbol_fn *symbol, void *context)
{
	bool ends;

	*arg = (struct ktr__usdt_arg){ .base = -1, .index = -1, .scale = 1 };
	if (!args_size(arg, at))
		return false;
	++*at;
	if (**at == '$') {
		ends = args_constant(arg, at);
	} else if (args_vector(arg, at)) {
		ends = true;
	} else if (**at == '%') {
		arg->where = KTR__USDT_REGISTER;
		arg->base = (int8_t)args_register(at, &arg->shift);
		ends = arg->base >= 0;
	} else {
		ends = args_memory(arg, at, symbol, context);
	}
	return ends && (!**at || **at == ' ');
}

unsigned ktr__usdt_args_parse(const char *text, struct ktr__usdt_arg *arg, unsigned max,
			      ktr__usdt_symbol_fn *symbol, void *context)
{
	unsigned n = 0;

	for (text += strspn(text, " "); *text && n < max; text += strspn(text, " "), n++) {
		if (!args_one(&arg[n], &text, symbol, context))
			arg[n] = (struct ktr__usdt_arg){ .where = KTR__USDT_UNKNOWN, .n_bytes = 8 };
		text += strcspn(text, " ");
	}
	return n;
}

/* ---- values ---- */

size_t ktr__usdt_copy(void *to, uint64_t from, size_t n)
{
	size_t first = ARGS_PAGE - from % ARGS_PAGE < n ? ARGS_PAGE - from % ARGS_PAGE : n;
	struct iovec local = { to, n };
	struct iovec remote[2] = { { (void *)(uintptr_t)from, first }, // NOLINT
				   { (void *)(uintptr_t)(from + first), n - first } }; // NOLINT
	long pid = ktr__ask(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long got = ktr__ask(SYS_process_vm_readv, pid, (long)(uintptr_t)&local, 1, (long)(uintptr_t)remote,
				 first < n ? 2 : 1, 0);

	return got > 0 ? (size_t)got : 0;
}

static uint64_t args_memory_value(const struct ktr__usdt_arg *arg, const greg_t *registers)
{
	uint64_t address = (uint64_t)arg->value, value = 0;

	if (arg->base >= 0)
		address += (uint64_t)registers[arg->base];
	if (arg->index >= 0)
		address += (uint64_t)registers[arg->index] * arg->scale;
	return ktr__usdt_copy(&value, address, arg->n_bytes) == arg->n_bytes ? value : 0;
}

uint64_t ktr__usdt_arg_value(const struct ktr__usdt_arg *arg, const ucontext_t *at)
{
	const greg_t *registers = at->uc_mcontext.gregs;
	unsigned unused = 64 - 8 * arg->n_bytes;
	uint64_t value = 0;
	double number;
	float single;

	if (arg->where == KTR__USDT_UNKNOWN)
		return 0;
	if (arg->where == KTR__USDT_CONSTANT)
		value = (uint64_t)arg->value;
	else if (arg->where == KTR__USDT_REGISTER)
		value = (uint64_t)registers[arg->base] >> arg->shift;
	else if (arg->where == KTR__USDT_VECTOR && at->uc_mcontext.fpregs)
		memcpy(&value, &at->uc_mcontext.fpregs->_xmm[arg->base], sizeof(value));
	else if (arg->where == KTR__USDT_MEMORY)
		value = args_memory_value(arg, registers);
	if (arg->is_float && arg->n_bytes == 4) {
		memcpy(&single, &value, sizeof(single));
		number = single;
		memcpy(&value, &number, sizeof(value));
		return value;
	}
	return arg->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

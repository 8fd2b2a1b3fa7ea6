/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of system calls, and for each machine where a number's row is. */
#include "ktr/provider/syscall/calls.h"

#include "ktr/provider/syscall/call_names.h"
#include "ktr/provider/syscall/call_rows.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define CALLS_MAX 512 /* numbers of a machine end below */

#define CALLS_ROW(call_name, x86_64, arm64, letters, data, structure)                                    \
	{ .name = #call_name, .args = letters, .number = { -1, x86_64, arm64 },                          \
	  .n_args = sizeof(letters) - 1, .io = KTR__IO_##data, .record = KTR__STRUCT_##structure },

static const struct ktr__call calls_rows[] = { KTR__CALL_ROWS(CALLS_ROW) };

#define CALLS_N (sizeof(calls_rows) / sizeof(calls_rows[0]))

#define CALLS_NAMES(call_name, text) text,

static const char *const calls_names[] = { KTR__CALL_NAMES(CALLS_NAMES) };

_Static_assert(sizeof(calls_names) / sizeof(calls_names[0]) == CALLS_N, "each call has names");

/* [number] row + 1; 0: unknown. */
static uint16_t calls_index[3][CALLS_MAX];

static void __attribute__((constructor)) calls_make(void)
{
	for (uint16_t i = 0; i < CALLS_N; i++)
		for (int machine = KTR__MACHINE_X86_64; machine <= KTR__MACHINE_ARM64; machine++)
			if (calls_rows[i].number[machine] >= 0 && calls_rows[i].number[machine] < CALLS_MAX)
				calls_index[machine][calls_rows[i].number[machine]] = i + 1;
}

const struct ktr__call *ktr__call_find(enum ktr__machine machine, uint64_t number)
{
	uint16_t at = number < CALLS_MAX ? calls_index[machine][number] : 0;

	return at ? &calls_rows[at - 1] : NULL;
}

static int calls_is_fd(const char *name)
{
	static const char *const others[] = { "fildes", "fd_in", "fd_out", "fdin", "fdout" };
	size_t n = strlen(name);

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i]) == 0)
			return 1;
	return n >= 2 && strcmp(name + n - 2, "fd") == 0 && strcmp(name, "max_fd") != 0;
}

void ktr__call_arg(const struct ktr__call *call, unsigned i, struct ktr__call_arg *arg)
{
	const char *at = calls_names[call - calls_rows];
	size_t n = strcspn(at, " ");

	while (i--) {
		at += n + (at[n] == ' ');
		n = strcspn(at, " ");
	}
	arg->kind = n && strchr("*-+^", at[n - 1]) ? at[n - 1] : '\0';
	snprintf(arg->name, sizeof(arg->name), "%.*s", (int)(n - (arg->kind != '\0')), at);
	arg->is_fd = !arg->kind && calls_is_fd(arg->name);
}

const struct ktr__call *ktr__call_row(unsigned i)
{
	return i < CALLS_N ? &calls_rows[i] : NULL;
}

enum ktr__machine ktr__machine_own(void)
{
#if defined(__x86_64__)
	return KTR__MACHINE_X86_64;
#elif defined(__aarch64__)
	return KTR__MACHINE_ARM64;
#else
	return KTR__MACHINE_NONE;
#endif
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a static probe's arguments are, as its note says in the assembler's words: -4@%edi 8@-16(%rbp) 8@$5. */
#ifndef KTR_USDT_ARGS_H
#define KTR_USDT_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

enum ktr__usdt_where {
	KTR__USDT_UNKNOWN,
	KTR__USDT_CONSTANT,
	KTR__USDT_REGISTER,
	KTR__USDT_VECTOR,
	KTR__USDT_MEMORY
};

struct ktr__usdt_arg {
	uint8_t where; /* enum ktr__usdt_where */
	uint8_t n_bytes; /* 1, 2, 4 or 8 */
	uint8_t is_signed;
	uint8_t is_float;
	uint8_t shift; /* [bits] of a register's part: 8 of %ah */
	uint8_t scale; /* of the index */
	int8_t base; /* register, as in mcontext_t, or -1; of a vector its number */
	int8_t index;
	int64_t value; /* a constant, or what is added to an address */
};

/* The address of a symbol in the process; 0: not known. */
typedef uint64_t ktr__usdt_symbol_fn(void *context, const char *name, size_t n);

/* Takes the first max arguments apart: how many there are, of which those that make no sense are UNKNOWN. */
unsigned ktr__usdt_args_parse(const char *text, struct ktr__usdt_arg *arg, unsigned max,
			      ktr__usdt_symbol_fn *symbol, void *context);

/*
 * An argument's value as 64 bits, of a float the bits of a double. What is not there is 0. Async-signal-safe; the
 * kernel copies memory, so that none has to be there.
 */
uint64_t ktr__usdt_arg_value(const struct ktr__usdt_arg *arg, const ucontext_t *at);

/* Memory of this process that may not be there: how many of n bytes, 4,096 at most. Async-signal-safe. */
size_t ktr__usdt_copy(void *to, uint64_t from, size_t n);

#endif

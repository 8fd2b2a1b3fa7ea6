/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call sites and the types of their arguments.
 *
 * Each CTR macro leaves one struct ktr_site in the program's data and its address in the section
 * ktr_sites. What a record need not repeat is here: file, line, function, format, class, argument
 * names and types. The library gives the site its index in the session when its module registers.
 */
#ifndef KTR_SITE_H
#define KTR_SITE_H

#include <ktr/class.h>
#include <ktr/entry.h>
#include <ktr/version.h>

/* X(name, C type as shown, width in bytes in a packed trace). 0 width: carried in the payload. */
#define KTR_ARG_LIST(X)                                                                          \
	X(NONE, "", 0)                                                                           \
	X(I8, "int8_t", 1)                                                                       \
	X(U8, "uint8_t", 1)                                                                      \
	X(I16, "int16_t", 2)                                                                     \
	X(U16, "uint16_t", 2)                                                                    \
	X(I32, "int32_t", 4)                                                                     \
	X(U32, "uint32_t", 4)                                                                    \
	X(I64, "int64_t", 8)                                                                     \
	X(U64, "uint64_t", 8)                                                                    \
	X(F64, "double", 8)                                                                      \
	X(PTR, "pointer", 8)                                                                     \
	X(STR, "string", 0)                                                                      \
	X(STACK, "stack", 0)

enum ktr_arg_type {
#define KTR__ARG_ENUM(name, text, width) KTR_ARG_##name,
	KTR_ARG_LIST(KTR__ARG_ENUM)
#undef KTR__ARG_ENUM
	KTR_ARG_TYPES
};

/* A string that %s prints is copied up to here; more is cut and marked. [bytes] */
#define KTR_STRING_MAX 512
#define KTR_STACK_MAX  128 /* frames */

/*
 * String literals that %s prints lie in the session with their site, as many as fit into this with their NULs.
 * [bytes]
 */
#define KTR_LITERALS_MAX 128

/*
 * What registration finds out by parsing the format, once: for each argument how its word is made.
 */
enum ktr_arg_how {
	KTR_HOW_VALUE,	   /* the word itself */
	KTR_HOW_COPY,	   /* %s: copy the string it points to */
	KTR_HOW_COPY_PREC, /* %.*s: copy at most as many bytes as the argument before it says */
	KTR_HOW_COPY_MAX,  /* %.9s: at most limit[] bytes */
	KTR_HOW_STACK,	   /* program counters */
	KTR_HOW_LITERAL	   /* %s of a string literal: the site has it, the word means nothing */
};

/* struct ktr_site.text_at of two strings, and of a stack, that are the only arguments, and of anything else */
#define KTR_TEXT_AT_ANY	  (KTR_ARGS_MAX + 1)
#define KTR_TEXT_AT_BOTH  (KTR_ARGS_MAX + 2)
#define KTR_TEXT_AT_STACK (KTR_ARGS_MAX + 3)
/* of a string that is the only argument or the first of two */
#define KTR_TEXT_AT_FIRST (KTR_ARGS_MAX + 4)

#ifdef __cplusplus
/* A static of hidden type in an inline function or template has an address the assembler may name. */
#define KTR__SITE_HIDDEN __attribute__((visibility("hidden")))
#else
#define KTR__SITE_HIDDEN
#endif

struct KTR__SITE_HIDDEN ktr_site {
	uint64_t mask;	  /* classes; an application class's bit comes at registration */
	uint32_t id;	  /* index in the session; 0 before registration, or no room left */
	/*
	 * control.generation when this site was last seen to be usual, or the complement of that where arguments
	 * are copied: whatever decides is still as it was then. With KTR__READY_TIMED: usual but for its clock.
	 */
	uint32_t ready;
	uint8_t n_args;
	uint8_t copies;	  /* bit i: argument i is copied, at registration */
	/* 1 + the argument that the usual way copies, or KTR_TEXT_AT_*; 0: not the usual way */
	uint8_t text_at;
	uint8_t reserved;
	uint32_t line;
	const struct ktr_class *cls; /* the application class or NULL */
	const char *format;
	const char *file;
	const char *func;
	const char *names; /* the arguments' source text, comma separated */
	uint8_t type[KTR_ARGS_MAX];  /* enum ktr_arg_type */
	uint8_t how[KTR_ARGS_MAX];   /* enum ktr_arg_how, at registration */
	uint8_t limit[KTR_ARGS_MAX]; /* KTR_HOW_COPY_MAX: bytes */
	uint8_t reserved2[6];
	const char *literal[KTR_ARGS_MAX]; /* arguments that are string literals; else NULL */
};

#define KTR__SITE_BYTES 136
/* In ktr_site.ready: nothing but the clock keeps the site from the usual way. */
#define KTR__READY_TIMED 0x80000000u
KTR__LAYOUT(sizeof(struct ktr_site) == KTR__SITE_BYTES, "programs and library share this layout");

/*
 * One per executable or shared object, defined by the header as a weak hidden symbol, so that the
 * gate is reached without a global offset table and each module is known by its own sites.
 */
struct KTR__SITE_HIDDEN ktr_module {
	const uint64_t *gate; /* the session's mask; at .zero until the module is attached */
	uint64_t zero;
	uint32_t abi;
	uint32_t site_bytes;
	struct ktr_site **begin; /* __start_ktr_sites */
	struct ktr_site **end;
	struct ktr_module *next; /* the library's list, guarded by its lock */
	uint64_t attached;
};

#endif

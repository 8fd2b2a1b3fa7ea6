/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a binary, with the types of their arguments and results, and the types themselves: an image in
 * memory, which is also what lies in a file of the cache. In the manner of CTF it is an index and strings: arrays
 * of records of fixed size that name each other by number, all little-endian, in the order
 *
 *	struct ktr__types_head
 *	struct ktr__types_function	n_functions, sorted by address
 *	struct ktr__types_type		n_types; number 0 is void
 *	struct ktr__types_member	n_members: of structs, enumerators,
	parameters of functions and of their types
 *	strings				n_strings bytes, each ends in NUL; number 0 is ""
 *
 * Loading checks every number once, so that who reads may follow them; chains of types may still be long or closed,
 * so whoever follows one counts (KTR__TYPES_DEPTH). Texts come out of the binary: any bytes.
 */
#ifndef KTR_TYPES_H
#define KTR_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define KTR__TYPES_MAGIC   "KTRTYPE"
#define KTR__TYPES_VERSION 2u
#define KTR__TYPES_DEPTH   64u                /* types that one is made of; deeper ones are unknown */
#define KTR__TYPES_MAX     ((size_t)512 << 20) /* [bytes] of an image */
#define KTR__TYPES_ID_MAX  32                 /* [bytes] of a build-id that are kept */

enum {
	KTR__TYPES_HAS_DWARF = 1, /* of the head */
	KTR__TYPES_PARTIAL = 2,   /* some of it is in files that were not found: of split DWARF, of dwz(1) */
};

struct ktr__types_head {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* CRC32C of the image, this being 0 */
	uint32_t flags;
	uint16_t machine; /* EM_X86_64, ... */
	uint16_t n_id;
	uint8_t id[KTR__TYPES_ID_MAX]; /* build-id */
	uint32_t n_functions, n_types, n_members, n_strings;
};

enum ktr__types_language {
	KTR__TYPES_C,
	KTR__TYPES_CXX,
	KTR__TYPES_RUST,
	KTR__TYPES_OTHER,
};

/* Flags of functions, and of types that are functions. */
enum {
	KTR__TYPES_VARIADIC = 1,
	KTR__TYPES_UNPROTOTYPED = 2, /* of C: int f() */
	KTR__TYPES_UNTYPED = 4,      /* known by its symbol only, or by its lines */
	KTR__TYPES_ALIAS = 8,        /* another name for what lies at the same address */
	KTR__TYPES_CLONE = 16,       /* arguments may have been removed: f.isra.0, f.constprop.0 */
	KTR__TYPES_LOCAL = 32,       /* not visible to other files */
	KTR__TYPES_BARE = 64,        /* without a result in its declaration: a constructor or destructor */
};

struct ktr__types_function {
	uint64_t address; /* the object's own */
	uint32_t size;
	uint32_t name;    /* ns::parser::next, without arguments */
	uint32_t linkage; /* what DWARF says the linker calls it; 0: as name */
	uint32_t symbol;  /* the symbol at the address, if it is called otherwise; 0 */
	uint32_t file, line; /* 0: unknown */
	uint32_t result;  /* type */
	uint32_t first, n_args; /* members */
	uint32_t language;
	uint32_t flags;
};

enum ktr__types_kind {
	KTR__TYPES_VOID,
	KTR__TYPES_UNKNOWN,
	KTR__TYPES_BASE,
	KTR__TYPES_POINTER,
	KTR__TYPES_REFERENCE,
	KTR__TYPES_RVALUE,
	KTR__TYPES_MEMBER_POINTER, /* target: what it points to; other: in which class */
	KTR__TYPES_CONST,
	KTR__TYPES_VOLATILE,
	KTR__TYPES_RESTRICT,
	KTR__TYPES_ATOMIC,
	KTR__TYPES_TYPEDEF,
	KTR__TYPES_ARRAY,    /* count: of elements, UINT64_MAX if not said */
	KTR__TYPES_FUNCTION, /* target: its result; members: its arguments */
	KTR__TYPES_STRUCT,
	KTR__TYPES_CLASS,
	KTR__TYPES_UNION,
	KTR__TYPES_ENUM, /* members: names and values */
};

enum ktr__types_encoding {
	KTR__TYPES_NONE,
	KTR__TYPES_SIGNED,
	KTR__TYPES_UNSIGNED,
	KTR__TYPES_CHAR,  /* signed */
	KTR__TYPES_UCHAR, /* unsigned; of Unicode, too */
	KTR__TYPES_BOOL,
	KTR__TYPES_FLOAT,
	KTR__TYPES_COMPLEX,
	KTR__TYPES_DECIMAL,
};

/* Flags of types. */
enum {
	KTR__TYPES_DECLARED = 1 << 8,     /* a struct, union,
		class or enum whose members are not known; other: the one
					     of this name whose are, or 0 */
	KTR__TYPES_BY_REFERENCE = 1 << 9, /* C++ passes it by the address of a copy */
	KTR__TYPES_VECTOR = 1 << 10,      /* an array in a vector register */
	KTR__TYPES_BY_VALUE = 1 << 11,    /* the compiler says that it is not BY_REFERENCE */
};

struct ktr__types_type {
	uint32_t kind;
	uint32_t flags;
	uint32_t encoding; /* of a base type or enum */
	uint32_t name;     /* 0: none */
	uint64_t size;     /* [bytes] */
	uint64_t count;
	uint32_t target, other; /* types */
	uint32_t first, n_members;
	uint32_t language;
	uint32_t padding;
};

/* Flags of members. */
enum {
	KTR__TYPES_INHERITED = 1, /* a base class */
	KTR__TYPES_ARTIFICIAL = 2, /* made by the compiler: this */
	KTR__TYPES_VIRTUAL = 4,   /* a virtual base class, whose offset is not fixed */
};

/* Where the debugging information says an argument is when the function begins. */
#define KTR__TYPES_AT_UNSAID   0u
#define KTR__TYPES_AT_NOWHERE  255u /* it is not passed: the compiler knows its value, or nothing uses it */
#define KTR__TYPES_AT_REGISTER 1u   /* + DWARF's number of the register */

struct ktr__types_member {
	uint64_t value; /* [bits] offset; of an enumerator its value; of an argument KTR__TYPES_AT_... */
	uint32_t name;
	uint32_t type;
	uint32_t bits; /* of a bit-field; 0: none */
	uint32_t flags;
};

struct ktr__types {
	const struct ktr__types_head *head;
	const struct ktr__types_function *function;
	const struct ktr__types_type *type;
	const struct ktr__types_member *member;
	const char *strings;
	size_t n_bytes;
	void *bytes; /* owned, of malloc(3) */
};

/*
 * Takes an image, which is freed if it is not one. 0, or -errno with *out NULL: -EINVAL when it is damaged or of
 * another version.
 */
int ktr__types_load(void *bytes, size_t n_bytes, struct ktr__types **out);
void ktr__types_free(struct ktr__types *types);

/* What an image must be followed by numbers that it holds itself: these are in it, since it was loaded. */
static inline const char *ktr__types_text(const struct ktr__types *types, uint32_t string)
{
	return types->strings + string;
}

/* What a type is without its typedefs, const and the like; a declared struct as the one whose members are known. */
const struct ktr__types_type *ktr__types_bare(const struct ktr__types *types, uint32_t type);

/* The function whose code holds an address, NULL: none. Of several with one beginning the first that has types. */
const struct ktr__types_function *ktr__types_at(const struct ktr__types *types, uint64_t address);

/*
 * Is the function asked for by a pattern (fnmatch(3))? By its name, the last part of it, the linker's name or
 * that of its symbol. 1 or 0.
 */
int ktr__types_matches(const struct ktr__types *types, const struct ktr__types_function *function,
		       const char *pattern);

/* The last part of a::b<c::d>::e, within name. */
const char *ktr__types_last(const char *name);

#endif

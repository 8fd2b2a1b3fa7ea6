/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The knob tree: named values with a type, an access mode, help, a default and a unit, read and
 * written as text. One table of rows serves the loader.conf reader at start, sysctl-like tools on
 * a live program, and C code; a program that embeds ktr registers rows of its own in the same
 * tree. Nothing here knows what the knobs stand for.
 *
 *	static uint64_t n_workers = 4;
 *	static const struct ktr_knob rows[] = {
 *		{ .name = "app.workers", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RWTUN,
 *		  .help = "worker threads", .unit = "threads", .initial = "4", .min = 1, .max = 64,
 *		  .variable = &n_workers },
 *	};
 *	static struct ktr_origin origins[1];
 *	static struct ktr_knobs table = { .rows = rows, .n_rows = 1, .origins = origins };
 *
 *	ktr_conf_register(conf, &table, &err);
 *	ktr_conf_set(conf, "app.workers", "8", &err);
 *
 * Memory: everything lives in what the caller owns; no call here allocates. The deepest call,
 * ktr_conf_load(), needs about 18 KiB of stack.
 *
 * Before main(): every call may be used there.   Signal handlers: no call may be used there.
 * Blocking: only the calls that read files do, on the file system.
 *
 * Threads, one tree:
 *			register	unregister	find, next, get	set, load
 *	register	safe [1]	exclude		safe		safe
 *	unregister	exclude		exclude		exclude		exclude
 *	find, next, get	safe		exclude		safe		safe [2]
 *	set, load	safe		exclude		safe [2]	safe [2]
 *	[1] two tables that hold the same name must not race each other: both would be taken.
 *	[2] numbers after `variable` are stored and loaded atomically; strings and CPU lists after
 *	    `variable`, origin records and handlers are the owner's to protect.
 */
#ifndef KTR_CONF_H
#define KTR_CONF_H

#include <stddef.h>
#include <stdint.h>
#include <ktr/error.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* [bytes] The longest full name of a knob, and the longest name of a class or choice, with NUL. */
#define KTR_KNOB_NAME_BYTES   128
#define KTR_NAME_BYTES        64
/* [bytes] The longest value of a string knob with its NUL; a copy of it is held on the stack. */
#define KTR_KNOB_STRING_BYTES 1024
/* [CPUs] The longest CPU list. 8192 is Linux's NR_CPUS_RANGE_END on x86-64 (arch/x86/Kconfig). */
#define KTR_CPUS_MAX          8192
/*
 * [bytes] Enough for any printed value except free text: the longest is a CPU list in which every
 * other one of 8192 is named, 19,924 bytes.
 */
#define KTR_VALUE_BYTES       20480

enum ktr_knob_type {
	KTR_KNOB_BOOL = 1, /* 0 or 1; yes, no, on, off, true and false are read too */
	KTR_KNOB_INT,      /* signed 64 bits, decimal, 0x hexadecimal or 0 octal */
	KTR_KNOB_UINT,     /* unsigned 64 bits */
	KTR_KNOB_SIZE,     /* unsigned 64 bits, K, M, G, T, P, E for powers of 1024 */
	KTR_KNOB_DURATION, /* nanoseconds; read and printed with ns, us, ms, s, min, h, d */
	KTR_KNOB_STRING,   /* bytes without NUL; "..." with escapes where they are not plain */
	KTR_KNOB_MASK,     /* 64 bits by name or number: sched|lock, all,-malloc, +net, 0x8, none */
	KTR_KNOB_CHOICE,   /* one name of a list */
	KTR_KNOB_CPUS,     /* a set of CPUs: 0-3,8 or 0-31:4, all, none, 0xff */
	KTR_KNOB_TEXT      /* read-only text for people, several lines, not promised to parse */
};

/* Access flags; TUN means "may be set at start, from a file or the environment". */
#define KTR_KNOB_RD      1u
#define KTR_KNOB_WR      2u
#define KTR_KNOB_TUN     4u
#define KTR_KNOB_RW      (KTR_KNOB_RD | KTR_KNOB_WR)
#define KTR_KNOB_RDTUN   (KTR_KNOB_RD | KTR_KNOB_TUN)
#define KTR_KNOB_RWTUN   (KTR_KNOB_RW | KTR_KNOB_TUN)
#define KTR_KNOB_STATS   8u  /* a count: not a setting although it may be writable */
#define KTR_KNOB_SKIP    16u /* left out of listings unless asked for by name */

/* How values print; each form reads back to the same value. */
#define KTR_PRINT_HEX    1u /* numbers and masks as 0x... */
#define KTR_PRINT_NUMBER 2u /* masks and choices as decimal numbers */
#define KTR_PRINT_HUMAN  4u /* sizes with the largest suffix that divides them */

/*
 * Names the idx-th of a list: copies the name (at most size bytes with its NUL) and its number,
 * which is a set of bits for masks. Returns 0; 1 when there is nothing under this idx but there
 * may be under later ones; -ENOENT after the last. value is never NULL.
 */
typedef int ktr_names_fn(void *context, unsigned idx, char *name, size_t size, uint64_t *value);

/* A value on its way between text and handler. */
struct ktr_value {
	uint64_t number;  /* every type but STRING, TEXT and CPUS; INT as two's complement */
	char *text;       /* STRING, TEXT: room for text_size bytes, NUL-terminated */
	size_t text_size; /* [bytes] */
	uint64_t *bits;   /* CPUS: CPU n is bit n % 64 of word n / 64 */
	unsigned n_bits;  /* CPUS: CPUs there are; a get handler may lower it */
};

struct ktr_knob_at;

/*
 * One row of a table, constant and shared by as many trees as register it. A row is backed either
 * by `variable` or by handlers; a row without set handler and variable cannot be written.
 *
 * One whole component of the name may be "*": the row then stands for one knob per name that
 * `instances` lists, in that order ("net.card.*.lost"); such a name may contain dots.
 */
struct ktr_knob {
	const char *name;    /* letters, digits, '_' and '-', components joined by '.' */
	const char *help;    /* one sentence without final period */
	const char *unit;    /* of the number, or NULL */
	const char *initial; /* the default as text, or NULL; told, and stored for ktr_knob_add() alone */
	const char *environment; /* environment variable that sets it at start, or NULL */
	uint32_t type;           /* enum ktr_knob_type */
	uint32_t access;         /* KTR_KNOB_* flags */
	/*
	 * Least and greatest number; both 0: everything the type holds; max 0 alone: no upper end
	 * (INT: 0). STRING: max is the longest length. MASK: max holds the bits that may be set,
	 * 0: all. CPUS: max is the number of CPUs, 0: KTR_CPUS_MAX.
	 */
	int64_t min;
	uint64_t max;
	ktr_names_fn *names;     /* MASK and CHOICE: what their bits or numbers are called */
	ktr_names_fn *instances; /* what stands in for "*", or NULL */
	/* int for BOOL; int64_t or uint64_t; char[max + 1]; uint64_t[(max + 63) / 64]; or NULL */
	void *variable;
	int (*get)(const struct ktr_knob_at *at, struct ktr_value *value);
	/* Returns 0 or -errno; a sentence in err is optional, the knob's name is put before it. */
	int (*set)(const struct ktr_knob_at *at, const struct ktr_value *value,
		   struct ktr_error *err);
};

/* Where a value came from, in rising rank of those that act at start. */
enum ktr_origin_kind {
	KTR_ORIGIN_DEFAULT = 0,
	KTR_ORIGIN_FILE,        /* file:line */
	KTR_ORIGIN_ENVIRONMENT, /* file holds the variable's name */
	KTR_ORIGIN_API,         /* the program itself, by a call */
	KTR_ORIGIN_SYSCTL       /* somebody else, at run time; pid says who */
};

/*
 * 128 bytes without pointers, so that an array of them may lie in shared memory. Whoever reads
 * one there must copy it first; ktr_origin_print() copes with any content.
 */
struct ktr_origin {
	uint32_t kind; /* enum ktr_origin_kind */
	uint32_t line; /* from 1, 0 when there is none */
	uint32_t pid;  /* of who set it, 0 when not known */
	char file[116];
};

/* A table of rows with what makes them concrete. The caller owns it until unregistered. */
struct ktr_knobs {
	const struct ktr_knob *rows;
	unsigned n_rows;
	void *context;              /* what the handlers and name lists of the rows are given */
	struct ktr_origin *origins; /* n_rows records, zero at first; NULL: nothing is remembered */
	struct ktr_knobs *next;     /* the tree's; NULL before registering */
};

/* A tree. All zero bytes are an empty tree; the caller owns it. */
struct ktr_conf {
	struct ktr_knobs *tables;
};

/* One knob of a tree, as found by name or met on a walk. All zero bytes start a walk. */
struct ktr_knob_at {
	const struct ktr_knob *knob;
	struct ktr_knobs *table;
	unsigned instance; /* index in the row's instance list; 0 in rows without "*" */
	unsigned origin;   /* in set handlers: enum ktr_origin_kind of the writer */
	char name[KTR_KNOB_NAME_BYTES]; /* full name, "*" filled in */
};

/*
 * Adds a table (borrowed). Errors: -EEXIST when a name is taken, -EINVAL when a row is not well
 * formed (the text names it); nothing is registered then.
 */
int ktr_conf_register(struct ktr_conf *conf, struct ktr_knobs *table, struct ktr_error *err);

/* Takes a table out again. -ENOENT when it is not in the tree. */
int ktr_conf_unregister(struct ktr_conf *conf, struct ktr_knobs *table);

/* Finds a knob by its full name. -ENOENT, with the nearest name that exists in the text. */
int ktr_conf_find(const struct ktr_conf *conf, const char *name, struct ktr_knob_at *at,
		  struct ktr_error *err);

/*
 * Steps to the next knob whose name is prefix or lies below it; "" or NULL meets all. Order:
 * tables as they were registered, rows as they stand, instances as they are listed. Returns 1
 * with *at filled, 0 at the end. Start with *at all zero and hand the same record in again.
 */
int ktr_conf_next(const struct ktr_conf *conf, const char *prefix, struct ktr_knob_at *at);

/*
 * Prints a knob's value into buffer (flags: KTR_PRINT_*). Errors: -EPERM for a write-only one,
 * -ENOSPC when it does not fit (KTR_VALUE_BYTES is enough but for KTR_KNOB_TEXT).
 */
int ktr_knob_read(const struct ktr_knob_at *at, unsigned flags, char *buffer, size_t size,
		  struct ktr_error *err);

/*
 * Sets a knob from text; origin (copied; NULL means the API) says on whose behalf. A value from a
 * file or the environment does not replace one of higher rank: 1 is returned and nothing changes.
 * Otherwise 0, or -EPERM (read-only, or not settable at this time), -EINVAL (wrong type, unknown
 * name), -ERANGE (out of range), or what the handler returned. On error the old value stands. The
 * error's column is the byte of the text, from 1, that was not understood.
 */
int ktr_knob_write(const struct ktr_knob_at *at, const char *text, const struct ktr_origin *origin,
		   struct ktr_error *err);

/* The knob's origin, copied; its default's when nothing was remembered. */
void ktr_knob_origin(const struct ktr_knob_at *at, struct ktr_origin *origin);

/* Find and read; find and write with the API as origin. */
int ktr_conf_get(const struct ktr_conf *conf, const char *name, char *buffer, size_t size,
		 struct ktr_error *err);
int ktr_conf_set(struct ktr_conf *conf, const char *name, const char *text, struct ktr_error *err);

/* Fills an origin record; file (copied, its end kept) may be NULL. */
void ktr_origin_set(struct ktr_origin *origin, unsigned kind, const char *file, unsigned line);

/*
 * "default", "FILE:LINE", "environment KTR_MASK", "API by pid 7", "sysctl by pid 7". Returns buffer.
 * In libktrread.
 */
const char *ktr_origin_print(const struct ktr_origin *origin, char *buffer, size_t size);

/*
 * ---- loader.conf ----
 *
 * The syntax of FreeBSD's loader.conf(5): one NAME="VALUE" a line, '#' begins a comment, blanks
 * around names, '=' and values are ignored. Between the quotes a backslash makes the next byte
 * literal, and $name or ${name} stands for the value that knob has at this moment. A value of
 * letters, digits and - _ . / , : + @ % alone needs no quotes.
 */

/* [bytes] A longer line is refused; a file of more bytes is refused without being read. */
#define KTR_LOADER_LINE_BYTES 4096
#define KTR_LOADER_FILE_BYTES (1024 * 1024)

struct ktr_loader {
	/*
	 * Called for each setting, in order; place is where the value begins. Returns 0 when the
	 * setting is kept, 1 when it is put aside without being wrong, -errno when it is refused;
	 * err takes a column within value, which is turned into one of the file.
	 */
	int (*set)(struct ktr_loader *loader, const char *name, const char *value,
		   struct ktr_error *err);
	/* Prints what $name stands for; 0 or -errno. NULL: '$' is an error. */
	int (*expand)(struct ktr_loader *loader, const char *name, char *buffer, size_t size,
		      struct ktr_error *err);
	/* Told of every error, one call each; NULL: only the first one is handed back. */
	void (*report)(struct ktr_loader *loader, const struct ktr_error *err);
	void *context;    /* the callbacks' own */
	const char *file; /* where we are: set by the calls below */
	unsigned line;
	unsigned n_kept; /* settings that were kept, put aside, refused: only ever added to */
	unsigned n_aside;
	unsigned n_refused;
};

/*
 * Reads settings out of a text in memory, length bytes that need no NUL; file names it in errors. In
 * libktrread.
 * Goes on after errors with the next line, except after binary content. Returns 0 or -errno of
 * the first error, which err holds.
 */
int ktr_loader_text(struct ktr_loader *loader, const char *file, const char *text, size_t length,
		    struct ktr_error *err);

/* The same with a file: a regular one, or /dev/null. Holds one line at a time. */
int ktr_loader_file(struct ktr_loader *loader, const char *path, struct ktr_error *err);

/*
 * Writes NAME="VALUE" as ktr_loader_text() reads it, without newline. -EINVAL when the name or a
 * control byte in the value cannot be written, -ENOSPC when it does not fit. In libktrread.
 */
int ktr_loader_print(const char *name, const char *value, char *buffer, size_t size);

/*
 * ---- where settings come from at start ----
 *
 * Read in this order, later ones overriding earlier ones, each only if it exists:
 *
 *	1. /etc/ktr/loader.conf				system-wide
 *	2. /etc/ktr/loader.conf.d/PROGRAM.conf		system-wide, for one program
 *	3. $XDG_CONFIG_HOME/ktr/loader.conf		the user's; without that variable
 *							$HOME/.config/ktr/loader.conf
 *	4. $XDG_CONFIG_HOME/ktr/loader.conf.d/PROGRAM.conf
 *
 * KTR_CONF=FILE replaces all four, and FILE must exist then; an empty KTR_CONF means that no file
 * is read. After the files come the environment variables that rows name. A program that runs
 * with raised privileges (AT_SECURE, getauxval(3)) ignores the environment: 3, 4, KTR_CONF and the
 * rows' variables. Of 1 to 4, a file that everybody may write to is refused.
 */

/* What the search depends on. ktr_source_init() asks the process; tests fill it by hand. */
struct ktr_source {
	const char *system_dir;  /* "/etc/ktr" */
	const char *program;     /* name without directory, or NULL: no per-program files */
	const char *home;        /* $HOME or NULL */
	const char *config_home; /* $XDG_CONFIG_HOME or NULL; ignored unless absolute */
	const char *conf;        /* $KTR_CONF or NULL */
	const char *(*environment)(const char *name); /* NULL: no variables are looked at */
	char program_buffer[64]; /* what program points to where it had to be copied */
};

/* Fills the record from the process; what it points to belongs to the process. */
void ktr_source_init(struct ktr_source *source);

/*
 * The idx-th file of the search, from 0, in order. Returns 1 when the file exists, 0 when it does
 * not, a negative errno when it can be told that it cannot be read (-EACCES, -EISDIR, ...), and
 * path is filled; -ENODATA after the last. An entry that does not apply (no home) is not counted.
 * In libktrread.
 */
int ktr_source_path(const struct ktr_source *source, unsigned idx, char *path, size_t size);

struct ktr_load {
	const struct ktr_source *source;
	struct ktr_knobs *only; /* apply to the rows of this table alone; NULL: to all */
	/* Told of each error and of each name put aside (code EAGAIN); may be NULL. */
	void (*report)(void *context, const struct ktr_error *err);
	void *context;
	unsigned n_files;   /* counted by ktr_conf_load(): files read, */
	unsigned n_kept;    /* settings applied, */
	unsigned n_aside;   /* of higher rank already, or a name nobody has registered (yet), */
	unsigned n_refused; /* and wrong ones */
};

/*
 * Applies files and environment to a tree. A name that does not exist is an error if it lies
 * under a first component that does ("debug.krt.mask") or resembles a knob; else it is put aside,
 * because the program may register it later: it then calls this again with `only` set to the new
 * table. Good settings are kept whatever is wrong with others. Returns 0 or -errno of the first
 * error, which err holds.
 */
int ktr_conf_load(struct ktr_conf *conf, struct ktr_load *load, struct ktr_error *err);

/* The same with one file alone and no environment. */
int ktr_conf_load_file(struct ktr_conf *conf, struct ktr_load *load, const char *path,
		       struct ktr_error *err);

/*
 * ---- nearest names ----
 *
 * For "unknown X, the nearest is Y": the name of a list that is at the smallest Damerau-Levenshtein
 * distance (letters wrong, missing, too many, or two swapped; case does not count), if it is near
 * enough to be what was meant. An abbreviation and a name without its leading components count as
 * near. names is asked for idx 0, 1, 2... in turn. In libktrread.
 */

/* Copies the nearest name and returns 1, or returns 0 when none is near. */
int ktr_nearest(const char *word, ktr_names_fn *names, void *context, char *best, size_t size);

/* The same over an array; returns the element or NULL. */
const char *ktr_nearest_of(const char *word, const char *const *names, size_t n_names);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

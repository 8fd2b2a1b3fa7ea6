/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the events of one source refer to: call sites, threads and classes by number, modules by
 * address. Filled when the source is opened, out of the session's tables or the trace's sidecars;
 * then only read. Rows never move.
 */
#ifndef ANALYZE_TABLES_H
#define ANALYZE_TABLES_H

#include "conf/kit/arena.h"
#include "writer/format/codec.h"

#include <ktr/reader.h>

/*
 * Ids are indices into arrays here: a damaged or hostile source must not make them large. The
 * session file has no more rows either (ktr/session.h).
 */
#define KTR__SITES_MAX   (1u << 20)
#define KTR__THREADS_MAX (1u << KTR_THREAD_BITS)
#define KTR__MODULES_MAX (1u << 20)

#define KTR__END_GONE ((uint64_t)INT64_MAX) /* it is gone, and nobody saw when */

/* When somebody ended; analyze/stats/ends.h tells what it comes to. 0: not known. */
struct ktr__end {
	uint64_t start_ns;
	uint64_t exit_ns;  /* it said so itself */
	uint64_t alive_ns; /* it was there then, */
	uint64_t gone_ns;  /* and was found gone then, or KTR__END_GONE */
	uint64_t last_ns;  /* latest event of the walks so far; kept of those whose end is not exact */
};

/* A process; one that goes through exec(2) has a row for each program that it is. */
struct ktr__process {
	uint64_t key; /* ktr__process_key() */
	struct ktr__end end;
};

/* A thread and what finds it: the word that its events carry in a trace. */
struct ktr__thread {
	struct ktr_reader_thread thread;
	uint32_t word;
	uint32_t proc;            /* row of its process; 0: unknown */
	uint64_t process_key;     /* its process: see ktr__tables_process_key() */
	struct ktr__process *process; /* NULL: unknown */
	struct ktr__end end;          /* its own */
	int is_vague;                 /* its end, or that of its process, is not exact */
	struct ktr__thread *same; /* another one with this word, started before this one */
};

/* An executable or shared object that a process had mapped; see struct ktr_module_row. */
struct ktr__module_entry {
	uint32_t proc;
	uint64_t base;
	uint64_t end;
	const char *path;
	uint8_t n_build_id; /* [bytes] */
	uint8_t build_id[KTR_BUILD_ID_MAX];
};

struct ktr__tables {
	struct ktr__arena arena;
	const char *class_name[KTR_CLASS_MAX];
	struct ktr_reader_site **site; /* by id; NULL where there is none */
	struct ktr__program *program;  /* by id, for the codec */
	uint32_t n_sites;
	struct ktr__thread **thread; /* by row; NULL where there is none */
	uint32_t n_threads;
	struct ktr__process **process; /* by row; NULL where there is none */
	uint32_t n_processes;
	uint32_t n_vague; /* threads whose end is not exact */
	uint32_t n_strangers; /* rows that threads without one may yet have */
	struct ktr__module_entry **module; /* by row; NULL where there is none */
	uint32_t n_modules;
	int changed;                    /* since ktr__tables_finish() */
	struct ktr__thread **word;      /* hash table of words, open addressing */
	uint32_t n_words;               /* its size, a power of two; 0 until it is built */
	struct ktr__thread nobody;      /* thread 0 */
	struct ktr_reader_site unknown; /* site 0 */
};

/* A call site as the source tells it; strings end in NUL and are copied. */
struct ktr__site_text {
	uint64_t mask;
	uint32_t line;
	const char *file;
	const char *func;
	const char *format;
	const char *names; /* of the arguments, comma separated */
	const char *module;
	unsigned n_args;
	uint8_t type[KTR_ARGS_MAX]; /* enum ktr_arg_type */
	uint8_t how[KTR_ARGS_MAX];  /* enum ktr_arg_how */
};

struct ktr__thread_text {
	uint32_t tid;
	uint32_t pid;
	uint32_t word; /* 0: none */
	uint32_t proc;
	uint64_t process_key; /* 0: nothing but its pid is known */
	const char *name;
	const char *process;
	struct ktr__end end;
};

/* Names FreeBSD's classes, makes site and thread 0. 0 or -ENOMEM. */
int ktr__tables_init(struct ktr__tables *tables);
void ktr__tables_free(struct ktr__tables *tables);

/* Adds a row or puts another in its place. 0, -ENOMEM, or -EINVAL for what cannot be one. */
int ktr__tables_class(struct ktr__tables *tables, unsigned bit, const char *name);
int ktr__tables_site(struct ktr__tables *tables, uint32_t id, const struct ktr__site_text *text);
int ktr__tables_thread(struct ktr__tables *tables, uint32_t id,
		       const struct ktr__thread_text *text);

/* What was known of it already, and is not known to this row, stays known. */
int ktr__tables_process(struct ktr__tables *tables, uint32_t id, uint64_t key, const struct ktr__end *end);

/* The path is borrowed, and lives as long as the tables. */
int ktr__tables_module(struct ktr__tables *tables, uint32_t id, const struct ktr__module_entry *module);

/*
 * After the last row, and again after further ones: names the sites' classes and builds the hash of
 * words. 0 or -ENOMEM.
 */
int ktr__tables_finish(struct ktr__tables *tables);

/* Never NULL: nobody where the row or word is not known. */
const struct ktr_reader_thread *ktr__tables_by_row(const struct ktr__tables *tables, uint32_t row);
const struct ktr_reader_thread *ktr__tables_by_word(const struct ktr__tables *tables, uint32_t word,
						    uint64_t time_ns);

/*
 * A thread that no row tells of, for the word of an event: its tid is in the word. Made within the room
 * that there is for rows, so that ids stay below n_threads; nobody when that is used up.
 */
const struct ktr_reader_thread *ktr__tables_stranger(struct ktr__tables *tables, uint32_t word);

/*
 * What tells processes apart: several machines, pid namespaces, or a long time give one pid to several. One
 * that has gone through exec(2) is the same.
 */
static inline uint64_t ktr__tables_process_key(const struct ktr_reader_thread *thread)
{
	return ((const struct ktr__thread *)(const void *)thread)->process_key;
}

/* The key of a process of one machine: start_time in clock ticks since boot. Never 0. */
uint64_t ktr__process_key(uint32_t pid, uint64_t pid_ns, uint64_t start_time);

/* The row of the process of a thread of these tables. */
static inline uint32_t ktr__tables_proc(const struct ktr_reader_thread *thread)
{
	return ((const struct ktr__thread *)(const void *)thread)->proc;
}

/* The site with this id, or the unknown one. */
static inline const struct ktr_reader_site *ktr__tables_by_id(const struct ktr__tables *tables,
							      uint32_t id)
{
	return id < tables->n_sites && tables->site[id] ? tables->site[id] : &tables->unknown;
}

#endif

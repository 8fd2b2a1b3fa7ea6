/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the indexer share. indexer.c is the program and carries the story; kernel_events.c finds
 * files and cuts them into words; shard.c keeps the index and writes it to disk.
 */
#ifndef INDEXER_H
#define INDEXER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ktr.h>

KTR_CLASS_DECLARE(index);

enum {
	N_SHARDS = 8,
	BIG_SHARD = N_SHARDS - 1, /* takes all big files, so that small ones never wait for them */
	PIECE = 256 << 10, /* [bytes] read and merged in one go; a bigger file is a big one */
	WORD_MIN = 2,
	WORD_MAX = 64, /* a longer run of letters (base64, a hash) is not a word */
};

/* The command line; nobody writes it once the threads run. */
extern struct options {
	unsigned n_workers;
	unsigned depth;        /* [files] in each of the queue's two lanes */
	unsigned n_rounds;     /* 0: until SIGINT */
	bool unlock_early;     /* the cure, see indexer.c */
	const char *index_dir; /* NULL: the index stays in memory, there is no flusher */
	char **roots;          /* NULL-terminated */
} options;

/* The different words of a piece. Their texts are strings within the worker's buffer. */
struct words {
	uint32_t n;
	struct word {
		const char *text;
		uint32_t hash, slot;
	} * word;
	uint32_t *slot; /* hash table: 1 + index into word, 0 where empty */
};

/* A worker thread, and what it did; others read the counts once the thread has ended. */
struct worker {
	char name[16];
	bool takes_big;
	char *buf; /* PIECE + 1 bytes */
	struct words words;
	uint64_t n_files, n_big, n_binary, n_failed, n_words, n_bytes;
};

extern atomic_bool stop_asked;       /* set by the signal handler; asked once per file and piece */
extern _Thread_local const char *me; /* the thread's name; static storage */
void thread_name(const char *name);  /* sets it, for the kernel too; borrows name for good */
void *need(void *p);                 /* returns p; exits with "out of memory" where it is NULL */

/* kernel_events.c; main asks for paths once the threads have ended. */
void feed_init(void);
void *feed_scanner(void *n_errors); /* a uint64_t */
void *feed_worker(void *worker);
bool feed_fold(char *word); /* to what is indexed, in place; false if it never is */
extern struct paths {
	char **path;
	uint32_t n, room;
} paths; /* by file number */

/* shard.c */
enum shard_request {
	SHARD_CHECKPOINT,
	SHARD_QUIT
};
void shard_init(void);
void shard_merge(uint32_t file, bool big, const struct words *words);
void shard_clear_all(void);
void shard_ask(enum shard_request what); /* of the flusher, if there is one */
void *shard_flusher(void *n_errors);     /* a uint64_t */
uint32_t shard_look_up(const char *word);

/* FNV-1a, byte by byte. */
#define WORD_HASH_START 0x811c9dc5u
static inline uint32_t word_hash(uint32_t hash, uint8_t c)
{
	return (hash ^ c) * 0x01000193u;
}

#endif

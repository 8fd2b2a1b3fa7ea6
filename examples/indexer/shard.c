/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index: for each word the sorted numbers of the files that hold it. A file belongs to one
 * shard, so that a merge takes one lock and a look-up asks every shard. The flusher thread writes
 * shards to INDEX/shard.N as sorted text, "word<TAB>number number ...".
 *
 * Locks, in this order: flush.writing (a shard is being written; none may be emptied), a shard's
 * lock (its table), flush.lock (what the flusher is asked for). A word's text lives until
 * shard_clear_all(), which is why a copy of a shard may refer to it after the unlock.
 */
#include "indexer.h"

#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	N_CHAINS = 1 << 16
}; /* per shard: a few words each where a shard has 200,000 */
#define NOT_WRITTEN UINT64_MAX

struct entry {
	struct entry *next;
	uint32_t hash, n_files, room;
	uint32_t *files;
	char text[];
};

static struct shard {
	pthread_mutex_t lock;
	_Atomic(const char *) holder; /* who has the lock, for the trace alone */
	char name[16];
	struct entry *chain[N_CHAINS];
	uint32_t n_words;
	uint64_t n_pairs;   /* of word and file */
	uint64_t n_written; /* n_pairs when it was written last */
	int no;
} shards[N_SHARDS];

static struct {
	pthread_mutex_t writing, lock;
	pthread_cond_t wake;
	bool asked[2]; /* by enum shard_request */
	bool failed;   /* a file could not be written, no more is tried; the flusher's own */
} flush = { .writing = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER };

void shard_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&flush.wake, &attr);
	pthread_condattr_destroy(&attr);
	for (int i = 0; i < N_SHARDS; i++) {
		shards[i].no = i;
		shards[i].n_written = NOT_WRITTEN;
		shards[i].holder = "nobody";
		snprintf(shards[i].name, sizeof(shards[i].name), "shard %d", i);
		pthread_mutex_init(&shards[i].lock, NULL);
	}
}

/* Only who has to wait says so: the lock waits in the trace are the contended ones. */
static void shard_lock(struct shard *s)
{
	if (pthread_mutex_trylock(&s->lock)) {
		KTR_STATE1(KTR_SCHED, "worker", me, "waiting for lock", "shard:%d", s->no);
		KTR_START2(KTR_LOCK, "lock wait", me, s->no, "shard:%d", s->no, "holder:\"%s\"",
			   s->holder);
		pthread_mutex_lock(&s->lock);
		KTR_STOP0(KTR_LOCK, "lock wait", me, s->no);
	}
	s->holder = me;
	KTR_STATE0(KTR_LOCK, "shard", s->name, me);
}

static void shard_unlock(struct shard *s)
{
	KTR_STATE0(KTR_LOCK, "shard", s->name, "free");
	s->holder = "nobody";
	pthread_mutex_unlock(&s->lock);
}

/* Where the pointer to the word is, or the NULL where it belongs. */
static struct entry **shard_find_locked(struct shard *s, const char *text, uint32_t hash)
{
	struct entry **at = &s->chain[hash % N_CHAINS];

	while (*at && ((*at)->hash != hash || strcmp((*at)->text, text)))
		at = &(*at)->next;
	return at;
}

static struct entry *shard_new_word(const struct word *w)
{
	struct entry *e = need(malloc(sizeof(*e) + strlen(w->text) + 1));

	*e = (struct entry){ .hash = w->hash, .room = 2 };
	e->files = need(malloc(e->room * sizeof(*e->files)));
	strcpy(e->text, w->text);
	return e;
}

/* File numbers come nearly in order: the place of a new one is at or near the end. */
static bool shard_add_file(struct entry *e, uint32_t file)
{
	uint32_t at = e->n_files;

	while (at > 0 && e->files[at - 1] > file)
		at--;
	if (at > 0 && e->files[at - 1] == file)
		return false;
	if (e->n_files == e->room) {
		e->room *= 2;
		e->files = need(realloc(e->files, e->room * sizeof(*e->files)));
	}
	memmove(&e->files[at + 1], &e->files[at], (e->n_files - at) * sizeof(*e->files));
	e->files[at] = file;
	e->n_files++;
	return true;
}

void shard_merge(uint32_t file, bool big, const struct words *words)
{
	struct shard *s = &shards[big ? BIG_SHARD : file % BIG_SHARD];

	shard_lock(s);
	KTR_STATE1(KTR_SCHED, "worker", me, "merging", "words:%u", words->n);
	for (const struct word *w = words->word; w < words->word + words->n; w++) {
		struct entry **at = shard_find_locked(s, w->text, w->hash);

		if (!*at) {
			*at = shard_new_word(w);
			s->n_words++;
			CTR3(KTR_CLASS(index), "shard %d: new word %s in file %u", s->no, w->text,
			     file);
		}
		s->n_pairs += shard_add_file(*at, file);
	}
	shard_unlock(s);
}

void shard_clear_all(void)
{
	pthread_mutex_lock(&flush.writing);
	for (struct shard *s = shards; s < shards + N_SHARDS; s++) {
		shard_lock(s);
		for (uint32_t i = 0; i < N_CHAINS; i++) {
			for (struct entry *e; (e = s->chain[i]);) {
				s->chain[i] = e->next;
				free(e->files);
				free(e);
			}
		}
		s->n_words = 0;
		s->n_pairs = 0;
		s->n_written = NOT_WRITTEN;
		shard_unlock(s);
	}
	pthread_mutex_unlock(&flush.writing);
}

/* Prints the files that hold the word; returns how many there are. The threads have ended. */
uint32_t shard_look_up(const char *word)
{
	uint32_t hash = WORD_HASH_START, n = 0;

	for (const char *p = word; *p; p++)
		hash = word_hash(hash, (uint8_t)*p);
	for (struct shard *s = shards; s < shards + N_SHARDS; s++) {
		const struct entry *e = *shard_find_locked(s, word, hash);

		for (uint32_t i = 0; e && i < e->n_files; i++, n++)
			printf("%s: %s\n", word, paths.path[e->files[i]]);
	}
	return n;
}

/* A shard as it was while its lock was held: the texts borrowed, the file numbers copied. */
struct copy {
	uint32_t n;
	struct line {
		const char *text;
		const uint32_t *files;
		uint32_t n_files;
	} * line;
	uint32_t *files;
};

static void flush_copy_locked(const struct shard *s, struct copy *copy)
{
	uint32_t *files = need(malloc((s->n_pairs + 1) * sizeof(*files)));

	copy->n = 0;
	copy->line = need(malloc((s->n_words + 1) * sizeof(*copy->line)));
	copy->files = files;
	for (uint32_t i = 0; i < N_CHAINS; i++) {
		for (const struct entry *e = s->chain[i]; e; e = e->next) {
			memcpy(files, e->files, e->n_files * sizeof(*files));
			copy->line[copy->n++] = (struct line){ e->text, files, e->n_files };
			files += e->n_files;
		}
	}
}

static int flush_by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* The file takes its place only when it is complete and on disk. */
static bool flush_to_file(struct copy *copy, int no)
{
	char path[4096], final[4096];
	FILE *f;
	bool good;

	snprintf(final, sizeof(final), "%s/shard.%d", options.index_dir, no);
	snprintf(path, sizeof(path), "%s/shard.%d.new", options.index_dir, no);
	KTR_STATE1(KTR_SCHED, "worker", me, "sorting", "words:%u", copy->n);
	qsort(copy->line, copy->n, sizeof(*copy->line), flush_by_text);
	KTR_STATE1(KTR_SCHED, "worker", me, "writing", "path:\"%s\"", path);
	f = fopen(path, "we");
	for (const struct line *l = copy->line; f && l < copy->line + copy->n; l++) {
		fputs(l->text, f);
		for (uint32_t k = 0; k < l->n_files; k++)
			fprintf(f, "%c%u", k == 0 ? '\t' : ' ', l->files[k]);
		putc('\n', f);
	}
	KTR_STATE0(KTR_SCHED, "worker", me, "fsync");
	good = f && !ferror(f) && !fflush(f) && !fsync(fileno(f)) && !rename(path, final);
	if (!good) {
		warn("%s", path);
		unlink(path);
	}
	if (f)
		fclose(f);
	return good;
}

/*
 * Writes one shard. THE PLANTED FAULT: a checkpoint keeps the shard's lock until its file is on
 * disk ("it must be as new as the piece that asked for it"), through the sort, the write and the
 * fsync, although the copy is complete before the first of them.
 */
static void flush_shard(struct shard *s, bool checkpoint)
{
	bool hold = checkpoint && !options.unlock_early;
	struct copy copy = { 0 };
	bool new;

	if (flush.failed)
		return;
	pthread_mutex_lock(&flush.writing);
	shard_lock(s);
	new = s->n_written != s->n_pairs;
	if (new) {
		KTR_STATE1(KTR_SCHED, "worker", me, "copying", "shard:%d", s->no);
		flush_copy_locked(s, &copy);
		s->n_written = s->n_pairs;
	}
	if (!hold)
		shard_unlock(s);
	if (new)
		flush.failed = !flush_to_file(&copy, s->no);
	if (hold)
		shard_unlock(s);
	pthread_mutex_unlock(&flush.writing);
	free(copy.line);
	free(copy.files);
}

void shard_ask(enum shard_request what)
{
	pthread_mutex_lock(&flush.lock);
	flush.asked[what] = true;
	pthread_cond_signal(&flush.wake);
	pthread_mutex_unlock(&flush.lock);
}

/* Waits for a request or for the next second; true if a checkpoint was asked for. */
static bool flush_wait(struct timespec *second, bool *quit)
{
	bool checkpoint;
	int error = 0;

	KTR_STATE0(KTR_SCHED, "worker", me, "idle");
	pthread_mutex_lock(&flush.lock);
	while (!flush.asked[SHARD_CHECKPOINT] && !flush.asked[SHARD_QUIT] && !error)
		error = pthread_cond_timedwait(&flush.wake, &flush.lock, second);
	checkpoint = flush.asked[SHARD_CHECKPOINT];
	flush.asked[SHARD_CHECKPOINT] = false;
	*quit = flush.asked[SHARD_QUIT];
	pthread_mutex_unlock(&flush.lock);
	if (error == ETIMEDOUT)
		second->tv_sec++;
	return checkpoint;
}

/* Every second the next shard in turn is written, if it has something new; at the end all are. */
void *shard_flusher(void *failed)
{
	struct timespec second;
	bool quit = false;

	thread_name("flusher");
	clock_gettime(CLOCK_MONOTONIC, &second);
	for (unsigned turn = 0; !quit;) {
		if (flush_wait(&second, &quit))
			flush_shard(&shards[BIG_SHARD], true);
		else if (!quit)
			flush_shard(&shards[turn++ % BIG_SHARD], false);
	}
	for (struct shard *s = shards; s < shards + N_SHARDS; s++)
		flush_shard(s, false);
	*(bool *)failed = flush.failed;
	KTR_STATE0(KTR_SCHED, "worker", me, "done");
	return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way of a file into the index: the scanner thread walks the directories and puts files into a
 * bounded queue; workers take them, read them in pieces, cut the pieces into words and merge the
 * different words of each into the index.
 *
 * The queue has a lane for small files and one for big files, those of more than one piece. Big
 * files are the last worker's alone, so that they never occupy all workers; while there are none it
 * takes small ones like the others. feed.lock guards the queue; no other lock is taken under it.
 * paths is the scanner's own until the threads have ended; the texts in it are everybody's while
 * files of the round are in work.
 */
#include "indexer.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	N_WORD_SLOTS = 1 << 17
}; /* PIECE / 3 words fill two thirds of them */

struct item {
	const char *path;
	uint32_t file;
	bool big;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct lane {
		struct item *item;
		unsigned head, n;
	} lane[2]; /* small, big */
	unsigned n_in_hand, n_done;
	bool closed;
} feed = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

struct paths paths;

static uint8_t fold[256]; /* the letter as it is indexed, 0 for what ends a word */

void feed_init(void)
{
	for (int c = 128; c < 256; c++)
		fold[c] = (uint8_t)c;
	for (const char *p = "0123456789abcdefghijklmnopqrstuvwxyz_"; *p; p++)
		fold[(uint8_t)*p] = (uint8_t)*p;
	for (int c = 'A'; c <= 'Z'; c++)
		fold[c] = (uint8_t)(c - 'A' + 'a');
	for (int i = 0; i < 2; i++)
		feed.lane[i].item = need(calloc(options.depth, sizeof(struct item)));
}

bool feed_fold(char *word)
{
	size_t n = 0;

	for (; fold[(uint8_t)word[n]]; n++)
		word[n] = (char)fold[(uint8_t)word[n]];
	return !word[n] && n >= WORD_MIN && n <= WORD_MAX;
}

static void feed_push(struct item item)
{
	struct lane *lane = &feed.lane[item.big];

	pthread_mutex_lock(&feed.lock);
	while (lane->n == options.depth) {
		KTR_STATE1(KTR_SCHED, "worker", me, "queue full", "big:%d", item.big);
		pthread_cond_wait(&feed.changed, &feed.lock);
		KTR_STATE0(KTR_SCHED, "worker", me, "scanning");
	}
	lane->item[(lane->head + lane->n++) % options.depth] = item;
	KTR_COUNTER0(KTR_GEN, "queue", item.big ? "big files queued" : "small files queued",
		     lane->n);
	pthread_cond_broadcast(&feed.changed);
	pthread_mutex_unlock(&feed.lock);
}

/* Waits for a file; false when there will be none. */
static bool feed_pop(struct item *item, bool takes_big)
{
	struct lane *lane;
	bool idle = false;

	pthread_mutex_lock(&feed.lock);
	while (!(lane = &feed.lane[takes_big && feed.lane[1].n])->n && !feed.closed) {
		if (!idle)
			KTR_STATE0(KTR_SCHED, "worker", me, "idle");
		idle = true;
		pthread_cond_wait(&feed.changed, &feed.lock);
	}
	if (!lane->n) {
		pthread_mutex_unlock(&feed.lock);
		return false;
	}
	*item = lane->item[lane->head];
	lane->head = (lane->head + 1) % options.depth;
	lane->n--;
	feed.n_in_hand++;
	pthread_cond_broadcast(&feed.changed);
	pthread_mutex_unlock(&feed.lock);
	return true;
}

static void feed_done(void)
{
	pthread_mutex_lock(&feed.lock);
	feed.n_in_hand--;
	feed.n_done++;
	KTR_COUNTER0(KTR_GEN, "queue", "files done", feed.n_done);
	pthread_cond_broadcast(&feed.changed);
	pthread_mutex_unlock(&feed.lock);
}

static void words_add(struct words *words, const char *text, uint32_t hash)
{
	uint32_t at = hash % N_WORD_SLOTS, have;

	for (; (have = words->slot[at]); at = (at + 1) % N_WORD_SLOTS) {
		const struct word *w = &words->word[have - 1];

		if (w->hash == hash && !strcmp(w->text, text))
			return;
	}
	words->word[words->n++] = (struct word){ text, hash, at };
	words->slot[at] = words->n;
}

/* Slot by slot, since most lists are short. */
static void words_clear(struct words *words)
{
	while (words->n)
		words->slot[words->word[--words->n].slot] = 0;
}

/*
 * Cuts n bytes into words, in place: each becomes a string. Returns where the last, unfinished word
 * starts (n at the end of the file), of a run that is too long only as much as shows that it is.
 */
static size_t worker_cut(struct worker *w, size_t n, bool at_end)
{
	uint32_t hash = WORD_HASH_START;
	size_t start = 0;

	for (size_t i = 0; i < n + at_end; i++) {
		uint8_t c = i < n ? fold[(uint8_t)w->buf[i]] : 0;

		w->buf[i] = (char)c;
		if (c) {
			hash = word_hash(hash, c);
			continue;
		}
		if (i - start >= WORD_MIN && i - start <= WORD_MAX) {
			words_add(&w->words, w->buf + start, hash);
			if (++w->n_words % 256 == 0)
				CTR3(KTR_CLASS(index), "%s: %ju words so far, %u different here",
				     me, (uintmax_t)w->n_words, w->words.n);
		}
		start = i + 1;
		hash = WORD_HASH_START;
	}
	if (at_end)
		return n;
	return n - start > WORD_MAX + 1 ? n - WORD_MAX - 1 : start;
}

/* Fills the buffer behind its first `kept` bytes; returns how many are in it, or -1. */
static ssize_t worker_read(struct worker *w, int fd, size_t kept, bool *at_end)
{
	size_t n = kept;
	ssize_t got = 1;

	KTR_STATE0(KTR_SCHED, "worker", me, "reading");
	while (n < PIECE && (got = read(fd, w->buf + n, PIECE - n))) {
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			return -1;
	}
	*at_end = got == 0;
	w->n_bytes += n - kept;
	return (ssize_t)n;
}

/* A file, piece by piece; false on a read error. A binary one (early NUL) is left out, as by grep. */
static bool worker_pieces(struct worker *w, const struct item *item, int fd)
{
	bool at_end = false;
	size_t kept = 0;

	for (unsigned piece = 0; !at_end && !stop_asked; piece++) {
		ssize_t n = worker_read(w, fd, kept, &at_end);
		size_t cut;

		if (n < 0)
			return false;
		if (piece == 0 && memchr(w->buf, 0, n < 1024 ? (size_t)n : 1024)) {
			w->n_binary++;
			return true;
		}
		KTR_STATE1(KTR_SCHED, "worker", me, "cutting", "bytes:%zd", n);
		cut = worker_cut(w, (size_t)n, at_end);
		shard_merge(item->file, item->big, &w->words);
		words_clear(&w->words);
		kept = (size_t)n - cut;
		memmove(w->buf, w->buf + cut, kept);
		if (item->big)
			shard_ask(SHARD_CHECKPOINT); /* so that a crash costs one piece at most */
	}
	w->n_files++;
	w->n_big += item->big;
	return true;
}

static void worker_file(struct worker *w, const struct item *item)
{
	int fd;

	KTR_START1(KTR_VFS, "file", me, item->file, "path:\"%s\"", item->path);
	fd = open(item->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || !worker_pieces(w, item, fd)) {
		CTR2(KTR_VFS, "%s: error %d", item->path, errno);
		warn("%s", item->path);
		w->n_failed++;
	}
	if (fd >= 0)
		close(fd);
	KTR_STOP0(KTR_VFS, "file", me, item->file);
}

void *feed_worker(void *worker)
{
	struct worker *w = worker;
	struct item item;

	thread_name(w->name);
	w->buf = need(malloc(PIECE + 1));
	w->words.word = need(calloc(PIECE / (WORD_MIN + 1) + 1, sizeof(struct word)));
	w->words.slot = need(calloc(N_WORD_SLOTS, sizeof(uint32_t)));
	while (feed_pop(&item, w->takes_big)) {
		if (!stop_asked)
			worker_file(w, &item);
		feed_done();
	}
	KTR_STATE0(KTR_SCHED, "worker", me, "done");
	free(w->buf);
	free(w->words.word);
	free(w->words.slot);
	return NULL;
}

static void scanner_file(const FTSENT *e)
{
	char *path = need(strdup(e->fts_path));

	if (paths.n == paths.room) {
		paths.room = paths.room ? 2 * paths.room : 1024;
		paths.path = need(realloc(paths.path, paths.room * sizeof(*paths.path)));
	}
	paths.path[paths.n] = path;
	feed_push((struct item){ path, paths.n, e->fts_statp->st_size > PIECE });
	paths.n++;
}

/* Walks the directories once. Links are not followed; the index itself is left out. */
static void scanner_walk(uint64_t *n_errors)
{
	FTS *fts = need(fts_open(options.roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL));
	struct stat own = { 0 };
	FTSENT *e;

	if (options.index_dir)
		stat(options.index_dir, &own);
	KTR_STATE0(KTR_SCHED, "worker", me, "scanning");
	/* In this order: what fts_open() has made, fts_close() frees only behind an fts_read(). */
	while ((e = fts_read(fts)) && !stop_asked) {
		if (e->fts_info == FTS_D && e->fts_ino == own.st_ino && e->fts_dev == own.st_dev) {
			fts_set(fts, e, FTS_SKIP);
		} else if (e->fts_info == FTS_F && e->fts_statp->st_size > 0) {
			scanner_file(e);
		} else if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR ||
			   e->fts_info == FTS_NS) {
			(*n_errors)++;
			errno = e->fts_errno;
			warn("%s", e->fts_path);
		}
	}
	fts_close(fts);
}

/* Each round starts from nothing and ends when all its files are in the index. */
void *feed_scanner(void *n_errors)
{
	thread_name("scanner");
	for (unsigned r = 1; !stop_asked && (r <= options.n_rounds || !options.n_rounds); r++) {
		KTR_SCOPE(KTR_GEN, "round", "number:%u", r);

		if (r > 1)
			shard_clear_all();
		while (paths.n)
			free(paths.path[--paths.n]);
		scanner_walk(n_errors);
		KTR_STATE0(KTR_SCHED, "worker", me, "idle");
		pthread_mutex_lock(&feed.lock);
		while (feed.lane[0].n + feed.lane[1].n + feed.n_in_hand)
			pthread_cond_wait(&feed.changed, &feed.lock);
		pthread_mutex_unlock(&feed.lock);
	}
	pthread_mutex_lock(&feed.lock);
	feed.closed = true;
	pthread_cond_broadcast(&feed.changed);
	pthread_mutex_unlock(&feed.lock);
	KTR_STATE0(KTR_SCHED, "worker", me, "done");
	return NULL;
}

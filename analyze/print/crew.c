/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of blocks. The thread that walks copies events into one, with their strings, and posts it when it is
 * full. Whoever has nothing else to do, and the thread that walks when no block is free, takes the oldest that was
 * posted, prints it into the block's own text, or writes what is next in order and printed. So each block goes
 *
 *	filled (by who walks) -> posted -> taken -> printed -> written, and free again
 *
 * and three free-running counts tell where: made, taken and written. They, what is printed, and whether somebody
 * writes are changed under the one lock; a block's content belongs to who fills, prints or writes it at the time.
 *
 *			fill	post	take	print	write
 *	fill		-	-	safe	safe	safe	who walks does both, one after the other
 *	take		safe	lock	lock	lock	lock
 *	print		safe	safe	safe	safe	safe	each its own block and its own sink; or where there
 *								is one sink, one thread alone
 *	write		safe	safe	safe	safe	one	is_writing
 *
 * What events refer to, call sites and threads, does not change while a source is not followed.
 */
#include "analyze/print/crew.h"

#include "analyze/read/source.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of one block: what a core's cache holds of it, and enough for waking somebody to be of no matter. With long
 * strings it is full earlier.
 */
#define CREW_EVENTS 1024u
#define CREW_BYTES  ((size_t)128 * 1024)
/* [bytes] What one core writes for each event has cache lines of its own: by two, as they are fetched. */
#define CREW_APART  128u
#define CREW_AHEAD  4u /* events: so long before it is printed one is asked for */
#define CREW_TEXT   (2 * KTR__OUT_LINE) /* to begin with */

/* A loss or note, which comes before an event of the block. */
struct crew_said {
	uint32_t before;
	struct ktr__said said;
};

struct crew_block {
	struct ktr_event *event __attribute__((aligned(CREW_APART))); /* owned */
	uint32_t n_events;
	struct crew_said *said; /* owned */
	uint32_t n_said, said_room;
	char *bytes; /* owned: of strings */
	size_t n_bytes, bytes_room;
	uint64_t n_before, last_ns; /* events before the block, and when the last of them was */
	char *text;		    /* owned: what was printed */
	size_t n_text, text_room;
	int rc; /* what printing it returned */
	int is_printed;
};

/* One thread's. */
struct crew_hand {
	struct ktr__crew *crew;
	struct ktr_sink *sink;
	/* Its buffer is the text of the block being printed. */
	struct ktr__out out __attribute__((aligned(CREW_APART)));
	struct ktr__out *to; /* that, or where there is one sink for all, the first one's */
	pthread_t thread;
};

struct ktr__crew {
	struct ktr_sink sink;
	const struct ktr__crew_trade *trade;
	void *of;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct crew_block *block; /* owned; number i is at i % n_blocks */
	struct crew_block *filling; /* the block that is */
	unsigned n_blocks;
	uint64_t made, taken, written;
	int is_writing, is_over;
	int rc;	    /* the first in order that was not 0: nothing is written after it */
	int filled; /* who walks has had no memory for more: -ENOMEM */
	struct crew_hand *hand; /* owned; the first is the caller's */
	unsigned n_hands, n_started; /* n_started: without the caller's */
	int is_begun;
	uint64_t n_events __attribute__((aligned(CREW_APART))); /* who walks writes these for each event */
	uint64_t last_ns;
};

/* ---- printing and writing ---- */

/* An event that another core wrote comes from far: it is asked for early. */
static inline void crew_fetch(const struct ktr_event *event)
{
	__builtin_prefetch(event);
	__builtin_prefetch((const char *)event + 64);
}

static void crew_print(struct crew_hand *hand, struct crew_block *block)
{
	const struct ktr__crew_trade *trade = hand->crew->trade;
	struct ktr_sink *sink = hand->sink;
	uint32_t at = 0;
	int rc = 0;

	*hand->to = (struct ktr__out){ .fd = -1, .grows = 1, .room = block->text_room, .buffer = block->text };
	if (trade->begin)
		trade->begin(sink, block->n_before, block->last_ns);
	for (uint32_t i = 0; i <= block->n_events && !rc; i++) {
		for (; at < block->n_said && block->said[at].before == i && !rc; at++) {
			const struct ktr__said *said = &block->said[at].said;

			if (said->what == KTR_READ_LOSS)
				rc = sink->loss ? sink->loss(sink, &said->u.loss) : 0;
			else
				rc = sink->note ? sink->note(sink, &said->u.note) : 0;
		}
		if (i < block->n_events && !rc) {
			crew_fetch(&block->event[i + CREW_AHEAD]);
			rc = sink->event(sink, &block->event[i]);
		}
	}
	block->rc = rc ? rc : -hand->to->error;
	block->text = hand->to->buffer;
	block->text_room = hand->to->room;
	block->n_text = hand->to->n;
}

static int crew_can_write(const struct ktr__crew *crew)
{
	return !crew->is_writing && crew->written < crew->taken &&
	       crew->block[crew->written % crew->n_blocks].is_printed;
}

/* One sink stays with one thread, and what it knows in one core's cache: not who reads, if there is another. */
static int crew_can_print(const struct crew_hand *hand)
{
	const struct ktr__crew *crew = hand->crew;

	return crew->taken < crew->made &&
	       !(crew->trade->in_order && hand != &crew->hand[crew->n_started != 0]);
}

/* Both under the lock, which they leave meanwhile. */
static void crew_write_next(struct ktr__crew *crew)
{
	const struct crew_block *block = &crew->block[crew->written % crew->n_blocks];
	int rc = crew->rc;

	crew->is_writing = 1;
	pthread_mutex_unlock(&crew->lock);
	if (!rc && block->n_text)
		rc = crew->trade->write(crew->of, block->text, block->n_text);
	rc = rc ? rc : block->rc;
	pthread_mutex_lock(&crew->lock);
	crew->rc = rc;
	crew->is_writing = 0;
	crew->written++;
}

static void crew_print_next(struct crew_hand *hand)
{
	struct ktr__crew *crew = hand->crew;
	struct crew_block *block = &crew->block[crew->taken++ % crew->n_blocks];

	pthread_mutex_unlock(&crew->lock);
	crew_print(hand, block);
	pthread_mutex_lock(&crew->lock);
	block->is_printed = 1;
}

/*
 * Something that can be done now: who alone can print leaves writing to others. Was there anything?
 */
static int crew_step(struct crew_hand *hand)
{
	struct ktr__crew *crew = hand->crew;

	if (crew_can_write(crew) && !(crew->trade->in_order && crew_can_print(hand)))
		crew_write_next(crew);
	else if (crew_can_print(hand))
		crew_print_next(hand);
	else
		return 0;
	pthread_cond_broadcast(&crew->change);
	return 1;
}

static void *crew_work(void *context)
{
	struct crew_hand *hand = context;
	struct ktr__crew *crew = hand->crew;

	pthread_mutex_lock(&crew->lock);
	while (!crew->is_over)
		if (!crew_step(hand))
			pthread_cond_wait(&crew->change, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* ---- threads ---- */

/* The first one is the caller. 0 or -ENOMEM. */
static int crew_hire(struct ktr__crew *crew, struct crew_hand *hand)
{
	int is_shared = crew->trade->in_order && hand != crew->hand;

	hand->crew = crew;
	hand->to = is_shared ? &crew->hand->out : &hand->out;
	hand->sink = is_shared ? crew->hand->sink : crew->trade->hire(crew->of, &hand->out);
	return hand->sink ? 0 : -ENOMEM;
}

/* Where no more can be had, those that are there do it. Signals are the caller's. */
static void crew_start(struct ktr__crew *crew)
{
	sigset_t all, before;

	crew->is_begun = 1;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (crew->n_started + 1 < crew->n_hands) {
		struct crew_hand *hand = &crew->hand[crew->n_started + 1];

		if (crew_hire(crew, hand) || pthread_create(&hand->thread, NULL, crew_work, hand))
			break;
		pthread_mutex_lock(&crew->lock);
		crew->n_started++;
		pthread_mutex_unlock(&crew->lock);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- filling ---- */

static int crew_block_room(struct crew_block *block)
{
	if (!block->event)
		block->event = calloc(CREW_EVENTS + CREW_AHEAD, sizeof(*block->event));
	if (!block->bytes) {
		block->bytes = malloc(CREW_BYTES);
		block->bytes_room = block->bytes ? CREW_BYTES : 0;
	}
	if (!block->text) {
		block->text = malloc(CREW_TEXT);
		block->text_room = block->text ? CREW_TEXT : 0;
	}
	return block->event && block->bytes && block->text ? 0 : -ENOMEM;
}

/* The block that is being filled. It is free: crew_post() has seen to that. NULL without memory. */
static struct crew_block *crew_block(struct ktr__crew *crew)
{
	struct crew_block *block = crew->filling;

	if (__builtin_expect(!block->text, 0) && crew_block_room(block))
		return NULL;
	return block;
}

/* Waits until no more than so many blocks are under way; what there is to do is done meanwhile. Under the lock. */
static void crew_await(struct ktr__crew *crew, uint64_t n)
{
	while (crew->made - crew->written > n)
		if (!crew_step(&crew->hand[0]))
			pthread_cond_wait(&crew->change, &crew->lock);
}

/* The block that is being filled is to be printed; the next one is free. 0, or how printing or writing failed. */
static int crew_post(struct ktr__crew *crew, int is_last)
{
	struct crew_block *next;
	int rc;

	if (!is_last && !crew->is_begun)
		crew_start(crew);
	pthread_mutex_lock(&crew->lock);
	crew->made++;
	pthread_cond_broadcast(&crew->change);
	/* Who has to wait waits for several: being woken takes as long as printing some hundred events. */
	if (is_last || crew->made - crew->written == crew->n_blocks)
		crew_await(crew, is_last ? 0 : crew->n_blocks / 2);
	rc = crew->rc;
	pthread_mutex_unlock(&crew->lock);
	next = &crew->block[crew->made % crew->n_blocks];
	next->n_events = next->n_said = 0;
	next->n_bytes = next->n_text = 0;
	next->is_printed = 0;
	next->n_before = crew->n_events;
	next->last_ns = crew->last_ns;
	crew->filling = next;
	return rc;
}

/* [bytes] of the event's strings. */
static size_t crew_strings(const struct ktr_event *event)
{
	size_t n = 0;

	for (unsigned left = event->site->in_str; left; left &= left - 1)
		n += event->str[__builtin_ctz(left)].n_bytes;
	return n;
}

/* One event's strings are more than a block has room for, and the block is empty. 0 or -ENOMEM. */
static int crew_grow(struct crew_block *block, size_t n)
{
	char *bytes = realloc(block->bytes, n);

	if (!bytes)
		return -ENOMEM;
	block->bytes = bytes;
	block->bytes_room = n;
	return 0;
}

static void crew_copy(struct crew_block *block, const struct ktr_event *event)
{
	struct ktr_event *to = &block->event[block->n_events++];

	memcpy(to, event, offsetof(struct ktr_event, str));
	for (unsigned left = event->site->in_str; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		to->str[i] = event->str[i];
		to->str[i].bytes = block->bytes + block->n_bytes;
		if (event->str[i].n_bytes)
			ktr__copy(block->bytes + block->n_bytes, event->str[i].bytes, event->str[i].n_bytes);
		block->n_bytes += event->str[i].n_bytes;
	}
}

static int crew_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__crew *crew = (struct ktr__crew *)(void *)sink;
	struct crew_block *block = crew_block(crew);
	size_t n = event->site->in_str ? crew_strings(event) : 0;
	int rc;

	if (block && block->n_events &&
	    (block->n_events == CREW_EVENTS || n > block->bytes_room - block->n_bytes)) {
		rc = crew_post(crew, 0);
		if (rc)
			return rc;
		block = crew_block(crew);
	}
	if (!block || (n > block->bytes_room && crew_grow(block, n)))
		return crew->filled = -ENOMEM;
	crew_copy(block, event);
	crew->n_events++;
	crew->last_ns = event->time_ns;
	return 0;
}

static int crew_say(struct ktr__crew *crew, const struct ktr__said *said)
{
	struct crew_block *block = crew_block(crew);

	if (!block || ktr__array_grow(&block->said, &block->said_room, block->n_said, sizeof(*block->said)))
		return crew->filled = -ENOMEM;
	block->said[block->n_said++] = (struct crew_said){ block->n_events, *said };
	return block->n_said == CREW_EVENTS ? crew_post(crew, 0) : 0;
}

static int crew_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__said said = { .what = KTR_READ_LOSS, .u.loss = *loss };

	return crew_say((struct ktr__crew *)(void *)sink, &said);
}

static int crew_note(struct ktr_sink *sink, const struct ktr_note *note)
{
	struct ktr__said said = { .what = KTR_READ_NOTE, .u.note = *note };

	return crew_say((struct ktr__crew *)(void *)sink, &said);
}

/* ---- the crew ---- */

static void crew_free(struct ktr__crew *crew)
{
	for (unsigned i = 0; crew->hand && i < crew->n_hands; i++)
		if (crew->hand[i].sink && (!i || !crew->trade->in_order))
			crew->trade->leave(crew->hand[i].sink);
	for (unsigned i = 0; crew->block && i < crew->n_blocks; i++) {
		free(crew->block[i].event);
		free(crew->block[i].said);
		free(crew->block[i].bytes);
		free(crew->block[i].text);
	}
	pthread_cond_destroy(&crew->change);
	pthread_mutex_destroy(&crew->lock);
	free(crew->hand);
	free(crew->block);
	free(crew);
}

/* Zeroed, apart from what is beside it. */
static void *crew_memory(size_t n, size_t size)
{
	void *memory = aligned_alloc(CREW_APART, n * size);

	return memory ? memset(memory, 0, n * size) : NULL;
}

int ktr__crew_open(struct ktr__crew **out, const struct ktr__crew_trade *trade, void *of,
		   unsigned n_threads)
{
	struct ktr__crew *crew = crew_memory(1, sizeof(*crew));

	*out = NULL;
	if (!crew)
		return -ENOMEM;
	crew->sink = (struct ktr_sink){ crew_event, crew_loss, crew_note };
	crew->trade = trade;
	crew->of = of;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->change, NULL);
	crew->n_hands = n_threads;
	/* One for each to print, one that is filled, one that is written; and as many again, for crew_post(). */
	crew->n_blocks = 2 * (n_threads + 2);
	crew->hand = crew_memory(crew->n_hands, sizeof(*crew->hand));
	crew->block = crew_memory(crew->n_blocks, sizeof(*crew->block));
	if (!crew->hand || !crew->block || crew_hire(crew, &crew->hand[0])) {
		crew_free(crew);
		return -ENOMEM;
	}
	crew->filling = crew->block;
	*out = crew;
	return 0;
}

struct ktr_sink *ktr__crew_sink(struct ktr__crew *crew)
{
	return &crew->sink;
}

int ktr__crew_close(struct ktr__crew *crew)
{
	const struct crew_block *block;
	int rc;

	if (!crew)
		return 0;
	block = crew->filling;
	if (block->text && (block->n_events || block->n_said))
		crew_post(crew, 1);
	pthread_mutex_lock(&crew->lock);
	crew_await(crew, 0);
	crew->is_over = 1;
	rc = crew->rc ? crew->rc : crew->filled;
	pthread_cond_broadcast(&crew->change);
	pthread_mutex_unlock(&crew->lock);
	for (unsigned i = 0; i < crew->n_started; i++)
		pthread_join(crew->hand[i + 1].thread, NULL);
	crew_free(crew);
	return rc;
}

unsigned ktr__crew_threads(uint64_t n)
{
	cpu_set_t set;
	int may;

	if (n)
		return n < KTR__CREW_MOST ? (unsigned)n : KTR__CREW_MOST;
	/* More CPUs than the set has room for are more than are of use. */
	may = sched_getaffinity(0, sizeof(set), &set) ? (int)KTR__CREW_USUAL : CPU_COUNT(&set);
	return may < 1 ? 1 : may < (int)KTR__CREW_USUAL ? (unsigned)may : KTR__CREW_USUAL;
}

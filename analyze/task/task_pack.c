/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of a thread that sleeps on the frames stand in a buffer once: its further samples refer back to them. So a buffer
 * can be read without any other, and a process of thousands of threads that wait costs a few bytes for each. With a
 * thread's row are its last frames, for the next buffer.
 */
#include "analyze/task/task_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PACK_OLD_NS 1000000000ull

_Static_assert(sizeof(struct ktr_sample_buffer) == 104, "what arrives has one form");
_Static_assert(sizeof(struct ktr_sample_stack) == 40, "what arrives has one form");
_Static_assert(offsetof(struct ktr__outlet_piece, bytes) % 8 == 0, "buffers are aligned");
_Static_assert(KTR_SAMPLE_FRAMES_MAX >= KTR__LIVE_FRAMES, "a stack has room");

/* With a row. */
struct pack_stack {
	uint64_t number; /* of the buffer that has them, and */
	uint32_t at;	 /* the sample's place in there; 0: none has */
	uint32_t room;
	uint16_t n, flags;
	uint64_t frame[];
};

void ktr__pack_forget(struct ktr__live_row *row)
{
	free(row->own);
	row->own = NULL;
}

/* ---- buffers ---- */

static struct ktr_sample_buffer *pack_head(struct ktr__pack *pack)
{
	return (struct ktr_sample_buffer *)(void *)pack->piece->bytes;
}

/* 0 or -ENOMEM. */
static int pack_begin(struct ktr__pack *pack)
{
	const struct ktr__live_rounds *rounds = pack->rounds;

	pack->piece = calloc(1, sizeof(*pack->piece) + KTR_SAMPLE_BUFFER_MAX);
	if (!pack->piece)
		return -ENOMEM;
	pack->piece->n_bytes = sizeof(struct ktr_sample_buffer);
	pack->is_closed = 0;
	*pack_head(pack) = (struct ktr_sample_buffer){
		.magic = KTR_SAMPLE_MAGIC, .version = KTR_SAMPLE_VERSION,
		.header_bytes = sizeof(struct ktr_sample_buffer), .number = pack->number, .first = pack->n_taken,
		.n_lost = pack->n_lost, .period_ns = rounds->period_ns, .pid = rounds->pid, .tid = rounds->tid,
	};
	return 0;
}

/* Hands it over, in the end whether there is room or not. 0; -EAGAIN: there is none now; or -errno. */
static int pack_send(struct ktr__pack *pack, int is_end)
{
	const struct ktr__live_rounds *rounds = pack->rounds;
	struct ktr_sample_buffer *head = pack_head(pack);
	int rc;

	head->n_bytes = pack->piece->n_bytes;
	head->n_samples = pack->piece->n_samples;
	head->n_rounds = rounds->n_rounds;
	head->n_missed = rounds->n_missed;
	head->n_stops = rounds->n_stops;
	head->stopped_ns = rounds->stopped_ns;
	head->most_ns = rounds->most_ns;
	rc = ktr__outlet_put(pack->outlet, pack->piece, is_end);
	if (rc)
		return rc;
	pack->piece = NULL;
	pack->number++;
	rc = ktr__outlet_flush(pack->outlet);
	return rc < 0 ? rc : 0;
}

int ktr__pack_send_old(struct ktr__pack *pack, uint64_t now_ns)
{
	int rc = ktr__outlet_flush(pack->outlet);

	if (rc < 0 || !pack->piece || now_ns - pack->sent_ns < PACK_OLD_NS)
		return rc < 0 ? rc : 0;
	rc = pack_send(pack, 0);
	if (rc == -EAGAIN)
		return 0;
	pack->sent_ns = now_ns;
	return rc;
}

void ktr__pack_end(struct ktr__pack *pack, int code)
{
	int rc = 0;

	/* The last one says how many were lost. */
	if (pack->piece && pack->is_closed)
		rc = pack_send(pack, 1);
	if (!rc && !pack->piece)
		rc = pack_begin(pack);
	if (!rc) {
		pack_head(pack)->is_last = 1;
		pack_head(pack)->code = code;
		pack_send(pack, 1);
	}
	if (pack->piece) {
		pack->n_lost += pack->piece->n_samples;
		free(pack->piece);
		pack->piece = NULL;
	}
}

/* ---- samples ---- */

/* Its frames are kept for as long as it sleeps on. NULL: no memory. */
static struct pack_stack *pack_keep(const struct ktr__live_sample *sample)
{
	struct pack_stack *stack = sample->row->own;

	if (sample->is_same && stack)
		return stack;
	if (!stack || stack->room < sample->n_frames) {
		uint32_t room = sample->n_frames + 16;

		stack = realloc(stack, sizeof(*stack) + room * sizeof(stack->frame[0]));
		if (!stack)
			return NULL;
		stack->room = room;
		sample->row->own = stack;
	}
	stack->at = 0;
	stack->n = (uint16_t)sample->n_frames;
	stack->flags = sample->is_cut ? KTR_SAMPLE_CUT : 0;
	/*
	 * What a handler of a signal has interrupted is exact: it is given so that the byte before it is what it
	 * names.
	 */
	for (unsigned i = 0; i < sample->n_frames; i++)
		stack->frame[i] = sample->frame[i].pc + (i && !sample->frame[i].is_return);
	return stack;
}

static size_t pack_bytes(const struct ktr__pack *pack, const struct pack_stack *stack, int *is_back)
{
	*is_back = stack->at && pack->piece && stack->number == pack->number;
	return sizeof(struct ktr_sample_stack) + (*is_back ? 0 : stack->n * sizeof(stack->frame[0]));
}

static void pack_put(struct ktr__pack *pack, const struct ktr__live_sample *sample, struct pack_stack *stack)
{
	int is_back;
	size_t n = pack_bytes(pack, stack, &is_back);
	uint32_t at = pack->piece->n_bytes;
	struct ktr_sample_stack *to = (struct ktr_sample_stack *)(void *)(pack->piece->bytes + at);

	*to = (struct ktr_sample_stack){
		.n_bytes = (uint32_t)n,
		.tid = sample->row->tid,
		.time_ns = sample->time_ns,
		.round = sample->round,
		.stopped_ns = sample->stopped_ns < UINT32_MAX ? (uint32_t)sample->stopped_ns : UINT32_MAX,
		.back = is_back ? at - stack->at : 0,
		.n_frames = stack->n,
		.state = sample->state,
		.flags = (uint8_t)(stack->flags | (sample->is_same ? KTR_SAMPLE_SLEPT : 0) |
				   (sample->is_fault ? KTR_SAMPLE_FAULT : 0)),
		.code = sample->code,
	};
	if (!is_back) {
		memcpy(to + 1, stack->frame, stack->n * sizeof(stack->frame[0]));
		stack->number = pack->number;
		stack->at = at;
	}
	pack->piece->n_bytes += (uint32_t)n;
	pack->piece->n_samples++;
}

/* Makes room for it. 0; -EAGAIN: there is none; or -errno. */
static int pack_room(struct ktr__pack *pack, const struct pack_stack *stack)
{
	int is_back, rc = 0;
	size_t n = pack_bytes(pack, stack, &is_back);

	if (pack->piece && (pack->is_closed || pack->piece->n_bytes + n > KTR_SAMPLE_BUFFER_MAX)) {
		rc = pack_send(pack, 0);
		if (!rc)
			pack->sent_ns = 0;
	}
	return rc ? rc : pack->piece ? 0 : pack_begin(pack);
}

int ktr__pack_add(struct ktr__pack *pack, const struct ktr__live_sample *sample)
{
	struct pack_stack *stack = pack_keep(sample);
	int rc = stack ? pack_room(pack, stack) : -ENOMEM;

	if (!rc)
		pack_put(pack, sample, stack);
	/* Full ones come later, at their time: an old one may follow soon. */
	if (!pack->sent_ns)
		pack->sent_ns = sample->time_ns;
	pack->n_taken++;
	if (rc) {
		pack->n_lost++;
		pack->is_closed = 1;
	}
	return rc == -EAGAIN ? 0 : rc;
}

void ktr__pack_lost(struct ktr__pack *pack, uint64_t n)
{
	pack->n_taken += n;
	pack->n_lost += n;
	pack->is_closed = 1;
}

/* ---- for whoever reads ---- */

static int pack_bad(int *code)
{
	if (code)
		*code = -EBADMSG;
	return 0;
}

static int pack_is_sample(const struct ktr_sample_buffer *buffer, uint32_t at, int *code)
{
	const unsigned char *bytes = (const unsigned char *)buffer;
	const struct ktr_sample_stack *sample = (const struct ktr_sample_stack *)(const void *)(bytes + at);
	const struct ktr_sample_stack *owner = sample;

	if (buffer->n_bytes - at < sizeof(*sample) || sample->n_bytes < sizeof(*sample) || sample->n_bytes % 8 ||
	    sample->n_bytes > buffer->n_bytes - at)
		return pack_bad(code);
	if (sample->back) {
		if (sample->back % 8 || sample->back > at - buffer->header_bytes)
			return pack_bad(code);
		owner = (const struct ktr_sample_stack *)(const void *)(bytes + at - sample->back);
	}
	if ((owner->n_bytes - sizeof(*owner)) / 8 < sample->n_frames || owner->n_bytes < sizeof(*owner) ||
	    (const unsigned char *)owner + owner->n_bytes > bytes + buffer->n_bytes)
		return pack_bad(code);
	return 1;
}

const struct ktr_sample_stack *ktr_sample_next(const struct ktr_sample_buffer *buffer, size_t n,
					 const struct ktr_sample_stack *last, int *code)
{
	const unsigned char *bytes = (const unsigned char *)buffer;
	uint32_t at;

	if (code)
		*code = 0;
	if (n < sizeof(*buffer) || buffer->magic != KTR_SAMPLE_MAGIC || buffer->version != KTR_SAMPLE_VERSION ||
	    buffer->header_bytes < sizeof(*buffer) || buffer->header_bytes % 8 || buffer->n_bytes > n ||
	    buffer->n_bytes < buffer->header_bytes) {
		pack_bad(code);
		return NULL;
	}
	at = last ? (uint32_t)((const unsigned char *)last - bytes) + last->n_bytes : buffer->header_bytes;
	if (at >= buffer->n_bytes || !pack_is_sample(buffer, at, code))
		return NULL;
	return (const struct ktr_sample_stack *)(const void *)(bytes + at);
}

const uint64_t *ktr_sample_frames(const struct ktr_sample_stack *sample)
{
	const unsigned char *owner = (const unsigned char *)sample - sample->back;

	return (const uint64_t *)(const void *)(owner + sizeof(*sample));
}

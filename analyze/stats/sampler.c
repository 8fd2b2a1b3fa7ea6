/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A gap is a time in which the kernel had a thread off its CPU. A call that waited is told after the gaps that are
 * within it: they have its stack then. A page fault is told right after the gap in which the page came; one that
 * the kernel calls minor may as well be the first thing that a thread does after another wait, so a call goes
 * before it, and so does whatever else the thread was seen to do. Gaps that nobody has claimed when a later call
 * is told, or at the end, are told without a stack.
 *
 * A timer's sample brings all ticks that were due since the one before, for the kernel looks at timers in its
 * own tick (ktr/provider/timer/threads.c). But each time that the kernel looks finds a thread, while that
 * runs, in any of its places as likely as in another, whenever it looked before: what is drawn with the same
 * chance has the same weight (Horvitz and Thompson, Journal of the American Statistical Association 47, 1952).
 * So stacks of a thread that follow each other share what was due by then. If each had what it brings, what a
 * thread does last before it sleeps would have more than its share.
 *
 * The kernel's clock is converted, so its times may be a moment off: a switch back may seem to come after what the
 * thread did next (SAMPLER_SKEW_NS). Such a call waits for it.
 */
#include "analyze/stats/sampler.h"

#include "analyze/stats/oncpu.h"
#include "conf/kit/array.h"
#include "ktr/session/kernel_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLER_SKEW_NS	100000u /* as of oncpu.c */
#define SAMPLER_NEAR_NS 50000u	/* between two gaps of one page fault */
#define SAMPLER_SOON_NS 200000u	/* from a gap to the fault that it was for, if nothing is told in between */
#define SAMPLER_LATE_NS 10000000u /* the same where the page was not there: others may have the CPU, too */
#define SAMPLER_GAPS	65536u	/* of a thread that are kept: older ones are told as they are */
#define SAMPLER_KERNEL	(1ull << 63) /* addresses from here on are the kernel's */
#define SAMPLER_STACK	1032u	/* [bytes] as long as the provider's are */
#define SAMPLER_TOGETHER 32u	/* samples that share what was due: an eighth of a second, at 250 ticks */

/* Of a site, beyond enum ktr__kernel_site. */
enum {
	SAMPLER_SAMPLE = KTR__KERNEL_SITES_END,
	SAMPLER_CALL
};

struct sampler_gap {
	uint64_t from_ns, to_ns;
	enum ktr__sample_how how;
	uint64_t ip; /* FAULT: + 1, as of a return address */
	int is_sure; /* FAULT: the kernel says that the page was not there */
	int is_last; /* the thread has done nothing since */
};

/* A call that waited: from when to when, and where. */
struct sampler_call {
	uint64_t from_ns, to_ns;
	char what[32], stack[SAMPLER_STACK];
	struct ktr_event_bytes bytes;
};

/* Samples that are told together. */
struct sampler_held {
	struct sampler_kept {
		struct ktr__sample sample;
		uint64_t time_ns;
		uint32_t cpu;
		struct ktr_event_bytes bytes;
		char *stack; /* owned */
	} *kept; /* owned */
	uint32_t n, room;
	uint64_t n_ticks, ns; /* theirs together */
};

struct ktr__sampler_thread {
	const struct ktr_reader_thread *thread;
	uint64_t since_ns; /* off the CPU; 0: it is on it, or nobody knows */
	enum ktr__sample_how how;
	int is_known; /* its switches are */
	uint64_t on_since_ns, on_ns; /* since_ns likewise */
	struct sampler_gap *gap; /* owned */
	uint32_t n_gaps, room;
	struct sampler_call call; /* to_ns 0: none; one whose last gap has not ended, as it seems */
	struct sampler_held held;
};

/* ---- sites ---- */

static uint8_t sampler_kind(const struct ktr_reader_site *site)
{
	if (!site)
		return KTR__KERNEL_NONE;
	if (ktr__sample_site(site))
		return SAMPLER_SAMPLE;
	if (site->n_args == 4 && site->arg[2].type == KTR_ARG_STR && site->arg[3].type == KTR_ARG_STACK &&
	    strcmp(site->file, "offcpu") == 0 && strcmp(site->func, "blocked") == 0)
		return SAMPLER_CALL;
	return ktr__oncpu_kind(site);
}

static uint8_t sampler_kind_of(struct ktr__sampler *sampler, const struct ktr_event *event)
{
	return event->site->id < sampler->n_sites ? sampler->kind[event->site->id] : sampler_kind(event->site);
}

static struct ktr__sampler_thread *sampler_thread(struct ktr__sampler *sampler,
						  const struct ktr_reader_thread *thread)
{
	struct ktr__sampler_thread *t;

	if (ktr__array_grow(&sampler->thread, &sampler->n_threads, thread->id, sizeof(*sampler->thread)) != 0)
		return NULL;
	t = sampler->thread[thread->id];
	if (!t)
		t = sampler->thread[thread->id] = calloc(1, sizeof(*t));
	if (t)
		t->thread = thread;
	return t;
}

/* ---- what is told ---- */

static int sampler_tell(struct ktr__sampler *sampler, const struct ktr__sampler_thread *t,
			const struct sampler_gap *gap, const struct sampler_call *call)
{
	struct ktr_event at = { .time_ns = gap->to_ns, .thread = t->thread };
	struct ktr_event_bytes none = { (const char *)&gap->ip, gap->ip ? sizeof(gap->ip) : 0, gap->ip != 0, 0 };
	struct ktr__sample sample = { .ns = gap->to_ns - gap->from_ns,
				      .how = gap->how,
				      .stack = call ? &call->bytes : &none };

	if (call && !gap->is_sure && gap->how != KTR__SAMPLE_READY) {
		sample.how = KTR__SAMPLE_OFF;
		snprintf(sample.word, sizeof(sample.word), "%s" KTR__SAMPLE_OFF_WORD, call->what);
	}
	return sampler->found(sampler->context, &at, &sample);
}

/* Gaps that end in a call are its. Older ones are nobody's; those after it stay. */
static int sampler_claim(struct ktr__sampler *sampler, struct ktr__sampler_thread *t,
			 const struct sampler_call *call, uint64_t until_ns)
{
	uint32_t i = 0;
	int rc = 0;

	for (; i < t->n_gaps && t->gap[i].from_ns < until_ns && rc == 0; i++) {
		const struct sampler_gap *gap = &t->gap[i];
		int is_its = call && gap->to_ns > call->from_ns && gap->to_ns <= call->to_ns + SAMPLER_SKEW_NS;

		rc = sampler_tell(sampler, t, gap, is_its ? call : NULL);
	}
	t->n_gaps -= i;
	if (t->n_gaps)
		memmove(t->gap, t->gap + i, t->n_gaps * sizeof(*t->gap));
	return rc;
}

static int sampler_gap(struct ktr__sampler *sampler, struct ktr__sampler_thread *t, uint64_t ns)
{
	struct sampler_gap gap = { t->since_ns, ns, t->how, 0, 0, 1 };
	int rc = 0;

	if (!t->since_ns || ns <= t->since_ns)
		return 0;
	t->since_ns = 0;
	if (t->n_gaps == SAMPLER_GAPS)
		rc = sampler_claim(sampler, t, NULL, t->gap[SAMPLER_GAPS / 2].from_ns);
	if (rc == 0)
		rc = ktr__array_grow(&t->gap, &t->room, t->n_gaps, sizeof(*t->gap));
	if (rc)
		return rc;
	t->gap[t->n_gaps++] = gap;
	if (!t->call.to_ns)
		return 0;
	rc = sampler_claim(sampler, t, &t->call, t->call.to_ns);
	t->call.to_ns = 0;
	return rc;
}

/* ---- events ---- */

/* Who leaves a CPU was on it, who comes was off, since it began or the kernel was listened to. */
static void sampler_begins(const struct ktr__sampler *sampler, struct ktr__sampler_thread *t, uint8_t kind)
{
	uint64_t ns = t->thread->start_ns > sampler->first_ns ? t->thread->start_ns : sampler->first_ns;

	if (kind != KTR__KERNEL_IN) {
		t->on_since_ns = ns;
	} else {
		t->since_ns = ns;
		t->how = KTR__SAMPLE_ASLEEP;
	}
}

static int sampler_switch(struct ktr__sampler *sampler, struct ktr__sampler_thread *t, uint8_t kind, uint64_t ns)
{
	int rc = 0;

	sampler->has_switches = 1;
	if (!t->is_known)
		sampler_begins(sampler, t, kind);
	t->is_known = 1;
	t->on_ns += t->on_since_ns && t->on_since_ns < ns && kind != KTR__KERNEL_IN ? ns - t->on_since_ns : 0;
	t->on_since_ns = kind == KTR__KERNEL_IN ? ns : 0;
	if (kind == KTR__KERNEL_IN) {
		rc = sampler_gap(sampler, t, ns);
		t->since_ns = 0;
	} else if (kind == KTR__KERNEL_EXIT) {
		t->since_ns = 0;
		rc = sampler_claim(sampler, t, NULL, UINT64_MAX);
	} else {
		t->since_ns = ns;
		t->how = kind == KTR__KERNEL_PREEMPTED ? KTR__SAMPLE_READY : KTR__SAMPLE_ASLEEP;
	}
	return rc;
}

/* It has done something: what follows is not what its last gap was for. */
static void sampler_goes_on(const struct ktr__sampler_thread *t)
{
	if (t->n_gaps)
		t->gap[t->n_gaps - 1].is_last = 0;
}

/* How long after a gap may what comes then be its end? Longer where the thread has done nothing in between. */
static uint64_t sampler_near_ns(const struct sampler_gap *gap, int is_found, int is_major)
{
	if (is_found || !gap->is_last)
		return SAMPLER_NEAR_NS;
	return is_major ? SAMPLER_LATE_NS : SAMPLER_SOON_NS;
}

/*
 * The gap before it, and those right before that, were waiting for the page. Who got it may have had to wait for a
 * CPU, too, more than once.
 */
static void sampler_fault(struct ktr__sampler_thread *t, const struct ktr_event *event, int is_major)
{
	uint64_t ns = event->time_ns;
	int is_found = 0;

	for (uint32_t i = t->n_gaps; i-- > 0; ns = t->gap[i].from_ns) {
		if (ns >= t->gap[i].to_ns + sampler_near_ns(&t->gap[i], is_found, is_major))
			break;
		if (t->gap[i].how == KTR__SAMPLE_FAULT || (!is_major && !t->gap[i].is_last))
			break;
		if (t->gap[i].how != KTR__SAMPLE_ASLEEP)
			continue;
		is_found = 1;
		t->gap[i].is_sure = is_major;
		t->gap[i].how = KTR__SAMPLE_FAULT;
		/* Where the kernel itself was is no place in the program. */
		t->gap[i].ip = event->arg[3] < SAMPLER_KERNEL ? event->arg[3] + 1 : 0;
	}
}

/* ---- samples ---- */

static uint64_t sampler_part(uint64_t whole, uint32_t i, uint32_t n)
{
	return whole * (i + 1) / n - whole * i / n;
}

/* Those that are held are told, with like shares. */
static int sampler_let_go(struct ktr__sampler *sampler, struct ktr__sampler_thread *t)
{
	struct sampler_held *held = &t->held;
	int rc = 0;

	for (uint32_t i = 0; i < held->n; i++) {
		struct sampler_kept *kept = &held->kept[i];
		const struct ktr_event at = { .time_ns = kept->time_ns, .cpu = kept->cpu, .thread = t->thread };

		kept->bytes.bytes = kept->stack;
		kept->sample.stack = &kept->bytes;
		kept->sample.n_ticks = sampler_part(held->n_ticks, i, held->n);
		kept->sample.ns = sampler_part(held->ns, i, held->n);
		rc = rc ? rc : sampler->found(sampler->context, &at, &kept->sample);
		free(kept->stack);
	}
	held->n = 0;
	held->n_ticks = held->ns = 0;
	return rc;
}

static int sampler_hold(struct sampler_held *held, const struct ktr_event *event,
			const struct ktr__sample *sample)
{
	struct sampler_kept kept = {
		.sample = *sample, .time_ns = event->time_ns, .cpu = event->cpu, .bytes = *sample->stack
	};
	int rc = ktr__array_grow(&held->kept, &held->room, held->n, sizeof(*held->kept));

	kept.stack = rc ? NULL : malloc(sample->stack->n_bytes + 1u);
	if (!kept.stack)
		return -ENOMEM;
	memcpy(kept.stack, sample->stack->bytes, sample->stack->n_bytes);
	held->kept[held->n++] = kept;
	held->n_ticks += sample->n_ticks;
	held->ns += sample->ns;
	return 0;
}

static int sampler_sampled(struct ktr__sampler *sampler, struct ktr__sampler_thread *t,
			   const struct ktr_event *event, const struct ktr__sample *sample)
{
	int has_place = sample->how == KTR__SAMPLE_USER || sample->how == KTR__SAMPLE_KERNEL;
	int rc = has_place ? sampler_hold(&t->held, event, sample) : 0;

	if (!rc && (!has_place || t->held.n == SAMPLER_TOGETHER))
		rc = sampler_let_go(sampler, t);
	return rc || has_place ? rc : sampler->found(sampler->context, event, sample);
}

/* ---- calls ---- */

static void sampler_call_of(struct sampler_call *call, const struct ktr_event *event)
{
	const struct ktr_event_bytes *what = &event->str[2], *stack = &event->str[3];
	const char *name = what->bytes;
	size_t n = what->n_bytes;

	/* __read_chk is what a compiler makes of read. */
	if (n > 6 && memcmp(name, "__", 2) == 0 && memcmp(name + n - 4, "_chk", 4) == 0) {
		name += 2;
		n -= 6;
	}
	snprintf(call->what, sizeof(call->what), "%.*s", n < 31 ? (int)n : 31, name);
	call->to_ns = event->time_ns;
	call->from_ns = event->time_ns > event->arg[0] ? event->time_ns - event->arg[0] : 0;
	call->bytes = *stack;
	call->bytes.bytes = call->stack;
	call->bytes.n_bytes = stack->n_bytes < SAMPLER_STACK ? stack->n_bytes : SAMPLER_STACK;
	memcpy(call->stack, stack->bytes, call->bytes.n_bytes);
}

static int sampler_called(struct ktr__sampler *sampler, struct ktr__sampler_thread *t,
			  const struct ktr_event *event)
{
	struct sampler_call call;
	uint64_t off_ns = event->arg[0] > event->arg[1] ? event->arg[0] - event->arg[1] : 0;
	struct sampler_gap whole = { event->time_ns - off_ns, event->time_ns, KTR__SAMPLE_ASLEEP, 0, 0, 0 };
	int rc;

	sampler_call_of(&call, event);
	if (!t->is_known)
		return sampler_tell(sampler, t, &whole, &call);
	rc = sampler_claim(sampler, t, &call, call.to_ns);
	if (t->since_ns) {
		t->call = call;
		t->call.bytes.bytes = t->call.stack;
	}
	return rc;
}

int ktr__sampler_event(struct ktr__sampler *sampler, const struct ktr_event *event)
{
	uint8_t kind = sampler_kind_of(sampler, event);
	struct ktr__sampler_thread *t;
	struct ktr__sample sample;
	int rc = 0;

	if (!sampler->first_ns)
		sampler->first_ns = event->time_ns;
	sampler->last_ns = event->time_ns;
	if (kind == KTR__KERNEL_NONE || (!sampler->wants_off && kind != SAMPLER_SAMPLE))
		return 0;
	if (sampler->wants_off && strncmp(event->thread->name, "ktr-", 4) == 0)
		return 1; /* one of our own */
	t = sampler_thread(sampler, event->thread);
	if (!t)
		return -ENOMEM;
	if (kind == SAMPLER_SAMPLE) {
		ktr__sample_of(event, &sample);
		/* In the kernel it may be on its way out of what it waited for. */
		if (sample.how != KTR__SAMPLE_KERNEL)
			sampler_goes_on(t);
		rc = sampler_sampled(sampler, t, event, &sample);
		return rc ? rc : 1;
	}
	if (kind == SAMPLER_CALL)
		rc = sampler_called(sampler, t, event);
	else if (kind == KTR__KERNEL_MAJOR || kind == KTR__KERNEL_MINOR)
		sampler_fault(t, event, kind == KTR__KERNEL_MAJOR);
	else
		rc = sampler_switch(sampler, t, kind, event->time_ns);
	if (kind == SAMPLER_CALL)
		sampler_goes_on(t);
	return rc ? rc : 1;
}

void ktr__sampler_loss(struct ktr__sampler *sampler)
{
	for (uint32_t i = 0; i < sampler->n_threads; i++)
		if (sampler->thread[i]) {
			sampler->thread[i]->since_ns = sampler->thread[i]->on_since_ns = 0;
			sampler->thread[i]->call.to_ns = 0;
		}
}

int ktr__sampler_finish(struct ktr__sampler *sampler)
{
	int rc = 0;

	for (uint32_t i = 0; i < sampler->n_threads && rc == 0; i++) {
		struct ktr__sampler_thread *t = sampler->thread[i];

		if (!t)
			continue;
		t->on_ns += t->on_since_ns ? sampler->last_ns - t->on_since_ns : 0;
		t->on_since_ns = 0;
		rc = sampler_let_go(sampler, t);
		if (rc == 0)
			rc = sampler_gap(sampler, t, sampler->last_ns);
		if (rc == 0)
			rc = sampler_claim(sampler, t, NULL, UINT64_MAX);
	}
	return rc;
}

uint64_t ktr__sampler_on_ns(const struct ktr__sampler *sampler, uint32_t id)
{
	return id < sampler->n_threads && sampler->thread[id] ? sampler->thread[id]->on_ns : 0;
}

int ktr__sampler_init(struct ktr__sampler *sampler, const struct ktr_reader *reader,
		      int (*found)(void *context, const struct ktr_event *event, const struct ktr__sample *sample),
		      void *context)
{
	*sampler = (struct ktr__sampler){ .found = found, .context = context };
	sampler->n_sites = ktr_reader_n_sites(reader);
	sampler->kind = calloc(sampler->n_sites + 1, 1);
	if (!sampler->kind)
		return -ENOMEM;
	for (unsigned i = 0; i < sampler->n_sites; i++) {
		sampler->kind[i] = sampler_kind(ktr_reader_site(reader, i));
		sampler->wants_off |= sampler->kind[i] == SAMPLER_CALL;
	}
	return 0;
}

void ktr__sampler_free(struct ktr__sampler *sampler)
{
	for (uint32_t i = 0; i < sampler->n_threads; i++)
		if (sampler->thread[i]) {
			for (uint32_t k = 0; k < sampler->thread[i]->held.n; k++)
				free(sampler->thread[i]->held.kept[k].stack);
			free(sampler->thread[i]->held.kept);
			free(sampler->thread[i]->gap);
			free(sampler->thread[i]);
		}
	free(sampler->thread);
	free(sampler->kind);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function is called, or has returned, whose probe is on. Nothing here locks or allocates, but for the areas
 * of records (record.c); handlers of signals may come at any place.
 *
 * A probe within a probe is one in a handler of a signal, which is recorded as it comes, within FIRE_NEST - 1
 * others at most; or the recorder has called a function of the program's, by the name of one of the C library's:
 * those that it calls itself are excluded (excluded.c), what these call in their turn is told here, and is not
 * recorded. (An event that comes to another CPU just when it has been found to be usual may call, too; that is not
 * told.) What was left by siglongjmp(3) in a handler is told from what is still there by its frame, and by whether
 * what was in its place still is.
 *
 * What is as usual is told of before it comes here: usual.h.
 *
 * This file is compiled for general registers. The recorder's usual way leaves vectors alone but for the lower
 * parts of three; what is out of the ordinary calls functions of the C library, which may use them all: then they
 * are kept around it, for a function may have them as arguments. Out of the ordinary is a thread's first event, its
 * first on another CPU, and a site's first after any change. Where the clock is not the CPU's counter all events go
 * by C, which is ordinary too, but for the lower parts of all vectors, if all that it calls is the C library's.
 */
#include "ktr/provider/fbt/fire.h"

#include "ktr/provider/fbt/ask.h"
#include "ktr/provider/fbt/call.h"
#include "ktr/provider/fbt/excluded.h"
#include "ktr/provider/fbt/filter.h"
#include "ktr/provider/fbt/values.h"
#include "ktr/record/own.h"
#include "ktr/record/record_words.h"
#include "ktr/session/clock.h"

#include <cpuid.h>
#include <signal.h>
#include <sys/syscall.h>

#define FIRE_NEST KTR__FBT_NEST

/* Where glibc keeps a thread's area of rseq(2), since 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

__thread struct ktr__fbt_self ktr__fbt_self;
static ptrdiff_t fire_rseq; /* from the thread pointer; 0: not known */
uint32_t ktr__fbt_wide_mask;
static bool fire_is_low; /* with another clock: only lower parts of vectors change, and no probe is called */
static const struct ktr__session_rw *fire_session;

uintptr_t ktr__fbt_returned_plain;

void ktr__fbt_fire_begin(void)
{
	uint32_t a, b, c, d;

	fire_session = ktr__own_session();
	fire_is_low = ktr__fbt_is_low && ktr__fbt_excluded_are_libc();
	if (&__rseq_size && __rseq_size)
		fire_rseq = __rseq_offset;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	__asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	ktr__fbt_wide_mask = a & 0xe6; /* SSE; AVX; the three of AVX-512 */
}

/* ---- within each other ---- */

static uint64_t fire_blocked(void)
{
	uint64_t blocked = 0;

	ktr__fbt_ask(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&blocked, sizeof(blocked), 0, 0);
	return blocked;
}

/*
 * Around what may call the C library: what is to be put back. What hardly ever calls any does not ask which signals
 * are blocked: of a thread that blocks some, functions that it calls then count as the program's.
 */
static inline struct ktr__fbt_within fire_call(bool asks)
{
	struct ktr__fbt_within before = ktr__fbt_self.calls;
	uintptr_t frame = ktr__fbt_self.depth ? ktr__fbt_self.frame[ktr__fbt_self.depth - 1] : 0;

	if (!frame)
		return before;
	ktr__fbt_self.calls.frame = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ktr__fbt_self.calls.ret = *(const uint64_t *)frame;
	ktr__fbt_self.calls.blocked = asks && !fire_session->sealed ? fire_blocked() : 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ktr__fbt_self.calls.frame = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return before;
}

static inline void fire_called(struct ktr__fbt_within before)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ktr__fbt_self.calls.frame = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ktr__fbt_self.calls.ret = before.ret;
	ktr__fbt_self.calls.blocked = before.blocked;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ktr__fbt_self.calls.frame = before.frame;
}

/*
 * The event around this one may have called: has it? While a handler runs its signal is blocked, as it was not
 * before. What siglongjmp(3) has left may be on another stack, which is no more. In a sandbox nobody is asked.
 */
static bool fire_was_called(void)
{
	uint64_t there = 0;

	return fire_session->sealed ||
	       (!(fire_blocked() & ~ktr__fbt_self.calls.blocked) &&
		ktr__fbt_copy(&there, ktr__fbt_self.calls.frame, sizeof(there)) == sizeof(there) &&
		there == ktr__fbt_self.calls.ret);
}

/* There are probes around this one, or were: how many; FIRE_NEST: too many, or it is the recorder that called. */
static __attribute__((noinline)) uint32_t fire_depth(uint32_t depth, uintptr_t frame)
{
	while (depth && ktr__fbt_self.frame[depth - 1] <= frame)
		depth--;
	if (depth && ktr__fbt_self.frame[depth - 1] == ktr__fbt_self.calls.frame && fire_was_called())
		return FIRE_NEST;
	return depth;
}

/* How many there are around this one, which fire_leave() takes; FIRE_NEST: it is not to be recorded. */
static inline uint32_t fire_enter(const uint64_t *place)
{
	uintptr_t frame = (uintptr_t)place;
	uint32_t depth = ktr__fbt_self.depth;

	if (__builtin_expect(depth, 0) && (depth = fire_depth(depth, frame)) == FIRE_NEST)
		return depth;
	ktr__fbt_self.frame[depth] = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ktr__fbt_self.depth = depth + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return depth;
}

static inline void fire_leave(uint32_t depth)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ktr__fbt_self.depth = depth;
}

/* ---- events ---- */

static inline uint32_t fire_cpu(void)
{
	uint32_t cpu = 0;

	if (fire_rseq)
		__asm__ volatile("movl %%fs:4(%1), %0" : "=r"(cpu) : "r"(fire_rseq));
	return cpu + 1;
}

/* What may be called by the recorder, and so what is to be kept around it. */
enum fire_way {
	FIRE_UNUSUAL, /* any of what it calls */
	FIRE_TIMED, /* clock_gettime(2) of the C library, which goes on to nobody */
	FIRE_USUAL, /* nothing */
};

static inline enum fire_way fire_way(const struct ktr_site *site, uint32_t cpu)
{
	const struct ktr_control *control = __atomic_load_n(&fire_session->control, __ATOMIC_RELAXED);
	uint32_t differs;

	if (cpu != ktr__fbt_self.cpu || !control)
		return FIRE_UNUSUAL;
	differs = site->ready ^ (uint32_t)__atomic_load_n(&control->generation, __ATOMIC_RELAXED);
	if (__builtin_expect(!differs, 1))
		return FIRE_USUAL;
	return differs == KTR__READY_TIMED ? FIRE_TIMED : FIRE_UNUSUAL;
}

struct fire_event {
	struct ktr_site *site;
	uint64_t key; /* of a scope; 0: of none */
};

/* A scope's event has its key; that of a probe by itself has no argument. */
static inline void fire_record(struct ktr_site *site, uint64_t key)
{
	if (key)
		ktr__record1(site, key);
	else
		ktr__record0(site);
}

static void fire_kept(void *context)
{
	const struct fire_event *event = context;

	fire_record(event->site, event->key);
}

static __attribute__((noinline)) void fire_unusual(struct ktr_site *site, uint64_t key, uint32_t cpu)
{
	struct fire_event event = { site, key };
	bool is_low = fire_is_low && fire_way(site, cpu) == FIRE_TIMED;
	struct ktr__fbt_within before = fire_call(!is_low);

	if (is_low)
		ktr__fbt_low(fire_kept, &event);
	else if (ktr__fbt_wide_mask)
		ktr__fbt_wide(fire_kept, &event, ktr__fbt_wide_mask);
	else
		fire_record(site, key);
	fire_called(before);
	ktr__fbt_self.cpu = cpu;
}

static inline void fire_event(struct ktr_site *site, uint64_t key)
{
	uint32_t cpu = fire_cpu();

	if (!(KTR__GATE() & site->mask))
		return;
	if (__builtin_expect(fire_way(site, cpu) == FIRE_USUAL, 1))
		fire_record(site, key);
	else
		fire_unusual(site, key, cpu);
}

static inline struct ktr_provider_probe *fire_probe(struct ktr__fbt_function *function, int which)
{
	struct ktr_provider_probe *probe = __atomic_load_n(&function->probe[which], __ATOMIC_ACQUIRE);

	return ktr__provider_on(probe) ? probe : NULL;
}

/* ---- with arguments: out of line, for who has none ---- */

struct fire_typed {
	struct ktr_site *site;
	unsigned n;
	uint64_t word[1 + KTR__FBT_VALUES];
};

static void fire_typed_record(void *context)
{
	const struct fire_typed *event = context;
	const uint64_t *word = event->word;

	ktr__record_words(event->site, event->n, word[0], word[1], word[2], word[3], word[4], word[5]);
}

/* What an event has: those of a function's entry, or of its return; where one cannot be read, another site's. */
struct fire_part {
	struct ktr_site *site, *unread;
	const struct ktr__fbt_value *value;
	unsigned n;
};

static void fire_take_values(const struct fire_part *part, struct ktr__fbt_source *source, struct fire_typed *event,
			     struct ktr__fbt_text text[KTR__FBT_VALUES])
{
	uint64_t *word = event->word + event->n;
	uint32_t unread = 0;

	for (unsigned i = 0; i < part->n; i++)
		if (!ktr__fbt_value(&part->value[i], source, &text[i], &word[i]))
			unread |= 1u << i;
	event->n += part->n;
	if (__builtin_expect(!unread || !part->unread, 1))
		return;
	event->site = part->unread;
	for (unsigned i = 0; i < part->n; i++)
		if (ktr__fbt_is_number(&part->value[i]))
			word[i] = (uint64_t)(uintptr_t)ktr__fbt_value_told(&part->value[i], word[i],
									   !(unread >> i & 1), &text[i]);
}

/* key: of a scope; 0: of none. Strings may take functions of the C library. */
static void fire_values(const struct fire_part *part, uint64_t key, const uint64_t *place,
			const struct ktr__fbt_vectors *vectors)
{
	struct ktr__fbt_text text[KTR__FBT_VALUES];
	struct fire_typed event = { .site = part->site };
	struct ktr__fbt_source source;
	uint32_t cpu = fire_cpu();
	enum fire_way way;
	bool may_call, asks;
	struct ktr__fbt_within before;

	if (!(KTR__GATE() & part->site->mask))
		return;
	source.place = place;
	source.vectors = vectors;
	source.may_ask = !fire_session->sealed;
	source.window.from = source.window.n = 0;
	if (key)
		event.word[event.n++] = key;
	fire_take_values(part, &source, &event, text);
	way = fire_way(event.site, cpu);
	may_call = way != FIRE_USUAL;
	asks = way == FIRE_UNUSUAL || !fire_is_low;
	for (unsigned i = 0; i < event.n; i++)
		if (event.site->type[i] == KTR_ARG_STR)
			may_call = asks = true;
	if (may_call)
		before = fire_call(asks);
	if (ktr__fbt_wide_mask)
		ktr__fbt_wide(fire_typed_record, &event, ktr__fbt_wide_mask);
	else
		fire_typed_record(&event);
	if (may_call)
		fire_called(before);
	ktr__fbt_self.cpu = cpu;
}

/* Which of a typed function's sites there are. */
static bool fire_made(const struct ktr__fbt_typed *typed, uint32_t site)
{
	return __atomic_load_n(&typed->made, __ATOMIC_ACQUIRE) & site;
}

/* The probe of its entry is not where it usually is, or there is none: only its return is asked for. */
static __attribute__((noinline)) void fire_typed_entered(struct ktr__fbt_function *function,
							 struct ktr__fbt_record *record, const uint64_t *place)
{
	struct ktr__fbt_typed *typed = __atomic_load_n(&function->typed, __ATOMIC_ACQUIRE);
	struct ktr_provider_probe *entry;
	struct ktr__fbt_vectors vectors;
	struct fire_part part;
	uint32_t site;

	ktr__fbt_vectors(&vectors);
	if (!typed || !__atomic_load_n(&typed->on, __ATOMIC_ACQUIRE))
		return;
	entry = __atomic_load_n(&typed->entry, __ATOMIC_ACQUIRE);
	entry = ktr__provider_on(entry) ? entry : NULL;
	site = !record ? KTR__FBT_SITE_ENTRY : entry ? KTR__FBT_SITE_SCOPE : KTR__FBT_SITE_RETURN;
	if (!entry && !record)
		return;
	if (!fire_made(typed, site)) {
		if (entry)
			fire_event(&entry->site, 0);
		return;
	}
	if (record) {
		record->function = &typed->self;
		record->began = (uint64_t)(uintptr_t)place | (entry ? 0 : KTR__FBT_UNBEGUN);
	}
	part = (struct fire_part){ record ? &typed->begin : &typed->entered, NULL, typed->value, typed->n };
	if (typed->unread)
		part.unread = record ? &typed->unread->begin : &typed->unread->entered;
	if (entry)
		fire_values(&part, record ? record->began : 0, place, &vectors);
}

static __attribute__((noinline)) void fire_typed_left(struct ktr__fbt_typed *typed, uint64_t began)
{
	uint64_t key = began & ~(uint64_t)(KTR__FBT_UNBEGUN | KTR__FBT_NO_RESULT);
	const uint64_t *place = (const uint64_t *)(uintptr_t)key;
	struct ktr__fbt_function *function = typed->function;
	struct ktr_provider_probe *probe = fire_probe(function, KTR__FBT_RETURN);
	bool is_alone = began & KTR__FBT_UNBEGUN;
	struct fire_part part = { .n = 0 };

	if (!probe || !key)
		return;
	part.site = is_alone ? &probe->site : &function->scope->end;
	if (typed->n_results && !(began & KTR__FBT_NO_RESULT)) {
		part = (struct fire_part){ is_alone ? &typed->returned : &typed->end, NULL, typed->result,
					   typed->n_results };
		if (typed->unread)
			part.unread = is_alone ? &typed->unread->returned : &typed->unread->end;
	}
	fire_values(&part, is_alone ? 0 : key, place, NULL);
}

/* The function has come to its end, or another one goes on in its place. */
static inline void fire_returned(struct ktr__fbt_record *record)
{
	struct ktr__fbt_function *function = record->function;
	struct ktr_provider_probe *probe = fire_probe(function, KTR__FBT_RETURN);
	uint64_t key = record->began;

	record->began = 0;
	if (probe)
		fire_event(key ? &function->scope->end : &probe->site, key);
	else if (function->typed && function == &function->typed->self)
		fire_typed_left(function->typed, key);
	else if (function == &ktr__fbt_filtered && key)
		ktr__fbt_call_ended((const uint64_t *)(uintptr_t)(key & ~(uint64_t)KTR__FBT_NO_RESULT),
				    !(key & KTR__FBT_NO_RESULT));
}

/* There is no result. */
static void fire_lost(struct ktr__fbt_record *record)
{
	const struct ktr__fbt_function *function = record->function;

	if (record->began && (function == &ktr__fbt_filtered ||
			      (function->typed && function == &function->typed->self)))
		record->began |= KTR__FBT_NO_RESULT;
	fire_returned(record);
}

/* Where it is to return to is taken from its place; NULL: it is let go. */
static inline struct ktr__fbt_record *fire_take(struct ktr__fbt_function *function, uint64_t *place)
{
	struct ktr__fbt_record *record = ktr__fbt_record((uint64_t)(uintptr_t)place);

	if (!record)
		return NULL;
	if (__builtin_expect(ktr__fbt_is_returned(*place), 0))
		fire_lost(record);
	else
		record->ret = *place;
	record->function = function;
	record->began = 0;
	return record;
}

struct ktr__fbt_way ktr__fbt_entered(struct ktr__fbt_function *function, uint64_t *place)
{
	struct ktr__fbt_way way = { NULL, function->body };
	struct ktr_provider_probe *entry;
	struct ktr__fbt_scope *scope;
	uint32_t depth = fire_enter(place);

	if (depth == FIRE_NEST)
		return way;
	entry = fire_probe(function, KTR__FBT_ENTRY);
	if (fire_probe(function, KTR__FBT_RETURN))
		way.record = fire_take(function, place);
	scope = way.record ? __atomic_load_n(&function->scope, __ATOMIC_ACQUIRE) : NULL;
	if (entry && scope) {
		way.record->began = (uint64_t)(uintptr_t)place;
		fire_event(&scope->begin, way.record->began);
	} else if (__builtin_expect(entry != NULL, 1)) {
		fire_event(&entry->site, 0);
	} else {
		fire_typed_entered(function, way.record, place);
	}
	fire_leave(depth);
	return way;
}

/* ---- while a filter is on ---- */

/* Does a call that began while it was end here, with a jump? */
static bool fire_jumps(const uint64_t *place)
{
	const struct ktr__fbt_record *record;

	if (!ktr__fbt_is_returned(*place))
		return false;
	record = ktr__fbt_record((uint64_t)(uintptr_t)place);
	return record && record->function == &ktr__fbt_filtered && record->began;
}

struct ktr__fbt_way ktr__fbt_entered_filtered(struct ktr__fbt_function *function, uint64_t *place)
{
	struct ktr__fbt_way way = { NULL, function->body };
	uint32_t wanted = __atomic_load_n(&function->wanted, __ATOMIC_RELAXED);
	struct ktr__fbt_record *told = NULL;
	struct ktr__fbt_scope *scope;
	struct ktr_provider_probe *entry;
	uint32_t depth = fire_enter(place);
	bool returns, jumps;

	if (depth == FIRE_NEST)
		return way;
	jumps = fire_jumps(place);
	returns = fire_probe(function, KTR__FBT_RETURN);
	if (returns || wanted & KTR__FBT_CALLER)
		way.record = fire_take(function, place);
	if (ktr__fbt_call_begun(function, way.record, place, jumps, &told)) {
		told = returns ? told : NULL;
		scope = told ? __atomic_load_n(&function->scope, __ATOMIC_ACQUIRE) : NULL;
		entry = fire_probe(function, KTR__FBT_ENTRY);
		if (entry && scope) {
			told->began = (uint64_t)(uintptr_t)place;
			fire_event(&scope->begin, told->began);
		} else if (entry) {
			fire_event(&entry->site, 0);
		} else {
			fire_typed_entered(function, told, place);
		}
	}
	fire_leave(depth);
	return way;
}

bool ktr__fbt_fire_held(struct ktr__fbt_function *function, struct ktr__fbt_record *told, const uint64_t *place)
{
	struct ktr__fbt_typed *typed = __atomic_load_n(&function->typed, __ATOMIC_ACQUIRE);
	bool is_typed = typed && __atomic_load_n(&typed->on, __ATOMIC_ACQUIRE), begins;
	struct ktr__fbt_scope *scope = __atomic_load_n(&function->scope, __ATOMIC_ACQUIRE);
	struct ktr_provider_probe *entry = is_typed ? __atomic_load_n(&typed->entry, __ATOMIC_ACQUIRE) : NULL;
	uint64_t key = (uint64_t)(uintptr_t)place;

	entry = entry && ktr__provider_on(entry) ? entry : fire_probe(function, KTR__FBT_ENTRY);
	begins = entry && fire_probe(function, KTR__FBT_RETURN) && scope &&
		 __atomic_load_n(&scope->late, __ATOMIC_ACQUIRE);
	is_typed = is_typed && !entry == !begins &&
		   fire_made(typed, begins ? KTR__FBT_SITE_SCOPE : KTR__FBT_SITE_RETURN);
	told->function = is_typed ? &typed->self : function;
	told->began = begins ? key : is_typed ? key | KTR__FBT_UNBEGUN : 0;
	return begins;
}

struct fire_late {
	struct ktr_site *site;
	uint64_t key;
	uint64_t began;
};

/* The clock is read as late as can be: the event's own time comes after it. */
static void fire_late(void *context)
{
	const struct fire_late *late = context;
	uint64_t ticks = ktr__clock_now(ktr__fbt_filter.clock) - late->began;
	uint32_t rate = __atomic_load_n(&ktr__fbt_filter.ns_per_tick, __ATOMIC_RELAXED);

	ktr__record2(late->site, late->key, (uint64_t)((unsigned __int128)ticks * rate >> KTR__FBT_RATE));
}

void ktr__fbt_fire_late(const struct ktr__fbt_record *told, const uint64_t *place, uint64_t began)
{
	struct ktr__fbt_function *function = told->function;
	struct fire_late late = { .key = (uint64_t)(uintptr_t)place, .began = began };

	if (function->typed && function == &function->typed->self)
		function = function->typed->function;
	late.site = __atomic_load_n(&function->scope->late, __ATOMIC_ACQUIRE);
	if (!(KTR__GATE() & late.site->mask))
		return;
	if (ktr__fbt_wide_mask && fire_way(late.site, fire_cpu()) != FIRE_USUAL) {
		struct ktr__fbt_within before = fire_call(true);

		ktr__fbt_wide(fire_late, &late, ktr__fbt_wide_mask);
		fire_called(before);
	} else {
		fire_late(&late);
	}
}

static void fire_note(void *site)
{
	const struct ktr_control *control = __atomic_load_n(&fire_session->control, __ATOMIC_RELAXED);

	if (control)
		ktr__record3(site, __atomic_load_n(&control->fbt_longer_ns, __ATOMIC_RELAXED),
			     __atomic_load_n(&ktr__fbt_filter.depth, __ATOMIC_RELAXED),
			     __atomic_load_n(&ktr__fbt_filter.within, __ATOMIC_RELAXED));
}

void ktr__fbt_fire_note(void)
{
	struct ktr_site *site = __atomic_load_n(&ktr__fbt_filter.note, __ATOMIC_ACQUIRE);
	struct ktr__fbt_within before;

	if (!site || !(KTR__GATE() & site->mask))
		return;
	before = fire_call(true);
	if (ktr__fbt_wide_mask)
		ktr__fbt_wide(fire_note, site, ktr__fbt_wide_mask);
	else
		fire_note(site);
	fire_called(before);
	ktr__fbt_self.cpu = fire_cpu();
}

void ktr__fbt_fire_ended(struct ktr__fbt_record *told, bool has_result)
{
	if (has_result)
		fire_returned(told);
	else
		fire_lost(told);
}

void ktr__fbt_left(struct ktr__fbt_record *record, const uint64_t *place)
{
	uint32_t depth = fire_enter(place);

	if (depth == FIRE_NEST)
		return;
	fire_returned(record);
	fire_leave(depth);
}

void ktr__fbt_thrown(struct ktr__fbt_record *record, const uint64_t *place)
{
	uint32_t depth = fire_enter(place);

	if (depth == FIRE_NEST)
		return;
	fire_lost(record);
	fire_leave(depth);
}

/*
 * An exception, or the end of a thread, comes through the trampoline, from the body that it has called; any
 * other place there that one comes from, out of a handler of a signal, is passed by. The frame there is as large
 * as that of the body, by which unwinders know a frame that handles an exception, so nobody may pass by: the
 * trampoline goes on at ktr__fbt_unwound, where the function ends, and from where the caller's frame is the
 * next. Who unwinds brings what is called here; rax is 0 among the registers' numbers of DWARF.
 */
#pragma weak _Unwind_Resume
#pragma weak _Unwind_SetGR
#pragma weak _Unwind_SetIP
#pragma weak _Unwind_GetIP

_Unwind_Reason_Code ktr__fbt_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	(void)class;
	if (version != 1 || !(actions & _UA_CLEANUP_PHASE) || !_Unwind_Resume || !_Unwind_SetGR || !_Unwind_SetIP ||
	    !_Unwind_GetIP || !ktr__fbt_is_returned((uint64_t)_Unwind_GetIP(context)))
		return _URC_CONTINUE_UNWIND;
	_Unwind_SetGR(context, 0, (_Unwind_Word)(uintptr_t)exception);
	_Unwind_SetIP(context, (_Unwind_Ptr)(uintptr_t)ktr__fbt_unwound);
	return _URC_INSTALL_CONTEXT;
}

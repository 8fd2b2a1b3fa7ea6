/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The restartable sequences of this architecture: what each writes, when it refuses, and that it
 * can be interrupted before any of its instructions.
 */
#include "test_sequence.h"

#if KTR_ARCH_HAS_RSEQ

/* ---- what is run ---- */

#if KTR_ARCH_HAS_RECORD
static int said(void)
{
	return control.drop_vfork ? KTR_WRITE_COLD : KTR_WRITE_DONE;
}

static int plain_0(void)
{
	control.drop_vfork = 0;
	ktr__record0(&site_0);
	return said();
}

static int plain_3(void)
{
	const uint64_t *a = op_staged[0].arg;

	control.drop_vfork = 0;
	ktr__record3(&site, a[0], a[1], a[2]);
	return said();
}

static int plain_6(void)
{
	const uint64_t *a = op_staged[0].arg;

	control.drop_vfork = 0;
	ktr__record6(&site, a[0], a[1], a[2], a[3], a[4], a[5]);
	return said();
}

#if defined(__x86_64__)
/* Strings of any length; what an event has of them is where op_staged has it. */
static char text[1024] __attribute__((aligned(1024))); /* not across the end of a page */
static struct ktr_site text_site = { .mask = MASK, .id = OP, .ready = ~READY, .copies = 1 };

static void write_text(unsigned at, unsigned n_args, size_t n)
{
	uint64_t *arg = op_staged[0].arg;
	char *to = (char *)(arg + n_args);
	size_t room = (6 - n_args) * sizeof(*arg), done = 0;

	memset(text, 0, sizeof(text));
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i % 26);
	text_site.text_at = at || n_args > 2 ? (uint8_t)(at + 1) : KTR_TEXT_AT_FIRST;
	text_site.n_args = (uint8_t)n_args;
	arg[at] = n;
	for (unsigned slot = 1; slot <= sizeof(op_staged) / sizeof(op_staged[0]); slot++) {
		size_t part = n - done < room ? n - done : room;

		memset(to, 0, room);
		memcpy(to, text + done, part);
		done += part;
		to = (char *)&op_staged[slot] + KTR_ENTRY_BYTES - KTR_CONT_BYTES;
		room = KTR_CONT_BYTES;
	}
}

/* The only argument; of two, and all that fits; of more, in the last word there is; not the first. */
static void text_5(void)
{
	write_text(0, 1, 5);
}

static void text_40(void)
{
	write_text(0, 1, 40);
}

static void text_32(void)
{
	write_text(0, 2, 32);
}

static void text_41(void)
{
	write_text(0, 1, 41);
}

static void text_96(void)
{
	write_text(0, 1, 96);
}

static void text_144(void)
{
	write_text(0, 2, 144);
}

static void text_8(void)
{
	write_text(0, 5, 8);
}

static void text_20(void)
{
	write_text(2, 3, 20);
}

/* Two strings, the second after the words of the first. */
static char letters[2][32] __attribute__((aligned(64)));
static struct ktr_site both_site = { .mask = MASK, .id = OP, .ready = ~READY, .n_args = 2, .copies = 3,
				     .text_at = KTR_TEXT_AT_BOTH };

static void write_letters(char *to, char from, size_t n, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = i < n ? (char)(from + i) : '\0';
}

static void write_both(size_t n, size_t m)
{
	uint64_t *arg = op_staged[0].arg;

	write_letters(letters[0], 'a', n, sizeof(letters[0]));
	write_letters(letters[1], 'A', m, sizeof(letters[1]));
	memset(arg, 0, sizeof(op_staged[0].arg));
	arg[0] = n;
	arg[1] = m;
	memcpy(arg + 2, letters[0], n);
	memcpy(arg + 2 + (n + 7) / 8, letters[1], m);
}

static void both_16_16(void)
{
	write_both(16, 16);
}

static void both_15_15(void)
{
	write_both(15, 15);
}

static void both_8_9(void)
{
	write_both(8, 9);
}

static void both_0_3(void)
{
	write_both(0, 3);
}

static int strings(void)
{
	control.drop_vfork = 0;
	ktr__record2(&both_site, (uintptr_t)letters[0], (uintptr_t)letters[1]);
	return said();
}

static int string(void)
{
	const uint64_t *a = op_staged[0].arg;
	unsigned at = text_site.text_at == KTR_TEXT_AT_FIRST ? 0 : text_site.text_at - 1u;
	uint64_t b[6];

	for (unsigned i = 0; i < 6; i++)
		b[i] = i == at ? (uintptr_t)text : i < text_site.n_args ? a[i] : 0;
	control.drop_vfork = 0;
	ktr__record6(&text_site, b[0], b[1], b[2], b[3], b[4], b[5]);
	return said();
}
#endif

/* As if this thread had recorded the event before on this CPU, and nothing had happened since. */
static void stay(void)
{
	control.clock_slots = (SLOTS - 1) << 1;
	area.rseq_cs = (uintptr_t)&ktr__record_cs;
	ktr__self.here = (struct ktr__place){ &rings[area.cpu_id], view[area.cpu_id].geom,
					      view[area.cpu_id].base, view[area.cpu_id].mask };
	ktr__self.here_cpu = area.cpu_id;
	memory[area.cpu_id][FIRST - 1].timestamp = started;
}
#endif

static int ticks_1(void)
{
	return ktr__write(image_of(&op_image, op_staged, 1), 0, 0);
}

static int ticks_3(void)
{
	return ktr__write(image_of(&op_image, op_staged, 3), 0, 0);
}

static int given_1(void)
{
	return ktr__write(image_of(&op_image, op_staged, 1), 0, op_time);
}

static int given_3(void)
{
	return ktr__write(image_of(&op_image, op_staged, 3), 0, op_time);
}

static int count(void)
{
	return ktr__count_one(counts, STRIDE, SITE);
}

static int geom(void)
{
	return ktr__geom_commit(ktr__rec.rseq_offset, &rings[0], 0, FIRST << 1, GEOM_NEW);
}

static int other_ticks(void)
{
	return ktr__write(image_of(&other_image, other_staged, OTHER_N), 0, 0);
}

static int other_given(void)
{
	return ktr__write(image_of(&other_image, other_staged, OTHER_N), 0, ktr__ticks());
}

static const struct op count_op = { count, count, 0, 0, NULL, NULL };
static const struct op geom_op = { geom, other_ticks, 0, 0, NULL, NULL };
static const struct op events[] = {
#if KTR_ARCH_HAS_RECORD
	{ plain_0, other_ticks, 1, 0, &ktr__record_cs, NULL },
	{ plain_3, other_ticks, 1, 3, &ktr__record_cs, NULL },
	{ plain_6, other_ticks, 1, 6, &ktr__record_cs, NULL },
	{ plain_0, other_ticks, 1, 0, &ktr__record_cs, stay },
	{ plain_6, other_ticks, 1, 6, &ktr__record_cs, stay },
#endif
#if KTR_ARCH_HAS_RECORD && defined(__x86_64__)
	{ string, other_ticks, 1, 6, &ktr__record_cs, text_5 },
	{ string, other_ticks, 1, 6, &ktr__record_cs, text_40 },
	{ string, other_ticks, 1, 6, &ktr__record_cs, text_32 },
	{ string, other_ticks, 2, 6, &ktr__record_cs, text_41 },
	{ string, other_ticks, 2, 6, &ktr__record_cs, text_96 },
	{ string, other_ticks, 3, 6, &ktr__record_cs, text_144 },
	{ string, other_ticks, 1, 6, &ktr__record_cs, text_8 },
	{ string, other_ticks, 1, 6, &ktr__record_cs, text_20 },
	{ strings, other_ticks, 1, 6, &ktr__record_cs, both_16_16 },
	{ strings, other_ticks, 1, 6, &ktr__record_cs, both_15_15 },
	{ strings, other_ticks, 1, 6, &ktr__record_cs, both_8_9 },
	{ strings, other_ticks, 1, 6, &ktr__record_cs, both_0_3 },
#endif
	{ ticks_1, other_ticks, 1, 6, NULL, NULL },
	{ ticks_3, other_ticks, 3, 6, NULL, NULL },
	{ given_1, other_given, 1, 6, NULL, NULL },
	{ given_3, other_given, 3, 6, NULL, NULL },
};

#define N_EVENTS (sizeof(events) / sizeof(events[0]))

/* ---- what is found ---- */

/* The slots of the event at `slot`, after checking each of its words; 0: it is not whole. */
static unsigned whole(unsigned ring, uint64_t slot, const struct op *op, uint64_t *conts)
{
	const struct ktr_entry *first = &memory[ring][slot % SLOTS];
	const struct ktr_entry *staged = first->site == OP ? op_staged : other_staged;
	unsigned n = first->site == OP ? op->n_slots : OTHER_N;
	unsigned n_args = first->site == OP ? op->n_args : 6;

	if (first->site != staged->site || first->thread != staged->thread ||
	    memcmp(first->arg, staged->arg, n_args * sizeof(uint64_t)) != 0)
		return 0;
	for (unsigned i = 1; i < n; i++) {
		const struct ktr_entry *next = &memory[ring][(slot + i) % SLOTS];

		if (next->timestamp != (KTR_CONT_MARK | *conts) ||
		    memcmp((const char *)next + 8, (const char *)&staged[i] + 8, KTR_CONT_BYTES) != 0)
			return 0;
		++*conts;
	}
	return n;
}

/* Where events of an identity were found, and how often. */
struct found {
	unsigned n;
	uint64_t slot;
	uint64_t time;
};

/* Walks a ring; every event whole, time growing, continuations counted. */
static void walk(unsigned ring, const struct op *op, struct found *ops, struct found *others)
{
	uint64_t head = rings[ring].head >> 1, conts = CONTS, time = started;
	unsigned n;

	memset(ops, 0, sizeof(*ops));
	memset(others, 0, sizeof(*others));
	for (uint64_t slot = FIRST; slot < head; slot += n) {
		const struct ktr_entry *first = &memory[ring][slot % SLOTS];
		struct found *found = first->site == OP ? ops : others;

		n = whole(ring, slot, op, &conts);
		CU_ASSERT_FATAL(n > 0);
		CU_ASSERT((first->timestamp & KTR_TIME_TICKS) >= time);
		time = first->timestamp & KTR_TIME_TICKS;
		*found = (struct found){ found->n + 1, slot, first->timestamp };
	}
	CU_ASSERT_EQUAL(rings[ring].cont[rings[ring].head & 1], conts);
	CU_ASSERT(time <= ktr__ticks());
}

/* ---- interruptions ---- */

/* Interrupts `op` at every instruction in turn, and checks each outcome. */
static void every(const struct op *op, enum interruption kind, int again,
		  void (*check)(const struct op *op, int said))
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO }, before;
	unsigned n_fired = 0, n_aborted = 0;

	plan.kind = kind;
	plan.again = again;
	plan.other = op->other;
	CU_ASSERT_EQUAL_FATAL(sigaction(SIGTRAP, &action, &before), 0);
	describe(op);
	look(op);
	for (unsigned k = 0; place(k); k++) {
		int said;

		start();
		if (op->ready)
			op->ready();
		said = run(op);
		if (!plan.n_fired)
			continue;
		n_fired++;
		n_aborted += plan.n_aborted > 0;
		check(op, said);
	}
	sigaction(SIGTRAP, &before, NULL);
	CU_ASSERT(n_aborted >= 5);
	CU_ASSERT(n_fired > n_aborted);
}

static void check_preempted(const struct op *op, int said)
{
	struct found ops, others;

	walk(0, op, &ops, &others);
	CU_ASSERT_EQUAL(plan.other_said, KTR_WRITE_DONE);
	CU_ASSERT_EQUAL(others.n, plan.n_fired);
	CU_ASSERT(said == KTR_WRITE_DONE || (said == KTR_WRITE_LATE && op->other == other_given));
	CU_ASSERT_EQUAL(ops.n, said == KTR_WRITE_DONE);
	if (plan.n_fired > 1)
		CU_ASSERT(plan.n_aborted > 0);
	if (plan.n_aborted && ops.n)
		CU_ASSERT(ops.slot > others.slot);
	/* Somebody else has been here: the time must be read. */
	if (ops.n && ops.slot > others.slot)
		CU_ASSERT_EQUAL(ops.time & KTR_TIME_APPROX, 0);
	walk(1, op, &ops, &others);
	CU_ASSERT_EQUAL(ops.n + others.n, 0);
}

static void check_migrated(const struct op *op, int said)
{
	struct found ops[2], others[2];

	walk(0, op, &ops[0], &others[0]);
	walk(1, op, &ops[1], &others[1]);
	CU_ASSERT_EQUAL(said, KTR_WRITE_DONE);
	CU_ASSERT_EQUAL(ops[0].n + ops[1].n, 1);
	CU_ASSERT_EQUAL(others[0].n, 1);
	CU_ASSERT_EQUAL(others[1].n, 0);
	if (plan.n_aborted)
		CU_ASSERT_EQUAL(ops[1].n, 1);
	if (ops[0].n)
		CU_ASSERT(ops[0].slot < others[0].slot);
}

static void check_changed(const struct op *op, int said)
{
	struct found ops, others;

	walk(0, op, &ops, &others);
	CU_ASSERT(said == KTR_WRITE_DONE || said == KTR_WRITE_COLD);
	CU_ASSERT_EQUAL(ops.n, said == KTR_WRITE_DONE);
	if (plan.n_aborted)
		CU_ASSERT_EQUAL(said, KTR_WRITE_COLD);
}

static void check_counted(const struct op *op, int said)
{
	(void)op;
	CU_ASSERT_EQUAL(said, KTR_WRITE_DONE);
	CU_ASSERT_EQUAL(counts[SITE] + counts[STRIDE + SITE], 1 + plan.n_fired);
	CU_ASSERT(counts[SITE] >= 1);
	if (plan.n_aborted)
		CU_ASSERT_EQUAL(counts[STRIDE + SITE], plan.kind == MIGRATED);
}

static void check_geom(const struct op *op, int said)
{
	struct found ops, others;

	walk(0, op, &ops, &others);
	CU_ASSERT_EQUAL(rings[0].geom, said == KTR_WRITE_DONE ? GEOM_NEW : GEOM);
	CU_ASSERT_EQUAL(plan.other_said, said == KTR_WRITE_DONE ? KTR_WRITE_COLD : KTR_WRITE_DONE);
	CU_ASSERT_EQUAL(others.n, said != KTR_WRITE_DONE);
	if (plan.n_aborted)
		CU_ASSERT_EQUAL(said, plan.kind == MIGRATED ? KTR_WRITE_COLD : KTR_WRITE_LATE);
}

/* ---- tests ---- */

static void preempted_anywhere(void)
{
	for (unsigned i = 0; i < N_EVENTS; i++)
		every(&events[i], PREEMPTED, 0, check_preempted);
	every(&count_op, PREEMPTED, 0, check_counted);
	every(&geom_op, PREEMPTED, 0, check_geom);
	finish();
}

/* What goes on behind an interruption must be covered as well. */
static void preempted_again(void)
{
	for (unsigned i = 0; i < N_EVENTS; i++)
		every(&events[i], PREEMPTED, 1, check_preempted);
	every(&count_op, PREEMPTED, 1, check_counted);
	finish();
}

static void migrated_anywhere(void)
{
	for (unsigned i = 0; i < N_EVENTS; i++)
		every(&events[i], MIGRATED, 0, check_migrated);
	every(&count_op, MIGRATED, 0, check_counted);
	every(&geom_op, MIGRATED, 0, check_geom);
	finish();
}

static void changed_anywhere(void)
{
	for (unsigned i = 0; i < N_EVENTS; i++)
		every(&events[i], CHANGED, 0, check_changed);
	finish();
}

/* Left alone, each writes its event into the ring of its kind, and nothing elsewhere. */
static void undisturbed(void)
{
	struct found ops, others;

	for (unsigned i = 0; i < N_EVENTS; i++)
		for (unsigned cpu = 0; cpu < N_CPUS; cpu++) {
			start();
			area.cpu_id = cpu;
			if (events[i].ready)
				events[i].ready();
			CU_ASSERT_EQUAL(events[i].run(), KTR_WRITE_DONE);
			walk(cpu, &events[i], &ops, &others);
			CU_ASSERT_EQUAL(ops.n, 1);
			walk(!cpu, &events[i], &ops, &others);
			CU_ASSERT_EQUAL(ops.n, 0);
			for (unsigned slot = 3; slot < FIRST; slot++)
				CU_ASSERT_EQUAL(memory[cpu][slot].thread, 0xeeeeeeee);
		}
	start();
	CU_ASSERT_EQUAL(ktr__write(image_of(&op_image, op_staged, 3), N_CPUS, 0), KTR_WRITE_DONE);
	walk(N_CPUS, &events[N_EVENTS - 1], &ops, &others);
	CU_ASSERT_EQUAL(ops.n, 1);
	CU_ASSERT_EQUAL(rings[0].head, FIRST << 1);
	area.cpu_id = 1;
	CU_ASSERT_EQUAL(ktr__rseq_cpu(), 1);
	finish();
}

static void unready_rings_are_refused(void)
{
	for (unsigned i = 0; i < N_EVENTS; i++) {
		static const uint32_t cpus[] = { N_CPUS, CPU_NONE, CPU_NONE - 1 };

		for (unsigned j = 0; j < 3; j++) {
			start();
			area.cpu_id = cpus[j];
			CU_ASSERT_EQUAL(events[i].run(), KTR_WRITE_COLD);
		}
		start();
		rings[0].geom |= KTR_GEOM_CLOSED;
		CU_ASSERT_EQUAL(events[i].run(), KTR_WRITE_COLD);
		CU_ASSERT_EQUAL(rings[0].head, FIRST << 1);
		CU_ASSERT_EQUAL(memory[0][FIRST].thread, 0xeeeeeeee);
		start();
		if (events[i].ready)
			events[i].ready();
		rings[0].geom |= KTR_GEOM_CLOSED;
		CU_ASSERT_EQUAL(events[i].run(), KTR_WRITE_COLD);
		CU_ASSERT_EQUAL(rings[0].head, FIRST << 1);
#if KTR_ARCH_HAS_RECORD
		/* Who ends early takes back what it armed: the next event must not take it for its own. */
		CU_ASSERT_NOT_EQUAL(area.rseq_cs, (uintptr_t)&ktr__record_cs);
#endif
	}
	start();
	area.cpu_id = CPU_NONE;
	CU_ASSERT_EQUAL(count(), KTR_WRITE_COLD);
	start();
	rings[0].head += 2;
	CU_ASSERT_EQUAL(geom(), KTR_WRITE_LATE);
	area.cpu_id = 1;
	CU_ASSERT_EQUAL(geom(), KTR_WRITE_COLD);
	CU_ASSERT_EQUAL(rings[0].geom, GEOM);
	finish();
}

static void older_time_is_late(void)
{
	start();
	rings[0].last = op_time + 1;
	CU_ASSERT_EQUAL(given_3(), KTR_WRITE_LATE);
	CU_ASSERT_EQUAL(rings[0].head, FIRST << 1);
	rings[0].last = op_time;
	CU_ASSERT_EQUAL(given_3(), KTR_WRITE_DONE);
	CU_ASSERT_EQUAL(memory[0][FIRST].timestamp, op_time);
	CU_ASSERT_EQUAL(rings[0].last, op_time);
	finish();
}

#if KTR_ARCH_HAS_RECORD
/* The clock is read at the first event, at each multiple of k slots, and when the thread was switched. */
static void sparse_time_is_repeated(void)
{
	uint64_t before = 0, slot = FIRST;

	start();
	control.clock_slots = (4 - 1) << 1;
	for (unsigned i = 0; i < 20; i++, slot++) {
		int switched = i == 7;
		uint64_t time;

		if (switched)
			area.rseq_cs = 0;
		CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_DONE);
		time = memory[0][slot % SLOTS].timestamp;
		if (i == 0 || switched || slot % 4 == 0) {
			CU_ASSERT_EQUAL(time & KTR_TIME_APPROX, 0);
			CU_ASSERT(time > before);
			before = time;
		} else {
			CU_ASSERT_EQUAL(time, before | KTR_TIME_APPROX);
		}
	}
	finish();
}

/*
 * As if a system call had slept and come back on another CPU, of a kernel that leaves rseq_cs standing
 * there: the event goes to the ring of the CPU it is on, and reads the clock.
 */
static void a_moved_thread_records_where_it_is(void)
{
	for (unsigned cpu = 0; cpu < N_CPUS; cpu++) {
		uint64_t time;

		start();
		area.cpu_id = !cpu;
		stay();
		area.cpu_id = cpu;
		time = memory[cpu][FIRST - 1].timestamp = started - 1000;
		for (unsigned slot = FIRST; slot < FIRST + 2; slot++) {
			CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_DONE);
			CU_ASSERT_EQUAL(rings[cpu].head, (slot + 1) << 1);
			CU_ASSERT_EQUAL(memory[cpu][slot % SLOTS].site, OP);
		}
		CU_ASSERT(memory[cpu][FIRST].timestamp > time);
		CU_ASSERT_EQUAL(memory[cpu][FIRST].timestamp & KTR_TIME_APPROX, 0);
		CU_ASSERT_EQUAL(rings[!cpu].head, FIRST << 1);
		CU_ASSERT_EQUAL(memory[!cpu][FIRST].thread, 0xeeeeeeee);
		CU_ASSERT_EQUAL(area.rseq_cs, (uintptr_t)&ktr__record_cs);
		CU_ASSERT_EQUAL(ktr__self.here_cpu, cpu);
		CU_ASSERT_PTR_EQUAL(ktr__self.here.ring, &rings[cpu]);
	}
	/* To a CPU that has no ring, and where the thread may not record: rseq_cs is taken back. */
	start();
	stay();
	area.cpu_id = N_CPUS;
	CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_COLD);
	CU_ASSERT_EQUAL(area.rseq_cs, 0);
	start();
	stay();
	area.cpu_id = 1;
	ktr__self.armed = 0;
	CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_COLD);
	CU_ASSERT_EQUAL(area.rseq_cs, 0);
	finish();
}

/* An event that repeats a time takes that of the event before it, whoever wrote that; a continuation has none. */
static void newest_time_is_the_rings(void)
{
	for (unsigned i = 0; i < N_EVENTS; i++) {
		struct ktr_entry *newest, *next;

		start();
		if (events[i].ready)
			events[i].ready();
		CU_ASSERT_EQUAL(events[i].run(), KTR_WRITE_DONE);
		newest = &memory[0][((rings[0].head >> 1) - 1) % SLOTS];
		next = &memory[0][(rings[0].head >> 1) % SLOTS];
		/* As if rseq_cs had been left set while others recorded: see record_x86_64.S. */
		stay();
		control.clock_slots = rings[0].head & ~1u;
		if (newest->timestamp & KTR_CONT_MARK) {
			CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_DONE);
			CU_ASSERT(next->timestamp > memory[0][FIRST].timestamp);
			CU_ASSERT_EQUAL(next->timestamp & KTR_TIME_APPROX, 0);
		} else {
			newest->timestamp += 1ull << 40;
			CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_DONE);
			CU_ASSERT_EQUAL(next->timestamp, newest->timestamp | KTR_TIME_APPROX);
		}
	}
	/* A ring that was made anew has none either. */
	start();
	stay();
	memory[0][FIRST - 1].timestamp = 0;
	CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_DONE);
	CU_ASSERT(memory[0][FIRST].timestamp >= started);
	finish();
}

/* What the words of the control page and of the site say, each at the next event. */
static void special_events_leave_early(void)
{
	start();
	control.generation++; /* a mask or a site has changed */
	CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_COLD);
	start();
	site.ready = 0; /* not looked at yet */
	CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_COLD);
	site.ready = READY;
	start();
	control.generation = (uint32_t)~READY; /* a peer says that numbers are strings */
	CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_COLD);
	start();
	CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_DONE);
	start();
#if defined(__x86_64__)
	write_text(0, 1, 5);
	control.generation++;
	CU_ASSERT_EQUAL(string(), KTR_WRITE_COLD);
	start();
#endif
	ktr__self.armed = 0;
	CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_COLD);
	start();
	stay();
	ktr__self.here.geom = 0; /* vfork(2), fork(2) */
	CU_ASSERT_EQUAL(plain_6(), KTR_WRITE_COLD);
	CU_ASSERT_EQUAL(rings[0].head, FIRST << 1);
	finish();
}

/*
 * Arguments that an event does not have are zero, whatever the registers held; where it has none at all the first
 * word is, and the others stay what they were.
 */
static void missing_arguments_are_zero(void)
{
	start();
	plain_6();
	plain_3();
	memset(memory[0][(FIRST + 2) % SLOTS].arg, 0x5a, sizeof(memory[0][0].arg));
	plain_0();
	for (unsigned i = 0; i < 6; i++) {
		CU_ASSERT_EQUAL(memory[0][FIRST].arg[i], op_staged[0].arg[i]);
		CU_ASSERT_EQUAL(memory[0][FIRST + 1].arg[i], i < 3 ? op_staged[0].arg[i] : 0);
		CU_ASSERT(!KTR_ARCH_HAS_RECORD ||
			  memory[0][(FIRST + 2) % SLOTS].arg[i] == (i ? 0x5a5a5a5a5a5a5a5a : 0));
	}
	finish();
}
#define RECORD_TESTS                                                                             \
	TEST(sparse_time_is_repeated), TEST(a_moved_thread_records_where_it_is),                \
		TEST(newest_time_is_the_rings), TEST(special_events_leave_early),                \
		TEST(missing_arguments_are_zero),
#else
#define RECORD_TESTS
#endif

extern const struct sequence_cs __start___rseq_cs[], __stop___rseq_cs[];

/* All descriptors of this program, the library's too. */
static void descriptors_are_well_formed(void)
{
#if defined(__x86_64__)
	const uint32_t signature = 0x53053053;
#else
	const uint32_t signature = 0xd428bc00;
#endif
	unsigned n = 0;

	for (const struct sequence_cs *cs = __start___rseq_cs; cs < __stop___rseq_cs; cs++, n++) {
		uint32_t word;

		CU_ASSERT_EQUAL((uintptr_t)cs % 32, 0);
		CU_ASSERT_EQUAL(cs->version | cs->flags, 0);
		CU_ASSERT(cs->post_commit_bytes >= 8 && cs->post_commit_bytes < 2048);
		CU_ASSERT(cs->abort - cs->start >= cs->post_commit_bytes);
		memcpy(&word, (const char *)(uintptr_t)cs->abort - sizeof(word), sizeof(word));
		CU_ASSERT_EQUAL(word, signature);
	}
	CU_ASSERT(n >= 8);
}

SUITE(sequence, TEST(undisturbed), TEST(unready_rings_are_refused), TEST(older_time_is_late),
      RECORD_TESTS TEST(descriptors_are_well_formed), TEST(preempted_anywhere),
      TEST(preempted_again), TEST(migrated_anywhere), TEST(changed_anywhere));

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Application classes in a session: a name has one bit, also when many processes bind it at once, and when one
 * of them died while it did.
 */
#include "tests/unit/suite.h"

#include "ktr/control/session_join.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLASS_PROCESSES 4
#define CLASS_ROUNDS	200
#define CLASS_NAMES	(KTR_CLASS_MAX - KTR_CLASS_APP_FIRST)

struct place {
	char dir[64];
	struct ktr__session_rw session;
};

static void place_make(struct place *place)
{
	struct ktr__session_plan plan = { .dir = place->dir, .name = "class", .path = KTR_PATH_THREAD,
					  .clock = KTR_CLOCK_MONOTONIC };
	struct ktr_error err = KTR_ERROR_NONE;
	bool joined;

	memset(place, 0, sizeof(*place));
	strcpy(place->dir, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place->dir));
	CU_ASSERT_FATAL(ktr__session_create(&plan, &place->session, &joined, &err) == 0);
	/* What this process knows of tables is of its own session. */
	ktr__table_forget();
}

static void place_drop(struct place *place)
{
	unlink(place->session.path);
	ktr__session_detach(&place->session);
	ktr__table_forget();
	rmdir(place->dir);
}

static uint64_t bind(struct place *place, const char *name)
{
	return ktr__session_class(&place->session, name, "what it is for");
}

static struct ktr_class_row *row_of(struct place *place, uint32_t i)
{
	return ktr__region_rows(&place->session, class_, struct ktr_class_row) + i;
}

static void names(void)
{
	static const char longest[] = "a_name_that_is_longer_than_there_is_room_for";
	struct place place;
	char name[16];

	place_make(&place);
	CU_ASSERT(bind(&place, "net") == 1ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(bind(&place, "network") == 2ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(bind(&place, "et") == 4ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(bind(&place, longest) == 8ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(bind(&place, longest) == 8ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(bind(&place, "net") == 1ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(ktr__session_class(&place.session, "mute", "") == 16ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(ktr__session_class(&place.session, "mute", "now it says") == 16ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(place.session.control->n_classes == 6);
	CU_ASSERT_STRING_EQUAL(row_of(&place, 2)->name, "network");
	CU_ASSERT(strlen(row_of(&place, 4)->name) == KTR_CLASS_NAME_MAX - 1);
	CU_ASSERT_STRING_EQUAL(ktr__region_rows(&place.session, string, char) + row_of(&place, 1)->help,
			       "what it is for");
	for (unsigned i = 5; i < CLASS_NAMES; i++) {
		snprintf(name, sizeof(name), "class%u", i);
		CU_ASSERT(bind(&place, name) == 1ull << (KTR_CLASS_APP_FIRST + i));
	}
	CU_ASSERT(bind(&place, "one too many") == 0);
	CU_ASSERT(bind(&place, "network") == 2ull << KTR_CLASS_APP_FIRST);
	place_drop(&place);
}

/* A process that was killed after it had claimed a row: whoever needs that name next writes the rest. */
static void killed(void)
{
	struct place place;
	struct ktr_class_row *row;

	place_make(&place);
	CU_ASSERT(bind(&place, "alive") == 1ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(bind(&place, "dead") == 2ull << KTR_CLASS_APP_FIRST);
	row = row_of(&place, 2);
	row->state = KTR_ROW_FREE;
	row->mask = 0;
	memset(row->name, 0, sizeof(row->name));
	place.session.control->n_classes = 2;
	CU_ASSERT(bind(&place, "other") == 4ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(row->state == KTR_ROW_FREE);
	CU_ASSERT(bind(&place, "dead") == 2ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT(row->state == KTR_ROW_READY && row->mask == 2ull << KTR_CLASS_APP_FIRST);
	CU_ASSERT_STRING_EQUAL(row->name, "dead");
	CU_ASSERT(place.session.control->n_classes == 4);
	place_drop(&place);
}

/*
 * Each process binds all names, the first ones in the same order so that they meet, the others each from
 * its own.
 */
static void bind_all(struct place *place, unsigned process, uint64_t *mask)
{
	char name[16];

	for (unsigned i = 0; i < CLASS_NAMES; i++) {
		unsigned which = i < CLASS_NAMES / 2 ? i : CLASS_NAMES - 1 - (i + process) % (CLASS_NAMES / 2);

		snprintf(name, sizeof(name), "class%u", which);
		mask[which] = bind(place, name);
	}
}

static void meet(unsigned *n_arrived, unsigned n)
{
	__atomic_fetch_add(n_arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(n_arrived, __ATOMIC_SEQ_CST) < n)
		sched_yield();
}

/* In a child: binds at the same time as the others, again and again; the first one makes the session as new. */
static void bind_in_turn(struct place *place, unsigned process, uint64_t (*mask)[CLASS_PROCESSES][CLASS_NAMES],
			 unsigned *n_arrived)
{
	struct ktr_control *control = place->session.control;
	char *strings = ktr__region_rows(&place->session, string, char);
	uint64_t string_bytes = control->string_bytes;
	unsigned n = 0, n_wrong = 0;

	for (unsigned round = 0; round < CLASS_ROUNDS; round++) {
		meet(n_arrived, n += CLASS_PROCESSES);
		bind_all(place, process, mask[round][process]);
		meet(n_arrived, n += CLASS_PROCESSES);
		if (process)
			continue;
		n_wrong += control->n_classes != CLASS_NAMES + 1;
		memset(row_of(place, 0), 0, (CLASS_NAMES + 1) * sizeof(struct ktr_class_row));
		control->n_classes = 1;
		memset(strings + string_bytes, 0, control->string_bytes - string_bytes);
		control->string_bytes = string_bytes;
	}
	_exit(n_wrong != 0);
}

static void together(void)
{
	struct shared {
		unsigned n_arrived;
		uint64_t mask[CLASS_ROUNDS][CLASS_PROCESSES][CLASS_NAMES];
	} *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[CLASS_PROCESSES];
	unsigned n_wrong = 0;
	struct place place;
	int status;

	CU_ASSERT_FATAL(shared != MAP_FAILED);
	place_make(&place);
	for (unsigned i = 0; i < CLASS_PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			bind_in_turn(&place, i, shared->mask, &shared->n_arrived);
	}
	for (unsigned i = 0; i < CLASS_PROCESSES; i++)
		CU_ASSERT(pid[i] > 0 && waitpid(pid[i], &status, 0) == pid[i] && status == 0);
	for (unsigned round = 0; round < CLASS_ROUNDS; round++) {
		uint64_t(*mask)[CLASS_NAMES] = shared->mask[round], all = 0;

		for (unsigned k = 0; k < CLASS_NAMES; k++) {
			for (unsigned i = 0; i < CLASS_PROCESSES; i++)
				n_wrong += !mask[i][k] || mask[i][k] != mask[0][k];
			all |= mask[0][k];
		}
		n_wrong += __builtin_popcountll(all) != CLASS_NAMES;
	}
	CU_ASSERT_EQUAL(n_wrong, 0);
	place_drop(&place);
	munmap(shared, sizeof(*shared));
}

SUITE(class, TEST(names), TEST(killed), TEST(together));

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every macro with every form of a class, in one file that is compiled as C and as C++. It counts what it traces
 * by itself and says so at its end, a line for each class:
 *
 *	NAME	events with only that class in the mask	events that a filter by that class finds
 *
 * The two differ by the events whose class is a number that only the running program knows: their call site is of
 * no class. With an argument it enables and fires its probes, too, which switches their class on.
 */
#include <ktr.h>
#include <ktr/probe.h>

#include <stdio.h>

KTR_CLASS_DECLARE(mine); /* as a header would, before the definition */
KTR_CLASS_DECLARE(away); /* in classes_more.c */
KTR_CLASS_DEFINE(mine, "defined in this file");
static KTR_CLASS_DEFINE(inner, "static");

enum which {
	NET,
	GEN,
	INIT,
	MINE,
	INNER,
	AWAY,
	VFS,
	PROBE,
	CLASSES
};
static const char *const names[CLASSES] = { "net", "gen", "init", "mine", "inner", "away", "vfs", "probe" };
static unsigned long masked[CLASSES], filtered[CLASSES];
static volatile int value = 7;

/* n events of a class are made by what follows. */
#define COUNT(which, n) masked[which] += (n), filtered[which] += (n)
#define MADE(which, ...)                                                                         \
	do {                                                                                     \
		COUNT(which, 1);                                                                 \
		__VA_ARGS__;                                                                     \
	} while (0)

#define EVENTS(w, m, n)                                                                          \
	MADE(w, CTR0(m, "ctr"));                                                                 \
	MADE(w, CTR1(m, "ctr %d", n));                                                           \
	MADE(w, CTR2(m, "ctr %d %s", n, "text"));                                                \
	MADE(w, CTR3(m, "ctr %d %d %d", n, n, n));                                               \
	MADE(w, CTR4(m, "ctr %d %d %d %d", n, n, n, n));                                         \
	MADE(w, CTR5(m, "ctr %d %d %d %d %d", n, n, n, n, n));                                   \
	MADE(w, CTR6(m, "ctr %d %d %d %d %d %d", n, n, n, n, n, n));                             \
	MADE(w, CTR(m, "ctr"));                                                                  \
	MADE(w, CTR(m, "ctr %d", n));                                                            \
	MADE(w, CTR(m, "ctr %d %d", n, n));                                                      \
	MADE(w, CTR(m, "ctr %d %d %d", n, n, n));                                                \
	MADE(w, CTR(m, "ctr %d %d %d %d", n, n, n, n));                                          \
	MADE(w, CTR(m, "ctr %d %d %d %d %d", n, n, n, n, n));                                    \
	MADE(w, CTR(m, "ctr %d %d %d %d %d %d", n, n, n, n, n, n))
#define STACKS(w, m)                                                                             \
	MADE(w, CTRSTACK(m, NULL, 2));                                                           \
	MADE(w, CTRSTACK(m, &stack, 0))

#define FAMILY(w, m, KIND, ...)                                                                  \
	MADE(w, KTR_##KIND##0(m, "group", "id", __VA_ARGS__));                                   \
	MADE(w, KTR_##KIND##1(m, "group", "id", __VA_ARGS__, "a:%d", value));                    \
	MADE(w, KTR_##KIND##2(m, "group", "id", __VA_ARGS__, "a:%d", value, "b:%d", value));     \
	MADE(w, KTR_##KIND##3(m, "group", "id", __VA_ARGS__, "a:%d", value, "b:%d", value, "c:%d", value)); \
	MADE(w, KTR_##KIND##4(m, "group", "id", __VA_ARGS__, "a:%d", value, "b:%d", value, "c:%d", value, \
			      "d:%d", value))

/* The beginning and the end. */
#define SCOPE(w, ...)                                                                            \
	do {                                                                                     \
		COUNT(w, 2);                                                                     \
		KTR_SCOPE(__VA_ARGS__);                                                          \
	} while (0)

/* What takes a class. */
#define ALL(w, m)                                                                                \
	EVENTS(w, m, value);                                                                     \
	STACKS(w, m);                                                                            \
	FAMILY(w, m, EVENT, "point:\"%s\"", "mark");                                             \
	FAMILY(w, m, STATE, "state");                                                            \
	FAMILY(w, m, COUNTER, value);                                                            \
	FAMILY(w, m, POINT, "mark");                                                             \
	FAMILY(w, m, START, 1);                                                                  \
	FAMILY(w, m, STOP, 1);                                                                   \
	SCOPE(w, m, "scope");                                                                    \
	SCOPE(w, m, "scope", "a:%d", value);                                                     \
	SCOPE(w, m, "scope", "a:%d", value, "b:%d", value);                                      \
	SCOPE(w, m, "scope", "a:%d", value, "b:%d", value, "c:%d", value);                       \
	SCOPE(w, m, "scope", "a:%d", value, "b:%d", value, "c:%d", value, "d:%d", value)

/* What has one in its name. */
#define OWN(w, TR)                                                                               \
	MADE(w, TR##0("tr"));                                                                    \
	MADE(w, TR##1("tr %d", value));                                                          \
	MADE(w, TR##2("tr %d %d", value, value));                                                \
	MADE(w, TR##3("tr %d %d %d", value, value, value));                                      \
	MADE(w, TR##4("tr %d %d %d %d", value, value, value, value));                            \
	MADE(w, TR##5("tr %d %d %d %d %d", value, value, value, value, value));                  \
	MADE(w, TR##6("tr %d %d %d %d %d %d", value, value, value, value, value, value));        \
	MADE(w, TR("tr"));                                                                       \
	MADE(w, TR("tr %d", value));                                                             \
	MADE(w, TR("tr %d %d %d %d %d %d", value, value, value, value, value, value))

static struct ktr_stack stack;

static void numbers(void)
{
	ALL(NET, KTR_NET);
	OWN(GEN, TR);
	OWN(INIT, ITR);
}

static void classes(void)
{
	ALL(MINE, KTR_CLASS(mine));
	ALL(INNER, KTR_CLASS(inner));
	ALL(AWAY, KTR_CLASS(away));
	ALL(MINE, (const struct ktr_class *)KTR_CLASS(mine));
}

static void at_run_time(uint64_t mask)
{
	unsigned long before = filtered[VFS];

	EVENTS(VFS, mask, value);
	filtered[VFS] = before;
	MADE(VFS, CTR0(KTR_VFS, "constant"));
}

static void probe_enable(const char *name, struct ktr_probe **probe)
{
	if (ktr_probe_register(KTR_PROBE_CUSTOM, name, "f", NULL, probe) != 0 || ktr_probe_enable(*probe) != 0)
		printf("%s\n", "a probe cannot be enabled");
}

static void probes(void)
{
	struct ktr_probe *handle, *point;

	probe_enable("handle", &handle);
	probe_enable("point", &point);
	MADE(PROBE, KTR_PROBE0(handle));
	MADE(PROBE, KTR_PROBE1(handle, value));
	MADE(PROBE, KTR_PROBE2(handle, value, value));
	MADE(PROBE, KTR_PROBE3(handle, value, value, value));
	MADE(PROBE, KTR_PROBE4(handle, value, value, value, value));
	MADE(PROBE, KTR_PROBE5(handle, value, value, value, value, value));
	MADE(PROBE, KTR_PROBE6(handle, value, value, value, value, value, value));
	MADE(PROBE, KTR_PROBE_POINT0(KTR_PROBE_CUSTOM, "point"));
	MADE(PROBE, KTR_PROBE_POINT1(KTR_PROBE_CUSTOM, "point", value));
	MADE(PROBE, KTR_PROBE_POINT2(KTR_PROBE_CUSTOM, "point", value, value));
	MADE(PROBE, KTR_PROBE_POINT3(KTR_PROBE_CUSTOM, "point", value, value, value));
	MADE(PROBE, KTR_PROBE_POINT4(KTR_PROBE_CUSTOM, "point", value, value, value, value));
	MADE(PROBE, KTR_PROBE_POINT5(KTR_PROBE_CUSTOM, "point", value, value, value, value, value));
	MADE(PROBE, KTR_PROBE_POINT6(KTR_PROBE_CUSTOM, "point", value, value, value, value, value, value));
}

#ifdef __cplusplus
namespace space {
KTR_CLASS_DEFINE(spaced, "in a namespace");
static void inside()
{
	CTR0(KTR_CLASS(spaced), "of another class"); /* counted by none: it must not be among theirs */
}
}

static constexpr const struct ktr_class *constant = KTR_CLASS(mine);
enum class mask_of : uint64_t {
	net = KTR_NET
};

template <class T> static void of_type(T n)
{
	ALL(MINE, KTR_CLASS(mine));
	EVENTS(INNER, KTR_CLASS(inner), (int)n);
}

template <uint64_t mask> static void of_mask()
{
	EVENTS(NET, mask, value);
}

template <struct ktr_class *cls> static void of_class()
{
	EVENTS(AWAY, cls, value);
	SCOPE(AWAY, cls, "scope");
}

struct object {
	object() { MADE(MINE, CTR0(KTR_CLASS(mine), "constructor")); }
	~object() { MADE(AWAY, CTR0(KTR_CLASS(away), "destructor")); }
	void method() const { EVENTS(INNER, KTR_CLASS(inner), value); }
};

inline void in_any_file()
{
	EVENTS(MINE, KTR_CLASS(mine), value);
}

static void cxx()
{
	auto lambda = [](int n) { EVENTS(AWAY, KTR_CLASS(away), n); };
	object o;

	space::inside();
	of_type(1);
	of_type(2.0);
	of_mask<KTR_NET>();
	of_class<&ktr_class_away>();
	o.method();
	in_any_file();
	lambda(value);
	EVENTS(MINE, constant, value);
	EVENTS(NET, mask_of::net, value);
	SCOPE(NET, mask_of::net, "scope");
}
#endif

int main(int argc, char **argv)
{
	ktr_stack_save(&stack);
	for (int i = 0; i < 3; i++) {
		numbers();
		classes();
		at_run_time(KTR_VFS);
#ifdef __cplusplus
		cxx();
#endif
	}
	if (argc > 1)
		probes();
	for (int i = 0; i < CLASSES; i++)
		printf("%s\t%lu\t%lu\n", names[i], masked[i], filtered[i]);
	return argv[0] == NULL;
}

// SPDX-License-Identifier: BSD-2-Clause
// Stacks of 20 known frames, n01 to n20, with something between the first ten and the others: each way is busy for
// MS of CPU time in a function of its name. stack_ways MS WAY...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <stdexcept>
#include <sys/mman.h>
#include <time.h>

#define NOINLINE extern "C" __attribute__((noinline))

extern "C" int plt_add(int a, int b);	   // another object's, called by way of the PLT
extern "C" void no_tables(void (*inner)()); // compiled with neither tables nor frame pointers

static volatile unsigned long sink;
static uint64_t busy_ns;

static uint64_t cpu_ns()
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// ---- frames ----

#define NEST(name, next)                                                                         \
	NOINLINE void name(void (*inner)())                                                      \
	{                                                                                        \
		next;                                                                            \
		sink++;                                                                          \
	}
NEST(n20, inner())
NEST(n19, n20(inner))
NEST(n18, n19(inner))
NEST(n17, n18(inner))
NEST(n16, n17(inner))
NEST(n15, n16(inner))
NEST(n14, n15(inner))
NEST(n13, n14(inner))
NEST(n12, n13(inner))
NEST(n11, n12(inner))
NEST(n10, inner())
NEST(n09, n10(inner))
NEST(n08, n09(inner))
NEST(n07, n08(inner))
NEST(n06, n07(inner))
NEST(n05, n06(inner))
NEST(n04, n05(inner))
NEST(n03, n04(inner))
NEST(n02, n03(inner))
NEST(n01, n02(inner))

#define BURN(name)                                                                               \
	NOINLINE void burn_##name()                                                              \
	{                                                                                        \
		uint64_t end = cpu_ns() + busy_ns;                                               \
												 \
		while (cpu_ns() < end)                                                           \
			for (int i = 0; i < 2000; i++)                                           \
				sink += (unsigned long)i;                                        \
		sink++;                                                                          \
	}

// ---- ways ----

static unsigned n_compared;

BURN(qsort)
NOINLINE int qsort_compare(const void *a, const void *b)
{
	if (n_compared++ == 0)
		n11(burn_qsort);
	return *(const int *)a - *(const int *)b;
}

NOINLINE void way_qsort()
{
	int number[] = { 3, 1, 2, 5, 4 };

	n_compared = 0;
	qsort(number, 5, sizeof(number[0]), qsort_compare);
	sink += (unsigned)number[0];
}

BURN(sort)
NOINLINE bool sort_less(int a, int b)
{
	if (n_compared++ == 40)
		n11(burn_sort);
	return a < b;
}

NOINLINE void way_sort()
{
	int number[100];

	for (int i = 0; i < 100; i++)
		number[i] = i * 37 % 101;
	n_compared = 0;
	std::sort(number, number + 100, sort_less);
	sink += (unsigned)number[0];
}

BURN(signal)
NOINLINE void signal_handler(int)
{
	n11(burn_signal);
	sink++;
}

NOINLINE void way_signal()
{
	signal(SIGUSR1, signal_handler);
	raise(SIGUSR1);
	sink++;
}

// Not by raise(3): wherever the thread is, a leaf function without a frame say.
BURN(fault)
static void *fault_page;
static void fault_handler(int, siginfo_t *, void *)
{
	n11(burn_fault);
	mprotect(fault_page, 4096, PROT_READ | PROT_WRITE);
}

NOINLINE void fault_leaf(volatile int *at)
{
	*at = 1;
}

NOINLINE void way_fault()
{
	struct sigaction action = {};

	fault_page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	action.sa_sigaction = fault_handler;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigaction(SIGSEGV, &action, nullptr);
	fault_leaf((volatile int *)fault_page);
	sink++;
}

// Samples are within the call, its stub, and the prologue and epilogue of who is called.
NOINLINE void burn_plt()
{
	uint64_t end = cpu_ns() + busy_ns;

	while (cpu_ns() < end)
		for (int i = 0; i < 2000; i++)
			sink += (unsigned long)plt_add(i, 1);
	sink++;
}

NOINLINE void way_plt()
{
	n11(burn_plt);
	sink++;
}

BURN(tail)
NOINLINE void tail_last()
{
	n11(burn_tail);
	sink++;
}

NOINLINE void tail_middle()
{
	sink++;
	tail_last();
}

NOINLINE void way_tail()
{
	tail_middle();
	sink++;
}

// Code of a page without a file: with a frame pointer, and without.
static void page_call(const unsigned char *code, size_t n, void (*inner)())
{
	void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void (*)());

	if (page == MAP_FAILED)
		exit(3);
	memcpy(page, code, n);
	memcpy(&call, &page, sizeof(call));
	call(inner);
	munmap(page, 4096);
}

BURN(page)
static void page_inner()
{
	n11(burn_page);
	sink++;
}

NOINLINE void way_page()
{
	// push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };

	page_call(code, sizeof(code), page_inner);
	sink++;
}

BURN(bare)
static void bare_inner()
{
	n11(burn_bare);
	sink++;
}

NOINLINE void way_bare()
{
	// sub $8, %rsp; call *%rdi; add $8, %rsp; ret
	static const unsigned char code[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3 };

	page_call(code, sizeof(code), bare_inner);
	sink++;
}

BURN(tables)
static void tables_inner()
{
	n11(burn_tables);
	sink++;
}

NOINLINE void way_tables()
{
	no_tables(tables_inner);
	sink++;
}

BURN(deep)
NOINLINE void deep(unsigned n)
{
	if (n)
		deep(n - 1);
	else
		n11(burn_deep);
	sink++;
}

NOINLINE void way_deep()
{
	deep(300);
	sink++;
}

BURN(catch)
NOINLINE void throws()
{
	throw std::runtime_error("x");
}

NOINLINE void way_catch()
{
	try {
		n11(throws);
	} catch (const std::runtime_error &) {
		n11(burn_catch);
	}
	sink++;
}

// All the time some frame is being left by an exception.
NOINLINE void burn_unwinding()
{
	uint64_t end = cpu_ns() + busy_ns;

	while (cpu_ns() < end)
		for (int i = 0; i < 20; i++)
			try {
				throws();
			} catch (const std::runtime_error &) {
				sink++;
			}
	sink++;
}

NOINLINE void way_unwinding()
{
	n11(burn_unwinding);
	sink++;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*way)();
	} ways[] = { { "qsort", way_qsort },   { "sort", way_sort },   { "signal", way_signal },
		     { "fault", way_fault },   { "plt", way_plt },     { "tail", way_tail },
		     { "page", way_page },     { "bare", way_bare },   { "tables", way_tables },
		     { "deep", way_deep },     { "catch", way_catch }, { "unwinding", way_unwinding } };

	busy_ns = argc > 1 ? strtoull(argv[1], nullptr, 10) * 1000000 : 0;
	for (int i = 2; i < argc; i++)
		for (const auto &way : ways)
			if (strcmp(argv[i], way.name) == 0)
				n01(way.way);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fbt_ways THREADS ROUNDS [PLUGIN]: functions that are called and left in all ways there are, each result checked:
 * arguments in registers, vectors and on the stack, results of all kinds, recursion, jumps from function to
 * function, exceptions, longjmp(3), coroutines, handlers of signals, children, those of fbt_plugin.c, which is
 * loaded and unloaded each time. Prints "ROUNDS rounds, N wrong", of those that it came to before SIGTERM.
 */
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#include <immintrin.h>

#define NOINLINE __attribute__((noinline))
#define KEEP	 __asm__ volatile("")
#define CHECK(what)                                                                              \
	do {                                                                                     \
		if (!(what)) {                                                                   \
			wrong++;                                                                 \
			fprintf(stderr, "wrong: line %d: %s\n", __LINE__, #what);                \
		}                                                                                \
	} while (0)

static std::atomic<unsigned long> wrong, signals, done;
static std::atomic<bool> ends;

/* ---- arguments and results ---- */

struct five {
	long word[5];
};

struct mixed {
	double real;
	long whole;
};

NOINLINE long leaf(long a)
{
	KEEP;
	return a * 3 + 1;
}

NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, long h, double x, double y)
{
	return leaf(a) + b + c + d + e + f + g * 2 + h * 3 + (long)(x + y);
}

NOINLINE double reals(double a, double b, double c, double d, double e, double f, double g, double h, double i)
{
	KEEP;
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

NOINLINE long double extended(long double a)
{
	KEEP;
	return a * 2;
}

NOINLINE five in_memory(long x)
{
	five made;

	for (int i = 0; i < 5; i++)
		made.word[i] = x + i;
	return made;
}

NOINLINE mixed in_two(long x)
{
	mixed made = { x * 0.5, x };

	__asm__ volatile("" : "+m"(made));
	return made;
}

NOINLINE __int128 twice_as_wide(__int128 a)
{
	KEEP;
	return a * a;
}

NOINLINE long variadic(int n, ...)
{
	va_list list;
	long sum = 0;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		sum += i % 2 ? (long)va_arg(list, double) : va_arg(list, long);
	va_end(list);
	return sum;
}

__attribute__((target("avx"), noinline)) __m256d wide_vector(__m256d a, __m256d b)
{
	return _mm256_add_pd(a, b);
}

__attribute__((target("avx"), noinline)) bool wide_vectors()
{
	double got[4];

	_mm256_storeu_pd(got, wide_vector(_mm256_set_pd(4, 3, 2, 1), _mm256_set_pd(40, 30, 20, 10)));
	return got[0] == 11 && got[1] == 22 && got[2] == 33 && got[3] == 44;
}

/* ---- calls ---- */

NOINLINE long fibonacci(long n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

NOINLINE long odd(long n, long steps);

NOINLINE long even(long n, long steps)
{
	return n ? odd(n - 1, steps + 1) : steps;
}

NOINLINE long odd(long n, long steps)
{
	return n ? even(n - 1, steps + 1) : steps;
}

static int by_value(const void *a, const void *b)
{
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

NOINLINE bool called_back(long seed)
{
	int value[50];

	for (int i = 0; i < 50; i++)
		value[i] = (int)((i * 37 + seed) % 101);
	qsort(value, 50, sizeof(int), by_value);
	for (int i = 1; i < 50; i++)
		if (value[i - 1] > value[i])
			return false;
	return true;
}

/* ---- exceptions ---- */

struct alive {
	long &n;
	explicit alive(long &of) : n(of) { n++; }
	~alive() { n--; }
};

NOINLINE long throws(long depth, long &n)
{
	alive guard(n);

	if (depth == 0)
		throw std::runtime_error("deep");
	return throws(depth - 1, n) + 1;
}

NOINLINE bool catches(long depth)
{
	long n = 0;

	try {
		throws(depth, n);
	} catch (const std::exception &e) {
		return n == 0 && strcmp(e.what(), "deep") == 0;
	}
	return false;
}

NOINLINE bool throws_again(long depth)
{
	long n = 0;

	try {
		alive guard(n);

		try {
			throws(depth, n);
		} catch (...) {
			throw std::string("again");
		}
	} catch (const std::string &text) {
		return n == 0 && text == "again";
	}
	return false;
}

/* ---- other ways out ---- */

NOINLINE void jumps(jmp_buf where, long depth)
{
	if (!depth)
		longjmp(where, 7);
	jumps(where, depth - 1);
	KEEP;
}

NOINLINE bool jumped_to(long depth)
{
	volatile long kept = depth;
	jmp_buf here;
	int got = setjmp(here);

	if (!got)
		jumps(here, depth);
	return got == 7 && kept == depth;
}

struct coroutine {
	ucontext_t own, back;
	long turns, sum;
	char stack[65536];
};

static thread_local coroutine *running;

NOINLINE void yields()
{
	swapcontext(&running->own, &running->back);
}

NOINLINE long works(coroutine *self, long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		sum += leaf(i);
		self->turns++;
		yields();
	}
	return sum;
}

NOINLINE void coroutine_main()
{
	coroutine *self = running;

	self->sum = works(self, 5);
}

NOINLINE void coroutines()
{
	coroutine *all[3];

	for (coroutine *&one : all) {
		one = new coroutine();
		getcontext(&one->own);
		one->own.uc_stack.ss_sp = one->stack;
		one->own.uc_stack.ss_size = sizeof(one->stack);
		one->own.uc_link = &one->back;
		makecontext(&one->own, coroutine_main, 0);
	}
	for (int i = 0; i < 6; i++)
		for (coroutine *one : all) {
			running = one;
			swapcontext(&one->back, &one->own);
		}
	for (coroutine *one : all) {
		CHECK(one->turns == 5 && one->sum == 35);
		delete one;
	}
}

NOINLINE void handled(long x)
{
	signals += leaf(x) > 0;
}

static void on_signal(int)
{
	int saved = errno;

	handled(3);
	errno = saved;
}

static void on_term(int)
{
	ends = true;
}

NOINLINE void forks()
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(fibonacci(10) == 55 && catches(3) ? 0 : 1);
	waitpid(child, &status, 0);
	CHECK(status == 0);
}

/* The last of several threads that leaves has it unloaded, whoever switches its functions just then. */
static const char *plugin_file;

NOINLINE void plugs(int n)
{
	void *plugin = dlopen(plugin_file, RTLD_NOW | RTLD_LOCAL);
	int (*call)(int) = plugin ? reinterpret_cast<int (*)(int)>(dlsym(plugin, "plugin_call")) : nullptr;

	CHECK(call && call(n) == fibonacci(n));
	CHECK(plugin && dlclose(plugin) == 0);
}

static void one_round(long i)
{
	five memory = in_memory(i);
	mixed two = in_two(i);

	CHECK(leaf(i) == i * 3 + 1);
	CHECK(many(i, 1, 2, 3, 4, 5, 6, 7, 1.5, 2.5) == i * 3 + 1 + 15 + 12 + 21 + 4);
	CHECK(reals(1, 2, 3, 4, 5, 6, 7, 8, 9) == 285);
	CHECK(extended(1.25L) == 2.5L);
	CHECK(memory.word[0] == i && memory.word[4] == i + 4);
	CHECK(two.real == i * 0.5 && two.whole == i);
	CHECK((long)(twice_as_wide((__int128)i << 3) >> 6) == i * i);
	CHECK(variadic(10, 1L, 2.0, 3L, 4.0, 5L, 6.0, 7L, 8.0, 9L, 10.0) == 55);
	CHECK(!__builtin_cpu_supports("avx") || wide_vectors());
	CHECK(fibonacci(8) == 21);
	CHECK(even(1000, 0) == 1000);
	CHECK(called_back(i));
	CHECK(catches(i % 12));
	CHECK(throws_again(i % 5));
	CHECK(jumped_to(i % 9));
	coroutines();
	if (plugin_file && i % 8 == 0)
		plugs(static_cast<int>(i % 5));
}

static void rounds(int thread, long n)
{
	for (long i = 0; i < n && !ends; i++) {
		one_round(i);
		done++;
		if (thread == 0 && i % 64 == 0)
			forks();
	}
}

int main(int argc, char **argv)
{
	int n_threads = argc > 1 ? atoi(argv[1]) : 4;
	long n_rounds = argc > 2 ? atol(argv[2]) : 200;
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	std::vector<std::thread> threads;
	struct sigaction action = {};

	plugin_file = argc > 3 ? argv[3] : nullptr;
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, nullptr);
	action.sa_handler = on_term;
	sigaction(SIGTERM, &action, nullptr);
	setitimer(ITIMER_REAL, &every, nullptr);
	for (int i = 0; i < n_threads; i++)
		threads.emplace_back(rounds, i, n_rounds);
	for (std::thread &thread : threads)
		thread.join();
	printf("%lu rounds, %lu wrong\n", done.load(), wrong.load());
	return wrong != 0;
}

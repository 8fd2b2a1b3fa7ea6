/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the calls of each function of a program that is compiled with -finstrument-functions, how many of them
 * end, and how many of these while an exception is on its way, outside of ktr: linked with it, compiled without
 * that flag. The counts lie in the file that FUNCTIONS_COUNT names, which is mapped, so that what is called last is
 * counted, too. Beside it, in FUNCTIONS_COUNT.maps, stands what was mapped where as the program ended.
 * functions.py reads both.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT_ROWS (1u << 16)

struct count_row {
	uint64_t function; /* its address; 0: a free row. Atomic, as all are */
	uint64_t n_begun;
	uint64_t n_ended;
	uint64_t n_thrown;
};

/* Of the C++ library, where the program has it: https://itanium-cxx-abi.github.io/cxx-abi/abi-eh.html, 2.2.2 */
struct count_globals {
	void *caught;
	unsigned int n_uncaught;
};
struct count_globals *__cxa_get_globals(void) __attribute__((weak));

static struct count_row count_none[1], *count_rows;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

/* count_none: nobody asks. */
static struct count_row *count_map(void)
{
	struct count_row *rows = __atomic_load_n(&count_rows, __ATOMIC_ACQUIRE);
	const char *name = rows ? NULL : getenv("FUNCTIONS_COUNT");
	int fd;

	if (rows)
		return rows;
	fd = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd >= 0 && ftruncate(fd, COUNT_ROWS * sizeof(*rows)) == 0)
		rows = mmap(NULL, COUNT_ROWS * sizeof(*rows), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!rows || rows == MAP_FAILED)
		rows = count_none;
	__atomic_store_n(&count_rows, rows, __ATOMIC_RELEASE); /* of two threads both map one file */
	return rows;
}

static struct count_row *count_row(const void *function)
{
	uint64_t mine = (uint64_t)(uintptr_t)function;
	uint32_t at = (uint32_t)(mine * 0x9e3779b97f4a7c15ull >> 48);
	struct count_row *rows = count_map();

	if (rows == count_none)
		return count_none;
	for (;; at = (at + 1) % COUNT_ROWS) {
		uint64_t none = 0;

		if (__atomic_load_n(&rows[at].function, __ATOMIC_RELAXED) == mine)
			return &rows[at];
		if (__atomic_compare_exchange_n(&rows[at].function, &none, mine, 0, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) || none == mine)
			return &rows[at];
	}
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)caller;
	__atomic_fetch_add(&count_row(function)->n_begun, 1, __ATOMIC_RELAXED);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	struct count_row *row = count_row(function);

	(void)caller;
	__atomic_fetch_add(&row->n_ended, 1, __ATOMIC_RELAXED);
	if (__cxa_get_globals && __cxa_get_globals()->n_uncaught)
		__atomic_fetch_add(&row->n_thrown, 1, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void count_end(void)
{
	const char *name = getenv("FUNCTIONS_COUNT");
	char line[4096];
	FILE *in, *out;

	if (!name || snprintf(line, sizeof(line), "%s.maps", name) >= (int)sizeof(line))
		return;
	in = fopen("/proc/self/maps", "r");
	out = fopen(line, "w");
	while (in && out && fgets(line, sizeof(line), in))
		fputs(line, out);
	if (out)
		fclose(out);
	if (in)
		fclose(in);
}

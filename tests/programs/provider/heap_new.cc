/* SPDX-License-Identifier: BSD-2-Clause */
/* A C++ program that gets memory by each operator new, gives it back by each delete, and says what it did. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

struct counts {
	uint64_t got, got_bytes, gave, gave_bytes, refused;
};

struct alignas(128) wide {
	char text[256];
};

struct plain {
	char text[100];
};

static void got(counts &c, void *block, size_t n)
{
	memset(block, 1, n);
	c.got++;
	c.got_bytes += n;
}

static void gave(counts &c, size_t n)
{
	c.gave++;
	c.gave_bytes += n;
}

static std::vector<std::unique_ptr<plain>> kept; /* its own memory is got elsewhere */

__attribute__((noinline)) static void new_work(counts &c, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		plain *one = new plain;
		plain *quiet = new (std::nothrow) plain;
		wide *aligned = new wide;
		wide *aligned_quiet = new (std::nothrow) wide;
		size_t n = 1 + i % 300;
		char *letters = new char[n], *more = new (std::nothrow) char[n];
		wide *several = new wide[2];

		got(c, one, sizeof(*one));
		got(c, quiet, sizeof(*quiet));
		got(c, aligned, sizeof(*aligned));
		got(c, aligned_quiet, sizeof(*aligned_quiet));
		got(c, letters, n);
		got(c, more, n);
		got(c, several, 2 * sizeof(*several));
		if (i % 3 == 0) {
			kept[i / 3].reset(one);
		} else {
			delete one;
			gave(c, sizeof(*one));
		}
		delete quiet;
		delete aligned;
		delete aligned_quiet;
		delete[] letters;
		delete[] more;
		delete[] several;
		gave(c, sizeof(*quiet));
		gave(c, sizeof(*aligned));
		gave(c, sizeof(*aligned_quiet));
		gave(c, n);
		gave(c, n);
		gave(c, 2 * sizeof(*several));
	}
}

/* Exceptions are memory, too. */
static void new_refused(counts &c, unsigned rounds)
{
	volatile size_t most = SIZE_MAX / 4;

	for (unsigned i = 0; i < rounds; i++)
		try {
			char *volatile none = new char[most];

			delete[] none;
		} catch (const std::bad_alloc &) {
			c.refused++;
		}
}

/* Of so many that are refused: some allocators end the program for it. */
int main(int argc, char **argv)
{
	counts c = {};
	const unsigned rounds = 3000;

	kept.resize(rounds);
	new_work(c, rounds);
	new_refused(c, argc > 1 ? (unsigned)atoi(argv[1]) : 0);
	printf("got=%ju got_bytes=%ju live=%ju live_bytes=%ju other=0\n", (uintmax_t)c.got, (uintmax_t)c.got_bytes,
	       (uintmax_t)(c.got - c.gave), (uintmax_t)(c.got_bytes - c.gave_bytes));
	fprintf(stderr, "refused=%ju\n", (uintmax_t)c.refused);
	fflush(stdout);
	_Exit(0); /* what is kept is kept */
}

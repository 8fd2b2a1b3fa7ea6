// SPDX-License-Identifier: BSD-2-Clause
// Threads that keep the loader, malloc, fork and exceptions busy for SECONDS: storm SECONDS. Ends with 0.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::atomic<bool> over;
static std::atomic<unsigned long> counts[5];

static void loads()
{
	static const char *const names[] = { "libz.so.1", "liblzma.so.5", "libcrypt.so.1", "libm.so.6" };

	for (unsigned i = 0; !over; i++) {
		void *handle = dlopen(names[i % 4], RTLD_NOW | RTLD_LOCAL);

		if (handle)
			dlclose(handle);
		counts[0]++;
	}
}

static void allocates()
{
	std::vector<std::string> texts;

	while (!over) {
		texts.emplace_back(1 + texts.size() % 5000, 'x');
		if (texts.size() > 2000)
			texts.clear();
		counts[1]++;
	}
}

static void forks()
{
	while (!over) {
		pid_t pid = fork();

		if (pid == 0) {
			volatile unsigned long n = 0;

			for (int i = 0; i < 200000; i++)
				n = n + (unsigned long)i;
			_exit(0);
		}
		int status = 0;

		if (pid > 0 && (waitpid(pid, &status, 0) != pid || status != 0))
			abort();
		counts[2]++;
	}
}

__attribute__((noinline)) static void throws(unsigned n)
{
	if (n == 0)
		throw std::runtime_error("x");
	throws(n - 1);
	counts[3] += 0;
}

static void catches()
{
	while (!over) {
		try {
			throws(20);
		} catch (const std::runtime_error &) {
			counts[3]++;
		}
	}
}

static void begins()
{
	while (!over) {
		std::thread one([] { counts[4]++; });

		one.join();
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> all;

	for (auto *what : { loads, loads, allocates, allocates, forks, catches, begins })
		all.emplace_back(what);
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 5);
	over = true;
	for (auto &one : all)
		one.join();
	std::printf("%lu loads, %lu allocations, %lu forks, %lu exceptions, %lu threads\n", counts[0].load(), counts[1].load(),
		    counts[2].load(), counts[3].load(), counts[4].load());
	return 0;
}

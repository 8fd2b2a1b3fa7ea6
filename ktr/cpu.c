/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU lists come from sysfs ("0-3,8"), because sysconf() counts CPUs and their numbers may have holes.
 * Where sysfs is missing, sysconf() has to do.
 */
#include "ktr/cpu.h"

#include <ktr/session.h>

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Calls back for each range of a list file. Returns the number of ranges, 0 if there is no list. */
static unsigned cpu_list(const char *path, void (*range)(void *, uint32_t, uint32_t), void *context)
{
	char text[512];
	unsigned ranges = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	for (char *p = text; *p >= '0' && *p <= '9'; ranges++) {
		uint32_t first = 0, last;

		while (*p >= '0' && *p <= '9' && first < KTR_CPU_MAX)
			first = first * 10 + (uint32_t)(*p++ - '0');
		last = first;
		if (*p == '-') {
			p++;
			last = 0;
			while (*p >= '0' && *p <= '9' && last < KTR_CPU_MAX)
				last = last * 10 + (uint32_t)(*p++ - '0');
		}
		range(context, first, last);
		if (*p == ',')
			p++;
	}
	return ranges;
}

static void cpu_highest(void *context, uint32_t first, uint32_t last)
{
	uint32_t *highest = context;

	(void)first;
	if (last > *highest)
		*highest = last;
}

uint32_t ktr__cpus_possible(void)
{
	uint32_t highest = 0;

	if (!cpu_list("/sys/devices/system/cpu/possible", cpu_highest, &highest)) {
		long n = sysconf(_SC_NPROCESSORS_CONF);

		highest = n > 1 ? (uint32_t)n - 1 : 0;
	}
	return highest < KTR_CPU_MAX ? highest + 1 : KTR_CPU_MAX;
}

struct cpu_set {
	uint64_t *words;
	unsigned n_words;
	uint32_t n_cpus;
};

static void cpu_add(void *context, uint32_t first, uint32_t last)
{
	struct cpu_set *set = context;

	for (uint32_t cpu = first; cpu <= last && cpu / 64 < set->n_words; cpu++) {
		set->words[cpu / 64] |= 1ull << cpu % 64;
		set->n_cpus++;
	}
}

uint32_t ktr__cpus_online(uint64_t *words, unsigned n_words)
{
	struct cpu_set set = { words, n_words, 0 };

	memset(words, 0, n_words * sizeof(*words));
	if (!cpu_list("/sys/devices/system/cpu/online", cpu_add, &set) || !set.n_cpus)
		cpu_add(&set, 0, ktr__cpus_possible() - 1);
	return set.n_cpus;
}

#if defined(__x86_64__)
int ktr__cpu_rdpid;

void ktr__cpu_look(void)
{
	unsigned a, b, c, d;

	ktr__cpu_rdpid = __get_cpuid_count(7, 0, &a, &b, &c, &d) && c & 1u << 22;
}
#else
void ktr__cpu_look(void)
{
}
#endif

/* A system call on arm64 where the C library has no restartable sequences to look it up in. */
uint32_t ktr__getcpu(void)
{
	int cpu;

#if defined(__x86_64__)
	if (ktr__cpu_rdpid)
		return ktr__rdpid();
#endif
	cpu = sched_getcpu();
	return cpu < 0 ? 0 : (uint32_t)cpu;
}

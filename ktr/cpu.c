/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU lists come from sysfs ("0-3,8"), because sysconf() counts CPUs and their numbers may have holes.
 * Where sysfs is missing, sysconf() has to do.
 */
#include "ktr/cpu.h"

#include "ktr/kernel.h"

#include <ktr/session.h>

#include <sched.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static uint32_t cpu_clip(uint64_t cpu)
{
	return cpu < KTR_CPU_MAX ? (uint32_t)cpu : KTR_CPU_MAX;
}

/* Calls back for each range of a list file. Returns the number of ranges, 0 if there is no list. */
static unsigned cpu_list(const char *path, void (*range)(void *, uint32_t, uint32_t), void *context)
{
	char text[512];
	const char *p = text;
	unsigned ranges = 0;
	uint64_t first, last;

	ktr__kernel_text(path, text, sizeof(text));
	for (; ktr__kernel_number(&p, &first); ranges++) {
		last = first;
		if (*p == '-') {
			p++;
			ktr__kernel_number(&p, &last);
		}
		range(context, cpu_clip(first), cpu_clip(last));
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
KTR__ASM_NAMES int ktr__cpu_rdpid;

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

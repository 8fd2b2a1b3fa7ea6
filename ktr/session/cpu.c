/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU lists come from sysfs ("0-3,8"), because sysconf() counts CPUs and their numbers may have holes.
 * Where sysfs is missing, sysconf() has to do.
 */
#include "ktr/session/cpu.h"

#include "conf/cpulist.h"
#include "ktr/session/kernel.h"

#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* False: there is no such list, or one of more CPUs than we count. */
static bool cpu_list(const char *path, uint64_t *set)
{
	char text[512];

	ktr__kernel_text(path, text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	return ktr__parse_cpus(text, set, KTR_CPU_MAX, NULL) == 0;
}

uint32_t ktr__cpus_possible(void)
{
	uint64_t set[KTR_CPU_MAX / 64];
	uint32_t n = KTR_CPU_MAX;
	long configured;

	if (cpu_list("/sys/devices/system/cpu/possible", set)) {
		while (n > 1 && !(set[(n - 1) / 64] >> (n - 1) % 64 & 1))
			n--;
		return n;
	}
	configured = sysconf(_SC_NPROCESSORS_CONF);
	return configured < 1 ? 1 : configured < KTR_CPU_MAX ? (uint32_t)configured : KTR_CPU_MAX;
}

uint32_t ktr__cpus_online(uint64_t set[KTR_CPU_MAX / 64])
{
	uint32_t n = 0;

	if (!cpu_list("/sys/devices/system/cpu/online", set)) {
		memset(set, 0, KTR_CPU_MAX / 8);
		for (uint32_t cpu = ktr__cpus_possible(); cpu--;)
			set[cpu / 64] |= 1ull << cpu % 64;
	}
	for (uint32_t cpu = 0; cpu < KTR_CPU_MAX; cpu++)
		n += set[cpu / 64] >> cpu % 64 & 1;
	return n;
}

#if defined(__x86_64__)
KTR__ASM_NAMES int ktr__cpu_rdpid, ktr__cpu_avx2;

/* The upper halves of vectors are there only where the kernel keeps them, which XCR0 tells (Intel SDM 1, 14.3). */
void ktr__cpu_look(void)
{
	unsigned a, b, c, d, kept;

	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return;
	ktr__cpu_rdpid = c & bit_RDPID;
	__cpuid(1, a, kept, c, d);
	if (c & bit_OSXSAVE) {
		__asm__("xgetbv" : "=a"(kept), "=d"(d) : "c"(0));
		ktr__cpu_avx2 = (kept & 6) == 6 && b & bit_AVX2;
	}
}
#else
void ktr__cpu_look(void)
{
}
#endif

/* Weak, for C libraries that do not have them. A size of 0 means that the kernel, or a tunable, said no. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

bool ktr__rseq_look(ptrdiff_t *offset)
{
	if (!&__rseq_size || !&__rseq_offset || !__rseq_size)
		return false;
	*offset = __rseq_offset;
	return true;
}

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

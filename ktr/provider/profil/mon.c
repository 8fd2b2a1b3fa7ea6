/* SPDX-License-Identifier: BSD-2-Clause */
/* monstartup(3), moncontrol(3) and what the exit calls, as BSD's C library has them, on top of profil.c. */
#include "ktr/provider/profil/gmon_file.h"
#include "ktr/provider/profil/profil.h"

#include <ktr/profil.h>

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static pthread_mutex_t mon_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ktr__histogram mon_histogram; /* base 0: there is none. Under the lock, as all */
static uint64_t mon_load_base;

struct mon_object {
	uint64_t at, base;
};

static int mon_find_one(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct mon_object *object = context;

	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    object->at - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz) {
			object->base = info->dlpi_addr;
			return 1;
		}
	return 0;
}

/* What is to be taken off an address for that of the file; 0: it is in no file. */
static uint64_t mon_base(uint64_t at)
{
	struct mon_object object = { at, 0 };

	dl_iterate_phdr(mon_find_one, &object);
	return object.base;
}

static int mon_begin(uint64_t low, uint64_t high)
{
	void *counters;

	if (high - low > UINT32_MAX)
		return -EINVAL; /* more than a file of it counts */
	counters = mmap(NULL, 2 * (high - low), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (counters == MAP_FAILED)
		return -errno;
	ktr__profil_switch(NULL);
	if (mon_histogram.base)
		munmap((void *)mon_histogram.base, 2 * mon_histogram.size); // NOLINT
	mon_histogram = (struct ktr__histogram){ (uintptr_t)counters, high - low, low, KTR_PROFIL_SCALE_ONE, 1 };
	mon_load_base = mon_base(low);
	return ktr__profil_switch(&mon_histogram);
}

static void mon_at_exit(void)
{
	ktr_mcleanup();
}

static void mon_first(void)
{
	atexit(mon_at_exit);
}

int ktr_monstartup(unsigned long lowpc, unsigned long highpc)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t low = lowpc & ~1ul, high = (highpc + 1) & ~1ul;
	int code = -EINVAL;

	if (low < high) {
		pthread_mutex_lock(&mon_lock);
		code = mon_begin(low, high);
		pthread_mutex_unlock(&mon_lock);
		pthread_once(&once, mon_first);
	}
	if (!code)
		return 0;
	errno = -code;
	return -1;
}

void ktr_moncontrol(int mode)
{
	pthread_mutex_lock(&mon_lock);
	if (mon_histogram.base)
		ktr__profil_switch(mode ? &mon_histogram : NULL);
	pthread_mutex_unlock(&mon_lock);
}

int ktr_mcleanup(void)
{
	struct ktr__gmon_file gmon = { .hz = ktr_profil_hz(0) };
	int code = 0;

	pthread_mutex_lock(&mon_lock);
	if (mon_histogram.base) {
		ktr__profil_switch(NULL);
		gmon.low = mon_histogram.offset - mon_load_base;
		gmon.high = gmon.low + mon_histogram.size;
		gmon.counter = (const uint32_t *)mon_histogram.base; // NOLINT
		code = ktr__gmon_file_write(&gmon);
	}
	pthread_mutex_unlock(&mon_lock);
	if (!code)
		return 0;
	errno = -code;
	return -1;
}

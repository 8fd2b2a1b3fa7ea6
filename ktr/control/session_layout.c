/* SPDX-License-Identifier: BSD-2-Clause */
/* A new session file: its regions, its header, what of it is allocated, and what a core takes of it. */
#include "ktr/control/session_layout.h"

#include "ktr/arch/arch.h"
#include "ktr/control/session_join.h"
#include "ktr/session/clock.h"
#include "ktr/session/cpu.h"
#include "ktr/session/kernel.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

/* Rows of the tables; sparse, so that what is not used costs nothing but address space. */
#define LAYOUT_CLASSES 128
#define LAYOUT_SITES	131072
#define LAYOUT_HASH	262144
#define LAYOUT_STRINGS (16u << 20) /* [bytes] */
#define LAYOUT_THREADS 262144
#define LAYOUT_PROCS	16384
#define LAYOUT_MODULES 65536
#define LAYOUT_ANCHORS 1024
#define LAYOUT_PROBES	131072
#define LAYOUT_PROBE_HASH 4096
#define LAYOUT_PROBE_COUNTS 12000 /* with what is before them what a view of them shows, ktr/provider/view/ */
#define LAYOUT_OFFERS	262144
#define LAYOUT_OFFER_HASH 65536
#define LAYOUT_ORIGINS 64 /* knobs whose origin is remembered, in the order of their table */

/* [bytes] address space for the entries of all rings, both halves of each. */
#define LAYOUT_DATA_MAX (64ull << 30)
#define LAYOUT_LOG2_MAX 23 /* 8 Mi entries per ring, as FreeBSD's limit */
#define LAYOUT_LOG2_MIN 12 /* smaller address space than this for a ring is not worth a session */
#define LAYOUT_KEEP_LESS 4 /* a keep ring, or the kernel's, is a sixteenth of a main ring */
#define LAYOUT_POOL_MIN 128 /* thread rings */

KTR__LAYOUT(LAYOUT_THREADS <= KTR_THREAD_INDEX + 1, "a thread's row fits the entry's field");

static uint64_t layout_align(uint64_t bytes)
{
	return (bytes + KTR_SESSION_ALIGN - 1) & ~(uint64_t)(KTR_SESSION_ALIGN - 1);
}

static uint64_t layout_ring_bytes(unsigned log2)
{
	return layout_align((uint64_t)KTR_ENTRY_BYTES << log2);
}

static uint64_t layout_data_bytes(uint32_t n_rings, unsigned log2)
{
	return n_rings * 2 *
	       (layout_ring_bytes(log2) + (KTR_RING_KINDS - 1) * layout_ring_bytes(log2 - LAYOUT_KEEP_LESS));
}

/* The regions. Of count and ring n_rows is per ring; a data region's rows follow from the rings' size. */
static const struct layout_table {
	uint32_t row_bytes;
	uint32_t n_rows;
	uint32_t at_once; /* [bytes] allocated before anybody sees the session; UINT32_MAX: all */
} layout_tables[KTR_REGIONS] = {
	[KTR_REGION_control] = { sizeof(struct ktr_control), 1, UINT32_MAX },
	[KTR_REGION_class_] = { sizeof(struct ktr_class_row), LAYOUT_CLASSES, 4096 },
	[KTR_REGION_site] = { sizeof(struct ktr_site_row), LAYOUT_SITES, 4096 },
	[KTR_REGION_site_hash] = { sizeof(uint32_t), LAYOUT_HASH, 0 },
	[KTR_REGION_site_ctl] = { 1, LAYOUT_SITES, 4096 },
	[KTR_REGION_string] = { 1, LAYOUT_STRINGS, 4096 },
	[KTR_REGION_thread] = { sizeof(struct ktr_thread_row), LAYOUT_THREADS, 4096 },
	[KTR_REGION_proc] = { sizeof(struct ktr_proc_row), LAYOUT_PROCS, 4096 },
	[KTR_REGION_module] = { sizeof(struct ktr_module_row), LAYOUT_MODULES, 4096 },
	[KTR_REGION_anchor] = { sizeof(struct ktr_anchor), LAYOUT_ANCHORS, 4096 },
	[KTR_REGION_origin] = { sizeof(struct ktr_origin), LAYOUT_ORIGINS, UINT32_MAX },
	[KTR_REGION_knob] = { sizeof(struct ktr_knob_row), KTR_KNOBS_MAX, 4096 },
	[KTR_REGION_trigger] = { sizeof(struct ktr_trigger), 1, UINT32_MAX },
	[KTR_REGION_count] = { sizeof(uint64_t), LAYOUT_SITES, 0 },
	[KTR_REGION_ring] = { sizeof(struct ktr_ring), KTR_RING_KINDS, UINT32_MAX },
	[KTR_REGION_data] = { sizeof(struct ktr_entry), 0, 0 },
	[KTR_REGION_probe_hash] = { sizeof(uint32_t), LAYOUT_PROBE_HASH, 0 },
	[KTR_REGION_probe] = { sizeof(struct ktr_probe_row), LAYOUT_PROBES, 0 },
	[KTR_REGION_probe_count] = { sizeof(struct ktr_probe_counts), LAYOUT_PROBE_COUNTS, 0 },
	[KTR_REGION_offer_hash] = { sizeof(uint32_t), LAYOUT_OFFER_HASH, 0 },
	[KTR_REGION_offer] = { sizeof(struct ktr_offer_row), LAYOUT_OFFERS, 0 },
	[KTR_REGION_offer_host] = { sizeof(struct ktr_offer_host), LAYOUT_PROCS, 0 },
};

/* Lays the regions out one after the other for rings of at most 2^log2 entries. */
static void layout_regions(struct ktr_header *header, unsigned log2)
{
	uint64_t at = KTR_SESSION_ALIGN;

	for (unsigned i = 0; i < KTR_REGIONS; i++) {
		const struct layout_table *table = &layout_tables[i];
		struct ktr_region *region = &header->region[i];
		uint64_t n_rows = table->n_rows;

		if (i == KTR_REGION_data)
			n_rows = layout_data_bytes(header->n_rings, log2) / KTR_ENTRY_BYTES;
		else if (i == KTR_REGION_count || i == KTR_REGION_ring)
			n_rows *= header->n_rings;
		region->offset = at;
		region->row_bytes = table->row_bytes;
		region->n_rows = (uint32_t)n_rows;
		region->bytes = table->row_bytes * n_rows;
		at += layout_align(region->bytes);
	}
	header->n_regions = KTR_REGIONS;
	header->ring_log2_max = log2;
	header->keep_log2_max = log2 - LAYOUT_KEEP_LESS;
	header->file_bytes = at;
}

/*
 * The largest file the process may make and map: ftruncate beyond RLIMIT_FSIZE raises SIGXFSZ, and a
 * mapping that eats RLIMIT_AS would make the host's next malloc fail. A quarter is taken at most.
 */
static uint64_t layout_bytes_allowed(void)
{
	struct rlimit fsize, as;
	uint64_t allowed = UINT64_MAX;

	if (getrlimit(RLIMIT_FSIZE, &fsize) == 0 && fsize.rlim_cur != RLIM_INFINITY)
		allowed = fsize.rlim_cur;
	if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY && as.rlim_cur / 4 < allowed)
		allowed = as.rlim_cur / 4;
	return allowed;
}

int ktr__layout_plan(const struct ktr__session_plan *plan, struct ktr_header *header,
			       struct ktr_error *err)
{
	uint64_t allowed = layout_bytes_allowed();
	unsigned log2 = LAYOUT_LOG2_MAX;

	memset(header, 0, sizeof(*header));
	header->n_rings = ktr__cpus_possible();
	if (plan->path == KTR_PATH_THREAD)
		header->n_rings = header->n_rings * 4 > LAYOUT_POOL_MIN ? header->n_rings * 4 :
									    LAYOUT_POOL_MIN;
	while (layout_data_bytes(header->n_rings, log2) > LAYOUT_DATA_MAX)
		log2--;
	layout_regions(header, log2);
	while (header->file_bytes > allowed && log2 > LAYOUT_LOG2_MIN)
		layout_regions(header, --log2);
	if (header->file_bytes > allowed)
		return ktr_error_set(err, EFBIG,
				     "resource limits (RLIMIT_FSIZE, RLIMIT_AS) leave no room for a session of %llu MiB",
				     (unsigned long long)header->file_bytes >> 20);
	return 0;
}

void ktr__layout_fill(const struct ktr__session_plan *plan, struct ktr_header *header)
{
	uint64_t seed[2];

	header->magic = KTR_SESSION_MAGIC;
	header->major = KTR_SESSION_MAJOR;
	header->minor = KTR_SESSION_MINOR;
	header->header_bytes = sizeof(*header);
	header->arch = KTR_ARCH;
	header->path = plan->path;
	header->clock = plan->clock;
	header->creator_pid = (uint32_t)getpid();
	header->creator_uid = (uint32_t)geteuid();
	header->pid_ns = ktr__proc_own_ns();
	ktr__kernel_boot_id(header->boot_id);
	header->ticks_per_s = ktr__clock_hz(plan->clock);
	snprintf(header->name, sizeof(header->name), "%s", plan->name);
	gethostname(header->host, sizeof(header->host) - 1);
	if (getrandom(seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
		seed[0] = ktr__clock_now(plan->clock);
		seed[1] = (uint64_t)getpid() << 32 ^ (uintptr_t)header;
	}
	memcpy(header->uuid, seed, sizeof(header->uuid));
	header->uuid[6] = (header->uuid[6] & 0x0f) | 0x40; /* RFC 4122, version 4 */
	header->uuid[8] = (header->uuid[8] & 0x3f) | 0x80;
}

/*
 * A core that holds shared memory (core(5)) would fill all holes of the sparse file. So it takes of the
 * session the beginning of each table, where rows are, and what is populated later.
 */
void ktr__layout_dump(const struct ktr__session_rw *session)
{
	uint64_t begin = 0, end = KTR_SESSION_ALIGN; /* to be dumped: the header, and what is close after it */

	madvise(session->map, session->header.file_bytes, MADV_DONTDUMP);
	for (int i = 0; i < KTR_REGION_data; i++) {
		const struct ktr_region *region = &session->header.region[i];
		uint64_t bytes = layout_tables[i].at_once;

		if (!bytes)
			continue;
		if (bytes == 4096)
			bytes = KTR__TABLE_DUMPED;
		if (region->offset - end >= KTR_SESSION_ALIGN) {
			madvise(session->map + begin, end - begin, MADV_DODUMP);
			begin = region->offset;
		}
		end = region->offset + (bytes < region->bytes ? bytes : region->bytes);
	}
	madvise(session->map + begin, end - begin, MADV_DODUMP);
}

/*
 * Allocates what every session needs at once, so that a full file system is an error here and not a
 * SIGBUS at the first event: the header, the control page, the ring headers and the heads of the
 * tables.
 */
int ktr__layout_allocate(int fd, const struct ktr_header *header)
{
	int code = posix_fallocate(fd, 0, (off_t)sizeof(*header));

	for (int i = 0; i < KTR_REGIONS && !code; i++) {
		const struct ktr_region *region = &header->region[i];
		uint64_t bytes = layout_tables[i].at_once;

		if (bytes > region->bytes)
			bytes = region->bytes;
		if (bytes)
			code = posix_fallocate(fd, (off_t)region->offset, (off_t)bytes);
	}
	return code;
}

void ktr__layout_first_rows(struct ktr__session_rw *session)
{
	struct ktr_control *control = session->control;
	struct ktr_anchor *anchor = ktr__region_rows(session, anchor, struct ktr_anchor);

	control->generation = 1;
	control->n_classes = 1;
	control->n_sites = 1;
	control->n_threads = 1;
	control->n_procs = 1;
	control->n_modules = 1;
	control->n_knobs = 1;
	control->string_bytes = 1;
	control->keep = KTR_INIT | KTR_PROC;
	control->rotate_bytes = KTR_ROTATE_BYTES;
	control->rotate_keep = KTR_ROTATE_KEEP;
	control->budget = KTR_BUDGET;
	memset(control->cpumask, 0xff, sizeof(control->cpumask));
	ktr__clock_anchor(session->header.clock, anchor);
	anchor->state = KTR_ROW_READY;
	control->n_anchors = 1;
}

/*
 * Whoever maps a session to write takes its regions by C's arrays, one after the other, a ring's areas and counts
 * by the number of rings. So the layout must be the one that we would make, as far as the session's version has it,
 * and the file must be as long.
 */
int ktr__layout_check(const struct ktr_header *header, const char *path, struct ktr_error *err)
{
	struct ktr_header ours = { .n_rings = header->n_rings };
	unsigned n = header->n_regions < KTR_REGIONS ? header->n_regions : KTR_REGIONS;
	const struct ktr_region *last = &ours.region[n - 1];

	layout_regions(&ours, header->ring_log2_max);
	if (ours.keep_log2_max == header->keep_log2_max && header->ring_log2_max <= LAYOUT_LOG2_MAX &&
	    memcmp(ours.region, header->region, n * sizeof(ours.region[0])) == 0 &&
	    last->offset + last->bytes <= header->file_bytes)
		return 0;
	return ktr_error_at(err, path, 0, 0, EPROTO, "a session of another layout than this version of ktr writes into");
}

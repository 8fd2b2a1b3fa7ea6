/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's side of the oracle. The file's path is in the environment, so that who executes another image of the
 * host goes on with it; the mapping outlives closed descriptors, changed roots and users.
 */
#include "host.h"

#include <ktr.h>

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct oracle *oracle;

__attribute__((constructor)) static void oracle_map(void)
{
	const char *path = getenv("STRANGERS_ORACLE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		_exit(120);
	oracle = mmap(NULL, sizeof(*oracle), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (oracle == MAP_FAILED)
		_exit(121);
	close(fd);
}

void host_failed(int line)
{
	oracle->failed = (uint32_t)line;
	_exit(122);
}

struct oracle_row *oracle_row(enum oracle_fate fate)
{
	uint32_t number = __atomic_fetch_add(&oracle->n_rows, 1, __ATOMIC_RELAXED);
	struct oracle_row *row = &oracle->row[number];

	MUST(number < ORACLE_ROWS);
	row->number = number;
	row->fate = fate;
	/* Not what a C library may remember. */
	row->pid = (uint32_t)syscall(SYS_getpid);
	row->tid = (uint32_t)syscall(SYS_gettid);
	return row;
}

/* One in four brings a string with it, long enough to need entries of its own. */
void say(struct oracle_row *row, unsigned n)
{
	static const char text[] = "a text that takes more than one entry of the ring, as its bytes are many";

	for (unsigned i = 0; i < n; i++) {
		uint32_t seq = row->done;

		__atomic_store_n(&row->begun, seq + 1, __ATOMIC_RELEASE);
		if (seq % 4 == 3)
			CTR5(KTR_GEN, "oracle %u %u %u %u: %s", row->number, row->pid, row->tid, seq, text);
		else
			CTR4(KTR_GEN, "oracle %u %u %u %u", row->number, row->pid, row->tid, seq);
		__atomic_store_n(&row->done, seq + 1, __ATOMIC_RELEASE);
	}
	(void)text;
}

void ends_clean(void)
{
	oracle->clean = 1;
}

void meet(void)
{
	uint32_t pair = __atomic_fetch_add(&oracle->met, 1, __ATOMIC_ACQ_REL) / 2;

	while (__atomic_load_n(&oracle->met, __ATOMIC_ACQUIRE) / 2 == pair)
		sched_yield();
}

void tell(const char *line)
{
	MUST(write(STDOUT_FILENO, line, strlen(line)) == (ssize_t)strlen(line));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* FreeBSD's numbers there and back, and the file of records: where it is full, and what of it is read. */
#include "tests/unit/suite.h"

#include "writer/ktrace/freebsd.h"
#include "writer/ktrace/in.h"
#include "writer/ktrace/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void errors_come_back(void)
{
	for (int i = 1; i < 134; i++)
		CU_ASSERT_EQUAL(ktr__freebsd_errno_back(ktr__freebsd_errno(i)), i);
	CU_ASSERT_EQUAL(ktr__freebsd_errno(0), 0);
	CU_ASSERT_EQUAL(ktr__freebsd_errno(ENOENT), 2);
	CU_ASSERT_EQUAL(ktr__freebsd_errno(EAGAIN), 35);
	CU_ASSERT_EQUAL(ktr__freebsd_errno(ENOSYS), 78);
	CU_ASSERT_EQUAL(ktr__freebsd_errno(ENOKEY), 1126);
	CU_ASSERT_EQUAL(ktr__freebsd_errno_back(79), 0); /* EFTYPE is FreeBSD's alone */
	CU_ASSERT_EQUAL(ktr__freebsd_errno_back(-1), 0);
}

static void signals_come_back(void)
{
	uint32_t mask[4];

	for (int i = 1; i <= 64; i++) {
		CU_ASSERT_EQUAL(ktr__freebsd_signal_back(ktr__freebsd_signal(i)), i);
		CU_ASSERT(ktr__freebsd_signal(i) > 0 && ktr__freebsd_signal(i) < KTR__FREEBSD_NSIG);
	}
	CU_ASSERT_EQUAL(ktr__freebsd_signal(SIGUSR1), 30);
	CU_ASSERT_EQUAL(ktr__freebsd_signal(SIGBUS), 10);
	CU_ASSERT_EQUAL(ktr__freebsd_signal_back(29), 0); /* SIGINFO */
	CU_ASSERT_EQUAL(ktr__freebsd_signal(65), 0);
	ktr__freebsd_mask(1ull << (SIGUSR1 - 1) | 1ull << 63, mask);
	CU_ASSERT_EQUAL(mask[0], 1u << 29);
	CU_ASSERT_EQUAL(mask[3], 1u << 0); /* signal 97 is Linux's 64 */
	CU_ASSERT_EQUAL(ktr__freebsd_code(SIGFPE, FPE_INTDIV), 2);
	CU_ASSERT_EQUAL(ktr__freebsd_code(SIGSEGV, FPE_INTDIV), 1);
}

static void addresses_are_cut_to_what_they_are(void)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "/a" };
	struct sockaddr other = { .sa_family = AF_APPLETALK };
	struct ktr__ktrace_sockaddr to;
	char most[256] = { AF_UNIX };

	CU_ASSERT_EQUAL(ktr__freebsd_sockaddr(&local, 5, &to), 5);
	CU_ASSERT(to.len == 5 && to.family == 1 && memcmp(to.data, "/a", 3) == 0);
	CU_ASSERT_EQUAL(ktr__freebsd_sockaddr(&other, sizeof(other), &to), 0);
	CU_ASSERT_EQUAL(ktr__freebsd_sockaddr(&local, 1, &to), 0);
	CU_ASSERT_EQUAL(ktr__freebsd_sockaddr(most, sizeof(most), &to), 0);
	CU_ASSERT_EQUAL(ktr__freebsd_sockaddr(most, sizeof(to), &to), (int)sizeof(to));
}

static void ktrace_put(struct ktr__ktrace_out *out, int n, int wanted)
{
	struct ktr__ktrace_header header = { .type = KTR__KTRACE_USER | KTR__KTRACE_VERSIONED,
					     .version = 1,
					     .pid = 1,
					     .tid = 1,
					     .sec = 1,
					     .comm = "unit" };
	struct ktr__ktrace_part part[2] = { { "number", 6 }, { &n, sizeof(n) } };

	CU_ASSERT_EQUAL(ktr__ktrace_out(out, &header, part), wanted);
}

/* All that is there are records, numbered from 0 on. */
static int ktrace_count(int fd)
{
	struct ktr__ktrace_record record;
	struct ktr__ktrace_in in;
	int n = 0, number;

	CU_ASSERT_EQUAL_FATAL(ktr__ktrace_in_init(&in, fd, "unit"), 0);
	lseek(fd, 0, SEEK_SET);
	while (ktr__ktrace_in_next(&in, &record) > 0) {
		CU_ASSERT_EQUAL_FATAL(record.header.len, 10);
		memcpy(&number, (const char *)record.data + 6, sizeof(number));
		CU_ASSERT_EQUAL(number, n);
		n++;
	}
	ktr__ktrace_in_end(&in);
	CU_ASSERT_EQUAL(in.error.code, 0);
	ktr__ktrace_in_free(&in);
	return n;
}

static void a_full_file_ends_with_a_whole_record(void)
{
	struct rlimit was, limit;
	struct ktr__ktrace_out *out = calloc(1, sizeof(*out));
	void (*action)(int) = signal(SIGXFSZ, SIG_IGN);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	out->fd = memfd_create("ktrace", 0);
	fcntl(out->fd, F_SETFL, O_APPEND);
	for (int i = 0; i < 10; i++)
		ktrace_put(out, i, 0);
	CU_ASSERT_EQUAL(ktr__ktrace_flush(out), 0);
	CU_ASSERT_EQUAL(ktrace_count(out->fd), 10);
	/* Room for three and a half. */
	getrlimit(RLIMIT_FSIZE, &was);
	limit = was;
	limit.rlim_cur = (rlim_t)(10 * 74 + 3 * 74 + 37);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 10; i < 20; i++)
		ktrace_put(out, i, 0);
	CU_ASSERT_EQUAL(ktr__ktrace_flush(out), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &was);
	CU_ASSERT_EQUAL(ktrace_count(out->fd), 13);
	/* What did not fit is forgotten; what comes is written. */
	for (int i = 13; i < 2000; i++)
		ktrace_put(out, i, 0);
	CU_ASSERT_EQUAL(ktr__ktrace_flush(out), 0);
	CU_ASSERT_EQUAL(ktrace_count(out->fd), 2000);
	signal(SIGXFSZ, action);
	close(out->fd);
	free(out);
}

SUITE(ktrace, TEST(errors_come_back), TEST(signals_come_back), TEST(addresses_are_cut_to_what_they_are),
      TEST(a_full_file_ends_with_a_whole_record));

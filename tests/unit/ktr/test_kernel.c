/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says of itself and of processes. */
#include "tests/unit/suite.h"

#include "ktr/session/kernel.h"

#include <sys/wait.h>
#include <unistd.h>

static void our_own_start_time_is_known(void)
{
	uint64_t self = ktr__proc_start_time(0);
	pid_t child;

	CU_ASSERT(self > 0);
	CU_ASSERT_EQUAL(ktr__proc_start_time((uint32_t)getpid()), self);
	CU_ASSERT_EQUAL(ktr__proc_start_time(0x7fffffff), 0);
	CU_ASSERT(ktr__proc_own_ns() > 0);
	child = fork();
	if (child == 0)
		_exit(0);
	/* A zombie has ended; it is one as soon as it can be waited for. */
	CU_ASSERT_EQUAL(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
	CU_ASSERT_EQUAL(ktr__proc_start_time((uint32_t)child), 0);
	waitpid(child, NULL, 0);
}

static void releases_that_do_not_restart(void)
{
	CU_ASSERT(ktr__release_restarts("6.18.44-arm64"));
	CU_ASSERT(ktr__release_restarts("6.1.0-25-arm64"));
	CU_ASSERT(!ktr__release_restarts("6.19"));
	CU_ASSERT(!ktr__release_restarts("6.19.3-1-generic"));
	CU_ASSERT(!ktr__release_restarts("7.0.0-rc4"));
	CU_ASSERT(ktr__release_restarts("7.1.0"));
	CU_ASSERT(ktr__release_restarts("7.01"));
	CU_ASSERT(ktr__release_restarts("6.190"));
	CU_ASSERT(ktr__release_restarts(""));
}

SUITE(kernel, TEST(our_own_start_time_is_known), TEST(releases_that_do_not_restart));

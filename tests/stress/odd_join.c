/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Odd lives: a crowd at the door. Short programs share a session by name, come and go all at once, and some
 * are killed and leave it dead. As long as one lives, the name must lead to the session it records into.
 */
#include "tests/stress/odd.h"

#include <ktr.h>
#include <ktr/ctl.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOIN_AT_ONCE 6

enum { JOIN_LOST, JOIN_STRAY, JOIN_FINE, JOIN_NUMBER };

/* The inode of the session this process has mapped; 0: none. */
static unsigned long join_mapped(void)
{
	char line[4352];
	unsigned long inode = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/ktr-")) /* the name it was made under, or its own */
			sscanf(line, "%*s %*s %*s %*s %lu", &inode);
	if (maps)
		fclose(maps);
	return inode;
}

static void join_one_run(void)
{
	uint64_t number = __atomic_fetch_add(&odd_fact[JOIN_NUMBER], 1, __ATOMIC_RELAXED);
	unsigned long mapped = join_mapped();
	struct stat st;

	CTR1(KTR_GEN, "joined %d", (int)number);
	if (!mapped)
		__atomic_fetch_add(&odd_fact[JOIN_LOST], 1, __ATOMIC_RELAXED);
	else if (stat(ktr_session_path(), &st) != 0 || st.st_ino != mapped)
		__atomic_fetch_add(&odd_fact[JOIN_STRAY], 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&odd_fact[JOIN_FINE], 1, __ATOMIC_RELAXED);
	if (number % 7 == 3)
		raise(SIGKILL);
}

static void join_one_check(void)
{
	ODD_CHECK(odd_fact[JOIN_FINE] == 1);
}
ODD_CASE(join_one, join_one_run, join_one_check);

static int join_rounds(void)
{
	return odd_long() ? 300 : 25;
}

static void join_crowd_run(void)
{
	char name[64], *argv[] = { (char *)(uintptr_t)"odd", (char *)(uintptr_t)"--run",
				   (char *)(uintptr_t)"join_one", NULL };
	char path[600], old[700];

	snprintf(name, sizeof(name), "odd-join-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s", ktr_session_path());
	setenv("KTR_SESSION", name, 1);
	setenv("KTR_ENTRIES", "256", 1);
	unsetenv("KTR_KEEP_SESSION");
	for (int i = 0; i < join_rounds(); i++) {
		for (int j = 0; j < JOIN_AT_ONCE; j++)
			if (fork() == 0) {
				execv("/proc/self/exe", argv);
				_exit(127);
			}
		for (int j = 0; j < JOIN_AT_ONCE; j++)
			wait(NULL);
	}
	*strrchr(path, '/') = 0;
	snprintf(old, sizeof(old), "%s/%s.ktr", path, name);
	unlink(old);
	snprintf(old, sizeof(old), "%s/%s.old.ktr", path, name);
	unlink(old);
}

static void join_crowd_check(void)
{
	ODD_CHECK(odd_fact[JOIN_NUMBER] == (uint64_t)join_rounds() * JOIN_AT_ONCE);
	ODD_CHECK(odd_fact[JOIN_LOST] == 0);
	ODD_CHECK(odd_fact[JOIN_STRAY] == 0);
}
ODD_CASE(join_crowd, join_crowd_run, join_crowd_check);

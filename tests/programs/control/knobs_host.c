/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A traced program that does what it is told, a line at a time, and answers each line with one: so that
 * tests/cli/control/knobs.sh decides what happens when, with no need to wait for anything.
 *
 *	net N, rx N	records N events of class net in alpha(), of the application class rx in beta()
 *	cpu N		runs on CPU N from now on
 *	tasks		how many threads the process has
 *	set NAME VALUE, get NAME	ktr_set(), ktr_get()
 *	load FILE	dlopen
 *	flush		ktr_flush()
 *	random SEED N	sets knobs N times to random values, and each again to what it prints then
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

KTR_CLASS_DEFINE(rx, "packets received");

__attribute__((constructor(103))) static void first(void)
{
	CTR1(KTR_NET, "constructor of %d", 1);
}

__attribute__((noinline)) static void alpha(int i)
{
	CTR1(KTR_NET, "alpha %d", i);
}

__attribute__((noinline)) static void beta(int i)
{
	CTR2(KTR_CLASS(rx), "beta %d of %s", i, "rx");
}

static void tasks(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = -2;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	printf("%d\n", n);
}

static void cpu(int n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(n, &set);
	puts(sched_setaffinity(0, sizeof(set), &set) ? "no such CPU" : "ok");
}

static void knob(const char *verb, char *name)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char text[KTR_VALUE_BYTES] = "ok", *value = strchr(name, ' ');
	int rc;

	if (value)
		*value++ = '\0';
	if (strcmp(verb, "get") == 0)
		rc = ktr_get(name, text, sizeof(text), &err);
	else
		rc = ktr_set(name, value ? value : "", &err);
	puts(rc ? err.text : text);
}

static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 20;
}

/* A value of any kind, many of them wrong for most knobs. */
static void random_text(char *text, size_t size)
{
	static const char *const words[] = { "all", "none", "net", "rx", "-net", "+rx", "init|proc", "0x5a", "1",
					     "0", "yes", "-alpha", "#beta()", "+knobs_host.c:*", "syslog",
					     "stderr" };
	static const char letters[] = "abc \"\\$.,:*-+#/\t%019KMG";
	size_t n = random_next() % 12;

	switch (random_next() % 5) {
	case 0:
		snprintf(text, size, "%llu%s", (unsigned long long)(random_next() >> random_next() % 44),
			 random_next() % 3 ? "" : "K");
		break;
	case 1:
		snprintf(text, size, "%u-%u,%u", (unsigned)random_next() % 3, (unsigned)random_next() % 4,
			 (unsigned)random_next() % 5);
		break;
	case 2:
		for (size_t i = 0; i < n; i++)
			text[i] = letters[random_next() % (sizeof(letters) - 1)];
		text[n] = '\0';
		break;
	default:
		snprintf(text, size, "%s%s%s", words[random_next() % 16], random_next() % 2 ? "," : "",
			 random_next() % 2 ? words[random_next() % 16] : "");
	}
}

/* What one knob prints after a random setting, it takes, and prints again. */
static int random_knob(const struct ktr_knob_at *at)
{
	char text[KTR_VALUE_BYTES], back[KTR_VALUE_BYTES];

	random_text(text, sizeof(text));
	if (ktr_knob_write(at, text, NULL, NULL) || !(at->knob->access & KTR_KNOB_RD))
		return 1;
	for (unsigned form = 0; form < 8; form++)
		if (ktr_knob_read(at, form, text, sizeof(text), NULL) || ktr_knob_write(at, text, NULL, NULL) ||
		    ktr_knob_read(at, form, back, sizeof(back), NULL) || strcmp(text, back) != 0) {
			printf("%s: %s is not read back, form %u\n", at->name, text, form);
			return 0;
		}
	return 1;
}

static void random_knobs(const char *rest)
{
	unsigned long seed = 1, n = 100, idx;
	struct ktr_knob_at at, walk;

	sscanf(rest, "%lu %lu", &seed, &n);
	random_state = seed;
	while (n--) {
		memset(&walk, 0, sizeof(walk));
		idx = random_next() % 64;
		at = walk;
		while (idx-- && ktr_conf_next(ktr_conf(), "debug.ktr", &walk) > 0)
			at = walk;
		/* Not what would start a writer; rings of a million entries take their time. */
		if (!at.knob || !(at.knob->access & KTR_KNOB_WR) || strstr(at.name, "alq_enable") ||
		    strstr(at.name, "verbose") || at.knob->type == KTR_KNOB_SIZE)
			continue;
		if (!random_knob(&at))
			return;
	}
	puts("ok");
}

int main(void)
{
	char line[1024], *rest;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		rest = strchr(line, ' ');
		rest = rest ? (*rest = '\0', rest + 1) : line + strlen(line);
		if (strcmp(line, "net") == 0 || strcmp(line, "rx") == 0) {
			for (int i = 0; i < atoi(rest); i++)
				(*line == 'n' ? alpha : beta)(i);
			puts("ok");
		} else if (strcmp(line, "cpu") == 0) {
			cpu(atoi(rest));
		} else if (strcmp(line, "tasks") == 0) {
			tasks();
		} else if (strcmp(line, "load") == 0) {
			puts(dlopen(rest, RTLD_NOW) ? "ok" : dlerror());
		} else if (strcmp(line, "random") == 0) {
			random_knobs(rest);
		} else if (strcmp(line, "flush") == 0) {
			puts(ktr_flush() ? "no writer" : "ok");
		} else {
			knob(line, rest);
		}
	}
	return 0;
}

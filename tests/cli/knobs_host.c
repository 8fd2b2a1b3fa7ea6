/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A traced program that does what it is told, a line at a time, and answers each line with one: so that
 * tests/cli/knobs.sh decides what happens when, with no need to wait for anything.
 *
 *	net N, rx N	records N events of class net in alpha(), of the application class rx in beta()
 *	cpu N		runs on CPU N from now on
 *	tasks		how many threads the process has
 *	set NAME VALUE, get NAME	ktr_set(), ktr_get()
 *	load FILE	dlopen
 *	flush		ktr_flush()
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
		} else if (strcmp(line, "flush") == 0) {
			puts(ktr_flush() ? "no writer" : "ok");
		} else {
			knob(line, rest);
		}
	}
	return 0;
}

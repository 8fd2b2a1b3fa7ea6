/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Odd lives: shared objects that come and go (plugin.c), classes that meet, classes that do not fit, and
 * a plugin that has brought a tracer of its own.
 */
#include "tests/stress/odd.h"

#include <ktr.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLUGIN_ROUNDS 50

static void *plugin_open(const char *name, int (**trace)(int))
{
	char path[4200];
	void *plugin;

	snprintf(path, sizeof(path), "%s/%s.so", odd_dir(), name);
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (plugin)
		*(void **)trace = dlsym(plugin, "plugin_trace");
	if (!plugin || !*trace) {
		fprintf(stderr, "odd: %s\n", dlerror());
		exit(1);
	}
	return plugin;
}

static void *plugin_others(void *stop)
{
	int i = 0;

	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED) && i < 20000)
		CTR2(KTR_VFS, "meanwhile %d %s", i++, "still here");
	return NULL;
}

static void plugin_gone_run(void)
{
	pthread_t other;
	int stop = 0, (*trace)(int);
	char path[4200];

	if (pthread_create(&other, NULL, plugin_others, &stop))
		exit(1);
	for (int i = 0; i < PLUGIN_ROUNDS; i++) {
		void *plugin = plugin_open("plugin-one", &trace);

		trace(i);
		dlclose(plugin);
		if (i & 1)
			dlclose(plugin_open("plugin-two", &trace)); /* something else in its place */
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
	snprintf(path, sizeof(path), "%s/plugin-one.so", odd_dir());
	odd_fact[0] = dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL;
}

static void plugin_gone_check(void)
{
	const struct odd_event *event = odd_find("one number %d"), *shared = odd_find("one shared %d %s");
	unsigned own_sites = 0;

	ODD_CHECK(odd_fact[0] == 0); /* it really was unmapped */
	ODD_CHECK(odd_counts_up("one number %d", 0, PLUGIN_ROUNDS));
	ODD_CHECK(odd_counts_up("one shared %d %s", 0, PLUGIN_ROUNDS));
	ODD_CHECK(odd_counts_up("one own %d", 0, PLUGIN_ROUNDS));
	ODD_CHECK(odd_count("one constructor") == PLUGIN_ROUNDS);
	ODD_CHECK(odd_count("one destructor") == PLUGIN_ROUNDS);
	ODD_CHECK(event && strstr(event->file, "plugin.c") && event->site.line > 0);
	ODD_CHECK(shared && strcmp(shared->text, "text") == 0);
	/* One row per call site, however often its module was loaded. */
	for (unsigned i = 0; event && i < odd_n_events; i++)
		own_sites += strcmp(odd_events[i].format, event->format) == 0 &&
			     odd_events[i].entry.site != event->entry.site;
	ODD_CHECK(own_sites == 0);
}
ODD_CASE(plugin_gone, plugin_gone_run, plugin_gone_check);

static void plugin_classes_run(void)
{
	int (*one)(int), (*two)(int);
	void *first = plugin_open("plugin-one", &one), *second = plugin_open("plugin-two", &two);

	one(1);
	two(2);
	dlclose(first);
	dlclose(second);
}

static void plugin_classes_check(void)
{
	const struct odd_event *one = odd_find("one shared %d %s"), *two = odd_find("two shared %d %s");
	const struct odd_event *mine = odd_find("one own %d"), *theirs = odd_find("two own %d");
	struct ktr_class_row shared, only_one, only_two;

	if (!one || !two || !mine || !theirs || !odd_class_row("shared", &shared) ||
	    !odd_class_row("only_one", &only_one) || !odd_class_row("only_two", &only_two)) {
		ODD_CHECK(!"all events and all classes are there");
		return;
	}
	ODD_CHECK(one->site.mask == shared.mask && two->site.mask == shared.mask);
	ODD_CHECK(mine->site.mask == only_one.mask && theirs->site.mask == only_two.mask);
	ODD_CHECK(shared.mask != only_one.mask && only_one.mask != only_two.mask && only_two.mask != shared.mask);
	ODD_CHECK(odd_control.drop_no_class == 0 && odd_control.n_classes == 4);
}
ODD_CASE(plugin_classes, plugin_classes_run, plugin_classes_check);

/* More classes than bits: those beyond are off, counted, and one line says so. */
static void plugin_many_run(void)
{
	int saved = dup(STDERR_FILENO), said = memfd_create("stderr", 0), (*trace)(int);
	char text[4096] = "";

	dup2(said, STDERR_FILENO);
	plugin_open("plugin-many", &trace);
	dup2(saved, STDERR_FILENO);
	trace(7);
	if (pread(said, text, sizeof(text) - 1, 0) < 0)
		exit(1);
	odd_fact[0] = strstr(text, "class") != NULL;
	for (const char *p = text; *p; p++)
		odd_fact[1] += *p == '\n';
}

static void plugin_many_check(void)
{
	unsigned events = 0;

	/* 42 classes: shared, only_many, many00 to many39. */
	for (unsigned i = 0; i < odd_n_events; i++)
		events += strncmp(odd_events[i].format, "many ", 5) == 0 &&
			  odd_events[i].site.mask >> KTR_CLASS_APP_FIRST != 0;
	ODD_CHECK(events == KTR_CLASS_MAX - KTR_CLASS_APP_FIRST);
	ODD_CHECK(odd_count("many number %d") == 1);
	ODD_CHECK(odd_count("many 39 %d") == 0);
	ODD_CHECK(odd_control.drop_no_class > 0);
	ODD_CHECK(odd_fact[0] == 1);
	ODD_CHECK(odd_fact[1] == 1);
}
ODD_CASE(plugin_many, plugin_many_run, plugin_many_check);

/* Of a vfork child neither copy may record anything. A sanitizer brings a vfork of its own. */
static void plugin_vfork(int (*trace)(int))
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	pid_t pid = vfork();

	if (!pid) {
		trace(5000);
		CTR1(KTR_GEN, "beside the copy %d", 5000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
#else
	(void)trace;
#endif
}

/*
 * A plugin that contains a copy of the library: its events come into the same session, or it stays off
 * and says so in one line. Neither copy may spoil the other's.
 */
static void plugin_copy_run(void)
{
	int saved = dup(STDERR_FILENO), said = memfd_create("stderr", 0), (*trace)(int);
	char text[4096] = "", path[4200];

	snprintf(path, sizeof(path), "%s/plugin-copy.so", odd_dir());
	if (access(path, F_OK) != 0) {
		odd_fact[0] = 1;
		return;
	}
	dup2(said, STDERR_FILENO);
	plugin_open("plugin-copy", &trace);
	dup2(saved, STDERR_FILENO);
	for (int i = 0; i < 1000; i++) {
		trace(i);
		CTR1(KTR_GEN, "beside the copy %d", i);
	}
	plugin_vfork(trace);
	if (pread(said, text, sizeof(text) - 1, 0) < 0)
		exit(1);
	for (const char *p = text; *p; p++)
		odd_fact[1] += *p == '\n';
}

static void plugin_copy_check(void)
{
	if (odd_fact[0]) {
		printf("odd: plugin_copy: skipped, there is no plugin-copy.so\n");
		return;
	}
	ODD_CHECK(odd_counts_up("beside the copy %d", 0, 1000));
	if (odd_count("copy number %d")) {
		ODD_CHECK(odd_counts_up("copy number %d", 0, 1000));
		ODD_CHECK(odd_fact[1] == 0);
	} else {
		ODD_CHECK(odd_fact[1] == 1);
	}
}
ODD_CASE(plugin_copy, plugin_copy_run, plugin_copy_check);

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that loads an object by a relative name and then goes to another folder, and a second libktr,
 * which has locks and memory of its own:
 *
 *	loaded PLUGIN LIBKTR [FOLDER]	when all is loaded: says FOLDER/begun, waits for FOLDER/go
 *
 * With -DPLUGIN it is that object.
 */
#include <pthread.h>
#include <stdlib.h>

#ifdef PLUGIN
static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;
static void *volatile loaded_kept[7];

void loaded_work(void);

__attribute__((noinline)) void loaded_work(void)
{
	for (int i = 0; i < 7; i++) {
		pthread_mutex_lock(&loaded_lock);
		free(loaded_kept[i]);
		loaded_kept[i] = malloc(1000);
		pthread_mutex_unlock(&loaded_lock);
	}
}
#else
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #what), exit(1)))

static void mark(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	CHECK(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
}

static void wait_for(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	while (access(path, F_OK))
		usleep(2000);
}

static void *find(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	CHECK(found);
	return found;
}

int main(int argc, char **argv)
{
	void *plugin, *second;
	void (*work)(void);
	int (*set)(const char *name, const char *text, void *err);
	const char *(*path)(void);

	CHECK(argc > 2);
	plugin = dlopen(argv[1], RTLD_NOW);
	CHECK(plugin && chdir("/") == 0);
	second = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
	CHECK(second);
	work = (void (*)(void))(uintptr_t)find(plugin, "loaded_work");
	set = (int (*)(const char *, const char *, void *))(uintptr_t)find(second, "ktr_set");
	path = (const char *(*)(void))(uintptr_t)find(second, "ktr_session_path");
	work(); /* the loader has bound them */
	if (argc > 3) {
		mark(argv[3], "begun");
		wait_for(argv[3], "go");
	}
	for (int i = 0; i < 2; i++) {
		work();
		set("debug.ktr.mask", "all", NULL);
		CHECK(path());
		usleep(1100000); /* it has been looked at what there is */
	}
	work();
	puts("done");
	return 0;
}
#endif

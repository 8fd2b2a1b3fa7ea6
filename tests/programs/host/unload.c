/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host that knows nothing of ktr: loads a plugin with a copy of the library in it, has another thread
 * record through it, closes it, and lets that thread be signalled, switched and end. Prints "alive".
 *
 *	unload PLUGIN
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

static int (*unload_trace)(int);
static pthread_barrier_t unload_meet;

static void unload_handler(int sig)
{
	(void)sig;
}

static void *unload_other(void *none)
{
	for (int i = 0; i < 1000; i++)
		unload_trace(i);
	pthread_barrier_wait(&unload_meet);
	pthread_barrier_wait(&unload_meet); /* the plugin has been closed */
	raise(SIGUSR1);
	for (int i = 0; i < 50; i++)
		sched_yield();
	return none;
}

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	pthread_t other;

	if (plugin)
		*(void **)&unload_trace = dlsym(plugin, "plugin_trace");
	if (!unload_trace || signal(SIGUSR1, unload_handler) == SIG_ERR ||
	    pthread_barrier_init(&unload_meet, NULL, 2) ||
	    pthread_create(&other, NULL, unload_other, NULL)) {
		fprintf(stderr, "unload: %s\n", plugin ? "cannot begin" : dlerror());
		return 1;
	}
	pthread_barrier_wait(&unload_meet);
	dlclose(plugin);
	pthread_barrier_wait(&unload_meet);
	pthread_join(other, NULL);
	puts("alive");
	return 0;
}

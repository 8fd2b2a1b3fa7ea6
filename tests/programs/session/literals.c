/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads one of two plugins after the other, as often as asked, and has it trace. Prints how often they were at the
 * same place. Ends by SIGKILL or by abort(3) where told to, with all plugins gone; a trace has half of it by then.
 *
 *	literals LOADS exit|kill|abort PLUGIN PLUGIN
 *	literals LOADS rename PLUGIN PLUGIN	both are loaded by one name, which each has in its turn
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void literals_load(const char *path, unsigned n, void **place)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL), (*trace)(unsigned) = NULL;

	if (plugin)
		*(void **)&trace = dlsym(plugin, "plugin_trace");
	if (!trace) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*place = *(void **)&trace;
	trace(n);
	dlclose(plugin);
}

int main(int argc, char **argv)
{
	unsigned loads = argc == 5 ? (unsigned)atoi(argv[1]) : 0, same = 0;
	void *place[2] = { NULL, NULL };

	for (unsigned n = 0; n < loads; n++) {
		const char *path = argv[3 + (n & 1)];

		if (strcmp(argv[2], "rename") == 0) {
			unlink("plugin.so");
			if (link(path, "plugin.so") != 0)
				return 1;
			path = "./plugin.so";
		}
		literals_load(path, n, &place[n & 1]);
		same += n & 1 && place[0] == place[1];
		if (n == loads / 2 && strcmp(argv[2], "kill") == 0)
			ktr_flush();
	}
	printf("%u\n", same);
	fflush(stdout);
	if (argc == 5 && strcmp(argv[2], "kill") == 0)
		raise(SIGKILL);
	if (argc == 5 && strcmp(argv[2], "abort") == 0)
		abort();
	return 0;
}

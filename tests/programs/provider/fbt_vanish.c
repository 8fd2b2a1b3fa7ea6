/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fbt_vanish PLUGIN: loads fbt_plugin.c for a line "l" of its standard input, unloads it for "u", and after each
 * line calls it, if it is there. Prints what it returns; -1: it is not there.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = NULL;
	char line[16];

	while (fgets(line, sizeof(line), stdin)) {
		int (*call)(int);

		if (*line == 'l')
			plugin = dlopen(argv[argc - 1], RTLD_NOW);
		if (*line == 'u' && plugin && dlclose(plugin) == 0)
			plugin = NULL;
		call = plugin ? (int (*)(int))dlsym(plugin, "plugin_call") : NULL;
		printf("%d\n", call ? call(5) : -1);
		fflush(stdout);
	}
	return 0;
}

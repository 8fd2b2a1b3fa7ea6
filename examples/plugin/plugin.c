/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin: a host that loads a module, calls it and unloads it. The module traces with a class of its own and
 * knows nothing of the host. After dlclose(3) its events still decode, with file, line and format.
 *
 *	ktr run ./plugin && ktr dump --where
 */
#include <ktr.h>

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

KTR_CLASS_DEFINE(host, "loading and calling modules");

int main(void)
{
	char self[PATH_MAX] = "", path[PATH_MAX + 16];
	int (*filter)(int), sum = 0;
	void *module;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	snprintf(path, sizeof(path), "%s/plugin.so", dirname(self));
	for (int round = 0; round < 3; round++) {
		module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!module) {
			fprintf(stderr, "plugin: %s\n", dlerror());
			return 1;
		}
		CTR2(KTR_CLASS(host), "round %d: loaded %s", round, path);
		/* What dlsym returns becomes a function's address, as POSIX has it. */
		*(void **)&filter = dlsym(module, "filter");
		for (int i = 0; filter && i < 5; i++)
			sum += filter(i);
		dlclose(module);
		CTR1(KTR_CLASS(host), "round %d: unloaded", round);
	}
	printf("sum %d\n", sum);
	return sum == 3 * 30 ? 0 : 1;
}

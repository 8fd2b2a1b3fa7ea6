/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does what it reads, a word a line, and says how it went. For tests/cli/session/nofit.sh.
 *
 *	event N		N events
 *	open N		ktr_open() with rings of N entries and class net
 *	set NAME=VALUE	ktr_set() of debug.ktr.NAME
 *	thread		another thread records an event
 *	exit
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *other(void *unused)
{
	CTR0(KTR_NET, "another thread");
	return unused;
}

static void say(int code, const struct ktr_error *err)
{
	printf("%s\n", code ? err->text : "done");
	fflush(stdout);
}

int main(void)
{
	char line[128], name[160];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		struct ktr_options options = { .size = sizeof(options), .mask = "net" };
		struct ktr_error err = KTR_ERROR_NONE;
		char *value = strchr(line, ' ');
		pthread_t thread;
		int code = 0;

		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "event", 5) == 0) {
			for (int i = 0; i < atoi(line + 5); i++)
				CTR1(KTR_NET, "event %d", i);
		} else if (strncmp(line, "open", 4) == 0) {
			options.entries = strtoull(line + 4, NULL, 10);
			code = ktr_open(&options, &err);
		} else if (strncmp(line, "set ", 4) == 0 && strchr(line, '=')) {
			value = strchr(line, '=');
			*value++ = 0;
			snprintf(name, sizeof(name), "debug.ktr.%s", line + 4);
			code = ktr_set(name, value, &err);
		} else if (strcmp(line, "thread") == 0) {
			code = pthread_create(&thread, NULL, other, NULL) || pthread_join(thread, NULL);
		} else {
			break;
		}
		say(code, &err);
	}
	return 0;
}

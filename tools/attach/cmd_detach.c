/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr detach: nothing of a process is recorded any more. All goes through its session: probes of providers, classes
 * and what the kernel tells are switched off, and its writer ends. What it has recorded stays in the session, and
 * the agent in the process, where it costs nothing.
 */
#include "ktr/control/session_join.h"
#include "ktr/provider/session/specs.h"
#include "ktr/provider/syscall/tracee_proc.h"
#include "ktr/session/session_proc.h"
#include "tools/attach/attach_ended.h"
#include "tools/attach/attach_facts.h"
#include "tools/attach/attach_knobs.h"
#include "tools/attach/cmd_attach.h"
#include "tools/command.h"
#include "tools/options.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DETACH_NAP_NS 2000000
#define DETACH_PROVIDERS 32
#define DETACH_NAME	 64 /* [bytes] of a provider */
#define DETACH_WAIT_MS 3000
#define DETACH_TRIES  1500 /* the writer drains what there is, onto a disk that may be slow */

struct detach_command {
	uint64_t pid;
};

static const struct option_row detach_rows[] = {
	OPTION_NUMBER('p', "pid", "PID", struct detach_command, pid, 1, INT32_MAX, "the process"),
};

static const struct options detach_options = {
	.operands = "",
	.about =
		"Ends what ktr attach has begun: nothing of the process is recorded any more, and its trace, if it\n"
		"writes one, is complete. ktr attach begins again.",
	.examples = "ktr detach -p 4711\n",
	OPTIONS_ROWS(detach_rows),
};

/* Is a thread of this name left in the process? */
static int detach_has_thread(pid_t pid, const char *name)
{
	char path[PATH_MAX], comm[32];
	struct dirent *entry;
	int found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", (int)pid, entry->d_name);
		found = ktr__tracee_text(path, comm, sizeof(comm)) > 0 &&
			strncmp(comm, name, strlen(name)) == 0 && comm[strlen(name)] == '\n';
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Providers that have a probe that is on, by name. */
struct detach_providers {
	char name[DETACH_PROVIDERS][DETACH_NAME];
	unsigned n;
};

/* Call sites, the program's own probes and what the kernel feeds leave its text alone, and record nothing. */
static bool detach_stays(const char *provider)
{
	static const char *const those[] = { "ktr", "probe", "sched", "vminfo" };

	for (unsigned i = 0; i < sizeof(those) / sizeof(those[0]); i++)
		if (strcmp(provider, those[i]) == 0)
			return true;
	return false;
}

static int detach_found(void *context, const struct ktr__spec_probe *probe)
{
	struct detach_providers *providers = context;
	char name[DETACH_NAME];
	size_t n = strcspn(probe->name, ":");

	if (!probe->on || n >= sizeof(name) || providers->n == DETACH_PROVIDERS)
		return 0;
	memcpy(name, probe->name, n);
	name[n] = '\0';
	for (unsigned i = 0; i < providers->n; i++)
		if (strcmp(providers->name[i], name) == 0)
			return 0;
	if (!detach_stays(name))
		memcpy(providers->name[providers->n++], name, n + 1);
	return 0;
}

/* The program's text is as it was when their probes are off. */
static int detach_probes(const char *path, struct ktr_error *err)
{
	struct detach_providers providers = { .n = 0 };
	struct ktr__session_rw joined;
	struct ktr__specs specs = { &joined, NULL };
	struct ktr__specs_done done;
	int rc = ktr__session_join(path, &joined, err);

	if (rc)
		return rc;
	ktr__specs_walk(&specs, "*:", detach_found, &providers);
	for (unsigned i = 0; i < providers.n && !rc; i++) {
		char spec[DETACH_NAME + 1];

		snprintf(spec, sizeof(spec), "%s:", providers.name[i]);
		rc = ktr__specs_switch(&specs, spec, false, &done, err);
		if (!rc && ktr__specs_wait(&specs, done.change, DETACH_WAIT_MS))
			rc = ktr_error_set(err, ETIMEDOUT, "its probes are not off yet");
	}
	ktr__session_detach(&joined);
	return rc;
}

int detach_process(const char *command, uint64_t pid)
{
	static const char knobs[] =
		"debug.ktr.mask=0\ndebug.ktr.kernel=0\ndebug.ktr.verbose=0\ndebug.ktr.alq_enable=0\n";
	const struct timespec nap = { 0, DETACH_NAP_NS };
	struct ktr_error err = KTR_ERROR_NONE;
	char path[PATH_MAX];
	int rc = ktr__session_find_pid((pid_t)pid, path, sizeof(path), &err);

	rc = rc ? rc : attach_knobs_set(path, knobs, &err);
	rc = rc ? rc : detach_probes(path, &err);
	if (rc && kill((pid_t)pid, 0) == 0 && attach_has_ended((pid_t)pid, rc))
		return fail(command, "process %d has ended", (int)pid);
	if (rc)
		return fail_with(command, &err);
	for (int i = 0; i < DETACH_TRIES && detach_has_thread((pid_t)pid, "ktr-writer"); i++)
		nanosleep(&nap, NULL);
	if (detach_has_thread((pid_t)pid, "ktr-writer"))
		return fail(command, "process %d: its writer has not ended yet", (int)pid);
	return 0;
}

static int cmd_detach(int argc, char **argv)
{
	struct detach_command c = { 0 };
	int rc;

	if (!options_parse(&detach_options, argc, argv, &c, &rc))
		return rc;
	if (operands_at_most(argv[0], argc, argv, 0))
		return 2;
	if (!c.pid)
		return usage_error(argv[0], "which process: -p PID");
	return detach_process(argv[0], c.pid);
}

COMMAND(detach, "nothing of a program is recorded any more", cmd_detach);

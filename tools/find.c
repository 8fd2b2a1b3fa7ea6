/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves what a command works on to a path; complains in words a user can act on. */
#include "tools/find.h"

#include "analyze/read/trace_set.h"
#include "conf/eval/glob.h"
#include "ktr/session/session_find.h"
#include "ktr/session/session_proc.h"
#include "tools/options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int find_session(const struct find *find, char *path, size_t size)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc;

	if (find->pid && find->session)
		return usage_error(find->command, "-p and -s exclude each other");
	if (find->pid)
		rc = ktr__session_find_pid((pid_t)find->pid, path, size, &err);
	else if (find->session)
		rc = ktr__session_find_name(find->session, path, size, &err);
	else
		rc = ktr__session_find_only(path, size, &err);
	return rc ? fail_with(find->command, &err) : 0;
}

int find_source(const struct find *find, int argc, char **argv, int n, char *path, size_t size)
{
	const char *trace = optind + n < argc ? argv[optind + n] : NULL, *named = trace ? trace : FIND_TRACE;
	int rc = operands_at_most(find->command, argc, argv, n + 1);

	if (rc)
		return rc;
	if (find->pid || find->session) {
		if (trace)
			return usage_error(find->command,
					   "\"%s\" and -p or -s: only one can be read", trace);
		return find_session(find, path, size);
	}
	if (access(named, F_OK) == 0 || ktr__set_await(named)) {
		snprintf(path, size, "%s", named); /* what is there is not longer than PATH_MAX */
		return 0;
	}
	if (trace)
		return fail(find->command, "%s: %s", trace, strerror(errno));
	return fail(find->command,
		    "there is no trace %s here; `ktr run PROGRAM` makes one, -p PID or -s SESSION "
		    "reads a session, a path names another trace",
		    FIND_TRACE);
}

int find_matches(char *const *patterns, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (ktr__glob(patterns[i], strlen(patterns[i]), name, strlen(name)))
			return 1;
	return 0;
}

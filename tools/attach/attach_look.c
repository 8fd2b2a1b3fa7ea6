/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/attach/attach_look.h"

#include "tools/attach/attach_refuse.h"
#include "tools/options.h"

#include <unistd.h>

int attach_look_fails(const char *command, const struct attach_facts *facts, const struct ktr_error *err)
{
	return fail(command, "process %d%s%s%s: %s", (int)facts->pid, facts->there ? " (" : "", facts->name,
		    facts->there ? ")" : "", err->text);
}

int attach_look_refused(const char *command, const struct attach_facts *facts, int code)
{
	struct ktr_error err = KTR_ERROR_NONE;

	attach_refused(facts, code, &err);
	return attach_look_fails(command, facts, &err);
}

int attach_look(const char *command, pid_t pid, struct attach_facts *facts)
{
	struct ktr_error err = KTR_ERROR_NONE;

	if (pid == getpid())
		return fail(command, "process %d: that is this command", (int)pid);
	attach_facts("/proc", pid, facts);
	facts->is_looked_at = 1;
	return attach_refuse(facts, 0, &err) ? attach_look_fails(command, facts, &err) : 0;
}

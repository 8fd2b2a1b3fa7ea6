/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/attach/attach_knobs.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

int attach_knobs_set(const char *path, const char *lines, struct ktr_error *err)
{
	struct ktr_session *session;
	char line[1024], *value;
	int rc = ktr_session_attach(path, &session, err);

	if (rc)
		return rc;
	while (!rc && *lines) {
		size_t n = strcspn(lines, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)n, lines);
		lines += n + (lines[n] == '\n');
		value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = '\0';
		rc = ktr_conf_set(ktr_session_conf(session), line, value, err);
	}
	ktr_session_close(session);
	return rc;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/attach/attach_knobs.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

uint64_t attach_knobs_number(const char *path, const char *name)
{
	struct ktr_session *session;
	char text[KTR_VALUE_BYTES];
	uint64_t number = 0;

	if (ktr_session_attach(path, &session, NULL))
		return 0;
	if (ktr_conf_get(ktr_session_conf(session), name, text, sizeof(text), NULL) == 0)
		number = strtoull(text, NULL, 10);
	ktr_session_close(session);
	return number;
}

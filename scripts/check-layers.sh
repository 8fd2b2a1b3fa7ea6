#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The floors: a file may include headers of its own floor and of those below it, never of one above.
# The reading side must not include the recording side of ktr/, but for the files both share.
set -eu
cd "$(dirname "$0")/.."

floors="conf ktr writer analyze visualize tools"
status=0
above=
for floor in tools visualize analyze writer probe ktr conf; do
	for upper in $above; do
		if grep -nE "^#[[:space:]]*include \"$upper/" "$floor"/*.[ch] "$floor"/*/*.[chS] 2>/dev/null; then
			echo "$floor/ includes from $upper/, a floor above it" >&2
			status=1
		fi
	done
	above="$above $floor"
done
if grep -nE '^#[[:space:]]*include ["<](conf|ktr|writer|analyze|visualize|tools)/' conf/*.[ch] |
	grep -vE '["<](conf/|ktr/(conf|error)\.h)'; then
	echo "conf/ knows of tracing" >&2
	status=1
fi
shared='session_map|session_find|ring_read|format|clock'
if grep -nE '^#[[:space:]]*include "ktr/' analyze/*.[ch] visualize/*.[ch] 2>/dev/null |
	grep -vE "\"ktr/($shared|[a-z_]+)\.h\"" ; then
	status=1
fi
if grep -lE '^#[[:space:]]*include <ktr\.h>|^#[[:space:]]*include <ktr/(trace|event)\.h>' conf/*.[ch] analyze/*.[ch] visualize/*.[ch] tools/*.[ch] 2>/dev/null; then
	echo "the reading side includes the recording macros" >&2
	status=1
fi
exit $status

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The floors, as ARCHITECTURE lists them: a file may include headers of its own floor and of those below it, never of one above.
# The reading side must not include the recording side of ktr/, but for the files both share.
set -eu
cd "$(dirname "$0")/.."

floors=$(sed -n '/^FLOORS/,/^LIBRARIES/s|^    \([a-z]*\)/  .*|\1|p' ARCHITECTURE)
status=0
if [ "$(echo $floors)" != "tools visualize analyze writer ktr conf" ]; then
	echo "ARCHITECTURE lists other floors: $(echo $floors)" >&2
	status=1
fi
for floor in */; do
	case $floor in *build*/ | demo-out/) continue ;; esac
	if ls "$floor"*.c >/dev/null 2>&1 && ! echo "$floors" | grep -qx "${floor%/}" && [ "$floor" != tests/ ]; then
		echo "$floor has sources and no place in ARCHITECTURE" >&2
		status=1
	fi
done
above=
for floor in $floors; do
	for upper in $above; do
		if grep -nE "^#[[:space:]]*include \"$upper/" "$floor"/*.[ch] "$floor"/*/*.[chS] 2>/dev/null; then
			echo "$floor/ includes from $upper/, a floor above it" >&2
			status=1
		fi
	done
	above="$above $floor"
done
if grep -nE '^#[[:space:]]*include "ktr/probe/' ktr/*.[ch] writer/*.[ch] analyze/*.[ch] conf/*.[ch]; then
	echo "libktr knows of libktr-probe, which is built on it" >&2
	status=1
fi
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
if grep -lE '^#[[:space:]]*include <ktr\.h>|^#[[:space:]]*include <ktr/(trace|event)\.h>' \
	conf/*.[ch] analyze/*.[ch] visualize/*.[ch] tools/*.[ch] 2>/dev/null; then
	echo "the reading side includes the recording macros" >&2
	status=1
fi
exit $status

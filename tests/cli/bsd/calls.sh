#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr/provider/syscall/call_rows.h says of every system call what the headers and the kernel say (calls.py).
. "$(dirname "$0")/../lib.inc"

cat >"$dir/table.c" <<'END'
#include "ktr/provider/syscall/call_names.h"
#include "ktr/provider/syscall/calls.h"

#include <stdio.h>

#define NAMES(name, text) #name, text,

int main(void)
{
	const char *const names[] = { KTR__CALL_NAMES(NAMES) };

	for (unsigned i = 0; ktr__call_row(i); i++)
		printf("%s %d %d %s|%s\n", ktr__call_row(i)->name, ktr__call_row(i)->number[KTR__MACHINE_X86_64],
		       ktr__call_row(i)->number[KTR__MACHINE_ARM64], ktr__call_row(i)->args, names[2 * i + 1]);
	for (unsigned i = 0; ktr__call_row(i); i++)
		for (const char *a = names[2 * i], *b = ktr__call_row(i)->name; *a || *b; a++, b++)
			if (*a != *b)
				return printf("%s has the names of %s|\n", ktr__call_row(i)->name, names[2 * i]), 1;
	return 0;
}
END
$cc -I. "$dir/table.c" ktr/provider/syscall/calls.c -o "$dir/table" && "$dir/table" >"$dir/rows" || { tail -n 1 "$dir/rows"; exit 1; }
is "a name that is there twice" "$(cut -d' ' -f1 "$dir/rows" | sort | uniq -d)" ""

# A mount of our own, where we may.
mkdir "$dir/tracefs"
events=$dir/tracefs/events/syscalls
if unshare -m sh -c 'mount -t tracefs nodev "$1" && [ -d "$2" ]' sh "$dir/tracefs" "$events" 2>/dev/null; then
	n=$(unshare -m sh -c 'mount -t tracefs nodev "$1" && shift && exec "$@"' sh "$dir/tracefs" \
		python3 tests/cli/bsd/calls.py "$dir/rows" "$cc" "$events") || failed=1
	[ "${n:-0}" -gt 300 ] || fail "only ${n:-0} calls were compared with the kernel's"
else
	skip "what the kernel says of arguments: tracefs may not be read"
	python3 tests/cli/bsd/calls.py "$dir/rows" "$cc" >"$dir/out" || failed=1
fi
exit $failed

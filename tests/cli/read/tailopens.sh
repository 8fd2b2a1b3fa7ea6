#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr tail begins again and again on a trace that grows and is rotated as fast as that goes, pieces being removed
# behind it, and after each kill of its writer: it is never refused, finds no damage, and prints the newest there is.
# TAILS: how often with each number of pieces kept, 20.
. "$(dirname "$0")/../lib.inc"
pid=
at_exit() { [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; }

$cc -std=gnu11 -D_GNU_SOURCE -O2 -Iinclude tests/programs/trace/steady.c -o "$dir/steady" "$O/lib/libktr.a" -lpthread || exit 1

# begin KEPT SIZE: a program whose trace is there.
begin() {
	KTR_ENTRIES=16K KTR_MASK=gen KTR_ROTATE_SIZE=$2 KTR_ROTATE_KEEP=$1 KTR_FILE="$dir/trace" "$dir/steady" forever \
		2>/dev/null &
	pid=$!
	await '[ -e "$dir/trace/metadata" ]' || exit 1
}

end() {
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	pid=
}

may_say='is still being written$\|was not finished: whoever wrote it was killed\|whoever wrote the trace was killed'
# On a machine that is busy otherwise a part goes before it is read, and that is said.
may_say="$may_say\|was removed before it was read"
# tail NUMBER OPTION...: its first lines; whatever else it says of them is a fault.
tail() {
	what="tail $1, $kept kept"
	shift
	{ timeout 300 "$ktr" tail -q "$@" "$dir/trace" 2>"$dir/err" || echo "status $?"; } | head -n 5 >"$dir/out"
	grep -v "$may_say" "$dir/err" >"$dir/says" && fail "$what: $(head -n 5 "$dir/says")"
	[ "$(grep -c 'step [0-9]* of\|events\? lost' "$dir/out")" -eq 5 ] || fail "$what: printed $(cat "$dir/out")"
}

for kept in 1 3; do
	[ $failed = 0 ] || break
	begin $kept 256K
	i=0
	while [ $i -lt "${TAILS:-20}" ] && [ $failed = 0 ]; do
		tail $i -n $((i % 3 * 5))
		i=$((i + 1))
	done
	end
	[ $failed = 0 ] && tail "when it was killed" -n 5 --until-end
	[ "$(find "$dir" -maxdepth 1 -name 'trace.[0-9]*' | wc -l)" -ge 1 ] || fail "it was never rotated"
	rm -rf "$dir"/trace* "${KTR_DIR:?}"/*
done
exit $failed

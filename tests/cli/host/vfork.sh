#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vfork(2): what a child records is dropped and counted, also when it has had a child of its own by vfork(2) or
# fork(2), when that call failed, and when a handler that calls vfork(2) comes at any instruction. Debuggers and
# unwinders find the way through our wrapper.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Iinclude tests/programs/host/vfork.c -o "$dir/vfork" "$O/lib/libktr.a" \
	-lpthread || exit 1

# What was recorded and dropped, against what the program says.
judge() { # mode path
	rm -rf "$KTR_DIR"/ktr-*
	KTR_PATH=$2 KTR_SESSION=v KTR_KEEP_SESSION=1 KTR_MASK=gen timeout 300 "$dir/vfork" "$1" >"$dir/said" 2>"$dir/err"
	got=$?
	# Emulators make a fork(2) of it, whose child cannot tell.
	[ "$1" = fail ] && [ -n "${KTR_EMULATED:-}" ] && [ $got = 4 ] && got=77
	[ $got = 77 ] && { skip "$1, $2: ptrace or seccomp"; return; }
	[ $got = 0 ] || fail "$1, $2: exit status $got: $(cat "$dir/err")"
	read -r parent child handler <"$dir/said" || fail "$1, $2: nothing said"
	"$ktr" dump -q -s v >"$dir/out" 2>&1
	is "$1, $2: events of parents" "$(grep -c 'parent [0-9]' "$dir/out")" "$parent"
	is "$1, $2: events of children" "$(grep -c 'child [0-9s]' "$dir/out")" 0
	n=$(grep -cw handler "$dir/out")
	dropped=$("$ktr" sysctl -n -s v dropped)
	is "$1, $2: dropped" $((dropped + n)) $((child + handler))
	[ "$1" = unwind ] || [ "$child" -ge 50 ] || fail "$1, $2: only $child events of children"
}

for path in ${KTR_PATHS:-rseq thread}; do
	for mode in exit exec deep fail fork; do
		judge $mode $path
	done
done
case $($cc -dumpmachine) in
x86_64*)
	judge handler rseq
	judge handler thread
	judge unwind rseq
	;;
*) skip "single steps: not on $($cc -dumpmachine)" ;;
esac
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What an older kernel, C library or CPU lacks, and what a container forbids: the same program records the same
# events into a trace without it, one lack after the other and all at once. README.md has a table of what each
# costs. No /dev/shm, other clock sources and small memories: badstart.sh. Checksums without the CPU's
# instruction: unit test "packet".
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build bad tests/stress/bad.c
bad=$out/bad
without=$dir/without
$cc $flags tests/fallback/without.c -o "$without" || exit 1
export KTR_CONF=

told() { # what the last trace's information says
	sed -n "s/.*\"$1\":\"\([a-z]*\)\".*/\1/p" "$dir/trace/ktr/info.jsonl" | head -n 1
}

# lacking NAME PATH PROGRAM COMMAND...: COMMAND runs the program traced; it records by PATH, and nothing is missing.
lacking() {
	name=$1 path=$2 program=$3
	shift 3
	timeout 300 "$@" "$ktr" run -m gen -e 65536 -o "$dir/trace" "$program" 1 >"$dir/out" 2>"$dir/err" 3>"$dir/said"
	rc=$?
	if [ $rc = 125 ]; then
		skip "$name: $(cat "$dir/err")"
		return
	fi
	is "$name: exit status" $rc 7
	is "$name: the program's output" "$(cat "$dir/out")" "worked 8997000"
	is "$name: what libktr counted" "$(cat "$dir/said")" "${counted:=$(cat "$dir/said")}"
	is "$name: lines on stderr" "$(grep -vc ' events, 0 lost; next: ' "$dir/err")" 0
	is "$name: events in the trace" "$("$ktr" dump -q "$dir/trace" | grep -c ' bad ')" 24000
	is "$name: path" "$(told path)" "$path"
	clock=$(told clock)
	rm -rf "$dir/trace"
}

lacking "nothing" thread "$bad" env KTR_PATH=thread
usual=thread
"$ktr" run -o "$dir/usual" "$bad" 0 >"$dir/out" 2>&1
if grep -q '"path":"rseq"' "$dir/usual/ktr/info.jsonl"; then
	usual=rseq
else
	skip "the path with rseq: this C library, kernel or CPU does not have it"
fi
lacking "nothing" $usual "$bad"
lacking "glibc's tunable" thread "$bad" env GLIBC_TUNABLES=glibc.pthread.rseq=0
all=
for what in $("$without" -l); do
	path=$usual
	[ "$what" = rseq ] && path=thread
	[ "$what" = unshare ] || all="$all $what"
	lacking "$what" "$path" "$bad" "$without" "$what" --
done
# shellcheck disable=SC2086
lacking "all of these" thread "$bad" "$without" $all --

# Neither way to descriptors of its own: a container on a kernel before 5.9.
KTR_MASK=gen KTR_FILE=$dir/trace timeout 300 "$without" unshare close_range -- "$bad" 1 >"$dir/out" 2>"$dir/err" 3>/dev/null
is "no descriptors of its own: exit status" $? 7
is "no descriptors of its own: the program's output" "$(cat "$dir/out")" "worked 8997000"
is "no descriptors of its own" "$(cat "$dir/err")" \
	"ktr: no trace: no descriptor table for the writer: Operation not permitted"

# A clock may be asked for, whichever the kernel keeps time by.
lacking "the counter" $usual "$bad" env KTR_CLOCK_SOURCE=monotonic
is "the clock that was asked for" "$clock" monotonic

# Where the counter traps there is no clock at all.
case $(uname -m) in x86_64)
	lacking "a kernel that uses the counter" $usual "$bad" env KTR_CLOCK_SOURCE=tsc
	is "the clock that was asked for" "$clock" tsc
	KTR_CLOCK_SOURCE=cntvct KTR_MASK=gen "$bad" 0 2>&1 >"$dir/out" 3>/dev/null | grep -v kept, >"$dir/err"
	is "another CPU's clock" "$(cat "$dir/err")" \
		"ktr: settings: environment KTR_CLOCK_SOURCE: debug.ktr.clock_source: this machine has no such clock"
	build traps tests/fallback/traps.c
	KTR_MASK=all "$out/traps" >"$dir/out" 2>"$dir/err"
	is "a counter that traps: exit status" $? 7
	is "a counter that traps: output" "$(cat "$dir/out")" worked
	is "a counter that traps" "$(cat "$dir/err")" "ktr: not traced: reading the CPU's clock traps (PR_SET_TSC)"
	"$out/traps" >"$dir/out" 2>&1
	is "a counter that traps, untraced" "$(cat "$dir/out")" worked
esac

# An architecture for which there is nothing of ours: the two-file form, its conditions turned off.
two_files
one="-std=gnu11 -D_GNU_SOURCE -O0 -I$O/one -Iinclude tests/stress/bad.c"
sed 's/defined(__x86_64__)/0/; s/defined(__aarch64__)/0/' "$O/one/ktr.c" >"$dir/generic.c"
# shellcheck disable=SC2086
$cc $one "$dir/generic.c" -o "$dir/generic" -lpthread >"$dir/log" 2>&1 || fail "generic: $(tail -n 9 "$dir/log")"
lacking "a known architecture" thread "$dir/generic"
is "its clock" "$clock" monotonic

# Another C library: the two-file form. The kernel's headers are those of the other one.
if command -v musl-gcc >/dev/null; then
	# shellcheck disable=SC2086
	musl-gcc $one "$O/one/ktr.c" -idirafter /usr/include -idirafter "/usr/include/$(gcc -print-multiarch)" \
		-o "$dir/musl" -lpthread -static >"$dir/log" 2>&1 || fail "musl: $(tail -n 9 "$dir/log")"
	lacking "glibc" thread "$dir/musl"
else
	skip "musl: there is no musl-gcc"
fi
exit $failed

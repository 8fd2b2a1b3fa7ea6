#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Exports of samples: pprof, speedscope, Firefox Profiler, perf script and folded stacks say of each thread, and of each
# function where it was, what `ktr report --profile` says, to the nanosecond; `go tool pprof` reads the first of them.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent, or no glibc'; exit 0; }
export KTR_CONF=
$cc -O2 -g -o "$dir/a prog" tests/programs/provider/profile.c -lpthread || { fail 'profile.c'; exit 1; }
go=$(command -v go || ls /usr/lib/go-*/bin/go 2>/dev/null | tail -n 1)

# exports TRACE [OPTION...]: all of them, compared
exports() {
	trace=$1
	shift
	for format in pprof speedscope firefox perf-script folded; do
		"$ktr" export $format "$@" "$trace" -o "$dir/x.$format" 2>"$dir/err" && [ ! -s "$dir/err" ] ||
			fail "$format: $(cat "$dir/err")"
	done
	"$ktr" report --profile --json "$@" "$trace" >"$dir/x.report" || fail report
	if [ -n "$go" ]; then
		"$go" tool pprof -raw "$dir/x.pprof" >"$dir/x.raw" 2>"$dir/err" || fail "go tool pprof: $(cat "$dir/err")"
	fi
	python3 tests/cli/show/profiles.py "$dir/x" >"$dir/log" 2>&1 || fail "$trace $*: $(tail -n 1 "$dir/log")"
}

for life in shares forks blocked; do
	timeout 300 "$ktr" profile -F 4999 -o "$dir/$life" "$dir/a prog" $life >/dev/null 2>"$dir/err" || fail "$life: $(cat "$dir/err")"
	exports "$dir/$life"
done
[ -n "$go" ] || skip 'no go: pprof is read by profiles.py alone'
! command -v protoc >/dev/null || gzip -dc "$dir/x.pprof" | protoc --decode_raw >"$dir/log" || fail 'protoc does not read pprof'
exports "$dir/shares" --from 100ms --to 250ms
exports "$dir/shares" --lines
# Stacks that are not whole have an outermost frame that says so.
timeout 300 "$ktr" profile -o "$dir/cut" "$dir/a prog" stack >/dev/null 2>"$dir/err" || fail "stack: $(cat "$dir/err")"
exports "$dir/cut"
grep -q 'deep (' "$dir/x.perf-script" && grep -q '^	 *0 \.\.\. (\[unknown\])$' "$dir/x.perf-script" || fail 'no frame of what is cut'
# Names of programs may have anything in them.
hostile=$(printf 'a\033[31m"b')
cp "$dir/a prog" "$dir/$hostile"
timeout 300 "$ktr" profile -o "$dir/hostile" "$dir/$hostile" shares >/dev/null 2>"$dir/err" || fail "hostile: $(cat "$dir/err")"
for format in speedscope firefox perf-script; do
	"$ktr" export $format "$dir/hostile" -o "$dir/y" && grep -q '31m' "$dir/y" && ! grep -q "$(printf '\033')" "$dir/y" ||
		fail "$format: a name with an escape"
	[ $format = perf-script ] || python3 -m json.tool "$dir/y" >/dev/null || fail "$format: no JSON"
done
# Others that are here read them, too.
if command -v perf >/dev/null; then
	[ "$(head -n 1 "$dir/x.perf-script" | grep -cE '^a prog [0-9]+/[0-9]+ \[[0-9]{3}\] +[0-9]+\.[0-9]+: +[0-9]+ cpu-clock: $')" = 1 ] ||
		fail "perf script: $(head -n 1 "$dir/x.perf-script")"
fi
exit $failed

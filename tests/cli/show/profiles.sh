#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Exports of samples: pprof, speedscope, Firefox Profiler, perf script and folded stacks say of each thread, and of each
# function where it was, what `ktr report --profile` says, to the nanosecond; `go tool pprof` reads the first of them, and
# protoc by the published schema (Debian: golang-github-google-pprof-dev, protobuf-compiler). SPEEDSCOPE, a folder that has the
# npm package speedscope: its schema holds for the second.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent, or no glibc'; exit 0; }
export KTR_CONF=
$cc -O2 -g -o "$dir/a prog" tests/programs/profile/profile.c -lpthread || { fail 'profile.c'; exit 1; }
go=$(command -v go || ls /usr/lib/go-*/bin/go 2>/dev/null | tail -n 1)

schema=/usr/share/gocode/src/github.com/google/pprof/proto
[ -e $schema/profile.proto ] && command -v protoc >/dev/null || schema=

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
	rm -f "$dir/x.decoded"
	if [ -n "$schema" ]; then
		gzip -dc "$dir/x.pprof" | protoc --decode=perftools.profiles.Profile -I "$schema" profile.proto >"$dir/x.decoded" 2>"$dir/err" ||
			fail "protoc: $(cat "$dir/err")"
	fi
	python3 tests/cli/show/profiles.py "$dir/x" >"$dir/log" 2>&1 || fail "$trace $*: $(tail -n 1 "$dir/log")"
}

for life in shares forks blocked; do
	timeout 300 "$ktr" profile -F 4999 -o "$dir/$life" "$dir/a prog" $life >/dev/null 2>"$dir/err" || fail "$life: $(cat "$dir/err")"
	exports "$dir/$life"
done
[ -n "$go" ] || skip 'no go: pprof is read by profiles.py alone'
[ -n "$schema" ] || skip 'no protoc, or no profile.proto: pprof is read by its numbers alone'
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
schema=$(find "${SPEEDSCOPE:-/nowhere}" -name file-format-schema.json 2>/dev/null | head -n 1)
if [ -n "$schema" ] && python3 -c 'import jsonschema' 2>/dev/null; then
	python3 -c '
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
schema.setdefault("$ref", "#/definitions/FileFormat.File")
jsonschema.validate(json.load(open(sys.argv[2])), schema)' "$schema" "$dir/x.speedscope" 2>"$dir/err" ||
		fail "speedscope: its schema: $(tail -n 3 "$dir/err")"
else
	skip 'no speedscope of npm, or no jsonschema of python: speedscope is read by profiles.py alone'
fi
if command -v perf >/dev/null; then
	[ "$(head -n 1 "$dir/x.perf-script" | grep -cE '^a prog [0-9]+/[0-9]+ \[[0-9]{3}\] +[0-9]+\.[0-9]+: +[0-9]+ cpu-clock: $')" = 1 ] ||
		fail "perf script: $(head -n 1 "$dir/x.perf-script")"
fi
exit $failed

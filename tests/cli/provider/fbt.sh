#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Functions as probes: results are as without, whatever the compiler, the level and the way out of a function; calls are
# as many as the compiler's own instrumentation counts; asked for from outside they begin and end, and text is as it
# was; objects that come and go; stripped ones; where text cannot be made writable; what is not there. FULL=1: each
# compiler at each level.
. "$(dirname "$0")/../lib.inc"
. "$(dirname "$0")/fbt.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
cxx=${CXX:-c++}
# Calls are counted, however many there are.
export KTR_CONF= KTR_BUDGET=0
unset KTR_PROBES

texts() { # TRACE: the texts of its functions' events
	"$ktr" dump --filter 'class == fbt' "$1" | awk 'NR > 1 { $1 = $2 = $3 = $4 = $5 = ""; print }' | sed 's/^ *//'
}

# ---- results are as without ----

ways() { # COMPILER FLAGS LIBS
	$1 -std=gnu++17 $cflags $2 tests/programs/provider/fbt_ways.cc -o "$dir/ways" $3 2>"$dir/err" || {
		fail "fbt_ways, $1 $2: $(head -n 5 "$dir/err")"
		return
	}
	is "$1 $2, off" "$("$dir/ways" 2 5 2>&1)" '10 rounds, 0 wrong'
	is "$1 $2, all" "$(KTR_PROBES=fbt::: "$dir/ways" 3 20 2>&1)" '60 rounds, 0 wrong'
	is "$1 $2, entry" "$(KTR_PROBES=fbt:::entry "$dir/ways" 3 20 2>&1)" '60 rounds, 0 wrong'
	is "$1 $2, return" "$(KTR_PROBES=fbt:::return KTR_PATH=thread "$dir/ways" 3 20 2>&1)" '60 rounds, 0 wrong'
}
for compiler in $cxx $clangxx; do
	ways "$compiler" -O2 "$static"
	[ "${FULL:-0}" != 0 ] || continue
	ways "$compiler" -O0 "$shared"
	ways "$compiler" -O3 "$shared"
done
ways "$cxx" -O0 "$shared"
ways "$cxx" '-O3 -flto' "$shared"
ways "$cxx" '-O2 -fno-omit-frame-pointer -fcf-protection=full' "$shared"
[ "${FULL:-0}" = 0 ] || ways "$cxx" '-Os -fstack-protector-strong -D_FORTIFY_SOURCE=2' "$shared"

# ---- as many as there were ----

calls() { # COMPILER FLAGS LIBS [PLUGIN]
	$1 -std=gnu11 -D_GNU_SOURCE $cflags -finstrument-functions $2 tests/programs/provider/fbt_counts.c -o "$dir/counts" $3 || {
		fail "fbt_counts, $1 $2"
		return
	}
	rm -rf "$dir/t"
	KTR_PROBES='fbt:counts:*:' "$ktr" run -e 262144 -o "$dir/t" "$dir/counts" ${4:+"$4"} >"$dir/counted" 2>"$dir/err" ||
		fail "$1 $2: exit status $?: $(cat "$dir/err")"
	is "$1 $2: lost" "$("$ktr" dump "$dir/t" | grep -c lost)" 0
	# Functions without the compiler's count are those that are static, inline, or the start files'.
	nm "$dir/counts" | awk 'NR == FNR { n[$1] = $2; next } { a = $1; sub(/^0+/, "0x", a) } a in n { print $3, n[a] }' \
		"$dir/counted" - | sort >"$dir/wanted"
	texts "$dir/t" | awk '$2 == "starts" { n[$1]++ } END { for (f in n) print f, n[f] }' | sort >"$dir/got"
	is "$1 $2: calls" "$(paste -sd, "$dir/got")" "$(paste -sd, "$dir/wanted")"
	[ -s "$dir/wanted" ] || fail "$1 $2: nothing was counted"
	# What longjmp leaves has no end; everything else has.
	is "$1 $2: ends" "$(texts "$dir/t" | awk '$2 == "ends" && $1 != "leaves" { n[$1]++ } END { for (f in n) print f, n[f] }' | sort |
		paste -sd,)" "$(grep -v '^leaves ' "$dir/wanted" | paste -sd,)"
}
calls "$cc" -O0 "$shared"
calls "$cc" -O2 "$static"
[ -z "$clang" ] || calls clang -O1 "$shared"

# ---- functions that several files have ----

echo '#include <vector>
int other(int);
__attribute__((noinline)) int unused() { return 7; }
int main() { std::vector<unsigned> v; for (unsigned i = 0; i < 100; i++) v.push_back(i); return other((int)v.size()); }' >"$dir/a.cc"
echo '#include <vector>
int other(int n) { std::vector<unsigned> v; for (int i = 0; i < n; i++) v.push_back(i); return (int)v.size() - n; }' >"$dir/b.cc"
for compiler in $cxx $clangxx; do
	for flags in -O0 '-O2 -pipe' '-O2 -ffunction-sections -Wl,--gc-sections'; do
		rm -rf "$dir/t"
		# shellcheck disable=SC2086 # options
		$compiler $cflags $flags -c "$dir/a.cc" -o "$dir/a.o" 2>"$dir/err" &&
			$compiler $cflags $flags -c "$dir/b.cc" -o "$dir/b.o" \
			2>>"$dir/err" && $compiler $flags "$dir/a.o" "$dir/b.o" $shared -o "$dir/two" 2>>"$dir/err" ||
			fail "$compiler $flags: $(grep -v 'not used' "$dir/err" | head -n 4)"
		KTR_PROBES='fbt:two::entry' "$ktr" run -o "$dir/t" "$dir/two" 2>"$dir/err" || fail "$compiler $flags: $(cat "$dir/err")"
		texts "$dir/t" | sort | uniq -c | awk '{ $1 = $1; print }' >"$dir/got"
		# At -O0 nothing is inlined.
		grep -q '^1 main:entry' "$dir/got" && grep -q '^1 other(int):entry' "$dir/got" &&
			{ [ "$flags" != -O0 ] || grep -q 'realloc_insert' "$dir/got"; } ||
			fail "$compiler $flags: $(paste -sd, "$dir/got")"
	done
done

# Names of C++, as they are written in a SPEC, and with colons in an option.
names=tests/programs/provider/fbt_names.cc
sed -n 's|.*APART.*// *||p' $names | sort >"$dir/wanted"
for compiler in $cxx $clangxx; do
	rm -rf "$dir/t"
	# shellcheck disable=SC2086 # options
	$compiler -std=gnu++17 $cflags -O1 $names -o "$dir/names" $shared 2>"$dir/err" || fail "$compiler: $(head -n 4 "$dir/err")"
	KTR_PROBES='fbt:names::' "$ktr" run -o "$dir/t" "$dir/names" >"$dir/out" 2>"$dir/err" || fail "$names: $(cat "$dir/err")"
	"$ktr" sql "$dir/t" "SELECT DISTINCT func FROM events WHERE class = 'fbt'" 2>"$dir/err" |
		grep -vE '^func$|^main|GLOBAL|ostream' | sort >"$dir/got"
	diff "$dir/wanted" "$dir/got" >"$dir/err" || fail "$compiler: names: $(cat "$dir/err")"
	rm -rf "$dir/t"
	"$ktr" run --fbt 'space::twice*,space::box<int>::p*' -o "$dir/t" "$dir/names" >"$dir/out" 2>"$dir/err" ||
		fail "--fbt with colons: $(cat "$dir/err")"
	is "$compiler: --fbt with colons" "$("$ktr" sql "$dir/t" "SELECT DISTINCT func FROM events WHERE class = 'fbt'" |
		grep -v '^func$' | paste -sd,)" 'space.twice<double>(double),space.box<int>.put(int)'
done

# A name that is too long for a part of a SPEC.
long=$(printf 'n%.0s' $(seq 1100))
echo "__attribute__((noinline)) int $long(int n) { __asm__ volatile(\"\"); return n; }
int main(void) { return $long(0); }" >"$dir/long.c"
rm -rf "$dir/t"
# shellcheck disable=SC2086 # options
$cc $cflags -O1 "$dir/long.c" -o "$dir/long" $shared || fail 'a long name'
KTR_PROBES='fbt:long:nnn*@0x*:' "$ktr" run -o "$dir/t" "$dir/long" 2>"$dir/err" || fail "a long name: $(cat "$dir/err")"
is 'a long name' "$(texts "$dir/t" | grep -c '^nnnnnn')" 2

# ---- objects that come and go ----

$cc $cflags -O1 -fPIC -shared tests/programs/provider/fbt_plugin.c -o "$dir/plugin.so" $shared || fail 'fbt_plugin'
calls "$cc" -O2 "$shared" "$dir/plugin.so"
rm -rf "$dir/t"
KTR_PROBES='fbt:plugin.so:*:' "$ktr" run -e 262144 -o "$dir/t" "$dir/counts" "$dir/plugin.so" >"$dir/out" 2>"$dir/err" ||
	fail "plugin: exit status $?: $(cat "$dir/err")"
is 'calls in the plugin' "$(texts "$dir/t" | sort | uniq -c | awk '{ print $1, $2, $3 }' | paste -sd,)" \
	'3 plugin_call ends,3 plugin_call starts,65673 plugin_step ends,65673 plugin_step starts'

# Another build of it, of as many functions, is at the same path when it is loaded again: other names.
echo '#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++) {
		void *plugin = rename(argv[i], argv[1]) ? 0 : dlopen(argv[1], RTLD_NOW);
		int (*call)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugin_call") : 0;
		if (!call || call(3) != 2) return 1;
		dlclose(plugin);
	}
	return 0; }' >"$dir/loads.c"
$cc $cflags -O1 "$dir/loads.c" -o "$dir/loads" $shared || fail 'loads'
for id in build-id build-id=none; do
	for name in step stride; do
		sed "s/plugin_step/plugin_$name/g" tests/programs/provider/fbt_plugin.c >"$dir/$name.c"
		$cc $cflags -O1 -fPIC -shared -Wl,--$id "$dir/$name.c" -o "$dir/$name.so" $shared || fail "fbt_plugin $name"
	done
	cp "$dir/step.so" "$dir/again.so"
	rm -rf "$dir/rebuilt"
	KTR_PROBES='fbt:step.so:*:' "$ktr" run -o "$dir/rebuilt" "$dir/loads" "$dir/step.so" "$dir/stride.so" "$dir/again.so" \
		2>"$dir/err" ||
		fail "rebuilt, $id: exit status $?: $(cat "$dir/err")"
	is "rebuilt, $id" "$(texts "$dir/rebuilt" | awk '$2 == "starts" { print $1 }' | uniq -c | awk '{ print $1, $2 }' |
		paste -sd,)" '1 plugin_call,5 plugin_step,1 plugin_call,5 plugin_stride,1 plugin_call,5 plugin_step'
done

# Switched on from outside, it vanishes: neither is it there, nor does switching it off do anything; loaded again it is as
# the session has it.
# shellcheck disable=SC2086 # options
$cc $cflags -O1 tests/programs/provider/fbt_vanish.c -o "$dir/vanish" $shared || { fail 'vanish'; exit 1; }
mkfifo "$dir/to" "$dir/from"
KTR_SESSION=vanish "$dir/vanish" "$dir/plugin.so" <"$dir/to" >"$dir/from" 2>"$dir/err" &
pid=$!
at_exit() { kill "$pid" 2>/dev/null; }
exec 3>"$dir/to" 4<"$dir/from"
vanish() { # LETTER ANSWER STARTED
	echo "$1" >&3
	IFS= read -r answer <&4 || answer='none'
	is "vanish, $1: it answers, calls so far" "$answer, $("$ktr" dump -s vanish --filter 'class == fbt' 2>/dev/null | grep -c 'plugin_call starts')" \
		"$2, $3"
}
switched() { # VERB SPEC WANTED
	is "vanish: $1 $2" "$("$ktr" probe "$1" -s vanish "$2" 2>&1)" "$3"
}
vanish l 5 0
switched enable 'fbt::plugin_c*:' '2 probes enabled'
vanish c 5 1
vanish u -1 1
switched list 'fbt::plugin_c*:' 'ktr probe: no probe fits'
switched enable 'fbt:plugin.so:plugin_call:entry' 'ktr probe: unknown probe "fbt:plugin.so:plugin_call:entry"'
vanish l 5 2
is 'vanish: it is on again' "$("$ktr" probe list -s vanish 'fbt::plugin_c*:' | awk 'NR > 1 { print $1, $2 }' | sort | paste -sd,)" \
	'fbt:plugin.so:plugin_call:entry on,fbt:plugin.so:plugin_call:return on'
switched disable 'fbt::plugin_c*:' '2 probes disabled'
vanish c 5 2
vanish u -1 2
vanish l 5 2
exec 3>&- 4<&-
wait $pid
is 'vanish: it ends' "$? $(cat "$dir/err")" '0 '
at_exit() { :; }

# ---- the process ends while its threads call ----

echo '#include <pthread.h>
#include <unistd.h>
__attribute__((noinline)) long step(long n) { __asm__ volatile(""); return n + 1; }
static void *spin(void *p) { for (long n = 0;;) n = step(n); return p; }
int main(void) { pthread_t t; for (int i = 0; i < 4; i++) pthread_create(&t, 0, spin, 0); usleep(2000); return 0; }' >"$dir/ends.c"
# shellcheck disable=SC2086 # options
$cc $cflags -O1 "$dir/ends.c" -o "$dir/ends" $shared || fail 'ends'
for i in $(seq 40); do
	KTR_PROBES=fbt::: timeout 120 "$dir/ends" || { fail "it ends with $?"; break; }
done

# ---- as people see them ----

is 'nested' "$("$ktr" dump --calls "$dir/t" | sed -n 's/^.*| //p' | grep -v '/\* proc' | sed '/plugin_step(); */d' | head -n 4 | paste -sd,)" \
	'calls,plugin_call() {,  plugin_step() {,    plugin_step() {'
"$ktr" report --functions --json "$dir/t" | python3 -c '
import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)["functions"]}
step, call = rows["plugin_step"], rows["plugin_call"]
assert step["calls"] == 65673 and call["calls"] == 3, rows
assert step["self_ns"] + call["self_ns"] == call["total_ns"], rows
assert step["total_ns"] == step["self_ns"] and step["unknown"] == 0, rows' || fail 'time by function'
"$ktr" report --functions "$dir/t" | grep -q '^  plugin_step  *65,673 ' || fail 'time by function as text'
status 2 "$ktr" dump --calls --csv "$dir/t"
if "$ktr" --help | grep -q '^  sql '; then
	is 'calls in SQL' "$("$ktr" sql "$dir/t" "SELECT name, parent, count(*), count(dur) FROM calls
		GROUP BY name, parent ORDER BY 3" --csv 2>&1 | tr -d '\r' | tail -n +2 | paste -sd' ')" \
		'plugin_call,,3,3 plugin_step,plugin_call,3,3 plugin_step,plugin_step,65670,65670'
	is 'all time is somebody'"'"'s own' "$("$ktr" sql "$dir/t" "SELECT
		(SELECT sum(self_dur) FROM calls) = (SELECT sum(dur) FROM calls WHERE depth = 0)" --csv | tail -n 1 | tr -d '\r')" 1
fi

# ---- asked for from outside ----

# The two bytes of a function of a process that runs.
bytes() { # PID SYMBOL
	python3 - "$1" "$(nm "$dir/ways" | awk -v f="$2" '$3 == f { print $1 }')" <<-'E'
		import sys
		pid, at = sys.argv[1], int(sys.argv[2], 16)
		base = int(open("/proc/%s/maps" % pid).readline().split("-")[0], 16)
		memory = open("/proc/%s/mem" % pid, "rb")
		memory.seek(base + at)
		print(memory.read(2).hex())
	E
}
probe() { # VERB SPEC WANTED
	is "probe $1 $2" "$("$ktr" probe "$1" -s out "$2" 2>&1)" "$3"
}
leaf='leaf(long)'
$cxx -std=gnu++17 $cflags -O1 tests/programs/provider/fbt_ways.cc -o "$dir/ways" $shared || fail 'fbt_ways'
mkfifo "$dir/go"
KTR_SESSION=out sh -c 'read -r go <"$1/go"; exec "$1/ways" 2 100000000' sh "$dir" >"$dir/out" 2>&1 &
pid=$!
at_exit() { kill "$pid" 2>/dev/null; }
echo >"$dir/go"
await '"$ktr" probe list -s out 2>&1 | grep -q "has no probes"' # it is there, and nothing has been asked for
probe list 'fbt::none*:' 'ktr probe: no probe fits'
is "asked for" "$("$ktr" probe list -s out "fbt::[el][ve]*(long*):" | awk "NR > 1" | sort | sed "s,  *, ,g" | paste -sd,)" \
	"fbt:ways:even(long, long):entry off,fbt:ways:even(long, long):return off,fbt:ways:$leaf:entry off,fbt:ways:$leaf:return off"
# Functions are not offered before they are asked for, and the nearest is known all the same.
probe enable 'fbt::fibonaci:entry' 'ktr probe: unknown probe "fbt::fibonaci:entry", the nearest is "fbt::fibonacci(long):entry"'
probe enable 'fbt_args:ways:*bonacchi(*' \
	'ktr probe: unknown probe "fbt_args:ways:*bonacchi(*", the nearest is "fbt_args:ways:fibonacci(long)"'
probe enable 'fbt:wys:leaf*:' 'ktr probe: unknown probe "fbt:wys:leaf*:", the nearest is "fbt:ways:leaf*:"'
probe enable 'fbt::somebody_else:' 'ktr probe: unknown probe "fbt::somebody_else:"'
# What is asked for again takes no room again. A session is a file with holes.
for i in 1 2 3; do
	for name in one two three; do "$ktr" probe list -s out "fbt::never_$name*:" >"$dir/list" 2>&1; done
done
is 'SPECs that are stored' "$(python3 - "$(find "$KTR_DIR" -name "out.ktr")" <<-'E'
	import os, sys
	fd, at, n = os.open(sys.argv[1], os.O_RDONLY), 0, {}
	while True:
	    try:
	        at = os.lseek(fd, at, os.SEEK_DATA)
	    except OSError:
	        break
	    end = os.lseek(fd, at, os.SEEK_HOLE)
	    data = os.pread(fd, end - at, at)
	    for name in ("one", "two", "three"):
	        n[name] = n.get(name, 0) + data.count(b"fbt::never_%s*:\0" % name.encode())
	    at = end
	print(*n.values())
E
)" '1 1 1'
is 'off' "$(bytes $pid _Z4leafl)" a8f0
probe enable "fbt::$leaf:" '2 probes enabled'
is 'on' "$(bytes $pid _Z4leafl)" ebf0
is 'another' "$(bytes $pid _Z9fibonaccil)" a8f0
probe disable "fbt::$leaf:" '2 probes disabled'
is 'off again' "$(bytes $pid _Z4leafl)" a8f0
for i in 1 2 3 4 5 6 7 8; do
	"$ktr" probe enable -s out 'fbt:::' >/dev/null 2>"$dir/err" || fail "all on: $(cat "$dir/err")"
	"$ktr" probe disable -s out 'fbt:::entry' >/dev/null 2>"$dir/err" || fail "entries off: $(cat "$dir/err")"
	"$ktr" probe disable -s out 'fbt:::' >/dev/null 2>"$dir/err" || fail "all off: $(cat "$dir/err")"
done
is 'all off again' "$(bytes $pid _Z4leafl)$(bytes $pid _Z9fibonaccil)" a8f0a8f0
kill -0 $pid 2>/dev/null || fail 'the program has ended'
is 'nothing wrong' "$(cat "$dir/out")" ''
kill $pid
wait $pid 2>/dev/null

for how in "KTR_PROBES=fbt::fibonaci:, nobody, fbt::leaf*:entry" "KTR_CONF=$dir/near.conf"; do
	echo 'debug.ktr.probes="fbt::fibonaci:, nobody, fbt::leaf*:entry"' >"$dir/near.conf"
	is "the nearest at start, ${how%%=*}" "$(env "$how" "$dir/ways" 1 1 2>&1)" \
		"ktr: debug.ktr.probes: no probe fits fbt::fibonaci:, the nearest is fbt::fibonacci(long):
ktr: debug.ktr.probes: no probe fits nobody
1 rounds, 0 wrong"
done

# ---- less than usual ----

# prctl(PR_SET_MDWE): no page is to be written and run.
is 'no page that is written and run' "$(KTR_PROBES=fbt::: python3 -c '
import ctypes, os, sys
ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])' "$dir/ways" 2 10 2>&1)" '20 rounds, 0 wrong'

strip -s "$dir/ways"
rm -rf "$dir/t"
KTR_PROBES='fbt:ways:0x*:entry' "$ktr" run -o "$dir/t" "$dir/ways" 1 1 >"$dir/out" 2>"$dir/err" || fail "stripped: $(cat "$dir/err")"
texts "$dir/t" | grep -q '^0x[0-9a-f]*:entry$' || fail "stripped: $(texts "$dir/t" | head -n 3)"

$cxx -std=gnu++17 -Iinclude -include include/ktr/fbt.h tests/programs/provider/fbt_ways.cc -o "$dir/plain" $shared ||
	fail 'without the flag'
is 'compiled without room' "$(KTR_PROBES=fbt:::entry "$dir/plain" 1 1 2>&1)" \
	"ktr: debug.ktr.probes: no probe fits fbt:::entry
1 rounds, 0 wrong"

exit $failed

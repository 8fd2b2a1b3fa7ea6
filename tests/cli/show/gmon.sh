#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr export gmon, gmon-bsd: what gprof and a reader of our own make of calls by 2 and 16 threads that count them
# themselves, of samples, of counters that are full, of other objects; what is said where something is not known. FULL=1:
# longer, so that times are looked at more closely.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions as probes are for x86-64'; exit 0 ;; esac
command -v gprof >/dev/null || { skip 'no gprof'; exit 0; }
. tests/cli/provider/fbt.inc
prog=$dir/gmon
# shellcheck disable=SC2086
$cc -O2 $cflags -o "$prog" tests/programs/show/gmon.c $static || { fail 'gmon.c'; exit 1; }
$cc -O2 -o "$dir/plain" tests/programs/show/gmon.c -lpthread || { fail 'gmon.c as it is'; exit 1; }

read_as() { # FORM FILE ELF TOLD [HOW [times]]: $said is what the reader says
	said=$(python3 "$top/tests/cli/show/gmon.py" "$@" 2>&1) || fail "$1 $2: $(echo "$said" | tail -n 1)"
}

# ---- calls, each counted ----

cd "$dir" || exit 1
for n in 2 16; do
	"$ktr" run -e 1048576 --fbt '*' -o t$n "$prog" $n 3000 5 >told$n 2>log || fail "$n threads: $(cat log)"
	grep -q ', 0 lost' log || fail "$n threads: $(cat log)"
	for form in gnu bsd; do
		format=gmon
		[ $form = gnu ] || format=gmon-bsd
		"$ktr" export $format -o $form.$n t$n 2>err || fail "$format: $(cat err)"
		is "$format: said" "$(cat err)" 'ktr export: times are those of the calls, waiting too: there are no samples'
		read_as $form $form.$n "$prog" told$n exact
	done
done
# A folder, and standard output.
mkdir d && "$ktr" export gmon -o d t2 2>err && cmp d/gmon.out gnu.2 || fail "a folder: $(cat err)"
"$ktr" export gmon -o - t2 2>/dev/null | cmp - gnu.2 || fail 'standard output'
# Callees of a part of the functions hang on those that are there.
"$ktr" export gmon -o part t2 --filter 'func != "middle"' 2>/dev/null || fail 'a part'
python3 - part "$prog" <<'END' || fail 'a part: leaf is not called by work'
import struct, subprocess, sys
lines = map(str.split, subprocess.run(['nm', sys.argv[2]], capture_output=True, text=True).stdout.splitlines())
names = {int(line[0], 16): line[2] for line in lines if len(line) == 3}
data = open(sys.argv[1], 'rb').read()
arcs = set()
at = 20
while at < len(data):
    if data[at] == 0:
        at += 41 + 2 * struct.unpack_from('<i', data, at + 17)[0]
    else:
        a, b, n = struct.unpack_from('<QQI', data, at + 1)
        arcs.add((names[a], names[b]))
        at += 21
assert ('work', 'leaf') in arcs and not any('middle' in arc for arc in arcs), arcs
assert ('_start', 'main') in arcs and ('_start', 'work') in arcs, arcs
END

# ---- a counter that is full: eight seconds, a tick each tenth of a millisecond ----

"$ktr" run --fbt 'doze' -o full "$prog" 16 1 0 500 >told 2>log || fail "full: $(cat log)"
"$ktr" export gmon -o full.gnu full 2>/dev/null && "$ktr" export gmon-bsd -o full.bsd full 2>/dev/null || fail 'full'
read_as gnu full.gnu "$prog" told -
# shellcheck disable=SC2086
set -- $said
[ "$1" = 10000 ] && [ "$2" -gt 1 ] && [ "$3" = 65535 ] && [ "$4" -ge 7990 ] || fail "full: $said"
gprof -b -p "$prog" full.gnu | awk -v ms="$4" '$NF == "doze" { found = $3 > ms / 1000 - 0.02 && $3 < ms / 1000 + 0.02 }
	END { exit !found }' || fail "full, by gprof: $(gprof -b -p "$prog" full.gnu)"
gnu_ms=$4
read_as bsd full.bsd "$prog" told -
# shellcheck disable=SC2086
set -- $said
[ "$1" -lt 10000 ] && [ "$1" -gt 1000 ] && [ "$2" = 1 ] && [ "$3" -gt 60000 ] && [ "$4" -ge $((gnu_ms - 2)) ] &&
	[ "$4" -le $((gnu_ms + 2)) ] || fail "full, BSD's: $said beside $gnu_ms ms"

# ---- other objects: a library's calls are in a file of its own, by whoever ----

cat >lib.c <<'END'
__attribute__((noinline)) int inner(int i) { __asm__ volatile(""); return i + 1; }
int outer(int i) { return inner(i) + inner(i); }
END
cat >uses.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int outer(int i);
__attribute__((noinline)) int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static __attribute__((noinline, noclone)) int uses(int i) { int n = outer(i); __asm__ volatile(""); return n; }
int main(void)
{
	int a[] = { 3, 1, 2 }, n = 0;

	for (int i = 0; i < 7; i++)
		n += uses(i);
	qsort(a, 3, sizeof(*a), compare);
	printf("%d\n", n);
	return 0;
}
END
# shellcheck disable=SC2086
(cd "$top" && $cc -O2 -fPIC -shared $cflags -o "$dir/libcalled.so" "$dir/lib.c" &&
	$cc -O2 $cflags -o "$dir/uses" "$dir/uses.c" -L"$dir" -lcalled $shared -Wl,-rpath,"$dir") >log 2>&1 || fail "uses: $(cat log)"
"$ktr" run --fbt '*' -o lib.out ./uses >out 2>log && "$ktr" export gmon -o lib lib.out 2>err || fail "uses: $(cat log err)"
[ -e lib ] && [ -e lib.libcalled.so ] || fail "a library: $(ls)"
printf 'arc uses outer 0\narc main uses 7\n' >told
read_as gnu lib uses told exact
printf 'calls outer 7\narc outer inner 14\n' >told
read_as gnu lib.libcalled.so libcalled.so told exact
gprof -b -p ./uses lib | grep -q ' compare$' || fail 'qsort calls compare: not there'
"$ktr" export gmon -o - lib.out 2>err >/dev/null && grep -q '1 further objects have no file' err || fail "one file alone: $(cat err)"
# All of them or none: one that cannot be there.
mkdir none.libcalled.so && echo before >none
"$ktr" export gmon -o none lib.out >out 2>err && fail 'a folder in the place of a file'
grep -q 'none\.libcalled\.so: cannot be written: Is a directory' err || fail "a folder in the place of a file: $(cat err)"
is 'all or none' "$(cat none; ls -d none*)" "before
none
none.libcalled.so"
rm -rf none*
# The file is the program's; where that has nothing, or there are two of them, it is said whose it is.
! grep -q 'the file is of' err || fail "whose it is: $(cat err)"
"$ktr" run --fbt inner -o alone.out ./uses >out 2>log && "$ktr" export gmon -o alone alone.out 2>err || fail "alone: $(cat log err)"
grep -q 'the file is of libcalled\.so$' err && [ ! -e alone.libcalled.so ] || fail "alone: $(cat err)"
echo 'calls inner 14' >told
read_as gnu alone libcalled.so told exact
"$ktr" run --fbt '*' -o pair.out sh -c './uses; ./gmon 2 10 0' >out 2>log && "$ktr" export gmon -o pair pair.out 2>err || fail "pair: $(cat log err)"
grep -q 'the file is of uses\(;\|$\)' err && [ -e pair.gmon ] || fail "two programs: $(cat err; ls -d pair*)"
# Another file in its place has other addresses: nothing is made up.
cp libcalled.so kept && printf 'int outer(int i) { return i; }\n' >lib.c && $cc -shared -fPIC -o new lib.c && mv new libcalled.so
"$ktr" export gmon -o stale lib.out 2>err && grep -q '21 calls are of functions that no file tells the address of' err ||
	fail "another file: $(cat err)"
[ ! -e stale.libcalled.so ] || fail 'another file: told of all the same'

# So long that 2 % is more than 5 standard errors of two threads' times, and hardly less of 16 threads'.
ms=400
[ "${FULL:-0}" = 0 ] || ms=16000

# ---- samples, alone and beside calls ----

if [ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ]; then
	"$ktr" profile -o samples "$dir/plain" 2 100 200 >told 2>log && "$ktr" export gmon -o sampled samples 2>err || fail "profile: $(cat log err)"
	grep -q 'calls are sampled, not counted' err || fail "profile: $(cat err)"
	read_as gnu sampled "$dir/plain" told sampled times "$(sed -n 's/.*[^0-9]\([0-9]*\) us are in no file.*/\1/p' err)"
	"$ktr" export gmon-bsd -o sampled samples 2>err && read_as bsd sampled "$dir/plain" told sampled times
	is 'rate' "$(echo "$said" | sed '$!d; s/ .*//')" 997
	# Functions that are built to be probed, in a program that is not linked with ktr.
	# shellcheck disable=SC2086
	(cd "$top" && $cc -O2 $cflags -o "$dir/both" tests/programs/show/gmon.c -lpthread) || fail 'both'
	for n in 2 16; do
		"$ktr" run --agent -e 1048576 --fbt '*' --probe profile:::profile-997 -o both.out ./both $n 3000 $((ms / n)) >told 2>log ||
			fail "both: $(cat log)"
		"$ktr" export gmon -o both.gmon both.out 2>err || fail "both: $(cat err)"
		! grep -q 'sampled\|waiting' err || fail "both: $(cat err)"
		# Of threads that are done after a moment the last tick is missing: that is told, and of no file.
		rm -f both.gmon.*
		"$ktr" export gmon -o both.gmon both.out 2>err
		us=$(sed -n 's/.*[^0-9]\([0-9]*\) us are in no file.*/\1/p' err)
		read_as gnu both.gmon both told exact times "${us:-0}"
		echo "$n threads: $said" | sed 's/^[^0-9]/ &/'
		"$ktr" export gmon-bsd -o both.bsd both.out 2>err && read_as bsd both.bsd both told exact times "${us:-0}"
		echo "$n threads, BSD's form: $said" | sed 's/^[^0-9]/ &/'
		rm -f both.bsd*
	done
fi

# ---- nothing ----

printf '#include <ktr.h>\nint main(void) { CTR0(KTR_NET, "one"); return 0; }\n' >one.c
(cd "$top" && $cc -std=gnu11 -D_GNU_SOURCE -Iinclude "$dir/one.c" -o "$dir/one" "$O/lib/libktr.a" -lpthread) &&
	"$ktr" run -m all -o one.out ./one >log 2>&1 && "$ktr" export gmon -o none one.out 2>err || fail "one: $(cat log)"
grep -q 'neither calls of functions' err && [ "$(wc -c <none)" = 20 ] || fail "nothing: $(cat err)"
exit $failed

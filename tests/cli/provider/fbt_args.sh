#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Arguments and results of functions that are probed: what is recorded is what the program prints itself, for all kinds
# of them, in C and C++, by gcc and clang, with optimisation and without; asked for at the start and from outside; without
# types; and with a cache that is damaged, cut, or another program's.
. "$(dirname "$0")/../lib.inc"
. "$(dirname "$0")/fbt.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
[ -e /usr/include/elfutils/libdwfl.h ] || { skip 'no libdw'; exit 0; }
cxx=${CXX:-c++}
cflags='-g -Wl,--build-id -Iinclude -fpatchable-function-entry=16,14 -include include/ktr/fbt.h -Bscripts/fbt/'
source=tests/programs/provider/fbt_args.c
export KTR_CONF= KTR_BUDGET=0 XDG_CACHE_HOME="$dir/cache"
unset KTR_PROBES

# The calls of a trace, without times and those of main.
recorded() { # TRACE
	"$ktr" dump --calls "$1" | sed -n 's/^.*| *//p' | grep -E '^(args_[a-z]*|space::[A-Za-z:]*|int \(\* const&space.*)\(.*;$' |
		grep -vE '^args_(structs|texts|cxx)\(|Box::Box'
}

# ---- all kinds ----

cp $source "$dir/fbt_args.cc"
kinds() { # COMPILER FLAGS [SOURCE]
	$1 $cflags $2 "${3:-$source}" -o "$dir/prog" $shared 2>"$dir/err" || { fail "$1 $2: $(head -n 5 "$dir/err")"; return; }
	rm -rf "$dir/t"
	"$ktr" run --fbt 'args_*,space.*,*passes*' --args -o "$dir/t" "$dir/prog" >"$dir/wanted" 2>"$dir/err" ||
		fail "$1 $2: exit status $?: $(cat "$dir/err")"
	recorded "$dir/t" >"$dir/got"
	[ -s "$dir/wanted" ] || fail "$1 $2: nothing was printed"
	diff "$dir/wanted" "$dir/got" >"$dir/diff" || fail "$1 $2: $(head -n 12 "$dir/diff")"
}
for flags in -O0 -O2; do
	for c in "$cc" $clang; do kinds "$c -std=gnu11 -D_GNU_SOURCE" "$flags"; done
	for c in "$cxx" $clangxx; do kinds "$c -std=gnu++17" "$flags" "$dir/fbt_args.cc"; done
done

# Arguments that nobody uses, or that are always the same, are not passed to static functions: what is recorded of
# others is right, or nothing is.
printf '%s\n' '#define STAY static __attribute__((noinline))' 'int sum;' \
	'STAY void gone_a(int a, int b, int c) { __asm__ volatile(""); sum += a + b; }' \
	'STAY void gone_b(int a, int b) { __asm__ volatile(""); sum += b; }' \
	'int main(int n, char **v) { gone_a(n, 5, 77); gone_b(66, n + 8); return v == 0; }' >"$dir/gone.c"
for c in "$cc" $clang; do
	$c $cflags -O2 "$dir/gone.c" -o "$dir/gone" $shared 2>/dev/null || fail "$c: gone"
	rm -rf "$dir/t"
	"$ktr" run --fbt 'gone_*' --args -o "$dir/t" "$dir/gone" >/dev/null 2>"$dir/err" || fail "$c gone: $(cat "$dir/err")"
	is "$c: left out" "$("$ktr" dump --calls "$dir/t" | sed -n 's/^.*| *gone_\([ab]\)[^(]*(/\1(/p' | sed 's/a=1,/a={...},/; s/b=9/b={...}/' | paste -sd' ')" \
		'a(a={...}, b={...}, c={...}); b(a={...}, b={...});'
done

# ---- in other forms ----

$cc -std=gnu11 -D_GNU_SOURCE $cflags -O1 $source -o "$dir/prog" $shared || fail 'fbt_args'
run() { # TRACE PROBES: as at boot
	rm -rf "$dir/$1"
	KTR_PROBES=$2 "$ktr" run -o "$dir/$1" "$dir/prog" >"$dir/out" 2>"$dir/err" || fail "$2: $(cat "$dir/err")"
}
"$ktr" types "$dir/prog" >/dev/null || fail 'types'
run t 'fbt::args_*:,fbt_args::args_*:'
is 'json' "$("$ktr" json "$dir/t" | python3 -c '
import json, sys
for line in sys.stdin:
	e = json.loads(line)
	if e.get("func") in ("args_kinds", "args_text") and len(seen := e["args"]) > 1:
		print({k: v for k, v in seen.items() if k not in ("key", "p")})' | sed 3,100d | paste -sd' ')" \
	"{'c': 113, 'yes': 1, 'color': 'BLUE', 'other': '7'} {'result': 114}"
if "$ktr" --help | grep -q '^  sql '; then
	is 'sql' "$("$ktr" sql "$dir/t" "SELECT args, result FROM calls WHERE name = 'args_six'" --csv | tr -d '\r' | tail -n 1)" \
		'"a=1, b=-2, c=3, d=-4, e=5, ...",-3'
fi
run t 'fbt::args_six:entry,fbt_args::args_six:'
"$ktr" dump "$dir/t" | grep -q 'args_six:entry a=1, b=-2, c=3, d=-4, e=5, \.\.\.$' || fail 'entry alone'
run t 'fbt::args_six:return,fbt_args::args_six:'
"$ktr" dump "$dir/t" | grep -q 'args_six:return result=-3$' || fail 'return alone'
run t 'fbt::args_six:'
is 'not asked for' "$(recorded "$dir/t")" 'args_six();'
status 2 "$ktr" run --args "$dir/prog"

# ---- from outside ----

mkfifo "$dir/go"
KTR_SESSION=args sh -c 'exec "$1/prog" wait <"$1/go"' sh "$dir" >"$dir/wanted" 2>&1 &
pid=$!
exec 7>"$dir/go"
await '"$ktr" probe list -s args fbt::args_six: >"$dir/list" 2>/dev/null'
rm -rf "$dir/cache"
is 'enabled' "$("$ktr" probe enable -s args --args 'fbt::args_*:' 2>&1 | sed 's/^[0-9]* //')" 'probes enabled'
"$ktr" probe list -s args 'fbt_args::args_text:' | grep -q 'on .*const char \*s, void \*p, const char \*result' ||
	fail "listed: $("$ktr" probe list -s args 'fbt_args::args_text:')"
"$ktr" probe enable -s args 'fbt_args::args_none:' >/dev/null 2>&1 || fail 'enabled by its own SPEC'
"$ktr" record -s args -o "$dir/outside" >/dev/null 2>"$dir/err" &
writer=$!
await '[ -e "$dir/outside/metadata" ]'
echo >&7
exec 7>&-
wait $pid || fail "from outside: exit status $?"
wait $writer
recorded "$dir/outside" >"$dir/got"
diff "$dir/wanted" "$dir/got" >"$dir/diff" || fail "from outside: $(head -n 6 "$dir/diff")"

# ---- without types ----

$cc -std=gnu11 -D_GNU_SOURCE $cflags -g0 -O1 $source -o "$dir/bare" $shared || fail 'bare'
rm -rf "$dir/t"
"$ktr" run --fbt 'args_*' --args -o "$dir/t" "$dir/bare" >"$dir/out" 2>"$dir/err" || fail "bare: $(cat "$dir/err")"
is 'one line' "$(grep -c 'no arguments are recorded: .*has no types of functions' "$dir/err")" 1
recorded "$dir/t" | grep -qx 'args_six();' || fail 'as without --args'

# ---- a cache that is not what it should be ----

printf '%s\n' '__attribute__((noinline)) int f(int n) { __asm__ volatile(""); return n + 1; }' \
	'int main(void) { return f(4) != 5; }' >"$dir/small.c"
$cc $cflags -O1 "$dir/small.c" -o "$dir/small" $shared || fail 'small'
rm -rf "$dir/cache"
"$ktr" types "$dir/small" >/dev/null || fail 'types of small'
cache=$(ls "$dir"/cache/ktr/types/*)
cp "$cache" "$dir/whole"
said() { # what f(4) is recorded as
	rm -rf "$dir/t"
	KTR_PROBES='fbt::f:,fbt_args::f:' "$ktr" run -o "$dir/t" "$dir/small" >/dev/null 2>"$dir/err" || echo "status $?"
	"$ktr" dump --calls "$dir/t" | sed -n 's/^.*| *\(f(.*\)$/\1/p'
}
is 'whole' "$(said)" 'f(n=4) = 5;'
size=$(wc -c <"$dir/whole")
for i in $(seq 24); do
	python3 - "$dir/whole" "$cache" $((i * size / 25)) <<-'E'
		import sys
		b = bytearray(open(sys.argv[1], "rb").read())
		b[int(sys.argv[3])] ^= 0x41
		open(sys.argv[2], "wb").write(b)
	E
	[ "$(said)" = 'f();' ] || { fail "byte $((i * size / 25)) of $size: $(said)"; break; }
done
head -c $((size / 2)) "$dir/whole" >"$cache"
is 'cut' "$(said)" 'f();'
: >"$cache"
is 'empty' "$(said)" 'f();'
"$ktr" types "$dir/prog" >/dev/null
for other in "$dir"/cache/ktr/types/*; do [ "$other" = "$cache" ] || cp "$other" "$cache"; done
is 'of another program' "$(said)" 'f();'
rm "$cache"
mkdir "$cache"
is 'a folder' "$(said)" 'f();'
rmdir "$cache"

exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Counters keep their values: each type of number, in C and in C++, through everything that shows it.
. "$(dirname "$0")/../lib.inc"

values='int=-7
unsigned=3000000000
long=-3000000000
long long=-9223372036854775808
size_t=3000000000
2^63=9223372036854775808
double=0.36
float=0.5
long double=-2.25
short=65535
char=-3
bool=1
enum=7
narrow=5
wide=-100000
effect=0.36
none=nan
infinite=-inf
one=9223372036854775808
two=1.5
three=-5000000000
four=3'
warnings='-Wall -Wextra -Wshadow -Wformat=2 -Wundef -Wpointer-arith -Wcast-qual -Werror'
ways="$cc -std=gnu11 -O2:$cc -std=gnu11 -O0"
cxx=${CXX:-c++}
command -v ${cxx%% *} >/dev/null && ways="$ways:$cxx -x c++ -std=c++17 -O0:$cxx -x c++ -std=c++17 -O2" || skip "no C++ compiler"
number=0
(
IFS=:
for way in $ways; do echo "$way"; done
) >"$dir/ways"
while read -r way; do
	number=$((number + 1))
	# shellcheck disable=SC2086 # several words
	$way $warnings -Iinclude -D_GNU_SOURCE tests/programs/show/counters.c -x none \
		"$O/lib/libktr.a" -lpthread -o "$dir/counters" >"$dir/log" 2>&1 ||
		{ fail "$way: $(cat "$dir/log")"; continue; }
	# And where tracing is not compiled in.
	# shellcheck disable=SC2086
	$way $warnings -Iinclude -D_GNU_SOURCE -DKTR_OFF -c tests/programs/show/counters.c -o "$dir/off.o" >"$dir/log" 2>&1 ||
		fail "$way -DKTR_OFF: $(cat "$dir/log")"
	rm -rf "$dir/t"
	status 0 env KTR_FILE="$dir/t" KTR_MASK=all "$dir/counters"
	status 0 "$ktr" dump --raw "$dir/t"
	told=$(sed -n 's/.*group:"n", id:"\([^"]*\)", counter:\([^,]*\),.*/\1=\2/p' "$dir/out")
	wanted=$values
	case $way in *c++*) wanted="$wanted
scoped=5000000000" ;; esac
	is "$way" "$told" "$wanted"
	grep -q 'id:"four", counter:3, attributes: a:1, b:"x", c:0.5, d:y' "$dir/out" || fail "$way: attributes of four"
	grep -q 'id:"three", counter:-5000000000, attributes: a:1, b:"x", c:0.5' "$dir/out" || fail "$way: attributes of three"
done <"$dir/ways"
[ $number -ge 2 ] || fail "nothing was compiled"

# What draws and exports: of the last way's trace.
status 0 "$ktr" timeline --rows ids --width 200 --color never "$dir/t"
for text in '3000000000 to 3000000000' '0.36 to 0.36' ' 9.223372037e+' '\-7 to -7'; do
	grep -q -- "$text" "$dir/out" || fail "timeline lacks $text: $(cat "$dir/out")"
done
status 0 "$ktr" sql "$dir/t" "select id, value from counters"
grep -q '3000000000' "$dir/out" && grep -q '0\.36' "$dir/out" && grep -q '9223372036854775808\|9.223372036854\|9.22337203685478e+18' "$dir/out" ||
	fail "sql: $(cat "$dir/out")"
status 0 "$ktr" report "$dir/t"
grep -q 'unsigned.* 3000000000 ' "$dir/out" && grep -q 'double.* 0\.36 ' "$dir/out" && grep -q '2^63.* 9\.22337' "$dir/out" ||
	fail "report: $(cat "$dir/out")"
status 0 "$ktr" json "$dir/t"
grep -q '3000000000' "$dir/out" && grep -q '9223372036854775808' "$dir/out" && grep -q '0\.36' "$dir/out" || fail "json"
status 0 "$ktr" export csv -o "$dir/csv" "$dir/t"
grep -q ',3000000000' "$dir/csv" && grep -q ',9223372036854775808' "$dir/csv" && grep -q ',0\.3' "$dir/csv" || fail "csv"
status 0 "$ktr" export chrome -o "$dir/chrome" "$dir/t"
for value in -7 3000000000 -3000000000 9223372036854775808 0.36 -2.25; do
	grep -q "\"ph\":\"C\".*\"value\":$value}" "$dir/chrome" || fail "chrome lacks $value"
done
! grep -q '"value":-*[ni]' "$dir/chrome" || fail "chrome: no JSON"
status 0 "$ktr" export schedgraph -o "$dir/schedgraph" "$dir/t"
for value in 3000000000 -3000000000 9223372036854775808 -7; do
	grep -q "counter:$value," "$dir/schedgraph" || fail "schedgraph lacks $value: $(cat "$dir/schedgraph")"
done
status 0 "$ktr" export perfetto -o "$dir/perfetto" "$dir/t"
# double_counter_value, field 44, fixed: 0xe1 0x02, and 0.36 as a double.
od -An -v -tx1 "$dir/perfetto" | tr -d ' \n' | grep -q 'e1020ad7a3703d0ad73f' || fail "perfetto has no 0.36"
status 0 "$ktr" timeline -o "$dir/page.html" "$dir/t"
if command -v gnuplot >/dev/null; then
	status 0 "$ktr" plot counters -o "$dir/plot.svg" "$dir/t"
	grep -q 'G' "$dir/plot.svg" || fail "plot counters: nothing of 9 G"
	! grep -q -- '-1.29' "$dir/plot.svg" || fail "plot counters: cut to an int"
else
	skip "no gnuplot"
fi
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Stacks of ktr profile: 20 known frames through qsort, std::sort, handlers of signals, the PLT, tail calls, pages without a file,
# code without tables, recursion and exceptions, compiled without frame pointers: whole, or marked as cut. What node tells of its
# code in a map for perf has names.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no glibc'; exit 0; }
[ -e "$O/lib/libktr-agent.so" ] || { skip 'no agent'; exit 0; }
export KTR_CONF=
printf 'int plt_add(int a, int b)\n{\n\treturn a + b;\n}\n' >"$dir/plt.c"
printf 'volatile int no_tables_n;\nvoid no_tables(void (*inner)(void))\n{\n\tinner();\n\tno_tables_n++;\n}\n' >"$dir/tables.c"
$cc -O2 -fPIC -shared -o "$dir/libplt.so" "$dir/plt.c" &&
	$cc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -c -o "$dir/tables.o" "$dir/tables.c" &&
	${CXX:-c++} -std=c++17 -O2 -fomit-frame-pointer -foptimize-sibling-calls -Wl,-z,lazy -o "$dir/ways" \
		tests/profile/stack_ways.cc "$dir/tables.o" -L"$dir" -lplt -Wl,-rpath,"$dir" ||
	{ fail 'stack_ways.cc'; exit 1; }

# Those that can be followed to the end nearly always are. One that has just been entered or left may be cut.
sure='qsort sort signal fault plt tail page catch unwinding'
others='bare tables deep'
# shellcheck disable=SC2086 # words
timeout 300 "$ktr" profile -F 4999 -o "$dir/t" "$dir/ways" 300 $sure $others >"$dir/out" 2>"$dir/err" || fail "ways: $(cat "$dir/err")"
"$ktr" dump "$dir/t" --filter 'class == profile' >"$dir/dump"
# shellcheck disable=SC2086
python3 tests/cli/profile/profile_stacks.py $sure $others <"$dir/dump" >"$dir/log" || fail "stacks: $(grep WRONG "$dir/log")"
for way in $sure; do
	awk -v way="$way" '$1 == way && $2 >= 9 * $3 { found = 1 } END { exit !found }' "$dir/log" ||
		fail "$way: stacks that are whole, and that are cut: $(grep "^$way " "$dir/log")"
done
is 'recursion of 300 frames: whole' "$(awk '$1 == "deep" { print $2 }' "$dir/log")" 0

if command -v node >/dev/null; then
	cat >"$dir/busy.js" <<-'END'
		function innermostOfAll(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
		function inTheMiddle(n) { return innermostOfAll(n) + 1; }
		let end = Date.now() + 1500, sum = 0;
		while (Date.now() < end) sum += inTheMiddle(200000);
		if (sum < 0) console.log(sum);
	END
	(cd "$dir" && timeout 300 "$ktr" profile -o "$dir/n" node --perf-basic-prof --interpreted-frames-native-stack busy.js) >"$dir/out" 2>"$dir/err" ||
		fail "node: $(cat "$dir/err")"
	"$ktr" report --profile "$dir/n" >"$dir/report"
	grep -q 'innermostOfAll' "$dir/report" || fail "node: $(head -n 40 "$dir/report")"
else
	skip 'node is not here'
fi
exit $failed

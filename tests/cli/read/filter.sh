#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --filter in every command that reads events: the same events from trace and session, in both
# directions, with windows and -n; mistakes with their column; nothing left is never said by silence. Random
# expressions choose what they choose by the manual's rules: TRUTHS=40 SEED=1.
. "$(dirname "$0")/../lib.inc"

# says text: the last command said so
says() {
	grep -qF -e "$1" "$dir/err" || fail "no \"$1\" in: $(cat "$dir/err")"
}

cat >"$dir/program.c" <<'END'
#include <ktr.h>
KTR_CLASS_DEFINE(rx, "packets received");
int main(void)
{
	for (int i = 0; i < 1000; i++) {
		CTR2(KTR_NET, "got %d of %s", i, i % 2 ? "left" : "right");
		CTR1(KTR_CLASS(rx), "packet %d", i * 2);
	}
	return 0;
}
END
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude "$dir/program.c" -o "$dir/program" "$O/lib/libktr.a" \
	-lpthread || exit 1
cd "$dir" || exit 1
KTR_KEEP_SESSION=1 status 0 "$ktr" run -s mine -e 16384 -m net,rx -- ./program

for from in "" "-s mine"; do
	# shellcheck disable=SC2086
	for case in '500 class == rx and arg("i * 2") >= 1000' "1000 class == net" \
		"250 i > 499 and i % 2 and class == net" "2 arg0 in (7, 9) and class == net" \
		"1 msg ~ *97*left and i > 990" "2000 not false"; do
		n=${case%% *} filter=${case#* }
		status 0 "$ktr" dump -q $from --filter "$filter"
		is "dump, $filter" "$(wc -l <out)" "$n"
		# Without the times: those of a session that lived shortly differ by a nanosecond between two readings.
		sed 's/^ *[0-9.]* //' out >forward
		status 0 "$ktr" dump -q -R $from --filter "$filter"
		sed 's/^ *[0-9.]* //' out | tac | cmp -s - forward || fail "$filter: dump -R is not the reverse"
		status 0 "$ktr" json --events $from --filter "$filter"
		is "json, $filter" "$(wc -l <out)" "$n"
	done
done
status 0 "$ktr" dump -q --filter 'class == net and arg0 in (7, 9)'
is "events of a list" "$(sed 's/.*got //' out | tr '\n' ';')" "7 of left;9 of left;"
status 0 "$ktr" dump -q --filter 'arg1 == "left"' -n 2
is "the last two" "$(sed 's/.*got //' out | tr '\n' ';')" "997 of left;999 of left;"
status 0 "$ktr" dump -q -s mine --filter 'arg1 == "left"' -n 2
is "the last two of the session" "$(sed 's/.*got //' out | tr '\n' ';')" "997 of left;999 of left;"
status 0 "$ktr" dump -q --filter 'arg1 == "left"' --head 2
is "the first two" "$(sed 's/.*got //' out | tr '\n' ';')" "1 of left;3 of left;"
status 0 "$ktr" dump -q --filter 'arg1 == "left"' -R -n 1
is "the last one" "$(sed 's/.*got //' out)" "999 of left"
status 0 "$ktr" report --json --filter 'class == rx'
is "report" "$(grep -o '"events":[0-9]*' out | head -1)" '"events":1000'
status 0 "$ktr" timeline --filter 'class == rx' --width 80
status 0 "$ktr" plot rate -o rate.gp --filter 'class == rx'

# Mistakes: column, nearest name, a caret below the place.
status 2 "$ktr" dump --filter 'class == net and clss == rx'
says 'column 18: unknown field or argument "clss", the nearest is "class"'
is "the caret" "$(sed -n 3p err)" "                   ^"
status 2 "$ktr" json --filter 'class == nett'
says 'column 10: unknown class "nett", the nearest is "net"'
status 2 "$ktr" report --filter 'site == progam.c:6'
says 'the nearest is "program.c:6"'
status 2 "$ktr" timeline --filter 'func == mian'
says 'the nearest is "main"'
status 2 "$ktr" plot rate --filter 'arg0 =='
says 'column 8'
status 2 "$ktr" dump -n 5 --filter '(arg0 == 1'
status 2 "$ktr" dump -s mine --filter 'func ~ x*'
says 'no call site has a func that matches "x*"'

# Nothing left.
status 1 "$ktr" dump -q --filter 'arg0 == -1'
says 'no event passes the filter; it looked at 2000'
status 1 "$ktr" json --filter 'class == sched'
says 'no event passes the filter'
status 1 "$ktr" report -s mine --filter 'cpu == 8000'
says 'no event passes the filter'
status 1 "$ktr" dump --from 100s
says 'no events between --from and --to'
status 1 "$ktr" timeline --filter 'arg0 == -1'
says 'the filter passed over 2000 events'
status 1 "$ktr" plot rate --filter 'arg0 == -1'
says 'the filter passed over 2000 events'
status 1 "$ktr" cut -o nothing --filter 'arg0 == -1'
status 0 "$ktr" diff ktr.out ktr.out
status 2 "$ktr" diff ktr.out nothing
says 'nothing: no events'
sh -c '"$1" diff ktr.out ktr.out >/dev/full' - "$ktr" 2>err
is "diff on a full disk" "$? $(cat err)" "2 ktr diff: standard output: No space left on device"
# What is decided by numbers alone is not decoded, and lies behind texts of any length, or in their place.
cat >"$dir/truth.c" <<'END'
#include <ktr.h>
int main(void)
{
	static const char *const word[] = { "", "a", "left", "right", "a longer text of more than sixteen bytes" };
	unsigned long long x = 88172645463325252u;

	for (int n = 0; n < 100; n++) {
		signed char small;
		unsigned long long size;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		small = (signed char)x, size = x >> (x >> 58);
		CTR2(KTR_NET, "%d of %hhd", n, small);
		CTR3(KTR_DEV, "%llu %s %hhd", size, word[n % 5], small);
		CTR4(KTR_VFS, "%s %lld %s %u", word[x % 5], (long long)(x >> 20) * small, word[n % 5], (unsigned)x);
		CTR1(KTR_LOCK, "%s", word[x % 5]);
		CTR2(KTR_GEN, "%f %d", (double)small, n);
	}
	return 0;
}
END
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -I"$top/include" "$dir/truth.c" -o "$dir/truth" "$O/lib/libktr.a" -lpthread || exit 1
"$ktr" run -e 16384 -m net,dev,vfs,lock,gen -o truth.out -- ./truth 2>/dev/null
python3 "$top/tests/cli/read/filter_truth.py" "$ktr" truth.out "${TRUTHS:-40}" "${SEED:-1}" >out || fail "$(cat out)"
exit $failed

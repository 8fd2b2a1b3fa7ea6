#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr dump, json and report on what a program recorded: the same events in each form and from trace and
# session alike, windows, both directions, damage, and an exit status for each ending.
. "$(dirname "$0")/../lib.inc"

cat >"$dir/program.c" <<'END'
#include <ktr.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 1000; i++) {
		KTR_START0(KTR_VFS, "file", i % 2 ? "odd" : "even", i);
		if (i == 500)
			usleep(1000); /* the clock may not have moved on otherwise */
		CTR2(KTR_NET, "got %d of %s", i, "a\tname\033[31m\xff");
		KTR_COUNTER0(KTR_GEN, "queue", "depth", i);
		KTR_STOP0(KTR_VFS, "file", i % 2 ? "odd" : "even", i);
	}
	return 0;
}
END
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude "$dir/program.c" -o "$dir/program" "$O/lib/libktr.a" \
	-lpthread || exit 1
cd "$dir" || exit 1
status 0 "$ktr" run -s mine -e 16384 -m net,vfs,gen -- ./program

# A stream that stayed empty is removed by its writer: between our listing it and our opening it, too.
cat >gone.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int openat(int dir, const char *name, int flags, ...)
{
	int (*real)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
	struct stat st;
	if (strncmp(name, "cpu_", 4) == 0 && !fstatat(dir, name, &st, 0) && !st.st_size)
		unlinkat(dir, name, 0);
	return real(dir, name, flags, 0600);
}
int openat64(int dir, const char *name, int flags, ...) __attribute__((alias("openat")));
END
${CC:-cc} -D_GNU_SOURCE -shared -fPIC gone.c -o gone.so -ldl || exit 1
: >ktr.out/cpu_777
: >ktr.out/cpu_778
LD_PRELOAD=./gone.so "$ktr" dump -q >out 2>err || fail "a stream that goes: $(cat err)"
is "lines of dump while streams go" "$(wc -l <out)" 4000
[ -e ktr.out/cpu_777 ] && fail "the stream is there still"

# The same number of events in every form, and in either direction.
status 0 "$ktr" dump -q
is "lines of dump" "$(wc -l <out)" 4000
is "lines with control characters" "$(grep -c "$(printf '[\001-\010\016-\037]')" out)" 0
grep -qF 'got 7 of a\tname\x1b[31m\xff' out || fail "no escaped text in dump"
cp out forward
status 0 "$ktr" dump -q -R
tac out | cmp -s - forward || fail "dump -R is not the reverse of dump"
status 0 "$ktr" json --events
is "lines of json" "$(wc -l <out)" 4000
status 0 "$ktr" report --json
is "events of report" "$(grep -o '"events":[0-9]*' out | head -n 1)" '"events":4000'
grep -q '"id":"odd","pid":[0-9]*,"process":"program","count":500,"unsure":0,"nested":0,"no_start":0,"no_end":0' out ||
	fail "report does not count the spans"
grep -q '"id":"depth","pid":[0-9]*,"process":"program","count":1000,"min":0.0,"mean":499.5,"max":999.0' out ||
	fail "report does not sum up the counter"
# A percentile takes numbers enough, in all forms: 999 have none that one in a thousand exceeds.
for n in 1 2 9 10 99 100; do
	"$ktr" report --filter "class == vfs and key < $n" --json | python3 -c '
import json, sys
n = 0
for span in json.load(sys.stdin)["spans"]:
	for key, per in ("p50_ns", 2), ("p90_ns", 10), ("p99_ns", 100), ("p99_9_ns", 1000):
		assert (key in span) == (span["count"] >= per), (key, span)
	n += span["count"]
assert n == int(sys.argv[1]), n' "$n" 2>err || fail "percentiles of $n: $(tail -n 1 err)"
done
status 0 "$ktr" report
grep -q '4,000 events' out || fail "report does not count the events"

# Pairs by hand, gaps, time per state: the numbers of a program whose events are known.
status 0 "$ktr" report --pair 'got %d' 'queue' --json
grep -q '"pairs":\[{"pair":1,"from":"got %d","to":"queue","key":"thread","pid":[0-9]*,"process":"program","count":1000,' out ||
	fail "report does not time the pair"
status 0 "$ktr" report --pair 'got %d..stop:arg0' --gaps 4 --histogram --no-pager
grep -q '^  got %d to stop by arg0 ' out || fail "no pair in the report"
is "longest gaps" "$(sed -n '/^no event of any thread/,/^$/p' out | grep -c '^  [^a]')" 4
# A window that lies between the ends of spans: what is cut says so, and nothing is made up.
half=$("$ktr" dump -t --filter 'site == "got %d of %s" and arg0 == 500' --time raw -q | awk '{print $1}')
[ -n "$half" ] || fail "no event 500"
first=$("$ktr" dump -t --time raw -q --head 1 | awk '{print $1}')
status 0 "$ktr" report --json --from "$(awk -v a="$half" -v b="$first" 'BEGIN {printf "%.9f", (a - b) / 1e9}')s"
grep -q '"id":"even","pid":[0-9]*,"process":"program","count":249,"unsure":0,"nested":0,"no_start":1,"no_end":0' out ||
	fail "a span from before the window: $(grep -o '"spans":.*"pairs"' out)"
status 0 "$ktr" report --json --to "$(awk -v a="$half" -v b="$first" 'BEGIN {printf "%.9f", (a - b) / 1e9}')s"
grep -q '"id":"even","pid":[0-9]*,"process":"program","count":250,"unsure":0,"nested":0,"no_start":0,"no_end":1' out ||
	fail "a span into the time behind the window: $(grep -o '"spans":.*"pairs"' out)"
status 1 "$ktr" report --pair 'got %d' nothing
grep -q "no call site is 'nothing'" err || fail "an unknown end of a pair: $(cat err)"
status 1 "$ktr" report --pair 'got %d..stop:nope'
grep -q "has no argument 'nope'" err || fail "an unknown key of a pair: $(cat err)"
status 2 "$ktr" report --pair 'got %d'
status 2 "$ktr" report --key arg0
status 2 "$ktr" report --pair a..b:c --key arg0

# First and last ones, columns, times.
status 0 "$ktr" dump -q -n 3
tail -n 3 forward | cmp -s - out || fail "dump -n 3 is not the tail of dump"
status 0 "$ktr" dump -q --head 3
head -n 3 forward | cmp -s - out || fail "dump --head 3 is not the head of dump"
status 0 "$ktr" dump -cq --head 1 --time raw -t
is "columns of dump -ct" "$(sed 's/[0-9][0-9]*/N/g; s/  */ /g' out)" \
	' N N file even starts, key NxN'
status 0 "$ktr" dump -cq --head 1 --time raw -t --raw
is "columns of dump -ct, raw" "$(sed 's/[0-9][0-9]*/N/g; s/  */ /g' out)" \
	' N N KTRGRAPH group:"file", id:"even", start:NxN, attributes: none'
"$ktr" dump -tq >times
at=$(sed -n 2001p times | awk '{print $1}')
status 0 "$ktr" dump -q --from "$at"
is "lines from the middle on" "$(wc -l <out)" "$(awk -v at="$at" '$1 >= at' times | wc -l)"
status 0 "$ktr" dump -q --to "$at"
is "lines up to the middle" "$(wc -l <out)" "$(awk -v at="$at" '$1 < at' times | wc -l)"

# Counted without being looked at: as many as are printed, of a window and with a filter too.
status 0 "$ktr" dump --count
is "dump --count" "$(cat out)" 4000
status 0 "$ktr" dump --count --from "$at"
is "dump --count from the middle on" "$(cat out)" "$(awk -v at="$at" '$1 >= at' times | wc -l)"
status 0 "$ktr" dump --count -R --to "$at"
is "dump --count up to the middle" "$(cat out)" "$(awk -v at="$at" '$1 < at' times | wc -l)"
status 0 "$ktr" dump --count --filter 'class == net and arg0 < 10' -o counted
is "dump --count with a filter" "$(cat counted)" 10
status 1 "$ktr" dump --count --from 500s
is "dump --count of nothing" "$(cat out)" 0
for option in -n3 --head=3 -t --csv; do
	status 2 "$ktr" dump --count $option
	grep -q '^ktr dump: --count prints one number' err || fail "dump --count $option: $(cat err)"
done
cp -R ktr.out damaged.out
for stream in damaged.out/cpu_[0-9]*; do
	case $stream in *.*p) continue ;; esac
	[ "$(wc -c <"$stream")" -gt 4000 ] || continue
	printf 'XXXX' | dd of="$stream" bs=1 seek=2000 conv=notrunc 2>/dev/null
done
status 1 "$ktr" dump damaged.out -q
grep -v '^ *[0-9.]*  *[0-9]* .* lost' out | wc -l >lines
cp err told
status 1 "$ktr" dump --count damaged.out
cmp -s err told || fail "dump --count of a damaged trace says: $(cat err); dump: $(cat told)"
grep -q damaged err || fail "dump --count does not tell damage: $(cat err)"
is "dump --count of a damaged trace" "$(cat out)" "$(cat lines)"

# The session that is left says the same as the trace, but for what its rings no longer hold.
if "$ktr" ls | grep -q '^mine '; then
	status 0 "$ktr" dump -q -n 100 -s mine
	is "lines of the session" "$(wc -l <out)" 100
fi

# A table: as many lines as events, and a head; not with columns of another kind.
status 0 "$ktr" dump --csv
is "lines of dump --csv" "$(wc -l <out)" 4001
"$ktr" export csv -o out2 && cmp -s out out2 || fail "dump --csv is not export csv"
status 0 "$ktr" dump --csv -R -n 1
is "dump --csv -R" "$(sed -n 's/,.*//; 2p' out)" "$(tail -n 1 out2 | sed 's/,.*//')"
status 2 "$ktr" dump --csv -t
"$ktr" dump --csv 2>err | head -n 1 >out
is "a reader of --csv that leaves" "$(wc -l <out) $(cat err)" "1 "
status 1 "$ktr" dump --csv -o /dev/full

# What goes wrong.
status 1 "$ktr" dump nothing
status 1 "$ktr" dump "$dir/program"
status 2 "$ktr" dump --time=later
status 2 "$ktr" dump -n 3 --head 3
status 2 "$ktr" json --from yesterday
status 1 "$ktr" report ktr.out nothing
status 1 "$ktr" dump -o /dev/full
status 1 "$ktr" json -o "$dir"
"$ktr" dump | head -n 1 >out
is "a reader that leaves" "$(wc -l <out)" 1
for stream in ktr.out/cpu_* ktr.out/ring_*; do
	[ -e "$stream" ] && [ "$(wc -c <"$stream")" -gt 20000 ] || continue
	truncate -s 20000 "$stream"
done
status 1 "$ktr" dump -q
grep -q 'not finished' err || fail "dump does not tell of a torn packet"
status 1 "$ktr" report --json
grep -q '"partial":true' out || fail "report does not tell that it is partial"
exit $failed

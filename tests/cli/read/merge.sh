#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr cut and ktr merge: what they write shows what they read, in our reader and in babeltrace2.
. "$(dirname "$0")/../lib.inc"

agree() {
	command -v babeltrace2 >/dev/null || return
	python3 "$top/tests/cli/read/agree.py" "$ktr" "$1" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
}

# Events of one moment on different streams may change places; the end of a loss is not always known.
dump() {
	"$ktr" dump -q --time raw -tcHkf --function "$@" >"$dir/dump" 2>"$dir/err" ||
		fail "dump $*: $(cat "$dir/err")"
	awk '/^---/ { next } $1 < last { bad = 1 } { last = $1 } END { exit bad }' "$dir/dump" ||
		fail "dump $*: times go back"
	sed 's/^\(---.* lost on cpu [0-9]*\).*/\1/' "$dir/dump" | sort
}

# same what expected-file trace
same() {
	dump "$3" | cmp -s - "$2" || fail "$1 differs: $(dump "$3" | diff - "$2" | head -n 4)"
	agree "$3"
	"$ktr" fsck -n -q "$3" || fail "$1: something is wrong"
}

# elsewhere trace seconds: it is of another machine, whose clock is so far behind.
elsewhere() {
	python3 - "$@" <<-'PY'
	import re, sys
	def crc32c(data):
	    crc = 0xffffffff
	    for byte in data:
	        crc ^= byte
	        for _ in range(8):
	            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
	    return crc ^ 0xffffffff
	name, seconds = sys.argv[1] + '/ktr/info.jsonl', int(sys.argv[2])
	lines = open(name, 'rb').read().splitlines()
	line = re.sub(rb',"crc":"[0-9a-f]{8}"}$', b'', lines[0])
	line = re.sub(rb'"boot_id":"[0-9a-f]*"', b'"boot_id":"' + b'17' * 16 + b'"', line)
	line = re.sub(rb'"utc_offset_ns":(-?\d+)',
	              lambda m: b'"utc_offset_ns":%d' % (int(m.group(1)) + seconds * 10**9), line)
	lines[0] = line + b',"crc":"%08x"}' % crc32c(line)
	open(name, 'wb').write(b'\n'.join(lines) + b'\n')
	PY
}

${CC:-cc} -std=gnu11 -O1 -fno-omit-frame-pointer -Iinclude tests/programs/trace/ctf_events.c -o "$dir/events" \
	"$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=one ./events 300 || fail "the program failed"
KTR_MASK=all KTR_FILE=two KTR_PATH=thread ./events 200 || fail "the program failed"
KTR_MASK=all KTR_FILE=lossy KTR_ENTRIES=256 ./events 2000 || fail "the program failed"
KTR_MASK=all KTR_FILE=rotated KTR_ROTATE_SIZE=64K KTR_ROTATE_KEEP=100 ./events 4000 || fail "the program failed"

for t in one two lossy rotated; do
	"$ktr" cut -o cut $t 2>err || fail "cut $t: $(cat err)"
	dump $t >want
	same "cut of $t" want cut
done
"$ktr" cut -n 100 -o cut one 2>err || fail "cut -n: $(cat err)"
dump -n 100 one >want
same "the last 100" want cut
# A window in the middle, from the time of one event to that of another.
at() { "$ktr" dump -q --time relative -t one | awk -v n="$1" 'NR == n { print $1 "s" }'; }
from=$(at 100) to=$(at 200)
"$ktr" cut --from "$from" --to "$to" -o cut one 2>err || fail "cut --from $from --to $to: $(cat err)"
dump --from "$from" --to "$to" one >want
[ "$(wc -l <want)" -gt 50 ] || fail "the window has $(wc -l <want) events"
same "a window" want cut
# What was lost before the first event is told once, and counted so.
"$ktr" cut --from 0 -o cut lossy 2>err || fail "cut of what begins with a loss: $(cat err)"
dump lossy >want
same "a window that begins with a loss" want cut
ls -d cut.old.* >/dev/null 2>&1 || fail "the older output was not moved aside"
KTR_SESSION=kept KTR_KEEP_SESSION=1 KTR_MASK=gen ./events 50
"$ktr" cut -s kept -o cut 2>err || fail "cut -s: $(cat err)"
[ "$("$ktr" dump -q cut | wc -l)" -eq "$("$ktr" dump -q -s kept | wc -l)" ] || fail "cut of a session"
agree cut

# Of one machine: nothing moves.
"$ktr" merge -o both one two lossy 2>err || fail "merge: $(cat err)"
grep -q 'the same machine' err || fail "merge does not see that it is one machine: $(cat err)"
for t in one two lossy; do
	dump $t
done >all
dump both >have
grep -v '^---' all | sort >want
grep -v '^---' have | cmp -s - want || fail "merge differs"
lost() { sed -n 's/^--- \([0-9]*\) events lost.*/\1/p' "$1" | awk '{ n += $1 } END { print n + 0 }'; }
[ "$(lost have)" -eq "$(lost all)" ] || fail "merge: $(lost have) lost of $(lost all)"
# Each loss has the times it had, whatever others did meanwhile; where it has no end, the next event is one.
first() { "$ktr" json --events "$1" | sed -n '1s/.*"ts_ns":\([0-9]*\).*/\1/p'; }
"$ktr" merge -o over --shift "1:$(($(first lossy) - $(first one) - 500000))ns" one lossy 2>err ||
	fail "merge --shift: $(cat err)"
for t in lossy over; do
	"$ktr" json $t >$t.jsonl || fail "json of $t"
	"$ktr" json -R $t >$t.back || fail "json -R of $t"
done
python3 - <<'PY' || fail "losses have other times once they are merged"
import json
def losses(name):
    rows = [json.loads(line) for line in open(name)]
    return sorted((r["cpu"], r["events"], r["from_ns"] or 0, r["to_ns"]) for r in rows
                  if r["type"] == "loss" and r["to_ns"])
want = losses("lossy.jsonl")
for name in "over.jsonl", "over.back":
    assert want and set(want) <= set(losses(name)), (name, want, losses(name))
PY
agree both
"$ktr" cut -o cut one 2>/dev/null
"$ktr" merge -o again cut two 2>err
grep -q 'the same machine' err || fail "a cut has lost its machine: $(cat err)"
"$ktr" merge -o shifted --shift 2:-1s one two 2>err || fail "merge --shift: $(cat err)"
grep -q 'moved by -1.0' err || fail "merge --shift says: $(cat err)"
agree shifted

# Of two machines: the second was booted later, its clock is 1000 s behind.
cp -a two far
elsewhere far 1000
"$ktr" merge -o worlds one far 2>err || fail "merge by UTC: $(cat err)"
grep -Eq 'by UTC: moved by [0-9.]+ s, its CPU 0 is CPU [1-9]' err || fail "merge by UTC says: $(cat err)"
agree worlds
[ "$("$ktr" dump -q worlds | wc -l)" -eq $(($("$ktr" dump -q one | wc -l) + $("$ktr" dump -q two | wc -l))) ] ||
	fail "merge by UTC loses events"

# Two processes of one id, on two machines, at the same moments: each has its own spans, states and rows.
cat >jobs.c <<'EOF'
#include <ktr.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 20; i++) {
		KTR_STATE0(KTR_GEN, "worker", "w", "busy");
		KTR_START0(KTR_GEN, "job", "j", 7);
		KTR_COUNTER0(KTR_GEN, "queue", "q", i);
		usleep(200);
		KTR_STOP0(KTR_GEN, "job", "j", 7);
		KTR_STATE0(KTR_GEN, "worker", "w", "idle");
	}
	return 0;
}
EOF
${CC:-cc} -std=gnu11 -O1 "-I$top/include" jobs.c -o jobs "$O/lib/libktr.a" -lpthread || exit 1
KTR_MASK=gen KTR_FILE=here ./jobs || fail "the program failed"
cp -a here there
elsewhere there 0
"$ktr" merge -o jobs.ktr here there 2>err || fail "merge: $(cat err)"
"$ktr" merge -o again.ktr jobs.ktr here 2>err || fail "merge with a merged one: $(cat err)"
"$ktr" cut -o cut here 2>/dev/null
"$ktr" merge -o same.ktr here cut 2>err || fail "merge with a part of it: $(cat err)"
for t in here jobs.ktr again.ktr same.ktr; do
	"$ktr" report --json $t >$t.json || fail "report of $t"
done
python3 - <<'PY' || fail "processes of one id are taken for one, or one for several"
import json
def rows(name, kind):
    return sorted((r["count"], r.get("nested", 0)) for r in json.load(open(name + ".json"))[kind])
for kind in "spans", "states", "counters":
    alone = rows("here", kind)
    assert rows("jobs.ktr", kind) == sorted(2 * alone), (kind, alone, rows("jobs.ktr", kind))
    assert len(rows("same.ktr", kind)) == len(alone), (kind, rows("same.ktr", kind))
    assert len(rows("again.ktr", kind)) == 2 * len(alone), (kind, rows("again.ktr", kind))
PY
"$ktr" report jobs.ktr | grep -q 'job j \[[0-9]* #2\]' || fail "which of two processes? $("$ktr" report jobs.ktr)"
"$ktr" export chrome -o jobs.json jobs.ktr 2>err || fail "export chrome: $(cat err)"
python3 - <<'PY' || fail "viewers get two processes as one"
import json
assert len({e["pid"] for e in json.load(open("jobs.json")) if e["pid"]}) == 2
PY

"$ktr" merge one 2>/dev/null
[ $? -eq 2 ] || fail "one trace alone"
"$ktr" merge -o shifted --shift 2:2 one two 2>err || fail "merge --shift: $(cat err)"
grep -q 'moved by 2.0' err || fail "a shift without a unit is in seconds: $(cat err)"
"$ktr" merge --shift 2:-1000000h one two 2>err
[ $? -eq 2 ] && grep -q 'two: cannot be moved' err || fail "a shift to before the clock began: $(cat err)"
# Losses of one program do not go into the time of another, which had none.
KTR_MASK=all KTR_FILE=before ./events 10 || fail "the program failed"
KTR_MASK=all KTR_FILE=behind KTR_ENTRIES=256 ./events 2000 || fail "the program failed"
"$ktr" merge -o both before behind 2>err || fail "merge: $(cat err)"
"$ktr" json both | python3 -c '
import json, sys
begin = int(sys.argv[1])
losses = [e for e in map(json.loads, sys.stdin) if e["type"] == "loss"]
assert losses and all(e["to_ns"] is None or e["to_ns"] > begin for e in losses), losses' "$("$ktr" json --events behind |
	head -n 1 | sed 's/.*"ts_ns":\([0-9]*\).*/\1/')" || fail "losses moved into another program's time"
"$ktr" merge --shift 9:1s one two 2>/dev/null
[ $? -eq 2 ] || fail "a shift of nothing"
"$ktr" merge one nothing 2>/dev/null
[ $? -eq 1 ] || fail "no such trace"
"$ktr" cut -R one 2>/dev/null
[ $? -eq 2 ] || fail "cut in reverse"
"$ktr" cut --help | grep -q -- '-R\|reverse' && fail "cut offers what it refuses"
"$ktr" dump --help | grep -q -- '-R, --reverse' || fail "dump does not offer --reverse"
exit $failed

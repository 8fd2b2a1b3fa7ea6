#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A window of rows, fetched, is dumped byte for byte as the same window of the trace that was shipped: texts that are no UTF-8,
# null pointers, stacks, doubles, losses.
#
#	WINDOWS=16 SEED=1 sh tests/fleet/fetch.sh	so many windows that are not empty
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
WINDOWS=${WINDOWS:-16} SEED=${SEED:-1}

$cc -std=gnu11 -O1 -fno-omit-frame-pointer -Iinclude tests/programs/trace/ctf_events.c -o "$dir/events" "$O/lib/libktr.a" \
	-lpthread || exit 1
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
cat >"$dir/bytes.c" <<'C'
#include <ktr.h>
int main(void)
{
	volatile double zero = 0;
	static const char odd[] = "\200\377 caf\303\251 \033[1m\001", quote[] = "it's \\ \"here\"\t\n";
	double values[] = { 0.1, -0.0, 1e308, 5e-324, 1 / zero, zero / zero };
	for (int i = 0; i < 500; i++) {
		CTR3(KTR_GEN, "%s %s %s", odd + i % 9, i % 3 ? quote : NULL, "");
		CTR2(KTR_NET, "%f %d", values[i % 6], -i);
		CTRSTACK(KTR_GEN, NULL, 4);
		CTR6(KTR_DEV, "%ld %s %f %u %p %hhd", -1L << i % 64, odd, (double)i, 4000000000u, (void *)main, (signed char)i);
	}
	return 0;
}
C
$cc -std=gnu11 -O1 -fno-omit-frame-pointer -Iinclude "$dir/bytes.c" -o "$dir/bytes" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=bytes.ktr ./bytes || fail "the program failed"
KTR_MASK=all KTR_FILE=types.ktr ./events 300 || fail "the program failed"
KTR_MASK=all KTR_FILE=lossy.ktr KTR_ENTRIES=512 ./events 20000 || fail "the program failed"
KTR_MASK=all KTR_FILE=rotated.ktr KTR_ROTATE_SIZE=64K KTR_ROTATE_KEEP=100 ./events 3000 || fail "the program failed"
KTR_MASK=all KTR_FILE=spans.ktr ./flood 5000 >/dev/null || fail "the program failed"
server_start || exit 1
"$ktr" ship --to "$url" --state state --host web01 --create --spans *.ktr >out 2>err || fail "ship: $(cat err)"

fetch() { "$ktr" fetch "$@" "$url" >out 2>err; }
dump() { "$ktr" dump -q --time raw -tcHkf --function "$@" 2>err || fail "dump $*: $(cat err)"; }

for t in bytes types lossy rotated spans; do
	rm -rf near.ktr*
	fetch --host web01 --trace "$(uuid $t.ktr)" -o near.ktr || { fail "$t: $(cat err)"; continue; }
	dump $t.ktr >want
	dump near.ktr >got
	cmp -s got want || fail "$t: $(diff got want | head -n 6)"
	[ "$(wc -l <want)" -gt 100 ] || fail "$t has $(wc -l <want) lines"
	"$ktr" fsck -n -q near.ktr >out 2>&1 || fail "$t: fsck: $(cat out)"
	! command -v babeltrace2 >/dev/null || babeltrace2 near.ktr >out 2>err || fail "$t: babeltrace2: $(tail -n 1 err)"
done
grep -q '^---.*lost' want || "$ktr" dump -q lossy.ktr 2>err | grep -q 'lost' || fail "nothing was lost"

# Windows from the time of one event to that of another.
n=0 compared=0
while [ $compared -lt "$WINDOWS" ]; do
	for t in bytes types lossy rotated; do
		rm -rf near.ktr*
		dump $t.ktr | grep -v '^---' | awk -v seed=$((SEED + n)) '{ at[NR] = $1 } END {
			srand(seed); a = int(rand() * NR) + 1; b = int(rand() * NR) + 1
			print (a < b ? at[a] : at[b]), (a < b ? at[b] : at[a]) }' >window
		read -r from to <window
		python3 - "$from" "$to" $t.ktr >times <<-'PY'
		import json, sys
		info = json.loads(open(sys.argv[3] + '/ktr/info.jsonl').readline())
		utc = [int(x) + info['utc_offset_ns'] for x in sys.argv[1:3]]
		print(*('%d.%09d' % divmod(x, 10**9) for x in utc))
		PY
		read -r from_utc to_utc <times
		dump $t.ktr | awk -v from="$from" -v to="$to" '/^---/ { next } $1 >= from && $1 < to' >want
		[ -s want ] || continue
		fetch --host web01 --trace "$(uuid $t.ktr)" --from "$from_utc" --to "$to_utc" -o near.ktr ||
			{ fail "$t: $(cat err)"; break; }
		dump near.ktr | grep -v '^---' >got
		cmp -s got want || fail "$t from $from to $to: $(diff got want | head -n 4)"
		compared=$((compared + 1))
	done
	[ $failed = 0 ] || break
	n=$((n + 1))
done
echo "seed $SEED: $compared windows of $n draws and four traces"

# The slowest request is in what is fetched around it.
rm -rf near.ktr*
fetch --around 'slowest request' -o near.ktr || fail "around: $(cat err)"
is "the slowest" \
	"$("$ktr" sql --csv near.ktr "SELECT max(dur) FROM spans WHERE grp = 'request' OR id = 'request'" 2>err | tail -n 1 | tr -d '\r')" \
	"$(ask "SELECT max(dur) FROM ktr.spans WHERE unsure = 0 AND open = 0 AND (grp = 'request' OR id = 'request')")"

# One line each.
for options in "--around none" "--from tomorrow" "--trace x"; do
	# shellcheck disable=SC2086
	status 2 "$ktr" fetch $options "$url"
done
fetch --host nobody && fail "a host that is not there"
grep -q 'has no trace there' err || fail "a host that is not there: $(cat err)"
fetch --host web01 && fail "several traces"
grep -q 'traces there; which one' err || fail "several traces: $(cat err)"
ls -d near.ktr.* ktr.fetch 2>/dev/null && fail "something was left"
ask "INSERT INTO ktr.files SELECT host, trace, file, id, 'no line', version + 1 FROM ktr.files LIMIT 1"
bad=$(ask "SELECT trace FROM ktr.files WHERE line = 'no line'")
fetch --host web01 --trace "$bad" -o bad.ktr && fail "a line that is none was taken"
grep -q 'makes no sense' err || fail "a line that is none: $(cat err)"
[ ! -e bad.ktr ] || fail "a trace of nothing"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr fleet of traces in a folder: what it answers is what ktr sql counts in each of them.
. "$(dirname "$0")/../lib.inc"
"$ktr" sql "$dir" 'SELECT 1' 2>&1 | grep -q 'without SQLite' && { skip 'ktr without SQLite'; exit 0; }
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
mkdir -p all/one all/two
for trace in one/a one/b two/a lossy; do
	entries=65536
	[ $trace != lossy ] || entries=256
	KTR_MASK=all KTR_FILE=all/$trace KTR_ENTRIES=$entries ./flood 20000 >/dev/null || fail "the program failed"
done
machine=$(uname -n)
fleet() { "$ktr" fleet "$@" >out 2>err; }
sql() { "$ktr" sql --csv "all/$1" "$2" 2>sql.err | tail -n +2 | tr -d '\r"'; }
# rows FIELDS QUESTION...: of its JSON, "a,b,c" a line
rows() {
	fields=$1
	shift
	fleet "$@" "${folder:-all}" --json || fail "$*: $(cat err)"
	python3 -c 'import json, sys
for row in json.load(open("out"))["rows"]: print(*(row[f] for f in sys.argv[1].split(",")), sep=",")' "$fields"
}
# added QUERY TRACE...: its rows of several traces; numbers behind the first two columns are added
added() {
	query=$1
	shift
	for t; do sql "$t" "$query"; done | awk -F, '{ k = $1 "," $2; n[k] += $3; m[k] += $4 } END { for (k in n) print k "," n[k] "," m[k] }' |
		LC_ALL=C sort
}

is "hosts" "$(rows host,traces,builds hosts)" "$(printf '%s,1,1\none,2,1\ntwo,1,1' "$machine" | LC_ALL=C sort)"
is "top of one" "$(rows class,site,events,threads top --host one | LC_ALL=C sort)" \
	"$(added 'SELECT class, site, count(*), count(DISTINCT tid) FROM events GROUP BY 1, 2' one/a one/b)"
for host in one two; do
	[ $host = one ] && set -- one/a one/b || set -- two/a
	is "span of $host" "$(rows grp,id,spans span request --host $host | awk -F, '{ n[$1 "," $2] += $3 } END { for (k in n) print k "," n[k] }' | LC_ALL=C sort)" \
		"$(added "SELECT grp, id, count(dur), 0 FROM spans WHERE grp = 'request' AND NOT unsure AND dur NOT NULL GROUP BY 1, 2" "$@" | sed 's/,0$//')"
done
is "slow" "$(rows dur_ns slow --host one)" \
	"$(for t in one/a one/b; do sql $t "SELECT dur FROM spans WHERE kind = 'span' AND NOT unsure AND dur NOT NULL"; done | sort -rn | head -n 20)"
rows host,ts,dur_ns,trace slow >all.slow
head -n 5 all.slow >slow
while IFS=, read -r host ts dur trace; do
	is "a slow one of $host" "$(sql "${trace#all/}" "SELECT count(*) FROM spans, trace WHERE dur = $dur AND time + first_ns + utc_offset_ns = $ts")" 1
done <slow
is "losses" "$(rows host,lost,worst losses | grep "^$machine,")" "$machine,$(sql lossy 'SELECT sum(events), max(events) FROM losses')"
# Of all that either has: a thread of one of them may have lost all of its spans.
ended="kind = 'span' AND NOT unsure AND dur NOT NULL"
is "diff" "$(rows grp,id,spans_a,spans_b,p50_b_ns,p99_b_ns diff one two | LC_ALL=C sort)" \
	"$({
		for t in one/a one/b; do sql $t "SELECT grp, id, count(*) FROM spans WHERE $ended GROUP BY 1, 2"; done
		sql two/a "SELECT DISTINCT grp, id, 0 FROM spans WHERE $ended"
	} | awk -F, '{ n[$1 "," $2] += $3 } END { for (k in n) print k "," n[k] }' | LC_ALL=C sort |
		while IFS=, read -r grp id n; do
			echo "$grp,$id,$n,$(sql two/a "SELECT count(dur), coalesce(quantile(dur, .5), 0), coalesce(quantile(dur, .99), 0) FROM spans
				WHERE $ended AND grp = '$grp' AND id = '$id'")"
		done)"
lost=$(for t in one/a one/b two/a lossy; do sql $t 'SELECT lost FROM trace'; done | awk '{ n += $1 } END { print n }')
unsure=$(for t in one/a one/b two/a lossy; do sql $t 'SELECT sum(unsure) FROM spans'; done | awk '{ n += $1 } END { print n }')
fleet basis all || fail "basis: $(cat err)"
grep -q "^basis: hosts 3, traces 4, events lost $lost, spans unsure $unsure," out || fail "what it rests on: $(tail -n 1 out); $lost, $unsure"
is "a window before all" "$(rows class top --to 2001-01-01)" ""
is "a window with all" "$(rows class,site,events top --from 2001-01-01 --to 2200-01-01)" "$(rows class,site,events top)"

# A trace that is there by two names is one; without events it is at no time; an id need be no UTF-8.
ln -s a all/one/again
fleet basis all || fail "by two names: $(cat err)"
grep -q "^basis: hosts 3, traces 4, events lost $lost," out || fail "by two names: $(tail -n 1 out)"
rm all/one/again
cat >odd.c <<'END'
#include <ktr.h>
#define LONG "a name of more letters than a table has room for, and one that ends with the number "
int main(void)
{
	KTR_START1(KTR_GEN, "odd", "\xff\xfe" "bad", 1, "x", 1);
	KTR_STOP0(KTR_GEN, "odd", "\xff\xfe" "bad", 1);
	KTR_START0(KTR_GEN, "odd", "007", 2);
	KTR_STOP0(KTR_GEN, "odd", "007", 2);
	KTR_START0(KTR_GEN, "odd", "0.5", 3);
	KTR_STOP0(KTR_GEN, "odd", "0.5", 3);
	KTR_START0(KTR_GEN, "odd", LONG "one", 4);
	KTR_STOP0(KTR_GEN, "odd", LONG "one", 4);
	return 0;
}
END
$cc -std=gnu11 -O2 -I"$top/include" -o odd odd.c "$O/lib/libktr.a" -lpthread || fail "odd.c"
mkdir -p few/odd few/none
KTR_MASK=all KTR_FILE=few/odd/t ./odd && KTR_MASK=init KTR_FILE=few/none/t ./odd 2>/dev/null || fail "the program failed"
"$ktr" fleet span "$(printf '\377\376bad')" few --json >out 2>err || fail "an odd id: $(cat err)"
is "an odd id" "$(python3 -c 'import json; print([r["spans"] for r in json.load(open("out"))["rows"]])')" '[1]'

# A text that looks like a number is a text; one that is cut has a mark where it was.
"$ktr" fleet slow few --json >out 2>err || fail "texts: $(cat err)"
is "texts that look like numbers" "$(python3 -c 'import json
print(*sorted(repr(r["id"]) for r in json.load(open("out"))["rows"] if r["id"][0] == "0"))')" "'0.5' '007'"
LC_ALL=C.UTF-8 "$ktr" fleet slow few >out 2>err || fail "long texts: $(cat err)"
grep -q 'a name of more letters.*….*number one ' out || fail "a long text: $(cat out)"

# A trace of another session is no part, whatever it is called.
mkdir -p dated/one dated/parts
cp -r all/one/a dated/one/t
cp -r all/one/b dated/one/t.20261127
KTR_MASK=all KTR_FILE=dated/parts/t KTR_ROTATE_SIZE=64K KTR_ROTATE_KEEP=100 ./flood 20000 >/dev/null || fail "the program failed"
[ -e dated/parts/t.1 ] || fail "nothing was rotated"
is "traces by their dates, and parts" "$(folder=dated && rows host,traces hosts)" "$(printf 'one,2\nparts,1')"

# What cannot be read is left out, and said; what is no trace is refused.
cp -r all/one/a few/torn
truncate -s -100 "$(ls -S few/torn/cpu_* | head -n 1)"
fleet top few && fail "a trace that is cut off"
grep -q 'of 1 of the traces in few a part could not be read: the answer is of the rest' err || fail "a trace that is cut off: $(cat err)"
mkdir -p all/two/bad/ktr
echo '{' >all/two/bad/ktr/info.jsonl
fleet top all && fail "a damaged trace"
grep -q 'all/two/bad: .*: left out' err && grep -q '1 of the traces in all could not be read: the answer is of the rest' err ||
	fail "a damaged trace: $(cat err)"
grep -q '^basis: hosts 3, traces 4,' out || fail "the rest: $(tail -n 1 out)"
fleet top "$dir/nowhere" && fail "no folder"
is "no folder" "$(cat err)" "ktr fleet: $dir/nowhere: No such file or directory"
mkdir none
fleet top none && fail "a folder without traces"
is "a folder without traces" "$(cat err)" "ktr fleet: none: neither a trace nor a folder with traces in it"
exit $failed

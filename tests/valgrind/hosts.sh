#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A traced program under valgrind: memcheck finds nothing to say of strings in the heap, and they are recorded as they
# are. A part of .ci/run.
. "$(dirname "$0")/../cli/lib.inc"
command -v valgrind >/dev/null || { skip "there is no valgrind"; exit 0; }
$cc -std=gnu11 -g -O1 -D_GNU_SOURCE -Iinclude tests/programs/host/memcheck.c -o "$dir/static" "$O/lib/libktr.a" -lpthread || exit 1
$cc -std=gnu11 -g -O1 -D_GNU_SOURCE -Iinclude tests/programs/host/memcheck.c -o "$dir/shared" -L"$O/lib" -lktr || exit 1
export LD_LIBRARY_PATH="$O/lib" KTR_MASK=gen KTR_ENTRIES=64K
cd "$dir" || exit 1

for host in static shared; do
	KTR_SESSION=$host KTR_KEEP_SESSION=1 timeout 300 valgrind -q --error-exitcode=99 ./$host >out 2>err ||
		fail "$host: $(head -n 20 err)"
	[ -s err ] && fail "$host: $(head -n 20 err)"
	"$ktr" json -s $host >json || fail "ktr json"
	python3 - <<'END' || fail "$host: the strings are others"
import json
n = 0
for line in open("json"):
    event = json.loads(line)
    if event.get("class") != "gen":
        continue
    word = event["msg"].split(" ")
    texts = [w for w in word if not w.isdigit() and w]
    sizes = [int(w) for w in word if w.isdigit()]
    assert all(set(text) <= {"x"} for text in texts), event
    if sizes and texts:
        assert len(texts[0]) == sizes[-1], event
    n += 1
assert n > 3000, n
END
done
exit $failed

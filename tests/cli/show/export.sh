#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr export: each format read back, by somebody else's program where there is one; with hostile names, with
# losses, of a part, and where it cannot be written.
. "$(dirname "$0")/../lib.inc"

. tests/page/hostile.sh
hostile_program "$dir/hostile" || exit 1
cd "$dir" || exit 1
"$ktr" run -o ktr.out -e 65536 -m all -- ./hostile 5000 >log 2>&1 || fail "run: $(cat log)"
"$ktr" json >told || fail json
# Another one writes into rings that are too small, faster than anybody can read them.
"$ktr" run -o wrapped -e 1024 -m all -- ./hostile 60000 >log 2>&1 || fail "run: $(cat log)"
"$ktr" json wrapped >told.wrapped || fail json
grep -q '"type":"loss"' told.wrapped || fail "nothing was lost"
# When half of its events are over, since it began.
half=$(python3 -c '
import json
lines = [json.loads(line) for line in open("told.wrapped", encoding="utf8", errors="replace")]
times = [line["ts_ns"] for line in lines if line["type"] == "event"]
print(times[len(times) // 2] - lines[0]["first_ns"])') || exit 1

formats=$("$ktr" export list | cut -d' ' -f1)
[ "$(echo "$formats" | wc -l)" -ge 7 ] || fail "export list: $formats"
for format in $formats; do
	for trace in ktr.out wrapped; do
		said=told
		[ $trace = ktr.out ] || said=told.wrapped
		"$ktr" export "$format" $trace -o file 2>err || { fail "$format: $(cat err)"; continue; }
		python3 "$top/tests/page/exports.py" "$format" file "$said" >log 2>&1 || fail "$format of $trace: $(tail -n 1 log)"
		[ "$format" != perfetto ] || ! command -v protoc >/dev/null || protoc --decode_raw <file >decoded ||
			fail "protoc does not read $trace"
	done
	# A part has fewer, but for fewer pages or stacks; standard output works as a file.
	cp file whole
	"$ktr" export "$format" wrapped --from "${half}ns" -o - >part 2>err || fail "$format part: $(cat err)"
	case $format in
	folded | tracedat | gmon* | pprof | speedscope | firefox | perf-script) ;;
	*) [ "$(wc -c <part)" -lt "$(wc -c <whole)" ] || fail "$format: a part is not smaller" ;;
	esac
	"$ktr" export "$format" wrapped -o none/file 2>err && fail "$format: no such directory"
	grep -q 'none/file: cannot be written' err || fail "$format: $(cat err)"
	[ "$format" != perf-script ] || continue # it has nothing to write here
	"$ktr" export "$format" wrapped -o /dev/full 2>err && fail "$format: a full disk"
	grep -q 'cannot be written' err || fail "$format on a full disk: $(cat err)"
done
[ -c /dev/full ] || fail "/dev/full is gone"
"$ktr" export csv ktr.out --filter 'kind == counter' -o file && [ "$(grep -c ,counter, file)" = "$(($(wc -l <file) - 1))" ] &&
	[ "$(wc -l <file)" -gt 100 ] || fail "--filter"
"$ktr" export crhome -o x 2>err && fail "an unknown format"
[ $? = 2 ] && grep -q 'did you mean chrome' err || fail "$(cat err)"
"$ktr" export chrome 2>err
[ $? = 2 ] && grep -q -- '-o' err || fail "without -o: $(cat err)"
# A trace of plain points and nothing else.
cat >plain.c <<'END'
#include <ktr.h>
int main(void)
{
	for (int i = 0; i < 100; i++)
		CTR1(KTR_NET, "got %d", i);
	return 0;
}
END
(cd "$top" && ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Iinclude "$dir/plain.c" -o "$dir/plain" "$O/lib/libktr.a" -lpthread) || exit 1
"$ktr" run -o plain.out -m net ./plain >log 2>&1 && "$ktr" json plain.out >told || fail "plain: $(cat log)"
for format in perfetto chrome schedgraph csv tracedat parquet; do
	"$ktr" export $format plain.out -o file && python3 "$top/tests/page/exports.py" $format file told >log 2>&1 ||
		fail "$format of plain points: $(tail -n 1 log)"
done
# Scopes that are left by longjmp end where the next one begins on the same place of the stack; spans end by what the
# user calls them, on whatever thread.
cat >left.c <<'END'
#include <ktr.h>
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>
static jmp_buf back;
static __attribute__((noinline)) void scope(int i)
{
	KTR_SCOPE(KTR_GEN, "scope", "i:%d", i);
	if (i < 300)
		longjmp(back, 1);
	__asm__ volatile("" : : : "memory");
}
static void *stop(void *unused)
{
	KTR_STOP0(KTR_NET, "request", "one", 7);
	return unused;
}
int main(void)
{
	pthread_t thread;

	for (volatile int i = 0; i < 310; i++)
		if (!setjmp(back))
			scope(i);
	KTR_START0(KTR_NET, "request", "one", 7);
	pthread_create(&thread, NULL, stop, NULL);
	pthread_join(thread, NULL);
	usleep(100000);
	KTR_START0(KTR_NET, "disk", "io", 1);
	KTR_START0(KTR_NET, "cpu", "calc", 1);
	KTR_STOP0(KTR_NET, "disk", "io", 1);
	usleep(100000);
	KTR_STOP0(KTR_NET, "cpu", "calc", 1);
	return 0;
}
END
(cd "$top" && ${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude "$dir/left.c" -o "$dir/left" "$O/lib/libktr.a" -lpthread) || exit 1
"$ktr" run -o left.out -m all ./left >log 2>&1 && "$ktr" json left.out >told || fail "left: $(cat log)"
# chrome is the last: what follows reads its file.
for format in perfetto chrome; do
	"$ktr" export $format left.out -o file && python3 "$top/tests/page/exports.py" $format file told >log 2>&1 ||
		fail "$format of scopes that were left: $(tail -n 1 log)"
done
python3 - file <<'END' || fail 'chrome: scopes that were left'
import json, sys
slices = [e for e in json.load(open(sys.argv[1])) if e.get('name') == 'scope' and e['ph'] == 'X']
slices.sort(key=lambda e: e['ts'])
assert len(slices) == 310, len(slices)
for a, b in zip(slices, slices[1:]):
    assert a['ts'] + a['dur'] <= b['ts'] + 0.001, (a, b)
END
"$ktr" export folded left.out -o file 2>err || fail "folded: $(cat err)"
is 'stacks of scopes' "$(grep -c ';scope;' file)" 0
# The second tenth of a second is that of cpu, the first nobody's.
awk '{ n[$1] += $NF } END { exit !(n["left;left;request"] < 1e8 && n["left;left;disk"] + n["left;left;disk;cpu"] < 1e8 &&
	n["left;left;cpu"] >= 1e8) }' file || fail "folded: $(cat file)"
# A window ends with its last event, not with the trace.
"$ktr" export folded --to 150ms left.out -o file 2>err && awk '$1 == "left;left;cpu" && $2 > 5e7 { exit 1 }' file ||
	fail "folded of a window: $(cat file)"
"$ktr" export folded plain.out -o file 2>err || fail "folded of plain points"
grep -q 'neither samples, stacks' err || fail "$(cat err)"
exit $failed

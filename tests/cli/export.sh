#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr export: each format read back, by somebody else's program where there is one; with hostile names, with
# losses, of a part, and where it cannot be written.
. "$(dirname "$0")/lib.inc"

. tests/page/hostile.sh
hostile_program "$dir/hostile" || exit 1
cd "$dir" || exit 1
"$ktr" run -o ktr.out -e 65536 -m all -- ./hostile 5000 >log 2>&1 || fail "run: $(cat log)"
"$ktr" json >told || fail json
# Another one writes into rings that are too small, faster than anybody can read them.
"$ktr" run -o wrapped -e 1024 -m all -- ./hostile 60000 >log 2>&1 || fail "run: $(cat log)"
"$ktr" json wrapped >told.wrapped || fail json
grep -q '"type":"loss"' told.wrapped || fail "nothing was lost"

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
	"$ktr" export "$format" wrapped --from -100us -o - >part 2>err || fail "$format part: $(cat err)"
	[ "$format" = folded ] || [ "$format" = tracedat ] || [ "$(wc -c <part)" -lt "$(wc -c <whole)" ] ||
		fail "$format: a part is not smaller"
	"$ktr" export "$format" wrapped -o none/file 2>err && fail "$format: no such directory"
	grep -q 'none/file: cannot be written' err || fail "$format: $(cat err)"
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
(cd "$top" && ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Iinclude "$dir/plain.c" -o "$dir/plain" "$O/lib/libktr.a" -lurcu-bp -lpthread) || exit 1
"$ktr" run -o plain.out -m net ./plain >log 2>&1 && "$ktr" json plain.out >told || fail "plain: $(cat log)"
for format in perfetto chrome schedgraph csv tracedat parquet; do
	"$ktr" export $format plain.out -o file && python3 "$top/tests/page/exports.py" $format file told >log 2>&1 ||
		fail "$format of plain points: $(tail -n 1 log)"
done
"$ktr" export folded plain.out -o file 2>err || fail "folded of plain points"
grep -q 'neither stacks' err || fail "$(cat err)"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A name has one colour, and one letter, in all that is drawn of a trace: the timeline as SVG and on the terminal,
# a part of it, one group of it, the states of ktr plot, and the page; of three traces.
. "$(dirname "$0")/../lib.inc"

# Swatches are blocks, which not all locales have.
export LC_ALL=C.UTF-8

cat >"$dir/many.c" <<'END'
#include <ktr.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const words[] = { "read", "cut", "idle", "merge", "write", "sync", "plan", "sort", "wait for lock",
	"wait for disk", "compress", "send", "receive", "parse", "check", "flush", "map", "unmap", "seek", "close" };

/* Scopes that are called as states are, and one that is not; of three classes. */
static void scopes(void)
{
	KTR_SCOPE(KTR_NET, "write");
	KTR_SCOPE(KTR_NET, "read");
	KTR_SCOPE(KTR_LOCK, "idle");
	KTR_SCOPE(KTR_VM, "alone");
	CTR0(KTR_VM, "here");
}

/* Rounds of n states on two groups of rows, with spans between; the states of the second half come late. */
int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
	char row[16];

	for (unsigned i = 0; i < 40; i++) {
		unsigned known = i < 20 ? (n + 1) / 2 : n;

		for (unsigned r = 0; r < 3; r++) {
			snprintf(row, sizeof(row), "row %u", r);
			KTR_STATE0(KTR_GEN, "first", row, words[(i + r) % known]);
			KTR_STATE0(KTR_GEN, "second", row, words[(i * 7 + r) % n]);
			KTR_START0(KTR_GEN, "span", row, i);
			if (i % 3 == 2)
				for (unsigned k = 0; k < 3; k++)
					KTR_STOP0(KTR_GEN, "span", row, i - k);
		}
		scopes();
		nanosleep(&(struct timespec){ 0, 500000 }, NULL);
	}
	return 0;
}
END
${CC:-cc} -std=gnu11 -O1 -w -D_GNU_SOURCE -Iinclude "$dir/many.c" -o "$dir/many" "$O/lib/libktr.a" -lpthread || exit 1
command -v gnuplot >/dev/null || skip "gnuplot is not installed"
cd "$dir" || exit 1
for n in 3 9 20; do
	"$ktr" run -o "t$n" -m all -- ./many "$n" >log 2>&1 || fail "run: $(cat log)"
	"$ktr" json --events "t$n" >told || fail "json"
	to=$(python3 -c 'import json
times = sorted(json.loads(line)["ts_ns"] for line in open("told"))
print(times[len(times) // 3] - times[0])')
	for part in whole "late --from ${to}ns" "early --to ${to}ns" "group --group second"; do
		set -- $part
		name=$1
		shift
		COLORTERM=truecolor "$ktr" timeline "$@" --rows ids --width 200 --color always "t$n" >"$name.rgb" || fail "$part"
		"$ktr" timeline "$@" --rows ids --width 120 --color never "t$n" >"$name.txt" || fail "$part"
		"$ktr" timeline "$@" --rows ids -o "$name.svg" "t$n" || fail "$part as SVG"
	done
	for kind in states rate latency; do
		"$ktr" plot $kind -o $kind.svg "t$n" || fail "$kind"
	done
	"$ktr" flame -o flame.svg "t$n" && "$ktr" flame --from 5ms -o late-flame.html "t$n" || fail "flame"
	"$ktr" timeline -o page.html "t$n" || fail "page"
	python3 "$top/tests/cli/show/colours.py" "$n" >log 2>&1 || fail "$n states: $(cat log)"
done
exit $failed

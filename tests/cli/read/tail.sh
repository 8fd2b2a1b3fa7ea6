#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr tail prints what ktr dump prints: through rotation, a killed program, a new one, and repairs; from
# files and from rings; as text and as JSON.
#
#	EVENTS=100000000 ROTATIONS=60 tests/cli/read/tail.sh		the long form (make check-long)
. "$(dirname "$0")/../lib.inc"
tail_pid=
at_exit() { [ -z "$tail_pid" ] || kill "$tail_pid" 2>/dev/null; }
events=${EVENTS:-1000000}
rotations=${ROTATIONS:-20}

cat >"$dir/program.c" <<'END2'
#include <ktr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static long n, rate;
static void *work(void *context)
{
	struct timespec begun, now;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (long i = 0; i < n; i++) {
		CTR2(KTR_GEN, "%ld of thread %ld", i, (long)context);
		/* Never ahead of the rate, so that the writer keeps up. */
		while (i % 1000 == 999) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			if ((now.tv_sec - begun.tv_sec) * 1e9 + (now.tv_nsec - begun.tv_nsec) >= i * 1e9 / rate)
				break;
			usleep(500);
		}
	}
	return NULL;
}
/* How many lines, and a sum of them that their order does not change. */
static int sum(void)
{
	unsigned long long lines = 0, all = 0;
	char line[4096];
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long long hash = 14695981039346656037ull;
		for (char *c = line; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
		all += hash;
		lines += line[0] == ' ' || (line[0] >= '0' && line[0] <= '9');
	}
	printf("%llu lines, %016llx\n", lines, all);
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t other;
	if (argc == 1)
		return sum();
	n = atol(argv[1]) / 2;
	rate = atol(argv[2]);
	pthread_create(&other, NULL, work, (void *)1);
	work(NULL);
	pthread_join(other, NULL);
	if (argc > 3)
		abort();
	return 0;
}
END2
${CC:-cc} -std=gnu11 -O1 -Iinclude "$dir/program.c" -o "$dir/program" "$O/lib/libktr.a" \
	-lpthread || exit 1

# Through rotations, from before the beginning: nothing is missed.
{ "$ktr" tail -q -i -t -c --time raw -n all --until-end "$dir/rot" 2>"$dir/err" || echo failed; } |
	"$dir/program" >"$dir/have" &
tail_pid=$!
await 'grep -q "waiting for" "$dir/err"'
size=$((events * 18 / rotations))
(KTR_ENTRIES=256K KTR_MASK=gen KTR_ROTATE_SIZE=$size KTR_ROTATE_KEEP=1000 KTR_FILE="$dir/rot" \
	"$dir/program" "$events" "${RATE:-1000000}") || fail "the program failed"
wait $tail_pid
tail_pid=
n=$(ls -d "$dir"/rot.* | wc -l)
# (A writer that is given little time looks rarely at how large the trace is.)
[ "$n" -gt $((events > 1000000 ? rotations / 10 : 0)) ] || fail "only $n rotations"
"$ktr" dump -q -i -t -c --time raw "$dir/rot" 2>/dev/null | "$dir/program" >"$dir/want"
cmp -s "$dir/want" "$dir/have" ||
	fail "tail has $(cat "$dir/have"), dump $(cat "$dir/want"): $(cat "$dir/err")"
lost=$(cat "$dir"/rot*/ktr/losses.jsonl | grep -o '"events":[0-9]*' | cut -d: -f2 |
	awk '{ n += $1 } END { print n + 0 }')
[ "$(cut -d' ' -f1 "$dir/have")" -ge $((events - lost)) ] ||
	fail "tail has $(cat "$dir/have") of $events events, $lost lost"
echo "$(cat "$dir/have") of $events events, $lost lost, through $n rotations"
[ "$events" -gt 1000000 ] && exit $failed
rm -rf "$dir"/rot*

# A program that aborts; then another one of the same name. What the first had not written comes from its session.
"$ktr" tail -q -t --time raw -n all "$dir/again" >"$dir/out" 2>"$dir/err" &
tail_pid=$!
await 'grep -q "waiting for" "$dir/err"'
for round in 1 2; do
	(ulimit -c 0 && KTR_ENTRIES=64K KTR_MASK=gen KTR_FILE="$dir/again" "$dir/program" 3000 8000 abort) \
		2>/dev/null
	await '[ "$(grep -c "of thread" "$dir/out")" -ge $((3000 * round)) ]' || cat "$dir/err"
done
is "lines of two runs" "$(grep -c 'of thread' "$dir/out")" 6000
kill $tail_pid
wait $tail_pid 2>/dev/null
tail_pid=

# From a session's rings; the last ones first; JSON.
KTR_SESSION=rings KTR_KEEP_SESSION=1 KTR_MASK=gen "$dir/program" 1000 1000000
# (A session's clock is mapped anew with each look: columns but the time.)
"$ktr" tail -s rings --until-end -n all -q -ic >"$dir/out" 2>&1 || fail "a session: $(cat "$dir/out")"
"$ktr" dump -s rings -q -ic | cmp -s - "$dir/out" || fail "a session: tail differs from dump"
"$ktr" tail -s rings --until-end -q -ic >"$dir/out" || fail "the last ten"
"$ktr" dump -s rings -q -ic -n 10 | cmp -s - "$dir/out" || fail "the last ten differ from dump -n 10"
"$ktr" tail -s rings --until-end -n 3 --json >"$dir/out" || fail "JSON"
[ "$(grep -c '"type":"event"' "$dir/out")" -eq 3 ] || fail "JSON: $(cat "$dir/out")"
"$ktr" tail -s rings --until-end -n 0 -q >"$dir/out"
[ -s "$dir/out" ] && fail "-n 0 prints something"

"$ktr" tail -p 1 "$dir/x" 2>/dev/null
[ $? -eq 2 ] || fail "a process and a trace at once"
"$ktr" tail -s nothing 2>"$dir/err"
[ $? -eq 1 ] || fail "no such session"
exit $failed

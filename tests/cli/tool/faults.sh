#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr_sample_faults(): each first touch of a page is a sample, at its address, of its thread, also of one that is born later,
# with the function that did it; of a part of them so many; what has no faults has none; what is lost is counted; what
# cannot be had is refused.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*) skip "page faults are sampled on x86-64"; exit 0 ;;
esac
$cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Iinclude -O1 -g tests/programs/tool/task.c -o "$dir/task" -L"$O/lib" \
	-Wl,-rpath,"$O/lib" -lktr-task -lpthread -ldl || exit 1
task=$dir/task
cat >"$dir/touch.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static unsigned long n;
__attribute__((noinline)) void touches(volatile char *at)
{
	for (unsigned long i = 0; i < n; i++)
		at[4096 * i] = 1;
}
__attribute__((noinline)) void caller(volatile char *at) { touches(at); __asm__ volatile(""); }
static void *run(void *argument)
{
	char *at = mmap(NULL, 4096 * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(at, 4096 * n, MADV_NOHUGEPAGE);
	caller(at);
	printf("%ld %lu %lu %lu\n", (long)syscall(SYS_gettid), (unsigned long)at, n, (unsigned long)touches);
	fflush(stdout);
	return argument;
}
int main(int argc, char **argv)
{
	pthread_t id[2];
	char c;

	n = strtoul(argv[argc - 1], NULL, 0);
	printf("begun\n");
	fflush(stdout);
	if (read(0, &c, 1) != 1)
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&id[i], NULL, run, NULL);
	run(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(id[i], NULL);
	printf("done\n");
	fflush(stdout);
	return read(0, &c, 1) != 1;
}
END
$cc -O1 -fno-omit-frame-pointer -no-pie -o "$dir/touch" "$dir/touch.c" -lpthread || exit 1
pids=
at_exit() {
	for p in $pids; do ! grep -qs "^PPid:.$$\$" "/proc/$p/status" || kill -9 "$p"; done
}
mkfifo "$dir/in" "$dir/go" || exit 1
exec 9<>"$dir/in" 8<>"$dir/go"

# faults PAGES TID-OR-0 EVERY: what was touched is in $dir/told, samples in $dir/samples, sums in $dir/sums
faults() {
	"$dir/touch" "$1" <"$dir/in" >"$dir/told" &
	touch=$!
	pids="$pids $touch"
	await 'grep -qs begun "$dir/told"'
	tid=$2
	[ "$tid" = 0 ] || tid=$touch
	: >"$dir/samples"
	"$task" faults $touch "$tid" "$3" <"$dir/go" >"$dir/samples" 2>"$dir/sums" 8>&- 9>&- &
	tool=$!
	pids="$pids $tool"
	await '[ "$(ls /proc/$tool/task 2>/dev/null | wc -l)" = 2 ] || ! kill -0 $tool 2>/dev/null'
	if ! kill -0 $tool 2>/dev/null; then
		skip "the kernel does not tell: $(cat "$dir/sums")"
		exit $failed
	fi
	echo >&9
	await 'grep -qs done "$dir/told"'
	echo >&8
	wait $tool || fail "the sampler: $? $(cat "$dir/sums")"
	echo >&9
	wait $touch
	python3 tests/cli/tool/task.py faults "$dir/samples" "$dir/sums" "$dir/told" "$3" "$2" || failed=1
}
faults 300 0 1
faults 300 1 1
faults 4000 0 10
# More than a ring has room for until it is read.
faults 20000 0 1
lost=$(sed 's/.* lost \([0-9]*\) .*/\1/' "$dir/sums")
echo "of $(sed 's/.* samples \([0-9]*\) .*/\1/' "$dir/sums") faults in a row $lost were lost, and counted"

# Who ends is told of, and who has no faults has no sample.
sleep 1000 &
sleeper=$!
pids="$pids $sleeper"
await 'became $sleeper "$(command -v sleep)" && grep -q "^State:.S" /proc/$sleeper/status'
"$task" faults $sleeper 0 1 <"$dir/go" >"$dir/samples" 2>"$dir/sums" &
tool=$!
pids="$pids $tool"
await '[ "$(ls /proc/$tool/task | wc -l)" = 2 ]'
kill $sleeper
wait $sleeper 2>/dev/null
await '[ "$(ls /proc/$tool/task | wc -l)" = 1 ]'
echo >&8
wait $tool
grep -q '^code 3 .* samples 0 lost 0 ' "$dir/sums" || fail "one that ended: $(cat "$dir/sums")"

# ---- refused ----

status 1 "$task" faults 999999999 0 1 </dev/null
grep -q '^3 3 .*there is no process' "$dir/err" || fail "no process: $(cat "$dir/err")"
sleep 1000 &
sleeper=$!
pids="$pids $sleeper"
status 1 "$task" faults $sleeper 0 0 </dev/null
grep -q '^22 22 ' "$dir/err" || fail "in 0 faults: $(cat "$dir/err")"
status 1 "$task" faults $sleeper 1 1 </dev/null
grep -q '^3 3 .*has no thread 1' "$dir/err" || fail "no thread: $(cat "$dir/err")"
prlimit --nofile=4 "$task" faults $sleeper 0 1 </dev/null >"$dir/out" 2>"$dir/err" 8>&- 9>&-
[ "$(nproc)" = 1 ] || grep -q '^24 24 ' "$dir/err" || fail "descriptors: $(cat "$dir/err")"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 711 "$dir"
	setpriv --reuid 65534 --clear-groups "$task" faults $sleeper 0 1 </dev/null >"$dir/out" 2>"$dir/err"
	grep -q "^1 1 process $sleeper is user 0's" "$dir/err" || fail "another user's: $(cat "$dir/err")"
fi
exit $failed

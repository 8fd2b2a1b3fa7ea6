#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A threaded program crashes: its core tells what it recorded last, from the rings that it holds or by the
# session that it leads to, to ktrdump -M, to other commands, and to gdb's command ktr. The core is not larger
# than what was recorded.
. "$(dirname "$0")/../lib.inc"
ktrdump=$O/bin/ktrdump

cat >"$dir/crash.c" <<'END'
#include <ktr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *run(void *name)
{
	for (int i = 0; i < 2000; i++)
		CTR2(KTR_NET, "%s: packet %d", (char *)name, i);
	return NULL;
}
/* With an argument the session's file is removed first; with two the program ends well. */
int main(int argc, char **argv)
{
	static char rx[] = "rx", tx[] = "tx";
	pthread_t t[2];

	pthread_create(&t[0], NULL, run, rx);
	pthread_create(&t[1], NULL, run, tx);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	CTR1(KTR_GEN, "about to crash in %s", "main");
	if (argc > 1)
		remove(argv[1]);
	if (argc < 3)
		abort();
	return 0;
}
END
$cc -std=gnu11 -g -O1 -D_GNU_SOURCE -Iinclude "$dir/crash.c" -o "$dir/crash" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
gdb=$(command -v gdb) && gdb -nx -batch -ex 'python import json' >/dev/null 2>&1 || gdb=
export KTR_MASK=gen,net KTR_ENTRIES=16384

# crash FILTER SESSION [FILE]: leaves `core`. By the kernel, or by gdb where the kernel takes cores elsewhere.
crash() {
	filter=$1
	export KTR_SESSION="$2"
	shift 2
	rm -f core*
	(ulimit -c unlimited && echo "$filter" >/proc/self/coredump_filter && exec timeout 300 ./crash "$@") >log 2>&1
	for file in core*; do
		[ ! -e "$file" ] || [ "$file" = core ] || mv "$file" core
	done
	unset KTR_SESSION
	[ -e core ]
}
if ! crash 0x33 first; then
	skip "cores: none is written here (limit $(ulimit -Hc), pattern $(cat /proc/sys/kernel/core_pattern))"
	exit $failed
fi

# What every core must tell; $1 is what the note says of where it comes from.
tells() {
	status 0 "$ktrdump" -M core -cHq
	grep -q "$1" err || fail "no note says \"$1\": $(cat err)"
	is "the last event" "$(head -n 1 out | sed 's/.* about/about/')" "about to crash in main"
	is "events" "$(wc -l <out)" 4001
	is "threads" "$(awk '{ print $3 }' out | sort -u | wc -l)" 3
	is "order" "$(grep -c . out) $(sed 's/^ *//; s/ .*//' out | sort -rnc && echo down)" "4001 down"
	"$ktrdump" -m core -q 2>err | sed -n 's/.*rx: packet //p' >numbers
	seq 1999 -1 0 | cmp -s - numbers || fail "rx's events are not all there, newest first"
}

tells 'which is still there'
"$ktr" rm first >log 2>&1 || fail "rm: $(cat log)"
status 1 "$ktrdump" -M core
grep -q 'session first.*its file is gone' err || fail "a session that is gone: $(cat err)"

# With the rings: shared memory is asked for, or the file had been removed.
crash 0x3b second || fail "no core of the second"
"$ktr" rm second >log 2>&1 || fail "rm: $(cat log)"
tells 'session second as the core holds it'
used=$(du -k core | cut -f1)
[ "$used" -lt 65536 ] || fail "the core takes $used KiB"
status 0 "$ktr" report --json core
grep -q '"events":4001' out || fail "report: $(head -c 300 out)"
status 0 "$ktr" dump -qn 1 core
grep -q 'core holds it' err || fail "dump -n says nothing: $(cat err)"
crash 0x33 third "$KTR_DIR/ktr-$(id -u)/third.ktr" || fail "no core of the third"
tells 'session third as the core holds it'

# A core of something else, and one that is cut.
head -c 5000 core >cut
status 1 "$ktrdump" -M cut
grep -q '^ktrdump: cut: ' err || fail "a core that is cut: $(cat err)"
(ulimit -c unlimited && KTR_DISABLE=1 exec ./crash) >log 2>&1
for file in core*; do
	[ "$file" = core ] || mv "$file" core
done
status 1 "$ktr" json core
grep -q 'without a session' err || fail "a core without a session: $(cat err)"

# ---- gdb ----

if [ -z "$gdb" ]; then
	skip "gdb's command: there is no gdb with Python"
	exit $failed
fi
crash 0x33 fourth || fail "no core of the fourth"
ask() { # gdb's arguments: what the commands between the marks print, into out
	PATH=$O/bin:$PATH timeout 120 "$gdb" -nx -batch -ex "source $top/tools/ktr-gdb.py" "$@" >all 2>&1
	sed -n '/^begin$/,/^end$/p' all | sed '1d;$d' >out
}
ask -ex 'echo begin\n' -ex 'ktr -n 3' -ex 'echo end\n' ./crash core
is "lines of gdb" "$(sed 's/[0-9][0-9]*/N/g; s/[rt]x: packet/xx: packet/' out | grep -v '^ktr json')" \
	"$(printf '     N (crash/N:cpuN): %s\n' 'about to crash in main' 'xx: packet N' 'xx: packet N'; echo '--- End of trace buffer ---')"
grep -q 'which is still there' out || fail "gdb does not say where it is from: $(cat all)"
ask -ex 'echo begin\n' -ex 'ktr -v -c net -f "arg1 == 7"' -ex 'echo end\n' ./crash core
is "lines of gdb -v -c net" "$(grep -cE '^ +[01] \(crash/[0-9]+:cpu[0-9]+\) [0-9]+ .*crash\.c\.[0-9]+: [rt]x: packet 7$' out)" 2
for together in '-n 2 -tv' '-vtn 2' '-tvn2'; do
	ask -ex 'echo begin\n' -ex "ktr $together" -ex 'echo end\n' ./crash core
	is "lines of gdb $together" "$(grep -cE '^ +[01] \(crash/[0-9]+:cpu[0-9]+\) [0-9]+ .*crash\.c\.[0-9]+: ' out)" 2
done
ask -ex 'echo begin\n' -ex 'ktr -tx' -ex 'echo end\n' ./crash core
grep -q 'help ktr' out || fail "gdb, a wrong option behind a right one: $(cat all)"
ask -ex 'echo begin\n' -ex 'ktr -c nte' -ex 'echo end\n' ./crash core
grep -q 'net' out || fail "gdb, a class that there is none of: $(cat all)"
ask -ex 'echo begin\n' -ex 'ktr -n' -ex 'echo end\n'
grep -q 'help ktr' out || fail "gdb, a wrong option: $(cat all)"
ask -ex 'echo begin\n' -ex 'ktr' -ex 'echo end\n'
grep -q 'there is no program' out || fail "gdb without a program: $(cat all)"
# A program that is stopped.
export KTR_SESSION=fifth
ask -ex 'set pagination off' -ex 'break remove' -ex 'run none none' -ex 'echo begin\n' -ex 'ktr -n 1' -ex 'echo end\n' \
	-ex kill ./crash
if grep -q 'Breakpoint 1,' all; then
	is "gdb, stopped" "$(sed 's/[0-9][0-9]*/N/g' out | sed 1q)" '     N (crash/N:cpuN): about to crash in main'
else
	skip "gdb, stopped: it may not run a program here: $(grep -m 1 -i ptrace all)"
fi
exit $failed

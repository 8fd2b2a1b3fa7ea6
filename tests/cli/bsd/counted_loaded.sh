#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Calls that are counted in what a program loads and unloads while it runs: each object has its own in gmon.out.NAME, also
# where one lies at the place of another that has gone, comes back, is loaded by a relative name, in a child, or when
# kgmon -b has been there before. gprof and the program's own numbers are the judges.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions as probes are for x86-64'; exit 0 ;; esac
command -v gprof >/dev/null || { skip 'no gprof'; exit 0; }
. tests/cli/provider/fbt.inc

cat >"$dir/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define KEEP __attribute__((noinline, noclone))
static void *plug;
static int (*plug_entry)(int);
static KEEP void load(const char *path)
{
	plug = dlopen(path, RTLD_NOW);
	plug_entry = plug ? (int (*)(int))dlsym(plug, "entry") : NULL;
	if (!plug_entry)
		printf("%s\n", dlerror());
}
static KEEP void calls(int n)
{
	for (int i = 0; i < n; i++)
		plug_entry(i);
	__asm__ volatile("");
}
static KEEP void unload(void)
{
	dlclose(plug);
	__asm__ volatile("");
}
int main(void)
{
	char line[4096], a[2048], b[2048];
	int n;

	setvbuf(stdout, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "load %2047s", a) == 1) {
			load(a);
			printf("at %p\n", (void *)plug_entry);
		} else if (sscanf(line, "calls %d", &n) == 1) {
			calls(n);
		} else if (strncmp(line, "unload", 6) == 0) {
			unload();
		} else if (sscanf(line, "chdir %2047s", a) == 1) {
			n = chdir(a);
		} else if (sscanf(line, "turns %d %2047s %2047s", &n, a, b) == 3) {
			for (int i = 0; i < 2 * n; i++) {
				load(i % 2 ? b : a);
				calls(1);
				unload();
			}
		} else if (sscanf(line, "child %d %2047s", &n, a) == 2) {
			if (fork() == 0) {
				load(a);
				calls(n);
				_exit(0);
			}
			wait(NULL);
		}
		printf("done\n");
	}
	return 0;
}
END
plug() { # NAME HELPER-CALLS
	cat <<-END
	int helper_$1(int i);
	__attribute__((noinline)) int helper_$1(int i) { __asm__ volatile(""); return i + 1; }
	int entry(int i);
	int entry(int i)
	{
		for (int k = 0; k < $2; k++)
			i = helper_$1(i);
		return i;
	}
	END
}
plug one 2 >"$dir/one.c"
plug two 3 >"$dir/two.c"
# shellcheck disable=SC2086
{
	$cc -std=gnu11 -D_GNU_SOURCE -O1 $cflags "$dir/host.c" -o "$dir/host" $shared &&
		$cc -std=gnu11 -D_GNU_SOURCE -O1 "$dir/host.c" -o "$dir/bare" -ldl &&
		for name in one two; do
			$cc -O1 -fPIC -shared $cflags "$dir/$name.c" -o "$dir/$name.so" $shared &&
				$cc -O1 -fPIC -shared $cflags "$dir/$name.c" -o "$dir/bare_$name.so" || exit 1
		done
} >"$dir/log" 2>&1 || { fail "$(cat "$dir/log")"; exit 1; }
pid=
at_exit() { [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; }
mkfifo "$dir/in" || exit 1
exec 9<>"$dir/in"

n_done=0
tell() { # LINE: and it has been done
	n_done=$((n_done + 1))
	echo "$1" >&9
	await '[ "$(grep -c ^done "$dir/told")" -ge $n_done ] || ! kill -0 $pid'
}
start() { # COMMAND...: in the folder of all this
	: >"$dir/told"
	n_done=0
	(cd "$dir" && exec "$@" <"$dir/in" >"$dir/told" 2>"$dir/log") &
	pid=$!
}
ends() {
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	"$ktr" rm --dead >/dev/null 2>&1
	pid=
}
dump() {
	rm -f "$dir"/gmon.out*
	(cd "$dir" && "$ktr" kgmon -P $pid -p) >"$dir/out" 2>"$dir/err" || fail "kgmon -p: $? $(cat "$dir/out" "$dir/err")"
	! grep -Eq 'no file tells|not counted, for want' "$dir/err" || fail "$1: $(cat "$dir/err")"
}
# has WHAT FILE OBJECT CALLER CALLEE N...: of calls, as they are counted
has() {
	what=$1 file=$dir/$2 object=$dir/$3
	shift 3
	: >"$dir/arcs"
	while [ $# -gt 0 ]; do
		echo "arc $1 $2 $3" >>"$dir/arcs"
		shift 3
	done
	[ -e "$file" ] || { fail "$what: there is no $file: $(ls "$dir")"; return; }
	python3 tests/cli/show/gmon.py gnu "$file" "$object" "$dir/arcs" exact >"$dir/said" 2>&1 ||
		fail "$what: $(tail -n 1 "$dir/said"): $(cat "$dir/err")"
}
calls_of() { # FUNCTION FILE OBJECT: as gprof has it
	gprof -b -p "$dir/$3" "$dir/$2" 2>/dev/null | awk -v name="$1" '$NF == name { n = $4 } END { print n + 0 }'
}
same_place() { # of the last two that were loaded
	[ "$(sed -n 's/^at //p' "$dir/told" | tail -n 2 | sort -u | wc -l)" = 1 ] || skip "$1: it does not lie where the one before lay"
}

# ---- from the beginning; one in the place of another ----

export KTR_PROBES='fbt_count:::' KTR_FOLLOW_FORK=0
start "$dir/host"
unset KTR_PROBES KTR_FOLLOW_FORK
tell 'load ./one.so'
tell 'chdir /'
tell 'calls 100'
dump 'one'
has one gmon.out.one.so one.so entry helper_one 200
is 'entries, by gprof' "$(calls_of entry gmon.out.one.so one.so)" 100
tell unload
dump 'none'
has 'one that has gone' gmon.out.one.so one.so entry helper_one 200
tell "load $dir/two.so"
same_place two
tell 'calls 70'
dump 'two'
has 'the one before' gmon.out.one.so one.so entry helper_one 200
has 'the one in its place' gmon.out.two.so two.so entry helper_two 210
is 'entries of the one before' "$(calls_of entry gmon.out.one.so one.so)" 100
is 'entries of the one in its place' "$(calls_of entry gmon.out.two.so two.so)" 70
tell unload
tell "load $dir/one.so"
tell 'calls 11'
dump 'one again'
has 'one that is back' gmon.out.one.so one.so entry helper_one 222
has 'one that was between' gmon.out.two.so two.so entry helper_two 210
tell unload
# Time and again: places of tables are used again.
before=$("$ktr" sysctl -p $pid -n kern.prof.tos)
tell "turns 300 $dir/one.so $dir/two.so"
dump '300 times'
has 'one, 300 times' gmon.out.one.so one.so entry helper_one 822
has 'two, 300 times' gmon.out.two.so two.so entry helper_two 1110
# Who is called from a place that had none before is new.
after=$("$ktr" sysctl -p $pid -n kern.prof.tos)
[ "$after" -le $((before + 6)) ] || fail "arcs: $before, then $after"
# A child has tables of its own, and its own row for what it loads.
tell "child 5 $dir/two.so"
dump 'a child'
has 'a child' gmon.out.two.so two.so entry helper_two 1125
kill -9 $pid
wait $pid 2>/dev/null
dump 'killed'
has 'killed' gmon.out.one.so one.so entry helper_one 822
ends

# ---- kgmon -b means what is loaded later, too; -h ends that ----

kgmon() { (cd "$dir" && "$ktr" kgmon -P $pid "$@") >"$dir/out" 2>"$dir/err" || fail "kgmon $*: $? $(cat "$dir/err")"; }
start "$dir/host"
await '"$ktr" ls 2>/dev/null | grep -q "^host"'
kgmon -b
tell 'load ./one.so'
tell 'calls 9'
dump 'loaded after -b'
has 'loaded after -b' gmon.out.one.so one.so entry helper_one 18
kgmon -h
tell 'calls 9'
tell unload
tell "load ./two.so"
tell 'calls 9'
dump 'loaded after -h'
has 'after -h' gmon.out.one.so one.so entry helper_one 18
[ ! -e "$dir/gmon.out.two.so" ] || fail 'it counts after -h'
kgmon -b
tell 'calls 4'
dump 'again'
has 'again' gmon.out.two.so two.so entry helper_two 12
ends

# ---- in a program that knows nothing of it, whose first such object comes after -b ----

if [ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ]; then
	start "$ktr" run --agent --probe profile:::profile-97 "$dir/bare"
	runner=$pid
	await 'pid=$(pgrep -P $runner -x bare)'
	await '"$ktr" kgmon -P $pid >"$dir/out" 2>&1'
	kgmon -b
	tell 'load ./bare_one.so'
	tell 'calls 9'
	tell unload
	tell 'load ./bare_two.so'
	tell 'calls 7'
	dump 'under the agent'
	# The first file is of the first that has something. Of the program and of the agent there is nothing, unless a
	# sample hit them.
	file=gmon.out
	grep -q 'the file is of bare_one\.so' "$dir/err" || file=gmon.out.bare_one.so
	has 'under the agent' $file bare_one.so entry helper_one 18
	has 'under the agent, in its place' gmon.out.bare_two.so bare_two.so entry helper_two 21
	kill -9 $pid
	wait $runner 2>/dev/null
	"$ktr" rm --dead >/dev/null 2>&1
	pid=
fi
exit $failed

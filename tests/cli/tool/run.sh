#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr run as a user meets it: what it refuses before the program starts, what it passes on, what it says
# in the end, and that the trace of a killed program is whole. Then the other commands' odd options.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build live tests/programs/session/live.c
live=$out/live
export KTR_CONF=
cd "$work" || exit 1

said() {
	grep -qF -e "$1" "$dir/err" || fail "no \"$1\" in: $(cat "$dir/err")"
}

lines() { # how many on stderr
	is "lines of $(cat err)" "$(wc -l <err)" "$1"
}

# Refused before anything runs: one line, and where to find help.
refused() {
	text=$1
	shift
	rm -f ran
	status 2 "$ktr" run "$@" sh -c 'touch ran'
	said "$text"
	lines 2
	[ ! -e ran ] || fail "ktr run $*: it ran"
}
refused 'a name is missing' -m 'sched|'
refused '-m 0xzz: ' -m 0xzz
refused '-e: "many" is not a number' -e many
refused '-e: 3 is not between' -e 3
refused '-e: 17179869184 is not between' -e 16G
refused 'cannot be a session'"'"'s name' -s a/b
status 2 "$ktr" run -m net,shced "$live"
said 'unknown name "shced", the nearest is "sched"'
lines 2
[ ! -e ktr.out ] || fail "it ran"
status 2 "$ktr" run -m net,shced "$live"
# A class of the program's own has a name that no list has.
cat >own.c <<'END'
#include <ktr.h>
KTR_CLASS_DEFINE(shced, "not a slip");
int main(void) { CTR0(KTR_CLASS(shced), "here"); return 0; }
END
$CC $flags -I"$OLDPWD/include" own.c -o own $libs || exit 1
status 0 "$ktr" run -m KTR_shced ./own
said '1 event'
status 1 "$ktr" run -o /nowhere/to/be/found "$live"
said '/nowhere/to/be: No such file or directory'
# What is no name would move the directory above aside.
mkdir kept
for name in '' . .. /// kept/.. ./; do
	(cd kept && status 2 "$ktr" run -o "$name" "$live" && [ ! -e ../live.ran ]) || fail "-o '$name'"
done
is "what was moved" "$(ls -d kept* ./*.old.* 2>/dev/null)" kept
# Nor is a device moved aside, or what else is no trace.
mkfifo pipe
KTR_MASK=all KTR_FILE=pipe "$live" 2>err
grep -q 'pipe: cannot move the old trace aside' err || fail "a pipe: $(cat err)"
[ -p pipe ] || fail 'a pipe was moved'
rm pipe
rm -rf ktr.out*

# What it passes on: input, output, exit status, signals, ignored signals.
is "input and output" "$(echo through | "$ktr" run cat 2>/dev/null)" through
is "in a pipe" "$(timeout 300 "$ktr" run yes 2>/dev/null | head -n 1)" y
status 7 "$ktr" run sh -c 'exit 7'
status 143 "$ktr" run sh -c 'kill -TERM $$'
status 127 "$ktr" run ./nothing
said './nothing: No such file'
lines 1
: >plain
status 126 "$ktr" run ./plain
lines 1
printf '#!/nowhere/sh\n' >script
chmod +x script
status 127 "$ktr" run ./script
for signal in HUP INT TERM USR1; do
	mkfifo told
	# A shell's job in the background ignores SIGINT.
	env --default-signal "$ktr" run sh -c "trap 'exit 9' $signal; echo >told; while :; do sleep 0.01; done" 2>err &
	job=$!
	read -r _ <told
	kill -$signal $job
	wait $job
	is "exit status after SIG$signal" $? 9
	rm told
done
is "SIGPIPE of the program" "$(env --default-signal "$ktr" run sh -c 'kill -PIPE $$' 2>/dev/null; echo $?)" 141
is "SIGPIPE where it is ignored" "$(trap '' PIPE; "$ktr" run sh -c 'kill -PIPE $$; echo on' 2>/dev/null)" on
if command -v nohup >/dev/null; then
	status 0 nohup "$ktr" run -o hup "$live"
	grep -q 'next: ktr dump hup' out err nohup.out 2>/dev/null || fail "nohup: $(cat err)"
fi

# Programs that libktr is not in, and why.
status 0 "$ktr" run true
said 'true left no trace: it is not linked with libktr'
lines 1
printf '#!/bin/sh\ntrue\n' >script
status 0 "$ktr" run ./script
said 'no program that it started is linked with libktr'
printf '#!/bin/sh\n%s\n' "$live" >script
status 0 "$ktr" run ./script
said ' events, 0 lost'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 755 bin
	cp "$ktr" "$live" bin/
	chmod u+s bin/live
	mkdir -m 777 theirs
	chmod 777 theirs
	chmod 711 .
	(cd theirs && status 0 setpriv --reuid=65534 --regid=65534 --clear-groups ../bin/ktr run ../bin/live
		said 'it runs with raised privileges' && exit $failed) || failed=1
	rm -f /dev/shm/ktr-0/live.[0-9]*.ktr
else
	skip "set-user-id: this needs root and setpriv"
fi
if unshare -m true 2>/dev/null; then
	status 0 unshare -m sh -c "mount -t tmpfs -o ro none /dev/shm && KTR_DIR= exec $ktr run -o none $live"
	said 'ktr: not traced: '
	said 'left no trace: libktr said why above'
	lines 2
else
	skip "no /dev/shm: no mount namespace of our own"
fi

# Killed as soon as it has recorded: the trace has it all, and the line says so.
n=0
while [ $n -lt 10 ]; do
	rm -rf ktr.out
	status 137 "$ktr" run -m gen "$live" kill
	said 'ktr: ktr.out: 100 events'
	said ' out of the session that the program left), 0 lost; next: ktr dump, ktr timeline'
	lines 1
	is "events of a killed program" "$("$ktr" dump -q 2>&1 | grep -c 'live [0-9]*$')" 100
	n=$((n + 1))
done
[ "$("$ktr" ls | grep -c ' dead ')" -gt 0 ] || fail "it left no session"
rm -rf ktr.out
# So it does where a shell has started it.
status 137 "$ktr" run -m gen sh -c "'$live' kill; exit 137"
said ' out of the session that the program left), 0 lost; next: ktr dump, ktr timeline'
is "events of a killed program's child" "$("$ktr" dump -q 2>&1 | grep -c 'live [0-9]*$')" 100
rm -rf ktr.out

# One clear error for what makes no sense.
wrong() { # TEXT COMMAND...
	text=$1
	shift
	status 2 "$ktr" "$@"
	said "$text"
	lines 2
}
"$ktr" run -o trace "$live" 2>err || fail "$(cat err)"
wrong 'rate does not take --x' plot rate trace --x foo
wrong 'scatter does not take --span' plot scatter trace --span x
wrong '--span and --pair exclude each other' plot latency trace --span x --pair a..b
wrong 'compare wants two traces, and no -p or -s' plot compare -s x trace trace
wrong 'compare wants two traces' plot compare trace
wrong '--size is of a picture' plot rate trace -o - --size 900x600
wrong '"more" is one operand too many' plot list more
wrong '--size is of a picture' timeline trace --size 900x600
wrong '--width and --color are for the terminal' timeline trace -o x.png --width 80
wrong '--around and --from or --to exclude each other' timeline trace --around 1s --to 2s
wrong 'the window ends before it begins' timeline trace --from 2s --to 1s
wrong 'the window ends before it begins' plot rate trace --from 2s --to 1s
wrong 'the window ends before it begins' dump trace --from 2s --to 1s
wrong '-p and -s exclude each other' dump -p 1 -s x
wrong '"trace" and -p or -s: only one can be read' json trace -p 1
wrong 'either a session or a program' record -p 1 -- true
wrong 'with a program only --output can be given' record -t 1s -- true
wrong '--keep says how many traces of --size stay' record --keep 2
wrong '--json has no colours' report trace --json --color always
status 1 "$ktr" dump own.c
said 'own.c: is neither a trace, which is a directory, nor a session'
status 1 "$ktr" dump trace/metadata
said 'trace/metadata: is a part of a trace: name the directory it lies in'
for command in dump json report timeline 'plot rate' salvage; do
	# shellcheck disable=SC2086
	status 1 "$ktr" $command
	lines 1
	grep -q 'ktr.out' err || fail "$command without ktr.out: $(cat err)"
done

# A session that is left of another process with the program's number is none of the program's.
cat >number.c <<'END'
#include <ktr.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	(void)argv;
	CTR0(KTR_GEN, "here");
	printf("%d\n", (int)getpid());
	fflush(stdout);
	return argc > 1 ? pause() : 0;
}
END
$CC $flags -I"$OLDPWD/include" number.c -o number $libs || exit 1
mkfifo said.fifo
KTR_SESSION=stale KTR_MASK=all ./number wait >said.fifo &
read -r number <said.fifo
kill -9 $!
wait $! 2>/dev/null
met=
# From one fork to the next there are a few numbers, and others take some, too.
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	for before in 2 3 4 5 6; do
		[ -z "$met" ] || break 2
		echo $((number - before)) 2>/dev/null >/proc/sys/kernel/ns_last_pid || break 2
		rm -rf number.trace
		"$ktr" run -o number.trace ./number >out 2>err
		[ "$(cat out)" != "$number" ] || met=$try
	done
done
if [ -n "$met" ]; then
	grep -q stale err && fail "a session of another process: $(cat err)"
	said '4 events, 0 lost'
else
	skip "a process with a number that another had: the number is not to be had"
fi

# ---- a list of functions of any length ----

long=$(seq -f 'function_%g' -s, 1000)
"$ktr" run -o "$dir/listed" --probe 'mach:::' --fbt ",$long,,last," sh -c 'printf %s "$KTR_PROBES"' >"$dir/out" 2>/dev/null
is 'a long list' "$(cat "$dir/out")" "$(printf 'mach:::,'; seq -f 'fbt::function_%g:' -s, 1000),fbt::last:"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The rings stop by themselves: N events after a trigger has held, on both paths; by a trigger set on a
# running program, for all processes of its session; by signals, with the host's handlers still called; at
# exit; by a call. The moment is marked, the session stays, and recording can go on.
. "$(dirname "$0")/../lib.inc"

says() {
	grep -qF -e "$1" "$dir/out" "$dir/err" || fail "no \"$1\" in: $(cat "$dir/out" "$dir/err")"
}

for name in misbehave freeze; do
	${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude "tests/programs/control/$name.c" -o "$dir/$name" \
		"$O/lib/libktr.a" -lpthread || exit 1
done
cd "$dir" || exit 1

# Once in a million iterations, N events more in each ring; four threads may each be interrupted in an event's macro.
misbehaves() { # session N path
	status 0 env KTR_PATH="$3" "$ktr" run -s "$1" -m net -e 4096 -o "$1.ktr" --after "$2" \
		--trigger 'func == work and fault == 1' -- ./misbehave 4
	status 0 "$ktr" json -s "$1" --events
	cp out "$1.json"
	python3 - "$1.json" "$2" "$3" <<'END' || fail "$1: $3, $2 more events"
import json, sys

def wrong(text):
    print(text)
    sys.exit(1)

n, ring = int(sys.argv[2]), "cpu" if sys.argv[3] == "rseq" else "tid"
events = [json.loads(line) for line in open(sys.argv[1])]
faults = [e for e in events if e["args"].get("fault") == 1]
marks = [e for e in events if e["msg"].startswith("recording stops by the trigger")]
if len(faults) != 1 or len(marks) != 1:
    wrong("%u faults, %u marks" % (len(faults), len(marks)))
after = {}
for e in events:
    if e["class"] == "net" and e["ts_ns"] > faults[0]["ts_ns"]:
        after[e[ring]] = after.get(e[ring], 0) + 1
own = after.get(faults[0][ring], 0)
if n and not n - 1 <= own <= n + 4:
    wrong("%u events behind the fault in its own ring" % own)
for k, m in after.items():
    if m > n + 4:
        wrong("%u events behind the fault in the ring of %s %s" % (m, ring, k))
END
	status 0 "$ktr" sysctl -n -s "$1" frozen_by
	says "misbehave.c:24"
	status 0 "$ktr" rm "$1"
}

misbehaves rseq1000 1000 rseq
misbehaves rseq0 0 rseq
misbehaves thread1000 1000 thread
misbehaves thread0 0 thread

# A program that runs, and one beside it in the same session.
begin() { # session name [argument]: fifo $2.in, descriptor 3 or 5
	rm -f "$2.in" "$2.out"
	mkfifo "$2.in" "$2.out"
	KTR_SESSION=$1 KTR_MASK=${MASK-net} ./freeze ${3:+"$3"} <"$2.in" >"$2.out" &
	pid=$!
}

tell() { # descriptor of stdin, of stdout, word
	echo "$3" >&"$1"
	read -r answer <&"$2"
}

events() { # session: the texts
	"$ktr" dump -q -s "$1" 2>/dev/null | sed -nE 's/.*(step [0-9]+ of|packet [0-9]+|recording stops by (the trigger|a call|an exit|a signal)).*/\1/p' |
		tr '\n' ';'
}

begin two a
exec 3>a.in 4<a.out
read -r answer <&4
begin two b
exec 5>b.in 6<b.out
read -r answer <&6
status 1 "$ktr" sysctl -s two trigger='class == nett'
says 'unknown name "nett", the nearest is "net"'
status 1 "$ktr" sysctl -s two trigger='msg == x'
says 'only filters do'
status 1 "$ktr" sysctl -s two trigger='step =='
says 'column 8'
status 0 "$ktr" sysctl -s two trigger='func == nobody'
says 'matches no call site yet'
status 0 "$ktr" sysctl -s two trigger='class == rx or n * 2 == 10 and func ~ m*'
status 0 "$ktr" sysctl -n -s two trigger_sites
is "sites" "$(cat out)" 2
status 0 "$ktr" sysctl -n -s two trigger
is "the trigger" "$(cat out)" 'class == rx or n * 2 == 10 and func ~ m*'
status 0 "$ktr" sysctl -s two "trigger=$(cat out)" freeze_after=1
tell 3 4 "step 4"
tell 5 6 "step 1"
tell 5 6 "step 5"
status 0 "$ktr" ls
says frozen
for i in 6 7 8; do
	tell 3 4 "step $i"
	tell 5 6 "step $i"
done
found=$(events two)
case $found in
"step 4 of;step 1 of;step 5 of;recording stops by the trigger;step 6 of;" | \
	"step 4 of;step 1 of;step 5 of;recording stops by the trigger;step 6 of;step 6 of;") ;;
"step 4 of;step 1 of;step 5 of;recording stops by the trigger;step 6 of;step "[678]" of;") ;;
*) fail "two processes: $found" ;;
esac
# Thawed, it records, and stops again. The text of the format is an argument like others.
status 0 "$ktr" sysctl -s two clear=1 freeze=0 freeze_after=0 trigger='arg1 == "freeze" and arg0 in (20..29)'
tell 3 4 "step 19"
tell 3 4 "step 20"
tell 5 6 "step 21"
is "again" "$(events two | sed 's/recording stops by the trigger;//')" "step 19 of;step 20 of;"
# Without a trigger it goes on; by hand it stops.
status 0 "$ktr" sysctl -s two clear=1 freeze=0 trigger=
tell 3 4 "step 20"
status 0 "$ktr" sysctl -s two freeze=1
status 0 "$ktr" sysctl -n -s two frozen_by
is "by hand" "$(cat out)" asked
tell 3 4 "step 21"
is "by hand" "$(events two | sed 's/recording stops by the trigger;//')" "step 20 of;"
status 1 "$ktr" sysctl -s two freeze_on=abrt
says 'only the program itself'
# The program's own call, and an exit.
status 0 "$ktr" sysctl -s two clear=1 freeze=0
tell 3 4 freeze
tell 3 4 "step 22"
events two | grep -q "recording stops by a call" || fail "a call: $(events two)"
status 0 "$ktr" sysctl -s two clear=1 freeze=0 freeze_on=exit
exec 3>&- 4<&- 5>&- 6<&-
wait
events two | grep -q "recording stops by an exit" || fail "an exit: $(events two)"
status 0 "$ktr" rm two

# Signals: our handler only where it is asked for, the host's is called, a default stays one.
KTR_FREEZE_ON=abrt begin dies c
dying=$pid
exec 3>c.in 4<c.out
read -r answer <&4
tell 3 4 "step 1"
echo abort >&3
wait "$dying"
is "an abort's exit status" $? 134
exec 3>&- 4<&-
is "an abort" "$(events dies)" "step 1 of;recording stops by a signal;"
status 0 "$ktr" sysctl -n -s dies frozen_by
is "an abort" "$(cat out)" "signal 6"
begin lives d handlers
living=$pid
exec 3>d.in 4<d.out
read -r answer <&4
tell 3 4 "step 1"
kill -USR1 "$living"
read -r answer <&4
is "the host's handler" "$answer" handled
tell 3 4 "step 2"
is "a signal" "$(events lives)" "step 1 of;recording stops by a signal;"
echo exit >&3
wait "$living"
is "exit status behind a signal" $? 0
exec 3>&- 4<&-
grep -q SigCgt /proc/self/status && {
	begin plain e
	exec 3>e.in 4<e.out
	read -r answer <&4
	caught=$(sed -n 's/SigCgt:[[:space:]]*//p' "/proc/$pid/status")
	is "signals caught without freeze_on" "$caught" 0000000000000000
	exec 3>&- 4<&-
	wait
}
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr ktrace -o: a trace has the calls that ktrace.out has, with names of arguments, files and peers; ktr report
# --syscalls counts what strace -c does; calls stand in the tracks of their threads, beside the points of a program
# that has its own, in order; ktr kdump --strace and --json. FULL=1: more of it.
. "$(dirname "$0")/../lib.inc"

[ "$(uname -m)" = x86_64 ] || { skip "names of calls are looked up in x86-64's header"; exit 0; }
$cc -Iinclude -O1 -w tests/programs/bsd/lives.c -o "$dir/lives" -lpthread || exit 1
# shellcheck disable=SC2086
$cc -D_GNU_SOURCE -O1 -g -Iinclude tests/programs/bsd/own.c "$O/lib/libktr.a" -o "$dir/own" -lpthread || exit 1
tests=$top/tests/cli/bsd
cd "$dir" || exit 1
ended() { grep -q '"kind":"end"' "$1/ktr/info.jsonl"; }

# One after the other, a program does the same.
lives='restart' clocks=tsc n=50
[ "${FULL:-0}" = 1 ] && lives="$lives:forks 200:vfork:threads 50:signals 3400:sockets:vectors:pipe" clocks='tsc monotonic' n=1000
IFS=:
for life in $lives; do
	unset IFS
	rm -rf t work
	mkdir work
	# shellcheck disable=SC2086
	(cd work && setarch -R "$ktr" ktrace -i -f ../file ../lives $life) >/dev/null || fail "ktrace lives $life"
	# shellcheck disable=SC2086
	(cd work && setarch -R "$ktr" ktrace -i -o ../t ../lives $life) >/dev/null || fail "ktrace -o lives $life"
	await 'ended t'
	python3 "$tests/trace.py" same "$ktr" file t "lives $life" || failed=1
done
python3 "$tests/trace.py" lives "$ktr" "$dir" || failed=1

# Who reads it, others too.
"$ktr" ktrace -i -o t sh -c 'cat /etc/passwd | wc -l; cat /nonexistent' >/dev/null 2>&1
await 'ended t'
status 0 "$ktr" fsck t
status 0 "$ktr" report --syscalls t
for text in 'system call' 'file or peer .*calls' '/etc/passwd' 'descriptor' 'slowest' 'openat ENOENT .*nonexistent\|ENOENT'; do
	grep -q "$text" out || fail "no \"$text\" in the report: $(cat out)"
done
"$ktr" dump --calls t >lines
grep -q ' = [1-9][0-9]*, on="/etc/passwd"; /\* read() \*/' lines || fail "calls: $(grep passwd lines)"
if command -v babeltrace2 >/dev/null; then
	is "events that babeltrace2 sees" "$(babeltrace2 t 2>err | wc -l)" "$("$ktr" dump t | tail -n +2 | grep -c '^ *[0-9]*\.[0-9]')"
	is "said by babeltrace2" "$(cat err)" ""
fi
if command -v strace >/dev/null; then
	strace -f -c -U name,calls,errors -o counts "$(command -v ls)" -l /etc >/dev/null 2>&1
	"$ktr" ktrace -i -o t "$(command -v ls)" -l /etc >/dev/null
	await 'ended t'
	"$ktr" report --syscalls --json t >json
	python3 "$tests/trace.py" counts json counts || failed=1
fi

# A 32-bit program, its ELF header and its code: getpid, exit(3). Its numbers are none of x86-64's.
printf '\177\105\114\106\001\001\001\000\000\000\000\000\000\000\000\000\002\000\003\000' >>old
printf '\001\000\000\000\124\200\004\010\064\000\000\000\000\000\000\000\000\000\000\000\064\000\040\000\001\000\050\000' >>old
printf '\000\000\000\000' >>old
printf '\001\000\000\000\000\000\000\000\000\200\004\010\000\200\004\010\147\000\000\000\147\000\000\000\005\000\000\000' >>old
printf '\000\020\000\000' >>old
printf '\270\024\000\000\000\315\200\273\003\000\000\000\270\001\000\000\000\315\200' >>old
chmod 755 old
if ./old 2>/dev/null; [ $? = 3 ]; then
	status 3 "$ktr" ktrace -f file ./old
	status 0 "$ktr" kdump -f file
	grep -q 'process [0-9]* is a 32-bit program: its calls are shown by their numbers' err || fail "of 32 bits: $(cat err)"
	is "its calls" "$(sed -n 's/.*CALL  \(\[[0-9]*\]\).*/\1/p' out | tr '\n' ' ')" "[20] [1] "
	status 3 "$ktr" ktrace -o t ./old
	await 'ended t'
	"$ktr" dump t | grep -q 'program old, of 32 bits' || fail "of 32 bits: $("$ktr" dump t)"
	"$ktr" dump t | grep -q 'number=20\|number:20' || fail "its number: $("$ktr" dump t)"
else
	skip "a 32-bit program: the kernel starts none"
fi

# Options.
status 2 "$ktr" ktrace -a -o t true
status 2 "$ktr" ktrace -f x -o t true
status 1 "$ktr" ktrace -o no/such/trace true
grep -q 'no/such' err || fail "a folder that is not there: $(cat err)"
status 7 "$ktr" ktrace -o t sh -c 'exit 7'
status 2 "$ktr" report --syscalls --functions t
status 0 "$ktr" report --syscalls --no-pager t

# Attached, and ended by -c: what was recorded is there.
"$ktr" ktrace -o t sleep 1000 &
sleeper=$!
at_exit() { kill $sleeper 2>/dev/null; }
await 'grep -q sleep /proc/$sleeper/comm && "$ktr" dump t 2>/dev/null | grep -q nanosleep'
status 0 "$ktr" ktrace -c -p $sleeper
await 'ended t'
kill $sleeper
status 0 "$ktr" ktrace -o t true

# Beside the program's own points, which it tells by itself.
for clock in $clocks; do
	KTR_CLOCK_SOURCE=$clock KTR_MASK=own KTR_FILE=mine "$ktr" ktrace -i -o t ./own "$n" >/dev/null 2>&1 || fail "own"
	await 'ended t && ended mine'
	status 0 "$ktr" merge -o both mine t
	python3 "$tests/trace.py" order "$ktr" both "$n" || failed=1
	"$ktr" sql both "SELECT count(*) FROM calls WHERE name = 'fcntl' AND parent = 'work'" 2>err | grep -qw $((2 * n)) ||
		fail "calls within the program's own: $("$ktr" sql both "SELECT name, parent, count(*) FROM calls GROUP BY 1, 2")"
	rm -rf mine t both
done

# kdump's other forms.
"$ktr" ktrace -i -f file ./lives forks 2 >/dev/null
"$ktr" kdump --strace -f file >lines
# Another thread's call may come between, as strace has it, too.
grep -Eq '^[0-9]+ [0-9]+\.[0-9]{6} (write\(1|<\.\.\. write resumed>), "child\\n", 6\) = 6 <0\.[0-9]{6}>$' lines || fail "--strace: $(grep write lines)"
grep -Eq '^[0-9]+ [0-9.]+ \+\+\+ exited with 1 \+\+\+$' lines || fail "--strace: $(tail -n 3 lines)"
status 2 "$ktr" kdump --strace --json -f file
"$ktr" kdump --json -f file >lines
python3 "$tests/trace.py" json lines || failed=1
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Locks and memory of a process that runs already: after `ktr attach --lock --heap` what is counted is what its threads have
# done since, through objects that were bound lazily or at once, and one that is loaded later; blocks got before are said to
# be so, and a lock taken before; stacks are those of threads that were there before; after `ktr detach` nothing is counted, the
# pointers are as they were, and what was protected is.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*) skip "ktr attach is for x86-64"; exit 0 ;;
esac
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-builtin -shared -fPIC tests/programs/provider/late_plugin.c -o "$dir/plugin.so" || exit 1
pid=
at_exit() {
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
}

# host NAME FLAGS...: built so, begun
host() {
	name=$1
	shift
	# shellcheck disable=SC2086
	$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-builtin "$@" tests/programs/provider/late_host.c -o "$dir/late_host" \
		-lpthread -ldl || exit 1
	rm -rf "$dir/told" "$dir/t"
	mkdir "$dir/told"
	"$dir/late_host" "$dir/told" 4 2000 "$dir/plugin.so" >"$dir/host" &
	pid=$!
	await '[ -e "$dir/told/begun" ]'
}
part() { # NUMBER: it does that part
	: >"$dir/told/go$1"
	number=$1
	await '[ -e "$dir/told/done$number" ]'
}
ended() {
	: >"$dir/told/go4"
	wait "$pid" || fail "$name: exit status $?"
	pid=
	is "$name: protected" "$(tail -n 1 "$dir/host")" 'as protected as before'
	is "$name: early" "$(grep early "$dir/host")" 'early: 4'
	is "$name: pointers" "$(grep -o 'led as before\|led elsewhere' "$dir/host")" 'led as before'
}
# said FIELD PARTS...: their sum, as the host says it
said() {
	field=$1
	shift
	for number in "$@"; do sed -n "s/^part $number: .*\<$field=\([0-9]*\).*/\1/p" "$dir/host"; done | awk '{ n += $1 } END { print n }'
}

# memory NAME: of the parts 1 and 2 the trace has all, with stacks through late_work
memory() {
	"$ktr" heap --json "$dir/t" >"$dir/heap" || fail "$1: ktr heap"
	is "$1: blocks" "$(python3 tests/cli/provider/heap.py sums "$dir/heap" late_work)" \
		"got=$(said got 1 2) got_bytes=$(said got_bytes 1 2) live=$(said live 1 2) live_bytes=$live other=0"
	is "$1: from before" "$(grep -o '"unknown": [0-9]*' "$dir/heap")" '"unknown": 4'
}

# Bound lazily, at once, and where it was linked for, whose functions have an entry of their own in the program.
for flags in '-pie -fPIE -Wl,-z,lazy' '-pie -fPIE -Wl,-z,now -fno-plt' '-no-pie -fno-pie -Wl,-z,lazy'; do
	# shellcheck disable=SC2086
	host "$flags" $flags
	old=$pid
	"$ktr" attach -p "$pid" -e 256k --lock all --heap all -o "$dir/t" 2>"$dir/err" || case $(cat "$dir/err") in
	*'kernel forbids'* | *ptrace*) skip "$(cat "$dir/err")"; exit 0 ;;
	*) fail "attach: $(cat "$dir/err")" ;;
	esac
	part 1
	part 2
	status 0 "$ktr" detach -p "$pid"
	part 3
	ended
	live=$(python3 -c '
n, rounds, threads = 0, 2000, 4
for part in range(2):
    for id in range(threads):
        for i in range(rounds):
            size = 1 + (i * 7 + id) % 500
            n += size if size % 4 >= 2 else 0
print(n)')
	memory "$flags"
	case $flags in
	*-fno-plt*) is "$flags: the pointer" "$(grep -c 'led while attached' "$dir/host")" 1 ;;
	esac
	# Each block has a turn of the lock that all have in common.
	"$ktr" lockstat -n 0 "$dir/t" >"$dir/locks"
	is "$flags: a lock from before" "$(tail -n 1 "$dir/locks")" \
		'1 release of a lock that was not seen taken: not counted as held'
	is "$flags: who waited for it" \
		"$(sed -n '/^Who waited/,/^Owner/p' "$dir/locks" | grep -c " old_lock .* for $old, late_work[^ ]*\$")" 1
	is "$flags: locks" "$("$ktr" lockstat "$dir/t" | sed -n 's/^Mutex hold: \([0-9]*\) events$/\1/p')" "$(said locked 1 2)"
done

# Samples, and no more than was asked for; on again after it was off.
host samples -O1
status 0 "$ktr" attach -p "$pid" -e 64k --heap 4k -o "$dir/t"
part 1
status 0 "$ktr" detach -p "$pid"
part 2
status 0 "$ktr" sysctl -p "$pid" debug.ktr.clear=1
status 0 "$ktr" attach -p "$pid" -e 64k --heap 4k -o "$dir/t2"
part 3
status 0 "$ktr" detach -p "$pid"
ended
for t in "$dir/t" "$dir/t2"; do
	"$ktr" heap --json "$t" >"$dir/heap"
	is 'samples' "$(python3 tests/cli/provider/heap.py near "$dir/heap" "$(said got_bytes 1)" $((live / 2)) | uniq)" near
	is 'no locks' "$("$ktr" dump --filter 'file == lock' "$t" 2>/dev/null | grep -c lock)" 0
done
# A second rate is told to be one too many; a mask may name the classes that come with the probes.
host rates -O1
status 0 "$ktr" attach -p "$pid" -m heap --heap 4k
status 1 "$ktr" attach -p "$pid" --heap 8k
is 'one rate at a time' "$(grep -c 'sample-4k is on, and there is one rate at a time' "$dir/err")" 1
status 0 "$ktr" detach -p "$pid"
kill -9 "$pid"
wait "$pid" 2>/dev/null
host refused -O1
status 2 "$ktr" attach -p "$pid" --heap some
status 2 "$ktr" attach -p "$pid" --lock some
exit $failed

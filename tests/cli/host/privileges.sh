#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Programs started by a superuser that give up their rights: under ktr run, and recorded from outside, their trace is
# complete, rotated as asked, with what the kernel tells, and their session goes. Without one who has the rights all goes
# on into the trace there is, and one line says what could not be done.
. "$(dirname "$0")/../lib.inc"

[ "$(id -u)" = 0 ] || {
	skip "giving up rights: only a superuser has them"
	exit 0
}
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/host/privileges.c -o "$dir/privileges" "$O/lib/libktr.a" -lpthread || exit 1
trace=$dir/trace
count=16000
chmod 755 "$dir"

sessions() {
	find "$KTR_DIR" -name '*.ktr' | wc -l
}

begin() {
	rm -rf "$trace" "$trace".* "${KTR_DIR:?}"/*
}

# rotated WHAT EVENT: the newest part begins behind that
rotated() {
	rm -rf "$dir/alone"
	cp -r "$trace" "$dir/alone"
	first=$("$ktr" dump -q "$dir/alone" 2>/dev/null | grep -o 'event [0-9]*' | head -n 1)
	first=${first:-event $count}
	[ -d "$trace.1" ] && [ "${first#event }" -gt "$2" ] ||
		fail "$1: not rotated behind the drop: its newest part begins with $first"
}

# complete WHAT: each event once, none lost
complete() {
	"$ktr" dump -q "$trace" >"$dir/text" 2>"$dir/err2"
	grep -o 'event [0-9]*' "$dir/text" | sort >"$dir/events"
	is "$1: events" "$(sort -u "$dir/events" | wc -l)" $count
	is "$1: twice" "$(uniq -d "$dir/events" | head -n 3)" ""
	is "$1: losses" "$(grep -c ' lost' "$dir/text")" 0
}

until_ended() {
	await '"$ktr" ls | grep -q "^one *dead"'
}

# over WHAT: the session has no process left, and whoever wrote it has ended
over() {
	await '[ "$(sessions)" = 0 ]' || fail "$1: $(sessions) sessions left"
}

kernel=-k
"$ktr" run -k -m gen -o "$trace" -- "$dir/privileges" main 80 2>&1 | grep -q perf_event_open && {
	skip "what the kernel tells: not allowed here"
	kernel=
}

for how in main at-once chroot raw workers orphans upgrade daemon drop-daemon; do
	begin
	# shellcheck disable=SC2086
	status 0 env KTR_ROTATE_SIZE=32K KTR_ROTATE_KEEP=1000 "$ktr" run $kernel -m gen -s one -o "$trace" -- \
		"$dir/privileges" $how $count "$trace.1"
	over "$how"
	complete "$how"
	case $how in
	main | chroot) rotated $how $((count / 2)) ;;
	daemon) rotated $how $((count / 4)) ;;
	*) rotated $how 0 ;;
	esac
	# Whose writer has gone and who ends before ktr run looks, leaves the rest to that: it says so.
	is "$how: lines" "$(grep -v 'so far\|events\( ([0-9]* out of the session that the program left)\)\?, 0 lost' "$dir/err")" ""
	# Until it is seen that the process which fed them has ended, some go by: how many is a matter of time.
	case $how in orphans | upgrade | *daemon) continue ;; esac
	[ -z "$kernel" ] || tail -n 3000 "$dir/text" | grep -q kswitch || fail "$how: nothing of the kernel's at the end"
done

# So many threads have been switched, as the session says.
threads_switched() {
	await '[ "$("$ktr" dump -q -s one 2>/dev/null | grep kswitch | grep -o "privileges/[0-9]*" | sort -u | wc -l)" -ge $threads ]'
}

# Recorded from outside by one who has the rights, who finds threads when he looks: till then they are half-way.
mkfifo "$dir/in" "$dir/said"
for how in main workers; do
	begin
	rm -f "$dir/seen"
	{ echo; env KTR_MASK=gen KTR_SESSION=one timeout 300 "$dir/privileges" $how:waits $count "$dir/seen"; } \
		<"$dir/in" >"$dir/said" 2>"$dir/err" &
	host=$!
	exec 5>"$dir/in"
	read -r _ <"$dir/said"
	await '[ -e "$KTR_DIR/ktr-0/one.ktr" ]'
	# What it is asked for in its environment comes after that, and would take the kernel's classes back.
	await '[ "$("$ktr" sysctl -n -s one mask 2>/dev/null)" = gen ]'
	# shellcheck disable=SC2086
	timeout 300 "$ktr" record $kernel -s one -o "$trace" --size 32K --keep 1000 2>"$dir/err2" 5>&- &
	recorder=$!
	await '[ -e "$trace" ]'
	exec 5>&-
	threads=1
	[ $how = main ] || threads=4
	[ -z "$kernel" ] || threads_switched
	: >"$dir/seen"
	wait $host || fail "recorded, $how: exit status"
	wait $recorder || fail "recorded, $how: the recorder's exit status: $(cat "$dir/err2")"
	over "recorded, $how"
	complete "recorded, $how"
	rotated "recorded, $how" 0
	[ -z "$kernel" ] || tail -n 3000 "$dir/text" | grep -q kswitch || fail "recorded, $how: nothing of the kernel's at the end"
done

# With nobody who has the rights: nothing is lost, and one line says what could not be done.
[ -z "$kernel" ] || export KTR_KERNEL=all
for how in main chroot raw workers drop-daemon; do
	begin
	status 0 env KTR_MASK=gen${kernel:+,kswitch,kfault} KTR_SESSION=one KTR_FILE="$trace" KTR_ROTATE_SIZE=32K KTR_ROTATE_KEEP=1000 \
		"$dir/privileges" $how $count
	[ $how = drop-daemon ] && until_ended
	complete "alone, $how"
	# What a successor that may not write has left is in the session, for who may.
	if [ $how = drop-daemon ]; then
		await 'grep -q successor "$dir/err"'
		is "alone, $how: lines" "$(grep -c 'no successor may go on with it: Permission denied' "$dir/err")" 1
		"$ktr" salvage "$trace" 2>/dev/null || fail "alone, $how: ktr salvage"
		"$ktr" rm one
		complete "alone, $how, salvaged"
		continue
	fi
	[ -z "$kernel" ] || tail -n 3000 "$dir/text" | grep -q kswitch || fail "alone, $how: nothing of the kernel's at the end"
	case $how in
	raw | workers) is "alone, $how: lines" "$(cat "$dir/err")" "" ;; # its writer has the rights still
	*)
		is "alone, $how: lines" "$(grep -c 'cannot be rotated: Permission denied' "$dir/err") $(wc -l <"$dir/err")" "1 2"
		grep -q 'session one stays: .*: ktr rm one$' "$dir/err" || fail "alone, $how: the session is left without a word"
		;;
	esac
done

# A child that may open nothing any more, whose parent has gone, is in the session at any moment. Here it stands still
# where it was in it without a row.
begin
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/host/privileges.c -o "$dir/shared" -L"$O/lib" -lktr -lpthread || exit 1
$cc -O1 -shared -fPIC tests/programs/host/forkgap.c -o "$dir/forkgap.so" || exit 1
env -u KTR_KERNEL KTR_MASK=gen KTR_SESSION=one LD_LIBRARY_PATH="$O/lib" LD_PRELOAD="$dir/forkgap.so" \
	"$dir/shared" drop-daemon 100 2>/dev/null
stands_still() {
	still=$(grep -l '^State:.T' /proc/[0-9]*/status 2>/dev/null | cut -d / -f 3 | while read -r pid; do
		[ "$(readlink "/proc/$pid/exe")" = "$dir/shared" ] && echo "$pid"
	done)
	[ -n "$still" ]
}
if await stands_still; then
	"$ktr" ls | grep -q '^one *dead' && fail "a child that has only just been born is not in the session"
	# shellcheck disable=SC2086
	kill -CONT $still
	until_ended
fi
exit $failed

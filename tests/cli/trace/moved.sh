#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A trace that is moved or removed while it is written: one line says so; what was moved is gone on with where it is, until
# it is rotated, and what was removed is followed by another of the name. Nothing goes half here and half there.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/trace/diskfull.c -o "$dir/host" "$O/lib/libktr.a" -lpthread || exit 1
mkfifo "$dir/in" "$dir/said"
mkdir "$dir/d"
trace=$dir/d/trace
export KTR_MASK=gen

# begin COMMAND...: a host that has written events 0 to 99, and takes turns with us
begin() {
	rm -rf "$dir/d" "$dir/other" "${KTR_DIR:?}"/*
	mkdir "$dir/d"
	timeout 300 "$@" "$dir/host" none 100 flush reads 50 flush reads 50 flush reads 50 <"$dir/in" >"$dir/said" 2>"$dir/err" &
	pid=$!
	exec 5>"$dir/in" 6<"$dir/said"
	turn 100
}

turn() {
	read -r got <&6
	is "$what: turn" "$got" reads
}

go_on() {
	echo >&5
	turn
}

end_steps() {
	exec 5>&-
	timeout 300 cat <&6 >/dev/null
	exec 6<&-
}

finish() {
	end_steps
	wait $pid || fail "$what: exit status"
	is "$what: sessions left" "$(find "$KTR_DIR" -name '*.ktr' | wc -l)" 0
}

# has TRACE FROM COUNT: events FROM up, so many, each once
has() {
	"$ktr" dump -q "$1" 2>/dev/null | grep -o 'event [0-9]*' >"$dir/events"
	is "$what: events of ${1#"$dir"}" "$(sort -u "$dir/events" | wc -l)" "$3"
	[ "$3" = 0 ] || is "$what: first event of ${1#"$dir"}" "$(head -n 1 "$dir/events")" "event $2"
	"$ktr" fsck "$1" >"$dir/fsck" 2>&1 || grep -q 'being written, and whole' "$dir/fsck" || fail "$what: ktr fsck ${1#"$dir"}: $(cat "$dir/fsck")"
}

lines() {
	is "$what: lines of \"$1\"" "$(grep -c "$1" "$dir/err")" "$2"
}

for how in env run; do
	case $how in
	env) set -- env KTR_FILE="$trace" KTR_SESSION=moved ;;
	run) set -- "$ktr" run -s moved -o "$trace" -- ;;
	esac

	what="moved, $how"
	begin "$@"
	mv "$trace" "$dir/d/elsewhere"
	go_on
	go_on
	[ -e "$trace" ] && fail "$what: there is another trace"
	has "$dir/d/elsewhere" 0 200
	# As a log that was moved, and is begun anew when that is asked for.
	"$ktr" sysctl -q -s moved debug.ktr.alq_rotate=1 >/dev/null
	await '[ -d "$trace" ]'
	finish
	has "$dir/d/elsewhere" 0 200
	has "$trace" 200 50
	lines "was moved to $dir/d/elsewhere" 1

	what="moved to another directory, to the end, $how"
	begin "$@"
	mkdir "$dir/other"
	mv "$trace" "$dir/other"
	finish
	has "$dir/other/trace" 0 250
	lines "was moved to $dir/other/trace" 1

	what="removed, $how"
	begin "$@"
	rm -rf "$trace"
	go_on
	has "$trace" 100 50
	go_on
	finish
	has "$trace" 100 150
	lines "was removed" 1

	what="removed before the end, $how"
	begin "$@"
	rm -rf "$trace"
	finish
	has "$trace" 100 150
	lines "was removed" 1

	for file in metadata ktr/info.jsonl ktr/losses.jsonl ktr/sites.jsonl ktr streams; do
		what="$file removed, $how"
		begin "$@"
		if [ $file = streams ]; then
			rm "$trace"/cpu_* "$trace"/ring_* 2>/dev/null
		else
			rm -r "${trace:?}/$file"
		fi
		finish
		has "$trace" 100 150
		lines "was removed" 1
		[ -d "$trace.old.1" ] || fail "$what: what was left of it has gone"
	done

	what="its directory removed, and made again, $how"
	begin "$@"
	rm -rf "$dir/d"
	mkdir "$dir/d"
	finish
	has "$trace" 100 150
	lines "was removed" 1
done

# No place for another: memory stays, and the line says how to get it.
what="its directory removed"
begin env KTR_FILE="$trace" KTR_SESSION=moved
rm -rf "$dir/d"
end_steps
wait $pid || fail "$what: exit status"
lines "150 events could not be written .* stay in session moved: ktr snapshot -s moved -o $trace" 1
mkdir "$dir/d"
"$ktr" snapshot -s moved -o "$trace" 2>/dev/null
is "$what: events" "$("$ktr" dump -q "$trace" 2>/dev/null | grep -c 'event [0-9]')" 250
exit $failed

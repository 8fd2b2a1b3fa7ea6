#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Processes that outlive those that started them, or live in other namespaces: none waits for what it cannot see, all
# events are in the trace, a clean end leaves no session, and ktr run says who goes on.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/host/daemons.c -o "$dir/daemons" "$O/lib/libktr.a" -lpthread || exit 1
mkfifo "$dir/in" "$dir/told"

# life HOW [VARIABLE=VALUE...]: all of its processes have ended then. 0, its exit status; 77: not here
life() {
	how=$1
	shift
	rm -rf "$dir/trace" "${KTR_DIR:?}"/*
	{ env KTR_MASK=gen "$@" timeout 300 "$dir/daemons" "$how" 2>"$dir/err"; echo $? >"$dir/status"; } | timeout 300 cat
	read -r got <"$dir/status"
	if [ "$got" = 77 ]; then
		skip "$how: not allowed here"
		return 77
	fi
	is "$how, $*: exit status" "$got" 0
	is "$how, $*: what it says" "$(cat "$dir/err")" ""
}

# events HOW COUNT SOURCE...: so many, each once
events() {
	how=$1 count=$2
	shift 2
	is "$how: events" "$("$ktr" dump -q "$@" 2>/dev/null | grep -o 'daemon [0-9]*' | sort -u | wc -l)" "$count"
	is "$how: twice" "$("$ktr" dump -q "$@" 2>/dev/null | grep -o 'daemon [0-9]*' | sort | uniq -d)" ""
}

sessions() {
	find "$KTR_DIR" -name '*.ktr' | wc -l
}

for path in rseq thread; do
	for how in outlives closes raw lingers; do
		life "$how" KTR_PATH=$path
		is "$how, $path: sessions left" "$(sessions)" 0
	done
	for how in outlives closes lingers; do
		life "$how" KTR_PATH=$path KTR_FILE="$dir/trace"
		is "$how, $path, written: sessions left" "$(sessions)" 0
		events "$how, $path, written" 20 "$dir/trace"
	done
	for how in newpid newpid-exec; do
		life "$how" KTR_PATH=$path KTR_FILE="$dir/trace" KTR_SESSION=one || continue
		events "$how, $path" 30 "$dir/trace"
	done
	life enters KTR_PATH=$path KTR_FILE="$dir/trace"

	# What a killed writer has not written is in the session, whoever leaves it last.
	rm -rf "$dir/trace" "${KTR_DIR:?}"/*
	env KTR_MASK=gen KTR_PATH=$path KTR_FILE="$dir/trace" KTR_SESSION=one timeout 300 "$dir/daemons" killed 2>"$dir/err" |
		timeout 300 cat
	events "killed, $path" 10 -s one

	# A daemon under ktr run.
	rm -rf "$dir/trace" "${KTR_DIR:?}"/*
	{ KTR_PATH=$path timeout 300 "$ktr" run -m gen -s one -o "$dir/trace" -- "$dir/daemons" serves <"$dir/in" \
		2>"$dir/err"; echo $? >"$dir/told"; } | timeout 300 cat &
	exec 5>"$dir/in"
	read -r got <"$dir/told"
	exec 5>&-
	wait
	is "ktr run, $path: exit status" "$got" 6
	grep -q ' events\{0,1\} so far, 0 lost; process [0-9]* (daemons) goes on: ktr tail -s one; next' "$dir/err" ||
		fail "ktr run, $path: $(cat "$dir/err")"
	events "ktr run, $path" 20 "$dir/trace"
	# As a superuser's, ktr run has left a process that may outlive the daemon by a moment.
	await '[ "$(sessions)" = 0 ]'
done
exit $failed

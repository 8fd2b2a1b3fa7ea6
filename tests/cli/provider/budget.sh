#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# debug.ktr.budget: a probe that takes more of a thread's time is switched off, in all processes of the session, and says
# so in the list and among the events; what takes less stays; it comes back by hand, and 0 switches nothing off. What is
# estimated is in the unit tests (shares).
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
libs="$O/lib/libktr-provider.a $libs"
build provider_host tests/programs/provider/provider_host.c
set -f # patterns are for ktr
export KTR_CONF=

state() { # SPEC: the states of the probes that fit
	"$ktr" probe list -s "$name" "$1" 2>/dev/null | awk 'NR > 1 { print $2 }' | paste -sd' '
}
# A busy machine gives a thread a part of its time only, of which a share is seen later.
until_state() { # SPEC STATES
	spec=$1 states=$2
	await '[ "$(state "$spec")" = "$states" ]' || "$ktr" probe list -s "$name" '*:' 2>&1 | head -n 20
}
detail() {
	"$ktr" probe list -s "$name" "$1" 2>/dev/null | awk 'NR > 1 { $1 = $2 = ""; print; exit }' | sed 's/^ *//'
}
at_exit() {
	exec 3>&- 4<&-
	for p in ${pids:-}; do kill "$p" 2>/dev/null; done
}

# ---- any provider ----

name=custom
mkfifo "$dir/in" "$dir/out.custom"
KTR_SESSION=custom "$out/provider_host" <"$dir/in" >"$dir/out.custom" 2>"$dir/err" &
pids=$!
host_pid=$!
exec 3>"$dir/in" 4<"$dir/out.custom"
ask() { # LINE WANTED
	echo "$1" >&3
	IFS= read -r answer <&4 || answer='no answer'
	is "$1" "$answer" "$2"
}
ask 'offer a' 0
is 'as it begins' "$("$ktr" sysctl -n -s custom budget)" 10
ask 'offer b' 0
is 'on' "$("$ktr" probe enable -s custom 'host:')" '2 probes enabled'
ask 'fire b 1' fired
for i in $(seq 200); do
	ask 'fire a 2000000' fired
	[ "$(state 'host::work:a')" = on ] || break
done
is 'fired all the time' "$(state 'host::work:a')" off
case $(detail 'host::work:a') in
'took '[1-9]*' % of thread '"$host_pid") ;;
*) fail "its reason: $(detail 'host::work:a')" ;;
esac
# Those of one function go together.
is 'of the same function' "$(state 'host::work:b')" off
ask 'fire a 1' fired
exec 3>&- 4<&-
wait "$host_pid" 2>/dev/null

# ---- functions ----

case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit $failed ;; esac
# shellcheck disable=SC2086 # options
$cc -Iinclude -O1 -fpatchable-function-entry=16,14 -include include/ktr/fbt.h tests/programs/provider/budget_host.c -o "$dir/host" \
	"-L$O/lib" -Wl,-u,ktr__fbt_attach,--push-state,--no-as-needed,-lktr-fbt,--pop-state -lktr-provider -lktr "-Wl,-rpath,$O/lib" ||
	fail 'budget_host'
for path in $paths; do
	name=functions.$path
	unset KTR_PATH
	[ "$path" = thread ] && export KTR_PATH=thread
	KTR_SESSION=$name KTR_PROBES=fbt::: KTR_FILE="$dir/$name.trace" "$dir/host" >/dev/null &
	first=$!
	pids=$first
	until_state 'fbt::busy_step:' 'off off'
	case $(detail 'fbt::busy_step:entry') in
	'took '[1-9]*' % of thread '"$first") ;;
	*) fail "$path: its reason: $(detail 'fbt::busy_step:entry')" ;;
	esac
	is "$path: the others" "$(state 'fbt::main:') $(state 'fbt::seldom_step:')" 'on on on on'
	await '"$ktr" dump -s "$name" --filter "class == fbt" 2>/dev/null |
		grep -q "  fbt:host:busy_step:entry is off: it took [1-9][0-9]* % of thread $first\$"'

	# Who comes later finds it off, although it asks for all.
	KTR_SESSION=$name KTR_PROBES=fbt::: "$dir/host" >"$dir/second" &
	second=$!
	pids="$first $second"
	await 'grep -q begun "$dir/second"'
	is "$path: in another process" "$(state 'fbt::busy_step:')" 'off off'

	# By hand, with no limit, it is on; with one it goes again.
	"$ktr" sysctl -s "$name" budget=0 >/dev/null || fail "$path: budget=0"
	is "$path: by hand" "$("$ktr" probe enable -s "$name" 'fbt::busy_step:')" '2 probes enabled'
	is "$path: it is on" "$(state 'fbt::busy_step:')$(detail 'fbt::busy_step:entry')" 'on on'
	"$ktr" sysctl -s "$name" budget=5 >/dev/null || fail "$path: budget=5"
	until_state 'fbt::busy_step:' 'off off'
	is "$path: by hand off" "$("$ktr" probe disable -s "$name" 'fbt::busy_step:')" '0 probes disabled, 2 already so'
	is "$path: then it says nothing" "$(detail 'fbt::busy_step:entry')" ''
	kill "$first" "$second" 2>/dev/null
	wait "$first" "$second" 2>/dev/null
	# Who asks where time went is told from when on something is missing.
	"$ktr" report --functions "$dir/$name.trace" >"$dir/report" 2>/dev/null
	grep -q '^from [0-9.]* [mu]*s on without busy_step: switched off' "$dir/report" ||
		fail "$path: the report: $(tail -n 3 "$dir/report")"
done
exit $failed

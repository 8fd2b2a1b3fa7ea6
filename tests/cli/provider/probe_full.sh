#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# More functions than a session has room for: call sites of many, names of some that are long. What has no
# room is told of with how many there are, from the start and from outside; what was on stays so; what is shown has its name.
. "$(dirname "$0")/../lib.inc"
. "$(dirname "$0")/fbt.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
export KTR_CONF= KTR_BUDGET=0
unset KTR_PROBES
pid=
at_exit() { [ -z "$pid" ] || kill "$pid" 2>/dev/null; }

# The program calls the first, and reads until its end.
program() { # N NAME
	assembled "$dir/full.s" "$1" "$2"
	echo '#include <stdio.h>
	void first(void); int main(void) { do first(); while (getchar() != EOF); return 0; }' >"$dir/main.c"
	# shellcheck disable=SC2086 # options
	$cc -Iinclude -include include/ktr/fbt.h "$dir/main.c" "$dir/full.s" -o "$dir/full" $shared 2>"$dir/err" ||
		{ fail "$1 functions: $(head -n 3 "$dir/err")"; exit 1; }
}
calls() { # begun and ended, in the session
	"$ktr" dump -q -s full 2>/dev/null | grep -cE ' (starts|ends)$'
}

program 66000 many_
KTR_PROBES=fbt::: "$dir/full" </dev/null 2>"$dir/err" || fail "from the start: exit status $?"
is 'from the start' "$(sed -E 's/[0-9]+/N/; s/many_[0-9]+:(entry|return)/NAME/' "$dir/err")" \
	'ktr: debug.ktr.probes: N probes could not be enabled, the first is fbt:full:NAME: the session has no room for another call site'

# Names of 600 letters, from outside.
program 8000 "$(printf 'n%.0s' $(seq 600))_"
mkfifo "$dir/in"
KTR_SESSION=full "$dir/full" <"$dir/in" 2>"$dir/said" &
pid=$!
exec 3>"$dir/in"
await '[ "$("$ktr" probe list -s full "fbt::n*_0:" 2>/dev/null | grep -c off)" = 2 ]'
is 'one' "$("$ktr" probe enable -s full 'fbt::n*_0:' 2>&1)" '2 probes enabled'
echo >&3
await '[ "$(calls)" -ge 2 ]'
before=$(calls)
# Each look asks for a while; the program takes its time to offer all, and then to have them on.
lists() {
	"$ktr" probe list -s full 'fbt:::' >"$dir/list" 2>"$dir/listed"
	n=$(awk 'NR > 1' "$dir/list" | wc -l) lost=$(sed -n 's/^ktr probe: the session has no room for \([0-9]*\) more probes.*/\1/p' "$dir/listed")
}
await 'lists; [ $((n + ${lost:-0})) -ge 16000 ]'
await 'status 1 "$ktr" probe enable -s full fbt:::; ! grep -q "not done so yet" "$dir/err"'
lists
on=$(awk '$2 == "on"' "$dir/list" | wc -l)
is 'without a name' "$(awk 'NR > 1 && $1 !~ /^fbt:full:n+_[0-9]+:(entry|return)$/' "$dir/list" | wc -l)" 0
is 'on or told of' "$(awk 'NR > 1 { n[$2]++ } END { print n["on"] + n["failed"] }' "$dir/list")" "$n"
[ $((n + ${lost:-0})) -ge 16000 ] && [ "$on" -gt 1000 ] || fail "$n probes, $on on, and $(cat "$dir/listed")"
[ "$(grep -c 'no room for it$' "$dir/err")" = 10 ] &&
	grep -Eq "^ktr probe: and $((n - 10 - on)) more: " "$dir/err" || fail "$on enabled: $(tail -n 2 "$dir/err")"
echo >&3
await '[ "$(calls)" -ge $((before + 2)) ]' || fail 'what was on is not'
# Such a name is whole: the function is found by it.
one=$(awk '$1 ~ /:entry$/ && $2 == "on" { print $1; exit }' "$dir/list")
is 'a long name, off' "$("$ktr" probe disable -s full "$one" 2>&1)" '1 probe disabled'
is 'a long name' "$("$ktr" probe enable -s full "$one" 2>&1)" '1 probe enabled'
exec 3>&-
wait $pid
is 'it ends' "$? $(cat "$dir/said")" '0 '
pid=
exit $failed

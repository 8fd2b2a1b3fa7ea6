#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What becomes of sessions: ktr ls and ktr rm, what lies among sessions and is none, what crash loops
# leave, and that nobody takes a live one away.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build live tests/programs/session/live.c
live=$out/live
place=$KTR_DIR/ktr-$(id -u)
export KTR_CONF=

said() {
	grep -qF -e "$1" "$work/out" "$work/err" || fail "no \"$1\" in: $(cat "$work/out" "$work/err")"
}


crash() { # COMMAND...: a program that ends by a signal, without the shell's remark
	("$@" >/dev/null 2>&1; :) 2>/dev/null
}

files() {
	ls "$place" 2>/dev/null | wc -l
}

# So many stay, with KTR_DEAD_SESSIONS. One whose process's number has been given anew is looked at one time in eight.
stay() { # WHAT N KEEP
	[ "$(files)" -le "$2" ] || [ "$(files)" -gt $(($2 + 2)) ] ||
		await 'KTR_DEAD_SESSIONS='"$3"' "$ktr" ls >/dev/null; [ "$(files)" -le '"$2"' ]'
	is "$1" "$(files)" "$2"
}

# ---- the listing ----
export KTR_MASK=gen
mkfifo "$work/in" "$work/told"
KTR_SESSION=alive "$live" wait <"$work/in" >"$work/told" &
exec 5>"$work/in"
read -r alive <"$work/told"
crash env KTR_SESSION=gone "$live" kill
status 0 "$ktr" ls
is "lines" "$(wc -l <"$work/out")" 3
grep -Eq "^alive +live +$alive +live +gen " "$work/out" || fail "live: $(cat "$work/out")"
grep -Eq '^gone +dead +[0-9]+ +live +gen +10[0-9] ' "$work/out" || fail "dead: $(cat "$work/out")"
"$ktr" sysctl -s alive debug.ktr.freeze=1 >/dev/null || fail "freeze"
status 0 "$ktr" ls --json 'al*'
said '"state": "frozen"'
said '"frozen": true'
said "\"own_pid\": $alive"
status 0 "$ktr" ls 'g?ne'
is "lines of a pattern" "$(wc -l <"$work/out")" 2
status 1 "$ktr" ls nothing
said 'no session is called nothing'
status 0 "$ktr" dump -s gone -q -n 1
said 'live 99'
status 1 "$ktr" rm alive
said 'alive is in use'
status 1 "$ktr" rm 'a*' 'nothing*'
said 'no session matches "nothing*"'
status 2 "$ktr" rm --dead -f
status 0 "$ktr" rm --dead 'x*'
said '0 sessions removed'
status 0 "$ktr" rm -d '*'
said '1 session removed'
status 0 "$ktr" rm -f alive
is "files after rm -f" "$(files)" 0
# Nothing leads there any more but the process itself.
status 0 "$ktr" dump -p "$alive" -q -n 1
said 'live 99'
exec 5>&-
wait

# ---- what is no session ----
mkdir -p "$place" && chmod 700 "$place"
head -c 100000 /dev/urandom >"$place/noise.ktr"
: >"$place/empty.ktr"
echo precious >"$work/precious"
ln -s "$work/precious" "$place/link.ktr"
ln -s nowhere "$place/dangling.ktr"
mkfifo "$place/pipe.ktr"
mkdir "$place/directory.ktr"
printf 'KTRSSN1' >"$place/short.ktr"
n=7
if [ "$(id -u)" = 0 ]; then
	cp "$place/noise.ktr" "$place/other.ktr"
	chown 12345 "$place/other.ktr"
	n=8
fi
touch -d '1 hour ago' "$place/.old.1.new"
touch "$place/.young.1.new"
touch "$place/a b.ktr" "$place/.hidden.ktr" "$place/unrelated"
status 0 "$ktr" ls
is "damaged ones" "$(grep -c ' damaged ' "$work/out")" $n
is "lines of damaged ones" "$(wc -l <"$work/out")" $((n + 1))
status 0 "$ktr" ls --json
is "errors" "$(grep -c '"error"' "$work/out")" $n
crash "$live"
is "a program among them" "$(ls "$place" | wc -l)" $((n + 2))
status 1 "$ktr" rm --dead
said 'Is a directory'
is "what is left of them" "$(ls -A "$place" | tr '\n' ' ')" '.hidden.ktr .young.1.new a b.ktr directory.ktr unrelated '
is "what the link led to" "$(cat "$work/precious")" precious
rm -rf "$place"

# ---- crash loops ----
i=0
while [ $i -lt 200 ]; do
	crash "$live" kill
	i=$((i + 1))
done
stay "sessions after 200 crashes" 4 4
crash "$live"
stay "sessions after a clean run" 3 3
newest=$("$ktr" ls --json | grep -o '"age_s": [0-9]*' | sort -t: -k2 -n | head -n 1)
[ -n "$newest" ] || fail "ls of what is left"
rm -rf "$place"
for i in 1 2 3 4 5; do crash env KTR_DEAD_SESSIONS=2 "$live" kill; done
stay "sessions with KTR_DEAD_SESSIONS=2" 2 2
KTR_DEAD_SESSIONS=0 "$live"
stay "sessions with KTR_DEAD_SESSIONS=0" 0 0
# Other programs have their own few, and all together no more than so many bytes.
for name in one two three; do
	cp "$live" "$work/$name"
	for i in 1 2 3 4 5 6; do crash "$work/$name" kill; done
done
stay "sessions of three programs" 12 4
one=$(du -sk "$place" | awk '{ print int($1 / 12) }')
KTR_DEAD_BYTES=$((one * 5 + one / 2))K "$ktr" ls >/dev/null
is "sessions in the room of five" "$(files)" 5
KTR_DEAD_BYTES=1 "$ktr" ls >"$work/out"
is "sessions without room" "$(files)" 1
said 'three.'
rm -rf "$place"
# Sessions of the same name: the last dead one is kept beside the new one.
rm -rf "$place"
for i in 1 2 3; do crash env KTR_SESSION=same "$live" kill; done
is "sessions of one name" "$(ls "$place" | tr '\n' ' ')" 'same.ktr same.old.ktr '
rm -f "$place"/*
# The name may come from a file; the environment goes before it.
printf 'debug.ktr.session="from.a-file"\ndebug.ktr.mask="gen"\n' >"$work/conf"
crash env -u KTR_MASK KTR_CONF="$work/conf" "$live" kill
crash env KTR_SESSION=other KTR_CONF="$work/conf" "$live" kill
is "sessions by names" "$(ls "$place" | tr '\n' ' ')" 'from.a-file.ktr other.ktr '
status 0 "$ktr" sysctl -s from.a-file --origin debug.ktr.session
said "$work/conf:1"
status 0 "$ktr" dump -s from.a-file -q -n 1
said 'live 99'
rm -f "$place"/*
# Those that were asked to stay do.
for i in 1 2 3 4 5 6; do KTR_KEEP_SESSION=1 "$live"; done
crash env KTR_DEAD_SESSIONS=0 "$live"
is "sessions that were asked to stay" "$(ls "$place" | grep -c '^live')" 6
"$ktr" rm --dead >/dev/null
is "after rm --dead" "$(files)" 0

# ---- a live one is never taken ----
# Some live by their lock only, some have closed their descriptors; four crash loops and ktr race about
# them, wishing that nothing stays.
export KTR_DEAD_SESSIONS=0
held=
for i in 1 2 3 4 5 6; do
	close=
	[ $((i % 2)) = 0 ] && close=close
	"$live" $close wait <"$work/in" >"$work/told" 5>&- &
	[ $i = 1 ] && exec 5>"$work/in"
	read -r pid <"$work/told"
	held="$held $pid"
done
mv "$place/live.$pid.ktr" "$place/renamed.ktr" # no number tells that it lives
loop() {
	n=0
	while [ $n -lt 25 ]; do
		crash "$live" kill
		n=$((n + 1))
	done
}
loop & l1=$!
loop & l2=$!
loop & l3=$!
n=0
while [ $n -lt 25 ]; do
	"$ktr" rm --dead >/dev/null || fail "rm --dead"
	n=$((n + 1))
done
wait $l1 $l2 $l3
"$ktr" rm --dead >/dev/null
is "live sessions after the race" "$(files)" 6
for pid in $held; do
	status 0 "$ktr" dump -p "$pid" -q -n 1
	said 'live 99'
done
exec 5>&-
wait
# The renamed one. Those whose programs had no descriptor left have opened them anew, to see that they are the last.
is "sessions in the end" "$(files)" 1
"$ktr" rm --dead >/dev/null
is "and then" "$(files)" 0
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All programs that one ktr run starts, one after the other, at once, or one from another, are in one trace, whoever of
# them is killed, and one line tells of all.
. "$(dirname "$0")/../lib.inc"

for other in '' -DOTHER; do
	# shellcheck disable=SC2086
	$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude $other tests/programs/tool/programs.c -o "$dir/a$other" \
		"$O/lib/libktr.a" -lpthread || exit 1
done
a=$dir/a b=$dir/a-DOTHER looks=$dir/looks trace=$dir/trace
export a b looks
mkfifo "$dir/in" "$dir/told"

begin() {
	rm -rf "$trace" "$trace".* "${KTR_DIR:?}"/*
}

left() {
	find "$KTR_DIR" -type f | wc -l
}

# all WHAT TAG COUNT...: each event of each once; and nothing beside the trace
all() {
	what=$1
	shift
	"$ktr" dump -q "$trace" 2>/dev/null | grep -oE '(event|parcel) [a-z0-9]+ [0-9]+' | sed 's/^[a-z]* //' | sort >"$dir/got"
	while [ $# -gt 0 ]; do
		seq -f "$1 %.0f" 0 $(($2 - 1))
		shift 2
	done | sort >"$dir/wanted"
	cmp -s "$dir/got" "$dir/wanted" || fail "$what: $(diff "$dir/wanted" "$dir/got" | head -n 5)"
	is "$what: other traces" "$(find "$dir" -maxdepth 1 -name 'trace.old*')" ""
}

# closing WHAT: the line is one, its count is that of the trace, nothing is lost
closing() {
	grep '^ktr:' "$dir/err" >"$dir/lines"
	is "$1: lines" "$(wc -l <"$dir/lines")" 1
	n=$("$ktr" dump -q "$trace" 2>/dev/null | grep -vc '^ *#\|lost')
	grep -q "^ktr: $trace: $n events.*, 0 lost" "$dir/lines" || fail "$1: $n events, and it says: $(cat "$dir/lines")"
}

# run WHAT SCRIPT TAG COUNT...
run() {
	begin
	what=$1 script=$2
	shift 2
	timeout 300 "$ktr" run -s one -o "$trace" sh -c "$script" >"$dir/out" 2>"$dir/err" || fail "$what: $? $(cat "$dir/err")"
	all "$what" "$@"
	closing "$what"
	is "$what: files left" "$(left)" 0
	status 0 "$ktr" fsck "$trace"
}

for path in rseq thread; do
	export KTR_PATH=$path
	run "$path: a sequence" '"$a" x 10; "$b" y 20; "$a" z 30' x 10 y 20 z 30
	run "$path: at once" '"$a" x 100 & "$b" y 200 & "$a" z 300 & wait' x 100 y 200 z 300
	run "$path: one from another" '"$a" x 10 runs "$b" y 10 runs "$a" z 10' x 20 y 20 z 10
	run "$path: one instead of another" '"$a" x 10 becomes "$b" y 20; "$a" z 10' x 10 y 20 z 10
	run "$path: mixed" '"$a" x 10; env true; { "$b" y 10 & "$a" z 10 runs "$b" u 5 & wait; }; "$a" v 10; env true' \
		x 10 y 10 z 20 u 5 v 10
	run "$path: killed" '"$a" x 10 kill; "$b" y 20 kill; "$a" z 30; "$b" u 5 _exit; "$a" v 7 kill; :' x 10 y 20 z 30 u 5 v 7
	run "$path: killed at once" '"$a" x 299 kill & "$b" y 99 & "$a" z 9 kill & wait; "$b" u 9 kill; :' x 299 y 99 z 9 u 9
	run "$path: main threads that end" '"$a" x 10 thread; "$b" y 10 thread' x 20 y 20
	run "$path: many" 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "$a" x$i 3 & "$b" y$i 3 kill; wait; done; :' \
		$(seq -f 'x%.0f 3' 20) $(seq -f 'y%.0f 3' 20)
	# A tool that looks whether anybody is left has the lock for a moment, and does not go on.
	rm -f "$looks"
	run "$path: somebody looks" '"$a" x 10
		flock "$KTR_DIR"/*/one.ktr sh -c ": >$looks; sleep 0.05" & until [ -e "$looks" ]; do :; done' x 10

	# All that were killed leave the session, as one does; the next ktr run of that name has another.
	begin
	status 137 "$ktr" run -s one -o "$trace" sh -c '"$a" x 10 kill; exec "$b" y 20 kill'
	grep -q '(. out of the session that the program left)\|([0-9]* out of the session that the program left)' "$dir/err" ||
		fail "$path, all killed: $(cat "$dir/err")"
	all "$path, all killed" x 10 y 20
	is "$path, all killed: sessions" "$(cd "$KTR_DIR"/*/ && ls -A)" one.ktr
	rm -rf "$trace"
	status 0 "$ktr" run -s one -o "$trace" "$a" z 10
	all "$path, after that" z 10
	is "$path, after that: sessions" "$(cd "$KTR_DIR"/*/ && ls -A)" one.old.ktr
done
unset KTR_PATH

# Rotation goes on over programs: none is lost, and not more older parts are kept than one program keeps.
begin
status 0 "$ktr" run --size 32K --keep 1000 -o "$trace" sh -c 'for i in x y z; do "$a" $i 5000; "$b" $i$i 1000; done'
[ -d "$trace.3" ] || fail "not rotated: $(ls -d "$trace"*)"
all rotated x 5000 y 5000 z 5000 xx 1000 yy 1000 zz 1000
begin
status 0 "$ktr" run --size 32K --keep 2 -o "$trace" sh -c 'for i in x y z; do "$a" $i 5000; done'
is "older parts kept" "$(find "$dir" -maxdepth 1 -name 'trace.[0-9]*' | wc -l)" 2

# A limit of size is one of all of them, and what is beyond it is in nobody's memory.
begin
status 0 "$ktr" run --size 32K --keep 0 -o "$trace" sh -c '"$a" x 9000; "$a" y 9000'
[ "$(du -sb "$trace" | cut -f1)" -lt 1000000 ] || fail "a limit: $(du -sb "$trace")"
"$ktr" dump -q "$trace" 2>/dev/null | grep -q 'event y' && fail "a limit: more was written behind it"
is "a limit: files left" "$(left)" 0

# A trigger stops the rings of all that come.
begin
status 0 "$ktr" run -s one --trigger 'arg1 == 5' -o "$trace" sh -c '"$a" x 10; "$a" y 10'
all trigger x 6
is "trigger: sessions" "$(cd "$KTR_DIR"/*/ && ls -A)" one.ktr

# copied: events in the files, whatever else there may be in memory
copied() {
	rm -rf "$dir/copy"
	cp -r "$trace" "$dir/copy" 2>/dev/null
	KTR_DIR=$dir/none "$ktr" dump -q "$dir/copy" 2>/dev/null | grep -cE '(event|parcel) [a-z]+ [0-9]+'
}

until_copied() { # WHAT COUNT
	least=$2
	await '[ "$(copied)" -ge "$least" ]' || fail "$1: $(copied) events in the files instead of $least"
}

# The one that writes ends before the other, which goes on for many times what the rings hold. Nobody is a superuser.
as=
[ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null || {
	as='setpriv --reuid=65534 --regid=65534 --clear-groups'
	chmod 755 "$dir"
	chmod 777 "$KTR_DIR"
}
begin
mkdir -m 777 "$dir/theirs"
trace=$dir/theirs/trace
# shellcheck disable=SC2086
timeout 300 $as "$ktr" run -e 256 -o "$trace" sh -c 'exec 3<&0; "$a" x 10 & "$b" y 50 steps <&3 & wait' \
	<"$dir/in" >"$dir/told" 2>"$dir/err" &
exec 5>"$dir/in" 6<"$dir/told"
for n in 1 2 3 4 5 6 7 8 9 10; do
	echo . | head -c 1 >&5
	head -c 1 <&6 >/dev/null
	until_copied "one goes on, step $n" $((10 + n * 50))
done
exec 5>&- 6<&-
wait $! || fail "one goes on: $(cat "$dir/err")"
all "one goes on" x 10 y 500
closing "one goes on"
rm -rf "${KTR_DIR:?}"/*
trace=$dir/trace

# A reader follows a session over the time between two programs, and ends when ktr run has.
begin
timeout 300 "$ktr" run -s one -o "$trace" sh -c '"$a" x 10; read _; "$b" y 10' <"$dir/in" >"$dir/out" 2>"$dir/err" &
exec 5>"$dir/in"
until_copied "a gap" 10
is "a gap: the session" "$("$ktr" ls one | awk 'END { print $2 }')" live
timeout 300 "$ktr" tail -s one -n all -q --until-end >"$dir/tail" 2>&1 &
tail=$!
timeout 300 "$ktr" tail -n all -q --until-end "$trace" >"$dir/tail2" 2>&1 &
await '[ "$(grep -c "event x" "$dir/tail")" -ge 10 ]'
"$ktr" rm one 2>"$dir/err2" && fail "a gap: the session was removed"
echo >&5
exec 5>&-
wait $tail || fail "a gap: tail: $(cat "$dir/tail")"
is "a gap: what tail has seen" "$(grep -cE '(event|parcel) [xy] ' "$dir/tail")" 20
wait
all "a gap" x 10 y 10
closing "a gap"

# A program that outlives ktr run takes the session with it, and the trace has what it recorded.
begin
timeout 300 "$ktr" run -s one -o "$trace" sh -c '"$a" x 10; exec 3<&0; "$b" y 10 daemon <&3' <"$dir/in" >"$dir/told" 2>"$dir/err" &
exec 5>"$dir/in" 6<"$dir/told"
wait $!
grep -q 'events so far, 0 lost; process [0-9]* (a-DOTHER) goes on: ktr tail -s one; next' "$dir/err" || fail "daemon: $(cat "$dir/err")"
echo . | head -c 1 >&5
head -c 1 <&6 >/dev/null
exec 5>&- 6<&-
await '[ "$(left)" = 0 ]'
all daemon x 10 y 20

# A ktr run that is killed leaves nothing either.
begin
timeout 300 "$ktr" run -s one -o "$trace" sh -c 'echo $PPID; "$a" x 10; "$b" y 10 steps' <"$dir/in" >"$dir/told" 2>"$dir/err" &
exec 5>"$dir/in" 6<"$dir/told"
read -r pid <&6
echo . | head -c 1 >&5
head -c 1 <&6 >/dev/null
kill -9 "$pid"
exec 5>&- 6<&-
await '[ "$(left)" = 0 ]'
all "killed itself" x 10 y 10
exit $failed

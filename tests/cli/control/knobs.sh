#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Knobs of a live program: what each does, from loader.conf, from outside and by a call; where values came
# from; and one clear line for whatever is wrong, with what was kept.
. "$(dirname "$0")/knobs.inc"

# ---- Nothing but a file: from the first constructor on; what overrides what. ----
cat >conf <<'END'
debug.ktr.mask="net"
debug.ktr.entries=1024
END
start KTR_CONF=conf
is "events of the constructor" "$($ktr dump -q -p "$host" 2>&1 | grep -c 'constructor of 1')" 1
is "tasks without a writer" "$(tell tasks)" 1
is "origin of the mask" "$(sysctl --origin mask)" "debug.ktr.mask: conf:1"
is "origin of keep" "$(sysctl --origin keep)" "debug.ktr.keep: default"
sysctl mask=+rx >/dev/null
has "origin of the mask" "$(sysctl --origin debug.ktr.mask)" "sysctl by pid"
is "a call" "$(tell set debug.ktr.mask net)" ok
is "origin of the mask" "$(sysctl --origin mask)" "debug.ktr.mask: API by pid $host"
is "all origins" "$(sysctl --origin | grep -c ': conf:')" 1

# ---- cpumask ----
sysctl cpumask=0 >/dev/null
is "cpumask" "$(value cpumask)" 0
tell cpu 0 >/dev/null
before=$(value recorded)
tell net 5 >/dev/null
is "events on CPU 0" "$(($(value recorded) - before))" 5
if [ "$(tell cpu 1)" = ok ]; then
	tell net 5 >/dev/null
	is "events on CPU 1, left out" "$(($(value recorded) - before))" 5
	is "dropped" "$(value dropped)" 0
	sysctl cpumask=1 >/dev/null
	tell net 5 >/dev/null
	is "events on CPU 1" "$(($(value recorded) - before))" 10
	tell cpu 0 >/dev/null
	tell net 5 >/dev/null
	is "events on CPU 0, left out" "$(($(value recorded) - before))" 10
	sysctl entries=2048 >/dev/null || fail "no other size while a CPU is left out"
	tell net 5 >/dev/null
	is "events on CPU 0, still left out" "$(($(value recorded) - before))" 10
	sysctl cpumask=all >/dev/null
	tell net 5 >/dev/null
	is "events on CPU 0, back again" "$(($(value recorded) - before))" 15
	is "dropped" "$(value dropped)" 0
fi
is "cpumask" "$(sysctl -q cpumask=none)" "debug.ktr.cpumask: all -> none"
for mask in 0 all none 0-0 0x1; do
	sysctl cpumask=$mask >/dev/null || fail "cpumask=$mask is refused"
	now=$(value cpumask)
	sysctl cpumask="$now" >/dev/null || fail "cpumask=$now is refused"
	is "cpumask back from $now" "$(value cpumask)" "$now"
done
sysctl cpumask=all >/dev/null

# ---- clear ----
sysctl clear=1 >/dev/null
is "events after clear" "$($ktr dump -q -p "$host" | wc -l)" 0
has "losses after clear" "$($ktr report -p "$host" 2>&1)" "nothing lost"
is "clear reads" "$(value clear)" 0
tell net 3 >/dev/null
is "events after clear" "$($ktr dump -q -p "$host" | wc -l)" 3

# ---- Wrong settings: each says what it was, the nearest there is, and what stays. ----
refused 'unknown knob "debug.ktr.msk", the nearest is "debug.ktr.mask"' msk=net
refused 'unknown knob "debug.ktr.entrys"' debug.ktr.entrys
refused 'debug.ktr.mask: unknown name "nett", the nearest is "net"; debug.ktr.mask stays net' mask=nett
refused 'debug.ktr.version is read-only' version=3
refused 'debug.ktr.entries: "many" is not' entries=many
refused 'debug.ktr.entries stays 2048' entries=many
refused 'is above the greatest' entries=1G
refused 'debug.ktr.cpumask: "9999" names a CPU that does not exist' cpumask=9999
refused 'only a program itself starts its writer thread; from outside: ktr record' alq_enable=1
is "exit status of a wrong and a right one" "$(sysctl -n msk=1 mask=rx >/dev/null || value mask)" rx
is "-i" "$(sysctl -i nothing; echo $?)" 0
is "-q" "$(sysctl -q nothing; echo $?)" 1
cat >settings <<'END'
debug.ktr.mask="net # unterminated
debug.ktr.mask=net
debug.ktr.nothing=1
END
out=$(sysctl -f settings) && fail "a wrong file is taken"
has "a file" "$out" 'settings:1:16: the closing quote is missing'
has "a file" "$out" 'settings:3:1: unknown knob "debug.ktr.nothing"'
has "a file" "$out" '1 settings made, 2 left out'
is "mask behind the file" "$(value mask)" net
head -c 1000 /bin/sh >binary
truncate -s 1G huge
touch closed
chmod 0 closed
for bad in 'binary:this is a binary file' 'huge:is too large' '.:is a directory, not a file' \
	'missing:cannot be opened: No such file or directory'; do
	out=$(sysctl -f "${bad%%:*}") && fail "-f ${bad%%:*} is taken"
	has "-f" "$out" "${bad#*:}"
	has "-f" "$out" '0 settings made'
done
if [ "$(id -u)" != 0 ]; then
	out=$(sysctl -f closed) && fail "-f closed is taken"
	has "-f" "$out" 'closed: cannot be opened: Permission denied'
fi
KTR_KEEP_SESSION=1 KTR_SESSION=other KTR_MASK=net "$dir/host" </dev/null
has "a dead session" "$($ktr sysctl -s other mask 2>&1)" net
mkfifo hold
KTR_SESSION=second "$dir/host" <hold >/dev/null &
second=$!
exec 5>hold
await '$ktr ls | grep -q "^second .*live"'
has "several sessions" "$($ktr sysctl mask 2>&1)" 'there are 2 live sessions, name one: '
exec 5>&-
wait $second
if [ "$(id -u)" = 0 ]; then # somebody else's
	chmod 755 "$KTR_DIR" "$dir"
	cp "$O/bin/ktr" "$dir/ktr"
	chmod 755 ktr
	has "somebody else's session" "$(setpriv --reuid 65534 --clear-groups ./ktr sysctl -p "$host" mask 2>&1)" \
		"process $host is of uid 0: only that user and root"
fi
has "no such session" "$($ktr sysctl -s nobody mask 2>&1)" 'no session is called "nobody"'
stop
is "complaints of the host" "$complaints" ""

# ---- The same at start: every wrong line is told of, the others count. ----
cat >two <<'END'
debug.ktr.mask="nett"
debug.ktr.entries=512
debug.ktr.entrie=512
debug.ktr.keep="init" rubbish
END
start KTR_CONF=two
is "entries" "$(value entries)" 512
stop
has "two bad lines" "$complaints" 'two:1:17: debug.ktr.mask: unknown name "nett", the nearest is "net"'
has "two bad lines" "$complaints" 'two:3:1: unknown knob "debug.ktr.entrie", the nearest is "debug.ktr.entries"'
has "two bad lines" "$complaints" 'two:4:23: nothing but a comment may follow the value'
has "two bad lines" "$complaints" 'settings: 1 kept, 3 left out'
is "lines" "$(echo "$complaints" | wc -l)" 4
for bad in 'binary:this is a binary file' 'huge:is too large' '.:is a directory, not a file' \
	'missing:cannot be opened: No such file or directory'; do
	start KTR_CONF="${bad%%:*}"
	stop
	has "KTR_CONF" "$complaints" "${bad#*:}"
	has "KTR_CONF" "$complaints" 'settings: 0 kept'
done
# Which files those are, were KTR_CONF not set; each overrides the one before, and the environment all.
mkdir -p home/.config/ktr/loader.conf.d
echo 'debug.ktr.mask=net' >home/.config/ktr/loader.conf
echo 'debug.ktr.mask=+rx' >home/.config/ktr/loader.conf.d/host.conf
out=$(HOME=$dir/home $ktr sysctl --files ./host)
has "files" "$out" '/etc/ktr/loader.conf: is '
has "files" "$out" "$dir/home/.config/ktr/loader.conf: is read"
has "files" "$out" "$dir/home/.config/ktr/loader.conf.d/host.conf: is read"
chmod o+w home/.config/ktr/loader.conf
has "files" "$(HOME=$dir/home $ktr sysctl --files host)" 'loader.conf: is not read: everybody may write to it'
is "files" "$(KTR_CONF=two $ktr sysctl --files)" 'two: is read'
is "files" "$(KTR_CONF= $ktr sysctl --files)" 'KTR_CONF is empty: no file is read'
chmod o-w home/.config/ktr/loader.conf
start HOME="$dir/home"
is "mask of two files" "$(value mask)" 'net|rx'
is "its origin" "$(sysctl -n --origin mask)" "$dir/home/.config/ktr/loader.conf.d/host.conf:1"
stop
start HOME="$dir/home" KTR_MASK=proc
is "mask of the environment" "$(value mask)" proc
is "its origin" "$(sysctl -n --origin mask)" "environment KTR_MASK"
stop
# ---- sysctl(8)'s flags ----
start KTR_MASK=net KTR_ENTRIES=64K
is "-e" "$(sysctl -e mask)" 'debug.ktr.mask=net'
is "-e, setting" "$(sysctl -e mask=rx)" 'debug.ktr.mask=net -> rx'
is "-n, setting" "$(sysctl -n mask=net)" 'rx -> net'
is "-N" "$(sysctl -N mask entries)" "$(printf 'debug.ktr.mask\ndebug.ktr.entries')"
is "-x" "$(sysctl -x mask entries)" "$(printf 'debug.ktr.mask: 0x2\ndebug.ktr.entries: 0x10000')"
is "-h" "$(sysctl -h entries)" 'debug.ktr.entries: 64K'
is "-t" "$(sysctl -t mask)" 'debug.ktr.mask: mask'
is "-d" "$(sysctl -d entries | cut -c 1-40)" "debug.ktr.entries: size of each CPU's ri"
is "-T" "$(sysctl -aTN | grep -c '\.clear$\|\.recorded$')" 0
is "-W" "$(sysctl -aWN | grep -c '\.clear$\|\.recorded$\|\.version$')" 1
is "-a beside names" "$(sysctl -an mask)" net
is "-i, several" "$(sysctl -in nothing mask nothing)" net
is "a node" "$(sysctl debug)" "$(sysctl -a)"
stop
# A knob that is a word of the session leaves its neighbours there alone.
start KTR_CONF=
sysctl alq_rotate_size=64M alq_rotate_time=1h alq_rotate_keep=7 alq_max=9 freeze_after=5 >/dev/null || fail "words"
for setting in alq_crash=1 alq_crash=0 alq_max=8 freeze_after=4 alq_rotate_keep=6 alq_rotate_time=2h alq_rotate_size=65M; do
	name=debug.ktr.${setting%=*}
	before=$(sysctl -e -T debug.ktr | grep -v "^$name=")
	sysctl "$setting" >/dev/null || fail "$setting"
	is "the other knobs after $setting" "$(sysctl -e -T debug.ktr | grep -v "^$name=")" "$before"
done
stop
# The sample has every knob that can be set at start, and nothing in it is wrong.
start KTR_CONF=
for name in $(sysctl -aTN); do
	grep -q "^#$name=" "$here/conf/loader.conf.sample" || fail "$name is not in the sample"
done
for name in $(sysctl -aN); do
	grep -qF "${name#debug.ktr.}" "$here/man/ktr-loader.conf.5" "$here/man/ktr-sysctl.1" ||
		fail "$name is in no manual page"
done
stop
sed -e 's/^#debug/debug/' -e 's|/var/tmp|.|' "$here/conf/loader.conf.sample" >sample
start KTR_CONF=sample KTR_MASK=all KTR_SITES=none KTR_PROBES=none KTR_VERBOSE=0
is "entries of the sample" "$(value entries)" 65536
stop
is "complaints about the sample" "$complaints" ""
# A class that is bound later is no error.
echo 'debug.ktr.mask="rx"' >later
start KTR_CONF=later
is "mask" "$(value mask)" rx
stop
is "complaints" "$complaints" ""

# ---- The writer, as FreeBSD's alq_ knobs have it. ----
start KTR_CONF=later
is "tasks" "$(tell tasks)" 1
is "enable" "$(tell set debug.ktr.alq_file t1)" ok
is "enable" "$(tell set debug.ktr.alq_enable 1)" ok
is "tasks with a writer" "$(tell tasks)" 2
tell rx 10 >/dev/null
is "flush" "$(tell flush)" ok
settles alq_cnt 10
is "failed" "$(value alq_failed)" 0
# From outside it is told to end; the thread goes.
sysctl alq_enable=0 >/dev/null || fail "alq_enable=0 is refused"
await '[ "$(tell tasks)" = 1 ]'
is "events of the trace" "$($ktr dump -q t1 | wc -l)" 10
refused 'from outside: ktr record' alq_enable=1
# And begun again by the program, up to a number.
tell set debug.ktr.alq_file t2 >/dev/null
sysctl alq_max=25 >/dev/null
is "enable" "$(tell set debug.ktr.alq_enable 1)" ok
tell rx 30 >/dev/null
settles alq_enable 0
is "events of the second trace" "$($ktr dump -q t2 | wc -l)" "$(value alq_cnt)"
is "depth" "$(sysctl -n alq_depth=4096 && value entries)" "$(printf '65536 -> 4096\n4096')"
stop
is "complaints" "$complaints" ""
# Where there is no session every knob has an answer, and the program goes on.
start KTR_DISABLE=1
for knob in alq_enable=1 alq_enable=0 verbose=1 mask=net sites=-alpha cpumask=0 clear=1 entries=512; do
	has "without a session" "$(tell set "debug.ktr.${knob%%=*}" "${knob#*=}")" ''
done
is "it goes on" "$(tell rx 1)" ok
stop
# From loader.conf: a file that is not enabled, and one that is by its name alone.
printf 'debug.ktr.mask="all"\ndebug.ktr.alq_file="t3"\ndebug.ktr.alq_enable=0\n' >off
start KTR_CONF=off
is "tasks, not enabled" "$(tell tasks)" 1
stop
[ ! -e t3 ] || fail "a writer that was not enabled wrote"
printf 'debug.ktr.mask="all"\ndebug.ktr.alq_enable=1\n' >on
start KTR_CONF=on
is "tasks, enabled" "$(tell tasks)" 2
is "the default file" "$(value alq_file)" ktr.out
stop
[ -d ktr.out ] || fail "no ktr.out"
exit $failed

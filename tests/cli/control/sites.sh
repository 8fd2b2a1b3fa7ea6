#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Single call sites and classes: listed, switched by file, line, function and glob, from a file before they
# exist and from outside while the program runs, in a module that is loaded later too; counted instead of
# recorded; and nothing that matches nothing goes without a word.
. "$(dirname "$0")/knobs.inc"

here_line() { grep -n "$1" "$here/tests/programs/control/knobs_host.c" | head -n 1 | cut -d : -f 1; }
net=knobs_host.c:$(here_line '"alpha %d"')
rx=knobs_host.c:$(here_line '"beta %d of %s"')

# recorded LINE...: how many events these lines make the host record
recorded() {
	before=$(value recorded)
	for line; do
		tell "$line" >/dev/null
	done
	echo $(($(value recorded) - before))
}

cat >plugin.c <<'END'
#include <ktr.h>
__attribute__((constructor)) static void plugged(void)
{
	CTR0(KTR_NET, "plugin net");
	CTR0(KTR_GEN, "plugin gen");
}
END
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -I"$here/include" -shared -fPIC plugin.c -o plugin.so || exit 1

# ---- From a file, before there is any site. ----
cat >conf <<'END'
debug.ktr.mask="net"
debug.ktr.sites="-alpha(), +beta*, -plugin.c:4, +plugin.c:5"
END
start KTR_CONF=conf
is "sites" "$(value sites)" '-alpha(),+beta*,-plugin.c:4,+plugin.c:5'
is "origin" "$(sysctl --origin sites)" 'debug.ktr.sites: conf:2'
is "events of alpha, off" "$(recorded 'net 3')" 0
is "events of beta, on by itself" "$(recorded 'rx 3')" 3
is "mask" "$(value mask)" net
plugged=$(recorded "load $dir/plugin.so")
is "events of the plugin" "$plugged" 1
has "the plugin" "$($ktr dump -q -p "$host" 2>&1)" 'plugin gen'

# ---- The listing ----
has "site" "$(sysctl site)" "tests/programs/control/$net: off net alpha() \"alpha %d\""
has "site" "$(sysctl site)" "tests/programs/control/$rx: on rx beta() \"beta %d of %s\""
has "one site" "$(sysctl "site.tests/programs/control/$net")" "off net alpha()"
is "class" "$(value class.rx.bit) $(value class.rx.description) $(value class.net.sites)" \
	"32 packets received 3"
has "classes" "$(sysctl class)" "debug.ktr.class.lock.description: locks"
is "cpu" "$(($(sysctl -n cpu | awk '{ n += $1 } END { print n }') >= $(value recorded)))" 1
is "-a" "$(sysctl -aN | grep -c 'debug.ktr.\(site\|class\|cpu\|counts\)\.')" 0

# ---- From outside ----
sysctl sites="+$net" >/dev/null
is "events of alpha, on again" "$(recorded 'net 3')" 3
has "sites" "$(value sites)" ",+$net"
sysctl sites=none,-beta >/dev/null || fail "sites=none,-beta is refused"
is "sites" "$(value sites)" '-beta'
is "events of beta, off" "$(recorded 'rx 3')" 0
sysctl mask=+rx >/dev/null
is "events of beta, still off" "$(recorded 'rx 3')" 0
sysctl 'sites=none,-*/knobs_host.c' >/dev/null
is "events, a file off" "$(recorded 'rx 3' 'net 2')" 0
sysctl sites=none >/dev/null
is "events, none off" "$(recorded 'rx 3' 'net 2')" 5
sysctl mask=none >/dev/null
is "events, no class" "$(recorded 'rx 3' 'net 2')" 0
sysctl sites="+$rx" >/dev/null
is "events, one site" "$(recorded 'rx 3' 'net 2')" 3
# A value that is printed reads back, whatever it is.
for rules in none '+a*' '-beta,#alpha' '#*.c,+*:*'; do
	sysctl sites=none >/dev/null
	sysctl sites="$rules" >/dev/null 2>&1 # a+ matches
	now=$(value sites)
	sysctl sites="$now" >/dev/null || fail "sites=$now is refused"
	is "sites back from $now" "$(value sites)" "$now"
done
sysctl sites=none mask=net,rx >/dev/null

# ---- Counted ----
is "counts, none" "$(sysctl counts)" 'ktr sysctl: counts: there is none now'
sysctl count=net >/dev/null
is "events, counted" "$(recorded 'rx 3' 'net 2')" 3
is "counts" "$(sysctl counts)" "debug.ktr.counts.tests/programs/control/$net: 2"
sysctl count=none sites='#beta()' >/dev/null
is "events, one site counted" "$(recorded 'rx 3' 'net 2')" 2
is "counts" "$(value "counts.tests/programs/control/$rx") $(value "counts.tests/programs/control/$net")" "3 2"
sysctl sites=none >/dev/null

# ---- What matches nothing ----
refused 'debug.ktr.sites: unknown call site "alhpa", the nearest is "alpha"; debug.ktr.sites stays none' sites=-alhpa
refused 'the nearest is "knobs_host.c"' sites='+knob_host.c'
refused 'unknown call site "nothing*"' sites='nothing*'
refused 'no call site is of class inet6' mask=inet6
refused 'debug.ktr.mask stays net|rx' mask=inet6
refused 'no call site is of class sched' count=sched
is "mask" "$(value mask)" 'net|rx'
has "one class of two" "$(sysctl mask=+inet6)" 'debug.ktr.mask: no call site is of class inet6 yet'
sysctl mask=-inet6 >/dev/null
refused 'a pattern has more than 127 bytes' sites=+"$(head -c 200 /dev/zero | tr '\0' x)"
is "a call" "$(tell set debug.ktr.sites nothing)" 'debug.ktr.sites: unknown call site "nothing"'
stop
is "complaints" "$complaints" ""
# At start nobody knows what is still to come: said when the program ends.
start KTR_MASK=net KTR_SITES='-alhpa(),+beta'
stop
is "complaints" "$complaints" 'ktr: debug.ktr.sites: unknown call site "alhpa()", the nearest is "alpha"'
start KTR_MASK='inet6|sched'
stop
is "complaints" "$complaints" 'ktr: debug.ktr.mask: no call site was of class inet6|sched'

# ---- Knobs of a program's own: from a file, from outside while it runs, after it has ended ----
cat >own <<'END'
debug.ktr.mask=work
app.batch=5
app.pause=1ms
END
KTR_CONF=own "$O/examples/knobs" >own.out 2>own.err &
host=$!
await 'sysctl app.stop >/dev/null && [ "$(value recorded)" -gt 3 ]'
is "own knobs" "$(sysctl app)" "$(printf 'app.batch: 5\napp.pause: 1ms\napp.stop: 0')"
is "their description" "$(sysctl -d app.batch)" 'app.batch: items taken at once [items]'
refused 'app.batch: 2000 is above the greatest, 1000 items; app.batch stays 5' app.batch=2000
refused 'unknown knob' app.title
is "set" "$(sysctl app.batch=7)" 'app.batch: 5 -> 7'
await '$ktr dump -q -p "$host" | grep -q "a batch of 7"'
sysctl app.stop=1 >/dev/null || fail "app.stop=1 is refused"
wait "$host" || fail "the program"
host=
has "the program" "$(cat own.out own.err)" ' things'
exit $failed

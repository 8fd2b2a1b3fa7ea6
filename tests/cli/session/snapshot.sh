#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr snapshot --freeze: the rings stand still while they are saved, and go on behind that, unless they stood already.
. "$(dirname "$0")/../lib.inc"

cat >"$dir/busy.c" <<'END'
#include <ktr.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0;; i++) {
		CTR1(KTR_GEN, "round %d", i);
		if (i % 1000 == 0)
			usleep(1000);
	}
	return 0;
}
END
# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -Iinclude "$dir/busy.c" "$O/lib/libktr.a" -lpthread -o "$dir/busy" || exit 1
KTR_MASK=all KTR_SESSION=busy "$dir/busy" &
host=$!
at_exit() { kill -9 "$host" 2>/dev/null; }

knob() { "$ktr" sysctl -n -s busy "debug.ktr.$1" 2>&1; }
newest() { timeout 120 "$ktr" dump -q -s busy -n 1 2>"$dir/err" | sed -n 's/.*round //p'; }

await '[ -n "$(newest)" ]'
is "before" "$("$ktr" sysctl --origin -s busy debug.ktr.freeze)" "debug.ktr.freeze: default"
status 0 "$ktr" snapshot -s busy --freeze -o "$dir/t"
# It has been set and set back: nobody else was there to.
case $("$ktr" sysctl --origin -s busy debug.ktr.freeze) in
*"by pid "*) ;;
*) fail "the rings did not stand still: $("$ktr" sysctl --origin -s busy debug.ktr.freeze)" ;;
esac
is "the rings behind it" "$(knob freeze)" 0
before=$("$ktr" dump -q -n 1 "$dir/t" | sed -n 's/.*round //p')
[ -n "$before" ] || fail "nothing was saved"
await '[ "$(newest)" -gt "$before" ]'

# Without it nothing stops, and what stood still stays so.
status 0 "$ktr" sysctl -s busy debug.ktr.freeze=1
status 0 "$ktr" snapshot -s busy --freeze -o "$dir/u"
is "rings that stood still" "$(knob freeze)" 1
status 0 "$ktr" sysctl -s busy debug.ktr.freeze=0
# Of a session that nobody is in there is nothing to stop.
kill -9 $host
wait $host 2>/dev/null
status 0 "$ktr" snapshot -s busy --freeze -o "$dir/v"
exit $failed

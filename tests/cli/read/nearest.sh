#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a filter or a trigger names, and nothing has, is said with the nearest there is.
. "$(dirname "$0")/../lib.inc"

cat >"$dir/near.c" <<'END'
#include <ktr.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int counter = 0; counter < 10; counter++)
		CTR2(KTR_NET, "got %d of %s", counter, argv[0]);
	if (argc > 1)
		pause();
	return 0;
}
END
# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -Iinclude "$dir/near.c" "$O/lib/libktr.a" -lpthread -o "$dir/near" || exit 1
host=
at_exit() { [ -z "$host" ] || kill -9 "$host" 2>/dev/null; }

# says EXPRESSION TEXT: ends with one complaint that has the text
trigger() {
	timeout 300 "$ktr" run --trigger "$1" -o "$dir/t" "$dir/near" >"$dir/out" 2>"$dir/err" || fail "ktr run --trigger $1: $?"
	if [ -n "$2" ]; then
		grep -q "^ktr run: --trigger: .*$2" "$dir/err" || fail "run --trigger $1: $(cat "$dir/err")"
	elif grep -q -e --trigger "$dir/err"; then
		fail "run --trigger $1: $(cat "$dir/err")"
	fi
}
trigger 'countr > 5' 'argument "countr", the nearest is "counter"'
trigger 'clas == net' 'argument "clas", the nearest is "class"'
trigger 'class == nett' 'class "nett", the nearest is "net"'
trigger 'func == mian' 'func "mian", the nearest is "main"'
trigger 'site == "naer.c:7"' 'call site "naer.c:7", the nearest is "near.c:7"'
trigger 'counter > 50' 'it never held'
trigger 'counter > 5' ''

filter() {
	timeout 300 "$ktr" dump --filter "$1" "$dir/t" >"$dir/out" 2>"$dir/err" && fail "--filter $1: taken"
	grep -q "$2" "$dir/err" || fail "--filter $1: $(cat "$dir/err")"
}
filter 'countr > 5' 'argument "countr", the nearest is "counter"'
filter 'class == nett' 'class "nett", the nearest is "net"'
filter 'func == mian' 'func "mian", the nearest is "main"'

# A trigger by sysctl waits for call sites that may come; what there is none of yet is said all the same.
KTR_MASK=all KTR_SESSION=near "$dir/near" stay &
host=$!
await '"$ktr" dump -s near 2>/dev/null | grep -q "got 9"'
status 0 "$ktr" sysctl -s near 'debug.ktr.trigger=countr > 5'
grep -q 'argument "countr", the nearest is "counter"' "$dir/err" || fail "sysctl: $(cat "$dir/out" "$dir/err")"
status 0 "$ktr" sysctl -s near 'debug.ktr.trigger=counter > 5'
[ -s "$dir/err" ] && fail "sysctl, a trigger as it should be: $(cat "$dir/err")"
exit $failed

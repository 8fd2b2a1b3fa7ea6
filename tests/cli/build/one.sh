#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The two-file form in somebody's project: C and C++, gcc and clang, and switched off; it passes the recorder's tests.
. "$(dirname "$0")/../lib.inc"

MAKEFLAGS='' make -s --no-print-directory O="$O" "$O/tests/unit-one" >"$dir/log" 2>&1 ||
	{ cat "$dir/log"; fail "make one"; }
cp "$O/one/ktr.c" "$O/one/ktr.h" "$dir"
awk '/^```c/ { on = 1; next } /^```/ { on = 0 } on' README.md | sed 's/<ktr.h>/"ktr.h"/' >"$dir/hello.c"
cd "$dir" || exit 1

use() { # what is built, how
	what=$1
	shift
	"$@" -o hello 2>log || { cat log; fail "$what does not build"; return; }
	[ ! -s log ] || { cat log; fail "$what: warnings"; }
	"$ktr" run -o "$what" ./hello 2>log || { cat log; fail "$what does not run"; return; }
	n=$("$ktr" dump -q "$what" | grep -c 'packet [0-9]* from')
	[ "$n" = 1000 ] || fail "$what: $n of 1000 events"
}

gcc -O1 -std=gnu11 -pedantic -Wall -Wextra -c ktr.c -o one.o 2>log || fail "ktr.c does not build"
[ ! -s log ] || { cat log; fail "ktr.c: warnings"; }
use gcc gcc -O2 -Wall -Wextra hello.c one.o -lpthread
use cxx g++ -O2 -Wall -Wextra -x c++ hello.c -x none one.o -lpthread
use both gcc -O0 -Wall -Wextra hello.c ktr.c -lpthread
if command -v clang >/dev/null; then
	use clang clang -O0 -std=gnu11 -pedantic -Wall -Wextra hello.c ktr.c -lpthread
fi
gcc -DKTR_OFF -Wall -Wextra hello.c ktr.c -o off && ./off || fail "KTR_OFF"
nm off | grep -q ktr__record && fail "KTR_OFF leaves the recorder"
for path in rseq thread; do
	KTR_PATH=$path "$O/tests/unit-one" record >log 2>&1 || { cat log; fail "the recorder's tests, path $path"; }
done
exit $failed

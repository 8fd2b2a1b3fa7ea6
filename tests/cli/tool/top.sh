#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr top, driven in tmux: it shows a live session's classes, sites and events, switches a class with a key,
# and ends with one. Skipped where there is no tmux, or ktr was built without ncurses.
. "$(dirname "$0")/../lib.inc"
program=
on_tmux() { tmux -L "ktr-$$" -f /dev/null "$@"; }
at_exit() {
	on_tmux kill-server 2>/dev/null
	[ -z "$program" ] || kill "$program" 2>/dev/null
}
unset TMUX

"$ktr" top </dev/null 2>"$dir/err" && fail "top without a session"
if grep -q 'without ncurses' "$dir/err"; then
	echo "skipped: built without ncurses"
	exit 0
fi
command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 0; }

cat >"$dir/busy.c" <<'END'
#include <ktr.h>
#include <unistd.h>
KTR_CLASS_DEFINE(requests_read_by_all_clients, ""); KTR_CLASS_DEFINE(requests_sent_by_all_clients, ""); int main(void)
{
	for (int i = 0;; i++) {
		CTR2(KTR_NET, "got %d of %s", i, "a\033[31mred\xff");
		if (i % 4 == 0)
			CTR1(KTR_VM, "page %d", i);
		if (i % 32 == 0) {
			CTR0(KTR_CLASS(requests_read_by_all_clients), "one");
			CTR0(KTR_CLASS(requests_sent_by_all_clients), "other");
		}
		usleep(1000);
	}
}
END
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude "$dir/busy.c" -o "$dir/busy" "$O/lib/libktr.a" -lpthread || exit 1
KTR_SESSION=busy KTR_MASK=all "$dir/busy" &
program=$!

# wanted pattern: the screen comes to show it; else fails with the screen
screen() {
	shown=$1
	await 'on_tmux capture-pane -p -t top >"$dir/screen" 2>/dev/null; grep -Eq -e "$shown" "$dir/screen"' ||
		{ fail "the screen does not show $1: $(cat "$dir/screen")"; return 1; }
}

await '"$ktr" sysctl -q -s busy debug.ktr.mask >/dev/null 2>&1'
"$ktr" top -s busy >"$dir/out" 2>"$dir/err" && fail "top without a terminal"
grep -q 'needs a terminal' "$dir/err" || fail "$(cat "$dir/err")"

# A chroot may have no pseudo-terminals at all.
python3 -c 'import os; os.openpty()' 2>/dev/null || { skip "no pseudo-terminal can be had"; exit "$failed"; }
on_tmux new-session -d -s top -x 120 -y 30 "KTR_DIR='$KTR_DIR' LC_ALL=C.UTF-8 '$ktr' top -s busy; echo ended with \$?; sleep 1000" ||
	{ fail tmux; exit 1; }
# Names that differ in what is left out of them look different.
screen '\[x\] requ[^ ]*read' && screen '\[x\] requ[^ ]*sent'
screen '^ktr top: busy, live' &&
	screen '\[x\] net +[1-9][0-9.]* k?/s' &&
	screen '[1-9][0-9.]* k?/s  busy\.c:6 +net +got %d of %s' &&
	screen 's ago +busy +CPU [0-9]+ +got [0-9]+ of a\\x1b\[31mred\\xff' || exit 1
# Down to the third class, vm, which is switched off: its rate is none, and the session's mask lacks it.
on_tmux send-keys -t top j j Space
screen '\[ \] vm'
case $("$ktr" sysctl -n -s busy debug.ktr.mask) in
*-vm*) ;;
*) fail "the mask is $("$ktr" sysctl -n -s busy debug.ktr.mask)" ;;
esac
screen '\[ \] vm +0 /s'
# Keys, order, filter.
on_tmux send-keys -t top '?'
screen '^ktr top: keys' && screen '^  /  +only call sites that have'
on_tmux send-keys -t top x s
screen 'busy\.c:6 .*' && on_tmux send-keys -t top / p a g e
screen '^/page_'
on_tmux send-keys -t top Enter
screen '^/page  \?: keys'
grep -q 'got %d of %s' "$dir/screen" && fail "what the filter leaves out is listed: $(cat "$dir/screen")"
on_tmux send-keys -t top / Escape
screen 'got %d of %s'
# The program ends: so does its session.
kill "$program"
wait "$program" 2>/dev/null
program=
screen '^ktr top: busy, dead'
on_tmux send-keys -t top q
screen 'ended with 0'
KTR_SESSION=busy KTR_MASK=all "$dir/busy" &
program=$!
await '"$ktr" sysctl -q -s busy debug.ktr.mask >/dev/null 2>&1'
PYTHONPATH=tests/cli/tool python3 - "$ktr" <<'END' || failed=1
import sys
from terminal import Terminal
top = Terminal(sys.argv[1], 'top', '-s', 'busy')
shows = top.shows(b'live')
top.send(b'\x03')
status = top.status()
if not shows or status != 130 or b'\x1b[?1049l' not in top.seen:
    sys.exit('FAILED: ^C ends ktr top with %d, and the terminal is left so: %r' % (status, top.seen[-100:]))
END
exit $failed

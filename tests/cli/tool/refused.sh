#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What looks at other processes, by whom it cannot: one line each, which says why, and the exit status; nothing else is
# printed or left behind. Who is not there, has ended, is the kernel's, another user's, another tracer's.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*) skip "stops of threads are tested on x86-64"; exit 0 ;;
esac
pids=
at_exit() {
	for p in $pids; do ! grep -qs "^PPid:.$$\$" "/proc/$p/status" || kill -9 "$p"; done
}
chmod 711 "$dir" "$KTR_DIR"
mkdir "$dir/empty" && chmod 777 "$dir/empty" && cd "$dir/empty" || exit 1
ln -s "$ktr" "$dir/kgmon"

# refused WHO COMMAND STATUS LINE
refused() {
	# shellcheck disable=SC2086
	timeout 60 ${as:-} $2 >"$dir/out" 2>"$dir/err"
	is "$1: status of $2" $? "$3"
	is "$1: $2" "$(cat "$dir/err")" "$4"
	[ ! -s "$dir/out" ] || fail "$1: $2 prints $(head -n 3 "$dir/out")"
	is "$1: what $2 leaves" "$(ls)" ''
}
# looked WHO PID LINE: by all that look at stacks
looked() {
	refused "$1" "$ktr stacks -p $2" 1 "ktr stacks: process $2$3"
	refused "$1" "$ktr stacks -p $2 -o trace" 1 "ktr stacks: process $2$3"
	refused "$1" "$ktr sample $2 1" 1 "ktr sample: process $2$3"
	refused "$1" "$ktr sample $2 1 -o trace" 1 "ktr sample: process $2$3"
}
# switched WHO PID LINE: by all that have to do with its profile
switched() {
	refused "$1" "$ktr kgmon -P $2 -bp" 2 "ktr kgmon: $3"
	refused "$1" "$dir/kgmon -P $2 -hr" 2 "kgmon: $3"
	refused "$1" "$dir/kgmon -P $2" 2 "kgmon: $3"
}

# ---- nobody ----

as=
looked 'nobody' 999999999 ': there is no such process'
switched 'nobody' 999999999 'there is no process 999999999, and no session of it'
refused 'nobody' "$ktr sysctl -p 999999999 kern.prof.state" 1 'ktr sysctl: there is no process 999999999, and no session of it'

# ---- who has ended, and is waited for ----

sh -c 'sleep 0 & exec sleep 1000' &
parent=$!
pids="$pids $parent"
await 'zombie=$(pgrep -P $parent) && grep -q "^State:.*Z" "/proc/$zombie/status"'
looked 'a zombie' "$zombie" ' (sleep): it has ended, or its first thread has'
switched 'a zombie' "$zombie" "process $zombie (sleep) has no session, and it has ended, or its first thread has"

# ---- the kernel's ----

kernel=$(pgrep -x kthreadd)
if [ -n "$kernel" ]; then
	looked "the kernel's" "$kernel" " (kthreadd): it is a thread of the kernel, not a program's"
	if [ "$(id -u)" = 0 ]; then
		switched "the kernel's" "$kernel" "process $kernel (kthreadd) has no session, and it is a thread of the kernel, not a program's"
	fi
fi

# ---- who knows nothing of ktr ----

await 'became $parent "$(readlink -f "$(command -v sleep)")"'
switched 'a stranger' $parent "process $parent (sleep) has no session: ktr attach -p $parent puts the profiler into it"

# ---- another user's ----

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	as='setpriv --reuid 65534 --clear-groups'
	looked "another user's" $parent " (sleep): it is user 0's: this command looks at it by sudo -u '#0'"
	switched "another user's" $parent "process $parent is of uid 0: only that user and root see its session"
	as=
fi

# ---- another tracer's ----

if command -v strace >/dev/null; then
	strace -qq -o /dev/null -p $parent 2>/dev/null &
	tracer=$!
	pids="$pids $tracer"
	await '! grep -q "^TracerPid:.0" /proc/$parent/status || ! kill -0 $tracer'
	if kill -0 $tracer 2>/dev/null; then
		why="process $tracer (strace) traces it, and only one may: let that end first"
		looked 'a traced one' $parent " (sleep): $why"
		switched 'a traced one' $parent "process $parent (sleep) has no session, and $why"
	fi
	kill $tracer 2>/dev/null
	wait $tracer 2>/dev/null
	# It is left as it was.
	await '! grep -q "^State:.[tT]" /proc/$parent/status'
fi
exit $failed

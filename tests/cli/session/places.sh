#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Programs in other places than ours: pid and mount namespaces, other users, directories of their own. -p
# finds their sessions, ktr ls knows them by our numbers, and nobody takes them for dead.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build live tests/programs/session/live.c
cases=0
export KTR_CONF= KTR_MASK=gen
chmod 711 "$work" "$shm"
mkdir -m 755 "$work/bin"
cp "$out/live" "$ktr" "$work/bin/" # where other users can run them
live=$work/bin/live
mkfifo "$work/in" "$work/told"

# status WANTED COMMAND...: its output goes to $work/out
status() {
	wanted=$1
	shift
	timeout 300 "$@" >"$work/out" 2>&1
	is "exit status of $*" $? "$wanted"
}

said() {
	grep -qF -e "$1" "$work/out" || fail "no \"$1\" in: $(cat "$work/out")"
}

# begin COMMAND...: runs one that ends when its input does, see end; $inner is its number as it knows it
begin() {
	"$@" <"$work/in" >"$work/told" 5>&- &
	job=$!
	exec 5>"$work/in"
	inner=
	read -r inner <"$work/told"
	[ -n "$inner" ] || fail "$* did not begin"
}

end() {
	exec 5>&-
	wait
}

# Everything that takes -p works on process $1.
reached() {
	cases=$((cases + 1))
	status 0 "$ktr" dump -p "$1" -q -n 1
	said 'live 99'
	status 0 "$ktr" sysctl -p "$1" debug.ktr.mask=gen,proc
	said 'gen -> gen|proc'
	rm -rf "$work/trace"
	status 0 "$ktr" snapshot -p "$1" -o "$work/trace"
	status 0 "$ktr" dump "$work/trace" -q -n 1
	said 'live 99'
	status 0 "$ktr" record -p "$1" -t 10ms -o "$work/trace"
}

listed() { # the only session's number and name, as ktr ls gives them, in $pid and $name
	status 0 "$ktr" ls --json
	pid=$(sed -n '/"pids"/{n;s/[^0-9]//gp;}' "$work/out")
	name=$(sed -n 's/.*"name": "\(.*\)",.*/\1/p' "$work/out" | head -n 1)
	grep -q '"state": "live"' "$work/out" || fail "not live: $(cat "$work/out")"
}

# ---- a directory of its own ----
begin env KTR_DIR="$work" "$live" wait
reached "$inner"
end

# ---- another mount namespace ----
unshare="unshare"
[ "$(id -u)" = 0 ] || unshare="unshare -Ur"
if $unshare -m true 2>/dev/null && mkdir "$work/elsewhere" &&
	$unshare -m mount -t tmpfs none "$work/elsewhere" 2>/dev/null; then
	begin $unshare -m sh -c "mount -t tmpfs none $work/elsewhere && KTR_DIR=$work/elsewhere exec $live wait"
	is "sessions seen from outside" "$(ls "$work/elsewhere")" ""
	reached "$inner"
	end
	if [ "$(id -u)" = 0 ] && mkdir "$work/root" 2>/dev/null; then
		# Under the same path something else lies here.
		begin $unshare -m sh -c "mount -t tmpfs none $work/elsewhere && KTR_SESSION=x KTR_DIR=$work/elsewhere exec $live wait"
		mkdir -p -m 700 "$work/elsewhere/ktr-0"
		head -c 100000 /dev/zero >"$work/elsewhere/ktr-0/x.ktr"
		reached "$inner"
		end
	fi
else
	skip "other mount namespaces: unshare(1) may not"
fi

# ---- another pid namespace ----
if $unshare -pf --mount-proc true 2>/dev/null; then
	for proc in "" --mount-proc; do
		for how in "" close; do
			begin $unshare -pf $proc "$live" $how wait
			is "its own number" "$inner" 1
			listed
			[ "${pid:-0}" -gt 1 ] && [ -e "/proc/$pid" ] || fail "listed as \"$pid\""
			is "name of process $pid" "$(cat "/proc/$pid/comm")" live
			reached "$pid"
			# Neither we nor a third namespace, which has no name for it, take it for dead.
			KTR_DEAD_SESSIONS=0 "$live"
			KTR_DEAD_SESSIONS=0 $unshare -pf --mount-proc "$live"
			status 0 $unshare -pf --mount-proc "$ktr" rm --dead
			said '0 sessions removed'
			status 0 $unshare -pf --mount-proc "$ktr" ls
			said ' live    (1)  '
			status 0 $unshare -pf --mount-proc "$ktr" dump -s "$name" -q -n 1
			said 'live 99'
			listed
			end
		done
		"$ktr" rm --dead >"$work/out"
		is "sessions" "$(ls "$KTR_DIR/ktr-$(id -u)")" ""
	done
	# Crashed there, it is dead here; nobody's number is taken for its own.
	(timeout 300 $unshare -pf --mount-proc sh -c "$live kill; :" >/dev/null 2>&1; :) 2>/dev/null
	status 0 "$ktr" ls
	said ' dead    (2)  '
	status 1 "$ktr" dump -p 2
	"$ktr" rm --dead >"$work/out"
	if $unshare -mpf --mount-proc true 2>/dev/null; then
		begin $unshare -mpf --mount-proc sh -c "mount -t tmpfs none $work/elsewhere && KTR_DIR=$work/elsewhere exec $live wait"
		for pid in $(sed 's/ .*//' /proc/[0-9]*/stat 2>/dev/null); do
			[ "$(readlink "/proc/$pid/exe" 2>/dev/null)" = "$live" ] && reached "$pid"
		done
		end
	fi
else
	skip "other pid namespaces: unshare(1) may not"
fi

# ---- another user ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	else="setpriv --reuid=65533 --regid=65533 --clear-groups"
	mkdir -m 1777 "$work/shared"
	chmod 1777 "$work/shared"
	export KTR_DIR="$work/shared"
	begin $user "$live" wait
	reached "$inner" # root may
	status 1 $else "$work/bin/ktr" dump -p "$inner"
	said "process $inner is of uid 65534: only that user and root see its session"
	status 1 $else "$work/bin/ktr" sysctl -p "$inner" debug.ktr.mask=0
	said "process $inner is of uid 65534"
	status 1 $else "$work/bin/ktr" dump "$work/shared/ktr-65534/live.$inner.ktr"
	status 0 $user "$work/bin/ktr" dump -p "$inner" -q -n 1
	said 'live 99'
	status 0 $else "$work/bin/ktr" ls
	is "what others list" "$(cat "$work/out")" ""
	end
	begin "$live" wait
	status 1 $user "$work/bin/ktr" dump -p "$inner"
	said "process $inner is of uid 0: only that user"
	end
else
	skip "other users: this needs root and setpriv"
fi

echo "places: $cases reached"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Rings that do not fit into shared memory, a file system of 64 MiB here, asked for by each way there is: shared
# memory is as it was before, the message says what was asked for and what would fit, the knob what there is, and a
# smaller size works.
if [ -z "${KTR_NOFIT_INSIDE:-}" ]; then
	for how in "unshare -m" "unshare -rm"; do
		$how true 2>/dev/null && KTR_NOFIT_INSIDE=1 exec $how sh "$0"
	done
	echo "skipped: no mount namespace of our own"
	exit 0
fi
. "$(dirname "$0")/../lib.inc"

mnt=$dir/mnt
mkdir "$mnt"
mount -t tmpfs -o size=64m none "$mnt" 2>/dev/null || { skip "no file system of our own"; exit 0; }
at_exit() { umount -l "$mnt"; }
export KTR_DIR="$mnt"
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Iinclude tests/programs/session/nofit.c -o "$dir/nofit" "$O/lib/libktr.a" -lurcu-bp \
	-lpthread || exit 1
cpus=$(getconf _NPROCESSORS_ONLN)
[ "$cpus" -le 32 ] || { skip "too many CPUs for 64 MiB"; exit 0; }

used() { # [KiB]
	echo $((($(stat -f -c '(%b - %f) * %S' "$mnt")) / 1024))
}

free() {
	echo $((($(stat -f -c '%f * %S' "$mnt")) / 1024))
}

leave() { # KiB: a file takes the rest
	n=$(($(free) - $1))
	head -c "${n}K" /dev/zero >"$mnt/filler"
}

start() { # settings...
	rm -rf "$mnt"/ktr-* "$mnt/filler" "$dir/in" "$dir/said"
	mkfifo "$dir/in" "$dir/said"
	env KTR_SESSION=s "$@" "$dir/nofit" <"$dir/in" >"$dir/said" 2>"$dir/err" &
	exec 3>"$dir/in" 4<"$dir/said"
	read -r answer <&4
}

tell() {
	echo "$*" >&3
	read -r answer <&4
}

stop() {
	exec 3>&- 4<&-
	wait
}

# What is used may have grown by rows of tables, but by no ring: the smallest here has 256 KiB.
as_before() { # what KiB-before
	n=$(used)
	[ $((n - $2)) -le 128 ] && [ $(($2 - n)) -le 128 ] || fail "$1: $n KiB are used, $2 before"
}

entries() { # what wanted
	is "$1: entries" "$("$ktr" sysctl -n -s s entries)" "$2"
}

says() { # what text in
	case $3 in *"$2"*) ;; *) fail "$1: said \"$3\" instead of \"$2\"" ;; esac
}

# What fits of it: a power of two of entries on each CPU, main and keep rings, in so many KiB.
fits() {
	n=$((1 << 20))
	while [ $n -ge 256 ] && [ $((n / 16 * cpus + (n >= 4096 ? n / 256 : 16) * cpus)) -gt "$1" ]; do n=$((n / 2)); done
	echo $n
}

records() { # what
	before=$("$ktr" sysctl -n -s s recorded)
	tell event 100
	is "$1: events" $(($("$ktr" sysctl -n -s s recorded) - before)) 100
}

sysctl() { # what wanted-status setting...
	what=$1 want=$2
	shift 2
	timeout 120 "$ktr" sysctl -s s "$@" >"$dir/out" 2>&1
	is "$what: exit status" $? "$want"
}

works() { # what setting...: and it records
	what=$1
	shift
	sysctl "$what, smaller" 0 "$@"
	entries "$what, smaller" 4096
	records "$what, smaller"
}

for path in rseq thread; do
	# Of the thread path's pool one ring is opened.
	[ $path = thread ] && cpus=1
	big=$((1 << 20))
	[ $path = thread ] && big=$((1 << 21))
	export KTR_PATH=$path
	# A session without rings.
	start KTR_MASK=none
	empty=$(used)
	stop

	start KTR_ENTRIES=$big KTR_MASK=net
	as_before "$path, KTR_ENTRIES" "$empty"
	entries "$path, KTR_ENTRIES" 0
	says "$path, KTR_ENTRIES" "no memory for a ring of $big entries on each of" "$(cat "$dir/err")"
	says "$path, KTR_ENTRIES" "No space left on device; $(fits "$(free)") would fit" "$(cat "$dir/err")"
	works "$path, KTR_ENTRIES" entries=4096 mask=net
	stop

	start KTR_MASK=none
	was=$(used)
	sysctl "$path, sysctl entries" 0 entries=$big
	sysctl "$path, sysctl mask" 1 mask=net
	as_before "$path, sysctl mask" "$was"
	entries "$path, sysctl mask" 0
	says "$path, sysctl mask" "$(fits "$(free)") would fit" "$(cat "$dir/out")"
	is "$path, sysctl mask: the mask" "$("$ktr" sysctl -n -s s mask)" none
	works "$path, sysctl mask" entries=4096 mask=net
	stop

	start KTR_MASK=none
	was=$(used)
	tell open $big
	says "$path, ktr_open()" "$(fits "$(free)") would fit" "$answer"
	as_before "$path, ktr_open()" "$was"
	entries "$path, ktr_open()" 0
	tell open 4096
	is "$path, ktr_open(), smaller" "$answer" "done"
	entries "$path, ktr_open(), smaller" 4096
	records "$path, ktr_open(), smaller"
	stop

	# Main rings fit, keep rings do not.
	start KTR_MASK=none
	tell set entries=65536
	leave $((4096 * cpus + 64))
	was=$(used)
	tell set mask=net
	says "$path, keep rings" "32768 would fit" "$answer"
	as_before "$path, keep rings" "$was"
	entries "$path, keep rings" 0
	works "$path, keep rings" entries=4096 mask=net
	stop

	# Counts: a page on each CPU.
	start KTR_ENTRIES=4096 KTR_MASK=net
	tell event 1
	leave 0
	was=$(used)
	sysctl "$path, counts" 1 count=net
	says "$path, counts" "no memory for the counts" "$(cat "$dir/out")"
	as_before "$path, counts" "$was"
	is "$path, counts: the knob" "$("$ktr" sysctl -n -s s count)" none
	records "$path, counts"
	rm "$mnt/filler"
	sysctl "$path, counts" 0 count=net
	sysctl "$path, counts" 0 count=none
	records "$path, counts"
	stop

	# Rings of the kernel's events: 1 MiB on each CPU.
	start KTR_ENTRIES=4096 KTR_MASK=net
	leave 700
	was=$(used)
	tell set kernel=switch
	says "$path, kernel" "no memory for a ring of" "$answer"
	as_before "$path, kernel" "$was"
	is "$path, kernel: the knob" "$("$ktr" sysctl -n -s s kernel)" none
	records "$path, kernel"
	stop
done

# Rings that are in use.
cpus=$(getconf _NPROCESSORS_ONLN)
export KTR_PATH=rseq
start KTR_ENTRIES=4096 KTR_MASK=net
tell event 100
was=$(used)
for how in sysctl set open; do
	case $how in
	sysctl) sysctl "resize by sysctl" 1 entries=1M; answer=$(cat "$dir/out") ;;
	set) tell set entries=1M ;;
	open) tell open 1048576 ;;
	esac
	says "resize by $how" "all rings keep their size: No space left on device; " "$answer"
	says "resize by $how" "entries would fit" "$answer"
	fit=${answer% entries would fit*}
	fit=${fit##* }
	as_before "resize by $how" "$was"
	entries "resize by $how" 4096
	records "resize by $how"
done
sysctl "resize" 0 entries="$fit"
entries "resize to what would fit" "$fit"
records "resize to what would fit"
sysctl "resize" 0 entries=4096
as_before "resize back" "$was"
# Half-way: the CPU of the second ring may not be entered, those before it go back.
cat >"$dir/pin.c" <<'END'
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
int sched_setaffinity(int pid, unsigned long size, const void *set);
int sched_setaffinity(int pid, unsigned long size, const void *set)
{
	if (*(const unsigned long *)set == 2) {
		errno = EINVAL; /* as the kernel says where a cpuset leaves the CPU out */
		return -1;
	}
	return (int)syscall(SYS_sched_setaffinity, pid, size, set);
}
END
if [ "$cpus" -gt 1 ] && $cc -shared -fPIC "$dir/pin.c" -o "$dir/pin.so"; then
	LD_PRELOAD=$dir/pin.so sysctl "half-way" 1 entries=32K
	says "half-way" "all rings keep their size: Device or resource busy" "$(cat "$dir/out")"
	as_before "half-way" "$was"
	entries "half-way" 4096
	records "half-way"
fi
stop

# On the thread path rings are opened by events: what does not fit is dropped and counted.
export KTR_PATH=thread
start KTR_ENTRIES=4096 KTR_MASK=net
tell event 1
leave 200
was=$(used)
dropped=$("$ktr" sysctl -n -s s dropped)
tell thread
as_before "another thread's ring" "$was"
is "another thread's ring: dropped" $(($("$ktr" sysctl -n -s s dropped) - dropped)) 1
rm "$mnt/filler"
before=$("$ktr" sysctl -n -s s recorded)
tell thread
is "another thread's ring" $(($("$ktr" sysctl -n -s s recorded) - before)) 1
stop
exit $failed

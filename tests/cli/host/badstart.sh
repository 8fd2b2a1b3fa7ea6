#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Where no session can be had, or none of the wanted size, the program runs on with its normal output and
# status. One line on stderr says why if tracing had been asked for, none otherwise. File systems, CPU
# lists and clock sources are faked in a mount namespace of our own; what cannot be done here is skipped
# with the reason.
if [ -z "${KTR_BAD_INSIDE:-}" ] && unshare -m true 2>/dev/null; then
	KTR_BAD_INSIDE=mounts exec unshare -m sh "$0"
fi
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build bad tests/stress/bad.c
bad=$work/bad # reachable for other users as well
chmod 755 "$work"
cp "$out/bad" "$bad"
cases=0
want="worked 8997000"

fail() {
	echo "FAILED: $*"
	sed 's/^/	stderr: /' "$work/err"
	failed=1
}

# check NAME MODE [COMMAND...]: runs bad through COMMAND, tracing asked for. What must come of it, by MODE:
#	traced	everything recorded, but for what is counted as dropped; nothing said
#	counted	the same, and it may be that all is dropped
#	line	untraced or dropping, one line says why
#	either	one of the two
#	quiet	nothing said, whatever is recorded
check() {
	name=$1 mode=$2
	shift 2
	for path in ${only:-$paths}; do
		cases=$((cases + 1))
		: >"$work/said"
		KTR_PATH=$path KTR_MASK=${mask-all} "$@" ${bad_run:-$bad} $bad_args >"$work/out" 2>"$work/err" 3>"$work/said"
		rc=$?
		# By the shell itself: hundreds of programs run here, each of which would take five more.
		lines=0 ours=1
		while IFS= read -r line || [ -n "$line" ]; do
			lines=$((lines + 1))
			case $line in 'ktr: '*) ;; *) ours=0 ;; esac
		done <"$work/err"
		said='' got='' more=''
		read -r said <"$work/said"
		{ IFS= read -r got; IFS= read -r more; } <"$work/out"
		[ $rc = 7 ] || fail "$name, $path path: exit status $rc"
		[ "$got$more" = "$want" ] || fail "$name, $path path: its output is $(cat "$work/out")"
		[ $ours = 1 ] || fail "$name, $path path: stderr"
		dropped=${said##*dropped=} recorded=${said#recorded=}
		recorded=${recorded%% *}
		case $mode in
		traced) [ "$lines" = 0 ] && [ "${recorded:-0}" -gt 0 ] 2>/dev/null ||
			fail "$name, $path path: $lines lines, $said" ;;
		counted) [ "$lines" = 0 ] && [ $((${recorded:-0} + ${dropped:-0})) -gt 90000 ] 2>/dev/null ||
			fail "$name, $path path: $lines lines, $said" ;;
		line) [ "$lines" = 1 ] || fail "$name, $path path: $lines lines, $said" ;;
		quiet) [ "$lines" = 0 ] || fail "$name, $path path: $lines lines, $said" ;;
		either)
			if [ "$lines" = 0 ]; then
				[ "$said" != untraced ] && [ "$recorded" -gt 0 ] || fail "$name, $path path: silent, but $said"
			elif [ "$lines" != 1 ]; then
				fail "$name, $path path: $lines lines, $said"
			fi ;;
		esac
	done
}

# The same twice: tracing asked for, and not.
both() {
	check "$@"
	name=$1
	shift 2
	mask="" check "$name, not asked for" quiet "$@"
}

bad_args=
uid=$(id -u)
place=$KTR_DIR/ktr-$uid

check "as it should be" traced
mask="" check "as it should be, not asked for" quiet
mask=nonsense check "a class that does not exist" line
both "a directory that does not exist" line env KTR_DIR=/nonexistent/for/sure
both "a directory that is not absolute" line env KTR_DIR=relative
both "no directory can be made" line env KTR_DIR=/proc

KTR_DISABLE=1 check "disabled" quiet
[ -z "$(ls -A "$place" 2>/dev/null)" ] || fail "something is left in $place: $(ls -A "$place")"
mkdir "$work/none"
mask=all KTR_DISABLE=1 check "disabled, in an empty directory" quiet env KTR_DIR="$work/none"
[ -z "$(ls -A "$work/none")" ] || fail "disabled, and made $(ls -A "$work/none")"

# The directory is not what it should be.
mkdir "$work/dir"
: >"$work/dir/ktr-$uid"
both "the directory is a file" line env KTR_DIR="$work/dir"
rm "$work/dir/ktr-$uid"
mkdir "$work/else"
ln -s "$work/else" "$work/dir/ktr-$uid"
both "the directory is a link" line env KTR_DIR="$work/dir"
[ -z "$(ls -A "$work/else")" ] || fail "a link was followed"
rm "$work/dir/ktr-$uid"
mkdir -m 777 "$work/dir/ktr-$uid"
chmod 777 "$work/dir/ktr-$uid"
both "others may write to the directory" line env KTR_DIR="$work/dir"
rm -r "$work/dir/ktr-$uid"

# The session file is not what it should be.
mkdir -p -m 700 "$place"
file=$place/shared.ktr
shared="env KTR_SESSION=shared"
echo precious >"$work/precious"
ln -s "$work/precious" "$file"
both "the session is a link" line $shared
[ "$(cat "$work/precious")" = precious ] || fail "a link was followed and written through"
rm "$file"
mkdir "$file"
both "the session is a directory" line $shared
rmdir "$file"
mkfifo "$file"
both "the session is a pipe" line $shared
rm "$file"
for bytes in 0 1 4095 70000; do
	head -c $bytes /dev/urandom >"$file"
	both "the session is $bytes bytes of noise" line $shared
	[ "$(wc -c <"$file")" = $bytes ] || fail "somebody else's file was changed"
	rm "$file"
done
# A real one, left behind, then cut or changed. A dead one of the right kind is moved aside.
only=rseq
$shared KTR_KEEP_SESSION=1 KTR_MASK=gen KTR_ENTRIES=256 "$bad" >/dev/null 2>&1 3>/dev/null
cp --sparse=always "$file" "$work/real"
check "a dead session of that name" traced $shared
rm -f "$place"/*
for bytes in 100 4096 65536 1000000; do
	head -c $bytes "$work/real" >"$file"
	both "the session is cut to $bytes bytes" line $shared
	rm -f "$place"/*
done
patch_at() { # offset, byte in octal
	cp --sparse=always "$work/real" "$file"
	printf "\\$2" | dd of="$file" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
patch_at 0 0
both "the magic is wrong" line $shared
patch_at 8 7
both "another major version" line $shared
patch_at 16 0
both "its creator did not finish it" either $shared
for at in 12 40 48 52 56 68 240 248 260 264 300; do
	for byte in 0 1 377; do
		patch_at $at $byte
		check "byte $at of the header is \\$byte" either $shared
		rm -f "$place"/*
	done
done
only=

# One session, two paths: each process says once that it has one of its own.
if [ "$paths" = "rseq thread" ]; then
	rm -f "$place"/*
	mkfifo "$work/hold"
	KTR_PATH=rseq KTR_SESSION=shared KTR_MASK=all "$bad" 0 - <"$work/hold" >/dev/null 2>&1 &
	holder=$!
	exec 4>"$work/hold"
	await '[ -e "$file" ] || ! kill -0 $holder'
	only=thread
	check "the session is recorded by the other path" line $shared
	only=
	exec 4>&-
	wait $holder
fi
rm -rf "$place"

# Limits of the process.
for limit in 1 100 10000 1000000; do
	both "RLIMIT_FSIZE $limit blocks" either sh -c "ulimit -f $limit; exec \"\$@\"" sh
done
for limit in 16000 64000 300000 2000000 20000000; do
	bad_args=1
	want="worked 8997000" both "RLIMIT_AS $limit KiB" either sh -c "ulimit -v $limit; exec \"\$@\"" sh
	bad_args=
done
both "eight descriptors" either sh -c 'ulimit -n 8; exec "$@"' sh
check "five descriptors" either sh -c 'ulimit -n 5; exec "$@"' sh

# Somebody else's rights.
if [ "$uid" = 0 ] && command -v setpriv >/dev/null; then
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	mkdir -m 755 "$work/root"
	both "a directory of root's" line env KTR_DIR="$work/root" $user
	mkdir -m 700 "$work/root/ktr-0"
	chown 65534 "$work/root/ktr-0"
	both "our directory belongs to somebody else" line env KTR_DIR="$work/root"
	# A program with more rights than its user's takes nothing from the environment.
	chmod u+s "$bad"
	mkdir -m 777 "$work/secure"
	chmod 777 "$work/secure"
	check "AT_SECURE" quiet env KTR_DIR="$work/secure" KTR_FILE="$work/secure/trace" $user
	[ -z "$(ls -A "$work/secure")" ] || fail "AT_SECURE, and the environment was followed: $(ls "$work/secure")"
	chmod u-s "$bad"
else
	skip "other users: this needs root and setpriv"
fi

# File systems of their own.
if [ "${KTR_BAD_INSIDE:-}" = mounts ] && mkdir "$work/mnt" && mount -t tmpfs none "$work/mnt" 2>/dev/null; then
	umount "$work/mnt"
	for size in 4k 64k 256k 600k 1m 2m 4m 9m; do
		for threads in 0 40; do
			mount -t tmpfs -o size=$size none "$work/mnt"
			bad_args=$threads
			both "$threads threads, a file system of $size" either env KTR_DIR="$work/mnt"
			umount "$work/mnt"
		done
	done
	bad_args=4
	mount -t tmpfs -o size=64m none "$work/mnt"
	check "a file system of 64 MiB" traced env KTR_DIR="$work/mnt"
	bad_args=100
	check "a file system of 64 MiB, 100 threads" traced env KTR_DIR="$work/mnt"
	umount "$work/mnt"
	mount -t tmpfs -o ro none "$work/mnt"
	bad_args=
	both "a file system that is read only" line env KTR_DIR="$work/mnt"
	umount "$work/mnt"

	# It fills up while the program runs: events are dropped and counted, and nothing faults.
	for size in 1500k 4m 9m 24m; do
		for threads in 4 60; do
			mount -t tmpfs -o size=$size none "$work/mnt"
			bad_args="$threads $work/mnt/filler"
			check "$threads threads, $size that fill up meanwhile" either env KTR_DIR="$work/mnt"
			umount "$work/mnt"
		done
	done
	bad_args=

	# No /dev/shm, and one that is read only.
	mount --bind "$work/none" /dev/shm
	mount -o remount,bind,ro /dev/shm
	both "/dev/shm is read only" line env -u KTR_DIR
	umount /dev/shm
	mount -t tmpfs none "$work/mnt"
	cp "$bad" "$work/mnt/"
	both "there is no /dev/shm" line unshare -m sh -c 'umount -l /dev/shm; mount -t tmpfs none /dev && exec env -u KTR_DIR "$@"' sh
	umount "$work/mnt"

	# CPUs that this machine does not have, or has and the session does not.
	possible=/sys/devices/system/cpu/possible
	echo 0-383 >"$work/possible"
	if mount --bind "$work/possible" $possible 2>/dev/null; then
		mount -t tmpfs -o size=64m none "$work/mnt"
		check "384 CPUs, 64 MiB" traced env KTR_DIR="$work/mnt"
		umount "$work/mnt"
		echo 0 >"$work/possible"
		for cpu in 0 1; do
			if taskset -c $cpu true 2>/dev/null; then
				[ $cpu = 0 ] && mode=traced || mode=counted
				check "one ring, on CPU $cpu" $mode taskset -c $cpu
			fi
		done
		check "more CPUs than rings" counted
		umount $possible
	else
		skip "other CPUs: no bind mounts over /sys"
	fi

	# A clock source that is not the TSC: another clock, recorded like any other.
	source=/sys/devices/system/clocksource/clocksource0/current_clocksource
	echo hpet >"$work/source"
	if [ -e $source ] && mount --bind "$work/source" $source 2>/dev/null; then
		check "the clock source is hpet" traced
		build_stress
		for path in $paths; do
			run on_path "$path" "$out/stress" -e 400000 -p 2 -t 4 -r 512
		done
		umount $source
	else
		skip "another clock source: no bind mounts over /sys"
	fi
else
	skip "small file systems, no /dev/shm, other CPUs and clocks: no mount namespace of our own"
fi

# A memory cgroup of 64 MiB, by either version of the interface.
group=
for root in /sys/fs/cgroup /sys/fs/cgroup/memory /sys/fs/cgroup/unified; do
	[ -z "$group" ] && mkdir "$root/ktr-test-$$" 2>/dev/null || continue
	for limit in memory.max memory.limit_in_bytes; do
		[ -e "$root/ktr-test-$$/$limit" ] && echo 64M >"$root/ktr-test-$$/$limit" 2>/dev/null &&
			group=$root/ktr-test-$$
	done
	[ -n "$group" ] || rmdir "$root/ktr-test-$$"
done
if [ -n "$group" ]; then
	bad_args=100
	check "a memory cgroup of 64 MiB" traced sh -c "echo \$\$ >$group/cgroup.procs && exec \"\$@\"" sh
	rmdir "$group" || failed=1
else
	skip "a memory cgroup: none can be made here"
fi
echo "badstart: $cases programs run"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr fsck: what a killed program left is opened by babeltrace2 again, and it agrees with our reader; so it
# does after damage anywhere. Exit statuses are those of fsck(8); a repair that is killed can be repaired.
. "$(dirname "$0")/../lib.inc"

agree() {
	command -v babeltrace2 >/dev/null || return
	python3 tests/cli/read/agree.py "$ktr" "$1" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
}

${CC:-cc} -std=gnu11 -O1 -fno-omit-frame-pointer -Iinclude tests/programs/trace/ctf_events.c -o "$dir/events" \
	"$O/lib/libktr.a" -lpthread || exit 1

# Killed while its trace grows: torn or not, it is opened afterwards, and nothing that was whole is lost. At full speed
# twice: what is left then is large, and takes long to compare.
for round in 1 2 3 4 5 6; do
	path=rseq
	[ $((round % 2)) -eq 0 ] && path=thread
	t=$dir/killed.$round
	slow=
	[ $round -le 2 ] || slow=slow
	KTR_PATH=$path KTR_MASK=all KTR_ENTRIES=4096 KTR_FILE=$t "$dir/events" 2000000 $slow &
	pid=$!
	until [ -d "$t" ] && [ "$(du -sk "$t" | cut -f1)" -gt $((80 + round * 40)) ]; do
		kill -0 $pid 2>/dev/null || break
	done
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	# As a full disk or a crash of the machine leaves it, too.
	for file in "$t"/cpu_0 "$t"/ring_0 "$t"/metadata "$t"/ktr/threads.jsonl; do
		[ -s "$file" ] && [ $round -gt 2 ] && truncate -s -$round "$file"
	done
	"$ktr" dump -q --no-join "$t" >"$dir/before" 2>/dev/null
	"$ktr" fsck "$t" 2>"$dir/err"
	[ $? -le 1 ] || fail "fsck $t: $(cat "$dir/err")"
	status 0 "$ktr" fsck "$t"
	"$ktr" dump -q --no-join "$t" >"$dir/after" 2>/dev/null
	[ -s "$dir/after" ] || fail "$t: nothing is left"
	# Packets behind one that was being written may come in addition, with the loss between.
	diff "$dir/before" "$dir/after" | grep -q '^< [^-]' && fail "$t: the repair loses what was read"
	agree "$t"
	[ $round -le 2 ] || [ -n "$(ls "$t/ktr/lost+found")" ] || fail "$t: nothing was kept"
	rm -rf "$t"
done

# Metadata that was written in several pieces, of which the last one is torn in its checksum: what that
# described is described anew, and nothing is left to repair.
cat >"$dir/late.c" <<'END'
#include <ktr.h>
#include <dlfcn.h>
#include <stdio.h>
#ifdef LATE
void late(void);
void late(void) { CTR1(KTR_GEN, "late %d", 1); }
#else
int main(int argc, char **argv)
{
	void *module, *late = NULL;
	(void)argc;
	CTR0(KTR_GEN, "early");
	getchar();
	module = dlopen(argv[1], RTLD_NOW);
	late = module ? dlsym(module, "late") : NULL;
	if (!late)
		return 1;
	((void (*)(void))late)();
	return 0;
}
#endif
END
$cc -std=gnu11 -O1 -Iinclude -DLATE -shared -fPIC "$dir/late.c" -o "$dir/late.so" &&
	$cc -std=gnu11 -O1 -Iinclude "$dir/late.c" -o "$dir/late" -L"$O/lib" -lktr "-Wl,-rpath,$O/lib" || exit 1
mkfifo "$dir/go"
KTR_MASK=gen KTR_FILE="$dir/two" "$dir/late" "$dir/late.so" <"$dir/go" &
pid=$!
exec 5>"$dir/go"
# The program's own point is described, and nothing is being written: a piece with the head or one behind it.
await 'grep gen:late.c -A 1000 "$dir/two/metadata" 2>/dev/null | tail -n 1 | grep -q crc32c'
pieces=$(grep -c crc32c "$dir/two/metadata")
echo >&5
exec 5>&-
wait $pid || fail "the program that loads a module"
[ "$(grep -c crc32c "$dir/two/metadata")" -eq $((pieces + 1)) ] || fail "the module's points are in no piece of their own"
truncate -s -5 "$dir/two/metadata"
status 1 "$ktr" fsck "$dir/two"
status 0 "$ktr" fsck "$dir/two"
agree "$dir/two"

# A sound trace, and damage here and there.
KTR_MASK=all KTR_ENTRIES=65536 KTR_FILE="$dir/good" "$dir/events" 600 || fail "the program failed"
status 0 "$ktr" fsck "$dir/good"
agree "$dir/good"
big=$(ls -S "$dir"/good/cpu_? "$dir"/good/ring_? 2>/dev/null | head -n 1)
big=${big##*/}
n=$(stat -c %s "$dir/good/$big")
spoil() { # file offset: another byte than there is
	case $(od -An -tu1 -j "$2" -N 1 "$1") in
	*" 85") printf '\252' ;;
	*) printf '\125' ;;
	esac | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
for at in 40 250 $((n / 2)) $((n - 30)); do
	rm -rf "$dir/bad"
	cp -a "$dir/good" "$dir/bad"
	spoil "$dir/bad/$big" "$at"
	status 4 "$ktr" fsck -n "$dir/bad"
	status 1 "$ktr" fsck "$dir/bad"
	grep -q "$big: bytes [0-9]* to [0-9]*" "$dir/err" || fail "no place is named: $(cat "$dir/err")"
	status 0 "$ktr" fsck -y "$dir/bad"
	agree "$dir/bad"
done
rm -rf "$dir/bad"
cp -a "$dir/good" "$dir/bad"
spoil "$dir/bad/metadata" 900
spoil "$dir/bad/ktr/sites.jsonl" 20
echo notes >"$dir/bad/notes.txt"
status 1 "$ktr" fsck "$dir/bad"
status 0 "$ktr" fsck "$dir/bad"
agree "$dir/bad"
status 0 "$ktr" dump "$dir/bad"
grep -q notes "$dir"/bad/ktr/lost+found/notes.txt.* || fail "a stranger's file was not kept"

# Killed at any moment, it can be run again.
for ms in 1 2 3 5 8; do
	rm -rf "$dir/bad"
	cp -a "$dir/good" "$dir/bad"
	for at in 250 $((n / 3)) $((n - 30)); do
		spoil "$dir/bad/$big" "$at"
	done
	spoil "$dir/bad/metadata" 900
	timeout -s KILL 0.00$ms "$ktr" fsck "$dir/bad" >/dev/null 2>&1
	# It may take a moment to die.
	await 'flock -n "$dir/bad/ktr/info.jsonl" true'
	"$ktr" fsck "$dir/bad" >"$dir/out" 2>&1
	[ $? -le 1 ] || fail "after a killed repair: $(cat "$dir/out")"
	status 0 "$ktr" fsck "$dir/bad"
done
agree "$dir/bad"

status 8 "$ktr" fsck "$dir/nothing"
status 8 "$ktr" fsck "$KTR_DIR"
status 16 "$ktr" fsck --no-such-option
status 8 "$ktr" fsck "$dir/good" "$dir/nothing"
if [ "$(id -u)" = 0 ]; then
	rm -rf "$dir/bad"
	mkdir "$dir/bad"
	if mount -t tmpfs -o size=256k none "$dir/bad" 2>/dev/null; then
		KTR_MASK=all KTR_FILE="$dir/small" "$dir/events" 300
		cp -a "$dir/small" "$dir/bad/t"
		spoil "$dir/bad/t/metadata" 900
		dd if=/dev/zero of="$dir/bad/fill" bs=4k 2>/dev/null
		status 12 "$ktr" fsck "$dir/bad/t"
		grep -qi 'no space' "$dir/err" || fail "a full disk: $(cat "$dir/err")"
		rm "$dir/bad/fill"
		status 1 "$ktr" fsck "$dir/bad/t"
		agree "$dir/bad/t"
		umount "$dir/bad"
	fi
fi
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr probe: what a program's probes are and do is told and switched from outside, on both paths: points and handles,
# before and behind registration and removal, in all processes of a session, those that come later too; by glob, by
# knob, a hundred thousand of them; of dead sessions, of hostile ones, of those that older versions made.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
libs="$O/lib/libktr-probe.a $libs"
build probe_host tests/programs/provider/probe_host.c
build probe_race tests/stress/probe_race.c
set -f # patterns are for ktr
export KTR_CONF=
host=$out/probe_host

# begin NAME [ENV...]: starts a host whose lines ask() sends; its session is NAME.
begin() {
	name=$1
	shift
	rm -f "$dir/in" "$dir/out.$name"
	mkfifo "$dir/in" "$dir/out.$name"
	env "KTR_SESSION=$name" "$@" "$host" <"$dir/in" >"$dir/out.$name" 2>"$dir/err.$name" &
	pid=$!
	exec 3>"$dir/in" 4<"$dir/out.$name"
}
end() {
	exec 3>&- 4<&-
	wait "$pid" 2>/dev/null
}
at_exit() {
	exec 3>&- 4<&-
	[ -z "${pid:-}" ] || kill "$pid" 2>/dev/null
	[ ! -d "$dir/full" ] || umount "$dir/full" 2>/dev/null
}
# ask LINE WANTED
ask() {
	echo "$1" >&3
	IFS= read -r answer <&4 || answer='no answer'
	is "$1" "$answer" "$2"
}
# shown PATTERN WANTED: state, fires and feeds of the one probe that fits
shown() {
	is "list $1" "$("$ktr" probe list -s "$name" "$1" | awk 'NR > 1 { print $(NF - 3), $(NF - 2), $(NF - 1) }')" "$2"
}
probe() { # VERB GLOB WANTED
	is "probe $1 $2" "$("$ktr" probe "$1" -s "$name" $2 2>&1)" "$3"
}
events() {
	"$ktr" dump -s "$name" 2>/dev/null | grep -c "$1"
}

for path in $paths; do
	[ "$path" = thread ] && export KTR_PATH=thread
	begin "path.$path"
	ask 'fire 3' fired
	shown depth 'off 0 macro'
	# Points, by glob.
	probe enable 'dep*' '1 probe enabled'
	probe enable 'custom.dep*' '0 probes enabled, 1 already so'
	# By what a run-time probe is called among those of all providers.
	probe disable 'probe:custom::dep*' '1 probe disabled'
	probe enable 'probe:custom:*:depth' '1 probe enabled'
	ask 'fire 3' fired
	shown custom.depth 'on 6 macro'
	shown ipc_send 'off 0 macro'
	is "events, $path" "$(events 'probe .*probe_host.c:[0-9]*  *depth')" 6
	probe disable '*' '1 probe disabled, 1 already so'
	ask 'fire 1' fired
	shown depth 'off 6 macro'
	# By handle, with a handler, registered behind the start of the session.
	ask 'register by handle %d' 0
	ask 'fire 1' fired
	probe enable 'by*' '1 probe enabled'
	ask 'fire 4' fired
	ask calls 4
	shown 'by handle*' 'on 4 run-time'
	is "events by handle, $path" "$(events 'by handle %d 0x3 0 0')" 1
	# By knob.
	ask 'register k' 0
	knob=debug.ktr.probe.custom.k
	is "knob, $path" "$("$ktr" sysctl -s "$name" $knob.enabled=1 $knob.enabled $knob.fires $knob.fed | tr '\n' ' ')" \
		"$knob.enabled: 0 -> 1 $knob.enabled: 1 $knob.fires: 0 $knob.fed: run-time "
	ask 'fire 1' fired
	is "knob's fires, $path" "$("$ktr" sysctl -n -s "$name" probe.custom.k.fires)" 1
	# Removed, it is not there; registered again it is off.
	ask 'remove k' 0
	is "removed, $path" "$("$ktr" probe list -s "$name" k 2>&1)" 'ktr probe: unknown probe "k"'
	ask 'fire 1' fired
	ask 'register k' 0
	shown k 'off 1 run-time'
	# A probe that was removed under its points is off there until it is enabled or registered.
	ask 'register depth' 0
	ask 'enable depth' 0
	ask 'remove depth' 0
	ask 'fire 2' fired
	is "removed under its points, $path" "$("$ktr" probe list -s "$name" | grep -c depth)" 0
	ask 'enable depth' 0
	ask 'fire 2' fired
	shown depth 'on 12 macro'
	ask 'disable depth' 0
	shown depth 'off 12 macro'
	# Nearest, and what is wrong usage.
	status 1 "$ktr" probe enable -s "$name" dephts
	grep -q 'the nearest is "depth"' "$dir/err" || fail "no nearest: $(cat "$dir/err")"
	status 2 "$ktr" probe -s "$name"
	status 2 "$ktr" probe enabel -s "$name"
	end
	unset KTR_PATH
done

# Two processes of a session, one of which came later, share what has one name; a child does too, and counts anew.
begin shared
ask 'register mine' 0
probe enable 'mine depth' '2 probes enabled'
echo 'fire 5' | KTR_SESSION=shared "$host" >/dev/null
shown depth 'on 10 macro'
printf 'register mine\nfire 1\ncalls\n' | KTR_SESSION=shared "$host" >"$dir/second"
is 'a second process' "$(tr '\n' ' ' <"$dir/second")" '0 fired 1 '
shown mine 'on 1 run-time'
printf 'remove mine\n' | KTR_SESSION=shared "$host" >"$dir/second"
is 'a third, which has it not' "$(cat "$dir/second")" -1
printf 'register mine\nremove mine\n' | KTR_SESSION=shared "$host" >/dev/null
shown mine 'on 1 run-time'
printf 'fire 2\ncalls\n' >"$dir/lines"
echo "fork $dir/lines" >&3
for want in fired 2 back; do
	IFS= read -r answer <&4
	is 'a child' "$answer" "$want"
done
shown mine 'on 3 run-time'
ask calls 0
probe disable mine '1 probe disabled'
ask 'fire 1' fired
ask calls 0
echo exec >&3
ask 'fire 1' fired
shown depth 'on 20 macro'
end

# On from the start, by pattern, once: what is switched later stays so. What fits none is told of.
cat >"$dir/first" <<-'END'
	fire 2
	register k
	register later
	fire 1
	disable depth
	register depth
	fire 4
END
for first in 'KTR_PROBES=dep*, custom.l*,none.such' "KTR_CONF=$dir/first.conf"; do
	echo 'debug.ktr.probes="custom.dep*,later,none.such"' >"$dir/first.conf"
	env KTR_SESSION=first KTR_FILE="$dir/first.trace" "$first" "$host" <"$dir/first" >/dev/null 2>"$dir/err"
	is "$first" "$(cat "$dir/err")" 'ktr: debug.ktr.probes: no probe fits none.such'
	is "events of depth, $first" "$("$ktr" dump -q "$dir/first.trace" | grep -c ' depth')" 6
	is "events of later, $first" "$("$ktr" dump -q "$dir/first.trace" | grep -c ' later')" 5
	rm -rf "$dir/first.trace"
done
"$ktr" run --probe 'ipc_send' -o "$dir/first.trace" "$host" <"$dir/first" >/dev/null 2>&1
is 'events by ktr run --probe' "$("$ktr" dump -q "$dir/first.trace" | grep -c ' ipc_send')" 7
is 'of others' "$("$ktr" dump -q "$dir/first.trace" | grep -c ' depth')" 0

# A program that starts ktr by itself has its points when it does.
cat >"$dir/self.c" <<-'END'
	#define KTR_NO_AUTOSTART
	#include <ktr.h>
	#include <ktr/ctl.h>
	#include <ktr/probe.h>
	#include <stdio.h>
	int main(void)
	{
		const struct ktr_options options = { .size = sizeof(options), .session = "self", .mask = "all" };
		int code = ktr_open(&options, NULL);

		ktr_start();
		printf("%d %s %d\n", code, ktr_session_name(), ktr_probe_enable(ktr_probe_find(KTR_PROBE_CUSTOM, "self")));
		KTR_PROBE_POINT1(KTR_PROBE_CUSTOM, "self", code);
		fflush(stdout);
		getchar();
		return 0;
	}
END
# shellcheck disable=SC2086
$cc -O1 -D_GNU_SOURCE -Iinclude "$dir/self.c" -o "$dir/self" $libs || exit 1
mkfifo "$dir/self.in" "$dir/self.out"
"$dir/self" <"$dir/self.in" >"$dir/self.out" &
pid=$!
exec 3>"$dir/self.in" 4<"$dir/self.out"
IFS= read -r answer <&4
is 'a program that starts by itself' "$answer" '0 self 0'
is 'its events' "$("$ktr" dump -q -s self | grep -c ' self 0')" 1
end

# A child with a session of its own begins as its parent is, and goes its own way.
begin parent KTR_FOLLOW_FORK=own
ask 'register mine' 0
probe enable 'mine' '1 probe enabled'
mkfifo "$dir/child"
echo "fork $dir/child" >&3
exec 5>"$dir/child"
echo 'fire 3' >&5
read -r answer <&4
child=$("$ktr" ls --json | grep -o 'probe_host\.[0-9]*' | head -n 1)
is 'in the child' "$("$ktr" probe list -s "$child" mine | awk 'NR > 1 { print $2, $3 }')" 'on 3'
shown mine 'on 0 run-time'
probe disable mine '1 probe disabled'
is 'still in the child' "$("$ktr" probe list -s "$child" mine | awk 'NR > 1 { print $2, $3 }')" 'on 3'
exec 5>&-
read -r answer <&4
is 'the parent' "$answer" back
end

# Many.
begin many
ask 'many 100000' 0
is 'many' "$("$ktr" probe list -s many 'many *' | wc -l)" 100001
probe enable 'many?777*' '111 probes enabled'
is 'many, switched' "$("$ktr" probe list -s many 'many *' | grep -c ' on ')" 111
end

# Switched from outside while eight threads fire, and others switch, remove and register.
for path in $paths; do
	on_path "$path" env KTR_SESSION=race timeout 300 "$out/probe_race" 1 1000 >"$dir/race" 2>&1 &
	race=$!
	await '[ -n "$(find "$KTR_DIR" -name race.ktr)" ] || ! kill -0 $race 2>/dev/null'
	while [ -n "$(find "$KTR_DIR" -name race.ktr)" ] && kill -0 $race 2>/dev/null; do
		"$ktr" probe disable -s race 'race*' point
		"$ktr" probe list -s race
		"$ktr" probe enable -s race 'race*' point
	done >/dev/null 2>&1
	wait $race || fail "race, $path: $(cat "$dir/race")"
done

# Dead: listed, and not switched.
begin dead
ask 'register mine' 0
ask 'enable mine' 0
ask 'fire 7' fired
echo crash >&3
wait "$pid" 2>/dev/null
is 'dead' "$("$ktr" probe list -s dead mine 2>"$dir/err" | awk 'NR > 1 { print $2, $3 }')" 'on 7'
grep -q 'session dead is dead' "$dir/err" || fail "dead, and not said: $(cat "$dir/err")"
status 1 "$ktr" probe enable -s dead
grep -q 'nobody is there' "$dir/err" || fail "dead, and switched: $(cat "$dir/err")"

# Of an older version: no such table. Of somebody who writes what he likes: neither tool nor program fall for it.
dead=$(find "$KTR_DIR" -name dead.ktr)
cp --sparse=always "$dead" "$dir/keep.ktr"
python3 - "$dir/keep.ktr" "$(dirname "$dead")" <<'END' || fail 'sessions were not made'
import os, random, struct, sys
kept, where = sys.argv[1:]
FIRST = 16
head = open(kept, 'rb').read(4096)
n_at, regions_at = 60, 240
if struct.unpack_from('<I', head, n_at)[0] < 19 or struct.unpack_from('<Q', head, regions_at)[0] != 65536:
    sys.exit('this is no session header as it is known here')
regions = [struct.unpack_from('<QQII', head, regions_at + 24 * i) for i in range(19)]
def sparse(name):
    path = os.path.join(where, name + '.ktr')
    os.system('cp --sparse=always %s %s' % (kept, path))
    return open(path, 'r+b')
with sparse('old') as f:
    f.seek(n_at)
    f.write(struct.pack('<I', FIRST))
hash_at, rows_at, counts_at = (regions[i][0] for i in (16, 17, 18))
for i in range(20):
    random.seed(i)
    with sparse('bad%d' % i) as f:
        for base, size in (hash_at, 16384), (rows_at, 2048), (counts_at, 8192):
            f.seek(base)
            old = bytearray(f.read(size))
            for _ in range(size // 8):
                old[random.randrange(size)] = random.choice((0, 1, 2, 255, random.randrange(256)))
            f.seek(base)
            f.write(old)
END
is 'of an older version' "$("$ktr" probe list -s old 2>&1 | sort -u)" \
	"ktr probe: session dead is dead, its probes are shown as they were last"
i=0
while [ $i -lt 20 ]; do
	timeout 120 "$ktr" probe list -s bad$i >"$dir/out" 2>"$dir/err" || fail "bad$i: $? $(cat "$dir/err")"
	timeout 120 "$ktr" sysctl -s bad$i probe >"$dir/out" 2>"$dir/err" || fail "sysctl bad$i: $? $(cat "$dir/err")"
	LC_ALL=C grep -q '[[:cntrl:]]' "$dir/out" && fail "bad$i: control characters on the terminal"
	i=$((i + 1))
done
# A program that joins a session of an older version has its probes for itself.
begin joined
ask 'register a' 0
printf '\020\000\000\000' | dd of="$(find "$KTR_DIR" -name joined.ktr)" bs=1 seek=60 conv=notrunc 2>/dev/null
printf 'register a\nenable a\nfire 2\ncalls\n' | KTR_SESSION=joined "$host" >"$dir/second"
is 'in a session of an older version' "$(tr '\n' ' ' <"$dir/second")" '0 0 fired 2 '
is 'and nothing is seen of them' "$("$ktr" probe list -s joined 2>&1)" \
	'ktr probe: session joined has no probes that can be seen from outside: it is of an older version'
end

# No room: the file system is full, which is nobody's SIGBUS. They are not seen from outside, and work.
if mkdir "$dir/full" && mount -t tmpfs -o size=1m tmpfs "$dir/full" 2>"$dir/err"; then
	name=full
	rm -f "$dir/in" "$dir/out.full"
	mkfifo "$dir/in" "$dir/out.full"
	KTR_DIR=$dir/full KTR_SESSION=full "$host" <"$dir/in" >"$dir/out.full" 2>"$dir/err.full" &
	pid=$!
	exec 3>"$dir/in" 4<"$dir/out.full"
	ask 'register before' 0
	[ -n "$(find "$dir/full" -name full.ktr)" ] || fail 'the small file system has no session'
	head -c 2m /dev/zero >"$dir/full/zeroes" 2>/dev/null
	ask 'register behind' 0
	ask 'many 5000' 0
	echo 'enable before' >&3
	IFS= read -r answer <&4
	ask 'fire 3' fired
	rm "$dir/full/zeroes"
	ask 'enable behind' 0
	ask 'fire 3' fired
	end
	is 'a full file system' "$(cat "$dir/err.full")" ''
	umount "$dir/full"
else
	skip "no small file system can be mounted: $(head -n 1 "$dir/err")"
fi

# A program whose session somebody scribbles in goes on: chains that turn in circles, numbers beyond the table.
for what in 0xffffffff 1 0x7fffffff 2; do
	begin scribbled
	ask 'register a' 0
	ask 'enable a' 0
	ask 'fire 2' fired
	python3 - "$(find "$KTR_DIR" -name scribbled.ktr)" $what <<-'END' || fail 'not scribbled'
		import struct, sys
		what = int(sys.argv[2], 0)
		with open(sys.argv[1], 'r+b') as f:
		    head = f.read(4096)
		    hash_at, rows_at, counts_at = (struct.unpack_from('<Q', head, 240 + 24 * i)[0] for i in (16, 17, 18))
		    f.seek(hash_at)
		    f.write(struct.pack('<I', what) * 4096)
		    for row in range(8):
		        f.seek(rows_at + 128 * row)
		        # Their words and names stay.
		        f.write(struct.pack('<II', what, what) if row == 0 else b'')
		        f.seek(rows_at + 128 * row + 16)
		        f.write(struct.pack('<III', what, what, what) if row else b'')
	END
	ask 'register b' 0
	ask 'many 300' 0
	ask 'enable b' 0
	ask 'fire 2' fired
	ask 'remove a' 0
	ask 'fire 2' fired
	end
done
exit $failed

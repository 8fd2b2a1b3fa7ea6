#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Providers: what one offers is listed and switched by provider:module:function:name from outside, at start and from
# C; enabling that fails says why; call sites, run-time probes and the kernel's events answer to such names too; in all
# processes of a session, in children, behind removal; a hundred thousand of them; in sessions that others write into.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
libs="$O/lib/libktr-provider.a $libs"
build provider_host tests/programs/provider/provider_host.c
set -f # patterns are for ktr
export KTR_CONF=
host=$out/provider_host

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
	is "end of $name" $? "${1:-0}"
}
at_exit() {
	exec 3>&- 4<&-
	[ -z "${pid:-}" ] || kill "$pid" 2>/dev/null
}
ask() { # LINE WANTED
	echo "$1" >&3
	IFS= read -r answer <&4 || answer='no answer'
	is "$1" "$answer" "$2"
}
probe() { # VERB SPEC WANTED
	is "probe $1 $2" "$("$ktr" probe "$1" -s "$name" "$2" 2>&1)" "$3"
}
shown() { # SPEC WANTED: name and state of what fits
	is "list $1" "$("$ktr" probe list -s "$name" "$1" 2>&1 | awk 'NR > 1 { print $1, $2 }' | tr '\n' ' ')" "$2"
}
events() { # PATTERN WANTED
	is "events of $1" "$("$ktr" dump -s "$name" 2>/dev/null | grep -c "$1")" "$2"
}

for path in $paths; do
	[ "$path" = thread ] && export KTR_PATH=thread
	begin "path.$path"
	ask 'offer a' 0
	ask 'offer b' 0
	ask 'fire a 2' fired
	shown 'host:' 'host::work:a off host::work:b off '
	is 'its arguments' "$("$ktr" probe list -s "$name" 'host::work:a' | awk 'NR > 1 { $1 = $2 = ""; print }')" \
		'  int n, const char *name, pid_t pid'
	probe enable 'host::w*:a' '1 probe enabled'
	ask 'calls a' '1 0 0 0 0'
	probe enable 'host:::[ab]' '1 probe enabled, 1 already so'
	ask 'calls a' '1 0 0 0 0'
	ask 'fire a 3' fired
	events 'host .*work:a n=2 name=a pid=4711' 1
	events 'work:a' 3
	probe disable 'host:' '2 probes disabled'
	ask 'calls a' '1 1 0 0 0'
	ask 'fire a 1' fired
	events 'work:a' 3
	# From C, also of what is offered by the name that is asked for.
	ask 'switch +host:::a' '0 '
	ask 'switch +host:::asked-for' '0 '
	ask 'switch +host:::askedfor' '-2 unknown probe "host:::askedfor", the nearest is "host:::asked-for"'
	shown 'host:' 'host::work:a on host::work:b off host:::asked-for on '
	# Suspended, nothing is recorded, and enabled probes know.
	ask suspend done
	ask 'fire a 1' fired
	ask 'calls a' '2 1 1 0 0'
	ask resume done
	ask 'fire a 1' fired
	ask 'calls a' '2 1 1 1 0'
	events 'work:a' 4
	# Refused, with a reason; allowed at the next request.
	ask 'refuse c' 0
	probe enable 'host:::c' "ktr probe: host::work:c: c may not be watched
0 probes enabled"
	shown 'host:::c' 'host::work:c failed '
	ask 'switch +host:::c' '-1 host::work:c: c may not be watched'
	ask allow allowed
	probe enable 'host:::c' '1 probe enabled'
	ask 'fire c 1' fired
	events 'work:c' 1
	# Gone, it is not there; offered again it is as the session has it.
	ask 'remove c' removed
	ask 'calls c' '3 1 0 0 1'
	probe list 'host:::c' 'ktr probe: no probe fits'
	status 1 "$ktr" probe enable -s "$name" 'host:::c'
	ask 'offer c' 0
	shown 'host:::c' 'host::work:c on '
	# Call sites.
	"$ktr" sysctl -s "$name" mask=-gen >/dev/null
	ask 'point 1' passed
	probe enable 'ktr::run:provider_host.c:*' '1 probe enabled'
	ask 'point 2' passed
	events 'a point' 1
	is 'its rule' "$("$ktr" sysctl -n -s "$name" sites)" '+ktr::run:provider_host.c:*'
	probe disable 'ktr::r*' '1 probe disabled'
	ask 'point 3' passed
	events 'a point' 1
	status 1 "$ktr" probe enable -s "$name" 'ktr::runs'
	grep -q 'unknown probe "ktr::runs"' "$dir/err" || fail "nothing is unknown: $(cat "$dir/err")"
	ask leave alone
	ask 'calls a' '2 2 1 1 1'
	probe list 'host:' 'ktr probe: no probe fits, and no process of the session has providers: ktr attach -p PID brings them'
	end
	unset KTR_PATH
done

# What the kernel tells, where a writer could: the switch is debug.ktr.kernel.
begin kernel KTR_FILE="$dir/kernel.trace"
ask 'point 1' passed
await '[ -e "$dir/kernel.trace/metadata" ] || ! kill -0 "$pid" 2>/dev/null'
shown 'sched:' 'sched:kernel::switch off '
probe enable '[sv]*:kernel' '2 probes enabled'
is 'debug.ktr.kernel' "$("$ktr" sysctl -n -s kernel debug.ktr.kernel)" all
probe disable 'vminfo:' '1 probe disabled'
shown '*:kernel' 'sched:kernel::switch on vminfo:kernel::fault off '
probe disable 'sched:' '1 probe disabled'
end

# At start: from the environment and from a file.
printf 'offer a\noffer b\nfire a 2\nfire b 2\npoint 7\n' >"$dir/lines"
echo 'debug.ktr.probes="host:::a, ktr::run"' >"$dir/first.conf"
for first in 'KTR_PROBES=host:::a,ktr::run' "KTR_CONF=$dir/first.conf"; do
	rm -rf "$dir/trace"
	env KTR_SESSION=first KTR_FILE="$dir/trace" "$first" "$host" <"$dir/lines" >/dev/null 2>"$dir/err"
	is "$first: said" "$(cat "$dir/err")" ''
	"$ktr" dump -q "$dir/trace" >"$dir/text"
	is "$first: a, b, points" "$(grep -c 'work:a' "$dir/text") $(grep -c 'work:b' "$dir/text") $(grep -c 'a point 7' "$dir/text")" \
		'2 0 1'
done
env KTR_SESSION=first KTR_PROBES='host:::nobody,nobody::x' "$host" <"$dir/lines" >/dev/null 2>"$dir/err"
is 'what fits none' "$(sort "$dir/err")" "ktr: debug.ktr.probes: no probe fits host:::nobody
ktr: debug.ktr.probes: no probe fits nobody::x"

# Two processes of a session, one of them a child; each does what there is to do.
begin shared
ask 'offer a' 0
mkfifo "$dir/child"
echo "fork $dir/child" >&3
exec 5>"$dir/child"
echo 'calls a' >&5
IFS= read -r answer <&4
is 'a child' "$answer" '0 0 0 0 0'
probe enable 'host:::a' '1 probe enabled'
printf 'calls a\nfire a 2\n' >&5
for want in '1 0 0 0 0' fired; do
	IFS= read -r answer <&4
	is 'in the child' "$answer" "$want"
done
exec 5>&-
IFS= read -r answer <&4
is 'the child has ended' "$answer" back
ask 'calls a' '1 0 0 0 0'
ask 'fire a 1' fired
events 'work:a' 3
printf 'offer a\ncalls a\nfire a 1\n' | KTR_SESSION=shared "$host" >"$dir/second"
is 'one that comes later' "$(tr '\n' ' ' <"$dir/second")" '0 1 0 0 0 0 fired '
shown 'host:::a' 'host::work:a on '
end

# One that is stopped is told of, and does it when it goes on; what else it may have is not known.
begin stopped
ask 'offer a' 0
kill -STOP "$pid"
await '! find "/proc/$pid/task" -mindepth 2 -name status -exec grep ^State: {} + | grep -qv "T (stopped)"'
status 1 "$ktr" probe enable -s stopped 'host:'
is 'stopped' "$(sort "$dir/out" "$dir/err")" "1 probe enabled
ktr probe: 1 process has not done so yet
ktr probe: 1 process has not told of all that fits yet: ask again for the rest"
kill -CONT "$pid"
await 'echo "calls a" >&3; IFS= read -r answer <&4; [ "$answer" = "1 0 0 0 0" ]'
end

# A child with a session of its own goes its own way.
begin parent KTR_FOLLOW_FORK=own
ask 'offer a' 0
probe enable 'host:::a' '1 probe enabled'
echo "fork $dir/child" >&3
exec 5>"$dir/child"
echo 'fire a 3' >&5
read -r answer <&4
child=$("$ktr" ls --json | grep -o 'provider_host\.[0-9]*' | head -n 1)
is 'in the child' "$("$ktr" probe list -s "$child" 'host:' | awk 'NR > 1 { print $1, $2 }')" 'host::work:a on'
probe disable 'host:' '1 probe disabled'
is 'still in the child' "$("$ktr" probe list -s "$child" 'host:' | awk 'NR > 1 { print $1, $2 }')" 'host::work:a on'
exec 5>&-
read -r answer <&4
is 'the parent' "$answer" back
end

# Many, and a process that is killed.
begin many
ask 'many 100000' 0
is 'many' "$("$ktr" probe list -s many 'host:many' | wc -l)" 100001
await '"$ktr" probe enable -s many host:many >"$dir/out" 2>"$dir/err"; ! grep -q "not done so yet" "$dir/err"'
is 'many, all on' "$("$ktr" probe list -s many 'host:many' | awk '$2 == "on"' | wc -l)" 100000
status 0 "$ktr" probe disable -s many 'host:many'
# Of many that cannot be enabled ten are told.
for i in $(seq 12); do ask "refuse refused$i" 0; done
status 1 "$ktr" probe enable -s many 'host:::refused*'
is 'ten and two' "$(grep -c 'may not be watched' "$dir/err") $(tail -n 1 "$dir/err")" '10 ktr probe: and 2 more: ktr probe list tells why'
probe enable 'host:many:f?777' '9 probes enabled'
is 'many, switched' "$("$ktr" probe list -s many 'host:m*' | grep -c ' on ')" 9
echo crash >&3
end 137
is 'dead, and listed' "$("$ktr" probe list -s many 'host:many:f1777' | awk 'NR > 1 { print $2 }')" on
status 1 "$ktr" probe enable -s many 'host:'
grep -q 'nobody is there' "$dir/err" || fail "dead, and switched: $(cat "$dir/err")"
"$ktr" rm many

# The library's thread keeps nobody: main ends, the other thread goes on and ends the process.
KTR_SESSION=ends timeout 120 "$host" main-exits >"$dir/out" </dev/null
is 'main ends by itself' "$? $(cat "$dir/out")" '0 outlived'

# A program and the tool whose session somebody scribbles in go on.
for what in 0xffffffff 1 0x7fffffff; do
	begin scribbled
	ask 'offer a' 0
	python3 - "$(find "$KTR_DIR" -name scribbled.ktr)" $what <<-'END' || fail 'not scribbled'
		import struct, sys
		what = int(sys.argv[2], 0)
		with open(sys.argv[1], 'r+b') as f:
		    head = f.read(4096)
		    hash_at, rows_at, hosts_at = (struct.unpack_from('<Q', head, 240 + 24 * i)[0] for i in (19, 20, 21))
		    f.seek(hash_at)
		    f.write(struct.pack('<I', what) * 65536)
		    f.seek(rows_at)
		    f.write(struct.pack('<II', what, what))
		    for row in range(1, 8):
		        f.seek(rows_at + 64 * row + 8)
		        f.write(struct.pack('<10I', *[what] * 10))
		    f.seek(hosts_at)
		    f.write(struct.pack('<I', what) * 64)
	END
	timeout 300 "$ktr" probe list -s scribbled '*:' >"$dir/out" 2>&1
	[ $? -le 1 ] || fail "list, scribbled with $what: $(tail -n 1 "$dir/out")"
	LC_ALL=C grep -q '[[:cntrl:]]' "$dir/out" && fail "scribbled with $what: control characters on the terminal"
	timeout 300 "$ktr" probe enable -s scribbled 'host:' >"$dir/out" 2>&1
	[ $? -le 1 ] || fail "enable, scribbled with $what: $(tail -n 1 "$dir/out")"
	ask 'offer b' 0
	echo 'switch +host:::b' >&3
	IFS= read -r answer <&4 || fail "no answer where somebody scribbles $what"
	ask 'fire a 2' fired
	ask 'remove a' removed
	end
done
exit $failed

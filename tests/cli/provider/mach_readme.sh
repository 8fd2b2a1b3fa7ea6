#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each block of the manual of the framework whose names ktr/dtrace.h has, as somebody uses it who has installed ktr: a
# program built by pkg-config, in C and C++, which counts by itself, and the two tools with each of their options on
# what it recorded, in a trace and live.
. "$(dirname "$0")/../lib.inc"
export KTR_CONF=
pid=
at_exit() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
}
MAKEFLAGS='' make -s --no-print-directory O="$O" CC="$cc" PREFIX="$dir/in" BSD_NAMES=1 install >"$dir/log" 2>&1 ||
	{ cat "$dir/log"; fail 'make install'; exit 1; }
for name in dtrace-analyze dtrace-visualize; do
	[ -x "$dir/in/bin/$name" ] || fail "BSD_NAMES=1 installs no $name"
done
export PKG_CONFIG_PATH="$dir/in/lib/pkgconfig" LD_LIBRARY_PATH="$dir/in/lib"
for how in "$cc -std=c11:c" "${CXX:-c++} -std=c++17:cc"; do
	cp tests/programs/provider/mach_readme.c "$dir/readme.${how#*:}"
	# shellcheck disable=SC2046,SC2086
	${how%:*} -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE "$dir/readme.${how#*:}" -o "$dir/readme.${how#*:}.bin" \
		$(pkg-config --cflags --libs ktr-dtrace) 2>"$dir/err" || fail "$how: $(head -n 5 "$dir/err")"
done
awk '/^#include <ktr\/dtrace.h>/ { on = 1 } /^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print }' man/mach/ktr_dtrace.3 >"$dir/page.c"
# shellcheck disable=SC2046
$cc -Wall -Wextra -Werror "$dir/page.c" -o "$dir/page" $(pkg-config --cflags --libs ktr-dtrace) || fail 'the example of ktr_dtrace.3'
"$dir/page" 2>/dev/null | grep -q '^probe 4 fired at [0-9]* ns$' || fail 'the example of ktr_dtrace.3 does not do what it says'
PATH=$dir/in/bin:$PATH
mkdir "$dir/here"
cd "$dir/here" || exit 1

# The program's counts, and what the tools tell of its trace, ./ktr.out.
for program in readme.c.bin readme.cc.bin; do
	rm -rf ktr.out ktr.out.*
	ktr run "$dir/$program" >said 2>err || fail "$program: $(cat said err)"
	dtrace-analyze -n 100000 >out 2>err || fail "dtrace-analyze: $(cat err)"
	while read -r type n; do
		is "$program: events of $type" "$(awk -v type="$type" '$1 == type && $2 == ":" { print $3 }' out)" "$n"
	done <said
	[ "$(wc -l <said)" -eq 8 ] || fail "$program said: $(cat said)"
done
events=$(sed -n 's/^Total events: //p' out)

# Basic analysis: the last hundred; all, with -v; so many.
status 0 dtrace-analyze
grep -qx 'Total events: 100' "$dir/out" || [ "$events" -lt 100 ] || fail 'basic analysis: not a hundred'
grep -q '^=== Active Probes ===' "$dir/out" || fail 'no probes'
is 'recent events' "$(sed -n '/^=== Recent/,$p' "$dir/out" | grep -cE '^[0-9-]+ +[a-z_]+ +[0-9]+\.')" 10
status 0 dtrace-analyze -v
grep -qx '  Max events: 100' "$dir/out" || fail '-v does not tell what was asked for'
status 0 dtrace-analyze --verbose -n 1000 ktr.out
is 'events with -v' "$(sed -n '/^=== Recent/,$p' "$dir/out" | grep -cE '^[0-9-]+ +[a-z_]+ +[0-9]+\.')" "$events"
status 0 dtrace-analyze -n 3
grep -qx 'Total events: 3' "$dir/out" && grep -qx "Older events, not among them: $((events - 3))" "$dir/out" ||
	fail "-n 3 of $events: $(grep events: "$dir/out")"
status 0 dtrace-analyze --help
grep -q -- '--continuous' "$dir/out" || fail '--help'
mkdir damaged
: >damaged/metadata
status 1 dtrace-analyze damaged
is 'of what cannot be opened' "$(cat "$dir/out")" ''
status 1 dtrace-analyze --json damaged
is 'of what cannot be opened, as JSON' "$(cat "$dir/out")" ''
status 2 dtrace-analyze -t 3
status 2 dtrace-analyze --no-such
is 'by its other name' "$(ktr dtrace-analyze -n 3 ktr.out)" "$(dtrace-analyze -n 3 ktr.out)"

# JSON, which a program reads, and the other tool.
dtrace-analyze --json -n 100000 >events.json || fail '--json'
python3 - said <<-'END' || fail 'the JSON is not what the program has counted'
	import json, sys, collections
	events = json.load(open('events.json'))['events']
	n = collections.Counter(e['type'] for e in events)
	said = dict(line.split() for line in open(sys.argv[1]))
	bad = {t: (n[t], c) for t, c in said.items() if n[t] != int(c)}
	bad.update({e['name']: e for e in events if e['type'] == 'ipc_send' and e['args'][:2] != [3, 128]})
	times = [e['timestamp'] for e in events]
	print(*bad.items(), sep='\n', end='')
	sys.exit(bool(bad) or times != sorted(times))
END

# The visualization: of demo data, of each view, of a file.
all='Performance Summary:|Event Frequency Analysis:|Timeline (T=thread_switch, I=ipc_send, V=vm_fault, *=other):|'
views() { # WANTED OPTIONS...
	views=$1
	shift
	status 0 dtrace-visualize "$@"
	is "views of $*" "$(grep -E '^(Performance|Event Freq|Timeline)' "$dir/out" | tr '\n' '|')" "$views"
}
views "$all" --demo
views 'Timeline (T=thread_switch, I=ipc_send, V=vm_fault, *=other):|' --demo --timeline
views 'Event Frequency Analysis:|' --demo --frequency
views 'Performance Summary:|' --demo --performance
views "$all" -f events.json --all
cp "$dir/out" of_file
is 'of a file: total' "$(sed -n 's/^Total events: *//p' of_file)" "$events"
while read -r type n; do
	is "bars of $type" "$(awk -v type="$type" '$1 ~ "^" type "(:|$)" { print $2; exit }' of_file)" "$n"
done <said
views "$all"
is 'of a trace, of its JSON: bars' "$(sed -n '/^Event Freq/,/^$/p' "$dir/out")" "$(sed -n '/^Event Freq/,/^$/p' of_file)"
grep -q 'readme' "$dir/out" || fail 'ktr timeline draws no thread'
grep -qE '^my_kernel_function +7 ' "$dir/out" && grep -qE '^my_syscall +7 ' "$dir/out" || fail 'no calls of functions'
views 'Timeline (T=thread_switch, I=ipc_send, V=vm_fault, *=other):|' -t -w 40 -f events.json
is 'width' "$(sed -n '/^Timeline/{n;p}' "$dir/out" | awk '{ print length($0) }')" 40
views 'Event Frequency Analysis:|' -q ktr.out
views 'Performance Summary:|' -p ktr.out
views "$all" -a --file ktr.out
status 0 dtrace-visualize --help
status 2 dtrace-visualize --demo -f events.json
status 1 dtrace-visualize -f nothing.json
printf '{"events": [\n{"probe_id": 1}]}' >bad.json
status 1 dtrace-visualize -f bad.json
is 'a bad file' "$(cat "$dir/err")" 'dtrace-visualize: bad.json: event 1 has no "timestamp"'
printf '{"events": [\n{"probe_id": 1, }]}' >bad.json
status 1 dtrace-visualize -f bad.json
grep -q '^dtrace-visualize: bad.json:2: ' "$dir/err" || fail "a bad file: $(cat "$dir/err")"
# A file of the framework's own tool has no types and names.
printf '{"events": [{"probe_id": 2, "timestamp": 5, "args": [1]}, {"probe_id": 9, "timestamp": 7}]}' >their.json
status 0 dtrace-visualize -q -f their.json
is 'its own file' "$(awk '/\*/ { print $1, $2 }' "$dir/out" | tr '\n' ' ')" 'ipc_send 1 probe_9 1 '

# Names do nothing to a terminal.
printf '{"events": [{"probe_id": 9, "timestamp": 7, "type": "custom", "name": "\\u001b[31mred\\u202e"}]}' >red.json
status 0 dtrace-visualize -f red.json
grep -qF '\x1b[31mred' "$dir/out" || fail 'a name with controls is not shown'
LC_ALL=C grep -q "$(printf '\033')" "$dir/out" && fail 'a name with controls goes to the terminal'

# Live: probes and whether they are on; what comes, for so many events or so long.
rm -rf ktr.out
mkfifo in said.live
KTR_SESSION=live "$dir/readme.c.bin" wait <in >said.live 2>/dev/null &
pid=$!
exec 3>in 4<said.live
for i in 1 2 3 4 5 6 7 8; do IFS= read -r answer <&4; done
is 'the program is live' "$answer" 'custom 7'
status 0 dtrace-analyze -n 100000
for want in 'ipc_send yes' 'my_custom_probe no' 'timer_tick yes'; do
	awk -v name="${want% *}" '$2 == name { print $2, $4; exit }' "$dir/out" | grep -qx "$want" || fail "live: not $want"
done
is 'live: events' "$(awk '$1 == "ipc_receive" && $2 == ":" { print $3 }' "$dir/out")" 7
views "$all" -s live
views "$all" --pid $pid
timeout 300 dtrace-analyze -c -t 250 -n 5000 -p $pid >followed 2>err &
follower=$!
await 'grep -qs "^=== Events" followed'
head -c 5000 /dev/zero >&3
wait $follower || fail "dtrace-analyze -c: $(cat err)"
grep -qx 'Total events: 5000' followed || fail "-c: $(grep Total followed)"
n=$(awk '$1 == "ipc_send" && $2 == ":" { print $3 }' followed)
[ "${n:-0}" -gt 2000 ] || fail "-c: $n messages of 5000 among 5000 events"
[ "$(grep -cE '^2 +ipc_send +[0-9]+[.]' followed)" = "$n" ] || fail '-c: events that are shown are not those that are counted'
began=$(date +%s)
status 0 dtrace-analyze --continuous --timeout 1 -s live
[ $(($(date +%s) - began)) -ge 1 ] || fail '-t 1 ends at once'
exec 3>&- 4<&-
wait $pid
pid=
# Nothing there.
status 1 dtrace-analyze
status 1 dtrace-visualize
exit $failed

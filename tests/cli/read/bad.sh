#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every command that reads, on what is no trace, half of one, or one of another age; with a filter that is
# wrong, onto a full disk, and while what is read grows, dies or goes away: an end, a status of 1 or 2, and a
# line that says why.
. "$(dirname "$0")/../lib.inc"
ktrdump=$O/bin/ktrdump

cat >"$dir/program.c" <<'END'
#include <ktr.h>
#include <stdlib.h>
#include <unistd.h>
/* So many rounds; with a second argument for ever, but not as fast as can be. */
int main(int argc, char **argv)
{
	for (long i = 0; argc > 2 || i < atol(argv[1]); i++) {
		KTR_START0(KTR_VFS, "file", "one", i);
		CTR2(KTR_NET, "got %d of %s", (int)i, "net");
		KTR_STOP0(KTR_VFS, "file", "one", i);
		if (argc > 2 && i % 100 == 0)
			usleep(1000);
	}
	return 0;
}
END
$cc -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude "$dir/program.c" -o "$dir/program" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
status 0 "$ktr" run -s good -o good -m net,vfs ./program 3000
KTR_KEEP_SESSION=1 KTR_SESSION=kept KTR_MASK=net,vfs ./program 100 || fail program
session=$KTR_DIR/ktr-$(id -u)/kept.ktr

# What reads a trace, each with what it needs besides.
few='dump
merge -o merged.out good
tail --until-end -n all'
readers="$few
json
report
export csv -o csv
timeline -o timeline.svg
plot rate -o rate.svg
cut --from 0s -o cut.out
diff good"
"$ktr" sql --help >/dev/null 2>&1 && readers="$readers
sql"
all=$readers

# read_it PATH: each command on it. What came of it is in `statuses`, one a line; its words in all.err.
read_it() {
	: >statuses
	: >all.err
	while read -r command; do
		query=
		[ "$command" != sql ] || query='SELECT count(*) FROM events'
		rm -rf cut.out merged.out csv timeline.svg rate.svg
		# shellcheck disable=SC2086
		timeout 300 "$ktr" $command "$1" ${query:+"$query"} >out 2>err </dev/null
		echo "$? $command" >>statuses
		sed "s/^/$command: /" err >>all.err
	done <<LIST
$readers
LIST
	timeout 300 "$ktrdump" -i "$1" >out 2>err
	echo "$? ktrdump" >>statuses
	sed "s/^/ktrdump: /" err >>all.err
}

# refused WHAT PATH [WORDS]: nobody takes it, each says so in words, and names the place.
refused() {
	read_it "$2"
	bad=$(grep -v '^[12] ' statuses)
	[ -z "$bad" ] || fail "$1: $bad: $(cat all.err)"
	while read -r got command; do
		grep "^$command: " all.err | grep -q "${3:-$2}" || fail "$1: $command ($got) says: $(grep "^$command: " all.err)"
	done <statuses
}

: >empty
refused "an empty file" empty
mkdir nothing
mkdir foreign
printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n' >foreign/metadata
head -c 5000 /dev/urandom >foreign/channel0_0
refused "somebody else's trace" foreign
readers=$few
refused "an empty directory" nothing
refused "a program" program
head -c 300000 /dev/urandom >noise
refused "noise" noise
head -c 2000 "$session" >short.ktr
refused "a session that is cut" short.ktr
mkfifo fifo
refused "a pipe" fifo
readers='dump
cut -o cut.out' # ktr tail waits for it
refused "no such thing" missing
readers=$all

# Of a later age: the trace's line with its checksum put right, and the session's header.
cp -r good future
python3 - future/ktr/info.jsonl <<'END'
import re, sys
table = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
    table.append(i)
def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xffffffff
lines = open(sys.argv[1], 'rb').read().split(b'\n')
body, crc = re.fullmatch(rb'(.*),"crc":"([0-9a-f]{8})"}', lines[0]).groups()
assert crc32c(body) == int(crc, 16), 'another checksum'
body = body.replace(b'"major":2,', b'"major":99,')
lines[0] = body + b',"crc":"%08x"}' % crc32c(body)
open(sys.argv[1], 'wb').write(b'\n'.join(lines))
END
refused "a trace of a later version" future 'format 99\|version 99'
cp --sparse=always "$session" future.ktr
printf '\143' | dd of=future.ktr bs=1 seek=8 conv=notrunc 2>/dev/null
readers=$few
refused "a session of a later version" future.ktr 'format 99'

# Half of it: what can be read is, and all say that it is not whole. Two are no answer to what differs.
readers=$(echo "$all" | grep -v diff)
cp -r good torn
for stream in torn/cpu_*; do
	[ ! -s "$stream" ] || truncate -s -7 "$stream"
done
read_it torn
bad=$(grep -v '^1 ' statuses)
[ -z "$bad" ] || fail "a trace that is cut: $bad"
status 1 "$ktr" dump -q torn
grep -q 'not finished\|cut\|torn\|damaged' err || fail "a trace that is cut: $(cat err)"
"$ktr" report --json torn >out 2>err
grep -q '"partial":true' out || fail "report of a trace that is cut is not marked"
"$ktr" json torn >out 2>err
grep -q '"type":"note"' out || fail "json of a trace that is cut is not marked"

# A filter that is wrong, and names that there are none of. ktr tail waits for names that may come.
while read -r command; do
	case $command in merge* | diff* | sql | tail*) continue ;; esac
	filters='class==nett'
	[ "$command" != dump ] || filters='class== class==nett site==progam.c:8 mian()'
	for filter in $filters; do
		rm -rf cut.out
		# shellcheck disable=SC2086
		timeout 300 "$ktr" $command --filter "$filter" good >out 2>err
		[ $? = 2 ] || fail "$command --filter '$filter': $? $(cat err)"
		case $filter in
		*nett) grep -q 'nearest is "net"' err || fail "$command: $(cat err)" ;;
		*progam*) grep -q 'nearest is "program.c' err || fail "$command: $(cat err)" ;;
		*) grep -q 'column' err || fail "$command: $(cat err)" ;;
		esac
	done
done <<LIST
$all
LIST

# A full disk.
for command in "dump good" "json good" "report good" "report --json good" "dump --csv good" "export csv -o - good" \
	"tail --until-end -n all good" "sql good 'SELECT"; do
	case $command in
	sql*) "$ktr" sql --help >/dev/null 2>&1 || continue
		"$ktr" sql good 'SELECT * FROM events' >/dev/full 2>err ;;
	# shellcheck disable=SC2086
	*) "$ktr" $command >/dev/full 2>err ;;
	esac
	[ $? = 1 ] && [ -s err ] || fail "$command onto a full disk: $? $(cat err)"
done
"$ktrdump" -i good >/dev/full 2>err
[ $? = 1 ] && [ -s err ] || fail "ktrdump onto a full disk: $? $(cat err)"

# What grows, and then dies, while it is read: each read ends.
"$ktr" run -s grows -o grows -m net,vfs ./program 0 forever >log 2>&1 &
runner=$!
at_exit() { kill -9 $runner 2>/dev/null; }
await '"$ktr" dump -q -n 1 grows >out 2>/dev/null && [ -s out ] || ! kill -0 $runner'
for command in "dump -q --head 20000 grows" "json --head 20000 grows" "report grows" "dump -q -s grows -n 20000"; do
	# shellcheck disable=SC2086
	status 0 "$ktr" $command
	[ -s out ] || fail "$command: nothing"
done
"$ktr" tail -q -s grows --until-end >out 2>err &
tail=$!
await '[ -s out ] || ! kill -0 $tail'
program=$("$ktr" ls --json | python3 -c "
import json, sys
print(*[s['pids'][0] for s in json.load(sys.stdin) if s['name'] == 'grows'])")
kill -9 "${program:-none}" || fail "which is the program? $("$ktr" ls --json)"
wait $tail
got=$?
[ $got -le 1 ] || fail "tail of a session that dies: $got $(tail -n 3 err)"
wait $runner
status 0 "$ktr" dump -q -n 5 grows
is "events of what was killed" "$(grep -vc '^---' out)" 5
exit $failed

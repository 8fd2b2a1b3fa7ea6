#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# -j: what several threads print is what one prints, of random events, of damaged, cut and growing traces, with the same
# complaints and exit status; a full disk, a reader that leaves and a signal end it as they end one.
#
# HOST: the build that records, where that of the command cannot (a thread sanitizer does not see the assembly).
. "$(dirname "$0")/../lib.inc"
host=${HOST:-$O}
command -v python3 >/dev/null || { skip "python3 is not here"; exit 0; }
python3 tests/cli/trace/random_events.py 3 80 >"$dir/random.c" || exit 1
for program in "$dir/random" tests/programs/trace/steady; do
	$cc -std=gnu11 -w -O1 -D_GNU_SOURCE -DKTR_NO_FORMAT_CHECK -Iinclude "$program.c" -o "$dir/${program##*/}" \
		"$host/lib/libktr-probe.a" "$host/lib/libktr.a" -lpthread || exit 1
done
cd "$dir" || exit 1
export KTR_CONF= KTR_MASK=all KTR_PROBES='*'

# Each form of the trace by one thread and by several: output, complaints and status.
same() { # what trace
	what=$1 trace=$2
	while read -r form; do
		# shellcheck disable=SC2086
		timeout 300 "$ktr" $form -j 1 "$trace" >of.1 2>err.1
		echo $? >>err.1
		for j in 2 5; do
			# shellcheck disable=SC2086
			timeout 300 "$ktr" $form -j $j "$trace" >of.j 2>err.j
			echo $? >>err.j
			cmp -s of.1 of.j || fail "$what: $form -j $j: $(cmp of.1 of.j 2>&1)"
			cmp -s err.1 err.j || fail "$what: $form -j $j complains: $(diff err.1 err.j | head -n 5)"
		done
		# Nothing may be left of what is damaged.
		[ -s of.1 ] || [ "${what#damage}" != "$what" ] || fail "$what: $form prints nothing"
	done <<-'END'
		dump --no-pager
		dump --time delta --raw --function -i
		dump --time utc --color always -R
		dump --csv
		json
		json --array --events
		export csv -o -
		export perfetto -o -
	END
}

KTR_FILE=trace KTR_ENTRIES=65536 ./random || fail "the program fails"
n=$("$ktr" dump --count trace)
[ "$n" -gt 15000 ] || fail "$n events are too few to share"
same "random events" trace
KTR_FILE=losing KTR_ENTRIES=256 ./random || fail "the program fails with small rings"
same "with losses" losing

# As many threads as are asked for, and they end by a signal as one does.
mkfifo fifo
for j in 1 2 5; do
	"$ktr" json -j $j trace >fifo 2>err &
	exec 3<fifo
	read -r line <&3
	writer=$!
	# Who writes has begun; the others may take a moment. A sanitizer has threads of its own.
	await '[ "$(find /proc/$writer/task -mindepth 1 -maxdepth 1 | wc -l)" -ge $j ]'
	kill -TERM $writer
	wait $writer 2>killed
	is "-j $j: status after SIGTERM" $? 143
	exec 3<&-
done
status 2 "$ktr" dump -j 0 trace

# A reader that leaves is no failure; a disk that is full is one.
for j in 1 5; do
	{
		"$ktr" dump --no-pager -j $j trace 2>err
		echo $? >status
	} | head -n 1 >out
	is "-j $j: status when nobody reads on" "$(cat status)" "0"
	is "-j $j: complaints when nobody reads on" "$(cat err)" ""
	for form in dump json 'export csv' 'export perfetto'; do
		# shellcheck disable=SC2086
		"$ktr" $form -j $j -o /dev/full trace >out 2>err
		is "$form -j $j: status where the disk is full" $? 1
		grep -q 'No space left' err || fail "$form -j $j says nothing of a full disk: $(cat err)"
	done
done

# Damaged and cut, at places that the seed says.
python3 - losing trace <<'END' || fail "no damaged traces"
import os, random, shutil, sys
chance = random.Random(4)
for n in range(6):
    source = sys.argv[1 + n % 2]
    shutil.copytree(source, 'bad.%d' % n)
    for name in sorted(os.listdir('bad.%d' % n)):
        path = 'bad.%d/%s' % (n, name)
        if not name.startswith('cpu') or not os.path.getsize(path):
            continue
        data = bytearray(open(path, 'rb').read())
        for _ in range(chance.randint(1, 12)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        if n >= 3:
            del data[chance.randrange(len(data)):]
        open(path, 'wb').write(data)
END
for n in 0 1 2 3 4 5; do
	same "damage $n" bad.$n
	cat err.1 >>told
done
grep -q damaged told || fail "the damage is not told: $(cat told)"

# While it grows: what is read is a part of what is there in the end.
KTR_PROBES= KTR_FILE=growing ./steady 300000 &
grows=$!
await '[ -e growing/metadata ] || ! kill -0 $grows 2>/dev/null'
n=0
while kill -0 $grows 2>/dev/null && [ $n -lt 20 ]; do
	"$ktr" dump -q --no-pager --no-join --time raw -j 5 growing 2>/dev/null | grep -v '^---' >grown.$n
	n=$((n + 1))
done
wait $grows
"$ktr" dump -q --no-pager --time raw -j 1 growing | grep -v '^---' | LC_ALL=C sort >all
[ "$(wc -l <all)" -gt 1024 ] || fail "the growing trace has $(wc -l <all) lines"
while [ $n -gt 0 ]; do
	n=$((n - 1))
	LC_ALL=C sort grown.$n | LC_ALL=C comm -23 - all >out
	is "lines that were not there in the end" "$(head -n 2 out)" ""
done
exit $failed

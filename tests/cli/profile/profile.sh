#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr profile: stacks are whole through qsort, a handler on a signal stack, aligned frames, or marked as cut; a program's
# own timers and masks; fork and exec; what report, flame and folded make of it. FULL=1, in make check-profile, which wants
# a machine for itself: also whether the time of each thread is that of its CPU clock, of threads that live for a moment
# too; otherwise a busy machine could not pass.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no glibc'; exit 0; }
[ -e "$O/lib/libktr-agent.so" ] || { skip 'no agent'; exit 0; }
export KTR_CONF=
prog=$dir/profile
$cc -O2 -fomit-frame-pointer -o "$prog" tests/programs/profile/profile.c -lpthread || { fail 'profile.c'; exit 1; }

profile() { # TRACE OPTIONS... -- PROGRAM...: its exit status
	trace=$dir/$1
	shift
	rm -rf "$trace"
	timeout 300 "$ktr" profile -o "$trace" "$@" >"$dir/out" 2>"$dir/err"
}
# THREAD ns: sums of a trace
sums() {
	"$ktr" json "$dir/$1" --filter 'class == profile' | python3 -c '
import json, sys
sums = {}
for line in sys.stdin:
    e = json.loads(line)
    if e.get("type", "event") != "event": continue
    args = {a["name"]: a["value"] for a in e["args"]} if isinstance(e["args"], list) else e["args"]
    sums[e["tid"]] = sums.get(e["tid"], 0) + int(args["ns"])
for tid, ns in sums.items(): print(tid, ns)'
}
# Does the trace say of each thread what it said itself? Within PERIODS, a hundredth, and what its beginning and end take.
agree() { # TRACE WHAT NS-OF-A-PERIOD PERIODS
	[ "${FULL:-0}" != 0 ] || return
	sums "$1" >"$dir/sums"
	awk -v period="$3" -v n="$4" 'NR == FNR { sum[$1] = $2; next }
		{ off = sum[$1] - $2; bound = n * period + $2 / 100 + 3e6
		  if (off > bound || off < -bound) print "thread " $1 ": " sum[$1] + 0 " ns instead of " $2 }' \
		"$dir/sums" "$dir/out" >"$dir/off"
	[ -s "$dir/out" ] || fail "$2: the program said nothing"
	[ -s "$dir/off" ] && fail "$2: $(head -n 3 "$dir/off")"
}

# ---- time ----

for rate in 99 4999; do
	profile t -F $rate "$prog" shares || fail "shares: $(cat "$dir/err")"
	agree t "shares at $rate Hz" $((1000000000 / rate)) 3
done
if [ "${FULL:-0}" != 0 ]; then
	profile t "$prog" moments || fail "moments: $(cat "$dir/err")"
	sums t | awk -v asked="$(awk '{ sum += $2 } END { print sum }' "$dir/out")" '{ sum += $2 }
		END { print (sum > asked * 0.8 && sum < asked * 1.2) ? "right" : sum " instead of " asked }' >"$dir/moments"
	is 'moments' "$(cat "$dir/moments")" right # ten times the standard error of 200 threads
	profile t "$prog" daemon || fail "daemon: $(cat "$dir/err")"
	agree t 'a thread that was made with all signals blocked' 1003009 3
	"$ktr" report --profile --json "$dir/t" >"$dir/json"
	python3 - "$dir/json" <<-'END' || fail "daemon: its thread came with no stacks: $(cat "$dir/json")"
		import json, sys
		p = json.load(open(sys.argv[1]))["profile"]
		sys.exit(not any(t["user_ns"] > 50e6 and t["stacks"] > 3 for t in p["threads"]))
	END
	profile t "$prog" blocked || fail "blocked: $(cat "$dir/err")"
	python3 - "$ktr" "$dir/t" <<-'END' || fail 'blocked: time while signals were blocked has a stack'
		import json, subprocess, sys
		p = json.loads(subprocess.run([sys.argv[1], "report", "--profile", "--json", sys.argv[2]], capture_output=True).stdout)["profile"]
		sys.exit(not 150e6 < sum(t["blocked_ns"] for t in p["threads"]) < 260e6)
	END
fi

# ---- stacks ----

# What perf events bring of a handler on a stack of its own does not lead out of that, and is marked as cut.
profile t --source timers "$prog" stack || fail "stack: $(cat "$dir/err")"
"$ktr" dump "$dir/t" --filter 'class == profile' >"$dir/dump"
grep 'burn+' "$dir/dump" | grep 'innermost+' | sed 's/.*: //; s/+0x[0-9a-f]*//g; s/@@*[A-Z0-9_.]*//g' | sed 's/^.*burn < //' | sort | uniq -c |
	sort -rn | sed 's/^ *[0-9]* //' >"$dir/stacks"
grep -q '^innermost < handler < [^ ]* < .*compare < .*qsort.* < sorts < aligned < .*main < .*_start$' "$dir/stacks" ||
	fail "stack: not whole: $(head -n 3 "$dir/stacks")"
is 'stacks within the handler that are cut' "$(grep -c '\.\.\.' "$dir/stacks")" 0
grep 'deep+' "$dir/dump" | grep -v '< \.\.\.$' >"$dir/deep"
[ -s "$dir/deep" ] && fail "300 frames: not marked as cut: $(head -n 1 "$dir/deep" | cut -c 1-200)"
grep -q 'deep+.*< \.\.\.$' "$dir/dump" || fail '300 frames: no sample'

# ---- what it leaves alone ----

profile t -F 4999 "$prog" own || fail "own: $(cat "$dir/err")"
is 'its own timers' "$(cat "$dir/out")" 'SIGPROF came own came'
profile t -F 4999 "$prog" waits || fail "waits: $(cat "$dir/err")"
is 'signals that it waits for' "$(cat "$dir/out")" '-1 10 10 10'
profile t -F 4999 "$prog" forks || fail "forks: $(cat "$dir/err")"
# What libktr does between fork(2) and the program's return is not the program's.
agree t 'fork' 200040 60
is 'processes with samples' "$("$ktr" json "$dir/t" --filter 'class == profile' | grep -o '"pid":[0-9]*' | sort -u | wc -l)" 2
profile t -F 4999 -i "$prog" execs 12 || fail "execs: $(cat "$dir/err")"

# What a program uses that another one starts, or becomes, is said.
becomes='i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; "$1" shares && exec "$1" shares'
profile t /bin/sh -c "$becomes" sh "$prog" || fail "a shell: $(cat "$dir/err")"
grep -q 'most of the CPU time, .*: /bin/sh started another program, or became one; -i samples those, too' "$dir/err" ||
	fail "a shell: $(cat "$dir/err")"
profile t -i /bin/sh -c "$becomes" sh "$prog" || fail "a shell, -i: $(cat "$dir/err")"
grep -q 'most of the CPU time' "$dir/err" && fail "a shell, -i: $(cat "$dir/err")"

# ---- what is made of it ----

profile t "$prog" shares
grep -q 'most of the CPU time' "$dir/err" && fail "its own time: $(cat "$dir/err")"
"$ktr" report --profile "$dir/t" >"$dir/report" || fail report
grep -q '^  burn .*%' "$dir/report" && grep -q 'samples were due' "$dir/report" || fail "report: $(cat "$dir/report")"
"$ktr" flame "$dir/t" >"$dir/flame" || fail flame
head -n 1 "$dir/flame" | grep -q '^burn had most time for itself' || fail "flame: $(head -n 1 "$dir/flame")"
"$ktr" export folded "$dir/t" -o "$dir/folded" 2>"$dir/err" || fail "folded: $(cat "$dir/err")"
is 'folded: its sum' "$(awk '{ sum += $NF } END { print sum }' "$dir/folded")" "$(sums t | awk '{ sum += $2 } END { print sum }')"
"$ktr" profile "$dir/nothing" 2>"$dir/err" && fail 'a program that is not there'
"$ktr" profile 2>"$dir/err"
is 'no program' $? 2
exit $failed

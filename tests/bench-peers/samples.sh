#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What profilers say of two threads, one busy all the time and one a third of it, beside the threads' own clocks: ktr,
# ITIMER_PROF, perf record and gperftools. 1.000 is right. No test: it prints what it finds.
#
# Of the light one's time a few hundredths are the kernel's, around its naps, so that by its function it has less.
#
#	[RATES="99 250 997"] [SECONDS_EACH=5] tests/bench-peers/samples.sh
. "$(dirname "$0")/../cli/lib.inc"
rates=${RATES:-99 250 997} seconds=${SECONDS_EACH:-5}
prog=$dir/samples
$cc -std=gnu11 -O2 -g -o "$prog" tests/bench-peers/samples.c -lpthread || exit 1
unset LD_PRELOAD

# said: what the program said of its threads, in $dir/said; FILE of "NAME NS" or "NAME SAMPLES" lines, NS a sample stands for
row() { # WHO HZ FILE NS
	awk -v who="$1" -v hz="$2" -v ns="$4" 'NR == FNR { true[$1] = $2; next }
		{ if ($1 ~ /heavy/) heavy += $2; if ($1 ~ /light/) light += $2 }
		END { h = heavy * ns / true["heavy"]; l = light * ns / true["light"]
		      printf "%-32s %6s %10.3f %10.3f %12.2f", who, hz, h, l, true["heavy"] / true["light"]
		      if (light) printf " %10.2f\n", heavy / light; else print "       none" }' "$dir/said" "$3"
}

echo "CPU time by samples, as a share of what threads' clocks say ($seconds s each):"
printf '%-32s %6s %10s %10s %12s %10s\n' '' Hz heavy light 'true ratio' sampled
for rate in $rates; do
	rm -rf "$dir/t"
	"$ktr" profile -F "$rate" -o "$dir/t" "$prog" "$seconds" >"$dir/said" 2>"$dir/err" || { cat "$dir/err"; exit 1; }
	"$ktr" report --profile --json "$dir/t" | python3 -c '
import json, sys
for f in json.load(sys.stdin)["profile"]["functions"]:
    if f["tid"] is None and f["name"] in ("heavy_work", "light_work"): print(f["name"], f["self_ns"])' >"$dir/found"
	row ktr "$rate" "$dir/found" 1

	"$prog" "$seconds" itimer "$rate" >"$dir/all"
	grep -v came "$dir/all" >"$dir/said"
	awk '/came/ { print "heavy", $2; print "light", $3 }' "$dir/all" >"$dir/found"
	row ITIMER_PROF "$rate" "$dir/found" 1

	if command -v perf >/dev/null; then
		if perf record -q -e cpu-clock:u -F "$rate" -g -o "$dir/perf" "$prog" "$seconds" >"$dir/said" 2>"$dir/err"; then
			perf script -i "$dir/perf" -F ip,sym -G 2>/dev/null | awk 'NF { n[$2]++ } END { for (name in n) print name, n[name] }' >"$dir/found"
			row 'perf record -e cpu-clock:u' "$rate" "$dir/found" "$(awk -v r="$rate" 'BEGIN { print 1e9 / r }')"
		else
			echo "perf record: not measured: $(tail -n 1 "$dir/err")"
		fi
	else
		echo 'perf record: not measured: linux-perf is not installed'
	fi

	library=$(ldconfig -p | sed -n 's/.*libprofiler\.so.* => //p' | head -n 1)
	if [ -n "$library" ] && command -v google-pprof >/dev/null; then
		# A timer for each thread it has where threads register themselves.
		rm -f "$dir/prof"*
		env LD_PRELOAD="$library" CPUPROFILE="$dir/prof" CPUPROFILE_FREQUENCY="$rate" "$prog" "$seconds" >"$dir/said" 2>"$dir/err"
		google-pprof --text "$prog" "$dir/prof" 2>/dev/null | awk '/(heavy|light)_work/ { print $NF, $1 }' >"$dir/found"
		row gperftools "$rate" "$dir/found" "$(awk -v r="$rate" 'BEGIN { print 1e9 / r }')"
	else
		echo 'gperftools: not measured: google-perftools is not installed'
	fi
done
exit 0

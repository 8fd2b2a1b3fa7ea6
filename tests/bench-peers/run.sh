#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make bench-peers: the same event by ktr and by those of its peers that Debian has, on this machine and in one run:
# switched off, into rings in memory, to disk; bytes that it takes there, and how fast it is read back. No test: it
# prints what it finds. A peer that cannot run here is named, with the reason.
#
#	[EVENTS=4000000] tests/bench-peers/run.sh
. "$(dirname "$0")/../cli/lib.inc"
events=${EVENTS:-4000000}
here=tests/bench-peers
flags="-std=gnu11 -D_GNU_SOURCE -O2 -g -I$here -Iinclude"

missing=
for need in lttng:lttng-tools lttng-gen-tp:liblttng-ust-dev babeltrace2:babeltrace2 uftrace:uftrace \
	git:git strace:strace perf:linux-perf nginx:nginx-light \
	google-pprof:google-perftools; do
	command -v "${need%:*}" >/dev/null || missing="$missing ${need#*:}"
done
if [ -n "$missing" ] && [ "${KTR_NO_INSTALL:-0}" != 1 ] && command -v apt-get >/dev/null; then
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	echo "bench-peers: installing$missing"
	for package in $missing libgoogle-perftools4; do # each for itself: one that there is not keeps none away
		DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 ||
			echo "bench-peers: $package cannot be installed"
	done
fi

# row WHO OFF RINGS DISK LOST BYTES DECODE
row() {
	printf '%-18s %9s %9s %9s %8s %10s %12s\n' "$@"
}
build() { # NAME FLAGS...
	name=$1
	shift
	# shellcheck disable=SC2086
	$cc $flags "$here/peer.c" "$@" -o "$dir/$name" 2>"$dir/err"
}
least() { echo "$1" | cut -d' ' -f1; }
mean() { echo "$1" | cut -d' ' -f2; }
# per A B: A / B; percent A B
per() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }'; }
percent() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f %%", 100 * a / b }'; }
bytes() { find "$@" -type f -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'; }
# Million events per second of CPU time: EVENTS COMMAND...
speed() {
	n=$1
	shift
	s=$("$dir/none" -t "$@") || { echo -; return; }
	awk -v n="$n" -v s="$s" 'BEGIN { if (s > 0) printf "%.2f", n / s / 1e6; else print "-" }'
}

build none || { cat "$dir/err"; exit 1; }
build ktr -DPEER_KTR "$O/lib/libktr.a" -lpthread || { cat "$dir/err"; exit 1; }
echo "$events events with three integers; ns per event: the least of short runs, to disk the mean of all."
echo "Read back: million events per second of CPU time, as text."
row "" off "in rings" "to disk" lost "bytes" "read back"
row "empty loop" "$(least "$("$dir/none" "$events")")" - - - - -

# ---- ktr ----
off=$(least "$("$dir/ktr" "$events")")
on=$(least "$(KTR_MASK=gen "$dir/ktr" "$events")")
disk=$(mean "$(KTR_MASK=gen KTR_FILE="$dir/trace" "$dir/ktr" "$events")")
info=$(grep -h '"kind":"end"' "$dir/trace/ktr/info.jsonl")
written=$(echo "$info" | sed 's/.*"events":\([0-9]*\).*/\1/')
lost=$(echo "$info" | sed 's/.*"lost":\([0-9]*\).*/\1/')
row ktr "$off" "$on" "$disk" "$(percent "$lost" "$events")" \
	"$(per "$(bytes "$dir"/trace/cpu_* "$dir"/trace/ring_* 2>/dev/null)" "$written")" \
	"$(speed "$written" "$ktr" dump "$dir/trace")"
if command -v babeltrace2 >/dev/null; then
	row "  babeltrace2" - - - - - "$(speed "$written" babeltrace2 "$dir/trace")"
fi
ktr_on=$on

# ---- LTTng-UST ----
sessiond=
at_exit() { [ -z "$sessiond" ] || kill "$sessiond" 2>/dev/null; }
lttng_() { lttng --no-sessiond -q "$@" >"$dir/log" 2>&1; }
lttng_ready() {
	command -v lttng >/dev/null || { why="lttng-tools is not installed"; return 1; }
	printf '#define LTTNG_UST_TRACEPOINT_CREATE_PROBES\n#define LTTNG_UST_TRACEPOINT_DEFINE\n#include "peer_lttng.h"\n' >"$dir/probes.c"
	build lttng -DPEER_LTTNG "$dir/probes.c" -llttng-ust -ldl || { why="liblttng-ust-dev does not build: $(head -n 1 "$dir/err")"; return 1; }
	if ! lttng_ list; then
		lttng-sessiond --no-kernel --background --pidfile "$dir/sessiond.pid" >"$dir/log" 2>&1 ||
			{ why="lttng-sessiond does not start: $(head -n 1 "$dir/log")"; return 1; }
		sessiond=$(cat "$dir/sessiond.pid")
		lttng_ list || { why="lttng-sessiond does not answer: $(head -n 1 "$dir/log")"; return 1; }
	fi
}
# With one session: NAME CREATE-OPTIONS...; prints what the program does.
lttng_run() {
	name=ktr-peer-$$-$1
	shift
	lttng_ create "$name" "$@" && lttng_ enable-event -u -s "$name" 'ktr_peer:*' && lttng_ start "$name" || return 1
	LTTNG_UST_REGISTER_TIMEOUT=-1 "$dir/lttng" "$events"
	lttng_ stop "$name"
}
if lttng_ready; then
	off=$(least "$(LTTNG_UST_REGISTER_TIMEOUT=-1 "$dir/lttng" "$events")")
	on=$(least "$(lttng_run rings --snapshot)")
	lttng_ destroy "ktr-peer-$$-rings"
	disk=$(mean "$(lttng_run disk --output="$dir/lttng-trace")")
	lttng_ destroy "ktr-peer-$$-disk"
	written=$(babeltrace2 "$dir/lttng-trace" 2>/dev/null | wc -l)
	row LTTng-UST "$off" "$on" "$disk" "$(percent $((events - written)) "$events")" \
		"$(per "$(find "$dir/lttng-trace" -name 'channel*' -type f ! -path '*/index/*' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')" "$written")" \
		"$(speed "$written" babeltrace2 "$dir/lttng-trace")"
	echo "  in rings, $(per "$on" "$ktr_on") times what ktr takes"
else
	echo "LTTng-UST: not measured: $why"
fi

# ---- a call, in and out, of a function whose entry is a nop until it is patched: ktr, then uftrace ----
functions='-fpatchable-function-entry=16,14 -include include/ktr/fbt.h -Bscripts/fbt/'
# shellcheck disable=SC2086 # options
if [ ! -e "$O/lib/libktr-fbt.a" ]; then
	echo "ktr, per call: not measured: functions are probes on x86-64"
elif ! build kcall -DPEER_CALL $functions -Wl,-u,ktr__fbt_attach "$O/lib/libktr-fbt.a" "$O/lib/libktr-provider.a" \
	"$O/lib/libktr.a" -lpthread; then
	cat "$dir/err"
	exit 1
else
	off=$(least "$("$dir/kcall" "$events")")
	on=$(least "$(KTR_BUDGET=0 KTR_PROBES=fbt::peer_call: "$dir/kcall" "$events")")
	disk=$(mean "$(KTR_BUDGET=0 KTR_PROBES=fbt::peer_call: KTR_FILE="$dir/calls" "$dir/kcall" "$events")")
	# Two events a call.
	written=$("$ktr" report --functions --json "$dir/calls" | sed -n 's/.*"name": *"peer_call".*"calls": *\([0-9]*\).*/\1/p')
	[ -n "$written" ] || { echo "FAILED: no calls in the trace"; exit 1; }
	row "ktr, per call" "$off" "$on" "$disk" "$(percent $((events - written)) "$events")" \
		"$(per "$(bytes "$dir"/calls/cpu_* "$dir"/calls/ring_* 2>/dev/null)" "$written")" \
		"$(speed "$written" "$ktr" dump --calls "$dir/calls")"
fi
if ! command -v uftrace >/dev/null; then
	echo "uftrace: not measured: it is not installed"
elif ! build call -DPEER_CALL -pg -mfentry -mnop-mcount -mrecord-mcount -fno-pie -no-pie; then
	echo "uftrace: not measured: no -mnop-mcount: $(head -n 1 "$dir/err")"
else
	off=$(cd "$dir" && least "$(./call "$events")")
	if out=$(cd "$dir" && uftrace record -P peer_call -d uf --no-libcall "$dir/call" "$events" 2>"$dir/err" | tail -n 1) && [ -d "$dir/uf" ]; then
		written=$(uftrace dump -d "$dir/uf" 2>/dev/null | grep -c 'entry\] peer_call')
		row "uftrace, per call" "$off" - "$(mean "$out")" "$(percent $((events - written)) "$events")" \
			"$(per "$(find "$dir/uf" -name '*.dat' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')" "$written")" \
			"$(speed "$written" uftrace replay -d "$dir/uf")"
	else
		echo "uftrace: not measured: $(head -n 1 "$dir/err")"
	fi
fi

# ---- ftrace: a line written into a kernel's ring, an instance of our own ----
instance=/sys/kernel/tracing/instances/ktr-peer-$$
if mkdir "$instance" 2>/dev/null; then
	build marker -DPEER_MARKER || { cat "$dir/err"; exit 1; }
	row "trace_marker" - "$(least "$(PEER_MARKER=$instance/trace_marker "$dir/marker" $((events / 10)))")" - - - -
	rmdir "$instance"
else
	echo "trace_marker: not measured: there is no /sys/kernel/tracing, or it may not be written"
fi
# ---- a system call of a program that knows nothing of any of them ----
echo "System calls: of dd bs=1, two a byte; of git status; of nginx, asked by one client:"
RUNS="${RUNS:-3}" O=$O sh tests/bench-ktrace/run.sh || failed=1
echo "NanoLog: not measured: Debian does not package it"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What leads functions away that were not built to be probed, under the knife: stored FLIPS times and more at each place
# of a line of the cache where the provider uses it, against THREADS threads, for each form; and where it does not, to
# see that all this notices. Prints on what it did how much of which.
#
#	FLIPS=N THREADS=N SEED=N tests/stress/plain.sh
. "$(dirname "$0")/../cli/lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] || { skip 'no agent'; exit 0; }
flips=${FLIPS:-1000000} threads=${THREADS:-8} seed=${SEED:-1}
export KTR_CONF= KTR_BUDGET=0

$cc -std=gnu11 -O2 -D_GNU_SOURCE tests/stress/plain_flip.c -o "$dir/plain_flip" -lpthread || exit 1
cpu() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -n 1; }
echo "on $(nproc) CPUs of $(cpu vendor_id), $(cpu 'model name'), family $(cpu 'cpu family'), model $(cpu model); seed $seed"
env KTR_PROBES='fbt:plain_flip:flip_*:' LD_PRELOAD="$O/lib/libktr-agent.so" \
	"$dir/plain_flip" "$flips" "$seed" "$threads" || fail "flips: exit status $?"
if [ "$(nproc)" -gt 1 ]; then
	"$dir/plain_flip" -x "$flips" "$seed" "$threads" || fail 'a jump across two lines of the cache, and nobody noticed'
fi
exit $failed

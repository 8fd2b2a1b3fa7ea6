#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# While functions' returns are recorded a stack is what it is without, but for the trampoline's own frames: for
# backtrace(3) and for gdb, which also finishes each function and goes on.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
cxx=${CXX:-c++}
cflags='-Iinclude -fpatchable-function-entry=16,14 -include include/ktr/fbt.h -Bscripts/fbt/'
libs="-L$O/lib -Wl,-u,ktr__fbt_attach,--push-state,--no-as-needed,-lktr-fbt,--pop-state -lktr-provider -lktr -Wl,-rpath,$O/lib
	-lpthread -ldl"
export KTR_CONF= KTR_BUDGET=0

# Names of gdb's frames, one a line.
frames() { # COMMAND...: what gdb is to do in innermost()
	gdb -nx -batch -ex 'set breakpoint pending off' -ex 'break innermost' -ex run "$@" "$dir/stack" 2>/dev/null |
		sed -n 's/^#[0-9]* *\(0x[0-9a-f]* in \)\{0,1\}\([^ ]*\) (.*/\2/p'
}

for flags in '-O0 -g' '-O2 -g' '-O2 -fomit-frame-pointer' '-O3 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086 # options
	$cxx -std=gnu++17 $cflags $flags -rdynamic tests/programs/provider/fbt_stack.cc -o "$dir/stack" $libs || fail "fbt_stack, $flags"
	"$dir/stack" >"$dir/plain"
	grep -qx recursive "$dir/plain" && grep -qx main "$dir/plain" || fail "$flags: no stack: $(paste -sd, "$dir/plain")"
	for spec in fbt::: fbt:::entry fbt:::return; do
		KTR_PROBES=$spec "$dir/stack" | grep -v '^ktr[._]*fbt_trampoline$' | grep -v '^$' >"$dir/probed"
		is "$flags, $spec: backtrace(3)" "$(paste -sd, "$dir/probed")" "$(grep -v '^$' "$dir/plain" | paste -sd,)"
	done
	command -v gdb >/dev/null || continue
	frames -ex bt >"$dir/plain"
	KTR_PROBES=fbt::: frames -ex bt >"$dir/probed"
	[ "$(grep -c trampoline "$dir/probed")" -ge 8 ] || fail "$flags: gdb sees no trampoline: $(paste -sd, "$dir/probed")"
	is "$flags: gdb" "$(grep -v trampoline "$dir/probed" | paste -sd,)" "$(paste -sd, "$dir/plain")"
	grep -qx main "$dir/probed" || fail "$flags: gdb does not come to main: $(paste -sd, "$dir/probed")"
	# Out of the innermost, and of the trampoline's frames, by gdb's own unwinding; then to the end.
	KTR_PROBES=fbt::: gdb -nx -batch -ex 'break innermost' -ex run -ex finish -ex finish -ex finish -ex finish -ex finish -ex finish \
		-ex continue "$dir/stack" >"$dir/out" 2>&1
	grep -qx 44 "$dir/out" && ! grep -q 'received signal' "$dir/out" || fail "$flags: finish: $(tail -n 3 "$dir/out")"
done
command -v gdb >/dev/null || skip "gdb's stacks: there is no gdb"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# CTR points as user-space statically defined tracepoints: the notes are there with both compilers, optimised or not,
# in executables and shared objects, and not without KTR_USDT; gdb, perf and bpftrace list them; what bpftrace
# counts is what our own trace holds, and it needs no class to be on.
. "$(dirname "$0")/../lib.inc"
export KTR_CONF=
libs="$O/lib/libktr.a -lpthread"
cp tests/programs/build/usdt.c "$dir/us-dt+x.c"

notes() { # FILE: provider, name and number of arguments of each
	readelf -n "$1" | awk '/Provider:/ { p = $2 } /Name:/ { n = $2 } /Arguments:/ { print p, n, NF - 1 }' | sort
}

for c in gcc clang; do
	command -v $c >/dev/null || { skip "no $c"; continue; }
	for flags in -O0 -O2 '-O2 -fPIC -shared'; do
		# shellcheck disable=SC2086
		$c -Wall -Wextra -Werror $flags -DKTR_USDT -Iinclude "$dir/us-dt+x.c" -o "$dir/made" \
			$(case $flags in *shared) ;; *) echo "$libs" ;; esac) || fail "$c $flags"
		[ "$(notes "$dir/made" | wc -l)" -eq 3 ] || fail "$c $flags: $(notes "$dir/made")"
		notes "$dir/made" | grep -q '^net us.dt.x.c_[0-9]* 0$' || fail "$c $flags: $(notes "$dir/made")"
	done
	# shellcheck disable=SC2086
	$c -O2 -Iinclude tests/programs/build/usdt.c -o "$dir/without" $libs && [ -z "$(notes "$dir/without")" ] ||
		fail "$c: notes without KTR_USDT"
	$c -O2 -DKTR_USDT -DKTR_OFF -Iinclude tests/programs/build/usdt.c -o "$dir/without" && [ -z "$(notes "$dir/without")" ] ||
		fail "$c: notes with KTR_OFF"
done
# Every macro and every form of a class, an extern one too, as strict builds have it: unoptimised, where operands of C++
# are not folded, and position-independent, where what is inline has an address that another library may replace.
for c in "gcc -std=gnu11 -x c" "g++ -std=c++11 -x c++" "clang -std=gnu11 -x c" "clang++ -std=c++20 -x c++" \
	"aarch64-linux-gnu-g++ -std=c++17 -x c++"; do
	command -v "${c%% *}" >/dev/null || { skip "no ${c%% *}"; continue; }
	for flags in "-O0 -fno-pie" "-O2 -fPIC"; do
		# shellcheck disable=SC2086
		timeout 120 $c $flags -Wall -Wextra -Wpedantic -Wredundant-decls -Werror -DKTR_USDT -Iinclude \
			-c tests/programs/build/classes.c -o "$dir/classes.o" 2>"$dir/err" || fail "$c $flags: $(head -n 3 "$dir/err")"
	done
done
# shellcheck disable=SC2086
gcc -O2 -g -DKTR_USDT -Iinclude tests/programs/build/usdt.c -o "$dir/usdt" $libs || exit 1
notes "$dir/usdt" | grep -q '^rx usdt_c_15 4$' || fail "$(notes "$dir/usdt")"
readelf -n "$dir/usdt" | grep -q 'Arguments: -8@[^ ]* 8@[^ ]* -8@[^ ]* 8@' || fail 'arguments have lost their types'
printf '%s\n' '#include <ktr.h>' 'KTR_CLASS_DEFINE(cx, "c++");' \
	'template<class T> T f(T x) { CTR2(KTR_CLASS(cx), "%d %f", (int)x, 1.5); KTR_SCOPE(KTR_GEN, "f"); return x; }' \
	'int main() { return f(0) + (int)f(0.0); }' >"$dir/usdt.cc"
# shellcheck disable=SC2086
if command -v g++ >/dev/null; then
	g++ -std=c++17 -O2 -Wall -Wextra -DKTR_USDT -Iinclude "$dir/usdt.cc" -o "$dir/cxx" $libs && "$dir/cxx" || fail 'C++'
fi
# In a shared object, in what is inline, a template and extern "C": each point has its note and a semaphore of its own.
cat >"$dir/object.cc" <<'END'
#include <ktr.h>
KTR_CLASS_DEFINE(sx, "of a shared object");
inline int in_line(int n) { CTR1(KTR_CLASS(sx), "event %d", n); return n; }
template <class T> T of_type(T n) { CTR2(KTR_CLASS(sx), "event %d %s", static_cast<int>(n), "text"); return n; }
extern "C" int object();
extern "C" int object()
{
	for (int i = 0; i < 5; i++) {
		in_line(i);
		of_type(i);
		of_type(1.0 * i);
		[&] { CTR0(KTR_CLASS(sx), "event"); }();
	}
	return 0;
}
END
printf '%s\n' '#include <dlfcn.h>' 'int main(int argc, char **argv) {' 'void *object = dlopen(argv[argc - 1], RTLD_NOW);' \
	'return object ? ((int (*)(void))dlsym(object, "object"))() : 1; }' >"$dir/loads.c"
for c in g++ clang++; do
	command -v $c >/dev/null || { skip "no $c"; continue; }
	for flags in -O0 -O2; do
		$c $flags -fPIC -shared -Wl,-z,defs -Wl,-z,text -Wall -Wextra -Werror -DKTR_USDT -Iinclude "$dir/object.cc" \
			-o "$dir/object.so" "$O/lib/libktr_pic.a" -lpthread && gcc "$dir/loads.c" -o "$dir/loads" -ldl ||
			{ fail "$c $flags: a shared object"; continue; }
		readelf -n "$dir/object.so" | grep -o 'Semaphore: .*' | sort -u >"$dir/semaphores"
		is "$c $flags: semaphores of a shared object" "$(wc -l <"$dir/semaphores")" 4
		rm -rf "$dir/trace"
		timeout 120 "$ktr" run -m sx -o "$dir/trace" "$dir/loads" "$dir/object.so" 2>"$dir/err" || fail "$(cat "$dir/err")"
		is "$c $flags: events of a shared object" "$("$ktr" dump -q "$dir/trace" | grep -c event)" 20
	done
done
rm -rf "$dir/trace"

# Nobody attached: traced as ever.
timeout 120 "$ktr" run -o "$dir/trace" "$dir/usdt" 2>"$dir/err" || fail "$(cat "$dir/err")"
is 'events of class rx' "$("$ktr" dump --filter 'class == rx' "$dir/trace" | grep -c got)" 1000

if command -v gdb >/dev/null; then
	gdb -nx -batch -ex 'info probes stap' "$dir/usdt" 2>/dev/null | grep -q 'stap *rx *usdt_c_15' || fail 'gdb does not list them'
else
	skip 'no gdb'
fi
if command -v perf >/dev/null; then
	# What it knows of files lies in ~/.debug.
	if ! HOME=$dir perf buildid-cache --add "$dir/usdt" >"$dir/perf" 2>&1; then
		skip "perf takes no file: $(head -n 1 "$dir/perf")"
	elif perf version --build-options 2>/dev/null | grep -q 'libelf: *\[ OFF'; then
		skip 'this perf was built without libelf'
	else
		HOME=$dir perf list sdt >"$dir/perf" 2>/dev/null
		for point in sdt_rx:usdt_c_15 sdt_net:usdt_c_17 sdt_sched:usdt_c_18; do
			grep -q "^ *$point " "$dir/perf" || fail "perf does not list $point: $(cat "$dir/perf")"
		done
		is 'points that perf lists' "$(grep -c 'SDT event' "$dir/perf")" "$(notes "$dir/usdt" | wc -l)"
	fi
else
	skip 'no perf'
fi
if ! command -v bpftrace >/dev/null; then
	skip 'no bpftrace'
elif ! timeout 300 bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>"$dir/err"; then
	skip "bpftrace: $(head -1 "$dir/err")"
else
	timeout 300 bpftrace -l "usdt:$dir/usdt:*" 2>/dev/null | grep -q ':rx:usdt_c_15$' || fail 'bpftrace does not list them'
	script="usdt:$dir/usdt:rx:usdt_c_15 { @n = count(); @sum = sum((int64)arg0); @last = str(arg1); }"
	KTR_MASK=rx KTR_FILE=$dir/both timeout 300 bpftrace -c "$dir/usdt" -e "$script" >"$dir/out" 2>"$dir/err"
	if grep -q '^@n: ' "$dir/out"; then
		is 'what bpftrace counts' "$(awk '/^@n:/ { print $2 }' "$dir/out")" "$("$ktr" dump "$dir/both" | grep -c 'got ')"
		is 'the sum of an argument' "$(awk '/^@sum:/ { print $2 }' "$dir/out")" -500
		is 'a string' "$(awk '/^@last:/ { print $2 }' "$dir/out")" right
		KTR_MASK=0 timeout 300 bpftrace -c "$dir/usdt" -e "$script" >"$dir/out" 2>"$dir/err"
		is 'what it counts while no class is on' "$(awk '/^@n:/ { print $2 }' "$dir/out")" 1000
	else
		skip "bpftrace cannot attach: $(tail -1 "$dir/err")"
	fi
fi
exit $failed

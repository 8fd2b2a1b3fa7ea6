#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A class is a class in C and in C++: of a program that has every macro with every form of a class, a mask and a
# filter of one class give exactly the events that the program says it made of that class.
#
#	FULL=1		each compiler, standard, level and way to link; otherwise a choice that takes some seconds
. "$(dirname "$0")/../lib.inc"
strict="-Wall -Wextra -Wredundant-decls -Wpedantic -Werror"
built=0

# shows WHAT TRACE FILTER WANTED: so many events. No filter: all there are.
shows() {
	n=$("$ktr" dump -q ${3:+--filter "$3"} "$2" 2>"$dir/err" | wc -l)
	[ "$n" = "$4" ] || fail "$1: $n of $4 events: $(head -n 3 "$dir/err")"
}

# uses WHAT: what a mask and a filter give of $dir/host.
uses() {
	what=$1
	"$ktr" run -m all -o "$dir/all" "$dir/host" >"$dir/said" 2>"$dir/log" || {
		cat "$dir/log"
		fail "$what: does not run"
		return
	}
	[ "$(wc -l <"$dir/said")" = 8 ] || fail "$what: $(cat "$dir/said")"
	while read -r class n_mask n_filter; do
		[ "$class" != probe ] || { set -- with probes; n_mask=14 n_filter=14; }
		[ "$n_mask" -ge 14 ] || fail "$what: made only $n_mask events of $class"
		[ $# = 2 ] || shows "$what, --filter $class" "$dir/all" "class == $class" "$n_filter"
		"$ktr" run -m "$class" -o "$dir/one" "$dir/host" ${2:+probes} >/dev/null 2>"$dir/log" ||
			{ cat "$dir/log"; fail "$what, -m $class: does not run"; }
		shows "$what, -m $class" "$dir/one" "" "$n_mask"
		shows "$what, -m $class, of that class" "$dir/one" "class == $class" "$n_filter"
		rm -rf "$dir/one"
	done <"$dir/said"
	rm -rf "$dir/all"
	built=$((built + 1))
}

# try LANGUAGE COMPILER OPTIONS...
try() {
	language=$1 compiler=$2
	shift 2
	rm -f "$dir/host"
	# shellcheck disable=SC2086
	"$compiler" "$@" $strict -Iinclude -x "$language" tests/programs/build/classes.c tests/programs/build/classes_more.c -x none \
		-o "$dir/host" "$O/lib/libktr-probe.a" "$O/lib/libktr.a" -lpthread 2>"$dir/log" || {
		head -n 5 "$dir/log"
		fail "$compiler $*: does not build"
		return
	}
	uses "$compiler $*"
}

has() {
	command -v "$1" >/dev/null || { skip "there is no $1"; return 1; }
}

# The README's own program, as it stands and as C++.
awk '/^```c/ { on = 1; next } /^```/ { on = 0 } on' README.md >"$dir/hello.c"
cp "$dir/hello.c" "$dir/hello.cc"
for source in hello.c hello.cc; do
	c=gcc
	[ $source = hello.c ] || c=g++
	has $c || continue
	$c -O2 -Iinclude "$dir/$source" -o "$dir/hello" "$O/lib/libktr.a" -lpthread || fail "$source"
	"$ktr" run -m rx -o "$dir/hello.trace" "$dir/hello" >"$dir/log" 2>&1 || { cat "$dir/log"; fail "$source"; }
	shows "$source" "$dir/hello.trace" 'class == rx' 1000
	rm -rf "$dir/hello.trace"
done

# What is no class does not compile: its address must not become a mask.
for c in g++ clang++; do
	has $c || continue
	for class in '(void *)0' '"rx"' '&cls' 'cls'; do
		printf '#include <ktr.h>\nvoid f(struct ktr_class *cls);\nvoid f(struct ktr_class *cls) { (void)cls; CTR0(%s, "x"); }\n' \
			"$class" >"$dir/bad.cc"
		$c -Iinclude -fsyntax-only "$dir/bad.cc" 2>/dev/null && fail "$c takes $class for a class"
	done
	# A number that is known only at run time makes no site that is set up when it is first come by.
	printf '#include <ktr.h>\nvoid f(unsigned m);\nvoid f(unsigned m) { CTR0(m, "x"); }\n' >"$dir/number.cc"
	$c -Iinclude -O1 -c "$dir/number.cc" -o "$dir/number.o" || fail "$c: a number as a class"
	nm "$dir/number.o" | grep guard && fail "$c: a call site with a guard"
done

if [ -z "${FULL:-}" ]; then
	has gcc && try c gcc -std=c11 -O2
	has g++ && try c++ g++ -std=c++11 -O0
	has clang++ && try c++ clang++ -std=c++20 -O2
	echo "classes: $built builds"
	exit $failed
fi
for level in -O0 -O1 -O2 -O3 "-O2 -flto" "-O2 -DKTR_USDT" "-O0 -fPIE -DKTR_USDT" "-O3 -fPIC -DKTR_USDT"; do
	for c in gcc clang; do
		has $c || continue
		lto=
		case "$c $level" in clang*flto*) has ld.lld || continue; lto=-fuse-ld=lld ;; esac
		for std in c11 gnu11 c17; do
			case $level in *USDT*) [ $std = gnu11 ] || continue ;; esac
			# shellcheck disable=SC2086
			try c $c -std=$std $level $lto
		done
		[ $c = gcc ] && c=g++ || c=clang++
		has $c || continue
		for std in c++11 c++14 c++17 c++20; do
			case $level in *USDT*) [ $std = c++17 ] || continue ;; esac
			# shellcheck disable=SC2086
			try c++ $c -std=$std $level $lto
		done
	done
done
echo "classes: $built builds"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Call sites survive compilers, linkers and their options: each build is run, and the rows of its site table
# and the sites that recorded something are counted. What KTR_COMPILE takes out is really gone.
# ALL=1: every compiler with every option; otherwise a choice that takes some seconds.
. "$(dirname "$0")/../cli/lib.inc"
. tests/stress/common.sh
build_count() {
	build count tests/link/count.c tests/stress/look.c tests/stress/event.c
}
build_count
failed=0
built=0

# Expected: reached sites; rows may have those of code that is never reached, too.
C_SITES=11
C_ROWS=13
CXX_SITES=15
CXX_ROWS=15

note() {
	failed=1
	echo "FAILED: $*"
}

one() { # language, compiler, options...
	language=$1
	compiler=$2
	shift 2
	if [ "$language" = c ]; then
		sources="tests/link/sites.c tests/link/sites_more.c" std=-std=gnu11 want=$C_SITES most=$C_ROWS
	else
		sources="tests/link/sites.cc tests/link/sites_more.cc" std=-std=c++17 want=$CXX_SITES most=$CXX_ROWS
	fi
	# shellcheck disable=SC2086
	if ! $compiler $std -Wall -Wextra -Iinclude -I. ${SAN:-} "$@" $sources -o "$work/sites" $libs 2>"$work/log"; then
		cat "$work/log"
		note "$compiler $* $language: does not link"
		return
	fi
	[ -s "$work/log" ] && { cat "$work/log"; note "$compiler $* $language: warnings"; }
	KTR_SESSION=link KTR_MASK=all KTR_KEEP_SESSION=1 "$work/sites" >"$work/log" 2>&1 || {
		cat "$work/log"
		note "$compiler $* $language: does not run"
	}
	set -- "$compiler $* $language" $("$out/count" "$shm/ktr-$(id -u)/link.ktr")
	rm -f "$shm/ktr-$(id -u)/link.ktr"
	built=$((built + 1))
	if [ "${3:-0}" != "$want" ] || [ "${2:-0}" -gt "$most" ]; then
		note "$1: ${2:-no} rows, ${3:-none} recorded; expected $want to $most rows, $want recorded"
	fi
}

has() {
	command -v "$1" >/dev/null 2>&1 || { echo "skipped: there is no $1"; return 1; }
}

gc="-ffunction-sections -fdata-sections -Wl,--gc-sections"
family() { # C compiler, C++ compiler
	for language in c c++; do
		[ $language = c ] && compiler=$1 || compiler=$2
		one $language "$compiler" -O2
		one $language "$compiler" -O2 $gc -Wl,-z,start-stop-gc
		one $language "$compiler" -O2 -static
		[ -n "${ALL:-}" ] || [ $language = c++ ] && one $language "$compiler" -O0
		[ -n "${ALL:-}" ] || continue
		one $language "$compiler" -O3 $gc
		one $language "$compiler" -O2 -no-pie
		one $language "$compiler" -Os -fPIC
		one $language "$compiler" -O2 -static-pie
		one $language "$compiler" -O2 -static $gc -Wl,-z,start-stop-gc
		if has ld.gold; then
			one $language "$compiler" -O2 -fuse-ld=gold
			one $language "$compiler" -O2 -fuse-ld=gold $gc
			one $language "$compiler" -O2 -fuse-ld=gold -Wl,--icf=all $gc
		fi
		if has ld.lld; then
			one $language "$compiler" -O2 -fuse-ld=lld
			one $language "$compiler" -O2 -fuse-ld=lld $gc -Wl,-z,start-stop-gc
			one $language "$compiler" -O2 -fuse-ld=lld $gc -Wl,--icf=all
			one $language "$compiler" -O2 -fuse-ld=lld -static-pie
		fi
	done
}

has gcc && has g++ && {
	family gcc g++
	for language in c c++; do
		[ $language = c ] && compiler=gcc || compiler=g++
		one $language $compiler -O2 -flto
		one $language $compiler -O2 -flto $gc -Wl,-z,start-stop-gc
	done
	if [ -z "${ALL:-}" ]; then
		one c gcc -O2 -static-pie
		has ld.gold && one c++ g++ -O2 -fuse-ld=gold $gc
		has ld.lld && one c++ g++ -O2 -fuse-ld=lld $gc -Wl,-z,start-stop-gc
	fi
}
if has clang && has clang++; then
	if [ -n "${ALL:-}" ]; then
		family clang clang++
		has ld.lld && for language in c c++; do
			[ $language = c ] && compiler=clang || compiler=clang++
			one $language $compiler -O2 -flto -fuse-ld=lld
			one $language $compiler -O2 -flto=thin -fuse-ld=lld $gc -Wl,-z,start-stop-gc
		done
	else
		one c clang -O2
		one c++ clang++ -O2
		has ld.lld && one c++ clang++ -O2 -fuse-ld=lld $gc -Wl,-z,start-stop-gc
	fi
fi

# What is compiled out is gone.
off() { # compiler, language flags, options
	compiler=$1
	shift
	if ! $compiler -Wall -Wextra -Iinclude "$@" -c tests/link/off.c -o "$work/off.o" 2>"$work/log"; then
		cat "$work/log"
		note "$compiler $*: does not compile"
		return
	fi
	[ -s "$work/log" ] && { cat "$work/log"; note "$compiler $*: warnings"; }
	built=$((built + 1))
	secrets=$(strings -a "$work/off.o" | grep SECRET | grep -v 'SECRET class help')
	[ -z "$secrets" ] || note "$compiler $*: strings are left: $secrets"
	nm "$work/off.o" | grep -q off_effect && note "$compiler $*: an argument is evaluated"
	calls=$(nm "$work/off.o" | grep -cE ' U ktr__record')
	case " $* " in
	*KTR_OFF*)
		strings -a "$work/off.o" | grep -q PUBLIC && note "$compiler $*: KTR_OFF leaves a string"
		nm "$work/off.o" | grep -E ' U .*ktr' && note "$compiler $*: KTR_OFF leaves a reference"
		nm "$work/off.o" | grep ktr_class && note "$compiler $*: KTR_OFF leaves a class"
		readelf -SW "$work/off.o" | grep -q ktr_sites && note "$compiler $*: KTR_OFF leaves a call site"
		;;
	*)
		strings -a "$work/off.o" | grep -q 'PUBLIC format' || note "$compiler $*: the event that is on is missing"
		[ "$calls" = 1 ] || note "$compiler $*: $calls different calls to record, 1 expected"
		bytes=$(readelf -SW "$work/off.o" | sed -n 's/.* ktr_sites *PROGBITS *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')
		[ "$bytes" = 000008 ] || note "$compiler $*: the list of call sites has $bytes bytes, 8 expected"
		;;
	esac
}
for compiler in gcc clang; do
	has $compiler || continue
	for level in "-O0 -ftoplevel-reorder" -O2; do
		# gcc's -O0 keeps static variables nobody refers to, strings of call sites among them, unless told;
		# clang does not know the flag, and does not need it.
		[ $compiler = clang ] && level=${level%% *}
		# shellcheck disable=SC2086
		off $compiler $level
		# shellcheck disable=SC2086
		off $compiler $level -DKTR_OFF
	done
done
has g++ && off g++ -x c++ -std=c++17 -O0 -ftoplevel-reorder && off g++ -x c++ -std=c++17 -O2

# Neither the library nor what is linked with it takes part in the host's RCU; probes need only liburcu's headers.
for library in libktr.so libktr-writer.so libktr-probe.so libktr-dtrace.so; do
	nm -D "$O/lib/$library" | grep -iE '(u|_)rcu|rcu_' && note "$library uses what is above"
	readelf -d "$O/lib/$library" | grep -i urcu && note "$library needs what is above"
done
for library in libktr.a libktr-probe.a libktr-dtrace.a; do
	nm "$O/lib/$library" 2>/dev/null | grep -iE '(u|_)rcu|rcu_' && note "$library uses what is above"
done
printf '#include <ktr.h>\nint main(void) { CTR0(KTR_GEN, "hello"); return 0; }\n' >"$work/hello.c"
${CC:-cc} -Iinclude "$work/hello.c" -o "$work/hello" "$O/lib/libktr.a" -lpthread 2>"$work/log" ||
	note "a program does not link with libktr.a alone: $(tail -n 1 "$work/log")"
[ ! -e "$work/hello" ] || ldd "$work/hello" | grep -i urcu && note "a program with libktr.a needs what is above"
echo "link: $built builds"
exit $failed

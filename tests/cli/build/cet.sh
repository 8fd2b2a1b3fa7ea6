#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Shadow stacks of x86-64: each object of the libraries says that it is fit for them, and so do the libraries, so
# that a program that wants them keeps them with ktr in it. That it is true is tried with a shadow stack that a
# tracer keeps.
. "$(dirname "$0")/../lib.inc"

[ "$(uname -m)" = x86_64 ] || { skip "this is not x86-64"; exit 0; }
echo | $cc -Werror -fcf-protection=return -xc -c - -o "$dir/none.o" 2>/dev/null || { skip "the compiler does not know -fcf-protection=return"; exit 0; }
grep -qE -- '-fcf-protection=(none|branch)' "$O/flags" && { skip "the user's CFLAGS say otherwise"; exit 0; }

fit() {
	readelf -n "$1" 2>/dev/null | grep -q 'x86 feature:.*SHSTK'
}

for library in libktr libktr-writer libktr-probe libktr-provider libktr-dtrace libktr-fbt libktr-agent libktr-profil libktr-task \
	libktrread; do
	fit "$O/lib/$library.so" || fail "$library.so does not say that it is fit for shadow stacks"
done
# Hundreds at once; of one file alone it would not say the name.
find "$O/pic" "$O/read" "$O/obj/conf" "$O/obj/ktr" "$O/obj/writer" "$O/obj/analyze" -name '*.o' >"$dir/objects"
n=$(wc -l <"$dir/objects")
[ "$n" -gt 200 ] || fail "only $n objects"
xargs readelf -n "$O/lib/libktr.so" <"$dir/objects" 2>/dev/null |
	awk '/^File: / { file = $2 } /x86 feature:.*SHSTK/ { print file }' | sort -u >"$dir/fit"
unfit=$(sort "$dir/objects" | comm -23 - "$dir/fit" | head -n 5)
[ -z "$unfit" ] || fail "it is not said that these are fit for shadow stacks: $unfit"

# The linker is asked for a report; start files of the C library may lack the mark, nothing of ours does.
echo '#include <ktr.h>
int main(void) { CTR0(KTR_GEN, "x"); return 0; }' >"$dir/one.c"
$cc -fcf-protection=return -Iinclude "$dir/one.c" -o "$dir/one" "$O/lib/libktr.a" -lurcu-bp -lpthread \
	-Wl,-z,cet-report=warning >"$dir/report" 2>&1 || fail "it does not link: $(cat "$dir/report")"
grep libktr.a "$dir/report" | grep SHSTK && fail "the linker misses the mark"
grep -q 'IBT' "$dir/report" || skip "the linker knows no -z cet-report"

# What the user asks for comes last.
for want in none full; do
	MAKEFLAGS='' make -s --no-print-directory KTR_NO_INSTALL=1 CC="$cc" CFLAGS="-O1 -fcf-protection=$want" O="$dir/b" \
		"$dir/b/pic/ktr/session/cpu.o" >"$dir/log" 2>&1 || fail "CFLAGS with -fcf-protection=$want: $(cat "$dir/log")"
	got=$(readelf -n "$dir/b/pic/ktr/session/cpu.o" 2>/dev/null | sed -n 's/.*x86 feature: //p')
	[ $want = none ] && is "CFLAGS with -fcf-protection=none" "$got" "" || is "CFLAGS with =full" "$got" "IBT, SHSTK"
done

$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Iinclude tests/programs/build/shadow.c -o "$dir/shadow" "$O/lib/libktr.a" \
	-lurcu-bp -lpthread -Wl,-z,now || exit 1
for path in rseq thread; do
	for count in none gen; do
		KTR_MASK=all KTR_PATH=$path KTR_ENTRIES=1024 timeout 300 sh -c '
			[ "$1" = none ] || export KTR_CONF="$2"
			exec "$3"' sh $count "$dir/conf" "$dir/shadow" >"$dir/out" 2>&1
		case $? in
		0) ;;
		77) skip "no ptrace" ;;
		76) skip "no seccomp, or the registration for restartable sequences stays" ;;
		*) fail "$path, $count counted: $(cat "$dir/out")" ;;
		esac
		echo 'debug.ktr.count="gen"' >"$dir/conf"
	done
done
exit $failed

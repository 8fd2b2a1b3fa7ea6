#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Landing pads and signed return addresses of AArch64: built with them, each object of the libraries and of the
# command says so, assembly too, and so do the libraries; what assembly exports begins with a landing pad. An object
# says it of nobody else's functions: the two-file form does only if the compiler was told.
. "$(dirname "$0")/../lib.inc"

case $($cc -dumpmachine) in
aarch64*) ;;
*) skip "this is not AArch64"; exit 0 ;;
esac
tool() { # NAME: of the compiler's binutils
	$cc -print-prog-name="$1" 2>/dev/null || echo "$1"
}
readelf=$(tool readelf)

says() {
	"$readelf" -n "$1" 2>/dev/null | sed -n 's/.*AArch64 feature: //p' | sort -u
}

# No landing pads are wanted where nobody asks for them.
flags='-mbranch-protection=standard'
b=$dir/b
# shellcheck disable=SC2086 # options
MAKEFLAGS='' make -s --no-print-directory -j2 KTR_NO_INSTALL=1 CC="$cc" AR="$(tool ar)" OBJCOPY="$(tool objcopy)" O="$b" \
	CFLAGS="-O1 $flags" ${KTR_MAKE_OPTIONS:-} lib "$b/obj/visualize/page/page_assets.o" "$b/one/ktr.c" >"$dir/log" 2>&1 || {
	cat "$dir/log"
	exit 1
}
n=0
for object in $(find "$b/pic" "$b/read" "$b/obj" -name '*.o'); do
	n=$((n + 1))
	is "${object#"$b/"}" "$(says "$object")" "BTI, PAC"
done
[ $n -gt 200 ] || fail "only $n objects"
# Start files of the C library may lack the mark, so the linker is asked for it, and names whoever lacks it.
for library in libktr libktr-writer libktr-probe libktr-provider libktr-dtrace libktr-task; do
	rm "$b/lib/$library.so"
done
# shellcheck disable=SC2086 # options
MAKEFLAGS='' make -s --no-print-directory KTR_NO_INSTALL=1 CC="$cc" AR="$(tool ar)" OBJCOPY="$(tool objcopy)" O="$b" \
	CFLAGS="-O1 $flags" LDFLAGS=-Wl,-z,force-bti ${KTR_MAKE_OPTIONS:-} lib >"$dir/log" 2>&1 || fail "$(cat "$dir/log")"
grep 'BTI' "$dir/log" | grep -F "$b/" && fail "the linker misses the mark"
for library in libktr libktr-writer libktr-probe libktr-provider libktr-dtrace libktr-task; do
	says "$b/lib/$library.so" | grep -q BTI || fail "$library.so does not say it"
done

for object in "$b"/pic/ktr/arch/*.o; do
	"$(tool objdump)" -d "$object" >"$dir/code"
	for name in $("$readelf" -sW "$object" | awk '$4 == "FUNC" && $5 == "GLOBAL" && $7 != "UND" { print $8 }'); do
		first=$(sed -n "/<$name>:/{n;s/^[^\t]*\t[^\t]*\t//p;}" "$dir/code" | head -n 1)
		case $first in bti*c* | hint*0x22*) ;; *) fail "$name begins with $first" ;; esac
		echo "$name" >>"$dir/names"
	done
done
grep -q vfork "$dir/names" || fail "there is no vfork"

for flags in '' '-mbranch-protection=none' '-mbranch-protection=standard'; do
	# shellcheck disable=SC2086 # options
	$cc -std=gnu11 -O1 $flags -c "$b/one/ktr.c" -o "$dir/one.o" || exit 1
	# shellcheck disable=SC2086 # options
	echo 'int main(void) { return 0; }' | $cc -O1 $flags -xc -c - -o "$dir/plain.o"
	is "the two-file form, $flags" "$(says "$dir/one.o")" "$(says "$dir/plain.o")"
done
exit $failed

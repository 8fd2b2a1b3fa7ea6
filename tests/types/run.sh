#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What `ktr types` says of other people's programs, beside what gdb does: SQLite and pugixml, built from Debian's sources,
# each by gcc and by clang, COUNT functions of each (200; 0: all). The sources are kept under $O/types.
#
#	tests/types/run.sh
#	SOURCES=DIR tests/types/run.sh		DIR has NAME_VERSION.orig.tar.*: nothing is asked for
#
# Exit status 1 if something differs, 77 if nothing does but a program could not be had here.
. "$(dirname "$0")/../cli/lib.inc"
home=$O/types
count=${COUNT:-200}
left_out=0
mkdir -p "$home/sources"
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME

say() {
	echo "$name: $*"
}

not_here() {
	say "left out: $*"
	exit 77
}

# shellcheck source=tests/foreign/source.inc
. tests/foreign/source.inc

# What is compiled: a file that is all of it.
sqlite3_file() {
	[ -e sqlite3.c ] || { ./configure -q --disable-tcl --disable-readline && make sqlite3.c; }
}

pugixml_file() {
	:
}

compiled() { # COMPILER OPTIONS...: the library
	case $name in
	sqlite3) "$@" -g -fPIC -shared sqlite3.c -o lib.so -lm ;;
	pugixml) "$@" -g -fPIC -shared -std=c++17 src/pugixml.cpp -o lib.so ;;
	esac
}

program() { # in a shell of its own
	needs="gdb:gdb clang:clang++ ${needs:-}"
	packages
	source_
	mkdir -p "$home/$name"
	tar -C "$home/$name" --strip-components=1 -xf "$from" || not_here "$from cannot be unpacked"
	cd "$home/$name" || exit 1
	"${name}_file" >"$dir/log" 2>&1 || not_here "it cannot be built: $(last_line)"
	for how in "$1 -O0" "$1 -O2 -gdwarf-4" "$1 -O3 -flto" "$2 -O1" "$2 -O2 -gdwarf-5"; do
		# shellcheck disable=SC2086
		compiled $how >"$dir/log" 2>&1 || { fail "$name, $how: $(last_line)"; continue; }
		python3 "$top/tests/types/compare.py" "$ktr" lib.so "$count" >"$dir/out" 2>&1 || fail "$name, $how"
		say "$how: $(cut -c 1-600 "$dir/out")"
	done
	exit $failed
}

for name in sqlite3 pugixml; do
	case $name in
	sqlite3) version=3.40.1 needs=tcl:tclsh compilers="gcc clang" ;;
	pugixml) version=1.13 needs= compilers="g++ clang++" ;;
	esac
	# shellcheck disable=SC2086
	(trap - EXIT; program $compilers)
	case $? in
	0) ;;
	77) left_out=1 ;;
	*) failed=1 ;;
	esac
done
[ $failed = 0 ] && [ $left_out = 1 ] && exit 77
exit $failed

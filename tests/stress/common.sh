# SPDX-License-Identifier: BSD-2-Clause
# For scripts that have sourced tests/cli/lib.inc: builds test programs against the library under $O. CC and SAN
# (sanitizer flags) are respected.

CC=$cc
out=$O/tests/stress
work=$dir
shm=$KTR_DIR
mkdir -p "$out" || exit 1

flags="-std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Iinclude -I. ${SAN:-}"
# What is private is looked at, too.
# Of an archive of single objects a point takes those that record; what attaches modules is asked for.
libs="-Wl,-u,ktr__module_attach $O/obj/libktr.a -lpthread"

# program source... [-- flags]: builds $out/program when a source, a header or the library is newer.
build() {
	program=$out/$1
	shift
	sources=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		sources="$sources $1"
		shift
	done
	[ $# -gt 0 ] && shift
	archives=$(for lib in $libs; do case $lib in *.a) echo "$lib" ;; esac; done)
	if [ -e "$program" ] && [ -z "$(find $sources tests/stress/*.h tests/kill/*.h include/ktr $archives -newer "$program")" ]; then
		return 0
	fi
	$CC $flags "$@" $sources -o "$program" $libs || { echo "cannot build $program"; exit 1; }
}

# Paths to test on: both, or the one that KTR_PATHS names ("rseq" or "thread").
paths=${KTR_PATHS:-rseq thread}
on_path() { # path command...
	path=$1
	shift
	if [ "$path" = thread ]; then
		KTR_PATH=thread "$@"
	else
		"$@"
	fi
}

run() { # prints what it runs, fails with it
	echo "+ $*"
	"$@" || { echo "failed ($?): $*"; exit 1; }
}

build_stress() {
	build stress tests/stress/event.c tests/stress/look.c tests/stress/control.c tests/stress/stress.c
}
build_kill() {
	build kill tests/stress/event.c tests/stress/look.c tests/kill/kill.c
}
# Kills writers; reads what they leave with libktrread.
build_kill_trace() {
	dw=
	[ -e /usr/include/elfutils/libdwfl.h ] && dw=-ldw
	[ -e /usr/include/libiberty/demangle.h ] && dw="-liberty $dw"
	libs="$O/obj/libktrread.a $libs -ljansson -lm $dw"
	build kill-trace tests/kill/trace.c tests/kill/left.c tests/kill/stops.c -- -Wl,--wrap=ktr__sys
	mkdir "$work/killed"
}
build_odd() {
	build odd tests/stress/event.c tests/stress/look.c tests/stress/odd.c tests/stress/odd_*.c -- -rdynamic
	for plugin in one two many; do
		define=
		[ $plugin = many ] && define=-DPLUGIN_MANY
		$CC $flags -fPIC -shared -DPLUGIN=$plugin $define tests/stress/plugin.c -o "$out/plugin-$plugin.so" ||
			exit 1
	done
	# A plugin that contains the library; its objects are there where the shared library was built.
	if [ -d "$O/pic/ktr" ]; then
		$CC $flags -fPIC -shared -Wl,-Bsymbolic -DPLUGIN=copy tests/stress/plugin.c \
			$(library_objects) \
			-o "$out/plugin-copy.so" -lpthread || exit 1
	fi
}

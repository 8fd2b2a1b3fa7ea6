#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How a program may take ktr in: a file that only includes the header needs no library, a class may be declared and
# defined, the archives go into a shared object, the two-file form bears a program's own flags, an installation says
# nothing on stderr, and no archive has a name that might be a program's.
#
#	FULL=1		the two-file form at more levels
. "$(dirname "$0")/../lib.inc"
strict="-Wall -Wextra -Wredundant-decls -Wpedantic -Werror"

has() {
	command -v "$1" >/dev/null || { skip "there is no $1"; return 1; }
}

# builds WHAT COMPILER OPTIONS...: without a word.
builds() {
	what=$1
	shift
	"$@" 2>"$dir/log" || { head -n 5 "$dir/log"; fail "$what: $* does not build"; return 1; }
	[ ! -s "$dir/log" ] || { head -n 5 "$dir/log"; fail "$what: $*: warnings"; }
}

# counts WHAT TRACE WANTED: events of class own.
counts() {
	is "$1" "$("$ktr" dump -q --filter 'class == own' "$2" 2>&1 | wc -l)" "$3"
	rm -rf "$2"
}

# ---- a file without points, and classes ----
printf '#include <ktr.h>\n#include <ktr/probe.h>\nint main(void) { return 0; }\n' >"$dir/none.c"
printf '#include <ktr.h>\n#include <ktr/probe.h>\nint none(void);\nint none(void) { return 0; }\n' >"$dir/nothing.c"
cat >"$dir/classes.c" <<'END'
#include <ktr.h>
KTR_CLASS_DECLARE(own);
KTR_CLASS_DEFINE(own, "declared, then defined");
static KTR_CLASS_DEFINE(inner, "static");
int main(void)
{
	KTR_SCOPE(KTR_CLASS(own), "scope");
	CTR0(KTR_CLASS(inner), "inner");
	return 0;
}
END
for c in gcc clang g++ clang++; do
	has $c || continue
	case $c in *++) language=c++ ;; *) language=c ;; esac
	for options in -O0 "-O2 -static" "-O2 -no-pie" "-O2 -flto"; do
		case "$c$options" in clang*flto) has ld.lld || continue; options="$options -fuse-ld=lld" ;; esac
		# shellcheck disable=SC2086
		builds "no points" $c $strict $options -Iinclude -x $language "$dir/none.c" -o "$dir/none" &&
			{ timeout 120 "$dir/none" || fail "$c $options: without points it does not run"; }
	done
	# shellcheck disable=SC2086
	builds "no points" $c $strict -O1 -fPIC -shared -Wl,-z,defs -Iinclude -x $language "$dir/nothing.c" -o "$dir/none.so"
	for options in "" -DKTR_OFF; do
		# shellcheck disable=SC2086
		builds "classes" $c $strict -O1 $options -Iinclude -x $language "$dir/classes.c" -x none -o "$dir/classes" \
			"$O/lib/libktr.a" -lpthread || continue
		[ -z "$options" ] || continue
		status 0 "$ktr" run -m own -o "$dir/trace" "$dir/classes"
		counts "$c: a scope of a class that is declared and defined" "$dir/trace" 2
	done
done
# With one object that has points, others that have none do no harm.
builds "beside points" "$cc" -Iinclude "$dir/classes.c" "$dir/nothing.c" -o "$dir/classes" "$O/lib/libktr.a" -lpthread &&
	status 0 "$ktr" run -m own -o "$dir/trace" "$dir/classes"
counts "beside points" "$dir/trace" 2

# ---- the archives in a shared object ----
cat >"$dir/object.c" <<'END'
#include <ktr.h>
#include <ktr/probe.h>
KTR_CLASS_DEFINE(own, "of a shared object");
int object(void);
int object(void)
{
	for (int i = 0; i < 10; i++)
		CTR2(KTR_CLASS(own), "object %d %s", i, "text");
	return 0;
}
END
cat >"$dir/loads.c" <<'END'
#include <dlfcn.h>
#ifdef POINTS
#include <ktr.h>
KTR_CLASS_DEFINE(own, "of a program");
#endif
int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	int (*object)(void) = library ? (int (*)(void))dlsym(library, "object") : (int (*)(void))0;

#ifdef POINTS
	CTR0(KTR_CLASS(own), "program");
#endif
	return object ? object() : 1;
}
END
for c in gcc clang; do
	has $c || continue
	builds "shared object" $c -O2 -fPIC -shared -Wl,-z,defs -Wl,-z,text -Iinclude "$dir/object.c" -o "$dir/object.so" \
		"$O/lib/libktr_pic.a" -lpthread || continue
	builds "its program" $c "$dir/loads.c" -o "$dir/loads" -ldl
	builds "its program" $c -DPOINTS -rdynamic -Iinclude "$dir/loads.c" -o "$dir/loads-too" \
		"$O/lib/libktr.a" -lpthread -ldl
	status 0 "$ktr" run -m own -o "$dir/trace" "$dir/loads" "$dir/object.so"
	counts "$c: a shared object with the archives" "$dir/trace" 10
	status 0 "$ktr" run -m own -o "$dir/trace" "$dir/loads-too" "$dir/object.so"
	counts "$c: the archives in program and shared object" "$dir/trace" 11
done

# ---- the two-file form ----
two_files
cp "$O/one/ktr.c" "$O/one/ktr.h" "$dir"
sed 's/<ktr.h>/"ktr.h"/' "$dir/classes.c" >"$dir/hello.c"
one() {
	builds "two files" "$@" -Wall -Wextra -Werror "$dir/hello.c" "$dir/ktr.c" -lpthread -o "$dir/hello" || return
	status 0 "$ktr" run -m own -o "$dir/trace" "$dir/hello"
	counts "two files: $*" "$dir/trace" 2
}
# By itself, pedantically, with both compilers: one.sh.
has gcc && one gcc -O3 -flto=auto
if [ -n "${FULL:-}" ]; then
	for level in -O0 -O1 -O2 -O3 -Os; do
		has gcc && one gcc -std=gnu11 -pedantic $level
		has gcc && one gcc -std=gnu11 -pedantic $level -flto=auto
		has clang && one clang -std=gnu11 -pedantic $level
	done
fi

# ---- make install ----
MAKEFLAGS='' make -s --no-print-directory O="$O" PREFIX=/opt/ktr DESTDIR="$dir/stage" install >/dev/null 2>"$dir/log" ||
	fail "make install"
is "stderr of make install" "$(cat "$dir/log")" ""
# Below the build's own folder, where make looks for what it wrote itself: the second time, too.
below=$O/builds.$$
at_exit() { rm -rf "$below"; }
for time in first second; do
	MAKEFLAGS='' make -s --no-print-directory O="$O" PREFIX="$below" install >/dev/null 2>"$dir/log" ||
		fail "the $time make install below the build: $(head -n 3 "$dir/log")"
	is "stderr of the $time make install below the build" "$(cat "$dir/log")" ""
done
at_exit

# ---- names ----
# names ARCHIVE: what it defines for others to link with, and hidden ARCHIVE: what only the same program sees.
names() {
	readelf -sW "$O/lib/$1" 2>/dev/null | awk '$5 != "LOCAL" && $6 == "DEFAULT" && $7 ~ /^[0-9]/ { print $8 }' | LC_ALL=C sort -u
}
hidden() {
	readelf -sW "$O/lib/$1" 2>/dev/null | awk '$5 != "LOCAL" && $6 != "DEFAULT" && $7 ~ /^[0-9]/ { print $8 }' | LC_ALL=C sort -u
}
for library in libktr libktr_pic libktr-probe libktr-provider libktr-dtrace libktr-fbt libktr-task libktrread; do
	[ -e "$O/lib/$library.a" ] || continue # functions are probes on x86-64
	nm -D --defined-only "$O/lib/${library%_pic}.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		LC_ALL=C sort -u >"$dir/shared"
	[ "$(wc -l <"$dir/shared")" -gt 1 ] || fail "${library%_pic}.so has $(wc -l <"$dir/shared") names"
	names $library.a >"$dir/archive"
	is "names that only one of $library.a and ${library%_pic}.so has" \
		"$(LC_ALL=C comm -3 "$dir/archive" "$dir/shared" | tr -d '\t' | tr '\n' ' ')" ""
	# Each file with points has these: a program's own are the same.
	is "$library.a: hidden names" "$(hidden $library.a | grep -vxE 'ktr__(module_entry|probe_module|dtrace_module)')" ""
done

# ---- all archives in one program, and in one shared object ----
all="$O/lib/libktr-probe.a $O/lib/libktr.a"
read_libs="-ljansson -lm $([ ! -e /usr/include/elfutils/libdwfl.h ] || echo -ldw) -lpthread"
status 0 "$ktr" run -m own -o "$dir/trace" "$dir/classes"
# A program has functions of all our private names: they are not called, and ours are not theirs.
nm -g --defined-only "$O/obj/libktr.a" "$O/obj/libktrread.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u >"$dir/all"
for library in libktr libktrread libktr-task libktr-probe libktr-provider libktr-dtrace; do
	names $library.a
	hidden $library.a
done | LC_ALL=C sort -u >"$dir/known"
LC_ALL=C comm -23 "$dir/all" "$dir/known" |
	awk '{ print "void " $1 "(void);\nvoid " $1 "(void)\n{\n\t__builtin_trap();\n}" }' >"$dir/theirs.c"
[ "$(grep -c trap "$dir/theirs.c")" -gt 200 ] || fail "only $(grep -c trap "$dir/theirs.c") private names"
builds "their names" "$cc" -fno-builtin -fPIC -c "$dir/theirs.c" -o "$dir/theirs.o"
# used WHAT: a program that was built traces, is probed, and reads.
used() {
	status 0 "$ktr" run -m own -o "$dir/used" "$dir/archives" "$dir/trace"
	is "$1: what was read" "$(cat "$dir/out")" "read 2"
	is "$1: events of a probe" "$("$ktr" dump -q --filter 'class == probe' "$dir/used" 2>&1 | wc -l)" 10
	counts "$1" "$dir/used" 10
}
for order in "$O/lib/libktrread.a $all" "$all $O/lib/libktrread.a"; do
	for theirs in "" "$dir/theirs.o"; do
		# shellcheck disable=SC2086
		builds "all archives" "$cc" -Wall -Wextra -Iinclude tests/programs/build/archives.c $theirs $order $read_libs \
			-o "$dir/archives" &&
			used "all archives, ${order##*/} last${theirs:+, private names in the program}"
	done
	# shellcheck disable=SC2086
	builds "all archives in a shared object" "$cc" -Wall -Wextra -fPIC -shared -Wl,-z,defs -Wl,-z,text -DOBJECT -Iinclude \
		tests/programs/build/archives.c "$dir/theirs.o" $(echo "$order" | sed 's|/libktr[.]a|/libktr_pic.a|') $read_libs \
		-o "$dir/libarchives.so" &&
		printf '%s\n' 'int object(const char *);' \
			'int main(int argc, char **argv) { return object(argv[argc - 1]); }' >"$dir/calls.c" &&
		builds "its program" "$cc" "$dir/calls.c" "$dir/libarchives.so" "-Wl,-rpath,$dir" -o "$dir/archives" &&
		used "a shared object of all archives, ${order##*/} last"
done
# Without what only libktrread has, nothing but libc in it.
# shellcheck disable=SC2086
builds "static" "$cc" -static -Iinclude "$dir/classes.c" $all -lpthread -o "$dir/classes" &&
	{ status 0 "$ktr" run -m own -o "$dir/trace2" "$dir/classes"; counts "static" "$dir/trace2" 2; }
exit $failed

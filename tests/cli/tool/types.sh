#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr types says of functions what gdb does, whoever compiled them and however; arguments are where it says they are;
# what lies elsewhere than in the program is found; the cache is right or made anew; errors are one clear line.
. "$(dirname "$0")/../lib.inc"
[ -e /usr/include/elfutils/libdwfl.h ] || { skip "no libdw"; exit 0; }
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME
cxx=${CXX:-c++}
source=$top/tests/programs/tool/types
has() { command -v "$1" >/dev/null; }
# In which order things come is the compiler's affair: clang's is another. Programs of both are compared with gdb.
! has gcc || cc=gcc
! has g++ || cxx=g++

built() { # PROGRAM COMMAND...: compiles the program of C, or with a name that ends in + that of C++
	program=$1
	shift
	case $program in
	*+) "$@" -std=gnu++17 "$source.cc" -o "$dir/$program" ;;
	*) "$@" -std=gnu11 "$source.c" -o "$dir/$program" ;;
	esac 2>"$dir/log" || fail "$program: $* $(head -n 3 "$dir/log")"
}

# ---- names, types and places are those of gdb ----
forms() {
	# shellcheck disable=SC2086 # several words
	{
		built o0 $cc -g -gdwarf-5 -O0
		built o2 $cc -g -gdwarf-4 -O2
		built lto $cc -g -gdwarf-5 -O3 -flto
		built o2+ $cxx -g -gdwarf-5 -O2
		built lto+ $cxx -g -gdwarf-5 -O3 -flto
		built o0+ $cxx -g -gdwarf-4 -O0
	}
	programs="o0 o2 lto o2+ lto+ o0+"
	if has clang && has clang++; then
		built clang1 clang -g -gdwarf-4 -O1 -Wno-deprecated-non-prototype
		built clang+ clang++ -g -gdwarf-5 -O1
		programs="$programs clang1 clang+"
	else
		skip "no clang"
	fi
}

like_gdb() {
	has gdb || { skip "no gdb"; return; }
	for program in $programs; do
		count=
		case $program in *+) count=60 ;; esac
		python3 tests/types/compare.py "$ktr" "$dir/$program" $count >"$dir/out" 2>&1 || fail "$(cut -c1-500 "$dir/out")"
	done
	for program in o0 o0+; do
		"$ktr" types --json "$dir/$program" >"$dir/json" || fail "json of $program"
		TYPES=$dir/json SOURCE=/types.c$(echo "$program" | tr -cd + | tr + c) timeout 300 \
			gdb -nx -q -batch -x tests/types/calls.py "$dir/$program" >"$dir/out" 2>&1 </dev/null
		grep -qa '^calls: 1[0-9] functions;.* 0 wrong' "$dir/out" || fail "$program: $(grep -a -E '^calls|rror' "$dir/out")"
	done
}

# ---- what lies elsewhere ----
same() { # WHAT PROGRAM
	"$ktr" types "$2" >"$dir/out" 2>&1 || fail "$1: $(cat "$dir/out")"
	cmp -s "$dir/out" "$dir/plain" || fail "$1: $(diff "$dir/plain" "$dir/out" | head -n 5)"
}

elsewhere() {
	rm -rf "$XDG_CACHE_HOME"
	"$ktr" types "$dir/o0" >"$dir/plain" || fail "plain"
	for function in 'int parse_line(struct parser \*p, const char \*text, size_t len);' \
		'callback \*pick(callback \*f, int (\* const \*table)(struct parser \*, const char \*), int n);' \
		'int variadic(const char \*format, \.\.\.);' '_Bool nothing(void);' \
		'int strange(struct hidden \*h, int (\*rows)\[4\], const volatile int \* const \* restrict v, .*'; do
		grep -qx "$function" "$dir/plain" || fail "there is no $function in $(cat "$dir/plain")"
	done
	! grep -q inlined_everywhere "$dir/plain" || fail "what was inlined everywhere is there"
	XDG_CACHE_HOME=$dir/none
	# shellcheck disable=SC2086
	{
		built zipped $cc -g -O0 -gz=zlib
		built units $cc -g -O0 -fdebug-types-section
	}
	same "compressed sections" "$dir/zipped"
	same "type units" "$dir/units"
	(cd "$dir" && $cc -g -O0 -gsplit-dwarf -std=gnu11 -c "$source.c" -o split.o && $cc split.o -o split) 2>/dev/null || fail "split"
	same "split DWARF" "$dir/split"
	objcopy --only-keep-debug "$dir/o0" "$dir/o0.debug"
	objcopy --strip-all --add-gnu-debuglink="$dir/o0.debug" "$dir/o0" "$dir/linked" || fail "debuglink"
	same ".gnu_debuglink" "$dir/linked"
	mkdir "$dir/.debug"
	mv "$dir/o0.debug" "$dir/.debug"
	rm -rf "$dir/none"
	same ".gnu_debuglink in .debug" "$dir/linked"
	echo >>"$dir/.debug/o0.debug"
	rm -rf "$dir/none"
	status 1 "$ktr" types "$dir/linked" main
	! has dwz || dwz -q "$dir/units" 2>/dev/null
	if has dwz; then
		cp "$dir/o0" "$dir/d1"
		cp "$dir/o0" "$dir/d2"
		(cd "$dir" && dwz -q -m common.debug -M common.debug d1 d2 2>/dev/null)
		rm -rf "$dir/none"
		same "dwz" "$dir/d1"
		# Another file of that name is not the one.
		rm -rf "$dir/none"
		cp "$dir/o0" "$dir/common.debug"
		"$ktr" types --json "$dir/d1" >"$dir/out" 2>/dev/null
		grep -q '"partial": true' "$dir/out" || fail "another file for dwz's: $(head -n 9 "$dir/out")"
	fi
	# A split file that is gone is said, and its program is not remembered.
	rm -rf "$dir/none" "$dir"/split*.dwo
	"$ktr" types --json "$dir/split" main >"$dir/out" 2>/dev/null
	grep -q '"partial": true' "$dir/out" || fail "a missing .dwo: $(head -n 9 "$dir/out")"
	[ ! -e "$dir/none/ktr" ] || fail "what is not whole is in the cache"
	XDG_CACHE_HOME=$dir/cache
}

# ---- the cache ----
cache() {
	file=$(echo "$XDG_CACHE_HOME"/ktr/types/*)
	[ -f "$file" ] || { fail "there is no one file in the cache: $file"; return; }
	cp "$file" "$dir/image"
	# The stripped program is the same by its build-id; so is the build-id alone.
	strip -o "$dir/stripped" "$dir/o0"
	same "a stripped program whose types are in the cache" "$dir/stripped"
	same "a build-id" "$(basename "$file")"
	for damage in cut flip longer version empty; do
		case $damage in
		cut) head -c 2000 "$dir/image" >"$file" ;;
		flip) sed '1,$s/parser/parseR/' "$dir/image" >"$file" ;;
		longer) { cat "$dir/image"; echo; } >"$file" ;;
		version) { head -c 8 "$dir/image"; printf '\377'; tail -c +10 "$dir/image"; } >"$file" ;;
		empty) : >"$file" ;;
		esac
		! cmp -s "$file" "$dir/image" || fail "$damage changed nothing"
		same "the cache, $damage" "$dir/o0"
		cmp -s "$file" "$dir/image" || fail "the cache, $damage: it was not made anew"
	done
	# Of too many those go that nobody has used for longest; not what is none of ours.
	folder=$XDG_CACHE_HOME/ktr/types
	: >"$folder/notes"
	python3 - "$folder" <<-'END'
		import os, sys
		for i in range(1, 301):
		    path = "%s/%040x" % (sys.argv[1], i)
		    open(path, "w").close()
		    os.utime(path, (978307200 + 60 * i,) * 2)
	END
	touch -d 2000-01-01 "$file"
	same "used again" "$dir/o0"
	[ -z "$(find "$file" -not -newermt 2020-01-01)" ] || fail "the cache: use is not seen"
	rm "$file"
	same "made anew among many" "$dir/o0"
	is 'files that stay' "$(find "$folder" -type f | wc -l)" 257
	[ -e "$file" ] && [ -e "$folder/notes" ] || fail "the cache: what is new or not ours has gone"
	[ -e "$folder/$(printf '%040x' 300)" ] && [ ! -e "$folder/$(printf '%040x' 45)" ] || fail "the cache: others have gone"
	rm -r "$XDG_CACHE_HOME"
	: >"$XDG_CACHE_HOME"
	same "no place for a cache" "$dir/o0"
	rm "$XDG_CACHE_HOME"
}

# ---- what is printed ----
printed() {
	status 0 "$ktr" types --struct point --struct 'pars*' "$dir/o0"
	cat >"$dir/wanted" <<'END'
typedef struct {
	float x;                                                /*     0     4 */
	float y;                                                /*     4     4 */

	/* size: 8, members: 2 */
} point;

struct parser {
	const char *text;                                       /*     0     8 */
	size_t len;                                             /*     8     8 */
	unsigned int a:3;                                       /*    16: 0  4 */
	unsigned int b:5;                                       /*    16: 3  4 */
	char c;                                                 /*    17     1 */
	/* 6 bytes hole */
	union {
		int i;                                          /*    24     4 */
		double d;                                       /*    24     8 */
	} u;                                                    /*    24     8 */
	struct {
		int q;                                          /*    32     4 */
	} named;                                                /*    32     4 */
	/* 4 bytes hole */
	struct parser *next;                                    /*    40     8 */

	/* size: 48, members: 8, holes: 2, sum holes: 10 */
};
END
	sed -i 1d "$dir/wanted" && { echo 'typedef struct {'; cat "$dir/wanted"; } | cmp -s - "$dir/out" ||
		fail "structs: $(diff "$dir/wanted" "$dir/out")"
	status 0 "$ktr" types -v "$dir/o0" in_memory spilled
	for line in 'b *\[rsp+8\] *struct large *32  struct' 'ld *\[rsp+40\] *long double *16  float' 'c *rsi *enum color *4  enum' \
		'returns *\*rax *struct large *32  struct' 'w *\[rsp+8\] *struct words *16  struct' 'f *r9 *long *8  signed' \
		'returns *xmm0:xmm1 *struct floats *12  struct'; do
		grep -q "^    $line" "$dir/out" || fail "there is no $line in $(cat "$dir/out")"
	done
	status 0 "$ktr" types -v "$dir/o0" old_style
	grep -q 'types.c:[0-9]*, unprototyped$' "$dir/out" || fail "old style: $(cat "$dir/out")"
	status 0 "$ktr" types --json "$dir/o0" variadic old_style in_memory
	python3 - "$dir/out" <<'END' || fail "json"
import json, sys
of = json.load(open(sys.argv[1]))
f = {f['name']: f for f in of['functions']}
assert sorted(f) == ['in_memory', 'old_style', 'variadic'], f
assert f['variadic']['variadic'] and f['variadic']['prototyped'] and not f['old_style']['prototyped']
assert f['variadic']['args'][0]['encoding'] == 'string' and f['variadic']['args'][0]['registers'] == ['rdi']
assert f['in_memory']['args'][1]['values'] == {'RED': 0, 'GREEN': 5, 'BLUE': -1}
assert f['in_memory']['result'] == dict(f['in_memory']['result'], type='struct large', size=32, **{'class': 'INDIRECT'})
assert [s['name'] for s in of['structs']] == ['large', 'color'], of['structs']
assert f['in_memory']['file'].endswith('types.c') and f['in_memory']['line'] > 50
END
	status 0 "$ktr" types "$dir/o0+" shop::v2::passed price 'operator*' derived
	for line in 'int shop::v2::derived::price(int x) const;' 'bool outer::operator<(const outer &other) const;' \
		'shop::v2::derived::derived(int v);' \
		'int shop::v2::passed(shop::v2::trivial t, shop::v2::copied c, const shop::v2::holds &h, shop::v2::holds hv, .*'; do
		grep -qx "$line" "$dir/out" || fail "there is no $line in $(cat "$dir/out")"
	done
	"$ktr" complete ktr types --str | grep -q '^--struct' || fail "completion"
}

# ---- what cannot be ----
said() { # STATUS TEXT COMMAND...
	want=$1 text=$2
	shift 2
	status "$want" "$@"
	grep -q -e "$text" "$dir/err" && [ "$(wc -l <"$dir/err")" = 1 ] || fail "$*: $(cat "$dir/err")"
}

errors() {
	said 1 'there is no function "parse_lin"; the nearest is "parse_line"' "$ktr" types "$dir/o0" parse_lin
	said 1 'there is no function "zz\*"' "$ktr" types "$dir/o0" 'zz*'
	said 1 'there is no struct "parsre"; the nearest is "parser"' "$ktr" types --struct parsre "$dir/o0"
	said 1 'there is no such file, command in PATH, or build-id' "$ktr" types "$dir/nothing"
	said 1 'no file of this build-id' "$ktr" types 0123456789abcdef
	said 1 'is no 64-bit ELF program or library' "$ktr" types "$0"
	said 1 'is no regular file' "$ktr" types "$dir"
	: >"$dir/empty"
	said 1 'is no 64-bit ELF program or library' "$ktr" types "$dir/empty"
	head -c 700 "$dir/o0" >"$dir/cut"
	said 1 'has neither debugging\|is no 64-bit\|is damaged' "$ktr" types "$dir/cut"
	XDG_CACHE_HOME=$dir/none3
	strip -g -o "$dir/names" "$dir/o0"
	said 1 'has no types of functions, only names' "$ktr" types "$dir/names"
	grep -q '^parse_line ' "$dir/out" || fail "names alone: $(cat "$dir/out")"
	$cc -g1 -std=gnu11 "$source.c" -o "$dir/lines" 2>"$dir/log"
	said 1 'has no types of functions, only names' "$ktr" types "$dir/lines"
	grep -q '^nothing /' "$dir/out" || fail "lines alone: $(cat "$dir/out")"
	$cc -O1 -nostdlib -static -Wl,-e,start -x c - -o "$dir/bare" <<'END' && strip "$dir/bare"
void start(void) { for (;;) ; }
END
	said 1 'has neither debugging information nor symbols' "$ktr" types "$dir/bare"
	status 2 "$ktr" types
	XDG_CACHE_HOME=$dir/cache
}

# A program that is cut or has other bits is read or refused.
damage() {
	cat >"$dir/tiny.c" <<'END'
struct list { struct list *next; int n:3; enum { A, B } kind; union { float f; long l[2]; } u; };
typedef int (*call)(struct list *, const char *);
int walk(struct list *l, call c, ...) { return c(l, "x") + l->n; }
struct list by_value(struct list l, double d) { l.u.f = (float)d; return l; }
int main(int argc, char **argv) { struct list l = {0}; l = by_value(l, argc); return argv[0][0] + l.n; }
END
	ldw="-ldw -lelf"
	[ ! -e /usr/include/libiberty/demangle.h ] || ldw="-liberty $ldw"
	# shellcheck disable=SC2086
	$cc -g -O1 -nostdlib -Wl,-e,main "$dir/tiny.c" -o "$dir/tiny" && $cc -O1 -std=gnu11 -D_GNU_SOURCE -Iinclude -I. \
		tests/types/damage.c tests/fuzz/fuzz_types.c -o "$dir/damage" "$O/obj/libktrread.a" "$O/obj/libktr.a" \
		-ljansson -lm $ldw -lpthread || { fail "damage does not build"; return; }
	timeout 300 "$dir/damage" "$dir/tiny" "${CUT:-101}" "${FLIPS:-1000}" >"$dir/out" 2>&1 || fail "damage: $(tail -n 3 "$dir/out")"
	XDG_CACHE_HOME=$dir/none2 "$ktr" types "$dir/tiny" >/dev/null
	timeout 300 "$dir/damage" "$dir"/none2/ktr/types/* "${CUT:-101}" "${FLIPS:-1000}" >"$dir/out" 2>&1 ||
		fail "damage of the cache: $(tail -n 3 "$dir/out")"
}

forms
like_gdb
elsewhere
cache
printed
errors
damage
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Functions that the recorder itself calls, where a program or a library has its own: they are excluded, and it is said
# why; what these call is recorded when the program calls them, and not when the recorder does; a handler's calls are
# recorded even there. And ktr's own functions are no probes, with whatever flags it is compiled. FULL=1: each compiler
# at each level.
. "$(dirname "$0")/../lib.inc"
. "$(dirname "$0")/fbt.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
cxx=${CXX:-c++}
flag='-fpatchable-function-entry=16,14 -include include/ktr/fbt.h'
cflags="-Iinclude $flag -Bscripts/fbt/ -fno-builtin"
source=tests/programs/provider/fbt_own.c
cp $source "$dir/own.cc"
# The CPU's own counter: what is recorded with another clock may come to another CPU meanwhile, and then what the
# recorder calls there counts as the program's, now and then (ktr/provider/fbt/fire.c).
export KTR_CLOCK_SOURCE=tsc
export KTR_CONF= KTR_BUDGET=0
unset KTR_PROBES
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')

# own_step() as often as the program's threads have called it in region(), the others as often as they were called at
# all; nothing of what the recorder calls.
cat >"$dir/judge.py" <<-'E'
	import json, sys
	inside, n, out = {}, {"own_step": 0, "own_handled": 0, "region": 0}, set()
	for line in sys.stdin:
	    e = json.loads(line)
	    if e.get("class") != "fbt" or e["thread"].startswith("ktr-"):
	        continue
	    name, tid = e["func"].split(".")[0], e["tid"]
	    begins = e["msg"].endswith(":entry") or "start:" in e["msg"]
	    if name == "region":
	        inside[tid] = begins
	    if name in n and begins and (name != "own_step" or inside.get(tid)):
	        n[name] += 1
	    if name in ("memcpy", "memset", "strnlen", "mmap", "munmap", "mprotect", "madvise", "clock_gettime",
	                "getpid", "gettid", "kill", "sched_getcpu", "prctl", "syscall"):
	        out.add(name)
	for name, count in n.items():
	    print(name, count)
	for name in sorted(out):
	    print(name, "was recorded")
E

# On one CPU: an event whose thread moves to another just after it was found usual may have some of the recorder's calls
# recorded.
judge() { # WHAT SPECS
	rm -rf "$dir/t"
	KTR_PROBES=$2 taskset -c "$cpu" "$ktr" run -e 262144 -o "$dir/t" "$dir/own" >"$dir/wanted" 2>"$dir/err" ||
		fail "$1: exit status $?: $(cat "$dir/err")"
	"$ktr" json "$dir/t" | python3 "$dir/judge.py" >"$dir/got"
	is "$1" "$(paste -sd, "$dir/got")" "$(paste -sd, "$dir/wanted")"
}

built() { # COMPILER FLAGS LIBS [SOURCE]
	# shellcheck disable=SC2086 # options
	$1 $cflags $2 "${4:-$source}" -o "$dir/own" $3 2>"$dir/err" || { fail "$1 $2: $(head -n 5 "$dir/err")"; return; }
	judge "$1 $2, all" fbt:::
	judge "$1 $2, some" 'fbt::own_*:,fbt::region:'
}
if [ "${FULL:-0}" != 0 ]; then
	for level in -O0 -O1 -O2 -O3; do
		for libs in "$shared" "$static"; do
			for c in "$cc" $clang; do built "$c -std=gnu11" $level "$libs"; done
			for c in "$cxx" $clangxx; do built "$c -std=gnu++17" $level "$libs" "$dir/own.cc"; done
		done
	done
else
	built "$cc -std=gnu11" -O0 "$shared"
	built "$cc -std=gnu11" -O2 "$static"
	[ -z "$clang" ] || built 'clang -std=gnu11' -O3 "$shared"
	built "$cxx -std=gnu++17" -O3 "$static" "$dir/own.cc"
	[ -z "$clangxx" ] || built 'clang++ -std=gnu++17' -O1 "$shared" "$dir/own.cc"
fi

# ---- with arguments ----

# Each text is measured by strnlen(3). A handler's calls may stand within the call.
if [ -e /usr/include/elfutils/libdwfl.h ]; then
	export XDG_CACHE_HOME="$dir/cache"
	# shellcheck disable=SC2086 # options
	$cc -std=gnu11 $cflags -O1 -g -Wl,--build-id $source -o "$dir/own" $shared || fail 'fbt_own, with types'
	"$ktr" types "$dir/own" >/dev/null 2>"$dir/err" || fail "types: $(cat "$dir/err")"
	judge 'arguments' 'fbt::own_*:,fbt::region:,fbt_args::own_text:'
	is 'texts' "$("$ktr" dump --calls "$dir/t" |
		grep -cE 'own_text\(text="a text that is recorded", other="and another one behind it"\)( = 1;| \{)')" 120
else
	skip 'no libdw'
fi

# ---- a library of such functions ----

# shellcheck disable=SC2086 # options
{
	$cc -std=gnu11 $cflags -O2 -DOWN_LIBRARY -fPIC -shared $source -o "$dir/libown.so" $shared &&
		$cc -std=gnu11 $cflags -O2 -DOWN_PROGRAM $source -o "$dir/own" -L"$dir" -Wl,-rpath,"$dir" -lown $shared
} || fail 'a library'
judge 'a library' fbt:::

# ---- it is said why ----

listed() {
	mkfifo "$dir/go"
	KTR_SESSION=own "$dir/own" 1 wait <"$dir/go" >"$dir/out" 2>&1 &
	pid=$!
	exec 7>"$dir/go"
	rm "$dir/go"
	await '"$ktr" probe list -v -s own fbt::: >"$dir/list" 2>/dev/null'
}
ended() {
	echo >&7
	exec 7>&-
	wait $pid || fail "it ends with $?"
}
why='excluded: the recorder calls it'
# shellcheck disable=SC2086 # options
$cc -std=gnu11 $cflags -O1 $source -o "$dir/own" $static || fail 'fbt_own'
listed
is 'listed' "$(grep -c "entry  *off  *$why\$" "$dir/list")" 14
is 'memcpy' "$(sed -n 's/^fbt:own:memcpy:return  *//p' "$dir/list")" "off     $why"
"$ktr" probe list -s own fbt::: | grep -qE 'excluded|memcpy' && fail 'listed without -v'
is 'nothing else' "$("$ktr" probe list -s own fbt::memcpy: 2>&1)" 'ktr probe: no probe fits but what is excluded: -v lists that'
status 1 "$ktr" probe enable -s own fbt::memcpy:entry
is 'enabled by its name' "$(cat "$dir/err")" "ktr probe: fbt:own:memcpy:entry: $why"
status 0 "$ktr" probe enable -s own fbt:::
is 'enabled by a glob' "$(cat "$dir/err")" ''
is 'not enabled' "$("$ktr" probe list -v -s own fbt::memcpy: | grep -c "off     $why")" 2
status 0 "$ktr" probe disable -s own fbt:::
status 0 "$ktr" probe disable -s own fbt::memcpy:
is 'still excluded' "$("$ktr" probe list -v -s own fbt::memcpy: | grep -c "off     $why")" 2
ended

# Stripped, no name tells.
# shellcheck disable=SC2086 # options
$cc -std=gnu11 $cflags -O1 -fvisibility=hidden -s $source -o "$dir/own" $static || fail 'fbt_own, stripped'
listed
is 'stripped' "$(grep -c "0x.*entry  *off  *$why\$" "$dir/list")" 14
ended

# A function of such a name that nobody else can call is an ordinary one.
echo 'static __attribute__((noinline)) int getpid(int n) { __asm__ volatile(""); return n + 1; }
int main(void) { return getpid(4) != 5; }' >"$dir/local.c"
# shellcheck disable=SC2086 # options
$cc -std=gnu11 $cflags -O1 "$dir/local.c" -o "$dir/local" $shared || fail 'local'
rm -rf "$dir/t"
KTR_PROBES=fbt::getpid: "$ktr" run -o "$dir/t" "$dir/local" 2>"$dir/err" || fail "local: $(cat "$dir/err")"
is 'one of the same name' "$("$ktr" dump --calls "$dir/t" | grep -c 'getpid();$')" 1

# ---- the list is whole ----

# What can be reached from the functions that fire, by the code of both libraries.
cat >"$dir/calls.py" <<-'E'
	import collections, re, subprocess, sys
	listed, roots = sys.argv[1], [root.split("=") for root in sys.argv[2:]]
	calls, seen, left, imported, here = collections.defaultdict(set), set(), [], set(), None
	def lines(*command):
	    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
	for library, names in roots:
	    imported |= {line.split()[-1].split("@")[0] for line in lines("nm", "-D", "--undefined-only", library)}
	    for line in lines("objdump", "-d", "--no-show-raw-insn", library):
	        head = re.match(r"[0-9a-f]+ <([^>]+)>:", line)
	        here = head[1] if head else here
	        to = re.search(r"\s(?:call|jmp|j\w+|lea)\s.*<([^>+@]+)(?:@\w+)*>", line)
	        if to and not head:
	            calls[here].add(to[1])
	    left += names.split(",")
	while left:
	    name = left.pop()
	    if name not in seen:
	        seen.add(name)
	        left += calls.get(name, ())
	reached = {name for name in seen if name in imported and not name.startswith(("ktr_", "_ITM", "__cxa", "__gmon"))}
	assert {"mmap", "pthread_setspecific", "strnlen"} <= reached, reached
	have = set(re.findall(r"X\((\w+)\)", open(listed).read())) | {"__errno_location"}
	print(" ".join(sorted(reached - have)))
E
records=ktr__record0,ktr__record1,ktr__record2,ktr__record3,ktr__record4,ktr__record5,ktr__record6,ktr__own_session
is 'not in the list' "$(python3 "$dir/calls.py" ktr/provider/fbt/excluded.c "$O/lib/libktr.so=$records" \
	"$O/lib/libktr-fbt.so=ktr__fbt_entered,ktr__fbt_left,ktr__fbt_thrown" 2>&1)" ''

# ---- ktr's own functions ----

two_files
for c in "$cc" $clang; do
	rm -rf "$dir/o"
	MAKEFLAGS='' make -s --no-print-directory KTR_NO_INSTALL=1 CC="$c" CFLAGS="-O1 $flag" O="$dir/o" "$dir/o/obj/ktr/record/record.o" \
		"$dir/o/pic/ktr/provider/fbt/fire.o" >"$dir/log" 2>&1 || fail "$c: $(tail -n 3 "$dir/log")"
	# shellcheck disable=SC2086 # options
	$c -std=gnu11 -Iinclude $flag -O1 -c "$O/one/ktr.c" -o "$dir/o/one.o" 2>"$dir/err" || fail "$c: $(head -n 3 "$dir/err")"
	for object in "$dir/o/obj/ktr/record/record.o" "$dir/o/pic/ktr/provider/fbt/fire.o" "$dir/o/one.o"; do
		readelf -SW "$object" >"$dir/sections"
		is "$c: ${object##*/}" "$(grep -c __patchable_function_entries "$dir/sections")" 0
		grep -q '\.text' "$dir/sections" || fail "$c: ${object##*/} has no text"
	done
done

exit $failed

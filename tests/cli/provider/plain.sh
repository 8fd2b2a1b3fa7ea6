#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Functions that were not built to be probed, under the agent: of a program of all forms of first instructions each call
# and each return, its registers kept; why the others cannot be; attached and detached, while an object is loaded and
# unloaded: the text is as in the file again; functions of liblzma, and what the decoder says of lengths beside objdump.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
[ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no glibc'; exit 0; }
export KTR_CONF= KTR_BUDGET=0
[ -e "$O/lib/libktr-agent.so" ] || { skip 'no agent'; exit 0; }
prog=$dir/plain
${CXX:-c++} -std=gnu++17 -O2 -falign-functions=32 -o "$prog" tests/programs/provider/plain.cc -lpthread -ldl &&
	$cc -O2 -fPIC -shared -falign-functions=32 -o "$dir/plugin.so" tests/programs/provider/plain_plugin.c &&
	$cc -std=gnu11 -O2 -I. -Iinclude -o "$dir/lengths" tests/programs/provider/lengths.c ktr/provider/plain/insn.c ||
	{ fail 'compiling'; exit 1; }

traced() { # PROBES PROGRAM [ARGUMENT...]: its exit status
	probes=$1
	shift
	rm -rf "$dir/t"
	KTR_PROBES=$probes "$ktr" run --agent -e 65536 -o "$dir/t" "$@" >"$dir/out" 2>"$dir/err"
}
counts() { # TEXT: events that end so
	"$ktr" dump "$dir/t" | grep -c " $1\$"
}

# ---- every call: 900 turns in three threads, one in a child ----

traced 'fbt:plain:plain_*:' "$prog"
is 'exit status' $? 4
is 'output' "$(cat "$dir/out")" '900 turns, 0 wrong'
for at in five:2703 two:1802 endbr:1802 word:1802 room:1802; do
	is "plain_${at%:*}" "$(counts "plain_${at%:*} starts.*") $(counts "plain_${at%:*} ends.*")" "${at#*:} ${at#*:}"
done
is 'asks' "$(counts plain_asks:entry)" 901
traced 'fbt:plain:plain_*:entry' "$prog"
is 'entries: exit status' $? 4
is 'entries' "$(counts plain_five:entry) $(counts plain_endbr:entry)" '2703 1802'
traced 'fbt:::' "$prog"
is 'all: exit status' $? 4
is 'all: output' "$(cat "$dir/out")" '900 turns, 0 wrong'

# prctl(PR_SET_MDWE): no page becomes executable any more.
KTR_PROBES='fbt:plain::' python3 -c '
import ctypes, os, sys
ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])' "$ktr" run --agent -o "$dir/t" "$prog" >"$dir/out" 2>"$dir/err"
is 'mdwe: exit status' $? 4
is 'mdwe' "$(sed -n 's/plain:[^:]*:[a-z]*:/plain:NAME:entry:/; /nothing that/p' "$dir/err")" \
	"ktr: debug.ktr.probes: nothing that fits fbt:plain:: can be a probe, the first is fbt:plain:NAME:entry: \
excluded: no memory may become executable (PR_SET_MDWE, SELinux)"

# ---- attached, and detached ----

text() { # are all functions as in the file?
	python3 - "$pid" "$prog" <<'END'
import subprocess, sys
pid, path = sys.argv[1:]
for line in subprocess.check_output(["readelf", "-lW", path], text=True).splitlines():
    part = line.split()
    if part[:1] == ["LOAD"] and "E" in part[6:8]:
        offset, vaddr, size = (int(x, 16) for x in (part[1], part[2], part[4]))
base = min(int(line.split("-")[0], 16) for line in open(f"/proc/{pid}/maps") if line.rstrip().endswith(path))
with open(f"/proc/{pid}/mem", "rb") as memory:
    memory.seek(base + vaddr)
    now = memory.read(size)
with open(path, "rb") as file:
    file.seek(offset)
    was = file.read(size)
changed = 0
for line in subprocess.check_output(["nm", "-S", path], text=True).splitlines():
    part = line.split()
    if len(part) == 4 and part[2] in "tT" and part[3].startswith("plain_"):
        at, n = int(part[0], 16) - vaddr, int(part[1], 16)
        changed += now[at:at + n] != was[at:at + n]
print(changed)
END
}
"$prog" "$dir/stop" "$dir/plugin.so" >"$dir/out" 2>&1 & pid=$!
at_exit() { kill $pid 2>/dev/null; }
await 'became $pid "$prog"'
"$ktr" attach -p $pid >/dev/null 2>"$dir/err" || fail "attach: $(cat "$dir/err")"
is 'before' "$(text)" 0
# Of the object that comes and goes they may go at this very moment, which is said; the program's own are there.
"$ktr" probe enable -p $pid 'fbt:pl*:*plain*:' >/dev/null 2>&1
"$ktr" probe enable -p $pid 'fbt:plain:*plain*:' >/dev/null 2>"$dir/err" || fail "enable: $(cat "$dir/err")"
await 'changed=$(text); [ "${changed:-0}" -ge 5 ]' || fail "only $changed functions are led away"
"$ktr" probe list -v -p $pid 'fbt:plain:plain_*:entry' >"$dir/list"
why() { # FUNCTION REASON
	grep -q "^fbt:plain:plain_$1:entry *off *excluded: $2" "$dir/list" || fail "plain_$1: $(grep "plain_$1:" "$dir/list")"
}
why byte 'its first instruction is of one byte'
why jump 'it begins with a jump'
why loop 'its first instruction is also where a loop goes back to'
why cross 'its first instruction crosses a word'
"$ktr" probe list -v -p $pid 'fbt:plain:plain_asks:return' | grep -q 'excluded: it returns twice, or asks' || fail 'plain_asks'
"$ktr" probe list -v -p $pid 'fbt:plain::' >"$dir/list"
all=$(grep -c '^fbt:plain:' "$dir/list") on=$(grep -c '^fbt:plain:.*  on' "$dir/list") not=$(grep -c ' excluded: ' "$dir/list")
"$ktr" probe list --count -p $pid 'fbt:plain::' >"$dir/count"
is 'counted' "$(awk '$1 == "fbt:plain" { print $2, $3, $6 }' "$dir/count")" "$all $((all - not)) $on"
is 'reasons' "$(awk 'rest { n += $1 } /EXCLUDED/ { rest = 1 } END { print n }' "$dir/count")" "$not"
"$ktr" probe list -p $pid 'fbt:plain:nobody:' 2>"$dir/err"
is 'nobody' "$(cat "$dir/err")" 'ktr probe: no probe fits'
"$ktr" detach -p $pid >/dev/null 2>"$dir/err" || fail "detach: $(cat "$dir/err")"
await '[ "$(text)" = 0 ]'
"$ktr" attach -p $pid --fbt 'plain_five,plain_asks' >/dev/null 2>"$dir/err" || fail "attach --fbt: $(cat "$dir/err")"
is 'attach --fbt' "$("$ktr" probe list -p $pid 'fbt:plain:*plain_*:' | awk '$2 == "on" { print $1 }' | paste -sd' ')" \
	'fbt:plain:plain_asks:entry fbt:plain:plain_five:entry fbt:plain:plain_five:return'
"$ktr" detach -p $pid >/dev/null 2>"$dir/err" || fail "detach again: $(cat "$dir/err")"
await '[ "$(text)" = 0 ]'
: >"$dir/stop"
wait $pid
is 'attached' "$? $(cat "$dir/out")" '0 0 wrong'

# ---- a library that is as it comes ----

if ldd "$(command -v xz)" 2>/dev/null | grep -q liblzma; then
	head -c 100000 "$ktr" >"$dir/data"
	xz -T2 -k -c "$dir/data" >"$dir/wanted"
	traced 'fbt:liblzma*:lzma_*:' xz -T2 -k -c "$dir/data" || fail "xz: $(cat "$dir/err")"
	cmp "$dir/out" "$dir/wanted" || fail 'xz: its output'
	[ "$(counts 'lzma_code starts.*')" -ge 1 ] || fail "xz: lzma_code: $("$ktr" dump "$dir/t" | tail -n 3)"
fi

# ---- lengths ----

if command -v objdump >/dev/null; then
	objdump -dw "$(ldd "$prog" | sed -n 's/.*=> \(.*libstdc++[^ ]*\).*/\1/p')" | awk -F'\t' '
		NF >= 3 && $1 ~ /^ *[0-9a-f]+:$/ && $3 !~ /\(bad\)/ && $3 ~ /[a-z0-9] +[^ ]|^[a-z0-9]+ *$/ &&
		$3 !~ /^(data16|cs|ds|es|ss|fs|gs|rex[.WRXB]*|addr32|lock|repz?|repnz) *$/ && $2 !~ /^9b ./ {
			gsub(/ +$/, "", $2)
			print $2, ($3 ~ /\(%[re]ip\)/ ? "rip" : "-"), $3
		}' | sort -u | "$dir/lengths" >"$dir/out" || fail "lengths: $(grep -v '^unknown' "$dir/out" | head -n 3)"
	sed -n 's/^\([0-9]* \)/lengths: \1/p' "$dir/out" | grep -q '[0-9]\{5\} instructions' || fail "lengths: $(tail -n 1 "$dir/out")"
fi
exit $failed

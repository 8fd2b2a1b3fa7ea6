#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr run --agent: programs that know nothing of ktr print and return what they do without, see nothing of it in their
# environment, and leave a trace of their threads, and with -i of what they start. Those that cannot take it in are
# refused with the rule and a way out before anything is run; those that have libktr are run as ever.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
host=$dir/agent_host
$cc -std=gnu11 -D_GNU_SOURCE -O1 tests/programs/host/agent_host.c -o "$host" -lpthread || exit 1
unset LD_PRELOAD
echo 'int other;' | $cc -shared -fPIC -x c - -o "$dir/libother.so" || exit 1

# same NAME COMMAND...: what it prints and returns, with and without
same() {
	name=$1
	shift
	"$@" >"$dir/plain" 2>"$dir/plain.err" </dev/null
	plain=$?
	rm -rf "$dir/t"
	timeout 300 "$ktr" run --agent -o "$dir/t" "$@" >"$dir/traced" 2>"$dir/traced.err" </dev/null
	is "$name: exit status" $? $plain
	cmp "$dir/plain" "$dir/traced" || fail "$name prints something else"
	grep -q "^ktr: $dir/t: [1-9][0-9]* event" "$dir/traced.err" || fail "$name: $(cat "$dir/traced.err")"
	grep -v '^ktr: ' "$dir/traced.err" >"$dir/said"
	grep -v '^Aborted' "$dir/plain.err" | cmp - "$dir/said" || fail "$name complains"
}
processes() { # names that processes of the trace started by
	"$ktr" dump "$dir/t" | sed -n 's/.*process [0-9]* started: //p' | sort -u | paste -sd' '
}

for path in $paths; do
	[ "$path" = thread ] && export KTR_PATH=thread
	same plain "$host"
	is 'its processes' "$(processes)" agent_host
	is 'its forked child' "$("$ktr" dump "$dir/t" | grep -c 'process [0-9]* forked from')" 1
	same arguments "$host" 3 'two words' ''
	same abort "$host" abort
	same script sh -c 'echo "$0" "$@"; exit 4' one two
	same 'another object preloaded' env "LD_PRELOAD=$dir/libother.so" sh -c 'echo "$LD_PRELOAD"; "$1"' sh "$host"
done
unset KTR_PATH

# What was preloaded before stays, and stays alone for what the program starts.
LD_PRELOAD=$dir/libother.so "$ktr" run --agent -o "$dir/o" sh -c 'echo "$LD_PRELOAD"
	grep -c "libother\|ktr-agent" /proc/$$/maps >&2; env' >"$dir/out" 2>"$dir/err"
is 'preloaded before' "$(head -n 1 "$dir/out")$(grep -c "^LD_PRELOAD=$dir/libother.so\$" "$dir/out")" "$dir/libother.so1"
[ "$(head -n 1 "$dir/err")" -gt 4 ] || fail "both are not there: $(cat "$dir/err")"

# Threads that the kernel switches are seen, whatever they do.
if "$ktr" run --agent -k -o "$dir/k" "$host" >/dev/null 2>"$dir/err" && "$ktr" dump "$dir/k" | grep -q ' kswitch '; then
	[ "$("$ktr" dump "$dir/k" | grep ' kswitch ' | awk '{ print $3 }' | sort -u | wc -l)" -ge 5 ] ||
		fail "threads: $("$ktr" dump "$dir/k" | grep ' kswitch ' | head -n 3)"
else
	skip "what the kernel tells: $(head -n 1 "$dir/err")"
fi

# What it starts, if that is asked for.
rm -rf "$dir/t"
printf '#!/bin/sh\nexec %s\n' "$host" >"$dir/script"
chmod +x "$dir/script"
for way in '' -i; do
	# shellcheck disable=SC2086 # none
	"$ktr" run --agent $way -o "$dir/s" "$dir/script" >"$dir/out" 2>"$dir/err" </dev/null
	is "a script, $way" "$(grep -c "script is a script: .*; -i records those" "$dir/err")" "$([ "$way" ] && echo 0 || echo 1)"
done
status 0 "$ktr" run --agent -i -o "$dir/t" "$host"
is '-i' "$(processes)" 'agent_host sh'

# Programs that have libktr need none.
printf '#include <ktr.h>\nint main(void) { CTR0(KTR_GEN, "its own"); return 0; }\n' >"$dir/own.c"
$cc -Iinclude "$dir/own.c" -o "$dir/own" "$O/lib/libktr.a" -lpthread || fail own
rm -rf "$dir/t"
status 0 "$ktr" run --agent -o "$dir/t" "$dir/own"
"$ktr" dump "$dir/t" >"$dir/dumped"
is 'a program with libktr' "$(grep -c 'its own' "$dir/dumped")$(grep -c 'process [0-9]* started' "$dir/dumped")" 11

# Functions of a program that was built for it, and linked with nothing.
case $(uname -m) in
x86_64)
	echo '__attribute__((noinline)) int probed(int n) { return n + 1; }
int main(void) { return probed(-1); }' >"$dir/f.c"
	$cc -O1 -Iinclude -fpatchable-function-entry=16,14 -include include/ktr/fbt.h -Bscripts/fbt/ "$dir/f.c" -o "$dir/f" ||
		fail functions
	rm -rf "$dir/t"
	status 0 "$ktr" run --agent --fbt probed -o "$dir/t" "$dir/f"
	is 'its functions' "$("$ktr" dump --calls "$dir/t" | grep -c 'probed();')" 1
	# Its vfork(2) is the agent's: what a child records, on its parent's memory, is dropped.
	$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude -fpatchable-function-entry=16,14 -include include/ktr/fbt.h -Bscripts/fbt/ \
		tests/programs/host/agent_vfork.c -o "$dir/v" || fail vfork
	rm -rf "$dir/t"
	KTR_BUDGET=0 status 0 "$ktr" run --agent --fbt 'called_in_*' -o "$dir/t" "$dir/v"
	"$ktr" dump "$dir/t" >"$dir/dumped" 2>"$dir/err"
	is 'calls in a child of vfork' "$(grep -c 'called_in_child [se]' "$dir/dumped") $(grep -c 'called_in_parent' "$dir/dumped")" '2 2'
	grep -q '200 events were not recorded in a vfork child' "$dir/err" || fail "a child of vfork: $(cat "$dir/err")"
	;;
esac

# ---- refused ----

refused() { # NAME WANTED-STATUS TEXT PROGRAM...
	name=$1 wanted=$2 text=$3
	shift 3
	rm -rf "$dir/t"
	status "$wanted" "$ktr" run --agent -o "$dir/t" "$@"
	grep -q -- "$text" "$dir/err" || fail "$name: $(cat "$dir/err")"
	[ ! -e "$dir/t" ] || fail "$name: there is a trace"
}
printf 'int main(void) { return 9; }\n' >"$dir/s.c"
$cc -static "$dir/s.c" -o "$dir/static" || fail static
refused static 1 'linked statically.*ktr ktrace' "$dir/static"
printf '#!%s/static\n' "$dir" >"$dir/script"
chmod +x "$dir/script"
refused 'a script of a static interpreter' 1 'static: it is linked statically' "$dir/script"
if command -v musl-gcc >/dev/null && musl-gcc "$dir/s.c" -o "$dir/musl" 2>/dev/null; then
	refused musl 1 'its C library is musl' "$dir/musl"
fi
# The class of an ELF file is its fifth byte, its machine the 19th.
cp "$dir/static" "$dir/small"
printf '\001' | dd of="$dir/small" bs=1 seek=4 conv=notrunc 2>/dev/null
refused '32 bits' 1 'for another processor' "$dir/small"
cp "$dir/static" "$dir/other"
printf '\364' | dd of="$dir/other" bs=1 seek=18 conv=notrunc 2>/dev/null
refused 'another machine' 1 'for another processor' "$dir/other"
if [ "$(id -u)" = 0 ] && cp "$host" "$dir/raised" && chown 1 "$dir/raised" && chmod 4755 "$dir/raised"; then
	refused 'raised privileges' 1 'raised privileges' "$dir/raised"
fi
refused 'not there' 127 'No such file' "$dir/nobody"
status 2 "$ktr" run -i -o "$dir/t" true

# Somebody else who stands before the C library goes on doing so.
cat >"$dir/shim.c" <<'END'
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
ssize_t read(int fd, void *to, size_t n)
{
	ssize_t came = ((ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read"))(fd, to, n);

	return came > 0 ? memset(to, 'Z', (size_t)came), came : came;
}
END
echo '#include <unistd.h>
int main(void) { char text[5]; return write(1, text, read(0, text, 5)) != 5; }' >"$dir/reads.c"
$cc -D_GNU_SOURCE -fPIC -shared "$dir/shim.c" -o "$dir/shim.so" -ldl && $cc "$dir/reads.c" -o "$dir/reads" || exit 1
for what in 'run --agent' 'profile --off-cpu'; do
	# shellcheck disable=SC2086 # words
	is "$what: another one before the C library" \
		"$(echo hello | LD_PRELOAD="$dir/shim.so" "$ktr" $what -o "$dir/shimmed" "$dir/reads" 2>"$dir/err")" ZZZZZ
done
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Arguments and results of functions in lives that programs lead: in a sandbox, with raised privileges, of plugins that
# come again with other types, switched on and off while threads call, under the agent, in children. What is recorded
# is right, or nothing is.
. "$(dirname "$0")/../lib.inc"
. "$(dirname "$0")/fbt.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
[ -e /usr/include/elfutils/libdwfl.h ] || { skip 'no libdw'; exit 0; }
flags='-std=gnu11 -D_GNU_SOURCE -O1 -g -Wl,--build-id -Iinclude -fpatchable-function-entry=16,14 -include include/ktr/fbt.h -Bscripts/fbt/'
source=tests/programs/provider/fbt_args_life.c
export KTR_CONF= KTR_BUDGET=0 XDG_CACHE_HOME="$dir/cache"
unset KTR_PROBES
pid=
at_exit() { [ -z "$pid" ] || kill "$pid" 2>/dev/null; }
# shellcheck disable=SC2086 # options
{
	$cc $flags $source -o "$dir/bare" -lpthread -ldl && $cc $flags $source -o "$dir/life" $shared &&
		$cc $flags -DLIFE_SANDBOX $source -o "$dir/sandbox" $shared
} || exit 1

# The calls of a trace: how many there are of each kind, but for those of which a part was lost; what does not belong
# together as it is.
said() { # TRACE
	"$ktr" dump --calls "$1" 2>/dev/null | sed -n 's/^.*| *life_said/life_said/p' | python3 -c '
import re, sys
kinds = {}
for line in sys.stdin:
    if "was lost" in line:
        continue
    line = line.rstrip("\n").split(" /*")[0]
    got = re.fullmatch(r"life_said\((?:text=(\"[^\"]*\"|0x[0-9a-f]+), n=(-?\d+), half=([-0-9.e+]+))?\)(?: = (-?\d+))?;", line)
    kind = line
    if got:
        text, n, half, result = got.groups()
        kind = "bare" if not text else "address" if "0x" in text else "text"
        if n and (kind == "text" and text[1:-1] != n or float(half) != int(n) / 2) or n and result and int(result) != int(n) + 1:
            kind = line
        kind += "=" if result else ""
    kinds[kind] = kinds.get(kind, 0) + 1
for kind in sorted(kinds):
    print(kinds[kind], kind)' | paste -sd,
}

# ---- a sandbox ----

# No text is read there: that would ask the kernel, and be the end.
rm -rf "$dir/t"
"$ktr" run --fbt life_said --args -o "$dir/t" "$dir/sandbox" sandbox 500 >"$dir/out" 2>"$dir/err" ||
	fail "sandbox: exit status $?: $(cat "$dir/err")"
is 'sandbox' "$(said "$dir/t")" '500 address=,500 text='

# ---- raised privileges ----

if [ "$(id -u)" = 0 ] && cp "$dir/life" "$dir/raised" && chown 1 "$dir/raised" && chmod 4755 "$dir/raised"; then
	chmod 755 "$dir"
	"$ktr" types "$dir/raised" >/dev/null
	mkfifo "$dir/go"
	"$dir/raised" wait <"$dir/go" >"$dir/out" 2>&1 &
	pid=$!
	exec 7>"$dir/go"
	rm "$dir/go"
	await 'env -u KTR_DIR "$ktr" probe list -p $pid fbt::life_said: >"$dir/list" 2>"$dir/err"' || cat "$dir/err"
	grep -q 'life_said:entry' "$dir/list" || fail "raised: not listed: $(cat "$dir/err")"
	# Its own cache is nobody's that it would believe.
	env -u KTR_DIR "$ktr" probe enable -p $pid --args fbt::life_said: >"$dir/out" 2>"$dir/err"
	is 'raised: enabled' "$? $(cat "$dir/out")" '0 2 probes enabled'
	env -u KTR_DIR "$ktr" probe list -p $pid fbt_args::life_said: >"$dir/list" 2>&1
	grep -q "failed  its types are not known: ktr types .*/raised" "$dir/list" || fail "raised: listed as $(cat "$dir/list")"
	env -u KTR_DIR "$ktr" snapshot -p $pid -o "$dir/before" >/dev/null 2>&1
	echo >&7
	await 'rm -rf "$dir/t"; env -u KTR_DIR "$ktr" snapshot -p $pid -o "$dir/t" >/dev/null 2>"$dir/err"
		"$ktr" dump --calls "$dir/t" 2>/dev/null | grep -q "life_said();"'
	is 'raised: recorded' "$(said "$dir/t" | sed 's/[0-9]* //g; s/,life.*//')" 'bare'
	echo >&7
	exec 7>&-
	wait $pid || fail "raised: exit status $?"
	pid=
	rm -f /dev/shm/ktr-1/raised.[0-9]*.ktr
else
	skip 'raised privileges: this needs root'
fi

# ---- plugins ----

# Another build at the same path: other types of functions of the same name, as many functions. And the first again.
plugin() { # NAME TYPE VALUE
	echo "__attribute__((noinline)) $2 plugin_said($2 what);
__attribute__((noinline)) $2 plugin_said($2 what) { __asm__ volatile(\"\" : : \"g\"(what) : \"memory\"); return what; }
int plugin_call(void); int plugin_call(void) { return plugin_said($3) == ($2)0; }" >"$dir/$1.c"
	# shellcheck disable=SC2086 # options
	$cc $flags -fPIC -shared "$dir/$1.c" -o "$dir/$1.so" $shared || fail "plugin $1"
	"$ktr" types "$dir/$1.so" >/dev/null || fail "types of $1"
}
plugin long long -7
plugin text 'const char *' '"seven"'
plugin float double 7.5
cp "$dir/long.so" "$dir/again.so"
rm -rf "$dir/t"
KTR_PROBES='fbt:p.so:plugin_said:,fbt_args:p.so:plugin_said:' "$ktr" run -o "$dir/t" "$dir/life" plugins "$dir/p.so" "$dir/long.so" \
	"$dir/text.so" "$dir/float.so" "$dir/again.so" >"$dir/out" 2>"$dir/err" || fail "plugins: exit status $?: $(cat "$dir/err")"
is 'plugins' "$("$ktr" dump --calls "$dir/t" | sed -n 's/^.*| *plugin_said//p' | paste -sd' ')" \
	'(what=-7) = -7; (what="seven") = "seven"; (what=7.5) = 7.5; (what=-7) = -7;'

# ---- switched on and off while threads call ----

mkfifo "$dir/go"
KTR_SESSION=life KTR_ENTRIES=1K "$dir/life" wait <"$dir/go" >"$dir/out" 2>&1 &
pid=$!
exec 7>"$dir/go"
rm "$dir/go"
await '"$ktr" probe list -s life fbt::life_said: >"$dir/list" 2>/dev/null'
"$ktr" types "$dir/life" >/dev/null
echo >&7
: >"$dir/got"
for i in $(seq "${ROUNDS:-3}"); do
	for step in 'enable fbt' 'enable fbt_args' 'disable fbt_args' 'enable fbt_args' 'disable fbt' 'disable fbt_args'; do
		"$ktr" probe ${step% *} -s life "${step#* }::life_said:" >"$dir/out" 2>"$dir/err" || fail "$step: $(cat "$dir/err")"
		case $step in
		'disable fbt_args') continue ;;
		'enable fbt') sees=bare ;;
		'enable fbt_args') sees=text= ;;
		*) sees= ;;
		esac
		# Its threads may not have come to call meanwhile.
		await 'rm -rf "$dir/t"
			"$ktr" snapshot -s life -o "$dir/t" >"$dir/out" 2>"$dir/err" || fail "snapshot: $(cat "$dir/err")"
			said "$dir/t" >"$dir/now"; [ -z "$sees" ] || grep -q $sees "$dir/now"'
		cat "$dir/now" >>"$dir/got"
	done
done
echo >&7
exec 7>&-
wait $pid || fail "switched: exit status $?"
pid=
grep 'life_said' "$dir/got" >"$dir/wrong" && fail "switched: $(head -n 3 "$dir/wrong" | cut -c1-400)"

# ---- under the agent, and in children ----

rm -rf "$dir/t"
"$ktr" run --agent --fbt life_said --args -o "$dir/t" "$dir/bare" calls 300 >"$dir/out" 2>"$dir/err" ||
	fail "agent: exit status $?: $(cat "$dir/err")"
is 'agent' "$(said "$dir/t")" '300 text='
rm -rf "$dir/t"
"$ktr" types "$dir/bare" >/dev/null
"$ktr" run --agent -i --fbt life_said --args -o "$dir/t" sh -c '"$1" calls 20; "$1" calls 30' sh "$dir/bare" >"$dir/out" 2>"$dir/err" ||
	fail "children of the agent's: exit status $?: $(cat "$dir/err")"
is "children of the agent's" "$(said "$dir/t")" '50 text='

exit $failed

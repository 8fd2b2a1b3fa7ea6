#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Somebody else's program with ktr in it: pigz, a parallel gzip, with tests/foreign/pigz.patch, through pkg-config and
# through the two-file form. Its own tests pass with tracing off and on; then what tracing costs it. The source is
# not ours to ship: PIGZ names a directory that has it, otherwise Debian is asked for it, then its repository.
#
#	RUNS=15 tests/foreign/pigz.sh
. "$(dirname "$0")/../cli/lib.inc"
runs=${RUNS:-15}

# ---- the source ----
from_debian() {
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/empty"
	# From where this machine has its packages, in either form of sources.list(5); the patch is for stable's.
	{
		cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | awk '$1 == "deb" { print $2 }'
		cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '$1 == "URIs:" { print $2 }'
	} | grep -v security | sed -n '1s|.*|deb-src & stable main|p' >"$dir/apt/list"
	set -- -o "Dir::Etc::sourcelist=$dir/apt/list" -o "Dir::Etc::sourceparts=$dir/apt/empty" \
		-o "Dir::State::lists=$dir/apt/lists" -o "APT::Sandbox::User=root"
	apt-get "$@" update >"$dir/log" 2>&1 && (cd "$dir/apt" && apt-get "$@" source --download-only pigz) >>"$dir/log" 2>&1 &&
		mkdir "$dir/pigz" && tar -C "$dir/pigz" --strip-components=1 -xf "$dir"/apt/pigz_*.orig.tar.*
}
if [ -n "${PIGZ:-}" ]; then
	cp -r "$PIGZ" "$dir/pigz"
elif ! from_debian && ! timeout 60 git clone -q --depth 1 https://github.com/madler/pigz "$dir/pigz" >>"$dir/log" 2>&1; then
	tail -n 3 "$dir/log"
	skip "pigz: its source can be had neither from Debian nor from its repository"
	exit 0
fi
grep -h 'define VERSION' "$dir/pigz/pigz.c" | head -n 1

# ---- the library, as two strangers would have it ----
MAKEFLAGS=''
export MAKEFLAGS
make -s O="$O" CC="$cc" PREFIX="$dir/installed" install one >"$dir/log" 2>&1 || { tail "$dir/log"; exit 1; }
export PKG_CONFIG_PATH="$dir/installed/lib/pkgconfig" LD_LIBRARY_PATH="$dir/installed/lib"
for form in plain off pkg two; do
	cp -r "$dir/pigz" "$dir/$form"
	[ $form = plain ] || patch -s -p0 -d "$dir/$form" <tests/foreign/pigz.patch || exit 1
done
cp "$O/one/ktr.c" "$O/one/ktr.h" "$dir/two"
cp "$O/one/ktr.h" "$dir/off"
wall="-O3 -Wall -Wextra -Wno-unknown-pragmas -Wcast-qual"
build() { # FORM CFLAGS LIBS
	make -C "$dir/$1" CFLAGS="$wall $2" LIBS="-lm -lpthread -lz $3" pigz >"$dir/log" 2>&1 || fail "$1: $(tail "$dir/log")"
	warned=$(grep -A3 'ktr.*warning' "$dir/log")
	[ -z "$warned" ] || fail "$1: $warned"
}
build plain "" ""
build off "-I. -DKTR_OFF" ""
build pkg "$(pkg-config --cflags ktr)" "$(pkg-config --libs ktr)"
(cd "$dir/two" && $cc -O2 -DKTR_NO_URCU -c ktr.c) || failed=1
build two "-I." ktr.o
[ "$(nm "$dir/off/pigz" | grep -c ktr)" = 0 ] || fail "KTR_OFF leaves something: $(nm "$dir/off/pigz" | grep ktr)"

# ---- its tests ----
tests() { # WHAT FORM COMMAND...
	what=$1
	cd "$dir/$2" || exit 1
	shift 2
	timeout 300 "$@" make -k test >"$dir/log" 2>&1 || fail "$what: $(tail "$dir/log")"
	grep -iE 'error|corrupt|abort|not traced' "$dir/log" && fail "$what"
	echo "its tests pass: $what"
	cd "$top" || exit 1
}
for form in off pkg two; do
	tests "$form, tracing off" $form env
	[ $form = off ] && continue
	tests "$form, tracing on, into the rings" $form env KTR_MASK=all
	tests "$form, tracing on, into a trace" $form "$dir/installed/bin/ktr" run -m all -o "$dir/trace"
	# Each pigz has left a trace and moved the one before aside.
	n=$(for trace in "$dir"/trace*; do "$dir/installed/bin/ktr" dump -q "$trace"; done | grep -c 'id:"compress", start')
	rm -rf "$dir"/trace*
	[ "$n" -gt 5 ] || fail "$form: $n blocks in the trace"
done

# ---- what it costs: processor time of 16 MiB at -1, the smallest of many, taking turns ----
head -c 4194304 "$O/lib/libktrread.a" >"$dir/part"
cat "$dir/part" "$dir/part" "$dir/part" "$dir/part" >"$dir/data"
python3 - "$dir" "$runs" <<'END'
import os, resource, subprocess, sys
dir, runs = sys.argv[1], int(sys.argv[2])
kinds = (("as it is", "plain", {}), ("KTR_OFF", "off", {}), ("linked, tracing off", "pkg", {}),
         ("tracing on", "pkg", {"KTR_MASK": "all"}), ("two files, tracing on", "two", {"KTR_MASK": "all"}))
best = {}


def spent():  # microseconds count: os.times() knows hundredths of a second
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


for _ in range(runs):
    for what, form, settings in kinds:
        before = spent()
        subprocess.run([f"{dir}/{form}/pigz", "-1", "-b", "32", "-p", "4", "-c", f"{dir}/data"], check=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, **settings))
        time = spent() - before
        best[what] = min(time, best.get(what, time))
for what, _, _ in kinds:
    print(f"{what:24} {best[what] * 1e3:7.1f} ms  {100 * best[what] / best['as it is'] - 100:+5.1f} %")
END
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A plugin with a copy of the library of its own is closed while other threads of its host live on: their
# ends and interruptions still lead into it. Both paths; the clock read for every event and for some.
. "$(dirname "$0")/../lib.inc"

$cc -O1 -o "$dir/unload" tests/programs/host/unload.c -lpthread -ldl || exit 1
# shellcheck disable=SC2046
$cc -O2 -Iinclude -I. -fPIC -shared -Wl,-Bsymbolic -DPLUGIN=copy tests/stress/plugin.c \
	$(library_objects) -fno-lto -o "$dir/plugin.so" -lpthread || exit 1
for path in rseq thread; do
	for every in 1 8; do
		echo "debug.ktr.clock=\"$every\"" >"$dir/loader.conf"
		KTR_PATH=$path KTR_CONF="$dir/loader.conf" KTR_MASK=all KTR_KEEP_SESSION=1 \
			timeout 300 "$dir/unload" "$dir/plugin.so" >"$dir/out" 2>"$dir/err" || {
			echo "unload: path $path, clock $every: status $?" >&2
			cat "$dir/out" "$dir/err" >&2
			exit 1
		}
		[ "$(cat "$dir/out")" = alive ] && [ ! -s "$dir/err" ] || { cat "$dir/out" "$dir/err" >&2; exit 1; }
	done
done
"$O/bin/ktr" ls | grep -q unload || { echo "unload: nothing was recorded" >&2; exit 1; }
"$O/bin/ktr" dump -s "$("$O/bin/ktr" ls | awk '/unload/ { print $1; exit }')" | grep -q "copy number 999" || exit 1

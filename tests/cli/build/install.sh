#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# An installed tree works for somebody who has nothing else: built against through pkg-config, shared and
# static, from a directory it was moved to; uninstall and the Debian package leave nothing behind.
. "$(dirname "$0")/../lib.inc"

ours() { # a make of our own: quiet, no jobs of the one around it
	MAKEFLAGS='' make -s --no-print-directory O="$O" CC="$cc" "$@" >"$dir/log" 2>&1 ||
		{ cat "$dir/log"; fail "make $*"; }
}

# The README's program, built and traced with what stands under $1.
use() {
	PKG_CONFIG_PATH=$1/lib/pkgconfig
	export PKG_CONFIG_PATH
	awk '/^```c/ { on = 1; next } /^```/ { on = 0 } on' README.md >"$dir/hello.c"
	# shellcheck disable=SC2046
	(cd "$dir" && $cc -Wall -Werror hello.c -o shared $(pkg-config --cflags --libs ktr)) || fail "shared"
	# shellcheck disable=SC2046
	(cd "$dir" && $cc -Wall -Werror -static hello.c -o static $(pkg-config --static --cflags --libs ktr)) ||
		fail "static"
	# shellcheck disable=SC2046
	(cd "$dir" && printf '#include <sys/ktr.h>\nint main(void) { CTR0(KTR_INIT, "x"); return 0; }\n' >compat.c &&
		$cc -I"$(pkg-config --variable=compat ktr)" compat.c -o compat $(pkg-config --cflags --libs ktr)) ||
		fail "compat"
	[ "$(pkg-config --modversion ktr)" = "$("$1/bin/ktr" --version | cut -d' ' -f2)" ] || fail "version"
	"$1/bin/ktrdump" --help | grep -q '^usage: ktrdump' || fail "ktrdump"
	"$1/bin/ktr" run --agent -o "$dir/agent.trace" sh -c 'exit 3' >"$dir/log" 2>&1
	is 'ktr run --agent' $? 3
	is "the agent's trace" "$("$1/bin/ktr" dump "$dir/agent.trace" | grep -c 'process [0-9]* started: sh')" 1
	for program in shared static; do
		LD_LIBRARY_PATH=$1/lib "$1/bin/ktr" run -o "$dir/$program.trace" "$dir/$program" >"$dir/log" 2>&1 ||
			{ cat "$dir/log"; fail "ktr run $program"; }
		n=$("$1/bin/ktr" dump -q "$dir/$program.trace" | grep -c 'packet [0-9]* from')
		[ "$n" = 1000 ] || fail "$program: $n of 1000 events"
	done
}

reader() {
	awk '/^\.\\" file events.c/ { on = 1; next } on == 1 && /^\.Bd/ { on = 2; next } /^\.Ed/ { on = 0 }
		on == 2 { gsub(/\\e/, "\\"); print }' man/reader/ktr_reader.3 >"$dir/events.c"
	[ -s "$dir/events.c" ] || fail "ktr_reader.3 has no example"
	# shellcheck disable=SC2046
	$cc "$dir/events.c" -o "$dir/events" $(pkg-config --cflags --libs ktrread) || fail "ktrread"
	is "what a reader needs of ours" \
		"$(objdump -p "$dir/events" | awk '$1 == "NEEDED" && $2 !~ /^libc\./ { print $2 }')" libktrread.so.0
	LD_LIBRARY_PATH=$1/lib "$dir/events" "$dir/shared.trace" >"$dir/log" || fail "the reader's example"
	is "events read" "$(grep -c 'packet [0-9]* from' "$dir/log")" 1000
	# The archive, with nothing shared where all archives are there.
	rm -f "$1/lib/libktrread.so" "$dir/static"
	for static in -static ''; do
		# shellcheck disable=SC2046,SC2086
		$cc $static "$dir/events.c" -o "$dir/static" $(pkg-config --static --cflags --libs ktrread) 2>"$dir/err" && break
	done
	if [ -x "$dir/static" ]; then
		is "with the archive" "$("$dir/static" "$dir/shared.trace" 2>&1 | cmp - "$dir/log" && echo same)" same
	elif grep -qE 'cannot find -l(bz2|lzma|zstd)' "$dir/err"; then
		skip "libktrread.a: libdw's own archives need $(sed -n 's/.*cannot find \(-l[a-z0-9]*\).*/\1/p' "$dir/err" | sort -u | tr '\n' ' ')"
	else
		fail "libktrread.a: $(head -n 5 "$dir/err")"
	fi
	ln -s libktrread.so.0 "$1/lib/libktrread.so"
}

# Of what looks at other processes a program, by both libraries.
task() {
	# shellcheck disable=SC2046
	$cc examples/task/task.c -o "$dir/task" $(pkg-config --cflags --libs ktr-task) || fail "ktr-task"
	is "what it needs of ours" \
		"$(objdump -p "$dir/task" | awk '$1 == "NEEDED" && $2 !~ /^libc\./ { print $2 }')" libktr-task.so.0
	sleep 1000 &
	LD_LIBRARY_PATH=$1/lib "$dir/task" $! >"$dir/log" || fail "the example of libktr-task"
	grep -q "^$! " "$dir/log" || fail "libktr-task: $(cat "$dir/log")"
	rm -f "$1/lib/libktr-task.so"
	# shellcheck disable=SC2046
	$cc examples/task/task.c -o "$dir/task" $(pkg-config --static --cflags --libs ktr-task | sed 's/-l\(bz2\|lzma\|zstd\) */ /g') ||
		fail "libktr-task.a"
	"$dir/task" $! >"$dir/log" || fail "the example with libktr-task.a"
	ln -s libktr-task.so.0 "$1/lib/libktr-task.so"
	kill $!
}

# A histogram of a program's own, by both.
profil() {
	[ -e "$1/lib/libktr-profil.so" ] || return
	for static in '' --static; do
		# shellcheck disable=SC2046,SC2086
		$cc examples/profil/profil.c -o "$dir/profil" $(pkg-config $static --cflags --libs ktr-profil) || fail "ktr-profil $static"
		LD_LIBRARY_PATH=$1/lib "$dir/profil" >"$dir/log" || fail "the example of libktr-profil $static"
		[ "$(grep -c '^[a-z]*_work: [1-9][0-9]* ticks$' "$dir/log")" = 2 ] || fail "libktr-profil $static: $(cat "$dir/log")"
		rm "$1/lib/libktr-profil.so"
	done
	ln -s libktr-profil.so.0 "$1/lib/libktr-profil.so"
}

completions() {
	cat >"$dir/complete.bash" <<'END'
. "$1"
COMP_WORDS=(ktr sal) COMP_CWORD=1
_ktr
[ "${COMPREPLY[*]}" = salvage ] || { echo "bash completes ktr sal to: ${COMPREPLY[*]}"; exit 1; }
COMP_WORDS=(ktr dump --rev) COMP_CWORD=2
_ktr
[ "${COMPREPLY[*]}" = --reverse ] || { echo "bash completes --rev to: ${COMPREPLY[*]}"; exit 1; }
COMP_WORDS=(ktrdump --rel) COMP_CWORD=1
_ktr
[ "${COMPREPLY[*]}" = --relative ] || { echo "bash completes ktrdump --rel to: ${COMPREPLY[*]}"; exit 1; }
END
	PATH=$1/../bin:$PATH bash "$dir/complete.bash" "$1/bash-completion/completions/ktr" || fail "bash completion"
	cmp "$1/bash-completion/completions/ktr" "$1/bash-completion/completions/ktrdump" || fail "bash and ktrdump"
	grep -qx "#compdef ktr ktrdump" "$1/zsh/site-functions/_ktr" || fail "zsh completion"
	cmp "$1/fish/vendor_completions.d/ktr.fish" "$1/fish/vendor_completions.d/ktrdump.fish" || fail "fish and ktrdump"
	command -v zsh >/dev/null && { zsh -n "$1/zsh/site-functions/_ktr" || fail "zsh -n"; }
	command -v fish >/dev/null && { fish -n "$1/fish/vendor_completions.d/ktr.fish" || fail "fish -n"; }
}

left() { # directory: what is still in it
	rest=$(cd "$1" && find . ! -type d | grep -v "$2")
	[ -z "$rest" ] || fail "left behind: $rest"
}

package() {
	command -v dpkg-deb >/dev/null || { echo "skipped: there is no dpkg-deb"; return; }
	# Not as small as can be, but soon.
	export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
	ours deb
	deb=$(tail -n 1 "$dir/log")
	root=$dir/root
	mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
	: >"$root/var/lib/dpkg/status"
	dpkg_() {
		dpkg --root="$root" --log=/dev/null --force-not-root --force-depends --force-script-chrootless \
			--force-bad-path "$@" >"$dir/log" 2>&1 || { cat "$dir/log"; fail "dpkg $*"; }
	}
	dpkg_ -i "$deb"
	"$root/usr/bin/ktr" --version >/dev/null || fail "the package's ktr does not run"
	dpkg_ -P ktr
	left "$root" '^./var/lib/dpkg'
	rm -f "$deb"
}

# What file(1) says by the installed magic.
magic() {
	command -v file >/dev/null || { skip "there is no file(1)"; return; }
	version=$(awk '$2 ~ /^KTR_SESSION_M(AJ|IN)OR$/ { printf "%s%s", sep, $3; sep = "." }' include/ktr/session.h)
	KTR_SESSION=magic KTR_KEEP_SESSION=1 KTR_MASK=all LD_LIBRARY_PATH="$1/lib" "$dir/shared" >/dev/null || fail "shared"
	is "file of a session" "$(file -b -m "$1/share/ktr/magic" "$KTR_DIR/ktr-$(id -u)/magic.ktr")" \
		"ktr session $version, $(uname -m | sed 's/_/-/; s/aarch64/arm64/'), $(sed -n 's/.*"path":"rseq".*/a ring per CPU/p;
			s/.*"path":"thread".*/rings per thread/p' "$dir/shared.trace/ktr/info.jsonl" | head -n 1), named magic"
	is "file of a stream" "$(file -b -m "$1/share/ktr/magic" tests/golden/rseq/cpu_0)" "ktr trace stream (CTF 1.8), CPU 0"
}

# Names that other packages have are taken where they are asked for.
ours PREFIX=/opt/ktr DESTDIR="$dir/stage" install
[ ! -e "$dir/stage/opt/ktr/bin/ktrace" ] && [ ! -e "$dir/stage/opt/ktr/bin/kdump" ] &&
	[ ! -e "$dir/stage/opt/ktr/bin/kgmon" ] || fail "ktrace, kdump, kgmon are there unasked"
grep -q '^ExecStart=/opt/ktr/bin/ktr ship --follow ' "$dir/stage/opt/ktr/lib/systemd/system/ktr-ship.service" || fail "no unit of systemd"
[ -z "$(find "$dir/stage" -name '*.wants')" ] || fail "the unit is enabled unasked"
ours PREFIX=/opt/ktr DESTDIR="$dir/stage" BSD_NAMES=1 install
for name in ktrace kdump kgmon; do
	"$dir/stage/opt/ktr/bin/$name" --help | grep -q "^usage: $name" || fail "$name"
	[ -s "$dir/stage/opt/ktr/share/man/man1/$name.1" ] || fail "$name.1"
done
mv "$dir/stage/opt/ktr" "$dir/moved"
use "$dir/moved"
reader "$dir/moved"
task "$dir/moved"
profil "$dir/moved"
completions "$dir/moved/share"
magic "$dir/moved"
grep -q "$dir" "$dir/moved/lib/pkgconfig"/*.pc && fail "a .pc file names the build's directory"
mkdir -p "$dir/stage/opt" && mv "$dir/moved" "$dir/stage/opt/ktr"
ours PREFIX=/opt/ktr DESTDIR="$dir/stage" BSD_NAMES=1 uninstall
left "$dir/stage" '^$'
package
exit $failed

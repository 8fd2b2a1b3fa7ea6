#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Somebody else's programs with ktr in them. Each folder beside this script is one: `ktr.patch`, which puts points of all
# kinds into it, and `steps`, which says where it comes from, how it is built and tested, and what else is asked of it.
# The source is not ours to ship: Debian is asked for it, once; it is kept with what was built under $O/foreign.
#
#	tests/foreign/run.sh [PROGRAM...]
#	SOURCES=DIR tests/foreign/run.sh		DIR has NAME_VERSION.orig.tar.*: nothing is asked for
#
# What a `steps` gives, for the functions below to call; all of it runs in a folder of the form that is meant:
#
#	version			upstream's, for which the patch is
#	needs			Debian packages it is built and tested with, each PACKAGE:FILE, or PACKAGE:COMMAND
#	forms			how it is built: plain, as it came; off, with KTR_OFF; pkg, by pkg-config; two, with ktr.c
#	build CFLAGS LIBS	builds it
#	run_tests COMMAND...	runs its tests behind COMMAND but for those named in $dir/left_out; writes the names of those that
#				fail to $dir/failed, of those that take too long to $dir/slow
#	more			what else is asked of it, if anything
. "$(dirname "$0")/../cli/lib.inc"
here=$top/tests/foreign
home=$O/foreign
installed=$home/installed
began=$(date +%s)
unset ORACLE MAKEFLAGS
mkdir -p "$home/sources"

say() {
	printf '%4d s  %s: %s\n' $(($(date +%s) - began)) "$name" "$*"
}

# ---- what it needs ----
lacking() { # the packages that are not there
	for need in $needs; do
		case ${need#*:} in
		*/*) find /usr/include /usr/lib /usr/src -path "*/${need#*:}" 2>/dev/null | grep -q . ;;
		*) command -v "${need#*:}" >/dev/null ;;
		esac || echo "${need%%:*}"
	done
}

packages() {
	missing=$(lacking | sort -u | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	[ "${KTR_NO_INSTALL:-0}" = 0 ] || { skip "$name: missing Debian packages: $missing"; return 1; }
	say "installing $missing"
	sudo=
	[ "$(id -u)" = 0 ] || sudo='sudo -n'
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >"$dir/log" 2>&1 ||
		{ tail -n 2 "$dir/log"; skip "$name: $missing cannot be installed"; return 1; }
}

# ---- the source ----
# Package lists of our own, so that this machine's stay as they are: from where it has its packages, in either form of
# sources.list(5). Whichever release has the version that the patch is for.
lists() {
	mkdir -p "$home/apt/lists/partial" "$home/apt/empty"
	{
		cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | awk '$1 == "deb" { print $2 }'
		cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '$1 == "URIs:" { print $2 }'
	} | grep -v security | sed -n '1{s|.*|deb-src & bookworm main\ndeb-src & stable main|p}' >"$home/apt/list"
	apt_get update
}

apt_() { # COMMAND...
	tool=$1
	shift
	"$tool" -o "Dir::Etc::sourcelist=$home/apt/list" -o "Dir::Etc::sourceparts=$home/apt/empty" \
		-o "Dir::State::lists=$home/apt/lists" -o "APT::Sandbox::User=root" "$@"
}

apt_get() {
	apt_ apt-get -qq "$@" >>"$dir/log" 2>&1
}

tarball() {
	set -- "${SOURCES:-$home/sources}/${name}_$version".orig.tar.*
	[ -e "$1" ] && echo "$1"
}

download() {
	: >"$dir/log"
	say "downloading version $version"
	[ -e "$home/apt/list" ] || lists || { rm -f "$home/apt/list"; return 1; }
	revision=$(apt_ apt-cache showsrc --only-source "$name" 2>>"$dir/log" |
		awk -v version="$version" '$1 == "Version:" && $2 ~ ("^([0-9]+:)?" version "-") { print $2; exit }')
	[ -n "$revision" ] || { echo "no release has $name $version" >>"$dir/log"; return 1; }
	(cd "$home/sources" && apt_get source --download-only --only-source "$name=$revision")
}

source_() {
	tarball >/dev/null || { [ -z "${SOURCES:-}" ] && download; } ||
		{ tail -n 2 "$dir/log" 2>/dev/null; skip "$name: no source of version $version"; return 1; }
	from=$(tarball) || { skip "$name: no source of version $version"; return 1; }
}

# ---- its forms ----
# A form is built anew when anything that goes into it has changed.
build_form() { # FORM
	form=$home/$name/$1
	set -- "$1" "$here/$name/steps"
	[ "$1" = plain ] || set -- "$@" "$here/$name/ktr.patch" "$here/oracle.h" "$installed"/include/ktr.h "$installed"/include/ktr/*.h
	[ "$1" != two ] || set -- "$@" "$O"/one/ktr.[ch]
	what=$1
	shift
	stamp=$(cat "$@" | cksum)
	set -- "$what"
	[ "$(cat "$form/.ktr-built" 2>/dev/null)" = "$stamp" ] && return 0
	say "building it: $1"
	rm -rf "$form"
	mkdir -p "$form"
	tar -C "$form" --strip-components=1 -xf "$from" || return 1
	if [ "$1" != plain ] && ! patch -s -p1 -d "$form" <"$here/$name/ktr.patch"; then
		fail "$name: the patch is not for this source"
		return 1
	fi
	cd "$form" || exit 1
	case $1 in
	plain) build "" "" ;;
	off) build "-I$here -I$O/one -DKTR_OFF" "" ;;
	pkg) build "-I$here $(pkg-config --cflags ktr)" "$(pkg-config --libs ktr)" ;;
	two) $cc -O2 -c "$O/one/ktr.c" -o "$form/ktr.o" && build "-I$here -I$O/one" "$form/ktr.o" ;;
	esac >"$dir/log" 2>&1 || { fail "$name, $1: $(tail "$dir/log")"; cd "$top" || exit 1; return 1; }
	cd "$top" || exit 1
	warned=$(grep -E -A3 '(ktr|oracle).*warning' "$dir/log")
	[ -z "$warned" ] || fail "$name, $1: $warned"
	echo "$stamp" >"$form/.ktr-built"
}

# ---- its tests ----
tests() { # WHAT FORM COMMAND...
	what="$2, $1"
	cd "$home/$name/$2" || exit 1
	shift 2
	: >"$dir/failed"
	run_tests "$@" >"$dir/log" 2>&1
	cd "$top" || exit 1
	grep -E 'ktr: .*not traced' "$dir/log" && fail "$name, $what: not traced"
	if [ -s "$dir/failed" ]; then
		fail "$name, $what: $(paste -sd ' ' "$dir/failed"): $(grep -v '^ktr' "$dir/log" | tail)"
	else
		say "its tests pass: $what"
	fi
}

listed() {
	paste -sd ' ' "$dir/$1" | grep . || echo none
}

# What the program fails as it came, it may fail traced.
untraced() {
	: >"$dir/left_out"
	: >"$dir/failed"
	: >"$dir/slow"
	cd "$home/$name/plain" || exit 1
	run_tests env >"$dir/log" 2>&1
	cd "$top" || exit 1
	say "its tests run untraced; left out from here on, failed: $(listed failed), slow: $(listed slow)"
	sort -u "$dir/failed" "$dir/slow" >"$dir/left_out"
}

# A program that runs many of its kind at once, each of which a trace of its own: FILE becomes a script that says where to.
# The process stays the same one, so that whoever kills it meets it.
wrap() { # FILE...
	for file; do
		mv "$file" "$file.real"
		printf '%s\n' '#!/bin/sh' '[ -z "${TRACES:-}" ] || export KTR_FILE="$TRACES/${0##*/}.$$"' \
			'exec "$0.real" "$@"' >"$file"
		chmod +x "$file"
	done
}

# From here on events are counted and written to traces. The library's own, which nobody counts, are not recorded. What
# is killed leaves a session, out of which its trace is completed when it is read.
counted="ORACLE=$dir/oracle TRACES=$dir/traces KTR_MASK=all,-proc KTR_ENTRIES=256K KTR_ROTATE_SIZE=0"
counted="$counted KTR_DEAD_SESSIONS=1000 KTR_DEAD_BYTES=8G"
count_anew() {
	head -c 32768 /dev/zero >"$dir/oracle"
	mkdir "$dir/traces"
}

# judge WHAT: the traces against what was counted meanwhile, then they go, and the sessions of what was killed.
judge() {
	python3 "$here/judge.py" "$installed/bin/ktr" "$dir/oracle" "$dir/traces"/* >"$dir/judged" 2>&1 || fail "$name, $1"
	grep -v ': no events$' "$dir/judged"
	if [ "${KEEP:-0}" != 0 ]; then
		rm -rf "$home/$name/traces"
		cp -r "$dir/traces" "$dir/oracle" "$home/$name"
	fi
	rm -rf "$dir/traces" "$KTR_DIR"/*
}

usual_tests() {
	untraced
	for form in $forms; do
		case $form in plain | off) continue ;; esac
		tests "tracing off" "$form" env
		tests "into the rings" "$form" env KTR_MASK=all
		count_anew
		# shellcheck disable=SC2086
		tests "into traces" "$form" env $counted
		judge "$form, into traces"
	done
}

program() {
	name=$1
	. "$here/$name/steps"
	packages && source_ || return 0
	for form in $forms; do
		build_form "$form" || return 1
	done
	usual_tests
	more
}

more() { :; }
name=ktr
say "installing it as a stranger would"
make -s O="$O" CC="$cc" PREFIX="$installed" install one >"$dir/log" 2>&1 || { tail "$dir/log"; exit 1; }
export PKG_CONFIG_PATH="$installed/lib/pkgconfig" LD_LIBRARY_PATH="$installed/lib"
[ $# -gt 0 ] || set -- pigz memcached redis leveldb nginx
for program; do
	# In a shell of its own: what one defines is not the next one's.
	(at_exit() { :; }; trap - EXIT; program "$program"; exit "$failed") || failed=1
done
exit $failed

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Somebody else's programs with ktr in them. Each folder beside this script is one: `ktr.patch`, which puts points of all
# kinds into it, and `steps`, which says where it comes from, how it is built and tested, and what else is asked of it.
# The source is not ours to ship: Debian is asked for it, once; it is kept with what was built under $O/foreign.
#
#	tests/foreign/run.sh [PROGRAM...]
#	FUNCTIONS=1 tests/foreign/run.sh [PROGRAM...]	their functions as probes instead, ktr_fbt(3), and no patch; TESTS=0: all but
#							their tests
#	SOURCES=DIR tests/foreign/run.sh		DIR has NAME_VERSION.orig.tar.*: nothing is asked for
#
# What a `steps` gives, for the functions below to call; all of it runs in a folder of the form that is meant:
#
#	version			upstream's, for which the patch is
#	needs			Debian packages it is built and tested with, each PACKAGE:FILE, or PACKAGE:COMMAND
#	forms			how it is built: plain, as it came; off, with KTR_OFF; pkg, by pkg-config; two, with ktr.c
#	build CFLAGS LIBS	builds it
#	test_names		prints the name of each of its tests
#	run_tests N COMMAND...	runs those of $dir/chosen, N at once, under COMMAND; writes the names of those that fail to
#				$dir/failed
#	more			what else is asked of it, if anything
#	counted, leaves, stack_at	what is asked of its functions: functions.inc
#
# Exit status 1 if something is wrong, 77 if nothing is but a program could not be had here: that is no pass. The last
# lines say which. Limits of time are against hanging alone.
. "$(dirname "$0")/../cli/lib.inc"
here=$top/tests/foreign
programs=$here
points=$here
home=$O/foreign
installed=$home/installed
began=$(date +%s)
limit=3600 # [seconds] for all tests of a program, and for each of them
summary=$dir/summary
unset ORACLE TRACES MAKEFLAGS
mkdir -p "$home/sources"

say() {
	printf '%4d s  %s: %s\n' $(($(date +%s) - began)) "$name" "$*"
}

sum_up() {
	echo "$name $version: $*" >>"$summary"
}

# What cannot be had on this machine, and why; the program's shell ends with it.
not_here() {
	skip "$name: $*"
	sum_up "NOT RUN: $*"
	exit 77
}

. "$here/source.inc"
. "$here/functions.inc"

# ---- its tests ----
# What fails is asked once more, alone: tests with limits of time of their own fail on a busy machine.
tests() { # FORM COMMAND...
	cd "$home/$name/$1" || exit 1
	shift
	: >"$dir/failed"
	run_tests "$at_once" "$@" >"$dir/log" 2>&1
	if [ -s "$dir/failed" ]; then
		sort -u "$dir/failed" >"$dir/again"
		mv "$dir/log" "$dir/log1"
		say "once more, alone: $(listed again)"
		mv "$dir/chosen" "$dir/all"
		grep -xF -f "$dir/all" "$dir/again" >"$dir/chosen"
		# What went wrong without a test's name is not mended by asking again.
		grep -vxF -f "$dir/all" "$dir/again" >"$dir/nameless"
		: >"$dir/failed"
		[ ! -s "$dir/chosen" ] || run_tests 1 "$@" >"$dir/log" 2>&1
		cat "$dir/nameless" >>"$dir/failed"
		mv "$dir/all" "$dir/chosen"
		cat "$dir/log1" >>"$dir/log"
	fi
	cd "$top" || exit 1
}

listed() {
	paste -sd ' ' "$dir/$1" | grep . || echo none
}

# What the program fails as it came, it may fail traced.
untraced() {
	at_once=8
	(cd "$home/$name/plain" && test_names) >"$dir/chosen"
	say "its tests untraced: $(wc -l <"$dir/chosen")"
	tests plain env
	say "left out from here on, for they fail untraced: $(listed failed)"
	[ ! -s "$dir/failed" ] || left_out=", without $(listed failed)"
	grep -vxF -f "$dir/failed" "$dir/chosen" >"$dir/passed"
	mv "$dir/passed" "$dir/chosen"
	[ -s "$dir/chosen" ] || fail "$name: none of its tests passes untraced"
}

traced() { # WHAT FORM COMMAND...
	what="$2, $1"
	say "its tests, $what: $(wc -l <"$dir/chosen")"
	shift
	tests "$@"
	grep -E 'ktr: .*not traced' "$dir/log" && fail "$name, $what: not traced"
	[ -s "$dir/failed" ] || return 0
	fail "$name, $what: $(listed failed)"
	grep -v '^ktr' "$dir/log" | tail -n 40
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

# judge WHAT [--without-run] TRACE...: the traces against what was counted meanwhile.
judge() {
	what=$1 alone=
	shift
	[ "$1" != --without-run ] || { alone=$1; shift; }
	# shellcheck disable=SC2086
	python3 "$here/judge.py" $alone "$installed/bin/ktr" "$dir/oracle" "$@" >"$dir/judged" 2>&1 || fail "$name, $what"
	grep -v ': no events$' "$dir/judged"
	verdict=$(tail -n 1 "$dir/judged" | sed "s/^ *//")
	keep "$@"
}

# KEEP=1: the traces stay, to be looked at
keep() { # TRACE...
	[ "${KEEP:-0}" != 0 ] || return 0
	rm -rf "$home/$name/traces"
	mkdir "$home/$name/traces"
	for trace; do
		cp -r "$trace" "$trace".[0-9]* "$home/$name/traces" 2>/dev/null # the older parts may not be there
	done
	cp "$dir/oracle" "$home/$name/traces"
}

# The traces go, and the sessions of what was killed.
forget() {
	rm -rf "$dir/traces" "$KTR_DIR"/*
}

usual_tests() {
	left_out=
	untraced
	for form in $forms; do
		case $form in plain | off) continue ;; esac
		traced "tracing off" "$form" env
		traced "into the rings" "$form" env KTR_MASK=all
		forget
		count_anew
		# shellcheck disable=SC2086
		traced "into traces" "$form" env $counted
		judge "$form, into traces" --without-run "$dir/traces"/*
		forget
		[ "$failed" = 0 ] && sum_up "$form: $(wc -l <"$dir/chosen") tests pass off, into rings, into traces$left_out; $verdict"
	done
}

program() {
	name=$1
	. "$here/$name/steps"
	if [ -n "${FUNCTIONS:-}" ]; then
		forms='plain fbt'
		[ -z "$(command -v counted)" ] || forms="$forms count"
	fi
	packages
	source_
	for form in $forms; do
		build_form "$form" || return
	done
	if [ -n "${FUNCTIONS:-}" ]; then
		functions_
	else
		usual_tests
		more
	fi
}

more() { :; }
name=ktr
say "installing it as a stranger would"
make -s O="$O" CC="$cc" PREFIX="$installed" install one >"$dir/log" 2>&1 || { tail "$dir/log"; exit 1; }
export PKG_CONFIG_PATH="$installed/lib/pkgconfig" LD_LIBRARY_PATH="$installed/lib"
[ $# -gt 0 ] || [ -z "${FUNCTIONS:-}" ] || set -- sqlite3 libjsoncpp leveldb memcached pigz
[ $# -gt 0 ] || set -- pigz memcached redis leveldb nginx
n_passed=0
n_failed=0
n_skipped=0
for program; do
	# In a shell of its own: what one defines is not the next one's.
	(at_exit() { :; }; trap - EXIT; program "$program"; exit "$failed")
	case $? in
	0) n_passed=$((n_passed + 1)) ;;
	77) n_skipped=$((n_skipped + 1)) ;;
	*)
		n_failed=$((n_failed + 1))
		echo "$program: FAILED" >>"$summary"
		;;
	esac
done
echo
cat "$summary"
echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
[ $n_failed = 0 ] || exit 1
[ $n_skipped = 0 ] || exit 77

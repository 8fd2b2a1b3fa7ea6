#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The manual pages and the README say what is there: pages are clean mdoc, every command, option, knob,
# public call and environment variable has its place, and every example that is marked ".\" run" or
# ".\" file" (and the README's program) is built and run.
. "$(dirname "$0")/../lib.inc"
pages="man/*.[1-9] man/*/*.[1-9] man/ktr-trace.5 man/ktr-json.5"

# The page as text, without overstrikes and hyphenated line ends.
text() {
	mandoc -T ascii -O width=200 "$1" | sed 's/.\x08//g'
}

# lacks FILE WORD...: those that do not stand in the file, or as a part of a longer word only.
lacks() {
	file=$1
	shift
	printf '%s\n' "$@" | awk -v file="$file" '
		function there(word, rest, i, part) {
			part = "[A-Za-z0-9_-]"
			for (rest = text; (i = index(rest, word)); rest = substr(rest, i + 1))
				if (substr(rest, i - 1, 1) !~ part && substr(rest, i + length(word), 1) !~ part)
					return 1
			return 0
		}
		BEGIN { while ((getline line < file) > 0) text = text "\n" line; text = text "\n" }
		$0 != "" && !there($0)'
}
has() {
	[ -z "$(lacks "$2" "$1")" ]
}

lint() {
	command -v mandoc >/dev/null || { fail "mandoc is missing"; return; }
	# shellcheck disable=SC2086
	mandoc -T lint -W warning $pages || fail "lint"
	command -v groff >/dev/null || return 0
	for page in $pages; do # groff begins a long cell's second line behind all columns that have a width
		! groff -mdoc -Tascii -P-cbou "$page" 2>/dev/null | grep -qE '^ {60}' || fail "$page: a table is wider than a page"
	done
}

# Every option stands in the command's page, and the other way around.
options() { # page, command...
	page=$1
	shift
	text "$page" >"$dir/page"
	"$@" --help | sed -n '/^usage:/,$p' >"$dir/help"
	options=$(sed -nE 's/^ +((-[A-Za-z], )?--[a-z-]+).*/\1/p' "$dir/help" | tr -d ,)
	[ -n "$options" ] || fail "$* has no option"
	# shellcheck disable=SC2086
	for option in $(lacks "$dir/page" $options); do
		fail "$page does not name $option"
	done
	# shellcheck disable=SC2046
	for option in $(lacks "$dir/help" $(grep -oE '^ +(-[a-zA-Z],? ?[A-Za-z]*,? ?)?--[a-z][a-z-]+' "$dir/page" |
		grep -oE -e '--[a-z-]+')); do
		fail "$page names $option, which $* lacks"
	done
}

# Every command has a page and stands in ktr(1).
commands() {
	text man/ktr.1 >"$dir/ktr.1"
	names=$("$ktr" --help | sed -n '/^commands:/,$s/^  \([a-z]*\) .*/\1/p')
	[ -n "$names" ] || fail "no command was found"
	# shellcheck disable=SC2086
	for name in $(lacks "$dir/ktr.1" $names); do
		fail "ktr.1 does not name $name"
	done
	for name in $names; do
		page=$(find man -name "ktr-$name.1")
		[ -n "$page" ] || { fail "ktr-$name.1 is missing"; continue; }
		options "$page" "$ktr" "$name"
	done
	options man/bsd/ktrdump.8 "$O/bin/ktrdump"
	options man/mach/dtrace-analyze.1 "$ktr" dtrace-analyze
	options man/mach/dtrace-visualize.1 "$ktr" dtrace-visualize
	for format in $("$ktr" export list | cut -d' ' -f1); do
		grep -qx "\.It Cm $format" man/ktr-export.1 || fail "ktr-export.1 does not name $format"
	done
}

# A session of a program that has ended, to ask for its knobs.
knobs() {
	KTR_SESSION=knobs KTR_KEEP_SESSION=1 KTR_MASK=rx "$dir/hello" || fail "hello"
	text man/ktr-loader.conf.5 >"$dir/page"
	text man/ktr-sysctl.1 >>"$dir/page"
	all=$("$ktr" sysctl -s knobs -aN)
	[ -n "$all" ] || fail "no knob was found"
	# shellcheck disable=SC2086
	for name in $(lacks "$dir/page" $all); do
		fail "neither ktr-loader.conf.5 nor ktr-sysctl.1 names $name"
	done
	# shellcheck disable=SC2086
	for name in $(grep -hoE 'debug\.ktr\.[a-z_]+' README.md $pages | sort -u); do
		[ "$name" = debug.ktr.profile ] && continue # those below it a provider adds: profile_source.sh
		echo "$all" | grep -qx "$name" || "$ktr" sysctl -s knobs -N "$name" >/dev/null 2>&1 || fail "there is no knob $name"
	done
	"$ktr" rm knobs || fail "rm"
}

# declared PAGE NAME...
declared() {
	sed -n 's/^\.Fn "*\([A-Za-z0-9_]*\).*/\1/p' "man/$1" | LC_ALL=C sort -u >"$dir/declared"
	page=$1
	shift
	for name in $(printf '%s\n' "$@" | LC_ALL=C sort | LC_ALL=C comm -23 - "$dir/declared"); do
		fail "$page does not declare $name"
	done
}

# What the public headers declare stands in the pages.
calls() {
	for pair in ktr/ctl.h:ktr.3 ktr/conf.h:ktr.3 ktr/error.h:ktr.3 ktr/reader.h:reader/ktr_reader.3 ktr/task.h:reader/ktr_task.3 \
		ktr/provider.h:provider/ktr_provider.3 ktr/ktrace.h:provider/ktr_ktrace.3; do
		header=${pair%:*} page=${pair#*:}
		names=$(echo "#include <$header>" | $cc -Iinclude -E - | awk -v header="/$header\"" '
			/^# / { ours = index($0, header) } ours' |
			grep -oE '\bktr_[a-z_]+\(' | tr -d '(' | grep -vE '_fn$|^ktr__' | sort -u)
		[ -n "$names" ] || fail "$header declares nothing"
		declared "$page" $names
	done
	names=$(grep -oE '\b(dtrace_[a-z_]+|DTRACE_[A-Z_]+)\(' include/ktr/dtrace.h | tr -d '(' | sort -u)
	[ -n "$names" ] || fail "ktr/dtrace.h declares nothing"
	# shellcheck disable=SC2086
	declared mach/ktr_dtrace.3 $names
	text man/ktr.9 >"$dir/page"
	grep -hoE '^#define (CTR|KTR_)[A-Z]+' include/ktr/trace.h include/ktr/event.h |
		sed 's/#define //' | grep -vE '^KTR_(TRACE|NO|ATTR)$' | sort -u >"$dir/names"
	for name in $(awk 'NR == FNR { text = text "\n" $0; next } !index(text, $1)' "$dir/page" "$dir/names"); do
		fail "ktr.9 does not name $name"
	done
}

# The variables that the sources read are in ktr.1; those of ktr.1 are read; the README's commands and options exist.
readme() {
	names=$(grep -rohE '"KTR_[A-Z_]+"' conf ktr writer tools --include='*.c' | tr -d '"' | sort -u)
	[ -n "$names" ] || fail "nothing reads a variable"
	names="$names $(grep -oE 'KTR_[A-Z]+=' README.md | tr -d =)"
	# shellcheck disable=SC2086
	for name in $(lacks "$dir/ktr.1" $names); do
		fail "ktr.1 does not name $name"
	done
	# shellcheck disable=SC2086
	for name in $(lacks tests/cli/lib.inc $names); do
		fail "tests/cli/lib.inc does not unset $name"
	done
	for name in $(grep -oE '^\.It Ev KTR_[A-Z_]+' man/ktr.1 | cut -d' ' -f3); do
		grep -aq "$name" "$O/lib/libktr.a" "$O/lib/libktr-agent.so" || fail "nothing reads $name"
	done
	grep -oE '(^ +|`|/)ktr [a-z]+[^`#|]*' README.md | sed 's/.*ktr //' >"$dir/uses"
	[ -s "$dir/uses" ] || fail "the README uses no command"
	while read -r name rest; do
		"$ktr" "$name" --help >"$dir/help" 2>&1 ||
			{ fail "README: there is no command $name"; continue; }
		[ "$name" != run ] || rest=${rest%%./*}
		for option in $rest; do
			case $option in
			--*) option=${option%%=*} ;;
			-[a-zA-Z]) ;;
			*) continue ;;
			esac
			has "$option" "$dir/help" || fail "README: ktr $name has no $option"
		done
	done <"$dir/uses"
}

# Literal blocks of page $1 behind a mark: "run" gives the commands, "file NAME" writes files.
marked() {
	awk -v what="$2" -v to="$3" '
		/^\.\\" (run|file )/ { mark = $2; file = $3; next }
		/^\.Bd -literal/ { if (mark) { on = mark; mark = "" }; next }
		/^\.Ed/ { on = ""; next }
		on == what { gsub(/\\e/, "\\"); if (what == "file") print > (to "/" file); else print }
	' "$1" | sed -n 's/^\$ //p'
}

build() {
	# shellcheck disable=SC2086
	$cc -g -Wall -Wextra -Werror -I"$top/include" "$dir/$1.c" $2 -o "$dir/$1" || fail "$1.c does not build"
}

# Another program goes on: it has recorded one line, and waits for the next one.
live_begin() {
	mkfifo "$dir/in" "$dir/out"
	KTR_SESSION=lines KTR_MASK=all "$dir/lines" <"$dir/in" >"$dir/out" &
	live=$!
	exec 3>"$dir/in" 4<"$dir/out"
	echo first >&3
	read -r _ <&4
}

live_end() {
	exec 3>&- 4<&-
	wait "$live" || fail "lines ended with $?"
	rm -f "$dir/in" "$dir/out"
}

# Every marked command ends well, where there are a trace, a live session and a dead one.
run_page() {
	marked "$1" run "" >"$dir/commands"
	[ -s "$dir/commands" ] || return
	work=$dir/work.$(basename "$1")
	mkdir "$work"
	cp "$dir"/*.conf "$dir/hello" "$dir/lines" "$dir/set" "$dir/open" "$dir/events" "$dir/classes" "$work"
	live_begin
	KTR_SESSION=hello KTR_KEEP_SESSION=1 KTR_MASK=all "$dir/hello" || fail "hello"
	(cd "$work" && "$ktr" run ./lines </etc/passwd) >"$dir/log" 2>&1 || fail "$(cat "$dir/log")"
	while read -r line; do
		(cd "$work" && PATH=$O/bin:$PATH && eval "$line") >"$dir/log" 2>&1 3>&- 4<&- </dev/null ||
			fail "$1: $line: $(cat "$dir/log")"
		n_run=$((n_run + 1))
	done <"$dir/commands"
	live_end
	"$ktr" rm --dead >"$dir/log" 2>&1 || fail "$(cat "$dir/log")"
}

examples() {
	awk '/^```c/ { on = 1; next } /^```/ { on = 0 } on' README.md >"$dir/hello.c"
	for page in $pages; do
		marked "$page" file "$dir"
	done
	libs="$O/lib/libktr.a -lpthread"
	for name in hello lines set open; do
		build $name "$libs"
	done
	ldw=
	[ ! -e /usr/include/elfutils/libdwfl.h ] || ldw=-ldw
	for name in events classes; do
		build $name "$O/lib/libktrread.a -ljansson -lm $ldw"
	done
	for name in hello lines set open events classes; do
		[ -x "$dir/$name" ] || return
	done
	knobs
	n_run=0
	for page in $pages; do
		run_page "$page"
	done
	[ "$n_run" -gt 30 ] || fail "only $n_run examples ran"
}

lint
commands
calls
readme
examples
exit $failed

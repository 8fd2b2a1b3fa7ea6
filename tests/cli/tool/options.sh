#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Options: each command's --help is its table, so whatever is there is tried: a name that is nearly right, a value that
# is missing, one too many, one that is no number. All end with the status of wrong usage (2; 16 as of fsck), at once,
# and name the option.
. "$(dirname "$0")/../lib.inc"
cd "$dir" || exit 1

# wrong STATUS TEXT COMMAND...: ends with it, and says the text in the first of its lines, which are two.
wrong() {
	status=$1 text=$2
	shift 2
	"$@" >out 2>err </dev/null
	rc=$?
	[ $rc = "$status" ] || fail "$*: status $rc, not $status: $(cat err)"
	first='' n_lines=0
	while IFS= read -r line; do
		[ $n_lines != 0 ] || first=$line
		n_lines=$((n_lines + 1))
	done <err
	case $first in *"$text"*) ;; *) fail "$*: not \"$text\" but: $(cat err)" ;; esac
	[ $n_lines = 2 ] || fail "$*: not two lines: $(cat err)"
	[ -s out ] && fail "$*: wrote to standard output: $(cat out)"
}

command() { # status of wrong usage, command...
	usage=$1
	shift
	"$@" --help >help || fail "$* --help: status $?"
	! grep -q '(null)\|\[OPTIONS\] $' help || fail "$*: $(grep '(null)\|OPTIONS' help)"
	sed -n '/^usage:/,$p' help | sed -nE 's/^ +((-[A-Za-z]), )?--([a-z-]+)( ([A-Za-z.:]+))?( .*)?$/\2;\3;\5/p' >table
	[ "$(wc -l <table)" -gt 1 ] || fail "$*: no options in --help"
	cut -d';' -f2 table | sort | uniq -d | grep . && fail "$*: an option is there twice"
	cut -d';' -f1 table | grep . | sort | uniq -d | grep . && fail "$*: a letter is there twice"
	wrong "$usage" "there is no option --no-such-option-at-all" "$@" --no-such-option-at-all
	wrong "$usage" "there is no option -Z" "$@" -Z
	while IFS=';' read -r letter name value; do
		wrong "$usage" "there is no option --${name}x; did you mean --" "$@" "--${name}x"
		if [ -z "$value" ]; then
			wrong "$usage" "the option --$name takes no value" "$@" "--$name=x"
			continue
		fi
		wrong "$usage" "the option --$name needs a value: $value" "$@" "--$name"
		[ -z "$letter" ] || wrong "$usage" "the option --$name needs a value: $value" "$@" "$letter"
		case $value in
		PID | N | BYTES | DURATION | SECONDS | PERCENT | WHEN | WHAT | FORM | WxH) ;;
		*) continue ;;
		esac
		[ "$name" != entries ] || continue # its bounds are the knob's, which are asked for with a program
		n_values=$((n_values + 1))
		wrong "$usage" "--$name" "$@" "--$name=nonsense"
		[ -z "$letter" ] || wrong "$usage" " $letter" "$@" "$letter" nonsense
		# The first complaint is the only one.
		wrong "$usage" "--$name" "$@" "--$name=nonsense" --no-such-option-at-all
		wrong "$usage" "--$name" "$@" "--$name=nonsense" --help
	done <table
}

n_values=0
names=$("$ktr" --help | sed -n '/^commands:/,$s/^  \([a-z]*\) .*/\1/p')
[ -n "$names" ] || fail "no command was found"
for name in $names; do
	[ "$name" = fsck ] && usage=16 || usage=2
	command "$usage" "$ktr" "$name"
done
command 2 "$O/bin/ktrdump"
command 2 "$ktr" dtrace-analyze
command 2 "$ktr" dtrace-visualize
[ "$n_values" -gt 40 ] || fail "only $n_values options have a value that can be wrong"

# A list is full with a complaint, and takes as many as it says.
groups=
for i in $(seq 64); do
	groups="$groups --group g$i"
done
# shellcheck disable=SC2086
wrong 2 "at most 64 times --group" "$ktr" timeline $groups --group one-more
# shellcheck disable=SC2086
timeout 120 "$ktr" timeline $groups none >out 2>err
[ $? = 1 ] || fail "64 groups: status $?: $(cat err)"

# A link by the name of a program that ktr replaces is that one; by any other, a subcommand's too, it is ktr.
for name in ktrdump kdump ktrace dtrace-analyze; do
	ln -s "$ktr" "$dir/$name"
	"$dir/$name" --help 2>&1 | grep -q "^usage: $name" || fail "$name is $("$dir/$name" --help 2>&1 | head -n 1)"
done
for name in run test dump probe; do
	ln -s "$ktr" "$dir/$name"
	"$dir/$name" --version 2>&1 | grep -q '^ktr [0-9]' || fail "$name is $("$dir/$name" --version 2>&1 | head -n 1)"
done
exit $failed

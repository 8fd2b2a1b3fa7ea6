#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each example runs traced, does its own work right, and its trace holds what its comment promises.
. "$(dirname "$0")/../lib.inc"

run() { # example, its last line, arguments...
	name=$1
	says=$2
	shift 2
	"$ktr" run -o "$dir/$name" "$O/examples/$name" "$@" >"$dir/out" 2>"$dir/log" ||
		{ cat "$dir/log"; fail "$name ended with $?"; }
	tail -n 1 "$dir/out" | grep -Eqx -e "$says" || fail "$name says: $(tail -n 1 "$dir/out")"
	"$ktr" dump --raw -q -o "$dir/$name.txt" "$dir/$name" || fail "dump of $name"
}

events() { # example, number, expression in the text
	n=$(grep -Ec -e "$3" "$dir/$1.txt")
	[ "$n" = "$2" ] || fail "$1: $n events like '$3', $2 expected"
}

some() { # example, expression in the text
	grep -Eq -e "$2" "$dir/$1.txt" || fail "$1: no event like '$2'"
}

run pool '60 tasks done'
events pool 60 'id:"task", start:'
events pool 60 'id:"task", stop:'
events pool 120 'id:"tasks waiting", counter:'
some pool 'id:"worker 2", state:"idle"'

run server '200 right answers'
events server 200 'fd [0-9]+ asks: GET'
events server 200 'id:"request", stop:'

run queue 'sum 1999000'
events queue 2000 ' consumed [0-9]+$'
events queue 4004 'counter:'

run handlers '100 ticks'
events handlers 100 ' tick [0-9]+: signal 14'
[ "$(grep -c 'round [0-9]* begins' "$dir/handlers.txt")" = "$(grep -c 'round [0-9]* ends' "$dir/handlers.txt")" ] ||
	fail "handlers: rounds that begin and rounds that end differ"

run family '3 children ended well'
events family 20 ' does chore '
events family 1 'executed anew as pid'
events family 3 'a child ended with 0'

run plugin 'sum 90'
events plugin 15 'filter [0-9]+ to [0-9]+'
"$ktr" dump -q --where "$dir/plugin" | grep -q '^module.c:[0-9]* *filter 4 to 16$' ||
	fail "plugin: an event of the module without its file"

run cxx '30 refused'
events cxx 30 'refused: out of stock: '
events cxx 210 'id:"check", start:'
events cxx 210 'id:"check", stop:'
events cxx 180 'price of 4 bytes'
events cxx 180 'price of 8 bytes'

run probes '3 rounds, nothing behind them'
events probes 3 'round [0-9] is over'
some probes 'lookup 0x[0-9a-f]* 0x[0-9a-f]*$'

run patched '[0-9]+ words' README.md LICENSE /nonexistent
events patched 1 'cannot open /nonexistent'
words=$(cat README.md LICENSE | wc -w)
[ "$(tail -n 1 "$dir/out")" = "$words words" ] || fail "patched counts $(cat "$dir/out"), wc $words"
exit $failed

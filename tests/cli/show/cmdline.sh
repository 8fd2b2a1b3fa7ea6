#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A command line is shown as a shell takes it: empty arguments, blanks and quotes are there.
. "$(dirname "$0")/../lib.inc"

cat >"$dir/words.c" <<'END'
#include <ktr.h>

int main(void)
{
	CTR0(KTR_GEN, "here");
	return 0;
}
END
# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -Iinclude "$dir/words.c" "$O/lib/libktr.a" -lpthread -o "$dir/words" || exit 1

# shown: what the reader says becomes words again, which must be those that were given
shown() {
	eval "set -- $1"
	shift
	for word; do
		printf '<%s>' "$word"
	done
}

# starts ARGUMENTS...
starts() {
	rm -rf "$dir/t"
	status 0 env KTR_FILE="$dir/t" KTR_MASK=all KTR_KEEP_SESSION=1 KTR_SESSION=words "$dir/words" "$@"
	given=$(for word; do printf '<%s>' "$word"; done)
	status 0 "$ktr" sql --json "$dir/t" "select cmdline from trace"
	is "the trace of $given" "$(shown "$(python3 -c 'import json,sys; print(json.loads(sys.stdin.readline())["cmdline"])' <"$dir/out")")" \
		"$given"
	status 0 "$ktr" json -n 1 -s words
	is "the session of $given" "$(shown "$(python3 -c 'import json,sys; print(json.loads(sys.stdin.readline())["cmdline"])' \
		<"$dir/out")")" "$given"
	status 0 "$ktr" ls --json
	is "ktr ls of $given" "$(shown "$(python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["cmdline"])' <"$dir/out")")" "$given"
	"$ktr" rm words >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
}
starts
starts plain -x --long=1 /a/path
starts ''
starts '' ''
starts a '' b
starts 'two words' '  ' "it's" '"' '$HOME' '*' 'a\b' ';'
starts 'über' 'a|b' 'x=y z'
status 0 env KTR_FILE="$dir/t" KTR_MASK=all "$dir/words" plain words 1
status 0 "$ktr" sql --csv "$dir/t" "select cmdline from trace"
grep -q "words plain words 1" "$dir/out" || fail "quotes where none are needed: $(cat "$dir/out")"
exit $failed

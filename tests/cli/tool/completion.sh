#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Completion in bash, zsh and fish: commands, options and their values, of this trace and of the sessions that there are.
. "$(dirname "$0")/../lib.inc"
program=
at_exit() { [ -z "$program" ] || kill -9 "$program" 2>/dev/null; }

$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread ||
	exit 1
mkdir -p "$dir/in/bin"
(cd "$dir/in" && "$ktr" run "$dir/flood" 100 && : >other.txt) >"$dir/err" 2>&1 ||
	{ cat "$dir/err"; fail "no trace"; exit 1; }
KTR_SESSION=live KTR_MASK=all "$dir/flood" 1000000000 &
program=$!
# (The session is there, and its knobs answer, a moment before its process has a row.)
await '"$ktr" complete ktr dump -p "" | cut -f1 | grep -qx "$program"'
kill -STOP "$program"

# What is offered comes from the tables that the commands have.
offers() { "$ktr" complete ktr "$@" | cut -f1 | sort | tr '\n' ' '; }
is "commands" "$(offers '')" "$({ "$ktr" --help | sed -n '/^commands:/,$s/^  \([a-z]*\) .*/\1/p'; echo help; } | sort | tr '\n' ' ')"
is "kinds" "$(offers plot '')" "$({ "$ktr" plot list | cut -d' ' -f1; echo list; } | sort | tr '\n' ' ')"
is "formats" "$(offers export '')" "$({ "$ktr" export list | cut -d' ' -f1; echo list; } | sort | tr '\n' ' ')"
for command in dump plot run sysctl top; do
	is "options of $command" "$(offers "$command" --)" \
		"$("$ktr" $command --help | sed -nE 's/^ +(-[A-Za-z], )?(--[a-z-]+).*/\2/p' | sort | tr '\n' ' ')"
done
"$ktr" --help | grep -q complete && fail "ktr --help lists what is for shells"

python3 -c 'import os; os.openpty()' 2>/dev/null || { skip "no pseudo-terminal can be had"; exit "$failed"; }
cat >"$dir/in/bin/ktr" <<SHELL
#!/bin/sh
[ "\$1" = complete ] && { KTR_DIR='$KTR_DIR' '$ktr' "\$@"; : >'$dir/in/asked'; exit; }
for last; do :; done
echo "GOT[\$last]"
SHELL
chmod +x "$dir/in/bin/ktr"
cp "$dir/in/bin/ktr" "$dir/in/bin/ktrdump"
for shell in bash zsh fish; do
	scripts/completions.sh $shell >"$dir/in/$shell" || fail "no completions for $shell"
done
cp "$dir/in/zsh" "$dir/in/_ktr"
python3 tests/cli/tool/completion.py "$dir/in" "$program" || failed=1
exit $failed

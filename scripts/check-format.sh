#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How the tree's text is written, as far as that can be told without a parser (.clang-format is for editors: it
# would break lines anew that were broken by hand): in C no line wider than 116 columns, tabs being 8, in scripts 140;
# nothing behind the end of a line; a newline at the end of each file, and no empty line before it; the licence in a
# file's first lines; C indented by tabs, with blanks behind keywords and before braces.
#
#	scripts/check-format.sh [file...]		otherwise every file that git knows
set -eu
cd "$(dirname "$0")/.."

# What is compared byte for byte, is somebody else's, or is no text.
files=$(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else git ls-files -co --exclude-standard; fi |
	grep -vE '^tests/(golden|corpus)/|\.(patch|png|svg|gz)$' | while read -r file; do
		[ ! -f "$file" ] || [ -L "$file" ] || echo "$file"
	done)
status=0

# shellcheck disable=SC2086
awk '
	function say(what) {
		print FILENAME ":" FNR ": " what
		bad = 1
	}
	# In characters: the bytes that go on with one do not count.
	function width(text,  part, n, i, at) {
		gsub(/[\200-\277]/, "", text)
		n = split(text, part, "\t")
		at = 0
		for (i = 1; i < n; i++)
			at = int((at + length(part[i])) / 8 + 1) * 8
		return at + length(part[n])
	}
	# What is told of a whole file, when the next one begins.
	function ended() {
		if (last_empty)
			print name ": an empty line at its end"
		if (licensed && !spdx)
			print name ": no SPDX line"
		bad = bad || last_empty || licensed && !spdx
	}
	BEGIN {
		quoted = "\""
		for (i = 0; i < 40; i++)
			quoted = quoted "[^\"]"
	}
	FNR == 1 {
		ended()
		name = FILENAME
		spdx = 0
		licensed = name ~ /\.([chS]|cc|sh|py|inc|mk|map|magic|js|mjs|css|pml|[1-9])$|(^|\/)Makefile$|^\.ci\/run$/
		c = FILENAME ~ /\.(c|h|cc|S)$/
		wide = c ? 116 : FILENAME ~ /\.(sh|inc|py)$/ ? 140 : 0
	}
	{ last_empty = $0 == "" }
	FNR <= 3 && /SPDX-License-Identifier: BSD-2-Clause/ { spdx = 1 }
	/[ \t]$/ { say("blanks at the end of a line") }
	/\r/ { say("a carriage return") }
	# A longer text in quotes stays whole, so that it can be searched for.
	wide && width($0) > wide && $0 !~ quoted { say(width($0) " columns, " wide " at most") }
	!c { next }
	/^        / { say("indented by blanks") }
	/^\t* +\t/ { say("a tab behind blanks") }
	/^[ \t]*(} else )?(if|for|while|switch)\(/ { say("no blank behind a keyword") }
	/^[ \t]*(} else )?(if|for|while|switch) .*\){$/ { say("no blank before a brace") }
	/^[ \t]*}[ \t]*$/ { closed = FNR }
	/^[ \t]*else/ && closed == FNR - 1 { say("else on a line of its own behind a brace") }
	END { ended(); exit bad }
' $files || status=1

# The last byte of all files at once; of each by itself only if there is one that is no newline.
# shellcheck disable=SC2086
[ -z "$(tail -q -c 1 $files | tr -d '\n' | tr '\0' x)" ] && exit $status
for file in $files; do
	[ ! -s "$file" ] || [ -z "$(tail -c 1 "$file" | tr '\0' x)" ] || { echo "$file: no newline at its end"; status=1; }
done
exit $status

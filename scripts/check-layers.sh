#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Holds the includes to the table of rooms in ARCHITECTURE: a file may include headers of its own folder and of those
# that stand in its folder's row, and every folder with sources has a row. `*` in a row stands for any name, and a row
# names only those before it (+: but for this one). And no folder has more than 40 files of source.
#
#	scripts/check-layers.sh [tree]
set -eu
cd "${1:-$(dirname "$0")/..}"

# The public headers that record: for traced programs, not for those who read.
RECORDS='<ktr(/(trace|event|site|dtrace|usdt|probe|provider|fbt))?\.h>'

rooms=$(sed -n '/^ROOMS/,/^LIBRARIES/s/^    \([a-z].*\)/\1/p' ARCHITECTURE)
[ -n "$rooms" ] || { echo "ARCHITECTURE has no table of rooms" >&2; exit 1; }

# Prints FILE:LINE, the folder of the file and the folder of what it includes, for each include of another folder's.
edges() {
	find conf ktr writer analyze visualize tools -name '*.[chS]' | sort | xargs awk '
	/^#[ \t]*include[ \t]*"/ {
		split($0, quoted, "\"")
		from = FILENAME
		to = quoted[2]
		sub(/\/[^\/]*$/, "", from)
		sub(/\/[^\/]*$/, "", to)
		if (from != to)
			print FILENAME ":" FNR, from, to
	}'
}

{
	printf '%s\n' "$rooms" | sed 's/^/room /'
	find conf ktr writer analyze visualize tools -name '*.[chS]' -printf 'folder %h\n' | sort -u
	edges | sed 's/^/edge /'
} | awk '
	# Does a word of a row speak of a folder?
	function meets(word, folder,  stem) {
		if (word !~ /\*$/)
			return word == folder
		stem = substr(word, 1, length(word) - 1)
		return substr(folder, 1, length(stem)) == stem
	}
	function fail(text) {
		print text > "/dev/stderr"
		status = 1
	}
	$1 == "room" {
		for (i = 3; i <= NF; i++) {
			if ($i !~ /[*+-]/ && !($i in known))
				fail("ARCHITECTURE: " $2 " names " $i ", which does not come before it")
			sub(/^[+]/, "", $i)
			may[$2, ++n[$2]] = $i
		}
		known[$2] = 1
	}
	$1 == "folder" && !($2 in known) {
		fail($2 "/ has sources and no row in ARCHITECTURE")
	}
	$1 == "edge" {
		good = 0
		for (i = 1; i <= n[$3]; i++)
			good = good || meets(may[$3, i], $4)
		if (!good)
			fail($2 ": " $3 "/ may not include from " $4 "/")
	}
	END { exit status }' || status=1

if grep -nE "^#[[:space:]]*include $RECORDS" -r conf analyze visualize tools --include='*.[ch]' >&2; then
	echo "the reading side includes the recording macros" >&2
	status=1
fi
# Data of the tests is no source.
if find conf ktr writer analyze visualize tools include tests scripts examples man -type f -regextype posix-extended \
	-regex '.*[.](c|cc|h|S|sh|inc|py|js|mjs|css|pml|mk|map|[1-9])' ! -path 'tests/golden/*' ! -path 'tests/corpus/*' -printf '%h\n' |
	sort | uniq -c | awk '$1 > 40 { print $2 "/ has " $1 " files: it needs rooms" }' | grep . >&2; then
	status=1
fi
exit ${status:-0}

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Words that mislead whoever reads the tree: two identifiers that differ by one underscore (ktr_loss and ktr__loss), two
# scripts of one name below tests/cli, names of files, in comments and documents, that are not there, and invariants
# that share a number.
#
#	scripts/check-names.sh [tree]
set -eu
cd "${1:-$(dirname "$0")/..}"
status=0

# Files of no tree: what examples in comments and messages are about, and other people's.
examples='shard|queue|net|disk|pool|main|hello|file|program|foo|x|y|a|b|kern_ktr|events|lines|open'

# Other people's trees, which comments cite.
foreign='build|sys|kern|sysdeps|linux|bits|urcu|arch/arm64|include/rseq|include/linux|tools/testing|rseq-x86'

texts=$(find conf ktr writer analyze visualize tools include -name '*.[chS]' | sort)
documents=$(ls README.md ARCHITECTURE CONTRIBUTING ktr/INVARIANTS tests/README 2>/dev/null)

# shellcheck disable=SC2086
twins=$(grep -ohwE 'ktr__?[a-z0-9_]+' $texts | sort -u | awk '{
	name = $0
	sub(/^ktr__/, "ktr_", name)
	if (name in first)
		print first[name] " and " $0
	first[name] = $0
}')
if [ -n "$twins" ]; then
	echo "names that differ by one underscore:"
	echo "$twins"
	status=1
fi >&2

same=$(find tests/cli -name '*.sh' | sed 's|.*/||' | sort | uniq -d)
if [ -n "$same" ]; then
	echo "scripts of tests/cli that have one name:"
	echo "$same"
	status=1
fi >&2

# A path is there from the tree's top, or from include/; a bare name somewhere in the tree, or in the system.
# shellcheck disable=SC2086
dangling=$({
	find conf ktr writer analyze visualize tools include tests scripts examples man -type f | sed 's/^/file /'
	grep -ohE '^#[[:space:]]*include <[^>]*>' $texts | sed 's/.*</system /; s/>//'
	grep -nE '[A-Za-z0-9_]\.(c|h|S|sh)([^A-Za-z0-9_(]|$)' $texts $documents | sed 's/^/text /'
} | awk -v examples="^($examples)\\.(c|h)$" -v foreign="^($foreign)[/.]" '
	$1 == "file" {
		path[$2] = 1
		n = split($2, part, "/")
		base[part[n]] = 1
		next
	}
	$1 == "system" { n = split($2, part, "/"); base[part[n]] = 1; next }
	{
		place = $2
		sub(/:[^:]*$/, "", place)
		split(place, at, ":")
		line = $0
		sub(/^text [^:]*:[0-9]*:/, "", line)
		if (line ~ /^#[ \t]*include/)
			next
		while (match(line, /[A-Za-z0-9_.\/*-]*[A-Za-z0-9_*]\.(c|h|S|sh)/)) {
			word = substr(line, RSTART, RLENGTH)
			before = RSTART > 1 ? substr(line, RSTART - 1, 1) : ""
			after = substr(line, RSTART + RLENGTH, 1)
			line = substr(line, RSTART + RLENGTH)
			if (after ~ /[A-Za-z0-9_(*]/ || word ~ /\*/ || before ~ /[<"%$]/)
				continue
			sub(/^[0-9]*[-.]+/, "", word)
			n = split(word, part, "/")
			if (word ~ foreign || word ~ /[A-Z][A-Z][A-Z]/ || word in path || ("include/" word) in path || part[n] ~ examples || (n == 1 && word in base))
				continue
			if (n > 1 && ("include/ktr/" word) in path)
				continue
			print at[1] ":" at[2] ": " word
		}
	}')
if [ -n "$dangling" ]; then
	echo "files that are not there:"
	echo "$dangling"
	status=1
fi >&2

# R1, R2, ..., S1, ...: each number once, and none left out.
numbers=$(awk 'match($0, /^ [A-Z][0-9]+ /) {
	letter = substr($1, 1, 1)
	if (substr($1, 2) + 0 != ++last[letter])
		print $1 " is not " letter last[letter]
}' ktr/INVARIANTS)
if [ -n "$numbers" ]; then
	echo "ktr/INVARIANTS: numbers that are not in order:"
	echo "$numbers"
	status=1
fi >&2
exit $status

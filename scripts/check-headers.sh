#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a file defines for others stands in the header of its name, or in a public one. Asked of the objects of a build.
# Excepted is what one header declares for a whole table (its rows), or what a lower floor calls by its name.
#
#	scripts/check-headers.sh [build]
set -eu
cd "$(dirname "$0")/.."
O=${1:-build}

# Files, and a header that speaks for them.
tables='
^analyze/read/reader analyze/read/reader.h
^analyze/read/reader analyze/read/reader_inside.h
^analyze/sql/sql_ analyze/sql/sql_table.h
^ktr/knob/ ktr/knob/knob_rows.h
^ktr/knob/ ktr/knob/knobs.h
^tools/bsd/kdump_ tools/bsd/kdump_calls.h
^visualize/chart/plot_ visualize/chart/plots.h
^visualize/export/export_ visualize/export/exports.h
^writer/[a-z]*[.]c ktr/load/writer_hook.h
^writer/sweep[.]c ktr/load/sweep.h
^writer/resize[.]c ktr/load/resize.h
^writer/format/codec_pa[a-z]*[.]c writer/format/codec.h'

objects=$(find "$O/obj" -name '*.o' ! -path "$O/obj/tests/*" | LC_ALL=C sort)
[ -n "$objects" ] || { echo "$O has no objects" >&2; exit 1; }
# shellcheck disable=SC2086
nm -gA --defined-only $objects | awk -v O="$O/obj/" -v tables="$tables" '
	function read_words(header, into,  line, n, i, part) {
		if (header in done)
			return
		done[header] = 1
		while ((getline line < header) > 0) {
			n = split(line, part, /[^A-Za-z0-9_]+/)
			for (i = 1; i <= n; i++)
				words[into, part[i]] = 1
		}
		close(header)
	}
	function declared(name, header) {
		read_words(header, header)
		return (header, name) in words
	}
	# A row of a table is written by the word of its own: KTR__KNOB_GET(mask) is ktr__knob_get_mask.
	function in_table(file, name,  i, row) {
		row = name
		sub(/^ktr__knob_[gs]et_|^ktr__line_(woven_)?|^command_/, "", row)
		sub(/_row$/, "", row)
		for (i = 1; i <= n_tables; i++)
			if (file ~ pattern[i] && (declared(name, speaker[i]) || declared(row, speaker[i])))
				return 1
		return 0
	}
	BEGIN {
		n_lines = split(tables, line, "\n")
		for (i = 1; i <= n_lines; i++)
			if (split(line[i], word, " ") == 2) {
				pattern[++n_tables] = word[1]
				speaker[n_tables] = word[2]
			}
		while (("find include -name \"*.h\"" | getline header) > 0)
			read_words(header, "public")
	}
	{
		file = $1
		sub(/:[^:]*$/, "", file)
		file = substr(file, length(O) + 1)
		sub(/[.]o$/, "", file)
		name = $NF
		type = $(NF - 1)
		if (!(file in there))
			there[file] = (getline any < (file ".c")) > 0
		close(file ".c")
		if (!there[file] || type == "V" || ("public", name) in words || declared(name, file ".h"))
			next
		row = name
		sub(/^ktr__line_/, "", row)
		if (file ~ /sidecar_lines$/ && declared(row, file ".h"))
			next
		if (file ~ /cmd_|^tools\/ktr/ || in_table(file ".c", name))
			next
		print file ".c: its header does not declare " name > "/dev/stderr"
		status = 1
	}
	END { exit status }'

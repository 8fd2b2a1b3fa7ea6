#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes the two-file form of libktr: ktr.h has the public headers, ktr.c everything else. Each of our headers is
# put where it is first included; one that is first met inside a conditional is repeated where it is needed
# next, its guard sees to the rest. An assembler file becomes an asm statement for each architecture.
#
#	scripts/one.sh output-directory version source...
set -eu
out=$1
version=$2
shift 2
mkdir -p "$out"

# Prints files with our own includes in their places, but for those whose names are in known=.
flatten() {
	known=$1
	shift
	awk -v cc="${CC:-cc}" -v known="$known" -v files="$*" '
	function path_of(line,  p) {
		p = line
		sub(/^#[ \t]*include[ \t]*[<"]/, "", p)
		sub(/[>"].*/, "", p)
		if (line ~ /</ && (p == "ktr.h" || p ~ /^ktr\//))
			return "include/" p
		return line ~ /"/ ? p : ""
	}
	# once: whether what is found here may be left out later on.
	function put(file, once,  line, p, depth, n) {
		n = 0
		depth = 0
		while ((getline line < file) > 0) {
			n++
			if (n == 1 && line ~ /SPDX/)
				continue
			if (line ~ /^#[ \t]*if/)
				depth++
			if (line ~ /^#[ \t]*endif/)
				depth--
			p = line ~ /^#[ \t]*include/ ? path_of(line) : ""
			if (p == "") {
				print line
			} else if (!(p in seen)) {
				# A header is wrapped in its guard, one level deep.
				if (once && depth <= (file ~ /\.h$/))
					seen[p] = 1
				put(p, once && depth <= (file ~ /\.h$/))
			}
		}
		close(file)
		if (n == 0) {
			print "one.sh: cannot read " file > "/dev/stderr"
			exit 1
		}
	}
	# As the preprocessor leaves it for one architecture.
	function put_asm_for(arch, file,  line, command, open, tsan) {
		command = "grep -q KTR_TSAN " file
		tsan = system(command) == 0
		command = cc " -E -P -undef -x assembler-with-cpp -I. -DKTR_IN_C -D__" arch "__=1 " file
		while ((command | getline line) > 0) {
			if (line ~ /^[ \t]*$/)
				continue
			if (!open) {
				print "#if defined(__" arch "__) && !defined(__ILP32__)" (tsan ? " && !KTR_TSAN" : "")
				print "__asm__(\".pushsection .text\\n\""
			}
			open = 1
			gsub(/\\/, "\\\\", line)
			gsub(/"/, "\\\"", line)
			print "\"" line "\\n\""
		}
		if (open)
			print "\".popsection\");\n#endif"
		if (close(command) != 0) {
			print "one.sh: cannot preprocess " file > "/dev/stderr"
			exit 1
		}
	}
	function put_asm(file) {
		put_asm_for("x86_64", file)
		put_asm_for("aarch64", file)
	}
	BEGIN {
		n = split(known, list, " ")
		for (i = 1; i <= n; i++)
			seen[list[i]] = 1
		n = split(files, list, " ")
		for (i = 1; i <= n; i++) {
			if (list[i] in seen)
				continue
			seen[list[i]] = 1
			print "\n/* ---- " list[i] " ---- */"
			if (list[i] ~ /\.S$/)
				put_asm(list[i])
			else
				put(list[i], 1)
		}
	}'
}

licence() {
	echo "/* SPDX-License-Identifier: BSD-2-Clause */"
	echo "/*"
	sed 's/^/ * /; s/ *$//' LICENSE
	echo " *"
	printf ' * %s\n' "$@"
	echo " */"
}

public="include/ktr.h include/ktr/error.h include/ktr/conf.h include/ktr/ctl.h"
{
	licence "ktr $version in two files, made from its source tree: this one and ktr.c."
	flatten "" $public
} >"$out/ktr.h"
have=$(sed -n 's|^/\* ---- \(.*\) ---- \*/|\1|p' "$out/ktr.h")
inner=$(for f in $public; do sed -n 's|^#include <\(ktr[^>]*\)>.*|include/\1|p' "$f"; done)
inner="$inner $(for f in $inner; do sed -n 's|^#include <\(ktr[^>]*\)>.*|include/\1|p' "$f"; done)"
{
	licence "ktr $version in two files, made from its source tree: this one and ktr.h. Compile it with your" \
		"program, and add -lpthread."
	echo "#ifndef _GNU_SOURCE"
	echo "#define _GNU_SOURCE"
	echo "#endif"
	echo "#define KTR__LIBRARY"
	echo "#define KTR_NO_AUTOSTART"
	echo "#if defined(KTR_FBT_H) /* a program whose functions are probes: these are none */"
	echo "#if defined(__clang__)"
	echo "#pragma clang attribute push(__attribute__((patchable_function_entry(0))), apply_to = function)"
	echo "#else"
	echo '#pragma GCC optimize("patchable-function-entry=0")'
	echo "#endif"
	echo "#endif"
	echo '#include "ktr.h"'
	echo "#ifndef KTR_OFF"
	echo "#if defined(__clang__) /* warns of what other files than the one that includes a header use */"
	echo '#pragma clang diagnostic ignored "-Wunused-function"'
	echo "#endif"
	echo "/* 128-bit integers and %m, which a program's -pedantic refuses; formats were checked where this was made. */"
	echo '#pragma GCC diagnostic ignored "-Wpedantic"'
	echo '#pragma GCC diagnostic ignored "-Wformat"'
	flatten "$(echo $have $inner)" "$@"
	echo "#endif"
	echo "#if defined(KTR_FBT_H) && defined(__clang__)"
	echo "#pragma clang attribute pop"
	echo "#endif"
} >"$out/ktr.c"
echo "$out/ktr.c: $(wc -l <"$out/ktr.c") lines; $out/ktr.h: $(wc -l <"$out/ktr.h") lines"

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A program and the library may come from different builds. What they share is recorded in tests/abi/program-N.txt, N
# being KTR_ABI: nothing there may move or vanish while that number stays. Where the numbers differ the library says
# so in one line and the program runs untraced, either way round. `make check-abi` has the libraries of earlier
# commits, this script what is made from the present sources with another number.
#
# Likewise tests/abi/reader-N.txt has what programs share with libktrread.so.N.
#
#	abi.sh record	writes the files for new numbers
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
number=$(awk '$2 == "KTR_ABI" { print $3 }' include/ktr/version.h)

# ---- what is shared ----
# surface RECORDED NUMBER SOURCE LIBRARY STRUCTURE...
surface() {
	recorded=$1 name=$2 source=$3 library=$4
	shift 4
	gcc -std=gnu11 -g -fno-eliminate-unused-debug-types -Iinclude -c "$source" -o "$dir/surface.o" || exit 1
	python3 tests/abi/layout.py "$dir/surface.o" "$@" >"$dir/surface" || exit 1
	nm -D --defined-only "$library" | awk '$2 != "A" { print "symbol " $3 }' | LC_ALL=C sort >>"$dir/surface"
	[ "$(wc -l <"$dir/surface")" -gt 100 ] || fail "only $(wc -l <"$dir/surface") lines of what is shared"
	stray=$(sed -n 's/^symbol //p' "$dir/surface" | grep -vE '^(ktr_|vfork@)')
	[ -z "$stray" ] || fail "$library exports $stray"
	if [ "$record" = record ]; then
		cp "$dir/surface" "$recorded"
	elif [ ! -e "$recorded" ]; then
		fail "nothing is recorded for $name: sh tests/cli/build/abi.sh record"
	else
		LC_ALL=C sort "$dir/surface" >"$dir/now"
		gone=$(LC_ALL=C sort "$recorded" | LC_ALL=C comm -13 "$dir/now" -)
		[ -z "$gone" ] || fail "programs built before rely on what has changed; $name (include/ktr/version.h) has to
rise, and sh tests/cli/build/abi.sh record:
$gone"
	fi
}
record=${1:-}
surface "tests/abi/program-$number.txt" "KTR_ABI $number" tests/abi/surface.c "$O/lib/libktr.so" \
	ktr_site ktr_module ktr_class ktr_arg_type ktr_options ktr_stats ktr_stack ktr_knob
major=$(awk '$2 == "KTR_VERSION_MAJOR" { print $3 }' include/ktr/version.h)
surface "tests/abi/reader-$major.txt" "KTR_VERSION_MAJOR $major" tests/abi/reader.c "$O/lib/libktrread.so" \
	ktr_source_kind ktr_event_kind ktr_reader_arg ktr_reader_site ktr_reader_thread ktr_event_bytes ktr_event ktr_loss \
	ktr_note ktr_reader_info ktr_reader_options ktr_sink ktr_error ktr_packet_header ktr_packet_start ktr_trace_clock \
	ktr_sidecar

# ---- what is exported ----
# Of each library what its headers declare, and what our own macros and libraries call; nothing else.
exports() { # LIBRARY PATTERN HEADER...
	nm -D --defined-only "$O/lib/$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' >"$dir/exported"
	stray=$(grep -vE "^($2)\$" "$dir/exported")
	[ -z "$stray" ] || fail "$1 exports $stray"
	library=$1
	shift 2
	for header in "$@"; do
		names=$(echo "#include <$header>" | $cc -Iinclude -E - | awk -v header="/$header\"" '
			/^# / { ours = index($0, header) } ours' | grep -oE '\bktr_[a-z_]+\(' | tr -d '(' |
			grep -vE '_fn$|^ktr__' | sort -u)
		[ -n "$names" ] || fail "$header declares nothing"
		for name in $names; do
			grep -qx "$name" "$dir/exported" || fail "$library does not export $name"
		done
	done
}
tools='ktr_loader_(print|text)|ktr_nearest(_of)?|ktr_origin_print|ktr_source_path'
exports libktrread.so "ktr_reader_[a-z_]+|ktr_event_text|ktr_error_[a-z_]+|$tools" \
	ktr/reader.h ktr/error.h
exports libktr-writer.so ktr__writer_hooks
exports libktr-probe.so 'ktr_probe[a-z0-9_]*|ktr_class_probe|ktr__probe_(fire[0-6]?|attach|detach)'
[ ! -e "$O/lib/libktr-fbt.so" ] || exports libktr-fbt.so 'ktr__fbt_(attach|detach)'
threads='pthread_create|sig(wait|waitinfo|timedwait)|signalfd'
memory='(m|c|re|v|pv|aligned_)alloc|(posix_)?memalign|free|mmap(64)?|munmap|mremap'
# What it stands in for.
linked=$(for library in libktr.so libktr-provider.so libktr-fbt.so; do nm -D --defined-only "$O/lib/$library"; done |
	awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | paste -sd'|')
nm -D --defined-only "$O/lib/libktr-agent.so" | awk '{ print $3 }' >"$dir/agent"
for name in $(for library in libktr.so libktr-provider.so libktr-fbt.so; do nm -D --defined-only "$O/lib/$library"; done |
	awk '$2 != "A" { print $3 }'); do
	grep -qx "${name%%@*}@*${name##*@}" "$dir/agent" || fail "the agent does not export $name"
done
exports libktr-agent.so "vfork|syscall|$linked|$threads|$memory|ktr__fbt_(attach|detach)|ktr__agent_call|(pthread_(mutex|rwlock|cond|spin|barrier)|mtx|cnd|sem)_[a-z]+"
exports libktr-provider.so 'ktr_provider_[a-z]+(_[a-z]+)?|ktr_ktrace|ktr__provider_fire' ktr/provider.h
[ ! -e "$O/lib/libktr-profil.so" ] ||
	exports libktr-profil.so "ktr_(profil|monstartup|moncontrol|mcleanup)[a-z_]*|thrd_create|$threads" ktr/profil.h
exports libktr-task.so 'ktr_(task|thread|vm|sample|error)_[a-z_]+' ktr/task.h ktr/error.h
exports libktr-dtrace.so 'dtrace_[a-z_]+|ktr_class_mach|ktr__dtrace_(fire|attach|detach)'
macros='record[0-6]|record6v|record_(stack|usual)|module_attach|module_detach|class_attach|site_make|own_session'
macros="$macros|probe_asked|probes_(asked|fit)|complain"
exports libktr.so "ktr_[a-z0-9][a-z0-9_]*|ktr__($macros)|vfork" \
	ktr/ctl.h ktr/error.h

# ---- another number ----
# headers NAME SCRIPT: a copy of the headers, changed.
headers() {
	cp -r include "$dir/$1"
	sed -i "$2" "$dir/$1/ktr/version.h" "$dir/$1/ktr/site.h"
}
other=$((number + 1))
headers other "s/define KTR_ABI .*/define KTR_ABI $other/"
headers larger 's/uint8_t reserved2\[6\]/uint8_t reserved2[14]/; s/KTR__SITE_BYTES 136/KTR__SITE_BYTES 144/'
cmp -s include/ktr/site.h "$dir/larger/ktr/site.h" && fail "struct ktr_site was not changed"
program() { # NAME HEADERS
	$cc -std=gnu11 -D_GNU_SOURCE -O1 -I"$2" tests/stress/bad.c -o "$dir/$1" -L"$O/lib" -lktr -lpthread || exit 1
}
program same include
program newer "$dir/other"
program grown "$dir/larger"
# The library of the other number: all but one object are the same.
mkdir "$dir/lib"
$cc -std=gnu11 -D_GNU_SOURCE -O1 -fPIC -ftls-model=initial-exec -fvisibility=hidden -I"$dir/other" -Iinclude -I. -c ktr/start/attach.c \
	-o "$dir/attach.o" || exit 1
# shellcheck disable=SC2046
$cc -shared -Wl,-soname,libktr.so.0 -Wl,-Bsymbolic -Wl,--version-script=ktr/libktr.map -o "$dir/lib/libktr.so.0" "$dir/attach.o" \
	$(find "$O/pic/conf" "$O/pic/ktr" -name '*.o' ! -path "$O/pic/ktr/provider/*" ! -path "$O/pic/ktr/agent/*" \
		! -path "$O/pic/ktr/start/attach.o" ! -name sweep.o) -fno-lto -lpthread -ldl || exit 1

# runs WHAT LIBRARIES PROGRAM WANTED: untraced, and WANTED on stderr; silent if nobody asked; or traced.
runs() {
	what=$1 libraries=$2 program=$dir/$3 wanted=$4
	for mask in gen ''; do
		[ -n "$mask" ] || [ "$wanted" = traced ] || wanted=
		[ "$wanted" = traced ] && want_err='' || want_err=$wanted
		KTR_MASK=$mask LD_LIBRARY_PATH=$libraries "$program" 0 >"$dir/out" 2>"$dir/err" 3>"$dir/said"
		is "$what: exit status" $? 7
		is "$what: its output" "$(cat "$dir/out")" "worked 8997000"
		is "$what: stderr" "$(cat "$dir/err")" "$want_err"
		case $wanted-$mask in
		traced-gen) is "$what" "$(cat "$dir/said")" "recorded=12000 dropped=0" ;;
		*) is "$what" "$(cat "$dir/said")" "recorded=0 dropped=0" ;;
		esac
	done
}
says="a module was built for ABI"
runs "the same" "$O/lib" same traced
runs "a newer program" "$O/lib" newer "ktr: $says $other.136 of ktr, the library has $number.136: not traced"
runs "an older program" "$dir/lib" same "ktr: $says $number.136 of ktr, the library has $other.136: not traced"
runs "both newer" "$dir/lib" newer traced
runs "a program with larger sites" "$O/lib" grown "ktr: $says $number.144 of ktr, the library has $number.136: not traced"
exit $failed

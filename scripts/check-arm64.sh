#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Builds everything for AArch64 with a cross compiler, warnings being errors, and runs it, in two ways.
#
# Under qemu-user, which plays a process: a program traced by the ktr command, and some unit tests. There are no
# restartable sequences, so the library has to choose the path without them by itself.
#
# On a machine that qemu-system-aarch64 plays, with Debian's kernel (scripts/arm64-machine.sh): hosts of tests/cli, on
# both paths. That it is slow is known to what measures durations; nothing else there differs from a real one.
#
# FULL=1: the long hosts too, all unit tests, the matrix of tests/strangers in its short form, a kernel with pages of
# 16 KiB, hosts under qemu-user, and objects built with landing pads and signed return addresses.
# KTR_ARM64_TESTS chooses what the machine runs.
#
#	scripts/check-arm64.sh [output-directory]
set -u
cd "$(dirname "$0")/.." || exit 1
O=${1:-build/arm64}
CC=aarch64-linux-gnu-gcc
CXX=aarch64-linux-gnu-g++
QEMU=qemu-aarch64

missing=
need() { # package, command...
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}
# shellcheck disable=SC2317
links() { # header, library
	echo "#include <stdio.h>
#include <$1>
int main(void) { return 0; }" | $CC -xc - -o /dev/null "-l$2"
}
wanted() {
	missing=
	need gcc-aarch64-linux-gnu command -v $CC
	need g++-aarch64-linux-gnu command -v $CXX
	need qemu-user command -v $QEMU
	need liburcu-dev:arm64 links urcu/pointer.h c
	need libjansson-dev:arm64 links jansson.h jansson
	need zlib1g-dev:arm64 links zlib.h z
	need libcunit1-dev:arm64 links CUnit/CUnit.h cunit
}
wanted
if [ -n "$missing" ]; then
	if [ "${KTR_NO_INSTALL:-0}" = 1 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "check-arm64: missing Debian packages:$missing" >&2
		echo "check-arm64: they come with dpkg --add-architecture arm64, apt-get update," >&2
		echo "check-arm64: apt-get install$missing" >&2
		exit 1
	fi
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	echo "check-arm64: installing$missing"
	$sudo dpkg --add-architecture arm64 && $sudo apt-get update -qq || exit 1
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null || exit 1
	wanted
	[ -z "$missing" ] || { echo "check-arm64: installed, but of no use:$missing" >&2; exit 1; }
fi

mkdir -p "$O" || exit 1
O=$(cd "$O" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
	echo "FAIL $*"
	failed=1
}

# Optional libraries: with them where they are installed for arm64.
has() { # header, library
	if links "$1" "$2" >/dev/null 2>&1; then echo 1; else echo 0; fi
}
options="HAVE_LIBDW=$(has elfutils/libdwfl.h dw) HAVE_DEMANGLE=$(has libiberty/demangle.h iberty) HAVE_SQLITE=$(has sqlite3.h sqlite3) HAVE_SNAPPY=$(has snappy-c.h snappy) HAVE_EDIT=0 HAVE_NCURSES=0 HAVE_CURL=0 HAVE_LZ4=0"

echo "check-arm64: building in $O, $options"
# shellcheck disable=SC2086
${MAKE:-make} -j"$(nproc)" O="$O" CC=$CC CXX=$CXX AR=aarch64-linux-gnu-ar \
	OBJCOPY=aarch64-linux-gnu-objcopy NM=aarch64-linux-gnu-nm CFLAGS="-O2 -g -Werror" \
	$options lib examples "$O/bin/ktr" "$O/tests/unit" >"$work/build" 2>&1 || {
	cat "$work/build"
	echo "check-arm64: the build failed"
	exit 1
}

# The command and what it runs, as scripts that call the emulator.
emulate() { # program
	printf '#!/bin/sh\nexec %s "%s" "$@"\n' $QEMU "$O/$1" >"$work/${1##*/}"
	chmod +x "$work/${1##*/}"
}
emulate bin/ktr
emulate examples/indexer
mkdir "$work/sessions"
export KTR_DIR="$work/sessions" KTR_CONF=
unset KTR_PATH KTR_MASK

# Rings are larger than the whole trace, so nothing can be lost; it tells machine, path and clock.
traced() {
	(cd "$work" && ./ktr run -e 16384 -o trace ./indexer -j 2 "$OLDPWD/include") \
		>"$work/run" 2>&1 || return 1
	"$work/ktr" dump "$work/trace" >"$work/dump" 2>&1 || return 1
	[ "$(grep -c . "$work/dump")" -gt 100 ] || return 1
	grep -q ' events, 0 lost; ' "$work/run" || return 1
	for field in '"arch":"arm64"' '"path":"thread"' '"clock":"cntvct"'; do
		cat "$work"/trace/ktr/* | tr -d ' ' | grep -qF "$field" || return 1
	done
}
if traced; then
	echo "ok   a traced program: $(grep ' events, ' "$work/run")"
else
	tail -n 5 "$work/run" "$work/dump"
	fail "a traced program"
fi

# A compiler whose programs are scripts that call the emulator, and a build directory with the command as one.
mkdir -p "$work/o/bin"
ln -s "$O/lib" "$work/o/lib"
cp "$work/ktr" "$work/o/bin/ktr"
cat >"$work/cc" <<END
#!/bin/sh
$CC "\$@" || exit
out= last=
for arg; do
	case \$arg in -shared | -c | -S | -E | -dumpmachine) exit 0 ;; esac
	[ "\$last" != -o ] || out=\$arg
	last=\$arg
done
[ -f "\$out" ] || exit 0
mv "\$out" "\$out.bin" &&
	printf '#!/bin/sh\nexec $QEMU -0 "%s" "%s.bin" "\$@"\n' "\$out" "\$out" >"\$out" && chmod +x "\$out"
END
chmod +x "$work/cc"
begun=$(date +%s)
for test in ${FULL:+forks vfork sandbox handlers signals}; do
	if O="$work/o" CC="$work/cc" KTR_EMULATED=1 KTR_PATHS=thread LIMIT=300 sh tests/cli/*/"$test.sh" >"$work/said" 2>&1; then
		sed -n "s/^skipped: /     $test: skipped: /p" "$work/said"
		echo "ok   $test.sh under qemu-user ($(($(date +%s) - begun)) s)"
	else
		cat "$work/said"
		fail "$test.sh under qemu-user"
	fi
	begun=$(date +%s)
done
if [ -n "${FULL:-}" ]; then
	if CC=$CC O="$O" KTR_MAKE_OPTIONS="$options" sh tests/cli/build/bti.sh >"$work/said" 2>&1; then
		echo "ok   tests/cli/build/bti.sh ($(($(date +%s) - begun)) s)"
	else
		cat "$work/said"
		fail "tests/cli/build/bti.sh"
	fi
fi

short="forks vfork handlers signals lastthread cut nofit daemons unload probes"
long="sandbox freeze peer probe kill kill_trace strangers unit"
echo "check-arm64: on a machine"
# shellcheck disable=SC2086 # several words
sh scripts/arm64-machine.sh "$O" ${KTR_ARM64_TESTS:-$short ${FULL:+$long}} || fail "on a machine"
if [ -n "${FULL:-}" ]; then
	echo "check-arm64: on a machine with larger pages"
	# shellcheck disable=SC2086 # several words
	PAGES=16k sh scripts/arm64-machine.sh "$O" ${KTR_ARM64_TESTS:-$short unit=record,sequence,peer,gate,own} ||
		fail "on a machine with larger pages"
fi

# Last, so that the CUnit summary closes the output. Of all suites cli compares what the command says about a process
# with what /proc says, which describes the emulator here; feeder keeps a page from children, which the emulator does not.
suites="record sequence gate own peer peer_words mask"
[ -z "${FULL:-}" ] || suites=$(sed -n 's/^SUITE(\([a-z0-9_]*\),.*/\1/p' tests/unit/*/test_*.c | grep -vx -e cli -e feeder)
# shellcheck disable=SC2086
KTR_TEST_RUN=$QEMU $QEMU "$O/tests/unit" $suites || failed=1
exit $failed

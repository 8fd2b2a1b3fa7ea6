#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs through apt-get what building, demo and tests need and this machine lacks, and says so.
# Silent when nothing is missing. KTR_NO_INSTALL=1, or no apt-get: prints what is missing and stops. After an
# installation the file that KTR_INSTALLED names, one for make, is written anew.
#
#	scripts/setup.sh [build|demo|check|fleet|ci]...
set -eu

missing=
need() { # package, test command
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}
header() { for d in /usr/include /usr/local/include /usr/include/*-linux-gnu; do [ -e "$d/$1" ] && return 0; done; return 1; }
command_() { command -v "$1"; }

cc=${CC:-cc}
need gcc command_ "${cc%% *}"
need libc6-dev header stdio.h
need liburcu-dev header urcu/pointer.h
need libjansson-dev header jansson.h
need zlib1g-dev header zlib.h
need libdw-dev header elfutils/libdwfl.h
need libiberty-dev header libiberty/demangle.h
need patch command_ patch
need libsqlite3-dev header sqlite3.h
need libedit-dev header histedit.h
need libncurses-dev header ncurses.h
need pkg-config command_ pkg-config
need libcurl4-openssl-dev pkg-config --exists libcurl
need liblz4-dev header lz4.h
for kind in "$@"; do
	case $kind in
	demo)
		need gnuplot-nox command_ gnuplot
		;;
	check)
		need libcunit1-dev header CUnit/CUnit.h
		need g++ command_ g++
		need gnuplot-nox command_ gnuplot
		need babeltrace2 command_ babeltrace2
		need babeltrace command_ babeltrace
		need python3 command_ python3
		need mandoc command_ mandoc
		need file command_ file
		need libsnappy-dev header snappy-c.h
		need tmux command_ tmux
		need zsh command_ zsh
		need fish command_ fish
		need trace-cmd command_ trace-cmd
		need cmake command_ cmake
		need meson command_ meson
		need musl-tools command_ musl-gcc
		need strace command_ strace
		;;
	fleet)
		need clickhouse-server command_ clickhouse-server
		need clickhouse-client command_ clickhouse-client
		need zookeeper test -x /usr/share/zookeeper/bin/zkServer.sh
		need python3 command_ python3
		;;
	ci)
		need valgrind command_ valgrind
		need clang command_ clang++
		need gdb command_ gdb
		need dwz command_ dwz
		need bpftrace command_ bpftrace
		;;
	esac
done

[ -n "$missing" ] || exit 0
if [ "${KTR_NO_INSTALL:-0}" = 1 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "ktr: missing Debian packages:$missing" >&2
	echo "ktr: \`make setup\` installs them through apt-get; so do \`make demo\` and \`make check\`" >&2
	exit 1
fi
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "ktr: installing$missing"
$sudo apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
[ -z "${KTR_INSTALLED:-}" ] || echo "# installed$missing" >"$KTR_INSTALLED"

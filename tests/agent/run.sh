#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make check-agent: programs of Debian's that know nothing of ktr, run by themselves and under `ktr run --agent -k`, most with
# -i: what they print, write and return is the same, their own tests pass, servers answer as often as they are asked, and the
# trace has their processes.
#
#	WITH="--fbt *" tests/agent/run.sh [PROGRAM...]	options of ktr run
#	WITH="--lock all --heap all" tests/agent/run.sh cmake
. "$(dirname "$0")/../cli/lib.inc"
. tests/agent/common.inc
. tests/foreign/source.inc
set -f # options may be globs
say() {
	echo "$name: $*"
}

# Into $dir/trace: COMMAND... ; its exit status
under() {
	rm -rf "$dir/trace"
	# shellcheck disable=SC2086 # options
	"$ktr" run --agent -i -k -e 262144 ${WITH:-} -o "$dir/trace" "$@"
}
# What ktr run says in its last line, of which losses are none of the program's.
traced() {
	"$ktr" report --json "$dir/trace" >"$dir/report.json" 2>"$dir/err" || { fail "$1: no report: $(cat "$dir/err")"; return; }
	n=$("$ktr" dump --filter 'class == proc' "$dir/trace" | grep -cE 'process [0-9]+ (started|forked)')
	[ "$n" -ge "${2:-1}" ] || fail "$1: $n processes in the trace"
	echo "$1: $n processes, $("$ktr" dump --filter 'class == kswitch' "$dir/trace" | wc -l) events of context switches"
}
# same NAME PROCESSES COMMAND...: standard output and exit status
same() {
	name=$1 processes=$2
	shift 2
	"$@" >"$dir/plain" 2>"$dir/plain.err"
	plain=$?
	under "$@" >"$dir/traced" 2>"$dir/traced.err"
	is "$name: exit status" $? $plain
	cmp "$dir/plain" "$dir/traced" || fail "$name: its output"
	traced "$name" "$processes"
}

do_xz() {
	need xz xz-utils || { skip xz; return; }
	head -c 40000000 /dev/urandom | base64 | head -c 30000000 >"$dir/data"
	same 'xz -T2' 1 xz -T2 --block-size=1MiB -k -c "$dir/data"
	mv "$dir/traced" "$dir/data.xz"
	same 'xz -d' 1 xz -T2 -d -k -c "$dir/data.xz"
	cmp "$dir/traced" "$dir/data" || fail 'xz: back again'
}

do_python3() {
	python=/usr/bin/python3
	[ -x $python ] || need python3 python3 || { skip python3; return; }
	version=$($python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	$python -c 'import test.test_json' 2>/dev/null || need nothing "libpython$version-testsuite"
	same 'python3, processes and threads' 3 $python -c '
import concurrent.futures, multiprocessing, subprocess, threading
print(subprocess.check_output(["sh", "-c", "echo from a shell; exit 0"]))
with concurrent.futures.ThreadPoolExecutor(4) as pool: print(sum(pool.map(lambda n: n * n, range(1000))))
with multiprocessing.Pool(2) as pool: print(sum(pool.map(abs, range(-1000, 0))))
try: subprocess.run(["false"], check=True)
except subprocess.CalledProcessError as error: print(error.returncode)'
	if $python -c 'import test.test_json' 2>/dev/null; then
		for module in test_json test_threading test_subprocess test_signal test_os test_fork1 test_select test_thread; do
			(cd "$dir" && $python -m test -q $module) >"$dir/plain" 2>&1 ||
				{ skip "$module: fails without the agent"; continue; }
			(cd "$dir" && under $python -m test -q $module) >"$dir/traced" 2>&1 ||
				{ fail "$module: $(tail -n 30 "$dir/traced")"; continue; }
			traced "$module"
		done
	else
		skip "python3's own tests: libpython$version-testsuite is not there"
	fi
}

do_sqlite3() {
	need sqlite3 sqlite3 || { skip sqlite3; return; }
	printf '%s\n' 'CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);' \
		'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
		INSERT INTO t SELECT i, hex(i * 7919) FROM n;' \
		'SELECT count(*), sum(length(b)), max(b) FROM t;' 'SELECT b FROM t ORDER BY b LIMIT 5;' >"$dir/sql"
	same sqlite3 1 sh -c 'rm -f "$1/db"; sqlite3 "$1/db" <"$1/sql"; sqlite3 "$1/db" "PRAGMA integrity_check"' sh "$dir"
}

do_bash() {
	need bash bash || { skip bash; return; }
	same bash 5 bash -c 'trap "echo trapped" USR1; kill -USR1 $$; (exit 3); echo $?; f() { echo "$@"; }; f a b
		for i in 1 2 3; do sleep 0.01 & done; wait; echo $(echo inner | tr a-z A-Z); coproc cat; echo to >&"${COPROC[1]}"
		read -r line <&"${COPROC[0]}"; echo "$line"; exit 6'
}

do_git() {
	need git git || { skip git; return; }
	same git 5 sh -c 'rm -rf "$1/repo"; export GIT_AUTHOR_DATE=@0+0000 GIT_COMMITTER_DATE=@0+0000 HOME=$1 GIT_CONFIG_NOSYSTEM=1
		git -c init.defaultBranch=main init -q "$1/repo"; cd "$1/repo" || exit
		git config user.name n; git config user.email e; git config pack.threads 2
		for i in $(seq 40); do seq $i $((i * 50)) >f$((i % 7)); git add .; git commit -q -m "commit $i"; done
		git gc -q; git fsck --full 2>&1; git log --oneline | wc -l; git rev-parse HEAD; git blame f1 | md5sum' sh "$dir"
}

# In C++, with threads and exceptions.
do_cmake() {
	need cmake cmake || { skip cmake; return; }
	need g++ g++ || { skip g++; return; }
	mkdir -p "$dir/src"
	printf 'cmake_minimum_required(VERSION 3.13)\nproject(p CXX)\nadd_executable(p p.cc)\n' >"$dir/src/CMakeLists.txt"
	printf '#include <stdexcept>\nint main() { try { throw std::runtime_error("x"); } catch (...) { return 5; } }\n' >"$dir/src/p.cc"
	same cmake 10 sh -c 'rm -rf "$1/b"; cmake -S "$1/src" -B "$1/b" | grep -v "^-- .* done" &&
		cmake --build "$1/b" >/dev/null && "$1/b/p"; echo $?' sh "$dir"
	cmake_own
}
# Its own tests: those of its source's Tests/RunCMake that need nothing but cmake.
cmake_own() {
	name=cmake version=$(cmake --version | awk 'NR == 1 { print $3 }') home=$O/foreign
	mkdir -p "$home/sources"
	: >"$dir/log"
	set +f
	from=$(tarball) || { [ "${KTR_NO_INSTALL:-0}" = 0 ] && download && from=$(tarball); } ||
		{ skip "cmake's own tests: no source of version $version: $(last_line)"; set -f; return; }
	set -f
	mkdir "$dir/cmake"
	tar -C "$dir/cmake" --strip-components=1 --wildcards -xf "$from" '*/Tests/RunCMake' || { fail 'cmake: its source'; return; }
	passed=0
	for test in cmake_parse_arguments cmake_path continue execute_process foreach function \
		get_filename_component if list math message return separate_arguments set string while; do
		set -- cmake -DCMAKE_MODULE_PATH="$dir/cmake/Tests/RunCMake" -DRunCMake_GENERATOR_IS_MULTI_CONFIG=0 \
			'-DRunCMake_GENERATOR=Unix Makefiles' -DRunCMake_SOURCE_DIR="$dir/cmake/Tests/RunCMake/$test" \
			-DRunCMake_BINARY_DIR="$dir/cmake/$test" -P "$dir/cmake/Tests/RunCMake/$test/RunCMakeTest.cmake"
		"$@" >"$dir/plain" 2>&1 || { skip "cmake's test $test: fails without the agent"; continue; }
		rm -rf "$dir/cmake/$test"
		under "$@" >"$dir/traced" 2>&1 || { fail "cmake's test $test: $(tail -n 30 "$dir/traced")"; continue; }
		passed=$((passed + 1))
	done
	[ $passed -gt 10 ] || fail "cmake: $passed of its own tests passed"
	echo "cmake: $passed of its own tests passed, as without"
}

# Coroutines: each request on a stack of its own, by swapcontext(3).
do_qemu() {
	need qemu-img qemu-utils || { skip qemu-img; return; }
	head -c 2000000 /dev/urandom | base64 | cat - "$ktr" >"$dir/raw"
	same qemu-img 1 sh -c 'qemu-img convert -f raw -O qcow2 -c "$1/raw" "$1/q" && md5sum <"$1/q" &&
		qemu-img compare -f raw -F qcow2 "$1/raw" "$1/q" && qemu-img check "$1/q"' sh "$dir"
}

do_ruby() {
	need ruby ruby || { skip ruby; return; }
	same ruby 1 ruby -e '
		fibers = (1..50).map { |n| Fiber.new { sum = 0; loop { sum += n * Fiber.yield(sum) } } }
		fibers.each(&:resume)
		200.times { |i| fibers.each { |f| f.resume(i) } }
		puts fibers.sum { |f| f.resume(0) }
		puts (1..4).map { |t| Thread.new { (1..2000).sum { |k| k * t } } }.sum(&:value)
		puts (1..300).count { |k| begin; raise ArgumentError, "x" if k % 3 == 0; false; rescue ArgumentError; true; end }
		e = Enumerator.new { |y| a, b = 0, 1; loop { y << a; a, b = b, a + b } }
		puts e.lazy.select(&:even?).first(20).last; puts IO.popen(["sh", "-c", "echo from a shell"]).read; exit 7'
}

do_nginx() {
	need nginx nginx-light || { skip nginx; return; }
	nginx_conf
	under nginx -c "$dir/nginx.conf" >"$dir/out" 2>"$dir/err" &
	server=$!
	listens 18080 || { fail "nginx does not listen: $(cat "$dir/err" "$dir/www/logs/error")"; return; }
	is 'nginx: answers' "$(asks 18080 2000)" 2000
	kill -HUP "$(cat "$dir/www/pid")" # reload: workers change
	is 'nginx: answers after a reload' "$(asks 18080 500)" 500
	kill -QUIT "$(cat "$dir/www/pid")"
	wait $server
	is 'nginx: exit status' $? 0
	traced nginx 4
}

do_memcached() {
	need memcached memcached || { skip memcached; return; }
	user=
	[ "$(id -u)" != 0 ] || user='-u nobody'
	# shellcheck disable=SC2086 # options
	under memcached $user -l 127.0.0.1 -p 18211 -t 4 >"$dir/out" 2>"$dir/err" &
	server=$!
	listens 18211 || { fail "memcached does not listen: $(cat "$dir/err")"; return; }
	is 'memcached: answers' "$(asks_memcached 18211)" 8000
	kill "$(pgrep -P $server memcached || pgrep -x memcached)"
	wait $server
	is 'memcached: exit status' $? 0
	traced memcached
}

[ $# -gt 0 ] || set -- xz python3 sqlite3 bash git cmake qemu ruby nginx memcached
for program; do
	before=$failed failed=0
	"do_$program"
	[ $failed = 0 ] && echo "$program: as without"
	[ $before = 0 ] || failed=1
done
exit $failed

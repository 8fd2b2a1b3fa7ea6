#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What ktr ship says without a server, and to one that answers as none should: one line, and an exit status. Whether what it
# sends arrives is shown on a real server, by tests/fleet.
. "$(dirname "$0")/../lib.inc"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
server=
at_exit() { [ -z "$server" ] || kill "$server"; }

# Each table has its columns in both dialects; codecs and ages only in the newer one.
"$ktr" ship --schema >"$dir/new" || fail "--schema"
"$ktr" ship --schema=18 --replicated --database other >"$dir/old" || fail "--schema=18"
is "tables" "$(grep -c '^CREATE TABLE IF NOT EXISTS ktr\.' "$dir/new")" 14
is "views" "$(grep -c '^CREATE MATERIALIZED VIEW IF NOT EXISTS other\.' "$dir/old")" 4
grep -q 'CODEC(Delta' "$dir/new" || fail "no codecs"
grep -qE 'CODEC|TTL' "$dir/old" && fail "codecs for a server that has none"
is "copies" "$(grep -c "ENGINE = Replicated[A-Za-z]*MergeTree('/clickhouse/tables/{shard}/other/[a-z_]*', '{replica}'" "$dir/old")" 12
status 2 "$ktr" ship --schema=17
status 2 "$ktr" ship trace
status 2 "$ktr" ship --to http://127.0.0.1:1
status 2 "$ktr" ship --to http://127.0.0.1:1 --database 'a;b' trace
status 2 "$ktr" ship --to http://127.0.0.1:1 --patience soon trace

# says WHAT PATTERN OPTIONS...: one line with it, and 1
says() {
	what=$1 pattern=$2
	shift 2
	status 1 "$ktr" ship "$@" --state "$dir/state" --patience 0 "$dir/trace"
	grep -q "$pattern" "$dir/err" || fail "$what: $(cat "$dir/err")"
	is "$what: lines" "$(wc -l <"$dir/err")" 1
}
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
KTR_MASK=all KTR_FILE=$dir/trace "$dir/flood" 100 >"$dir/log" 2>&1 || fail "no trace"
"$ktr" ship --to http://127.0.0.1:1 --patience 0 x 2>&1 | grep -q 'built without libcurl\|libcurl is needed' && { skip "no libcurl"; exit $failed; }
says "no scheme" 'no address such as' --to ftp://127.0.0.1
says "a password in it" 'seen by all' --to http://a:b@127.0.0.1:1
says "nobody there" 'cannot be reached' --to http://127.0.0.1:1
echo secret >"$dir/key"
chmod 644 "$dir/key"
says "a key for all" 'chmod 600' --to http://127.0.0.1:1 --password-file "$dir/key"
chmod 600 "$dir/key"
says "no key" 'No such file' --to http://127.0.0.1:1 --password-file "$dir/nokey"

# A server that answers each request with the next of some answers.
cat >"$dir/server.py" <<'PY'
import socket, sys
s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen(8)
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    c.settimeout(5)
    answer = open(sys.argv[1], 'rb').read()
    try:
        head = b''
        while b'\r\n\r\n' not in head:
            head += c.recv(65536) or b'\r\n\r\n'
        head, rest = head.split(b'\r\n\r\n', 1)
        n = [int(l.split(b':')[1]) for l in head.split(b'\r\n') if l.lower().startswith(b'content-length')]
        while n and len(rest) < n[0]:
            rest += c.recv(65536) or b' ' * n[0]
        open(sys.argv[1] + '.got', 'ab').write(head + b'\r\n\r\n' + rest)
        c.sendall(answer)
    except OSError:
        pass
    c.close()
PY
: >"$dir/answer"
python3 "$dir/server.py" "$dir/answer" >"$dir/port" &
server=$!
await '[ -s "$dir/port" ]'
to=http://127.0.0.1:$(cat "$dir/port")
# answers WHAT PATTERN HEAD [BODY]
answers() {
	printf "$3\r\nContent-Length: $(printf "${4:-}" | wc -c)\r\nConnection: close\r\n\r\n${4:-}" >"$dir/answer"
	says "$1" "$2" --to "$to"
}
answers "no version" 'does not answer as ClickHouse does' 'HTTP/1.1 200 OK' 'hello\n'
answers "a long version" 'does not answer as ClickHouse does' 'HTTP/1.1 200 OK' '99999999999999999999.1\n'
answers "a page" 'status 404' 'HTTP/1.1 404 Not Found' '<html>\033]0;title\007'
grep -q "$(printf '\033')" "$dir/err" && fail "an answer moves the cursor"
answers "an exception" 'Code: 62' 'HTTP/1.1 500 Internal Server Error' 'Code: 62, e.displayText() = DB::Exception: Syntax error\n'
answers "a late exception" 'Code: 241' 'HTTP/1.1 200 OK' '18.16.1\nCode: 241, e.displayText() = DB::Exception: Memory limit\n'
answers "a password" 'does not know the user default' 'HTTP/1.1 401 Unauthorized' 'Code: 193, e.displayText() = DB::Exception: Wrong password\n'
answers "elsewhere" 'status 302' 'HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd'
printf 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n18.16' >"$dir/answer"
says "a short answer" 'cannot be reached' --to "$to"
printf 'garbage\n' >"$dir/answer"
says "no HTTP" '127.0.0.1' --to "$to"
{ printf 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'; head -c 3000000 /dev/zero; } >"$dir/answer"
says "a long answer" 'too long' --to "$to"
# A part goes with its whole.
mkdir -p "$dir/whole/ktr" "$dir/whole.2/ktr"
echo '{"uuid":"0123"}' | tee "$dir/whole/ktr/info.jsonl" >"$dir/whole.2/ktr/info.jsonl"
status 1 "$ktr" ship --patience 0 --to "$to" --state "$dir/state" "$dir/whole.2"
grep -q "whole.2 is a part of .*whole, which takes it along" "$dir/err" || fail "a part: $(cat "$dir/err")"
# What the password is goes into a header alone.
rm -f "$dir/answer.got"
printf 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno\n' >"$dir/answer"
says "by a key" 'does not answer' --to "$to" --user me --password-file "$dir/key"
grep -aqi 'X-ClickHouse-Key: secret' "$dir/answer.got" || fail "no password was sent"
grep -aq '^POST.*secret' "$dir/answer.got" && fail "the password is in the address"
exit $failed

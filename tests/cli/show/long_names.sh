#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr report --profile with a function of some hundreds of columns: whole in a file, in both tables; on a terminal no line is
# wider than that, the middle is left out, and what the name ends with stays.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent, or no glibc'; exit 0; }
export KTR_CONF= LC_ALL=C.UTF-8
${CXX:-c++} -O2 -o "$dir/long_names" tests/programs/show/long_names.cc || { fail 'long_names.cc'; exit 1; }
cd "$dir" || exit 1
timeout 300 "$ktr" profile -o t ./long_names >log 2>&1 || fail "profile: $(cat log)"
"$ktr" report --profile t >report || fail 'report'
name=$("$ktr" report --profile --json t | python3 -c '
import json, sys
functions = [f for f in json.load(sys.stdin)["profile"]["functions"] if f["tid"] is None]
print(max(functions, key=lambda f: f["self_ns"])["name"])')
[ "${#name}" -gt 200 ] || fail "its name: $name"
is 'whole, in a file' "$(grep -cF "$name" report)" 2
for width in 116 160 240; do
	python3 - "$width" "$ktr" report --profile --no-pager --color never t >shown <<-'END'
		import fcntl, os, pty, struct, sys, termios
		pid, fd = pty.fork()
		if not pid:
		    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 40, int(sys.argv[1]), 0, 0))
		    os.execv(sys.argv[2], sys.argv[2:])
		text = b''
		try:
		    while more := os.read(fd, 65536):
		        text += more
		except OSError:
		    pass
		sys.exit(sys.stdout.buffer.write(text.replace(b'\r\n', b'\n')) == 0 or os.waitpid(pid, 0)[1] != 0)
	END
	[ $? = 0 ] || fail "on a terminal of $width columns: $(cat shown)"
	is "$width columns: its end" "$(grep -c 'table.*…\|….*innermost' shown)" 2
	python3 - shown "$width" <<-'END' || fail "lines wider than $width"
		import sys
		wide = [line for line in open(sys.argv[1]).read().splitlines() if len(line) > int(sys.argv[2])]
		print(*wide, sep='\n', end='\n' if wide else '')
		sys.exit(bool(wide))
	END
done
exit $failed

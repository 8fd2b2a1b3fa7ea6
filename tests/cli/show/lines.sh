#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --lines of report --profile, flame and export: at each address the functions that were inlined, and the lines, are those of
# addr2line -i; with --source the text of lines stands beside their time; sums stay what they are; a program that was built anew
# meanwhile has none, and neither has one without debug information.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent, or no glibc'; exit 0; }
[ -e /usr/include/elfutils/libdw.h ] || { skip 'no libdw'; exit 0; }
command -v addr2line >/dev/null || { skip 'no addr2line'; exit 0; }
export KTR_CONF=
source=$top/tests/programs/provider/lines.cc
${CXX:-c++} -O2 -g -o "$dir/lines" "$source" || { fail 'lines.cc'; exit 1; }
cd "$dir" || exit 1
timeout 300 "$ktr" profile -o t ./lines >log 2>&1 || fail "profile: $(cat log)"
cat >chains.py <<'END2'
"""Chains of functions by address, as exported, against addr2line; sums with lines and without."""
import collections, json, subprocess, sys
KTR = sys.argv[1]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def profile(*options):
    return json.loads(run(KTR, 'report', '--profile', '--json', *options, 't'))['profile']


base = next(int(m['base'], 16) for m in map(json.loads, open('t/ktr/modules.jsonl')) if m['path'].endswith('/lines'))
told = json.loads(run(KTR, 'export', 'firefox', '--lines', '-o', '-', 't'))
shared = told['shared']
frames, functions, strings = shared['frameTable'], shared['funcTable'], shared['stringArray']
chains = collections.defaultdict(list)  # of an address, the innermost first, as the rows of a frame are
for i in range(frames['length']):
    function = frames['func'][i]
    resource = functions['resource'][function]
    if resource < 0 or strings[shared['resourceTable']['name'][resource]] != 'lines':
        continue
    source = functions['source'][function]
    file = '?' if source is None else strings[shared['sources']['filename'][source]].rsplit('/', 1)[1]
    name = strings[functions['name'][function]]
    chains[frames['address'][i]].append((name, file, frames['line'][i]))
assert len(chains) >= 2, chains
deepest = 0
for address, chain in chains.items():
    lines = run('addr2line', '-Cfie', 'lines', hex(address)).splitlines()
    want = [(name.split('(')[0], at.split(' ')[0].rsplit('/', 1)[-1]) for name, at in zip(lines[::2], lines[1::2])]
    if want[0][1].endswith('?'):  # no line
        continue
    got = [(name.split('.')[0], f'{file}:{line}') for name, file, line in chain]
    # addr2line calls the innermost one of C++ as the symbol is called.
    assert got[1:] == want[1:] and got[0][1] == want[0][1], (hex(address), got, want)
    assert len(chain) < 3 or got[0][0] == 'space::innermost', got
    deepest = max(deepest, len(chain))
assert deepest == 3, deepest

plain, lines = profile(), profile('--lines')
assert 'lines' not in plain and plain['ns'] == lines['ns']
# In both the innermost frames have all the time that came with a stack.
own = lambda p: sum(f['self_ns'] for f in p['functions'] if f['tid'] is None)
assert own(plain) == own(lines) > 0
kernel = sum(f['self_ns'] for f in lines['functions'] if f['tid'] is None and f['name'] == '[kernel]')
assert sum(line['self_ns'] for line in lines['lines']) == own(lines) - kernel
here = [i for i, text in enumerate(open(sys.argv[2]), 1) if 'here it is' in text][0]
# The loop's head, too: which of its instructions an interrupt finds is the processor's affair.
most = [line for line in lines['lines'] for at in (here - 1, here) if line['line'].endswith(f'lines.cc:{at} space::innermost')]
assert 1 <= len(most) <= 2 and sum(line['self_ns'] for line in most) > lines['ns'] / 4, lines['lines']
assert max(lines['functions'], key=lambda f: f['self_ns'])['name'] == 'space::innermost'
assert max(plain['functions'], key=lambda f: f['self_ns'])['name'].startswith('outer')
END2
python3 chains.py "$ktr" "$source" >log 2>&1 || fail "chains: $(tail -n 1 log)"
"$ktr" flame --lines t >flame && head -n 1 flame | grep -q '^space::innermost had most time' || fail "flame: $(head -n 1 flame)"
"$ktr" flame t >flame && head -n 1 flame | grep -q '^outer[^ ]* had most time' || fail "flame without: $(head -n 1 flame)"
"$ktr" report --profile --lines t | grep -q 'lines\.cc:[0-9]* space::innermost .*%' || fail 'report'
"$ktr" export perf-script --lines t -o script && grep -q ' space::thing::middle (inlined)$' script || fail 'perf script'
"$ktr" report --lines t >log 2>&1
is '--lines without --profile' $? 2

# Another build, at the same place; and none of it.
sed 's/space::thing::middle(n);/sink = sink * 5 + n; space::thing::middle(n);/' "$source" >other.cc
for how in -g -g0; do
	${CXX:-c++} -O2 $how -o lines other.cc || fail 'other.cc'
	"$ktr" report --profile --lines t >log 2>&1 || fail "another build: $(cat log)"
	grep -q '\.cc:' log && fail "lines of another build: $(grep '\.cc:' log)"
done
timeout 300 "$ktr" profile -o t ./lines >log 2>&1 && "$ktr" report --profile --lines t >log 2>&1 && grep -q ' outer' log &&
	! grep -q '\.cc:' log || fail "no debug information: $(cat log)"
# Units of which .debug_aranges tells nothing, as clang and Go leave them.
if command -v objcopy >/dev/null; then
	${CXX:-c++} -O2 -g -o lines "$source" && objcopy -R .debug_aranges lines bare || fail 'bare'
	timeout 300 "$ktr" profile -o b ./bare >log 2>&1 || fail "profile: $(cat log)"
	"$ktr" report --profile --lines b | grep -q 'lines\.cc:[0-9]* space::innermost .*%' || fail 'no .debug_aranges: no lines'
fi
# The source beside its lines: each as it stands in the file, with what --lines says of it; one that was written since is told.
${CXX:-c++} -O2 -g -o lines "$source" || fail lines.cc
timeout 300 "$ktr" profile -o s ./lines >log 2>&1 || fail "profile: $(cat log)"
status 0 "$ktr" report --profile --source --json s
cat >source.py <<'END2'
import json, subprocess, sys
p = json.load(open(sys.argv[2]))['profile']
said = {}
for row in p['lines']:
    file, colon, rest = row['line'].rpartition(' ')[0].rpartition(':') if ':' in row['line'] else ('', '', '')
    if file:
        said[file, int(rest)] = said.get((file, int(rest)), 0) + row['self_ns']
got = {(f['file'], l['line']): l for f in p['source'] for l in f['lines']}
assert {k: v['self_ns'] for k, v in got.items()} == said, (said, got)
text = open(sys.argv[1]).read().splitlines()
own = [(line, l) for (file, line), l in got.items() if file == sys.argv[1]]
assert own and all(l['text'] == text[line - 1].expandtabs() for line, l in own), own
times = [f['self_ns'] for f in p['source']]
assert times == sorted(times, reverse=True) and sum(times) <= p['ns'], times
END2
python3 source.py "$source" "$dir/out" || fail "--source: $(cat "$dir/out")"
status 0 "$ktr" report --profile --source s
grep -qE '^ +[0-9.]+ [mun]?s +[0-9.]+ % +[0-9]+ +[0-9]+ \| ' "$dir/out" || fail "--source: no line: $(cat "$dir/out")"
grep -q 'written since' "$dir/out" && fail 'a source that was there before'
# Neither another time nor what is no text gets to the terminal.
cp "$source" copy.cc
${CXX:-c++} -O2 -g -o copied "$dir/copy.cc" || fail copy.cc
timeout 300 "$ktr" profile -o c ./copied >log 2>&1 || fail "profile: $(cat log)"
printf '\033[31m%s\0x\n' "$(cat copy.cc)" >copy.cc
status 0 "$ktr" report --profile --source c
grep -q 'copy.cc.*written since' "$dir/out" || fail "a source that was written since: $(cat "$dir/out")"
grep -q "$(printf '\033')" "$dir/out" && fail 'control characters of a source'
rm copy.cc
status 0 "$ktr" report --profile --source c
grep -q 'copy.cc.*is not there' "$dir/out" || fail "a source that is not there: $(cat "$dir/out")"
status 2 "$ktr" report --source t
exit $failed

# SPDX-License-Identifier: BSD-2-Clause
# Compares what `ktr types --json` says of functions with what gdb does:
#
#	python3 tests/types/compare.py KTR PROGRAM [COUNT]
#
# COUNT functions are chosen evenly over all (0: all). Prints counts, and the first that differ; ends with 1 when one
# does, or when none could be compared.
import json
import os
import re
import subprocess
import sys
import tempfile


def chosen(functions, count):
    typed = [f for f in functions if f['typed'] and not f['alias']]
    if not count or len(typed) <= count:
        return typed
    return [typed[i * len(typed) // count] for i in range(count)]


def gdb_says(program, functions):
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as addresses:
        addresses.write(''.join('%x %s\n' % (f['address'], 'c++' if f['language'] == 'C++' else 'c') for f in functions))
        addresses.flush()
        out = subprocess.run(['gdb', '-nx', '-q', '-batch', '-x', here + '/gdb.py', program], check=True,
                             env=dict(os.environ, ADDRESSES=addresses.name, DEBUGINFOD_URLS=''),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    rows = (json.loads(line[1:]) for line in out.decode('utf-8', 'replace').splitlines() if line.startswith('@'))
    return {row['address']: row for row in rows}


def spelled(text):
    """One spelling for the arguments of templates: the compiler's is "const a<b *>", gdb has "a<b*> const"."""
    at = text.find('<')
    if at < 0:
        return re.sub(r'\b([0-9]+)(U?L*)\b', lambda m: m[1] + m[2].lower(), text)
    depth, i = 0, at
    while True:
        depth += (text[i] == '<') - (text[i] == '>')
        if not depth or i + 1 == len(text):
            break
        i += 1
    inside, depth, args = text[at + 1:i], 0, ['']
    for c in inside:
        depth += (c in '<(') - (c in '>)')
        if c == ',' and not depth:
            args.append('')
        else:
            args[-1] += c
    return text[:at] + '<' + ', '.join(argument(a.strip()) for a in args) + '>' + spelled(text[i + 1:])


def argument(text):
    text = spelled(text)
    words = ('const', 'volatile')
    while text.split(' ')[0] in words:
        word, rest = text.split(' ', 1)
        depth, end = 0, 0
        for end, c in enumerate(rest + '*'):
            depth += (c in '<(') - (c in '>)')
            if c in '*&' and not depth:
                break
        text = rest[:end].rstrip() + ' ' + word + rest[end:]
    return text.replace(' *', '*').replace(' &', '&').replace('* ', '*')


def row(name, declared, resolved, size):
    # DWARF has no size of std::nullptr_t.
    # gdb takes clang's unsigned __int128 for an unsigned int of that name.
    declared, resolved = (t.replace('unsigned int __int128', 'unsigned __int128') for t in (declared, resolved))
    return spelled(declared), spelled(resolved), 0 if declared == 'decltype(nullptr)' else size


def compare(function, gdb):
    """Pairs of what differs."""
    # Arguments that no version of the function has, and those without a name, are not gdb's to name.
    ours = {a['name']: row(a['name'], a['type'], a['resolved'], a['size']) for a in function['args'] if a['name']}
    theirs = {name: row(name, t, r, size) for name, t, r, size in gdb['args']}
    theirs.pop('__in_chrg', None)
    for name in [n for n in theirs if n.startswith('__vtt_parm') and n not in ours]:
        del theirs[name]
    for name in sorted(set(ours) | set(theirs)):
        if ours.get(name) != theirs.get(name):
            yield name, ours.get(name), theirs.get(name)
    result = function['result']
    # gdb takes void to be one byte long.
    got = row('', result['type'], result['resolved'], 0)
    if got != row('', *gdb['result'][:2], 0):
        yield 'result', got, gdb['result']


def main():
    ktr, program, count = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0
    out = subprocess.run([ktr, 'types', '--json', program], check=True, stdout=subprocess.PIPE).stdout
    functions = chosen(json.loads(out)['functions'], count)
    gdb = gdb_says(program, functions)
    n, n_args, bad = 0, 0, 0
    for function in functions:
        if function['address'] not in gdb:
            continue
        n += 1
        n_args += len(function['args'])
        differs = list(compare(function, gdb[function['address']]))
        bad += bool(differs)
        for name, ours, theirs in differs:
            if bad <= 20:
                print('%s: %s: %s; gdb: %s' % (function['name'], name, ours, theirs))
    print('%s: %d functions, %d arguments compared with gdb, %d functions differ' %
          (os.path.basename(program), n, n_args, bad))
    sys.exit(bool(bad or not n))


main()

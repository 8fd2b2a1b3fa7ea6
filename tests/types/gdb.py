# SPDX-License-Identifier: BSD-2-Clause
# Run by gdb, on a program: what gdb knows of the arguments of some functions, as JSON, a line for each function:
#
#	ADDRESSES=file gdb -q -batch -x tests/types/gdb.py PROGRAM >out
#
# The file has a function a line: its address, and the language to spell types in. For each: names and types of its
# arguments, the type of its result, and what both are without typedefs, as gdb prints them.
import json
import os

import gdb

gdb.execute('set width 0')
for line in open(os.environ['ADDRESSES']):
    address, language = line.split()
    address = int(address, 16)
    block = gdb.block_for_pc(address)
    # The outermost that begins there: inlined ones may do so, too, and lie in functions that do not.
    outer = None
    while block is not None and not block.is_static and not block.is_global:
        if block.function is not None and (outer is None or block.start == address):
            outer = block
        block = block.superblock
    if outer is None:
        continue
    block, function = outer, outer.function
    gdb.execute('set language ' + language)
    args = []
    for symbol in block:
        if symbol.is_argument:
            args.append([symbol.name, str(symbol.type), str(symbol.type.strip_typedefs()), symbol.type.sizeof])
    result = function.type.target()
    print('@' + json.dumps({'address': address, 'name': function.name, 'args': args,
                            'result': [str(result), str(result.strip_typedefs()), result.sizeof]}))

# SPDX-License-Identifier: BSD-2-Clause
"""A C program of random events: random_events.py SEED [ROUNDS]. Arguments of all types meet conversions that fit them, and
some that do not; printf would be lost, ktr goes by what it was given."""
import random
import sys

NUMBERS = ('-5', '4000000000u', '-123456789012L', '(short)-7', '(unsigned char)200', '(char)65', '(_Bool)1', '~0ul',
           '(long long)-1', '(size_t)77', '(void *)0x1234', '(int *)0', 'main')
REALS = ('2.5', '-0.0', '1.5f', '1e308 * 10', '-1e-320')
TEXTS = ('(char *)"a string"', '(const unsigned char *)"bytes"', '(char *)0', '(void *)"of nobody"', '(char *)""',
         '(signed char *)"signed"', '(char *)big')
CONVERSIONS = {
    NUMBERS: ('%d', '%u', '%x', '%ld', '%lx', '%llu', '%zu', '%hhd', '%hu', '%5d', '%-6d', '%08lx', '%p', '%i', '%o',
              '%#x', '%jd', '%td', '%+d', '%lu'),
    REALS: ('%f', '%g', '%e', '%.2f', '%10.3g', '%d', '%lx'),
    TEXTS: ('%s', '%.3s', '%12s', '%-8s|', '%.0s', '%p', '%lx'),
}
KINDS = tuple(CONVERSIONS)
chance = random.Random(int(sys.argv[1]))


def event(number):
    text, arguments = 'event %d' % number, []
    for _ in range(chance.randint(0, 6)):
        kind = chance.choice(KINDS)
        if kind is TEXTS and len(arguments) < 5 and chance.random() < .15:
            text += ' %.*s'
            arguments.append(chance.choice(('0', '2', '5', '-1', '100')))
        elif len(arguments) < 6:
            text += ' ' + chance.choice(CONVERSIONS[kind])
        if len(arguments) < 6:
            arguments.append(chance.choice(kind))
    return text, arguments


print('#include <ktr.h>\n#include <ktr/probe.h>\n#include <string.h>\nKTR_CLASS_DEFINE(random, "at random");')
print('static char big[121];\nint main(void)\n{\n\tmemset(big, 66, sizeof(big) - 1);')
print('\tfor (int round = 0; round < %s; round++) {' % (sys.argv[2] if len(sys.argv) > 2 else 1))
for i in range(150):
    text, arguments = event(i)
    mask = chance.choice(('KTR_GEN', 'KTR_NET', 'KTR_CLASS(random)'))
    print('\t%s);' % ', '.join(['CTR%d(%s' % (len(arguments), mask), '"%s"' % text] + arguments))
    if i % 5 == 0:
        arguments = [chance.choice(chance.choice(KINDS)).replace('main', '(void *)main') for _ in range(i // 5 % 7)]
        print('\t%s);' % ', '.join(['KTR_PROBE_POINT%d(KTR_PROBE_CUSTOM' % len(arguments), '"probe %d"' % i] + arguments))
    if i % 10 == 0:
        print('\tCTRSTACK(KTR_GEN, NULL, %d);' % (i // 10 % 9))
print('\t}\n\treturn 0;\n}')

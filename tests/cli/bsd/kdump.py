# SPDX-License-Identifier: BSD-2-Clause
"""
Lines of `ktr kdump` for records made here, of each type, with each option. The lines are those that FreeBSD's kdump.c
(14) prints, worked out by hand from its source and its manual page.

    kdump.py KTR DIR
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ktrace import (CAPFAIL, CSW, DROP, FAULT, FAULTEND, FREEBSD64, GENIO, LINUX32, LINUX64, NAMEI,  # noqa: E402
                    PROCCTOR, PROCDTOR, PSIG, STRUCT, STRUCT_ARRAY, SYSCALL, SYSCTL, SYSRET, USER, call, genio, psig,
                    record, ret, stat)
import struct  # noqa: E402

P = '   100 prog     '  # what each line begins with
START = record(PROCCTOR, struct.pack('<I', LINUX64))
FREEBSD = record(PROCCTOR, struct.pack('<I', FREEBSD64))


def struct_record(name, data):
    return record(STRUCT, name.encode() + b'\0' + data)


IN4 = bytes([16, 2]) + struct.pack('>H', 80) + bytes([1, 2, 3, 4]) + bytes(8)
IN6 = bytes([28, 28]) + struct.pack('>HI', 80, 0) + bytes(15) + b'\1' + bytes(4)
UNIX = bytes([12, 1]) + b'/tmp/sock\0'
ABSTRACT = bytes([8, 1]) + b'\0hello'

CASES = [
    # calls
    ('no arguments', [], [record(SYSCALL, call(39))], 'CALL  getpid\n'),
    ('numbers', [], [record(SYSCALL, call(3, 5)), record(SYSCALL, call(12, 0))], 'CALL  close(0x5)\nCALL  brk(0)\n'),
    ('-d', ['-d'], [record(SYSCALL, call(3, 5)), record(SYSCALL, call(8, 1, -7, 1))],
     'CALL  close(5)\nCALL  lseek(1,-7,SEEK_CUR)\n'),
    ('-n', ['-n'], [record(SYSCALL, call(257, 0xffffff9c, 0x10, 0o101, 0o644))],
     'CALL  openat(0xffffff9c,0x10,0x41,0x1a4)\n'),
    ('-S', ['-S'], [record(SYSCALL, call(3, 5)), record(SYSRET, ret(3))], 'CALL  close[3](0x5)\nRET   close[3] 0\n'),
    ('unknown', [], [record(SYSCALL, call(9999, 1, 2)), record(SYSRET, ret(9999, 0, 78))],
     'CALL  [9999](0x1,0x2)\nRET   [9999] -1 errno 38 Function not implemented\n'),
    ('open', [], [record(SYSCALL, call(257, 0xffffff9c, 0x10, 0, 0o644)), record(SYSCALL, call(257, 3, 0x10, 0o1101, 0o755)),
                  record(SYSCALL, call(2, 0x10, 0o100, 0o2750))],
     'CALL  openat(AT_FDCWD,0x10,0<O_RDONLY>)\n'
     'CALL  openat(0x3,0x10,0x241<O_WRONLY|O_CREAT|O_TRUNC>,0755<S_IRWXU|S_IRGRP|S_IXGRP|S_IROTH|S_IXOTH>)\n'
     'CALL  open(0x10,0x40<O_RDONLY|O_CREAT>,02750<S_ISGID|S_IRWXU|S_IRGRP|S_IXGRP>)\n'),
    ('masks', [], [record(SYSCALL, call(9, 0, 0x1000, 3, 0x22, 0xffffffff, 0)), record(SYSCALL, call(10, 1, 2, 0)),
                   record(SYSCALL, call(9, 0, 0x1000, 0x43, 0x1, 0, 0))],
     'CALL  mmap(0,0x1000,0x3<PROT_READ|PROT_WRITE>,0x22<MAP_PRIVATE|MAP_ANONYMOUS>,0xffffffff,0)\n'
     'CALL  mprotect(0x1,0x2,0<PROT_NONE>)\n'
     'CALL  mmap(0,0x1000,0x43<PROT_READ|PROT_WRITE><invalid>64,0x1<MAP_SHARED>,0,0)\n'),
    ('names', [], [record(SYSCALL, call(41, 2, 0x80001, 6)), record(SYSCALL, call(41, 1, 2, 0)),
                   record(SYSCALL, call(8, 1, 2, 99)), record(SYSCALL, call(228, 1, 2)), record(SYSCALL, call(228, 77, 2)),
                   record(SYSCALL, call(61, -1, 0, 3, 0)), record(SYSCALL, call(61, -1, 0, 0, 0))],
     'CALL  socket(AF_INET,0x80001<SOCK_STREAM|SOCK_CLOEXEC>,IPPROTO_TCP)\n'
     'CALL  socket(AF_UNIX,0x2<SOCK_DGRAM>,0)\n'
     'CALL  lseek(0x1,0x2,<invalid=0x63>)\nCALL  clock_gettime(CLOCK_MONOTONIC,0x2)\nCALL  clock_gettime(0x4d,0x2)\n'
     'CALL  wait4(0xffffffffffffffff,0,0x3<WNOHANG|WUNTRACED>,0)\nCALL  wait4(0xffffffffffffffff,0,0,0)\n'),
    ('fcntl', [], [record(SYSCALL, call(72, 1, 3, 7)), record(SYSCALL, call(72, 1, 4, 0o4000)),
                   record(SYSCALL, call(72, 1, 2, 1)), record(SYSCALL, call(72, 1, 0, 9))],
     'CALL  fcntl(0x1,F_GETFL)\nCALL  fcntl(0x1,F_SETFL,0x800<O_RDONLY|O_NONBLOCK>)\n'
     'CALL  fcntl(0x1,F_SETFD,0x1<FD_CLOEXEC>)\nCALL  fcntl(0x1,F_DUPFD,0x9)\n'),
    ('processes', [], [record(SYSCALL, call(62, 1234, 15)), record(SYSCALL, call(234, 1, 2, 77)),
                       record(SYSCALL, call(56, 0x1200011, 0, 0, 0, 0)), record(SYSCALL, call(202, 1, 0x81, 1, 0, 0, 0)),
                       record(SYSCALL, call(13, 64, 0, 0, 8))],
     'CALL  kill(1234,SIGTERM)\nCALL  tgkill(1,2,SIG 77)\n'
     'CALL  clone(0x1200011<CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD>,0,0,0,0)\n'
     'CALL  futex(0x1,0x81<FUTEX_PRIVATE_FLAG|FUTEX_WAKE>,0x1,0,0,0)\n'
     'CALL  rt_sigaction(SIGRTMIN+32,0,0,0x8)\n'),
    ('calls of FreeBSD', None, [FREEBSD, record(SYSCALL, call(5, 1, 2)), record(SYSRET, ret(5, 0, 35))],
     'CALL  [5](0x1,0x2)\nRET   [5] -1 errno 35 Resource temporarily unavailable\n'),
    ('calls of nobody', None, [record(SYSCALL, call(5, 1, 2)), record(SYSRET, ret(5, 3))], 'CALL  [5](0x1,0x2)\nRET   [5] 3\n'),
    # results
    ('results', [], [record(SYSRET, ret(0, 9)), record(SYSRET, ret(0, 17)), record(SYSRET, ret(0, -5)),
                     record(SYSRET, ret(0, 0, 2)), record(SYSRET, ret(0, 0, -1)), record(SYSRET, ret(15, 0, -2)),
                     record(SYSRET, ret(0, 0, 35)), record(SYSRET, ret(0, 0, 1126)), record(SYSRET, ret(0, 0, 97))],
     'RET   read 9\nRET   read 17/0x11\nRET   read -5/0xfffffffffffffffb\nRET   read -1 errno 2 No such file or directory\n'
     'RET   read RESTART\nRET   rt_sigreturn JUSTRETURN\nRET   read -1 errno 11 Resource temporarily unavailable\n'
     'RET   read -1 errno 126 Required key not available\nRET   read -1 errno 97 Unknown error: 97\n'),
    ('results -n', ['-n'], [record(SYSRET, ret(0, 17)), record(SYSRET, ret(0, 0)), record(SYSRET, ret(0, 0, 2))],
     'RET   read 0x11\nRET   read 0\nRET   read -1 errno 2\n'),
    ('results -nd', ['-nd'], [record(SYSRET, ret(0, 17))], 'RET   read 17\n'),
    # paths and data
    ('paths', [], [record(NAMEI, b'/etc/passwd'), record(NAMEI, b''), record(SYSCTL, b'kern.ostype'),
                   record(NAMEI, b'/a\033[2Jb\n')],
     'NAMI  "/etc/passwd"\nNAMI  ""\nSCTL  "kern.ostype"\nNAMI  "/a\\x1b[2Jb\\n"\n'),
    ('text', [], [record(GENIO, genio(1, 1, b'ktrace\n')), record(GENIO, genio(0, 0, b'x')), record(GENIO, genio(3, 0, b''))],
     'GIO   fd 1 wrote 7 bytes\n       "ktrace\n       "\nGIO   fd 0 read 1 byte\n       "x"\nGIO   fd 3 read 0 bytes\n       ""\n'),
    ('text, bytes', [], [record(GENIO, genio(1, 1, b'a\\b\tc\r\n\0x\0' + b'7'))],
     'GIO   fd 1 wrote 11 bytes\n       "a\\\\b\tc\\r\n\t\\0x\\0007"\n'),
    ('text, long', [], [record(GENIO, genio(1, 1, b'x' * 100 + b'\n\nend'))],
     'GIO   fd 1 wrote 105 bytes\n       "' + 'x' * 70 + '\\\n\t' + 'x' * 30 + '\n\t\n\tend"\n'),
    ('text, tabs', [], [record(GENIO, genio(1, 1, b'1234567\t' * 9))],
     'GIO   fd 1 wrote 72 bytes\n       "' + '1234567\t' * 8 + '123456\\\n\t7\t"\n'),
    ('hex', [], [record(GENIO, genio(4, 0, bytes(range(20)))), record(GENIO, genio(4, 0, b'\377' * 16))],
     'GIO   fd 4 read 20 bytes\n'
     '       0x0000 0001 0203 0405 0607 0809 0a0b 0c0d 0e0f  |................|\n'
     '       0x0010 1011 1213                                |....|\n\n'
     'GIO   fd 4 read 16 bytes\n'
     '       0x0000 ffff ffff ffff ffff ffff ffff ffff ffff  |................|\n'),
    ('-m', ['-m', '3'], [record(GENIO, genio(1, 1, b'ktrace\n'))], 'GIO   fd 1 wrote 7 bytes\n       "ktr"\n'),
    ('-s', ['-s'], [record(GENIO, genio(1, 1, b'ktrace\n'))], 'GIO   fd 1 wrote 7 bytes\n'),
    # signals
    ('signals', [], [record(PSIG, psig(30, 0x4010f0, 0x10001)), record(PSIG, psig(15, 0, 0x10007)),
                     record(PSIG, psig(9)), record(PSIG, psig(11, 0, 1, (0x80000400, 1, 0, 0))),
                     record(PSIG, psig(8, 0x10, 2, (0x80000400, 1, 0, 0))), record(PSIG, psig(77, 0, 5)),
                     record(PSIG, psig(29, 0, 0x10001))],
     'PSIG  SIGUSR1 caught handler=0x4010f0 mask=0x0 code=SI_USER\nPSIG  SIGTERM SIG_DFL code=SI_LWP\n'
     'PSIG  SIGKILL SIG_DFL code=SI_NOINFO\nPSIG  SIGSEGV SIG_DFL code=SEGV_MAPERR\n'
     'PSIG  SIGFPE caught handler=0x10 mask=0x80000400 code=FPE_INTDIV\n'
     'PSIG  SIGRTMIN+12 SIG_DFL code=<invalid=0x5>\nPSIG  SIG 29 SIG_DFL code=SI_USER\n'),
    # the others
    ('switches', [], [record(CSW, struct.pack('<ii8s', 1, 1, b'select')), record(CSW, struct.pack('<ii8s', 0, 0, b'12345678')),
                      record(CSW, struct.pack('<ii', 1, 0))],
     'CSW   stop user "select"\nCSW   resume kernel "12345678"\nCSW   stop kernel\n'),
    ('user', [], [record(USER, b'\1\2\377'), record(USER, b'')], 'USER  3  01 02 ff\nUSER  0 \n'),
    ('user -d', ['-d'], [record(USER, b'\1\2\377')], 'USER  3  1 2 255\n'),
    ('faults', [], [record(FAULT, struct.pack('<Qii', 0x7fff1000, 2, 0)), record(FAULT, struct.pack('<Qii', 0, 9, 0)),
                    record(FAULTEND, struct.pack('<i', 0)), record(FAULTEND, struct.pack('<i', 99))],
     'PFLT  0x7fff1000 0x2<VM_PROT_WRITE>\nPFLT  0x0 0x9<VM_PROT_READ><invalid>8\nPRET  KERN_SUCCESS\nPRET  <invalid=99>\n'),
    ('rights', [], [record(CAPFAIL, struct.pack('<i36x', 2)), record(CAPFAIL, struct.pack('<i36x', 3))],
     'CAP   disallowed system call\nCAP   restricted VFS lookup\n'),
    ('addresses', [], [struct_record('sockaddr', IN4), struct_record('sockaddr', IN6), struct_record('sockaddr', UNIX),
                       struct_record('sockaddr', ABSTRACT), struct_record('sockaddr', bytes([16, 77]) + bytes(14)),
                       struct_record('sockaddr', bytes([4, 2, 0, 80])), struct_record('sockaddr', bytes([5, 2, 0, 80]))],
     'STRU  struct sockaddr { AF_INET, 1.2.3.4:80 }\nSTRU  struct sockaddr { AF_INET6, [::1]:80 }\n'
     'STRU  struct sockaddr { AF_UNIX, /tmp/sock }\nSTRU  struct sockaddr { AF_UNIX, @hello }\n'
     'STRU  struct sockaddr { <invalid=77>, unknown address family }\nSTRU  struct sockaddr { AF_INET, invalid }\n'
     'STRU  invalid record\n'),
    ('stat', [], [struct_record('stat', stat(times=((1, 0), (2, 5), (3, 0), (-1, 0))))],
     'STRU  struct stat {dev=1, ino=2, mode=0100644, nlink=3, uid=0, gid=0, rdev=0, atime=1, mtime=2.000000005, ctime=3, '
     'birthtime=-1, size=5, blksize=4096, blocks=6, flags=0x0 }\n'),
    ('stat -r', ['-r'], [struct_record('stat', stat(mode=0o41775, uid=4000000))],
     'STRU  struct stat {dev=1, ino=2, mode=drwxrwxr-t , nlink=3, uid=4000000, gid="root", rdev=0, '
     'atime="Jan  1 00:00:01 1970", mtime="Jan  1 00:00:02 1970", ctime="Jan  1 00:00:03 1970", '
     'birthtime="Jan  1 00:00:04 1970", size=5, blksize=4096, blocks=6, flags=0x0 }\n'),
    ('structures', [], [struct_record('itimerval', struct.pack('<4q', 1, 2, 3, 4)), struct_record('cpuset_t', b'\x09'),
                        struct_record('cpuset_t', b'\0'), struct_record('l_sigset_t', bytes(8)), struct_record('bad 1', b'x'),
                        struct_record('stat', b'x'), record(STRUCT, b'stat'), record(STRUCT, b'')],
     'STRU  itimerval { .interval = {1, 2}, .value = {3, 4} }\nSTRU  cpuset_t [ 0, 3 ]\nSTRU  cpuset_t [  empty ]\n'
     'STRU  unknown structure\nSTRU  invalid record\nSTRU  invalid record\nSTRU  invalid record\nSTRU  invalid record\n'),
    ('arrays', [], [record(STRUCT_ARRAY, struct.pack('<Q', 2) + b'pair\0' + b'\1\2\3\4\5'),
                    record(STRUCT_ARRAY, struct.pack('<Q', 0) + b'none\0')],
     'STRU  struct pair[] = { { 0102 }\n             { 0304 } }\nSTRU  invalid record\n'),
    ('another type', [], [record(99, b'xy')], 'UNKNOWN(99)  \n'),
]

HEADS = [
    # options, records, lines whole
    ([], [record(NAMEI, b'a', comm='a')], '   100 a        NAMI  "a"\n'),
    ([], [record(NAMEI, b'a', comm='x' * 19, pid=1234567)], '1234567 ' + 'x' * 19 + ' NAMI  "a"\n'),
    (['-H'], [record(NAMEI, b'a'), record(NAMEI, b'a', tid=-5)],
     '   100    101 prog     NAMI  "a"\n   100      0 prog     NAMI  "a"\n'),
    (['-T'], [record(NAMEI, b'a'), record(NAMEI, b'a', time=(1000, 5), version=0)],
     P + '1000.000000005 NAMI  "a"\n' + P + '1000.000005 NAMI  "a"\n'),
    (['-E'], [record(NAMEI, b'a'), record(NAMEI, b'a', time=(1002, 4))],
     P + '0.000000000 NAMI  "a"\n' + P + '1.999999999 NAMI  "a"\n'),
    (['-R'], [record(NAMEI, b'a'), record(NAMEI, b'a', time=(1002, 4)), record(NAMEI, b'a', time=(1000, 4))],
     P + '0.000000000 NAMI  "a"\n' + P + '1.999999999 NAMI  "a"\n' + P + '-2.000000000 NAMI  "a"\n'),
    (['-R'], [record(NAMEI, b'a', version=0), record(NAMEI, b'a', time=(1001, 4), version=0)],
     P + '0.000000 NAMI  "a"\n' + P + '0.999999 NAMI  "a"\n'),
    (['-TER'], [record(NAMEI, b'a')], P + '1000.000000005 0.000000000 0.000000000 NAMI  "a"\n'),
    (['-c'], [record(NAMEI, b'a'), record(NAMEI, b'a', version=0)], P + '  2 NAMI  "a"\n' + P + 'NAMI  "a"\n'),
    (['-A'], [START, record(NAMEI, b'a'), FREEBSD, record(NAMEI, b'b'), record(PROCCTOR, struct.pack('<I', LINUX32)),
              record(NAMEI, b'c'), record(PROCDTOR), record(NAMEI, b'd')],
     P + 'NAMI  L64  "a"\n' + P + 'NAMI  F64  "b"\n' + P + 'NAMI  L32  "c"\n' + P + 'NAMI  U00  "d"\n'),
    (['-p', '7'], [record(NAMEI, b'a'), record(NAMEI, b'b', pid=7), record(NAMEI, b'c', tid=7)],
     '     7 prog     NAMI  "b"\n' + P + 'NAMI  "c"\n'),
    (['-t', 'n'], [record(NAMEI, b'a'), record(USER, b'x'), record(99, b'')], P + 'NAMI  "a"\n'),
    (['-t', 'uw'], [record(NAMEI, b'a'), record(USER, b'x'), record(CSW, struct.pack('<ii', 1, 0))],
     P + 'USER  1  78\n' + P + 'CSW   stop kernel\n'),
    (['-t', '+'], [record(CSW, struct.pack('<ii', 1, 0)), record(NAMEI, b'a')], P + 'NAMI  "a"\n'),
    ([], [record(NAMEI | DROP, b'a'), record(NAMEI, b'b')],
     '   100 prog     Events dropped.\n' + P + 'NAMI  "a"\n' + P + 'NAMI  "b"\n'),
    (['-H', '-t', 'u'], [record(NAMEI | DROP, b'a'), record(NAMEI | DROP, b'a'), record(USER | DROP, b'b'),
                         record(USER | DROP, b'b')],
     '   100    101 prog     Events dropped.\n   100    101 prog     USER  1  62\n'
     '   100    101 prog     Events dropped.\n   100    101 prog     USER  1  62\n'),
]


def run(ktr, path, options, records):
    with open(path, 'wb') as file:
        file.write(b''.join(records))
    env = dict(os.environ, TZ='UTC', LC_ALL='C')
    return subprocess.run([ktr, 'kdump', '-f', path] + options, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60)


def main():
    ktr, folder = sys.argv[1:]
    path, bad = folder + '/made', 0
    for name, options, records, lines in CASES:
        # A line that begins with a type has the usual before it; others are the rest of the one before.
        wanted = ''.join(P + line if line[:4].strip() in TYPES else line for line in lines.splitlines(True))
        done = run(ktr, path, options or [], ([] if options is None else [START]) + records)
        bad += differs(name, done.stdout.decode(), wanted)
    for options, records, lines in HEADS:
        done = run(ktr, path, options, records)
        bad += differs('kdump ' + ' '.join(options), done.stdout.decode(), lines)
        says = '' if options != ['-A'] else \
            'ktr kdump: process 100 is a 32-bit program: its calls are shown by their numbers\n'
        bad += differs('complaints of kdump ' + ' '.join(options), done.stderr.decode(), says)
    sys.exit(bool(bad))


TYPES = {'CALL', 'RET', 'NAMI', 'GIO', 'PSIG', 'CSW', 'USER', 'STRU', 'SCTL', 'CAP', 'PFLT', 'PRET', 'UNKN'}


def differs(name, got, wanted):
    if got == wanted:
        return 0
    print('FAILED: %s:\n%sinstead of\n%s' % (name, got, wanted))
    return 1


main()

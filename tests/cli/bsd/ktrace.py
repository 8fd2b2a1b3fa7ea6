# SPDX-License-Identifier: BSD-2-Clause
"""
A ktrace.out in Python, written from FreeBSD's <sys/ktrace.h> and ktrace(2) alone: reads what `ktr ktrace` writes,
makes what `ktr kdump` is to print.
"""
import struct

SYSCALL, SYSRET, NAMEI, GENIO, PSIG, CSW, USER, STRUCT, SYSCTL, PROCCTOR, PROCDTOR, CAPFAIL, FAULT, FAULTEND, \
    STRUCT_ARRAY = range(1, 16)
DROP, VERSIONED = 0x8000, 0x4000
LINUX64, LINUX32, FREEBSD64 = 0x203, 0x103, 0x209


def record(kind, data=b'', pid=100, tid=101, comm='prog', time=(1000, 5), cpu=2, version=1):
    """The bytes of one."""
    head = struct.pack('<iHhi20s', len(data), kind | (VERSIONED if version else 0), version, pid, comm.encode())
    head += struct.pack('<qqq', time[0], time[1], tid)
    if version:
        head += struct.pack('<ii', cpu, 0)
    return head + data


def call(code, *args):
    return struct.pack('<hhi', code, len(args), 0) + b''.join(struct.pack('<Q', a & (1 << 64) - 1) for a in args)


def ret(code, value=0, error=0):
    return struct.pack('<hhiq', code, 0, error, value)


def genio(fd, write, data):
    return struct.pack('<ii', fd, write) + data


def psig(signo, action=0, code=0, mask=(0, 0, 0, 0)):
    return struct.pack('<iiQi4Ii', signo, 0, action, code, *mask, 0)


def stat(dev=1, ino=2, nlink=3, mode=0o100644, uid=0, gid=0, rdev=0, times=((1, 0), (2, 0), (3, 0), (4, 0)), size=5,
         blocks=6, blksize=4096, flags=0):
    return struct.pack('<QQQHhIIiQ', dev, ino, nlink, mode, 0, uid, gid, 0, rdev) + \
        b''.join(struct.pack('<qq', *t) for t in times) + \
        struct.pack('<qqiIQ80x', size, blocks, blksize, flags, 0)


class Record:
    def __init__(self, offset, length, kind, version, pid, comm, time, tid, cpu, data):
        self.offset, self.length, self.version, self.pid, self.time, self.tid, self.cpu, self.data = \
            offset, length, version, pid, time, tid, cpu, data
        self.dropped = bool(kind & DROP)
        self.kind = kind & 0x3fff
        self.comm = comm.split(b'\0')[0].decode()


def read(path):
    """All records of a file, which must be whole."""
    with open(path, 'rb') as file:
        data = file.read()
    at, out = 0, []
    while at < len(data):
        length, kind, version, pid, comm, sec, frac, tid = struct.unpack_from('<iHhi20sqqq', data, at)
        size, cpu = 56, None
        assert 0 <= length < 1 << 20, (at, length)
        if kind & VERSIONED:
            assert version == 1, (at, version)
            cpu, pad = struct.unpack_from('<ii', data, at + 56)
            assert pad == 0
            size = 64
        assert comm[19] == 0 and 0 <= frac < 10 ** 9, at
        body = data[at + size:at + size + length]
        assert len(body) == length, 'cut at %d' % at
        out.append(Record(at, length, kind, version, pid, comm, (sec, frac), tid, cpu, body))
        at += size + length
    return out


def read_call(data):
    code, n, pad = struct.unpack_from('<hhi', data)
    assert len(data) == 8 + 8 * n and pad == 0
    return code, struct.unpack_from('<%dQ' % n, data, 8)


def read_ret(data):
    assert len(data) == 16
    code, eosys, error, value = struct.unpack('<hhiq', data)
    assert eosys == 0 and (error == 0 or value == 0)
    return code, error, value


def read_genio(data):
    fd, write = struct.unpack_from('<ii', data)
    return fd, write, data[8:]


def read_psig(data):
    assert len(data) == 40
    signo, _, action, code, *mask = struct.unpack('<iiQi4I4x', data)
    return signo, action, code, mask

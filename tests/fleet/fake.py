# SPDX-License-Identifier: BSD-2-Clause
# Takes a ClickHouse server's place.
#
#	python3 fake.py sink FOLDER >port		keeps what is inserted in FOLDER/1, 2, ..., and says in FOLDER/rate what of it
#						came, how long it was on the way: bytes and seconds
#	python3 fake.py fuzz SEED PORT >port	before a real one: most requests are answered with nonsense, or not at all, whether or
#						not the server has had them; unless there is a file `calm`
import os, random, socket, sys, threading, time

mode, argument = sys.argv[1:3]
lock = threading.Lock()
n_bodies, n_bytes, seconds = 0, 0, 0.0
chance = random.Random(argument)


def request(s):
    """Head and body of a request, and how long the body took."""
    data = b''
    while b'\r\n\r\n' not in data:
        piece = s.recv(65536)
        if not piece:
            return None
        data += piece
    head, body = data.split(b'\r\n\r\n', 1)
    length = [int(line.split(b':')[1]) for line in head.split(b'\r\n') if line.lower().startswith(b'content-length:')]
    pieces, n, began = [body], len(body), time.monotonic()
    while length and n < length[0]:
        piece = s.recv(1 << 20)
        if not piece:
            return None
        pieces.append(piece)
        n += len(piece)
    return head, b''.join(pieces), time.monotonic() - began


def answer(body, status=b'200 OK'):
    return b'HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s' % (status, len(body), body)


def sink(s):
    global n_bodies, n_bytes, seconds
    while True:
        got = request(s)
        if not got:
            return
        head, body, took = got
        if b'query=INSERT' in head:
            with lock:
                n_bodies += 1
                if not os.path.exists(os.path.join(argument, 'rate')):  # whoever took it away begins anew
                    n_bytes, seconds = 0, 0.0
                n_bytes += len(body)
                seconds += took
                open(os.path.join(argument, str(n_bodies)), 'wb').write(body)
                open(os.path.join(argument, 'rate'), 'w').write('%d %.3f\n' % (n_bytes, seconds))
            s.sendall(answer(b''))
        elif b'version()' in body:
            s.sendall(answer(b'18.16.1\n'))
        elif b'max(version)' in body:
            s.sendall(answer(b'1\n'))
        elif b'system.tables' in body:
            s.sendall(answer(b'events\tReplicatedMergeTree\n'))
        elif b'now()' in body:
            s.sendall(answer(b'%d\n' % time.time()))
        else:
            s.sendall(answer(b'0\n'))


def nonsense():
    """What no server means: never a number, and never that something was done."""
    bytes_ = bytes(chance.choice(b'abcXYZ<>{}"\'\\\x00\x01\x1b\xff\xc3\t\n ') for _ in range(chance.randrange(300)))
    return chance.choice((
        lambda: answer(b'<html>\x1b[2J' + bytes_),
        lambda: answer(bytes_, b'%d Odd' % chance.choice((100, 204, 301, 400, 403, 404, 418, 429, 500, 502, 503, 999))),
        lambda: answer(b'Code: %d, e.displayText() = DB::Exception: ' % chance.choice((60, 62, 159, 241, 252, 999, 4096)) + bytes_,
                       b'500 No'),
        lambda: b'HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n' + bytes_,
        lambda: b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n' + bytes_,
        lambda: b'HTTP/9.9 \xff\r\n' + bytes_,
        lambda: bytes_,
        lambda: b''))()


def forward(got):
    with socket.create_connection(('127.0.0.1', int(sys.argv[3]))) as server:
        server.sendall(got[0] + b'\r\n\r\n' + got[1])
        server.settimeout(30)
        data = b''
        while True:
            piece = server.recv(1 << 20)
            data += piece
            if not piece or data.endswith(b'0\r\n\r\n'):
                return data
            head, _, body = data.partition(b'\r\n\r\n')
            length = [int(l.split(b':')[1]) for l in head.split(b'\r\n') if l.lower().startswith(b'content-length:')]
            if length and len(body) >= length[0]:
                return data


def fuzz(s):
    got = request(s)
    if not got:
        return
    with lock:
        calm = os.path.exists('calm') or chance.random() < 0.45
        passed_on = calm or chance.random() < 0.5
        said = nonsense()
    inserts = b'query=INSERT' in got[0]
    real = forward(got) if passed_on else b''
    # A lie about what was done, or is there, is no fault that anybody could bear.
    if not calm and said.startswith(b'HTTP/1.1 200') and inserts and not passed_on:
        said = b''
    s.sendall(real if calm else said)


def serve(s):
    try:
        (sink if mode == 'sink' else fuzz)(s)
    except OSError:
        pass
    s.close()


listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(64)
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

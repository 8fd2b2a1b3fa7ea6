# SPDX-License-Identifier: BSD-2-Clause
# Between a shipper and its server: cuts connections before a request, within it, or after it before its answer.
#
#	python3 proxy.py PORT SEED SHARE >port
#
# That share of all connections is cut, at random, unless there is a file `calm`. Where there is a file `cut`, the next connection
# that inserts rows, or with a table's name in it rows of that, is cut as it says (before, within, after), and the file is gone
# then. How many have been cut is in `cuts`.
import os, random, socket, sys, threading

target, share = int(sys.argv[1]), float(sys.argv[3])
random.seed(int(sys.argv[2]))
cuts = {'before': 0, 'within': 0, 'after': 0}
lock = threading.Lock()


def chosen(first):
    """How this connection is cut, or None."""
    with lock:
        if b'query=INSERT' in first:
            try:
                how, *table = open('cut').read().split()
                if all(b'.%s%%20' % t.encode() in first for t in table):
                    os.unlink('cut')
                    return how
            except OSError:
                pass
        return random.choice(list(cuts)) if random.random() < share and not os.path.exists('calm') else None


def count(how):
    with lock:
        cuts[how] += 1
        with open('cuts.new', 'w') as f:
            f.write('%(before)d %(within)d %(after)d\n' % cuts)
        os.rename('cuts.new', 'cuts')


def end(*sockets):
    for s in sockets:
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def answers(client, server, how):
    try:
        while True:
            b = server.recv(65536)
            if not b:
                break
            if how == 'after':  # the server has done it, and nobody hears
                count(how)
                break
            client.sendall(b)
    except OSError:
        pass
    end(client, server)


def serve(client):
    server = None
    try:
        first = client.recv(65536)
        server = socket.create_connection(('127.0.0.1', target))
        how = chosen(first)
        limit = {'before': 0, 'within': random.choice((100, 5000, 300000))}.get(how, 1 << 60)
        threading.Thread(target=answers, args=(client, server, how), daemon=True).start()
        n, b = 0, first
        while b:
            if n + len(b) > limit:
                server.sendall(b[:limit - n])
                count(how)
                end(client, server)
                return
            server.sendall(b)
            n += len(b)
            b = client.recv(65536)
        server.shutdown(socket.SHUT_WR)
    except OSError:
        end(*[s for s in (client, server) if s])


listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(64)
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

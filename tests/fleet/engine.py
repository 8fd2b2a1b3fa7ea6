# SPDX-License-Identifier: BSD-2-Clause
# A newer ClickHouse behind HTTP: chdb, which is its engine as a library (npm: @chdb/lib-linux-x64-gnu).
#
#	python3 engine.py LIBCHDB FOLDER SEED >port	its tables lie in FOLDER. Of the inserts a third is done and not answered, and a
#							sixth neither; unless there is a file `calm`. Where there is a file `insert-only`,
#							nobody may ask for rows.
import ctypes, http.server, os, random, re, struct, sys, urllib.parse

lib = ctypes.CDLL(sys.argv[1])
lz4 = ctypes.CDLL('liblz4.so.1')
folder = sys.argv[2]
chance = random.Random(sys.argv[3])
lib.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
lib.chdb_query_n.restype = ctypes.c_void_p
lib.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
for name, kind in (('buffer', ctypes.c_void_p), ('length', ctypes.c_size_t), ('error', ctypes.c_char_p)):
    f = getattr(lib, 'chdb_result_' + name)
    f.restype, f.argtypes = kind, [ctypes.c_void_p]
lib.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]
argv = [b'clickhouse', b'--path=' + os.path.join(folder, 'data').encode()]
connection = lib.chdb_connect(len(argv), (ctypes.c_char_p * len(argv))(*argv))
if not connection:
    sys.exit('chdb does not start')


def ask(query):
    """What the engine answers, and its complaint or None."""
    result = lib.chdb_query_n(connection[0], query, len(query), b'TabSeparated', 12)
    error = lib.chdb_result_error(result)
    n = lib.chdb_result_length(result)
    answer = ctypes.string_at(lib.chdb_result_buffer(result), n) if n else b''
    lib.chdb_destroy_query_result(result)
    return answer, error


def unpack(body):
    """Frames as tools/fleet/frame.c makes them."""
    out, at = [], 0
    while at < len(body):
        method, size, plain = struct.unpack_from('<BII', body, at + 16)
        packed = body[at + 25:at + 16 + size]
        if method == 0x82:
            room = ctypes.create_string_buffer(plain)
            if lz4.LZ4_decompress_safe(packed, room, len(packed), plain) != plain:
                raise ValueError('a frame that is none')
            packed = room.raw
        out.append(packed)
        at += 16 + size
    return b''.join(out)


# Rows come by a query of their own, of which tokens do not count otherwise.
EXTRA = ", deduplicate_insert_select = 'force_enable'"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def say(self, status, body):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.send_header('Connection', 'close')
        self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        told = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        query, inserts = body, 'query' in told
        if inserts:
            with open(os.path.join(folder, 'rows.native'), 'wb') as f:
                f.write(unpack(body))
            # (It reads no rows from the query itself.)
            settings = ''.join(", %s = '%s'" % (k, told[k]) for k in ('insert_deduplication_token',
                               'deduplicate_blocks_in_dependent_materialized_views') if k in told)
            table, columns = re.fullmatch(r'INSERT INTO (\S+) \((.*)\) FORMAT Native', told['query']).groups()
            query = ("INSERT INTO %s (%s) SELECT %s FROM file('%s', 'Native') SETTINGS max_threads = 1, max_block_size = 1000000, "
                     "max_insert_block_size = 1000000%s%s" % (table, columns, columns, os.path.join(folder, 'rows.native'),
                     EXTRA if 'insert_deduplication_token' in told else '', settings)).encode()
        elif os.path.exists('insert-only') and body.startswith(b'SELECT') and b'FROM ' in body and b'system.' not in body:
            return self.say(403, b'Code: 497. DB::Exception: shipper: Not enough privileges. (ACCESS_DENIED)\n')
        lost = chance.random() if inserts and not os.path.exists('calm') else 1
        if lost < 1 / 6:
            self.close_connection = True
            return self.connection.close()
        answer, error = ask(query)
        if 1 / 6 <= lost < 1 / 2:
            with open('unanswered', 'a') as f:
                f.write(told['query'].split()[2] + '\n')
            self.close_connection = True
            return self.connection.close()
        self.say(500 if error else 200, error + b'\n' if error else answer)


server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()

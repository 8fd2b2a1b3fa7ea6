# SPDX-License-Identifier: BSD-2-Clause
"""
    run.py KTR RUNS BYTES REQUESTS WHAT     in an empty folder; run.sh says what it is
"""
import http.client
import os
import shutil
import signal
import subprocess
import sys
import time

KTR, RUNS, BYTES, REQUESTS, WHAT = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5].split()
QUIET = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
PORT = 18080


def ways():
    """How to trace: name, words before the command."""
    out = {'as it is': [], 'ktr ktrace': [KTR, 'ktrace', '-i', '-f', 'k.out'],
           'ktr ktrace -t c': [KTR, 'ktrace', '-i', '-t', 'c', '-f', 'c.out'],
           'ktr ktrace -t n': [KTR, 'ktrace', '-i', '-t', 'n', '-f', 'n.out'],
           'ktr ktrace -o TRACE': [KTR, 'ktrace', '-i', '-o', 'trace']}
    if shutil.which('strace'):
        out['strace -f -o FILE'] = ['strace', '-f', '-o', 's.out']
    else:
        print('strace: not measured: it is not installed')
    perf = ['perf', 'trace', '-o', 'p.out']
    if not shutil.which('perf'):
        print('perf trace: not measured: it is not installed')
    else:
        done = subprocess.run(perf + ['true'], capture_output=True, text=True)
        if done.returncode:
            lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
            print('perf trace: not measured: %s' % (lines[-1] if lines else 'it ends with %d' % done.returncode))
        else:
            out['perf trace'] = perf
    return out


def clean():
    for name in os.listdir('.'):
        if name.startswith('trace'):
            shutil.rmtree(name, ignore_errors=True)


def dd(way):
    begin = time.monotonic()
    subprocess.run(way + ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=' + BYTES, 'status=none'], check=True, **QUIET)
    return time.monotonic() - begin


def git(way):
    if not os.path.exists('tree'):
        os.mkdir('tree')
        for i in range(1000):
            os.makedirs('tree/%d' % (i % 50), exist_ok=True)
            open('tree/%d/%d' % (i % 50, i), 'w').write(str(i))
        for words in ['init', '-q', '.'], ['add', '.'], ['-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-qm', 'c']:
            subprocess.run(['git'] + words, cwd='tree', check=True, **QUIET)
    begin = time.monotonic()
    subprocess.run(way + ['git', '-C', 'tree', 'status', '--short'], check=True, **QUIET)
    return time.monotonic() - begin


CONF = '''daemon off; master_process off; pid %(dir)s/nginx.pid; error_log /dev/null;
events { }
http { access_log off; keepalive_requests 1000000; client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p;
fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
server { listen 127.0.0.1:%(port)d; root %(dir)s; } }
'''


def nginx(way):
    """The requests alone."""
    here = os.getcwd()
    open('nginx.conf', 'w').write(CONF % dict(dir=here, port=PORT))
    open('index.html', 'w').write('x' * 1000)
    server = subprocess.Popen(way + ['nginx', '-p', here, '-c', here + '/nginx.conf'], **QUIET)
    try:
        client = http.client.HTTPConnection('127.0.0.1', PORT, timeout=120)
        for _ in range(6000):
            try:
                client.connect()
                break
            except OSError:
                time.sleep(0.02)
        begin = time.monotonic()
        for _ in range(REQUESTS):
            client.request('GET', '/index.html')
            assert len(client.getresponse().read()) == 1000
        taken = time.monotonic() - begin
        client.close()
    finally:
        try:
            os.kill(int(open('nginx.pid').read()), signal.SIGTERM)
        except (OSError, ValueError):
            server.kill()
        server.wait()
    return taken


def measure(name, what):
    best = dict.fromkeys(WAYS, 1e9)
    for _ in range(RUNS * (5 if name == 'git' else 1)):
        for way, words in WAYS.items():
            clean()
            best[way] = min(best[way], what(words))
    theirs = best.get('strace -f -o FILE')
    for way, seconds in best.items():
        print('%-6s %-20s %7.3f s' % (name, way, seconds), end='')
        print('  %5.2f of strace' % (seconds / theirs) if theirs else '')


WAYS = ways()
for one in WHAT:
    if one == 'nginx' and not shutil.which('nginx'):
        print('nginx: not measured: it is not installed')
        continue
    measure(one, {'dd': dd, 'git': git, 'nginx': nginx}[one])

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# No test of make check-fleet: what ktr ship costs, of a trace of EVENTS events, to a server that only takes what comes. CPU
# beside a loop that walks the trace and packs the same blocks, the best of three rounds; memory; --rate; and how fast a
# traced program is alone and while its trace is followed, by turns, the median of seven. Bounds: 1.3 times, 200 MB, 5 %, 3 %;
# the exit status tells.
#
#	EVENTS=4000000 sh tests/fleet/cost.sh
. "$(dirname "$0")/../cli/lib.inc"
fake=
at_exit() { [ -z "$fake" ] || kill "$fake" 2>/dev/null; }
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/fleet_host.c -o "$dir/host" "$O/lib/libktr.a" -lpthread || exit 1
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/bench/ship_loop.c -o "$dir/loop" -L"$O/lib" -lktrread -llz4 -Wl,-rpath,"$O/lib" || exit 1
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=trace KTR_ENTRIES=4194304 ./host $((${EVENTS:-4000000} / 14)) 1 || fail "the program failed"
mkdir bodies
python3 "$top/tests/fleet/fake.py" sink bodies >port &
fake=$!
until [ -s port ]; do sleep 0.05; done
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
python3 - "$ktr" "http://127.0.0.1:$(cat port)" <<'PY' || failed=1
import glob, os, resource, signal, statistics, subprocess, sys, time
ktr, url = sys.argv[1:]
bad = False
REQUESTS = 400000  # of each of two threads of a traced program


def cost(*command, **more):
    """CPU seconds, seconds and megabytes of a command."""
    began = time.monotonic()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)
    said = p.stderr.read()
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = status
    if status:
        sys.exit('FAILED: %s: %s' % (' '.join(command), said.decode()))
    return used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss / 1024


def bound(what, value, most, unit):
    global bad
    bad |= value > most
    print('%-66s %8.2f %s, at most %g%s' % (what, value, unit, most, '' if value <= most else ': FAILED'), flush=True)


def ship(n, *more):
    for f in glob.glob('bodies/*'):
        os.unlink(f)
    return cost(ktr, 'ship', '--to', url, '--state', 'state%s' % n, '--host', 'web01', *more, 'trace')


n = 0
for name, more in (('events', ()), ('events and spans', ('--spans',))):
    ratios, memory = [], 0
    for _ in range(3):
        n += 1
        cpu, _, mb = ship(n, *more)
        bodies = [f for f in glob.glob('bodies/*') if f[-1].isdigit()]
        walked, packed, events, plain, out = (float(x) for x in subprocess.check_output(['./loop', 'trace'] + bodies).split())
        ratios.append((cpu / (walked + packed), cpu, walked, packed))
        memory = max(memory, mb)
    best = min(ratios)
    print('%s: %d events, %.1f MB in blocks, %.1f MB sent: %.3f s of CPU a million; the loop %.3f (walk %.3f, codec %.3f)' % (
        name, events, plain / 1e6, out / 1e6, best[1] / events * 1e6, (best[2] + best[3]) / events * 1e6,
        best[2] / events * 1e6, best[3] / events * 1e6))
    bound('%s: CPU, in loops' % name, best[0], 1.3, '')
    bound('%s: memory' % name, memory, 200, 'MB')
rate = 4000000
ship('rate', '--rate', str(rate))
n_bytes, seconds = (float(x) for x in open('bodies/rate').read().split())
print('--rate %d: %.0f bytes in %.2f s: %.0f' % (rate, n_bytes, seconds, n_bytes / seconds))
bound('--rate: off by', abs(n_bytes / seconds / rate - 1) * 100, 5, '%')


def program(follow):
    environ = dict(os.environ, KTR_MASK='all', KTR_FILE='lives/live', KTR_ENTRIES='1048576')
    subprocess.run(['rm', '-rf', 'lives'])
    os.mkdir('lives')
    follower = follow and subprocess.Popen([ktr, 'ship', '--to', url, '--state', 'state.live', '--host', 'web01', '--spans', '--follow',
                                            '--every', '1s', 'lives'], stderr=subprocess.DEVNULL, preexec_fn=lambda: os.nice(10))
    used = cost('./host', str(REQUESTS), '1', env=environ)
    if follower:
        follower.send_signal(signal.SIGTERM)
        follower.wait()
    return used[:2]


pairs = [(program(False), program(True)) for _ in range(7)]
alone, followed = ([statistics.median(pair[i][k] for pair in pairs) for k in (0, 1)] for i in (0, 1))
print('the traced program: %.0f requests/s alone, %.0f while its trace is followed; %.3f and %.3f s of CPU' % (
    2 * REQUESTS / alone[1], 2 * REQUESTS / followed[1], alone[0], followed[0]))
bound('the traced program: slower by', (statistics.median(b[1] / a[1] for a, b in pairs) - 1) * 100, 3, '%')
sys.exit(bad)
PY
exit $failed

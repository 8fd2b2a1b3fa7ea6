# SPDX-License-Identifier: BSD-2-Clause
"""How often what became of locks, by the events of the provider lock: `ktr json` on standard input, name=value lines."""
import errno
import json
import sys

NAMES = """mutex_init mutex_got mutex_again mutex_tried mutex_gave mutex_busy mutex_late mutex_own mutex_not_own mutex_lost
rw_init rw_read rw_written rw_tried rw_gave rw_busy rw_late sem_got sem_gave sem_none sem_late spin_got spin_gave spin_busy
cond_waited cond_late cond_cancelled cond_signals cond_broadcasts barrier_waits barrier_last""".split()
ERRORS = {errno.EBUSY: "busy", errno.ETIMEDOUT: "late", errno.EDEADLK: "own", errno.EPERM: "not_own", errno.EAGAIN: "none",
          errno.ENOTRECOVERABLE: "lost"}
PLAIN = {"mutex-init": "mutex_init", "rw-init": "rw_init", "mutex-release": "mutex_gave", "rw-release": "rw_gave",
         "sem-acquire": "sem_got", "sem-release": "sem_gave", "spin-acquire": "spin_got", "spin-release": "spin_gave"}
counts = dict.fromkeys(NAMES, 0)


def count(name, by=1):
    counts[name] = counts.get(name, 0) + by


for line in sys.stdin:
    event = json.loads(line)
    func, args = event.get("func"), event.get("args", {})
    if event.get("file") != "lock" or not func:
        continue
    kind = func.split("-")[0]
    if func in PLAIN:
        count(PLAIN[func])
    elif func == "mutex-acquire":
        count("mutex_got")
        count("mutex_again", args["recursive"])
        count("mutex_tried", args["tried"])
    elif func == "rw-acquire":
        count("rw_written" if args["write"] else "rw_read")
        count("rw_tried", args["tried"])
    elif func.endswith("-error"):
        count(f"{kind}_{ERRORS.get(args['error'], args['error'])}")
    elif func == "cond-blocked":
        count({0: "cond_waited", errno.ETIMEDOUT: "cond_late", errno.ECANCELED: "cond_cancelled"}[args["error"]])
    elif func == "cond-signal":
        count("cond_broadcasts" if args["all"] else "cond_signals")
    elif func == "barrier-blocked":
        count("barrier_waits")
        count("barrier_last", args["last"])
for name, value in counts.items():
    print(f"{name}={value}")

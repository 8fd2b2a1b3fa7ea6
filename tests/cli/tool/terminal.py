# SPDX-License-Identifier: BSD-2-Clause
"""A command in a terminal of its own, waited for by what it shows. For the scripts of this folder."""
import os
import pty
import select
import signal
import time

BOUND = 60
SLICE = 0.005


class Terminal:
    def __init__(self, *argv, cwd=None, stdout=None, stderr=None, **environment):
        self.seen = b''
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # A script that runs in the background has its children ignore ^C.
            for number in (signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            if cwd:
                os.chdir(cwd)
            for path, fd in (stdout, 1), (stderr, 2):
                if path:
                    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), fd)
            os.environ.update({'TERM': 'xterm', 'LC_ALL': 'C.UTF-8'}, **environment)
            os.execvp(argv[0], argv)

    def read(self, seconds=0.02):
        """More of what it shows; False at its end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            some = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += some
        return bool(some)

    def until(self, holds):
        """Reads until holds() or the end. Did it come to hold?"""
        end = time.monotonic() + BOUND
        while not holds():
            if time.monotonic() >= end:
                return False
            if not self.read():
                return holds()
        return True

    def stop(self):
        """The command stands still; False if it has ended."""
        os.kill(self.pid, signal.SIGSTOP)
        end = time.monotonic() + BOUND
        while time.monotonic() < end:
            state = open('/proc/%d/stat' % self.pid).read().rpartition(')')[2].split()[0]
            if state in 'TZ':
                break
        while select.select([self.fd], [], [], 0)[0] and self.read(0):
            pass
        return state == 'T'

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)

    def stop_when(self, holds):
        """
        Stops it where holds() holds, however long this process is kept from looking: the command runs for short
        times and stands still while it is looked at. False if it has ended before.
        """
        end = time.monotonic() + BOUND
        while time.monotonic() < end:
            if not self.stop():
                return False
            if holds():
                return True
            self.go_on()
            self.read(SLICE)
        return False

    def shows(self, text, after=0):
        return self.until(lambda: text in self.seen[after:])

    def send(self, keys):
        os.write(self.fd, keys)

    def status(self):
        """What a shell would call it: 130 for who died of SIGINT. Reads to the end. -1: it does not end."""
        end = time.monotonic() + BOUND
        while self.read() and time.monotonic() < end:
            pass
        late = time.monotonic() >= end
        if late:
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        if late:
            return -1
        return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

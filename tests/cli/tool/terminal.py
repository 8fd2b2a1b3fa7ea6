# SPDX-License-Identifier: BSD-2-Clause
"""A command in a terminal of its own, waited for by what it shows. For the scripts of this folder."""
import os
import pty
import select
import signal
import time

BOUND = 10


class Terminal:
    def __init__(self, *argv, cwd=None, stdout=None, **environment):
        self.seen = b''
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # A script that runs in the background has its children ignore ^C.
            for number in (signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            if cwd:
                os.chdir(cwd)
            if stdout:
                os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 1)
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
        while not holds() and time.monotonic() < end:
            if not self.read():
                return holds()
        return holds()

    def shows(self, text, after=0):
        return self.until(lambda: text in self.seen[after:])

    def send(self, keys):
        os.write(self.fd, keys)

    def status(self):
        """What a shell would call it: 130 for who died of SIGINT. Reads to the end."""
        end = time.monotonic() + BOUND
        while self.read() and time.monotonic() < end:
            pass
        if time.monotonic() >= end:
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

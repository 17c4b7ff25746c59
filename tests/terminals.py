# SPDX-License-Identifier: Apache-2.0
"""A terminal for a test: a pty whose other end is the caller's, and what shows on it.

    tty = Terminal(t, t.command(["cat"]))     a session of its own on a new pty
    tty.send("hello\\n"); tty.expect("hello")
    tty.modes()                               as `stty -a` would tell them
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from sboxtest import Failure, SLOW


class Terminal:
    def __init__(self, t, argv, rows=24, columns=80, env=None, stdio=(None, None, None),
                 controlling=True):
        """`stdio`: descriptors to use instead of the terminal."""
        self.t, self.shown, self.status = t, b"", None
        self.master, self.slave = pty.openpty()
        os.fchown(self.slave, t.uid, t.gid)
        self.resize(rows, columns)
        self.before = self.modes()
        environment = t.environment({"TERM": "xterm", "PS1": "outer> ", **(env or {})})
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.child(argv, environment, stdio, controlling)
            finally:
                os._exit(121)

    def child(self, argv, environment, stdio, controlling):
        os.setsid()
        if controlling:
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        streams = [os.dup(self.slave if fd is None else fd) for fd in stdio]
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        os.closerange(3, 256)
        os.chdir(self.t.ws)
        if self.t.uid != os.geteuid():
            os.setgroups([])
            os.setgid(self.t.gid)
            os.setuid(self.t.uid)
        os.execvpe(argv[0], argv, environment)

    # -- the terminal itself --
    def modes(self):
        modes = termios.tcgetattr(self.slave)
        return [*modes[:6], [bytes(c) if isinstance(c, bytes) else c for c in modes[6]]]

    def is_raw(self):
        return not self.modes()[3] & (termios.ICANON | termios.ECHO | termios.ISIG)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def hang_up(self):
        os.close(self.master)
        os.close(self.slave)
        self.master = -1

    # -- what is typed and shown --
    def send(self, text):
        data = text.encode() if isinstance(text, str) else text
        while data:
            data = data[os.write(self.master, data[:512]):]
            self.read(0)

    def read(self, timeout):
        ready, _, _ = select.select([self.master], [], [], timeout)
        if ready:
            try:
                self.shown += os.read(self.master, 65536)
            except OSError:
                return False
        return bool(ready)

    def expect(self, pattern, timeout=15):
        """Waits for it and forgets all up to its end; the match."""
        pattern = pattern if isinstance(pattern, bytes) else re.escape(pattern).encode()
        end = time.monotonic() + timeout * SLOW
        while not (match := re.search(pattern, self.shown)):
            if time.monotonic() > end:
                raise Failure(f"{pattern!r} was not shown within {timeout} s: {self.shown[-1500:]!r}")
            self.read(0.05)
        self.shown = self.shown[match.end():]
        return match

    def quiet(self, seconds=0.3):
        """Reads until nothing has come for a while; all of it."""
        while self.read(seconds):
            pass
        shown, self.shown = self.shown, b""
        return shown

    def until(self, condition, what, timeout=15):
        end = time.monotonic() + timeout * SLOW
        while not condition():
            if time.monotonic() > end:
                raise Failure(f"not within {timeout} s: {what}; shown: {self.shown[-1500:]!r}")
            self.read(0.02) if self.master >= 0 else time.sleep(0.02)

    # -- the process --
    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait(self, timeout=20):
        self.until(self.ended, f"the end of {self.pid}", timeout)
        return self.status

    def kill(self, sig=signal.SIGKILL):
        os.kill(self.pid, sig)

    def as_before(self):
        """The caller's terminal is as it was, and nothing was typed into it by anybody."""
        self.until(lambda: self.modes() == self.before,
                   f"modes as before: {self.before} now {self.modes()}", 5)
        settings = termios.tcgetattr(self.slave)
        settings[3] &= ~termios.ICANON
        termios.tcsetattr(self.slave, termios.TCSANOW, settings)
        ready, _, _ = select.select([self.slave], [], [], 0)
        self.t.equal(os.read(self.slave, 4096) if ready else b"", b"", "nothing waits to be read")

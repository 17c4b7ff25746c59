# SPDX-License-Identifier: Apache-2.0
"""What tests/cli/terminal*.py do again and again."""
import os

from sboxtest import descendants, wait_until
from terminals import Terminal


QUIET = ["--quiet"]
# What a program sees: each of 0, 1, 2 as a letter, then its terminal's name and size.
LOOK = ("import os\n"
        "s = ''.join('ty'[os.isatty(fd)] for fd in range(3))\n"
        "print('SEES', s, [os.ttyname(fd) for fd in range(3) if os.isatty(fd)],"
        " file=open('seen', 'w'))\n")


def sbox(t, *argv, sets=(), **keywords):
    return Terminal(t, t.command(argv, sets=sets, opts=QUIET), **keywords)


def shell(t, **keywords):
    """An outer bash with job control, in which `S` is sbox."""
    tty = Terminal(t, ["bash", "--norc", "-i"], env={"S": " ".join(t.command([], opts=QUIET))},
                   **keywords)
    tty.expect("outer> ")
    tty.send("bind 'set enable-bracketed-paste off'; echo ready-$((1+1))\n")
    tty.expect("ready-2")
    return tty


def leave(t, tty):
    """Ends the outer shell, and waits for what it has left."""
    tty.send("exit\n")
    tty.wait()
    wait_until(lambda: not descendants(os.getpid()), 10)


def end(t, kind=None):
    record = t.records()[-1]
    if kind is not None:
        t.equal((record["type"], record.get("end", {}).get("kind")), ("run.end", kind))
    return record


def commands(pid):
    found = []
    for child in descendants(pid):
        try:
            with open(f"/proc/{child}/cmdline", "rb") as file:
                found.append(file.read().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            pass
    return found

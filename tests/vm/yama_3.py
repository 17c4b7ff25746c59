# SPDX-License-Identifier: Apache-2.0
"""Yama's scope 3, which lasts until the next boot: what is refused stays refused, and is counted."""
import machines
from sboxtest import PYTHON, test

SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
SCRIPT = "import socket\ntry: open('kept', 'w')\nexcept OSError as e: print(e.errno)\n" \
         "try: socket.socket(40)\nexcept OSError as e: print(e.errno)\n"


@test(parallel=False)
def refused_all_the_same(t):
    machines.write(SCOPE, "3")
    t.write("kept", "x")
    run = t.sbox(PYTHON, "-c", SCRIPT, sets=["file.protect=${cwd}/kept"])
    t.equal(run.text.splitlines()[0], "30", run)
    t.equal(len(run.text.split()), 2, run)
    t.equal(t.read("kept"), b"x")
    t.check(run.denied(boundary="network"), f"a family is a number, and named: {run}")
    yama = t.plain(t.sbox_path, "doctor").text
    t.has(yama, "ptrace_scope 3")

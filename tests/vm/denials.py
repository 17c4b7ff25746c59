# SPDX-License-Identifier: Apache-2.0
"""What is named where the supervisor is woken up late (before 6.6), and under each of Yama's scopes."""
import machines
from sboxtest import PYTHON, Skip, test

SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
SCRIPT = """
import os, socket, subprocess
def attempt(f):
    try: f(); print('done')
    except OSError as e: print(e.errno)
attempt(lambda: open('kept', 'w'))
attempt(lambda: socket.socket(40, socket.SOCK_STREAM))
attempt(lambda: os.unlink('kept'))
attempt(lambda: os.setxattr('kept', 'user.x', b''))
subprocess.run(['/bin/true'])
"""


def refused_run(t):
    t.write("kept", "x")
    run = t.sbox(PYTHON, "-c", SCRIPT, sets=["file.protect=${cwd}/kept"])
    t.equal((run.code, run.text.splitlines()[0]), (0, "30"), run)
    t.check("done" not in run.text.splitlines()[:3], run)
    return run


def all_is_named(t, run):
    named = [d for d in run.denials if f"{t.ws}/kept" in str(d["object"])]
    t.check(len(named) >= 2, f"opening and unlinking: {run}")
    t.check(run.denied(boundary="network"), f"the family: {run}")
    t.check(any(e["path"].endswith("/true") for e in run.end["execs"]), f"{run.end['execs']}")


@test()
def everything_is_named(t):
    all_is_named(t, refused_run(t))


@test(parallel=False, cases=[0, 1, 2])
def under_yama(t, scope):
    """The supervisor owns the user namespace of the program, which is enough up to scope 2."""
    try:
        with open(SCOPE) as file:
            before = file.read()
    except FileNotFoundError:
        raise Skip("this kernel has no Yama")
    if before.strip() == "3":
        raise Skip("scope 3 cannot be taken back")
    machines.write(SCOPE, str(scope))
    try:
        all_is_named(t, refused_run(t))
    finally:
        machines.write(SCOPE, before)

# SPDX-License-Identifier: Apache-2.0
"""A supervisor that was taken over: what the process outside the sandbox cannot do once the program runs.

The launcher of tests/mutant/taken_over.c tries one thing at its first notification. The control is the
same of a supervisor that did not confine itself. A call that is not in its list ends sbox, and
the sandbox with it: nothing of the attempt happens, and the run stays visible as unfinished.
"""
import os
import signal
import subprocess

from processes import descendants, wait_until
from sboxtest import PYTHON, Run, Skip, test

# what it tries; whether root can do it without the confinement
ATTEMPTS = {
    "inet socket": True, "abstract socket": False, "send to an address": False, "execute": True, "new process": True,
    "attach": True, "write memory": False, "kill": True, "kill by descriptor": True, "change places": True,
    "signal by folder": True, "become root": True, "mount": True, "new namespace": True, "load a module": False,
    "load bpf": False, "io ring": False, "code in memory": True,
    "hard link": True, "symbolic link": True, "limit": True, "type for the caller": False, "dump core": True}
KILLS = ("kill", "change places", "signal by folder")
# CAP_KILL, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE
LEAST = 1 << 5 | 1 << 2 | 1 << 19
# CAP_DAC_OVERRIDE, CAP_FOWNER: to hold names back in others' folders; CAP_CHECKPOINT_RESTORE: files without a name
MOST = LEAST | 1 << 1 | 1 << 3 | 1 << 40


def take_over(t, what, env):
    """(the run, whether another process of the same user is still there, what was made)"""
    place = f"{t.dir}/made-by-it"
    if what == "mount":
        os.makedirs(place, exist_ok=True)
    elif os.path.lexists(place):
        os.unlink(place)
    other = t.popen(["sleep", "60"], stdin=subprocess.DEVNULL)
    env = {"SBOX_TEST_TAKEN_OVER": what, "SBOX_TEST_PLACE": place, "SBOX_TEST_OTHER": str(other.pid), **env}
    before = len(t.records())
    child = t.start("sh", "-c", "/bin/true; echo went-on", env=env)
    out, err = t.communicate(child, b"", 40)
    # what sbox's own end kills is gone a moment after it
    expected = {os.getpid(), other.pid}
    t.check(wait_until(lambda: not set(descendants(os.getpid())) - expected, 10), "the sandbox is gone")
    run = Run(child.returncode, out, err, t.records()[before:], 0)
    alive = other.poll() is None
    t.background.remove(other)
    other.kill()
    other.wait()
    return run, alive, os.path.lexists(place) and what != "mount"


@test(cases=list(ATTEMPTS))
def what_is_refused(t, what):
    t.sbox_path = t.sbox_path + "-taken-over"
    if not os.path.exists(t.sbox_path):
        raise Skip("make probes")
    control, alive, made = take_over(t, what, {"SBOX_TEST_LEAVE_OUT": "confine"})
    t.check("made: " in control.errtext or what == "execute", f"control: it is tried: {control}")
    if t.uid == 0 and ATTEMPTS[what] and what != "execute":
        t.has(control.errtext, "made: 0\n", "control: root can")
    if what in ("execute", "symbolic link"):
        t.check(made, f"control: {control}")
    if what in KILLS:
        t.check(not alive, f"control: the other process is killed: {control}")

    run, alive, made = take_over(t, what, {})
    t.equal(run.code, -signal.SIGSYS, f"ended by the kernel: {run}")
    t.check("made: " not in run.errtext and "went-on" not in run.text, f"neither it nor the program goes on: {run}")
    t.check(alive, "the other process lives")
    t.check(not made, "nothing was made")
    t.check(run.start and not run.end, f"a run without an end: {run}")
    t.ended(t.sbox("true"), "exited", 0)
    t.clean()
    t.equal(t.audit("verify").code, 16, "it is visible as unfinished")


def status(t, pid):
    with open(f"/proc/{pid}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def while_it_runs(t, *opts, **keywords):
    child = t.start("sh", "-c", "echo runs; read x", opts=opts, **keywords)
    t.equal(child.stdout.readline(), b"runs\n")
    told = status(t, child.pid)
    t.communicate(child, b"\n", 20)
    t.equal(child.returncode, 0)
    return told


@test(cases=["agent", "strict"])
def what_it_keeps(t, profile):
    told = while_it_runs(t, profile=profile)
    t.equal((told["NoNewPrivs"], told["Seccomp"]), ("1", "2"))
    t.equal([int(told[name], 16) for name in ("CapInh", "CapAmb")], [0, 0])
    sets = {int(told[name], 16) for name in ("CapPrm", "CapEff")}
    if t.uid != 0:
        t.equal(sets, {0})
        return
    for kept in sets:
        t.check(kept & ~MOST == 0, f"{kept:x} is more than {MOST:x}")
        if profile == "strict":
            t.equal(kept & ~LEAST, 0, "where no name is held back and nothing grows")


@test()
def with_a_late_network_it_waits_for_the_first_socket(t):
    text = ("import socket, sys; print('runs', flush=True); sys.stdin.readline();"
            "s = socket.socket(); print('made', flush=True); sys.stdin.readline()")
    child = t.start(PYTHON, "-c", text, sets=["network.mode=allow", "network.allow=example.org:443"])
    for word, seccomp in (("runs", "0"), ("made", "2")):
        t.equal(child.stdout.readline().decode().strip(), word)
        told = status(t, child.pid)
        t.equal(told["Seccomp"], seccomp, word)
        child.stdin.write(b"\n")
        child.stdin.flush()
    t.equal(told["NoNewPrivs"], "1")
    t.equal(int(told["CapEff"], 16) & ~(MOST if t.uid == 0 else 0), 0)
    t.communicate(child, b"", 20)
    t.equal(child.returncode, 0)
    t.clean()


@test()
def nobody_of_the_same_user_looks_in(t):
    child = t.start("sh", "-c", "echo runs; read x")
    t.equal(child.stdout.readline(), b"runs\n")
    if t.uid != 0:
        look = t.plain("cat", f"/proc/{child.pid}/environ")
        t.check(look.code != 0, f"not dumpable: {look}")
    t.communicate(child, b"\n", 20)
    t.equal(child.returncode, 0)

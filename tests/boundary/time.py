# SPDX-License-Identifier: Apache-2.0
"""The time boundary: wall clock, processor time of the whole tree, grace, and odd values."""
import os

from sboxtest import PYTHON, test

# Holds a lease on a script and has it executed: whoever opens the file waits for the holder.
LEASE = """
import fcntl, os, signal, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
with open("/tmp/script", "w") as file:
    file.write("#!/bin/sh\\n")
os.chmod("/tmp/script", 0o755)
held = os.open("/tmp/script", os.O_RDWR)
fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
os.write(1, b"held\\n")
if os.fork() == 0:
    os.execv("/tmp/script", ["script"])
time.sleep(60)
"""


@test(parallel=False, cases=["cpu", "threads", "children", "churn", "deaf"])
def processor_time_of_the_whole_tree(t, way):
    """T2, T3: threads, children that are not waited for, and ignored signals are all counted."""
    control = t.plain(t.probe("spin"), way, "0.5")
    t.has(control.text, "done", "control")
    run = t.sbox(t.probe("spin"), way, "20", sets=["time.cpu=1s", "time.grace=300ms"], timeout=30)
    t.ended(run, "cpu", 124)
    t.equal(run.decided_by, "time.cpu")
    usage = run.end["usage"]
    used = (usage["user_ns"] + usage["sys_ns"]) / 1e9
    # the kernel counts by ticks when it decides, and a busy machine makes them inexact
    t.check(0.6 <= used < 2.6, f"{used:.2f} s of processor time used")


@test()
def waiting_is_not_processor_time(t):
    run = t.sbox("sleep", "1.5", sets=["time.cpu=500ms"])
    t.ended(run, "exited", 0)


@test()
def wall_limit_with_grace(t):
    """SIGTERM first: a program may finish within the grace time."""
    script = "trap 'echo tidy; exit 0' TERM; while :; do sleep 0.1; done"
    run = t.sbox("sh", "-c", script, sets=["time.wall=500ms", "time.grace=3s"], opts=["--quiet"])
    t.ended(run, "timeout", 124)
    t.equal(run.out, b"tidy\n")
    t.check(run.wall < 2.5, f"{run.wall:.1f} s: it does not wait the whole grace time")


@test(parallel=False, cases=["trap '' TERM INT HUP XCPU; while :; do :; done",
                             "trap '' TERM; sleep 60", "kill -STOP $$; sleep 60"])
def ignored_term_is_killed_after_grace(t, script):
    run = t.sbox("sh", "-c", script, sets=["time.wall=500ms", "time.grace=500ms"])
    t.ended(run, "timeout", 124)
    t.check(0.9 < run.wall < 3 or "STOP" in script or "sleep" in script, f"took {run.wall:.2f} s")
    t.check(run.wall < 4, f"took {run.wall:.2f} s")


@test(cases=["sleep 60", "cat", "read x < fifo", "cat fifo", "while :; do sleep 1; done"])
def blocked_in_every_way(t, script):
    """T1: sleeping, reading stdin that never ends, opening a FIFO nobody writes."""
    os.mkfifo(f"{t.ws}/fifo", 0o600)
    t.own(f"{t.ws}/fifo")
    read_fd, write_fd = os.pipe()
    child = t.start("sh", "-c", script, sets=["time.wall=400ms"], stdin=read_fd)
    t.communicate(child, None, 10)
    os.close(read_fd)
    os.close(write_fd)
    t.equal(child.returncode, 124)
    t.equal(t.records()[-1]["end"]["kind"], "timeout")


@test(parallel=False, cases=[("100ms", 0.1), ("0.5s", 0.5), ("1s", 1.0), ("1.5s", 1.5),
                             ("1500ms", 1.5)])
def exact_meaning(t, case):
    run = t.sbox("sleep", "60", sets=[f"time.wall={case[0]}"])
    t.ended(run, "timeout", 124)
    t.check(case[1] - 0.01 <= run.wall < case[1] + 2.5, f"{case[0]} took {run.wall:.2f} s")


@test(cases=["0", "0s", "-1s", "-0.5s", "1", "1 fortnight", "s", "1e3s", "0x10s", "nan", "inf",
             "99999999999999999999s", "18446744073709551616ms", "9223372036854775807d", "1s2", "--1s"])
def odd_values_are_refused(t, value):
    """T7: zero, negative, huge, without a unit: refused with the value in the message."""
    for key in ("wall", "cpu"):
        run = t.sbox("echo", "ran", sets=[f"time.{key}={value}"])
        t.equal((run.code, run.out), (125, b""), f"{key} = {value}: {run}")
        t.has(run.errtext, value)
        t.has(run.errtext, key)


@test(cases=["1000d", "52w", "100000h"])
def huge_values_mean_what_they_say(t, value):
    run = t.sbox("sh", "-c", "sleep 0.2; echo ran", sets=[f"time.wall={value}"], opts=["--quiet"])
    t.check(run.out == b"ran\n" or run.code == 125, run)


@test()
def empty_means_no_limit(t):
    run = t.sbox("sh", "-c", "sleep 0.5; echo ran", sets=["time.wall=", "time.cpu="], opts=["--quiet"])
    t.equal(run.out, b"ran\n", run)
    states = {i["name"]: i["state"] for i in run.start["enforced"] if i["boundary"] == "time"}
    t.equal(states.get("wall"), "off", states)


@test()
def first_limit_wins(t):
    run = t.sbox(t.probe("spin"), "cpu", "20", sets=["time.wall=5s", "time.cpu=400ms"])
    t.equal(run.kind, "cpu")
    run = t.sbox(t.probe("spin"), "cpu", "20", sets=["time.wall=400ms", "time.cpu=15s"])
    t.equal(run.kind, "timeout")


@test()
def freeze_is_done_or_refused(t):
    run = t.sbox("sleep", "60", sets=["time.wall=300ms", "time.on_timeout=freeze"], timeout=15)
    t.check(run.code in (124, 125), run)
    t.check(run.code == 124 or "on_timeout" in run.errtext or "freeze" in run.errtext, run)


@test(cases=["calls", "writes", "full"])
def a_lease_stops_no_clock(t, level):
    """The supervisor reads a script's first line: it must not wait for who holds a lease on it,
    which lasts 45 seconds (fs.lease-break-time)."""
    run = t.sbox(PYTHON, "-c", LEASE, timeout=40, sets=[
        f"audit.denials={level}", "time.wall=1s", "time.grace=200ms", "file.scratch_exec=yes"])
    t.ended(run, "timeout", 124)
    t.equal(run.out, b"held\n", run)
    t.check(run.end["usage"]["wall_ns"] < 20e9, run.end["usage"])

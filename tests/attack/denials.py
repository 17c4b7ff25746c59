# SPDX-License-Identifier: Apache-2.0
"""Naming refusals is no way in and no way to fill anything: floods, races, signals, odd names."""
import os
import time

from denied import make_outside, profile
from sboxtest import PYTHON, descendants, test


def full(t, *lines):
    return profile(t, lines, "full")


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def bounded(t, run):
    t.check(len(run.denials) <= 256, f"{len(run.denials)} denials")
    size = max(len(line) for line in t.read(f"{t.store}/log.jsonl").splitlines())
    t.check(size < 256 * 1024, f"a record of {size} bytes")


@test(parallel=False, timeout=240)
def endless_refused_calls(t):
    """FULL=1: a million."""
    count = 1000000 if os.environ.get("FULL") == "1" else 100000
    program = t.probe("deny")
    child = t.start(program, "flood", str(count), profile=full(t))
    seen, begun = [], time.monotonic()
    while child.poll() is None:
        time.sleep(0.2)
        if descendants(child.pid):
            seen.append(resident_kb(child.pid))
    seconds = time.monotonic() - begun
    t.background.remove(child)
    t.equal(child.stdout.read(), b"wrong 0\n")
    end = t.records()[-1]
    t.equal([d["count"] for d in end["denials"] if d["op"] == "keyctl"], [count])
    t.check(max(seen[1:] or seen) - seen[0] < 4096, f"the supervisor grew: {seen[0]} to {max(seen)} KiB")
    t.check(end["usage"]["sbox_cpu_ns"] > 0, "sbox's work for it is counted")
    t.note(f"{count} refused calls in {seconds:.1f} s, "
           f"{end['usage']['sbox_cpu_ns'] / 1e9:.1f} s of them sbox's processor time")


@test(parallel=False, timeout=120)
def refused_calls_count_against_the_cpu_limit(t):
    run = t.sbox(t.probe("deny"), "flood", "100000000", profile=full(t, "[time] cpu = 1s"), timeout=60)
    t.ended(run, "cpu", 124)
    run = t.sbox(t.probe("deny"), "paths", "100000000", "/usr/lib/x", profile=full(t, "[time] cpu = 1s"),
                 timeout=60)
    t.ended(run, "cpu", 124)


@test(timeout=120)
def many_different_paths_are_bounded(t):
    out = make_outside(t)
    many = t.probe("deny")
    run = t.sbox("sh", "-c", f"{many} paths 3000 {out}/name-; exit 1", profile=full(t))
    t.has(run.errtext, f"sbox: refused: write {3000 - 48} others (ENOENT)\n")
    run = t.sbox(many, "paths", "3000", f"{out}/name-", profile=full(t))
    t.equal(run.text, "wrong 0\n", run)
    named = run.denied(op="write", object=out)
    t.check(len(named) <= 48, len(named))
    t.equal([d["count"] for d in run.denied(op="write", object="others")], [3000 - len(named)])
    t.check(not any(d["permit"] for d in run.denied(object="others")), "no line for what was not looked at")
    bounded(t, run)
    for part in ("n" * 255, "sub/" * 900):
        run = t.sbox(PYTHON, "-c", "import sys\nfor i in range(200):\n"
                     " try: open(sys.argv[1] + str(i), 'w')\n except OSError: pass", f"{out}/{part}",
                     profile=full(t))
        bounded(t, run)


@test(timeout=120)
def signals_change_no_outcome(t):
    out = make_outside(t)
    here = t.write("here", "x\n")
    for path, result in ((here, "ok 5000 missing 0 other 0"), (f"{out}/file", "ok 0 missing 5000 other 0")):
        for level in ("off", "full"):
            run = t.sbox(t.probe("deny"), "signals", "5000", path, sets=[f"audit.denials={level}"])
            t.has(run.text, result, f"{level}: {run}")
            t.has(run.text, "fired", f"{level}: {run}")


@test(timeout=120)
def racing_threads_get_what_the_kernel_gives(t):
    """A path that changes between the look and the open: only what is listed is ever opened."""
    out = make_outside(t)
    here = t.write("here-and-now", "x\n")
    secret = f"{out}/file"
    before = t.read(secret)
    run = t.sbox(t.probe("deny"), "race", "2", here, secret, profile=full(t), timeout=60)
    t.has(run.text, "opened 1 refused 1", run)
    t.equal(t.read(secret), before)
    t.check(sorted(os.listdir(out)) == ["file", "folder", "head.h", "more", "run.sh", "true"], os.listdir(out))
    for denial in run.denied(boundary="file"):
        t.check(denial["object"] != here or denial["errno"] == "ENOENT", denial)


@test(timeout=120)
def names_do_not_steer_the_terminal(t):
    out = make_outside(t)
    name = f"{out}/a\x1b[31m\nsbox: all is well ;#$[x] \udc80".encode(errors="surrogateescape")
    run = t.sbox(PYTHON, "-c", "import os, sys\nopen(os.fsencode(sys.argv[1]))", name, profile=full(t))
    t.check(run.code != 0, run)
    said = b"\n".join(line for line in run.err.splitlines() if line.startswith(b"sbox: refused"))
    t.check(b"\x1b" not in said and b"\x80" not in said, said)
    with open(name, "w") as file:
        file.write("x")
    t.own(name)
    run = t.sbox(PYTHON, "-c", "import os, sys\nopen(os.fsencode(sys.argv[1]))", name, profile=full(t))
    named = [d for d in run.denials if "all is well" in str(d["object"])
             or isinstance(d["object"], dict)]
    t.check(named and named[0]["errno"] == "ENOENT", run)
    permit = named[0]["permit"]
    t.check(permit is None or isinstance(permit, dict) or "\n" not in permit, permit)


@test(timeout=120)
def a_killed_supervisor_leaves_nobody_waiting(t):
    """The explainer dies in the middle: everything inside dies with it, nothing goes on unjudged."""
    make_outside(t)
    child = t.start(t.probe("deny"), "paths", "100000000", f"{t.ws}/no/such/folder/", profile=full(t))
    time.sleep(1)
    t.check(child.poll() is None, "it runs")
    child.kill()
    child.wait()
    t.background.remove(child)
    deadline = time.monotonic() + 20
    while descendants(os.getpid()) and time.monotonic() < deadline:
        time.sleep(0.1)
    t.no_process_left()
    t.sbox("true")

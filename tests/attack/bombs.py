# SPDX-License-Identifier: Apache-2.0
"""Exhausting the machine: tasks, processor, memory, output. Every bomb here is bounded by itself."""
import os
import time

from sboxtest import PYTHON, descendants, processes_with, test, wait_until
from walls import walls_stand

# The memory attacks must end as out of memory or as refused, never with all they asked for.
MEMORY = ["process.memory=200M", "file.scratch=32M"]


@test(parallel=False, cases=["fork", "thread"])
def task_bombs(t, way):
    """Fork bomb, thread bomb: EAGAIN at the limit, all gone afterwards, quickly."""
    control = t.plain(t.probe("bomb"), way, "300", "4")
    t.has(control.text, "made 3", "control: 300 are possible")
    run = t.sbox(t.probe("bomb"), way, "3000", "2", opts=["--quiet"])
    t.check(run.kind in ("exited", "processes", "memory"), run)
    if run.kind == "exited":
        made = int(run.text.split()[1])
        t.check(made <= 256, f"{made} tasks under a limit of 256")
        t.has(run.text, "EAGAIN")
    t.check(run.wall < 15, f"took {run.wall:.1f} s")


@test(parallel=False)
def shell_fork_bomb(t):
    """The classic, ended by the wall limit; the tasks limit keeps the machine alive."""
    walls_stand(t, ["process.processes=60"])
    limit = t.sbox(t.probe("bomb"), "fork", "200", "1", sets=["process.processes=60"])
    t.has(limit.text, "EAGAIN", "the limit holds for a bounded bomb")
    script = "b() { b | b & }; b; sleep 30"
    run = t.sbox("bash", "-c", script, sets=["time.wall=2s", "process.processes=60"], timeout=30)
    t.check(run.code != 0 and run.kind in ("timeout", "exited", "processes", "signaled"), run)
    t.check(run.wall < 15, f"took {run.wall:.1f} s")


@test(parallel=False)
def zombies_do_not_add_up(t):
    """P11: children that are never waited for count, and are gone afterwards."""
    run = t.sbox(t.probe("bomb"), "zombie", "2000", "1", opts=["--quiet"])
    t.check("EAGAIN" in run.text or run.kind == "processes", run)


@test(parallel=False, cases=["while :; do :; done", "sleep 1000",
                             "trap '' TERM INT HUP QUIT; while :; do :; done",
                             "kill -STOP $$", "exec sleep infinity"])
def never_ending(t, script):
    run = t.sbox("sh", "-c", script, sets=["time.wall=700ms", "time.grace=300ms"], timeout=20)
    t.ended(run, "timeout", 124)
    t.check(run.wall < 5, f"took {run.wall:.1f} s")


ESCAPEE = """import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64); os.chdir('/')
        os.execv('/bin/sleep', ['sleep', '1234.%s' % sys.argv[1]])
    os._exit(0)
os.wait(); time.sleep(0.3); print('left')
"""


@test()
def double_fork_and_setsid(t):
    marker = str(os.getpid())
    run = t.sbox(PYTHON, "-c", ESCAPEE, marker, opts=["--quiet"])
    t.equal((run.code, run.out), (0, b"left\n"), run)
    t.equal(wait_until(lambda: not processes_with("1234." + marker)), True, "alive afterwards")


@test()
def escapee_of_a_killed_supervisor(t):
    """P2: kill -9 of sbox takes everything with it."""
    marker = str(os.getpid())
    child = t.start("sh", "-c", f"(setsid sleep 4321.{marker} &); trap '' TERM HUP; echo up; "
                    f"sleep 4321.{marker}")
    child.stdout.readline()
    t.check(wait_until(lambda: len(processes_with("4321." + marker)) >= 2), "both run")
    child.kill()
    t.communicate(child, None, 20)
    t.equal(wait_until(lambda: not processes_with("4321." + marker)), True, "alive afterwards")
    wait_until(lambda: not descendants(os.getpid()))  # what has no arguments any more is still about to end
    t.no_process_left()
    run = t.sbox("true")
    t.ended(run, "exited", 0)
    listed = t.audit("list", "--unfinished")
    t.has(listed.text, t.records()[0]["run"], "the killed run is listed as unfinished")


@test(parallel=False, cases=["heap", "shm", "tmp", "memfd", "sysv", "posix", "pipe"])
def allocate_without_end(t, way):
    """At most 200 MiB of 1,200 asked for (pipes: by number of descriptors)."""
    pieces = "600" if way == "pipe" else "1200"
    control = t.plain(t.probe("eat"), way, "64" if way != "pipe" else "200", "briefly")
    for path in ("/dev/shm/eaten", "/dev/shm/eaten-posix", "/tmp/eaten"):
        if os.path.exists(path) and os.stat(path).st_uid == t.uid:
            os.unlink(path)
    note = control.text.strip()
    run = t.sbox(t.probe("eat"), way, pieces, sets=MEMORY, opts=["--quiet"])
    got = int(run.text.split()[1]) if run.text.startswith("got") else None
    t.check(run.kind == "memory" or run.code != 0 or way == "pipe", f"it got all: {run}")
    if run.kind == "memory":
        t.equal((run.code, run.decided_by), (137, "process.memory"))
    elif way in ("shm", "tmp", "posix"):
        t.check(got is not None and got <= 33, f"{got} MiB in a scratch of 32: {run}")
        t.check("ENOSPC" in run.text, run)
    elif way != "pipe":
        t.check(got is not None and got <= 260, f"got {got} MiB: {run}")
    if run.kind != "memory" and way in ("memfd", "sysv") and "EPERM" in run.text:
        t.check(run.denied(), f"the refusal is named: {run}")
    peak = run.end["usage"]["peak_memory_bytes"]
    t.note(f"control {note}; under 200M: {run.kind}, {run.text.strip()}, peak "
           f"{peak and peak >> 20} MiB ({run.end['usage']['memory_source']})")


@test(parallel=False)
def pipes_are_bounded(t):
    """Kernel memory in pipes: descriptors, pipe size and the memory limit bound it together."""
    run = t.sbox(t.probe("eat"), "pipe", "5000", sets=MEMORY, opts=["--quiet"])
    got = int(run.text.split()[1]) if run.text.startswith("got") else None
    t.check(run.kind == "memory" or (got is not None and got < 520), run)


@test(parallel=False)
def memory_over_many_children(t):
    """Each below the limit, together far above."""
    t.probe("eat")
    script = "for i in $(seq 12); do ./probe-eat heap 100 & done; wait; echo survived"
    run = t.sbox("sh", "-c", script, sets=MEMORY)
    t.ended(run, "memory", 137)


@test()
def locked_memory(t):
    """R4: mlockall does not pin the machine's memory."""
    from syscalls import calls
    got, _ = calls(t, ("mlockall", 3))
    t.check(isinstance(got[0], str) or got[0] == 0, got)
    t.note(f"mlockall: {got[0]}")


@test(parallel=False, cases=["yes", "tr '\\0' x < /dev/zero", "yes >&2",
                             "while :; do printf y; done"])
def print_for_ever(t, script):
    sets = ["process.output=2M", "time.wall=4s"]
    run = t.sbox("sh", "-c", script, sets=sets, opts=["--quiet"], timeout=40)
    if script.startswith("while"):
        t.check(run.kind in ("output", "timeout"), run)
    else:
        t.ended(run, "output", 137)
        t.equal(run.decided_by, "process.output")
    t.check(len(run.out) + len(run.err) <= (2 << 20) + 1, "no more than the limit is passed on")
    result = t.sbox("sh", "-c", script, sets=sets, json_out=True)
    t.check(len(result.out) < 2 << 20, f"--json printed {len(result.out)} bytes")
    # which of the two limits a slow writer meets first is the machine's doing
    wanted = ("output", "timeout") if script.startswith("while") else ("output",)
    t.check(result.json["end"]["kind"] in wanted, result.json["end"])


@test(parallel=False)
def loop_of_refused_calls_is_charged(t):
    """A loop of refused calls buys no free processor time: the limit ends it by then."""
    control = t.plain(t.probe("spin"), "refused", "0.3")
    t.has(control.text, "done", "control")
    begun = time.monotonic()
    run = t.sbox(t.probe("spin"), "refused", "30", sets=["time.cpu=1s", "time.grace=200ms"],
                 timeout=40)
    took = time.monotonic() - begun
    t.ended(run, "cpu", 124)
    usage = run.end["usage"]
    total = (usage["user_ns"] + usage["sys_ns"] + (usage["sbox_cpu_ns"] or 0)) / 1e9
    t.note(f"cpu=1s: ended after {took:.2f} s of wall time, {total:.2f} s charged, "
           f"{usage['sbox_cpu_ns']} ns of it sbox's own")
    entry = run.denied(op="keyctl")
    t.check(entry and entry[0]["count"] > 100, f"counted: {run}")
    t.equal(entry[0]["errno"], "EPERM")


@test(parallel=False)
def many_different_refusals_stay_bounded(t):
    """A refusal of every kind, and paths without end: the table is bounded, the rest is counted."""
    script = "import os\nfor i in range(3000):\n  try: open(f'/etc/none-{i}', 'w')\n  except OSError: pass\n"
    run = t.sbox(PYTHON, "-c", script, timeout=60)
    t.ended(run, "exited", 0)
    t.check(len(run.denials) <= 256, len(run.denials))
    size = os.path.getsize(f"{t.store}/log.jsonl")
    t.check(size < 1 << 20, f"a record of {size} bytes")


@test(parallel=False)
def many_execs_stay_bounded(t):
    script = "for i in $(seq 700); do /bin/true $i; done"
    run = t.sbox("sh", "-c", script, timeout=60)
    t.ended(run, "exited", 0)
    t.check(len(run.end["execs"]) <= 512, len(run.end["execs"]))
    t.check(run.end["execs_total"] >= 700, run.end["execs_total"])

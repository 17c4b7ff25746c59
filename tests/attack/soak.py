# SPDX-License-Identifier: Apache-2.0
"""Many runs with mixed ends, some with sbox killed at random moments: nothing adds up.

Short by default (60 runs, 8 of them killed); FULL=1: 500 runs, 50 killed; `make soak RUNS=N JOBS=N` for any
number, beside one long run whose supervisor must not grow.
"""
import fcntl
import os
import random
import signal
import time

from sboxtest import cgroups, descendants, kill_tree, processes, test, wait_until

FULL = os.environ.get("FULL") == "1"
RUNS, KILLED, WIDTH = (500, 50, 4) if FULL else (60, 8, 4)
if "SOAK_RUNS" in os.environ:
    RUNS, WIDTH = int(os.environ["SOAK_RUNS"]), int(os.environ.get("SOAK_JOBS", "4"))
    KILLED = RUNS // 10
KILLS = 1000 if FULL else 60  # of supervisor, init and gate, in turn
GROWTH_KB = 2048  # of the long run's supervisor; its tables of programs and denials are bounded
KINDS = ("mnt", "user", "pid", "net", "uts", "ipc", "cgroup")

# arguments, overrides
ENDS = [(["true"], []), (["sh", "-c", "exit 3"], []), (["sh", "-c", "kill -SEGV $$"], []),
        (["sleep", "30"], ["time.wall=200ms"]), (["yes"], ["process.output=64K"]),
        (["no-such-program-xyz"], []), (["/etc"], []), (["true"], ["time.wal=1s"]),
        (["sh", "-c", "(setsid sleep 100 &); exit 0"], []), (["sh", "-c", "rm -rf *; echo x > y"],
                                                             ["file.writes=discard"]),
        (["sh", "-c", "mkdir -p a/b; echo x > a/b/c; rm -r a"], []),
        (["sh", "-c", "trap '' TERM; sleep 30"], ["time.wall=200ms", "time.grace=100ms"]),
        (["sh", "-c", "for i in 1 2 3 4 5; do sleep 20 & done; exit 1"], []),
        (["python3", "-c", "import multiprocessing as m; m.Pool(2).map(abs, [1, 2])"], [])]


def parent(pid):
    with open(f"/proc/{pid}/stat", "rb") as stat:
        return int(stat.read().rsplit(b") ", 1)[1].split()[1])


def spaces_of(pid):
    return {os.readlink(f"/proc/{pid}/ns/{kind}") for kind in KINDS}


def orphaned_namespaces():
    """Namespaces other than ours of processes whose supervisor is gone: the first of their
    ancestors below pid 1 or below us is itself inside one. (Runs of others are none of ours.)"""
    ours, found = spaces_of("self"), set()
    for pid in processes():
        try:
            top = pid
            while parent(top) not in (0, 1, 2, os.getpid()):
                top = parent(top)
            if parent(top) != 2 and pid != 1 and spaces_of(top) - ours:
                found |= spaces_of(pid) - ours
        except OSError:
            pass
    return found


def mounts():
    with open("/proc/self/mountinfo") as lines:
        return sorted(" ".join(line.split()[2:5]) for line in lines)


def leases():
    """Uid leases that nobody holds."""
    found = []
    for base, _, files in os.walk("/run/sbox") if os.geteuid() == 0 else ():
        found += [os.path.join(base, name) for name in files if is_free(os.path.join(base, name))]
    return sorted(found)


def is_free(path):
    """A lease that somebody holds is locked; a left one is not."""
    try:
        with open(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except OSError:
        return False


def empty_cgroups():
    found = []
    for path in cgroups():
        try:
            with open(f"{path}/cgroup.procs") as procs:
                if not procs.read().strip():
                    found.append(path)
        except OSError:
            pass
    return sorted(found)


def state(t):
    runs = f"{t.store}/runs"
    return {"cgroups": empty_cgroups(), "mounts": mounts(),
            "below us": len(descendants(os.getpid())),
            "runs folders": sorted(os.listdir(runs)) if os.path.isdir(runs) else [],
            "files in the workspace": sorted(os.listdir(t.ws))}


def begin(t, number, draw):
    argv, sets = ENDS[draw.randrange(len(ENDS))]
    child = t.start(*argv, sets=sets, opts=["--quiet", "--label", f"n={number}"],
                    stdin=-3, stdout=-3, stderr=-3)
    child.number, child.kill_at = number, None
    return child


def wait_for_one(children):
    """The first child that is over; kills those whose moment has come."""
    while True:
        now = time.monotonic()
        for child in children:
            if child.kill_at and now >= child.kill_at:
                child.kill_at = None
                if child.poll() is None:
                    child.send_signal(signal.SIGKILL)
            if child.poll() is not None:
                return child
        time.sleep(0.002)


def start_long(t):
    """A run that goes on beside all others: programs, refused calls, output."""
    loop = "i=0; while :; do /bin/true; touch /usr/x$i 2>/dev/null; echo $i; i=$((i+1)); sleep 0.02; done"
    child = t.start("sh", "-c", loop, sets=["time.wall=10h", "time.cpu=", "process.output="], opts=["--quiet", "--label", "n=long"],
                    stdin=-3, stdout=-3, stderr=-3)
    child.grown_from = None
    return child


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def end_long(t, child):
    """Ends it; its memory since the moment when its tables were full."""
    grown = resident_kb(child.pid) - child.grown_from
    child.send_signal(signal.SIGTERM)
    t.equal(child.wait(30), 128 + signal.SIGTERM, "the long run went on to its end")
    t.background.remove(child)
    t.note(f"the supervisor of a long run grew by {grown} kB")
    t.check(grown < GROWTH_KB, f"the supervisor of a long run grew by {grown} kB")


@test(parallel=False, timeout=max(240, RUNS * 2))
def runs_of_every_kind_leave_nothing(t):
    seed = int(os.environ.get("SEED", time.time_ns() % 1000000))
    draw = random.Random(seed)
    t.note(f"{RUNS} runs, {KILLED} of them killed; SEED={seed}")
    t.sbox("true")
    before, spaces, leased = state(t), orphaned_namespaces(), leases()
    long = start_long(t)
    to_kill = set(draw.sample(range(RUNS), KILLED))
    running, number, killed = [], 0, 0
    while number < RUNS or running:
        while number < RUNS and len(running) < WIDTH:
            child = begin(t, number, draw)
            if number in to_kill:
                child.kill_at = time.monotonic() + draw.uniform(0, 0.12)
            running.append(child)
            number += 1
        over = wait_for_one(running)
        killed += over.returncode == -signal.SIGKILL
        if over.number in to_kill and over.returncode != -signal.SIGKILL:
            to_kill.add(number)  # it was over before its moment: the next one instead
        running.remove(over)
        t.background.remove(over)
        if long.grown_from is None and number > RUNS // 4:
            long.grown_from = resident_kb(long.pid)
    end_long(t, long)
    settle(t)
    check_after(t, before, spaces, leased, killed)


def settle(t):
    """One more start removes what killed ones could not."""
    wait_until(lambda: not descendants(os.getpid()))
    t.no_process_left()
    run = t.sbox("true")
    t.ended(run, "exited", 0)


def check_after(t, before, spaces, leased, killed):
    after = state(t)
    after["files in the workspace"] = before["files in the workspace"]
    t.equal(after, before, "left on the machine")
    t.equal([path for path in leases() if path not in leased], [], "leases left")
    t.check(wait_until(lambda: not orphaned_namespaces() - spaces, 10),
            f"namespaces left: {orphaned_namespaces() - spaces}")
    t.note(f"{killed} really killed")
    records = t.records()
    started = {r["run"] for r in records if r["type"] == "run.start"}
    ended = {r["run"] for r in records if r["type"] == "run.end"}
    t.equal(len([r for r in records if r["type"] == "run.end"]), len(ended), "one end a run")
    unfinished = started - ended
    t.check(len(unfinished) <= killed, f"{len(unfinished)} without an end, {killed} killed")
    listed = t.audit("list", "--unfinished")
    missing = [run for run in unfinished if run not in listed.text]
    t.equal(missing, [], f"not listed as unfinished: {listed}")
    wrong = [run for run in ended if run in listed.text]
    t.equal(wrong, [], "finished runs listed as unfinished")
    t.check(all(a["seq"] + 1 == b["seq"] for a, b in zip(records, records[1:])), "sequence numbers")


@test(parallel=False, timeout=120)
def killed_at_every_moment_of_the_start(t):
    """kill -9 of sbox 0 to 12 ms after it began: the program dies too, the next start cleans up."""
    steps = 400 if FULL else 100
    for step in range(steps):
        child = t.start("sleep", "60", opts=["--quiet"], stdin=-3, stdout=-3, stderr=-3)
        time.sleep(step * 0.012 / steps)
        child.send_signal(signal.SIGKILL)
        child.wait()
        t.background.remove(child)
        gone = time.monotonic() + 5
        while descendants(os.getpid()) and time.monotonic() < gone:
            time.sleep(0.005)
        left = descendants(os.getpid())
        if left:
            kill_tree(os.getpid(), itself=False)
        t.equal(left, [], f"alive 5 s after kill -9 at {step * 12 / steps:.1f} ms")
    settle(t)


# Who is killed, and a profile with which there is such a process.
GATE = "[profile]\nextends = agent\n[network]\nmode = allow\nallow = example.org:443\n"
VICTIMS = ("sbox", "init", "gate")


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read().strip()
    except OSError:
        return ""


def victim_of(child, victim):
    """The pid, or 0 while there is none: init is the first child, the gate has its own name."""
    if victim == "sbox":
        return child.pid
    below = [pid for pid in descendants(child.pid) if pid != child.pid]
    if victim == "gate":
        return next((pid for pid in below if name_of(pid) == "sbox-gate"), 0)
    return next((pid for pid in below if name_of(pid) == "sbox"), 0)


def kill_one(t, draw, victim, profile):
    """Returns sbox's exit status and whether somebody was really killed."""
    # a question for a name is a socket, at which the gate is started: also half of the others are killed beside it
    with_gate = victim == "gate" or draw.random() < 0.5
    child = t.start("sh", "-c", "echo begun > marker; getent hosts nowhere.example; sleep 0.03", profile=profile if with_gate else None,
                    opts=["--quiet"], stdin=-3, stdout=-3, stderr=-3)
    time.sleep(draw.uniform(0, 0.06))
    pid = victim_of(child, victim)
    try:
        if pid:
            os.kill(pid, signal.SIGKILL)
    except OSError:
        pid = 0
    code = child.wait(30)
    t.background.remove(child)
    t.check(wait_until(lambda: not descendants(os.getpid()), 5), f"alive 5 s after kill -9 of {victim}")
    return code, bool(pid)


def check_record(t, what):
    """The record is whole; a run that began is in it; one end a run at most."""
    told = t.audit("verify")
    t.check(told.code in (0, 16), f"after {what}: {told}")
    records = t.records()
    starts = [record["run"] for record in records if record["type"] == "run.start"]
    ends = [record["run"] for record in records if record["type"] == "run.end"]
    t.equal(len(set(starts)), len(starts), "one start a run")
    t.equal(len(set(ends)), len(ends), "one end a run")
    return len(starts)


@test(parallel=False, timeout=1800 if FULL else 240)
def any_of_the_three_is_killed_at_any_moment(t):
    """kill -9 of supervisor, init or gate: no program without its record, nothing left by the next start."""
    seed = int(os.environ.get("SEED", time.time_ns() % 1000000))
    draw, profile = random.Random(seed), t.profile(GATE, "gate")
    t.sbox("true")  # makes the store
    killed, started = {victim: 0 for victim in VICTIMS}, check_record(t, "the first run")
    leased, spaces = leases(), orphaned_namespaces()
    for number in range(KILLS):
        victim, marker = VICTIMS[number % 3], f"{t.ws}/marker"
        code, hit = kill_one(t, draw, victim, profile)
        killed[victim] += hit
        now = check_record(t, f"kill {number} of {victim}, SEED={seed}")
        if os.path.exists(marker):
            t.equal(now, started + 1, f"a program ran and its start is not on record: kill {number} of {victim}, SEED={seed}")
            os.unlink(marker)
        # 137: killed with its pid 1; else the program's own end, or a start that failed
        t.check(code in (0, 125, 137, -signal.SIGKILL), f"exit status {code} after kill {number} of {victim}, SEED={seed}")
        started = now
        if number % 10 == 9:
            settle(t)
            t.clean()
            started += 1
    settle(t)
    t.clean()
    t.equal([path for path in leases() if path not in leased], [], "leases left")
    t.check(wait_until(lambda: not orphaned_namespaces() - spaces, 10), "namespaces left")
    t.note(", ".join(f"{victim} killed {count} times" for victim, count in killed.items()) + f"; SEED={seed}")

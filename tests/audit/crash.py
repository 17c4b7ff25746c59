# SPDX-License-Identifier: Apache-2.0
"""Many writers, kill -9, and power cuts: no record lost, and what was dropped is named.

64 writers x 1,000 runs ask the store without the sandbox (writers.c), and with it 64 x 10;
FULL=1: 64 x 1,000 with it as well.
"""
import collections
import json
import os
import random
import re
import shutil
import signal
import tempfile
import time

from auditlog import OK, UNFINISHED, Log, sha, verify
from sboxtest import Skip, send, test

WRITERS = 64
FULL = os.environ.get("FULL") == "1"
RUNS = 1000 if FULL else 10
LOOP = 'n=0; while [ $n -lt "$1" ]; do "$SBOX" $ARGS true || exit 9; n=$((n+1)); done'


def writers(t, count, runs, sets):
    """Shells that start one run after the other."""
    args = " ".join(t.command((), sets=[*sets, "audit.execs=no"], opts=["--quiet"])[1:])
    env = {"SBOX": t.sbox_path, "ARGS": args}
    with open(f"{t.dir}/said", "wb") as said:
        return [t.popen(["/bin/sh", "-c", LOOP, "sh", str(runs)], env=env, stdin=-3, stdout=-3,
                        stderr=said) for _ in range(count)]


def told(t, sync, runs, kills, seed):
    """What writers.c was told of each run: {id: (0 nothing, 1 start, 2 end; kind, code)}"""
    program = f"{t.tree}/probe/store-writers"
    if not os.path.exists(program):
        raise Skip("make probes makes tests/audit/writers")
    child = t.popen([program, t.store, str(WRITERS), str(runs), sync, str(kills), str(seed)],
                    stdout=-1, stderr=-1)
    out, err = t.communicate(child, None, 1500)
    t.equal(child.returncode, 0, err)
    rows = [line.split() for line in out.decode().splitlines()]
    return {row[0]: (int(row[1]), row[2], int(row[3])) for row in rows if len(row) == 4}  # killed before it had an id


RECORD = re.compile(rb'\{"v":1,"seq":(\d+),"prev":"([0-9a-f]{64})",(?:"sealed":\d+,"mac":"[0-9a-f]{64}",)?"type":"([a-z.]+)",'
                    rb'(?:"run":"(\w{26})",)?[^\x00-\x1f]*\}\n')
END = re.compile(rb'"end":\{"kind":"(\w+)","code":(\d+|null)')


def whole_chain(t, lines):
    """Each line a record, each built on the one before; {type: [run]}, {run: (kind, code)}, how many."""
    runs, ends, before, seq = collections.defaultdict(list), {}, b"0" * 64, 0
    for number, (_, line) in enumerate(lines):
        match = RECORD.fullmatch(line)
        t.check(match, f"no record: {line!r:.300}")
        t.check(match[2] == before and int(match[1]) > seq, f"{match[1]} breaks the chain")
        before, seq, run = sha(line).encode(), int(match[1]), (match[4] or b"").decode()
        runs[match[3].decode()].append(run)
        if match[3] == b"run.end":
            end = END.search(line)
            ends[run] = (end[1].decode(), None if end[2] == b"null" else int(end[2]))
        if number % 50 == 0:
            json.loads(line)
    return runs, ends, len(lines)


# What, sync, runs of each writer, processes killed, with a seal, in memory. A thousand runs of each are
# synced on a disk only with FULL=1: other users of the disk make minutes of it.
STORE_ROWS = [("a thousand", "group", 1000, 200, False, not FULL), ("on disk", "group", 60, 20, False, False),
              ("sealed", "none", 200, 60, True, not FULL), ("one by one", "start,end", 1000 if FULL else 60, 20, False, False)]


def memory_store(t):
    """A store that no disk is waited for; removed by what calls this."""
    if not os.path.isdir("/dev/shm"):
        return None
    folder = t.own(tempfile.mkdtemp(prefix="sbox-test-", dir="/dev/shm"))
    t.store = f"{folder}/store"
    return folder


@test(parallel=False, timeout=1600, cases=STORE_ROWS)
def store_writers(t, row):
    """The store alone, as the launcher asks it: nothing that was acknowledged is missing, once each."""
    folder, store = memory_store(t) if row[5] else None, t.store
    try:
        store_row(t, *row[:5])
    finally:
        t.store = store
        if folder is not None:
            shutil.rmtree(folder)


def store_row(t, what, sync, runs, kills, with_seal):
    seal = t.write(f"{t.dir}/seal", t.audit("init", "--key").out) if with_seal else None
    begun = time.monotonic()
    known = told(t, sync, runs, kills, seed=20)
    took = time.monotonic() - begun
    code, verdict = verify(t, seal=seal)
    t.check(code in (OK, UNFINISHED), verdict)
    runs_of, ends, records = whole_chain(t, Log(t.store).lines)
    starts = set(runs_of["run.start"])
    for kind in ("run.start", "run.end"):
        t.equal(len(runs_of[kind]), len(set(runs_of[kind])), f"{kind} twice")
        t.equal(set(runs_of[kind]) - set(known), set(), f"{kind} of nobody")
    for run, (state, kind, number) in known.items():
        t.check(state < 1 or run in starts, f"the start of {run} is gone")
        wanted = (kind, number if kind in ("exited", "signaled", "cancelled") else None)
        t.check(state < 2 or ends.get(run) == wanted, f"the end of {run}: {ends.get(run)}, not {wanted}")
    whole = sum(state == 2 for state, _, _ in known.values())
    t.check(whole >= WRITERS * runs, f"{whole} runs came to their end")
    t.equal(os.listdir(f"{t.store}/runs"), [], "marks of runs")
    t.note(f"{what}: {WRITERS} writers x {runs} runs, sync = {sync}: {records} records in {took:.0f} s, {verdict['files']} files, "
           f"{kills} killed, {len(verdict['unfinished'])} runs without an end, {len(runs_of['log.recovered'])} times repaired")


@test(parallel=False, timeout=7200 if FULL else 600,
      callers=("root", "user") if FULL else ("user",), cases=["start,end", "group"])
def many_writers(t, sync):
    """No line in another, no run missing, one chain through all files."""
    begun = time.monotonic()
    for child in writers(t, WRITERS, RUNS, [f"audit.sync={sync}", "audit.segment=1M",
                                            "audit.keep=all"]):
        t.equal(child.wait(), 0, t.read(f"{t.dir}/said"))
        t.background.remove(child)
    code, told = verify(t)
    t.equal(code, OK, told)
    records = [json.loads(line) for _, line in Log(t.store).lines]
    for kind in ("run.start", "run.end"):
        runs = {r["run"] for r in records if r["type"] == kind}
        t.equal(len(runs), WRITERS * RUNS, kind)
    t.equal([r["seq"] for r in records], list(range(1, len(records) + 1)), "numbers")
    t.notes.append(f"{WRITERS} writers x {RUNS} runs, sync = {sync}: "
                   f"{time.monotonic() - begun:.1f} s, {told['files']} files")


@test(parallel=False, timeout=300, callers=("user",), cases=[False, True])
def killed_runs(t, with_seal):
    """kill -9 at any moment leaves an unfinished run, or none; never a broken log."""
    seal = t.write(f"{t.dir}/seal", t.audit("init", "--key").out) if with_seal else None
    dice = random.Random(7)
    for _ in range(40):
        child = t.start("true", sets=["audit.segment=32K"])
        time.sleep(dice.uniform(0, 0.02))
        send(child.pid, signal.SIGKILL)
        child.communicate()
        t.background.remove(child)
    t.equal(t.sbox("true").code, 0, "the next one runs")
    code, told = verify(t, seal=seal)
    t.check(code in (OK, UNFINISHED), told)
    for note in told["notes"]:
        t.check(any(word in note for word in ("torn_tail", "behind", "head_missing")), note)


def copy_at_random(t, dice, number):
    """What a power cut may leave: each file as it was at a moment of its own."""
    target = f"{t.dir}/cut{number}"
    os.mkdir(target, 0o700)
    names = [n for n in os.listdir(t.store) if n.startswith("log") or n in ("head", "key")]
    dice.shuffle(names)
    for name in names:
        time.sleep(dice.uniform(0, 0.002))
        try:
            shutil.copyfile(f"{t.store}/{name}", f"{target}/{name}")
        except FileNotFoundError:
            continue  # renamed meanwhile: this copy is without it
        os.chmod(f"{target}/{name}", 0o600)
        t.own(f"{target}/{name}")
    return t.own(target)


def whole_lines(path):
    with open(path, "rb") as file:
        return [line for line in file.read().splitlines(True) if line.endswith(b"\n")]


@test(parallel=False, timeout=300, callers=("user",), cases=[False, True])
def power_cuts(t, with_seal):
    """Copies of the files at random moments, while runs write: each goes on as a good store."""
    seal = t.write(f"{t.dir}/seal", t.audit("init", "--key").out) if with_seal else None
    dice, store = random.Random(3), t.store
    busy = writers(t, 4, 60, ["audit.keep=all"])
    cuts = []
    while any(child.poll() is None for child in busy) and len(cuts) < 25:
        time.sleep(0.05)
        cuts.append(copy_at_random(t, dice, len(cuts)))
    for child in busy:
        child.wait()
        t.background.remove(child)
    t.check(len(cuts) > 3, "copies were made in time")
    for cut in cuts:
        t.store = cut
        before = whole_lines(f"{cut}/log.jsonl")
        t.equal(t.sbox("true").code, 0, cut)
        after = whole_lines(f"{cut}/log.jsonl")
        t.equal(after[:len(before)], before, "every whole record is still there")
        code, told = verify(t, seal=seal)
        t.check(told["integrity"]["ok"], f"{cut}: {told}")
        if code & 8:  # head or key was newer than the log in this copy: then it says so
            t.check("lost" in told["completeness"]["problems"][0], told)
        shutil.rmtree(cut)
    t.store = store
    t.equal(verify(t, seal=seal)[0], OK)


@test(timeout=300, callers=("user",))
def torn_at_each_byte(t):
    """The last write, cut at each byte: the record is dropped and named, or it is whole."""
    t.equal(t.sbox("true").code, 0)
    t.equal(t.sbox("true").code, 0)
    text = t.read(f"{t.store}/log.jsonl")
    head = t.read(f"{t.store}/head")
    start = text.rindex(b"\n", 0, len(text) - 1) + 1
    store, whole = t.store, text[:start].count(b"\n")
    step = max(1, (len(text) - start) // 60)
    t.store = f"{t.dir}/torn"
    for cut in [*range(start + 1, len(text), step), len(text) - 1]:
        t.mkdir(t.store, 0o700)
        t.write(f"{t.store}/log.jsonl", text[:cut], mode=0o600)
        t.write(f"{t.store}/head", head, mode=0o600)
        made = t.audit("init", "--key")  # the next record, without a run
        t.equal(made.code, 0, made.errtext)
        records = t.records()
        t.equal([r["type"] for r in records[whole:]], ["log.recovered", "log.key"], cut)
        t.equal(records[whole]["dropped_bytes"], cut - start, "what was dropped")
        kept = records[whole]["dropped_kept"]
        t.equal(t.read(f"{t.store}/{kept}"), text[start:cut], "and it is kept")
        shutil.rmtree(t.store)
    t.store = store

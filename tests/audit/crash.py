# SPDX-License-Identifier: Apache-2.0
"""Many writers, kill -9, and power cuts: no record lost, and what was dropped is named.

FULL=1: 64 writers x 1,000 runs instead of 64 x 20.
"""
import json
import os
import random
import shutil
import signal
import time

from auditlog import OK, UNFINISHED, Log, verify
from sboxtest import send, test

WRITERS = 64
RUNS = 1000 if os.environ.get("FULL") == "1" else 20
LOOP = 'n=0; while [ $n -lt "$1" ]; do "$SBOX" $ARGS true || exit 9; n=$((n+1)); done'


def writers(t, count, runs, sets):
    """Shells that start one run after the other."""
    args = " ".join(t.command((), sets=[*sets, "audit.execs=no"], opts=["--quiet"])[1:])
    env = {"SBOX": t.sbox_path, "ARGS": args}
    return [t.popen(["/bin/sh", "-c", LOOP, "sh", str(runs)], env=env, stdin=-3, stdout=-3,
                    stderr=-3) for _ in range(count)]


@test(parallel=False, timeout=7200 if RUNS > 20 else 600, callers=("user",),
      cases=["start,end", "group"])
def many_writers(t, sync):
    """No line in another, no run missing, one chain through all files."""
    begun = time.monotonic()
    for child in writers(t, WRITERS, RUNS, [f"audit.sync={sync}", "audit.segment=1M",
                                            "audit.keep=all"]):
        t.equal(child.wait(), 0, "a writer")
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

# SPDX-License-Identifier: Apache-2.0
"""Many at one store at once: writers, retention and readers; and a store that is moved away under a run."""
import json
import os
import subprocess

from auditlog import OK, UNFINISHED, Log, verify
from sboxtest import Skip, test


def writers(t, count, runs):
    program = f"{t.tree}/probe/store-writers"
    if not os.path.exists(program):
        raise Skip("make probes makes tests/audit/writers")
    with open(f"{t.dir}/told", "wb") as told:
        return t.popen([program, t.store, str(count), str(runs), "none", "8", "5", "262144"], stdout=told, stderr=subprocess.PIPE)


@test(parallel=False, timeout=300)
def prune_and_readers_while_appending(t):
    """No reader ever sees a broken log, and what retention takes is on record; nothing acknowledged is lost but by it."""
    t.equal(t.audit("init").code, 0)
    child = writers(t, 8, 150)
    verdicts, listed = set(), 0
    while child.poll() is None:
        t.equal(t.audit("prune", "--keep", "2M").code, 0)
        code, told = verify(t)
        t.check(code in (OK, UNFINISHED), f"while it grows: {told}")
        verdicts.add(code)
        result = t.audit("list", "--json", "--limit", "50")
        t.equal((result.code, result.err), (0, b""), result)
        listed += len(result.out.splitlines())
    _, err = t.communicate(child, None, 60)
    t.equal(child.returncode, 0, err)
    t.check(listed > 0 and verdicts, "readers came to read")
    t.equal(t.audit("prune", "--keep", "1M").code, 0)
    code, told = verify(t)
    t.check(code in (OK, UNFINISHED), told)
    records = [json.loads(line) for _, line in Log(t.store).lines]
    ends = [r["run"] for r in records if r["type"] == "run.end"]
    known = [line.split()[0] for line in t.read(f"{t.dir}/told").decode().splitlines() if " 2 " in line]
    t.equal(set(ends) - set(known), set(), "ends of nobody")
    first = min(r["seq"] for r in records)
    t.check(first == 1 or any(r["type"] == "log.pruned" for r in records), "what is gone is on record")
    if first == 1:
        t.equal(set(known) - set(ends), set(), "all are there")
    t.note(f"first record {first}, last {records[-1]['seq']}, verdicts on the way {sorted(verdicts)}")


@test()
def moved_away_under_a_run(t):
    """A link, another folder or nothing in the store's place while a run goes on: its end is where its start is."""
    for number, put in enumerate(("link", "folder", "nothing")):
        t.store, aside, trap = f"{t.dir}/s{number}", f"{t.dir}/aside{number}", f"{t.dir}/trap{number}"
        child = t.start("sh", "-c", "echo up; read x")
        child.stdout.readline()
        os.rename(t.store, aside)
        t.mkdir(trap, 0o700)
        if put == "link":
            os.symlink(trap, t.store)
        elif put == "folder":
            os.rename(trap, t.store)
        t.communicate(child, b"\n", 20)
        t.equal(child.returncode, 0, put)
        t.equal(os.listdir(trap if put == "link" else t.store) if put != "nothing" else [], [], "nothing was written there")
        t.equal(os.path.exists(t.store), put != "nothing", "and nothing was made")
        if put == "link":
            again = t.plain(*t.command(["true"]))
            t.equal((again.code, os.listdir(trap)), (125, []), "a store that is a link is refused")
        t.store = aside
        t.equal([r["type"] for r in t.records()], ["run.start", "run.end"], put)
        t.equal(verify(t)[0], OK)
        t.clean()

# SPDX-License-Identifier: Apache-2.0
"""HumanEval's 164 reference solutions, each in a sandbox of its own: 164 exits 0."""
import gzip
import json
import os

from sboxtest import Skip, test

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/data/HumanEval.jsonl.gz")


def tasks():
    if not os.path.exists(DATA):
        raise Skip("../shared/data/HumanEval.jsonl.gz is not here")
    with gzip.open(DATA, "rt") as lines:
        return [json.loads(line) for line in lines]


def program(task):
    return f"{task['prompt']}{task['canonical_solution']}\n{task['test']}\ncheck({task['entry_point']})\n"


@test(parallel=False, timeout=300)
def all_reference_solutions_exit_0(t):
    wanted, running, failed = tasks(), [], []
    total = len(wanted)
    while wanted or running:
        while wanted and len(running) < 2:
            task = wanted.pop(0)
            name = task["task_id"].replace("/", "_")
            t.write(f"{name}/x.py", program(task))
            child = t.start("python3", "x.py", cwd=f"{t.ws}/{name}", opts=["--quiet"])
            running.append((task["task_id"], child))
        task_id, child = running.pop(0)
        out, err = t.communicate(child, b"", 60)
        if child.returncode != 0 or out:
            failed.append((task_id, child.returncode, err[-300:]))
    t.equal(failed, [], "did not exit 0")
    ends = [r for r in t.records() if r["type"] == "run.end"]
    t.equal((len(ends), {r["end"]["kind"] for r in ends}), (total, {"exited"}))


@test(parallel=False)
def a_wrong_solution_exits_1(t):
    """The control: the check does notice."""
    task = tasks()[0]
    t.write("x.py", program({**task, "canonical_solution": "    return None\n"}))
    run = t.sbox("python3", "x.py")
    t.ended(run, "exited", 1)

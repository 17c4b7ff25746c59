# SPDX-License-Identifier: Apache-2.0
"""Every record fits audit/schema.json, and the schema is strict enough to notice."""
import copy
import json
import os
import signal

from jsonschema_small import faults
from sboxtest import PYTHON, test

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
with open(f"{TOP}/audit/schema.json", encoding="utf-8") as file:
    SCHEMA = json.load(file)

HOSTILE = ["\x1b]0;t\x07\n", "\u2028", "a" * 70000, "</script>", ""]


def make_records(t):
    t.write("x.py", "print('hi')\n")
    t.sbox("python3", "x.py", opts=["--label", "a=b"])
    t.sbox("sh", "-c", "exit 3")
    t.sbox("sh", "-c", "kill -SEGV $$")
    t.sbox("sh", "-c", "seq 1 200000; echo x >&2", sets=["audit.stdin=keep"], stdin=b"in\xff\n")
    t.sbox("sleep", "9", sets=["time.wall=200ms"])
    t.sbox(PYTHON, "-c", "import socket\ntry: socket.socket(40, 1)\nexcept OSError: pass")
    t.sbox("./not-there")
    t.sbox(t.probe("args"), *HOSTILE, b"\xff\xfe", opts=["--label", "k\xff=v\n"])
    for i in range(12):
        t.sbox("sh", "-c", f"echo {i}; sleep 0.01; echo {i} >&2")
    child = t.start("sh", "-c", "echo up; sleep 60")
    child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    t.communicate(child, None, 20)
    with open(f"{t.store}/log.jsonl", "ab") as log:
        log.write(b'{"v":1,"seq":99,"type":"run.st')
    t.sbox("true")
    return t.records()


@test(timeout=120)
def records_fit(t):
    records = make_records(t)
    for record in records:
        t.equal(faults(SCHEMA, record), [], f"{record['type']} {record.get('seq')}")
    types = {r["type"] for r in records}
    t.check(types >= {"run.start", "run.end", "log.recovered"}, types)
    kinds = {r["end"]["kind"] for r in records if r["type"] == "run.end"}
    t.check(kinds >= {"exited", "signaled", "timeout", "not_found"}, kinds)


@test()
def golden_records_fit(t):
    folder = f"{TOP}/tests/golden"
    for name in sorted(os.listdir(folder)):
        if not name.startswith(("record-start", "record-end")):
            continue
        with open(f"{folder}/{name}", encoding="utf-8") as golden:
            record = json.load(golden)
        record.update(v=1, seq=1, prev="0" * 64)  # the store's part
        t.equal(faults(SCHEMA, record), [], name)


@test()
def schema_notices(t):
    t.sbox("echo", "x")
    start, end = t.records()[:2]
    for change in (lambda r: r.update(more=1), lambda r: r.pop("run"), lambda r: r.update(time="today"),
                   lambda r: r.update(seq=-1), lambda r: r.update(prev="x"), lambda r: r.update(v=2)):
        for record in (start, end):
            changed = copy.deepcopy(record)
            change(changed)
            t.check(faults(SCHEMA, changed), f"not noticed: {changed!r:.300}")
    changed = copy.deepcopy(end)
    changed["end"]["kind"] = "odd"
    t.check(faults(SCHEMA, changed), "a kind that is none")
    changed = copy.deepcopy(start)
    changed["argv"] = [{"base64": "not base64!"}]
    t.check(faults(SCHEMA, changed), "no base64")


@test()
def documented_members(t):
    """SCHEMA.md names every member of the schema."""
    with open(f"{TOP}/audit/SCHEMA.md", encoding="utf-8") as page:
        text = page.read()

    def members(schema):
        for name, part in schema.get("properties", {}).items():
            yield name
            yield from members(part)
        for part in (schema.get("items"), *schema.get("anyOf", [])):
            if part:
                yield from members(part)

    for name, definition in SCHEMA["definitions"].items():
        for member in members(definition):
            t.check(f"`{member}`" in text, f"{name}.{member} is not in SCHEMA.md")

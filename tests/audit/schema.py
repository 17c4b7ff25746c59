# SPDX-License-Identifier: Apache-2.0
"""audit/SCHEMA.md says what records hold, and sbox-audit(5) says what SCHEMA.md says."""
import importlib.machinery
import importlib.util
import json
import os
import re

from auditlog import Log
from sboxtest import test

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STORE_OWN = ["v", "seq", "prev", "type"]


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def members(kind):
    """Names in the first table of a record's section, in order; `a`, `b` is two."""
    section = re.search(rf"^## {re.escape(kind)}\n(.*?)(?=^## |\Z)", read("audit/SCHEMA.md"),
                        re.M | re.S).group(1)
    table = re.search(r"(?:^\|.*\n)+", section, re.M).group(0).splitlines()[2:]
    return [name for row in table for name in re.findall(r"`([^`]*)`", row.split("|")[1])]


@test(callers=("user",))
def page_is_in_step(t):
    loader = importlib.machinery.SourceFileLoader("schema_page",
                                                  os.path.join(TOP, "tests/tools/schema-page"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("schema_page", loader))
    loader.exec_module(module)
    t.check(module.page(read("audit/SCHEMA.md")) == read("man/sbox-audit.5"),
            "run tests/tools/schema-page >man/sbox-audit.5")


@test(callers=("user",))
def records_have_these_members(t):
    """One record of every type, each with the members of its table in that order."""
    t.equal(t.audit("init", "--key").code, 0)
    for _ in range(4):
        t.sbox("sh", "-c", "echo out; cat /etc/shadow", sets=["audit.segment=4K"])
    path = f"{t.store}/log.jsonl"
    with open(path, "ab") as log:
        log.write(b'{"v":1,"torn')
    t.equal(t.sbox("true").code, 0)
    before = {json.loads(line)["type"] for _, line in Log(t.store).lines}
    t.equal(t.audit("prune", "--keep", "1K").code, 0)
    lines = [line for _, line in Log(t.store).lines]
    seen = {}
    for line in lines:
        record = json.loads(line)
        seen[record["type"]] = list(record)
    told = set(re.findall(r"`([a-z.]+)`", re.search(r"^\| `type` .*$", read("audit/SCHEMA.md"),
                                                    re.M).group(0))) - {"type"}
    t.equal(before | set(seen), told, "types")
    for kind, names in seen.items():
        own = ["v", "seq", "prev", "sealed", "mac", "type"]
        t.equal(names, own + members(kind), kind)

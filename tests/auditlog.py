# SPDX-License-Identifier: Apache-2.0
"""For tests/audit: the lines of a store, and the verdicts of `sbox audit verify`."""
import glob
import hashlib
import json
import re

OK, BROKEN, INCOMPLETE, UNFINISHED = 0, 4, 8, 16


class Log:
    """All lines of a store, oldest first, each with the file it is in."""

    def __init__(self, store):
        self.store = store
        self.files = sorted(glob.glob(f"{store}/log-*.jsonl")) + [f"{store}/log.jsonl"]
        self.lines = []
        for path in self.files:
            with open(path, "rb") as file:
                self.lines += [[path, line] for line in file.read().splitlines(True)]

    def save(self):
        """In place: owner and mode stay."""
        for path in self.files:
            with open(path, "r+b") as file:
                file.truncate()
                file.write(b"".join(line for where, line in self.lines if where == path))

    def head(self):
        """Written to fit the last line."""
        with open(f"{self.store}/head", encoding="ascii") as file:
            old = json.load(file)
        last = json.loads(self.lines[-1][1])
        current = [line for path, line in self.lines if path == self.files[-1]]
        head = (f'{{"seq":{last["seq"]:20d},"hash":"{sha(self.lines[-1][1])}",'
                f'"bytes":{sum(map(len, current)):20d},"first":{json.loads(current[0])["seq"]:20d},'
                f'"since":{old["since"]:20d},"sealed":{last.get("sealed", 0):20d}')
        with open(f"{self.store}/head", "r+", encoding="ascii") as file:
            file.write(f'{head},"check":"{sha(head.encode())[:16]}"}}\n')

    def rebuild(self, start=0):
        """The chain anew: each prev is the hash of the line before."""
        for i in range(max(start, 1), len(self.lines)):
            prev = sha(self.lines[i - 1][1]).encode()
            self.lines[i][1] = re.sub(rb'"prev":"[0-9a-f]{64}"', b'"prev":"%s"' % prev,
                                      self.lines[i][1], count=1)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def verify(t, *argv, seal=None):
    options = [*argv, "--json", *(["--key", seal] if seal else [])]
    run = t.audit("verify", *options)
    t.check(run.code & 3 == 0, f"verify could not do its work: {run}")
    return run.code, json.loads(run.out)

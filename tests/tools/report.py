# SPDX-License-Identifier: Apache-2.0
"""Counts for a check script: what fails or is skipped is named, and the last line sums up."""

import os
import sys

BUILD = os.environ.get("BUILD", "build")
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Report:
    def __init__(self):
        self.name = os.path.basename(sys.argv[0])
        self.passed = self.failed = self.skipped = 0

    def ok(self, what):
        self.passed += 1
        if os.environ.get("V"):
            print(f"ok      {what}")

    def fail(self, what, why=""):
        self.failed += 1
        print(f"FAILED  {self.name}: {what}" + (f": {why}" if why else ""))

    def skip(self, what, why):
        """A skip always says why; with STRICT=1 it is a failure."""
        if os.environ.get("STRICT") == "1":
            self.fail(what, f"may not be skipped: {why}")
            return
        self.skipped += 1
        print(f"skipped {self.name}: {what}: {why}")

    def check(self, what, good, why=""):
        if good:
            self.ok(what)
        else:
            self.fail(what, why)
        return good

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        sys.exit(1 if self.failed else 0)

# SPDX-License-Identifier: Apache-2.0
"""CPython's regression suite, one test file at a time: what each test in it says.

    verdicts(t, "test_os", inside=True)   -> {"test.test_os.FileTests.test_open": "ok", ...}

A verdict is ok, failed or skipped; the file itself has one as well, under its own
name, which is "died N" when the interpreter did not live to report.
"""
import fnmatch
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

PYTHON = "/usr/bin/python3.11"
SUITE = "/usr/lib/python3.11/test/libregrtest"
# Tests that are not run, in neither world, and why.
IGNORED = {
    # Inside there is no such protocol, which these do not expect: they break the report.
    "test_socket": ["*UDPLITE*"],
}
# Everything but what wants another machine, a display or a sound card.
RESOURCES = "all,-network,-urlfetch,-gui,-audio"
# How long one file may take: ten times what the longest needs on a quiet machine, minutes
# before which the suite itself says where it hangs.
FILE_SECONDS = int(os.environ.get("CPYTHON_SECONDS", "1500"))
TEST_SECONDS = FILE_SECONDS - 60
# Nothing about boundaries: the clock is the test's, and Python writes bytecode as it does outside.
SETS = [f"time.wall={FILE_SECONDS + 60}s", "environment.set="]


def version():
    """Debian's version of the suite, or None when it is not installed."""
    if not (os.path.exists(PYTHON) and os.path.isdir(SUITE)):
        return None
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libpython3.11-testsuite"],
                           capture_output=True, text=True)
    return shown.stdout or "unknown"


def files():
    shown = subprocess.run([PYTHON, "-m", "test", "--list-tests"], capture_output=True, text=True, check=True)
    return shown.stdout.split()


def command(name, report):
    line = [PYTHON, "-m", "test", "-u", RESOURCES, "--timeout", str(TEST_SECONDS), "--junit-xml", report]
    for pattern in IGNORED.get(name, ()):
        line += ["--ignore", pattern]
    return line + [name]


def verdicts(t, name, inside):
    """Runs the file in a fresh folder of the same name in both worlds."""
    folder = f"{t.ws}/p"
    shutil.rmtree(folder, ignore_errors=True)
    t.mkdir("p")
    runner, extra = (t.sbox, {"opts": ["--quiet"], "sets": SETS}) if inside else (t.plain, {})
    run = runner(*command(name, "report.xml"), cwd=folder, timeout=FILE_SECONDS, **extra)
    found = read_report(f"{folder}/report.xml")
    found[name] = file_verdict(run)
    shutil.rmtree(folder, ignore_errors=True)
    return found, run


def file_verdict(run):
    for words, verdict in (("1 test OK", "ok"), ("1 test (skipped|altered|run no)|resource denied", "skipped"),
                           ("1 test failed", "failed")):
        if re.search(words, run.text):
            return verdict
    return f"died {run.code}"


def read_report(path):
    try:
        root = xml.parse(path).getroot()
    except (OSError, xml.ParseError):
        return {}
    found = {}
    for case in root.iter("testcase"):
        verdict = "ok"
        if case.find("skipped") is not None:
            verdict = "skipped"
        if case.find("error") is not None or case.find("failure") is not None:
            verdict = "failed"
        if not case.get("name"):
            continue  # a test whose subtests failed: QUIRK of the suite's report
        key = stable(case.get("name"))
        # Subtests have the name of their test; the worst counts.
        if found.get(key) != "failed":
            found[key] = verdict
    return found


def stable(name):
    """Without addresses and numbers that differ from run to run."""
    return re.sub(r"0x[0-9a-f]+", "0x", name)


class Differences:
    """The table of verdicts that are known to differ: "PATTERN: OUTSIDE -> INSIDE" below the
    line that says which boundary is the reason. "-" stands for a test that did not run, a
    question mark at the end for what is so on some machines only."""

    LINE = re.compile(r"(?m)^([^\s#]\S*): (\S+) -> (\S+)( \?)?$")

    def __init__(self, path):
        with open(path) as table:
            self.rows = self.LINE.findall(table.read())

    def unexplained(self, differences):
        return {f"{name}: {outside} -> {inside}" for name, outside, inside in differences
                if not any(self.holds(row, (name, outside, inside)) for row in self.rows)}

    def untrue(self, file, differences, names):
        """Lines about tests of that file which nothing bears out."""
        return {"%s: %s -> %s, says the table" % row[:3] for row in self.rows
                if not row[3] and (row[0] == file or any(fnmatch.fnmatchcase(name, row[0]) for name in names))
                and not any(self.holds(row, difference) for difference in differences)}

    @staticmethod
    def holds(row, difference):
        return fnmatch.fnmatchcase(difference[0], row[0]) and row[1:3] == difference[1:]


def unlike(outside, inside):
    """[(test, outside, inside)] where they differ."""
    pairs = ((name, outside.get(name, "-"), inside.get(name, "-")) for name in sorted({*outside, *inside}))
    return [(name, before, after) for name, before, after in pairs if before != after]


class Cache:
    """Verdicts outside, kept between runs: they do not depend on sbox."""

    def __init__(self, folder):
        self.folder = folder
        if folder:
            os.makedirs(folder, exist_ok=True)

    def get(self, name):
        try:
            with open(f"{self.folder}/{name}.json") as kept:
                return json.load(kept)
        except (OSError, ValueError):
            return None

    def put(self, name, found):
        if self.folder and not any(verdict.startswith("died") for verdict in found.values()):
            with open(f"{self.folder}/{name}.json", "w") as kept:
                json.dump(found, kept, indent=0)

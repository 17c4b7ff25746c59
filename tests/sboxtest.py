# SPDX-License-Identifier: Apache-2.0
"""What a test gets: a decorator, a fresh workspace and store, and sbox itself.

A test is a function `name(t)` under @test(). tests/run executes it in a
process of its own, once for each caller ("root", "user"), and that process is
a child subreaper: whatever sbox leaves alive becomes its child and is found.

    t.sbox("sh", "-c", "exit 3")   -> Run: code, out, err, json, start, end
    t.plain("sh", "-c", "exit 3")  -> the same without sbox: the control
    t.ws, t.home, t.dir            workspace (cwd of runs), fake home, all of it

Nothing here kills by name: only by process id, found by walking parents.
"""
import ctypes
import gzip
import json
import os
import shutil
import subprocess
import sys
import time

from processes import (  # noqa: F401
    SLOW, children, descendants, is_alive, kill_tree, process_line, processes, processes_with, send,
    wait_until)
from syscalls import NR

PATH = "/usr/local/bin:/usr/bin:/bin"
PYTHON = "/usr/bin/python3"
PR_SET_CHILD_SUBREAPER = 36
TESTS = []
LEFT_OUT = {}  # for the launcher of tests/mutant/: a variable that it takes out again
libc = ctypes.CDLL(None, use_errno=True)


class Skip(Exception):
    """The machine cannot show this; the text says why."""


class Failure(AssertionError):
    pass


class Test:
    def __init__(self, function, options, case):
        self.function, self.case = function, case
        self.file = sys.modules[function.__module__].LABEL
        self.name = function.__name__ + (f"[{case_name(case)}]" if case is not None else "")
        self.parallel = options["parallel"]
        self.timeout = options["timeout"] * SLOW
        callers = options["callers"]
        self.callers = callers(case) if callable(callers) else callers
        self.row = options["row"]


def case_name(case):
    first = case[0] if isinstance(case, (tuple, list)) else case
    return str(first).replace("\n", "\\n")


def test(parallel=True, timeout=60, callers=("root", "user"), cases=None, row=None):
    """Registers a test; with `cases` one test for each, called as f(t, case). callers: who they
    are, or a function of the case that says so. row: of the list of attempts."""
    options = {"parallel": parallel, "timeout": timeout, "callers": callers, "row": row}

    def register(function):
        for case in cases if cases is not None else [None]:
            TESTS.append(Test(function, options, case))
        return function
    return register


# ---- results ---------------------------------------------------------------

class Run:
    """One finished run: what the caller of sbox saw, and what was written down."""

    def __init__(self, code, out, err, records, wall):
        self.code, self.out, self.err, self.wall = code, out, err, wall
        self.records = records
        self.start = first(records, "run.start")
        self.end = first(records, "run.end")
        self.json = None

    @property
    def text(self):
        return self.out.decode(errors="replace")

    @property
    def errtext(self):
        return self.err.decode(errors="replace")

    @property
    def kind(self):
        return self.end["end"]["kind"] if self.end else None

    @property
    def decided_by(self):
        return self.end["end"].get("decided_by") if self.end else None

    @property
    def denials(self):
        return (self.end or {}).get("denials") or []

    def denied(self, op=None, object=None, boundary=None):
        """Denials with that op, whose object holds that text."""
        return [d for d in self.denials
                if (op is None or d["op"] == op)
                and (object is None or object in str(d.get("object")))
                and (boundary is None or d["boundary"] == boundary)]

    def __str__(self):
        return (f"code {self.code}, end {self.end and self.end.get('end')}, wall {self.wall:.2f}\n"
                f"  out: {self.out[-1500:]!r}\n  err: {self.err[-1500:]!r}\n"
                f"  denials: {json.dumps(self.denials)[:1500]}")


def parse_line(line):
    try:
        return json.loads(line)
    except ValueError:
        return {"type": "not JSON", "line": line}


def first(records, kind):
    return next((r for r in records if r.get("type") == kind), None)


def landlock_abi():
    """0: none."""
    return max(0, libc.syscall(NR["landlock_create_ruleset"], None, 0, 1))


def can_discard():
    """[file] writes = discard: an overlay with its layers in memory, in a user namespace."""
    return tuple(int(part) for part in os.uname().release.split(".")[:2]) >= (6, 6)


def needs_discard():
    if not can_discard():
        raise Skip(f"writes = discard needs Linux 6.6, this is {os.uname().release}")


def die_with_parent():
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)


# ---- the context of one test -----------------------------------------------

class T:
    def __init__(self, tree, caller, uid, gid, directory):
        self.tree, self.caller, self.uid, self.gid = tree, caller, uid, gid
        self.dir = directory
        self.ws, self.home = f"{directory}/ws", f"{directory}/home"
        self.store = f"{directory}/store"
        self.sbox_path = f"{tree}/bin/sbox"
        self.background = []
        self.notes, self.rows = [], []
        for path in (directory, self.ws, self.home):
            self.mkdir(path)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    # -- files, always the caller's own --
    def own(self, path):
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)
        return path

    def mkdir(self, path, mode=0o755):
        path = os.path.join(self.ws, path)
        parent = os.path.dirname(path)
        if not os.path.isdir(parent):
            self.mkdir(parent)
        if not os.path.isdir(path):
            os.mkdir(path)
        os.chmod(path, mode)
        return self.own(path)

    def write(self, path, content="", mode=0o644):
        path = os.path.join(self.ws, path)
        if not os.path.isdir(os.path.dirname(path)):
            self.mkdir(os.path.dirname(path))
        data = content if isinstance(content, bytes) else content.encode()
        with open(path, "wb") as out:
            out.write(data)
        os.chmod(path, mode)
        return self.own(path)

    def read(self, path):
        with open(os.path.join(self.ws, path), "rb") as file:
            return file.read()

    def profile(self, text, name="test"):
        return self.write(f"{self.dir}/profiles/{name}.ini", text)

    def probe(self, name):
        """Copies a probe program into the workspace; its path."""
        target = f"{self.ws}/probe-{name}"
        if not os.path.exists(target):
            shutil.copy(f"{self.tree}/probe/{name}", target)
            os.chmod(target, 0o755)
            self.own(target)
        return target

    # -- environment and processes --
    def environment(self, extra=None):
        env = {"PATH": PATH, "HOME": self.home, "LANG": "C.UTF-8", "USER": self.caller_name(),
               "LOGNAME": self.caller_name(), "SHELL": "/bin/sh"}
        env.update(LEFT_OUT)
        env.update(extra or {})
        return {k: v for k, v in env.items() if v is not None}

    def caller_name(self):
        return "root" if self.uid == 0 else "sbox-test"

    def popen(self, argv, env=None, cwd=None, preexec=None, as_root=False, **keywords):
        if self.uid != os.geteuid() and not as_root:
            keywords.update(user=self.uid, group=self.gid, extra_groups=[])
        child = subprocess.Popen(argv, cwd=cwd or self.ws, env=self.environment(env),
                                 preexec_fn=preexec, **keywords)
        self.background.append(child)
        return child

    def command(self, argv, profile=None, sets=(), opts=()):
        line = [self.sbox_path, "--store", self.store]
        if profile is not None:
            line += ["--profile", profile]
        for one in sets:
            line += ["--set", one]
        return line + list(opts) + list(argv)

    def start(self, *argv, profile=None, sets=(), opts=(), **keywords):
        """sbox in the background: a Popen."""
        for stream in ("stdin", "stdout", "stderr"):
            keywords.setdefault(stream, subprocess.PIPE)
        return self.popen(self.command(argv, profile, sets, opts), **keywords)

    def sbox(self, *argv, stdin=b"", timeout=40, json_out=False, opts=(), **keywords):
        if json_out:
            opts = ["--json", *opts]
        before = len(self.records())
        begun = time.monotonic()
        child = self.start(*argv, opts=opts, **keywords)
        out, err = self.communicate(child, stdin, timeout)
        wall = time.monotonic() - begun
        run = Run(child.returncode, out, err, self.records()[before:], wall)
        self.no_process_left(run)
        if json_out:
            run.json = self.one_object(out)
        return run

    def plain(self, *argv, stdin=b"", timeout=40, **keywords):
        """The same without sbox: the control. `code` is as a shell would give it."""
        for stream in ("stdin", "stdout", "stderr"):
            keywords.setdefault(stream, subprocess.PIPE)
        begun = time.monotonic()
        child = self.popen(list(argv), **keywords)
        out, err = self.communicate(child, stdin, timeout)
        code = child.returncode
        return Run(code if code >= 0 else 128 - code, out, err, [], time.monotonic() - begun)

    def communicate(self, child, stdin, timeout):
        try:
            out, err = child.communicate(stdin if child.stdin else None, timeout * SLOW)
        except subprocess.TimeoutExpired:
            where = process_line(child.pid)
            kill_tree(child.pid)
            raise Failure(f"did not return within {timeout} s: {where}")
        self.background.remove(child)
        return out or b"", err or b""

    def one_object(self, out):
        lines = out.splitlines()
        self.equal(len(lines), 1, f"--json prints one line, got {out[:500]!r}")
        return json.loads(lines[0])

    # -- what was written down --
    def records(self):
        try:
            with open(f"{self.store}/log.jsonl", "rb") as log:
                return [parse_line(line) for line in log.read().splitlines()]
        except FileNotFoundError:
            return []

    def kept(self, name):
        """What the store keeps under that name, unpacked."""
        data = self.read(f"{self.store}/{name}")
        return gzip.decompress(data) if name.endswith(".gz") else data

    def audit(self, *argv):
        """`sbox audit ...` with the store of this test."""
        child = self.popen([self.sbox_path, "audit", *argv[:1], "--store", self.store, *argv[1:]],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        out, err = self.communicate(child, b"", 30)
        return Run(child.returncode, out, err, [], 0)

    # -- nothing is left --
    def no_process_left(self, run=None):
        expected = {p for b in self.background for p in [b.pid, *descendants(b.pid)]}
        alive = [p for p in descendants(os.getpid()) if p not in expected]
        if alive:
            lines = [f"{p}: {process_line(p)}" for p in alive]
            kill_tree(os.getpid(), itself=False)
            raise Failure(f"still alive after sbox returned: {lines}\n{run or ''}")

    def clean(self):
        """Nothing of this test's runs is left on the machine."""
        self.no_process_left()
        runs = f"{self.store}/runs"
        if os.path.isdir(runs):
            self.equal(os.listdir(runs), [], "the store's runs folder is empty")
        ids = {r["run"] for r in self.records() if isinstance(r.get("run"), str)}
        left = [d for d in cgroups() if any(i in d for i in ids)]
        self.equal(left, [], "cgroups left")
        with open("/proc/self/mountinfo") as mounts:
            lines = [line for line in mounts if self.dir in line]
        self.equal(lines, [], "mounts left in the host's tree")

    def finish(self):
        for child in list(self.background):
            kill_tree(child.pid)
            child.wait()
        kill_tree(os.getpid(), itself=False)

    # -- checks --
    def check(self, condition, what):
        if not condition:
            raise Failure(str(what))

    def equal(self, got, wanted, what=""):
        if got != wanted:
            raise Failure(f"{what}\n  got    {got!r:.2000}\n  wanted {wanted!r:.2000}")

    def has(self, text, part, what=""):
        if isinstance(text, bytes):
            text = text.decode(errors="replace")
        if part not in text:
            raise Failure(f"{what}\n  {part!r} is not in\n  {text[-2000:]!r}")

    def ended(self, run, kind, code=None):
        """The record says this end, and so does the exit status."""
        if run.kind != kind or (code is not None and run.code != code):
            raise Failure(f"wanted end {kind}, code {code}; {run}")
        if run.end["end"].get("status", run.code) != run.code:
            raise Failure(f"the record's exit status is not sbox's own: {run}")

    def note(self, text):
        self.notes.append(text)

    def row(self, row, form, outcome, lost=None):
        """An outcome for the matrix of attempts; lost: why this form does not stop it."""
        self.rows.append([row, self.caller, form, outcome, lost])


def cgroups():
    found = []
    for base, dirs, _ in os.walk("/sys/fs/cgroup"):
        found += [f"{base}/{d}" for d in dirs if d.startswith("sbox-")]
    return found

# SPDX-License-Identifier: Apache-2.0
"""One attempt, made in three places: without sbox (the control), in the full sandbox, in place.

    @attempt("F1", control="works", full="ENOENT", place="EACCES")
    def reads_the_shadow_file(a):
        return a.open("/etc/shadow")

The function makes the attempt by `a` and says in a few words how it went; what each place has to
say is the decorator's: one text, texts with "|" between them where kernels differ, or one a
caller ({"root": …, "user": …}). `place` is the reduced form, without user namespaces: where it,
or the full one, does not stop the attempt, `lost` says why: the outcome is expected all the same. A control
that is not "works" is the kernel's own answer, "*" whatever this machine's is; None: there is
nothing to try without sbox.

Every outcome is a row of the matrix that `make attack` prints.
"""
import os
import re

from in_place_steps import accept, nothing_left, world
from sboxtest import PYTHON, test
from syscalls import results
from syscalls import words as call_words

FORMS = ("control", "full", "in place")
NAMED = ("audit.denials=full",)
ERROR = re.compile(r"\bE[A-Z]{3,}\b")


class Arena:
    """Where an attempt is made: a workspace of its own, and a way to run things there."""

    def __init__(self, t, form, sets):
        self.t, self.form, self.sets = t, form, list(sets)
        self.ws = t.mkdir(form.replace(" ", "-"), 0o777)
        self.last = None

    @property
    def sandboxed(self):
        return self.form != "control"

    def options(self, sets, words):
        words.setdefault("cwd", self.ws)
        if not self.sandboxed:
            return words
        words.setdefault("opts", ["--quiet"])
        words["sets"] = [*self.sets, *sets]
        if self.form == "in place":
            words["sets"] = [*accept(), *words["sets"]]
            words["preexec"] = chain(world(self.t), words.get("preexec"))
        return words

    def run(self, *argv, sets=(), **words):
        words = self.options(sets, words)
        self.last = (self.t.sbox if self.sandboxed else self.t.plain)(*argv, **words)
        return self.last

    def start(self, *argv, sets=(), **words):
        words = self.options(sets, words)
        if self.sandboxed:
            return self.t.start(*argv, **words)
        for stream in ("stdin", "stdout", "stderr"):
            words.setdefault(stream, -1)
        return self.t.popen(list(argv), **words)

    def calls(self, *rows, **words):
        """The results of system calls made by one process: numbers, or names of errors."""
        found = results(self.run(self.probe("call"), *call_words(rows), **words))
        self.t.equal(len(found), len(rows), f"every call came back: {self.last}")
        return found

    def tries(self, *rows, keep=None, **words):
        """The same in words, equal ones once; keep: which of the rows are the attempt."""
        got = self.calls(*rows, **words)
        return words_of(got if keep is None else [got[i] for i in keep])

    def probe(self, name):
        target = f"{self.ws}/probe-{name}"
        if not os.path.exists(target):
            os.link(self.t.probe(name), target)
        return target

    def python(self, script, *args, **words):
        return self.said(self.run(PYTHON, "-c", PRELUDE + script, *map(str, args), **words))

    def sh(self, script, *args, **words):
        return self.said(self.run("sh", "-c", script, "sh", *map(str, args), **words))

    def node(self, script, *args, **words):
        return self.said(self.run("node", "-e", script, *map(str, args), **words))

    def said(self, run):
        """What the program printed last; without a word, how it ended."""
        lines = run.text.strip().splitlines()
        return lines[-1] if lines else f"code {run.code}"

    def ended(self, run):
        return f"{run.kind} {run.code}"


# What an attempting script says: `attempt(function)` prints "works" or the error's name.
PRELUDE = """import errno, os, sys
def say(*words): print(*words, flush=True)
def attempt(f, *a):
    try: f(*a)
    except OSError as e: return errno.errorcode.get(e.errno, type(e).__name__)
    except Exception as e: return type(e).__name__
    return 'works'
def put(path, data='x', flags=0):
    fd = os.open(path, os.O_WRONLY | flags, 0o644)
    os.write(fd, data.encode()); os.close(fd)
def get(path): return open(path, 'rb').read(4096)
def each(f, *ways): say(' '.join(sorted({attempt(f, way) for way in ways})))
"""


def chain(*functions):
    def run_all():
        for function in functions:
            if function is not None:
                function()
    return run_all


def words_of(outcomes):
    """Distinct outcomes, in order of their names; any number is "works"."""
    return " ".join(sorted({"works" if isinstance(r, int) else r for r in outcomes}))


def pick(expected, caller):
    return expected.get(caller) if isinstance(expected, dict) else expected


class Attempt:
    def __init__(self, row, function, expected, lost, unnamed, sets):
        self.row, self.function, self.sets = row, function, sets
        self.expected, self.lost, self.without = dict(zip(FORMS, expected)), lost, None
        self.unnamed = unnamed

    def play(self, t, form):
        wanted = pick(self.expected[form], t.caller)
        if wanted is None:
            t.row(self.row, form, "-")
            return []
        before = len(t.records())
        got = self.function(Arena(t, form, [*(NAMED if form == "full" else ()), *self.sets]))
        nothing_left(t)
        if form == "control":
            self.without = got
        stopped = form == "control" or (got != self.without and "works" not in got.split())
        t.row(self.row, form, got, None if stopped else self.lost)
        wrong = [] if wanted == "*" or got in wanted.split("|") else [f"{form}: got {got!r}, wanted {wanted!r}"]
        return wrong + (self.named(t, got, t.records()[before:]) if form == "full" else [])

    def named(self, t, got, records):
        """A refusal that the program sees as an error is in the record, or there is a reason."""
        denials = [d for record in records for d in record.get("denials") or []]
        reason = pick(self.unnamed, t.caller) if isinstance(self.unnamed, dict) else self.unnamed
        if denials:
            return [f"it is named after all: {denials[:3]}"] if reason else []
        if not ERROR.search(got) or got == self.without or reason:
            return []
        return [f"{got} is in no record's denials, and nothing says why"]


def attempt(row, control, full, place="as full", lost=None, unnamed=None, sets=(), **options):
    expected = (control, full, full if place == "as full" else place)

    def register(function):
        one = Attempt(row, function, expected, lost, unnamed, sets)

        def play(t):
            wrong = [text for form in FORMS for text in one.play(t, form)]
            t.check(not wrong, f"{row} " + "; ".join(wrong))
        play.__name__, play.__module__ = function.__name__, function.__module__
        options.setdefault("timeout", 120)
        test(row=row, **options)(play)
        return function
    return register


def refused_start(run):
    """How sbox itself answered: a start that it refuses is 125, and nothing of the program ran."""
    return "refused" if (run.code, run.out) == (125, b"") else f"code {run.code}"

# SPDX-License-Identifier: Apache-2.0
"""Everything of a kind, asked of the running kernel: it answers as the golden text of
tests/unit/test_filter_sweep.c says, and the record counts what was refused, and nothing else.

/proc and /sys have a list of their own, tests/golden/proc-entries.txt.
"""
import collections
import os
import re

from attempts import Arena
from sboxtest import PYTHON, test
from syscalls import AT_FDCWD

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
FORMS = {"full": "full", "in place": "in-place"}
REFUSED = re.compile("^E[A-Z]+$")
# Where memory is limited by sampling, calls that hide it are refused too: not asked for here.
SETS = ["process.memory=", "process.processes=1024"]


def golden(form):
    with open(f"{GOLDEN}/sweep-{FORMS[form]}{'' if os.uname().machine == 'x86_64' else '-aarch64'}.txt") as file:
        return file.read().splitlines()


def call_lines(form):
    """{number: answer} of the lines "call NUMBER NAME: ANSWER"."""
    found = [re.match(r"call (\d+) (\S+): (.*)", line) for line in golden(form)]
    return {int(match[1]): match[3] for match in found if match}


def make_all(a, numbers, wait_ms):
    """{number: what came}, a few hundred a run, and the denials of all runs by op."""
    came, counts = {}, collections.Counter()
    for first in range(0, len(numbers), 250):
        part = [str(n) for n in numbers[first:first + 250]]
        run = a.run(a.probe("sweep"), str(wait_ms), *part, timeout=150)
        came.update((int(n), word) for n, word in (line.split() for line in run.text.splitlines()))
        for entry in run.denials:
            counts[entry["op"]] += entry["count"]
    return came, counts


@test(parallel=False, timeout=400, cases=["full", "in place"])
def every_number(t, form):
    """0 to 1000 and wild ones: refused with exactly that errno, allowed ones not refused by sbox."""
    wanted, a = call_lines(form), Arena(t, form, SETS)
    # the kernel itself lets these two pass every filter, and raises a signal (see syscall_sets.c)
    numbers = [n for n in range(1001) if n not in (335, 336)]
    numbers += [1024, 4096, 65535, 0x40000000, 0x4000003b, 0x7fffffff, 0xffffffff]
    shut = [n for n in numbers if REFUSED.match(wanted.get(n, "ENOSYS"))]
    came, _ = make_all(a, shut, 20000)
    t.equal({n: came.get(n) for n in shut}, {n: wanted.get(n, "ENOSYS") for n in shut})
    open_ones = [n for n in numbers if n not in shut]
    came, counts = make_all(a, open_ones, 300)
    t.equal(sorted(came), sorted(open_ones), "each came back")
    t.equal(dict(counts), {}, "refused although allowed")
    t.note(f"{len(shut)} refused, {len(open_ones)} let through")


SERIES = {"socket family": lambda words, v: ("socket", int(words[2]), v, 0), "socketpair": lambda w, v: ("socketpair", v, 1, 0, "z:8"),
          "clone flag": lambda w, v: ("clone", 1 << v, 0, 0, 0, 0), "unshare flag": lambda w, v: ("unshare", 1 << v),
          "personality bit": lambda w, v: ("personality", 1 << v), "chmod mode": lambda w, v: ("chmod", "s:f", 1 << v),
          "fchmodat mode": lambda w, v: ("fchmodat", AT_FDCWD, "s:f", 1 << v),
          "mkdirat mode": lambda w, v: ("mkdirat", AT_FDCWD, f"s:d{v}", 1 << v),
          "openat O_CREAT": lambda w, v: ("openat", AT_FDCWD, f"s:n{v}", 0o101, 1 << v),
          "prctl option": lambda w, v: ("prctl", v, 0, 0, 0, 0), "ioctl": lambda w, v: ("ioctl", 0, v, "z:256"),
          "prlimit64 pid": lambda w, v: ("prlimit64", v, 7, 0, "z:16")}
# What ends or blinds the process that asks for the rest, were it let through, which it is.
NOT_MADE = {("clone flag", v) for v in range(64)} | {("prctl option", v) for v in (1, 22, 41)}


def points(first, last):
    """A short run whole, a long one by its ends and its middle."""
    values = range(first, last + 1)
    return list(values) if len(values) <= 16 else [first, first + 1, (first + last) // 2, last - 1, last]


def series(form):
    """(row of the probe, wanted answer) for the lines that have a call here."""
    for line in golden(form):
        match = re.match(r"(.*?) (0x[0-9a-f]+|\d+)-(0x[0-9a-f]+|\d+): (.*)", line)
        key = next((key for key in SERIES if match and match[1].startswith(key)), None)
        if key is None:
            continue
        words = match[1].split()
        for value in points(int(match[2], 16), int(match[3], 16)):
            row = SERIES[key](words, value)
            if "protocol" in words:
                row = ("socket", int(words[2]), int(words[4]), value)
            if match[4] != "allow" or (key, value) not in NOT_MADE:
                yield row, match[4]


@test(timeout=300, cases=["full", "in place"])
def every_argument(t, form):
    """Families, types, protocols, flags, modes, options, ioctls: refused as the golden text says."""
    a = Arena(t, form, SETS)
    t.write(f"{a.ws}/f", "x", 0o666)
    rows = list(series(form))
    shut = [(row, wanted) for row, wanted in rows if wanted != "allow"]
    got = []
    for first in range(0, len(shut), 300):
        got += a.calls(*[row for row, _ in shut[first:first + 300]])
    t.equal([(row, came) for (row, _), came in zip(shut, got)], shut)
    free = [row for row, wanted in rows if wanted == "allow"]
    for first in range(0, len(free), 300):
        part = free[first:first + 300]
        a.calls(*part)
        t.equal([d for d in a.last.denials if d["op"] != "execve"], [], "refused although allowed")
    t.note(f"{len(shut)} refused, {len(free)} let through")


# ---- /proc and /sys -------------------------------------------------------------

WALK = """import os, sys
def state(path):
    found = ''
    for letter, flags in (('r', os.O_RDONLY), ('w', os.O_WRONLY)):
        try: os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)); found += letter
        except OSError: pass
    return found or '-'
def walk(folder, deep):
    try: names = sorted(os.listdir(folder))
    except OSError: names = []
    for name in names:
        path = os.path.join(folder, name)
        if name.isdigit() and folder == '/proc': continue
        if os.path.islink(path): print('l', path); continue
        if os.path.isdir(path):
            if deep > 0: walk(path, deep - 1)
            new = path + '/sbox-test'
            try: os.close(os.open(new, os.O_CREAT | os.O_WRONLY)); print('w', path); os.unlink(new)
            except OSError: pass
        else: print(state(path), path)
walk('/proc', 8)
for pid in sys.argv[1:]: walk('/proc/' + pid, 1)
walk('/sys', 9)
"""


def patterns():
    """[(pattern, states in full, states in place)]; the first that fits decides."""
    with open(f"{GOLDEN}/proc-entries.txt") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return [(name, set(full.split(",")), set(place.split(","))) for name, full, place in lines]


def fits(pattern, path):
    """A star stands for text without a slash, two for any text."""
    text = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.fullmatch(text, path) is not None


@test(parallel=False, timeout=300, cases=["full", "in place"])
def every_entry_of_proc_and_sys(t, form):
    a, wrong, rules = Arena(t, form, []), [], patterns()
    control = Arena(t, "control", []).run(PYTHON, "-c", WALK, "self", timeout=120).text.splitlines()
    t.check(any(re.match("r?w /proc/self/", line) for line in control), "control: something can be written to")
    run = a.run(PYTHON, "-c", WALK, "self", "1" if form == "full" else "self", timeout=120)
    lines = [line.split(" ", 1) for line in run.text.splitlines()]
    t.check(len(lines) > 100, run)
    for state, path in lines:
        path = re.sub(r"/\d+", "/N", path)
        rule = next((rule for rule in rules if fits(rule[0], path)), None)
        if rule is None and state == "-":
            continue  # of this kernel alone, and closed
        if rule is None or state not in (rule[1] if form == "full" else rule[2]):
            wrong.append(f"{state} {path} ({rule and rule[0]})")
    t.equal(sorted(set(wrong)), [], "other than tests/golden/proc-entries.txt says")
    t.note(f"{len(lines)} entries")

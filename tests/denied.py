# SPDX-License-Identifier: Apache-2.0
"""Labelled situations for the tests of denials: what is refused, and that the named line helps.

A situation is a program that a boundary refuses: which one, on what object, with which errno;
and, where a profile line permits it, that the program works once the line is added.
"""
import dataclasses
import os
import shutil

from sboxtest import PYTHON

LISTS = ("read", "write", "exec", "hide", "protect", "noexec", "device", "syscalls")
PERMIT = "the line works"  # some line is named, and with it the program works


@dataclasses.dataclass
class Situation:
    name: str
    argv: list
    boundary: str
    object: str
    errno: str
    permit: str = PERMIT     # the line itself, PERMIT, or None: it is never allowed
    lines: tuple = ()        # of the profile, beyond those of agent
    op: str = None
    then: tuple = ()         # further lines that the program needs besides the named one
    callers: tuple = ("root", "user")
    base: str = "agent"


def profile(t, lines, name, base="agent"):
    text = f"[profile]\nextends = {base}\n[audit]\ndenials = full\n"
    for line in lines:
        section, rest = line.split("] ", 1)
        text += f"{section}]\n{rest}\n"
    return t.profile(text, name)


def find(run, situation):
    return [d for d in run.denials if d["object"] == (situation.object or None) and
            d["boundary"] == situation.boundary and d["errno"] == (situation.errno or None) and
            (situation.op is None or d["op"] == situation.op)]


def key_of(line):
    return line.split("=", 1)[0].strip()


def wrong(t, situation, number, tried):
    """What is wrong with one, or None."""
    first = profile(t, situation.lines, f"before-{number}", situation.base)
    run = t.sbox(*situation.argv, profile=first)
    if run.code == 0:
        return f"it was not refused: {run}"
    found = find(run, situation)
    if not found:
        return f"no denial of {situation.object} with {situation.errno}: {run}"
    denial = found[0]
    if situation.permit is None:
        return None if denial["never"] and not denial["permit"] else f"never allowed: {denial}"
    if not denial["permit"] or situation.permit not in (PERMIT, denial["permit"]):
        return f"wanted {situation.permit}: {denial}"
    if not tried(situation):
        return None
    # a limit is replaced, a list gets longer
    kept = [line for line in situation.lines if key_of(line) != key_of(denial["permit"])
            or key_of(line).split()[-1] in LISTS]
    lines = (*kept, denial["permit"], *situation.then)
    run = t.sbox(*situation.argv, profile=profile(t, lines, f"after-{number}", situation.base))
    return None if run.code == 0 else f"with {denial['permit']} it still fails: {run}"


def hold(t, situations, tried=lambda situation: True):
    """Checks them all and reports every one that does not hold."""
    failed, held = [], 0
    for number, situation in enumerate(situations):
        if t.caller not in situation.callers or not shutil.which(situation.argv[0]):
            continue
        why = wrong(t, situation, number, tried)
        held += why is None
        if why:
            failed.append(f"{situation.name}: {why[:600]}")
    t.note(f"{held} situations")
    t.equal(failed, [], f"{len(failed)} of {len(failed) + held} do not hold")


def make_outside(t):
    """A folder next to the workspace, open to everybody: only a boundary can be in the way."""
    out = f"{t.dir}/out"
    t.write(f"{out}/file", "outside\n", 0o666)
    t.write(f"{out}/more", "outside\n", 0o666)
    t.write(f"{out}/head.h", "#define ANSWER 42\n", 0o644)
    t.write(f"{out}/run.sh", "#!/bin/sh\nexit 0\n", 0o755)
    t.write(f"{out}/folder/deep", "deep\n", 0o666)
    shutil.copy("/bin/true", f"{out}/true")
    os.chmod(t.own(f"{out}/true"), 0o755)
    os.chmod(out, 0o777)
    os.chmod(f"{out}/folder", 0o777)
    return out


def link(t, target, name):
    if not os.path.islink(f"{t.ws}/{name}"):
        os.symlink(target, f"{t.ws}/{name}")
    return t.own(f"{t.ws}/{name}")


READERS = {
    "cat": lambda p: ["cat", p],
    "bash": lambda p: ["bash", "-c", f"read x < {p}"],
    "python": lambda p: [PYTHON, "-c", f"open({p!r})"],
    "node": lambda p: ["node", "-e", f"require('fs').readFileSync('{p}')"],
    "perl": lambda p: ["perl", "-e", f"open(F, '<', '{p}') or exit 1"],
}
WRITERS = {
    "sh": lambda p: ["sh", "-c", f"echo x > {p}"],
    "python": lambda p: [PYTHON, "-c", f"open({p!r}, 'w').write('x')"],
    "node": lambda p: ["node", "-e", f"require('fs').writeFileSync('{p}', 'x')"],
    "perl": lambda p: ["perl", "-e", f"open(F, '>', '{p}') or exit 1"],
    "tee": lambda p: ["tee", p],
}

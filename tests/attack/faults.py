# SPDX-License-Identifier: Apache-2.0
"""Each system call of a start fails once: the program runs behind whole boundaries or not at all.

strace records the calls of a plain run and then lets one of them fail, in sbox and in all that it
starts. Short by default (calls drawn from all of them); FULL=1: every one. SEED draws again.

QUIRK(strace): when=N counts in each process, so the Nth call of a name fails in every process that
makes as many. What fails in the program itself, after its exec, says nothing about sbox.
"""
import os
import random
import re
import shutil
import time
from collections import Counter

from sboxtest import Skip, first, test

FULL = os.environ.get("FULL") == "1"
DRAWN = 36
LINE = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)")
# strace starts the first process itself; the end of one cannot fail.
LEFT_OUT = {"exit_group", "exit", "rt_sigreturn", "restart_syscall"}
# Without memory, or random numbers for a name of its own, sbox ends at once, and libc may before it.
MEMORY = {"getrandom", "mmap", "brk", "mprotect", "munmap", "mremap", "madvise", "arch_prctl", "set_tid_address"}
# No probe inside can see whether these were taken: a run after such a failure is never right.
UNSEEN = {"landlock_restrict_self", "landlock_add_rule"}
# What was found so, and the calls that the boundaries rest on most.
ALWAYS = [("epoll_ctl", 2), ("rt_sigprocmask", 1), ("kill", 1), ("seccomp", 1), ("capset", 1), ("landlock_restrict_self", 1), ("setresuid", 1), ("setgroups", 1)]
REFUSE = [f"{section}.on_missing=refuse" for section in ("file", "network", "privilege", "time")]


class Traced:
    """One run of the probe under strace."""

    def __init__(self, t, inject=None):
        self.marker, secret, log = f"{t.ws}/marker", f"{t.dir}/secret", f"{t.dir}/trace"
        for path in (self.marker, log):
            if os.path.exists(path):
                os.unlink(path)
        t.write(secret, "secret")
        strace = ["strace", "-f", "-qq", "-o", log]
        if inject:
            call, error, when = inject
            strace += ["-e", f"trace={call},execve,execveat", "-e", f"inject={call}:error={error}:when={when}"]
        before = len(t.records())
        child = t.popen([*strace, *t.command([t.probe("whole"), self.marker, secret], sets=REFUSE)], stdin=-3, stdout=-1, stderr=-1)
        _, err = t.communicate(child, None, 30)
        self.code, self.said = child.returncode, err.decode(errors="replace")
        with open(log, encoding="utf-8", errors="replace") as file:
            self.lines = file.read().splitlines()
        self.records = t.records()[before:]
        self.found = t.read(self.marker).decode().strip() if os.path.exists(self.marker) else None

    def calls(self):
        """(call, number of it in its process), up to the program's exec."""
        seen, found = {}, set()
        for line in self.lines:
            match = LINE.match(line)
            if not match or "resumed>" in line or match[2] in LEFT_OUT:
                continue
            count = seen.setdefault(match[1], Counter())
            count[match[2]] += 1
            if match[2] != "execve" or count["execve"] + len(seen) > 2:
                found.add((match[2], count[match[2]]))
        return sorted(found)

    def hits(self):
        """Whether the failure fell on sbox, or on what it does for the program before its exec; on the program itself."""
        own, executed, sbox, program = self.lines[0].split()[0] if self.lines else "", set(), False, False
        for line in self.lines:
            pid = line.split()[0]
            if "(INJECTED)" in line:
                sbox, program = sbox or pid not in executed, program or pid in executed
            if pid != own and "exec" in line and re.search(r"\) += 0$", line):
                executed.add(pid)
        self.executed = bool(executed)
        return sbox, program


def check(t, traced, inject):
    """None, or what is wrong."""
    call = inject[0]
    sbox, program = traced.hits()
    kinds = {record["type"] for record in traced.records}
    end = first(traced.records, "run.end")
    if traced.found not in (None, "whole"):
        return None if program else f"ran without: {traced.found}"
    if not sbox or (program and traced.found is None and traced.code not in (125, 126, 127)):
        return None
    if traced.found and call in UNSEEN:
        return "ran, though its Landlock domain was not what was asked for"
    if traced.found and "run.start" not in kinds:
        return "ran before its start was on record"
    # let go, or begun already, and killed with its pid 1
    killed = traced.executed or ("died during the run" in traced.said and "run.start" in kinds)
    if traced.found is None and traced.code not in (125, 126, 127) and call not in MEMORY and not killed:
        return f"did not run, and ended with {traced.code}"
    if traced.code in (125, 126, 127) and "sbox: " not in traced.said and call not in MEMORY:
        return "did not say why"
    # an end that is written and cannot be synced: sbox does not vouch for it, and says so
    unsure = traced.code == 125 and "is not on record" in traced.said
    if end and end["end"]["status"] != traced.code and call not in MEMORY and not unsure:
        return f"exit status {traced.code}, the record says {end['end']['status']}"
    if end and traced.found is None and end["end"]["kind"] == "exited" and end["end"]["status"] == 0:
        return "the record says that it ran"
    return None


def sweep(t, what):
    """The next start removes what is left; the record is in order, unfinished runs aside."""
    t.no_process_left()
    t.ended(t.sbox("true"), "exited", 0)
    t.clean()
    ours = {f"sbox-scratch-{record.get('run')}" for record in t.records()}
    scratch = [name for name in os.listdir("/tmp") if name in ours]
    t.equal(scratch, [], f"scratch folders left after {what}")
    told = t.audit("verify")
    t.check(told.code in (0, 16), f"after {what}: {told}")


def draw(calls, seed):
    """Each name once, then others; all with FULL=1."""
    source = random.Random(seed)
    names = sorted({call for call, _ in calls})
    by_name = [source.choice([one for one in calls if one[0] == name]) for name in names]
    chosen = ALWAYS + source.sample(by_name, min(DRAWN, len(by_name)))
    return [(call, source.choice(["EIO", "EPERM", "ENOSPC"]), when) for call, when in (calls if FULL else chosen)]


@test(parallel=False, timeout=7200 if FULL else 240)
def a_start_in_which_a_call_fails(t):
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    seed = int(os.environ.get("SEED", time.time_ns() % 1000000))
    plain = Traced(t)
    t.equal((plain.code, plain.found), (0, "whole"), f"under strace without a failure: {plain.said}")
    calls = plain.calls()
    t.check(len(calls) > 500, f"only {len(calls)} calls were seen")
    outcomes, wrong = Counter(), []
    for number, (call, error, when) in enumerate(draw(calls, seed)):
        error = "ENOMEM" if call in MEMORY else error
        traced = Traced(t, (call, error, when))
        what = f"{call} number {when}: {error}"
        if fault := check(t, traced, (call, error, when)):
            wrong.append(f"{what}: {fault}: {traced.said.strip()[-200:]}")
        outcomes["in the program" if not traced.hits()[0] else "whole" if traced.found else str(traced.code)] += 1
        if number % 8 == 7:
            sweep(t, what)
    sweep(t, "the last one")
    t.note(f"{len(calls)} calls, {sum(outcomes.values())} failed: " + ", ".join(f"{n} {k}" for k, n in sorted(outcomes.items())) + f"; SEED={seed}")
    t.equal(wrong, [], f"SEED={seed}")

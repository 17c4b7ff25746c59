# SPDX-License-Identifier: Apache-2.0
"""One program in two worlds: without sbox and under a shipped profile. Both must agree."""
import contextlib
import os
import pwd
import shutil

from sboxtest import PATH, Skip, test

PROGRAMS = os.environ.get("PROGRAMS") == "1"
# How long a program may take in one world: less than agent.ini's clock, many times what a
# quiet machine needs.
LONG = 580
ACCOUNT = "sbox-test"


def program_test(cases=None, timeout=2 * LONG + 240, **options):
    """A test that `make check-programs` runs (PROGRAMS=1). Elsewhere it is one counted skip."""
    if PROGRAMS:
        return test(cases=cases, timeout=timeout, **options)

    def register(function):
        def skipped(t):
            raise Skip("long: part of make check-programs")
        skipped.__name__, skipped.__module__ = function.__name__, function.__module__
        test(callers=options.get("callers", ("user",)))(skipped)
        return function
    return register


def need(*programs, why=""):
    """Skips the test where one of the programs is not there."""
    for program in programs:
        if not shutil.which(program, path=PATH):
            raise Skip(f"{program} is not installed{why}")


@contextlib.contextmanager
def ordinary(t, wanted=True):
    """Outside, root would be asked what only root may do; inside nobody is root. The account has a home of its own."""
    before = t.uid, t.gid, t.home
    if wanted and t.uid == 0:
        account = pwd.getpwnam(ACCOUNT)
        t.uid, t.gid, t.home = account.pw_uid, account.pw_gid, f"{t.dir}/{ACCOUNT}"
        t.mkdir(t.home)
    try:
        yield
    finally:
        t.uid, t.gid, t.home = before


def same(t, *argv, before=None, after=None, scrub=None, stderr=True, denied=(), profile=None, sets=(),
         as_root=True, **keywords):
    """Runs it in two equal folders of the same name. Exit status (0), stdout, stderr, what
    `after` finds there and the refusals must be the same.

    scrub   takes out of a text what differs between any two runs: times, numbers
    stderr  False where the program's messages are no part of the comparison
    denied  operations that the program asks for and does well without; None: any
    as_root False where root's control is an ordinary account: the program asks whether it is root
    """
    need(argv[0])
    results = []
    inside = {"opts": ["--quiet"], "profile": profile, "sets": sets}
    for runner, extra in ((t.plain, {}), (t.sbox, inside)):
        shutil.rmtree(f"{t.ws}/p", ignore_errors=True)
        with ordinary(t, not as_root and not extra):
            t.mkdir("p")
            if before:
                before(t)
            results.append(runner(*argv, cwd=f"{t.ws}/p", timeout=LONG, **keywords, **extra))
            if after:
                results[-1].after = after(t)
    control, run = results
    scrub = scrub or (lambda text: text)
    t.equal(control.code, 0, f"control: {control}")
    t.equal((run.code, scrub(run.text)), (control.code, scrub(control.text)), f"under sbox: {run}")
    if stderr:
        t.equal(scrub(run.errtext), scrub(control.errtext), "stderr")
    if after:
        t.equal(run.after, control.after, "files left")
    # that a name was looked at is what no program fails for: git asks whether /etc/gitconfig is there
    refused = [d for d in run.denials if denied is not None and d["op"] not in ("look", *denied)]
    t.check(not refused, f"an ordinary program is refused something: {refused}")
    t.note(f"{argv[0]}: {control.wall:.2f} s outside, {run.wall:.2f} s inside")
    return run

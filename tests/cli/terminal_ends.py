# SPDX-License-Identifier: Apache-2.0
"""The caller's terminal is as before, whatever ended the run."""
import os
import signal
import time

from sboxtest import descendants, test, wait_until
from terminal_steps import QUIET, commands, end, leave, sbox, shell
from terminals import Terminal


# ---- ends -----------------------------------------------------------------------

ENDS = {
    "exit": (lambda tty: tty.send("\x04"), "exited", 0),
    "sigterm": (lambda tty: tty.kill(signal.SIGTERM), "cancelled", 143),
    "sigint": (lambda tty: tty.kill(signal.SIGINT), "cancelled", 130),
    "sighup": (lambda tty: tty.kill(signal.SIGHUP), "cancelled", 129),
    "timeout": (lambda tty: None, "timeout", 124),
    "kill": (lambda tty: tty.kill(signal.SIGKILL), None, -9),
    "kill the group": (lambda tty: os.killpg(tty.pid, signal.SIGKILL), None, -9),
    "crash": (lambda tty: tty.kill(signal.SIGSEGV), None, -11),
}


@test(cases=list(ENDS))
def the_callers_terminal_is_as_before(t, case):
    how, kind, code = ENDS[case]
    wall = ["time.wall=2s"] if case == "timeout" else []
    # its own terminal in a mode of its own
    tty = sbox(t, "sh", "-c", "stty -echo intr ^A; echo READY; exec cat", sets=wall)
    tty.expect("READY")
    tty.until(tty.is_raw, "raw while it runs")
    how(tty)
    t.equal(tty.wait(), code, tty.shown)
    tty.as_before()
    wait_until(lambda: not descendants(os.getpid()), 10)
    if kind:
        end(t, kind)
    t.sbox("true")  # removes what a killed sbox has left in the store


@test()
def the_guard_is_out_of_the_group_before_the_terminal_is_raw(t):
    """The group is killed at once, on a machine that is slow to start the guard."""
    slow = ["strace", "-f", "-o", "/dev/null", "-e", "trace=setsid", "-e", "inject=setsid:delay_enter=300000"]
    tty = Terminal(t, [*slow, *t.command(["cat"], opts=QUIET)])
    tty.until(tty.is_raw, "raw while it runs")
    os.killpg(tty.pid, signal.SIGKILL)
    tty.wait()
    tty.as_before()
    wait_until(lambda: not descendants(os.getpid()), 10)
    t.sbox("true")


@test()
def nothing_is_shown_before_the_terminal_is_raw(t):
    """Whoever answers what is shown would be echoed, and cut at a line's length. Pid 1 is slow to tell that it began."""
    slow = ["strace", "-f", "-o", "/dev/null", "-e", "trace=close_range", "-e", "inject=close_range:delay_enter=400000"]
    tty = Terminal(t, [*slow, *t.command(["sh", "-c", "echo GO; exec cat"], opts=QUIET)])
    tty.expect("GO")
    t.check(tty.is_raw(), "raw when the first is shown")
    tty.send("\x04")
    t.equal(tty.wait(), 0)
    tty.as_before()


@test(cases=["bash", "dash"])
def killed_under_a_shell(t, case):
    """The shell takes the terminal at the same time: it must not be disturbed."""
    argv = ["bash", "--norc", "-i"] if case == "bash" else ["dash", "-i"]
    tty = Terminal(t, argv, env={"S": " ".join(t.command([], opts=QUIET)), "PS1": "outer> "})
    tty.expect("outer> ")
    tty.send("stty -a >before\n")
    tty.expect("outer> ")
    for _ in range(5):
        tty.send("$S cat\n")
        tty.until(tty.is_raw, "raw")
        tty.send("x\n")
        tty.expect("x\r\nx")
        os.kill(next(p for p in descendants(tty.pid)), signal.SIGKILL)
        tty.expect("outer> ")
        if case == "dash":  # it sets nothing itself, and does not wait for who puts things right
            tty.until(lambda: not tty.is_raw(), "as it was")
        tty.send("stty -a >after; echo is-$((6*7))\n")
        tty.expect("is-42")
        tty.expect("outer> ")
        t.equal(t.read("after"), t.read("before"))
    leave(t, tty)
    t.sbox("true")


@test()
def killed_while_it_is_suspended(t):
    tty = shell(t)
    tty.send("$S cat\n")
    tty.until(tty.is_raw, "raw")
    tty.send("\x1a")
    tty.expect("Stopped")
    tty.expect("outer> ")
    os.kill(next(p for p in descendants(tty.pid)), signal.SIGKILL)
    wait_until(lambda: not descendants(tty.pid), 10)
    leave(t, tty)
    t.sbox("true")


@test()
def ended_while_it_is_suspended(t):
    tty = shell(t)
    tty.send("$S sh -c 'trap \"echo bye; exit 3\" TERM; while :; do sleep 0.1; done'\n")
    tty.until(tty.is_raw, "raw")
    wait_until(lambda: "sleep 0.1 " in commands(tty.pid), 10)
    tty.send("\x1a")
    tty.expect("Stopped")
    tty.send("kill %1\n")
    tty.expect("bye")
    wait_until(lambda: t.records()[-1]["type"] == "run.end", 10)
    end(t, "cancelled")
    leave(t, tty)


@test()
def a_refused_start_leaves_it_alone(t):
    for argv in (["no-such-program"], ["/etc/passwd"]):
        tty = sbox(t, *argv)
        t.check(tty.wait() in (126, 127), tty.status)
        tty.as_before()
    tty = sbox(t, "true", sets=["file.writes=review", "file.on_missing=refuse"])
    t.equal(tty.wait(), 125)
    tty.as_before()


@test()
def a_hangup_ends_the_run(t):
    for program in (["cat"], ["sh", "-c", "trap '' HUP TERM; while :; do sleep 0.1; done"]):
        tty = sbox(t, *program, sets=["time.grace=500ms"])
        tty.until(tty.is_raw, "raw")
        tty.hang_up()
        tty.wait()
        t.equal(end(t, "cancelled")["end"]["signal"], "SIGHUP")


@test()
def the_output_limit_counts_a_terminal(t):
    tty = sbox(t, "sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyyyyy; done",
               sets=["process.output=100K"])
    t.equal(tty.wait(), 137)
    run = end(t, "output")
    t.check(100 * 1024 <= run["stdout"]["bytes"] <= 101 * 1024, run["stdout"])
    t.equal(run["stderr"]["bytes"], 0)
    tty.as_before()


@test()
def what_goes_to_a_terminal_only_by_name_is_kept_too(t):
    with open(os.devnull, "r+b") as null:
        tty = sbox(t, "sh", "-c", "echo hidden-from-record >/dev/tty",
                   stdio=[None, null.fileno(), null.fileno()])
        tty.expect("hidden-from-record")
        t.equal(tty.wait(), 0)
    t.has(t.kept(end(t)["stderr"]["kept"]), "hidden-from-record")

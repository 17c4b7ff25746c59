# SPDX-License-Identifier: Apache-2.0
"""Finding runs again: filters, search, statistics, and the index that may go at any time."""
import json
import os
import shutil
import signal
import time

from sboxtest import PYTHON, test


def listed(t, *words):
    """Run ids of `list --json`, oldest first."""
    result = t.audit("list", "--json", *words)
    t.equal(result.code, 0, result)
    return [json.loads(line)["run"] for line in result.out.splitlines()]


def some_runs(t):
    """{name: run id} of runs that differ."""
    runs = {"plain": t.sbox("echo", "plain"),
            "failed": t.sbox("sh", "-c", "exit 3"),
            "labelled": t.sbox("true", opts=["--label", "job=42", "--label", "team=a=b"]),
            "strict": t.sbox("true", profile="strict"),
            "signal": t.sbox("sh", "-c", "kill -SEGV $$"),
            "slow": t.sbox("sleep", "9", sets=["time.wall=200ms"]),
            "denied": t.sbox(PYTHON, "-c", "import socket\ntry: socket.socket(40, 1)\nexcept OSError: pass")}
    return {name: run.start["run"] for name, run in runs.items()}


@test()
def filters(t):
    runs = some_runs(t)
    every = list(runs.values())
    t.equal(listed(t), every)
    who = t.records()[0]["who"]
    cases = [
        (["--end", "signaled"], ["signal"]), (["--end", "timeout,signaled"], ["signal", "slow"]),
        (["--end", "failed"], ["failed", "signal", "slow"]), (["--label", "job"], ["labelled"]),
        (["--label", "job=42"], ["labelled"]), (["--label", "team=a=b"], ["labelled"]), (["--label", "job=4"], []),
        (["--label", "jo"], []), (["--denied"], ["denied", "slow"]), (["--profile", "strict"], ["strict"]),
        (["--unfinished"], []), (["--limit", "2"], ["slow", "denied"]), (["-n", "1", "--end", "failed"], ["slow"]),
        (["--user", str(who["real_uid"])], list(runs)), (["--user", "nobody-at-all"], []),
        (["--since", "1h"], list(runs)), (["--until", "1h"], []), (["--since", "2000-01-01", "--until", "2001-01-01"], []),
        (["--since", "today" if time.gmtime().tm_hour or time.gmtime().tm_min > 2 else "yesterday"], list(runs))]
    for words, wanted in cases:
        got = listed(t, *words)
        t.equal(sorted(got), sorted(runs[name] for name in wanted), words)
    middle = next(r["time"] for r in t.records() if r.get("run") == runs["strict"] and r["type"] == "run.start")
    t.equal(listed(t, "--since", middle), every[3:])
    t.equal(listed(t, "--until", middle), every[:3])
    table = t.audit("list", "--end", "signaled").text.splitlines()
    t.equal(len(table), 2)
    t.has(table[1], "signaled SIGSEGV")


@test(cases=[["--since", "soon"], ["--since", "2026-13-01"], ["--end", "odd"], ["--limit", "0"], ["--limit", "x"],
             ["--odd"], ["word"], ["--until", ""], ["--end", ""], ["--speed", "2"]])
def wrong_options(t, case):
    t.sbox("true")
    result = t.audit("list", *case)
    t.equal(result.code, 2, f"{case}: {result}")
    t.check(result.err and not result.out, result)


def scramble(path, how):
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        if how == "cut":
            file.truncate(size // 2)
        elif how == "zero":
            file.write(b"\0" * min(size, 200))
        elif how == "noise":
            file.write(os.urandom(min(size, 64)))
        elif how == "empty":
            file.truncate(0)


@test(timeout=120)
def index_is_made_again(t):
    runs = list(some_runs(t).values())
    wanted = t.audit("list").out
    folder = f"{t.store}/index"
    for how in ("gone", "cut", "zero", "empty", "noise"):
        for name in ("rows", "text", "json"):
            if how == "noise" and name != "rows":
                continue  # what is not looked at cannot be noticed: the log is the record
            if how == "gone":
                shutil.rmtree(folder)
            elif not (how == "zero" and name != "rows"):
                scramble(f"{folder}/{name}", how)
            t.equal(t.audit("list").out, wanted, f"{how} {name}")
            t.equal(listed(t), runs, f"{how} {name}")


@test()
def index_follows_the_log(t):
    runs = []
    for i in range(4):
        runs.append(t.sbox("echo", str(i)).start["run"])
        t.equal(listed(t), runs)
    child = t.start("sh", "-c", "echo up; read x")
    child.stdout.readline()
    runs.append(t.records()[-1]["run"])
    t.equal(listed(t, "--unfinished"), runs[-1:])
    t.has(t.audit("list", "--limit", "1").text, "running")
    t.communicate(child, b"\n", 20)
    t.equal(listed(t, "--unfinished"), [])
    t.has(t.audit("list", "--limit", "1").text, "exited 0")
    t.equal(listed(t), runs)


@test()
def another_log_under_the_index(t):
    """An old copy put back, or another log: the index notices by its last line."""
    first = t.sbox("echo", "1").start["run"]
    old = open(f"{t.store}/log.jsonl", "rb").read()
    t.sbox("echo", "2")
    t.equal(len(listed(t)), 2)
    with open(f"{t.store}/log.jsonl", "wb") as log:
        log.write(old)
    t.equal(listed(t), [first])
    with open(f"{t.store}/log.jsonl", "wb") as log:
        log.write(old.replace(first.encode(), b"0" * 26))
    t.equal(listed(t), ["0" * 26])


@test(callers=("user",))
def index_of_another_is_not_used(t):
    """root reads a user's store: what the user's index says does not count, and nothing is written."""
    t.sbox("echo", "real")
    t.audit("list")
    rows = f"{t.store}/index/rows"
    data = open(rows, "rb").read()
    with open(rows, "wb") as out:
        out.write(data.replace(t.records()[0]["run"].encode(), b"F" * 26))
    os.chown(rows, t.uid, t.gid)
    before = os.stat(rows).st_mtime_ns
    t.has(t.audit("list").text, "F" * 26, "the owner believes their own index")
    t.uid, mine = os.geteuid(), t.uid
    result = t.audit("list")
    t.uid = mine
    if os.geteuid() == 0:
        t.has(result.text, t.records()[0]["run"])
    t.equal(os.stat(rows).st_mtime_ns, before)


@test()
def read_only_store(t):
    run = t.sbox("echo", "x").start["run"]
    os.makedirs(f"{t.store}/index", exist_ok=True)
    shutil.rmtree(f"{t.store}/index")
    t.write(f"{t.store}/index", "a file where the folder should be")
    t.equal(listed(t), [run], "made in memory")
    os.unlink(f"{t.store}/index")


@test()
def lines_that_are_no_records(t):
    run = t.sbox("echo", "x").start["run"]
    before = open(f"{t.store}/log.jsonl", "rb").read()
    with open(f"{t.store}/log.jsonl", "ab") as log:
        log.write(b"not json\n{}\n[1]\n\"x\"\n{\"type\":\"run.start\"\n")
    for _ in range(2):
        result = t.audit("list", "--json")
        t.equal(result.code, 1, "the status says so")
        t.equal([json.loads(line)["run"] for line in result.out.splitlines()], [run])
        t.has(result.err, "no record")
    with open(f"{t.store}/log.jsonl", "wb") as log:
        log.write(before)


@test()
def grep(t):
    t.write("x.py", "secret_word = 'in the script 4711'\nprint('in the output 4712')\n")
    one = t.sbox("python3", "x.py", "argument 4713").start["run"]
    two = t.sbox("sh", "-c", "/usr/bin/env NAME=in-exec-4714 true; echo err 4715 >&2").start["run"]
    three = t.sbox(PYTHON, "-c", "import socket\ntry: socket.socket(40, 1)\nexcept OSError: pass").start["run"]
    for word, run, place in [("script 4711", one, "script:1"), ("output 4712", one, "stdout:1"), ("argument 4713", one, "argv"),
                             ("in-exec-4714", two, "exec"), ("err 4715", two, "stderr:1"), ("AF_VSOCK", three, "denied")]:
        lines = t.audit("grep", word).text.splitlines()
        t.check(any(line.startswith(f"{run} {place}: ") for line in lines), f"{word}: {lines}")
        t.check(all(line.startswith(run) for line in lines), lines)
    t.equal(t.audit("grep", "never-said-4799").code, 1)
    t.equal(t.audit("grep", "--runs", "471").text.split(), [one, two])
    t.equal(t.audit("grep", "--runs", "--limit", "1", "471").text.split(), [])
    t.equal(t.audit("grep", "--runs", "--regex", "47(11|15)").text.split(), [one, two])
    t.equal(t.audit("grep", "--in", "output", "--regex", "^in the .* 471[0-9]$").text.split()[0], one)
    t.equal(t.audit("grep", "-i", "--runs", "IN THE OUTPUT").text.split(), [one])
    t.equal(t.audit("grep", "--in", "argv", "4714").code, 0, "argv of the shell holds it")
    t.equal(t.audit("grep", "--in", "denials", "4714").code, 1)
    t.equal(t.audit("grep", "--regex", "a(b").code, 2)
    t.equal(t.audit("grep", "--in", "odd", "x").code, 2)
    t.equal(t.audit("grep").code, 2)
    found = json.loads(t.audit("grep", "--json", "4713").out)
    t.equal((found["run"], found["argv"][-1]), (one, "argument 4713"))


@test()
def grep_in_bytes(t):
    run = t.sbox("printf", "one\\000two\\377three\\nfour\\n", b"\xff-argument").start["run"]
    for words in (["two"], ["--regex", "two.three|two"], ["four"], ["--", "-argument"]):
        result = t.audit("grep", "--runs", *words)
        t.equal(result.text.split(), [run], words)
    t.check(b"\0" not in t.audit("grep", "two").out, "shown escaped")


@test()
def stats(t):
    some_runs(t)
    result = json.loads(t.audit("stats", "--json").out)
    t.equal((result["runs"], result["finished"], result["unfinished"]), (7, 7, 0))
    t.equal(result["ends"], {"exited": 4, "exited, not with 0": 1, "signaled": 1, "timeout": 1})
    t.equal(result["profiles"], {"agent": 6, "strict": 1})
    t.check(any("AF_VSOCK" in what for what in result["denials"]), result["denials"])
    t.check(result["wall_ns"]["p50"] <= result["wall_ns"]["max"] and result["wall_ns"]["max"] >= 200e6, result["wall_ns"])
    text = t.audit("stats").text
    t.has(text, "7 finished")
    t.has(text, "AF_VSOCK")
    empty = json.loads(t.audit("stats", "--json", "--user", "nobody-at-all").out)
    t.equal((empty["runs"], empty["wall_ns"]["p50"]), (0, None))


@test()
def killed_supervisor(t):
    child = t.start("sh", "-c", "echo up; sleep 60")
    child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    t.communicate(child, None, 20)
    run = t.records()[0]["run"]
    t.equal(listed(t, "--unfinished"), [run])
    t.sbox("true")
    t.equal(listed(t, "--unfinished"), [run])
    t.equal(json.loads(t.audit("stats", "--json").out)["unfinished"], 1)
    t.equal(t.audit("replay", run).code, 1)

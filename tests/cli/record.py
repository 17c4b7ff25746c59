# SPDX-License-Identifier: Apache-2.0
"""The record: who ran what, with what text, under which plan, and how it ended."""
import hashlib
import json
import os
import signal
import socket

from sboxtest import PYTHON, test


def file_hash(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def files_of(run, kind):
    found = [f for r in (run.start, run.end) if r for f in r.get("files") or []]
    return [f for f in found if f["kind"] == kind]


@test()
def who(t):
    run = t.sbox("true")
    who = run.start["who"]
    t.equal((who["real_uid"], who["effective_uid"], who["real_gid"]), (t.uid, t.uid, t.gid))
    t.equal(who["user"], t.caller_name() if os.geteuid() == 0 else who["user"])
    t.equal(who["host"], socket.gethostname())
    t.equal(who["caller_pid"], os.getpid())
    if t.uid == os.geteuid():
        t.has(who["caller_exe"] or "", "python")
    t.check(who["sbox_pid"] > 0 and who["tty"] is None, who)
    with open("/proc/sys/kernel/random/boot_id") as boot:
        t.equal(who["boot_id"], boot.read().strip())


@test()
def what(t):
    t.write("x.py", "print('hi')\n")
    run = t.sbox("python3", "x.py", "--flag", "value")
    start = run.start
    t.equal(start["argv"], ["python3", "x.py", "--flag", "value"])
    t.equal((start["cwd"], start["inside_cwd"]), (t.ws, t.ws))
    program = files_of(run, "program")[-1]
    t.check(program["path"].startswith("/usr/"), program)
    t.equal(program["sha256"], file_hash(os.path.realpath(PYTHON)))
    script = files_of(run, "script")[0]
    t.equal(script["sha256"], file_hash(f"{t.ws}/x.py"))
    t.check(set(start["environment"]) >= {"PATH", "HOME"}, start["environment"])
    t.check(all("=" not in name for name in start["environment"]), "names, never values")
    t.equal(len(start["run"]), 26)
    t.equal(run.end["run"], start["run"])


@test()
def run_ids_sort_by_time(t):
    runs = [t.sbox("true").start["run"] for _ in range(4)]
    t.equal(runs, sorted(runs))
    t.equal(len(set(runs)), 4)


@test()
def profile_and_its_hash(t):
    path = t.profile("[profile]\nextends = agent\n[time]\nwall = 9s\n", "mine")
    run = t.sbox("true", profile=path)
    profile = run.start["profile"]
    t.equal((profile["name"], profile["path"]), ("mine", path))
    t.equal(len(profile["sha256"]), 64)
    again = t.sbox("true", profile=path).start["profile"]
    t.equal(again["sha256"], profile["sha256"])
    t.write(path, "[profile]\nextends = agent\n[time]\nwall = 8s\n")
    t.check(t.sbox("true", profile=path).start["profile"]["sha256"] != profile["sha256"], "same hash")


@test()
def requested_against_enforced(t):
    run = t.sbox("true")
    items = {(i["boundary"], i["name"]): i for i in run.start["enforced"]}
    t.equal(len(items), len(run.start["enforced"]), "names are unique within a boundary")
    t.equal({i[0] for i in items}, {"file", "network", "process", "privilege", "time"})
    for item in items.values():
        t.check(item["state"] in ("enforced", "reduced", "missing", "off"), item)
        t.check(item["state"] not in ("enforced", "reduced") or item["mechanism"], item)
        t.check(item["state"] not in ("reduced", "missing") or item["reason"], item)
    t.equal(items[("time", "wall")]["asked"], "10m")
    result = t.sbox("true", json_out=True).json
    t.equal([i["name"] for i in result["enforced"]], [i["name"] for i in run.start["enforced"]])


def shown(t, run, part):
    t.has(t.audit("show", run.start["run"]).text, part, "`sbox audit show` prints what ran")


@test()
def script_edited_and_deleted_afterwards(t):
    text = "print('the original text 4711')\n"
    t.write("x.py", text)
    run = t.sbox("python3", "x.py")
    t.write("x.py", "print('innocent')\n")
    shown(t, run, "the original text 4711")
    os.unlink(f"{t.ws}/x.py")
    shown(t, run, "the original text 4711")


@test(cases=["bash -euo pipefail", "sh -o errexit", "bash +e -O extglob", "bash --rcfile /dev/null -u"])
def script_behind_an_option_with_a_value(t, interpreter):
    t.write("x.sh", "echo shown # the text 4711\n")
    run = t.sbox(*interpreter.split(), "x.sh", "word")
    t.equal(run.out, b"shown\n", run)
    shown(t, run, "the text 4711")


@test(cases=["-W ignore", "-X utf8 -B", "-IX dev"])
def python_script_behind_an_option_with_a_value(t, options):
    t.write("x.py", "print('shown') # the text 4711\n")
    run = t.sbox(PYTHON, *options.split(), "x.py")
    t.equal(run.out, b"shown\n", run)
    shown(t, run, "the text 4711")


@test()
def script_that_removes_itself(t):
    t.write("x.sh", "#!/bin/sh\nrm -- \"$0\"\necho 'gone 4711'\n", 0o755)
    run = t.sbox("./x.sh")
    t.equal(run.out, b"gone 4711\n", run)
    shown(t, run, "rm --")


@test(cases=[("python3 -c", ["python3", "-c", "print('text 4711')"], None),
             ("bash -c", ["bash", "-c", "echo 'text 4711'"], None),
             ("sh -ec", ["sh", "-ec", "echo 'text 4711'"], None),
             ("perl -e", ["perl", "-e", "print 'text 4711'"], None),
             ("node -e", ["node", "-e", "console.log('text 4711')"], None),
             ("python3 - < x.py", ["python3", "-"], "print('text 4711')\n"),
             ("python3 < x.py", ["python3"], "print('text 4711')\n"),
             ("bash < x.sh", ["bash"], "echo 'text 4711'\n"),
             ("sh < x.sh", ["sh"], "echo 'text 4711'\n"), ("node < x.js", ["node"], "console.log('text 4711')"),
             ("perl < x.pl", ["perl"], "print 'text 4711'"),
             ("bash /dev/stdin < x.sh", ["bash", "/dev/stdin"], "echo 'text 4711'\n"),
             ("python3 /dev/stdin < x.py", ["python3", "/dev/stdin"], "print('text 4711')\n"),
             ("bash -euo pipefail -c", ["bash", "-euo", "pipefail", "-c", "echo 'text 4711'"], None),
             ("python3 -X utf8 -c", ["python3", "-X", "utf8", "-c", "print('text 4711')"], None),
             ("bash -s < x.sh", ["bash", "-s", "arg"], "echo 'text 4711'\n")])
def program_text_that_is_not_a_file(t, case):
    run = t.sbox(*case[1], stdin=(case[2] or "").encode())
    t.has(run.out, "text 4711", run)
    t.check(files_of(run, "text" if case[2] is None else "stdin"), f"files: {run.start['files']} "
            f"{run.end.get('files')}")
    shown(t, run, "text 4711")


@test()
def data_on_stdin_is_not_a_script(t):
    t.write("x.py", "import sys; print(len(sys.stdin.read()))\n")
    run = t.sbox("python3", "x.py", stdin=b"some data 4711\n")
    t.equal(run.out, b"15\n", run)
    t.check(not files_of(run, "stdin"), "only a program text is kept")
    t.equal(run.end["stdin"]["bytes"], 15)
    wanted = (None, hashlib.sha256(b"some data 4711\n").hexdigest())
    t.check(run.end["stdin"]["sha256"] in wanted, "not taken, or right")


@test()
def scripts_only_hashed(t):
    t.write("x.py", "print('text 4711')\n")
    run = t.sbox("python3", "x.py", sets=["audit.scripts=hash"])
    script = files_of(run, "script")[0]
    t.equal((script["kept"], script["sha256"]), (None, file_hash(f"{t.ws}/x.py")))
    t.check("text 4711')" not in t.audit("show", run.start["run"]).text, "not kept")


@test()
def long_script_is_cut_and_says_so(t):
    t.write("x.sh", "#!/bin/sh\necho ran\nexit 0\n" + "# filler\n" * 60000, 0o755)
    run = t.sbox("./x.sh")
    t.equal(run.out, b"ran\n")
    script = (files_of(run, "script") or files_of(run, "program"))[0]
    t.equal((script["truncated"], script["bytes"]), (True, os.path.getsize(f"{t.ws}/x.sh")), script)


@test()
def executed_programs(t):
    run = t.sbox("sh", "-c", "/bin/true a b; env true; (exec /usr/bin/id >/dev/null); for i in 1 2 3; do "
                 "/bin/echo $i; done")
    paths = [e["path"] for e in run.end["execs"]]
    for name in ("true", "env", "id", "echo"):
        t.check(any(p.endswith("/" + name) for p in paths), f"{name} in {paths}")
    entry = next(e for e in run.end["execs"] if e["argv"][1:] == ["a", "b"])
    t.check(entry["pid"] > 1 and entry["count"] == 1, entry)
    t.check(run.end["execs_total"] >= 7, run.end["execs_total"])
    none = t.sbox("sh", "-c", "/bin/true", sets=["audit.execs=no"])
    t.equal(none.end["execs"], [])


SECRETS = [(["--token", "hunter2-4711"], None), (["--token=hunter2-4711"], None),
           (["API_KEY=hunter2-4711"], None), (["env", "MY_KEY=hunter2-4711", "true"], None)]


@test()
def secrets_in_arguments(t):
    for argv, _ in SECRETS:
        run = t.sbox("echo", *argv, opts=["--label", "API_KEY=hunter2-4711"])
        t.has(run.out, "hunter2-4711", "the program gets it")
    nested = t.sbox("sh", "-c", "/bin/echo --token hunter2-nested >/dev/null")
    for base, _, files in os.walk(t.store):
        for name in files:
            data = open(os.path.join(base, name), "rb").read()
            if base.endswith("/output"):
                continue  # output is kept as it was
            t.check(b"hunter2-4711" not in data, f"{base}/{name} holds it: {data[:600]!r}")
    echo = [e["argv"] for e in nested.end["execs"] if e["path"].endswith("/echo")]
    t.check(echo and "hunter2-nested" not in json.dumps(echo), f"execs are redacted too: {echo}")
    starts = [r for r in t.records() if r["type"] == "run.start"]
    t.check("--token" in starts[0]["argv"], "the name of the option stays")
    result = t.sbox("true", "--token", "hunter2-json", json_out=True)
    t.check(b"hunter2-json" not in result.out, "--json")


HOSTILE = ["new\nline", "cr\rlf\r\n", 'quote"s', "back\\slash", "\x1b[31mred\x1b]0;t\x07", "\x7f",
           "\x80\x9b", "\u2028\u2029", "\ufeff", '{"type":"run.end"}', "", " ", "\t", "a" * 5000]


@test()
def hostile_arguments_make_valid_lines(t):
    """A1-A3: one record is one line of valid JSON, control characters escaped, nothing lost."""
    raw = [b"\xff\xfe\x00x"[:2], b"\xed\xa0\x80", bytes(range(128, 256)), bytes(range(1, 32))]
    run = t.sbox(t.probe("args"), *HOSTILE, *raw, opts=["--label", "odd=\x1b[0m\n\xff"])
    t.equal(run.code, 0, run)
    text = t.read(f"{t.store}/log.jsonl")
    lines = text.split(b"\n")
    t.equal((len(lines), lines[-1]), (3, b""), "two records, two lines")
    t.check(all(byte >= 32 and byte != 127 for line in lines for byte in line), "control bytes")
    text.decode("utf-8")
    argv = [json.loads(line) for line in lines[:2]][0]["argv"]
    for text_argument in HOSTILE:
        t.check(text_argument in argv or len(text_argument) > 1000, f"{text_argument!r} is in {argv!r:.300}")
    shown_text = t.audit("show", run.start["run"])
    t.check(b"\x1b" not in shown_text.out and b"\r" not in shown_text.out, "escaped when shown")
    t.check(b"\x1b" not in t.audit("list").out, "escaped when listed")


@test()
def hostile_output_in_the_record(t):
    run = t.sbox("printf", "a\\033[31m\\r\\n\\377\\000")
    t.equal(run.end["stdout"]["bytes"], 10, run)
    out = t.audit("show", run.start["run"]).out
    t.check(b"\x1b" not in out and b"\0" not in out, f"shown escaped: {out!r:.600}")


@test()
def killed_supervisor_leaves_the_start(t):
    child = t.start("sh", "-c", "echo up; sleep 60", opts=["--label", "k=v"])
    child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    t.communicate(child, None, 20)
    records = t.records()
    t.equal([r["type"] for r in records], ["run.start"])
    t.has(t.audit("list", "--unfinished").text, records[0]["run"])
    t.sbox("true")
    t.has(t.audit("list", "--unfinished").text, records[0]["run"], "still, after another run")
    t.has(t.audit("show", records[0]["run"]).text, "unfinished")
    line = next(x for x in t.audit("list").text.splitlines() if records[0]["run"] in x)
    t.has(line, "unfinished")


@test()
def running_is_not_unfinished(t):
    child = t.start("sh", "-c", "echo up; sleep 60")
    child.stdout.readline()
    run = t.records()[0]["run"]
    listed = t.audit("list").text
    t.has(listed, run)
    line = next(line for line in listed.splitlines() if run in line)
    t.check("running" in line and "unfinished" not in line, "it is still going: " + line)
    child.terminate()
    t.communicate(child, None, 20)


@test()
def store_is_the_callers_alone(t):
    t.sbox("true")
    for base, dirs, files in os.walk(t.store):
        for name in [""] + dirs + files:
            info = os.stat(os.path.join(base, name))
            t.equal((info.st_uid, info.st_mode & 0o077), (t.uid, 0), os.path.join(base, name))


@test()
def output_is_kept_beside_the_record(t):
    run = t.sbox("sh", "-c", "seq 1 200000; echo problem >&2")
    out = run.end["stdout"]
    t.equal(out["bytes"], 1288895)
    t.equal(out["truncated"], True)
    kept = t.kept(out["kept"])
    t.check(b"1\n2\n3\n" in kept and b"199999\n200000\n" in kept, "head and tail")
    t.check(len(kept) < 300 * 1024, len(kept))
    t.equal(out["sha256"], hashlib.sha256(kept).hexdigest(), "of what is kept")
    none = t.sbox("echo", "x", sets=["audit.capture=0"])
    t.equal((none.end["stdout"]["bytes"], none.end["stdout"]["kept"]), (2, None))


@test()
def torn_tail_is_recovered(t):
    t.sbox("true")
    with open(f"{t.store}/log.jsonl", "ab") as log:
        log.write(b'{"seq":99,"type":"run.st')
    run = t.sbox("echo", "on", opts=["--quiet"])
    t.equal(run.out, b"on\n", run)
    t.check(any(r["type"] == "log.recovered" for r in t.records()), "says what was dropped")


@test()
def record_that_cannot_be_written_refuses_the_run(t):
    t.sbox("true")
    os.rename(f"{t.store}/log.jsonl", f"{t.store}/old")
    os.symlink(f"{t.dir}/elsewhere", f"{t.store}/log.jsonl")
    run = t.plain(t.sbox_path, "--store", t.store, "echo", "ran")
    t.equal((run.code, run.out), (125, b""), run)
    t.check(not os.path.exists(f"{t.dir}/elsewhere"), "the link was followed")
    os.unlink(f"{t.store}/log.jsonl")
    os.rename(f"{t.store}/old", f"{t.store}/log.jsonl")

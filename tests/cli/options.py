# SPDX-License-Identifier: Apache-2.0
"""The command line: verbs, options, `--`, --set, and messages that name thing, value and way out."""
import json
import os

from sboxtest import test


def refused(t, run, *parts):
    t.equal((run.code, run.out), (125, b""), run)
    for part in parts:
        t.has(run.errtext, part, "the message")
    t.check(run.start is None or run.kind == "denied_start", "nothing was started")


@test()
def version_and_help(t):
    version = t.plain(t.sbox_path, "--version")
    t.equal(version.code, 0)
    t.check(version.text.startswith("sbox "), version.text)
    usage = t.plain(t.sbox_path, "--help")
    t.equal(usage.code, 0)
    for word in ("--profile", "--json", "--strict", "--set", "--label", "--status-fd", "check",
                 "show", "audit"):
        t.has(usage.text, word)


@test()
def options_end_at_the_program(t):
    run = t.sbox("echo", "--json", "--profile", "x", "--version", opts=["--quiet"])
    t.equal(run.out, b"--json --profile x --version\n")


@test()
def two_dashes_end_the_options(t):
    run = t.sbox("--", "echo", "--", "x", opts=["--quiet"])
    t.equal(run.out, b"-- x\n")
    t.write("--odd", "#!/bin/sh\necho odd\n", 0o755)
    run = t.sbox("--", "./--odd", opts=["--quiet"])
    t.equal(run.out, b"odd\n")


@test()
def verbs_count_only_as_the_first_argument(t):
    """A program that is called like a verb: after an option, after `--`, or by `sbox run`."""
    t.write("bin/show", "#!/bin/sh\necho program show $1\n", 0o755)
    env = {"PATH": f"{t.ws}/bin:/usr/bin:/bin"}
    run = t.sbox("show", "agent", env=env, opts=["--quiet"])
    t.equal(run.out, b"program show agent\n", "after an option it is a program")
    run = t.plain(t.sbox_path, "run", "--store", t.store, "--quiet", "show", "me", env=env)
    t.equal(run.out, b"program show me\n", run)
    run = t.plain(t.sbox_path, "show", "agent", env=env)
    t.check(b"program" not in run.out and run.code == 0, f"the verb: {run}")


@test(cases=[(["--nonsense"], "--nonsense"), (["--profil", "agent"], "--profil"),
             (["-x"], "-x"), (["--set"], "--set"), (["--profile"], "--profile"),
             (["--label", "novalue"], "novalue"), (["--label", "=v"], "label"),
             (["--json=yes"], "--json")])
def bad_options(t, case):
    needs_value = case[0] in (["--set"], ["--profile"])
    refused(t, t.sbox(*case[0], *([] if needs_value else ["true"])), case[1])


@test(cases=[("time.wal=1s", "wal", "wall"), ("tim.wall=1s", "tim", "time"),
             ("time.wall=soon", "soon", "wall"), ("time.wall=-1s", "-1s", "wall"),
             ("time.wall", "time.wall", "="), ("=1s", "=1s", "="), ("wall=1s", "wall", "."),
             ("process.memory=12Q", "12Q", "memory"), ("process.processes=many", "many", "processes"),
             ("process.memory=99999999999999999999G", "9999", "memory"),
             ("network.mode=some", "some", "none"), ("file.writes=maybe", "maybe", "discard"),
             ("file.read=relative/path", "relative/path", "read"),
             ("file.read=/a/../b", "/a/../b", "read"), ("file.read=${nope}/x", "nope", "read"),
             ("process.hostname=bad host!", "bad host!", "hostname"),
             ("privilege.user=root", "root", "user"),
             ("privilege.syscalls=@nonsense", "@nonsense", "syscalls"),
             ("privilege.syscalls=opennn", "opennn", "syscalls"),
             ("privilege.capabilities=CAP_NONSENSE", "CAP_NONSENSE", "capabilities"),
             ("environment.set=NOEQUALS", "NOEQUALS", "set"),
             ("network.allow=host:80a", "80a", "allow"), ("process.cpus=-1", "-1", "cpus")])
def bad_overrides(t, case):
    """--set: the message names the key, the value and, where it can, what would be right."""
    refused(t, t.sbox("true", sets=[case[0]]), case[1], case[2])


@test()
def misspelt_key_names_the_right_one(t):
    run = t.sbox("true", sets=["process.memroy=1G"])
    refused(t, run, "memroy", "memory")
    run = t.sbox("true", profile=t.profile("[proces]\nmemory = 1G\n"))
    refused(t, run, "proces", "[process]", "test.ini:1")


@test()
def set_replaces_and_adds(t):
    run = t.sbox("cat", "/proc/self/limits", opts=["--quiet"], sets=["process.open_files=77"])
    t.has(run.text.split("Max open files")[1].split("\n")[0], "77")
    t.write(f"{t.dir}/extra/file", "extra content\n")
    added = t.sbox("cat", f"{t.dir}/extra/file", sets=[f"file.read+={t.dir}/extra"])
    t.equal(added.out, b"extra content\n", added)
    t.check(t.sbox("cat", f"{t.dir}/extra/file").code != 0, "control: without it")


@test()
def later_set_wins(t):
    run = t.sbox("cat", "/proc/self/limits", opts=["--quiet"],
                 sets=["process.open_files=77", "process.open_files=88"])
    t.has(run.text.split("Max open files")[1].split("\n")[0], "88")


@test()
def labels_are_in_the_record(t):
    run = t.sbox("true", opts=["--label", "task=demo 7", "--label", "who=a=b"])
    t.equal(run.start["labels"], {"task": "demo 7", "who": "a=b"})
    t.equal(t.sbox("true", opts=["--label", "a=1"], json_out=True).json["labels"], {"a": "1"})


@test()
def strict_refuses_what_is_reduced(t):
    """--strict: no reduced item is accepted; where everything is enforced it changes nothing."""
    plain = t.sbox("true")
    reduced = [i["name"] for i in plain.start["enforced"] if i["state"] in ("reduced", "missing")]
    strict = t.sbox("true", opts=["--strict"])
    if not reduced:
        t.ended(strict, "exited", 0)
        return
    t.equal(strict.code, 125, strict)
    t.check(any(name in strict.errtext for name in reduced), f"names one of {reduced}: {strict}")
    t.note(f"reduced under agent here: {reduced}")


@test()
def reduced_items_are_said_on_stderr(t):
    run = t.sbox("true")
    reduced = [i["name"] for i in run.start["enforced"] if i["state"] in ("reduced", "missing")]
    lines = run.errtext.strip().splitlines()
    if reduced:
        t.equal(len(lines), 1, "one line")
        t.has(lines[0], "reduced")
    else:
        t.equal(lines, [], "nothing to say")


@test(cases=["agent", "strict", "base"])
def shown_profile_reads_back_the_same(t, name):
    first = t.plain(t.sbox_path, "show", name, "--ini")
    if first.code != 0:
        first = t.plain(t.sbox_path, "show", name)
    t.equal(first.code, 0, first)
    t.check(t.plain(t.sbox_path, "check", name).code == 0, "check says yes")


@test()
def show_as_json(t):
    run = t.plain(t.sbox_path, "show", "agent", "--json")
    t.equal(run.code, 0, run)
    shown = json.loads(run.out)
    text = json.dumps(shown)
    for boundary in ("file", "network", "process", "privilege", "time"):
        t.has(text, boundary)


@test()
def check_names_every_shipped_profile_right(t):
    folder = f"{t.tree}/share/sbox/profiles"
    for name in sorted(os.listdir(folder)):
        run = t.plain(t.sbox_path, "check", name)
        t.equal(run.code, 0, f"{name}: {run}")
    run = t.plain(t.sbox_path, "check", "no-such")
    t.check(run.code != 0 and "no-such" in run.errtext, run)


@test()
def bare_name_is_never_taken_from_the_current_folder(t):
    """F: an agent.ini that an earlier run planted is not the next run's policy; a note says so."""
    t.write("agent.ini", "[file]\nread = /\nwrite = /\nexec = /\n")
    outside = t.write(f"{t.dir}/secret", "not for inside\n")
    for name in (None, "agent", "agent.ini"):
        run = t.sbox("cat", outside, profile=name)
        t.check(b"not for inside" not in run.out, f"planted profile taken for {name}")
        t.has(run.errtext, "agent.ini", f"a note for {name}")
    quiet = t.plain(t.sbox_path, "check", "./agent.ini")
    t.note(f"check ./agent.ini: code {quiet.code} {quiet.errtext.strip():.120}")


@test()
def profile_that_others_may_write_is_refused(t):
    path = t.profile("[file]\nexec = /usr\n")
    os.chmod(path, 0o666)
    refused(t, t.sbox("true", profile=path), "test.ini")
    os.chmod(path, 0o644)
    os.symlink(path, f"{t.dir}/link.ini")
    t.own(f"{t.dir}/link.ini")
    run = t.sbox("true", profile=f"{t.dir}/link.ini")
    t.note(f"profile through a link: code {run.code} {run.errtext.strip():.120}")


@test(cases=["folder", "fifo", "empty", "huge line", "nul", "crlf", "bom", "binary"])
def odd_profile_files(t, kind):
    path = f"{t.dir}/profiles/odd.ini"
    t.mkdir(f"{t.dir}/profiles")
    content = {"empty": b"", "huge line": b"[file]\nread = /" + b"x" * 100_000 + b"\n",
               "nul": b"[file]\nread = /etc\0/x\n", "crlf": b"[file]\r\nexec = /usr\r\n",
               "bom": b"\xef\xbb\xbf[file]\nexec = /usr\n", "binary": os.urandom(5000)}
    if kind == "folder":
        t.mkdir(path)
    elif kind == "fifo":
        os.mkfifo(path)
        t.own(path)
    else:
        t.write(path, content[kind])
    run = t.sbox("/usr/bin/echo", "ran", profile=path, timeout=10)
    t.check(run.code != 0 or kind in ("crlf", "bom"), run)
    t.check(run.code in (0, 125, 127), run)
    t.check(run.code == 0 or run.err.strip(), "says why")


@test(cases=["verbnotthere", "doctor", "gc"])
def libexec_that_is_not_there(t, verb):
    """A verb whose tool is not installed is a sentence, never a lookup elsewhere."""
    t.write(f"bin/sbox-{verb}", "#!/bin/sh\necho planted\n", 0o755)
    run = t.plain(t.sbox_path, verb, env={"PATH": f"{t.ws}/bin:/usr/bin:/bin"})
    t.check(b"planted" not in run.out, run)


@test()
def store_that_is_not_the_callers_own(t):
    """The record cannot be written safely: nothing is run."""
    for name, make in (("file", lambda p: t.write(p, "x")), ("link", lambda p: os.symlink("/tmp", p)),
                       ("open", lambda p: t.mkdir(p, 0o777))):
        path = f"{t.dir}/store-{name}"
        make(path)
        run = t.plain(t.sbox_path, "--store", path, "echo", "ran")
        t.equal((run.code, run.out), (125, b""), f"{name}: {run}")
        t.has(run.errtext, path)


@test(cases=["@nonsense", "opennn", "!opennn", "@default, nosuch"])
def check_finds_unknown_system_calls(t, value):
    """What can be known without running anything is known by `check`."""
    path = t.profile(f"[profile]\nextends = agent\n[privilege]\nsyscalls = {value}\n")
    run = t.plain(t.sbox_path, "check", path)
    t.check(run.code != 0, run)
    t.has(run.errtext + run.text, "test.ini:4", "file and line")

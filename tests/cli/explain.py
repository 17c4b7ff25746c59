# SPDX-License-Identifier: Apache-2.0
"""sbox explain, what sbox check warns of, and sbox show --diff."""
import json
import os
import subprocess

from denied import make_outside, profile
from sboxtest import test


def verb(t, *argv, cwd=None, env=None):
    """sbox with a verb: (code, out, err)."""
    child = t.popen([t.sbox_path, *argv], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = t.communicate(child, b"", 30)
    return child.returncode, out.decode(), err.decode()


def explain(t, *argv):
    return verb(t, "explain", *argv, "--store", t.store)


def failing_run(t):
    out = make_outside(t)
    mine = profile(t, (), "mine")
    script = (f"cat {out}/file; echo x > {out}/new; {out}/true; "
              "python3 -c 'import socket; socket.socket().connect((\"192.0.2.1\", 80))'; exit 3")
    return out, mine, t.sbox("sh", "-c", script, profile=mine)


@test()
def a_failed_run_says_what_it_was_refused(t):
    out, mine, run = failing_run(t)
    lines = [line for line in run.errtext.splitlines() if line.startswith("sbox: refused: ")]
    t.equal(len(lines), 3, run)
    t.has(lines[0], f"write {out}/new (ENOENT); to allow it: [file] write = {out}")
    t.has(run.errtext, f"1 more: sbox explain {run.start['run']}")
    quiet = t.sbox("cat", f"{out}/file", profile=mine, opts=["--quiet"])
    t.check("sbox: refused" not in quiet.errtext, quiet)
    fine = t.sbox("sh", "-c", f"cat {out}/file; exit 0", profile=mine)
    t.check("sbox: refused" not in fine.errtext, fine)


@test()
def start_files_of_a_shell_are_not_what_it_fails_for(t):
    run = t.sbox("bash", "-lc", "exit 3")
    t.equal((run.code, run.denied("read")[0]["object"]), (3, "/etc/profile"), run)
    t.check("sbox: refused" not in run.errtext, run)


@test()
def what_is_asked_enforced_refused_and_changed(t):
    out, mine, run = failing_run(t)
    code, text, err = explain(t, "--last")
    t.equal((code, err), (0, ""), text)
    for part in ("exited 3", "items in full", f"1. file: read {out}/file, ENOENT",
                 f"3. file: execute {out}/true, ENOENT", f"--- {mine}", f"+write = {out}\n",
                 "since it is yours to decide (--all): [network] mode = host"):
        t.has(text, part)
    t.check("+read" not in text and "+exec" not in text, f"write covers both: {text}")
    code, text, _ = explain(t, run.start["run"][:20], "--json")
    told = json.loads(text)
    t.equal(told["change"], [{"section": "file", "key": "write", "value": out}])
    t.equal(told["left_out"], [{"section": "network", "key": "mode", "value": "host"}])
    t.equal(told["refused"], run.denials)
    t.equal([told["run"], told["end"]["code"]], [run.start["run"], 3])
    t.equal(told["enforced"], run.start["enforced"])


@test()
def apply_makes_it_work(t):
    out, mine, _ = failing_run(t)
    before = "[profile]\nextends = agent\n\n; mine\n[file]\nread = /usr/share ; a note\n\n[time]\nwall = 1m\n"
    t.write(mine, before)
    code, text, err = explain(t, "--last", "--all", "--apply", mine)
    t.equal(code, 0, text + err)
    after = t.read(mine).decode()
    for line in before.splitlines():
        t.has(after, line + "\n", "comments and order stay")
    t.has(after, f"write = {out}\n")
    t.has(after, "[network]\nmode = host\n")
    info = os.stat(mine)
    t.equal((info.st_uid, info.st_mode & 0o777), (t.uid, 0o644))
    t.equal(sorted(os.listdir(os.path.dirname(mine))), ["mine.ini"], "nothing is left beside it")
    run = t.sbox("sh", "-c", f"cat {out}/file && echo x > {out}/new && {out}/true", profile=mine)
    t.equal(run.code, 0, run)
    t.equal(explain(t, "--last", "--apply", mine)[0], 1, "nothing to write")
    t.equal(t.read(mine).decode(), after)


@test()
def what_gives_more_than_it_seems_is_left_to_the_caller(t):
    """A program tries what it likes, so it decides which lines are named."""
    out = make_outside(t)
    t.write(f"{t.home}/.bashrc", "\n")
    secrets = [t.write(f"{t.mkdir(f'{out}/.ssh')}/config", "x\n"), t.write(f"{out}/prod.pem", "x\n")]
    mine = profile(t, (), "mine")
    t.sbox("sh", "-c", f"echo x >{t.home}/new; cat {' '.join(secrets)}; "
           f"cat {out}/file; exit 3", profile=mine, opts=["--set", "audit.denials=full"])
    told = json.loads(explain(t, "--last", "--json")[1])
    t.equal([line["value"] for line in told["change"]], [f"{out}/file"])
    t.equal(sorted(line["value"] for line in told["left_out"]),
            sorted([t.home, *secrets]))
    code, _, err = explain(t, "--last", "--apply", mine)
    t.equal(code, 0, err)
    t.check(t.home not in t.read(mine).decode(), t.read(mine).decode())
    told = json.loads(explain(t, "--last", "--all", "--json")[1])
    t.equal(told["left_out"], [])
    t.check({t.home, *secrets} <= {line["value"] for line in told["change"]}, told["change"])


@test()
def apply_writes_only_what_is_the_callers(t):
    failing_run(t)
    target = t.write("target.ini", "[profile]\nextends = agent\n")
    os.symlink(target, f"{t.ws}/link.ini")
    shared = t.write("shared.ini", "[profile]\nextends = agent\n", 0o666)
    broken = t.write("broken.ini", "[profile]\nextends = agent\n[flie]\n")
    for path, word in ((f"{t.ws}/link.ini", "is a link"), (shared, "others may write it"),
                       (broken, "flie"), (t.ws, "not a regular file"),
                       (f"{t.ws}/missing/new.ini", "missing/new.ini")):
        code, _, err = explain(t, "--last", "--apply", path)
        t.equal(code, 1, err)
        t.has(err, word, path)
    t.equal(t.read(target), b"[profile]\nextends = agent\n")
    t.equal(t.read(broken), b"[profile]\nextends = agent\n[flie]\n")
    t.check(not [n for n in os.listdir(t.ws) if n.endswith(".new")], "nothing is left")
    code, _, err = explain(t, "--last", "--apply", f"{t.ws}/new.ini")
    t.equal(code, 0, err)
    t.has(t.read("new.ini").decode(), f"[profile]\nextends = {t.dir}/profiles/mine.ini\n")


@test()
def wrong_use(t):
    failing_run(t)
    for argv in ((), ("--last", "x"), ("--frobnicate",), ("a", "b")):
        t.equal(explain(t, *argv)[0], 2, argv)
    t.equal(explain(t, "7ZZZZZZZ")[0], 1)


@test()
def wide_profiles_are_told(t):
    t.write(f"{t.home}/.bashrc", "\n")
    t.mkdir(f"{t.home}/bin")
    t.plain("git", "init", "-q", f"{t.ws}/repo")
    lines = {
        f"[file] write = {t.home}/bin": "is on your PATH",
        f"[file] write = {t.home}": ".bashrc can be changed",
        f"[file] read = {t.home}": "the whole of your home folder",
        f"[file] write = {t.ws}/repo": ".git/hooks can be changed",
        "[network] mode = host": "every address that this machine reaches",
    }
    env = {"PATH": f"{t.home}/bin:/usr/bin:/bin", "XDG_STATE_HOME": f"{t.dir}/state"}
    for number, (line, word) in enumerate(lines.items()):
        code, out, err = verb(t, "check", profile(t, (line,), f"wide-{number}", "base"), env=env)
        t.equal((code, err), (0, ""), line)
        t.has(out, "wide: ")
        t.has(out, word, line)
    inside = profile(t, (f"[file] write = {t.ws}", f"[file] exec = {t.ws}/repo"), "inside", "base")
    t.has(verb(t, "check", inside, env=env)[1], "what is executed from there can be changed")
    t.check("wide:" not in verb(t, "check", "agent", env=env)[1], "the shipped one is not wide")


@test()
def two_profiles_differ(t):
    one = profile(t, (), "one")
    two = profile(t, ("[time] wall = 7m", f"[file] read = {t.dir}"), "two")
    code, out, err = verb(t, "show", "--diff", one, two)
    t.equal((code, err), (0, ""))
    for part in (f"--- {one}\n+++ {two}\n", "-wall = 10m\n", "+wall = 7m\n", f"{t.dir}\n"):
        t.has(out, part)
    t.equal(verb(t, "show", "--diff", one, one)[1], "")
    t.equal(verb(t, "show", "--diff", one)[0], 125)


@test()
def a_path_longer_than_a_line(t):
    """What it writes is read again, and says nothing twice."""
    far = f"{t.dir}/{'d' * 120}/{'e' * 120}/a; file"
    t.write(far, "far\n", 0o644)
    mine = profile(t, (), "mine")
    for wanted in (0, 1):
        t.equal(t.sbox("cat", far, profile="agent").code, 1)
        code, text, err = explain(t, "--last", "--apply", mine)
        t.equal((code, t.read(mine).decode().count("read = ")), (wanted, 1), text + err)
    t.equal(t.sbox("cat", far, profile=mine).text, "far\n")

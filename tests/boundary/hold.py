# SPDX-License-Identifier: Apache-2.0
"""Protected names that did not exist: what a program puts there is held back at its end."""
import glob
import os

from sboxtest import test


def held(t, path):
    return [name.rsplit(".held-", 1)[1] for name in glob.glob(f"{t.ws}/{path}.held-*")]


@test()
def git_does_not_run_what_was_planted(t):
    """commondir leads git to a configuration of the program's own, whose commands the host's git runs."""
    t.plain("git", "init", "-q", ".")
    script = ("mkdir -p evil/objects evil/refs; cp .git/HEAD evil; "
              f"printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch {t.ws}/owned; false\\n' > evil/config; "
              "printf '%s\\n' \"$PWD/evil\" > .git/commondir")
    t.write("plant.sh", script)
    control = t.plain("sh", "plant.sh")
    t.plain("git", "status")
    t.check(os.path.exists(f"{t.ws}/owned"), f"control: git runs it: {control}")
    os.unlink(f"{t.ws}/owned")
    os.unlink(f"{t.ws}/.git/commondir")
    run = t.sbox("sh", "plant.sh")
    t.equal(held(t, ".git/commondir"), [run.start["run"]], run)
    t.plain("git", "status")
    t.check(not os.path.exists(f"{t.ws}/owned"), "git ran what was planted")
    t.has(run.errtext, "commondir was made by the program and is protected")
    denial = [d for d in run.end["denials"] if d["op"] == "create"]
    t.equal([(d["object"], d["permit"]) for d in denial],
            [(f"{t.ws}/.git/commondir", f"[file] protect = !{t.ws}/.git/commondir")])


@test(cases=["file", "folder", "link", "pipe"])
def every_kind_of_name(t, kind):
    make = {"file": "echo x > .envrc", "folder": "mkdir -p .vscode && echo {} > .vscode/tasks.json",
            "link": "ln -s /etc/passwd .gdbinit", "pipe": "mkfifo .vimrc"}[kind]
    name = {"file": ".envrc", "folder": ".vscode", "link": ".gdbinit", "pipe": ".vimrc"}[kind]
    run = t.sbox("sh", "-c", make)
    t.equal((run.code, os.path.lexists(f"{t.ws}/{name}")), (0, False), run)
    t.equal(held(t, name), [run.start["run"]])
    if kind == "link":
        t.check(os.path.exists("/etc/passwd"), "what it leads to is not touched")


@test()
def also_after_a_kill(t):
    run = t.sbox("sh", "-c", "echo x > .envrc; sleep 60", sets=["time.wall=500ms", "time.grace=100ms"])
    t.equal((run.kind, held(t, ".envrc")), ("timeout", [run.start["run"]]))


@test()
def lifted_by_a_line(t):
    run = t.sbox("sh", "-c", "echo x > .envrc", sets=[f"file.protect+=!{t.ws}/.envrc"])
    t.equal((run.code, held(t, ".envrc"), t.read(".envrc")), (0, [], b"x\n"), run)


@test()
def a_folder_of_the_programs_own_is_its_own(t):
    """A repository that the program makes can be used afterwards."""
    run = t.sbox("sh", "-c", "git init -q . && touch .git/commondir.x && echo done")
    t.equal(run.out, b"done\n", run)
    t.check(os.path.exists(f"{t.ws}/.git/config"), "the new repository has its configuration")
    t.equal(t.plain("git", "status", "--short").code, 0)


@test()
def a_folder_that_was_exchanged(t):
    """The name is not looked for where a link of the program's leads: it is the host's own there."""
    t.mkdir("sub")
    elsewhere = t.mkdir(f"{t.dir}/elsewhere")
    t.write(f"{elsewhere}/precious", "of the host")
    script = f"mv sub old; ln -s {elsewhere} sub"
    run = t.sbox("sh", "-c", script, sets=[f"file.protect+=-{t.ws}/sub/precious"])
    t.equal(sorted(os.listdir(elsewhere)), ["precious"])
    t.has(run.errtext, "look at it before you use this folder")


@test()
def names_of_the_host_that_were_there(t):
    t.write(".envrc", "old")
    run = t.sbox("sh", "-c", "echo new > .envrc; true")
    t.equal((t.read(".envrc"), held(t, ".envrc")), (b"old", []), run)
    t.equal(run.errtext.count("held-"), 0)


@test()
def a_name_that_cannot_be_taken_away_is_said(t):
    """A folder that nothing can be renamed in: never silent."""
    t.mkdir("deep")
    run = t.sbox("sh", "-c", "mv deep old; mkdir deep; echo x > deep/name", sets=[f"file.protect+=-{t.ws}/deep/name"])
    t.has(run.errtext, "look at it before you use this folder")
    t.equal([d["object"] for d in run.end["denials"] if d["op"] == "create"], [f"{t.ws}/deep/name"])

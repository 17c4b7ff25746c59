# SPDX-License-Identifier: Apache-2.0
"""Denied situations, labelled: boundary, object and errno are right, and the line that is named
as the way out is tried."""
import shutil
import time

from denied import READERS, WRITERS, Situation, hold, link, make_outside
from sboxtest import PYTHON, test

NONE = None
BY_DESCRIPTOR = "import os; fd = os.open('{}', 0); os.set_inheritable(fd, True); os.execve(fd, ['x'], dict())"


def py(text):
    return [PYTHON, "-c", text]


@test(timeout=300)
def reading_what_is_not_listed(t):
    out = make_outside(t)
    link(t, "../out/file", "link")
    link(t, out, "folder")
    rows = []
    for name, argv in READERS.items():
        line = f"[file] read = {out}/file"
        rows += [Situation(f"{name}, absolute", argv(f"{out}/file"), "file", f"{out}/file", "ENOENT", line),
                 Situation(f"{name}, relative", argv("../out/file"), "file", f"{out}/file", "ENOENT", line),
                 Situation(f"{name}, by a link", argv("link"), "file", f"{t.ws}/link", "ENOENT",
                           f"[file] read = {t.ws}/link")]
    rows += [
        Situation("below a link", ["cat", "folder/file"], "file", f"{t.ws}/folder/file", "ENOENT"),
        Situation("/proc/self/cwd", ["cat", "/proc/self/cwd/../out/file"], "file", f"{out}/file", "ENOENT"),
        Situation("dirfd", py("import os; d = os.open('..', os.O_PATH); os.open('out/file', 0, dir_fd=d)"),
                  "file", f"{out}/file", "ENOENT"),
        Situation("/proc/self/fd", py("import os; d = os.open('..', os.O_PATH);"
                                      "open(f'/proc/self/fd/{d}/out/file')"),
                  "file", f"{out}/file", "ENOENT"),
        Situation("the longest path", py(f"open('{out}' + '/' * {4095 - len(out) - 4} + 'file')"), "file",
                  f"{out}/file", "ENOENT"),
        Situation("/proc/self/root", ["cat", f"/proc/self/root{out}/file"], "file", f"{out}/file", "ENOENT"),
        Situation("chdir", ["sh", "-c", f"cd {out}"], "file", out, "ENOENT", op="enter"),
        Situation("access", ["sh", "-c", f"test -r {out}/file"], "file", f"{out}/file", "ENOENT", op="look"),
        Situation("an included file", ["sh", "-c", f"echo '#include \"{out}/head.h\"' > a.c; gcc -c a.c -o a.o"],
                  "file", f"{out}/head.h", "ENOENT"),
        Situation("a source", ["sh", "-c", f"gcc -fsyntax-only -x c {out}/head.h"], "file", f"{out}/head.h",
                  "ENOENT"),
    ]
    hold(t, rows)


@test(timeout=300)
def hidden_and_protected_names(t):
    make_outside(t)
    t.write(".env", "secret\n", 0o644)
    t.write(".bashrc", "\n", 0o644)
    t.mkdir(".vscode")
    t.write(".vscode/settings.json", "{}\n", 0o644)
    t.write("keys/id", "secret\n", 0o644)
    for argv in (["init", "-q"], ["config", "user.name", "x"]):
        t.plain("git", *argv)
    link(t, ".env", "env-link")
    shown, kept = f"[file] hide = !{t.ws}/.env", f"[file] protect = !{t.ws}"
    rows = [Situation(f"{name}, hidden", argv(".env"), "file", f"{t.ws}/.env", "EACCES", shown)
            for name, argv in READERS.items()]
    rows += [
        Situation("hidden, by a link", ["cat", "env-link"], "file", f"{t.ws}/env-link", "EACCES", shown),
        Situation("hidden, removed", ["rm", "-f", ".env"], "file", f"{t.ws}/.env", "EBUSY", shown),
        Situation("below a hidden folder", ["cat", "keys/id"], "file", f"{t.ws}/keys/id", "EACCES",
                  f"[file] hide = !{t.ws}/keys", (f"[file] hide = {t.ws}/keys",)),
        Situation("protected, in a folder", ["sh", "-c", "echo x > .git/hooks/pre-commit"], "file",
                  f"{t.ws}/.git/hooks/pre-commit", "EROFS", f"{kept}/.git/hooks"),
        Situation("protected, changed", ["sh", "-c", "echo x > .vscode/settings.json"], "file",
                  f"{t.ws}/.vscode/settings.json", "EROFS", f"{kept}/.vscode"),
        Situation("protected, a file", py("open('.bashrc', 'a')"), "file", f"{t.ws}/.bashrc", "EROFS",
                  f"{kept}/.bashrc"),
        Situation("protected, removed", ["rm", "-f", ".bashrc"], "file", f"{t.ws}/.bashrc", "EBUSY",
                  f"{kept}/.bashrc"),
        Situation("protected, renamed over", ["git", "config", "user.name", "y"], "file",
                  f"{t.ws}/.git/config", "EBUSY", f"{kept}/.git/config"),
        Situation("pinned", ["mv", ".git", ".old"], "file", f"{t.ws}/.git", "EBUSY", NONE),
    ]
    hold(t, rows)


@test(timeout=300)
def writing_what_is_not_for_writing(t):
    out = make_outside(t)
    t.write("new", "x\n")
    shown = (f"[file] read = {out}",)
    rows = []
    for name, argv in WRITERS.items():
        rows += [Situation(f"{name}, read-only", argv(f"{out}/file"), "file", f"{out}/file", "EROFS",
                           f"[file] write = {out}/file", shown),
                 Situation(f"{name}, new", argv(f"{out}/{name}.1"), "file", f"{out}/{name}.1", "EROFS",
                           f"[file] write = {out}", shown),
                 Situation(f"{name}, not listed", argv(f"{out}/more"), "file", f"{out}/more", "ENOENT",
                           f"[file] write = {out}/more"),
                 Situation(f"{name}, new in what is not listed", argv(f"{out}/{name}.2"), "file",
                           f"{out}/{name}.2", "ENOENT", f"[file] write = {out}")]
    names = [("unlink", f"os.unlink('{out}/more')", f"{out}/more"),
             ("mkdir", f"os.mkdir('{out}/d1')", f"{out}/d1"),
             ("rmdir", f"os.rmdir('{out}/d1')", f"{out}/d1"),
             ("symlink", f"os.symlink('x', '{out}/l1')", f"{out}/l1"),
             ("rename", f"os.rename('{out}/l1', '{out}/l2')", f"{out}/l1"),
             ("link", f"os.link('{out}/file', '{out}/h1')", f"{out}/h1"),
             ("mkfifo", f"os.mkfifo('{out}/p1')", f"{out}/p1"),
             ("mkdir, with a slash", f"os.mkdir('{out}/d3/')", f"{out}/d3"),
             ("rmdir, with a slash", f"os.rmdir('{out}/d3/')", f"{out}/d3"),
             ("mkdir, dirfd", f"os.mkdir('d2', dir_fd=os.open('{out}', 0))", f"{out}/d2"),
             ("bind", f"__import__('socket').socket(1).bind('{out}/s1')", f"{out}/s1")]
    rows += [Situation(name, py(f"import os; {text}"), "file", path, "EROFS", f"[file] write = {out}", shown)
             for name, text, path in names]
    rows += [
        Situation("chmod", ["chmod", "600", f"{out}/file"], "file", f"{out}/file", "EROFS",
                  f"[file] write = {out}/file", shown),
        Situation("truncate", py(f"import os; os.truncate('{out}/file', 0)"), "file", f"{out}/file", "EROFS",
                  f"[file] write = {out}/file", shown),
        Situation("rename between mounts", py(f"import os; os.rename('new', '{out}/moved')"), "file",
                  f"{t.ws}/new", "EXDEV", NONE, (f"[file] write = {out}",)),
        Situation("removing what is listed", ["rmdir", f"{out}/folder"], "file", f"{out}/folder", "EBUSY", NONE,
                  (f"[file] write = {out}", f"[file] noexec = {out}/folder")),
        Situation("the compiler's output", ["sh", "-c", f"echo 'int x;' > b.c; gcc -c b.c -o {out}/b.o"],
                  "file", f"{out}/b.o", "EROFS", f"[file] write = {out}", shown),
        Situation("tar", ["tar", "-cf", f"{out}/a.tar", "new"], "file", f"{out}/a.tar", "EROFS",
                  f"[file] write = {out}", shown),
        Situation("the root", ["mkdir", "/sbox-no"], "file", "/sbox-no", "EROFS", NONE, callers=("root",)),
    ]
    hold(t, rows)


@test(timeout=300)
def executing_what_is_not_for_executing(t):
    out = make_outside(t)
    t.write("script", f"#!{out}/true\n", 0o755)
    t.write("chain", f"#!{t.ws}/script\n", 0o755)
    t.write("own", "#!/bin/sh\nexit 0\n", 0o755)
    link(t, "../out/true", "true-link")
    loader(t, out)
    exec_line = f"[file] exec = {out}/true"
    rows = [
        Situation("sh", ["sh", "-c", f"{out}/true"], "file", f"{out}/true", "ENOENT", exec_line),
        Situation("sh, relative", ["sh", "-c", "../out/true"], "file", f"{out}/true", "ENOENT", exec_line),
        Situation("bash", ["bash", "-c", f"{out}/true"], "file", f"{out}/true", "ENOENT", exec_line),
        Situation("python", py(f"import subprocess; subprocess.run(['{out}/true'], check=True)"), "file",
                  f"{out}/true", "ENOENT", exec_line),
        Situation("perl", ["perl", "-e", f"exit(system('{out}/true') != 0)"], "file", f"{out}/true", "ENOENT",
                  exec_line),
        Situation("node", ["node", "-e", f"require('child_process').execFileSync('{out}/true')"], "file",
                  f"{out}/true", "ENOENT", exec_line),
        Situation("by a link", ["sh", "-c", "./true-link"], "file", f"{t.ws}/true-link", "ENOENT"),
        Situation("env", ["env", f"{out}/true"], "file", f"{out}/true", "ENOENT", exec_line),
        Situation("a script", ["sh", "-c", f"{out}/run.sh"], "file", f"{out}/run.sh", "ENOENT"),
        Situation("a script's interpreter", ["sh", "-c", "./script"], "file", f"{out}/true", "ENOENT", exec_line),
        Situation("its interpreter's", ["sh", "-c", "./chain"], "file", f"{out}/true", "ENOENT", exec_line),
        Situation("a program's loader", ["sh", "-c", "./loaded"], "file", f"{out}/ld.so", "ENOENT",
                  f"[file] exec = {out}/ld.so"),
        Situation("listed for reading", ["sh", "-c", f"{out}/true"], "file", f"{out}/true", "EACCES", exec_line,
                  (f"[file] read = {out}",)),
        Situation("an interpreter for reading", ["sh", "-c", "./script"], "file", f"{out}/true", "EACCES",
                  exec_line, (f"[file] read = {out}",)),
        Situation("noexec", ["sh", "-c", "./own"], "file", f"{t.ws}/own", "EACCES",
                  f"[file] noexec = !{t.ws}", (f"[file] noexec = {t.ws}",)),
        Situation("scratch", ["sh", "-c", "cp own /tmp/own; /tmp/own"], "file", "/tmp/own", "EACCES",
                  "[file] scratch_exec = yes", ("[file] write = ${cwd}",), base="base"),
        Situation("by a descriptor", py(BY_DESCRIPTOR.format("script")), "file", f"{out}/true", "ENOENT", exec_line),
        Situation("by a descriptor, noexec", py(BY_DESCRIPTOR.format("own")), "file", f"{t.ws}/own", "EACCES",
                  f"[file] noexec = !{t.ws}/own", (f"[file] noexec = {t.ws}/own",)),
        Situation("dirfd", py(f"import os; d = os.open('..', os.O_PATH); os.chdir(d);"
                              "os.execv('out/true', ['true'])"), "file", f"{out}/true", "ENOENT", exec_line),
    ]
    hold(t, rows)


@test()
def an_interpreter_that_changes(t):
    """What sbox remembers of an executed file ends with the file as it was."""
    out = make_outside(t)
    t.write("script", "#!/bin/true\n", 0o755)
    time.sleep(3.1)  # old enough to be remembered
    run = t.sbox("sh", "-c", f"./script && ./script; printf '#!{out}/true\\n' > script; ./script", opts=["--quiet"])
    t.equal([(d["object"], d["errno"], d["count"]) for d in run.denied("execute")], [(f"{out}/true", "ENOENT", 1)], run)
    t.write("script", "#!/bin/true\n", 0o755)
    t.write("chain", f"#!{t.ws}/script\n", 0o755)
    time.sleep(3.1)
    run = t.sbox("sh", "-c", f"./chain && ./chain; printf '#!{out}/true\\n' > script; ./chain", opts=["--quiet"])
    t.equal([(d["object"], d["errno"], d["count"]) for d in run.denied("execute")], [(f"{out}/true", "ENOENT", 1)], run)


def loader(t, out):
    """A program whose loader lies in a folder that is not listed."""
    shutil.copy("/lib64/ld-linux-x86-64.so.2", f"{out}/ld.so")
    t.own(f"{out}/ld.so")
    t.write("loaded.c", "int main(void) { return 0; }\n")
    built = t.plain("gcc", f"-Wl,--dynamic-linker={out}/ld.so", "loaded.c", "-o", "loaded")
    t.equal(built.code, 0, built)


@test()
def a_line_that_sbox_would_refuse_is_not_named(t):
    """The folder holds the record: no profile makes it writable, so what is said is why."""
    t.own(t.dir)
    run = t.sbox("mkdir", f"{t.dir}/new", sets=[f"file.read+={t.dir}"], opts=["--quiet"])
    t.equal([(d["errno"], d["permit"], "audit records" in str(d["never"])) for d in run.denied("create")],
            [("EROFS", None, True)], run)
    refused = t.sbox("true", sets=[f"file.write={t.dir}"])
    t.equal(refused.code, 125, refused)
    t.has(refused.errtext, "audit records")

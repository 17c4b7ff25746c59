# SPDX-License-Identifier: Apache-2.0
"""Ordinary failures: the program fails with and without sbox, and no denial is reported."""
import os

from denied import profile
from sboxtest import PYTHON, test

SH, NODE, PERL = ["sh", "-c"], ["node", "-e"], ["perl", "-e"]

# the machine's own settings are hidden, and that would be named
GIT = ["env", "GIT_CONFIG_NOSYSTEM=1", "git"]


def py(text):
    return [PYTHON, "-c", text]


def rows_of_missing_names():
    return [
        ["cat", "missing"], ["cat", "/missing"], ["cat", "/etc/missing"], ["cat", "/usr/missing"],
        ["cat", "/home/nobody/missing"], ["cat", "missing/below"], ["cat", "plain/below"],
        ["cat", "dangling"], ["cat", "loop"], ["ls", "missing"], ["rm", "missing"], ["rmdir", "missing"],
        ["mv", "missing", "other"], ["cp", "missing", "other"], ["ln", "missing", "other"],
        ["mkdir", "missing/below"], ["chmod", "600", "missing"], ["touch", "missing/below"],
        [*SH, "cd missing"], [*SH, "./missing"], [*SH, "missing-program"], [*SH, ". ./missing"],
        [*SH, "echo x > missing/below"], [*SH, "exec 3< missing"], ["bash", "-c", "read x < missing"],
        py("open('missing')"), py("import missing_module"), py("import os; os.listdir('missing')"),
        py("import subprocess; subprocess.run(['missing-program'], check=True)"),
        [PYTHON, "missing.py"], ["node", "missing.js"], ["perl", "missing.pl"], ["bash", "missing.sh"],
        [*NODE, "require('fs').readFileSync('missing')"], [*NODE, "require('missing-module')"],
        [*PERL, "open(F, '<', 'missing') or exit 1"], [*PERL, "require Missing::Module"],
        ["gcc", "-c", "missing.c"], [*SH, "echo '#include <missing.h>' > m.c; gcc -c m.c"],
        [*SH, "gcc -x c /dev/null -lmissing -o m"], [*GIT, "log"], [*GIT, "checkout", "missing"],
        ["tar", "-xf", "missing.tar"], ["make", "missing"], ["sqlite3", "missing/db", "select 1"],
        ["execve-missing-interpreter"],
    ]


def rows_of_modes():
    return [
        ["cat", "secret"], [*SH, "echo x > kept"], [*SH, "./kept"], [*SH, "./secret"], [*SH, "cd shut"],
        ["ls", "shut"], ["cat", "shut/file"], ["rm", "-f", "fixed/file"], [*SH, "echo x > fixed/new"],
        ["mkdir", "fixed/new"], ["mv", "fixed/file", "elsewhere"], py("open('secret')"), py("open('kept', 'w')"),
        [*NODE, "require('fs').readFileSync('secret')"], [*NODE, "require('fs').writeFileSync('kept', 'x')"],
        [*PERL, "open(F, '>', 'kept') or exit 1"], ["cat", "/etc/shadow-missing"],
    ]


def rows_of_the_programs_own():
    return [
        [*SH, "exit 1"], [*SH, "exit 126"], [*SH, "exit 127"], [*SH, "kill -SEGV $$"], [*SH, "kill -KILL $$"],
        ["false"], py("raise SystemExit(3)"), py("raise PermissionError(1, 'mine')"), py("1/0"),
        py("import os; os.kill(os.getpid(), 6)"), [*NODE, "process.exit(5)"], [*NODE, "throw new Error('EACCES')"],
        [*PERL, "die 'Operation not permitted'"], ["mkdir", "folder"], ["rmdir", "full"], ["rm", "folder"],
        ["cat", "folder"], [*SH, "echo x > folder"], [*SH, "cat < folder"], ["mv", "folder", "folder/in"],
        ["ln", "plain", "plain"], ["ln", "-s", "x", "plain"], py("import os; os.symlink('x', 'plain')"),
        py("import os; os.open('plain', os.O_CREAT | os.O_EXCL)"), py("import os; os.read(99, 1)"),
        py("import os; os.readlink('plain')"), py("import os; os.rename('plain', 'folder')"),
        py("import socket; socket.create_connection(('127.0.0.1', 9))"),
        py("import socket; socket.create_connection(('::1', 9))"),
        py("import socket; s = socket.socket(1); s.connect('missing-socket')"),
        py("import socket; s = socket.socket(1); s.bind('plain')"),
        py("import socket; a = socket.socket(); a.bind(('127.0.0.1', 7001)); b = socket.socket(); "
           "b.bind(('127.0.0.1', 7001))"),
        py("import socket; a = socket.socket(2, 2); a.bind(('127.0.0.1', 53)); b = socket.socket(2, 2); "
           "b.connect(('127.0.0.1', 53)); c = socket.socket(); c.connect(('127.0.0.1', 53))"),
        py("import readline, socket; socket.getfqdn(); socket.gethostbyname('localhost'); raise SystemExit(1)"),
        ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9"],
        [*NODE, "require('net').connect(9, '127.0.0.1')"], ["curl", "-s", "http://127.0.0.1:9/"],
        py("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)); "
           "f = open('quota', 'w'); f.write('x' * 100); f.flush()"),
        py("import resource, os; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); os.dup(0)"),
        ["gcc", "-c", "broken.c"], ["make", "-f", "broken.mk"], ["sh", "broken.sh"], [*GIT, "frobnicate"],
        ["tar", "-tf", "plain"], ["sqlite3", ":memory:", "select missing"], ["grep", "absent", "plain"],
        ["test", "a", "=", "b"], ["test", "-e", "missing"], [PYTHON, "broken.py"], ["cmp", "plain", "broken.c"],
    ]


def make(t):
    t.write("plain", "plain\n")
    t.write("secret", "x\n", 0)
    t.write("kept", "x\n", 0o444)
    t.write("folder/file", "x\n")
    t.write("full/file", "x\n")
    t.write("shut/file", "x\n")
    t.write("fixed/file", "x\n")
    t.write("broken.c", "int main( {\n")
    t.write("broken.py", "def\n")
    t.write("broken.sh", "if\n")
    t.write("broken.mk", "all:\n\tfalse\n")
    t.write("execve-missing", "#!/missing/interpreter\n", 0o755)
    for target, name in (("nowhere", "dangling"), ("loop", "loop")):
        os.symlink(target, f"{t.ws}/{name}")
        t.own(f"{t.ws}/{name}")
    os.chmod(f"{t.ws}/shut", 0)
    os.chmod(f"{t.ws}/fixed", 0o555)


def none_is_named(t, rows):
    make(t)
    quiet = profile(t, (), "quiet")
    said, held = [], 0
    for argv in rows:
        if argv == ["execve-missing-interpreter"]:
            argv = [*SH, "./execve-missing"]
        run = t.sbox(*argv, profile=quiet)
        if run.code == 0:
            said.append(f"{argv} did not fail: {run}")
        elif run.denials:
            said.append(f"{argv}: {run.denials}")
        else:
            held += 1
    t.note(f"{held} ordinary failures")
    t.equal(said, [], f"{len(said)} of {len(rows)}")


@test(timeout=300)
def missing_names(t):
    none_is_named(t, rows_of_missing_names())


@test(timeout=200)
def mode_bits(t):
    none_is_named(t, rows_of_modes())


@test(timeout=300)
def of_the_programs_own_making(t):
    none_is_named(t, rows_of_the_programs_own())

# SPDX-License-Identifier: Apache-2.0
"""What the launcher writes with --watch-fd: each way to use a path, where it leads, and nothing twice."""
import os
import re
import shutil

from sboxtest import PYTHON, Skip, test


def uses_of(data):
    """[(want, type, [names])]; the last is the end."""
    found, at = [], 0
    while at < len(data):
        want, kind, names = chr(data[at]), chr(data[at + 1]), []
        at += 2
        while data[at]:
            end = data.index(0, at)
            names.append(os.fsdecode(data[at:end]))
            at = end + 1
        at += 1
        found.append((want, kind, names))
    return found


def watch(t, *argv, **keywords):
    """The uses of a run, the end apart: (run, uses, end)."""
    path = t.write(f"{t.dir}/uses")
    with open(path, "wb") as file:
        keywords["opts"] = [*keywords.get("opts", ()), "--watch-fd", str(file.fileno())]
        run = t.sbox(*argv, pass_fds=(file.fileno(),), timeout=60, **keywords)
    uses = uses_of(t.read(path))
    t.check(uses and uses[-1][0] == "E", f"no end: {uses[-3:]}\n{run}")
    return run, uses[:-1], uses[-1][2][0]


PY = """import os, socket
print(sorted(int(n) for n in os.listdir('/proc/self/fd')))
os.mkdir('d'); os.symlink('d', 'l'); open('d/f', 'w').write('x')
fd = os.open('d', os.O_RDONLY | os.O_DIRECTORY)
os.stat('f', dir_fd=fd); open('g', 'w', opener=lambda p, f: os.open(p, f, dir_fd=fd)).close()
os.chdir('l'); os.stat('f'); os.readlink('../l'); os.lstat('../l'); os.access('../d/./f', os.R_OK)
os.chdir('..'); os.stat('d/../l/f'); os.rename('d/f', 'd/h'); os.link('d/h', 'd/i'); os.unlink('d/i')
os.getcwd(); os.utime('d/h'); os.chmod('d/h', 0o600); os.truncate('d/h', 0); os.listdir('d'); os.statvfs('d')
s = socket.socket(socket.AF_UNIX); s.bind('d/s'); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect('d/s')
p = socket.socket(); p.bind(('127.0.0.1', 8799))
os.path.exists('missing'); os.path.exists('/nowhere/at/all')
"""


@test()
def every_way_to_use_a_path(t):
    run, uses, end = watch(t, PYTHON, "-c", PY)
    t.equal(run.code, 0, run)
    t.check(int(end.split()[1]) >= 5 or end.split()[1] == "0", f"descriptors: {end}")
    ws = t.ws
    for want, kind, *names in (
            ("n", "-", f"{ws}/d"), ("n", "-", f"{ws}/l"), ("c", "-", f"{ws}/d/f"), ("r", "d", f"{ws}/d"),
            ("l", "f", f"{ws}/d/f"), ("c", "-", f"{ws}/d/g"), ("e", "d", f"{ws}/l", f"{ws}/d"),
            ("l", "l", f"{ws}/l"), ("d", "f", f"{ws}/d/f"), ("n", "-", f"{ws}/d/h"), ("r", "f", f"{ws}/d/h"),
            ("d", "f", f"{ws}/d/i"), ("m", "f", f"{ws}/d/h"), ("l", "d", f"{ws}/d"), ("n", "-", f"{ws}/d/s"),
            ("u", "s", f"{ws}/d/s"), ("B", "-", "8799"), ("l", "-", f"{ws}/missing"), ("e", "d", ws), ("g", "d", ws)):
        t.check((want, kind, names) in uses, f"{(want, kind, names)} is not in "
                f"{[use for use in uses if names[-1] in use[2]]}")
    t.check([names for want, kind, names in uses if want == "p" and "/libc.so" in names[-1]], "libraries are mapped")
    keys = [(want, kind, tuple(names)) for want, kind, names in uses]
    t.check(len(keys) - len(set(keys)) <= 4, "hardly a use twice (one path has several spellings)")
    t.equal(run.text, "[0, 1, 2, 3]\n", "the descriptor is not the program's")


@test()
def links_scripts_and_loaders(t):
    t.write(f"{t.ws}/real/tool", f"#!{PYTHON}\nprint('hi')\n", 0o755)
    os.symlink("real", f"{t.ws}/one")
    os.symlink(f"{t.ws}/one", f"{t.ws}/two")
    run, uses, _ = watch(t, "two/tool")
    t.equal(run.text, "hi\n", run)
    t.check(("x", "f", [f"{t.ws}/two/tool", f"{t.ws}/one/tool", f"{t.ws}/real/tool"]) in uses,
            [use for use in uses if use[0] == "x"])
    executed = [names[-1] for want, kind, names in uses if want == "x"]
    t.check(os.path.realpath(PYTHON) in executed, f"the script's interpreter: {executed}")
    t.check(any(re.search(r"/ld[-.]|/ld-linux", name) for name in executed), f"its loader: {executed}")


@test()
def what_its_children_use_counts(t):
    t.write("deep", "x\n")
    run, uses, _ = watch(t, "sh", "-c", "sh -c '(cat deep &) ; wait; sleep 0.2'")
    t.check(("r", "f", [f"{t.ws}/deep"]) in uses, run)


@test()
def sets_of_calls(t):
    script = ("import ctypes\nlibc = ctypes.CDLL(None)\n"
              "print(libc.semget(0, 1, 0o1600) >= 0)\n")
    run, uses, _ = watch(t, PYTHON, "-c", script)
    t.equal(run.text, "True\n", run)
    t.check(("S", "-", ["semget"]) in uses, [use for use in uses if use[0] == "S"])
    t.check(not [use for use in watch(t, "true")[1] if use[0] == "S"], "nobody else")


@test()
def nothing_is_asked_without_it(t):
    """The level is the option's alone: a stat costs nothing in another run."""
    script = "import os,time\nt=time.process_time()\nfor i in range(20000): os.stat('/usr')\nprint(time.process_time()-t)"
    run = t.sbox(PYTHON, "-c", script, sets=["audit.denials=full"])
    watched = watch(t, PYTHON, "-c", script)[0]
    t.equal(run.code + watched.code, 0)
    t.check(float(run.text) < float(watched.text), f"{run.text} {watched.text}")


OPENED = re.compile(rb'(?:openat|newfstatat|readlink|access|execve)\((?:AT_FDCWD, )?"([^"]+)".*\) = [0-9]')


@test(timeout=120)
def the_same_paths_as_strace_sees(t):
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    t.plain("git", "init", "-q", "repo")
    t.write("repo/f", "x\n")
    for argv in ((PYTHON, "-c", "import json, decimal, email.message"), ("git", "-C", "repo", "status"),
                 ("perl", "-MData::Dumper", "-e", "1")):
        log = f"{t.dir}/strace"
        control = t.plain("strace", "-f", "-o", log, "-e", "trace=openat,newfstatat,readlink,access,execve", *argv)
        if not os.path.exists(log) or control.code != 0:
            raise Skip(f"strace does not work here: {control.errtext[:200]}")
        seen = {os.path.realpath(os.path.join(t.ws, os.fsdecode(path))) for path in OPENED.findall(t.read(log))
                if not path.startswith(b"/proc/self/")}
        # what is another thing inside, or relative to what the child went to
        seen = {path for path in seen if path.startswith("/usr/")}
        uses = watch(t, *argv)[1]
        told = {names[-1] for want, kind, names in uses if kind != "-"}
        t.equal(sorted(seen - told), [], argv)
        t.check(len(seen) > 5, f"{argv}: {seen}")

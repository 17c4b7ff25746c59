# SPDX-License-Identifier: Apache-2.0
"""Workspaces on other file systems and in odd places: what is idmapped, what is refused with the
way out, and trees that are laid out in another way than Debian's.
"""
import os
import shutil
import signal
import subprocess
import time

import worlds
from sboxtest import PYTHON, Skip, descendants, test, wait_until

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Mounted:
    """A mount namespace of the test's own, in which everything that it starts then lives."""

    def __init__(self, t):
        self.t = t
        if os.geteuid() != 0:
            raise Skip("mounting for this test needs root")
        worlds.mount_namespace()
        self.points = []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for path in reversed(self.points):
            worlds.check(worlds.libc.umount2(path.encode(), 2))

    def tmpfs(self, path, options=""):
        self.points.append(path)
        worlds.mount("tmpfs", path, "tmpfs", 0, f"mode=0755,uid={self.t.uid},gid={self.t.gid}{options}")

    def overlay(self, path):
        base = f"{self.t.dir}/layers"
        worlds_dirs = [f"{base}/{name}" for name in ("lower", "upper", "work")]
        self.t.mkdir(base)
        self.tmpfs(base)
        for folder in worlds_dirs:
            self.t.mkdir(folder)
        self.points.append(path)
        worlds.mount("overlay", path, "overlay", 0,
                     f"lowerdir={worlds_dirs[0]},upperdir={worlds_dirs[1]},workdir={worlds_dirs[2]}")
        self.t.own(path)

    def fuse(self, path):
        source = self.t.mkdir(f"{self.t.dir}/fuse-source")
        if shutil.which("bindfs") is None:
            raise Skip("bindfs is not installed")
        # single-threaded in the foreground, ended with the test
        child = subprocess.Popen(["bindfs", "-f", "-o", "allow_other", source, path],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.t.background.append(child)
        for _ in range(250):
            if os.path.ismount(path):
                self.points.append(path)
                return child
            if child.poll() is not None:
                raise Skip(f"bindfs: {child.stderr.read().decode()[-200:]}")
            subprocess.run(["sleep", "0.02"])
        raise Skip("bindfs did not mount")


def works(t, run_as="user", sets=()):
    """Written, read back, executed; the files belong to the workspace's owner."""
    run = t.sbox("sh", "-ec", "mkdir d; echo x > d/f; cat d/f; cp /bin/true t; ./t; mv d/f g; rm g", sets=sets)
    t.equal((run.code, run.out), (0, b"x\n"), run)
    t.equal(sorted(os.listdir(t.ws)), ["d", "t"])
    t.equal(os.lstat(f"{t.ws}/t").st_uid, os.stat(t.ws).st_uid, "the new file's owner")
    shutil.copy(f"{HERE}/demo/hello.py", f"{t.ws}/hello.py")
    run = t.sbox(PYTHON, "hello.py", sets=sets)
    t.equal((run.code, t.read("result.txt")), (0, b"6 * 7 = 42\n"), run)


@test()
def on_tmpfs(t):
    with Mounted(t) as mounted:
        mounted.tmpfs(t.ws)
        works(t)
        worlds.doctor_agrees(t)


@test()
def on_overlayfs(t):
    """Cannot be idmapped: root is told so, and both ways out work."""
    with Mounted(t) as mounted:
        mounted.overlay(t.ws)
        cannot_be_idmapped(t)


@test()
def on_fuse(t):
    with Mounted(t) as mounted:
        mounted.fuse(t.ws)
        cannot_be_idmapped(t)


# Waits for "go", then does with argv[1] what argv[2] says; another process writes dots.
TRIES = """
import os, sys, time
ticks = open("ticks", "wb", buffering=0)
if os.fork() == 0:
    while True:
        ticks.write(b".")
        time.sleep(0.1)
while not os.path.exists("go"):
    time.sleep(0.02)
if sys.argv[2] == "run":
    os.execv(sys.argv[1], [sys.argv[1]])
os.open(sys.argv[1], os.O_RDONLY if sys.argv[2] == "read" else os.O_WRONLY)
"""


def stalled_run(t, mounted, path, what, level, over):
    """A run that asks for `path` when the file system it lies on answers no more, until over(run):
    (exit code, end, seconds)."""
    slow = t.mkdir(f"{t.dir}/slow")
    server = mounted.fuse(slow)
    for name in ("file", "prog"):
        shutil.copy("/bin/true", f"{t.dir}/fuse-source/{name}")
        t.own(f"{t.dir}/fuse-source/{name}")
    os.symlink(slow, f"{t.ws}/link")
    child = t.start(PYTHON, "-c", TRIES, path, what, sets=[
        f"file.exec+={slow}", f"audit.denials={level}", "time.wall=2s", "time.grace=200ms"])
    try:
        wait_until(lambda: os.path.exists(f"{t.ws}/ticks"), 20)
        os.kill(server.pid, signal.SIGSTOP)
        begun = time.monotonic()
        t.write("go", "")
        wait_until(lambda: over(child), 30, 0.1)
        seconds = time.monotonic() - begun
    finally:
        os.kill(server.pid, signal.SIGCONT)
    wait_until(lambda: child.poll() is not None, 20)
    # what waits for that answer cannot be killed before it comes
    wait_until(lambda: not set(descendants(os.getpid())) - {server.pid}, 10)
    # and what that run could not remove the next start does
    t.popen([t.sbox_path, "--store", t.store, "true"], cwd=t.ws, stderr=subprocess.DEVNULL).wait()
    t.communicate(child, None, 20)
    ends = [record["end"]["kind"] for record in t.records() if "end" in record]
    return child.returncode, ends[0], seconds


STALLED = [("by a link", "link/file", "write"), ("upwards", "../slow/file", "write"),
           ("a link read", "link/file", "read")]


@test(cases=[f"{name} {level}" for name, _, _ in STALLED for level in ("calls", "writes", "full")])
def a_server_that_does_not_answer_stops_no_clock(t, case):
    name, level = case.rsplit(" ", 1)
    _, path, what = next(row for row in STALLED if row[0] == name)
    with Mounted(t) as mounted:
        code, end, seconds = stalled_run(t, mounted, path, what, level, lambda run: run.poll() is not None)
    t.equal((code, end), (124, "timeout"))
    t.check(seconds < 20, f"{seconds:.1f} s")


@test(cases=["writes", "calls"])
def a_stuck_supervisor_gives_nobody_more_time(t, level):
    """It reads what is executed, and may wait for that file; pid 1 ends the run in its place."""
    seen = []

    def stands_still(_):
        seen.append(os.path.getsize(f"{t.ws}/ticks"))
        return len(seen) > 20 and seen[-1] == seen[-20]

    with Mounted(t) as mounted:
        code, end, seconds = stalled_run(t, mounted, "link/prog", "run", level, stands_still)
    t.equal((code, end), (124, "timeout"))
    t.check(seconds < 25, f"it lived for {seconds:.0f} s")


def cannot_be_idmapped(t):
    worlds.doctor_agrees(t, lost=t.uid == 0)
    if t.uid != 0:
        works(t)
        return
    run = t.sbox("sh", "-c", "touch ran")
    t.equal((run.code, run.kind), (125, "denied_start"), run)
    for part in (t.ws, "cannot be idmapped", "[privilege] user", "volume"):
        t.has(run.errtext, part)
    t.check(not os.path.exists(f"{t.ws}/ran"), "the program ran")
    os.chown(t.ws, 12345, 12345)
    works(t, sets=["privilege.user=12345"])
    os.chown(t.ws, 0, 0)
    os.chmod(t.ws, 0o755)
    run = t.sbox("sh", "-c", "touch ok 2>/dev/null || echo refused", sets=["file.on_missing=allow"])
    t.equal(run.out, b"refused\n", run)


@test()
def discard_on_overlayfs_and_tmpfs(t):
    with Mounted(t) as mounted:
        mounted.tmpfs(t.ws)
        run = t.sbox("sh", "-ec", "echo x > f; cat f", sets=["file.writes=discard"])
        t.equal((run.code, run.out, os.listdir(t.ws)), (0, b"x\n", []), run)


@test()
def read_only_file_system(t):
    with Mounted(t) as mounted:
        mounted.tmpfs(t.ws)
        t.write("data", "kept\n")
        worlds.mount(None, t.ws, None, worlds.MS_REMOUNT | worlds.MS_RDONLY)
        run = t.sbox("cat", "data")
        t.equal((run.code, run.kind), (125, "denied_start"), run)
        for part in (t.ws, "read-only", "writes = discard"):
            t.has(run.errtext, part)
        run = t.sbox("sh", "-c", "cat data; echo new > data; cat data", sets=["file.writes=discard"])
        t.equal(run.out, b"kept\nnew\n", run)
        t.equal(t.read("data"), b"kept\n")
        run = t.sbox("cat", "data", sets=["file.write=", f"file.read+={t.ws}"])
        t.equal(run.out, b"kept\n", run)


@test()
def mounts_below_the_workspace(t):
    """They come along, restricted like the workspace; a device node in one stays shut."""
    with Mounted(t) as mounted:
        below = t.mkdir("below")
        mounted.tmpfs(below)
        t.write("below/file", "deep\n")
        run = t.sbox("sh", "-ec", "cat below/file; echo new > below/new; cp /bin/true below/t; below/t; "
                     "chmod u+s below/t 2>/dev/null || echo refused")
        t.equal((run.code, run.out), (0, b"deep\nrefused\n"), run)
        t.equal(os.lstat(f"{below}/new").st_uid, os.stat(t.ws).st_uid)
        run = t.sbox("sh", "-c", "echo x > below/new2; ls", sets=["file.write=", f"file.read+={t.ws}"])
        t.check(not os.path.exists(f"{below}/new2"), "a read path is read-only with what is mounted below")


@test()
def mounts_below_and_discard(t):
    """A throw-away layer is over one file system: what it would not show is refused, and named."""
    with Mounted(t) as mounted:
        below = t.mkdir("below")
        mounted.tmpfs(below)
        t.write("below/file", "deep\n")
        run = t.sbox("sh", "-c", "touch ran; ls below", sets=["file.writes=discard"])
        t.equal((run.code, run.kind), (125, "denied_start"), run)
        for part in ("[file] writes", f"{below} is mounted below {t.ws}", "writes = keep"):
            t.has(run.errtext, part)
        inner = t.mkdir("beside")
        run = t.sbox("sh", "-c", "echo x > f; cat f", sets=["file.writes=discard"], cwd=inner)
        t.equal((run.code, run.out, os.listdir(inner)), (0, b"x\n", []), run)


@test()
def folder_that_only_the_owner_may_enter(t):
    """The way to the workspace leads through a folder of mode 0700: nobody needs to walk it inside."""
    inner = t.mkdir(f"{t.dir}/private/ws")
    os.chmod(f"{t.dir}/private", 0o700)
    run = t.sbox("sh", "-ec", "pwd; echo x > f; cat f; ls ..", cwd=inner)
    t.equal(run.out.split(), [inner.encode(), b"x", b"ws"], run)


@test(callers=("root",))
def sudo_in_somebody_elses_folder(t):
    """The folder's owner owns what is made there; sudo's variables change nothing."""
    uid = 4321
    os.chown(t.ws, uid, uid)
    own = t.write("own", "x", 0o600)
    os.chown(own, uid, uid)
    other = t.write("other", "y", 0o600)
    os.chown(other, 777, 777)
    env = {"SUDO_UID": str(uid), "SUDO_GID": str(uid), "SUDO_USER": "somebody", "SUDO_COMMAND": "sbox"}
    run = t.sbox("sh", "-c", "id -u; cat own; touch made; cat other 2>&1 | tail -c 18; env | grep -c SUDO", env=env)
    t.equal(run.out.split(b"\n")[0], b"1000", run)
    t.has(run.text, "x")
    t.has(run.text, "Permission denied")
    t.equal(os.lstat(f"{t.ws}/made").st_uid, uid)
    t.equal(run.start["who"]["effective_uid"], 0)
    worlds.doctor_agrees(t)
    shutil.copy(f"{HERE}/demo/hello.py", f"{t.ws}/hello.py")
    run = t.sbox(PYTHON, "hello.py", env=env)
    t.equal((run.code, t.read("result.txt")), (0, b"6 * 7 = 42\n"), run)


@test(callers=("user",))
def somebody_elses_folder(t):
    """A user in a folder of another: as that user's permissions are, no more."""
    if os.geteuid() != 0:
        raise Skip("giving a folder away needs root")
    os.chown(t.ws, 4321, 4321)
    run = t.sbox("sh", "-c", "touch made 2>/dev/null || echo refused; ls")
    t.equal(run.out, b"refused\n", run)


@test()
def linked_system_folders(t):
    """/var/run, /lib64, /bin as links, or links to links: there inside as they are outside."""
    run = t.sbox("sh", "-c", "for l in /bin /lib /lib64 /sbin; do readlink $l; done; /bin/true && /usr/bin/true")
    want = "".join(os.readlink(p) + "\n" for p in ("/bin", "/lib", "/lib64", "/sbin") if os.path.islink(p))
    t.equal((run.code, run.text), (0, want), run)
    t.mkdir(f"{t.dir}/real/deep")
    t.write(f"{t.dir}/real/deep/f", "found\n", 0o644)
    os.symlink("real", f"{t.dir}/one")
    os.symlink(f"{t.dir}/one/deep", f"{t.dir}/two")
    run = t.sbox("cat", f"{t.dir}/two/f", sets=[f"file.read+={t.dir}/two"])
    t.equal(run.out, b"found\n", run)


def store_layout(t):
    """As NixOS has it: no /usr/bin to speak of, PATH through a link to a store of hashed folders."""
    store = t.mkdir(f"{t.dir}/nix/store/abc-tools/bin")
    for tool in ("sh", "cat", "onlyhere"):
        shutil.copy(os.path.realpath(f"/bin/{tool}" if tool != "onlyhere" else "/bin/true"), f"{store}/{tool}")
        t.own(f"{store}/{tool}")
    t.mkdir(f"{t.dir}/run/current-system")
    os.symlink(f"{t.dir}/nix/store/abc-tools", f"{t.dir}/run/current-system/sw")
    return f"{t.dir}/run/current-system/sw/bin"


@test()
def store_of_hashed_folders(t):
    path = store_layout(t)
    run = t.sbox("sh", "-c", "echo $PATH; command -v cat; cat /dev/null && echo ok", env={"PATH": path},
                 sets=[f"file.exec+={t.dir}/nix", f"file.exec+={t.dir}/run/current-system/sw"])
    t.equal(run.out.split(), [path.encode(), f"{path}/cat".encode(), b"ok"], run)
    run = t.sbox("onlyhere", env={"PATH": path})
    t.equal((run.code, run.kind), (127, "not_found"), run)
    t.has(run.errtext, f"[file] exec = {t.dir}/nix/store/abc-tools")


@test()
def odd_places_in_place(t):
    """The same without a tree: links, a closed folder above, a store of hashed folders, tmpfs."""
    world = worlds.container_root if t.uid == 0 else worlds.no_user_namespaces
    sets = [f"{s}.on_missing=reduce" for s in ("file", "network", "process", "privilege")]
    inner = t.mkdir(f"{t.dir}/private/ws", 0o777)
    os.chmod(f"{t.dir}/private", 0o711 if t.uid == 0 else 0o700)
    run = t.sbox("sh", "-ec", "pwd; echo x > f; cat f", cwd=inner, sets=sets, preexec=world)
    t.equal(run.out.split(), [inner.encode(), b"x"], run)
    path = store_layout(t)
    os.chmod(t.ws, 0o777)
    run = t.sbox("sh", "-c", "command -v cat; cat /dev/null && echo ok", env={"PATH": path}, preexec=world,
                 sets=[*sets, f"file.exec+={t.dir}/nix", f"file.exec+={t.dir}/run/current-system/sw"])
    t.equal(run.out.split(), [f"{path}/cat".encode(), b"ok"], run)

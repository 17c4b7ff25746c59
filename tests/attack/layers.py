# SPDX-License-Identifier: Apache-2.0
"""What two layers hold each by itself: asked only whether it is refused, not by whom.

With everything in place these say little that others do not say more exactly. They are for
tests/mutants.txt, which leaves out one layer, then the other, then both.
"""
import os
import signal
import socket
import struct
import subprocess

from sboxtest import descendants, is_alive, test, wait_until
from syscalls import AT_FDCWD, calls, unix_address

NEWUSER, NEWNS = 0x10000000, 0x20000
MS_REMOUNT, MS_BIND = 32, 4096


def refused(t, *rows, **words):
    got, run = calls(t, *rows, **words)
    t.check(all(isinstance(result, str) for result in got), f"let through: {list(zip(rows, got))} {run}")


@test()
def writing_to_a_read_path(t):
    path = t.write(f"{t.dir}/shared/file", "x", 0o666)
    os.chmod(f"{t.dir}/shared", 0o777)
    refused(t, ("open", f"s:{path}", 1), ("truncate", f"s:{path}", 0), ("unlink", f"s:{path}"),
            ("mkdir", f"s:{t.dir}/shared/new", 0o755), sets=[f"file.read+={t.dir}/shared"])
    t.equal(t.read(path), b"x")


@test()
def executing_in_a_read_path(t):
    path = t.write(f"{t.dir}/shared/run", "#!/bin/sh\necho ran\n", 0o755)
    run = t.sbox("sh", "-c", f"{path}; exit 0", sets=[f"file.read+={t.dir}/shared"])
    t.equal((run.code, run.out), (0, b""), run)


@test()
def files_outside(t):
    path = t.write(f"{t.dir}/outside/file", "x", 0o666)
    refused(t, ("open", f"s:{path}", 0), ("open", f"s:{path}", 1), ("open", "s:/etc/shadow", 0))


@test()
def changing_the_skeleton(t):
    refused(t, ("mkdir", "s:/new", 0o755), ("mkdir", "s:/etc/new", 0o755), ("open", "s:/new", 0o102, 0o644))


@test()
def new_user_namespaces(t):
    refused(t, ("unshare", NEWUSER), ("unshare", NEWUSER | NEWNS))


@test()
def abstract_sockets(t):
    name = f"sbox-layers-{os.getpid()}"
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0" + name)
    server.listen(1)
    address, size = unix_address(b"\0" + name.encode())
    got, run = calls(t, ("socket", 1, 1, 0), ("connect", "$1", address, size))
    t.check(isinstance(got[1], str), run)


@test()
def undoing_mounts(t):
    """Taking off, making writable, moving, covering: whatever capabilities the program has."""
    clear = "x:" + struct.pack("=QQQQ", 0, 1, 0, 0).hex()
    refused(t, ("umount2", "s:/usr", 2), ("umount2", f"s:{t.ws}", 2), ("umount2", "s:/proc", 2),
            ("mount", 0, "s:/usr", 0, MS_REMOUNT | MS_BIND, 0),
            ("mount_setattr", AT_FDCWD, "s:/usr", 0, clear, 32), ("mount_setattr", AT_FDCWD, "s:/", 0, clear, 32),
            ("open_tree", AT_FDCWD, "s:/usr", 1), ("move_mount", AT_FDCWD, "s:/usr", AT_FDCWD, "s:/tmp", 0),
            ("mount", "s:none", "s:/tmp", "s:tmpfs", 0, 0), ("setns", -1, 0), ("pivot_root", "s:/tmp", "s:/tmp"))


@test()
def memory_of_pid_1(t):
    """Environment, memory, descriptors and root of pid 1."""
    rows = [("open", f"s:/proc/1/{name}", 0) for name in ("environ", "mem", "maps", "auxv", "fd/0")]
    refused(t, *rows, ("readlink", "s:/proc/1/root", "z:256", 255), ("open", "s:/proc/1/fd", 0))


def init_of(child):
    return next(pid for pid in descendants(child.pid) if descendants(pid))


@test()
def a_stopped_init_dies_with_sbox(t):
    """It cannot look at its socket then: the death signal is what ends it."""
    child = t.start("sh", "-c", "echo up; sleep 60")
    child.stdout.readline()
    init = init_of(child)
    os.kill(init, signal.SIGSTOP)
    child.kill()
    child.wait()
    gone = wait_until(lambda: not is_alive(init), 10)
    if not gone:
        os.kill(init, signal.SIGKILL)
    t.background.remove(child)
    t.check(gone, "pid 1 lives on")
    wait_until(lambda: not descendants(os.getpid()))
    t.sbox("true")


@test()
def init_dies_with_sbox(t):
    child = t.start("sh", "-c", "echo up; sleep 60")
    child.stdout.readline()
    child.kill()
    t.communicate(child, None, 20)
    t.check(wait_until(lambda: not descendants(os.getpid()), 10), "something lives on")
    t.sbox("true")


@test(callers=("root",))
def set_id_program_in_the_workspace(t):
    path = t.probe("call")
    os.chown(path, 0, 0)
    os.chmod(path, 0o4755)
    control = subprocess.run([path, "107"], user=65534, group=65534, extra_groups=[], capture_output=True, text=True)
    t.equal(control.stdout, "107 0\n", "control: without sbox it is root")
    run = t.sbox("sh", "-c", f"{path} 107; {path} 108")
    t.check("107 0\n" not in run.text and run.code == 0, run)


@test()
def listening_for_signals_of_others(t):
    """SIGIO set to somebody outside, and a plain signal."""
    other = t.popen(["sleep", "60"])
    got, _ = calls(t, ("kill", other.pid, 0), ("socket", 1, 1, 0), ("fcntl", "$2", 8, other.pid), ("kill", -other.pid, 0))
    t.check(isinstance(got[0], str) and isinstance(got[2], str), got)


@test()
def files_stay_the_owners(t):
    """What the program makes in the workspace is its owner's, and the run is a user of its own."""
    run = t.sbox("sh", "-c", "echo x > made; mkdir folder")
    t.equal(run.code, 0, run)
    for name in ("made", "folder"):
        info = os.stat(f"{t.ws}/{name}")
        t.equal((info.st_uid, info.st_gid), (t.uid, t.gid))

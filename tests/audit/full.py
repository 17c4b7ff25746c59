# SPDX-License-Identifier: Apache-2.0
"""A store that cannot be written to: the run is refused, or it ends loudly; never in silence."""
import ctypes
import os
import resource
import struct
import subprocess

from auditlog import OK, UNFINISHED, verify
from sboxtest import Skip, libc, test

EIO = 5
NR_FDATASYNC = {"x86_64": 75, "aarch64": 83}


def refused(t, run, words):
    t.equal(run.code, 125, run)
    t.check(any(word in run.errtext for word in words), run)
    t.check(b"ran" not in run.out, "the program was not started")


def loud_or_good(t, run):
    """It did not start, or it ran and its end is on record, or sbox says that it is not."""
    if run.code == 0:
        t.check(run.end is not None, "its end is on record")
    elif b"ran" in run.out:
        t.has(run.errtext, "is not on record")
    else:
        t.equal(run.code, 125, run)


def small_disk(t, size):
    """A tmpfs for the store, the caller's own; only root can mount it."""
    path = f"{t.dir}/small"
    t.mkdir(path, 0o700)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700,uid={t.uid},gid={t.gid}", "none", path],
                      stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("cannot mount a tmpfs here")
    return path


def fill(path):
    """To the last block."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        for size in (65536, 4096):
            try:
                while os.write(fd, bytes(size)) > 0:
                    pass
            except OSError:
                pass
    finally:
        os.close(fd)


@test(parallel=False, timeout=120)
def disk_full(t):
    disk = small_disk(t, "3M")
    try:
        t.store = f"{disk}/store"
        first = t.sbox("echo", "ran")
        t.equal(first.code, 0, first)
        # full before a start: there is no room to reserve
        fill(f"{disk}/fill")
        for name in os.listdir(f"{t.store}/reserve"):
            os.truncate(f"{t.store}/reserve/{name}", 0)
        fill(f"{disk}/fill")
        run = t.sbox("echo", "ran")
        refused(t, run, ["space", "reserve"])
        os.unlink(f"{disk}/fill")
        # full during the run: the end has its room
        child = t.start("sh", "-c", "echo ran; sleep 1")
        child.stdout.readline()
        fill(f"{disk}/fill")
        _, said = child.communicate()
        t.background.remove(child)
        t.equal(child.returncode, 0, "its end was written into the reserved room")
        end = t.records()[-1]
        t.equal(end["type"], "run.end")
        t.equal(end["stdout"]["kept"], None, "no room was reserved for its output")
        t.has(said.decode(), "is not kept", "and it is not lost in silence")
        t.has(t.audit("show", end["run"]).text, "could not be kept")
        os.unlink(f"{disk}/fill")
        t.equal(t.sbox("echo", "ran").code, 0)
        code, told = verify(t)
        t.equal(code, OK, told)
    finally:
        subprocess.run(["umount", "-l", disk], check=False)
        t.store = f"{t.dir}/store"


@test(cases=[64, 300, 4096, 20000, 60000, 400000])
def file_size_limit(t, limit):
    """RLIMIT_FSIZE holds for sbox too: whatever it is, the other runs' records stay whole."""
    before = t.sbox("echo", "ran")
    t.equal(before.code, 0, before)
    for _ in range(3):
        loud_or_good(t, t.sbox("echo", "ran", preexec=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))))
    t.equal(t.sbox("echo", "ran").code, 0, "without the limit it goes on")
    code, told = verify(t)
    t.check(code in (OK, UNFINISHED), told)
    t.equal(t.records()[:2], before.records, "what was there")


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def fail_syncs():
    """A seccomp filter that answers fdatasync with EIO, as a dying disk does."""
    number = NR_FDATASYNC.get(os.uname().machine)
    rows = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | EIO),
            (0x06, 0, 0, 0x7fff0000)]
    code = b"".join(struct.pack("HBBI", *row) for row in rows)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, ctypes.byref(Filter(len(rows), code)), 0, 0) != 0:
        os._exit(77)


@test(cases=["start,end", "group"])
def disk_error(t, sync):
    if os.uname().machine not in NR_FDATASYNC:
        raise Skip("the number of fdatasync is not known for this machine")
    before = t.sbox("echo", "ran", sets=[f"audit.sync={sync}"])
    t.equal(before.code, 0, before)
    run = t.sbox("echo", "ran", preexec=fail_syncs, sets=[f"audit.sync={sync}"])
    refused(t, run, ["Input/output error"])
    t.equal(t.sbox("echo", "ran").code, 0, "a good disk again")
    code, told = verify(t)
    t.check(code in (OK, UNFINISHED), told)
    t.equal(t.records()[:2], before.records, "what was there")


@test(parallel=False)
def read_only(t):
    disk = small_disk(t, "4M")
    try:
        t.store = f"{disk}/store"
        t.equal(t.sbox("echo", "ran").code, 0)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        refused(t, t.sbox("echo", "ran"), ["Read-only"])
        t.equal(verify(t)[0], OK, "and it can be verified")
    finally:
        subprocess.run(["umount", "-l", disk], check=False)
        t.store = f"{t.dir}/store"


def attempt(t):
    return t.plain(*t.command(["echo", "ran"]))


@test()
def odd_places(t):
    """Somebody else's folder, a link, a FIFO, a folder that others can write to."""
    t.sbox("true")
    real = t.store
    t.store = f"{t.dir}/link"
    os.symlink(real, t.store)
    refused(t, attempt(t), ["symbolic link"])
    t.store = f"{t.dir}/fifo"
    os.mkfifo(t.store)
    t.own(t.store)
    refused(t, attempt(t), ["not a folder"])
    t.mkdir(f"{t.dir}/open/in", 0o755)
    os.chmod(f"{t.dir}/open", 0o777)
    t.store = f"{t.dir}/open/in/store"
    refused(t, attempt(t), ["everybody can write"])
    os.chmod(f"{t.dir}/open", 0o755)
    t.equal(t.sbox("true").code, 0)
    for name in ("log.jsonl", "head", "lock"):
        os.rename(f"{t.store}/{name}", f"{t.store}/aside")
        os.mkfifo(f"{t.store}/{name}", 0o600)
        t.own(f"{t.store}/{name}")
        t.equal(attempt(t).code, 125, name)
        os.unlink(f"{t.store}/{name}")
        os.rename(f"{t.store}/aside", f"{t.store}/{name}")
    if os.geteuid() == 0:
        os.chown(f"{t.dir}/open", 54321, 54321)
        refused(t, attempt(t), ["somebody else"])
        t.own(f"{t.dir}/open")
    t.store = real

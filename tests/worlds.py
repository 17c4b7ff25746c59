# SPDX-License-Identifier: Apache-2.0
"""Machines that lack something, made on this one: each is a preexec function that takes something
away from the process before it becomes sbox.

What a container's seccomp filter refuses is refused by the same kind of filter here; what a
container has in its mount tree is mounted in a mount namespace of the test's own.
"""
import ctypes
import errno
import json
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE, MS_RDONLY, MS_REMOUNT = 0x1000, 0x4000, 0x40000, 1, 0x20
PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, PR_SET_SECCOMP = 4, 38, 24, 22
CAP_SYS_ADMIN = 21


def check(result):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def unshare(flags):
    check(libc.unshare(flags))


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def mount(source, target, kind=None, flags=0, data=None):
    check(libc.mount(*(None if s is None else s.encode() for s in (source, target, kind)), flags,
                     None if data is None else data.encode()))


def user_namespace(limits=()):
    """One of the caller's own, in which everybody is who they were; limits: (name, count)."""
    uid, gid = os.geteuid(), os.getegid()
    check(libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))  # a change of uid has made /proc/self root's
    unshare(NEWUSER)
    put("/proc/self/setgroups", "deny")
    put("/proc/self/uid_map", f"{uid} {uid} 1")
    put("/proc/self/gid_map", f"{gid} {gid} 1")
    for name, count in limits:
        put(f"/proc/sys/user/max_{name}_namespaces", str(count))


def root_namespace(limits=()):
    """Root only: a user namespace with every uid in it, and a mount namespace of its own."""
    ready, done = os.pipe(), os.pipe()
    parent = os.getpid()
    helper = os.fork()
    if helper == 0:
        os.read(ready[0], 1)
        for name in ("uid", "gid"):
            put(f"/proc/{parent}/{name}_map", "0 0 4294967295")
        os.write(done[1], b"x")
        os._exit(0)
    unshare(NEWUSER)
    os.write(ready[1], b"x")
    os.read(done[0], 1)
    os.waitpid(helper, 0)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    mount_namespace()
    for name, count in limits:
        put(f"/proc/sys/user/max_{name}_namespaces", str(count))


def mount_namespace():
    unshare(NEWNS)
    mount(None, "/", None, MS_REC | MS_PRIVATE)


def no_user_namespaces():
    user_namespace([("user", 0)])


def no_namespaces_of(*names):
    """As if the kernel were out of them: user namespaces can be made, these cannot."""
    return lambda: user_namespace([(name, 0) for name in names])


# ---- seccomp, as containers have it ------------------------------------------

def numbers():
    from syscalls import NR
    return NR


def stmt(code, k, jt=0, jf=0):
    return struct.pack("=HBBI", code, jt, jf, k & 0xffffffff)


def filter_calls(refused, flags_of=None, mask=0):
    """Refuses each name in {name: errno}; clone and unshare only with a flag out of mask."""
    nr = numbers()
    code = [stmt(0x20, 0)]
    for name, number in refused.items():
        code += [stmt(0x15, nr[name], 0, 1), stmt(0x06, 0x00050000 | number)]
    for name in flags_of or ():
        code += [stmt(0x15, nr[name], 0, 4), stmt(0x20, 16), stmt(0x45, mask, 0, 1),
                 stmt(0x06, 0x00050000 | errno.EPERM), stmt(0x06, 0x7fff0000)]
    code += [stmt(0x06, 0x7fff0000)]
    text = b"".join(code)
    program = ctypes.create_string_buffer(text, len(text))
    fprog = struct.pack("=H6xQ", len(code), ctypes.addressof(program))
    holder = ctypes.create_string_buffer(fprog, len(fprog))
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    check(libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(holder)), 0, 0))


ALL_NEW = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
CONTAINER = {"clone3": errno.ENOSYS, "mount": errno.EPERM, "umount2": errno.EPERM,
             "setns": errno.EPERM, "pivot_root": errno.EPERM, "open_tree": errno.EPERM,
             "move_mount": errno.EPERM, "fsopen": errno.EPERM, "fsmount": errno.EPERM,
             "mount_setattr": errno.EPERM, "bpf": errno.EPERM, "keyctl": errno.EPERM,
             "perf_event_open": errno.EPERM}


def container_seccomp():
    """What the default profiles of containers refuse to one without CAP_SYS_ADMIN."""
    filter_calls(CONTAINER, ("clone", "unshare"), ALL_NEW)


def container_root():
    """Root as in a container: without CAP_SYS_ADMIN and the like, under its filter."""
    for cap in (CAP_SYS_ADMIN, 12, 16, 17, 19, 22, 24, 25, 39, 40):
        check(libc.prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
    capset(~sum(1 << c for c in (CAP_SYS_ADMIN, 12, 16, 17, 19, 22, 24, 25, 39, 40)))
    container_seccomp()


def capset(keep):
    """Drops all others from the effective, permitted and inheritable sets."""
    header = struct.pack("=Ii", 0x20080522, 0)
    data = ctypes.create_string_buffer(24)
    check(libc.syscall(numbers()["capget"], header, data))
    words = struct.unpack("=6I", data.raw)
    masks = [keep & 0xffffffff] * 3 + [keep >> 32 & 0xffffffff] * 3
    kept = struct.pack("=6I", *(w & m for w, m in zip(words, masks)))
    check(libc.syscall(numbers()["capset"], header, kept))


def without(*names):
    """A kernel without these calls."""
    return lambda: filter_calls({name: errno.ENOSYS for name in names})


def no_landlock():
    filter_calls(dict.fromkeys(("landlock_create_ruleset", "landlock_add_rule",
                                "landlock_restrict_self"), errno.ENOSYS))


def no_new_privs():
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


# ---- mounts ---------------------------------------------------------------

def masked_proc():
    """As container engines mask it, in a mount namespace of the caller's own."""
    if os.geteuid() != 0:
        user_namespace()
    mount_namespace()
    mount("/dev/null", "/proc/keys", None, MS_BIND)
    mount("tmpfs", "/proc/acpi", "tmpfs", MS_RDONLY)
    mount("/proc/sys", "/proc/sys", None, MS_BIND | MS_REC)


if __name__ == "__main__":
    import sys
    for word in sys.argv[1].split(","):
        globals()[word]()
    os.execvp(sys.argv[2], sys.argv[2:])


# -- what `sbox doctor` says there --
def form_of_agent(t, text):
    """What it says of agent.ini: (does it run as it is?, checks that are not as they could be)."""
    said = json.loads(text)
    agent = [p for p in said["profiles"] if p["name"] == "agent"][0]
    return agent["form"] in ("full", "weaker"), [c for c in said["checks"] if c["state"] not in ("ok", "off")]


def doctor_agrees(t, world=None, lost=()):
    """It is right about whether agent.ini runs here as it is, and names what is lost with a way out."""
    child = t.popen([t.sbox_path, "doctor", "--json"], preexec=world, stdout=-1, stderr=-1, stdin=-3)
    out, err = t.communicate(child, b"", 60)
    t.check(child.returncode in (0, 1, 2), err)
    runs, checks = form_of_agent(t, out)
    run = t.sbox("true", preexec=world)
    t.equal(runs, run.code == 0, f"doctor: {out.decode()}\nand the run: {run}")
    if lost:
        t.check([c for c in checks if c["way_out"]], checks)


def doctor_refuses(t, text):
    """Asked in a place where agent.ini does not run as it is."""
    runs, checks = form_of_agent(t, text)
    t.check(not runs and [c for c in checks if c["way_out"]], text)

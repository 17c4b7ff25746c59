# SPDX-License-Identifier: Apache-2.0
"""Other machines, made of this one: each is a function that a test's process calls before it
executes sbox (preexec), as an ordinary user or as root, and that nobody outside notices.

A caller in a user namespace of its own has every capability there until it executes; that is
when the machine is changed.
"""
import ctypes
import os
import struct

from syscalls import NR

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 4, 38
EPERM, ENOSYS = 1, 38


def call(function, *args):
    if function(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__}{args}: {os.strerror(number)}")


def mount(source, target, kind=None, flags=0, data=None):
    encode = [None if x is None else x.encode() for x in (source, target, kind)]
    call(libc.mount, *encode, flags, None if data is None else data.encode())


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def enter_user_namespace(flags=0):
    """One with the caller's own ids. A process that has changed its uid must say again that its
    files in /proc are its own."""
    uid, gid = os.geteuid(), os.getegid()
    call(libc.prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)
    call(libc.unshare, flags | CLONE_NEWUSER)
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{uid} {uid} 1")
    write("/proc/self/gid_map", f"{gid} {gid} 1")


def enter_namespaces(flags):
    """A user namespace around them, unless the caller is root."""
    if os.geteuid() == 0:
        call(libc.unshare, flags)
    else:
        enter_user_namespace(flags)
    if flags & CLONE_NEWNS:
        mount("none", "/", None, MS_REC | MS_PRIVATE)


def user_namespaces_off():
    """user.max_user_namespaces = 0, in a user namespace around the caller."""
    enter_user_namespace()
    write("/proc/sys/user/max_user_namespaces", "0")


def covered_proc():
    """Part of /proc is hidden below an empty folder, as container engines do."""
    enter_namespaces(CLONE_NEWNS)
    mount("none", "/proc/fs", "tmpfs", MS_RDONLY)


def read_only_cgroups():
    enter_namespaces(CLONE_NEWNS)
    with open("/proc/self/mountinfo") as mounts:
        points = [line.split()[4] for line in mounts if " - cgroup" in line]
    for point in points:
        mount("none", point, None, MS_REMOUNT | MS_BIND | MS_RDONLY)


def no_new_privileges():
    call(libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


# ---- seccomp ---------------------------------------------------------------

def statement(code, k):
    return struct.pack("HBBI", code, 0, 0, k)


def equal(k, skip):
    """When it is not k, the next `skip` statements are left out."""
    return struct.pack("HBBI", 0x15, 0, skip, k)


LOAD_NUMBER, LOAD_FIRST = statement(0x20, 0), statement(0x20, 16)
ALLOW = statement(0x06, 0x7fff0000)


def fail(number):
    return statement(0x06, 0x00050000 | number)


def install(statements, flags=0):
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    no_new_privileges()
    code = b"".join(statements)
    buffer = ctypes.create_string_buffer(code)
    program = Program(len(code) // 8, ctypes.addressof(buffer))
    result = libc.syscall(NR["seccomp"], 1, flags, ctypes.byref(program))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def container_filter():
    """As Docker's: clone3 is not there, unshare and clone with CLONE_NEWUSER are refused."""
    install([LOAD_NUMBER,
             equal(NR["clone3"], 1), fail(ENOSYS),
             equal(NR["unshare"], 1), fail(EPERM),
             equal(NR["clone"], 3), LOAD_FIRST,
             struct.pack("HBBI", 0x45, 0, 1, CLONE_NEWUSER), fail(EPERM),
             ALLOW])


def listener_taken():
    """A sandbox around the caller holds the one listener; it stays open across exec."""
    listener = install([ALLOW], flags=8)
    os.set_inheritable(listener, True)

# SPDX-License-Identifier: Apache-2.0
"""The kernel's doors: every refused system call, with its exact answer and its line in the record."""
from sboxtest import Skip, test
from syscalls import AT_FDCWD, FAMILIES, NR, calls, clone_args, open_how

EPERM = "EPERM"
NEWUSER, NEWNS, NEWNET, NEWPID = 0x10000000, 0x20000, 0x40000000, 0x20000000

# F13 and its neighbours: everything that builds or changes a tree of mounts.
MOUNT_API = [("mount", "s:none", "s:/tmp", "s:tmpfs", 0, 0), ("umount2", "s:/tmp", 2),
             ("mount", "s:/", "s:/tmp", "z:1", 4096, 0), ("mount", 0, "s:/", 0, 32 | 4096, 0),
             ("pivot_root", "s:/", "s:/"), ("chroot", "s:/tmp"),
             ("open_tree", AT_FDCWD, "s:/", 1), ("move_mount", 3, "s:", AT_FDCWD, "s:/tmp", 4),
             ("fsopen", "s:tmpfs", 0), ("fsopen", "s:overlay", 0), ("fsopen", "s:proc", 0),
             ("fsconfig", 3, 6, 0, 0, 0), ("fsmount", 3, 0, 0), ("fspick", AT_FDCWD, "s:/", 0),
             ("mount_setattr", AT_FDCWD, "s:/", 0x8000, "z:32", 32),
             ("open_tree_attr", AT_FDCWD, "s:/", 1, "z:32", 32), ("statmount", "z:64", "z:512", 512, 0),
             ("listmount", "z:64", "z:512", 64, 0), ("swapon", "s:/tmp/x", 0), ("swapoff", "s:/tmp/x"),
             ("quotactl", 0, "s:/", 0, 0), ("quotactl_fd", 3, 0, 0, 0)]

# V16: each is refused whatever its arguments; those given here can do no harm anywhere.
FORBIDDEN = [("bpf", 0, "z:64", 64), ("perf_event_open", "z:128", 0, -1, -1, 0),
             ("userfaultfd", 0), ("keyctl", 0, -3, 0), ("add_key", "s:user", "s:d", "s:p", 1, -3),
             ("request_key", "s:user", "s:d", 0, -3), ("kexec_load", 0, 0, 0, 0),
             ("kexec_file_load", -1, -1, 0, 0, 0), ("init_module", 0, 0, "s:"),
             ("finit_module", -1, "s:", 0), ("delete_module", "s:no-such-module", 0), ("iopl", 3),
             ("ioperm", 0x80, 1, 1), ("modify_ldt", 0, "z:16", 16), ("acct", "s:/no/such/file"),
             ("reboot", 0, 0, 0, 0), ("settimeofday", 0, "z:16"), ("clock_settime", 0, "z:16"),
             ("adjtimex", 0), ("clock_adjtime", 0, 0), ("move_pages", 0, 1, 0, 0, 0, 0),
             ("migrate_pages", 0, 1, 0, 0), ("syslog", 10, 0, 0), ("vhangup",),
             ("fanotify_init", 0, 0), ("fanotify_mark", -1, 0, 0, 0, 0),
             ("pidfd_getfd", -1, 0, 0), ("process_madvise", -1, 0, 0, 4, 0),
             ("process_vm_readv", 1, 0, 0, 0, 0, 0), ("process_vm_writev", 1, 0, 0, 0, 0, 0),
             ("ptrace", 16, 1, 0, 0), ("ptrace", 0, 0, 0, 0), ("kcmp", 1, 1, 0, 0, 0),
             ("name_to_handle_at", AT_FDCWD, "s:/", "z:256", "z:8", 0),
             ("open_by_handle_at", 3, "z:256", 0), ("setns", -1, 0), ("unshare", NEWUSER),
             ("io_uring_setup", 8, "z:256"), ("io_uring_enter", -1, 0, 0, 0, 0),
             ("io_uring_register", -1, 0, 0, 0), ("sethostname", "s:x", 0),
             ("setdomainname", "s:x", 0), ("process_mrelease", -1, 0), ("lsm_set_self_attr", 100, 0, 0, 0),
             ("nfsservctl", 0, 0, 0), ("lookup_dcookie", 0, 0, 0), ("sysfs", 3), ("ustat", 0, 0),
             ("uselib", "s:/no/such/file"), ("memfd_secret", 0), ("mknod", "s:dev", 0o20666, 0x103)]
# Not in the list of recorded refusals when the kernel has no such call any more.
GONE = {"nfsservctl", "lookup_dcookie", "sysfs", "uselib", "memfd_secret", "kexec_file_load"}


def refused(t, rows, sets=()):
    got, run = calls(t, *rows, sets=sets)
    wrong = [(row[0], result) for row, result in zip(rows, got) if result not in (EPERM, "ENOSYS")]
    t.equal(wrong, [], "not refused")
    unnamed = [row[0] for row, result in zip(rows, got) if result == EPERM
               and row[0] not in GONE and not run.denied(op=row[0])]
    t.equal(unnamed, [], "EPERM without a line in denials")
    return got, run


@test()
def mount_api(t):
    refused(t, MOUNT_API)


@test()
def forbidden_calls(t):
    got, run = refused(t, FORBIDDEN)
    for row, result in zip(FORBIDDEN, got):
        if row[0].startswith("io_uring"):
            t.check(result in (EPERM, "ENOSYS"), "an errno, never a kill: libuv probes it")
    for entry in run.denials:
        t.check(entry["permit"] or entry["never"], f"way out, or why not: {entry}")
        t.check(entry["exe"] and "probe-call" in entry["exe"], f"who: {entry}")
        t.check(entry["count"] >= 1 and entry["pid"], entry)


@test(callers=("user",))
def forbidden_calls_are_open_without_sbox(t):
    """The control: what of the list an ordinary user may do here without sbox."""
    rows = [row for row in FORBIDDEN if row[0] not in ("vhangup", "reboot", "ptrace", "unshare")]
    got, _ = calls(t, *rows, runner=t.plain)
    open_here = [row[0] for row, result in zip(rows, got) if result not in (EPERM, "ENOSYS")]
    t.check({"add_key", "keyctl", "io_uring_setup"} <= set(open_here), f"control: {open_here}")
    t.note(f"open to an ordinary user here: {' '.join(open_here)}")


@test()
def user_namespaces(t):
    """V5: by unshare, clone and clone3; clone3 is not there, so that libc falls back."""
    plain, _ = calls(t, ("unshare", NEWUSER), runner=t.plain)
    if plain != [0]:
        raise Skip(f"this kernel gives no user namespaces: {plain}")
    rows = [("unshare", NEWUSER), ("unshare", NEWUSER | NEWNS), ("unshare", NEWNS), ("unshare", NEWNET),
            ("unshare", NEWPID), ("unshare", 0x02000000), ("unshare", 0x04000000),
            ("unshare", 0x08000000), ("clone", NEWUSER | 17, 0, 0, 0, 0),
            ("clone", NEWNS | 17, 0, 0, 0, 0), ("clone", (1 << 40) | NEWUSER | 17, 0, 0, 0, 0),
            ("clone3", clone_args(NEWUSER), 88), ("clone3", clone_args(0), 88)]
    got, run = calls(t, *rows)
    t.equal(got, [EPERM] * 11 + ["ENOSYS"] * 2, run)
    t.check(run.denied(op="unshare") and run.denied(op="clone"), run)
    run = t.sbox("unshare", "-Ur", "id", "-u")
    t.check(run.code != 0 and run.out == b"", run)


@test()
def joining_namespaces(t):
    """V7: setns on every file and on a pidfd."""
    kinds = ("mnt", "user", "pid", "net", "uts", "ipc", "cgroup", "time")
    rows = [("open", f"s:/proc/{pid}/ns/{kind}", 0) for pid in (1, "self") for kind in kinds]
    rows += [("setns", f"${n + 1}", 0) for n in range(len(rows))]
    rows += [("pidfd_open", 1, 0), ("setns", f"${len(rows) + 1}", NEWNS)]
    got, _ = calls(t, *rows)
    t.check(all(r in (EPERM, "EBADF") for r in got[16:32]), got)
    t.check(all(r in ("EACCES", EPERM, "ENOENT") for r in got[:8]), f"ns files of pid 1: {got[:8]}")
    t.check(got[-1] in (EPERM, "EBADF"), got)


@test()
def unknown_numbers(t):
    """V15: unknown and future numbers answer ENOSYS; nothing is killed for them."""
    # 335, 336 (uretprobe, uprobe): the kernel itself lets them pass every filter, and answers SIGILL
    known = {*NR.values(), 335, 336}
    numbers = [n for n in list(range(335, 1100)) + [2000, 4096, 65535, 2**31 - 1, -1 & 0xffffffff,
                                                     0x7fffffff, 0x3fffffff] if n not in known]
    rows = [(n,) for n in numbers]
    got, run = calls(t, *rows)
    t.equal([(n, r) for n, r in zip(numbers, got) if r != "ENOSYS"], [])
    t.ended(run, "exited", 0)


@test()
def x32_numbers(t):
    rows = [(0x40000000 | NR[name],) for name in ("getpid", "read", "ptrace", "keyctl", "unshare")]
    got, _ = calls(t, *rows)
    t.check(all(r in ("ENOSYS", EPERM) for r in got), got)


@test()
def i386_calls(t):
    """V8: the 32-bit entry, whose numbers mean other things."""
    control = t.plain(t.probe("i386"))
    run = t.sbox(t.probe("i386"), opts=["--quiet"])
    t.check("works" not in run.text, run)
    if "works" not in control.text:
        raise Skip(f"int 0x80 does not work without sbox either (code {control.code})")
    t.check(run.code in (0, 128 + 31), f"refused or killed: {run}")
    t.check(run.denials or run.kind == "signaled", f"named: {run}")


@test()
def socket_families(t):
    """N11, N13: by allow-list; each refused one is named."""
    rows = [("socket", number, kind, 0) for number in range(0, 64) for kind in (1, 2, 3, 5)]
    got, run = calls(t, *rows)
    allowed = {1, 2, 10, 16}
    for row, result in zip(rows, got):
        if row[1] not in allowed:
            t.equal((row, result), (row, "EAFNOSUPPORT"))
    for name in ("AF_VSOCK", "AF_ALG", "AF_PACKET"):
        t.check(run.denied(op="socket", object=name), f"{name} is named: {run}")
    t.check(run.denied(boundary="network") and FAMILIES["AF_VSOCK"] == 40, "as a network matter")
    odd = [("socket", 40 | (1 << 32), 1, 0), ("socketpair", 40, 1, 0, "z:8"), ("socket", 16, 3, 9),
           ("socket", 16, 3, 12), ("socket", 16, 3, 15), ("socket", 1, 3, 0)]
    got, _ = calls(t, *odd)
    t.equal(got[0], "EAFNOSUPPORT", "the high half of the argument changes nothing")
    t.check(isinstance(got[1], str), got)
    t.check(all(r in (EPERM, "EPROTONOSUPPORT", "EAFNOSUPPORT") for r in got[2:5]),
            f"of netlink only ROUTE: not audit, netfilter, uevents: {got}")


@test()
def netlink_route_stays(t):
    got, _ = calls(t, ("socket", 16, 3, 0))
    t.check(isinstance(got[0], int), f"getifaddrs needs it: {got}")


@test()
def terminal_injection(t):
    """P15: TIOCSTI and its relatives, also with bits set above the 32 that the kernel looks at."""
    requests = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541c, "TIOCSETD": 0x5423, "TIOCCONS": 0x541d,
                "TIOCSSERIAL": 0x541f, "TIOCVHANGUP": 0x5437, "TIOCSLCKTRMIOS": 0x5457}
    rows = [("ioctl", 0, number | high, "s:x") for number in requests.values()
            for high in (0, 1 << 32, 0xffffffff << 32)]
    got, run = calls(t, *rows)
    t.equal(got[:6], [EPERM] * 6, "TIOCSTI, TIOCLINUX start")
    t.check(all(r in (EPERM, "ENOTTY") for r in got), got)
    t.check(run.denied(op="ioctl", object="TIOCSTI"), f"named: {run}")


@test()
def terminal_injection_into_a_real_terminal(t):
    """The caller's terminal gets nothing typed into it."""
    import os
    import pty
    import select
    master, slave = pty.openpty()
    child = t.start(t.probe("call"), "16", "0", str(0x5412), "s:x", stdin=slave, stdout=slave,
                    stderr=slave)
    child.wait(20)
    os.close(slave)
    text = b""
    while select.select([master], [], [], 0.5)[0]:
        try:
            text += os.read(master, 4096)
        except OSError:
            break
    os.close(master)
    t.has(text, "16 -1 EPERM")
    t.background.remove(child)


@test()
def setuid_modes_everywhere(t):
    """No call may leave a setuid or setgid file in the workspace, whatever way the mode comes in."""
    path = t.write("f", "x")
    os_creat = 0o100 | 2
    rows = []
    for mode in (0o4755, 0o2755, 0o6755):
        name = f"s:{t.ws}/n{mode:o}"
        rows += [("chmod", f"s:{path}", mode), ("fchmodat", AT_FDCWD, f"s:{path}", mode),
                 ("open", name + "o", os_creat, mode), ("openat", AT_FDCWD, name + "a", os_creat, mode),
                 ("creat", name + "c", mode), ("mknod", name + "m", 0o100000 | mode, 0),
                 ("mknodat", AT_FDCWD, name + "t", 0o100000 | mode, 0),
                 ("openat", AT_FDCWD, f"s:{t.ws}", 0o20200000 | 2, mode),
                 ("chmod", f"s:{path}", (1 << 32) | mode), ("chmod", f"s:{path}", (1 << 16) | mode)]
    rows += [("mkdir", f"s:{t.ws}/d2", 0o2755), ("mkdirat", AT_FDCWD, f"s:{t.ws}/d3", 0o2755),
             ("mkdir", f"s:{t.ws}/d4", 0o4755)]
    got, run = calls(t, *rows)
    wrong = [(row, r) for row, r in zip(rows, got) if row[0] not in ("mkdir", "mkdirat") and r != EPERM]
    t.equal(wrong, [])
    later = [("open", f"s:{path}", 2), ("fchmod", "$1", 0o4755), ("fchmod", "$1", 0o755),
             ("fchmodat2", AT_FDCWD, f"s:{path}", 0o4755, 0),
             ("openat2", AT_FDCWD, f"s:{t.ws}/n2", open_how(os_creat, 0o4755), 24)]
    got, _ = calls(t, *later)
    t.equal(got[1:], [EPERM, 0, "ENOSYS", "ENOSYS"], "fchmod, its ordinary use, and the two new calls")
    t.equal(setuid_files(t.ws), [], "on the host")
    t.check(run.denied(op="chmod"), f"named: {run}")
    control, _ = calls(t, ("chmod", f"s:{path}", 0o4755), runner=t.plain)
    t.equal(control, [0], "control")
    t.equal(setuid_files(t.ws), ["f"], "control: the check sees it")


def setuid_files(folder):
    import os
    found = []
    for base, dirs, files in os.walk(folder):
        for name in files + dirs:
            mode = os.lstat(os.path.join(base, name)).st_mode
            if mode & 0o4000 or (mode & 0o2000 and name in files):
                found.append(name)
    return found


@test()
def ordinary_modes_are_untouched(t):
    got, _ = calls(t, ("open", f"s:{t.ws}/n", 0o102, 0o644), ("chmod", f"s:{t.ws}/n", 0o1777),
                   ("mkdir", f"s:{t.ws}/d", 0o755), ("chmod", f"s:{t.ws}/d", 0o1777),
                   ("open", f"s:{t.ws}/n", 0, 0o4755))
    t.check(got[0] > 2 and got[1:4] == [0, 0, 0] and got[4] > 2, f"no O_CREAT: the mode is noise: {got}")


@test()
def tools_that_copy_a_setuid_file(t):
    run = t.sbox("sh", "-c", "cp /bin/true t && chmod u+s t; chmod 4755 t; install -m 6755 /bin/true i; "
                 "cp -p t t2; python3 -c 'import os; os.chmod(\"t\", 0o4755)'; tar cf - t | tar xpf - ; ls")
    t.equal(setuid_files(t.ws), [], run)

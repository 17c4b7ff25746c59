# SPDX-License-Identifier: Apache-2.0
"""Denied situations, labelled: calls, sockets, addresses and limits. See denials.py."""
from denied import Situation, hold
from sboxtest import PYTHON, test
from syscalls import words

NEVER = None
HOST = "[network] mode = host"


def py(text):
    return [PYTHON, "-c", text]


def connect(address, family=2):
    return f"import socket; s = socket.socket({family}, 1); s.settimeout(3); s.connect({address!r})"


def kernel(t, *call):
    """A static program that makes the call and fails when it is refused."""
    return ["sh", "-c", f"{t.probe('call')} {' '.join(words([call]))} | grep -qv EPERM"]


@test(timeout=300)
def networks(t):
    rows = [
        Situation("python", py(connect(("192.0.2.1", 80))), "network", "192.0.2.1:80", "ENETUNREACH", NEVER),
        Situation("python, IPv6", py(connect(("2001:db8::1", 443), 10)), "network", "[2001:db8::1]:443",
                  "ENETUNREACH", NEVER),
        Situation("bash", ["bash", "-c", "exec 3<>/dev/tcp/192.0.2.2/81"], "network", "192.0.2.2:81",
                  "ENETUNREACH", NEVER),
        Situation("perl", ["perl", "-MSocket", "-e", "socket(S, PF_INET, SOCK_STREAM, 0); "
                           "connect(S, sockaddr_in(82, inet_aton('192.0.2.3'))) or exit 1"],
                  "network", "192.0.2.3:82", "ENETUNREACH", NEVER),
        Situation("node", ["node", "-e", "require('net').connect(83, '192.0.2.4')"], "network",
                  "192.0.2.4:83", "ENETUNREACH", NEVER),
        Situation("curl", ["curl", "-s", "http://192.0.2.5:84/"], "network", "192.0.2.5:84",
                  "ENETUNREACH", NEVER),
    ]
    names = [("python", py("import socket; socket.getaddrinfo('name.invalid', 80)")),
             ("getent", ["getent", "hosts", "name.invalid"]), ("curl", ["curl", "-s", "http://name.invalid/"]),
             ("node", ["node", "-e", "require('dns').lookup('name.invalid', (e) => process.exit(e ? 1 : 0))"]),
             ("node, c-ares", ["node", "-e", "require('dns').resolve4('name.invalid', (e) => process.exit(e ? 1 : 0))"])]
    rows += [Situation(f"a name, {name}", argv, "network", "127.0.0.1:53", "ECONNREFUSED", HOST, op="resolve")
             for name, argv in names]
    families = [("AF_VSOCK", 40, 1, 0, "EAFNOSUPPORT"), ("AF_ALG", 38, 5, 0, "EAFNOSUPPORT"),
                ("AF_PACKET", 17, 3, 0, "EAFNOSUPPORT"), ("SOCK_RAW", 2, 3, 1, "EPERM"),
                ("IPPROTO_MPTCP", 2, 1, 262, "EPROTONOSUPPORT"),
                ("IPPROTO_ICMP", 2, 2, 1, "EPROTONOSUPPORT"),
                ("NETLINK_AUDIT", 16, 3, 9, "EPROTONOSUPPORT")]
    rows += [Situation(name, py(f"import socket; socket.socket({family}, {kind}, {protocol})"), "network",
                       name, errno, NEVER) for name, family, kind, protocol, errno in families]
    # an address is permitted by a line that opens the network; nobody answers there, so it is
    # named and not tried: the next test does that with loopback
    for row in rows[:6]:
        row.permit = HOST
    hold(t, rows, tried=lambda row: row.permit is not HOST)


@test(timeout=120)
def calls_that_a_line_permits(t):
    def line(name):
        return f"[privilege] syscalls = {name}"
    rows = [(("keyctl", 0, -3, 0), "keyctl"), (("add_key", "s:user", "s:d", "s:p", 1, -2), "add_key"),
            (("kcmp", 2, 2, 0, 0, 0), "kcmp"), (("process_vm_readv", 2, 0, 0, 0, 0, 0), "process_vm_readv"),
            (("ptrace", 0, 0, 0, 0), "ptrace"), (("pidfd_getfd", -1, 0, 0), "pidfd_getfd"),
            (("process_madvise", -1, 0, 0, 4, 0), "process_madvise"), (("mbind", 0, 0, 0, 0, 0, 0), "mbind"),
            (("set_mempolicy", 0, 0, 0), "set_mempolicy"), (("userfaultfd", 0x7fffffff), "userfaultfd"),
            (("adjtimex", 0), "adjtimex"), (("clock_adjtime", 0, 0), "clock_adjtime")]
    boundaries = {"keyctl": "privilege", "add_key": "privilege", "userfaultfd": "privilege",
                  "adjtimex": "time", "clock_adjtime": "time"}
    hold(t, [Situation(name, kernel(t, *call), boundaries.get(name, "process"), "", "EPERM", line(name), op=name)
             for call, name in rows])


@test(timeout=120)
def calls_that_nothing_permits(t):
    """(call, boundary, object)"""
    rows = [(("mount", "s:none", "s:/tmp", "s:tmpfs", 0, 0), "file", ""), (("chroot", "s:/tmp"), "file", ""),
            (("pivot_root", "s:/", "s:/"), "file", ""), (("umount2", "s:/tmp", 2), "file", ""),
            (("chmod", "s:probe-call", 0o4755), "file", "mode 4755"),
            (("mknod", "s:dev", 0o20666, 0x103), "file", "character device"),
            (("open_by_handle_at", 3, "z:256", 0), "file", ""),
            (("bpf", 0, "z:64", 64), "privilege", ""), (("setns", -1, 0), "privilege", ""),
            (("unshare", 0x10000000), "privilege", "CLONE_NEWUSER"),
            (("unshare", 0x20000), "privilege", "CLONE_NEWNS"), (("iopl", 3), "privilege", ""),
            (("init_module", 0, 0, "s:"), "privilege", ""), (("kexec_load", 0, 0, 0, 0), "privilege", ""),
            (("prctl", 35, 0, 0, 0, 0), "privilege", "PR_SET_MM"),
            (("personality", 0x0400000), "privilege", "an unusual personality"),
            (("ioctl", 0, 0x5412, "s:x"), "process", "TIOCSTI"),
            (("settimeofday", 0, "z:16"), "time", ""), (("clock_settime", 0, "z:16"), "time", ""),
            (("sethostname", "s:x", 1), "privilege", ""), (("swapoff", "s:/x"), "privilege", ""),
            (("vhangup",), "privilege", ""), (("acct", "s:/x"), "privilege", ""),
            (("prlimit64", 1, 0, 0, 0), "process", "pid 1")]
    hold(t, [Situation(f"{call[0]} {shown}", kernel(t, *call), boundary, shown, "EPERM", NEVER, op=call[0])
             for call, boundary, shown in rows])


@test(timeout=300, parallel=False)
def limits(t):
    """A limit is named with twice its value: the program needs more than one and less than two."""
    rows = [
        Situation("wall, sleep", ["sleep", "1.3"], "time", "", "", lines=("[time] wall = 1s",)),
        Situation("wall, python", py("import time; time.sleep(1.3)"), "time", "", "", lines=("[time] wall = 1s",)),
        Situation("wall, node", ["node", "-e", "setTimeout(() => 0, 2500)"], "time", "", "",
                  lines=("[time] wall = 2s",)),
        Situation("wall, perl", ["perl", "-e", "select(undef, undef, undef, 1.3)"], "time", "", "",
                  lines=("[time] wall = 1s",)),
        Situation("cpu, python", py("import time\nwhile time.process_time() < 1.4: pass"), "time", "", "",
                  lines=("[time] cpu = 1s",)),
        Situation("cpu, perl", ["perl", "-e", "for (;;) { last if ++$n % 10000 == 0 && (times)[0] > 1.2 }"], "time", "", "",
                  lines=("[time] cpu = 1s",)),
        Situation("output", ["head", "-c", "1500000", "/dev/zero"], "process", "", "",
                  lines=("[process] output = 1M",)),
        Situation("output, python", py("print('x' * 1500000)"), "process", "", "",
                  lines=("[process] output = 1M",)),
        Situation("memory", py("x = b'x' * (140 << 20); import time; time.sleep(0.5)"), "process", "", "",
                  lines=("[process] memory = 100M",)),
        Situation("memory, perl", ["perl", "-e", "$n = 140 << 20; $x = 'x' x $n; sleep 1"], "process", "", "",
                  lines=("[process] memory = 100M",)),
        Situation("file size", ["dd", "if=/dev/zero", "of=big", "bs=1500000", "count=1"], "file", "", "EFBIG",
                  lines=("[file] max_file = 1M",)),
    ]
    hold(t, rows)

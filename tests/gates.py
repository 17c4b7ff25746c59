# SPDX-License-Identifier: Apache-2.0
"""sbox-gate alone, between three network namespaces of the test's own.

    inside ("in")            host ("host")              outside ("net")
    every address local      the gate runs here         servers: 93.184.0.x, 2a00:2::x,
    listeners, DNS           93.184.0.1, 2a00:1::1      10.7.0.5, 169.254.169.254
                             127.0.0.1 its own          a name server on 93.184.0.2

The test's process becomes the caller and enters namespaces of its own, for good: as root network
and mount namespaces, else a user namespace too. It plays the launcher; everything ends with it.
"""
import array
import ctypes
import os
import select
import signal
import socket
import struct
import subprocess
import time

import gate_messages as m
from gate_dns import Answer, Upstream, dns_question
from gate_servers import Server, echo
from sboxtest import Failure, Skip, libc

NEWNS, NEWUSER, NEWNET = 0x20000, 0x10000000, 0x40000000
GATE_UID = 65533


def check(rc, what):
    if rc != 0:
        errnum = ctypes.get_errno()
        raise OSError(errnum, f"{what}: {os.strerror(errnum)}")


def ip(*argv):
    result = subprocess.run(["/sbin/ip", *argv], capture_output=True, text=True)
    if result.returncode != 0:
        raise Failure(f"ip {' '.join(argv)}: {result.stderr}")


def become(t):
    """The caller, with namespaces where it is root."""
    flags = NEWNS | NEWNET
    if t.uid != 0:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(t.gid, t.gid, t.gid)
            os.setresuid(t.uid, t.uid, t.uid)
            libc.prctl(4, 1, 0, 0, 0)  # dumpable again, or /proc/self is root's
        flags |= NEWUSER
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(flags) != 0:
        raise Skip(f"no namespaces: {os.strerror(ctypes.get_errno())}")
    if flags & NEWUSER:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"),
                           ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    check(libc.mount(b"none", b"/", None, 0x44000, None), "mount private")


class Namespace:
    """A network namespace; `with` enters it."""

    def __init__(self, new=True):
        here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        if new:
            check(libc.unshare(NEWNET), "unshare")
        self.fd = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        self.back = []
        check(libc.setns(here, NEWNET), "setns")
        os.close(here)
        with self:
            ip("link", "set", "lo", "up")

    def __enter__(self):
        self.back.append(os.open("/proc/thread-self/ns/net", os.O_RDONLY))
        check(libc.setns(self.fd, NEWNET), "setns")
        return self

    def __exit__(self, *_):
        fd = self.back.pop()
        check(libc.setns(fd, NEWNET), "setns")
        os.close(fd)

    def open(self, family=socket.AF_INET, kind=socket.SOCK_STREAM, protocol=0):
        with self:
            return socket.socket(family, kind, protocol)

    def listen(self, address, port, kind=socket.SOCK_STREAM):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        one = self.open(family, kind)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind((address, port))
        if kind == socket.SOCK_STREAM:
            one.listen(1024)
        return one


# ---- the gate -----------------------------------------------------------------------------------

class World:
    ADDRESSES = ("93.184.0.10/32", "93.184.0.11/32", "10.7.0.5/32", "169.254.169.254/32",
                 "2a00:2::10/128", "fd00:7::5/128")

    def __init__(self, t, zone=None):
        self.t = t
        become(t)
        self.host, self.net, self.inside = Namespace(new=False), Namespace(), Namespace()
        with self.host:
            ip("link", "add", "out", "type", "veth", "peer", "name", "peer")
            ip("link", "set", "peer", "netns", f"/proc/{os.getpid()}/fd/{self.net.fd}")
            self.address("out", "93.184.0.1/24", "2a00:1::1/64")
            ip("route", "add", "default", "via", "93.184.0.2")
            ip("-6", "route", "add", "default", "via", "2a00:1::2")
        with self.net:
            self.address("peer", "93.184.0.2/24", "2a00:1::2/64")
            self.address("lo", *self.ADDRESSES)
        with self.inside:
            self.address("lo", "198.18.0.1/32")
            ip("route", "add", "local", "0.0.0.0/0", "dev", "lo", "src", "198.18.0.1")
            ip("-6", "route", "add", "local", "::/0", "dev", "lo")
        self.mounts = []
        self.upstream = Upstream(self.net, "93.184.0.2", zone or {})
        self.file("/etc/resolv.conf", "nameserver 93.184.0.2\n")
        self.file("/etc/hosts", "127.0.0.1 localhost\n")
        self.gate = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, _):
        """The gate ends by itself when its control socket closes."""
        while self.mounts:
            check(libc.umount2(self.mounts.pop().encode(), 2), "umount")
        if self.gate is None or self.gate.pid == 0:
            return
        if kind is not None:
            while self.gate.read(0.3) and len(self.gate.events) < 9999:
                pass
            told = "\n  ".join(str(Gate.text(e)) for e in self.gate.events[-8:])
            value.args = (f"{value}\nthe gate told last:\n  {told}",)
        self.gate.control.close()
        status = self.gate.status()
        if kind is None and status != 0:
            raise Failure(f"sbox-gate ended with {status}")

    @staticmethod
    def address(device, *addresses):
        for one in addresses:
            ip("addr", "add", one, "dev", device, *(["nodad"] if ":" in one else []))
        ip("link", "set", device, "up")

    def file(self, path, text):
        """What the gate reads there, in this mount namespace only."""
        own = f"{self.t.dir}/etc{path.replace('/', '-')}"
        with open(own, "w") as file:
            file.write(text)
        real = os.path.realpath(path)
        check(libc.mount(own.encode(), real.encode(), None, 0x1000, None), f"mount {path}")
        self.mounts.append(real)

    def server(self, address="93.184.0.10", port=443, handler=echo):
        return Server(self.host if address.startswith("127.") else self.net, address, port, handler)

    def start(self, *allow, **options):
        self.gate = Gate(self, allow, **options)
        return self.gate

    # -- as the program would --
    def ask(self, name, kind=1, server="198.18.0.1", raw=None, timeout=10):
        one = self.inside.open(socket.AF_INET6 if ":" in server else socket.AF_INET,
                                 socket.SOCK_DGRAM)
        one.settimeout(timeout)
        one.connect((server, 53))
        one.send(raw or dns_question(name, kind))
        return Answer(one.recv(4096))

    def resolve(self, name):
        return self.ask(name).addresses[0]

    def connect(self, host, port, timeout=15):
        address = host if host[-1].isdigit() or ":" in host else self.resolve(host)
        one = self.inside.open(socket.AF_INET6 if ":" in address else socket.AF_INET)
        one.settimeout(timeout)
        one.connect((address, port))
        return one

    def outcome(self, host, port, send=b"x", timeout=15):
        """'echo', 'reset', 'refused', 'eof', 'timeout': what a connection comes to."""
        try:
            with self.connect(host, port, timeout) as one:
                one.sendall(send)
                got = one.recv(65536)
                return "echo" if got == send else "eof" if got == b"" else got
        except ConnectionRefusedError:
            return "refused"
        except (ConnectionResetError, BrokenPipeError):
            return "reset"
        except socket.timeout:
            return "timeout"


class Gate:
    def __init__(self, world, allow, deny=(), pins=(), listen=(), ready=True, wildcard=0,
                 connections=0, sni_optional=0, files=None, raw=True, uid=None):
        self.world, self.events, self.fds = world, [], []
        self.control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = self.spawn(other.fileno(), files)
        other.close()
        root = world.t.uid == 0
        uid = uid if uid is not None else GATE_UID if root else m.KEEP
        self.send(m.message(m.SETUP, m.Setup, version=1, supervisor=os.getpid(), uid=uid, gid=uid,
                            connections=connections, wildcard_names=wildcard,
                            sni_optional=sni_optional))
        rules = [m.rule(text, i + 1) for i, text in enumerate(allow)]
        rules += [m.rule(text, 101 + i, deny=True) for i, text in enumerate(deny)]
        for i in range(0, len(rules), m.BATCH):
            part = rules[i:i + m.BATCH]
            self.send(m.message(m.RULES, m.Rules, count=len(part), rules=(m.Rule * m.BATCH)(*part)))
        if pins:
            entries = [m.Pin(m.ip(address), 0, name.encode()) for name, address in
                       (one.split("=") for one in pins)]
            self.send(m.message(m.PINS, m.Pins, count=len(entries),
                                pins=(m.Pin * m.BATCH)(*entries)))
        self.hand_over(rules, listen, raw)
        self.send(self.bare(m.START))
        if ready:
            self.wait(lambda e: e[0] == m.READY)

    @staticmethod
    def bare(kind):
        return m.Head(kind, ctypes.sizeof(m.Head))

    def spawn(self, fd, files):
        path = f"{self.world.t.tree}/libexec/sbox/sbox-gate"
        pid = os.fork()
        if pid != 0:
            return pid
        try:
            if self.world.t.uid != 0:
                # An ordinary user of the host: not root of the namespace that the test needs.
                libc.unshare(NEWUSER)
                for name, text in (("setgroups", "deny"), ("uid_map", "1000 0 1"),
                                   ("gid_map", "1000 0 1")):
                    with open(f"/proc/self/{name}", "w") as file:
                        file.write(text)
            os.dup2(fd, 3, inheritable=True)
            if files:
                import resource
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
            os.execv(path, ["sbox-gate"])
        finally:
            os._exit(99)

    def send(self, one, fds=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.control.sendmsg([bytes(one)], rights)

    def hand_over(self, rules, listen, raw):
        space, entries = self.world.inside, []
        for kind, address in ((m.DNS_UDP4, "0.0.0.0"), (m.DNS_UDP6, "::")):
            entries.append((kind, 0, space.listen(address, 53, socket.SOCK_DGRAM)))
        for kind, address in ((m.DNS_TCP4, "0.0.0.0"), (m.DNS_TCP6, "::")):
            entries.append((kind, 0, space.listen(address, 53)))
        ports = sorted({port for rule in rules if rule.action == 1
                        for port in range(rule.low, rule.high + 1)})
        for port in ports:
            entries.append((m.TCP4, 0, space.listen("0.0.0.0", port)))
            entries.append((m.TCP6, 0, space.listen("::", port)))
        for kind, family, protocol in (
                (m.RAW_TCP4, socket.AF_INET, socket.IPPROTO_TCP),
                (m.RAW_TCP6, socket.AF_INET6, socket.IPPROTO_TCP),
                (m.RAW_ICMP4, socket.AF_INET, socket.IPPROTO_ICMP),
                (m.RAW_ICMP6, socket.AF_INET6, socket.IPPROTO_ICMPV6)) if raw else ():
            entries.append((kind, 0, space.open(family, socket.SOCK_RAW, protocol)))
        for inner, outer in listen:
            entries.append((m.PUBLISHED, inner, self.world.host.listen("127.0.0.1", outer)))
        for kind, family in ((m.INSIDE4, socket.AF_INET), (m.INSIDE6, socket.AF_INET6)):
            for _ in range(4 if listen else 0):
                entries.append((kind, 0, space.open(family)))
        for i in range(0, len(entries), m.SOCKET_BATCH):
            part = entries[i:i + m.SOCKET_BATCH]
            sockets = (m.SocketEntry * m.SOCKET_BATCH)(*[m.SocketEntry(k, p) for k, p, _ in part])
            self.send(m.message(m.SOCKETS, m.Sockets, count=len(part), sockets=sockets),
                      [one.fileno() for _, _, one in part])
        for _, _, one in entries:
            one.close()

    # -- what it tells --
    def read(self, timeout):
        """One event more; False: nothing came, or the gate is gone."""
        if not select.select([self.control], [], [], timeout)[0]:
            return False
        try:
            data = self.control.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            self.events.append((None, None))
            return False
        kind, size = struct.unpack("II", data[:8])
        if size != len(data):
            raise Failure(f"event {kind}: {size} announced, {len(data)} came")
        type_ = m.EVENTS.get(kind)
        self.events.append((kind, type_.from_buffer_copy(data) if type_ else None))
        return True

    def wait(self, good, timeout=20):
        end, at = time.monotonic() + timeout, 0
        while True:
            while at < len(self.events):
                if good(self.events[at]):
                    return self.events[at][1]
                at += 1
            if not self.read(max(0, end - time.monotonic())) and at == len(self.events):
                raise Failure(f"not told; events: {[self.text(e) for e in self.events][-12:]}")

    def closed(self, **wanted):
        """The end of a connection, as a dictionary of what `wanted` names and more."""
        def good(event):
            if event[0] != m.CONNECTION or event[1].why == 0:
                return False
            row = self.row(event[1])
            return all(row[key] == value for key, value in wanted.items())
        return self.row(self.wait(good))

    @staticmethod
    def row(one):
        return {"why": m.WHYS[one.why], "rule": one.rule, "name": one.name.decode(),
                "server_name": one.server_name.decode(), "sent": one.sent,
                "received": one.received, "asked": m.address_text(one.asked),
                "dialled": m.address_text(one.dialled), "class": m.CLASSES[one.class_],
                "errnum": one.errnum, "published": one.published, "ms": one.ms}

    def named(self, name, verdict):
        return self.wait(lambda e: e[0] == m.NAME and e[1].name.decode() == name
                         and m.VERDICTS[e[1].verdict] == verdict)

    def attempted(self, address, protocol=socket.IPPROTO_TCP):
        return self.wait(lambda e: e[0] == m.ATTEMPT and m.address_text(e[1].address) == address
                         and e[1].protocol == protocol)

    @staticmethod
    def text(event):
        kind, one = event
        if kind == m.CONNECTION:
            return Gate.row(one)
        if kind == m.NAME:
            return (one.name.decode(), m.VERDICTS[one.verdict], one.count)
        if kind == m.ATTEMPT:
            return (m.address_text(one.address), one.protocol, one.count)
        if kind == m.FAILED:
            return (one.text.decode(), one.rule, one.errnum)
        return kind

    def end(self):
        """Its last words; the totals."""
        self.send(self.bare(m.END))
        self.wait(lambda e: e[0] == m.DONE)
        self.status()
        return [e[1] for e in self.events if e[0] == m.TOTALS][-1]

    def status(self):
        pid, self.pid = self.pid, 0
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.status()

# SPDX-License-Identifier: Apache-2.0
"""An internet of the test's own, for runs with [network] mode = allow.

    lab = Lab(t)                 this process is now in a network namespace with one link, to another
                                 one in which network_servers.py serves; resolv.conf names its name
                                 server, lab.ca is the authority of its certificates
    lab.run("curl", URL)         sbox with lab.profile; keywords as for t.sbox
    lab.events(server="dns")     what the servers saw
"""
import ctypes
import json
import os
import subprocess

import sboxtest
from sboxtest import PYTHON, Skip

HERE = os.path.dirname(os.path.abspath(__file__))
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MS_REC, MS_PRIVATE, MS_BIND = 0x4000, 1 << 18, 0x1000
libc = ctypes.CDLL(None, use_errno=True)

NAME, OTHER, SUB = "api.example.org", "other.example.org", "a.sub.example.net"
HOST4, HOST4B, HOST6 = "44.1.1.10", "44.1.1.11", "2600:1::10"
ZONE = {
    NAME: [HOST4, HOST6], OTHER: [HOST4B], "four.example.org": [HOST4],
    "six.example.org": [HOST6], "*.sub.example.net": [HOST4],
    "private.example.org": ["10.9.9.9"], "metadata.example.org": ["169.254.169.254"],
    "loop.example.org": ["127.0.0.1"], "rebind.example.org": [[HOST4], ["10.9.9.9"]],
    "silent.example.org": ["silent"], "lies.example.org": ["lies"],
}
ALLOW = f"{NAME}:443, {NAME}:80, {NAME}:7, {NAME}:25, four.example.org:443, *.sub.example.net:443"
LINKS = """link set lo up
link add up0 type veth peer name up1
link set up1 netns {pid}
addr add 192.0.2.1/30 dev up0
addr add 2001:db8::1/64 dev up0 nodad
link set up0 up
route add default via 192.0.2.2
route add default via 2001:db8::2
"""
FAR_LINKS = """link set lo up
addr add 192.0.2.2/30 dev up1
addr add 2001:db8::2/64 dev up1 nodad
link set up1 up
addr add 44.1.1.10/32 dev lo
addr add 44.1.1.11/32 dev lo
addr add 44.1.1.53/32 dev lo
addr add 10.9.9.9/32 dev lo
addr add 169.254.169.254/32 dev lo
addr add 2600:1::10/128 dev lo nodad
"""


def call(*argv, **keywords):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **keywords)
    if done.returncode != 0:
        raise sboxtest.Failure(f"{argv}: {done.stdout.decode(errors='replace')}")


def mount(source, target, kind=None, flags=0):
    texts = [part.encode() if part else None for part in (source, target, kind)]
    if libc.mount(*texts, flags, None) != 0:
        raise OSError(ctypes.get_errno(), f"mount {target}")


class Lab:
    def __init__(self, t, zone=None, network="", allow=ALLOW, mode="allow"):
        if os.geteuid() != 0:
            raise Skip("network namespaces with a link between them take root")
        self.t = t
        self.folder = t.mkdir(f"{t.dir}/lab")
        t.write(f"{self.folder}/zone.json", json.dumps({**ZONE, **(zone or {})}))
        self.certificates()
        if libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        mount(None, "/", flags=MS_REC | MS_PRIVATE)
        self.serve()
        self.files({"/etc/resolv.conf": "nameserver 44.1.1.53\n",
                    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n"})
        self.profile = t.profile(f"""[profile]
description = a test
extends = base
[file]
write = ${{cwd}}
exec = {self.ca}
read = -/etc/java-17-openjdk
[network]
mode = {mode}
allow = {allow}
{network}
[environment]
keep = PATH, LANG
[audit]
denials = calls
""")

    def certificates(self):
        folder = self.folder
        names = ",".join(f"DNS:{n}" for n in [*ZONE, "localhost"]) + \
            f",IP:{HOST4},IP:{HOST4B},IP:{HOST6}"
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        self.ca = f"{self.t.ws}/ca.pem"
        call("openssl", "req", "-x509", *key, "-keyout", f"{folder}/ca.key", "-out", self.ca,
             "-subj", "/CN=an authority of the tests", "-days", "2")
        call("openssl", "req", *key, "-keyout", f"{folder}/server.key", "-out",
             f"{folder}/server.csr", "-subj", "/CN=a server of the tests")
        self.t.write(f"{folder}/extensions", f"subjectAltName={names}\n")
        call("openssl", "x509", "-req", "-in", f"{folder}/server.csr", "-CA", self.ca, "-CAkey",
             f"{folder}/ca.key", "-CAcreateserial", "-out", f"{folder}/server.pem", "-days", "2",
             "-extfile", f"{folder}/extensions")
        os.chmod(self.ca, 0o644)

    def serve(self):
        self.far = self.t.popen(["unshare", "-n", PYTHON, f"{HERE}/network_servers.py",
                                 self.folder], as_root=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        ours = os.readlink("/proc/self/ns/net")
        sboxtest.wait_until(lambda: os.readlink(f"/proc/{self.far.pid}/ns/net") != ours, 20)
        call("ip", "-batch", "-", input=LINKS.format(pid=self.far.pid).encode())
        call("nsenter", "-t", str(self.far.pid), "-n", "ip", "-batch", "-",
             input=FAR_LINKS.encode())
        self.far.stdin.write(b"g")
        self.far.stdin.flush()
        if self.far.stdout.readline() != b"ready\n":
            raise sboxtest.Failure("the servers of the test did not start")

    @staticmethod
    def files(contents):
        """In this mount namespace alone."""
        mount("lab", "/mnt", "tmpfs")
        for path, text in contents.items():
            name = f"/mnt/{os.path.basename(path)}"
            with open(name, "w") as out:
                out.write(text)
            mount(name, path, flags=MS_BIND)

    def events(self, **wanted):
        try:
            with open(f"{self.folder}/events.jsonl") as lines:
                found = [json.loads(line) for line in lines]
        except FileNotFoundError:
            return []
        return [e for e in found if all(e.get(k) == v for k, v in wanted.items())]

    def zone(self, **names):
        self.t.write(f"{self.folder}/zone.json",
                     json.dumps({**ZONE, **{k.replace("__", "."): v for k, v in names.items()}}))

    def run(self, *argv, **keywords):
        keywords.setdefault("profile", self.profile)
        keywords.setdefault("opts", ["--quiet"])
        return self.t.sbox(*argv, **keywords)

    def curl(self, *argv, run=None):
        """curl with this authority; through sbox, or as `run` says."""
        return (run or self.run)("curl", "-sS", "-m", "20", "--cacert", self.ca, *argv)


def network(run):
    return run.end["network"]


def connections(run, **wanted):
    return [c for c in network(run)["connections"]
            if all(c.get(k) == v for k, v in wanted.items())]


def names(run):
    return {n["name"]: n["verdict"] for n in network(run)["names"]}

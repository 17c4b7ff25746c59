# SPDX-License-Identifier: Apache-2.0
"""The gate as a process: what it may do, how it ends, and that its end opens nothing."""
import os
import random
import select
import signal
import socket
import time

import gate_messages as m
from gate_dns import Answer, Upstream, dns_question
from gates import GATE_UID, Gate, World
from sboxtest import test, wait_until

ZONE = {"api.example": ["93.184.0.10"], "*": []}
HELLO = b"hello\n"


def status(pid):
    with open(f"/proc/{pid}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


@test()
def it_is_confined(t):
    with World(t, ZONE) as world:
        # Something to inherit that it must not keep.
        leak = os.open("/etc/passwd", os.O_RDONLY)
        os.set_inheritable(leak, True)
        gate = world.start("api.example:80")
        seen = status(gate.pid)
        for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            t.equal(int(seen[name], 16), 0, name)
        t.equal((seen["NoNewPrivs"], seen["Seccomp"]), ("1", "2"))
        if t.uid == 0:
            t.equal(set(seen["Uid"].split() + seen["Gid"].split()), {str(GATE_UID)})
            t.equal(seen["Groups"].strip(), "")
        # Its descriptors are its own: readable for root of the namespace only where it is dumpable.
        if os.geteuid() == 0 and t.uid == 0:
            links = {os.readlink(f"/proc/{gate.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{gate.pid}/fd")}
            t.check("/etc/passwd" not in links, links)
            t.check(all(not link.startswith("/") or link == "/dev/null" or link.startswith("/dev/pts")
                        or "sbox" not in link and not link.startswith("/etc") for link in links), links)
            t.equal(open(f"/proc/{gate.pid}/environ").read().strip("\0"), "", "no environment")
            t.equal(os.stat(f"/proc/{gate.pid}/mem").st_uid, 0, "not dumpable")


@test(callers=("root",))
def as_root_it_wants_a_user(t):
    with World(t, ZONE) as world:
        for uid, text in ((m.KEEP, "does not run as root"), (0, "does not run as root")):
            gate = world.start("api.example:80", uid=uid, ready=False)
            failed = gate.wait(lambda e: e[0] == m.FAILED)
            t.has(failed.text.decode(), text)
            t.equal(gate.status(), 1)


@test()
def bad_messages_end_it_with_a_reason(t):
    with World(t, ZONE) as world:
        cases = [
            (m.message(m.SETUP, m.Setup, version=9), "version"),
            (m.message(m.SETUP, m.Setup, version=1, supervisor=1, uid=m.KEEP, gid=m.KEEP), "parent" if t.uid else "root"),
            (Gate.bare(m.START), "before SETUP"), (Gate.bare(m.END), "before START"),
            (m.Head(77, 8), "type 77"), (m.Head(m.SETUP, 8), "type 1"),
            (m.message(m.RULES, m.Rules, count=99), "more rules"),
            (m.message(m.RULES, m.Rules, count=1), "not a rule"),
            (m.message(m.SOCKETS, m.Sockets, count=2), "announced"),
        ]
        for one, text in cases:
            gate = Gate.__new__(Gate)
            gate.world, gate.events = world, []
            gate.control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            gate.pid = gate.spawn(other.fileno(), None)
            other.close()
            gate.send(one)
            t.has(gate.wait(lambda e: e[0] == m.FAILED).text.decode(), text)
            t.equal(gate.status(), 1)


@test()
def bad_names_in_rules_are_refused_with_the_rule(t):
    with World(t, ZONE) as world:
        for text in ("a\u0080b.example:80", "*.\u4e2d\u56fd:80"):
            gate = world.start("api.example:80", text, ready=False)
            failed = gate.wait(lambda e: e[0] == m.FAILED)
            t.equal((failed.rule, gate.status()), (2, 1), failed.text)


@test()
def its_death_ends_the_network(t):
    with World(t, ZONE) as world:
        world.server(port=80)
        gate = world.start("api.example:80")
        one = world.connect("api.example", 80)
        one.sendall(HELLO)
        t.equal(one.recv(100), HELLO)
        address = world.resolve("api.example")
        gate.kill()
        try:
            t.equal(one.recv(100), b"", "a connection ends")
        except ConnectionResetError:
            pass
        t.equal(world.outcome(address, 80, HELLO), "refused")
        asked = world.inside.open(socket.AF_INET, socket.SOCK_DGRAM)
        asked.connect(("198.18.0.1", 53))
        asked.send(dns_question("api.example"))
        asked.settimeout(5)
        try:
            t.equal(asked.recv(100), None)
        except ConnectionRefusedError:
            pass


@test()
def it_ends_with_its_parent(t):
    """By the end of the control socket, and by a signal where somebody else holds that open."""
    with World(t, ZONE) as world:
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            gate = world.start("api.example:80")
            if os.fork() == 0:
                time.sleep(60)  # holds the control socket
                os._exit(0)
            os.write(write_end, b"%d" % gate.pid)
            signal.pause()
        pid = int(os.read(read_end, 100))
        helpers = [int(one) for one in
                   open(f"/proc/{child}/task/{child}/children").read().split() if int(one) != pid]
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        # It is this process's now (subreaper).
        t.equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), -9)
        for one in helpers:
            os.kill(one, signal.SIGKILL)
            os.waitpid(one, 0)


@test()
def without_descriptors_it_refuses_and_recovers(t):
    with World(t, ZONE) as world:
        world.server(port=80)
        gate = world.start("api.example:80", files=300)
        held = []
        outcomes = []
        for _ in range(60):
            try:
                one = world.connect("api.example", 80, timeout=10)
                one.sendall(HELLO)
                outcomes.append(one.recv(100))
                held.append(one)
            except (ConnectionResetError, BrokenPipeError):
                outcomes.append("reset")
        t.check(outcomes.count(HELLO) >= 8 and "reset" in outcomes, outcomes)
        gate.closed(why="full")
        for one in held:
            one.close()
        t.check(wait_until(lambda: world.outcome("api.example", 80, HELLO) == "echo", 10), "recovers")


@test()
def too_many_connections_are_refused(t):
    with World(t, ZONE) as world:
        world.server(port=80)
        gate = world.start("api.example:80", connections=10)
        held = [world.connect("api.example", 80) for _ in range(10)]
        for one in held:
            one.sendall(HELLO)
            t.equal(one.recv(100), HELLO)
        t.equal(world.outcome("api.example", 80, HELLO), "reset")
        gate.closed(why="full")
        held.pop().close()
        t.check(wait_until(lambda: world.outcome("api.example", 80, HELLO) == "echo", 10), "room again")


@test()
def a_supervisor_that_does_not_read_holds_nothing_up(t):
    """And what it missed is summed up when it reads again."""
    with World(t, ZONE) as world:
        world.server(port=80)
        gate = world.start("api.example:80")
        address = world.resolve("api.example")
        for i in range(900):
            t.equal(world.outcome(address, 80, HELLO), "echo", i)
        totals = gate.end()
        t.equal(totals.connections, 900)
        ends = sum(1 for e in gate.events if e[0] == m.CONNECTION and e[1].why != 0)
        t.check(ends <= 900 and ends + totals.untold >= 900, f"{ends} {totals.untold}")


@test()
def memory_is_flat(t):
    """Many connections and names, one after the other: no byte stays."""
    def resident():
        return int(status(gate.pid)["VmRSS"].split()[0])
    with World(t, ZONE) as world:
        world.server(port=80)
        gate = world.start("api.example:80", "*.wild.example:80")
        address = world.resolve("api.example")

        def load(count):
            for i in range(count):
                world.outcome(address, 80, HELLO)
                world.ask(f"{i}.evil.example")
                while gate.read(0):
                    gate.events.clear()
        load(1100)
        before = resident()
        load(1500)
        after = resident()
        t.check(after <= before + 200, f"{before} kB, then {after} kB")


@test()
def lying_name_servers_do_no_harm(t):
    """Answers with random bytes, cut, or for others; then the gate still serves."""
    seed = random.Random(7)
    good = b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00"

    def lie(kind):
        body = bytearray(good + b"\x04liar\x07example\x00\x00\x01\x00\x01"
                         + b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x5d\xb8\x00\x0a")
        for _ in range(seed.randrange(1, 6)):
            body[seed.randrange(len(body))] = seed.randrange(256)
        return bytes(body[:seed.randrange(1, len(body))]) if seed.random() < 0.3 else bytes(body)
    zone = {"api.example": ["93.184.0.10"]}
    for i in range(300):
        zone[f"{i}.liar.example"] = lie
    old = Upstream.answer

    def answer(self, data):
        if b"liar" in data:
            return data[:2] + lie(1)
        return old(self, data)
    Upstream.answer = answer
    with World(t, zone) as world:
        world.server(port=80)
        gate = world.start("api.example:80", "*.liar.example:80")
        one = world.inside.open(socket.AF_INET, socket.SOCK_DGRAM)
        one.connect(("198.18.0.1", 53))
        codes = {}
        for start in range(0, 300, 100):
            for i in range(start, start + 100):
                one.send(dns_question(f"{i}.liar.example", ident=i))
            while len(codes) < start + 100 and select.select([one], [], [], 20)[0]:
                answer_ = Answer(one.recv(4096))
                codes[answer_.id] = answer_.rcode
        t.equal(len(codes), 300, "each is answered")
        t.equal(world.outcome("api.example", 80, HELLO), "echo")


@test()
def name_servers_that_are_down_hold_up_nobody(t):
    with World(t, ZONE) as world:
        world.file("/etc/resolv.conf", "nameserver 93.184.0.99\nnameserver 93.184.0.98\n")
        world.server(port=80)
        gate = world.start("gone.example:80", "pinned.example:80", pins=["pinned.example=93.184.0.10"])
        one = world.inside.open(socket.AF_INET, socket.SOCK_DGRAM)
        one.connect(("198.18.0.1", 53))
        one.send(dns_question("gone.example"))
        begun = time.monotonic()
        t.equal(world.outcome("pinned.example", 80, HELLO), "echo")
        t.check(time.monotonic() - begun < 3, "others go on meanwhile")
        one.settimeout(40)
        t.equal(Answer(one.recv(4096)).rcode, 2, "SERVFAIL in the end")
        gate.named("gone.example", "no answer")

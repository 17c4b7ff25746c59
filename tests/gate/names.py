# SPDX-License-Identifier: Apache-2.0
"""The gate's name server: allowed names have an address, others do not exist and never leave."""
import socket
import struct

import gate_messages as m
from gate_dns import Answer, dns_name, dns_question
from gate_servers import echo
from gates import World
from sboxtest import test

NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP = 0, 1, 2, 3, 4
ZONE = {"api.test.example": ["93.184.0.10", "2a00:2::10"], "other.example": ["93.184.0.11"],
        "a.wild.example": ["93.184.0.11"], "deep.a.wild.example": ["93.184.0.11"],
        "wild.example": ["93.184.0.11"], "v6.example": ["2a00:2::10"]}
ALLOW = ("api.test.example:443", "*.wild.example:443", "gone.example:443")


@test()
def allowed_name_is_answered_and_reached(t):
    with World(t, ZONE) as world:
        server = world.server()
        gate = world.start(*ALLOW, sni_optional=1)
        t.equal(world.outcome("api.test.example", 443), "echo")
        t.equal(server.seen, 1)
        row = gate.closed(why="finished")
        t.equal((row["name"], row["rule"], row["sent"], row["received"]),
                ("api.test.example", 1, 1, 1))
        t.check(row["dialled"] in ("93.184.0.10:443", "[2a00:2::10]:443"), row)


@test()
def other_names_do_not_exist_and_never_leave(t):
    with World(t, ZONE) as world:
        gate = world.start(*ALLOW, deny=("bad.wild.example", "*.worse.wild.example:80"))
        for name in ("other.example", "test.example", "x.api.test.example", "wild.example",
                     "api.test.example.evil.example", "bad.wild.example", "1.2.3.4", "0x7f000001",
                     "example", "secret-data.evil.example"):
            for kind in (1, 28, 16, 33, 65, 2):
                answer = world.ask(name, kind)
                t.equal((answer.rcode, answer.addresses), (NXDOMAIN, []), f"{name} {kind}")
        t.equal(world.upstream.asked, [], "nothing left")
        t.equal(gate.named("other.example", "not allowed").rule, 0)
        t.equal(gate.named("bad.wild.example", "not allowed").rule, 101, "the deny rule")
        t.equal(gate.named("1.2.3.4", "malformed").count, 6)


@test()
def hostile_spellings_are_not_names(t):
    """N16: none of them is taken for the allowed name; case and a final dot are the same name."""
    with World(t, ZONE) as world:
        gate = world.start(*ALLOW)
        label = b"\x03api\x04test\x07example\x00"
        bad = [b"\x04ap\x00i" + label[4:],              # NUL in a label
               b"\x13evil.example\x00.api.x" + label[4:],
               b"\x08evil%00." + label[4:],
               b"\x10api.test.example" + b"\x00",       # dots in one label
               b"\x05api\r\n" + label[4:],
               b"\x05-api-" + label[4:],
               b"\x04\xc3\xa4pi" + label[4:]]
        for wire in bad:
            answer = world.ask(wire)
            t.equal((answer.rcode, answer.addresses), (NXDOMAIN, []), wire)
            t.equal(answer.question[:len(wire)], wire, "the question is repeated")
        upper = dns_name("API.Test.EXAMPLE")
        answer = world.ask(upper)
        t.equal((answer.rcode, len(answer.addresses)), (NOERROR, 1))
        t.equal(answer.question[:len(upper)], upper, "as it was asked")
        t.check({name for name, _ in world.upstream.asked} == {"api.test.example"},
                world.upstream.asked)
        gate.named("API.Test.EXAMPLE", "answered")


@test()
def only_v4_and_nothing_else_is_answered(t):
    with World(t, ZONE) as world:
        world.start(*ALLOW)
        address = world.resolve("api.test.example")
        t.check(address.startswith("198.18."), address)
        for kind in (28, 16, 15, 33, 65, 2, 6):
            answer = world.ask("api.test.example", kind)
            t.equal((answer.rcode, answer.addresses), (NOERROR, []), kind)
        t.equal(world.ask("api.test.example", 255).addresses, [address], "ANY")
        for service in ("_http._tcp.api.test.example", "_https._tcp.x.wild.example"):
            t.equal(world.ask(service, 33).rcode, NOERROR, "a service of an allowed name")
        t.equal(world.ask("_http._tcp.other.example", 33).rcode, NXDOMAIN)
        for name in ("localhost", "x.localhost", "LOCALHOST"):
            t.equal(world.ask(name).addresses, ["127.0.0.1"])
            t.equal(world.ask(name, 28).addresses, ["::1"])
        t.equal({kind for _, kind in world.upstream.asked}, {1, 28})


@test()
def names_that_are_not_there_are_told_as_on_the_host(t):
    zone = dict(ZONE, **{"dumb.wild.example": lambda kind: None,
                         "fail.wild.example": struct.pack("!5H", 0x8182, 0, 0, 0, 0)})
    with World(t, zone) as world:
        gate = world.start(*ALLOW)
        t.equal(world.ask("gone.example").rcode, NXDOMAIN)
        t.equal(world.ask("gone.example", 28).rcode, NXDOMAIN, "the same for the other family")
        gate.named("gone.example", "no such name")
        t.equal(world.ask("fail.wild.example").rcode, SERVFAIL)
        gate.named("fail.wild.example", "no answer")
        t.equal(world.ask("dumb.wild.example", timeout=20).rcode, SERVFAIL, "silence ends")


@test()
def answers_come_from_the_address_that_was_asked(t):
    """Hard-coded name servers are the gate's too, by v4 and v6."""
    with World(t, ZONE) as world:
        world.start(*ALLOW)
        for server in ("198.18.0.1", "8.8.8.8", "127.0.0.53", "2001:4860:4860::8888", "::1"):
            t.equal(len(world.ask("api.test.example", server=server).addresses), 1, server)


@test()
def edns_is_echoed_and_nothing_is_truncated(t):
    with World(t, ZONE) as world:
        world.start(*ALLOW)
        opt = b"\0" + struct.pack("!HHIH", 41, 4096, 0, 0)
        answer = world.ask("", raw=dns_question("api.test.example", extra=opt, more=1))
        t.equal((answer.rcode, answer.additional, len(answer.addresses)), (NOERROR, 1, 1))
        bad = b"\0" + struct.pack("!HHIH", 41, 4096, 1 << 16, 0)
        answer = world.ask("", raw=dns_question("api.test.example", extra=bad, more=1))
        t.equal((answer.additional, answer.addresses), (1, []), "EDNS 1: BADVERS")
        long = ".".join(["x" * 60] * 4)
        answer = world.ask("", raw=dns_question(long, extra=opt, more=1))
        t.equal((answer.rcode, answer.truncated), (NXDOMAIN, False))


@test()
def broken_messages_get_an_error_or_silence(t):
    with World(t, ZONE) as world:
        gate = world.start(*ALLOW)
        one = world.inside.open(socket.AF_INET, socket.SOCK_DGRAM)
        one.connect(("198.18.0.1", 53))
        one.settimeout(10)
        good = dns_question("api.test.example")
        silent = [b"", b"\0", good[:11], good[:2] + b"\x80" + good[3:]]
        for data in silent:
            one.send(data)
        wrong = {good[:20]: FORMERR,                                   # cut
                 good[:5] + b"\x02" + good[6:]: FORMERR,               # two questions said
                 good[:5] + b"\x00" + good[6:]: FORMERR,
                 good[:12] + b"\xc0\x0c" + good[30:]: FORMERR,         # a pointer to itself
                 good[:2] + b"\x28" + good[3:]: NOTIMP}                # UPDATE
        for data, rcode in wrong.items():
            one.send(data)
            t.equal(Answer(one.recv(4096)).rcode, rcode, data)
        one.send(good)
        t.equal(len(Answer(one.recv(4096)).addresses), 1, "it goes on")
        gate.named("api.test.example", "answered")


@test()
def tcp_serves_the_same(t):
    with World(t, ZONE) as world:
        gate = world.start(*ALLOW)
        for server in ("198.18.0.1", "8.8.4.4", "::1"):
            one = world.inside.open(socket.AF_INET6 if ":" in server else socket.AF_INET)
            one.settimeout(10)
            one.connect((server, 53))
            questions = [dns_question(name, ident=i) for i, name in
                         enumerate(("api.test.example", "other.example", "x.wild.example"))]
            data = b"".join(struct.pack("!H", len(q)) + q for q in questions)
            for i in range(0, len(data), 7):
                one.sendall(data[i:i + 7])
            file = one.makefile("rb")
            codes = []
            for _ in questions:
                size = struct.unpack("!H", file.read(2))[0]
                codes.append(Answer(file.read(size)).rcode)
            t.equal(codes, [NOERROR, NXDOMAIN, NXDOMAIN])
            one.close()
        # One that says too much in one message, and 300 that only connect.
        one = world.inside.open()
        one.connect(("198.18.0.1", 53))
        one.sendall(b"\xff\xff" + b"x" * 3000)
        one.settimeout(10)
        try:
            t.equal(one.recv(10), b"")
        except ConnectionResetError:
            pass
        idle = [world.inside.open() for _ in range(300)]
        for each in idle:
            each.connect(("198.18.0.1", 53))
        t.equal(len(world.ask("api.test.example").addresses), 1, "others are served")
        gate.named("api.test.example", "answered")


@test()
def wildcard_names_are_bounded_and_counted(t):
    """A program can write what it likes into them, so they are few, short and written down."""
    zone = dict(ZONE)
    for i in range(30):
        zone[f"data{i:02}.wild.example"] = ["93.184.0.11"]
    with World(t, zone) as world:
        gate = world.start(*ALLOW, wildcard=20)
        t.equal(world.ask("x" * 63 + ".wild.example").rcode, NXDOMAIN, "63 bytes may leave")
        t.equal(world.ask("x" * 32 + "." + "y" * 31 + ".wild.example").rcode, NXDOMAIN)
        t.equal([name for name, _ in world.upstream.asked if "y" in name], [], "64 may not")
        codes = [world.ask(f"data{i:02}.wild.example").rcode for i in range(30)]
        t.equal(codes, [NOERROR] * 19 + [NXDOMAIN] * 11)
        gate.named("data25.wild.example", "too many")
        t.equal(world.ask("data03.wild.example").rcode, NOERROR, "known ones stay")
        t.equal(len({name for name, _ in world.upstream.asked}), 20)
        totals = gate.end()
        t.equal((totals.wildcard_names, totals.wildcard_bytes), (20, 63 + 19 * 6))


@test()
def ten_thousand_questions_cost_a_bounded_record(t):
    with World(t, ZONE) as world:
        gate = world.start(*ALLOW)
        one = world.inside.open(socket.AF_INET, socket.SOCK_DGRAM)
        one.connect(("198.18.0.1", 53))
        one.settimeout(20)
        for i in range(0, 10000, 50):
            for j in range(i, i + 50):
                one.send(dns_question(f"{j:x}-stolen.evil.example", ident=j))
            for _ in range(50):
                t.equal(Answer(one.recv(4096)).rcode, NXDOMAIN)
        totals = gate.end()
        t.equal(world.upstream.asked, [], "nothing left")
        t.equal((totals.names, totals.names_refused, totals.names_untold), (10000, 10000, 8976))
        told = {e[1].index for e in gate.events if e[0] == m.NAME}
        t.equal(len(told), 1024)
        t.equal(sum(one.count for one in {e[1].index: e[1] for e in gate.events
                                          if e[0] == m.NAME}.values()), 1024)


@test()
def pins_and_hosts_come_before_name_servers(t):
    with World(t, ZONE) as world:
        server = world.server(port=80, handler=echo)
        world.file("/etc/hosts", "127.0.0.1 localhost\n93.184.0.10\tInHosts.example other # x.example\n"
                   "2a00:2::10 inhosts.example\n")
        gate = world.start("inhosts.example:80", "pinned.example:80", "other:80",
                           pins=["pinned.example=93.184.0.10"])
        for name in ("inhosts.example", "pinned.example", "other"):
            t.equal(world.outcome(name, 80, b"hello\n"), "echo", name)
            gate.closed(why="finished", name=name)
        t.equal(world.upstream.asked, [])
        t.equal(server.seen, 3)


@test()
def names_with_other_letters_are_compared_in_their_ascii_form(t):
    zone = {"xn--mnchen-3ya.example": ["93.184.0.10"], "xn--bcher-kva.example": ["93.184.0.10"]}
    with World(t, zone) as world:
        world.server(port=80)
        gate = world.start("m\u00fcnchen.example:80", "*.b\u00dccher.example:80")
        t.equal(world.outcome("xn--mnchen-3ya.example", 80, b"hello\n"), "echo")
        gate.closed(name="xn--mnchen-3ya.example")
        t.equal(world.ask("x.xn--bcher-kva.example").rcode, NXDOMAIN)
        t.has(str(world.upstream.asked), "x.xn--bcher-kva.example", "asked outside: it is allowed")


@test()
def names_are_found_by_the_search_list_only_where_that_is_due(t):
    zone = {"db.corp.example": ["93.184.0.10"], "api.test.example": ["93.184.0.11"],
            "api.test.example.corp.example": ["93.184.0.10"]}
    with World(t, zone) as world:
        world.file("/etc/resolv.conf", "nameserver 93.184.0.2\nsearch corp.example\noptions ndots:5\n")
        world.server("93.184.0.10", 80)
        other = world.server("93.184.0.11", 80)
        gate = world.start("db:80", "api.test.example:80")
        t.equal(world.outcome("db", 80, b"hello\n"), "echo", "as the host finds it")
        t.equal(gate.closed(name="db")["dialled"], "93.184.0.10:80")
        t.equal(world.outcome("api.test.example", 80, b"hello\n"), "echo")
        t.equal(other.seen, 1, "the name as it stands comes first")

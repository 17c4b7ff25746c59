# SPDX-License-Identifier: Apache-2.0
"""What is connected to, and what is not."""
import socket

from gates import World
from sboxtest import test

ZONE = {"api.example": ["93.184.0.10"], "both.example": ["93.184.0.10", "2a00:2::10"],
        "inner.example": ["10.7.0.5"], "inner6.example": ["fd00:7::5"],
        "meta.example": ["169.254.169.254"], "loop.example": ["127.0.0.1"],
        "mine.example": ["93.184.0.1"], "mapped.example": ["::ffff:10.7.0.5"],
        "mixed.example": ["10.7.0.5", "93.184.0.10"], "nat.example": ["64:ff9b::a07:5"],
        "dead.example": ["93.184.0.77", "93.184.0.10"], "x.wild.example": ["93.184.0.10"]}
HELLO = b"hello\n"


def outcome(world, host, port=80):
    return world.outcome(host, port, HELLO)


@test()
def rules_decide_by_name_address_and_port(t):
    with World(t, ZONE) as world:
        for address in ("93.184.0.10", "93.184.0.11", "10.7.0.5", "2a00:2::10"):
            for port in (80, 81, 90):
                world.server(address, port)
        gate = world.start("api.example:80", "api.example:90-92", "93.184.0.8/30:81",
                           "[2a00:2::10]:80", "both.example:80", "x.wild.example:81",
                           "*.wild.example:80", deny=("both.example:80", "93.184.0.9"))
        t.equal(outcome(world, "api.example"), "echo")
        t.equal(outcome(world, "api.example", 90), "echo", "a range")
        t.equal(outcome(world, "api.example", 81), "reset", "a port that only others have")
        t.equal(gate.closed(why="no rule")["asked"].split(":")[1], "81")
        t.equal(outcome(world, "api.example", 82), "refused", "a port that nobody has")
        t.equal(outcome(world, "93.184.0.10", 80), "reset", "the raw address of an allowed name")
        t.equal(gate.closed(why="no rule", asked="93.184.0.10:80")["rule"], 0)
        t.equal(outcome(world, "93.184.0.10", 81), "echo", "a network allows it")
        t.equal(gate.closed(why="finished", asked="93.184.0.10:81")["rule"], 3)
        t.equal(outcome(world, "93.184.0.9", 81), "reset", "denied in an allowed network")
        t.equal(gate.closed(why="deny rule", asked="93.184.0.9:81")["rule"], 102)
        t.equal(outcome(world, "2a00:2::10"), "echo", "a v6 address")
        t.equal(outcome(world, "2a00:2::11"), "reset")
        t.equal(outcome(world, "both.example"), "reset", "a deny rule for one port")
        t.equal(gate.closed(why="deny rule", name="both.example")["rule"], 101)
        t.equal(outcome(world, "198.18.1.200"), "reset", "an address that means no name")
        t.equal(outcome(world, "::ffff:93.184.0.11", 80), "reset", "v4 in v6 clothes")
        t.equal(outcome(world, "::ffff:93.184.0.10", 81), "echo")


@test()
def refused_attempts_are_seen(t):
    with World(t, ZONE) as world:
        gate = world.start("api.example:443")
        address = world.resolve("api.example")
        for host in (address, "1.2.3.4", "169.254.169.254", "2001:4860::1"):
            t.equal(outcome(world, host, 25), "refused", host)
        for host in ("8.8.8.8", "2001:4860::1"):
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            one = world.inside.open(family, socket.SOCK_DGRAM)
            one.connect((host, 123))
            one.send(b"time?")
            one.settimeout(5)
            try:
                t.equal(one.recv(9), None)
            except ConnectionRefusedError:
                pass
        t.equal(gate.attempted(f"{address}:25").name, b"api.example")
        gate.attempted("1.2.3.4:25")
        gate.attempted("169.254.169.254:25")
        gate.attempted("[2001:4860::1]:25")
        gate.attempted("8.8.8.8:123", socket.IPPROTO_UDP)
        gate.attempted("[2001:4860::1]:123", socket.IPPROTO_UDP)
        t.equal(outcome(world, "127.0.0.1", 9), "refused", "its own loopback")
        t.equal(gate.end().attempts, 6, "and that is not told")


@test()
def addresses_of_a_name_are_judged_too(t):
    """N18: a name leads to private, loopback, link-local and metadata addresses only if that is
    said; the address that was looked at is the one that is dialled."""
    with World(t, ZONE) as world:
        inner = [world.server(address, 80) for address in
                 ("10.7.0.5", "fd00:7::5", "169.254.169.254", "127.0.0.1")]
        mine = world.server("127.0.0.1", 81)
        own = world.host.listen("93.184.0.1", 80)
        world.server(port=80)
        gate = world.start(*[f"{name}:80" for name in ZONE if "wild" not in name])
        for name, kind in (("inner.example", "private"), ("inner6.example", "private"),
                           ("meta.example", "metadata"), ("loop.example", "loopback"),
                           ("mine.example", "own"), ("mapped.example", "private"),
                           ("nat.example", "private")):
            t.equal(outcome(world, name), "reset", name)
            t.equal(gate.closed(why="bad address", name=name)["class"], kind)
        t.equal(outcome(world, "mixed.example"), "echo", "the good one of two")
        t.equal(gate.closed(name="mixed.example")["dialled"], "93.184.0.10:80")
        t.equal([one.seen for one in inner + [mine]], [0] * 5)
        own.close()


@test()
def what_the_profile_names_is_reachable(t):
    with World(t, ZONE) as world:
        for address in ("10.7.0.5", "fd00:7::5", "169.254.169.254", "127.0.0.1", "93.184.0.10"):
            world.server(address, 80)
        world.server("127.0.0.1", 5432)
        gate = world.start("inner.example@private:80", "inner6.example:80", "[fd00:7::]/32:80",
                           "meta.example@private:80", "loop.example@private:80", "host:5432",
                           "pinned.example:80", "169.254.169.254:80",
                           deny=("93.184.0.10",), pins=["pinned.example=127.0.0.1"])
        t.equal(outcome(world, "inner.example"), "echo", "@private")
        t.equal(outcome(world, "inner6.example"), "echo", "a network that is allowed")
        t.equal(outcome(world, "meta.example"), "echo", "the address itself is allowed")
        t.equal(outcome(world, "169.254.169.254"), "echo")
        t.equal(outcome(world, "loop.example"), "reset", "@private is not the host's loopback")
        t.equal(outcome(world, "host", 5432), "echo", "host is")
        t.equal(gate.closed(name="host")["dialled"], "127.0.0.1:5432")
        t.equal(outcome(world, "host", 80), "reset", "and only on its port")
        t.equal(outcome(world, "pinned.example"), "echo", "a pin names its address")
        t.equal(outcome(world, "127.0.0.1", 5432), "reset",
                "inside that is the program's own; here the listener's, which has no rule for it")


@test()
def a_network_does_not_name_metadata(t):
    with World(t, ZONE) as world:
        server = world.server("169.254.169.254", 80)
        gate = world.start("169.254.0.0/16:80", "meta.example:80")
        t.equal(outcome(world, "169.254.169.254"), "reset")
        t.equal(gate.closed(why="bad address", asked="169.254.169.254:80")["class"], "metadata")
        t.equal(outcome(world, "meta.example"), "reset")
        t.equal(server.seen, 0)


@test()
def denied_address_beats_every_name(t):
    with World(t, ZONE) as world:
        server = world.server("10.7.0.5", 80)
        gate = world.start("inner.example@private:80", "pin.example:80", deny=("10.0.0.0/8",),
                           pins=["pin.example=10.7.0.5"])
        for name in ("inner.example", "pin.example"):
            t.equal(outcome(world, name), "reset")
            t.equal(gate.closed(why="deny rule", name=name)["rule"], 101)
        t.equal(server.seen, 0)


@test()
def rebinding_changes_nothing(t):
    """First a public address, then a private one: each connection is judged by its own."""
    answers = iter([["93.184.0.10"], ["10.7.0.5"], ["127.0.0.1"]])
    last = []

    def turn(kind):
        if kind == 28:
            return []
        last[:] = next(answers, last)
        return last
    with World(t, {"rebind.example": turn}) as world:
        good, bad = world.server(port=80), world.server("10.7.0.5", 80)
        gate = world.start("rebind.example:80")
        t.equal(outcome(world, "rebind.example"), "echo")
        # A name server that says 60 s is believed: only after that it is asked again.
        t.equal(outcome(world, "rebind.example"), "echo")
        t.equal((good.seen, bad.seen), (2, 0))
        gate.closed(why="finished")


@test()
def several_addresses_are_tried_in_turn(t):
    with World(t, ZONE) as world:
        server = world.server(port=80)
        gate = world.start("dead.example:80", "both.example:80", "none.example:80",
                           pins=["none.example=93.184.0.10"])
        t.equal(outcome(world, "dead.example"), "echo", "the second one answers")
        t.equal(outcome(world, "both.example"), "echo", "v6 refuses at once")
        t.equal(gate.closed(name="both.example")["dialled"], "93.184.0.10:80")
        t.equal(server.seen, 2)


@test()
def what_cannot_be_reached_is_a_reset(t):
    zone = {"closed.example": ["93.184.0.10"], "dumb.example": lambda kind: None,
            "api.example": ["93.184.0.10"]}
    with World(t, zone) as world:
        gate = world.start("closed.example:80", "dumb.example:80", "gone.example:80")
        t.equal(outcome(world, "closed.example"), "reset")
        t.equal(gate.closed(why="not reached")["errnum"], 111, "ECONNREFUSED")
        dumb = "198.18.0.17"  # the second name's address, without asking for the name
        t.equal(world.outcome(dumb, 80, HELLO, timeout=30), "reset")
        gate.closed(why="not resolved", name="dumb.example")
        t.equal(outcome(world, "198.18.0.18"), "reset")
        gate.closed(why="not resolved", name="gone.example")

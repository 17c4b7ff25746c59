# SPDX-License-Identifier: Apache-2.0
"""That a relayed connection behaves like a direct one; published ports; many of them."""
import os
import signal
import socket
import struct
import threading
import time

import gate_messages as m
from gate_servers import echo
from gates import World
from sboxtest import Skip, test, wait_until

ZONE = {"api.example": ["93.184.0.10"]}
HELLO = b"hello\n"


def outcome(world, host, port=80):
    return world.outcome(host, port, HELLO)


@test()
def bytes_arrive_whole_both_ways(t):
    with World(t, ZONE) as world:
        world.server(port=80)
        gate = world.start("api.example:80")
        data = b"\0" + bytes(range(256)) * 40000
        one = world.connect("api.example", 80)
        writer = threading.Thread(target=lambda: (one.sendall(data), one.shutdown(socket.SHUT_WR)))
        writer.start()
        got = one.makefile("rb").read()
        writer.join()
        t.check(got == data, f"{len(got)} of {len(data)}")
        row = gate.closed(why="finished")
        t.equal((row["sent"], row["received"]), (len(data), len(data)))


@test()
def half_close_is_half_close(t):
    """The answer comes after the program's end of file; and the other way round."""
    def late(connection):
        data = connection.makefile("rb").read()
        connection.sendall(b"got %d" % len(data))

    def early(connection):
        connection.sendall(b"bye")
        connection.shutdown(socket.SHUT_WR)
        seen.append(connection.makefile("rb").read())
    seen = []
    with World(t, ZONE) as world:
        world.server(port=80, handler=late)
        world.server(port=81, handler=early)
        gate = world.start("api.example:80", "api.example:81")
        one = world.connect("api.example", 80)
        one.sendall(HELLO)
        one.shutdown(socket.SHUT_WR)
        t.equal(one.makefile("rb").read(), b"got 6")
        two = world.connect("api.example", 81)
        t.equal(two.makefile("rb").read(), b"bye", "the server speaks first, and ends first")
        two.sendall(HELLO)
        two.close()
        gate.closed(why="finished", sent=6, received=3)
        wait_until(lambda: seen, 10)
        t.equal(seen, [HELLO])


def reset_close(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@test()
def reset_is_reset(t):
    def answer_and_reset(connection):
        connection.recv(100)
        connection.sendall(b"last words")
        time.sleep(0.3)
        reset_close(connection)

    def wait_for_reset(connection):
        connection.recv(100)
        try:
            connection.recv(100)
        except ConnectionResetError:
            resets.append(1)
    resets = []
    with World(t, ZONE) as world:
        world.server(port=80, handler=answer_and_reset)
        world.server(port=81, handler=wait_for_reset)
        gate = world.start("api.example:80", "api.example:81")
        one = world.connect("api.example", 80)
        one.sendall(HELLO)
        t.equal(one.recv(100), b"last words")
        try:
            t.equal(one.recv(100), "a reset")
        except ConnectionResetError:
            pass
        gate.closed(why="reset outside")
        two = world.connect("api.example", 81)
        two.sendall(HELLO)
        time.sleep(0.3)
        reset_close(two)
        gate.closed(why="reset inside")
        t.check(wait_until(lambda: resets, 10), "the server sees it")


@test()
def last_words_arrive_before_a_reset(t):
    """A server that answers and closes before it has read all: the answer first, then the reset;
    also when the program's next bytes, which find the reset, come to the gate first."""
    def refuse(connection):
        connection.recv(10)
        asked.set()
        stopped.wait(10)
        connection.sendall(b"too large")
        reset_close(connection)
        closed.set()
    asked, stopped, closed = threading.Event(), threading.Event(), threading.Event()
    with World(t, ZONE) as world:
        world.server(port=80, handler=refuse)
        gate = world.start("api.example:80")
        one = world.connect("api.example", 80)
        one.sendall(b"x" * 1000)
        t.check(asked.wait(10), "the server was reached")
        os.kill(gate.pid, signal.SIGSTOP)
        one.sendall(b"x" * 1000)
        stopped.set()
        t.check(closed.wait(10), "it has answered")
        os.kill(gate.pid, signal.SIGCONT)
        t.equal(one.recv(100), b"too large")
        try:
            t.equal(one.recv(100), "a reset")
        except ConnectionResetError:
            pass
        gate.closed(why="reset outside", received=9)


@test()
def urgent_bytes_do_not_stop_a_connection(t):
    with World(t, ZONE) as world:
        world.server(port=80)
        gate = world.start("api.example:80")
        one = world.connect("api.example", 80)
        one.sendall(HELLO)
        t.equal(one.recv(100), HELLO)
        one.sendall(b"before")
        one.send(b"!", socket.MSG_OOB)
        one.sendall(b"after\n")
        one.shutdown(socket.SHUT_WR)
        t.equal(one.makefile("rb").read(), b"before!after\n")
        gate.closed(why="finished", sent=19)


@test()
def slow_reader_holds_up_nobody(t):
    def pour(connection):
        connection.recv(1)
        try:
            while True:
                connection.sendall(b"x" * 65536)
        except OSError:
            pass
    with World(t, ZONE) as world:
        world.server(port=80, handler=pour)
        world.server(port=81)
        world.start("api.example:80", "api.example:81")
        slow = [world.connect("api.example", 80) for _ in range(20)]
        for one in slow:
            one.sendall(HELLO)
        time.sleep(0.5)
        for _ in range(20):
            t.equal(outcome(world, "api.example", 81), "echo")
        got = sum(len(one.recv(1 << 20)) for one in slow)
        t.check(got > 0, "and it goes on when it is read")


@test()
def published_ports_lead_inside(t):
    with World(t, ZONE) as world:
        def serve(family, address, port):
            one = world.inside.open(family)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((address, port))
            one.listen(64)

            def serve_one(connection):
                with connection:
                    echo(connection)

            def run():
                while True:
                    threading.Thread(target=serve_one, args=[one.accept()[0]], daemon=True).start()
            threading.Thread(target=run, daemon=True).start()
        gate = world.start("api.example:443", listen=[(8080, 18080), (9090, 19090), (7070, 17070)])
        serve(socket.AF_INET, "127.0.0.1", 8080)
        serve(socket.AF_INET6, "::1", 9090)

        def visit(port):
            one = world.host.open()
            one.settimeout(10)
            try:
                one.connect(("127.0.0.1", port))
                one.sendall(HELLO)
                one.shutdown(socket.SHUT_WR)
                return one.makefile("rb").read()
            except (ConnectionResetError, BrokenPipeError):
                return "reset"
        # More than the sockets inside: they are used again.
        for _ in range(10):
            t.equal(visit(18080), HELLO)
        t.equal(visit(19090), HELLO, "a server on ::1 only")
        t.equal(visit(17070), "reset", "nobody listens inside")
        row = gate.closed(published=1, why="finished", dialled="127.0.0.1:8080")
        t.equal((row["sent"], row["received"]), (6, 6))
        gate.closed(published=1, why="not reached")
        open_ones = []
        for _ in range(12):
            one = world.host.open()
            one.settimeout(10)
            one.connect(("127.0.0.1", 18080))
            one.sendall(HELLO)
            open_ones.append(one)
        done = 0
        for one in open_ones:
            t.equal(one.recv(100), HELLO, f"after {done}: beyond the pool they wait")
            one.close()
            done += 1


@test()
def a_thousand_connections_at_once(t):
    with World(t, ZONE) as world:
        import resource
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 5000:
            raise Skip(f"{hard} descriptors a process")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        world.server(port=80)
        gate = world.start("api.example:80")
        address = world.resolve("api.example")
        all_of_them = []
        with world.inside:
            for i in range(1000):
                one = socket.socket()
                one.settimeout(30)
                one.connect((address, 80))
                one.sendall(b"%d\n" % i)
                all_of_them.append(one)
        for i, one in enumerate(all_of_them):
            t.equal(one.recv(100), b"%d\n" % i)
        for one in all_of_them:
            one.close()
        gate.wait(lambda e: e[0] == m.TOTALS and e[1].connections == 1000
                  and e[1].received == sum(len(b"%d\n" % i) for i in range(1000)))
        totals = gate.end()
        t.equal((totals.connections_most, totals.connections_refused), (1000, 0))


@test()
def connections_beyond_the_record_are_summed_up(t):
    with World(t, ZONE) as world:
        world.server(port=80)
        gate = world.start("api.example:80")
        address = world.resolve("api.example")
        for _ in range(700):
            t.equal(outcome(world, address), "echo")
            t.equal(outcome(world, "1.2.3.4", 80), "reset")
        totals = gate.end()
        t.equal((totals.connections, totals.connections_refused, totals.untold), (1400, 700, 0))
        ends = [e[1] for e in gate.events if e[0] == m.CONNECTION and e[1].why != 0]
        tallies = {e[1].index: e[1] for e in gate.events if e[0] == m.TALLY}
        t.equal(len(ends), 1024)
        t.equal(len(ends) + sum(one.count for one in tallies.values()), 1400)
        t.check(len(tallies) in (2, 3), "the last one may have been ended")

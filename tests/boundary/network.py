# SPDX-License-Identifier: Apache-2.0
"""The network boundary: nothing outside is reachable with mode none; a local server still works."""
import os
import socket
import threading

from sboxtest import PYTHON, SLOW, landlock_abi, test, wait_until
from syscalls import calls, in_address, unix_address

EVERYBODY = "127.0.0.1"


class HostServer:
    """A server on the host's loopback that counts who came."""

    def __init__(self, family=socket.AF_INET, address=(EVERYBODY, 0), kind=socket.SOCK_STREAM):
        self.socket = socket.socket(family, kind)
        self.socket.bind(address)
        self.kind, self.visits = kind, 0
        if kind == socket.SOCK_STREAM:
            self.socket.listen(5)
        threading.Thread(target=self.serve, daemon=True).start()

    @property
    def port(self):
        return self.socket.getsockname()[1]

    def serve(self):
        while True:
            try:
                if self.kind == socket.SOCK_STREAM:
                    visitor, _ = self.socket.accept()
                    visitor.sendall(b"host\n")
                    visitor.close()
                else:
                    self.socket.recvfrom(100)
            except OSError:
                return
            self.visits += 1


CONNECT = """import socket, sys
s = socket.socket(getattr(socket, sys.argv[1]), getattr(socket, sys.argv[2]))
s.settimeout(3)
try:
    s.connect((sys.argv[3], int(sys.argv[4])) if sys.argv[1] != 'AF_UNIX' else sys.argv[3])
    print('reached', s.recv(9) if sys.argv[2] == 'SOCK_STREAM' else s.send(b'hello'))
except OSError as e:
    print('refused', e.errno, e)
"""


def connect(t, run, family, kind, host, port, **keywords):
    return run(PYTHON, "-c", CONNECT, family, kind, host, str(port), **keywords)


@test(cases=[("tcp4", "AF_INET", "SOCK_STREAM", EVERYBODY),
             ("udp4", "AF_INET", "SOCK_DGRAM", EVERYBODY),
             ("tcp6", "AF_INET6", "SOCK_STREAM", "::1"), ("udp6", "AF_INET6", "SOCK_DGRAM", "::1")])
def host_loopback_is_unreachable(t, case):
    _, family, kind, host = case
    server = HostServer(getattr(socket, family), (host, 0), getattr(socket, kind))
    control = connect(t, t.plain, family, kind, host, server.port)
    t.has(control.text, "reached", "control")
    t.check(wait_until(lambda: server.visits > 0), "control: the server has seen it, not only the kernel")
    before = server.visits
    run = connect(t, t.sbox, family, kind, host, server.port)
    if kind == "SOCK_STREAM":
        t.has(run.text, "refused 111", "ECONNREFUSED: nobody listens on the private loopback")
    t.equal(server.visits, before, "the host's server saw nobody")


@test(cases=[("tcp4", "AF_INET", "SOCK_STREAM", "192.0.2.1"),
             ("udp4", "AF_INET", "SOCK_DGRAM", "192.0.2.1"),
             ("tcp6", "AF_INET6", "SOCK_STREAM", "2001:db8::1"),
             ("metadata", "AF_INET", "SOCK_STREAM", "169.254.169.254"),
             ("lan", "AF_INET", "SOCK_STREAM", "10.0.0.1")])
def nothing_outside_has_a_route(t, case):
    run = connect(t, t.sbox, *case[1:], 80)
    t.has(run.text, "refused 101", "ENETUNREACH")
    t.check(run.wall < 5 * SLOW, "refused at once")


@test()
def names_do_not_resolve(t):
    script = "import socket\ntry: print(socket.getaddrinfo('example.com', 80))\n" \
             "except OSError as e: print('no', e)\nprint(socket.gethostbyname('localhost'))"
    run = t.sbox(PYTHON, "-c", script)
    t.check(run.text.startswith("no "), run)
    t.has(run.text, "127.0.0.1", "localhost resolves")
    t.check(run.wall < 10 * SLOW, "at once")


@test()
def own_loopback_works(t):
    script = """import socket, threading
for family, host in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(family, kind); s.bind((host, 0))
        c = socket.socket(family, kind)
        if kind == socket.SOCK_STREAM:
            s.listen(); c.connect(s.getsockname()[:2]); p, _ = s.accept(); c.sendall(b'x')
            print(p.recv(1))
        else:
            c.sendto(b'x', s.getsockname()[:2]); print(s.recv(1))
low = socket.socket(); low.bind(('127.0.0.1', 8080)); print('8080')
"""
    run = t.sbox(PYTHON, "-c", script, opts=["--quiet"])
    t.equal(run.out, b"b'x'\n" * 4 + b"8080\n", run)


@test()
def only_loopback_is_there(t):
    run = t.sbox("cat", "/proc/net/dev", opts=["--quiet"])
    devices = [line.split(":")[0].strip() for line in run.text.splitlines()[2:]]
    t.check("lo" in devices and not any(d.startswith(("eth", "en", "wl")) for d in devices), devices)


@test()
def port_of_the_host_is_not_taken(t):
    """A server inside is invisible outside, and the same port is free for both."""
    server = HostServer()
    script = f"import socket,time\ns=socket.socket(); s.bind(('0.0.0.0', {server.port})); s.listen(); " \
             "print('up', flush=True); time.sleep(20)"
    child = t.start(PYTHON, "-c", script)
    t.equal(child.stdout.readline(), b"up\n")
    outside = socket.create_connection((EVERYBODY, server.port), 3)
    t.equal(outside.recv(9), b"host\n", "the host's own server answers")
    child.terminate()
    t.communicate(child, None, 20)


@test()
def abstract_sockets_of_the_host(t):
    name = f"sbox-test-{os.getpid()}"
    server = HostServer(socket.AF_UNIX, "\0" + name)
    address, size = unix_address(b"\0" + name.encode())
    rows = [("socket", 1, 1, 0), ("connect", "$1", address, size)]
    control, _ = calls(t, *rows, runner=t.plain)
    t.equal(control[1], 0, "control")
    got, _ = calls(t, *rows)
    t.equal(got[1], "ECONNREFUSED")
    t.check(server.visits <= 1, "only the control came")


@test()
def abstract_socket_made_inside(t):
    """N10: a host process cannot connect to it either."""
    name = f"sbox-inside-{os.getpid()}"
    script = f"import socket,time\ns=socket.socket(socket.AF_UNIX); s.bind('\\0{name}'); s.listen(); " \
             "print('up', flush=True); time.sleep(20)"
    child = t.start(PYTHON, "-c", script)
    t.equal(child.stdout.readline(), b"up\n")
    client = socket.socket(socket.AF_UNIX)
    t.equal(client.connect_ex("\0" + name), 111, "ECONNREFUSED")
    child.terminate()
    t.communicate(child, None, 20)


@test()
def path_sockets_of_the_host(t):
    """N7: a socket next to the workspace is not there."""
    path = f"{t.dir}/docker.sock"
    server = HostServer(socket.AF_UNIX, path)
    os.chmod(path, 0o777)
    address, size = unix_address(path.encode() + b"\0")
    rows = [("socket", 1, 1, 0), ("connect", "$1", address, size)]
    control, _ = calls(t, *rows, runner=t.plain)
    t.equal(control[1], 0, "control")
    got, _ = calls(t, *rows)
    t.equal(got[1], "ENOENT")
    t.check(server.visits <= 1, "only the control came")


@test()
def path_socket_that_was_in_the_workspace_before(t):
    """A door that was there: with no network it does not lead out."""
    path = f"{t.ws}/old.sock"
    server = HostServer(socket.AF_UNIX, path)
    os.chmod(path, 0o777)
    control = connect(t, t.plain, "AF_UNIX", "SOCK_STREAM", path, 0)
    t.has(control.text, "reached", "control")
    run = connect(t, t.sbox, "AF_UNIX", "SOCK_STREAM", path, 0)
    t.has(run.text, "refused", "a socket that existed before is masked")
    t.check(server.visits <= 1, "only the control came")


@test()
def own_path_sockets_work(t):
    script = "import socket\nfor p in ('s', '/tmp/s'):\n" \
             " s=socket.socket(socket.AF_UNIX); s.bind(p); s.listen(); " \
             "c=socket.socket(socket.AF_UNIX); c.connect(p); s.accept(); print('ok')\n" \
             "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))"
    run = t.sbox(PYTHON, "-c", script, opts=["--quiet"])
    t.equal(run.out, b"ok\nok\nb'x'\n", run)


@test()
def host_mode_reaches_the_host(t):
    server = HostServer()
    sets = ["network.mode=host"]
    run = connect(t, t.sbox, "AF_INET", "SOCK_STREAM", EVERYBODY, server.port, sets=sets)
    t.has(run.text, "reached", run)
    item = next(i for i in run.start["enforced"] if i["boundary"] == "network")
    t.check(item["state"] in ("off", "enforced"), item)


@test()
def host_mode_still_refuses_the_abstract_namespace_and_odd_families(t):
    name = f"sbox-host-{os.getpid()}"
    server = HostServer(socket.AF_UNIX, "\0" + name)
    address, size = unix_address(b"\0" + name.encode())
    got, run = calls(t, ("socket", 1, 1, 0), ("connect", "$1", address, size), ("socket", 40, 1, 0),
                     ("socket", 17, 3, 0), sets=["network.mode=host"])
    t.equal(got[2:], ["EAFNOSUPPORT", "EAFNOSUPPORT"], run)
    if landlock_abi() < 6:
        t.equal(got[1], 0, "nothing stands in the way")
        said = next(i["residual"] for i in run.start["enforced"] if (i["boundary"], i["name"]) == ("network", "mode"))
        t.has(said, "abstract name", "the record says so")
        return
    t.equal(got[1], "EPERM", run)
    t.equal(server.visits, 0, "host server")


@test()
def raw_and_packet_sockets(t):
    rows = [("socket", 2, 3, 1), ("socket", 2, 3, 255), ("socket", 10, 3, 58), ("socket", 17, 3, 0),
            ("socket", 17, 2, 0)]
    got, run = calls(t, *rows)
    t.equal(got, ["EPERM"] * 3 + ["EAFNOSUPPORT"] * 2, run)


@test()
def ping_sockets_reach_nobody(t):
    got, _ = calls(t, ("socket", 2, 2, 1), ("connect", "$1", in_address(0, "192.0.2.1"), 16))
    t.check(got[0] in ("EPERM", "EACCES", "EPROTONOSUPPORT") or got[1] in ("ENETUNREACH", "EINVAL"), got)


@test()
def network_allow_without_its_gate_is_refused(t):
    run = t.sbox("echo", "ran", sets=["network.mode=allow", "network.allow=example.com:443"])
    if run.code == 0:
        from sboxtest import Skip
        raise Skip("the gate is built: its own tests cover it")
    t.equal((run.code, run.out), (125, b""), run)
    t.has(run.errtext, "network")


@test()
def second_run_with_a_network_in_the_same_workspace(t):
    """A path socket in a shared workspace would lend one run's network to the other."""
    serve = "import socket\ns = socket.socket(socket.AF_UNIX); s.bind('door'); s.listen(); " \
            "print('up', flush=True)\nwhile True: s.accept()[0].sendall(b'network')\n"
    first = t.start("sh", "-c", "echo up; sleep 20", opts=["--quiet"])
    first.stdout.readline()
    second = t.start(PYTHON, "-c", serve, sets=["network.mode=host"], opts=["--quiet"])
    opened = second.stdout.readline()
    if opened:
        third = connect(t, t.sbox, "AF_UNIX", "SOCK_STREAM", f"{t.ws}/door", 0)
        t.check("reached" not in third.text, f"a run without network uses the door of one with: {third}")
    else:
        t.equal(second.wait(), 125, "a second run with another policy is refused")
    for child in (first, second):
        child.terminate()
        t.communicate(child, None, 20)

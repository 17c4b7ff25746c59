# SPDX-License-Identifier: Apache-2.0
"""Ports both ways: what `listen` publishes, what stays the program's own, the host's loopback."""
import os
import socket
import subprocess
import threading

import sboxtest
from network_lab import HOST4, NAME, Lab, connections, network
from sboxtest import PYTHON, test

SERVER = """import socket, sys, threading
def serve(family, host, port):
    s = socket.create_server((host, port), family=family)
    while True:
        c, peer = s.accept()
        data = c.recv(1000); c.sendall(b'inside ' + data); c.close()
for family, host, port in ((socket.AF_INET, '127.0.0.1', 8080), (socket.AF_INET6, '::1', 8081),
                           (socket.AF_INET, '0.0.0.0', 8082)):
    threading.Thread(target=serve, args=(family, host, port), daemon=True).start()
print('up', flush=True)
sys.stdin.read()
"""


def ask(port, host="127.0.0.1", text=b"hello"):
    with socket.create_connection((host, port), 10) as conn:
        conn.sendall(text)
        conn.shutdown(socket.SHUT_WR)
        data = b""
        while piece := conn.recv(1000):
            data += piece
        return data


def refused(port, host="127.0.0.1"):
    try:
        socket.create_connection((host, port), 5).close()
    except ConnectionRefusedError:
        return True
    return False


def start(t, lab, *argv, **keywords):
    child = t.start(*argv, profile=lab.profile, **keywords)
    t.equal(child.stdout.readline(), b"up\n", "it serves")
    return child


def end(t, child):
    out, err = t.communicate(child, b"", 40)
    return sboxtest.Run(child.returncode, out, err, t.records(), 0)


@test()
def published_and_only_there(t):
    lab = Lab(t, network="listen = 8080:18080, 8081:18081, 8082:18082")
    child = start(t, lab, PYTHON, "-c", SERVER)
    t.equal(ask(18080), b"inside hello")
    t.equal(ask(18080, "::1"), b"inside hello", "the host's ::1 leads there too")
    t.equal(ask(18081), b"inside hello", "a server on ::1 alone")
    t.equal(ask(18082), b"inside hello", "a server on every address")
    t.check(refused(8080) and refused(8081), "not under its own number")
    t.check(refused(18080, "192.0.2.1"), "not on the host's other addresses")
    others = [threading.Thread(target=ask, args=(18080, "127.0.0.1", b"x" * 900)) for _ in range(50)]
    for one in others:
        one.start()
    for one in others:
        one.join()
    run = end(t, child)
    t.equal(run.code, 0, run)
    t.check(refused(18080), "gone with the run")
    got = connections(run, published=True)
    t.equal(len(got), 54, network(run))
    t.check(all(c["ended"] in ("finished", "run_ended") for c in got), got)


@test()
def taken_port_is_an_error(t):
    lab = Lab(t, network="listen = 8080:18080")
    with socket.create_server(("127.0.0.1", 18080)):
        run = lab.run("touch", "ran")
    t.equal(run.code, 125, run)
    t.has(run.errtext, "listen: cannot publish port 18080")
    t.check(not os.path.exists(f"{t.ws}/ran"), "the program was not run")


@test()
def two_sandboxes_do_not_meet(t):
    lab = Lab(t, network="listen = 8080:18080")
    child = start(t, lab, PYTHON, "-c", SERVER)
    other = t.profile(open(lab.profile).read().replace("8080:18080", "9:19009"), "other")
    script = """import socket
for host, port in (('127.0.0.1', 8080), ('127.0.0.1', 18080), ('198.18.0.1', 8080), ('0.0.0.0', 18080)):
    try: socket.create_connection((host, port), 5); print('reached', host, port)
    except OSError as e: print('refused', e.errno)
"""
    elsewhere = t.mkdir(f"{t.dir}/elsewhere")
    run = lab.run(PYTHON, "-c", script, profile=other, cwd=elsewhere)
    t.equal(run.text, "refused 111\n" * 4, run)
    for sets in ([], ["network.mode=none", "network.listen="]):
        # a UNIX socket in a common folder would lend one run the other's network
        run = lab.run("true", profile=other, sets=sets)
        t.equal(run.code, 125, run)
        t.has(run.errtext, "in use by a run with network mode allow")
    t.equal(lab.run("true", sets=["network.listen=8080:18080"], profile=lab.profile).code, 125,
            "the same rules may share it, but the port is taken")
    t.equal(ask(18080), b"inside hello")
    end(t, child)


@test()
def ports_are_the_programs_own(t):
    """It serves on ports that it also reaches outside, below 1024 too, and on those of names."""
    lab = Lab(t)
    script = """import socket, ssl, sys, threading
servers = []
for family, host in ((socket.AF_INET, '0.0.0.0'), (socket.AF_INET6, '::')):
    for port in (443, 80, 53, 22, 8080):
        servers.append(socket.create_server((host, port), family=family))
        u = socket.socket(family, socket.SOCK_DGRAM)
        if family == socket.AF_INET6: u.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        u.bind((host, port)); servers.append(u)
print('bound', len(servers))
for family, host in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
    for port in (443, 80, 53, 22, 8080):
        s = [s for s in servers if s.family == family and s.type == socket.SOCK_STREAM
             and s.getsockname()[1] == port][0]
        c = socket.create_connection((host, port), 5); p, _ = s.accept(); p.sendall(b'own')
        assert c.recv(9) == b'own'
        u = [s for s in servers if s.family == family and s.type == socket.SOCK_DGRAM
             and s.getsockname()[1] == port][0]
        c = socket.socket(family, socket.SOCK_DGRAM); c.settimeout(5); c.connect((host, port))
        c.send(b'ping'); data, peer = u.recvfrom(9); u.sendto(b'pong', peer); assert c.recv(9) == b'pong'
print('own')
context = ssl.create_default_context(cafile='ca.pem')
raw = socket.create_connection((sys.argv[1], 443), 20)
tls = context.wrap_socket(raw, server_hostname=sys.argv[1])
tls.sendall(b'GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')
print(b'200 OK' in tls.recv(1000))
"""
    control = t.plain(PYTHON, "-c", script, NAME, as_root=True)
    t.equal(control.text, "bound 20\nown\nTrue\n", control)
    run = lab.run(PYTHON, "-c", script, NAME)
    t.equal(run.text, "bound 20\nown\nTrue\n", run)


@test()
def hosts_loopback_only_by_name(t):
    lab = Lab(t, allow="host:5432")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for port in (5432, 5433):
        server = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=lambda s=server: [c.sendall(b"the host's") or c.close()
                                                  for c, _ in iter(s.accept, None)],
                         daemon=True).start()
    script = """import socket
for host, port in (('host', 5432), ('host', 5433), ('127.0.0.1', 5432), ('localhost', 5432)):
    try: print(socket.create_connection((host, port), 5).recv(100))
    except OSError as e: print('refused', e.errno)
"""
    run = lab.run(PYTHON, "-c", script)
    t.equal(run.text, "b\"the host's\"\n" + "refused 111\n" * 3, run)
    closed = lab.run(PYTHON, "-c", script, sets=["network.allow=%s:443" % NAME])
    t.check("the host's" not in closed.text, closed)


@test()
def names_of_its_own(t):
    lab = Lab(t)
    script = """import socket
print(socket.gethostbyname('localhost'), socket.gethostbyname(socket.gethostname()))
print({i[4][0] for i in socket.getaddrinfo('localhost', 80)} <= {'127.0.0.1', '::1'})
print(socket.getaddrinfo('x.localhost', 80)[0][4][0] in ('127.0.0.1', '::1'))
flags = socket.AI_ADDRCONFIG
print(len(socket.getaddrinfo('%s', 443, type=socket.SOCK_STREAM, flags=flags)))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)
q = b'\\1\\2\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\3api\\7example\\3org\\0\\0\\1\\0\\1'
for server in ('8.8.8.8', '127.0.0.53', '198.18.0.1'):
    s.sendto(q, (server, 53)); data, peer = s.recvfrom(500); print(peer == (server, 53), data[3] & 15)
""" % NAME
    run = lab.run(PYTHON, "-c", script)
    t.equal(run.text, "127.0.0.1 127.0.1.1\nTrue\nTrue\n1\n" + "True 0\n" * 3, run)
    t.equal(HOST4 in run.text, False)

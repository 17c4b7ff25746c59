# SPDX-License-Identifier: Apache-2.0
"""Attempts at the network boundary: reaching somebody outside, by any family, name or detour."""
import os
import socket
import threading

from attempts import attempt, words_of
from syscalls import in_address, unix_address

CONNECT = """import socket
def connect(family, kind, *address):
    s = socket.socket(getattr(socket, family), getattr(socket, kind)); s.settimeout(5)
    s.connect(address if len(address) > 1 else address[0])
    s.send(b'hello')
"""


def listener(family=socket.AF_INET, address=("127.0.0.1", 0), kind=socket.SOCK_STREAM):
    server = socket.socket(family, kind)
    server.bind(address)
    if kind == socket.SOCK_STREAM:
        server.listen(50)
        threading.Thread(target=accept_all, args=(server,), daemon=True).start()
    return server


def accept_all(server):
    kept = []
    while True:
        kept.append(server.accept())


@attempt("N1", control="works", full="ECONNREFUSED", place="EAFNOSUPPORT",
         unnamed="the answer of an empty network: nobody listens on the sandbox's own loopback")
def service_on_the_hosts_loopback(a):
    v4, v6 = listener(), listener(socket.AF_INET6, ("::1", 0))
    return a.python(CONNECT + "each(lambda w: connect(*w), ('AF_INET', 'SOCK_STREAM', '127.0.0.1', int(sys.argv[1])),\n"
                    "     ('AF_INET6', 'SOCK_STREAM', '::1', int(sys.argv[2])))",
                    v4.getsockname()[1], v6.getsockname()[1])


@attempt("N1", control="*", full="ENETUNREACH", place="EAFNOSUPPORT")
def a_way_out_by_tcp_and_udp(a):
    """Documentation addresses: nobody answers, but without sbox the kernel has a route or says so."""
    return a.python(CONNECT + "each(lambda w: connect(*w), ('AF_INET', 'SOCK_DGRAM', '192.0.2.1', 9),\n"
                   "     ('AF_INET', 'SOCK_DGRAM', '10.255.255.1', 53), ('AF_INET', 'SOCK_DGRAM', '169.254.169.254', 80))")


@attempt("N1", control="works", full="refused", place="refused")
def tools_that_fetch(a):
    """bash's /dev/tcp, node's fetch and Python's urllib, at a server of the host."""
    port = listener().getsockname()[1]
    bash = a.run("bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo works").text.strip() or "refused"
    node = a.node("const s = require('net').connect(Number(process.argv[1]), '127.0.0.1', () => "
                  "{ console.log('works'); process.exit() }); s.on('error', () => console.log('refused'))", port)
    return words_of([bash, node])


@attempt("N2", control="*", full="gaierror", place="gaierror")
def names(a):
    """A name of the host's own file apart, no name can be asked for: not by libc, not by hand."""
    return a.python("import socket\nsay(attempt(socket.getaddrinfo, 'example.com', 80))")


@attempt("N2", control="*", full="ENETUNREACH", place="EAFNOSUPPORT")
def name_servers_by_hand(a):
    address = in_address(53, "192.0.2.53")
    return a.tries(("socket", 2, 2, 0), ("connect", "$1", address, 16), ("sendto", "$1", "s:x", 1, 0, address, 16),
                   keep=[0] if a.form == "in place" else [1, 2])


@attempt("N3", control={"root": "works", "user": "*"}, full="EPERM EPROTONOSUPPORT", place="EPERM EPROTONOSUPPORT")
def ping(a):
    """By raw sockets, and by the datagram sockets that need no privilege."""
    return a.tries(("socket", 2, 3, 1), ("socket", 2, 2, 1), ("socket", 10, 3, 58), ("socket", 10, 2, 58),
                   keep=[0] if a.form == "control" and a.t.uid == 0 else None)


@attempt("N4", control="works", full="ECONNREFUSED", place="EAFNOSUPPORT",
         unnamed="the answer of an empty network: nobody listens on the sandbox's own loopback")
def around_a_proxy(a):
    """Variables that name a proxy are advice: a program that does not take it gets no further."""
    port = listener().getsockname()[1]
    env = {"http_proxy": "http://127.0.0.1:1", "no_proxy": "*"}
    return a.python(CONNECT + "say(attempt(connect, 'AF_INET', 'SOCK_STREAM', '127.0.0.1', int(sys.argv[1])))", port, env=env)


@attempt("N6", control="works", full="ECONNREFUSED", place="EAFNOSUPPORT",
         unnamed="the answer of an empty network: nobody listens on the sandbox's own loopback")
def datagrams(a):
    """UDP to a server of the host: the first send is let go, the answer of an empty network comes back."""
    server = listener(kind=socket.SOCK_DGRAM)
    return a.python(CONNECT + "def twice():\n"
                    "  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', int(sys.argv[1])))\n"
                    "  s.send(b'x'); s.send(b'x')\nsay(attempt(twice))", server.getsockname()[1])


@attempt("N7", control="works", full="ENOENT", place="EAFNOSUPPORT")
def sockets_of_daemons(a):
    """A socket by its path, as Docker's, the bus's and the agents' are."""
    path = f"{a.t.dir}/daemon-{a.form[:2]}.sock"
    server = listener(socket.AF_UNIX, path)
    os.chmod(path, 0o777)
    env = {"DOCKER_HOST": f"unix://{path}", "SSH_AUTH_SOCK": path, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={path}"}
    said = a.python(CONNECT + "say(attempt(connect, 'AF_UNIX', 'SOCK_STREAM', sys.argv[1]))", path, env=env)
    told = a.sh('[ "$DOCKER_HOST$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS" ] && echo told || echo untold', env=env)
    a.t.equal(told, "untold" if a.sandboxed else "told", "the variables that name them")
    server.close()
    return said


@attempt("N7", control="works", full="refused", place="EAFNOSUPPORT")
def socket_that_lay_in_the_workspace(a):
    path = f"{a.ws}/old.sock"
    server = listener(socket.AF_UNIX, path)
    os.chmod(path, 0o777)
    said = a.python(CONNECT + "say(attempt(connect, 'AF_UNIX', 'SOCK_STREAM', 'old.sock'))")
    server.close()
    return "refused" if said in ("EACCES", "ECONNREFUSED", "EROFS") else said


@attempt("N8", control="works", full="ECONNREFUSED", place="EAFNOSUPPORT",
         unnamed="abstract names of other network namespaces are not there")
def abstract_name_of_the_host(a):
    name = f"sbox-test-{os.getpid()}-{a.form}"
    server = listener(socket.AF_UNIX, "\0" + name)
    address, size = unix_address(b"\0" + name.encode())
    got = a.tries(("socket", 1, 1, 0), ("connect", "$1", address, size), keep=[0] if a.form == "in place" else [1])
    server.close()
    return got


@attempt("N11", control="*", full="EAFNOSUPPORT", place="EAFNOSUPPORT")
def the_machine_below(a):
    """AF_VSOCK, to the hypervisor."""
    return a.tries(*[("socket", 40, kind, 0) for kind in (1, 2, 5)])


ODD = {"packet": 17, "xdp": 44, "alg": 38, "tipc": 30, "rds": 21, "can": 29, "bluetooth": 31, "kcm": 41,
       "qipcrtr": 42, "smc": 43, "nfc": 39, "x25": 9, "ax25": 3, "llc": 26, "phonet": 35, "mctp": 45, "key": 15}


@attempt("N13", control="*", full="EAFNOSUPPORT", place="EAFNOSUPPORT")
def odd_families(a):
    return a.tries(*[("socket", family, kind, 0) for family in ODD.values() for kind in (1, 2, 3, 5)])


RING = """import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
def ring():
    params = ctypes.create_string_buffer(120)
    fd = libc.syscall(425, 4, params)
    if fd < 0: raise OSError(ctypes.get_errno(), '')
def enter():
    if libc.syscall(426, 0, 0, 0, 0, 0) < 0: raise OSError(ctypes.get_errno(), '')
"""


@attempt("N15", control="*", full="ENOSYS", place="ENOSYS")
def sockets_through_a_ring(a):
    """io_uring's own socket and connect would pass no filter: there is no ring."""
    return a.python(RING + "say(attempt(ring))")


@attempt("V10", control="*", full="ENOSYS", place="ENOSYS")
def files_through_a_ring(a):
    rows = [("io_uring_setup", 8, "z:256"), ("io_uring_enter", 0, 0, 0, 0, 0), ("io_uring_register", 0, 0, 0, 0)]
    return a.tries(*rows)


@attempt("N22", control="works", full="works", place="EAFNOSUPPORT")
def listening_on_a_port_of_the_host(a):
    """Inside, every port is the sandbox's own: the host's server keeps the one that it has."""
    server = listener()
    port = server.getsockname()[1] if a.form == "full" else 0
    said = a.python("import socket\ndef serve():\n  s = socket.socket(); s.bind(('127.0.0.1', int(sys.argv[1]))); s.listen()\n"
                    "say(attempt(serve))", port)
    outside = socket.create_connection(server.getsockname(), 5)
    outside.close()
    server.close()
    return said


@attempt("N22", control={"root": "works", "user": "EACCES|works"}, full="EACCES", place="EAFNOSUPPORT",
         unnamed="ports below 1024 are refused to every ordinary user")
def a_port_that_is_trusted(a):
    return a.python("import socket\nsay(attempt(lambda: socket.socket().bind(('127.0.0.1', 1022))))")


@attempt("N23", control="works", full="ECONNREFUSED", place="EAFNOSUPPORT",
         unnamed="the answer of an empty network: nobody listens on the sandbox's own loopback")
def service_of_another_sandbox(a):
    serve = "import socket\ntry: s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)\n" \
            "except OSError: print(1, flush=True)\nimport time; time.sleep(60)"
    other = a.start("/usr/bin/python3", "-c", serve)
    port = int(other.stdout.readline())
    said = a.python(CONNECT + "say(attempt(connect, 'AF_INET', 'SOCK_STREAM', '127.0.0.1', int(sys.argv[1])))", port)
    other.terminate()
    a.t.communicate(other, None, 20)
    return said


@attempt("X1", control="works", full="ECONNREFUSED", place="EAFNOSUPPORT",
         unnamed="abstract names of other network namespaces are not there")
def abstract_name_of_another_sandbox(a):
    serve = "import socket\ntry: s = socket.socket(socket.AF_UNIX); s.bind('\\0sbox-x1-%s'); s.listen()\n" \
            "except OSError: pass\nprint('up', flush=True)\nimport time; time.sleep(60)" % os.getpid()
    other = a.start("/usr/bin/python3", "-c", serve)
    other.stdout.readline()
    said = a.python(CONNECT + "say(attempt(connect, 'AF_UNIX', 'SOCK_STREAM', '\\0sbox-x1-%s' % sys.argv[1]))", os.getpid())
    other.terminate()
    a.t.communicate(other, None, 20)
    return said


@attempt("X2", control="works", full="refused", place="EAFNOSUPPORT")
def door_of_a_run_with_a_network(a):
    """One workspace, two runs: the one with the host's network makes a socket for the one without."""
    serve = "import socket\ntry: s = socket.socket(socket.AF_UNIX); s.bind('door'); s.listen()\n" \
            "except OSError as e: print('not', flush=True); raise SystemExit\nprint('up', flush=True)\ns.accept()"
    wait = "import socket, sys, time\nprint('up', flush=True); sys.stdin.readline()\n" \
           "try: s = socket.socket(socket.AF_UNIX); s.connect('door'); print('works', flush=True)\n" \
           "except OSError as e: print('EAFNOSUPPORT' if e.errno == 97 else 'refused', flush=True)"
    first = a.start("/usr/bin/python3", "-c", wait)
    first.stdout.readline()
    second = a.start("/usr/bin/python3", "-c", serve, sets=["network.mode=host"] if a.sandboxed else ())
    second.stdout.readline()
    out, _ = a.t.communicate(first, b"go\n", 20)
    second.terminate()
    a.t.communicate(second, None, 20)
    return out.decode().strip()


@attempt("X3", control="works", full="works", place="works",
         lost="a pipe in a shared workspace carries what a file there carries: bytes, no descriptors and no network")
def pipe_between_two_runs(a):
    os.mkfifo(f"{a.ws}/pipe")
    os.chmod(f"{a.ws}/pipe", 0o666)
    writer = a.start("sh", "-c", "echo word > pipe")
    said = a.run("timeout", "20", "cat", "pipe").text.strip()
    a.t.communicate(writer, None, 20)
    return "works" if said == "word" else said or "nothing"


@attempt("X4", control="*", full="EPERM EPROTONOSUPPORT")
def protocols_that_the_rules_do_not_see(a):
    """MPTCP, SCTP, UDP-Lite, raw and packet sockets by their old name; netlink but for routes."""
    rows = [("socket", 2, 1, 262), ("socket", 2, 1, 132), ("socket", 2, 2, 136), ("socket", 2, 10, 0x300),
            ("socket", 16, 3, 9), ("socket", 16, 3, 12), ("socket", 16, 3, 15), ("socket", 10, 3, 255)]
    return a.tries(*rows)


@attempt("X5", control="*", full="EAFNOSUPPORT", place="EAFNOSUPPORT")
def family_hidden_in_the_high_half(a):
    """The kernel takes the low word of the family: so does the filter."""
    return a.tries(("socket", 40 | 1 << 32, 1, 0), ("socket", 38 | 0xffffffff << 32, 5, 0), ("socketpair", 17, 3, 0, "z:8"))

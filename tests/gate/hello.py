# SPDX-License-Identifier: Apache-2.0
"""What a connection is for has to be what was connected to: TLS's server name, HTTP's Host."""
import errno
import socket
import ssl
import subprocess
import time

from gate_servers import echo
from gates import World
from sboxtest import test

ZONE = {"api.example": ["93.184.0.10"], "other.example": ["93.184.0.10"]}
ALLOW = ("api.example:443", "api.example:80", "api.example:8000-8003", "93.184.0.10:444")


def hello_bytes(name):
    """A ClientHello as OpenSSL writes it."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


class TlsServer:
    def __init__(self, t, world, address="93.184.0.10", port=443):
        key, cert = f"{t.dir}/key{port}.pem", f"{t.dir}/cert{port}.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-keyout", key, "-out",
                        cert, "-subj", "/CN=api.example", "-addext",
                        "subjectAltName=DNS:api.example"], check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(cert, key)
        self.cert = cert
        self.server = world.server(address, port, self.serve)

    def serve(self, connection):
        with self.context.wrap_socket(connection, server_side=True) as tls:
            echo_tls(tls)


def echo_tls(tls):
    while data := tls.recv(4096):
        tls.sendall(data)


def client(cert, name):
    context = ssl.create_default_context(cafile=cert)
    context.check_hostname = name == "api.example"
    return context


def talk(world, cert, host, port, name):
    try:
        with world.connect(host, port) as plain:
            context = client(cert, name)
            with context.wrap_socket(plain, server_hostname=name) as tls:
                tls.sendall(b"hello")
                return tls.recv(100)
    except (ConnectionResetError, BrokenPipeError):
        return "reset"
    except ssl.SSLError as wrong:
        return "reset" if "EOF" in str(wrong) else str(wrong)


@test()
def tls_has_to_be_for_the_name_that_was_dialled(t):
    with World(t, ZONE) as world:
        server = TlsServer(t, world)
        TlsServer(t, world, port=444)
        gate = world.start(*ALLOW)
        t.equal(talk(world, server.cert, "api.example", 443, "api.example"), b"hello")
        t.equal(gate.closed(name="api.example")["server_name"], "api.example")
        t.equal(talk(world, server.cert, "api.example", 443, "other.example"), "reset")
        row = gate.closed(why="other name")
        t.equal((row["server_name"], row["sent"]), ("other.example", 0), "nothing got out")
        t.equal(talk(world, server.cert, "api.example", 443, None), "reset")
        t.equal(gate.closed(why="no name")["sent"], 0)
        other = f"{t.dir}/cert444.pem"
        t.equal(talk(world, other, "93.184.0.10", 444, None), b"hello", "a literal address")
        t.equal(talk(world, other, "93.184.0.10", 444, "other.example"), b"hello")
        gate.closed(asked="93.184.0.10:444", server_name="other.example")


@test()
def sni_optional_lets_nameless_tls_pass_and_no_other_name(t):
    with World(t, ZONE) as world:
        server = TlsServer(t, world)
        gate = world.start(*ALLOW, sni_optional=1)
        t.equal(talk(world, server.cert, "api.example", 443, None), b"hello")
        t.equal(talk(world, server.cert, "api.example", 443, "other.example"), "reset")
        gate.closed(why="other name")


def sent_through(world, data, port=8000, pieces=1, pause=0.0):
    """'echo' when the server got it all and answered."""
    with world.connect("api.example", port) as one:
        try:
            size = -(-len(data) // pieces)
            for i in range(0, len(data), size):
                one.sendall(data[i:i + size])
                time.sleep(pause)
            one.shutdown(socket.SHUT_WR)
            got = one.makefile("rb").read()
            return "echo" if got == data else got
        except (ConnectionResetError, BrokenPipeError):
            return "reset"
        except OSError as wrong:
            return "reset" if wrong.errno == errno.ENOTCONN else wrong


@test()
def hello_in_pieces_is_one_hello(t):
    """Split over segments, and over records."""
    good, bad = hello_bytes("api.example"), hello_bytes("other.example")

    def records(data, size):
        body = data[5:]
        return b"".join(data[:3] + len(body[i:i + size]).to_bytes(2, "big") + body[i:i + size]
                        for i in range(0, len(body), size))
    with World(t, ZONE) as world:
        world.server(port=8000)
        world.start(*ALLOW)
        for what, cut in (("whole", lambda d: d), ("records of 40", lambda d: records(d, 40)),
                          ("records of 1", lambda d: records(d, 1))):
            t.equal(sent_through(world, cut(good), pieces=30, pause=0.002), "echo", what)
            t.equal(sent_through(world, cut(bad), pieces=30, pause=0.002), "reset", what)
        t.equal(sent_through(world, good + b"\x14\x03\x03\x00\x01\x01" + bad), "reset",
                "a second hello for another name")
        t.equal(sent_through(world, good + b"\x14\x03\x03\x00\x01\x01" + good + b"\x17rest"), "echo")
        t.equal(sent_through(world, good + bad), "reset")


@test()
def broken_hellos_are_refused(t):
    good = hello_bytes("api.example")
    ssl2 = b"\x80\x2e\x01\x03\x01\x00\x15\x00\x00\x00\x10" + b"x" * 40
    with World(t, ZONE) as world:
        world.server(port=8000)
        gate = world.start(*ALLOW)
        for what, data in (("cut", good[:60]), ("ssl2", ssl2), ("no handshake", b"\x16\x03\x01\x00\x05xxxxx"),
                           ("empty record", b"\x16\x03\x01\x00\x00" + good),
                           ("a long one", b"\x16\x03\x01\x40\x00" + b"\x01\x00\xff\xff" + b"x" * 16380)):
            t.equal(sent_through(world, data), "reset", what)
            gate.closed(why="bad hello")
            gate.events.clear()


@test()
def https_port_takes_nothing_but_tls_and_ssh(t):
    with World(t, ZONE) as world:
        world.server(port=443)
        gate = world.start(*ALLOW)
        t.equal(sent_through(world, b"\0binary thing\n", 443), "reset")
        gate.closed(why="bad hello")
        t.equal(sent_through(world, b"SSH-2.0-test\r\n", 443), "echo", "it has no names of hosts")
        t.equal(sent_through(world, b"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", 443), "reset")


@test()
def slow_hello_is_not_waited_for(t):
    with World(t, ZONE) as world:
        world.server(port=443)
        gate = world.start(*ALLOW)
        one = world.connect("api.example", 443)
        one.sendall(hello_bytes("api.example")[:50])
        silent = world.connect("api.example", 443)
        one.settimeout(30)
        try:
            t.equal(one.recv(10), "a reset")
        except ConnectionResetError:
            pass
        gate.closed(why="slow hello")
        silent.sendall(b"SSH-late\n")
        t.equal(silent.recv(100), b"SSH-late\n", "one that says nothing may")


HOST = b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n"
GOOD = HOST % b"api.example"


REQUESTS = [
    ("good", GOOD, "echo"), ("with port", HOST % b"api.example:8000", "echo"),
    ("case and dot", HOST % b"API.Example.", "echo"),
    ("other", HOST % b"other.example", "reset"), ("address", HOST % b"93.184.0.10", "reset"),
    ("nul", HOST % b"api.example\0.evil.example", "reset"),
    ("percent", HOST % b"api.example%00.evil.example", "reset"),
    ("user", HOST % b"api.example@evil.example", "reset"),
    ("two", b"GET / HTTP/1.1\r\nHost: api.example\r\nHost: other.example\r\n\r\n", "reset"),
    ("url", b"GET http://other.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n", "reset"),
    ("url and host", b"GET http://api.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n", "echo"),
    ("user in url", b"GET http://api.example@other.example/ HTTP/1.1\r\n\r\n", "reset"),
    ("connect", b"CONNECT other.example:443 HTTP/1.1\r\n\r\n", "reset"),
    ("blank before colon", b"GET / HTTP/1.1\r\nHost : other.example\r\n\r\n", "reset"),
    ("folded", b"GET / HTTP/1.1\r\nX: y\r\n Host: other.example\r\n\r\n", "reset"),
    ("empty lines first", b"\r\n" * 40 + HOST % b"other.example", "reset"),
    ("lower method", b"get / HTTP/1.1\r\nHost: other.example\r\n\r\n", "reset"),
    ("own method", b"FROB / HTTP/1.1\r\nHost: other.example\r\n\r\n", "reset"),
    ("bare line ends", b"GET / HTTP/1.1\nHost: other.example\n\n", "reset"),
    ("second request", GOOD + HOST % b"other.example", "reset"),
    ("second after body", b"POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: 5\r\n\r\nhello"
     + HOST % b"other.example", "reset"),
    ("body like a request", b"POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: %d\r\n\r\n"
     % len(HOST % b"other.example") + HOST % b"other.example" + GOOD, "echo"),
    ("chunks", b"POST / HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked\r\n\r\n"
     b"5;x=y\r\nhello\r\n0\r\nTrailer: z\r\n\r\n" + GOOD, "echo"),
    ("second after chunks", b"POST / HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked"
     b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + HOST % b"other.example", "reset"),
    ("two lengths", b"POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: 5\r\n"
     b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "reset"),
    ("http2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "reset"),
    ("not http", b"EHLO there\r\n", "echo"), ("word", b"ruok", "echo"),
    ("upgrade", b"GET / HTTP/1.1\r\nHost: api.example\r\nUpgrade: websocket\r\n\r\n\x81\x05hello", "echo"),
    ("upgrade, then a request", b"GET / HTTP/1.1\r\nHost: api.example\r\nUpgrade: websocket\r\n\r\n"
     + HOST % b"other.example", "reset"),
]


@test()
def http_has_to_be_for_the_name_that_was_dialled(t):
    """N16: whatever spelling, whole and byte by byte."""
    with World(t, ZONE) as world:
        world.server(port=8000)
        world.start(*ALLOW)
        for what, data, wanted in REQUESTS:
            t.equal(sent_through(world, data), wanted, what)
            t.equal(sent_through(world, data, pieces=len(data), pause=0.0002), wanted,
                    f"{what}, byte by byte")


@test()
def host_that_was_asked_for_is_told(t):
    with World(t, ZONE) as world:
        world.server(port=8000)
        world.server(port=444)
        gate = world.start(*ALLOW)
        sent_through(world, HOST % b"other.example")
        t.equal(gate.closed(why="other name")["server_name"], "other.example")
        one = world.connect("93.184.0.10", 444)
        one.sendall(HOST % b"evil.example")
        t.check(one.recv(100).startswith(b"GET"), "a literal address is for every site there")
        one.close()
        t.equal(gate.closed(asked="93.184.0.10:444")["server_name"], "evil.example")

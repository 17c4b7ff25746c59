#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A small internet for the tests of the network by name: run by network_lab.py in a network
namespace of its own, network_servers.py FOLDER. FOLDER has zone.json (name -> list of addresses,
or a list of such lists, one a question), server.pem and server.key; events.jsonl is written.

    53    name server, UDP and TCP
    443   TLS: HTTP/1.1 after the handshake, says who was asked for
    80    the same without TLS
    7     echo
    25    speaks first
"""
import json
import os
import socket
import ssl
import struct
import sys
import threading

sys.dont_write_bytecode = True
ADDRESSES = ("44.1.1.10", "44.1.1.11", "2600:1::10", "10.9.9.9", "169.254.169.254")
NAME_SERVER = "44.1.1.53"
FOLDER = sys.argv[1]
lock = threading.Lock()


def event(**what):
    with lock, open(f"{FOLDER}/events.jsonl", "a") as out:
        out.write(json.dumps(what) + "\n")


# ---- names ------------------------------------------------------------------

class Zone:
    def __init__(self):
        self.asked = {}

    def addresses(self, name):
        with open(f"{FOLDER}/zone.json") as file:
            zone = json.load(file)
        found = zone.get(name)
        if found is None:
            found = zone.get("*." + name.split(".", 1)[-1])
        if found and isinstance(found[0], list):
            count = self.asked[name] = self.asked.get(name, 0) + 1
            return found[min(count, len(found)) - 1]
        return found


zone = Zone()


def read_question(query):
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    kind, = struct.unpack(">H", query[at + 1:at + 3])
    return ".".join(labels).lower(), kind, query[12:at + 5]


def answer(query, how):
    name, kind, question = read_question(query)
    event(server="dns", name=name, type=kind, how=how)
    found = zone.addresses(name)
    if found == ["silent"]:
        return None
    if found == ["lies"]:
        return query[:2] + os.urandom(200)
    records = []
    for address in found or []:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        if kind == (28 if family == socket.AF_INET6 else 1):
            data = socket.inet_pton(family, address)
            records.append(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 5, len(data)) + data)
    flags = 0x8180 | (3 if found is None else 0)
    return query[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0) + question + \
        b"".join(records)


def serve_dns_udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((NAME_SERVER, 53))
        while True:
            query, peer = server.recvfrom(4096)
            reply = answer(query, "udp")
            if reply:
                server.sendto(reply, peer)


def serve_dns_tcp(conn, _):
    size, = struct.unpack(">H", conn.recv(2, socket.MSG_WAITALL))
    reply = answer(conn.recv(size, socket.MSG_WAITALL), "tcp")
    conn.sendall(struct.pack(">H", len(reply)) + reply)


# ---- HTTP -------------------------------------------------------------------

def read_head(stream):
    head = stream.readline(65536).split()
    if len(head) < 2:
        return None
    fields = {}
    while (line := stream.readline(65536)) not in (b"\r\n", b"\n", b""):
        key, _, value = line.partition(b":")
        fields[key.strip().lower().decode("latin-1")] = value.strip().decode("latin-1")
    return head[0].decode("latin-1"), head[1].decode("latin-1"), fields


def body_of(path, names):
    if path.startswith("/bytes/"):
        return b"x" * int(path.rsplit("/", 1)[1])
    return (" ".join(f"{k}={v}" for k, v in names.items()) + "\n").encode()


def serve_http(conn, names):
    stream = conn.makefile("rb")
    while (head := read_head(stream)) is not None:
        method, path, fields = head
        names = {**names, "host": fields.get("host", "-")}
        got = len(stream.read(int(fields.get("content-length", 0))))
        event(server="http", method=method, path=path, got=got, **names)
        body = body_of(path, {**names, "path": path, "got": got})
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s"
                     % (len(body), b"" if method == "HEAD" else body))
        if fields.get("connection", "").lower() == "close":
            return


def serve_tls(conn, names):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{FOLDER}/server.pem", f"{FOLDER}/server.key")
    said = {}
    context.sni_callback = lambda _, name, __: said.update(sni=name)
    with context.wrap_socket(conn, server_side=True) as tls:
        serve_http(tls, {**names, "sni": said.get("sni") or "-"})


def serve_echo(conn, _):
    while data := conn.recv(65536):
        conn.sendall(data)


def serve_first(conn, _):
    conn.sendall(b"220 hello\r\n")
    event(server="first", got=conn.recv(1000).decode("latin-1"))


# ---- sockets ----------------------------------------------------------------

def visit(conn, serve, names):
    try:
        event(server="tcp", **names)
        serve(conn, names)
    except (OSError, struct.error, ValueError) as problem:
        event(server="tcp", problem=str(problem), **names)
    finally:
        conn.close()


def listen(address, port, serve):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = socket.create_server((address, port), family=family, backlog=2048)

    def loop():
        while True:
            conn, _ = server.accept()
            threading.Thread(target=visit, daemon=True,
                             args=(conn, serve, {"at": address, "port": port})).start()
    threading.Thread(target=loop, daemon=True).start()


def main():
    os.read(0, 1)  # the namespace has its addresses now
    listen(NAME_SERVER, 53, serve_dns_tcp)
    for address in ADDRESSES:
        listen(address, 80, serve_http)
        listen(address, 443, serve_tls)
        listen(address, 7, serve_echo)
        listen(address, 25, serve_first)
        listen(address, 8443, serve_tls)
    threading.Thread(target=serve_dns_udp, daemon=True).start()
    print("ready", flush=True)
    while os.read(0, 1):
        pass


main()

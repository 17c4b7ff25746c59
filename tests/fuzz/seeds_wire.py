# SPDX-License-Identifier: Apache-2.0
"""Seeds of the network: rules, DNS, TLS, HTTP, and what launcher and gate say to each other."""

import struct

# ---- rules ----

RULES = [
    b"aexample.org:443\ndexample.net\npexample.org=192.0.2.1\nl8080\nl80:8081\n", b"a*.example.org:80-90\nd*.example.net:443\n",
    b"a192.0.2.0/24:443\na192.0.2.1:80\nd10.0.0.0/8\n", b"a[2001:db8::]/32:443\na[2001:db8::1]:1\na[2001:db8::/32]:2\nd[fe80::1]\n",
    b"ahost:8080\nd host\nahost@private:1\n", b"aintern.example@private:443\n",
    "ab\u00fccher.example:443\na*.stra\u00dfe.example:80\nib\u00fccher.example\ni\u4f8b\u3048.example\n".encode(),
    b"ixn--bcher-kva.example\nixn--a\ni-a-\ni\xff\n", b"a*:443\n", b"a*.org:443\n", b"ahttps://example.org\nd*\nd*:1\nd*://\n",
    b"aexample.org\naexample.org:0\naexample.org:65536\naexample.org:90-80\naexample.org:1-60000\naexample.org:x\n",
    b"alocalhost:80\na.localhost:1\nax.localhost:1\na127.0.0.1:80\na[::1]:80\na[::]:1\na0.0.0.0:1\na[::ffff:192.0.2.1]:1\n",
    b"a192.0.2.1/24:443\na192.0.2.0/33:443\na0.0.0.0/0:443\na1.2.3:443\na[1]:443\na[::1:443\na[::1]x:2\na1:2:443\n",
    b"pexample.org\np=192.0.2.1\npexample.org=[2001:db8::1]\npexample.org=x\nphost=192.0.2.1\nplocalhost=1.2.3.4\np\xc3\xbc.example=192.0.2.2\n",
    b"l0\nl65536\nl1:0\nl1:x\nlx\nl1:2\nl3:2\nl1:2:3\n",
    b"a" + b"a" * 300 + b":1\na" + b"b" * 64 + b".example:1\na1.2.3.0x7f:1\na-a.example:1\na_a._b.example:1\na.:1\na:1\n",
    *(b"x" + bytes(address) for address in ([0] * 15, [0] * 10 + [255, 255, 127, 0, 0], [0xfe, 0x80] + [0] * 13, [0x20, 2, 127, 0, 0, 1],
    [0, 0x64, 0xff, 0x9b] + [0] * 8 + [10, 0, 0], [169, 254, 169, 254], [0x64] * 4)),
    b"".join(b"aa%d.example:%d-%d\n" % (i, i * 200 + 1, i * 200 + 200) for i in range(39)), b"a192.0.2.1:" + b"9" * 30 + b"\n",
    b"aexample.org:4294967296\n", b"l4294967296\n",
]

# ---- DNS ----


def name(text):
    return b"".join(bytes([len(label)]) + label for label in text.split(b".") if label) + b"\0"


def query(text, kind=1, flags=0x0100, counts=(1, 0, 0, 0), tail=b"", cls=1):
    return struct.pack(">HH4H", 0x1234, flags, *counts) + name(text) + struct.pack(">HH", kind, cls) + tail


def opt(version=0, size=1232):
    return b"\0" + struct.pack(">HHIH", 41, size, version << 16, 0)


EDNS = (1, 0, 0, 1)
DNS = [
    b"", bytes(11), bytes(12), query(b"example.org"), query(b"EXAMPLE.org"), query(b"a.example.net"), query(b"no.example.net"),
    query(b"other.example"), query(b"localhost"), query(b"x.localhost", 28), query(b"localhost", 16), query(b"example.org", 28),
    query(b"example.org", 255),
    query(b"_http._tcp.example.org", 33), query(b"_http._tcp.other.example", 33), query(b"example.org", 15), query(b"example.org", cls=3),
    query(b"example.org", cls=255), query(b""), query(b"1.2.3.4"), query(b"-a.example"), query(b"a\0b.example"), query(b"a b\\.example"),
    query(b"x" * 63 + b".example.net"),
    query(b"x" * 64 + b".example.net"), query(b".".join([b"y" * 60] * 4)), query(b"example.org", counts=EDNS, tail=opt()),
    query(b"example.org", counts=EDNS, tail=opt(1)), query(b"example.org", counts=(1, 0, 0, 2), tail=opt() + opt()),
    query(b"example.org", counts=(2, 0, 0, 0)),
    query(b"example.org", counts=(0, 0, 0, 0)), query(b"example.org", counts=EDNS), query(b"example.org", flags=0x8100),
    query(b"example.org", flags=0x2800), query(b"example.org", flags=0), struct.pack(">HH4H", 1, 256, 1, 0, 0, 0) + b"\xc0\x0c\0\1\0\1",
    struct.pack(">HH4H", 1, 256, 1, 0, 0, 0) + b"\x3fa",
    query(b"example.org", counts=(1, 0, 0, 1), tail=b"\0" + struct.pack(">HHIH", 16, 1, 0, 1) + b"x"),
    *(query(b"n%d.example.net" % i) for i in range(6)),
]

# ---- TLS ----


def vector(data, size):
    return len(data).to_bytes(size, "big") + data


def server_name(*names, kind=0):
    return struct.pack(">H", 0) + vector(vector(b"".join(bytes([kind]) + vector(n, 2) for n in names), 2), 2)


OTHER = struct.pack(">H", 10) + vector(b"\0\2\0\x1d", 2)


def hello(*extensions, tail=b"", plain=False):
    text = b"\3\3" + bytes(32) + vector(b"", 1) + vector(b"\x13\1\x13\2", 2) + vector(b"\0", 1)
    text += b"" if plain else vector(b"".join(extensions), 2)
    return b"\1" + vector(text + tail, 3)


def record(data, kind=22, version=b"\3\1"):
    return bytes([kind]) + version + vector(data, 2)


def records(data, size):
    return b"".join(record(data[i:i + size]) for i in range(0, len(data), size))


GOOD = hello(OTHER, server_name(b"example.org"))
HELLOS = [
    record(GOOD), record(GOOD)[:-1], record(GOOD)[:7], b"\x16", record(GOOD) + b"more", records(GOOD, 3), records(GOOD, 40), record(hello(OTHER)),
    record(hello(plain=True)), record(hello(server_name(b"a", b"b"))), record(hello(server_name(b"example.org", kind=1))),
    record(hello(server_name(b""))),
    record(hello(server_name(b"example.org"), server_name(b"example.net"))), record(hello(server_name(b"192.0.2.1"))),
    record(hello(server_name(b"a\0b\x7f\\\xff"))), record(hello(server_name(b"x" * 300))), record(hello(OTHER, tail=b"x")), record(hello(OTHER[:-1])),
    record(hello(struct.pack(">HH", 0, 0))),
    record(b"\2" + GOOD[1:]), record(GOOD, kind=23), record(GOOD, version=b"\2\0"), record(b""), record(GOOD + b"x"), record(b"\1\xff\xff\xff"),
    record(b"\1\0\x7f\xff" + bytes(100)), record(b"\1\0\0\0"), b"\x80\x2e\1\0\2\0\x15\0\0\0\x10", b"\x80\x2e\1\3\1", b"\x16\3\1\x40\1" + bytes(50),
    records(b"\1\0\x60\0" + bytes(0x6000), 1), record(b"\1\0\x60\0" + bytes(16000)),
    records(b"\1\0\x7f\xfc" + bytes(48000), 16000),
]

# ---- HTTP ----


def get(*fields, line=b"GET / HTTP/1.1", end=b"\r\n"):
    return end.join((line,) + fields) + end + end


HOST = b"Host: example.org"
HTTPS = [
    get(HOST), get(HOST, end=b"\n"), get(), get(b"Host:"), get(b"host:\t example.org:8080 "), get(b"Host: [2001:db8::1]:80"),
    get(b"Host: a@example.org"), get(HOST, HOST), get(b"Host : x"), get(b" Host: x"), get(HOST, b" folded"), get(b"Host: x y"), get(b"Host: \xff"),
    get(HOST, b"Content-Length: 5") + b"hello",
    get(HOST, b"Content-Length: 5", b"Content-Length: 5"), get(HOST, b"Content-Length: x"), get(HOST, b"Content-Length: 9999999999999999999"),
    *(get(HOST, b"Content-Length: " + n) for n in (b"999999999999999999", b"9223372036854775807", b"18446744073709551615")),
    get(HOST, b"Content-Length: 5, 5"), get(HOST, b"Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n",
    get(HOST, b"Transfer-Encoding: gzip, chunked"), get(HOST, b"Transfer-Encoding: gzip"),
    get(HOST, b"Transfer-Encoding: chunked", b"Content-Length: 5"), get(HOST, b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
    get(HOST, b"Connection: Upgrade", b"Upgrade: websocket"), get(HOST, b"Connection: keep-alive, upgrade"),
    get(line=b"CONNECT example.org:443 HTTP/1.1"), get(HOST, line=b"GET http://example.org/x HTTP/1.1"),
    get(HOST, line=b"GET http://other.example HTTP/1.1"), get(line=b"GET https://u:p@example.org:1?x HTTP/1.1"),
    get(HOST, line=b"OPTIONS * HTTP/1.0"), get(HOST, line=b"GET / HTTP/2.0"), get(HOST, line=b"PRI * HTTP/2.0") + b"SM\r\n\r\n",
    get(HOST, line=b"GET /"), get(HOST, line=b"GET  / HTTP/1.1"), get(HOST, line=b"GET / x HTTP/1.1"), get(HOST, line=b"GET / HTTP/1.x"),
    get(HOST, line=b"GET / HTTP/0.9"),
    get(HOST, line=b"G\xff / HTTP/1.1"), get(HOST, line=b"GET\t/ HTTP/1.1"), get(HOST, line=b"X" * 33 + b" / HTTP/1.1"), get(b"A: b\x01"),
    get(b"A: b\r"), get(b"noc olon"), get(b"nocolon"), get(b": x"), b"\r\n\r\n" + get(HOST), get(HOST)[:-2], get(HOST)[:-1], get(HOST)[:-3], b"G",
    b"GET", b"GET ", b"GET h", b"GET htt", b"GET x", b"CONNECT ", b"SSH-2.0-x\r\n", b"0\r\n\r\n", b"0\r\nA: b\r\n\r\n",
    b"5;ext=1\r\nhello\r\n", b"5\nhello", b"x\r\n", b"fffffffffffffffff\r\n", b"7fffffffffffffff\r\n", b"5 \r\n", b"a" * 300,
    b"5;" + b"x" * 300 + b"\r\n", b"\r\n", b"0\r\nA\r\n\r\n", get(HOST, b"X: " + b"y" * 33000), get(HOST, b"Expect: 100-continue"),
    get(HOST, b"Trailer: x"), b"HTTP/1.1 200 OK\r\n\r\n", get(HOST, line=b"GET " + b" " * 40 + b"/ HTTP/1.1"),
]


def pieces(flags, *parts):
    return bytes([flags]) + b"".join(bytes([min(len(part), 255)]) for part in parts) + b"\0" + b"".join(parts)


CIPHERS = b"\x14\3\3\0\1\1"
CHUNKED = get(HOST, b"Transfer-Encoding: chunked")
STREAMS = [
    pieces(0, get(HOST)), pieces(0, get(HOST), get(HOST)), pieces(0, get(HOST), get(b"Host: other")),
    pieces(0, b"G", b"ET / HTTP/1.1\r\n", HOST + b"\r\n\r\n"), pieces(0, b"\r\n", get(HOST)),
    pieces(0, get(HOST, b"Content-Length: 3"), b"ab", b"c" + get(HOST)), pieces(0, CHUNKED, b"3\r\nabc\r\n", b"0\r\n\r\n" + get(b"Host: other")),
    pieces(0, CHUNKED + b"3\r\nabcX"), pieces(0, CHUNKED, b"3\r\nabc", b"\r", b"\n0\r\n\r\n"),
    pieces(0, get(HOST, b"Connection: upgrade", b"Upgrade: x"), b"\0\1\2"), pieces(0, get(HOST), b"\0\1\2"),
    pieces(0, get(HOST, line=b"GET / HTTP/2.0")), pieces(0, b"SSH-2.0-x\r\n"), pieces(0, b"S", b"SH-2.0-x\r\n"), pieces(0, b"S", b"MTP\r\n"),
    pieces(1, record(GOOD), record(b"rest", kind=23)), pieces(1, record(GOOD)[:9], record(GOOD)[9:]),
    pieces(1, record(GOOD), CIPHERS, record(hello(server_name(b"other.example")))), pieces(1, record(GOOD), CIPHERS[:3], CIPHERS[3:] + record(GOOD)),
    pieces(1, record(hello(OTHER))), pieces(3, record(hello(OTHER))), pieces(1, record(hello(server_name(b"other.example")))),
    pieces(1, get(HOST)), pieces(1, b"\0\1"), pieces(3, b"\0\1"), pieces(0, b"\0\1"), pieces(1, b"\x80\x2e\1\0\2"),
    pieces(0, b"\x80", b"\x2e\1\0\2\0"), pieces(0, b"\x80\x2e", b"x"), pieces(4, record(hello(server_name(b"denied.example")))),
    pieces(12, record(hello(server_name(b"denied.example")))), pieces(12, get(b"Host: denied.example")), pieces(4, get(HOST)),
    pieces(12, b"\0"), pieces(0, get(b"Host: other")), pieces(1, b"GET " + b" " * 33000), pieces(1, b"\r\n" * 20000 + get(HOST)),
    pieces(0, b"T" * 33 + b" /"), pieces(0, b"GET" + b" " * 33000),
    pieces(0, b"A", b"B", b"C", b" ", b" ", b"/", b" HTTP/1.1\r\nHost: other\r\n\r\n"),
]

# ---- hosts(5) ----

HOSTS = [b"a.example\n192.0.2.1 b a.example # said\n::1 a.example\n", b"a.example\n::ffff:192.0.2.1 A.Example.\n",
    b"a\n\n#\n \t\n192.0.2.1\nx a\n192.0.2.1 " + b"w" * 300 + b" a\n" + b"9" * 300 + b" a\r\n", b"", b"a\n1.2.3.4 a#\n1.2.3.4 a\r\n::2\ta",
    b"a\n" + b"1.2.3.4 a\n" * 20]

# ---- between launcher and gate: protocol.h, x86-64 and aarch64 alike ----

RULE = 288


def rule(action, kind, text=b"", bits=0, family=0, ports=(443, 443), idna=0, address=b""):
    head = struct.pack("<IBBBBHHBB16s", 1, action, kind, idna, 0, *ports, bits, family, address) + text[:255]
    return head + bytes(RULE - len(head))


def pin(text, family=2, idna=0):
    return (struct.pack("<B16sB", family, b"\xc0\0\2\1", idna) + text + bytes(274))[:274]


def message(kind, data=b"", size=None):
    text = struct.pack("<II", kind, len(data) + 8) + data
    size = len(text) if size is None else size
    return struct.pack(">H", len(text)) + text


def batch(kind, items, size, count=None):
    """struct gate_rules, gate_pins: 32 of them, whatever `count` says."""
    data = struct.pack("<I", len(items) if count is None else count) + b"".join(items)
    return message(kind, data + bytes(size - 8 - len(data)))


def setup(version=1, names=0, net=0):
    return message(1, struct.pack("<IIIIIIIB7x", version, 1, 1000, 1000, 0, names, net, 0))


RULES_SIZE, PINS_SIZE, SOCKETS_SIZE, START, END = 9228, 8780, 76, message(5), message(6)


def rules(*items, count=None):
    return batch(2, items, RULES_SIZE, count)


def pins(*items, count=None):
    return batch(3, items, PINS_SIZE, count)


def sockets(*kinds, count=None):
    data = struct.pack("<I", len(kinds) if count is None else count) + b"".join(struct.pack("<HH", k, 80) for k in kinds)
    return message(4, data + bytes(SOCKETS_SIZE - 8 - len(data)))


V4NET = rule(1, 3, bits=24, family=2, address=b"\xc0\0\2\0")
CONTROLS = [
    setup() + rules(rule(1, 1, b"example.org"), rule(2, 2, b"example.net"), rule(1, 4), V4NET) + pins(pin(b"example.org")) + START, START, END,
    setup(version=2), setup(names=1 << 20), setup(net=0x01000000), setup() + setup() + START,
    rules(rule(1, 1, "b\u00fccher.example".encode(), idna=1)),
    rules(rule(1, 2, "\u00fc".encode(), idna=1)), rules(rule(1, 1, b"\xff", idna=1)), rules(rule(1, 1, b"x" * 255)), rules(rule(1, 1, b"-")),
    rules(rule(1, 2, b"org")), rules(rule(3, 1, b"a.example")), rules(rule(1, 9)), rules(rule(1, 3, bits=33, family=2)),
    rules(rule(1, 3, bits=129, family=10)), rules(rule(1, 1, b"a.example", ports=(0, 1))),
    rules(rule(1, 1, b"a.example", ports=(9, 1))), rules(count=33), rules(*([V4NET] * 31)) * 17, pins(count=33), pins(pin(b"x", family=9)),
    pins(pin(b"-")), pins(pin("\u00fc.example".encode(), idna=1)), pins(*([pin(b"a.example")] * 31)) * 9, sockets(), sockets(1), sockets(5, 12),
    sockets(*range(7, 9)), sockets(99), sockets(count=5), sockets(11), sockets(13), sockets(3), message(0), message(7), message(99),
    message(1), message(2, b"x" * 40), b"\0\4\1\0\0\0", b"\xff\xff" + bytes(60),
]


def told(kind, fill):
    """The whole struct of a kind, filled with the bytes over and over."""
    return b"\xff\xff" + bytes([kind, len(fill)]) + fill


FILLS = [b"", b"\0", b"\1", b"\2", b"\3", b"\5", b"\x0a", b"a", b"\xff", b"a\0\0\0", b"\1\0\0\0\0\0\0\0", bytes(range(64)),
    b"\0" * 40 + b"\2" * 8 + b"example.org\0", b"\x1b[31m", b"\7\0\0\0\0\0\0\0\6\0\0\0"]
EVENTS = [
    *(told(kind, fill) for kind in range(8) for fill in FILLS), b"".join(told(kind, fill) for kind in range(8) for fill in FILLS), b"\0\4abcd",
    b"\0\0", b"\0\x08" + struct.pack("<II", 103, 300) + b"x",
    *(b"\0\x08" + struct.pack("<II", kind, 8) for kind in (1, 2, 3, 4, 5, 6, 101, 102, 103, 104, 105, 106, 107, 108, 109)),
    b"".join(told(3, bytes([n, 0, 0, 0, 0, 0, 0, 0]) * 2) for n in range(200)) + b"".join(told(3,
    bytes([n, 1, 0, 0, 0, 0, 0, 0])) for n in range(200)),
    *(b"\2\x68" + (struct.pack("<IIQIBBBBIIQQQQ", 104, 616, n, n, why, 0, 2, 0, 0, 5, 1, 2, 3,
    4) + bytes([2, 192, 0, 2, 1]) + bytes(13) + struct.pack("<H", 443) + bytes(20) + b"example.org").ljust(616,
    b"\0") for n in range(3) for why in range(16)),
]

# Names that fill their room but for the NUL, in the last place that there is, in messages as the gate sends them.
FULL = b"n" * 255 + b"\0"
EVENTS += [struct.pack(">H", len(text)) + text for text in (
    struct.pack("<IIIIQQHBB", 103, 296, 255, 0, 1, 1, 1, 4, 0) + FULL + bytes(4),
    struct.pack("<IIQIBBBBIIQQQQ", 104, 616, 1, 1, 6, 0, 2, 0, 0, 5, 1, 2, 3, 4) + bytes(40) + FULL * 2,
    struct.pack("<IIIIBB6xQQQQ", 105, 336, 127, 1, 6, 0, 1, 1, 1, 1) + bytes(20) + FULL + bytes(4),
    struct.pack("<IIIB3xQQ", 106, 312, 255, 6, 1, 1) + bytes(20) + FULL + bytes(4))]

SEEDS = {
    "fuzz_gate_rules": RULES,
    "fuzz_gate_dns": [bytes([knows]) + text for text in DNS for knows in ((0, 1, 2, 4) if text in DNS[3:6] else (0,))]
        + [b"\x80" + bytes([kind]) + text for kind in (1, 28, 33) for text in (b"example.org", b"a.example.net", b"x.localhost", b"localhost",
            b"no.example.net", b"_http._tcp.example.org", b"other.example", b"1.2.3.4")],
    "fuzz_gate_hello": HELLOS,
    "fuzz_gate_http": HTTPS,
    "fuzz_gate_inspect": STREAMS,
    "fuzz_gate_hosts": HOSTS,
    # what is cut off is zero again: a short input has its mutations where something stands
    "fuzz_gate_control": CONTROLS + [text.rstrip(b"\0") for text in CONTROLS],
    "fuzz_events": EVENTS,
}
WORDS = {
    "fuzz_gate_rules": [b"*.", b"@private:", b"example.org:443", b"[2001:db8::", b"]/32:", b"192.0.2.0/24:", b"xn--", b"host", b"localhost", b"://",
    "\u00fc".encode(), "\u3002".encode()],
    "fuzz_gate_dns": [name(b"example.org"), name(b"a.example.net"), b"\xc0\x0c", b"\0\0\x29", b"\0\1\0\1", b"\0\x1c\0\1"],
    "fuzz_gate_hello": [b"\x16\3\1", b"\1\0", b"\0\0\0\x10\0\x0e\0\0\x0bexample.org", b"\3\3"],
    "fuzz_gate_http": [b"\r\n", b"\r\n\r\n", b"Host: ", b"Content-Length: ", b"Transfer-Encoding: chunked", b"HTTP/1.1", b"HTTP/2.0", b"http://",
    b"Connection: upgrade", b"Upgrade: ", b"CONNECT ", b"0\r\n\r\n", b"\r\nHost:", b"\r\nHost: a.example", b"\r\nContent-Length: 5",
    b"\r\nTransfer-Encoding: chunked", b"99999999"],
    "fuzz_gate_inspect": [b"\r\n", b"Host: example.org", b"GET / HTTP/1.1\r\n", b"Transfer-Encoding: chunked", b"Content-Length: ", CIPHERS,
    record(GOOD), b"\x16\3\1", b"SSH-"],
    "fuzz_gate_hosts": [b"192.0.2.1 ", b"::1 ", b"::ffff:", b"#", b"example."],
    "fuzz_gate_control": [struct.pack("<I", n) for n in range(1, 7)] + [rule(1, 1, b"example.org")[:40], b"example.org\0", b"org.\0", b"."],
    "fuzz_events": [b"\xff\xff" + bytes([kind]) for kind in range(8)] + [struct.pack("<I", n) for n in (*range(101, 109), 127, 128, 255, 256)],
}

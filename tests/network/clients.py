# SPDX-License-Identifier: Apache-2.0
"""Clients as they are: each reaches an allowed name and nothing beside it, v4 and v6."""
import os
import shutil

from network_lab import HOST4, HOST6, NAME, OTHER, Lab, connections, names, network
from sboxtest import PYTHON, Skip, test

URLLIB = """import ssl, sys, urllib.request
c = ssl.create_default_context(cafile=sys.argv[1])
print(urllib.request.urlopen(sys.argv[2], context=c, timeout=20).read().decode())
"""
ASYNCIO = """import asyncio, ssl, sys
async def main(ca, host):
    c = ssl.create_default_context(cafile=ca)
    r, w = await asyncio.wait_for(asyncio.open_connection(host, 443, ssl=c), 20)
    w.write(f'GET / HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n'.encode())
    print((await r.read()).decode())
asyncio.run(main(sys.argv[1], sys.argv[2].split('/')[2]))
"""
NODE = """fetch(process.argv[1]).then(r => r.text()).then(t => console.log(t))
.catch(e => { console.log('failed', String(e.cause)); process.exit(9); })"""
NODE_HTTPS = """const fs = require('fs');
require('https').get(process.argv[1], {ca: fs.readFileSync('ca.pem')}, r => r.pipe(process.stdout))
.on('error', e => { console.log('failed', e.code); process.exit(9); })"""
PERL = """use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => 80,
Timeout => 20) or exit 9; print $s "GET / HTTP/1.1\\r\\nHost: $ARGV[0]\\r\\nConnection: close\\r\\n\\r\\n";
print while <$s>;"""
JAVA = """import java.net.*; class Get { public static void main(String[] a) throws Exception {
var c = new URL("http://" + a[0] + "/").openConnection(); c.setConnectTimeout(20000);
System.out.print(new String(c.getInputStream().readAllBytes())); } }"""
GO = """package main
import ("crypto/tls"; "crypto/x509"; "fmt"; "io"; "net/http"; "os")
func main() {
    ca, _ := os.ReadFile("ca.pem"); pool := x509.NewCertPool(); pool.AppendCertsFromPEM(ca)
    c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
    r, err := c.Get(os.Args[1])
    if err != nil { fmt.Println("failed", err); os.Exit(9) }
    io.Copy(os.Stdout, r.Body)
}
"""
# Static, with musl's own resolver.
MUSL = """#include <netdb.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *found;
    char text[4096];
    if (argc != 2 || getaddrinfo(argv[1], "80", &hints, &found) != 0) return 9;
    for (; found != NULL; found = found->ai_next) {
        int fd = socket(found->ai_family, SOCK_STREAM, 0), len;
        if (connect(fd, found->ai_addr, found->ai_addrlen) != 0) { close(fd); continue; }
        dprintf(fd, "GET / HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n", argv[1]);
        while ((len = read(fd, text, sizeof(text))) > 0) write(1, text, len);
        return 0;
    }
    return 8;
}
"""


# For a client that sends what it is given.
def request(client, name):
    return f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode() if client == "nc" \
        else b""


def https(name):
    return f"https://{name}/"


CLIENTS = {
    "curl": lambda n: ["curl", "-sS", "-m", "20", "--cacert", "ca.pem", https(n)],
    "wget": lambda n: ["wget", "-q", "-O", "-", "--tries=1", "--ca-certificate=ca.pem", https(n)],
    "urllib": lambda n: [PYTHON, "-c", URLLIB, "ca.pem", https(n)],
    "asyncio": lambda n: [PYTHON, "-c", ASYNCIO, "ca.pem", https(n)],
    "node": lambda n: ["node", "-e", NODE_HTTPS, https(n)],
    "node-fetch": lambda n: ["env", "NODE_EXTRA_CA_CERTS=ca.pem", "node", "-e", NODE, https(n)],
    "git": lambda n: ["git", "-c", "http.sslCAInfo=ca.pem", "ls-remote", https(n) + "x.git"],
    "perl": lambda n: ["perl", "-e", PERL, n],
    "s_client": lambda n: ["sh", "-c", f"printf 'GET / HTTP/1.1\\r\\nHost: {n}\\r\\nConnection: close"
                           f"\\r\\n\\r\\n' | openssl s_client -quiet -CAfile ca.pem -servername {n} "
                           f"-connect {n}:443 2>&1"],
    "nc": lambda n: ["nc", "-w", "3", n, "80"],
    "bash": lambda n: ["bash", "-c", f"exec 3<>/dev/tcp/{n}/80; printf 'GET / HTTP/1.1\\r\\nHost: {n}\\r\\n"
                       "Connection: close\\r\\n\\r\\n' >&3; cat <&3"],
    "java": lambda n: ["java", "-Xmx128m", "Get.java", n],
    "go": lambda n: ["./get", https(n)],
    "musl": lambda n: ["./musl", n],
}
# What says that the server was reached; git is told that this is no repository.
SIGN = {"git": "info/refs not valid"}


def build(t, name, source, *compiler, env=None):
    if not shutil.which(compiler[0]):
        raise Skip(f"{compiler[0]} is not installed")
    t.write(source[0], source[1])
    built = t.plain(*compiler, "-o", name, source[0], timeout=300, env=env)
    t.equal(built.code, 0, built)


def prepare(t, client):
    program = CLIENTS[client](NAME)[0]
    if client == "node-fetch":
        program = "node"
    if not program.startswith("./") and not os.path.isabs(program) and not shutil.which(program):
        raise Skip(f"{program} is not installed")
    t.write("Get.java", JAVA)
    if client == "go":
        build(t, "get", ("get.go", GO), "go", "build",
              env={"CGO_ENABLED": "0", "GOCACHE": f"{t.home}/go", "GO111MODULE": "off"})
    if client == "musl":
        build(t, "musl", ("musl.c", MUSL), "musl-gcc", "-static")


@test(cases=sorted(CLIENTS), timeout=400)
def client(t, case):
    lab = Lab(t, allow=f"{NAME}:443, {NAME}:80")
    prepare(t, case)
    sign = SIGN.get(case, f"host={NAME}")
    for name in (NAME, OTHER):
        control = t.plain(*CLIENTS[case](name), timeout=120, stdin=request(case, name))
        t.has(control.text + control.errtext, SIGN.get(case, f"host={name}"), f"control {control}")
    run = lab.run(*CLIENTS[case](NAME), timeout=120, stdin=request(case, NAME))
    t.has(run.text + run.errtext, sign, run)
    t.check(connections(run, name=NAME, rule=f"{NAME}:{connections(run)[0]['port']}"), run)
    # a client may say goodbye to a server that has closed already
    t.check(all(c["ended"] in ("finished", "reset_inside", "run_ended") or
                (c["ended"], c["errno"]) == ("reset_outside", "EPIPE") and c["received"] > 0
                for c in connections(run)), connections(run))
    before = len(lab.events())
    run = lab.run(*CLIENTS[case](OTHER), timeout=120, stdin=request(case, OTHER))
    t.check(f"host={OTHER}" not in run.text, run)
    t.equal(names(run).get(OTHER), "not_allowed", run)
    t.check(run.denied("resolve", OTHER), run)
    t.equal(len(lab.events()), before, "nothing left the sandbox")


FORMS = """import socket, sys
for text in sys.argv[1:]:
    family, kind, host, port = text.split('|')
    try:
        s = socket.socket(getattr(socket, family), getattr(socket, kind)); s.settimeout(5)
        s.connect((host, int(port)))
        s.send(b'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
        print(text, 'got', len(s.recv(1000)))
    except OSError as e:
        print(text, 'refused', e.errno or e)
"""


def form(family, kind, host, port):
    return f"AF_{family}|SOCK_{kind}|{host}|{port}"


@test()
def addresses_in_every_form(t):
    """The raw address of the allowed host, however it is written; another port; UDP; v6."""
    lab = Lab(t, allow=f"{NAME}:443, {NAME}:80")
    number = int.from_bytes(bytes(map(int, HOST4.split("."))), "big")
    reset = [form("INET", "STREAM", host, 80)
             for host in (HOST4, number, hex(number), "0x2c.1.1.0xa", "054.1.1.012", "44.1.266",
                          "169.254.169.254", "10.9.9.9")]
    reset += [form("INET6", "STREAM", host, 80)
              for host in (HOST6, f"::ffff:{HOST4}", "2600:1:0:0:0:0:0:10")]
    refused = [form("INET", "STREAM", HOST4, 8443), form("INET6", "STREAM", HOST6, 8443),
               form("INET", "STREAM", "127.0.0.1", 80), form("INET6", "STREAM", "::1", 80),
               form("INET", "STREAM", "0.0.0.0", 80), form("INET", "STREAM", NAME, 8443),
               form("INET", "DGRAM", HOST4, 443), form("INET6", "DGRAM", HOST6, 443)]
    control = t.plain(PYTHON, "-c", FORMS, *reset[:6], reset[8], form("INET", "STREAM", HOST4, 8443))
    t.equal(control.text.count(" got "), 7, f"control {control.text}")
    t.has(control.text, "8443 refused 104", "control: there is a server, which wants TLS")
    before = len(lab.events(server="tcp"))
    run = lab.run(PYTHON, "-c", FORMS, *reset, *refused, timeout=60)
    lines = run.text.splitlines()
    t.equal(len(lines), len(reset) + len(refused), run)
    for text, line in zip(reset, lines):
        t.check(line in (f"{text} refused 104", f"{text} got 0", f"{text} refused 32"), line)
    for text, line in zip(refused, lines[len(reset):]):
        t.equal(line, f"{text} refused 111", "ECONNREFUSED")
    t.equal(len(lab.events(server="tcp")), before, "nobody was dialled")
    for place in (f"{HOST4}:80", f"[{HOST6}]:80", "169.254.169.254:80", "10.9.9.9:80",
                  f"{HOST4}:8443", f"[{HOST6}]:8443"):
        found = run.denied("connect", place)
        t.equal([d["permit"] for d in found], [f"[network] allow = {place}"], place)
    t.check(run.denied("send", f"{HOST4}:443/udp")[0]["never"], run)
    t.check(run.denied("send", f"[{HOST6}]:443/udp"), run)
    t.check(run.denied("connect", f"{NAME}:8443"), run)
    t.check(not run.denied(object="127.0.0.1") and not run.denied(object="[::1]"),
            "what the program says to itself is its own affair")
    t.equal(network(run)["totals"]["attempts"], 5, network(run))


@test()
def no_ping(t):
    lab = Lab(t)
    script = "import socket\ntry: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1); print('made')\n" \
             "except OSError as e: print(e.errno)"
    run = lab.run(PYTHON, "-c", script)
    t.equal(run.text, "93\n", "EPROTONOSUPPORT")

# SPDX-License-Identifier: Apache-2.0
"""The gate itself: it is confined, it dies with the run, and nothing opens when it dies. When it is
started, and what happens when it cannot be: late.py."""
import os
import signal
import time

import sboxtest
from network_lab import NAME, Lab, connections, names, network
from sboxtest import PYTHON, descendants, test

WAITER = """import socket, sys
s = socket.create_connection((sys.argv[1], 7), 20)
s.sendall(b'a'); s.recv(1); print('up', flush=True); sys.stdin.read(1)
s.settimeout(20)
try: s.sendall(b'b'); print('got', s.recv(1))
except OSError as e: print('lost', e.errno)
for host in (sys.argv[1], '44.1.1.10'):
    try: socket.create_connection((host, 443), 5); print('reached')
    except OSError as e: print('none', e.errno)
"""


def gate_of(child):
    found = [p for p in descendants(child.pid) if os.path.basename(
        os.readlink(f"/proc/{p}/exe")) == "sbox-gate"]
    return found[0] if found else None


def status(pid, field):
    with open(f"/proc/{pid}/status") as lines:
        return next(line.split(":")[1].split() for line in lines if line.startswith(field + ":"))


def reap_one():
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG) is not None
    except ChildProcessError:
        return False


def start(t, lab, *argv):
    child = t.start(*argv, profile=lab.profile)
    t.equal(child.stdout.readline(), b"up\n", "it is connected")
    return child


def end(t, child, stdin=b""):
    out, err = t.communicate(child, stdin, 60)
    return sboxtest.Run(child.returncode, out, err, t.records(), 0)


@test()
def is_confined(t):
    lab = Lab(t)
    child = start(t, lab, PYTHON, "-c", WAITER, NAME)
    gate = gate_of(child)
    t.equal(status(gate, "Seccomp"), ["2"])
    t.equal(status(gate, "NoNewPrivs"), ["1"])
    for field in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        t.equal(status(gate, field), ["0" * 16], field)
    uids = set(status(gate, "Uid"))
    t.check("0" not in uids and len(uids) == 1, f"not root: {uids}")
    t.check(t.uid != 0 or uids != {str(t.records()[0]["outer_uid"])}, "nor the program's uid")
    run = end(t, child, b"x")
    t.has(run.text, "got b'b'", run)
    t.equal(network(run)["gate"], "served")
    t.check(not sboxtest.is_alive(gate), "it is gone")


@test()
def killed_gate_ends_the_network(t):
    lab = Lab(t)
    child = start(t, lab, PYTHON, "-c", WAITER, NAME)
    before = len(lab.events(server="tcp"))
    os.kill(gate_of(child), signal.SIGKILL)
    time.sleep(0.3)
    begun = time.monotonic()
    run = end(t, child, b"x")
    t.check("got b'b'" not in run.text, run)
    t.equal(run.text.count("none "), 2, run)
    t.check(time.monotonic() - begun < 20, "at once")
    t.equal(len(lab.events(server="tcp")), before, "nothing opened")
    t.equal(network(run)["gate"], "lost")
    t.has(run.errtext, "sbox-gate", "said on stderr")
    t.equal(run.code, 0, "the run goes on")


@test()
def dies_with_its_supervisor(t):
    lab = Lab(t)
    child = start(t, lab, PYTHON, "-c", WAITER, NAME)
    gate = gate_of(child)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    t.background.remove(child)
    # it is this process's to reap now
    sboxtest.wait_until(lambda: os.waitpid(gate, os.WNOHANG)[0] == gate, 10)
    sboxtest.wait_until(lambda: not reap_one() and not descendants(os.getpid())[1:], 10)
    t.equal(lab.run("true").code, 0, "the next start clears up behind it")


@test()
def last_bytes_arrive(t):
    """What the program sends and does not wait for is delivered, as by the kernel."""
    lab = Lab(t)
    script = "import socket, sys\ns = socket.create_connection((sys.argv[1], 80), 20)\n" \
             "s.sendall(b'POST /last HTTP/1.1\\r\\nContent-Length: 2000000\\r\\n\\r\\n' + b'x' * 2000000)"
    run = lab.run(PYTHON, "-c", script, NAME)
    t.equal(run.code, 0, run)
    t.equal([e["got"] for e in lab.events(path="/last")], [2000000], network(run))
    t.equal(connections(run)[0]["sent"] > 2000000, True)


LAST = """import socket, sys
print('up', flush=True)
where = socket.gethostbyname(sys.argv[1])
print('asked', flush=True); sys.stdin.read(1)
s = socket.create_connection((where, 80), 20)
s.sendall(b'POST /last HTTP/1.1\\r\\nContent-Length: 20000\\r\\n\\r\\n' + b'x' * 20000)
"""


@test()
def last_bytes_of_a_connection_that_the_gate_has_not_seen_yet(t):
    lab = Lab(t)
    child = start(t, lab, PYTHON, "-c", LAST, NAME)
    t.equal(child.stdout.readline(), b"asked\n")
    gate, program = gate_of(child), descendants(child.pid)[-1]
    os.kill(gate, signal.SIGSTOP)
    child.stdin.write(b"x")
    child.stdin.flush()
    t.check(sboxtest.wait_until(lambda: not sboxtest.is_alive(program), 10), "the program is over")
    time.sleep(0.2)
    os.kill(gate, signal.SIGCONT)
    run = end(t, child)
    t.equal([e["got"] for e in lab.events(path="/last")], [20000], network(run))
    # the answer may find nobody
    t.check(connections(run)[0]["ended"] in ("finished", "reset_inside"), connections(run))


@test()
def name_servers_that_fail(t):
    """Silent, lying, gone: the program gets an error in bounded time and nothing hangs."""
    lab = Lab(t, allow="silent.example.org:443, lies.example.org:443")
    script = "import socket, sys\nfor n in sys.argv[1:]:\n" \
             "    try: print(socket.getaddrinfo(n, 443))\n    except OSError as e: print('no', n)"
    run = lab.run(PYTHON, "-c", script, "silent.example.org", "lies.example.org", timeout=90)
    t.equal(run.text, "no silent.example.org\nno lies.example.org\n", run)
    t.check(run.wall < 60, run.wall)
    t.equal(set(names(run).values()), {"no_answer"})


@test()
def client_that_sends_nothing(t):
    lab = Lab(t)
    script = "import socket, sys\ns = socket.create_connection((sys.argv[1], 443), 20)\n" \
             "s.settimeout(90)\ntry: print('end', s.recv(10))\nexcept OSError as e: print('end', e)"
    run = lab.run(PYTHON, "-c", script, NAME, sets=["time.wall=3s", "time.grace=0s"], timeout=30)
    t.check(run.code in (0, 124), run)
    t.check(run.wall < 15, "the run's limits hold")


@test()
def many_connections_at_once(t):
    lab = Lab(t, allow=f"{NAME}:7")
    script = """import socket, sys
held = []
for i in range(400):
    s = socket.create_connection((sys.argv[1], 7), 20); s.sendall(b'%d' % i); held.append(s)
print(all(s.recv(9) == b'%d' % i for i, s in enumerate(held)))
"""
    run = lab.run(PYTHON, "-c", script, NAME, timeout=60)
    t.equal(run.text, "True\n", run)
    t.equal(network(run)["totals"]["connections"], 400)
    t.check(network(run)["totals"]["connections_dropped"] >= 144, "what is not kept is counted")

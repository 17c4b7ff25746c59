# SPDX-License-Identifier: Apache-2.0
"""The network that is made at the program's first socket: only then, once, for everybody who waits for
it; and a run that cannot have it ends."""
import os
import signal
import time

import sboxtest
from network_lab import NAME, Lab, names, network
from sboxtest import PYTHON, Skip, descendants, test
from syscalls import calls

PROFILE = "[profile]\nextends = agent\n[network]\nmode = allow\nallow = example.org:443\n"
# Something is said whenever the program goes on.
ONE_SOCKET = "import socket; socket.socket(); print('on')"


def below(child, name):
    """By the name that everybody may read: /proc/PID/exe of what is not dumpable is root's alone."""
    found = []
    for pid in descendants(child.pid):
        try:
            with open(f"/proc/{pid}/comm") as comm:
                found += [pid] if comm.read() == f"{name}\n" else []
        except OSError:
            pass
    return found


def own_gate(t, script):
    """This launcher with another gate: a shell script, or no file when None."""
    prefix = f"{t.dir}/own"
    for name in ("bin", "libexec/sbox", "share"):
        t.mkdir(f"{prefix}/{name}")
    with open(t.sbox_path, "rb") as program:
        t.write(f"{prefix}/bin/sbox", program.read(), 0o755)
    os.symlink(f"{t.tree}/share/sbox", f"{prefix}/share/sbox")
    t.sbox_path = f"{prefix}/bin/sbox"
    if script is not None:
        t.write(f"{prefix}/libexec/sbox/sbox-gate", f"#!/bin/sh\n{script}\n", 0o755)


def slow_gate(t, seconds):
    own_gate(t, f"sleep {seconds}\nexec {t.tree}/libexec/sbox/sbox-gate")


# It hears all that it is told, says nothing, and ends with the supervisor.
DEAF = "exec cat <&3 >/dev/null"


def run_it(t, *argv, **keywords):
    keywords.setdefault("profile", t.profile(PROFILE))
    keywords.setdefault("opts", ["--quiet"])
    return t.sbox(*argv, **keywords)


def no_network(t, run, why):
    """Killed at the first socket, and both the record and stderr say so."""
    t.ended(run, "sbox_error", 125)
    t.equal(run.text, "", run)
    t.equal(network(run)["gate"], "not_ready")
    for text in (run.errtext, run.end["end"]["message"]):
        t.has(text, "killed at its first socket", run)
        t.has(text, why, run)


@test()
def no_socket_no_gate(t):
    """A UNIX socket is none, whatever it is used for; nor is a look at /proc/net."""
    script = """import socket, os
a, b = socket.socketpair(); a.send(b'x'); b.recv(1)
s = socket.socket(socket.AF_UNIX); s.bind('\\0name'); s.listen(1)
c = socket.socket(socket.AF_UNIX); c.connect('\\0name')
print(len(open('/proc/net/dev').readlines()))
"""
    run = run_it(t, PYTHON, "-c", script)
    t.equal(run.code, 0, run)
    t.equal(network(run)["gate"], "not_started")
    t.equal((network(run)["names"], network(run)["totals"]["connections"]), ([], 0))


@test()
def before_it_there_is_only_loopback(t):
    """No route, no listener, no address but loopback's: nothing to reach, whoever had a socket."""
    script = """import re
def inside(name): return open('/proc/net/' + name).read()
trie = inside('fib_trie')
print('198.18' in trie, '0.0.0.0/0' in trie and bool(re.search(r'/0 host LOCAL', trie)))
print([name for name in ('tcp', 'tcp6', 'udp', 'udp6', 'raw', 'raw6') if len(inside(name).splitlines()) > 1])
print([line.split(':')[0].strip() for line in inside('dev').splitlines()[2:]])
"""
    run = run_it(t, PYTHON, "-c", script)
    t.equal(run.text, "False False\n[]\n['lo']\n", run)
    after = run_it(t, PYTHON, "-c", f"{ONE_SOCKET}\n{script}")
    t.check(after.text.startswith("on\nTrue True\n"), f"control: it is seen once it is there: {after}")


# socket(family, type, protocol), socketpair, io_uring_setup: what a network could be had by.
WAYS = [("socket", 2, 3, 255), ("socket", 2, 1, 262), ("socket", 10, 1, 262), ("socket", 2, 5, 132),
        ("socket", 2, 10, 0x300), ("socket", 43, 1, 0), ("socket", 40, 1, 0), ("socket", 17, 3, 768),
        ("socket", 44, 3, 0), ("socket", 16, 3, 12), ("socket", 16, 3, 4), ("socket", 30, 1, 0),
        ("socket", 38, 5, 0), ("socketpair", 2, 1, 0, "z:8"), ("io_uring_setup", 8, "z:120")]


@test()
def no_way_round(t):
    """Other families, MPTCP, pairs, rings: refused by the filter, and no reason to make a network."""
    got, run = calls(t, *WAYS, profile=t.profile(PROFILE), opts=["--quiet"])
    t.equal([row for row, came in zip(WAYS, got) if not str(came).startswith("E")], [], got)
    t.equal(network(run)["gate"], "not_started")


@test()
def only_then(t):
    script = "import socket, sys\nprint('up', flush=True); sys.stdin.read(1)\n" \
             "s = socket.socket(); print('made', flush=True); sys.stdin.read(1)"
    child = t.start(PYTHON, "-c", script, profile=t.profile(PROFILE))
    t.equal(child.stdout.readline(), b"up\n")
    t.equal(below(child, "sbox-gate"), [], "before")
    child.stdin.write(b"x")
    child.stdin.flush()
    t.equal(child.stdout.readline(), b"made\n")
    t.equal(len(below(child, "sbox-gate")), 1, "after")
    # pid 1 of the sandbox: who set it up has left
    t.equal(len(below(child, "sbox")), 1, "no visitor")
    t.communicate(child, b"x", 20)
    t.equal(t.records()[-1]["network"]["gate"], "served")


@test(cases=["AF_INET", "AF_INET6", "AF_NETLINK"])
def every_family_that_sees_a_network(t, family):
    kind = "SOCK_RAW" if family == "AF_NETLINK" else "SOCK_DGRAM"
    script = f"import socket; socket.socket(socket.{family}, socket.{kind}); print('on')"
    run = run_it(t, PYTHON, "-c", script)
    t.equal((run.text, network(run)["gate"]), ("on\n", "served"), run)


@test(cases=["full", "calls", "off"])
def whatever_is_written_down(t, denials):
    script = "import socket\ntry: socket.getaddrinfo('elsewhere.example.com', 80)\nexcept OSError: print('none')\n" \
             "try: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\nexcept OSError as e: print(e.errno)"
    run = run_it(t, PYTHON, "-c", script, sets=[f"audit.denials={denials}", "audit.execs=no"])
    t.equal(run.text, "none\n97\n", run)
    t.equal(names(run), {"elsewhere.example.com": "not_allowed"})
    t.equal(len(run.denied("socket")), 0 if denials == "off" else 1, run)


@test()
def one_of_fifty_threads_is_first(t):
    lab = Lab(t, allow=f"{NAME}:7")
    script = """import socket, sys, threading
start, said = threading.Barrier(50), []
def visit(i):
    start.wait()
    s = socket.create_connection((sys.argv[1], 7), 20); s.sendall(b'%02d' % i)
    said.append(s.recv(2) == b'%02d' % i)
threads = [threading.Thread(target=visit, args=(i,)) for i in range(50)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(said == [True] * 50)
"""
    run = lab.run(PYTHON, "-c", script, NAME)
    t.equal(run.text, "True\n", run)
    t.equal(network(run)["totals"]["connections"], 50)


@test(cases=[50, 200])
def many_wait(t, count):
    """While the gate takes its time, a thread that opens files goes on; with more callers than are
    held (NOTIFY_HELD_MAX) it waits like them."""
    slow_gate(t, 1)
    script = """import socket, sys, threading, time
made, opened = [], []
def make(): made.append(socket.socket().fileno() > 0)
threads = [threading.Thread(target=make) for _ in range(int(sys.argv[1]))]
for thread in threads: thread.start()
time.sleep(0.2)
while not made and len(opened) < 100:
    open('/tmp/%d' % len(opened), 'w').close(); opened.append(1)
print(len(made), end=' ')
for thread in threads: thread.join()
print(len(made), all(made))
"""
    run = run_it(t, PYTHON, "-c", script, str(count))
    before, after, good = run.text.split()
    t.equal((after, good, network(run)["gate"]), (str(count), "True", "served"), run)
    t.check(count > 64 or before == "0", run)


@test(timeout=120)
def ten_thousand_sockets(t):
    script = "import socket\nfor i in range(10000): socket.socket().close()\nprint('on')"
    run = run_it(t, PYTHON, "-c", script, timeout=100)
    t.equal((run.text, network(run)["gate"]), ("on\n", "served"), run)
    t.equal(run.denials, [])


# ---- what fails ----

@test()
def gate_that_cannot_be_executed(t):
    """Known before the start: nothing runs, with or without a socket."""
    if os.path.exists("/usr/local/libexec/sbox/sbox-gate"):
        raise Skip("an sbox is installed where this one looks at last")
    own_gate(t, None)
    run = run_it(t, "touch", "ran")
    t.equal(run.code, 125, run)
    t.has(run.errtext, "needs sbox-gate")
    t.write(f"{t.dir}/own/libexec/sbox/sbox-gate", "", 0o644)
    run = run_it(t, "touch", "ran")
    t.equal(run.code, 125, run)
    t.has(run.errtext, "sbox-gate: Permission denied")
    t.check(not os.path.exists(f"{t.ws}/ran"), "the program was not run")


@test()
def gate_that_ends_at_once(t):
    own_gate(t, "exit 3")
    t.equal(run_it(t, "true").code, 0, "nobody asked for it")
    no_network(t, run_it(t, PYTHON, "-c", ONE_SOCKET), "it ended at once")
    # with a port of the host's it is wanted from the start
    run = run_it(t, "touch", "ran", sets=["network.listen=8080:18099"])
    t.equal(run.code, 125, run)
    t.check(not os.path.exists(f"{t.ws}/ran"), "the program was not run")


@test()
def gate_that_is_never_ready(t):
    """Bounded by itself, after ten seconds; and by the run's time."""
    own_gate(t, DEAF)
    no_network(t, run_it(t, PYTHON, "-c", ONE_SOCKET), "not ready in time")
    run = run_it(t, PYTHON, "-c", ONE_SOCKET, sets=["time.wall=2s", "time.grace=100ms"])
    t.ended(run, "timeout", 124)
    t.equal(run.text, "", run)


@test()
def gate_that_reads_nothing(t):
    """More rules than its socket holds: sbox does not wait for it for good."""
    own_gate(t, "exec sleep 300")
    allow = "\n".join(f"  {i:03}.{'x' * 60}.{'y' * 60}.example.org:443" for i in range(400))
    profile = t.profile(f"[profile]\nextends = agent\n[network]\nmode = allow\nallow = first.example.org:443\n{allow}\n")
    run = run_it(t, PYTHON, "-c", ONE_SOCKET, profile=profile)
    t.ended(run, "sbox_error", 125)
    t.equal(run.text, "", run)


# ---- ends while it is made ----

@test()
def program_ends_meanwhile(t):
    """One thread waits for the network, another one ends the program."""
    own_gate(t, DEAF)
    script = "import os, socket, threading, time\n" \
             "threading.Thread(target=socket.socket).start(); time.sleep(0.5); os._exit(3)"
    run = run_it(t, PYTHON, "-c", script)
    t.ended(run, "exited", 3)
    t.equal(network(run)["gate"], "not_ready")


@test()
def first_caller_is_killed_meanwhile(t):
    slow_gate(t, 2)
    script = """import os, signal, socket, time
child = os.fork()
if child == 0:
    socket.socket(); print('never', flush=True); os._exit(0)
time.sleep(0.5); os.kill(child, signal.SIGKILL); print(os.waitpid(child, 0)[1], flush=True)
socket.socket(); print('on')
"""
    run = run_it(t, PYTHON, "-c", script)
    t.equal((run.text, network(run)["gate"]), ("9\non\n", "served"), run)


@test()
def signals_meanwhile(t):
    """A timer every millisecond: the call waits, or is made again; nobody else's call is let go."""
    slow_gate(t, 1)
    script = """import signal, socket
ticks = []
signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
signal.siginterrupt(signal.SIGALRM, False)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for i in range(100): socket.socket().close()
signal.setitimer(signal.ITIMER_REAL, 0)
try: socket.getaddrinfo('elsewhere.example.com', 80)
except OSError: print('on', len(ticks) > 0)
"""
    run = run_it(t, PYTHON, "-c", script)
    t.equal(run.text, "on True\n", run)
    t.equal(names(run), {"elsewhere.example.com": "not_allowed"})


@test()
def child_of_vfork_is_first(t):
    slow_gate(t, 1)
    script = f"import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', {ONE_SOCKET!r}], capture_output=True).stdout)"
    run = run_it(t, PYTHON, "-c", script)
    t.equal((run.text, network(run)["gate"]), ("b'on\\n'\n", "served"), run)


@test(cases=["TERM", "KILL"])
def sbox_ends_meanwhile(t, name):
    own_gate(t, DEAF)
    child = t.start(PYTHON, "-c", f"print('up', flush=True); {ONE_SOCKET}", profile=t.profile(PROFILE),
                    sets=["time.grace=0s"])
    t.equal(child.stdout.readline(), b"up\n")
    t.check(sboxtest.wait_until(lambda: below(child, "cat"), 20), "the gate is there")
    child.send_signal(getattr(signal, f"SIG{name}"))
    begun = time.monotonic()
    out, _ = t.communicate(child, b"", 20)
    t.equal(child.returncode, 143 if name == "TERM" else -signal.SIGKILL)
    t.check(b"on" not in out and time.monotonic() - begun < 8, out)
    t.check(sboxtest.wait_until(lambda: not [p for p in descendants(os.getpid()) if p != os.getpid()
                                             and sboxtest.is_alive(p)], 10), "nobody is left")
    t.equal(run_it(t, "true").code, 0, "the next start clears up behind it")


@test(callers=("user",))
def a_user_who_is_called_root(t):
    """The gate does not run as uid 0, and there is nobody else: known before anything is run."""
    path = t.profile(PROFILE, "called-root")
    argv = ["unshare", "--user", "--map-root-user"]
    control = t.plain(*argv, *t.command(["sh", "-c", "echo ran"], opts=["--quiet"]))
    t.equal((control.code, control.out), (0, b"ran\n"), control)
    refused = t.plain(*argv, *t.command(["sh", "-c", "echo ran"], profile=path))
    t.equal((refused.code, refused.out), (125, b""), refused)
    t.has(refused.errtext, "run sbox outside of it")

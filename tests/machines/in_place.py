# SPDX-License-Identifier: Apache-2.0
"""The sandbox in place, on the host's own tree with Landlock and a keeper: files, processes, privileges."""
import os
import signal
import sys
import time
import socket

import worlds
from in_place_steps import accept, cmdline, items, nothing_left, place, scratches, start, world
from sboxtest import PYTHON, descendants, is_alive, processes_with, test, wait_until
from syscalls import calls


O_WRONLY, O_CREAT, O_PATH = 1, 0o100, 0o10000000


# ---- what holds all the same ---------------------------------------------------

@test()
def says_what_it_is(t):
    """In the record, in one line on stderr, in show; and what it calls enforced is what is left."""
    run = place(t, "sh", "-c", "echo hello", opts=[])
    t.ended(run, "exited", 0)
    t.equal(run.out, b"hello\n")
    t.check({"file.tree", "file.scratch", "network.mode", "process.namespaces",
             "process.hostname"} <= items(run, "reduced"), items(run, "reduced"))
    t.equal(items(run, "missing"), set())
    lines = [line for line in run.errtext.splitlines() if "accepted by the profile" in line]
    t.equal(len(lines), 1, run.errtext)
    for name in items(run, "reduced"):
        t.has(lines[0], f"{name} reduced")


@test()
def unlisted_files_are_closed(t):
    """Nothing outside can be read, listed, executed, made, changed, removed, moved or linked."""
    out = f"{t.dir}/out"
    secret = t.write(f"{t.home}/.ssh/id", "secret\n", 0o666)
    t.write(f"{out}/file", "outside\n", 0o666)
    t.write(f"{out}/run.sh", "#!/bin/sh\necho ran\n", 0o755)
    os.chmod(out, 0o777)
    rows = [("open", f"s:{out}/file", 0), ("open", f"s:{out}/file", O_WRONLY),
            ("open", f"s:{secret}", 0), ("open", f"s:{out}", 0), ("open", "s:/", 0),
            ("open", "s:/etc/shadow", 0), ("open", "s:/etc/passwd", 0), ("open", "s:/root", 0),
            ("open", f"s:{out}/new", O_WRONLY | O_CREAT, 0o600), ("unlink", f"s:{out}/file"),
            ("truncate", f"s:{out}/file", 0), ("mkdir", f"s:{out}/new", 0o700),
            ("rmdir", f"s:{t.home}/.ssh"), ("symlink", "s:x", f"s:{out}/new"),
            ("mknod", f"s:{out}/new", 0o10600, 0), ("execve", f"s:{out}/run.sh", 0, 0),
            ("open", f"s:/tmp/{os.path.basename(t.dir)}-x", O_WRONLY | O_CREAT, 0o600),
            ("open", "s:/dev/shm/x", O_WRONLY | O_CREAT, 0o600), ("open", "s:/dev/ptmx", 2),
            ("rename", f"s:{out}/file", f"s:{t.ws}/stolen"), ("link", f"s:{out}/file", f"s:{t.ws}/l"),
            ("rename", f"s:{t.ws}/probe-call", f"s:{out}/planted")]
    control, _ = calls(t, *rows[:5], runner=t.plain)
    t.check(all(isinstance(r, int) for r in control), f"control: {control}")
    got, run = calls(t, *rows, runner=lambda *a, **k: place(t, *a, **k))
    t.check(set(got[:-3]) <= {"EACCES", "EPERM"}, f"{list(zip(rows, got))}")
    t.check(set(got[-3:]) <= {"EXDEV", "EACCES", "EPERM"}, got[-3:])
    t.equal(t.read(f"{out}/file"), b"outside\n")
    t.equal(sorted(os.listdir(out)), ["file", "run.sh"])


@test()
def ways_around_by_links(t):
    out = t.write(f"{t.dir}/out/file", "outside\n", 0o666)
    os.symlink(out, f"{t.ws}/link")
    os.symlink("/", f"{t.ws}/root")
    ways = [f"{t.ws}/link", f"{t.ws}/root{out}", f"{t.ws}/../out/file", f"/proc/self/root{out}",
            "/proc/self/cwd/../out/file", f"/proc/{os.getpid()}/root{out}",
            f"/proc/{os.getppid()}/cwd/x", f"/dev/fd/../root{out}"]
    rows = [("open", f"s:{way}", flags) for way in ways for flags in (0, O_WRONLY)]
    got, run = calls(t, *rows, runner=lambda *a, **k: place(t, *a, **k))
    t.check(all(isinstance(r, str) for r in got), got)


@test()
def the_workspace_is_writable_and_works(t):
    script = "mkdir -p a/b && echo x > a/f && mv a/f a/b/g && cat a/b/g && cp /bin/true t && ./t && " \
             "ln -s g a/b/l && rm a/b/l && chmod 600 a/b/g && touch a/b/h && ls a/b && rm -r a"
    run = place(t, "sh", "-ec", script)
    t.equal((run.code, run.out), (0, b"x\ng\nh\n"), run)


@test()
def scratch_is_private_and_found(t):
    script = "import os, tempfile, stat\n" \
             "f = tempfile.NamedTemporaryFile(); f.write(b'x'); f.flush()\n" \
             "s = os.stat(os.path.dirname(f.name) + '/..'); print(oct(stat.S_IMODE(s.st_mode)), f.name)\n" \
             "open(os.path.expanduser('~/made'), 'w').close(); print(os.environ['HOME'])\n"
    run = place(t, PYTHON, "-c", script)
    t.equal(run.code, 0, run)
    words = run.text.split()
    t.equal(words[0], "0o700")
    t.check(words[1].startswith("/tmp/sbox-scratch-") and words[2].startswith("/tmp/sbox-scratch-"), run)


@test()
def scratch_that_resists(t):
    """Deep, closed, full of links: it goes all the same, and nothing outside is touched."""
    precious = t.write(f"{t.dir}/precious", "precious\n", 0o600)
    script = "import os\ntop = os.environ['TMPDIR']; os.chdir(top)\n" \
             f"os.symlink('{precious}', 'link'); os.symlink('/', 'root'); os.mkfifo('fifo')\n" \
             "os.mkdir('shut'); open('shut/file', 'w').close(); os.chmod('shut', 0)\n" \
             "for i in range(1500): os.mkdir('d'); os.chdir('d')\n" \
             "for i in range(20): open(f'f{i}', 'w').close()\n" \
             f"os.chdir(top); os.chmod(top + '/../home', 0); os.rename(top, top + '2'); os.symlink('{t.dir}', top)\n"
    run = place(t, PYTHON, "-c", script)
    t.equal(run.code, 0, run)
    t.equal(t.read(precious), b"precious\n")
    t.equal(os.stat(precious).st_mode & 0o777, 0o600)


@test(parallel=False)
def scratch_is_bounded(t):
    script = "dd if=/dev/zero of=$TMPDIR/big bs=1M count=600 2>/dev/null; sleep 3"
    run = place(t, "sh", "-c", script, sets=["file.scratch=40M"])
    t.ended(run, "disk", 137)
    t.equal(run.decided_by, "file.scratch")


@test(parallel=False)
def growth_is_bounded(t):
    run = place(t, "dd", "if=/dev/zero", "of=big", "bs=1M", "count=600", sets=["file.growth=50M"])
    t.ended(run, "disk", 137)
    script = "import os, time\nfd = os.open('gone', os.O_CREAT | os.O_WRONLY); os.unlink('gone')\n" \
             "for i in range(600): os.write(fd, bytes(1 << 20))\ntime.sleep(3)\n"
    run = place(t, PYTHON, "-c", script, sets=["file.growth=50M"])
    t.ended(run, "disk", 137)


ESCAPEE = """import os, sys, time
for i in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 64); os.chdir('/usr')
            os.execv('/bin/sleep', ['sleep', '1234.%s' % sys.argv[1]])
        os._exit(0)
    os.wait()
time.sleep(0.3); print('left', flush=True)
"""


@test()
def double_fork_and_setsid(t):
    marker = str(os.getpid())
    control = t.plain(PYTHON, "-c", ESCAPEE, marker)
    t.equal(len(wait_until(lambda: processes_with("1234." + marker))), 3, "control: they live on")
    for pid in processes_with("1234." + marker):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    t.equal(control.code, 0)
    run = place(t, PYTHON, "-c", ESCAPEE, marker)
    t.equal((run.code, run.out), (0, b"left\n"), run)
    t.equal(wait_until(lambda: not processes_with("1234." + marker)), True, "alive afterwards")


def escapees(t, marker):
    child = start(t, PYTHON, "-c", ESCAPEE + "time.sleep(600)", marker)
    t.equal(child.stdout.readline(), b"left\n")
    t.equal(len(processes_with("1234." + marker)), 3)
    return child


@test(cases=["sbox", "group", "keeper", "both", "keeper-then-sbox"])
def whoever_is_killed(t, who):
    """kill -9 of sbox, of its process group, of the keeper, of both: all of it dies."""
    marker = str(os.getpid())
    child = escapees(t, marker)
    keeper = next(p for p in descendants(child.pid)
                  if any("1234." in cmd for cmd in (cmdline(c) for c in descendants(p))))
    if who == "group":
        os.killpg(os.getpgid(child.pid), 0)  # it is the test's own: signal sbox and what shares it
        for pid in [child.pid, *[p for p in descendants(child.pid) if os.getpgid(p) == os.getpgid(0)]]:
            os.kill(pid, signal.SIGKILL)
    if who in ("keeper", "both", "keeper-then-sbox"):
        os.kill(keeper, signal.SIGKILL)
    if who == "keeper-then-sbox":
        time.sleep(0.01)
    if who in ("sbox", "both", "keeper-then-sbox"):
        child.kill()
    t.communicate(child, None, 20)
    t.equal(wait_until(lambda: not processes_with("1234." + marker)), True, "alive afterwards")
    wait_until(lambda: not descendants(os.getpid()))
    t.no_process_left()
    run = place(t, "true")
    t.ended(run, "exited", 0)


@test()
def a_living_runs_scratch_is_not_swept(t):
    """By lock, not by age or by name: another start leaves it, as long as sbox or keeper live."""
    child = start(t, "sh", "-c", "echo mine > $TMPDIR/f; echo up; sleep 60; cat $TMPDIR/f")
    child.stdout.readline()
    place_left = scratches(t)
    t.equal(len(place_left), 1)
    t.sbox("true", sets=accept(), preexec=world(t), opts=["--quiet"])
    t.check(os.path.exists(place_left[0] + "/tmp"), "the other run's scratch is gone")
    child.send_signal(signal.SIGTERM)
    t.communicate(child, None, 20)
    nothing_left(t)


@test()
def signals_reach_nobody_else(t):
    bystander = t.popen(["sleep", "60"])
    sbox = "$PPID"
    rows = [("kill", bystander.pid, 9), ("tgkill", bystander.pid, bystander.pid, 9),
            ("tkill", bystander.pid, 9), ("kill", -os.getpgid(bystander.pid), 0), ("kill", os.getpid(), 0),
            ("rt_sigqueueinfo", bystander.pid, 9, "x:0900000000000000ffffffff" + "00" * 116),
            ("setpriority", 0, bystander.pid, 19), ("ioprio_set", 1, bystander.pid, 0x6000),
            ("prlimit64", bystander.pid, 7, 0, "z:16"), ("sched_setaffinity", bystander.pid, 8, "x:01" + "00" * 7)]
    control, _ = calls(t, ("kill", bystander.pid, 0), runner=t.plain)
    t.equal(control, [0])
    got, _ = calls(t, *rows, runner=lambda *a, **k: place(t, *a, **k))
    t.check(all(isinstance(r, str) for r in got), got)
    run = place(t, "sh", "-c", f"kill -9 {sbox}; sleep 0.2; kill -9 -1; sleep 0.5; echo alive")
    t.check(run.code in (0, 137), run)
    t.equal(bystander.poll(), None, "the bystander lives")
    t.check(is_alive(os.getpid()), "so do we")


@test()
def other_processes_are_closed(t):
    """Memory, environment, descriptors, working folder and trace of anybody else."""
    bystander = t.popen(["sleep", "60"], env={"SECRET": "hunter2"})
    ways = ["environ", "mem", "auxv", "fd/0", "cwd/x", "root/etc/passwd", "exe", "maps"]
    rows = [("open", f"s:/proc/{bystander.pid}/{way}", 0) for way in ways]
    rows += [("ptrace", 16, bystander.pid, 0, 0), ("ptrace", 0x4206, bystander.pid, 0, 0),
             ("process_vm_readv", bystander.pid, "z:16", 1, "z:16", 1, 0),
             ("kcmp", bystander.pid, bystander.pid, 0, 0, 0)]
    script = f"cat /proc/{bystander.pid}/environ /proc/{bystander.pid}/maps " \
             f"/proc/{bystander.pid}/syscall /proc/{bystander.pid}/stack; for p in /proc/[0-9]*; do " \
             "grep -l hunter2 $p/environ; done"
    got, run = calls(t, *rows, runner=lambda *a, **k: place(t, *a, **k))
    t.check(all(isinstance(r, str) for r in got), list(zip(rows, got)))
    run = place(t, "sh", "-c", script)
    t.equal(run.out, b"", run)


@test()
def sbox_and_keeper_are_closed(t):
    script = "import os\n" \
             "def up(p): return int(open(f'/proc/{p}/stat').read().rsplit(')')[1].split()[1])\n" \
             "keeper = os.getppid(); sbox = up(keeper)\n" \
             "for pid in (keeper, sbox):\n" \
             "    for name in ('environ', 'mem', 'maps', 'fd/0', 'auxv', 'root', 'cwd/x'):\n" \
             "        try: print('OPEN', pid, name, len(open(f'/proc/{pid}/{name}', 'rb').read(64)))\n" \
             "        except OSError: pass\n" \
             "    for sig in (0, 9, 15, 19):\n" \
             "        try: os.kill(pid, sig); print('KILLED', pid, sig)\n" \
             "        except OSError: pass\n" \
             "print('done')\n"
    run = place(t, PYTHON, "-c", script)
    t.equal((run.code, run.out), (0, b"done\n"), run)


@test()
def no_network(t):
    """Neither the host's loopback nor its UNIX sockets: by path, by abstract name."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{t.dir}/sock")
    os.chmod(f"{t.dir}/sock", 0o777)
    listener.listen(5)
    tcp = socket.create_server(("127.0.0.1", 0))
    rows = [("socket", 1, 1, 0), ("socket", 1, 2, 0), ("socket", 2, 1, 0), ("socket", 10, 2, 0),
            ("socket", 16, 3, 0), ("socket", 17, 3, 0), ("socket", 40, 1, 0), ("socketpair", 1, 1, 0, "z:8")]
    got, run = calls(t, *rows, runner=lambda *a, **k: place(t, *a, **k))
    t.equal(got, ["EAFNOSUPPORT"] * 7 + [0], run)
    t.check(run.denied(boundary="network"), f"named: {run}")
    script = "import asyncio\nasync def f():\n  await asyncio.to_thread(print, 'async')\nasyncio.run(f())"
    run = place(t, PYTHON, "-c", script)
    t.equal(run.out, b"async\n", run)
    tcp.close()


@test()
def ipc_of_the_host(t):
    rows = [("shmget", 0, 4096, 0o1600), ("shmat", 0, 0, 0), ("semget", 0, 1, 0o1600),
            ("msgget", 0, 0o1600), ("mq_open", "s:x", 0o102, 0o600, 0), ("shmctl", 0, 0, 0)]
    got, _ = calls(t, *rows, runner=lambda *a, **k: place(t, *a, **k))
    t.equal(got, ["EPERM"] * len(rows))


@test()
def privileges(t):
    script = "grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):' /proc/self/status; id -u; id -G"
    run = place(t, "sh", "-c", script)
    lines = run.text.split("\n")
    t.check(all(line.endswith("0" * 16) for line in lines[:4]), run)
    t.has(run.text, "NoNewPrivs:\t1")
    t.has(run.text, "Seccomp:\t2")
    t.check(lines[6] != "0", f"never root: {run}")
    rows = [("setuid", 0), ("unshare", worlds.NEWUSER), ("clone", worlds.NEWUSER | 17, 0, 0, 0, 0),
            ("mount", "s:x", "s:/mnt", "s:tmpfs", 0, 0), ("setns", 0, 0), ("chroot", "s:/"),
            ("chmod", f"s:{t.ws}/probe-call", 0o4755), ("keyctl", 0, 0, 0), ("bpf", 0, 0, 0)]
    got, _ = calls(t, *rows, runner=lambda *a, **k: place(t, *a, **k))
    t.check(all(isinstance(r, str) for r in got), got)

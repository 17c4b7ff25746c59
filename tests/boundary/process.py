# SPDX-License-Identifier: Apache-2.0
"""The process boundary: own pids, own ipc, own host name, and limits that hold."""
import os
import re
import resource
import subprocess

from sboxtest import PYTHON, SLOW, Skip, test
from syscalls import calls


@test()
def only_own_processes_are_visible(t):
    script = "import os\nprint(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()), os.getpid())"
    run = t.sbox(PYTHON, "-c", script, opts=["--quiet"])
    t.check(re.fullmatch(r"\[1, (\d+)\] \1\n", run.text), f"pid 1 and the program: {run.text}")


@test()
def orphans_are_reaped(t):
    script = "for i in $(seq 80); do (true &) ; done; sleep 0.5; ls /proc | grep -c '^[0-9]'"
    run = t.sbox("sh", "-c", script, opts=["--quiet"])
    t.check(int(run.text) <= 6, f"{run.text} processes, zombies among them")


@test()
def open_files_limit(t):
    script = "import os\nfds = []\ntry:\n  while len(fds) < 5000: fds.append(os.open('/dev/null', 0))\n" \
             "except OSError as e: print(e.errno, len(fds) + 3)"
    control = t.plain(PYTHON, "-c", script)
    t.check("24 50" not in control.text, f"control: {control}")
    run = t.sbox(PYTHON, "-c", script, sets=["process.open_files=50"], opts=["--quiet"])
    t.check(run.text in ("24 50\n", "24 49\n"), f"EMFILE: {run}")
    got, _ = calls(t, ("prlimit64", 0, 7, "x:" + (4096).to_bytes(8, "little").hex() * 2, 0),
                   sets=["process.open_files=50"])
    t.equal(got, ["EPERM"], "the limit cannot be raised")


@test()
def largest_file(t):
    sets = ["file.max_file=1M"]
    run = t.sbox("sh", "-c", "trap '' XFSZ; dd if=/dev/zero of=big bs=64K count=40", sets=sets)
    t.check(run.code == 1 and "too large" in run.errtext, f"EFBIG: {run}")
    t.equal(os.path.getsize(f"{t.ws}/big"), 1 << 20)
    run = t.sbox("dd", "if=/dev/zero", "of=big2", "bs=64K", "count=40", sets=sets)
    t.equal((run.kind, run.end["end"]["signal"], run.code), ("signaled", "SIGXFSZ", 153), run)
    control = t.plain("dd", "if=/dev/zero", "of=big3", "bs=64K", "count=40")
    t.equal((control.code, os.path.getsize(f"{t.ws}/big3")), (0, 2560 << 10), "control")


@test()
def tasks_limit(t):
    sets = ["process.processes=40"]
    control = t.plain(t.probe("bomb"), "fork", "100", "1")
    t.has(control.text, "refused 0", "control")
    for way in ("fork", "thread"):
        run = t.sbox(t.probe("bomb"), way, "300", "1", sets=sets, opts=["--quiet"])
        made = int(run.text.split()[1]) if run.text.startswith("made") else None
        t.check(made is not None and made <= 40, f"{way}: {run}")
        t.has(run.text, "EAGAIN")


@test()
def tasks_limit_is_each_runs_own(t):
    """P12: two runs of one account do not eat each other's share."""
    sets = ["process.processes=60"]
    children = [t.start(t.probe("bomb"), "fork", "40", "2", sets=sets, opts=["--quiet"])
                for _ in range(3)]
    for child in children:
        out, err = t.communicate(child, b"", 30)
        t.check(b"refused 0" in out, f"{out!r} {err!r}")


# Only the kernel knows of a task or descriptor that a resource limit refused; what a look sees is there at the end.
REFUSING = [("processes", "process.processes=40", ["bomb", "fork", "300", "1"], "EAGAIN", False),
            ("open_files", "process.open_files=50", ["eat", "pipe", "60"], "EMFILE", False),
            ("scratch", "file.scratch=8M", ["eat", "tmp", "20"], "ENOSPC", True)]


@test(cases=REFUSING)
def limits_that_refuse_are_named(t, case):
    """A limit that does not end the run but makes calls fail is in denials, with its line."""
    name, override, argv, errno, always = case
    run = t.sbox(t.probe(argv[0]), *argv[1:], sets=[override], opts=["--quiet"])
    t.has(run.text, errno, run)
    if not run.denials and not always:
        raise Skip("a resource limit that makes calls fail is named only where a look sees it reached")
    named = [d for d in run.denials if name in str(d["permit"]) or name in str(d["object"])]
    t.check(named, f"denials name the limit: {run}")


@test()
def what_sbox_was_called_with_is_never_in_pid_1(t):
    """Pid 1 is slow, once the program has begun: still its first look finds nothing."""
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=timerfd_settime",
              "-e", "inject=timerfd_settime:delay_enter=200000"]
    run = t.plain(*strace, *t.command(["cat", "/proc/1/cmdline"], opts=["--quiet", "--label", "secret=word"]))
    t.equal((run.code, run.out.strip(b"\0")), (0, b""), run)
    t.check(run.out, "pid 1 has arguments, of zeros")


@test()
def host_name(t):
    run = t.sbox("uname", "-n", opts=["--quiet"])
    t.equal(run.out, b"sandbox\n")
    run = t.sbox("uname", "-n", sets=["process.hostname=box-7.test"], opts=["--quiet"])
    t.equal(run.out, b"box-7.test\n")
    got, _ = calls(t, ("sethostname", "s:evil", 4), ("setdomainname", "s:evil", 4))
    t.check(all(r in ("EPERM", "ENOSYS") for r in got), got)


@test()
def own_sysv_and_posix_ipc(t):
    made = subprocess.run(["ipcmk", "-M", "4096"], capture_output=True, text=True)
    number = re.search(r"\d+", made.stdout)
    try:
        run = t.sbox("cat", "/proc/sysvipc/shm", opts=["--quiet"])
        t.check(not number or number.group() not in run.text, "the host's segments are not visible")
    finally:
        if number:
            subprocess.run(["ipcrm", "-m", number.group()], capture_output=True)


@test()
def namespaces_are_all_new(t):
    run = t.sbox("sh", "-c", "for n in cgroup ipc mnt net pid uts user; do readlink /proc/self/ns/$n; done",
                 opts=["--quiet"])
    names = run.text.split()
    t.equal(len(names), 7, run)
    for name in names:
        kind = name.split(":")[0]
        t.check(os.readlink(f"/proc/self/ns/{kind}") != name, f"{name} is the host's")


@test()
def rlimits_inside(t):
    run = t.sbox("cat", "/proc/self/limits", opts=["--quiet"])
    for line in run.text.splitlines():
        if "core file" in line:
            t.check(line.split()[4] in ("0", "1"), f"core files: {line}")
        if "locked memory" in line:
            t.check(line.split()[4] != "unlimited", line)
    t.note(f"host core limit {resource.getrlimit(resource.RLIMIT_CORE)}")


@test()
def no_core_file(t):
    """P19: also where the limit may be raised."""
    run = t.sbox(PYTHON, "-c", "import os, resource, sys\n"
                 "try: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30)); print('raised')\n"
                 "except (ValueError, OSError) as e: print('no', e)\nsys.stdout.flush(); os.abort()",
                 preexec=raise_core)
    t.equal(run.kind, "signaled", run)
    t.check(not [n for n in os.listdir(t.ws) if n.startswith("core")], os.listdir(t.ws))


def raise_core():
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


@test()
def cpus_share(t):
    """cpus: half a processor's worth of time, or a refusal that says why."""
    run = t.sbox(t.probe("spin"), "threads", "2", sets=["process.cpus=0.5"])
    if run.code == 125:
        t.has(run.errtext, "cpus")
        return
    used = (run.end["usage"]["user_ns"] + run.end["usage"]["sys_ns"]) / 1e9
    state = next(i["state"] for i in run.start["enforced"] if i["name"] == "cpus")
    t.check(used < 1.6 or state != "enforced", f"{used:.2f} s of processor in 2 s ({state})")


@test()
def whole_processors(t):
    """Without a control group a run begins with as many as it may have, and the plan says that it can choose."""
    show = ["python3", "-c", "import os; print(len(os.sched_getaffinity(0)))"]
    if int(t.plain(*show).text) < 2:
        raise Skip("this machine has one processor only")
    run = t.sbox(*show, sets=["process.cpus=1"], opts=["--quiet"])
    item = next(i for i in run.start["enforced"] if i["name"] == "cpus")
    if "affinity" in item["mechanism"]:
        t.equal((run.text, item["state"]), ("1\n", "reduced"), run)


@test()
def memory_limit_ends_the_run(t):
    control = t.plain(t.probe("eat"), "heap", "300", "briefly")
    t.has(control.text, "got 300", "control")
    run = t.sbox(t.probe("eat"), "heap", "700", sets=["process.memory=150M"])
    t.ended(run, "memory", 137)
    t.has(run.errtext, "memory", "stderr names the key")
    peak = run.end["usage"]["peak_memory_bytes"]
    t.note(f"150M asked; peak {peak and peak >> 20} MiB ({run.end['usage']['memory_source']})")
    t.check(peak is None or peak < 400 << 20, f"overshoot: {peak}")


@test()
def memory_of_many_processes_counts_together(t):
    script = "for i in 1 2 3 4 5 6 7 8; do ./probe-eat heap 60 & done; wait; echo survived"
    t.probe("eat")
    run = t.sbox("sh", "-c", script, sets=["process.memory=200M"])
    t.ended(run, "memory", 137)


@test()
def memory_below_the_limit_is_left_alone(t):
    run = t.sbox(t.probe("eat"), "heap", "100", sets=["process.memory=200M"])
    t.ended(run, "exited", 0)
    usage = run.end["usage"]
    t.check(usage["peak_memory_bytes"] is None or usage["peak_memory_bytes"] > 90 << 20, usage)


@test()
def usage_is_true(t):
    run = t.sbox(t.probe("spin"), "cpu", "1")
    used = (run.end["usage"]["user_ns"] + run.end["usage"]["sys_ns"]) / 1e9
    own = float(run.text.split()[-1])
    t.check(own > 0.01 and abs(used - own) < 0.1 * SLOW, f"{used} s, the program itself counts {own}")
    t.check(0.9 < run.end["usage"]["wall_ns"] / 1e9 < 3 * SLOW, run.end["usage"])

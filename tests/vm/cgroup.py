# SPDX-License-Identifier: Apache-2.0
"""Control groups, version 2: as root, and as a user to whom a group is delegated."""
import os
import signal

from sboxtest import Skip, cgroups, test, wait_until
import machines

MOUNT = "/sys/fs/cgroup"


START = """#!/bin/sh
set -e
{group}
for name in "" /cgroup.procs /cgroup.threads /cgroup.subtree_control; do chown {uid}:{gid} "$group$name"; done
echo $$ >"$group/cgroup.procs"
exec {user} {sbox} "$@"
"""


class Group:
    """While this lasts t.sbox starts in a group of its caller's own, as systemd delegates one to each scope; with
    `shared` in one and the same."""

    def __init__(self, t, shared=False):
        if not os.path.exists(f"{MOUNT}/cgroup.controllers"):
            raise Skip(f"no cgroup v2 at {MOUNT}")
        self.t, self.path = t, f"{MOUNT}/test-{os.getpid()}"
        self.shared = f"{self.path}/shared"
        os.makedirs(self.shared)
        for group in (MOUNT, self.path):
            machines.write(f"{group}/cgroup.subtree_control", "+memory +pids +cpu")
        self.real = t.sbox_path
        text = START.format(
            group=f"group={self.shared}" if shared else f"group=$(mktemp -d {self.path}/XXXXXX)",
            user=f"setpriv --reuid={t.uid} --regid={t.gid} --clear-groups" if t.uid else "",
            uid=t.uid, gid=t.gid, sbox=t.sbox_path)
        self.start = t.write(f"{t.dir}/in-group", text, 0o755)

    def __enter__(self):
        self.t.sbox_path = self.start
        return self

    def run(self, *argv, **keywords):
        return self.t.sbox(*argv, as_root=True, **keywords)

    def left(self):
        return [d for d in cgroups() if d.startswith(f"{self.path}/")]

    def __exit__(self, *_):
        self.t.sbox_path = self.real
        for folder, _, _ in os.walk(self.path, topdown=False):
            os.rmdir(folder)


def item(run, name):
    return next(i for i in run.start["enforced"] if i["name"] == name)


@test()
def memory(t):
    with Group(t) as group:
        control = group.run(t.probe("eat"), "heap", "100", sets=["process.memory=200M"])
        t.ended(control, "exited", 0)
        run = group.run(t.probe("eat"), "heap", "300", sets=["process.memory=150M"])
        t.ended(run, "memory", 137)
        t.equal((item(run, "memory")["state"], item(run, "memory")["mechanism"]), ("enforced", "cgroup v2 memory.max"))
        usage = run.end["usage"]
        t.check(usage["peak_memory_bytes"] <= 150 << 20, usage)
        t.equal(usage["memory_source"], "cgroup", usage)
        t.equal(group.left(), [])


@test()
def memory_of_all_together(t):
    t.probe("eat")
    with Group(t) as group:
        script = "for i in 1 2 3 4 5; do ./probe-eat heap 60 briefly & done; wait; echo survived"
        run = group.run("sh", "-c", script, sets=["process.memory=200M"])
        t.ended(run, "memory", 137)
        t.check(b"survived" not in run.out, run)


@test()
def memory_that_is_no_heap(t):
    """What sampling cannot see, and therefore refuses: files in memory."""
    with Group(t) as group:
        script = "import os\nf = os.memfd_create('x')\nwhile True: os.write(f, b'x' * (1 << 20))\n"
        run = group.run("/usr/bin/python3", "-c", script, sets=["process.memory=100M", "file.max_file="])
        t.ended(run, "memory", 137)


@test()
def tasks(t):
    with Group(t) as group:
        run = group.run(t.probe("bomb"), "fork", "300", "1", sets=["process.processes=40"], opts=["--quiet"])
        t.has(run.text, "EAGAIN", run)
        t.check(int(run.text.split()[1]) <= 40, run)
        t.has(item(run, "processes")["mechanism"], "cgroup pids")
        t.equal([d["permit"] for d in run.denied(boundary="process")], ["[process] processes = 80"], run)


@test()
def processors(t):
    with Group(t) as group:
        run = group.run(t.probe("spin"), "threads", "2", sets=["process.cpus=0.5"])
        used = (run.end["usage"]["user_ns"] + run.end["usage"]["sys_ns"]) / 1e9
        t.equal(item(run, "cpus")["state"], "enforced", run)
        wall = run.end["usage"]["wall_ns"] / 1e9
        t.check(used < 0.5 * wall + 0.3, f"{used:.2f} s of processor in {wall:.2f} s")


@test()
def all_are_killed_at_the_limit_of_time(t):
    with Group(t) as group:
        script = "for i in $(seq 20); do (trap '' TERM; setsid sleep 60 &) ; done; exec sleep 60"
        run = group.run("sh", "-c", script, sets=["time.wall=2s", "time.grace=300ms"])
        t.ended(run, "timeout", 124)
        t.equal(group.left(), [])


@test()
def what_a_killed_sbox_left_is_taken_away(t):
    with Group(t) as group:
        child = t.start("sleep", "60", as_root=True)
        t.check(wait_until(group.left, 10), "the run has a group")
        begun = wait_until(lambda: [r for r in t.records() if r["type"] == "run.start"], 10)
        t.check(begun, "the start is written down")
        os.kill(child.pid, signal.SIGKILL)
        t.communicate(child, b"", 30)
        t.equal(group.run("true").code, 0)
        t.equal(wait_until(lambda: not group.left(), 10), True, group.left())


@test()
def neighbours_in_the_group(t):
    """A shell's own group, say: nothing can be limited there, and the plan says what would help."""
    with Group(t, shared=True) as group:
        neighbour = t.popen(["sh", "-c", f"echo $$ >{group.shared}/cgroup.procs; exec sleep 60"], as_root=True)
        t.check(wait_until(lambda: open(f"{group.shared}/cgroup.procs").read().split(), 10), "it is in there")
        try:
            run = group.run("true", sets=["process.memory=200M"])
            t.equal(item(run, "memory")["state"], "reduced", run)
            t.has(item(run, "memory")["reason"], "Delegate=yes")
            refused = group.run("true", sets=["process.memory=200M", "process.on_missing=refuse"])
            t.equal(refused.code, 125, refused)
        finally:
            neighbour.kill()
            neighbour.wait()
            t.background.remove(neighbour)


@test()
def limits_of_the_group_itself(t):
    """No limit is asked for, and what is set further up ends the program all the same."""
    with Group(t) as group:
        machines.write(f"{group.path}/memory.max", str(150 << 20))
        run = group.run(t.probe("eat"), "heap", "300", sets=["process.memory=1G"], timeout=60)
        t.check(run.kind in ("memory", "signaled", None), run)
        t.check(run.code != 0, run)

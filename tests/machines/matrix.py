# SPDX-License-Identifier: Apache-2.0
"""One machine after the other: what the plan says there, what the run does, and that the usual
script runs to the same end on all of them, or is refused with the way out.

A container is made here by what makes it different for sbox: its seccomp filter, the
capabilities that it has not, and its masked /proc.
"""
import json
import os
import shutil

import worlds
from sboxtest import PYTHON, test
from syscalls import calls

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECTIONS = ("file", "network", "process", "privilege")
IN_PLACE = {"file.tree", "file.scratch", "network.mode", "process.namespaces", "process.hostname",
            "process.tty", "privilege.denials"}
USER_IN_PLACE = IN_PLACE | {"process.processes", "privilege.user"}
# Reduced or not by what the machine gives, whatever the world: memory by the cgroup.
ANYWHERE = {"process.memory"}

# name: (world, caller, reduced, missing)
MACHINES = {
    "plain-user": (None, "user", set(), set()),
    "plain-root": (None, "root", set(), set()),
    "no-new-privs-user": (worlds.no_new_privs, "user", set(), set()),
    "no-new-privs-root": (worlds.no_new_privs, "root", set(), set()),
    "no-userns-user": (worlds.no_user_namespaces, "user", USER_IN_PLACE, set()),
    "no-userns-root": (lambda: worlds.root_namespace([("user", 0)]), "root", {"privilege.user"},
                       {"file.writes"}),
    "namespace-root": (worlds.root_namespace, "root", set(), {"file.writes"}),
    "container-user": (worlds.container_seccomp, "user", USER_IN_PLACE, set()),
    "container-root": (worlds.container_root, "root", IN_PLACE, set()),
    "masked-proc-user": (worlds.masked_proc, "user", {"file.proc", "process.namespaces", "process.tty"}, set()),
    "masked-proc-root": (worlds.masked_proc, "root", set(), set()),
    "no-landlock-user": (worlds.no_landlock, "user", set(), {"file.landlock"}),
    "no-landlock-root": (worlds.no_landlock, "root", set(), {"file.landlock"}),
    "no-mnt": (worlds.no_namespaces_of("mnt"), "user", USER_IN_PLACE, set()),
    "no-pid": (worlds.no_namespaces_of("pid"), "user", {"file.proc", "process.namespaces", "process.tty"}, set()),
    "no-net": (worlds.no_namespaces_of("net"), "user", {"network.mode"}, set()),
    "no-ipc": (worlds.no_namespaces_of("ipc"), "user", {"process.namespaces"}, set()),
    "no-uts": (worlds.no_namespaces_of("uts"), "user", {"process.namespaces", "process.hostname"}, set()),
    "no-cgroup": (worlds.no_namespaces_of("cgroup"), "user", {"process.namespaces"}, set()),
}


def here(t, name):
    """The machine's world, its expectations, or None for another caller's."""
    world, caller, reduced, missing = MACHINES[name]
    if caller != ("root" if t.uid == 0 else "user"):
        return None
    if t.uid == 0:
        os.chmod(t.ws, 0o777)  # a leased uid without an idmap
    shutil.copy(f"{HERE}/demo/hello.py", f"{t.ws}/hello.py")
    t.own(f"{t.ws}/hello.py")
    return world, reduced, missing


def sets(word):
    return [f"{section}.on_missing={word}" for section in SECTIONS]


def names(run, state):
    return {f"{i['boundary']}.{i['name']}" for i in run.start["enforced"] if i["state"] == state} - ANYWHERE


def shown(t, world, profile="agent"):
    """`sbox show`: {item: state}"""
    child = t.popen([t.sbox_path, "show", profile], preexec=world, stdout=-1, stderr=-1, stdin=-3)
    out, err = t.communicate(child, b"", 30)
    t.equal(child.returncode, 0, err)
    rows = [line.split() for line in out.decode().split("# on this machine:")[1].splitlines() if line]
    return {f"{row[1]}.{row[2]}": row[3] for row in rows if row[1] in (*SECTIONS, "time")}


@test(cases=list(MACHINES))
def machine(t, name):
    found = here(t, name)
    if found is None:
        return
    world, reduced, missing = found
    worlds.doctor_agrees(t, world, reduced | missing)
    plan = shown(t, world)
    t.equal({n for n, s in plan.items() if s == "reduced"} - ANYWHERE, reduced, "show says")
    t.equal({n for n, s in plan.items() if s == "missing"} - ANYWHERE, missing, "show says")

    if reduced | missing:
        refused(t, world, reduced, missing)
    control = t.plain(PYTHON, "hello.py")
    word = "allow" if missing else "reduce"
    run = t.sbox(PYTHON, "hello.py", sets=sets(word), preexec=world)
    t.ended(run, "exited", control.code)
    t.equal(names(run, "reduced"), reduced, "the record says")
    t.equal(names(run, "missing"), missing, "the record says")
    lines = [line for line in run.errtext.splitlines() if "accepted by the profile" in line]
    t.equal(len(lines), 1 if names_all(run) else 0, run.errtext)
    for item in reduced | missing:
        t.has(lines[0], item)
    walls(t, world, word, reduced)


def names_all(run):
    return [i for i in run.start["enforced"] if i["state"] in ("reduced", "missing")]


def refused(t, world, reduced, missing):
    """By default, and by --strict whatever the profile takes: 125, one line, nothing ran."""
    for words, opts in (("refuse", []), ("allow", ["--strict"])):
        run = t.sbox("sh", "-c", "echo ran; touch ran", sets=sets(words), opts=opts, preexec=world)
        t.equal((run.code, run.out, run.kind), (125, b"", "denied_start"), run)
        t.check(not os.path.exists(f"{t.ws}/ran"), "the program ran")
        lines = run.errtext.strip().splitlines()
        t.equal(len(lines), 1, run.errtext)
        first = run.errtext.split("[")[1].split(" is ")[0].replace("] ", ".")
        t.check(first in reduced | missing | ANYWHERE, run.errtext)
        t.has(lines[0], "--strict" if opts else "on_missing =")
    if missing:
        run = t.sbox("sh", "-c", "touch ran", sets=sets("reduce"), preexec=world)
        t.equal((run.code, run.kind), (125, "denied_start"), run)
        t.has(run.errtext, "on_missing = allow")


def walls(t, world, word, reduced):
    """In every form: the same few walls stand."""
    secret = t.write(f"{t.home}/.ssh/id", "secret\n", 0o666)
    bystander = t.popen(["sleep", "60"])
    rows = [("open", f"s:{secret}", 0), ("open", "s:/etc/shadow", 0), ("open", f"s:{t.store}/log.jsonl", 0),
            ("open", f"s:{t.home}/new", 0o101, 0o600), ("unlink", f"s:{secret}"),
            ("kill", bystander.pid, 9), ("ptrace", 16, bystander.pid, 0, 0), ("unshare", worlds.NEWUSER),
            ("mount", "s:x", "s:/tmp", "s:tmpfs", 0, 0), ("socket", 17, 3, 0), ("socket", 40, 1, 0),
            ("open", "s:/proc/sys/kernel/core_pattern", 1), ("setuid", 0),
            ("chmod", f"s:{t.ws}/probe-call", 0o4755), ("shmat", 0, 0, 0)]
    got, run = calls(t, *rows, sets=sets(word), preexec=world)
    t.check(all(isinstance(r, str) for r in got), f"{[r for r in zip(rows, got) if isinstance(r[1], int)]}")
    t.equal(bystander.poll(), None)
    t.equal(t.read(secret), b"secret\n")
    run = t.sbox("sh", "-c", "(setsid sleep 300 &); id -u; grep Cap /proc/self/status", sets=sets(word),
                 preexec=world)
    t.check(run.text.split("\n")[0] != "0", run)
    t.check(all(int(line.split()[1], 16) == 0 for line in run.text.splitlines() if line[:6] in
                ("CapPrm", "CapEff", "CapInh", "CapAmb")), run)


@test(callers=("user",))
def neither_tree_nor_landlock(t):
    """Nothing bounds files then, and no word accepts that."""
    def world():
        worlds.no_user_namespaces()
        worlds.no_landlock()

    for word in ("refuse", "reduce", "allow"):
        run = t.sbox("sh", "-c", "touch ran", sets=sets(word), preexec=world)
        t.equal((run.code, run.kind), (125, "denied_start"), run)
        t.has(run.errtext, "neither by a mount tree nor by Landlock")
        t.has(run.errtext, "max_user_namespaces")
    t.check(not os.path.exists(f"{t.ws}/ran"), "the program ran")


@test(callers=("root",))
def what_the_early_process_would_have_told(t):
    """It does not fit the host's network, so it is dropped before it is asked."""
    run = t.sbox("echo", "ran", sets=[*sets("allow"), "network.mode=host"],
                 preexec=lambda: worlds.root_namespace([("user", 0)]))
    t.equal((run.code, run.out), (0, b"ran\n"), run)


@test(callers=("root",))
def root_that_cannot_become_another(t):
    """Without the capabilities for it, or without other uids: never as uid 0."""
    def bare():
        for cap in range(41):
            worlds.check(worlds.libc.prctl(worlds.PR_CAPBSET_DROP, cap, 0, 0, 0))
        worlds.capset(0)

    for world in (bare, worlds.user_namespace):
        run = t.sbox("sh", "-c", "touch ran", sets=sets("allow"), preexec=world)
        t.equal((run.code, run.kind), (125, "denied_start"), run)
        t.has(run.errtext, "cannot become another user")
        t.has(run.errtext, "ordinary user")
    t.check(not os.path.exists(f"{t.ws}/ran"), "the program ran")


@test(callers=("root",))
def container_root_with_an_owner(t):
    """[privilege] user = the owner of the workspace: what root without idmaps is told to write."""
    worlds_root = worlds.container_root
    uid = 12345
    os.chown(t.ws, uid, uid)
    run = t.sbox("sh", "-c", "touch made", sets=sets("reduce"), preexec=worlds_root)
    t.equal((run.code, run.kind), (125, "denied_start"), run)
    t.has(run.errtext, "[privilege] user = its owner")
    run = t.sbox("sh", "-c", "touch made; id -u", sets=[*sets("reduce"), f"privilege.user={uid}"],
                 preexec=worlds_root)
    t.equal((run.code, run.out), (0, b"12345\n"), run)
    t.equal(os.stat(f"{t.ws}/made").st_uid, uid)


@test(callers=("root",))
def container_root_in_a_closed_folder(t):
    """What the program's user cannot get to is named, and opened as the message says it runs."""
    closed = t.mkdir(f"{t.dir}/closed", 0o700)
    t.mkdir(f"{closed}/work")
    os.chmod(f"{closed}/work", 0o777)
    run = t.sbox("sh", "-c", "touch ran", cwd=f"{closed}/work", sets=sets("reduce"), preexec=worlds.container_root)
    t.equal((run.code, run.kind, os.listdir(f"{closed}/work")), (125, "sbox_error", []), run)
    t.has(run.errtext, f"ruleset {closed}/work failed")
    t.has(run.errtext, "chmod o+x")
    os.chmod(closed, 0o711)
    run = t.sbox("sh", "-c", "touch ran", cwd=f"{closed}/work", sets=sets("reduce"), preexec=worlds.container_root)
    t.equal((run.code, os.listdir(f"{closed}/work")), (0, ["ran"]), run)


@test(callers=("root",), cases=["SYS_ADMIN", "SYS_PTRACE", "KILL", "SETPCAP"])
def root_lacks_one(t, name):
    """Only what is not there is named, in the message and by the doctor."""
    number = {"SYS_ADMIN": 21, "SYS_PTRACE": 19, "KILL": 5, "SETPCAP": 8}[name]

    def world():
        worlds.check(worlds.libc.prctl(worlds.PR_CAPBSET_DROP, number, 0, 0, 0))

    run = t.sbox("sh", "-c", "touch ran", preexec=world)
    t.equal((run.code, run.kind, os.path.exists(f"{t.ws}/ran")), (125, "denied_start", False), run)
    t.has(run.errtext, f"this root lacks CAP_{name} (in a container: --cap-add {name}, or")
    said = t.plain(t.sbox_path, "doctor", "--json", preexec=world)
    trial = json.loads(said.out)["trial"]
    t.equal((trial["ran"], trial["refused"]), (True, 9), trial)
    t.has(trial["how"], "--set file.on_missing=allow")
    mounts, idmap = [c for c in json.loads(said.out)["checks"] if c["name"] in ("mounts", "idmap")]
    t.equal((said.code, mounts["state"], idmap["state"]), (2, "missing", "weaker"), said)
    t.equal(mounts["found"], f"this root lacks CAP_{name}")


@test(callers=("root",))
def root_lacks_a_network(t):
    """Without CAP_NET_ADMIN there is a tree and no network; no filter is blamed for it."""
    def world():
        worlds.check(worlds.libc.prctl(worlds.PR_CAPBSET_DROP, 12, 0, 0, 0))
        worlds.filter_calls({"bpf": 1})

    run = t.sbox("sh", "-c", "touch ran", preexec=world)
    t.equal((run.code, run.kind, os.path.exists(f"{t.ws}/ran")), (125, "denied_start", False), run)
    t.has(run.errtext, "[network] mode")
    t.has(run.errtext, "this root lacks CAP_NET_ADMIN (podman or docker run --cap-add NET_ADMIN)")
    t.equal(t.sbox("sh", "-c", "touch ran", sets=["network.on_missing=reduce"], preexec=world).code, 0)


@test()
def sbox_inside_sbox(t):
    """The inner one runs in place: it cannot make namespaces, nor listen for refused calls."""
    inner = f"{t.tree}/bin/sbox --profile agent"
    takes = " ".join(f"--set {one}" for one in sets("reduce"))
    outer = [f"file.exec+={t.tree}", "process.processes=200"]
    run = t.sbox("sh", "-c", f"{inner} sh -c 'touch ran'; echo $?", sets=outer)
    t.equal(run.out, b"125\n", run)
    t.has(run.errtext, "on_missing = reduce")
    t.check(not os.path.exists(f"{t.ws}/ran"), "the program ran")
    script = f"{inner} {takes} sh -c 'echo inner > made; cat made; ls /usr | wc -l; nice -n 3 true'; echo $?; " \
             f"{t.tree}/bin/sbox audit show | grep -c enforced"
    run = t.sbox("sh", "-c", script, sets=outer)
    t.equal(run.text.split("\n")[0], "inner", run)
    t.equal(t.read("made"), b"inner\n")
    shutil.copy(f"{HERE}/demo/hello.py", f"{t.ws}/hello.py")
    t.own(f"{t.ws}/hello.py")
    run = t.sbox("sh", "-c", f"{t.tree}/bin/sbox doctor --json > doctor.json; {inner} {takes} --quiet {PYTHON} hello.py", sets=outer)
    t.equal((run.code, t.read("result.txt")), (0, b"6 * 7 = 42\n"), run)
    worlds.doctor_refuses(t, t.read("doctor.json"))


@test(callers=("user",))
def what_nothing_tells_of_is_looked_at(t):
    """A refusal that only clone(2) itself shows: looked at then, planned again, started once."""
    run = t.sbox("sh", "-c", "echo ran", sets=sets("reduce"), preexec=worlds.no_namespaces_of("net"),
                 opts=["--quiet"])
    t.equal((run.code, run.out), (0, b"ran\n"), run)
    t.equal([r["type"] for r in run.records], ["run.start", "run.end"], "one run on record")

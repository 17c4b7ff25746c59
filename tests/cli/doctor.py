# SPDX-License-Identifier: Apache-2.0
"""sbox doctor: this machine, and others that are made of it."""
import json
import os
import signal
import stat
import time

import machines
from sboxtest import test, wait_until

SECTIONS = ("file", "network", "process", "privilege")
STATES = {"ok", "note", "weaker", "missing"}
KEYS = {"top": ["v", "form", "version", "kernel", "machine", "uid", "root", "checks", "trial",
                "discard", "profiles"],
        "check": ["name", "boundary", "for", "state", "found", "lost", "way_out"],
        "trial": ["ran", "how", "refused", "message", "weaker"],
        "profile": ["name", "path", "form", "reason"]}
CHECKS = ["kernel", "user-namespaces", "namespaces", "mounts", "landlock", "workspace", "idmap",
          "discard", "proc", "cgroup", "open-files", "seccomp", "listener", "no-new-privs", "yama",
          "labels", "store"]


def doctor(t, *args, preexec=None, env=None, **keywords):
    """The exit status and the object; every check is there and says all that it should."""
    run = t.plain(t.sbox_path, "doctor", "--json", *args, preexec=preexec, env=env, **keywords)
    t.check(run.code in (0, 1, 2), run)
    t.equal(run.err, b"", "nothing on stderr")
    report = json.loads(run.out)
    t.equal(["full", "weaker", "none"].index(report["form"]), run.code, "exit status and form")
    t.equal([c["name"] for c in report["checks"]], CHECKS)
    for check in report["checks"]:
        t.check(check["state"] in STATES and check["found"], check)
        if check["state"] in ("weaker", "missing"):
            t.check(check["lost"], f"says what is lost: {check}")
    report["by"] = {c["name"]: c for c in report["checks"]}
    report["verdict"] = {p["name"]: p for p in report["profiles"]}
    nothing_left(t)
    return report


def trials(t):
    found = set()
    for path in (f"{place}/{f}" for place in ("/tmp", "/var/tmp", "/dev/shm") for f in os.listdir(place)):
        try:
            if os.path.basename(path).startswith("sbox-doctor-") and os.stat(path).st_uid == t.uid:
                found.add(path)
        except FileNotFoundError:
            pass
    return found


def nothing_left(t):
    """Another doctor of the same account may be at work: its folders go away."""
    left = trials(t)
    wait_until(lambda: not left & trials(t), 10)
    t.equal(left & trials(t), set(), "folders of a trial")
    t.no_process_left()
    t.check(not os.path.exists(f"{t.home}/.local/state/sbox"), "no store was made")


def runs(t, preexec=None, marker="ran"):
    """What sbox itself then does: whether the program ran."""
    path = f"{t.ws}/{marker}"
    run = t.sbox("touch", marker, preexec=preexec)
    t.equal(os.path.exists(path), run.code == 0, run)
    return run


@test(parallel=False)
def this_machine(t):
    """The report is whole, and the launcher does what it says."""
    report = doctor(t)
    t.equal([k for k in report if k not in ("by", "verdict")], KEYS["top"])
    t.equal(list(report["checks"][0]), KEYS["check"])
    t.equal(list(report["trial"]), KEYS["trial"])
    t.equal(list(report["discard"]), KEYS["trial"])
    t.equal(list(report["profiles"][0]), KEYS["profile"])
    t.check({"agent", "base", "strict"} <= set(report["verdict"]), report["profiles"])
    t.equal(report["uid"], t.uid)
    run = t.sbox("true")
    strict = t.sbox("true", opts=["--strict"])
    t.equal(report["form"], "full" if strict.code == 0 else "weaker" if run.code == 0 else "none")
    t.equal(report["trial"]["ran"] and report["form"] != "none", run.code == 0, run)
    if report["trial"]["ran"]:
        t.equal(report["trial"]["refused"], 9, "every boundary was seen to refuse something")
    reduced = [i["name"] for i in run.start["enforced"] if i["state"] in ("reduced", "missing")]
    for name in reduced:
        t.has(report["verdict"]["agent"]["reason"], name)


@test(parallel=False, cases=["here", "reduced"])
def text_for_people(t, place):
    if place == "reduced" and t.uid != 0:
        own_profiles(t)
    run = t.plain(t.sbox_path, "doctor", preexec=machines.covered_proc if place == "reduced" and t.uid != 0 else None)
    t.check(run.code in (0, 1, 2), run)
    verdict = "agent.ini runs here" if run.code < 2 else "agent.ini is refused here"
    for word in [*CHECKS, verdict, "Tried for real"]:
        t.has(run.text, word)
    t.check(not any(line.endswith(" ") for line in run.text.splitlines()), "no blanks at ends")
    t.check(max(map(len, run.text.splitlines())) <= 100, "fits a terminal")


@test(parallel=False)
def a_profile_that_is_refused(t):
    path = t.profile("[profile]\ndescription = x\nextends = agent\n[file]\nwrites = review\n")
    report = doctor(t, path)
    verdict = report["verdict"][path]
    t.equal((verdict["form"], len(report["profiles"])), ("none", 1))
    t.has(verdict["reason"], "writes")
    wrong = t.profile("[process]\nmemroy = 1G\n", "wrong")
    t.has(doctor(t, wrong)["verdict"][wrong]["reason"], "wrong.ini:2")


@test(parallel=False, cases=["INT", "TERM", "HUP"])
def ended_by_a_signal(t, name):
    """It ends by the signal, at whatever moment that comes, and takes its folder along."""
    number = getattr(signal, f"SIG{name}")
    ended = set()
    for milliseconds in range(0, 60, 6):
        child = t.popen([t.sbox_path, "doctor"], stdout=-3, stderr=-3, stdin=-3)
        time.sleep(milliseconds / 1000)
        child.send_signal(number)
        ended.add(child.wait(40))
    t.check(-number in ended, ended)
    nothing_left(t)


@test()
def wrong_use(t):
    run = t.plain(t.sbox_path, "doctor", "--nonsense")
    t.equal((run.code, run.out), (125, b""))
    t.has(run.errtext, "usage: sbox doctor")


@test(parallel=False)
def home_folder_is_no_workspace(t):
    report = doctor(t, cwd=t.home)
    t.equal(report["by"]["workspace"]["state"], "note")
    t.has(report["by"]["workspace"]["way_out"], "mkdir")
    t.check(report["trial"]["ran"], "the trial has a folder of its own")
    t.equal(report["verdict"]["agent"]["form"], "none", "but agent does not start here")


# ---- other machines ----------------------------------------------------------

def own_profiles(t):
    """Where root is not mapped, its files are nobody's, and nobody may write profiles."""
    for name in ("base", "agent"):
        t.write(f"{t.home}/.config/sbox/profiles/{name}.ini",
                t.read(f"{t.tree}/share/sbox/profiles/{name}.ini"))


def refused_machine(t, machine, check, found, way_out, blamed=None, accepted=None):
    """Doctor names the cause; sbox runs nothing and says the same; outside all is well.
    accepted: the word with which a profile runs all the same, as the trial then does."""
    own_profiles(t)
    report = doctor(t, preexec=machine)
    t.equal((report["form"], report["trial"]["ran"]), ("none", accepted is not None), report["trial"])
    row = report["by"][check]
    t.equal(row["state"], "missing", row)
    t.has(row["found"], found)
    t.has(row["way_out"], way_out)
    t.equal({v["form"] for v in report["profiles"]}, {"none"}, report["profiles"])
    run = runs(t, preexec=machine)
    t.equal(run.code, 125, run)
    t.has(run.errtext, blamed or way_out, "the launcher's own message")
    t.equal(runs(t, marker="control").code, 0, "the control")
    if accepted is not None:
        t.equal(report["trial"]["how"], " ".join(["sbox --profile agent"] + [
            f"--set {s}.on_missing={accepted}" for s in SECTIONS]), report["trial"])
        t.equal(report["trial"]["refused"], 9, report["trial"])
        an_accepting_profile(t, machine, accepted)


def an_accepting_profile(t, machine, word):
    """What a profile accepts runs here, and doctor says so of this profile."""
    path = t.profile("[profile]\nextends = agent\n" + "".join(
        f"[{section}]\non_missing = {word}\n" for section in SECTIONS), "accepts")
    report = doctor(t, path, preexec=machine)
    run = t.sbox("touch", "accepted", profile=path, preexec=machine)
    t.equal((run.code, os.path.exists(f"{t.ws}/accepted")), (0, True), run)
    verdict = report["verdict"][path]
    t.equal(verdict["form"], "weaker", verdict)
    t.has(verdict["reason"], "reduced")


@test(parallel=False, callers=("user",))
def user_namespaces_off(t):
    refused_machine(t, machines.user_namespaces_off, "user-namespaces",
                    "user.max_user_namespaces is 0", "sysctl -w user.max_user_namespaces",
                    accepted="reduce")


@test(parallel=False, callers=("user",))
def filter_of_a_container(t):
    refused_machine(t, machines.container_filter, "user-namespaces", "seccomp filter",
                    "--security-opt seccomp=unconfined", accepted="reduce")


@test(parallel=False, callers=("user",))
def covered_proc(t):
    refused_machine(t, machines.covered_proc, "proc", "covered", "unmask=ALL", accepted="reduce")


@test(parallel=False)
def no_new_privileges_costs_nothing(t):
    plain, report = doctor(t), doctor(t, preexec=machines.no_new_privileges)
    t.equal(report["by"]["no-new-privs"]["state"], "note")
    t.equal(report["form"], plain["form"])
    t.equal(runs(t, preexec=machines.no_new_privileges).code, 0)


@test(parallel=False)
def listener_taken(t):
    report = doctor(t, preexec=machines.listener_taken, close_fds=False)
    t.equal(report["by"]["listener"]["state"], "weaker", report["by"]["listener"])
    t.has(report["by"]["listener"]["way_out"], "outside")
    t.check(report["trial"]["ran"], report["trial"])


@test(parallel=False, callers=("root",))
def read_only_cgroups(t):
    report = doctor(t, preexec=machines.read_only_cgroups)
    t.equal(report["by"]["cgroup"]["state"], "weaker")
    t.has(report["by"]["cgroup"]["found"], "read-only")
    t.has(report["by"]["cgroup"]["way_out"], "unmask=/sys/fs/cgroup")


@test(parallel=False, callers=("root",), cases=["tmpfs", "overlay"])
def workspace_on(t, kind):
    """Root's workspace: tmpfs can be idmapped, an overlay cannot, and both are seen to."""
    for name in ("lower", "upper", "work", "tmp"):
        t.mkdir(f"{t.dir}/layers/{name}")

    def machine():
        machines.enter_namespaces(machines.CLONE_NEWNS)
        machines.mount("none", f"{t.dir}/layers/tmp", "tmpfs")
        if kind == "tmpfs":
            machines.mount("none", t.ws, "tmpfs")
        else:
            for name in ("upper", "work"):
                os.mkdir(f"{t.dir}/layers/tmp/{name}")
            machines.mount("none", t.ws, "overlay", 0,
                           f"lowerdir={t.dir}/layers/lower,upperdir={t.dir}/layers/tmp/upper,"
                           f"workdir={t.dir}/layers/tmp/work")
        os.chdir(t.ws)

    report = doctor(t, preexec=machine)
    idmap = report["by"]["idmap"]
    run = t.sbox("touch", "file", preexec=machine)
    if kind == "tmpfs":
        t.equal(idmap["state"], "ok", idmap)
        t.equal((report["verdict"]["agent"]["form"] != "none", run.code), (True, 0), run)
        return
    t.equal(idmap["state"], "weaker", idmap)
    t.has(idmap["found"], "overlayfs")
    t.equal((report["verdict"]["agent"]["form"], run.code), ("none", 125), run)
    t.has(report["verdict"]["agent"]["reason"], "idmapped")


@test(parallel=False, callers=("user",))
def store_that_cannot_be_written(t):
    t.mkdir(f"{t.dir}/closed", 0o555)
    report = doctor(t, env={"XDG_STATE_HOME": f"{t.dir}/closed"})
    t.equal(report["by"]["store"]["state"], "missing", report["by"]["store"])
    t.has(report["by"]["store"]["found"], f"{t.dir}/closed")
    run = t.plain(t.sbox_path, "touch", "ran", env={"XDG_STATE_HOME": f"{t.dir}/closed"})
    t.equal((run.code, os.path.exists(f"{t.ws}/ran")), (125, False), run)
    t.equal((report["form"], {p["form"] for p in report["profiles"]}), ("none", {"none"}), "and so says the verdict")
    t.has(report["verdict"]["agent"]["reason"], "--store")


@test(parallel=False, callers=("root",))
def chroot(t):
    """The kernel makes no user namespace in a chroot; root needs none until the tree stands."""
    def machine():
        machines.enter_namespaces(machines.CLONE_NEWNS)
        machines.mount("/", t.ws, None, machines.MS_BIND | machines.MS_REC)
        os.chroot(t.ws)
        os.chdir("/var/tmp")

    report = json.loads(t.plain(t.sbox_path, "doctor", "--json", preexec=machine).out)
    states = {c["name"]: c for c in report["checks"]}
    t.equal(report["form"], "none", report["trial"])
    t.has(states["user-namespaces"]["found"], "chroot")


@test(callers=("root",))
def nothing_of_it_is_setuid(t):
    mode = os.stat(f"{t.tree}/libexec/sbox/sbox-doctor").st_mode
    t.equal(stat.S_IMODE(mode) & 0o6000, 0)

# SPDX-License-Identifier: Apache-2.0
"""The privilege boundary: never root, no capability, no way to gain one."""
import os
import pwd
import re
import shutil
import subprocess

from sboxtest import PYTHON, Skip, descendants, process_line, test
from syscalls import calls


def status(run):
    return dict(re.findall(r"^(\w+):[ \t]*(.*)$", run.text, re.M))


@test()
def never_root_inside_or_outside(t):
    run = t.sbox("sh", "-c", "id -u; id -g; echo x > made; cat /proc/self/uid_map", opts=["--quiet"])
    uid, gid = run.text.split()[:2]
    t.check(uid != "0" and gid != "0", run.text)
    if t.caller == "user":
        t.equal(uid, "1000", "uid inside")
    info = os.stat(f"{t.ws}/made")
    t.equal((info.st_uid, info.st_gid), (t.uid, t.gid), "files belong to the workspace's owner")
    t.check(run.start["outer_uid"] != 0, run.start["outer_uid"])
    t.equal(str(run.start["inner_uid"]), uid)


@test(callers=("root",))
def leased_uid_of_root_is_nobodys(t):
    """As root: the process seen from the host has a uid of its own, unlike a second run's."""
    children = [t.start("sh", "-c", "echo up; sleep 30") for _ in range(2)]
    uids = []
    for child in children:
        child.stdout.readline()
    for child in children:
        inside = [p for p in descendants(child.pid) if "sleep 30" in process_line(p)]
        t.check(inside, "the program is below sbox")
        uids.append(real_uid(inside[0]))
    for child in children:
        child.terminate()
        t.communicate(child, None, 20)
    t.check(0 not in uids and len(set(uids)) == 2, f"uids on the host: {uids}")
    known = {entry.pw_uid for entry in pwd.getpwall()}
    t.check(not known & set(uids), f"an account of the host: {uids}")


def real_uid(pid):
    with open(f"/proc/{pid}/status") as text:
        return int(re.search(r"^Uid:\s+(\d+)", text.read(), re.M).group(1))


@test()
def status_of_the_program(t):
    run = t.sbox("cat", "/proc/self/status", opts=["--quiet"])
    found = status(run)
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        t.equal((name, int(found[name], 16)), (name, 0))
    t.equal((found["NoNewPrivs"], found["Seccomp"]), ("1", "2"))
    groups = set(found["Groups"].split())
    own = {found["Gid"].split()[0], "65534"}
    t.check(groups <= own, f"groups {groups}, own {own}")
    t.equal(len(set(found["Uid"].split())), 1, "all four uids are the same")
    t.equal(len(set(found["Gid"].split())), 1, "all four gids are the same")


@test()
def securebits_are_locked(t):
    got, _ = calls(t, ("prctl", 27), ("prctl", 39), ("prctl", 28, 0))
    bits = got[0]
    t.equal(bits & 0x3, 0x3, f"noroot and its lock, of {bits:#x}")
    t.equal(bits & 0xc, 0xc, f"no_setuid_fixup and its lock, of {bits:#x}")
    t.equal(got[1], 1, "no_new_privs")
    t.equal(got[2], "EPERM", "cannot be cleared")


@test()
def groups_of_the_caller(t):
    run = t.sbox("id", "-G", opts=["--quiet"])
    t.check(set(run.text.split()) <= {"1000", "65534", run.text.split()[0]}, run.text)
    got, _ = calls(t, ("setgroups", 0, 0), ("setuid", 0), ("setgid", 0), ("setresuid", 0, 0, 0),
                   ("setfsuid", 0))
    t.check(all(isinstance(r, str) for r in got[:4]), got)
    t.check("EPERM" in (got[0], got[1]), got)


@test()
def synthetic_account_names(t):
    run = t.sbox("sh", "-c", "id -un; cat /etc/passwd | wc -l; grep -c '^root' /etc/passwd; whoami",
                 opts=["--quiet"])
    t.equal(run.code, 0, f"the uid inside has a name: {run}")


@test(callers=("root",))
def setuid_program_does_not_raise(t):
    """A setuid-root program, made in the workspace by root: nosuid and no_new_privs both hold."""
    path = t.probe("call")
    os.chown(path, 0, 0)
    os.chmod(path, 0o4755)
    rows = (("geteuid",), ("getegid",))
    try:
        account = pwd.getpwnam("sbox-test")
    except KeyError:
        raise Skip("no ordinary account for the control")
    control = subprocess.run([path, "107"], user=account.pw_uid, group=account.pw_gid,
                             capture_output=True, text=True)
    t.equal(control.stdout, "107 0\n", "control: without sbox it is root")
    got, _ = calls(t, *rows)
    t.check(0 not in got, f"ids after exec of a setuid program: {got}")


@test()
def setuid_programs_of_the_system(t):
    for program in ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/newgrp"):
        if not os.path.exists(program):
            continue
        run = t.sbox("sh", "-c", f"{program} </dev/null; id -u", opts=["--quiet"], timeout=20)
        t.check("0" not in run.text.split()[-1:], f"{program}: {run}")
    script = "import os\npid = os.fork()\nif pid == 0: os.execv('/usr/bin/su', ['su', '-c', 'id'])\n" \
             "print(os.waitpid(pid, 0)[1] != 0)"
    run = t.sbox(PYTHON, "-c", script, opts=["--quiet"])
    t.has(run.text, "True")


@test(callers=("root",))
def file_capabilities_do_not_raise(t):
    path = t.probe("call")
    made = subprocess.run(["setcap", "cap_net_raw,cap_sys_admin=ep", path], capture_output=True)
    if made.returncode != 0:
        raise Skip("setcap does not work here: " + made.stderr.decode()[:80])
    got, run = calls(t, ("socket", 17, 3, 0), ("getuid",))
    t.equal(got[0], "EAFNOSUPPORT", run)
    text = t.sbox("sh", "-c", f"{path} 39 >/dev/null; grep Cap /proc/self/status").text
    t.check(all(int(line.split()[1], 16) == 0 for line in text.splitlines() if "Cap" in line), text)


@test(callers=("root",))
def named_user(t):
    """[privilege] user: the program runs as that account; root is refused."""
    account = pwd.getpwnam("sbox-test")
    for value in ("sbox-test", str(account.pw_uid)):
        shutil.rmtree(f"{t.ws}/x", ignore_errors=True)
        run = t.sbox("sh", "-c", "echo hi; id -u", sets=[f"privilege.user={value}"])
        if run.code == 125:
            t.has(run.errtext, "user", "a refusal names the key")
            t.note(f"user={value}: {run.errtext.strip():.160}")
            continue
        t.equal(run.start["outer_uid"], account.pw_uid)
    for value in ("root", "0", "nosuchaccountxyz", "-1", "4294967295"):
        run = t.sbox("echo", "ran", sets=[f"privilege.user={value}"])
        t.equal((run.code, run.out), (125, b""), f"{value}: {run}")


@test(callers=("user",))
def named_user_is_for_root_only(t):
    run = t.sbox("echo", "ran", sets=["privilege.user=nobody"])
    t.equal((run.code, run.out), (125, b""), run)
    t.has(run.errtext, "user")


@test()
def asked_capabilities_are_given_or_refused(t):
    """Empty: none. A named one is either in force, or the run is refused: never silently dropped."""
    run = t.sbox("grep", "CapEff", "/proc/self/status", sets=["privilege.capabilities=CAP_NET_RAW"])
    if run.code == 125:
        t.has(run.errtext.lower(), "cap")
        return
    t.equal(int(run.text.split()[1], 16), 1 << 13, run)


@test()
def syscalls_can_be_taken_out(t):
    got, run = calls(t, ("getcpu", 0, 0, 0), ("sched_yield",),
                     sets=["privilege.syscalls=@default, !sched_yield"])
    t.equal(got, [0, "EPERM"], run)
    entry = run.denied(op="sched_yield")
    t.check(entry and "syscalls" in str(entry[0]["permit"]), f"named, with the line: {run}")


@test()
def syscalls_empty_means_none(t):
    run = t.sbox("echo", "ran", sets=["privilege.syscalls="])
    t.check(run.code != 0 and run.out == b"", run)

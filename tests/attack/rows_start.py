# SPDX-License-Identifier: Apache-2.0
"""Attempts at sbox itself: what it reads, what it trusts, what it leaves when it is disturbed."""
import os
import threading

import worlds
from attempts import attempt, refused_start, words_of
from in_place_steps import accept
from sboxtest import PYTHON


@attempt("L1", control=None, full="nothing outside", place="nothing outside")
def link_on_the_way_to_a_listed_name(a):
    """A parent of a protected name is a link to the outside: nothing is made there."""
    outside = a.t.mkdir(f"{a.t.dir}/outside-{a.form[:2]}", 0o777)
    os.symlink(outside, f"{a.ws}/sub")
    run = a.run("sh", "-c", "mkdir -p sub/x 2>/dev/null; echo ran",
                sets=[f"file.protect+=-{a.ws}/sub/hooks/new", f"file.hide+=-{a.ws}/sub/deep/er/name"])
    a.t.check(run.code in (0, 125), run)
    return "nothing outside" if os.listdir(outside) == [] else str(os.listdir(outside))


def strange_devices():
    """In a mount namespace of its own: /dev with a link and a plain file where devices belong."""
    if os.geteuid() != 0:
        worlds.user_namespace()
    worlds.mount_namespace()
    worlds.mount("tmpfs", "/dev", "tmpfs", 0)
    os.symlink("/etc/hostname", "/dev/null")
    with open("/dev/zero", "w") as file:
        file.write("not a device\n")
    for name in ("full", "random", "urandom", "tty"):
        os.symlink("/proc/sys/kernel/hostname", f"/dev/{name}")


@attempt("L4", control=None, full="refused", place=None)
def links_where_devices_belong(a):
    """Nothing is mounted through them, and nothing runs with them."""
    run = a.run("sh", "-c", "cat /dev/null /dev/zero | head -c 20", preexec=strange_devices, stdin=b"",
                sets=accept("allow"))
    a.t.check(b"not a device" not in run.out and run.out == b"", run)
    return refused_start(run)


@attempt("L6", control="*", full="ENOENT", place="EACCES|ENOENT",
         unnamed={"user": "the host's own modes refuse it too"})
def console(a):
    return a.tries(("open", "s:/dev/console", 2))


KEPT = ("self/status", "self/uid_map", "self/gid_map", "self/mountinfo", "self/cgroup", "self/stat", "self/mounts",
        "self/loginuid", "filesystems", "meminfo", "stat", "sys/user/max_user_namespaces", "sys/kernel/cap_last_cap",
        "sys/kernel/seccomp/actions_avail", "sys/kernel/random/boot_id", "sys/kernel/yama/ptrace_scope", "cgroups")


def fake_proc(program):
    """/proc is a plain folder with the true texts: what is written to its files changes nothing."""
    if os.geteuid() != 0:
        worlds.user_namespace()
    worlds.mount_namespace()
    texts = {}
    for name in KEPT:
        if os.path.exists(f"/proc/{name}"):
            with open(f"/proc/{name}") as file:
                texts[name] = file.read()
    worlds.mount("tmpfs", "/proc", "tmpfs", 0)
    for name, text in texts.items():
        os.makedirs(os.path.dirname(f"/proc/{name}"), exist_ok=True)
        worlds.put(f"/proc/{name}", text)
    worlds.put("/proc/self/setgroups", "deny")
    os.makedirs("/proc/self/fd")
    os.symlink(program, "/proc/self/exe")


@attempt("L7", control=None, full="refused", place=None)
def settings_written_into_plain_files(a):
    """A /proc that is none: id maps that are not maps must not be taken for such."""
    run = a.run("sh", "-c", "id -u; cat /proc/self/uid_map", preexec=lambda: fake_proc(a.t.sbox_path),
                sets=accept("allow") if a.t.uid == 0 else ())  # a user's run would go on in place
    return refused_start(run)


@attempt("L9", control=None, full="refused", place="refused")
def working_folder_through_a_descriptor(a):
    """The folder one stands in is the root, reached by a descriptor: never a workspace."""
    def preexec():
        os.dup2(os.open("/", os.O_RDONLY), 9)
        os.set_inheritable(9, True)
        os.chdir("/proc/self/fd/9")
    return refused_start(a.run("ls", preexec=preexec, close_fds=False))


@attempt("L11", control=None, full="refused", place="refused")
def dots_in_listed_paths(a):
    got = [refused_start(a.run("true", sets=[f"file.{key}+={path}"]))
           for key in ("read", "write", "exec", "hide", "protect") for path in (f"{a.ws}/../x", "x/y", "../x")]
    return words_of(got)


@attempt("L14", control=None, full="refused", place="refused")
def mounts_by_profile(a):
    """There is no key that mounts anything, of whatever type."""
    profile = a.t.profile("[profile]\nextends = agent\n[file]\nmount = cgroup /tmp\n")
    return refused_start(a.run("true", profile=profile))


def plant(a):
    text = "[profile]\nextends = base\n[file]\nread = /\n[network]\nmode = host\n"
    for name in ("agent.ini", "agent", "sbox.ini", ".sbox.ini", ".sbox/agent.ini", ".sbox/sbox.ini", ".config/sbox/agent.ini",
                 "profiles/agent.ini", "base.ini", ".sboxrc"):
        a.t.write(f"{a.ws}/{name}", text)


@attempt("L16", control=None, full="ignored", place="ignored")
def planted_profiles(a):
    """Files of every likely name where one stands: a bare name never means them."""
    plant(a)
    for profile in (None, "agent", "agent.ini"):
        run = a.run("true", profile=profile)
        item = next(i for i in run.start["enforced"] if (i["boundary"], i["name"]) == ("network", "mode"))
        if item["asked"] != "none":
            return f"profile {profile}: {item}"
    return "ignored"


@attempt("L17", control=None, full="ignored", place="ignored")
def planted_settings(a):
    """Nothing where one stands changes a run without being named."""
    first = a.run("true").start["enforced"]
    plant(a)
    second = a.run("true").start["enforced"]
    return "ignored" if [i["state"] for i in first] == [i["state"] for i in second] else "changed"


@attempt("L29", control=None, full="what was read", place="what was read")
def profile_exchanged_during_the_start(a):
    """Its hash in the record is that of what was enforced, whichever of the two it was."""
    texts = {name: f"[profile]\nextends = agent\n[environment]\nset = WHICH={name}\n"
                   "[file]\non_missing=reduce\n[network]\non_missing=reduce\n[privilege]\non_missing=reduce\n"
             for name in ("one", "two")}
    path, over, hashes = a.t.profile(texts["one"], "swapped"), [], {}
    for name, text in texts.items():
        a.t.profile(text, "swapped")
        hashes[name] = a.run("true", profile=path).start["profile"]["sha256"]
    a.t.check(hashes["one"] != hashes["two"], "they differ")

    def swap():
        while not over:
            for name in texts:
                a.t.profile(texts[name], "next")
                os.rename(f"{a.t.dir}/profiles/next.ini", path)
    thread = threading.Thread(target=swap)
    thread.start()
    runs = [a.run("sh", "-c", "echo $WHICH", profile=path) for _ in range(8)]
    over.append(True)
    thread.join()
    for run in runs:
        if run.code == 125:
            continue
        a.t.equal(run.start["profile"]["sha256"], hashes[run.text.strip()], "the hash of what was enforced")
    return "what was read"


BROKEN = {"nul": b"[time]\nwall = 1\0s\n", "unknown key": b"[time]\nwal = 1s\n", "unknown section": b"[tim]\n",
          "twice": b"[time]\nwall = 1s\nwall = 2s\n", "too large": b"[process]\nmemory = 99999999999999G\n",
          "long line": b"[time]\nwall = " + b"1" * 5000 + b"s\n", "cycle": b"[profile]\nextends = ./broken.ini\n",
          "no section": b"wall = 1s\n", "control": b"[time]\nwall = 1s\x1b\n", "after the bracket": b"[time] x\nwall = 1s\n",
          "latin-1": b"[process]\nhostname = \xe9\n", "huge": b"[time]\n" + b"; x\n" * (1 << 20)}


@attempt("L30", control=None, full="refused", place="refused")
def broken_profiles(a):
    got = []
    for name, text in BROKEN.items():
        path = a.t.write(f"{a.t.dir}/profiles/broken.ini", text)
        run = a.run("true", profile=path)
        a.t.check(run.code == 125 and b"broken" in run.err, f"{name}: {run}")
        got.append(refused_start(run))
    return words_of(got)


@attempt("L32", control=None, full="nothing left", place="nothing left")
def start_that_fails_half_way(a):
    """A limit of descriptors that runs out somewhere in between: no run, and nothing stays."""
    import resource
    before = sorted(os.listdir("/tmp"))
    for limit in (5, 8, 12, 20, 30, 50, 70):
        run = a.run("true", preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        a.t.check(run.code in (0, 125), run)
    left = [name for name in os.listdir("/tmp") if name.startswith("sbox-scratch") and name not in before]
    ids = {record.get("run") for record in a.t.records()}
    return "nothing left" if not [n for n in left if n.rsplit("-", 1)[1] in ids] else str(left)


@attempt("X13", control="works", full="ignored", place="ignored")
def planted_programs(a):
    """A python where one stands, with "." in the caller's PATH: inside, PATH is the profile's."""
    a.t.write(f"{a.ws}/python3", "#!/bin/sh\necho works\n", 0o755)
    env = {"PATH": ".::/usr/bin:/bin"}
    if a.form == "control":
        return a.run("sh", "-c", "python3 -c 'print(1)'", env=env).text.strip()
    text = a.run("sh", "-c", "python3 -c 'print(1)'", env=env).text.strip()
    first = a.run("python3", "-c", "print(1)", env=env).text.strip()
    return "ignored" if (text, first) == ("1", "1") else f"{text} {first}"


@attempt("X14", control=None, full="ended", place=None)
def secret_saved_anew_by_the_host(a):
    """An editor outside replaces a hidden file: the cover goes with the old one, and so does the run."""
    a.t.write(f"{a.ws}/.env", "KEY=old\n")
    child = a.start("sh", "-c", "echo up; while :; do cat .env; sleep 0.01; done", stderr=-3)
    child.stdout.readline()
    a.t.write(f"{a.ws}/.env.new", "KEY=new\n")
    os.rename(f"{a.ws}/.env.new", f"{a.ws}/.env")
    out, _ = a.t.communicate(child, None, 30)
    a.t.note(f"the new text was seen {'before the end' if b'KEY=new' in out else 'not at all'}")
    return "ended" if a.t.records()[-1]["end"]["kind"] == "boundary_lost" else str(a.t.records()[-1]["end"])


@attempt("X15", control=None, full="others go on", place="others go on", parallel=False)
def holding_up_other_runs(a):
    """The program stops everything that it can stop, floods and fills: another run starts and ends well."""
    busy = "import os, signal\nprint('up', flush=True)\nwhile True:\n  os.write(1, b'x' * 65536)\n" \
           "  for p in (1, os.getppid()):\n    try: os.kill(p, signal.SIGSTOP)\n    except OSError: pass\n"
    child = a.start(PYTHON, "-c", busy, stdout=-3, stderr=-3, sets=["process.output=", "time.wall=60s"])
    ends = [a.ended(a.run("sh", "-c", "exit 4")) for _ in range(3)]
    child.terminate()
    a.t.communicate(child, None, 30)
    return "others go on" if ends == ["exited 4"] * 3 else str(ends)


@attempt("X15", control=None, full="ENOENT", place="EACCES")
def the_stores_lock(a):
    """It cannot be opened from inside, so nobody inside can hold it."""
    a.run("true")
    ways = [os.path.join(a.t.store, name) for name in sorted(os.listdir(a.t.store))]
    return a.tries(*[("open", f"s:{way}", 0) for way in [a.t.store, *ways]])


@attempt("X16", control=None, full="refused", place="refused")
def options_in_the_programs_name(a):
    """What follows the program is the program's; what begins with a dash is never one."""
    a.t.write(f"{a.ws}/--profile", "#!/bin/sh\necho works\n", 0o755)
    got = [refused_start(a.run("--profile", "base", opts=["--quiet", "--", "--no-such"])),
           refused_start(a.run("--no-such-option", "true"))]
    text = a.run("echo", "--set", "network.mode=host", "--").text.strip()
    a.t.equal(text, "--set network.mode=host --")
    return words_of("refused" if g in ("refused", "code 127") else g for g in got)

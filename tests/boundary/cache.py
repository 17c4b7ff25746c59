# SPDX-License-Identifier: Apache-2.0
"""[file] cache: what stays from run to run, for whom, how much of it, and what a hostile one cannot do."""
import os
import signal
import time

from sboxtest import test, wait_until

TEXT = "[profile]\nextends = agent\n[file]\ncache = {}\n"
PUT = "echo kept >~/.cache/file"
GET = "cat ~/.cache/file"


def own(t, name="mine", size="4M", more=""):
    return t.profile(TEXT.format(size) + more, name)


def folders(t):
    return sorted(os.listdir(f"{t.store}/caches")) if os.path.isdir(f"{t.store}/caches") else []


def item(run):
    return next(i for i in run.start["enforced"] if i["name"] == "cache")


@test()
def stays_between_runs_of_one_profile(t):
    profile = own(t)
    t.equal(t.sbox("sh", "-c", PUT, profile=profile).code, 0)
    run = t.sbox("sh", "-c", GET, profile=profile, cwd=t.mkdir(f"{t.dir}/other"))
    t.equal(run.out, b"kept\n", run)
    t.equal(item(run)["state"], "enforced")
    stat = os.stat(f"{t.store}/caches/{folders(t)[0]}/files/file")
    t.equal(stat.st_uid, t.uid, "it belongs to the caller")
    t.clean()


@test()
def is_not_shared(t):
    mine = own(t)
    t.sbox("sh", "-c", PUT, profile=mine)
    for what, profile, sets in (
            ("another profile of the same text", own(t, "other"), []),
            ("the same with the host's network", mine, ["network.mode=host"]),
            ("no cache", mine, ["file.cache="])):
        run = t.sbox("sh", "-c", GET, profile=profile, sets=sets)
        t.equal(run.code, 1, what)
    t.equal(t.sbox("sh", "-c", GET, profile=mine, sets=["time.wall=5s"]).out, b"kept\n")
    t.equal(len(folders(t)), 3, folders(t))
    # nor is it seen where it lies
    run = t.sbox("sh", "-c", f"ls {t.store} {t.store}/caches", profile=mine)
    t.equal(run.out, b"", run)


@test()
def tools_are_pointed_to_it(t):
    run = t.sbox("sh", "-c", "echo $XDG_CACHE_HOME $PIP_CACHE_DIR $npm_config_cache $GOCACHE $CARGO_HOME",
                 profile=own(t))
    for name in ("", "/pip", "/npm", "/go-build", "/cargo"):
        t.has(run.text.replace("\n", " "), f"/home/sandbox/.cache{name} ")
    run = t.sbox("sh", "-c", "echo .$XDG_CACHE_HOME.$CARGO_HOME.", profile="agent")
    t.equal(run.out, b"...\n", "without a cache the private home is where tools look anyway")


@test()
def too_large_is_emptied_at_the_next_start(t):
    profile = own(t, size="1M", more="growth = 100M\n")
    t.sbox("sh", "-c", f"{PUT}; head -c 800000 /dev/zero >~/.cache/large", profile=profile)
    run = t.sbox("sh", "-c", GET, profile=profile)
    t.equal(run.out, b"kept\n", "below the limit")
    t.sbox("sh", "-c", "head -c 800000 /dev/zero >~/.cache/large2", profile=profile)
    run = t.sbox("sh", "-c", "ls -A ~/.cache", profile=profile)
    t.equal(run.out, b"", run)
    t.has(item(run)["residual"], "was emptied", "and that is on record")
    run = t.sbox("ls", "/home/sandbox/.cache", profile=profile)
    t.check("emptied" not in item(run)["residual"], item(run))


@test()
def one_run_cannot_fill_the_disk_with_it(t):
    run = t.sbox("sh", "-c", "head -c 60000000 /dev/zero >~/.cache/large; sleep 20",
                 profile=own(t, size="2M"), sets=["file.growth="])
    t.ended(run, "disk", 137)
    t.equal(run.decided_by, "file.cache")
    t.has(run.errtext, "[file] cache")
    # where growth has a limit it holds for both together
    run = t.sbox("sh", "-c", "head -c 60000000 /dev/zero >~/.cache/large; sleep 20",
                 profile=own(t, size="2M"), sets=["file.growth=5M"])
    t.ended(run, "disk", 137)
    t.equal(run.decided_by, "file.growth")


HOSTILE = """
import os
os.chdir(os.path.expanduser("~/.cache"))
for name in ("closed", "closed/in"):
    os.mkdir(name)
os.symlink("/", "root"); os.symlink("../../..", "up"); os.mkfifo("fifo")
open("closed/in/f", "w").write("x" * 100000)
os.chmod("closed/in", 0); os.chmod("closed", 0)
for _ in range(400):  # deeper than a path can say
    os.mkdir("d" * 100); os.chdir("d" * 100)
open("large", "w").write("x" * 2000000)
os.chmod(os.path.expanduser("~/.cache"), 0)
"""


@test()
def a_hostile_one_is_emptied_too(t):
    victim = t.write(f"{t.dir}/victim", "stays")
    profile = own(t, size="1M", more="growth = 100M\n")
    run = t.sbox("/usr/bin/python3", "-c", HOSTILE, profile=profile)
    t.equal(run.code, 0, run)
    run = t.sbox("ls", "-A", "/home/sandbox/.cache", profile=profile)
    t.equal((run.code, run.out), (0, b""), run)
    t.equal(t.read(victim), b"stays")


@test()
def after_a_killed_sbox_it_is_counted(t):
    profile = own(t, size="1M", more="growth = 100M\n")
    child = t.start("sh", "-c", "head -c 3000000 /dev/zero >~/.cache/large; echo ready; sleep 60",
                    profile=profile)
    t.equal(child.stdout.readline(), b"ready\n")
    t.check(not os.path.exists(f"{t.store}/caches/{folders(t)[0]}/bytes"), "no note while it runs")
    child.send_signal(signal.SIGKILL)
    child.wait()
    wait_until(lambda: not [p for p in os.listdir(f"{t.store}/runs") if not p], 1)
    time.sleep(0.3)
    run = t.sbox("ls", "-A", "/home/sandbox/.cache", profile=profile)
    t.equal((run.code, run.out), (0, b""), run)
    t.has(item(run)["residual"], "was emptied")


@test()
def two_runs_at_once(t):
    profile = own(t, size="1M", more="growth = 100M\n")
    child = t.start("sh", "-c", f"{PUT}; head -c 3000000 /dev/zero >~/.cache/large; echo ready; read x; {GET}",
                    profile=profile)
    t.equal(child.stdout.readline(), b"ready\n")
    # too large, but in use: it is not emptied under the other run
    run = t.sbox("sh", "-c", GET, profile=profile)
    t.equal(run.out, b"kept\n", run)
    out, _ = t.communicate(child, b"\n", 20)
    t.equal(out, b"kept\n")
    run = t.sbox("ls", "-A", "/home/sandbox/.cache", profile=profile)
    t.equal(run.out, b"", "now it is")


@test()
def follows_scratch_exec(t):
    program = "cp /bin/true ~/.cache/p; ~/.cache/p && echo ran"
    t.has(t.sbox("sh", "-c", program, profile=own(t)).text, "ran")
    run = t.sbox("sh", "-c", program, profile=own(t), sets=["file.scratch_exec=no"])
    t.check("ran" not in run.text, run)
    t.has(run.errtext, "Permission denied")


@test()
def needs_a_home(t):
    run = t.sbox("true", profile=own(t), sets=["file.home=none"])
    t.equal(run.code, 125)
    t.has(run.errtext, "[file] cache is missing here: it lies in the private home, and home is none")
    run = t.sbox("true", profile=own(t), sets=["file.home=none", "file.on_missing=allow"])
    t.equal(run.code, 0, run)


@test()
def show_says_where(t):
    run = t.plain(t.sbox_path, "show", own(t))
    t.has(run.text, "# file      cache              enforced  ~/.cache is ")
    t.check(not os.path.exists(f"{t.home}/.local/state/sbox/caches"), "show makes nothing")

# SPDX-License-Identifier: Apache-2.0
"""The file boundary: what is listed is there, as listed; all else is not there."""
import os
import time

from sboxtest import PYTHON, Skip, can_discard, needs_discard, test, wait_until
from syscalls import AT_FDCWD, calls

O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_PATH = 1, 2, 0o100, 0o1000, 0o2000, 0o10000000


def outside(t):
    """A folder next to the workspace, with a file, a script and a folder in it."""
    t.write(f"{t.dir}/out/file", "outside\n")
    t.write(f"{t.dir}/out/run.sh", "#!/bin/sh\necho ran\n", 0o755)
    t.write(f"{t.dir}/out/sub/deep", "deep\n")
    for name, mode in (("", 0o777), ("/file", 0o666), ("/sub", 0o777)):
        os.chmod(f"{t.dir}/out{name}", mode)  # only the boundary can be in the way
    return f"{t.dir}/out"


@test()
def unlisted_paths_are_not_there(t):
    out = outside(t)
    rows = [("open", f"s:{out}/file", 0), ("stat", f"s:{out}/file", "z:256"),
            ("access", f"s:{out}/file", 0), ("chdir", f"s:{out}"), ("open", f"s:{out}", 0),
            ("lstat", f"s:{out}", "z:256"), ("readlink", f"s:{out}", "z:256", 256),
            ("getxattr", f"s:{out}/file", "s:user.x", "z:9", 9), ("statfs", f"s:{out}", "z:256"),
            ("chmod", f"s:{out}/file", 0o777), ("unlink", f"s:{out}/file"),
            ("rename", f"s:{out}/file", f"s:{t.ws}/stolen"), ("truncate", f"s:{out}/file", 0),
            ("link", f"s:{out}/file", f"s:{t.ws}/linked"), ("utime", f"s:{out}/file", 0)]
    control, _ = calls(t, *rows[:3], runner=t.plain)
    t.check(control[0] > 2 and control[1:] == [0, 0], f"control: {control}")
    got, _ = calls(t, *rows)
    t.equal(got, ["ENOENT"] * len(rows))
    t.equal(t.read(f"{out}/file"), b"outside\n")


@test()
def read_path_is_read_only(t):
    out = outside(t)
    rows = [("open", f"s:{out}/file", 0), ("open", f"s:{out}/file", O_WRONLY),
            ("open", f"s:{out}/file", O_RDWR), ("open", f"s:{out}/file", O_WRONLY | O_TRUNC),
            ("open", f"s:{out}/new", O_WRONLY | O_CREAT, 0o600), ("truncate", f"s:{out}/file", 0),
            ("unlink", f"s:{out}/file"), ("mkdir", f"s:{out}/new", 0o700),
            ("rmdir", f"s:{out}/sub"), ("symlink", "s:x", f"s:{out}/new"),
            ("rename", f"s:{out}/file", f"s:{out}/new"), ("chmod", f"s:{out}/file", 0o600),
            ("utime", f"s:{out}/file", 0), ("setxattr", f"s:{out}/file", "s:user.x", "s:v", 1, 0),
            ("link", f"s:{out}/file", f"s:{out}/new"), ("mknod", f"s:{out}/new", 0o10600, 0)]
    got, _ = calls(t, *rows, sets=[f"file.read+={out}"])
    t.check(got[0] > 2, f"readable: {got}")
    t.equal(got[1:], ["EROFS"] * (len(rows) - 1))
    control, _ = calls(t, *rows[1:4], runner=t.plain)
    t.check(all(isinstance(r, int) for r in control), f"control: {control}")


@test()
def refused_paths_are_named_with_the_way_out(t):
    out = outside(t)
    run = t.sbox("sh", "-c", f"echo x > {out}/file",
                 sets=[f"file.read+={out}", "audit.denials=full"])
    if run.code == 125 and "denials" in run.errtext:
        raise Skip("audit.denials = full is not built yet: " + run.errtext.strip())
    t.check(run.code != 0, run)
    entry = (run.denied(object=f"{out}/file") or [None])[0]
    t.check(entry, f"named: {run}")
    t.equal((entry["boundary"], entry["errno"]), ("file", "EROFS"))
    t.has(str(entry["permit"]), "write", "the line that would permit it")


@test()
def read_path_does_not_execute_and_exec_path_does(t):
    out = outside(t)
    t.equal(t.plain(f"{out}/run.sh").out, b"ran\n", "control")
    run = t.sbox(f"{out}/run.sh", sets=[f"file.read+={out}"])
    t.equal((run.code, run.kind), (126, "not_executable"), run)
    run = t.sbox("sh", "-c", f"{out}/run.sh", sets=[f"file.read+={out}"])
    t.equal(run.code, 126, run)
    run = t.sbox(f"{out}/run.sh", sets=[f"file.exec+={out}"])
    t.equal(run.out, b"ran\n", run)


@test()
def exec_path_is_read_only(t):
    out = outside(t)
    got, _ = calls(t, ("open", f"s:{out}/file", O_WRONLY), ("open", f"s:{out}/file", 0),
                   sets=[f"file.exec+={out}"])
    t.check(got[0] == "EROFS" and got[1] > 2, got)


@test()
def write_path_does_it_all(t):
    """Read, create, change, delete, execute; and the files belong to the workspace's owner."""
    t.write("old", "old\n")
    script = ("set -e; cat old; echo new > new; echo more >> old; mkdir d; mv new d/new; rm d/new;"
              "rmdir d; ln -s old l; rm l; ln old h; rm h; chmod 600 old; touch -d 2020-01-01 old;"
              "printf '#!/bin/sh\\necho ran\\n' > x; chmod 755 x; ./x; : > left; mkdir leftd")
    run = t.sbox("sh", "-c", script, opts=["--quiet"])
    t.equal((run.code, run.out), (0, b"old\nran\n"), run)
    t.equal(t.read("old"), b"old\nmore\n")
    for name in ("old", "left", "leftd", "x"):
        info = os.stat(f"{t.ws}/{name}")
        t.equal((info.st_uid, info.st_gid), (t.uid, t.gid), f"owner of {name} on the host")


@test()
def noexec_below_a_write_path(t):
    t.write("data/run.sh", "#!/bin/sh\necho ran\n", 0o755)
    run = t.sbox("sh", "-c", "data/run.sh; cp data/run.sh here.sh; ./here.sh; echo > data/new",
                 sets=[f"file.noexec={t.ws}/data"], opts=["--quiet"])
    t.equal(run.out, b"ran\n", f"only the one outside of data: {run}")
    t.check(os.path.exists(f"{t.ws}/data/new"), "still writable")
    got, _ = calls(t, ("execve", f"s:{t.ws}/data/run.sh", 0, 0), sets=[f"file.noexec={t.ws}/data"])
    t.equal(got, ["EACCES"])


@test()
def hidden_names_are_not_there(t):
    t.write(".env", "secret\n")
    t.write("keys/id", "secret\n")
    rows = [("open", f"s:{t.ws}/.env", 0), ("open", f"s:{t.ws}/keys/id", 0),
            ("rename", f"s:{t.ws}/.env", f"s:{t.ws}/env"), ("unlink", f"s:{t.ws}/.env"),
            ("link", f"s:{t.ws}/.env", f"s:{t.ws}/env")]
    for mode in ("keep", "discard") if can_discard() else ("keep",):
        got, run = calls(t, *rows, sets=[f"file.hide=-{t.ws}/.env", f"file.hide+={t.ws}/keys",
                                         f"file.writes={mode}"])
        t.check(all(isinstance(r, str) for r in got), f"writes={mode}: {got}")
        read = t.sbox("sh", "-c", "cat .env keys/* ; grep -r secret . ; true",
                      sets=[f"file.hide=-{t.ws}/.env", f"file.hide+={t.ws}/keys",
                            f"file.writes={mode}"])
        t.check(b"secret" not in read.out, f"writes={mode}: {read}")
    t.equal((t.read(".env"), t.read("keys/id")), (b"secret\n", b"secret\n"))


@test(cases=["keep", "discard"])
def protected_names_stay_as_they_are(t, mode):
    """protect: read-only, and neither it nor a parent can be moved away and replaced."""
    if mode == "discard":
        needs_discard()
    t.write("repo/.git/hooks/pre-commit", "#!/bin/sh\n", 0o755)
    t.write("repo/.git/config", "[core]\n")
    hooks, config = f"{t.ws}/repo/.git/hooks", f"{t.ws}/repo/.git/config"
    sets = [f"file.protect={hooks}", f"file.protect+={config}", f"file.writes={mode}"]
    rows = [("open", f"s:{hooks}/pre-commit", 0), ("open", f"s:{hooks}/pre-commit", O_WRONLY),
            ("open", f"s:{hooks}/new", O_WRONLY | O_CREAT, 0o755), ("unlink", f"s:{hooks}/pre-commit"),
            ("open", f"s:{config}", O_WRONLY | O_TRUNC), ("chmod", f"s:{config}", 0o777),
            ("rename", f"s:{hooks}", f"s:{hooks}.old"), ("unlink", f"s:{config}"),
            ("rename", f"s:{config}", f"s:{t.ws}/config"),
            ("rename", f"s:{t.ws}/repo/.git", f"s:{t.ws}/repo/.old"),
            ("rename", f"s:{t.ws}/repo", f"s:{t.ws}/repo2")]
    control, _ = calls(t, ("open", f"s:{config}", O_WRONLY), runner=t.plain)
    t.check(control[0] > 2, "control")
    got, _ = calls(t, *rows, sets=sets)
    t.check(got[0] > 2, f"still readable: {got}")
    t.equal(got[1:6], ["EROFS"] * 5)
    if mode == "keep":
        t.equal(got[6:], ["EBUSY", "EBUSY", "EXDEV", "EBUSY", "EBUSY"],
                "mount points can be neither renamed nor removed")
    else:
        t.check(all(isinstance(r, str) for r in got[6:]), f"refused in some way: {got[6:]}")
    t.sbox("sh", "-c", f"mv repo/.git repo/.old; mkdir -p {hooks}; echo evil > {hooks}/post-merge; "
           f"mv repo r2; mkdir -p {hooks}; echo evil > {hooks}/x; echo y >> {config}", sets=sets)
    t.equal((sorted(os.listdir(hooks)), t.read(config)), (["pre-commit"], b"[core]\n"), "host")


@test()
def protected_file_replaced_by_the_host(t):
    """An atomic save on the host takes the protection's mount away: the run ends, and says why."""
    t.write(".git/config", "[core]\n")
    child = t.start("sh", "-c", "echo up; sleep 30", sets=[f"file.protect={t.ws}/.git/config"])
    child.stdout.readline()
    time.sleep(0.3)  # sbox's first look at the mounts is over: the kernel has to tell it
    t.write(".git/config.lock", "[core]\n\tnew = 1\n")
    os.rename(f"{t.ws}/.git/config.lock", f"{t.ws}/.git/config")
    _, err = t.communicate(child, None, 15)
    t.equal((child.returncode, t.records()[-1]["end"]["kind"]), (137, "boundary_lost"), err)
    t.has(err, "protected")


@test()
def protected_file_replaced_at_once(t):
    """As soon as the program is there, before sbox has looked at the mounts for the first time."""
    for number in range(8):
        t.write(".git/config", "[core]\n")
        child = t.start("sh", "-c", f": > up{number}; sleep 30", sets=[f"file.protect={t.ws}/.git/config"])
        os.setpriority(os.PRIO_PROCESS, child.pid, 19)
        t.write(".git/config.lock", "[core]\n\tnew = 1\n")
        wait_until(lambda: os.path.exists(f"{t.ws}/up{number}"), 15, 0)
        os.rename(f"{t.ws}/.git/config.lock", f"{t.ws}/.git/config")
        _, err = t.communicate(child, None, 25)
        t.equal((child.returncode, t.records()[-1]["end"]["kind"]), (137, "boundary_lost"), err)


@test()
def protected_tree_beside_free_names(t):
    t.write(".git/hooks/x", "x")
    run = t.sbox("sh", "-c", "echo a > .git/index && mkdir .git/objects && echo b > free",
                 sets=[f"file.protect={t.ws}/.git/hooks"])
    t.equal(run.code, 0, run)
    t.equal(t.read(".git/index"), b"a\n")


@test()
def missing_paths(t):
    """A missing path is an error with its line; with a leading "-" it may be absent."""
    gone = f"{t.dir}/gone"
    for key in ("read", "exec", "write"):
        run = t.sbox("echo", "ran", sets=[f"file.{key}+={gone}"])
        t.equal((run.code, run.out), (125, b""), run)
        t.has(run.errtext, gone)
        run = t.sbox("echo", "ran", sets=[f"file.{key}+=-{gone}"])
        t.equal(run.out, b"ran\n", run)


@test()
def links_and_dots_lead_nowhere(t):
    out = outside(t)
    os.symlink(f"{out}/file", f"{t.ws}/link")
    os.symlink("../out/file", f"{t.ws}/relative")
    os.symlink("/", f"{t.ws}/root")
    ways = [f"{t.ws}/link", f"{t.ws}/relative", f"{t.ws}/root{out}/file", f"{t.ws}/../out/file",
            f"/proc/self/root{out}/file", "/proc/self/cwd/../out/file", f"/../../..{out}/file",
            f"/proc/self/root/../..{out}/file", f"/proc/thread-self/root{out}/file",
            f"/proc/1/root{out}/file", f"/proc/1/cwd{out}/file", f"/dev/fd/../../root{out}/file"]
    rows = [("open", f"s:{way}", flags) for way in ways for flags in (0, O_WRONLY, O_PATH)]
    rows += [("openat", AT_FDCWD, f"s:{way}", 0) for way in ways]
    control, _ = calls(t, *rows[:12:3], runner=t.plain)
    t.check(all(r > 2 for r in control), f"control: {control}")
    got, _ = calls(t, *rows)
    t.check(all(r in ("ENOENT", "EACCES", "ENOTDIR") for r in got), got)
    write = t.sbox("sh", "-c", "echo evil > link; echo evil > relative; ln -s /etc/shadow made")
    t.equal(t.read(f"{out}/file"), b"outside\n", write)


@test()
def inside_directory_stays_inside(t):
    """chdir up and getcwd: the root is the sandbox's own."""
    script = "import os\nfor _ in range(40): os.chdir('..')\nprint(os.getcwd(), sorted(os.listdir('.')))"
    run = t.sbox(PYTHON, "-c", script, opts=["--quiet"])
    t.check(run.text.startswith("/ "), run)
    listed = run.text
    for name in ("'work'", "'boot'", "'lost+found'", "'srv'", "'media'"):
        t.check(name not in listed, f"{name} of the host in {listed}")


@test()
def parents_of_listed_paths_show_nothing_else(t):
    outside(t)
    run = t.sbox("sh", "-c", f"ls -a {t.dir}; ls -a {t.tree}/t | wc -l; ls -a /var/tmp /var /home",
                 opts=["--quiet"])
    t.check("out" not in run.text.split() and "store" not in run.text.split(), run.text)
    t.check("sbox-test" not in run.text.split(), f"other homes: {run.text}")


@test()
def hard_links_across_the_boundary(t):
    out = outside(t)
    got, _ = calls(t, ("link", f"s:{out}/file", f"s:{t.ws}/l"),
                   ("link", "s:/usr/bin/env", f"s:{t.ws}/l2"),
                   ("linkat", AT_FDCWD, "s:/proc/self/exe", AT_FDCWD, f"s:{t.ws}/l3", 0x400),
                   sets=[f"file.read+={out}"])
    t.equal(got[:2], ["EXDEV", "EXDEV"])
    t.equal(sorted(n for n in os.listdir(t.ws) if n.startswith("l")), [n for n in ("l3",)
            if os.path.lexists(f"{t.ws}/l3")], "nothing of the outside is linked in")


@test()
def scratch_is_private_sized_and_gone(t):
    marker = f"sbox-scratch-{os.getpid()}"
    first = t.sbox("sh", "-c", f"echo x > /tmp/{marker}; echo x > /dev/shm/{marker}; echo x > $HOME/f; "
                   "ls /tmp /dev/shm $HOME; stat -f -c %T /tmp; stat -c %a /tmp", opts=["--quiet"])
    t.equal(first.code, 0, first)
    t.has(first.text, "tmpfs")
    second = t.sbox("sh", "-c", "ls -A /tmp /dev/shm $HOME", opts=["--quiet"])
    t.check(marker not in second.text, "a run sees nothing of an earlier one")
    t.check(not os.path.exists(f"/tmp/{marker}") and not os.path.exists(f"/dev/shm/{marker}"), "host")
    full = t.sbox("dd", "if=/dev/zero", "of=/tmp/full", "bs=1M", "count=40", sets=["file.scratch=8M"])
    t.check(full.code in (1, 137), full)
    t.check(b"No space" in full.err or full.kind == "disk", full)


@test()
def scratch_does_not_execute_unless_asked(t):
    script = "cp /bin/echo /tmp/e; /tmp/e ran-tmp; cp /bin/echo $HOME/e; $HOME/e ran-home"
    no = t.sbox("sh", "-c", script, sets=["file.scratch_exec=no"], opts=["--quiet"])
    t.equal(no.out, b"", no)
    yes = t.sbox("sh", "-c", script, sets=["file.scratch_exec=yes"], opts=["--quiet"])
    t.equal(yes.out, b"ran-tmp\nran-home\n", yes)


@test()
def home_none(t):
    run = t.sbox("sh", "-c", 'echo "[$HOME]"; ls -A "$HOME"', sets=["file.home=none"])
    t.check(t.home not in run.text, run)


@test()
def devices_are_the_minimal_set(t):
    run = t.sbox("sh", "-c", "find /dev ! -type d ! -path '/dev/pts*' -printf '%f '; "
                 "head -c 4 /dev/urandom | wc -c; echo x > /dev/null; head -c 3 /dev/zero | wc -c; "
                 "echo y > /dev/full", opts=["--quiet"])
    names = set(run.text.split("\n")[0].split()[:-1])
    allowed = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "fd", "stdin", "stdout",
               "stderr", "core"}
    t.equal(sorted(names - allowed), [], "device nodes inside")
    t.check({"null", "zero", "urandom"} <= names, names)

# SPDX-License-Identifier: Apache-2.0
"""The sandbox in place: what it says it loses, each shown to be lost."""
import os
import socket

from in_place_steps import cmdline, items, place
from sboxtest import PYTHON, test
from syscalls import calls


# ---- what it says it loses: shown to be lost -------------------------------------

@test()
def lost_what_is_there_can_be_seen(t):
    secret = t.write(f"{t.dir}/out/secret", "12345\n", 0o644)
    os.symlink("there", f"{t.dir}/out/link")
    rows = [("stat", f"s:{secret}", "z:256"), ("access", f"s:{secret}", 0), ("chdir", f"s:{t.dir}/out"),
            ("readlink", f"s:{t.dir}/out/link", "z:256", 256), ("statfs", "s:/", "z:256")]
    got, run = calls(t, *rows, runner=lambda *a, **k: place(t, *a, **k))
    t.check(all(isinstance(r, int) for r in got), f"no longer lost: say so in the plan: {got}")
    control, _ = calls(t, *rows)
    t.equal(control, ["ENOENT"] * 4 + [0], "with a tree it is not there")


@test()
def lost_attributes_of_own_files_can_be_changed(t):
    """A user's own files; of root's, whose program is another user, only what everybody may touch."""
    mine, open_to_all = t.write(f"{t.dir}/mine", "", 0o600), t.write(f"{t.dir}/all", "", 0o666)
    rows = [("chmod", f"s:{mine}", 0o644), ("utime", f"s:{mine}", 0),
            ("setxattr", f"s:{mine}", "s:user.x", "s:v", 1, 0), ("utime", f"s:{open_to_all}", 0)]
    got, _ = calls(t, *rows, runner=lambda *a, **k: place(t, *a, **k))
    if t.uid != 0:
        t.check(got[:2] == [0, 0] and got[2] in (0, "EOPNOTSUPP"), f"no longer lost: {got}")
    else:
        t.check(all(isinstance(r, str) for r in got[:3]), got)
    t.equal(got[3], 0)


@test()
def lost_processes_can_be_listed(t):
    t.popen(["sleep", "77.123"])
    run = place(t, "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    t.has(run.text, "sleep 77.123", "no longer lost")


@test()
def lost_names_of_host_and_groups(t):
    run = place(t, "sh", "-c", "uname -n; cat /proc/self/cgroup")
    t.equal(run.text.split("\n")[0], os.uname().nodename)
    with open("/proc/self/cgroup") as own:
        t.has(run.text, own.readline().strip())


@test()
def lost_own_servers_and_shared_memory(t):
    run = place(t, PYTHON, "-c", "import socket\ntry: socket.create_server(('127.0.0.1', 0))\n"
                "except OSError as e: print(e.errno)\n"
                "import multiprocessing\ntry: multiprocessing.Lock()\nexcept OSError as e: print(e.errno)")
    t.equal(run.out, b"97\n13\n", run)


@test()
def lost_hidden_and_protected_names(t):
    """Refused unless the profile takes everything; then they lie open, and the record says so."""
    t.write(".env", "API_KEY=abc\n", 0o644)
    t.write(".git/hooks/x", "", 0o666)
    run = place(t, "cat", ".env", opts=[])
    t.equal((run.code, run.out, run.kind), (125, b"", "denied_start"), run)
    t.has(run.errtext, f"{t.ws}/.env")
    run = place(t, "sh", "-c", "cat .env; echo evil > .git/hooks/x", word="allow")
    t.has(run.text, "API_KEY")
    t.equal(t.read(".git/hooks/x"), b"evil\n")
    t.check({"file.hide", "file.protect"} <= items(run, "missing"), items(run, "missing"))


@test()
def lost_the_synthetic_account(t):
    run = place(t, PYTHON, "-c", "import os; print(os.getuid())\nimport pwd\n"
                "try: pwd.getpwuid(os.getuid())\nexcept KeyError: print('no name')")
    t.has(run.text, "no name")
    if t.uid != 0:
        t.equal(run.text.split()[0], str(t.uid))

# SPDX-License-Identifier: Apache-2.0
"""Real containers: podman with its default seccomp profile, capabilities and masks, on this
machine's own tree under an overlay. Skipped where podman and crun are not installed, or cannot run.
"""
import glob
import json
import os
import shutil
import signal
import tempfile

import worlds
from sboxtest import Skip, descendants, test, wait_until

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PODMAN = ["podman", "--log-level=error", "--cgroup-manager=cgroupfs", "run", "--rm", "--cgroups=disabled",
          "--network=none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"]


def without_hybrid_cgroups():
    """crun refuses a machine that has both versions of control groups."""
    worlds.mount_namespace()
    worlds.libc.umount2(b"/sys/fs/cgroup/unified", 2)


def put_demo(t):
    shutil.copy(f"{HERE}/demo/hello.py", f"{t.ws}/hello.py")
    t.own(f"{t.ws}/hello.py")


def in_container(t, script, options=()):
    """The script's output, in a container that has the test's own folder."""
    if shutil.which("podman") is None or shutil.which("crun") is None:
        raise Skip("podman and crun are not installed")
    if os.geteuid() != 0:
        raise Skip("the container is started by root")
    put_demo(t)
    path = t.write(f"{t.dir}/in.sh", script, 0o755)
    name = "" if t.uid == 0 else str(t.uid)
    user = ["--user", name] if name else []
    # not in a folder that the container sees: its mounts would show it a /proc without masks
    root = tempfile.mkdtemp(prefix="sbox-podman-", dir="/var/tmp")
    child = t.popen([*PODMAN[:1], "--root", root, "--runroot", f"{root}/run", *PODMAN[1:], *user, *options,
                     "-e", f"HOME={t.home}", "-v", f"{t.tree}:{t.tree}", "-v", f"{t.dir}:{t.dir}", "-w", t.ws,
                     "--rootfs", "/:O", "sh", path],
                    preexec=without_hybrid_cgroups, stdout=-1, stderr=-1, stdin=-3, as_root=True)
    out, err = t.communicate(child, b"", 100)
    wait_until(lambda: not descendants(os.getpid()), 10)
    shutil.rmtree(root, ignore_errors=True)
    if child.returncode == 125 and b"Error:" in err:
        raise Skip("podman: " + err.decode(errors="replace").strip()[-200:])
    return out.decode(), err.decode()


SCRIPT = """sbox={tree}/bin/sbox; store={store}
grep -c '^Seccomp:.2' /proc/self/status
$sbox --store $store sh -c 'touch ran'; echo "refused $?"; test -e ran || echo 'not run'
$sbox --store $store --set file.on_missing={word} --set network.on_missing=reduce --set process.on_missing=reduce \\
    --set privilege.on_missing=reduce sh -c 'id -u; cat /etc/shadow 2>/dev/null || echo shut; echo x > $HOME/f && echo ok;
    touch made 2>/dev/null && echo wrote'
echo "ended $?"
$sbox --quiet --store $store --set file.on_missing={word} --set network.on_missing=reduce --set process.on_missing=reduce \
    --set privilege.on_missing=reduce python3 hello.py > demo.txt; echo "demo $?"
$sbox doctor --json > doctor.json; echo "doctor $?"
"""


def demo_and_doctor(t, lines):
    """The demo runs to its end; the doctor knows that agent.ini is refused as it is, and the way out."""
    t.has("\n".join(lines), "demo 0")
    if t.uid != 0:
        t.equal(t.read("result.txt"), b"6 * 7 = 42\n")
    worlds.doctor_refuses(t, t.read("doctor.json"))
    t.check(json.loads(t.read("doctor.json"))["trial"]["ran"], "and tries how it runs")


@test(timeout=120)
def by_root_and_by_a_user(t):
    """As a user: a tree, with the container's own /proc and its name; as root: in place."""
    out, err = in_container(t, SCRIPT.format(tree=t.tree, store=t.store, word="allow" if t.uid == 0 else "reduce"))
    lines = out.split("\n")
    t.equal(lines[:3], ["1", "refused 125", "not run"], out + err)
    t.equal(lines[4:6], ["shut", "ok"], out + err)
    uid = int(lines[3])
    t.check(uid != 0, out)
    start = [r for r in t.records() if r["type"] == "run.start"][-1]
    states = {f"{i['boundary']}.{i['name']}": i["state"] for i in start["enforced"]}
    if t.uid == 0:
        t.equal((states["file.tree"], states["network.mode"], states["privilege.user"]),
                ("reduced", "reduced", "enforced"), json.dumps(states))
        t.check(uid >= 1900000000, f"leased: {uid}")
    else:
        t.equal((states["file.tree"], states["network.mode"], states["file.proc"], states["process.hostname"]),
                ("enforced", "enforced", "reduced", "reduced"), json.dumps(states))
        t.equal(lines[6:8], ["wrote", "ended 0"], out + err)
    demo_and_doctor(t, lines)


@test(timeout=120, callers=("user",))
def without_any_seccomp_and_masks(t):
    """Unconfined, a user's run in a container is the whole one."""
    out, err = in_container(t, SCRIPT.format(tree=t.tree, store=t.store, word="reduce"),
                            ["--security-opt", "seccomp=unconfined", "--security-opt", "unmask=ALL"])
    start = [r for r in t.records() if r["type"] == "run.start"][-1]
    t.check(all(i["state"] in ("enforced", "off") or i["name"] == "memory" for i in start["enforced"]), out + err)


def rootless_root(t):
    """A root for a container of an ordinary user's own: the machine's programs, folders of its own."""
    root = t.mkdir(f"{t.dir}/rootfs")
    for name in ("usr", "etc", "tmp", "proc", "dev", "sys", "run", "var", "home", "root"):
        t.mkdir(f"{root}/{name}")
    for name in ("bin", "lib", "lib64", "sbin"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{root}/{name}")
    return root


@test(timeout=120, callers=("user",))
def rootless(t):
    """Root inside, an ordinary user outside: the tree stands, what the container refuses is said."""
    if shutil.which("podman") is None or shutil.which("newuidmap") is None:
        raise Skip("podman and uidmap are not installed")
    if os.geteuid() != 0:
        raise Skip("the version-2 control groups are taken away by root")
    home, run = t.mkdir(f"{t.dir}/podman"), t.mkdir(f"{t.dir}/podman/run")
    put_demo(t)
    path = t.write(f"{t.dir}/in.sh", SCRIPT.format(tree=t.tree, store=t.store, word="reduce"), 0o755)
    child = t.popen(["setpriv", "--reuid", str(t.uid), "--regid", str(t.gid), "--clear-groups", "env", f"HOME={home}",
                     f"XDG_RUNTIME_DIR={run}", PODMAN[0], "--root", f"{home}/root", "--runroot", f"{run}/c",
                     "--storage-driver=vfs", *PODMAN[1:], "-v", "/usr:/usr", "-v", "/etc:/etc", "-v", f"{t.tree}:{t.tree}",
                     "-v", f"{t.dir}:{t.dir}", "-w", t.ws, "--rootfs", rootless_root(t), "sh", path],
                    preexec=without_hybrid_cgroups, stdout=-1, stderr=-1, stdin=-3, as_root=True)
    out, err = t.communicate(child, b"", 100)
    # podman leaves a process that holds its user namespace
    for name in glob.glob(f"{run}/**/pause.pid", recursive=True) + glob.glob(f"{home}/**/pause.pid", recursive=True):
        with open(name, encoding="ascii") as pid:
            os.kill(int(pid.read()), signal.SIGKILL)
    wait_until(lambda: not descendants(os.getpid()), 10)
    if child.returncode == 125 and b"Error:" in err:
        raise Skip("podman: " + err.decode(errors="replace").strip()[-200:])
    lines = out.decode().split("\n")
    t.check(lines[0] == "1" and "ended 0" in lines, out + err)
    t.check("shut" in lines and "ok" in lines and "wrote" in lines, out + err)
    start = [r for r in t.records() if r["type"] == "run.start"][-1]
    states = {f"{i['boundary']}.{i['name']}": i["state"] for i in start["enforced"]}
    t.equal((states["file.tree"], states["network.mode"], states["process.hostname"]),
            ("enforced", "enforced", "reduced"), json.dumps(states))
    runs, checks = worlds.form_of_agent(t, t.read("doctor.json"))
    t.check(runs and [c for c in checks if c["way_out"]], "agent.ini runs here, reduced, and the doctor says how to have more")

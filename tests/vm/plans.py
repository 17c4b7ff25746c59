# SPDX-License-Identifier: Apache-2.0
"""What show, doctor and a run's record say on these kernels is what they then do."""
import json
import os
import shutil
import subprocess

from sboxtest import Skip, test

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Landlock's ABI, and what the plan leaves to another layer then.
KERNELS = {"6.1": (2, "truncation is left to the mount tree"), "6.12": (6, None)}


def expected():
    version = ".".join(os.uname().release.split(".")[:2])
    if version not in KERNELS:
        raise Skip(f"nothing is written down about Linux {version}")
    return KERNELS[version]


def landlock(run):
    return next(i for i in run.start["enforced"] if i["name"] == "landlock")


@test()
def record_and_show_say_the_abi(t):
    abi, residual = expected()
    run = t.sbox("true")
    t.equal((run.code, landlock(run)["state"]), (0, "enforced"), run)
    t.equal(landlock(run)["mechanism"], f"landlock ABI {abi}")
    t.has(t.plain(t.sbox_path, "show", "agent").text, f"landlock ABI {abi}")
    if residual:
        t.has(landlock(run)["residual"], residual)


@test()
def strict_runs_with_everything_enforced(t):
    """A stock kernel, an ordinary file system: there is nothing to accept."""
    run = t.sbox("echo", "ran", opts=["--strict"], sets=["process.memory=", "process.cpus="])
    t.equal((run.code, run.out, run.err), (0, b"ran\n", b""), run)
    states = {i["name"]: i["state"] for i in run.start["enforced"]}
    t.equal([name for name, state in states.items() if state not in ("enforced", "off")], [], run)


@test()
def truncation_stays_refused(t):
    """Landlock of 6.1 has no right for it."""
    t.write("kept", "content")
    sets = ["file.protect=${cwd}/kept"]
    script = "import os\nfor f in (lambda: os.truncate('kept', 0), lambda: os.truncate('/usr/bin/env', 0)):\n" \
             "    try: f(); print('done')\n    except OSError as e: print(e.strerror)\n"
    t.equal(t.plain("/usr/bin/python3", "-c", "import os; os.truncate('kept', 3); print(open('kept').read())").out,
            b"con\n", "control")
    run = t.sbox("/usr/bin/python3", "-c", script, sets=sets)
    t.check(b"done" not in run.out, run)
    t.equal(t.read("kept"), b"con")


@test(parallel=False)
def doctor_tells_the_truth(t):
    abi, _ = expected()
    run = t.plain(t.sbox_path, "doctor", "--json")
    report = json.loads(run.out)
    checks = {c["name"]: c for c in report["checks"]}
    t.has(checks["landlock"]["found"], f"ABI {abi}")
    t.has(checks["labels"]["found"], 'AppArmor, sbox runs as "unconfined"')
    t.equal(report["trial"]["ran"], True, report["trial"])
    for name in ("strict", "base"):
        verdict = next(p for p in report["profiles"] if p["name"] == name)
        done = t.sbox("true", profile=name)
        t.equal(verdict["form"] != "none", done.code == 0, f"{verdict}\n{done}")


@test(parallel=False)
def demo_runs(t):
    build = f"{t.dir}/build"
    os.mkdir(build)
    shutil.copytree(t.tree, f"{build}/tree", ignore=shutil.ignore_patterns("t", "probe"))
    t.own(build)
    run = t.plain(f"{ROOT}/tests/demo/run", env={"BUILD": build}, timeout=60)
    t.equal(run.code, 0, run)
    t.has(run.text, "write into the folder it was given yes")
    t.has(run.text, "audit show --last")


@test(parallel=False)
def installed_and_used(t):
    """From the installed place, with the store where it belongs."""
    if t.uid == 0:
        done = subprocess.run(["make", "-s", "-C", ROOT, "-o", "all", "install", "PREFIX=/usr/local"],
                              capture_output=True, timeout=300)
        t.equal(done.returncode, 0, done.stderr)
    elif not os.path.exists("/usr/local/bin/sbox"):
        raise Skip("only root installs")
    run = t.plain("/usr/local/bin/sbox", "sh", "-c", "echo hello >made; cat made")
    t.equal((run.code, run.out), (0, b"hello\n"), run)
    t.equal(t.read("made"), b"hello\n")
    t.equal(os.stat(f"{t.ws}/made").st_uid, t.uid)
    t.has(t.plain("/usr/local/bin/sbox", "audit", "show", "--last").text, "echo hello")

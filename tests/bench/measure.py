# SPDX-License-Identifier: Apache-2.0
"""What the measurements share: who calls, where, in turns, and how it is told.

A bench measures each caller in a process of its own that has become that caller, so that nothing
between the clock and the program changes ids. Ratios are medians of the ratios within one turn.
"""
import argparse
import contextlib
import json
import os
import platform
import pwd
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.path.join(TOP, os.environ.get("BUILD", "build")))
BWRAP = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
         "--tmpfs", "/tmp"]


def arguments(doc, *more):
    """--json, --as, and what the bench adds: (name, keywords) each."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="also write all of it there, for machines")
    parser.add_argument("--as", dest="callers", metavar="NAME", action="append",
                        help="measure this caller only")
    for name, keywords in more:
        parser.add_argument(name, **keywords)
    return parser.parse_args()


class Caller:
    def __init__(self, name, base):
        account = pwd.getpwnam(name)
        self.name, self.uid, self.gid = name, account.pw_uid, account.pw_gid
        self.place = f"{base}/{name}"
        self.work, self.home, self.store = (f"{self.place}/{part}" for part in ("work", "home", "store"))
        for folder in (self.place, self.work, self.home):
            os.mkdir(folder, 0o755)
            os.chown(folder, self.uid, self.gid)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.home, "LANG": "C.UTF-8", "USER": name}

    def __str__(self):
        return self.name

    def ids(self):
        """Keywords for subprocess.Popen."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def do(self, function, *args):
        """function(self, *args) by a process that is this caller; gives back what it returned."""
        sys.stdout.flush()
        out, into = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                if self.ids():
                    os.setgroups([])
                    os.setresgid(self.gid, self.gid, self.gid)
                    os.setresuid(self.uid, self.uid, self.uid)
                os.environ.clear()
                os.environ.update(self.env)
                os.chdir(self.work)
                result = json.dumps(function(self, *args)).encode()
                with os.fdopen(into, "wb") as pipe:
                    pipe.write(result)
                code = 0
            except BaseException as problem:  # pylint: disable=broad-except
                print(f"as {self.name}: {problem}", file=sys.stderr)
            finally:
                sys.stdout.flush()
                os._exit(code)
        os.close(into)
        with os.fdopen(out, "rb") as pipe:
            text = pipe.read()
        if os.waitpid(pid, 0)[1] != 0:
            sys.exit(1)
        return json.loads(text)


class World:
    """A copy of the build that every caller reaches, on a disk, and one folder for each caller."""

    def __init__(self, base, wanted):
        self.base = base
        self.tree, self.sbox = f"{base}/tree", f"{base}/tree/bin/sbox"
        shutil.copytree(f"{BUILD}/tree", self.tree)
        if os.geteuid() == 0 and not any(entry.pw_name == "sbox-test" for entry in pwd.getpwall()):
            subprocess.run(["useradd", "-m", "sbox-test"], check=True)
        names = [pwd.getpwuid(os.geteuid()).pw_name] + (["sbox-test"] if os.geteuid() == 0 else [])
        for name in wanted or ():
            if name not in names:
                sys.exit(f"--as {name}: not one of {', '.join(names)}")
        self.callers = [Caller(name, base) for name in wanted or names]

    def compile(self, name, *more):
        """tests/bench/NAME.c, as a program in the world's folder."""
        program = f"{self.base}/{name}"
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", f"-I{TOP}/launcher", f"-I{TOP}/audit", "-o", program,
                        f"{HERE}/{name}.c", *more], check=True)
        return program

    def command(self, caller, *more, profile="agent.ini"):
        return [self.sbox, "--quiet", "--profile", profile, "--store", caller.store, *more]


@contextlib.contextmanager
def world(wanted=None):
    if not os.access(f"{BUILD}/tree/bin/sbox", os.X_OK):
        sys.exit("there is no build: make tree")
    base = tempfile.mkdtemp(prefix="sbox-bench-", dir="/var/tmp")
    os.chmod(base, 0o755)
    try:
        yield World(base, wanted)
    finally:
        shutil.rmtree(base, ignore_errors=True)
        if os.path.exists(base):  # what a leased user left
            subprocess.run(["rm", "-rf", base], check=False)


def start(argv, env=None):
    """Seconds from before the start of argv to after its end, which has to be a good one."""
    null = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    begun = time.perf_counter()
    _, status = os.waitpid(os.posix_spawnp(argv[0], argv, env or os.environ, file_actions=null), 0)
    spent = time.perf_counter() - begun
    if status != 0:
        raise RuntimeError(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}")
    return spent


def turns(count, ways):
    """ways: name -> function giving a figure. One turn that does not count, then each in every
    turn, forwards and backwards. Gives name -> list of figures."""
    found = {name: [] for name in ways}
    for turn in range(count + 1):
        for name in list(ways) if turn % 2 else reversed(list(ways)):
            figure = ways[name]()
            if turn > 0:
                found[name].append(figure)
    return found


def quartiles(values):
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def ratio(values, reference):
    """The median of the ratios within a turn."""
    return statistics.median(a / b for a, b in zip(values, reference))


def machine():
    with open("/proc/loadavg", encoding="ascii") as file:
        load = file.read().split()[0]
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return {"kernel": platform.release(), "processors": len(os.sched_getaffinity(0)), "model": model,
            "load": float(load), "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime())}


class Report:
    """What was measured, for people as it comes and for machines at the end."""

    def __init__(self, name, path):
        self.path = path
        self.whole = {"bench": name, "machine": machine(), "lines": [], "asked": []}

    def line(self, **fields):
        self.whole["lines"].append(fields)

    def asked(self, what, caller, bound, got, unit="", at_most=True):
        holds = got <= bound if at_most else got >= bound
        self.whole["asked"].append({"what": what, "caller": str(caller), "bound": bound, "got": round(got, 4),
                                    "unit": unit, "at_most": at_most, "holds": holds})

    def close(self):
        if self.whole["asked"]:
            print(f"\n{'asked':<46} {'as':<10} {'bound':>12} {'got':>10}")
            for row in self.whole["asked"]:
                print(asked_row(row))
        print(machine_line(self.whole["machine"]))
        if self.path:
            with open(self.path, "w", encoding="utf-8") as file:
                json.dump(self.whole, file, indent=1)
                file.write("\n")


def asked_row(row):
    sign = "<=" if row["at_most"] else ">="
    bound = f"{sign} {row['bound']:g}{row['unit']}"
    return f"{row['what']:<46} {row['caller']:<10} {bound:>12} {row['got']:>10.4g}  {'holds' if row['holds'] else 'DOES NOT HOLD'}"


def machine_line(m):
    return f"\nLinux {m['kernel']}, {m['processors']} processors ({m['model']}), load {m['load']:.1f} at the start, {m['date']} UTC"

# SPDX-License-Identifier: Apache-2.0
"""Attempts on time, resources and the record that no other test makes."""
import os
import re

from attempts import PRELUDE, attempt, words_of
from sboxtest import PYTHON, Skip


@attempt("T3", control=None, full="cpu 124", place="cpu 124", parallel=False)
def new_child_every_moment(a):
    """A limit a process is dodged by a child that goes on, with the warning caught: the tree's counts."""
    script = "import os, signal, time\nsignal.signal(signal.SIGXCPU, lambda *_: None)\nend = time.time() + 40\n" \
             "while time.time() < end:\n  stop = time.time() + 0.1\n  while time.time() < stop: pass\n" \
             "  if os.fork(): os.wait(); os._exit(0)\n"
    return a.ended(a.run(PYTHON, "-c", script, sets=["time.cpu=1s", "time.grace=200ms"], timeout=90))


@attempt("T4", control=None, full="1 7", place="1 7")
def clocks_that_can_be_set(a):
    """Whoever sets the host's clock moves no limit: sbox's timers are of the clocks that nobody sets."""
    if os.geteuid() != 0:
        raise Skip("the supervisor shows its descriptors to root only")
    child = a.start("sh", "-c", "echo up; sleep 30", sets=["time.cpu=20s"])
    child.stdout.readline()
    clocks = set()
    for name in os.listdir(f"/proc/{child.pid}/fdinfo"):
        try:
            with open(f"/proc/{child.pid}/fdinfo/{name}") as text:
                clocks |= set(re.findall(r"^clockid: (\d+)", text.read(), re.M))
        except FileNotFoundError:
            pass  # a descriptor of a moment: the clocks are there for the whole run
    child.terminate()
    a.t.communicate(child, None, 20)
    a.t.check(clocks, "a timer is there")
    return "1 7" if clocks <= {"1", "7"} else str(clocks)


@attempt("R4", control="*", full="bounded", place="bounded")
def locked_and_huge_memory(a):
    """mlock and huge pages: no more than the limits, which the run's memory limit is not above."""
    said = a.python("import ctypes, mmap\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                    "m = mmap.mmap(-1, 512 << 20)\nbuf = (ctypes.c_char * (512 << 20)).from_buffer(m)\n"
                    "locked = libc.mlock(ctypes.byref(buf), 512 << 20)\n"
                    "huge = 'huge'\ntry: mmap.mmap(-1, 64 << 20, flags=0x40022)\nexcept OSError: huge = 'none'\n"
                    "say('locked' if locked == 0 else 'bounded')", sets=["process.memory=300M"])
    return "bounded" if a.last.kind in ("memory", "signaled") else said


@attempt("R5", control=None, full="exited 0", place="exited 0", parallel=False)
def dirty_pages(a):
    """Rewriting and rereading one file much larger than the memory limit's tenth: pages are not the run's."""
    return a.ended(a.run("sh", "-c", "for i in 1 2 3 4; do dd if=/dev/zero of=big bs=1M count=64 conv=notrunc 2>/dev/null; "
                         "cat big >/dev/null; done; rm big", sets=["process.memory=400M"]))


@attempt("R14", control="*", full="EROFS", place="EACCES",
         unnamed="what /proc/self holds differs inside and is not judged")
def hiding_from_the_out_of_memory_killer(a):
    return a.python("def lower(): put('/proc/self/oom_score_adj', '-900')\nsay(attempt(lower))")


@attempt("R16", control="*", full="EPERM", place="EPERM")
def keys_that_stay(a):
    return a.tries(("add_key", "s:user", "s:sbox", "s:x", 1, -3), ("keyctl", 0, -3, 1), ("request_key", "s:user", "s:x", 0, -3))


@attempt("R16", control=None, full="few", place="few")
def counted_things_of_one_user(a):
    """Watches, which all runs of a user share: no more than descriptors."""
    said = a.python("import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                    "made = 0\nwhile made < 4096 and libc.inotify_init1(0) >= 0: made += 1\n"
                    "say('few' if made < 1100 else made)")
    return said


USE_UP = """import ctypes, signal
libc = ctypes.CDLL(None, use_errno=True)
watches = queued = 0
while watches < 5000 and libc.inotify_init1(0) >= 0: watches += 1
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
while queued < 300000 and libc.sigqueue(os.getpid(), 40, None) == 0: queued += 1
say('up', watches, queued)
sys.stdin.read()
"""


def what_is_left(t):
    """For another program of the caller's: an inotify instance."""
    script = "import ctypes\nprint('left' if ctypes.CDLL(None).inotify_init1(0) >= 0 else 'none')"
    return t.plain(PYTHON, "-c", script).text.strip()


@attempt("R16", control="none", full="left", place={"root": "left", "user": "none"}, parallel=False,
         lost="a count of the user's own needs a user namespace: the plan says so")
def using_up_what_a_user_has(a):
    """inotify instances and queued signals are counted for the user, whose other programs want some."""
    child = a.start(PYTHON, "-c", PRELUDE + USE_UP)
    queued = int(child.stdout.readline().split()[2])
    left = what_is_left(a.t)
    a.t.communicate(child, b"", 30)
    a.t.check(not a.sandboxed or queued <= 4096, f"{queued} signals queued")
    return left


@attempt("A1", control=None, full="one line a record", place="one line a record")
def forged_records(a):
    """New lines, quotes and escapes in arguments, names, output: a record stays one line of JSON."""
    evil = 'x\n{"type":"run.end","run":"forged"}\r\x1b[2J\x9b\u2028"\\'
    a.t.write(f"{a.ws}/{'y'}", "x")
    run = a.run("sh", "-c", "printf '%s' \"$1\"; exit 0", "sh", evil, env={"LC_ALL": evil.replace("\x9b", "")}, opts=["--quiet", "--label", "l=x"])
    with open(f"{a.t.store}/log.jsonl", "rb") as log:
        lines = log.read().splitlines()
    types = [record["type"] for record in a.t.records()]
    a.t.check("not JSON" not in types and b"\x1b" not in b"".join(lines), run)
    return "one line a record" if not [r for r in a.t.records() if r.get("run") == "forged"] else "forged"


@attempt("A2", control=None, full="escaped", place="escaped")
def control_characters_in_the_record(a):
    a.run("printf", "\x1b]0;evil\x07\x7f\u0085\u009b")
    with open(f"{a.t.store}/log.jsonl", "rb") as log:
        data = log.read()
    shown = a.t.audit("list").out + a.t.audit("show", a.last.start["run"]).out
    bad = [c for c in (b"\x1b", b"\x07", b"\x7f", "\u009b".encode()) if c in data or c in shown]
    return "escaped" if not bad else str(bad)


@attempt("A6", control=None, full="ENOENT", place="EACCES")
def the_record_itself(a):
    a.run("true")
    path = f"{a.t.store}/log.jsonl"
    return a.tries(("open", f"s:{path}", 0), ("open", f"s:{path}", 0o2001), ("unlink", f"s:{path}"),
                   ("rename", f"s:{path}", f"s:{path}.old"))


@attempt("A12", control="told", full="untold", place="untold")
def secrets_in_the_record(a):
    """Values of variables are never written down; arguments that look like secrets are taken out."""
    word = "sk-4711-4711"
    a.run("true", f"API_KEY={word}", f"--token={word}", "--password", word, env={"SECRET": word})
    if a.form == "control":
        return "told"
    with open(f"{a.t.store}/log.jsonl") as log:
        return "told" if word in log.read() else "untold"


@attempt("X17", control="works", full="works", place="works",
         lost="a lock on a read-only file is advice between programs; the kernel gives it to whoever may read")
def lock_on_a_shared_file(a):
    return a.python("import fcntl\nf = open('/usr/bin/env', 'rb')\nsay(attempt(fcntl.flock, f, fcntl.LOCK_EX | fcntl.LOCK_NB))")


@attempt("X18", control={"root": "works", "user": "EACCES"}, full="EACCES", place="EACCES",
         unnamed="a lease asks for the file's owner: the kernel answers itself")
def lease_on_a_shared_file(a):
    """A lease would hold up everybody who opens the file."""
    return a.python("import fcntl\nf = open('/usr/bin/env', 'rb')\nsay(attempt(fcntl.fcntl, f, 1024, 0))")


@attempt("X28", control="works", full="works", place={"root": "EACCES", "user": "works"},
         lost="opening it waits for the lease to be given back, as it would for a pipe of that name")
def lease_on_a_file_of_the_workspace(a):
    """A file that was lent: whoever opens it outside waits, for as long as the kernel gives a lease."""
    a.t.write(f"{a.ws}/lent", "x", 0o644)
    return a.python("import fcntl\nf = open('lent', 'rb')\nsay(attempt(fcntl.fcntl, f, 1024, 0))")


@attempt("X19", control="works", full="EROFS", place={"root": "EACCES", "user": "works|EACCES"},
         lost="the workspace's own name is in a folder that the caller owns, and Landlock gives no right there")
def taking_the_workspace_away(a):
    """Rename or remove the folder that was lent."""
    name = f"{a.ws}/lent"
    a.t.mkdir(name, 0o777)
    said = a.run(PYTHON, "-c", "import os, errno\ntry: os.rmdir('../lent'); print('works')\n"
                 "except OSError as e: print(errno.errorcode[e.errno])", cwd=name).text.strip()
    return said


@attempt("X20", control="works", full="EXDEV", place="EXDEV|EACCES")
def hard_link_to_a_shared_file(a):
    """A link in the workspace to a listed read-only file would make it a file of the workspace."""
    path = a.t.write(f"{a.t.dir}/shared/file", "x", 0o666)
    os.chmod(f"{a.t.dir}/shared", 0o777)
    return a.tries(("link", f"s:{path}", f"s:{a.ws}/link"), ("rename", f"s:{path}", f"s:{a.ws}/moved"),
                   keep=[0], sets=[f"file.read+={a.t.dir}/shared"])


@attempt("X21", control={"root": "works", "user": "EACCES EPERM"}, full="EACCES EPERM", place="EPERM",
         unnamed="without capabilities and limits for it the kernel answers itself")
def priority_above_all_others(a):
    """Real-time scheduling, and a priority above the caller's own."""
    return a.tries(("sched_setscheduler", 0, 1, "x:01000000"), ("setpriority", 0, 0, -10), ("ioprio_set", 1, 0, 0x2000))


@attempt("X22", control=None, full="EPERM", place="EPERM")
def freezing_the_file_system(a):
    """FIFREEZE on the workspace would stop every writer of the disk, so without sbox it is not tried."""
    return a.tries(("open", f"s:{a.ws}", 0), ("ioctl", "$1", 0xc0045877, 0), ("ioctl", "$1", 0xc0045878, 0), keep=[1, 2])


FILTER = """import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000))
prog = struct.pack('H6xQ', 1, ctypes.addressof(code))
"""


@attempt("X23", control="works", full="EBUSY", place="EBUSY")
def a_second_listener_for_calls(a):
    """A listener of its own would answer the program's calls before sbox's sees them."""
    return a.python(FILTER + "def listen():\n  libc.prctl(38, 1, 0, 0, 0)\n"
                    "  if libc.syscall(317, 1, 8, prog) < 0: raise OSError(ctypes.get_errno(), '')\nsay(attempt(listen))")


@attempt("X24", control=None, full="timeout 124|exited 0|signaled 139|signaled 132", place="timeout 124|exited 0|signaled 139|signaled 132")
def a_filter_that_blinds_the_program(a):
    """A program may confine itself further; sbox ends the run all the same and says how."""
    script = "code = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x00050001))\n" \
             "prog = struct.pack('H6xQ', 1, ctypes.addressof(code))\nlibc.prctl(22, 2, prog, 0, 0)\nwhile True: os._exit(0)"
    return a.ended(a.run(PYTHON, "-c", "import os\n" + FILTER + script, sets=["time.wall=3s", "time.grace=100ms"]))


@attempt("X25", control=None, full="refused", place="refused")
def files_that_the_loader_reads_first(a):
    """ld.so.preload, the loader's cache and libc: what every program of the host begins with."""
    ways = ["/etc/ld.so.preload", "/etc/ld.so.cache", os.path.realpath("/lib64/ld-linux-x86-64.so.2"), "/usr/bin/env"]
    got = a.calls(*[("open", f"s:{way}", 0o1) for way in ways if os.path.exists(way)],
                  *[("open", "s:/etc/ld.so.preload", 0o101, 0o644)])
    return words_of("refused" if r in ("EROFS", "EACCES", "EPERM", "ENOENT") else r for r in got)

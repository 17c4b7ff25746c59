# SPDX-License-Identifier: Apache-2.0
"""Attempts at the process boundary: living on, reaching others, and the terminal."""
import os
import signal
import threading

from attempts import attempt, words_of
from sboxtest import PYTHON, children, descendants, processes_with, wait_until

ESCAPE = """import time
for way in range(3):
    if os.fork() == 0:
        os.setsid() if way != 1 else os.setpgid(0, 0)
        if os.fork() == 0:
            os.closerange(0, 256); os.chdir('/usr')
            os.execv('/bin/sleep', ['sleep', '1777.%s' % sys.argv[1]])
        os._exit(0)
    os.wait()
time.sleep(0.3); say('left')
"""


@attempt("P1", control="alive", full="gone", place="gone")
def living_on_after_the_end(a):
    """Double fork, new session, new group; the first process ends well."""
    mark = f"{os.getpid()}{len(a.form)}"
    a.python(ESCAPE, mark)
    if a.form == "control":
        wait_until(lambda: len(processes_with("1777." + mark)) == 3)
        left = processes_with("1777." + mark)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return "alive" if len(left) == 3 else "gone"
    return "gone" if wait_until(lambda: not processes_with("1777." + mark), 20) else "alive"


@attempt("P2", control="alive", full="gone", place="gone")
def living_on_when_the_launcher_is_killed(a):
    mark = f"{os.getpid()}{len(a.form)}"
    child = a.start(PYTHON, "-c", "import os, sys\ndef say(w): print(w, flush=True)\n" + ESCAPE + "time.sleep(600)", mark)
    child.stdout.readline()
    child.kill()
    a.t.communicate(child, None, 20)
    if a.form == "control":
        left = processes_with("1777." + mark)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return "alive" if left else "gone"
    gone = wait_until(lambda: not processes_with("1777." + mark) and not descendants(os.getpid()), 20)
    a.run("true")  # the next start removes what a killed one left
    return "gone" if gone else "alive"


@attempt("P4", control=None, full="works", place="works")
def caller_whose_thread_ends(a):
    """The death signal is one of the thread's that started sbox, not of a process: the run goes on."""
    kept = []
    thread = threading.Thread(target=lambda: kept.append(a.start("sh", "-c", "read x; echo works")))
    thread.start()
    thread.join()
    out, _ = a.t.communicate(kept[0], b"go\n", 20)
    return out.decode().strip()


@attempt("P5", control="works", full="EPERM ESRCH|EPERM", place="EPERM")
def looking_into_another_process(a):
    """ptrace, its memory, its descriptors: of a process of the same user outside."""
    other = a.t.popen(["sleep", "60"])
    if a.form == "control":
        rows = [("pidfd_open", other.pid, 0), ("pidfd_getfd", "$1", 0, 0), ("ptrace", 0x4206, other.pid, 0, 0)]
    else:
        rows = [("ptrace", 16, other.pid, 0, 0), ("ptrace", 0x4206, other.pid, 0, 0), ("kcmp", other.pid, other.pid, 0, 0, 0),
                ("process_vm_readv", other.pid, "z:16", 1, "z:16", 1, 0), ("process_madvise", 3, 0, 0, 4, 0),
                ("process_vm_writev", other.pid, "z:16", 1, "z:16", 1, 0), ("pidfd_getfd", 3, 0, 0)]
    got = a.tries(*rows)
    other.kill()
    other.wait()
    a.t.background.remove(other)
    return got


@attempt("P6", control="works", full="ESRCH", place="EPERM",
         unnamed="other processes have no number inside")
def signals_to_others(a):
    other = a.t.popen(["sleep", "60"])
    info = "x:0000000000000000ffffffff" + "00" * 116
    rows = [("kill", other.pid, 0), ("tgkill", other.pid, other.pid, 0), ("tkill", other.pid, 0),
            ("rt_sigqueueinfo", other.pid, 0, info)]
    got = a.calls(*rows, ("pidfd_open", other.pid, 0), ("pidfd_send_signal", "$5", 0, 0, 0))
    a.t.equal(other.poll(), None, "it lives")
    other.kill()
    other.wait()
    a.t.background.remove(other)
    late = [got[5]] if a.form == "control" or isinstance(got[4], int) else []
    return words_of(got[:3] + late)


@attempt("P6", control="works", full="works", place="works",
         lost="it ends the program itself and what it started: outside nobody notices")
def signals_to_everybody(a):
    """kill(-1): without sbox only asked with signal 0, since it would reach all of the caller's."""
    other = a.t.popen(["sleep", "60"])
    sent = "0" if a.form == "control" else "9"
    a.python(f"os.kill(-1, {sent})")
    a.t.equal(other.poll(), None, "the bystander lives")
    other.kill()
    other.wait()
    a.t.background.remove(other)
    return "works"


@attempt("P14", control="late", full="nothing", place="nothing")
def words_after_the_end(a):
    """A process that holds the output writes to it after the program's end, and after sbox's."""
    read, write = os.pipe()
    child = a.start("sh", "-c", "(sleep 0.7; echo late) & exit 0", stdout=write, stdin=-3, stderr=-3)
    os.close(write)
    child.wait()
    a.t.background.remove(child)
    said = b""
    while piece := os.read(read, 100):
        said += piece
    os.close(read)
    while children(os.getpid()) and a.form == "control":
        os.wait()
    return said.decode().strip() or "nothing"


@attempt("P15", control="*", full="EPERM", place="EPERM")
def typing_into_the_terminal(a):
    """TIOCSTI and its kin on whatever is open, with bits set where the kernel does not look."""
    wanted = [0x5412, 0x541c, 0x541d, 0x5423, 0x5437]
    return a.tries(*[("ioctl", fd, number | high, "s:x") for number in wanted for fd in (0, 1)
                     for high in (0, 1 << 32, 0xffffffff << 32)])


@attempt("P15", control="ENXIO|works", full="ENXIO", place="EACCES|ENXIO",
         unnamed="there is none")
def opening_the_controlling_terminal(a):
    return a.tries(("open", "s:/dev/tty", 2))


TERMINAL = """import fcntl, termios
def sti(): fcntl.ioctl(0, termios.TIOCSTI, b'x')
def console(): fcntl.ioctl(0, 0x541d)
each(lambda f: f(), sti, console)
"""


@attempt("P15", control="*", full="EPERM", place="EPERM")
def typing_into_a_real_terminal(a):
    """The caller's terminal is stdin; what would be typed there is not."""
    master, slave = os.openpty()
    child = a.start(PYTHON, "-c", "import errno, os, sys\n" + prelude() + TERMINAL, stdin=slave, stderr=-3)
    out, _ = a.t.communicate(child, None, 30)
    os.close(slave)
    os.close(master)
    return out.decode().strip().splitlines()[-1]


def prelude():
    from attempts import PRELUDE
    return PRELUDE


@attempt("P17", control={"root": "*", "user": "*"}, full="EPERM", place="EPERM")
def odd_process_settings(a):
    """Memory layout, securebits, tracers, core scheduling: what changes more than the program."""
    return a.tries(("prctl", 35, 1, 0, 0, 0), ("prctl", 28, 0, 0, 0, 0), ("prctl", 0x59616d61, -1, 0, 0, 0),
                   ("prctl", 62, 1, 0, 0, 0), ("prctl", 67, 1, 0, 0, 0), ("prctl", 33, 1, 0, 0, 0))


@attempt("P17", control="works", full="works", place="works", lost="it changes the program itself and nobody else")
def own_process_settings(a):
    """Its own name and dumpability: harmless, and needed."""
    return a.tries(("prctl", 4, 1, 0, 0, 0), ("prctl", 15, "s:sbox", 0, 0, 0), ("prctl", 36, 1, 0, 0, 0))


@attempt("P19", control="*", full="EPERM nothing", place="EPERM nothing",
         unnamed="a limit that is lowered for ever is the kernel's own answer")
def core_files(a):
    """No core is written, and the limit cannot be raised again."""
    said = a.python("import resource, signal\n"
                    "def lift(): resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))\n"
                    "try: lift(); w = 'works'\nexcept (OSError, ValueError): w = 'EPERM'\n"
                    "pid = os.fork()\nif pid == 0: os.kill(os.getpid(), signal.SIGSEGV)\n"
                    "say(w, 'core' if os.WCOREDUMP(os.waitpid(pid, 0)[1]) else 'nothing')")
    left = [name for name in os.listdir(a.ws) if name.startswith("core")]
    for name in left:
        os.unlink(f"{a.ws}/{name}")
    a.t.check(not a.sandboxed or left == [], f"core files: {left}")
    return said


@attempt("X6", control=None, full="exited 3", place="exited 3")
def forged_exit_status(a):
    """Everything that could pass for sbox's own messages, on every descriptor; then the true end."""
    run = a.run(PYTHON, "-c", "import os, struct\nfor fd in range(3, 300):\n"
                "  for words in (struct.pack('=II10Q', 3, 0, *[0] * 10), struct.pack('=IiII', 42, 0, 0, 0), b'g'):\n"
                "    try: os.write(fd, words)\n    except OSError: pass\nos._exit(3)")
    return a.ended(run)


@attempt("X6", control=None, full="exited 125", place="exited 125")
def exit_status_that_looks_like_sboxs_own(a):
    """125, 124 and 137 may be anybody's: the record tells them apart."""
    for code in (124, 137):
        a.t.equal(a.ended(a.run("sh", "-c", f"exit {code}")), f"exited {code}")
    return a.ended(a.run("sh", "-c", "exit 125"))


@attempt("X7", control=None, full="ended by it", place="ended by it", parallel=False)
def processor_time_by_output(a):
    """Writing keeps the supervisor busy: its work counts against the program's time."""
    run = a.run("sh", "-c", "while :; do head -c 60000000 /dev/zero; done", timeout=90,
                sets=["time.cpu=1s", "time.grace=200ms", "process.output=", "audit.capture=0"], stdout=-3)
    a.t.check(run.end["usage"]["sbox_cpu_ns"], f"sbox's own part is counted: {run}")
    return "ended by it" if a.ended(run) == "cpu 124" else a.ended(run)


@attempt("X8", control=None, full="EPERM", place="EPERM")
def limits_and_processors_of_pid_1(a):
    """What has the program's uid could be limited by it: pid 1 keeps the sandbox together."""
    return a.tries(*[("prlimit64", 1, n, "x:" + "00" * 16, 0) for n in range(16)],
                   ("sched_setaffinity", 1, 8, "x:01" + "00" * 7), ("sched_setscheduler", 1, 5, "z:8"),
                   ("sched_setattr", 1, "z:48", 0), ("sched_setparam", 1, "z:8"))


@attempt("X9", control="EACCES works|works", full="EACCES", place="EACCES",
         unnamed="pid 1 is not dumpable: the kernel answers itself")
def pid_1_by_its_files(a):
    """Environment, memory, descriptors, namespaces of the process that holds the sandbox."""
    return a.python("pid = {'control': 'self', 'full': 1}.get(sys.argv[1]) or os.getppid()\n"
                    "ways = ('environ', 'mem', 'fd/0', 'root/etc/passwd', 'cwd/.', 'maps', 'auxv', 'smaps', 'pagemap')\n"
                    "def ns(way): os.readlink(f'/proc/{pid}/ns/mnt')\n"
                    "def look(way): os.close(os.open(f'/proc/{pid}/{way}', os.O_RDONLY))\n"
                    "each(lambda f: f(), *[lambda w=w: look(w) for w in ways], lambda: ns(0), lambda: os.listdir(f'/proc/{pid}/fd'))",
                    a.form)

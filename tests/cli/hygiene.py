# SPDX-License-Identifier: Apache-2.0
"""What the caller left behind: ignored and blocked signals, low limits, no arguments, a bad environment."""
import os
import resource
import signal
import time

from sboxtest import PATH, PYTHON, Skip, test

STATUS = "cat /proc/self/status"
CATCHABLE = [n for n in range(1, 65) if n not in (signal.SIGKILL, signal.SIGSTOP, 32, 33)]


def ignoring(*numbers):
    return lambda: [signal.signal(n, signal.SIG_IGN) for n in numbers]


def blocking(*numbers):
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


@test(cases=[("SIGCHLD ignored", ignoring(signal.SIGCHLD)),
             ("SIGPIPE ignored", ignoring(signal.SIGPIPE)),
             ("all ignored", ignoring(*CATCHABLE)),
             ("SIGTERM, SIGALRM blocked", blocking(signal.SIGTERM, signal.SIGALRM)),
             ("SIGCHLD blocked", blocking(signal.SIGCHLD)),
             ("all blocked", blocking(*CATCHABLE))])
def inherited_signals(t, case):
    """The status comes back, the time limit fires, and the program starts with a clean slate."""
    run = t.sbox("sh", "-c", f"{STATUS}; exit 9", preexec=case[1], opts=["--quiet"])
    t.ended(run, "exited", 9)
    # without a shell, which unblocks signals by itself
    run = t.sbox("cat", "/proc/self/status", preexec=case[1], opts=["--quiet"])
    t.has(run.text, "SigBlk")
    for line in run.text.splitlines():
        if line.startswith(("SigBlk", "SigIgn", "SigCgt")):
            t.equal((line.split()[0], int(line.split()[1], 16)), (line.split()[0], 0), "inside")
    run = t.sbox("sleep", "60", preexec=case[1], sets=["time.wall=300ms"], timeout=15)
    t.ended(run, "timeout", 124)


@test()
def cancel_works_with_all_signals_blocked(t):
    child = t.start("sh", "-c", "echo up; sleep 60", preexec=blocking(*CATCHABLE))
    child.stdout.readline()
    child.send_signal(signal.SIGTERM)
    t.communicate(child, b"", 15)
    t.equal(child.returncode, 143)


@test()
def ignored_sigint_as_in_a_background_shell(t):
    child = t.start("sh", "-c", "echo up; sleep 60", preexec=ignoring(signal.SIGINT))
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    time.sleep(0.2)
    alive = child.poll() is None
    child.terminate()
    t.communicate(child, b"", 15)
    t.note(f"SIGINT ignored by the caller, then sent: sbox {'goes on' if alive else 'cancels'}")


@test()
def no_arguments_at_all(t):
    """argc 0: a sentence and exit 125, not a crash."""
    run = t.plain(f"{t.tree}/probe/noargv", t.sbox_path)
    t.equal(run.code, 125, run)
    t.check(run.err.strip(), "says something")


@test()
def program_without_a_name_inside(t):
    run = t.sbox(t.probe("noargv"), t.probe("args"))
    t.ended(run, "exited", 0)


@test()
def nothing_to_run(t):
    run = t.plain(t.sbox_path, "--store", t.store)
    t.equal((run.code, run.out), (125, b""), run)
    t.has(run.errtext, "no program")


@test()
def empty_program_name(t):
    run = t.sbox("")
    t.check(run.code in (125, 127), run)
    t.check(run.err.strip(), "says something")


def limited(which, soft, hard=None):
    return lambda: resource.setrlimit(which, (soft, soft if hard is None else hard))


@test(cases=[("NOFILE 10", limited(resource.RLIMIT_NOFILE, 10)),
             ("NOFILE soft 10", limited(resource.RLIMIT_NOFILE, 10, 4096)),
             ("FSIZE 4096", limited(resource.RLIMIT_FSIZE, 4096)),
             ("FSIZE soft 0", limited(resource.RLIMIT_FSIZE, 0, resource.RLIM_INFINITY)),
             ("STACK 64K", limited(resource.RLIMIT_STACK, 65536)),
             ("STACK soft 16K", limited(resource.RLIMIT_STACK, 16384, resource.RLIM_INFINITY)),
             ("CORE unlimited", lambda: None), ("CPU 100", limited(resource.RLIMIT_CPU, 100)),
             ("AS 256M", limited(resource.RLIMIT_AS, 256 << 20)),
             ("DATA 64M", limited(resource.RLIMIT_DATA, 64 << 20)),
             ("MEMLOCK 0", limited(resource.RLIMIT_MEMLOCK, 0)),
             ("SIGPENDING 0", limited(resource.RLIMIT_SIGPENDING, 0))])
def inherited_limits(t, case):
    """It runs and is recorded, or refuses with a sentence: it never loses the record or hangs."""
    if case[0].startswith("FSIZE"):  # the log must hold more than the limit lets a file grow
        for _ in range(6):
            t.sbox("true")
    control = t.plain("sh", "-c", "echo fine; exit 4", preexec=case[1], timeout=20)
    t.equal(control.code, 4, f"control: {control}")
    run = t.sbox("sh", "-c", "echo fine; exit 4", preexec=case[1], timeout=20)
    if run.code == 4:
        t.equal(run.out, b"fine\n")
        t.equal([r["type"] for r in run.records], ["run.start", "run.end"])
    else:
        t.equal((run.code, run.out), (125, b""), f"refuses, or runs: {run}")
        t.check(run.err.strip(), "a refusal has a sentence")
        t.note(f"{case[0]}: refuses: {run.errtext.strip().splitlines()[-1]:.160}")


@test()
def limits_of_the_profile_are_not_above_the_callers(t):
    run = t.sbox("sh", "-c", "ulimit -n; ulimit -Hn",
                 preexec=limited(resource.RLIMIT_NOFILE, 200), opts=["--quiet"])
    values = [int(v) for v in run.text.split()]
    t.check(values and max(values) <= (1024 if t.uid == 0 else 200), f"open files inside {values}")


HOSTILE = {"LD_PRELOAD": "/nonexistent/evil.so", "LD_LIBRARY_PATH": "/nonexistent",
           "LD_AUDIT": "/nonexistent/audit.so", "GLIBC_TUNABLES": "glibc.malloc.check=3",
           "MALLOC_CHECK_": "3", "GCONV_PATH": "/tmp", "LOCPATH": "/tmp", "NLSPATH": "/tmp/%N",
           "PYTHONPATH": "/tmp/evil", "PYTHONSTARTUP": "/tmp/evil.py", "BASH_ENV": "/tmp/evil.sh",
           "ENV": "/tmp/evil.sh", "PERL5LIB": "/tmp", "PERL5OPT": "-Mevil", "RUBYOPT": "-revil",
           "NODE_OPTIONS": "--require /tmp/evil.js", "GIT_SSH_COMMAND": "evil",
           "GIT_EXTERNAL_DIFF": "evil", "SSH_AUTH_SOCK": "/tmp/agent", "DOCKER_HOST": "unix:///x",
           "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x", "XDG_RUNTIME_DIR": "/run/user/0",
           "AWS_SECRET_ACCESS_KEY": "aws-secret-value", "TOKEN": "token-secret-value",
           "GITHUB_TOKEN": "github-secret-value", "IFS": "x", "PS4": "$(id)", "TMPDIR": "/root",
           "BASH_FUNC_ls%%": "() { echo evil; }", "no equals in name": "x"}


@test()
def hostile_environment_is_not_visible_inside(t):
    control = t.plain("env", "-0", env={k: v for k, v in HOSTILE.items() if not k.startswith("LD_")})
    t.has(control.text, "token-secret-value", "control")
    run = t.sbox("env", "-0", env=HOSTILE, opts=["--quiet"])
    t.equal(run.code, 0, run)
    seen = dict(e.split("=", 1) for e in run.text.split("\0") if e)
    t.equal(sorted(set(seen) & (set(HOSTILE) - {"TMPDIR"})), [], "names inside")
    t.check(seen.get("TMPDIR") != "/root", "TMPDIR of the caller")
    t.check("secret-value" not in run.text, "values inside")
    log = t.read(f"{t.store}/log.jsonl")
    t.check(b"secret-value" not in log, "no value of a variable is ever in the record")


@test()
def environment_inside_is_an_allow_list(t):
    run = t.sbox("env", "-0", env={"LANG": "C.UTF-8", "LC_ALL": "C", "TERM": "vt100", "TZ": "UTC",
                                   "COLUMNS": "99", "LINES": "9", "FOO": "bar"}, opts=["--quiet"])
    seen = dict(e.split("=", 1) for e in run.text.split("\0") if e)
    for name, value in (("LC_ALL", "C"), ("TERM", "vt100"), ("TZ", "UTC"), ("COLUMNS", "99")):
        t.equal(seen.get(name), value, name)
    t.check("FOO" not in seen, "FOO")
    t.check(seen.get("HOME") != t.home, "HOME is not the caller's")
    t.check(seen.get("PATH"), "there is a PATH")
    t.equal(seen.get("PYTHONDONTWRITEBYTECODE"), "1", "[environment] set")


@test()
def environment_override(t):
    run = t.sbox("env", "-0", env={"KEPT_A": "1", "KEPT_B": "2", "OTHER": "3"}, opts=["--quiet"],
                 sets=["environment.keep=KEPT_*", "environment.set=GREETING=hello world"])
    seen = dict(e.split("=", 1) for e in run.text.split("\0") if e)
    t.equal((seen.get("KEPT_A"), seen.get("KEPT_B"), seen.get("OTHER")), ("1", "2", None))
    t.equal(seen.get("GREETING"), "hello world")


@test()
def loader_variables_do_not_reach_sbox(t):
    marker = f"{t.dir}/loaded"
    source = t.write(f"{t.dir}/evil.c", '#include <fcntl.h>\n__attribute__((constructor)) void f(void)'
                     '{ open("%s", O_CREAT | O_WRONLY, 0600); }\n' % marker)
    if t.plain("cc", "-shared", "-fPIC", "-o", f"{t.dir}/evil.so", source).code != 0:
        raise Skip("no compiler")
    t.plain("true", env={"LD_PRELOAD": f"{t.dir}/evil.so"})
    t.check(os.path.exists(marker), "control: the library is loaded by a plain program")
    os.unlink(marker)
    run = t.sbox("true", env={"LD_PRELOAD": f"{t.dir}/evil.so"})
    t.ended(run, "exited", 0)
    t.check(not os.path.exists(marker), "sbox loaded the caller's library")


@test()
def hostile_path_variable(t):
    """A program is looked up in PATH; what is not visible inside is not run."""
    t.write(f"{t.dir}/evil/ls", "#!/bin/sh\necho evil\n", 0o755)
    run = t.sbox("ls", "/", env={"PATH": f"{t.dir}/evil:{PATH}"}, opts=["--quiet"])
    t.check(b"evil" not in run.out, run)
    for path in ("", ":", "relative/bin", None):
        run = t.sbox("true", env={"PATH": path})
        t.check(run.code in (0, 127), f"PATH={path!r}: {run}")


@test()
def unset_and_odd_home(t):
    for home in (None, "", "relative", "/nonexistent"):
        run = t.sbox("true", env={"HOME": home})
        t.check(run.code in (0, 125), f"HOME={home!r}: {run}")


@test()
def empty_environment(t):
    run = t.sbox("echo", "hi", env={k: None for k in t.environment()})
    t.equal((run.code, run.out), (0, b"hi\n"), run)


@test()
def umask_and_cwd_of_the_caller(t):
    t.mkdir("sub")
    run = t.sbox("sh", "-c", "pwd; umask; echo x > made", cwd=f"{t.ws}/sub", opts=["--quiet"],
                 preexec=lambda: os.umask(0o027))
    t.equal(run.text.split(), [f"{t.ws}/sub", "0027"])
    t.equal(os.stat(f"{t.ws}/sub/made").st_mode & 0o777, 0o640)


@test()
def umask_that_closes_files_to_their_owner(t):
    """It is the program's; what sbox makes for itself can be used by the next run as well."""
    for _ in range(2):
        run = t.sbox("sh", "-c", "umask; echo x > ~/.cache/made; ls -l ~/.cache/made; rm -f ~/.cache/made",
                     opts=["--quiet"], sets=["file.cache=1M"], preexec=lambda: os.umask(0o777))
        t.ended(run, "exited", 0)
        t.equal(run.text.split()[:2], ["0777", "----------"])
        t.ended(t.sbox("true"), "exited", 0)


@test(callers=("user",))
def limit_of_processes_is_called_by_its_name(t):
    run = t.sbox("echo", "ran", preexec=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)))
    t.equal((run.code, run.out), (125, b""), run)
    t.has(run.errtext, "RLIMIT_NPROC")


@test()
def cwd_that_is_gone(t):
    t.mkdir("gone")
    run = t.plain("sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *t.command(["echo", "ran"]),
                  cwd=f"{t.ws}/gone")
    t.equal((run.code, run.out), (125, b""), run)
    t.check(run.err.strip(), "says why")


@test()
def many_open_descriptors_are_not_inherited(t):
    def preexec():
        for fd in range(3, 60):
            os.dup2(0, fd)
            os.set_inheritable(fd, True)
    child = t.start(PYTHON, "-c", "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))",
                    preexec=preexec, close_fds=False, opts=["--quiet"])
    out, err = t.communicate(child, b"", 20)
    t.equal((child.returncode, out), (0, b"[0, 1, 2, 3]\n"), err)

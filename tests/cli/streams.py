# SPDX-License-Identifier: Apache-2.0
"""Pipes that misbehave: closed, slow, gone, or held open by somebody else."""
import itertools
import os
import signal
import time

from sboxtest import PYTHON, test, wait_until

CLOSED = [c for n in (1, 2, 3) for c in itertools.combinations((0, 1, 2), n)]


def closing(fds):
    def preexec():
        for fd in fds:
            os.close(fd)
    return preexec


@test(cases=[(" ".join(map(str, c)), c) for c in CLOSED])
def closed_at_the_start(t, case):
    """Closed descriptors 0-2: nothing of sbox's own ends up there, and the program runs."""
    script = ("echo written-to-out; echo written-to-err >&2; "
              "ls -l /proc/self/fd > listing 2>/dev/null; cat; exit 5")
    child = t.start("sh", "-c", script, preexec=closing(case[1]), opts=["--quiet"])
    out, err = t.communicate(child, b"given" if 0 not in case[1] else b"", 20)
    t.equal(child.returncode, 5, err)
    t.check(1 in case[1] or out.startswith(b"written-to-out\n"), f"stdout {out!r}")
    t.check(2 in case[1] or err == b"written-to-err\n", f"stderr {err!r}")
    listing = t.read("listing").decode()
    t.check(t.store not in listing and "log.jsonl" not in listing, listing)
    t.equal([r["type"] for r in t.records()], ["run.start", "run.end"])
    text = open(f"{t.store}/log.jsonl", "rb").read()
    t.equal(len(text.splitlines()), 2, "nothing of the program is in the log")


@test(cases=[(" ".join(map(str, c)), c) for c in CLOSED])
def closed_with_json(t, case):
    child = t.start("echo", "hello", preexec=closing(case[1]), opts=["--json"])
    out, _ = t.communicate(child, b"", 20)
    t.equal(t.records()[-1]["end"]["kind"], "exited")
    t.check(1 in case[1] or b'"hello\\n"' in out, f"the object is there: {out!r}")
    t.check(b"hello" not in t.read(f"{t.store}/head"), "the head file")


@test(cases=["/dev/std{}", "/proc/self/fd/{}", "/dev/fd/{}"])
def streams_are_opened_again_by_name(t, form):
    """Scripts write to /dev/stderr: as without a sandbox, also where the program has a uid of its own."""
    names = ("in", "out", "err") if "std" in form else (0, 1, 2)
    given, out, err = (form.format(name) for name in names)
    script = f"echo err >{err}; echo out >{out}; cat {given}"
    for runner, options in ((t.plain, {}), (t.sbox, {"opts": ["--quiet"]})):
        run = runner("sh", "-c", script, stdin=b"given\n", **options)
        # without a sandbox the pipes are the harness's, which is root
        if runner == t.sbox or t.uid == os.geteuid():
            t.equal((run.code, run.out, run.err), (0, b"out\ngiven\n", b"err\n"))


@test()
def closed_streams_of_a_refused_start(t):
    for fds in CLOSED:
        child = t.start("true", profile="no-such", preexec=closing(fds))
        t.communicate(child, None if 0 in fds else b"", 20)
        t.equal(child.returncode, 125, fds)


@test(timeout=90)
def slow_reader(t):
    """A reader that takes a sip now and then slows the program down and loses nothing."""
    script = "import os\nfor i in range(300): os.write(1, bytes([i % 256]) * 10000)\n"
    child = t.start(PYTHON, "-c", script, opts=["--quiet"])
    got = b""
    while piece := os.read(child.stdout.fileno(), 50_000):
        got += piece
        time.sleep(0.01)
    child.wait(20)
    t.equal(got, b"".join(bytes([i % 256]) * 10000 for i in range(300)))


@test()
def reader_that_never_reads_meets_the_wall_limit(t):
    child = t.start("sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done",
                    sets=["time.wall=1s", "process.output="], opts=["--quiet"])
    begun = time.monotonic()
    child.wait(20)
    t.equal(child.returncode, 124)
    t.check(time.monotonic() - begun < 8, "a full pipe does not hold the run up")
    t.equal(t.records()[-1]["end"]["kind"], "timeout")


@test()
def one_stuck_stream_does_not_stop_the_other(t):
    script = "head -c 3000000 /dev/zero >&2 & echo first; sleep 0.5; echo second; wait"
    child = t.start("sh", "-c", script, opts=["--quiet"])
    t.equal(child.stdout.readline(), b"first\n")
    t.equal(child.stdout.readline(), b"second\n")
    _, err = t.communicate(child, None, 20)
    t.equal(len(err), 3000000)


@test()
def reader_that_goes_away(t):
    """As in `sbox yes | head -1`: the program gets SIGPIPE, sbox does not die of it."""
    child = t.start("yes", opts=["--quiet"])
    child.stdout.readline()
    child.stdout.close()
    child.wait(20)
    end = t.records()[-1]
    t.equal(end["type"], "run.end", "the record is complete")
    t.equal((end["end"]["kind"], end["end"]["signal"]), ("signaled", "SIGPIPE"))
    t.equal(child.returncode, 128 + signal.SIGPIPE)


@test()
def reader_of_stderr_that_goes_away(t):
    child = t.start("sh", "-c", "while :; do echo complaint >&2; done")
    child.stderr.readline()
    child.stderr.close()
    child.wait(20)
    t.equal(t.records()[-1]["type"], "run.end")


@test()
def json_reader_that_goes_away(t):
    child = t.start("sleep", "0.3", opts=["--json"])
    child.stdout.close()
    child.wait(20)
    t.equal(t.records()[-1]["end"]["kind"], "exited")


@test(cases=["sleep 1000 & exit 0", "(setsid sleep 1000 &) ; exit 0",
             "nohup sleep 1000 >/dev/null 2>&1 & exit 0",
             "trap '' TERM HUP; (while :; do sleep 1; done) & exit 0"])
def background_child_is_not_waited_for(t, script):
    run = t.sbox("sh", "-c", "echo done; " + script, timeout=15, opts=["--quiet"])
    t.equal((run.code, run.out), (0, b"done\n"))
    t.check(run.wall < 3, f"returned after {run.wall:.1f} s")


@test()
def what_was_written_before_the_end_arrives(t):
    """The last output of a program whose child keeps the pipe open is not lost."""
    script = "sleep 1000 & head -c 500000 /dev/zero; echo the end"
    run = t.sbox("sh", "-c", script, timeout=15, opts=["--quiet"])
    t.equal(len(run.out), 500008)
    t.check(run.out.endswith(b"the end\n"), "the last line")


@test()
def writer_of_stdin_that_stays_open(t):
    """The caller's stdin never ends: sbox returns when the program does."""
    read_fd, write_fd = os.pipe()
    child = t.start("sh", "-c", "echo hi", stdin=read_fd, opts=["--quiet"])
    out, _ = t.communicate(child, None, 10)
    os.close(read_fd)
    os.close(write_fd)
    t.equal((out, child.returncode), (b"hi\n", 0))


@test()
def stdin_is_not_eaten_by_a_refused_start(t):
    """What sbox did not hand to a program is still there for the next one."""
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b"for the next\n")
    os.close(write_fd)
    child = t.start("no-such-program-xyz", stdin=read_fd, opts=["--quiet"])
    t.communicate(child, None, 10)
    t.equal(child.returncode, 127)
    left = os.read(read_fd, 100)
    os.close(read_fd)
    t.note(f"left of stdin after a program that was not found: {left!r}")


@test()
def same_file_for_both_streams(t):
    with open(f"{t.dir}/both", "wb") as both:
        child = t.start("sh", "-c", "for i in 1 2 3; do echo o$i; echo e$i >&2; sleep 0.05; done",
                        stdout=both, stderr=both, opts=["--quiet"])
        t.communicate(child, b"", 20)
    t.equal(t.read(f"{t.dir}/both"), b"o1\ne1\no2\ne2\no3\ne3\n", "appended, not overwritten")


@test()
def output_file_opened_for_appending(t):
    path = t.write(f"{t.dir}/log", "before\n")
    with open(path, "ab") as log:
        child = t.start("echo", "after", stdout=log, opts=["--quiet"])
        t.communicate(child, b"", 20)
    t.equal(t.read(path), b"before\nafter\n")


@test()
def full_device_as_stdout(t):
    with open("/dev/full", "wb") as full:
        child = t.start("sh", "-c", "echo lost; exit 0", stdout=full)
        _, err = t.communicate(child, b"", 20)
    t.equal(t.records()[-1]["type"], "run.end")
    t.note(f"stdout is /dev/full: code {child.returncode}, {err!r:.200}")


@test()
def program_sees_pipes_not_the_callers_files(t):
    """Nothing inside holds the caller's own stdout: it cannot be reopened or truncated."""
    path = t.write(f"{t.dir}/out", "")
    with open(path, "wb") as out:
        child = t.start("sh", "-c", "readlink /proc/self/fd/1; : > /proc/self/fd/1; echo x",
                        stdout=out, opts=["--quiet"])
        t.communicate(child, b"", 20)
    t.has(t.read(path), "pipe:")
    t.check(t.dir.encode() not in t.read(path), "the host's path is not shown")


@test(parallel=False, timeout=120)
def many_runs_side_by_side(t):
    """L34: two hundred runs of one user, all alive at once, do not disturb each other."""
    count = 200
    script = "echo %d; read x; echo $x; exit %d"
    children = [t.start("sh", "-c", script % (n, n), opts=["--quiet"]) for n in range(count)]
    for n, child in enumerate(children):
        t.equal(child.stdout.readline(), b"%d\n" % n)
    # none was let go on before all had begun
    for n, child in enumerate(children):
        out, err = t.communicate(child, b"word-%d\n" % n, 60)
        t.equal((out, err, child.returncode), (b"word-%d\n" % n, b"", n))
    wait_until(lambda: len(t.records()) == 2 * count)
    for kind in ("run.start", "run.end"):
        t.equal(len({r["run"] for r in t.records() if r["type"] == kind}), count, f"runs with a {kind}")
    t.equal(len(t.records()), 2 * count)
    t.equal(sorted(r["end"]["status"] for r in t.records() if r["type"] == "run.end"), list(range(count)))

# SPDX-License-Identifier: Apache-2.0
"""The exit table of sbox(1), row by row: exit status, record, --json and --status-fd agree."""
import json
import os
import signal
import time

from sboxtest import test, wait_until


def with_status(t, argv, **keywords):
    """A run with --status-fd: the run and the object that came out of the descriptor."""
    read_fd, write_fd = os.pipe()
    opts = ["--status-fd", str(write_fd), *keywords.pop("opts", ())]
    run = t.sbox(*argv, opts=opts, pass_fds=(write_fd,), **keywords)
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as status:
        text = status.read()
    return run, json.loads(text.splitlines()[-1]) if text.strip() else None


def agree(t, argv, kind, status, **keywords):
    """Runs twice, relayed and with --json; every voice says the same. Both runs."""
    relayed, told = with_status(t, argv, **keywords)
    t.ended(relayed, kind, status)
    t.check(told, "--status-fd said nothing")
    t.equal((told["end"]["kind"], told["end"]["status"]), (kind, status), "--status-fd")
    result = t.sbox(*argv, json_out=True, **keywords)
    t.ended(result, kind, status)
    t.equal((result.json["end"]["kind"], result.json["end"]["status"]), (kind, status), "--json")
    t.equal(result.json["ok"], kind == "exited" and status == 0, "ok")
    return relayed, result


@test(cases=[0, 1, 3, 42, 123, 124, 125, 126, 127, 137, 143, 255])
def exits_with_the_programs_own_status(t, code):
    control = t.plain("sh", "-c", f"exit {code}")
    t.equal(control.code, code)
    relayed, _ = agree(t, ["sh", "-c", f"exit {code}"], "exited", code)
    t.equal(relayed.end["end"]["code"], code)


@test(cases=["HUP", "INT", "QUIT", "ABRT", "KILL", "SEGV", "PIPE", "TERM", "USR1"])
def dies_by_its_own_signal(t, name):
    number = getattr(signal, "SIG" + name)
    relayed, _ = agree(t, ["sh", "-c", f"kill -{name} $$"], "signaled", 128 + number)
    t.equal(relayed.end["end"]["code"], number)
    t.equal(relayed.end["end"]["signal"], "SIG" + name)


@test(cases=[34, 64])
def dies_by_a_real_time_signal(t, number):
    agree(t, ["/usr/bin/python3", "-c", f"import os; os.kill(os.getpid(), {number})"], "signaled",
          128 + number)


@test()
def wall_limit_is_124(t):
    relayed, result = agree(t, ["sleep", "60"], "timeout", 124, sets=["time.wall=300ms"])
    t.equal(relayed.decided_by, "time.wall")
    t.has(relayed.errtext, "wall")
    t.check(relayed.wall < 2, f"took {relayed.wall}")
    t.equal(result.json["end"]["decided_by"], "time.wall")


@test()
def cpu_limit_is_124(t):
    argv = [t.probe("spin"), "cpu", "20"]
    relayed, _ = agree(t, argv, "cpu", 124, sets=["time.cpu=500ms"])
    t.equal(relayed.decided_by, "time.cpu")
    t.check(relayed.wall < 6, f"took {relayed.wall}")


@test()
def memory_limit_is_137(t):
    argv = [t.probe("eat"), "heap", "900"]
    relayed, _ = agree(t, argv, "memory", 137, sets=["process.memory=200M"])
    t.equal(relayed.decided_by, "process.memory")


@test()
def output_limit_is_137(t):
    argv = ["timeout", "10", "yes"]
    relayed, _ = agree(t, argv, "output", 137, sets=["process.output=1M"])
    t.equal(relayed.decided_by, "process.output")
    # the byte that showed that it is too much may be passed on
    t.check(len(relayed.out) <= (1 << 20) + 1, f"{len(relayed.out)} bytes came out")


@test()
def growth_limit_is_137(t):
    argv = ["dd", "if=/dev/zero", "of=big", "bs=1M", "count=400", "conv=notrunc"]
    relayed, _ = with_status(t, argv, sets=["file.growth=20M"])
    t.ended(relayed, "disk", 137)
    t.equal(relayed.decided_by, "file.growth")


@test()
def killed_by_itself_is_not_a_limit(t):
    relayed, _ = agree(t, ["sh", "-c", "kill -KILL $$"], "signaled", 137)
    t.equal(relayed.decided_by, None)


@test(cases=["INT", "TERM", "HUP", "QUIT"])
def cancelled_by_a_signal_to_sbox(t, name):
    number = getattr(signal, "SIG" + name)
    child = t.start("sh", "-c", "echo up; sleep 60 & sleep 60; wait", opts=["--quiet"])
    t.equal(child.stdout.readline(), b"up\n")
    begun = time.monotonic()
    child.send_signal(number)
    out, err = t.communicate(child, b"", 20)
    t.equal(child.returncode, 128 + number, f"{out!r} {err!r}")
    end = t.records()[-1]
    t.equal((end["end"]["kind"], end["end"]["code"]), ("cancelled", number))
    t.check(time.monotonic() - begun < 5, "a cancelled run ends soon")


@test()
def cancelled_program_that_ignores_term(t):
    script = "trap '' TERM INT HUP; echo up; while :; do sleep 1; done"
    child = t.start("sh", "-c", script, sets=["time.grace=300ms"])
    child.stdout.readline()
    child.send_signal(signal.SIGTERM)
    t.communicate(child, b"", 20)
    t.equal(child.returncode, 143)
    t.equal(t.records()[-1]["end"]["kind"], "cancelled")


@test()
def cancelled_program_may_clean_up(t):
    script = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done"
    child = t.start("sh", "-c", script)
    t.equal(child.stdout.readline(), b"up\n")
    child.send_signal(signal.SIGTERM)
    out, _ = t.communicate(child, b"", 20)
    t.equal((out, child.returncode), (b"bye\n", 143))


@test()
def cancelled_at_once(t):
    """A signal in any moment of the start ends as cancelled or, before sbox listens, by the signal."""
    for delay in range(0, 20):
        child = t.start("sleep", "60", opts=["--quiet"])
        time.sleep(delay / 2000)
        child.send_signal(signal.SIGTERM)
        t.communicate(child, b"", 20)
        t.check(child.returncode in (143, -15), f"code {child.returncode}")
    starts = {r["run"] for r in t.records() if r["type"] == "run.start"}
    ends = {r["run"] for r in t.records() if r["type"] == "run.end"}
    t.check(ends <= starts, "no end without its start")


@test()
def missing_mechanism_is_denied_start(t):
    argv, sets = ["true"], ["privilege.apparmor=no-such-profile-xyz"]
    run, told = with_status(t, argv, sets=sets)
    t.equal(run.code, 125)
    t.has(run.errtext, "apparmor")
    t.check(told and told["end"]["kind"] == "denied_start", f"--status-fd: {told}")
    if run.end:
        t.equal(run.kind, "denied_start")
    result = t.sbox(*argv, sets=sets, json_out=True)
    t.equal((result.code, result.json["end"]["kind"]), (125, "denied_start"))


@test(cases=["[file]\nread /etc\n", "[fil]\nread = /etc\n", "[file]\nraed = /etc\n",
             "[time]\nwall = soon\n", "read = /etc\n", "[time]\nwall = 1s\nwall = 2s\n"])
def profile_error_is_125(t, text):
    run = t.sbox("true", profile=t.profile(text))
    t.equal(run.code, 125)
    t.has(run.errtext, "test.ini:", "the message names file and line")
    t.equal(run.out, b"")
    check = t.plain(t.sbox_path, "check", t.profile(text))
    t.check(check.code != 0, f"check says no: {check}")


@test()
def unknown_profile_is_125(t):
    run = t.sbox("true", profile="no-such-profile")
    t.equal(run.code, 125)
    t.has(run.errtext, "no-such-profile")


@test()
def file_without_x_is_126(t):
    t.write("plain.sh", "#!/bin/sh\necho no\n", 0o644)
    run, _ = agree(t, ["./plain.sh"], "not_executable", 126)
    t.has(run.errtext, "plain.sh")


@test()
def folder_is_126(t):
    t.mkdir("folder")
    agree(t, ["./folder"], "not_executable", 126)


@test()
def text_without_interpreter_line_is_126(t):
    t.write("text", "echo a shell ran this\n", 0o755)
    run, _ = agree(t, ["./text"], "not_executable", 126)
    t.equal(run.out, b"")


@test(cases=["no-such-program-xyz", "./no-such-file", "/no/such/file"])
def missing_program_is_127(t, program):
    run, _ = agree(t, [program], "not_found", 127)
    t.has(run.errtext, program)


@test()
def program_outside_the_tree_is_127(t):
    outside = t.write(f"{t.dir}/outside.sh", "#!/bin/sh\necho no\n", 0o755)
    t.equal(t.plain(outside).out, b"no\n", "control")
    run = t.sbox(outside)
    t.check(run.code in (126, 127) and run.kind in ("not_found", "not_executable"), str(run))
    t.has(run.errtext, "outside.sh")


@test()
def python_that_is_not_there_names_python3(t):
    if os.path.exists("/usr/bin/python"):
        from sboxtest import Skip
        raise Skip("this machine has /usr/bin/python")
    run = t.sbox("python", "-c", "0", env={"PATH": "/usr/bin:/bin"})
    t.ended(run, "not_found", 127)
    t.has(run.errtext, "python3")


@test()
def clean_end_says_nothing(t):
    for code in (0, 7):
        run = t.sbox("sh", "-c", f"exit {code}", opts=["--quiet"])
        t.equal((run.code, run.err), (code, b""))


@test()
def unclean_end_says_one_line_unless_quiet(t):
    loud = t.sbox("sleep", "60", sets=["time.wall=200ms"])
    t.has(loud.errtext, "wall")
    quiet = t.sbox("sleep", "60", sets=["time.wall=200ms"], opts=["--quiet"])
    t.equal((quiet.code, quiet.err), (124, b""))


@test()
def why_a_program_was_not_run_is_said_under_quiet_too(t):
    t.write("plain", "text\n")
    t.write("no_interpreter", "#!/nonexistent/interpreter\n", 0o755)
    t.write("odd", "\x7fno program\n", 0o755)
    for program, kind, code, sets in (("nosuchprogram", "not_found", 127, ()), ("./nosuch", "not_found", 127, ()),
                                      ("./no_interpreter", "not_found", 127, ()),
                                      ("./plain", "not_executable", 126, ()), ("./odd", "not_executable", 126, ()),
                                      ("true", "denied_start", 125, ["file.exec+=/nonexistent"])):
        loud = t.sbox(program, sets=sets)
        quiet = t.sbox(program, sets=sets, opts=["--quiet"])
        t.ended(quiet, kind, code)
        t.check(loud.errtext.startswith("sbox: ") and quiet.errtext.startswith("sbox: "), f"{loud}\n{quiet}")
        said = quiet.errtext.splitlines()
        t.equal(said, loud.errtext.splitlines()[-len(said):], program)
    # the same numbers from a program that was run are its own
    for code in (125, 126, 127):
        run = t.sbox("sh", "-c", f"exit {code}", opts=["--quiet"])
        t.ended(run, "exited", code)
        t.equal(run.err, b"")


@test()
def status_fd_reaches_nobody_inside(t):
    read_fd, write_fd = os.pipe()
    run = t.sbox("sh", "-c", f"ls /proc/self/fd; echo forged >&{write_fd}",
                 opts=["--status-fd", str(write_fd)], pass_fds=(write_fd,))
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as status:
        text = status.read()
    t.equal(len(text.splitlines()), 1, f"the program wrote into it: {text!r}")
    t.equal(sorted(json.loads(text)), ["end", "run"])
    t.check(str(write_fd) not in run.text.split(), f"descriptors inside: {run.text}")


def many_execs(t):
    """A program whose record is longer than a pipe holds."""
    t.write("many.sh", "i=0\nwhile [ $i -lt 300 ]; do /bin/true $i " + 200 * "x" + "; i=$((i+1)); done\n")
    return ["sh", "many.sh"]


@test()
def status_fd_that_is_read_afterwards(t):
    read_fd, write_fd = os.pipe()
    child = t.start(*many_execs(t), opts=["--quiet", "--status-fd", str(write_fd)], pass_fds=(write_fd,))
    os.close(write_fd)
    t.communicate(child, b"", 30)
    t.check(len(json.dumps(t.records()[-1])) > 65536, "the record is as long as wanted")
    t.equal(json.loads(os.read(read_fd, 65536))["end"]["status"], 0)
    os.close(read_fd)


@test(cases=["TERM", "INT", "HUP", "QUIT"])
def whoever_does_not_read_a_result_can_end_sbox(t, name):
    child = t.start(*many_execs(t), opts=["--json"])
    wait_until(lambda: len(t.records()) == 2)
    time.sleep(0.1)
    t.equal(child.poll(), None, "it waits for its reader")
    child.send_signal(getattr(signal, "SIG" + name))
    t.equal(child.wait(10), -getattr(signal, "SIG" + name))
    t.equal(t.records()[-1]["end"]["kind"], "exited")
    t.communicate(child, b"", 10)


@test()
def result_arrives_whole_through_a_nonblocking_pipe(t):
    read_fd, write_fd = os.pipe()
    os.set_blocking(write_fd, False)
    child = t.start(*many_execs(t), opts=["--json"], stdout=write_fd)
    os.close(write_fd)
    wait_until(lambda: len(t.records()) == 2)
    time.sleep(0.1)
    with os.fdopen(read_fd, "rb") as result:
        t.equal(json.loads(result.read())["end"]["kind"], "exited")
    t.communicate(child, b"", 10)


@test()
def result_that_cannot_be_written_is_said(t):
    with open("/dev/full", "wb") as full:
        child = t.start("true", opts=["--json"], stdout=full)
    _, err = t.communicate(child, b"", 20)
    t.has(err.decode(), "--json: ")


@test(cases=["99", "x", "-1", "0x3", ""])
def bad_status_fd_is_125(t, number):
    run = t.sbox("echo", "ran", opts=["--status-fd", number])
    t.equal((run.code, run.out), (125, b""), run)
    t.has(run.errtext, "status-fd")


@test(callers=("root", "user"))
def start_is_on_disk_while_the_program_runs(t):
    child = t.start("sh", "-c", "echo up; sleep 60")
    child.stdout.readline()
    records = t.records()
    t.equal([r["type"] for r in records], ["run.start"])
    child.send_signal(signal.SIGTERM)
    t.communicate(child, b"", 20)
    wait_until(lambda: len(t.records()) == 2)
    t.equal([r["type"] for r in t.records()], ["run.start", "run.end"])

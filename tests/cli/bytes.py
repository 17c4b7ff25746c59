# SPDX-License-Identifier: Apache-2.0
"""Arguments, stdin, stdout and stderr: byte for byte, whatever their size."""
import hashlib
import os
import subprocess
import threading
import time

from sboxtest import PYTHON, test

NO_LIMITS = ["process.output=", "time.wall=5m"]
MEGABYTE = 1 << 20


def arguments_arrive(t, arguments):
    run = t.sbox(t.probe("args"), *arguments, opts=["--quiet"])
    wanted = b"".join((a if isinstance(a, bytes) else a.encode()) + b"\0" for a in arguments)
    t.equal(run.code, 0, run)
    t.equal(run.out, wanted, "arguments as the program got them")
    return run


@test()
def every_byte_in_one_argument(t):
    run = arguments_arrive(t, [bytes(range(1, 256))])
    t.equal(len(run.start["argv"]), 2)


@test()
def every_byte_as_an_argument_of_its_own(t):
    arguments_arrive(t, [bytes([n]) for n in range(1, 256)])


@test(cases=[("empty", ["", "a", "", ""]), ("newline", ["a\nb", "\n", "\r\n", "\t"]),
             ("options", ["--help", "-", "--", "--json", "--profile", "x"]),
             ("quotes", ["'\"\\ $(id) `id` ; & | * ?"]), ("only empty", [""]),
             ("escapes", ["\x1b[31mred\x1b]0;title\x07", "\x7f\x80", "\u2028\ufeff\u202e"])])
def odd_arguments(t, case):
    arguments_arrive(t, case[1])


@test()
def argument_of_100_kilobytes(t):
    arguments_arrive(t, ["x" * 100_000, "end"])


@test()
def two_thousand_arguments(t):
    arguments_arrive(t, [f"argument-{n}" for n in range(2000)])


@test()
def arguments_beyond_the_kernels_limit_are_the_callers_problem(t):
    """A single argument of 128 KiB cannot be passed to sbox either: nothing of it is ours."""
    run = arguments_arrive(t, ["y" * (128 * 1024 - 1)])
    t.check(run.start is not None, "start is written down")


def feed(pipe, size):
    block, sent = os.urandom(MEGABYTE), hashlib.sha256()
    with pipe:
        for _ in range(size // MEGABYTE):
            pipe.write(block)
            sent.update(block)
    return sent.hexdigest()


def hash_of(pipe, into, key):
    digest, count = hashlib.sha256(), 0
    while piece := pipe.read(MEGABYTE):
        digest.update(piece)
        count += len(piece)
    into[key] = (count, digest.hexdigest())


def kept_is_hashed(t, stream):
    """Head and tail of a long stream are kept, and the record has their hash."""
    t.equal(stream["truncated"], True)
    kept = t.kept(stream["kept"])
    t.equal(len(kept), stream["head_bytes"] + stream["tail_bytes"])
    t.equal(hashlib.sha256(kept).hexdigest(), stream["sha256"])


@test(timeout=120)
def stdin_of_100_megabytes_comes_back(t):
    child = t.start("cat", sets=NO_LIMITS, opts=["--quiet"])
    got = {}
    reader = threading.Thread(target=hash_of, args=(child.stdout, got, "out"))
    reader.start()
    sent = feed(child.stdin, 100 * MEGABYTE)
    child.stdin = None
    reader.join()
    t.communicate(child, None, 30)
    t.equal(got["out"], (100 * MEGABYTE, sent))
    end = t.records()[-1]
    t.equal((end["stdin"]["bytes"], end["stdout"]["bytes"]), (100 * MEGABYTE, 100 * MEGABYTE))
    kept_is_hashed(t, end["stdout"])


@test(timeout=120)
def stdout_and_stderr_of_200_megabytes(t):
    child = t.start(PYTHON, "-c", POUR, sets=NO_LIMITS, opts=["--quiet"])
    got = {}
    readers = [threading.Thread(target=hash_of, args=(child.stdout, got, "out")),
               threading.Thread(target=hash_of, args=(child.stderr, got, "err"))]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    child.wait(30)
    t.equal(got["out"], poured(3), "stdout")
    t.equal(got["err"], poured(5), "stderr")
    end = t.records()[-1]
    kept_is_hashed(t, end["stdout"])
    kept_is_hashed(t, end["stderr"])


POUR = """import os, threading
def pour(fd, seed):
    block = bytes((i * seed) % 256 for i in range(1 << 16)) * 16
    for _ in range(200):
        rest = block
        while rest:
            rest = rest[os.write(fd, rest):]
threads = [threading.Thread(target=pour, args=a) for a in ((1, 3), (2, 5))]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def poured(seed):
    block = bytes((i * seed) % 256 for i in range(1 << 16)) * 16
    digest = hashlib.sha256()
    for _ in range(200):
        digest.update(block)
    return (200 * MEGABYTE, digest.hexdigest())


@test()
def order_within_a_stream_and_one_byte_writes(t):
    script = "import os\nfor i in range(20000): os.write(1, b'%d\\n' % i)\n"
    run = t.sbox(PYTHON, "-c", script, opts=["--quiet"])
    t.equal(run.out, b"".join(b"%d\n" % i for i in range(20000)))


@test()
def output_without_newline_and_with_nul(t):
    data = bytes(range(256)) * 100
    t.write("data", data)
    run = t.sbox("sh", "-c", "cat data; cat data >&2", opts=["--quiet"])
    t.equal(run.out, data)
    t.equal(run.err, data)


@test()
def json_carries_text_or_base64(t):
    import base64
    text = t.sbox("printf", "gr\\303\\274n", json_out=True).json
    t.equal(text["stdout"]["text"], "grün")
    data = t.sbox("printf", "a\\377\\000b", json_out=True).json
    t.equal(base64.b64decode(data["stdout"]["base64"]), b"a\xff\0b")
    t.equal(data["stdout"]["bytes"], 4)
    t.equal(data["stdout"]["sha256"], hashlib.sha256(b"a\xff\0b").hexdigest())


@test()
def json_of_long_output_is_bounded(t):
    run = t.sbox("sh", "-c", "seq 1 300000", json_out=True)
    stream = run.json["stdout"]
    whole = b"".join(b"%d\n" % n for n in range(1, 300001))
    t.equal(stream["bytes"], len(whole))
    t.equal(stream["truncated"], True)
    t.check(len(run.out) < 2 * MEGABYTE, f"--json printed {len(run.out)} bytes")
    t.check(stream["head"].startswith("1\n2\n"), stream["head"][:20])
    t.check(stream["tail"].endswith("299999\n300000\n"), stream["tail"][-20:])


@test()
def stdin_that_is_a_file(t):
    path = t.write("lines", "one\ntwo\nthree\n")
    with open(path, "rb") as lines:
        child = t.start("cat", stdin=lines, opts=["--quiet"])
        out, _ = t.communicate(child, None, 20)
    t.equal(out, b"one\ntwo\nthree\n")


@test()
def program_that_does_not_read_its_stdin(t):
    run = t.sbox("true", stdin=os.urandom(3 * MEGABYTE), timeout=20)
    t.ended(run, "exited", 0)


@test()
def program_that_closes_its_stdin(t):
    run = t.sbox("sh", "-c", "exec <&-; sleep 0.3; echo fine", stdin=os.urandom(3 * MEGABYTE))
    t.equal((run.code, run.out), (0, b"fine\n"))


@test()
def end_of_stdin_is_passed_on(t):
    child = t.start("cat", opts=["--quiet"])
    child.stdin.write(b"first\n")
    child.stdin.flush()
    t.equal(child.stdout.readline(), b"first\n")
    out, _ = t.communicate(child, b"last\n", 20)
    t.equal((out, child.returncode), (b"last\n", 0))


@test()
def output_arrives_when_it_is_written(t):
    child = t.start("sh", "-c", "echo now; sleep 30", opts=["--quiet"])
    begun = time.monotonic()
    t.equal(child.stdout.readline(), b"now\n")
    t.check(time.monotonic() - begun < 3, "not held back")
    child.terminate()
    t.communicate(child, None, 20)


@test()
def descriptor_flags_of_the_caller_stay(t):
    """A pipe that the caller shares with others does not become non-blocking."""
    import fcntl
    read_fd, write_fd = os.pipe()
    child = t.start("echo", "x", stdout=write_fd, stdin=subprocess.DEVNULL, opts=["--quiet"])
    child.wait(20)
    flags = fcntl.fcntl(write_fd, fcntl.F_GETFL)
    t.equal(flags & os.O_NONBLOCK, 0, "O_NONBLOCK on the caller's pipe")
    os.close(write_fd)
    t.equal(os.read(read_fd, 100), b"x\n")

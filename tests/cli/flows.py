# SPDX-License-Identifier: Apache-2.0
"""Streams that are fast and long: what is moved from pipe to pipe arrives whole, and the record has its ends."""
import gzip
import itertools
import os
import random
import socket
import threading
import time

from sboxtest import PYTHON, Skip, test

PERIOD = 1_000_003
BLOCK = random.Random(7).randbytes(PERIOD) * 2
HEAD = TAIL = 128 * 1024
# The program: put(n) writes the next n bytes of the endless repetition of BLOCK.
WRITER = f"""
import os, random, sys
block, at = random.Random(7).randbytes({PERIOD}) * 2, 0
view = memoryview(block)
def put(n, piece=1 << 20):
    global at
    while n > 0:
        done = os.write(1, view[at:at + min(n, piece, {PERIOD})])
        at, n = (at + done) % {PERIOD}, n - done
"""


def written(begin, end):
    """The bytes from begin to end, at most a period of them."""
    return BLOCK[begin % PERIOD:][:end - begin]


def is_right(t, got, data):
    """data, which came after `got` bytes."""
    for at in range(0, len(data), PERIOD):
        piece = data[at:at + PERIOD]
        if piece != written(got + at, got + at + len(piece)):
            t.check(False, f"what came is not what was written, about byte {got + at}")


class Reader:
    """Counts and compares what comes from a descriptor."""

    def __init__(self, t, fd):
        self.t, self.fd, self.got = t, fd, 0

    def read(self, size=1 << 16):
        data = os.read(self.fd, size)
        is_right(self.t, self.got, data)
        self.got += len(data)
        return len(data)

    def until(self, count):
        while self.got < count and self.read():
            pass
        return self.got

    def end(self):
        return self.until(1 << 62)


def kept(t, part):
    with open(f"{t.store}/{part['kept']}", "rb") as file:
        data = file.read()
    return gzip.decompress(data) if part["kept"].endswith(".gz") else data


def check_record(t, part, total):
    """Every byte counted, the first and the last ones kept."""
    t.equal((part["bytes"], part["head_bytes"], part["tail_bytes"]), (total, HEAD, TAIL))
    data = kept(t, part)
    t.check(data[:HEAD] == written(0, HEAD), "the head is kept")
    t.check(data[HEAD:] == written(total - TAIL, total), "the tail is kept")


def feed(into, total):
    """A thread that writes `total` bytes there."""
    def write():
        at, view = 0, memoryview(BLOCK)
        try:
            while at < total:
                begin = at % PERIOD
                at += os.write(into, view[begin:begin + min(1 << 20, total - at, PERIOD)])
        except BrokenPipeError:
            pass
        os.close(into)
    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def pipe(t):
    """As the caller's shell would make it."""
    ends = os.pipe()
    if os.geteuid() == 0:
        os.fchown(ends[0], t.uid, t.gid)
    return ends


def start(t, *argv, **keywords):
    out, into = pipe(t)
    child = t.start(*argv, stdout=into, opts=["--quiet"], **keywords)
    os.close(into)
    child.stdout = os.fdopen(out, "rb", buffering=0)
    return child


def ends_of(t, kind):
    """(the end that is read, the end that is written)"""
    if kind == "pipe":
        return pipe(t)
    one, other = socket.socketpair()
    return one.detach(), other.detach()


def plenty(total):
    return [f"process.output={total * 2}"]


@test(cases=list(itertools.product(("pipe", "socket"), ("pipe", "socket", "file"))), timeout=120)
def through_and_through(t, case):
    """200 MB in and out, at once."""
    source, sink = case
    total = 200_000_000 if case == ("pipe", "pipe") else 50_000_000
    in_read, in_write = ends_of(t, source)
    if sink == "file":
        out_read, out_write = None, os.open(f"{t.dir}/out", os.O_WRONLY | os.O_CREAT, 0o644)
    else:
        out_read, out_write = ends_of(t, sink)
    child = t.start("cat", sets=plenty(total), opts=["--quiet"], stdin=in_read, stdout=out_write)
    os.close(in_read)
    os.close(out_write)
    feeding = feed(in_write, total)
    if sink == "file":
        child.wait(60)
        out_read = os.open(f"{t.dir}/out", os.O_RDONLY)
    t.equal(Reader(t, out_read).end(), total)
    os.close(out_read)
    feeding.join()
    child.wait(20)
    t.equal(child.returncode, 0)
    end = t.records()[-1]
    t.equal((end["stdin"]["bytes"], end["stdin"]["sha256"], end["stdin"]["kept"]), (total, None, None))
    check_record(t, end["stdout"], total)


@test(cases=["audit.capture=0", "audit.capture=1", "audit.capture=3M", "audit.stdin=keep"], timeout=60)
def whatever_is_kept(t, setting):
    total = 60_000_001
    in_read, in_write = pipe(t)
    child = start(t, "cat", sets=plenty(total) + [setting], stdin=in_read)
    os.close(in_read)
    feed(in_write, total)
    t.equal(Reader(t, child.stdout.fileno()).end(), total)
    child.wait(20)
    end = t.records()[-1]
    t.equal((end["stdin"]["bytes"], end["stdout"]["bytes"]), (total, total))
    if setting == "audit.capture=0":
        t.equal(end["stdout"]["kept"], None)
    elif setting == "audit.stdin=keep":
        check_record(t, end["stdin"], total)
        check_record(t, end["stdout"], total)
    else:
        size = 1 if setting.endswith("=1") else 3 << 20
        data, head = kept(t, end["stdout"]), size // 2
        t.equal((len(data), end["stdout"]["head_bytes"]), (size, head))
        is_right(t, 0, data[:head])
        is_right(t, total - size + head, data[head:])


@test(cases=["SIGKILL", "wall"], timeout=60)
def killed_in_the_middle(t, how):
    """What had been written before arrives, and is what the record has."""
    sets = ["process.output=100G"] + (["time.wall=3s", "time.grace=5s"] if how == "wall" else [])
    ending = "while True: put(1 << 20)" if how == "wall" else "put(100_000_007); os.kill(os.getpid(), 9)"
    child = start(t, PYTHON, "-c", WRITER + ending, sets=sets)
    total = Reader(t, child.stdout.fileno()).end()
    child.wait(20)
    end = t.records()[-1]
    t.equal(end["end"]["kind"], "timeout" if how == "wall" else "signaled")
    t.check(how == "wall" or total == 100_000_007, f"{total} bytes arrived")
    check_record(t, end["stdout"], total)


@test(timeout=60)
def reader_gone_in_the_middle(t):
    child = start(t, PYTHON, "-c", WRITER + "while True: put(1 << 20)", sets=["process.output=100G"])
    got = Reader(t, child.stdout.fileno()).until(80_000_000)
    child.stdout.close()
    child.wait(20)
    end = t.records()[-1]
    t.check(end["end"]["kind"] in ("exited", "signaled"), end["end"])
    total = end["stdout"]["bytes"]
    t.check(got <= total <= got + (2 << 20), f"{got} bytes were read, {total} are on record")
    check_record(t, end["stdout"], total)


@test(timeout=60)
def reader_that_stops_for_a_while(t):
    total = 80_000_000
    child = start(t, PYTHON, "-c", WRITER + f"put({total})", sets=plenty(total))
    reader = Reader(t, child.stdout.fileno())
    for stop in range(20_000_000, total, 20_000_000):
        reader.until(stop)
        time.sleep(0.3)
        for _ in range(50):
            reader.read(1000)
            time.sleep(0.001)
    t.equal(reader.end(), total)
    child.wait(20)
    check_record(t, t.records()[-1]["stdout"], total)


@test(timeout=60, cases=[0, 1, 70_000])
def up_to_the_limit_of_output(t, more):
    limit = 60_000_000
    child = start(t, PYTHON, "-c", WRITER + f"put({limit + more}); import time; time.sleep(0.1)",
                    sets=[f"process.output={limit}"])
    got = Reader(t, child.stdout.fileno()).end()
    child.wait(20)
    end = t.records()[-1]
    t.equal(end["end"]["kind"], "output" if more else "exited")
    total = limit + 1 if more else limit
    t.equal(got, total)
    check_record(t, end["stdout"], total)


@test(timeout=60)
def both_outputs_share_the_limit(t):
    limit = 60_000_000
    program = WRITER + "if os.fork() == 0: os.dup2(2, 1)\nwhile True: put(1 << 20)"
    child = start(t, PYTHON, "-c", program, sets=[f"process.output={limit}"])
    readers = [Reader(t, child.stdout.fileno()), Reader(t, child.stderr.fileno())]
    threads = [threading.Thread(target=reader.end) for reader in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    child.wait(20)
    end = t.records()[-1]
    t.equal(end["end"]["kind"], "output")
    t.equal(sum(reader.got for reader in readers), limit + 1)
    for reader, name in zip(readers, ("stdout", "stderr")):
        if reader.got > HEAD + TAIL:
            check_record(t, end[name], reader.got)


@test(timeout=60)
def program_text_of_many_megabytes(t):
    """Stdin that is the program is kept as it was given, also what only a program of its own reads, and fast."""
    text = b"exec wc -c\n" + BLOCK[:1_000_000] * 60
    child = start(t, "sh")
    out, _ = t.communicate(child, text, 40)
    t.check(0 < int(out) < 60_000_000, out)
    end = t.records()[-1]
    file = [one for one in end["files"] if one["kind"] == "stdin"][0]
    t.equal((file["bytes"], end["stdin"]["bytes"]), (len(text), len(text)))
    t.check(kept(t, file) == text[:HEAD] + text[-TAIL:], "its head and tail are kept")


@test(timeout=60)
def thief_of_its_own_output(t):
    """The program reads from its own stdout what is on the way there: that was never delivered. The record still
    ends with what was."""
    program = WRITER + """
stolen = 0
put(60_000_000)
try:
    own = os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)
    put(200_000)
    while True:
        stolen += len(os.read(own, 1 << 20))
except PermissionError:
    put(200_000)
except BlockingIOError:
    pass
os.write(2, b"%d" % stolen)
"""
    child = start(t, PYTHON, "-c", program, sets=["process.output=1G"])
    data, fd = bytearray(), child.stdout.fileno()
    Reader(t, fd).until(50_000_000)
    while piece := os.read(fd, 1 << 20):
        data += piece
        time.sleep(0.002)
    stolen = int(child.stderr.read())
    child.wait(20)
    end = t.records()[-1]["stdout"]
    t.equal(end["bytes"], 60_200_000 - stolen)
    t.equal(end["tail_bytes"], TAIL)
    t.check(kept(t, end)[HEAD:] == data[-TAIL:], f"the tail is what was delivered last, with {stolen} bytes stolen")
    t.note(f"{stolen} bytes were stolen")


@test(timeout=60)
def packets(t):
    """Each write is a buffer of its own, however small: all arrives, though the reader's pipe holds few of them."""
    program = WRITER + "import fcntl\nfcntl.fcntl(1, fcntl.F_SETFL, os.O_DIRECT)\nput(30_000_000, 4096)\nput(5_000_000, 700)"
    child = start(t, PYTHON, "-c", program, sets=["process.output=1G"])
    total = Reader(t, child.stdout.fileno()).end()
    child.wait(20)
    t.equal((child.returncode, total), (0, 35_000_000), child.stderr.read())
    check_record(t, t.records()[-1]["stdout"], total)


@test(timeout=60)
def the_last_byte_before_a_pause(t):
    """After much at once the program waits for an answer: nothing of what it wrote is waited for."""
    program = WRITER + "for turn in range(5):\n put(40_000_000)\n os.read(0, 1)"
    child = start(t, PYTHON, "-c", program, sets=["process.output=1G"])
    reader, waits = Reader(t, child.stdout.fileno()), []
    for turn in range(1, 6):
        reader.until(40_000_000 * turn - (1 << 20))
        begun = time.monotonic()
        reader.until(40_000_000 * turn)
        waits.append(time.monotonic() - begun)
        os.write(child.stdin.fileno(), b"x")
    child.stdin.close()
    t.equal(reader.end(), 200_000_000)
    child.wait(20)
    t.check(min(waits) < 0.5, f"the last megabyte took {waits}")
    t.note("the last megabyte of each: " + ", ".join(f"{1000 * wait:.1f} ms" for wait in waits))


@test(timeout=120, parallel=False)
def moved_not_copied(t):
    """Of a fast stream sbox itself reads a small part. A machine that is too busy to make one is asked again."""
    found, fast = [], False
    for _ in range(8):
        in_read, in_write = pipe(t)
        child = start(t, "cat", sets=["process.output=1G"], stdin=in_read)
        os.close(in_read)
        feeding = feed(in_write, 200_000_000)
        reader = Reader(t, child.stdout.fileno())
        reader.until(1_000_000)
        begun = time.monotonic()
        reader.until(190_000_000)
        fast = fast or time.monotonic() - begun < 0.5
        try:
            with open(f"/proc/{child.pid}/io", encoding="ascii") as file:
                found.append(int(file.readline().split()[1]))
        except PermissionError as problem:
            raise Skip("sbox shows what it reads to root only") from problem
        finally:
            reader.end()
            feeding.join()
            child.wait(20)
        if found[-1] < 150_000_000:
            return
    if not fast:
        raise Skip("nothing is fast on this machine now")
    t.check(False, f"of 380 MB in and out sbox read {found}")

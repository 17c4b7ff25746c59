# SPDX-License-Identifier: Apache-2.0
"""Kept output: capped, timed, compressed, played again; and what one record alone tells."""
import gzip
import hashlib
import json
import os
import time

from sboxtest import PYTHON, test

FULL = os.environ.get("FULL") == "1"
CAP = 256 * 1024


def kept(t, part):
    data = open(f"{t.store}/{part['kept']}", "rb").read()
    return gzip.decompress(data) if part["kept"].endswith(".gz") else data


def steps(t, end):
    timing = end["timing"]
    if timing["kept"] is None:
        return [tuple(step) for step in timing["steps"]]
    text = kept(t, timing)
    t.equal(hashlib.sha256(text).hexdigest(), timing["sha256"])
    lines = text.decode().splitlines()
    t.equal(lines[0], "sbox-timing 1")
    return [tuple(int(word) for word in line.split()) for line in lines[1:]]


def said(steps_, stream):
    return sum(step[2] for step in steps_ if step[1] == stream)


@test()
def timing_of_two_streams(t):
    run = t.sbox(PYTHON, "-c", "import os, time\nfor i in range(6):\n os.write(1, b'out%d\\n' % i); time.sleep(.05); "
                 "os.write(2, b'err%d\\n' % i); time.sleep(.05)")
    timed = steps(t, run.end)
    t.equal([step[1] for step in timed], [1, 2] * 6, "the order across streams")
    t.equal((said(timed, 1), said(timed, 2)), (30, 30))
    t.check(all(30000 <= step[0] for step in timed[1:]), timed)
    t.check(sum(step[0] for step in timed) < run.end["usage"]["wall_ns"] / 1000 + 50000, timed)
    t.check(run.end["timing"]["kept"].endswith(".timing"), "many steps: a file")
    few = t.sbox("echo", "x").end
    t.equal((len(few["timing"]["steps"]), few["timing"]["kept"]), (1, None), "few: in the record")
    none = t.sbox("echo", "x", sets=["audit.capture=0"]).end
    t.equal(none["timing"], {"steps": [], "sizes": [], "sha256": None, "kept": None})


def replay(t, run, *words):
    """(seconds, stdout, stderr, [(seconds, stdout so far)])"""
    begun = time.monotonic()
    result = t.audit("replay", run, *words)
    t.equal(result.code, 0, result)
    return time.monotonic() - begun, result.out, result.err


@test(parallel=False)
def replay_takes_as_long(t):
    run = t.sbox(PYTHON, "-c", "import os, time\nfor i in range(4):\n os.write(1, b'out%d\\n' % i); time.sleep(.2); "
                 "os.write(2, b'err%d\\n' % i)").start["run"]
    seconds, out, err = replay(t, run)
    t.equal((out, err), (b"out0\nout1\nout2\nout3\n", b"err0\nerr1\nerr2\nerr3\n"))
    t.check(.75 < seconds < 3, seconds)
    fast, out, _ = replay(t, run, "--speed", "100")
    t.check(out.count(b"\n") == 4 and fast < seconds, fast)
    capped, out, _ = replay(t, run, "--max-wait", "0")
    t.check(out.count(b"\n") == 4 and capped < .7, capped)


@test(parallel=False)
def replay_in_order_on_one_terminal(t):
    """Both streams on one pipe: said in the order in which they were."""
    run = t.sbox(PYTHON, "-c", "import os, time\nfor i in range(5):\n os.write(1 + i % 2, b'%d ' % i); time.sleep(.03)").start["run"]
    import subprocess
    child = t.popen([t.sbox_path, "audit", "replay", "--store", t.store, "--max-wait", "0", run],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out, _ = t.communicate(child, None, 20)
    t.equal(out, b"0 1 2 3 4 ")


@test()
def replay_shows_controls(t):
    hostile = "\\033[2J\\033]0;owned\\007a\\r\\nb\\rc\\303\\251\\377\\200\\342\\200\\256x\\000\\t\\\\ \\302\\233 end\\n"
    run = t.sbox("printf", hostile).start["run"]
    out = replay(t, run, "--max-wait", "0")[1]
    t.equal(out.decode(), "\\e[2J\\e]0;owned\\x07a\nb\\rc\u00e9\\xff\\x80\\u202ex\\x00\t\\ \\u009b end\n")
    raw = replay(t, run, "--max-wait", "0", "--raw")[1]
    t.equal(raw, b"\x1b[2J\x1b]0;owned\x07a\r\nb\rc\xc3\xa9\xff\x80\xe2\x80\xaex\0\t\\ \xc2\x9b end\n")


@test()
def replay_of_a_character_in_two_pieces(t):
    run = t.sbox(PYTHON, "-c", "import os, time\nfor b in 'a\u00e9\u20ac\U0001f600'.encode():\n os.write(1, bytes([b])); time.sleep(.01)\n"
                 "os.write(1, b'\\xe2\\x82')").start["run"]
    t.equal(replay(t, run, "--max-wait", "0")[1].decode(), "a\u00e9\u20ac\U0001f600\\xe2\\x82")


@test(callers=("user",))
def session_looks_as_it_did(t):
    """What a terminal showed: prompt, echo and answers come again, byte for byte with --raw."""
    program = ("import sys, time\nfor i in range(3):\n sys.stdout.write('\\x1b[1mname>\\x1b[0m '); sys.stdout.flush()\n"
               " line = sys.stdin.readline(); time.sleep(.05)\n print('hello', line.strip(), '\\x1b[32mok\\x1b[0m')\n")
    child = t.start("python3", "-c", program, sets=["audit.stdin=keep"])
    seen = b""
    for count, name in enumerate((b"ana\n", b"ben\n", b"zoe\n"), 1):
        while seen.count(b"name>") < count:
            seen += os.read(child.stdout.fileno(), 4096)
        time.sleep(.05)
        child.stdin.write(name)
        child.stdin.flush()
    child.stdin.close()
    seen += child.stdout.read()
    child.wait(20)
    child.stderr.close()
    t.background.remove(child)
    end = t.records()[-1]
    t.equal(kept(t, end["stdin"]), b"ana\nben\nzoe\n")
    timed = steps(t, end)
    t.equal((said(timed, 0), said(timed, 1)), (12, len(seen)))
    order = [step[1] for step in timed]
    t.check(order.index(0) > order.index(1), f"the prompt, then the answer: {timed}")
    t.equal(replay(t, end["run"], "--raw", "--speed", "9")[1], seen)


@test()
def stdin_is_kept_only_on_request(t):
    data = b"x" * 100
    plain = t.sbox("cat", stdin=data).end["stdin"]
    t.equal((plain["bytes"], plain["kept"], plain["sha256"]), (100, None, hashlib.sha256(data).hexdigest()))
    asked = t.sbox("cat", stdin=data, sets=["audit.stdin=keep"]).end["stdin"]
    t.equal((asked["bytes"], asked["truncated"], kept(t, asked)), (100, False, data))
    big = b"y" * 400000
    cut = t.sbox("wc", "-c", stdin=big, sets=["audit.stdin=keep"]).end["stdin"]
    t.equal((cut["bytes"], cut["truncated"], len(kept(t, cut))), (400000, True, CAP))
    t.equal(cut["sha256"], hashlib.sha256(kept(t, cut)).hexdigest())


@test()
def compressed_when_it_pays(t):
    small = t.sbox("seq", "1", "1000").end["stdout"]
    t.check(not small["kept"].endswith(".gz"), small)
    text = t.sbox("seq", "1", "30000").end["stdout"]
    t.check(text["kept"].endswith(".gz"), text)
    whole = b"".join(b"%d\n" % i for i in range(1, 30001))
    t.equal(kept(t, text), whole)
    t.equal(text["sha256"], hashlib.sha256(whole).hexdigest())
    t.check(os.path.getsize(f"{t.store}/{text['kept']}") < len(whole) / 2, "smaller")
    noise = t.sbox("head", "-c", "200000", "/dev/urandom").end["stdout"]
    t.check(not noise["kept"].endswith(".gz"), noise)
    t.equal(hashlib.sha256(kept(t, noise)).hexdigest(), noise["sha256"])
    t.has(t.audit("show", "--last").text, "stdout  200000 bytes")
    t.equal(t.audit("grep", "--in", "output", "--runs", "29999").text.count("\n"), 1)


@test()
def damaged_kept_files(t):
    run = t.sbox("seq", "1", "30000")
    path = f"{t.store}/{run.end['stdout']['kept']}"
    data = open(path, "rb").read()
    for changed in (data[:len(data) // 2], b"\x1f\x8b", b"", b"no gzip at all" * 1000, os.urandom(5000)):
        with open(path, "wb") as out:
            out.write(changed)
        for words in (["show", run.start["run"]], ["replay", "--max-wait", "0", run.start["run"]], ["grep", "30000"]):
            result = t.audit(*words)
            t.check(result.code in (0, 1) and b"anitizer" not in result.err, f"{words}: {result}")
    os.unlink(path)
    t.has(t.audit("show", run.start["run"]).text, "no longer in the store")
    t.has(t.audit("replay", run.start["run"]).errtext, "no longer in the store")


def memory_of(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) for line in status if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


@test(parallel=False, timeout=900 if FULL else 240)
def endless_output_is_capped(t):
    """Much more than is kept: exact count, head and tail, hash, and memory that does not grow."""
    count = (10240 if FULL else 200) << 20
    import subprocess
    program = (f"import os\nleft = {count}\nblock = b'0123456789abcde\\n' * 4096\nos.write(1, b'FIRST')\nleft -= 10\n"
               "while left: left -= os.write(1, block[:left])\nos.write(1, b'LAST\\n')\n")
    child = t.start("python3", "-c", program, sets=["process.output=", "audit.capture=256K"], stdout=subprocess.DEVNULL)
    peak = 0
    while child.poll() is None:
        peak = max(peak, memory_of(child.pid))
        time.sleep(.05)
    t.communicate(child, None, 20)
    end = t.records()[-1]
    out = end["stdout"]
    t.equal((out["bytes"], out["truncated"]), (count, True))
    data = kept(t, out)
    t.equal((len(data), out["head_bytes"], out["tail_bytes"]), (CAP, CAP // 2, CAP // 2))
    t.check(data.startswith(b"FIRST0123") and data.endswith(b"LAST\n"), data[:20])
    t.equal(hashlib.sha256(data).hexdigest(), out["sha256"])
    t.check(0 < peak < 16 << 10, f"{peak} KiB at most")
    timed = steps(t, end)
    t.equal(said(timed, 1), count)
    t.check(len(timed) <= 2 * 8192 + 3, len(timed))
    again = replay(t, end["run"], "--max-wait", "0")[1]
    t.check(again.startswith(b"FIRST0123") and again.endswith(b"LAST\n"), "replay")
    t.has(again[CAP // 2:CAP // 2 + 60], f"[{count - CAP} bytes were not kept]")
    t.note(f"{count >> 20} MiB, peak {peak} KiB, {len(timed)} steps, {end['usage']['wall_ns'] / 1e9:.1f} s")


@test()
def one_record_alone(t):
    """Which code, which programs, who, what it said, how it ended, under which policy: the files are gone."""
    path = t.profile("[profile]\nextends = agent\n[time]\nwall = 9s\n", "mine")
    t.write("job.py", "import subprocess\nprint('the answer 4711')\nsubprocess.run(['/bin/echo', 'from a child'])\nraise SystemExit(5)\n")
    run = t.sbox("python3", "job.py", profile=path, opts=["--label", "ticket=SB-7"])
    os.unlink(f"{t.ws}/job.py")
    os.unlink(path)
    text = t.audit("show", run.start["run"]).text
    for part in ("the answer 4711", "raise SystemExit(5)", "from a child", "/echo", "exited 5", "mine", "ticket=SB-7",
                 f"uid {t.uid}", "9s", run.start["profile"]["sha256"], run.end["files"][0]["sha256"]):
        t.has(text, part)
    whole = json.loads(t.audit("show", "--json", run.start["run"]).out)
    t.equal((whole["start"]["run"], whole["end"]["end"]["code"]), (run.start["run"], 5))


@test()
def long_scripts_are_compressed(t):
    """Once, under the hash of the text; what reads it does not see the difference."""
    t.write("long.py", "# needle 4711\n" + "print('x')\n" * 9000)
    runs = [t.sbox("python3", "long.py"), t.sbox("python3", "long.py")]
    files = [next(f for f in run.start["files"] if f["kind"] == "script") for run in runs]
    t.equal(files[0]["kept"], f"scripts/{files[0]['sha256']}.gz")
    t.equal(files[0], files[1])
    t.equal(os.listdir(f"{t.store}/scripts"), [f"{files[0]['sha256']}.gz"])
    t.check(os.stat(f"{t.store}/{files[0]['kept']}").st_size < 5000, "small")
    t.equal(t.kept(files[0]["kept"]), t.read("long.py"))
    t.has(t.audit("show", runs[0].start["run"]).text, "needle 4711")
    found = t.audit("grep", "--in", "script", "needle 4711").text.splitlines()
    t.equal(len(found), 2, found)


@test(cases=["stdout", "script", "timing"])
def kept_is_checked(t, what):
    """The files beside the record are not in the chain, their hashes are: readers compare."""
    run = t.sbox("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep .02; done")
    name = run.start["run"]
    part = next(f for f in run.start["files"] if f["kind"] == "text") if what == "script" else run.end[what]
    t.equal(t.audit("show", name).code, 0)
    t.check("CHANGED" not in t.audit("show", name).text, "nothing was")
    with open(f"{t.store}/{part['kept']}", "r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(data.replace(b"1", b"7"))
    shown, played, report = t.audit("show", name), t.audit("replay", "--max-wait", "0", name), t.audit("report", "-o", "-")
    if what != "timing":
        t.equal(shown.code, 1, shown)
        t.has(shown.text, "CHANGED in the store")
        t.has(report.text, '"changed":true')
    if what != "script":
        t.equal(played.code, 1, played)
        t.has(played.errtext, f"{what} was changed in the store")


@test()
def kept_is_never_read_beyond_its_size(t):
    """A sparse file in the place of kept output: no verb takes memory for it."""
    run = t.sbox("sh", "-c", "echo one; echo two")
    os.truncate(f"{t.store}/{run.end['stdout']['kept']}", 1 << 38)
    for words, code, told in ((["show", "--last"], 1, "CHANGED"), (["report", "-o", "-"], 0, '"changed":true'),
                              (["grep", "two"], 0, "stdout:2: two"), (["replay", "--last"], 1, "two")):
        result = t.audit(*words)
        t.equal(result.code, code, words)
        t.has(result.text, told, words)

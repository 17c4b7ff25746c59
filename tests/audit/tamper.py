# SPDX-License-Identifier: Apache-2.0
"""The tampering table: what was done to the log, and what `sbox audit verify` says of it.

Each row is done to a store with and without a key. The person who does it owns the store, so
head can be written anew to fit, and so can the chain; only a key that is not there any more,
or a number and hash noted elsewhere, cannot. Rows whose verdict is 0 are not detectable, and
verify has to say so.
"""
import glob
import json
import os
import random
import re
import shutil

from auditlog import BROKEN, INCOMPLETE, OK, UNFINISHED, Log, sha, verify
from sboxtest import test

SEGMENT = "12K"


def middle(log):
    """The record of a run, with another one behind it in the same file."""
    for i in range(len(log.lines) // 2, len(log.lines)):
        (path, line), (next_path, following) = log.lines[i:i + 2]
        if b'"type":"run.' in line and b'"type":"run.' in following and path == next_path:
            return i
    raise AssertionError("no such record")


def forge(log, seq, prev):
    return (b'{"v":1,"seq":%d,"prev":"%s","type":"run.start","run":"0FORGED000000000000000000",'
            b'"argv":["never"]}\n' % (seq, prev.encode()))


# ---- what is done: f(log), then log.save() ------------------------------------

def change_byte(log):
    line = log.lines[middle(log)]
    line[1] = line[1].replace(b'"type"', b'"typo"', 1)


def change_last(log):
    log.lines[-1][1] = log.lines[-1][1].replace(b'"v":1', b'"v":2', 1)


def remove_first(log):
    del log.lines[0]


def remove_middle(log):
    del log.lines[middle(log)]


def remove_last(log):
    del log.lines[-1]


def swap(log):
    a, b = log.lines[middle(log)], log.lines[middle(log) + 1]
    a[1], b[1] = b[1], a[1]


def cut_tail(log):
    del log.lines[-2:]


def cut_tail_and_head(log):
    cut_tail(log)
    log.head()


def cut_tail_and_no_head(log):
    cut_tail(log)
    os.unlink(f"{log.store}/head")


def cut_tail_and_new_key(log):
    """A key is put there that says: this many records, and no more."""
    cut_tail_and_head(log)
    sealed = json.loads(log.lines[-1][1]).get("sealed", 0)
    key = f'{{"every":{1:20d},"sealed":{sealed:20d},"key":"{"ab" * 32}"'
    with open(f"{log.store}/key", "r+" if sealed else "w", encoding="ascii") as file:
        file.write(f'{key},"check":"{sha(key.encode())[:16]}"}}\n')
    if not sealed:
        os.unlink(f"{log.store}/key")


def drop_file(log, index):
    path = log.files.pop(index)
    log.lines = [pair for pair in log.lines if pair[0] != path]
    os.unlink(path)


def remove_segment_first(log):
    drop_file(log, 0)


def remove_segment_middle(log):
    drop_file(log, len(log.files) // 2)


def remove_segment_last(log):
    drop_file(log, -1)


def second_writer(log):
    """What a writer that got past the lock leaves: a line built on the same one as the last."""
    last = json.loads(log.lines[-1][1])
    log.lines.append([log.files[-1], forge(log, last["seq"], last["prev"])])
    log.head()


def append_blindly(log):
    log.lines.append([log.files[-1], forge(log, json.loads(log.lines[-1][1])["seq"] + 1, "0" * 64)])


def append_chained(log):
    prev = sha(log.lines[-1][1])
    log.lines.append([log.files[-1], forge(log, json.loads(log.lines[-1][1])["seq"] + 1, prev)])


def append_chained_and_head(log):
    append_chained(log)
    log.head()


def rewrite_all(log):
    """A byte changed, and everything behind it made to fit."""
    change_byte(log)
    log.rebuild()
    log.head()


def strip_seal(log):
    """No MAC, no key, as if the store had never been sealed."""
    for line in log.lines:
        line[1] = re.sub(rb'"sealed":\d+,"mac":"[0-9a-f]{64}",', b"", line[1], count=1)
    log.rebuild()
    log.head()
    if os.path.exists(f"{log.store}/key"):
        os.unlink(f"{log.store}/key")


# name, what is done, verdict without a key, verdict with the seal
ROWS = [
    ("nothing", lambda log: None, OK, OK),
    ("a byte changed", change_byte, BROKEN, BROKEN),
    ("a byte of the last line changed", change_last, BROKEN, BROKEN),
    ("first line removed", remove_first, BROKEN | INCOMPLETE, BROKEN | INCOMPLETE),
    ("a line in the middle removed", remove_middle, BROKEN | INCOMPLETE, BROKEN | INCOMPLETE),
    ("last line removed", remove_last, INCOMPLETE, INCOMPLETE),
    ("two lines swapped", swap, BROKEN, BROKEN),
    ("the tail cut", cut_tail, INCOMPLETE, INCOMPLETE),
    ("the tail cut and head made to fit", cut_tail_and_head, OK, INCOMPLETE),
    ("the tail cut and head removed", cut_tail_and_no_head, INCOMPLETE, INCOMPLETE),
    ("the tail cut, head and key made to fit", cut_tail_and_new_key, OK, INCOMPLETE),
    ("the first file removed", remove_segment_first, BROKEN | INCOMPLETE, BROKEN | INCOMPLETE),
    ("a file in the middle removed", remove_segment_middle, BROKEN | INCOMPLETE, BROKEN | INCOMPLETE),
    ("the last file removed", remove_segment_last, INCOMPLETE, INCOMPLETE),
    ("two writers past the lock", second_writer, BROKEN, BROKEN),
    ("a line appended", append_blindly, BROKEN, BROKEN),
    ("a line appended and chained", append_chained, OK, BROKEN),
    ("a line appended, chained, head made to fit", append_chained_and_head, OK, BROKEN),
    ("all of it written anew", rewrite_all, OK, BROKEN),
    ("all of it written anew without seal", strip_seal, OK, BROKEN),
]


def make(t, with_key, runs=6):
    """A store of several files; the seal's path, or None."""
    seal = None
    if with_key:
        made = t.audit("init", "--key")
        t.equal(made.code, 0, made.errtext)
        seal = t.write(f"{t.dir}/seal.json", made.out)
    for _ in range(runs):
        t.equal(t.sbox("true", sets=[f"audit.segment={SEGMENT}"]).code, 0)
    t.sbox("true")  # so that the last file has several lines
    t.sbox("true")
    return seal


def check_row(t, row, with_key):
    name, change, plain_verdict, sealed_verdict = row
    seal = make(t, with_key)
    log = Log(t.store)
    t.check(len(log.files) >= 3, f"several files, not {log.files}")
    change(log)
    log.save()
    wanted = sealed_verdict if with_key else plain_verdict
    code, told = verify(t, seal=seal)
    code &= ~UNFINISHED  # a removed run.end makes a run unfinished, too
    # a line that is changed or gone may take the end's number with it
    t.check(code == wanted or (wanted == BROKEN and code == BROKEN | INCOMPLETE),
            f"{name}: verdict {code}, wanted {wanted}: {told}")
    t.equal(told["integrity"]["ok"], not code & BROKEN, name)
    t.equal(told["completeness"]["ok"], not code & INCOMPLETE, name)
    for verdict, bit in (("integrity", BROKEN), ("completeness", INCOMPLETE)):
        if code & bit:
            t.check(told[verdict]["problems"], f"{name}: says why")
    if code == OK and not with_key:
        t.check("owns the store" in told["not_proven"][0], f"{name}: says what is not proven")
    return told


@test(cases=ROWS, timeout=120, callers=("user",))
def without_key(t, row):
    check_row(t, row, False)


@test(cases=ROWS, timeout=120, callers=("user",))
def with_key(t, row):
    check_row(t, row, True)


# ---- the first bad line is named -----------------------------------------------

@test(cases=[False, True], callers=("user",))
def the_line_is_named(t, with_seal):
    seal = make(t, with_seal, runs=2)
    log = Log(t.store)
    index = middle(log)
    path, _ = log.lines[index]
    in_file = [i for i, (where, _) in enumerate(log.lines) if where == path]
    change_byte(log)
    log.save()
    _, told = verify(t, seal=seal)
    where = f"{os.path.basename(path)}:{in_file.index(index) + 1} "
    t.has(told["integrity"]["problems"][0], where, "the changed line")


# ---- an old copy, and what is noted elsewhere -----------------------------------

@test(cases=[False, True], timeout=120, callers=("user",))
def old_copy(t, with_seal):
    """The whole store is put back, key included: only what is noted elsewhere tells."""
    seal = make(t, with_seal, runs=3)
    shutil.copytree(t.store, f"{t.dir}/old")
    for _ in range(2):
        t.sbox("true")
    code, told = verify(t, seal=seal)
    t.equal(code, OK)
    noted = f"{told['last_seq']}:{told['last_hash']}"
    t.equal(verify(t, "--expect", noted, seal=seal)[0], OK, "the number that was noted")
    other = f"{told['last_seq']}:{'0' * 64}"
    t.equal(verify(t, "--expect", other, seal=seal)[0], BROKEN, "another record")
    shutil.rmtree(t.store)
    shutil.copytree(f"{t.dir}/old", t.store)
    for base, dirs, files in os.walk(t.store):
        for name in dirs + files:
            t.own(os.path.join(base, name))
    t.own(t.store)
    code, told = verify(t, seal=seal)
    t.equal(code, OK, "not detectable")
    t.check(any("--expect" in line or "noted elsewhere" in line for line in told["not_proven"]),
            f"and says so: {told['not_proven']}")
    code, told = verify(t, "--expect", noted, seal=seal)
    t.equal(code, INCOMPLETE, told)


def anchor_lines(log, store):
    for _, line in log.lines:
        yield (f"Nov 29 23:00:00 host sbox[12]: audit anchor seq={json.loads(line)['seq']} "
               f"hash={sha(line)} store={store}\n")


@test(timeout=120, callers=("user",))
def anchors(t):
    """Lines as syslog has them, of this store and of another one."""
    make(t, False, runs=3)
    log = Log(t.store)
    lines = list(anchor_lines(log, t.store))
    alien = [line.replace(t.store, "/elsewhere") for line in lines]
    path = t.write(f"{t.dir}/syslog", "".join(lines + alien) + "Nov 29 other: words\n")
    code, told = verify(t, "--anchors", path)
    t.equal((code, told["found"]), (OK, len(lines)), told)
    t.equal(verify(t, "--anchors", path, "--was", "/elsewhere")[0], OK)
    t.equal(verify(t, "--anchors", path, "--was", "/nowhere")[0], INCOMPLETE)
    cut_tail_and_head(log)
    log.save()
    code, told = verify(t, "--anchors", path)
    t.equal(code & ~UNFINISHED, INCOMPLETE, told)
    rewrite_all(log)
    log.save()
    t.check(verify(t, "--anchors", path)[0] & BROKEN, "written anew")


@test(callers=("user",))
def pruned_is_on_record(t):
    """Retention keeps the chain; the same files removed by hand do not."""
    seal = make(t, True, runs=8)
    t.sbox("sh", "-c", "echo kept")
    files = sorted(glob.glob(f"{t.store}/log-*.jsonl"))
    t.check(len(files) >= 3, files)
    by_hand = {path: open(path, "rb").read() for path in files}
    t.equal(t.audit("prune", "--keep", "1K", "--dry-run").code, 0)
    t.equal(sorted(glob.glob(f"{t.store}/log-*.jsonl")), files, "only said")
    run = t.audit("prune", "--keep", "1K")
    t.equal(run.code, 0, run)
    t.equal(glob.glob(f"{t.store}/log-*.jsonl"), [], "old records went")
    t.equal(os.listdir(f"{t.store}/scripts"), [], "and what was kept")
    code, told = verify(t, seal=seal)
    t.equal(code, OK, told)
    t.check(told["first_seq"] > 1, told)
    t.sbox("true")
    t.equal(verify(t, seal=seal)[0], OK)
    for path, data in by_hand.items():
        t.write(path, data, mode=0o600)
    t.equal(verify(t, seal=seal)[0], OK, "put back, they still fit")


@test(callers=("user",))
def limits_by_profile(t):
    """[audit] keep is applied now and then by the runs themselves."""
    for _ in range(132):
        t.sbox("sh", "-c", "echo $$ | head -c 40", sets=["audit.segment=64K", "audit.keep=96K"])
    kinds = [r["type"] for r in t.records()]
    t.check("log.pruned" in kinds or not glob.glob(f"{t.store}/log-00000000000000000001.jsonl"),
            "something went")
    code, told = verify(t)
    t.equal(code, OK, told)
    t.check(told["first_seq"] > 1, told)


@test(cases=["none", "start,end", "group"], callers=("user",))
def sync_words(t, word):
    t.equal(t.sbox("true", sets=[f"audit.sync={word}"]).code, 0)
    t.equal(verify(t)[0], OK)


@test(cases=["audit.keep=soon", "audit.keep=1d, 2d", "audit.segment=5", "audit.sync=later",
             "audit.anchor=paper"])
def bad_values(t, value):
    run = t.sbox("true", sets=[value])
    t.equal(run.code, 125)
    t.has(run.errtext, value.split("=")[0].split(".")[1])


@test(callers=("user",))
def unfinished_is_a_verdict_of_its_own(t):
    make(t, False, runs=2)
    log = Log(t.store)
    ends = [i for i, (_, line) in enumerate(log.lines) if b'"type":"run.end"' in line]
    run = json.loads(log.lines[ends[-1]][1])["run"]
    del log.lines[ends[-1]:]
    log.head()
    log.save()
    code, told = verify(t)
    t.equal((code, told["unfinished"]), (UNFINISHED, [run]), told)
    child = t.start("sleep", "20")
    for _ in range(200):
        code, told = verify(t)
        if told["running"]:
            break
    t.equal((code, told["running"]), (UNFINISHED, 1), "one runs, one died")
    child.terminate()
    t.communicate(child, b"", 20)


@test(timeout=180, callers=("user",))
def no_change_goes_unnoticed(t):
    """Bytes changed, taken out and put in at random: with the seal none passes for whole."""
    seal = make(t, True, runs=3)
    dice = random.Random(11)
    paths = sorted(glob.glob(f"{t.store}/log*.jsonl"))
    for number in range(60):
        path = dice.choice(paths)
        with open(path, "r+b") as file:
            old = file.read()
            at = dice.randrange(len(old))
            new = dice.choice([old[:at] + bytes([old[at] ^ 1 << dice.randrange(8)]) + old[at + 1:],
                               old[:at] + old[at + dice.choice([1, 64, 1000]):],
                               old[:at] + b"\n" + old[at:], old[:at] + b"0" + old[at:]])
            file.seek(0)
            file.write(new)
            file.truncate()
            file.flush()
            code, told = verify(t, seal=seal)
            t.check(new == old or code & (BROKEN | INCOMPLETE), f"change {number}: {told}")
            file.seek(0)
            file.write(old)
            file.truncate()
    t.equal(verify(t, seal=seal)[0], OK, "as it was")

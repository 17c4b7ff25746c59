# SPDX-License-Identifier: Apache-2.0
"""Hostile arguments, names, paths and output: nothing forged, nothing executed, by any verb."""
import csv
import io
import json
import unicodedata

from sboxtest import test

ARGV = ["new\nline", "cr\r\n", "\x1b[2J\x1b]0;owned\x07", "\x7f", "\x9b31m", "\u2028\u2029", "\u202egpj.exe", "\ufeff", "r\u200bm\u2060\u00ad\u200d", "\U000e0041",
        '"},{"v":1', "</script><script>document.title='owned'</script>", "<!--", "<img src=x onerror=alert(1)>", "=cmd()|x",
        "\\", "'", '"', "", "\t", "a\x1b" * 20000]
RAW = [b"\xff\xfe", b"\xed\xa0\x80", bytes(range(128, 256)), b"\xc3"]
OUTPUT = ("import os\nos.write(1, b'\\x1b[2J\\x1b]52;c;eA==\\x07</script><script>document.title=1</script>\\r\\n\\xff\\x00\\xe2\\x80\\xae<!--')\n"
          "os.write(2, b'\\x1b' * 1000000)\n")


def is_calm(t, data, what):
    """Valid UTF-8 in which no terminal finds anything to do."""
    text = data.decode("utf-8")
    bad = {c for c in text if c not in "\n\t" and (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs"))}
    t.check(not bad, f"{what}: {bad!r}")
    return text


def make(t):
    name = "dir\x1b[31m\n\u202e<b>"
    t.mkdir(name)
    t.write(f"{name}/s\n\x1b.py", OUTPUT)
    label = ["--label", "k\x1b\n=v\u202e</script>", "--label", b"\xff=\xfe"]
    first = t.sbox(t.probe("args"), *ARGV, *RAW, opts=label, cwd=f"{t.ws}/{name}")
    second = t.sbox("python3", f"{name}/s\n\x1b.py", opts=label)
    third = t.sbox("./\x1b]0;x\x07\n</script>")
    return [run.start["run"] if run.start else run.end["run"] for run in (first, second, third)]


@test(timeout=120)
def every_verb(t):
    runs = make(t)
    t.equal(len(t.records()), 6, "nothing forged")
    for words in (["list"], ["list", "--json"], ["stats"], ["stats", "--json"], ["grep", "e"], ["grep", "--regex", "."],
                  ["grep", "--json", "owned"], ["export", "--ocsf"], *(["show", run] for run in runs),
                  *(["show", "--json", run] for run in runs), *(["replay", "--max-wait", "0", run] for run in runs)):
        result = t.audit(*words)
        is_calm(t, result.out, words)
        is_calm(t, result.err, words)
        if "--json" in words or "--ocsf" in words:
            for line in result.out.splitlines():
                json.loads(line)
    lines = t.audit("list").text.splitlines()
    t.equal(len(lines), 4, "one line a run")
    t.equal([line.split()[2] for line in lines[1:]], runs)


@test()
def lossless(t):
    run = t.sbox(t.probe("args"), *ARGV[:-1], *RAW, opts=["--label", "k\x1b\n=v\u202e</script>"]).start["run"]
    listed = json.loads(t.audit("list", "--json").out)
    t.equal(listed["argv"][1:len(ARGV)], ARGV[:-1])
    t.check(all("base64" in argument for argument in listed["argv"][len(ARGV):]), listed["argv"][len(ARGV):])
    t.equal(listed["labels"], {"k\x1b\n": "v\u202e</script>"})
    t.equal(json.loads(t.audit("list", "--json", "--label", "k\x1b\n=v\u202e</script>").out)["run"], run)


@test()
def csv_is_one_row_a_run(t):
    runs = make(t)
    text = is_calm(t, t.audit("export", "--csv").out.replace(b"\r\n", b"\n"), "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    t.equal([row["run"] for row in rows], runs)
    t.sbox("=cmd()", opts=["--quiet"])
    t.sbox("--", "-x")
    for row in csv.DictReader(io.StringIO(t.audit("export", "--csv").text)):
        for cell in row.values():
            t.check(cell[:1] not in "=+@" or cell == "", f"a spreadsheet would calculate {cell!r}")


@test(timeout=240)
def odd_records_by_hand(t):
    """Lines that sbox never writes: other types in every place. No verb dies of them."""
    t.sbox("true")
    values = [None, 0, -1, 1e300, "x\x1b", [], {}, [1], {"base64": "!"}, {"base64": "eA=="}, True, "\u0000", [[[]]]]
    seq = 100
    with open(f"{t.store}/log.jsonl", "a", encoding="utf-8") as log:
        for value in values:
            for kind in ("run.start", "run.end"):
                seq += 1
                record = {"v": 1, "seq": seq, "prev": "0" * 64, "type": kind, "run": f"X{seq:025d}"}
                members = ("time argv who profile labels files enforced environment end stdout stderr stdin timing usage "
                           "denials denials_dropped execs execs_total cwd").split()
                record.update({member: value for member in members})
                log.write(json.dumps(record, ensure_ascii=False) + "\n")
        log.write('{"seq":999,"type":"run.start","run":5}\n{"seq":999,"type":"run.end","run":"\\u001b[2J"}\n')
    for words in (["list"], ["list", "--json"], ["stats"], ["grep", "x"], ["grep", "--regex", "x"], ["export", "--csv"],
                  ["export", "--ocsf"], ["report", "-o", f"{t.ws}/r.html"], ["list", "--label", "x"], ["list", "--user", "x"]):
        result = t.audit(*words)
        t.check(result.code in (0, 1) and b"anitizer" not in result.err and b"runtime error" not in result.err, f"{words}: {result}")
        is_calm(t, result.out.replace(b"\r\n", b"\n"), words)
    for seq in range(101, 127):
        for words in (["show"], ["show", "--json"], ["replay", "--max-wait", "0"]):
            result = t.audit(*words, f"X{seq:025d}")
            t.check(result.code in (0, 1) and b"anitizer" not in result.err and b"runtime error" not in result.err,
                    f"{words} {seq}: {result}")

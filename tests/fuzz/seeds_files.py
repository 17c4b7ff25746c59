# SPDX-License-Identifier: Apache-2.0
"""Seeds that are text: profiles, values, records, command lines, files of /proc and of programs."""

import glob
import hashlib
import hmac
import os
import re
import struct

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PART = b"\n%%\n"


def file_bytes(name):
    with open(os.path.join(TOP, name), "rb") as file:
        return file.read()


def join(*parts):
    """Files in one: what follows a line "%%" is the next."""
    return PART.join(part.rstrip(b"\n") for part in parts) + b"\n"


# ---- profiles ----

KEYS = re.findall(rb'KEY\(\w+, "(\w+)",\s*"(\w+)",', file_bytes("launcher/keys.def"))
SHIPPED = [file_bytes(name) for name in sorted(glob.glob("profiles/*.ini", root_dir=TOP))]

PROFILES = [
    b"", b"[file]\n", b"[file\n", b"[file] x\n", b"[file] ; said\n[time]\nwall = 1s ; short\n", b"[fiel]\n", b"[nothing-like-it]\n",
    b"[" + b"a" * 60 + b"]\n", b"\xef\xbb\xbf[file]\n", b"[file]\nread = /a\x00b\n", b"[time]\nwall = 10s\ncpu = 1.5m\ngrace=0ms\n",
    b"[time]\nwall = 10\n", b"[time]\nwall = 10s\nwall = 11s\n", b"[time]\nwall = 10s\n 20s\n", b"[file]\r\nread = /a\r\n",
    b"[file]\nread = /a, -/b,\n  /c/d ; why\n\t-${home}/x\n", b"[file]\nread = /a\\\n   b/c\n", b"[file]\nread = /a\\\nexec = /b\n",
    b"[file]\nread = /a\\\n", b"[file]\nread = /a, , /b\n", b"[file]\nread = a\n", b"[file]\nread = /a/../b\n", b"[file]\nread = /a\nread =\n",
    b"[file]\nread = \nread = /b\n", b"  x = 1\n", b"x = 1\n", b"[file]\nread /a\n", b"[file]\nraed = /a\n", b"[file]\nwall = 1s\n",
    b"[file]\nwrite = ${cwd}, ${home}/w\nread = /${user}/${uid}\n", b"[file]\nread = /${0x20}${0x3b}${0xff}${0x0a}\n", b"[file]\nread = /${0x00}\n",
    b"[file]\nread = /${nothing}\n", b"[file]\nread = /${cwd\n", b"[file]\nread = /$$/$x\n", b"[file]\nwrite = /\n", b"[file]\nwrite = /home\n",
    b"[file]\ntoolchains = @all\n", b"[file]\ntoolchains = pyenv, nvm, nothing\n", b"[file]\nwrites = keep\ngrowth = 2G\nscratch=\n",
    b"[file]\nwrites = kept\n", b"[network]\nmode = allow\nallow = example.org:443, *.example.net:80-90\n  [2001:db8::]/32:1\ndeny=no.example.net\n"
    b"resolve = a.example=192.0.2.1\nlisten = 8080, 80:8081\nsni = optional\n", b"[network]\nallow = *:443\n", b"[network]\nallow = x\n",
    b"[network]\nlisten = 1:2, 3:2\n", b"[network]\nmode = none\nallow = a.example:1-256, b.example:300-400\n",
    b"[process]\nprocesses = 10\nmemory = 1G\ncpus = 1.5\nopen_files = 100\nhostname = box\n", b"[process]\ncpus = 0.001\nprocesses = 0\n",
    b"[process]\nhostname = -x\n", b"[process]\nhostname = " + b"h" * 70 + b"\n",
    b"[privilege]\nuser = nobody\nsyscalls = @default, !mount, ptrace\n",
    b"[privilege]\nsyscalls = !mount\n", b"[privilege]\ncapabilities = net_raw, CAP_CHOWN\napparmor = p\nselinux = a:b:c\n",
    b"[privilege]\nsyscalls = @nothing, no_such_call\ncapabilities = cap_nothing\n",
    b"[environment]\nkeep = LANG, LC_*, PATH\nset = A=b, C=${home}, D=\n",
    b"[environment]\nset = =x\n", b"[environment]\nset = A\n", b"[environment]\nkeep = A=B\n",
    b"[audit]\nredact = --token, *_KEY=*, sk-*, [a-b]*\nkeep = 30d, 5G\nsegment = 1h\n",
    b"[audit]\nkeep = 30d, 5d\n", b"[audit]\nsync = start,end\nanchor = syslog\ncapture = 1M\n", b"[profile]\ndescription = one line; of many\n",
    b"[profile]\ndescription = \xc3\xa9\xff\x80\n", b"; " + b"c" * 220 + b"\n", b"[file]\nread = /" + b"l" * 180 + b"\n",
    b"[file]\nread = /" + b"l" * 170 + b"\\\n  " + b"m" * 190 + b"\n", b"[file]\n" + b"read = /a\n" * 60,
    join(b"[profile]\nextends = ./1, -./7, ./2\n[file]\nread = /x\n", b"[file]\nread = /y\nexec = /z\n",
    b"[profile]\nextends=./1\n[time]\nwall=1s\n"),
    join(b"[profile]\nextends = ./1\n", b"[profile]\nextends = ./0\n"), join(b"[profile]\nextends = ./9\n", b""), b"[profile]\nextends = agent\n",
    b"[profile]\nextends = /profiles/0\n", b"[profile]\nextends = ,\n",
    join(b"[profile]\nextends = ./1\n", b"[profile]\nextends=./2\n", b"[profile]\nextends=./3\n", b"[profile]\nextends=./4\n",
        b"[profile]\nextends=./5\n",
         b"[profile]\nextends=./6\n", b"[profile]\nextends=./7\n", b"[file]\nread=/x\n"),
    join(b"[file]\nwrite = /profiles\n", b"--set file.read+=/more", b"--set time.wall=5s", b"--set file.exec="),
    *(join(b"[file]\nread = /a\n", b"--set " + text) for text in (
        b"file.raed=/x", b"fiel.read=/x", b"file", b"=x", b"x", b"time.wall+=1s", b"profile.extends=x", b"file.read = /b, /c ", b"zzzz.read=1",
        b"file.zzzzzz=1",
        b"file.read=/a\tb", b"privilege.syscalls=!read", b"network.allow=a.example:1", b"file.writes=nothing")),
]

# ---- values ----

VALUES = [
    b"", b"0", b"1", b"512", b"512M", b"1K", b"8388607T", b"8388608T", b"18446744073709551615", b"18446744073709551616", b"99999999999999999999999G",
    b"1KB", b"1k",
    b"-1", b" 1", b"500ms", b"1.5s", b"10m", b"2h", b"7d", b"36500d", b"36501d", b"0.0001s", b"0.001s", b"1.", b".5", b"1.5", b"1.1234", b"0.5",
    b"1.s", b"1.0000000001d",
    b"9223372036854775807", b"9223372036854775.808", b"none", b"allow", b"host", b"allo", b"all", b"30d, 5G", b"5G,30d", b"30d 5G", b"30d,",
    b"1s, 2s", b"1K,1M",
    b"9999999999999999T", b"10x", b"today", b"yesterday", b"2026-11-29", b"2026-11-29T22:18", b"2026-11-29T22:18:55.123456789Z",
    b"2026-02-31 01:02:03",
    b"2026-13-01", b"1969-01-01", b"9999-12-31T23:59:60Z", b"2026-11-29T25:00", b"15m", b"7w", b"90s", b"99999999999999999999s", b"3y",
    b'"2026-11-29T22:18:55.1Z"', b'"x"',
]

# ---- the record ----

ZERO = b"0" * 64


def body(name):
    return file_bytes(f"tests/golden/{name}.json").strip()


def chain(bodies, key=None, every=2):
    """Lines as the store writes them, the head behind them, and the key file of a sealed log."""
    lines, before, done, current = b"", ZERO, 0, key
    for number, text in enumerate(bodies, 1):
        start = b'{"v":1,"seq":%d,"prev":"%s",' % (number, before)
        rest = text[1:] + b"\n"
        if key:
            start += b'"sealed":%d,' % (done + 1)
            mac = hmac.new(current, start + rest, hashlib.sha256).hexdigest().encode()
            start += b'"mac":"%s",' % mac
            done += 1
            if done % every == 0:
                current = hmac.new(current, b"sbox audit: next key", hashlib.sha256).digest()
        before = hashlib.sha256(start + rest).hexdigest().encode()
        lines += start + rest
    head = b'{"seq":%20d,"hash":"%s","bytes":%20d,"first":%20d,"since":%20d,"sealed":%20d' % (
        len(bodies), before, len(lines), 1 if bodies else 0, 1796000000, done)
    keys = b"" if not key else b'{"every":%20d,"sealed":%20d,"key":"%s"' % (every, done, current.hex().encode())
    return lines, checked(head), checked(keys) if keys else b""


def checked(text):
    return text + b',"check":"%s"}\n' % hashlib.sha256(text).hexdigest()[:16].encode()


RUN = b"01ARZ3NDEKTSV4RRFFQ69G5FAV"
START, HOSTILE, CLEAN, KILLED, SIGNALED = (body(f"record-{name}") for name in (
    "start-plain", "start-hostile", "end-clean", "end-killed", "end-signaled"))
EVENT = b'{"type":"log.recovered","time":"2026-11-29T22:18:55.1Z","reason":"torn_tail","log_bytes":9,"dropped_bytes":1,"dropped_sha256":null,"dropped_kept":null,"head":null}'
PRUNED = b'{"type":"log.pruned","time":"2026-11-29T22:18:55.1Z","segments":[],"files":1,"bytes":2}'
OPENED = b'{"type":"log.opened","time":"2026-11-29T22:18:55.1Z","file":"log.jsonl","reason":"size","previous":{"file":"log-00000000000000000001.jsonl","seq":1}}'
CLOSED = b'{"type":"log.closed","time":"2026-11-29T22:18:55.1Z","next":"log.jsonl"}'
TINY = b'{"type":"x"}'

# A run with what its row in the index is made of, and no more: small, so that mutations meet it.
SHORT_START = (b'{"type":"run.start","run":"%s","time":"2026-11-29T22:18:55.1Z","argv":["c"],"who":{"user":"%s","real_uid":1},'
               b'"profile":{"name":"b"},"labels":{"k":"v"}}' % (RUN, b"a" * 40))
SHORT_END = (b'{"type":"run.end","run":"%s","time":"2026-11-29T22:18:55.2Z","end":{"kind":"exited","code":0},"usage":{"wall_ns":1},'
             b'"execs":[],"denials":[{"op":"read"}]}' % RUN)

PLAIN = chain([START, CLEAN, HOSTILE, KILLED, START, SIGNALED])
SEALED = chain([START, CLEAN, TINY, HOSTILE], key=bytes(range(32)))
SMALL = chain([TINY, TINY, TINY])
LATER = b"\n".join(line for line in SMALL[0].split(b"\n")[1:])

STORES = [
    b"", b"x", b"\n", b"{}\n", join(b"", b""), PLAIN[0], join(*PLAIN[:2]), join(*SEALED), join(*SEALED[:2]), join(SMALL[0], b"damaged"),
    join(SMALL[0], PLAIN[1]),
    join(SMALL[0][:-1], SMALL[1]), SMALL[0][:-1], SMALL[0][:-40], SMALL[0] + b'{"v":1,"seq":4,"prev":"', SMALL[0] + b"\0" * 200 + b"\n",
    join(SMALL[0] + b"torn", SMALL[1]),
    join(SMALL[0][:150], SMALL[1]), LATER, join(LATER, SMALL[1]), join(SEALED[0], SEALED[1], b"damaged key"),
    join(SEALED[0] + b"torn\n", SEALED[1], SEALED[2]),
    join(*chain([TINY] * 2, key=b"k" * 32)), join(chain([TINY] * 5, key=b"k" * 32)[0], *chain([TINY] * 2, key=b"k" * 32)[1:]),
    *(chain([TINY] * n)[0].replace(b'"seq":1', b'"seq":%020d' % seq) for n in (1, 2) for seq in (1, 2 ** 63 - 1, 2 ** 64 - 1)),
    SMALL[0].replace(b'"seq":3', b'"seq":18446744073709551614'), SMALL[0].replace(b'"seq":3', b'"seq":99999999999999999999'),
    SEALED[0].replace(b'"sealed":4', b'"sealed":100000'), b"\n" * 300, b"a" * 70000, SMALL[0] + b"b" * 66000,
    *(chain([text])[0] for text in (EVENT, PRUNED, OPENED, CLOSED)), chain([b"{" + b'"a":' * 3 + b"}"])[0],
    checked(b'{"seq":%20d,"hash":"%s","bytes":%20d,"first":%20d,"since":%20d,"sealed":%20d' % (3, ZERO, 0, 0, 0, 0)), SEALED[1], SEALED[2],
]
VERBS = 16
READER = [bytes([verb]) + store for verb in range(VERBS) for store in (
    join(*PLAIN[:2]), join(*SEALED), chain([EVENT, PRUNED, START, TINY, CLOSED])[0] + b"torn",
    SMALL[0].replace(b'"type":"x"', b'"type":"run.start","run":7,"argv":{},"who":[]'),
    chain([START, CLEAN.replace(b'"exited"', b'"nothing"'), KILLED])[0], chain([SHORT_START, SHORT_END])[0])]

SCANS = [
    b"{}", b" { } ", b'{"a":1}', b'{"a":{"b":[1,2,{"c":"}"}]},"d":"\\"","e":null}', b'{"a":"\\\\","b":"\\\\\\""}', b'{"a":1,"a":2}',
    b'{"a" : 1 , "b" : [ ] }', b'{"a"}', b'{"a":}', b"{,}",
    b'{"type":"run.start","seq":7}', b'{"a":"x', b'{"a":[1,2', b'{"\\u0061":1}', b'{"a":12345678901234567890}',
    b'{"time":"2026-11-29T22:18:55.123456789Z"}', b"[]", b"", START, HOSTILE, KILLED,
]

# ---- the command line ----


def words(*args):
    return b"\0".join(args)


OPTIONS = [
    b"", words(b"true"), words(b"--profile", b"agent", b"sh", b"-c", b"x"), words(b"--profile=agent", b"--set", b"time.wall=1s", b"--", b"--x"),
    words(b"run", b"check"), words(b"check", b"agent"),
    words(b"--label", b"a=b", b"--label", b"c", b"x"), words(b"--label", b"=b", b"x"), words(b"--label"), words(b"--status-fd", b"3", b"x"),
    words(b"--status-fd", b"-1", b"x"),
    words(b"--status-fd", b"99999999999999", b"x"), words(b"--status-fd", b"4294967295", b"x"), words(b"--status-fd=4294967295", b"x"), words(b"--status-fd", b"1x", b"x"),
    words(b"--json", b"--quiet", b"--strict", b"--store", b"/x", b"y"), words(b"--help"), words(b"--version"), words(b"--hlep"),
    words(b"--json=1", b"x"),
    words(b"--zzzzzzz"), words(b"-h"), words(b"-"), words(b"--"), words(b"--store", b""), words(b"--store="), words(b"audit", b"list"),
    words(b"--set"), words(b"--label", b"\xff=\xfe", b"x"), words(b"--status-fd=2", b"x"), words(b"help"),
]

# ---- /proc ----

CGROUP_V1 = b"12:memory:/a\n11:cpu,cpuacct:/b\n9:pids:/c/d\n1:name=systemd:/\n0::/u\n"
MOUNTS = (b"22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/vda rw\n23 22 0:5 / /proc rw - proc proc rw\n24 22 0:22 / /sys/fs/cgroup rw - cgroup2 none rw,nsdelegate\n"
          b"25 22 0:23 /a /tmp rw - cgroup cgroup rw,memory\n26 22 0:24 / /sys/c\\040d rw - cgroup cgroup rw,cpu,cpuacct\n27 22 0:25 / /sys/p rw - cgroup c rw,pids\n")
ODD = (b"30 22 0:1 / /mnt/a\\040b\\134c\\012d rw - nfs4 x:/y rw\n31 22 0:2 / /mnt/s rw shared:1 master:2 - fuse.sshfs x rw\n32 22 0:3 / /proc/sys ro - tmpfs - rw\n"
       b"33 22 0:3 / /proc/sys/fs/binfmt_misc rw - autofs x rw\n34 22 0:4 / / rw - 9p x rw\n35\n36 - cgroup\n37 22 - cgroup2\n38 22 0:4 / /x\\ rw - cifs\n39 22 0:4 / /x - cgroup rw,memory\n")
PROCS = [
    b"", join(CGROUP_V1, MOUNTS), join(b"0::/\n", MOUNTS), join(b"0::/\n", MOUNTS + ODD), join(CGROUP_V1, ODD),
    join(b"0::/no/such\n", b"24 22 0:22 /other /sys/fs/cgroup rw - cgroup2 none rw\n"),
    b"nothing\n:\n::\n1:memory\n", join(b"0::/\n", b"24 22 0:22 / /tmp rw - cgroup2 none rw\n"),
    join(b"4:memory:/\n", b"25 22 0:23 / /tmp rw - cgroup cgroup rw,memory\n"),
    b"7 (a) S 1 7 7 0 -1 0 0 0 0 0 11 12 13 14 20 0 5 0 99 1 1\n", b"7 (a) b) (c) S 1 2\n", b"7 (a)", b"a) R 1 7 7 0 -1 0 0 0 0 0 9 9 9 9 20 0 9 0 9",
    b"Rss: 1 kB\nPss:   12 kB\n", b"/a//b/./c", b"/a/../b", b"/", b"a",
    b"/" + b"x" * 300, b"/" + b"x/" * 2300, join(b"x", b"0: 2 0 1 1 1 1 /tmp/.X11-unix/X0\n0: 2 0 1 1 1 1 @abstract\n0: 2 0 1 1 1 1 /a b\nx/y\n/z\n"),
]

# ---- programs ----


def elf(headers, machine=2, count=None):
    header = b"\x7fELF" + bytes([machine, 1, 1]) + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56,
        len(headers) if count is None else count, 64, 0, 0)
    return header + b"".join(headers)


def part(kind, offset, size):
    return struct.pack("<IIQQQQQQ", kind, 4, offset, 0, 0, size, size, 1)


LOADER = b"/lib64/ld-linux-x86-64.so.2\0"
PROGRAMS = [
    b"", b"#", b"#!", b"#!\n", b"#!/bin/sh\n", b"#! /usr/bin/env python3\n", b"#!\t/bin/sh -e\n", b"#!bin/sh\n", b"#!/bin/sh",
    b"#!/" + b"x" * 252 + b"\n", b"#!/" + b"x" * 253, b"#!/" + b"x" * 300 + b"\n", b"#!/a\0b\n", b"#!   \n", b"\x7fELF",
    elf([part(3, 120, len(LOADER))]) + LOADER, elf([part(1, 0, 0), part(3, 176, len(LOADER))]) + LOADER, elf([part(3, 1 << 40, 28)]),
    elf([part(3, 2 ** 64 - 8, 28)]), elf([part(3, 120, 1)]) + b"/", elf([part(3, 120, 5000)]) + b"/" * 5000,
    elf([part(3, 120, 4095)]) + b"/" * 4095, elf([], count=65535), elf([part(1, 0, 0)] * 70), elf([part(3, 120, 6)]) + b"lib/x\0",
    elf([part(3, 120, 28)], machine=1) + LOADER, elf([part(1, 0, 0)], count=9),
]


def memory(pointers, strings):
    return b"".join(struct.pack(">H", p) for p in pointers) + b"\0\0" + strings


ARGUMENTS = [
    b"", memory([1, 4], b"sh\0-c\0"), memory([1] * 70, b"a\0"), memory([1, 9, 17], b"--token\0secret1\0-psecret\0"), memory([1], b"x" * 2000),
    memory([1, 1, 1], b"y" * 600 + b"\0"),
    memory([0xffff], b""), memory([1], b"\xe2\x82\xac" * 700), memory([1], b"A_KEY=secret\0"), b"--token=x", b"sk-abc", b"-pword", b"A_KEY=b=c",
    b"a=b=c", b"--token", b"[redacted]", memory([1], b"sk-" + b"z" * 1030), memory([1, 2], b"\x80" * 1500),
]

# ---- sbox explain ----


def denials(*permits):
    return b'{"denials":[%s]}' % b",".join(b'{"op":"write","permit":"%s"}' % p for p in permits)


PROFILE = b"[file]\nread = /a\n  /b\n; said\nwrites = keep\n\n[time]\nwall = 1s\n"
EXPLAINS = [
    join(denials(b"[file] read = /x", b"[file] write = /x", b"[file] exec = /y/z"), PROFILE), join(denials(b"[file] read = /b"), PROFILE),
    join(denials(b"[time] wall = 2s"), PROFILE), join(denials(b"[process] memory = 2G"), PROFILE),
    join(denials(b"[network] allow = example.org:443", b"[privilege] syscalls = !mount", b"[file] writes = discard"), PROFILE),
    join(denials(b"file read = /x", b"[file]read=/x", b"[file] raed = /x", b"[file] read=/x", b"[", b"[] = ", b"[file] = /x"), PROFILE),
    join(b'{"denials":[{"op":"look","permit":"[file] read = /x"},{"permit":null},7]}', PROFILE), join(b'{"denials":{}}', PROFILE), b"{}",
    join(denials(b"[file] read = /x"), b""), join(denials(b"[file] read = /x"), b"[file"),
    join(denials(b"[file] read = /a\\nwrite = /"), PROFILE), join(denials(b"[file] read = /x", b"[file] read = /x/y"), PROFILE + b"read = /c\n"),
    join(denials(b"[file] growth = 1G"), b"[file]\ngrowth = 2G\ngrowth = 3G\n[file]\ngrowth=4G"),
]

SEEDS = {
    "fuzz_profile": SHIPPED + PROFILES + [b"[%s]\n%s = 1\n" % key for key in KEYS],
    "fuzz_value": VALUES,
    "fuzz_store": STORES,
    "fuzz_reader": READER,
    "fuzz_scan": SCANS,
    "fuzz_options": OPTIONS,
    "fuzz_proc": PROCS,
    "fuzz_program": PROGRAMS,
    "fuzz_arguments": ARGUMENTS,
    "fuzz_explain": EXPLAINS,
    "fuzz_json": [b"", *(bytes([kind]) + b"key\0" + text + b"\xff" for kind in range(6) for text in (
        b"plain", b'"\\\n\t\x00', "é \u2028\u202e\U0001f600".encode(), b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"YWJj", b"YWI=", b"YQ==",
            b"YR==", b"")),
                  b"\0base64:x\0a\xff", b"\0\x80\0a\xff", b"\0" + b"k" * 5000 + b"\0" + b"v\n" * 5000],
}

# Characters at borders: of their lengths, and of the ranges that a terminal acts on.
CHARACTERS = [chr(point).encode() for point in (0x80, 0x7ff, 0x800, 0xd7ff, 0xffff, 0x10000, 0x10ffff, 0x7f, 0x9f, 0x61c, 0x200e, 0x202e, 0x2066, 0xfeff, 0xfff9,
    0xe0001, 0xe007f)]
RECORD_WORDS = [b'"%s"' % word for word in sorted(set(re.findall(rb'"(\w+)":', START + KILLED + SIGNALED)))]
WORDS = {
    "fuzz_profile": [*(b"\n[%s]\n" % s for s in sorted({s for s, _ in KEYS})), *(b"\n%s = " % k for _, k in KEYS), b"${cwd}", b"${home}", b"${user}",
    b"${uid}", b"${0x", b"extends = ./1", PART, b"--set ", b"@default", b"@all", b" ; ", b"/./", b"/../", b"//", b" = /",
    *(b"${0x%02x}" % byte for byte in b"$,;\\ "), b"${0x24}{"],
    "fuzz_value": [b"ms", b"18446744073709551615", b"9223372036854775807", b"all", b", ", b"today", b"2026-"],
    "fuzz_store": [PART, b'{"v":1,"seq":', b',"prev":"', b'"sealed":', b'"mac":"', b'"}\n', ZERO, b"18446744073709551615"],
    "fuzz_reader": [PART, *RECORD_WORDS, b'{"base64":"', b"run.start", b"run.end", b"\\u001b", b"\\u202e", RUN, b"null", b"[]", b"{}", b"-1", b"1e9",
    b"18446744073709551615", *CHARACTERS],
    "fuzz_scan": [b'{"', b'":', b'\\"', b"\\\\", b"}", b"]", b'","'],
    "fuzz_options": [b"\0--" + o for o in (b"profile", b"set", b"label", b"store", b"status-fd", b"json", b"quiet", b"strict", b"help", b"version",
    b"")] + [b"4294967297", b"-1", b"=", b"\0"],
    "fuzz_proc": [PART, b" - cgroup2 ", b" - cgroup ", b"\\040", b"memory", b" /proc/", b"0::/", b") S "],
    "fuzz_program": [b"#!", b"\x7fELF\x02", b"\x03\0\0\0"],
    "fuzz_arguments": [b"--token", b"sk-", b"_KEY=", b"\0\x01", b"\xff\xff", *CHARACTERS],
    "fuzz_explain": [b'"permit":"[file] read = /', b'"permit":"', b'{"denials":[', PART, b"[file]\n", b"\\n", b"\\r", b"\\u001b", b"\\u007f"],
    "fuzz_json": [b"base64:", b"\xff", b"\0", b"\xed\xa0\x80", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", *CHARACTERS],
}

# SPDX-License-Identifier: Apache-2.0
"""writes = discard: 30 kinds of change under `write`; the host is bit for bit as before."""
import hashlib
import os

from sboxtest import PYTHON, needs_discard, test

DISCARD = ["file.writes=discard"]

# name, Python code in the workspace. Each asserts that the change took place inside.
CHANGES = [
    ("create", "open('new', 'w').write('x'); assert open('new').read() == 'x'"),
    ("append", "open('a', 'a').write('more'); assert open('a').read().endswith('more')"),
    ("truncate", "os.truncate('a', 2); assert os.path.getsize('a') == 2"),
    ("truncate to nothing", "open('a', 'w').close(); assert os.path.getsize('a') == 0"),
    ("overwrite in place", "f = open('a', 'r+b'); f.seek(3); f.write(b'ZZ'); f.close(); "
                           "assert b'ZZ' in open('a', 'rb').read()"),
    ("chmod file", "os.chmod('a', 0o700); assert os.stat('a').st_mode & 0o777 == 0o700"),
    ("chmod folder", "os.chmod('d', 0o700); assert os.stat('d').st_mode & 0o777 == 0o700"),
    ("utimes file", "os.utime('a', (1, 2)); assert os.stat('a').st_mtime == 2"),
    ("utimes folder", "os.utime('d', (1, 2)); assert os.stat('d').st_mtime == 2"),
    ("rename file", "os.rename('a', 'a2'); assert not os.path.exists('a')"),
    ("rename folder", "os.rename('d', 'd2') if not EXDEV(lambda: os.rename('d', 'd2')) else "
                      "shutil.move('d', 'd3'); assert not os.path.exists('d')"),
    ("rename new folder", "os.mkdir('n'); os.rename('n', 'n2'); assert os.path.isdir('n2')"),
    ("replace by rename", "open('t', 'w').write('r'); os.replace('t', 'a'); "
                          "assert open('a').read() == 'r'"),
    ("unlink", "os.unlink('a'); assert not os.path.exists('a')"),
    ("unlink and create again", "os.unlink('a'); open('a', 'w').write('n')"),
    ("rmdir", "os.rmdir('empty'); assert not os.path.exists('empty')"),
    ("remove a tree", "shutil.rmtree('d'); assert not os.path.exists('d')"),
    ("remove everything", "[shutil.rmtree(n) if os.path.isdir(n) and not os.path.islink(n) "
                          "else os.unlink(n) for n in os.listdir('.')]"),
    ("mkdir", "os.mkdir('m'); assert os.path.isdir('m')"),
    ("mkdir over a removed folder", "shutil.rmtree('d'); os.mkdir('d'); assert os.listdir('d') == []"),
    ("folder over an empty folder", "os.mkdir('s'); os.rename('s', 'empty')"),
    ("file where a folder was", "shutil.rmtree('d'); open('d', 'w').write('f')"),
    ("folder where a file was", "os.unlink('a'); os.mkdir('a'); open('a/x', 'w').close()"),
    ("symlink", "os.symlink('a', 'l'); assert os.readlink('l') == 'a'"),
    ("replace a symlink", "os.unlink('link'); os.symlink('d', 'link')"),
    ("hard link", "os.link('a', 'h'); open('h', 'a').write('!'); "
                  "assert os.stat('a').st_nlink == 2 and open('a').read().endswith('!')"),
    ("write through one of two hard links", "open('h1', 'a').write('!')"),
    ("mkfifo", "os.mkfifo('f'); assert stat.S_ISFIFO(os.stat('f').st_mode)"),
    ("socket", "s = socket.socket(socket.AF_UNIX); s.bind('sock'); assert os.path.exists('sock')"),
    ("set xattr", "XATTR(lambda: os.setxattr('a', 'user.new', b'v'))"),
    ("remove xattr", "XATTR(lambda: os.removexattr('a', 'user.old'))"),
    ("big file", "f = open('big', 'wb'); [f.write(b'x' * (1 << 20)) for _ in range(30)]; f.close(); "
                 "assert os.path.getsize('big') == 30 << 20"),
    ("sparse file", "os.close(os.open('sp', os.O_CREAT | os.O_WRONLY)); os.truncate('sp', 1 << 33) "
                    "if not BIG(lambda: os.truncate('sp', 1 << 33)) else None"),
    ("nested tree", "os.makedirs('p/q/r/s'); open('p/q/r/s/f', 'w').write('deep')"),
    ("deep change", "open('d/sub/deep/file', 'a').write('x')"),
    ("odd names", "[open(n, 'w').close() for n in (b'\\xff\\xfe', 'gr\\u00fcn'.encode(), b'a\\nb', "
                  "b' ', b'-rf', b'x' * 255)]"),
    ("mmap", "f = open('a', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0] = 90; m.flush()"),
    ("fallocate", "fd = os.open('a', os.O_RDWR); os.posix_fallocate(fd, 0, 100000)"),
    ("many files", "os.mkdir('many'); [open(f'many/{i}', 'w').close() for i in range(2000)]"),
    ("exchange", "os.rename('a', 't'); os.rename('b', 'a'); os.rename('t', 'b')"),
]

PRELUDE = """import errno, mmap, os, shutil, socket, stat
def EXDEV(f):
    try: f(); os.rename('d2', 'd'); return False
    except OSError as e:
        assert e.errno == errno.EXDEV, e; return True
def XATTR(f):
    try: f()
    except OSError as e: assert e.errno in (errno.ENOTSUP, errno.EPERM), e
def BIG(f):
    try: f(); return False
    except OSError as e:
        assert e.errno == errno.EFBIG, e; return True
"""


def fill(t):
    t.write("a", "content of a\n" * 10)
    t.write("b", "b\n", 0o600)
    t.write("d/x", "x\n")
    t.write("d/sub/deep/file", "deep\n", 0o640)
    t.mkdir("empty", 0o750)
    t.write("h1", "linked\n")
    os.link(f"{t.ws}/h1", f"{t.ws}/h2")
    os.symlink("a", f"{t.ws}/link")
    os.symlink("/nowhere", f"{t.ws}/dangling")
    os.mkfifo(f"{t.ws}/pipe", 0o600)
    t.write("grün", "é\n")
    t.write(b"\xffbytes".decode("utf-8", "surrogateescape"), "raw name\n")
    for name in ("link", "dangling", "pipe"):
        t.own(f"{t.ws}/{name}")
    os.setxattr(f"{t.ws}/a", "user.old", b"value")
    os.utime(f"{t.ws}/a", (1000, 2000))


def fingerprint(path):
    """Everything the host can tell about a tree: names, content, metadata, inode numbers."""
    found = {}
    for base, dirs, files in os.walk(path):
        for name in [""] + dirs + files:
            full = os.path.join(base, name)
            info = os.lstat(full)
            found[full] = (info.st_ino, info.st_mode, info.st_uid, info.st_gid, info.st_nlink,
                           info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_blocks,
                           content(full, info), xattrs(full))
    return found


def content(path, info):
    import stat
    if stat.S_ISLNK(info.st_mode):
        return os.readlink(path)
    if stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    return None


def xattrs(path):
    return sorted((n, os.getxattr(path, n, follow_symlinks=False))
                  for n in os.listxattr(path, follow_symlinks=False))


def compare(t, before, what):
    after = fingerprint(t.ws)
    changed = [n for n in sorted(set(before) | set(after)) if before.get(n) != after.get(n)]
    t.equal([(n, before.get(n), after.get(n)) for n in changed[:3]], [], f"{what}: host changed")


@test()
def review_that_was_accepted_as_missing_says_what_becomes_of_changes(t):
    run = t.sbox("sh", "-c", "echo new > file", sets=["file.writes=review", "file.on_missing=allow"])
    t.ended(run, "exited", 0)
    t.equal(t.read("file"), b"new\n")
    t.has(run.errtext, "would keep them at once")


@test(timeout=150)
def forty_kinds_of_change_leave_nothing(t):
    needs_discard()
    fill(t)
    before = fingerprint(t.ws)
    failed = []
    for name, code in CHANGES:
        run = t.sbox(PYTHON, "-c", PRELUDE + code, sets=DISCARD, opts=["--quiet"])
        compare(t, before, name)
        if run.code != 0:
            failed.append((name, run.code, run.errtext.strip().splitlines()[-1:]))
    t.check(len(CHANGES) >= 30, len(CHANGES))
    t.equal(failed, [], "every change takes place inside")


@test()
def the_same_changes_are_real_without_discard(t):
    """The control: each change does change the host when it is kept."""
    names = ("create", "append", "chmod file", "unlink", "rename file", "nested tree", "symlink")
    for name, code in CHANGES:
        if name not in names:
            continue
        fill_again(t)
        before = fingerprint(t.ws)
        run = t.sbox(PYTHON, "-c", PRELUDE + code, sets=["file.writes=keep"])
        t.equal(run.code, 0, f"{name}: {run}")
        t.check(fingerprint(t.ws) != before, f"{name} changed nothing")


def fill_again(t):
    import shutil
    for name in os.listdir(t.ws):
        path = os.path.join(t.ws, name)
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    fill(t)


@test()
def changes_are_seen_within_the_run_and_not_in_the_next(t):
    needs_discard()
    t.write("a", "old\n")
    run = t.sbox("sh", "-c", "echo new > a; cat a; ls", sets=DISCARD, opts=["--quiet"])
    t.equal(run.out, b"new\na\n", run)
    run = t.sbox("sh", "-c", "cat a; ls", sets=DISCARD, opts=["--quiet"])
    t.equal(run.out, b"old\na\n", run)


@test()
def interrupted_run_leaves_nothing(t):
    needs_discard()
    import signal
    fill(t)
    before = fingerprint(t.ws)
    child = t.start("sh", "-c", "rm -rf *; echo x > y; echo up; sleep 60", sets=DISCARD)
    child.stdout.readline()
    compare(t, before, "while it runs")
    child.send_signal(signal.SIGKILL)
    t.communicate(child, None, 20)
    import time
    time.sleep(0.3)
    compare(t, before, "after kill -9")
    t.sbox("true")


@test()
def program_in_the_workspace_runs(t):
    needs_discard()
    t.write("run.sh", "#!/bin/sh\necho ran > made; cat made\n", 0o755)
    run = t.sbox("./run.sh", sets=DISCARD, opts=["--quiet"])
    t.equal(run.out, b"ran\n", run)
    t.check(not os.path.exists(f"{t.ws}/made"), "host")


@test()
def discard_is_bounded(t):
    """Thrown-away changes take memory or disk too: a limit holds."""
    needs_discard()
    run = t.sbox("dd", "if=/dev/zero", "of=big", "bs=1M", "count=600",
                 sets=DISCARD + ["file.growth=30M", "process.memory=300M"])
    t.check(run.code != 0, run)
    t.check(run.kind in ("disk", "memory", "exited", "signaled"), run)
    t.check(not os.path.exists(f"{t.ws}/big"), "host")
    t.note(f"600 MB under discard, growth 30M: {run.kind} {run.decided_by}")

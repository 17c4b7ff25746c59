# SPDX-License-Identifier: Apache-2.0
"""Filling the disk: below the workspace and in scratch, by bytes, by holes and by names.

Nothing here writes more than 600 MB even when no limit holds. `growth` is measured on the
workspace's file system as a whole, so these tests run alone.
"""
import os
import shutil

from sboxtest import PYTHON, can_discard, test
from syscalls import calls

GROWTH = ["file.growth=50M"]
MB = 1 << 20


def free_bytes(path):
    info = os.statvfs(path)
    return info.f_bavail * info.f_frsize


def grown(t):
    total = 0
    for base, _, files in os.walk(t.ws):
        total += sum(os.lstat(os.path.join(base, f)).st_blocks * 512 for f in files)
    return total


def report(t, run, limit):
    over = grown(t) - limit
    t.note(f"limit {limit >> 20} MiB: {run.kind}, overshoot {over / MB:.1f} MiB")
    t.check(over < 300 * MB, f"overshoot of {over >> 20} MiB")


@test(parallel=False)
def by_bytes(t):
    control = t.plain("dd", "if=/dev/zero", "of=control", "bs=1M", "count=80")
    t.equal((control.code, os.path.getsize(f"{t.ws}/control")), (0, 80 * MB), "control")
    os.unlink(f"{t.ws}/control")
    run = t.sbox("dd", "if=/dev/zero", "of=big", "bs=1M", "count=600", sets=GROWTH)
    t.ended(run, "disk", 137)
    t.equal(run.decided_by, "file.growth")
    t.has(run.errtext, "growth")
    report(t, run, 50 * MB)


@test(parallel=False)
def by_many_files_of_one_page(t):
    script = "import os\nfor i in range(60000):\n  f = open(f'f{i}', 'wb'); f.write(b'x' * 4096); f.close()\n"
    run = t.sbox(PYTHON, "-c", script, sets=["file.growth=50M", "time.wall=60s"], timeout=90)
    t.ended(run, "disk", 137)
    report(t, run, 50 * MB)


@test(parallel=False)
def by_fallocate(t):
    path = t.write("reserved", "")
    control, _ = calls(t, ("open", f"s:{path}", 1), ("fallocate", "$1", 0, 0, 100 * MB), runner=t.plain)
    t.equal(control[1], 0, "control")
    os.truncate(path, 0)
    script = "import os, time\nfor i in range(30):\n  fd = os.open(f'r{i}', os.O_CREAT | os.O_RDWR)\n" \
             "  os.posix_fallocate(fd, 0, 20 << 20); time.sleep(0.02)\ntime.sleep(3)\n"
    run = t.sbox(PYTHON, "-c", script, sets=GROWTH)
    t.ended(run, "disk", 137)
    report(t, run, 50 * MB)


@test(parallel=False)
def by_one_large_fallocate(t):
    """One call: the file's largest size bounds it before any measuring can."""
    path = t.write("reserved", "")
    got, run = calls(t, ("rt_sigaction", 25, "x:" + "01" + "00" * 31, 0, 8),
                     ("open", f"s:{path}", 1), ("fallocate", "$2", 0, 0, 3 << 30), sets=GROWTH)
    t.check(got[-1] in ("EFBIG", "ENOSPC", "EDQUOT") or run.kind in ("disk", "signaled"), run)
    report(t, run, 50 * MB)


@test(parallel=False)
def open_and_unlinked_file(t):
    """Bytes that no name leads to count as well."""
    script = "import os, time\nf = open('gone', 'wb'); os.unlink('gone')\n" \
             "for i in range(400): f.write(b'x' * (1 << 20)); f.flush()\ntime.sleep(2)"
    before = free_bytes(t.ws)
    run = t.sbox(PYTHON, "-c", script, sets=GROWTH)
    t.ended(run, "disk", 137)
    t.check(before - free_bytes(t.ws) < 200 * MB, "given back at the end")


@test(parallel=False, timeout=150)
def by_one_hundred_thousand_files(t):
    """Empty files: growth counts them too."""
    script = "import os\nmade = 0\ntry:\n  for d in range(100):\n    os.mkdir(f'd{d}')\n" \
             "    for i in range(1000): os.close(os.open(f'd{d}/{i}', os.O_CREAT)); made += 1\n" \
             "except OSError as e: print(e)\nprint(made)"
    run = t.sbox(PYTHON, "-c", script, sets=["file.growth=10M", "time.wall=90s"], timeout=120)
    made = sum(len(files) for _, _, files in os.walk(t.ws))
    t.note(f"growth=10M: {run.kind}, {made} empty files were made of 100,000")
    t.check(run.kind == "disk" or made < 100_000, f"all of them could be made: {run}")
    shutil.rmtree(t.ws)
    t.mkdir(t.ws)


@test(parallel=False)
def petabyte_of_nothing(t):
    """A sparse file of 1 PB: refused by the largest file, and costs nothing."""
    path = t.write("sparse", "")
    got, run = calls(t, ("rt_sigaction", 25, "x:" + "01" + "00" * 31, 0, 8),
                     ("open", f"s:{path}", 1), ("ftruncate", "$2", 1 << 50),
                     ("truncate", f"s:{path}", 1 << 43), ("lseek", "$2", 1 << 42, 0),
                     ("write", "$2", "s:x", 1))
    t.equal([r for r in (got[2], got[3], got[5])], ["EFBIG"] * 3, run)
    t.equal(os.path.getsize(path), 0)
    control, _ = calls(t, ("truncate", f"s:{path}", 1 << 40), runner=t.plain)
    t.equal(control, [0], "control: one terabyte is possible without sbox")


@test(parallel=False, cases=["/tmp", "/dev/shm", "$HOME"])
def scratch_by_bytes(t, where):
    run = t.sbox("sh", "-c", f"dd if=/dev/zero of={where}/big bs=1M count=200",
                 sets=["file.scratch=16M"])
    t.check(run.code != 0 and (b"No space" in run.err or run.kind in ("disk", "memory")), run)


@test(parallel=False)
def scratch_all_three_together(t):
    """The size is of /tmp, /dev/shm and home together."""
    script = "for d in /tmp /dev/shm $HOME; do dd if=/dev/zero of=$d/big bs=1M count=60 2>/dev/null; done; " \
             "cat /tmp/big /dev/shm/big $HOME/big | wc -c"
    run = t.sbox("sh", "-c", script, sets=["file.scratch=32M"], opts=["--quiet"])
    t.check(run.kind in ("disk", "memory") or int(run.text) <= 33 * MB, run)


@test(parallel=False)
def scratch_by_names(t):
    script = "import os\nmade = 0\ntry:\n  for i in range(200000): os.close(os.open(f'/tmp/{i}', os.O_CREAT)); " \
             "made += 1\nexcept OSError as e: print(e.errno, end=' ')\nprint(made)"
    run = t.sbox(PYTHON, "-c", script, sets=["file.scratch=16M"], opts=["--quiet"], timeout=60)
    t.check(run.kind in ("disk", "memory") or run.text.startswith("28 "), f"ENOSPC: {run}")
    t.note(f"names in a scratch of 16M: {run.text.strip()}")


@test(parallel=False, timeout=240)
def deep_folders_and_odd_names(t):
    """R7: a tree 3,000 deep and names of 255 odd bytes; sbox still comes to its end."""
    script = "import os\nfor i in range(3000): os.mkdir('d'); os.chdir('d')\n" \
             "os.chdir('/tmp')\nfor i in range(3000): os.mkdir('d'); os.chdir('d')\n" \
             "open(b'\\xff' * 255, 'w'); open(b'a\\n\\x1b[31m', 'w'); print('made')"
    for mode in ("keep", "discard") if can_discard() else ("keep",):
        run = t.sbox(PYTHON, "-c", script, sets=[f"file.writes={mode}"], opts=["--quiet"])
        t.equal(run.out, b"made\n", run)
        t.plain("rm", "-rf", f"{t.ws}/d")


@test(parallel=False)
def growth_of_somebody_else_is_not_blamed_twice(t):
    """A run that writes little under a small limit is left alone."""
    run = t.sbox("sh", "-c", "head -c 100000 /dev/zero > small; sleep 0.3", sets=["file.growth=20M"])
    t.ended(run, "exited", 0)

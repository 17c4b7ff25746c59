# SPDX-License-Identifier: Apache-2.0
"""What is asked again and again: a path of which there was nothing to say is named as soon as there is."""
import time

from denied import make_outside, profile
from sboxtest import PYTHON, test

READ = """import os, sys
def read(path):
    try:
        with open(path) as file: file.read()
    except OSError: return 0
    return 1
def each(*names):
    return [read(name) for name in names]
out = sys.argv[1]
"""


def named(run, path):
    return sum(d["count"] for d in run.denials if d["object"] == path and d["op"] == "read")


@test(timeout=120)
def links_that_begin_to_lead_out(t):
    """Read until it is known, then made, moved or linked to where nothing is listed."""
    out = make_outside(t)
    ways = {"made": "os.symlink(out + '/file', 'made')",
            "replaced": "os.unlink('replaced'); os.symlink(out + '/file', 'replaced')",
            "moved": "os.rename('link', 'moved')",
            "linked": "os.unlink('linked'); os.link('lead', 'linked', follow_symlinks=False)",
            "below/file": "os.rename('away', 'below')"}
    for name in ("replaced", "moved", "linked"):
        t.write(name, "here\n")
    t.mkdir("other")
    text = READ + "os.symlink(out + '/file', 'link')\nos.symlink(out + '/file', 'lead')\nos.symlink(out, 'away')\n"
    text += "import time; time.sleep(0.1)\n"
    for name, change in ways.items():
        text += f"was = each(*['{name}'] * 3)\ntime.sleep(0.1)\nwas = each(*['{name}'] * 3)\n{change}\n"
        text += f"print('{name}', was, each('{name}'))\n"
    run = t.sbox(PYTHON, "-c", text, out, profile=profile(t, (), "full"))
    t.equal(run.code, 0, run)
    for name in ways:
        there = [int(name in ("replaced", "moved", "linked"))] * 3
        t.has(run.text, f"{name} {there} [0]\n", run)
        t.equal(named(run, f"{t.ws}/{name}"), 1, f"{name}: {run}")


@test(timeout=120)
def refused_ones_are_counted_each_time(t):
    out = make_outside(t)
    run = t.sbox(PYTHON, "-c", READ + "print(each(*[out + '/file'] * 20, *['none'] * 20))", out,
                 profile=profile(t, (), "full"))
    t.equal(named(run, f"{out}/file"), 20, run)
    t.equal(named(run, f"{t.ws}/none"), 0, run)


@test(timeout=120)
def more_than_can_be_kept(t):
    """What is known has a bound; beyond it, it is looked at again."""
    out = make_outside(t)
    t.write("here", "x\n")
    run = t.sbox(PYTHON, "-c", READ + """
names = ['n' * 200 + str(number) for number in range(1500)] + ['./' * 400 + 'none', './' * 245 + 'none']
for turn in range(2):
    print(sum(each(*names)), each(out + '/file', './' * 400 + 'here', 'here'))
""", out, profile=profile(t, (), "full"))
    t.equal(run.text, "0 [0, 1, 1]\n" * 2, run)
    t.equal(named(run, f"{out}/file"), 2, run)
    t.equal([d for d in run.denials if "none" in str(d["object"]) or "nnn" in str(d["object"])], [], run)


@test(timeout=120)
def what_the_host_makes_meanwhile(t):
    """Not there at first, so it is no refusal that it cannot be read; then the host has it."""
    out = make_outside(t)
    child = t.start(PYTHON, "-c", READ + f"print(each(*['{out}/late'] * 5), flush=True); input()\n"
                    f"print(read('{out}/late'))", out, profile=profile(t, (), "full"))
    t.equal(child.stdout.readline(), b"[0, 0, 0, 0, 0]\n")
    t.write(f"{out}/late", "x\n", 0o644)
    time.sleep(1.2)
    rest, _ = t.communicate(child, b"\n", 30)
    t.equal(rest, b"0\n")
    denials = [d for d in t.records()[-1]["denials"] if d["object"] == f"{out}/late"]
    t.equal([(d["errno"], d["count"]) for d in denials], [("ENOENT", 1)])


@test(timeout=120)
def folders_in_which_names_come_and_go(t):
    """A file in it that is protected stays so; the folder itself is moved away, and leads out."""
    out = make_outside(t)
    t.write(".bashrc", "\n", 0o644)
    t.mkdir("work")
    text = """import os, sys, time
def come_and_go(folder):
    for number in range(3):
        open(f'{folder}/name', 'w').close()
        os.unlink(f'{folder}/name')
def fails(what, *how):
    try: what(*how)
    except OSError as error: return error.errno
for turn in range(2):
    come_and_go('work'); come_and_go('.'); come_and_go(os.getcwd()); time.sleep(0.1)
print(fails(os.unlink, os.getcwd() + '/.bashrc'))
os.rename('work', 'moved')
os.symlink(sys.argv[1], 'work')
print(fails(open, 'work/new', 'w'), fails(os.unlink, 'work/file'))
"""
    run = t.sbox(PYTHON, "-c", text, out, profile=profile(t, (), "full"))
    t.equal(run.text, "16\n2 2\n", run)
    seen = [(d["op"], d["object"], d["errno"]) for d in run.denials]
    for one in (("remove", f"{t.ws}/.bashrc", "EBUSY"), ("write", f"{t.ws}/work/new", "ENOENT"),
                ("remove", f"{t.ws}/work/file", "ENOENT")):
        t.has(str(seen), str(one), run)

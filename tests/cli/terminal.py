# SPDX-License-Identifier: Apache-2.0
"""A program with a terminal of its own: what it is, keys, sizes, programs that draw."""
import fcntl
import os
import pty
import signal
import sys
import time

from sboxtest import PYTHON, Skip, test, wait_until
from terminal_steps import LOOK, commands, end, leave, sbox, shell
from terminals import Terminal


# ---- what the program gets ----------------------------------------------------

@test()
def is_a_terminal_with_a_name(t):
    tty = sbox(t, PYTHON, "-c", LOOK)
    t.equal(tty.wait(), 0, tty.shown)
    t.equal(t.read("seen"), b"SEES yyy ['/dev/pts/0', '/dev/pts/0', '/dev/pts/0']\n")
    tty.as_before()
    start = t.records()[0]
    t.equal(start["terminal"], {"streams": ["stdin", "stdout", "stderr"], "rows": 24, "columns": 80})
    t.check(start["who"]["tty"].startswith("/dev/pts/"), start["who"])


@test(cases=["tyy", "yty", "yyt", "tty", "tyt", "ytt", "ttt"])
def each_stream_by_itself(t, case):
    """t: a file, y: the terminal; inside it is the same."""
    out = os.open(f"{t.dir}/out", os.O_RDWR | os.O_CREAT, 0o666)
    os.fchmod(out, 0o666)
    stdio = [None if letter == "y" else out for letter in case]
    tty = sbox(t, PYTHON, "-c", LOOK + "print('to stdout'); print('to stderr', file=sys.stderr)"
               .replace("sys", "__import__('sys')"), stdio=stdio)
    t.equal(tty.wait(), 0)
    t.has(t.read("seen"), f"SEES {case} ")
    shown, written = tty.quiet(), t.read(f"{t.dir}/out")
    t.check(b"to stdout" in (shown if case[1] == "y" else written), (shown, written))
    t.check(b"to stderr" in (shown if case[2] == "y" else written), (shown, written))
    tty.as_before()


@test()
def no_terminal_when_told_so(t):
    tty = sbox(t, PYTHON, "-c", LOOK, sets=["process.tty=no"])
    t.equal(tty.wait(), 0)
    t.has(t.read("seen"), "SEES ttt []")
    t.equal(t.records()[0]["terminal"], None)
    tty.as_before()


@test()
def no_terminal_with_json(t):
    tty = Terminal(t, t.command([PYTHON, "-c", LOOK], opts=["--json"]))
    t.equal(tty.wait(), 0)
    t.has(t.read("seen"), "SEES ttt []")
    tty.as_before()


@test()
def dev_tty_is_the_sandbox_own(t):
    script = ("exec </dev/null >out 2>&1; echo from-inside >/dev/tty; "
              "readlink /proc/self/fd/9 9<>/dev/tty; read x </dev/tty; echo got $x")
    tty = sbox(t, "sh", "-c", script)
    tty.expect("from-inside")
    tty.send("typed\n")
    t.equal(tty.wait(), 0)
    t.equal(t.read("out").splitlines()[-1], b"got typed")
    tty.as_before()


@test()
def terminals_inside_terminals(t):
    """Programs that make terminals themselves: script, pty.spawn, tmux."""
    script = ("import pty, os\npty.spawn(['sh', '-c', 'tty; test -t 0 && echo inner-ok'])\n")
    tty = sbox(t, PYTHON, "-c", script)
    tty.expect(b"/dev/pts/1\r\r?\n")
    tty.expect("inner-ok")
    t.equal(tty.wait(), 0)
    tty = sbox(t, "script", "-qec", "tty; exit 5", "/dev/null")
    tty.expect("/dev/pts/1")
    t.equal(tty.wait(), 5)


@test()
def the_size_and_its_changes(t):
    script = ("import signal, os, time\n"
              "show = lambda *_: os.write(1, b'SIZE %d %d\\n' % tuple(os.get_terminal_size()))\n"
              "signal.signal(signal.SIGWINCH, show)\nshow()\n"
              "while True: time.sleep(0.05)\n")
    tty = sbox(t, PYTHON, "-c", script, rows=30, columns=100)
    tty.expect("SIZE 100 30")
    tty.resize(50, 132)
    tty.expect("SIZE 132 50")
    tty.resize(0, 0)
    tty.expect("SIZE 0 0")
    tty.send("\x03")
    t.equal(tty.wait(), 130)
    t.equal(t.records()[0]["terminal"]["rows"], 30)
    sizes = end(t)["timing"]["sizes"]
    t.equal([s[1:] for s in sizes], [[50, 132], [0, 0]])
    tty.as_before()


@test()
def a_size_of_nothing(t):
    tty = sbox(t, "stty", "size", rows=0, columns=0)
    tty.expect("0 0")
    t.equal(tty.wait(), 0)


# ---- keys ----------------------------------------------------------------------

@test()
def control_c_goes_to_the_foreground_inside(t):
    tty = sbox(t, "bash", "--norc", "--noediting", "-i")
    tty.expect("$ ")
    tty.send("sleep 1000; echo code-$?\n")
    tty.expect("1000")
    wait_until(lambda: any("sleep" in c for c in commands(tty.pid)), 10)
    tty.send("\x03")
    tty.expect("$ ")
    tty.send("echo still-here\n")
    tty.expect("still-here")
    tty.send("exit 3\n")
    t.equal(tty.wait(), 3)
    end(t, "exited")
    tty.as_before()


@test()
def control_c_and_control_backslash_end_a_plain_program(t):
    for key, sig in (("\x03", 2), ("\x1c", 3)):
        tty = sbox(t, "sleep", "1000")
        tty.until(tty.is_raw, "raw")
        tty.send(key)
        t.equal(tty.wait(), 128 + sig)
        t.equal(end(t, "signaled")["end"]["code"], sig)
        tty.as_before()


@test()
def end_of_file_and_every_byte(t):
    script = ("import sys, tty\ntty.setraw(0)\nprint('GO', end='', flush=True)\ndata = b''\n"
              "while len(data) < 256: data += sys.stdin.buffer.raw.read(256)\n"
              "open('bytes', 'wb').write(data)\n")
    tty = sbox(t, PYTHON, "-c", script)
    tty.expect("GO")
    tty.send(bytes(range(256)))
    t.equal(tty.wait(), 0)
    t.equal(t.read("bytes"), bytes(range(256)))
    tty = sbox(t, "cat")
    tty.send("grüße\n")
    tty.expect("grüße\r\ngrüße")
    tty.send("\x04")
    t.equal(tty.wait(), 0)
    tty.as_before()


@test()
def every_byte_is_shown(t):
    script = "import sys, tty\ntty.setraw(1)\nsys.stdout.buffer.write(bytes(range(256)) * 40)\n"
    tty = sbox(t, PYTHON, "-c", script)
    t.equal(tty.wait(), 0)
    t.equal(tty.quiet(), bytes(range(256)) * 40)


@test(timeout=90)
def a_huge_paste(t):
    script = ("import sys, tty, hashlib\ntty.setraw(0)\nprint('GO', end='', flush=True)\nn = 0\n"
              "h = hashlib.sha256()\nwhile n < 2000000:\n"
              " d = sys.stdin.buffer.raw.read(65536); n += len(d); h.update(d)\n"
              "print('HASH', n, h.hexdigest(), flush=True)\n")
    tty = sbox(t, PYTHON, "-c", script)
    tty.expect("GO")
    data = os.urandom(1000000).hex().encode()
    import hashlib
    tty.send(data)
    tty.expect(f"HASH 2000000 {hashlib.sha256(data).hexdigest()}", 60)
    t.equal(tty.wait(), 0)


@test()
def a_slow_reader_loses_nothing(t):
    tty = sbox(t, "sh", "-c", "seq 1 60000; echo THE-END")
    time.sleep(1)
    while not tty.ended():
        tty.read(0)
        time.sleep(0.001)
    lines = tty.quiet().split(b"\r\n")
    t.equal((lines[0], lines[59999], lines[60000]), (b"1", b"60000", b"THE-END"))
    tty.as_before()


@test()
def a_password_is_not_shown_and_not_kept(t):
    script = "import getpass\np = getpass.getpass('Secret: ')\nprint('length', len(p))\n"
    tty = sbox(t, PYTHON, "-c", script)
    tty.expect("Secret: ")
    tty.send("hunter2-and-more\n")
    tty.expect("length 16")
    t.equal(tty.wait(), 0)
    run = end(t, "exited")
    t.check(b"hunter2" not in t.kept(run["stdout"]["kept"]), "the output that is kept")
    t.equal((run["stdin"]["kept"], run["stdin"]["sha256"]), (None, None), "what was typed")
    t.equal(run["stdin"]["bytes"], 17)
    for base, _, files in os.walk(t.store):
        for name in files:
            with open(f"{base}/{name}", "rb") as file:
                t.check(b"hunter2" not in file.read(), f"{base}/{name}")
    tty.as_before()


@test()
def typed_text_is_no_script(t):
    """An interpreter that reads a terminal is a session, not a script to be kept."""
    tty = sbox(t, "bash", "--norc", "-i")
    tty.expect("$ ")
    tty.send("true secret-word\nexit\n")
    t.equal(tty.wait(), 0)
    t.equal([f for f in end(t)["files"] if f["kind"] == "stdin"], [])


@test()
def a_full_screen_program(t):
    """Draws, knows its keys, draws anew when the size changes and when it goes on."""
    t.write("full.py", """
import curses, signal
def main(screen):
    while True:
        rows, columns = screen.getmaxyx()
        screen.erase()
        screen.border()
        screen.addstr(1, 2, "SCREEN %dx%d COLORS %d" % (rows, columns, curses.has_colors()))
        screen.refresh()
        key = screen.getch()
        if key == ord("q"):
            return
        if key == curses.KEY_UP:
            screen.addstr(2, 2, "KEY-UP")
            screen.refresh()
            screen.getch()
curses.wrapper(main)
""")
    tty = shell(t)
    tty.send(f"stty -a >before; $S {PYTHON} full.py\n")
    tty.expect("SCREEN 24x80 COLORS 1")
    tty.send("\x1bOA")
    tty.expect("KEY-UP")
    tty.send(" ")
    tty.resize(40, 120)
    tty.expect("40x120")
    tty.quiet()  # curses ignores Ctrl-Z while it draws
    tty.send("\x1a")
    tty.expect("Stopped")
    tty.expect("outer> ")
    tty.send("fg\n")
    tty.expect("SCREEN 40x120")
    tty.send("q")
    tty.expect("outer> ")
    tty.send("stty rows 24 columns 80; stty -a >after\n")
    tty.expect("outer> ")
    t.equal(t.read("after"), t.read("before"))
    leave(t, tty)


@test()
def an_editor(t):
    editor = next((e for e in ("/usr/bin/vim", "/usr/bin/vim.tiny", "/usr/bin/vi")
                   if os.path.exists(e)), None)
    if editor is None:
        raise Skip("no vi on this machine")
    tty = sbox(t, editor, "-u", "NONE", "new.txt")
    tty.expect("~")
    tty.send("iwritten inside\x1b:wq\r")
    t.equal(tty.wait(), 0)
    t.equal(t.read("new.txt"), b"written inside\n")
    tty.as_before()


@test()
def inside_of_tmux(t):
    """A multiplexer as the program: it makes terminals of its own in the sandbox."""
    if not os.path.exists("/usr/bin/tmux"):
        raise Skip("no tmux on this machine")
    tty = sbox(t, "tmux", "-f", "/dev/null", "new-session", "tty; echo in-$TERM; read x",
               env={"TERM": "xterm-256color"})
    tty.expect("/dev/pts/1")
    tty.send("\n")
    tty.wait()
    tty.as_before()


# ---- what it cannot do ---------------------------------------------------------

@test()
def nothing_is_typed_for_the_caller(t):
    """TIOCSTI and its relatives, on each end that a program can get hold of."""
    script = ("import fcntl, os, errno\n"
              "calls = {'TIOCSTI': (0x5412, b'x'), 'TIOCLINUX': (0x541c, b'\\2'),"
              " 'TIOCSETD': (0x5423, b'\\0' * 4), 'TIOCCONS': (0x541d, b''),"
              " 'TIOCSSERIAL': (0x541f, b'\\0' * 128), 'TIOCVHANGUP': (0x5437, b'')}\n"
              "for fd in (0, os.open('/dev/tty', os.O_RDWR), os.open('/dev/ptmx', os.O_RDWR)):\n"
              " for name, (number, value) in calls.items():\n"
              "  try: fcntl.ioctl(fd, number, value); print('DONE', name)\n"
              "  except OSError as e: print(name, errno.errorcode[e.errno])\n"
              "print('LIST', sorted(os.listdir('/dev/pts')), sorted(os.listdir('/proc/self/fd')))\n")
    t.write("x.py", script)
    tty = sbox(t, PYTHON, "x.py")
    t.equal(tty.wait(), 0, tty.shown)
    shown = tty.quiet().decode()
    t.check("DONE" not in shown, shown)
    t.equal(shown.count("EPERM"), 18, shown)
    t.has(shown, "LIST ['0', '1', 'ptmx']")
    tty.as_before()
    t.check(any(d["object"] == "TIOCSTI" for d in end(t)["denials"]), end(t)["denials"])


@test(callers=("root",))
def nothing_is_typed_control(t):
    """Without sbox the same call types into the caller's terminal, where the kernel lets it."""
    with open("/proc/sys/dev/tty/legacy_tiocsti") as file:
        if file.read().strip() == "0":
            raise Skip("this kernel refuses TIOCSTI to everybody (dev.tty.legacy_tiocsti = 0)")
    tty = Terminal(t, [PYTHON, "-c", "import fcntl; fcntl.ioctl(0, 0x5412, b'x')"])
    t.equal(tty.wait(), 0)
    tty.expect("x")


@test()
def the_callers_terminal_is_not_in_the_sandbox(t):
    """No descriptor, no name and no number in it leads there."""
    script = ("import os\nfor folder, _, names in os.walk('/dev'):\n"
              " for name in names:\n"
              "  try: st = os.stat(f'{folder}/{name}')\n"
              "  except OSError: continue\n"
              "  print('NODE', st.st_dev, st.st_ino)\n"
              "for fd in os.listdir('/proc/self/fd'):\n"
              "  try: st = os.fstat(int(fd))\n"
              "  except OSError: continue\n"
              "  print('NODE', st.st_dev, st.st_ino)\n")
    t.write("x.py", script)
    tty = sbox(t, PYTHON, "x.py")
    t.equal(tty.wait(), 0, tty.shown)
    own = os.fstat(tty.slave)
    lines = tty.quiet().decode().split("\r\n")
    t.check(len(lines) > 6 and f"NODE {own.st_dev} {own.st_ino}" not in lines, lines)

# SPDX-License-Identifier: Apache-2.0
"""A program that wants its profile to be wide: it gets what it used, and no line of its own."""
import os

from learnt import SECRET, learn, lines_of, plant, values
from sboxtest import PYTHON, test

GRAB = r"""
import os, socket, sys
home, ws = sys.argv[1:]
# everything below the home folder, and the lists of what is above it
for base, dirs, files in os.walk(home):
    for name in files:
        try: open(os.path.join(base, name)).read()
        except (OSError, UnicodeDecodeError): pass
for folder in ('/', '/etc', '/home', '/var', home, os.path.dirname(home)):
    try: os.listdir(folder)
    except OSError: pass
# what is executed later, what is a credential
for name in ('.bashrc', '.profile', '.ssh/authorized_keys', '.config/autostart/x.desktop', '.local/bin/ls', 'bin/ls',
             'new', '.gitconfig'):
    for flags in (os.O_WRONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_TRUNC):
        try: os.close(os.open(os.path.join(home, name), flags))
        except OSError: pass
for path in ('/etc/passwd', '/etc/ld.so.preload', '/usr/bin/ls', ws + '/.git/hooks/pre-commit', ws + '/.env'):
    try: os.close(os.open(path, os.O_RDWR | os.O_CREAT))
    except OSError: pass
for name in ('*', '*.com', 'x\n[network]', 'evil.example', 'metadata.google.internal'):
    try: socket.getaddrinfo(name, 443)
    except (OSError, UnicodeError): pass
for address in ('169.254.169.254', '10.0.0.1', '0.0.0.0'):
    s = socket.socket(); s.settimeout(1)
    try: s.connect((address, 80))
    except OSError: pass
for path in ('/var/run/docker.sock', '/tmp/.X11-unix/X0'):
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(path)
    except OSError: pass
# lines of its own
for folder in (ws, '/tmp', home):
    for name in ('a\n[network]\nmode = host\n', 'b\n\nwrite = ' + home.replace('/', ':'), '; c\r\n'):
        for use in (lambda p: open(p, 'w'), open, os.stat, os.mkdir, os.listdir, os.chmod):
            try: use(os.path.join(folder, name))
            except (OSError, TypeError): pass
"""


def hostile_home(t):
    plant(t)
    for number in range(300):
        t.write(f"{t.home}/private/{number}", "private\n")
    for number in range(40):
        t.write(f"{t.home}/file-{number}", "mine\n")
    for name in (".bashrc", ".profile", ".gitconfig"):
        t.write(f"{t.home}/{name}", "before\n")
    t.mkdir(".git/hooks")


@test(timeout=120)
def no_more_than_it_used(t):
    hostile_home(t)
    code, out, err, text = learn(t, PYTHON, "-c", GRAB, t.home, t.ws)
    t.equal(code, 0, err)
    t.check(SECRET not in text and SECRET.encode() not in out, "no credential is in what is told")
    given = [value for key in ("read", "exec", "write") for value in values(text, "file", key)]
    wide = {"${home}", "/", "/etc", "/home", "/var", t.home, os.path.dirname(t.home), "${home}/.ssh",
            "${home}/.config", "${home}/.local"}
    t.equal([value for value in given if value in wide], [], text)
    t.equal([value for value in given if any(w in value for w in (".ssh", ".aws", ".env", ".netrc", "id_", ".npmrc"))],
            [], text)
    t.equal([value for value in values(text, "file", "write") if value != "${cwd}"], [], text)
    t.equal(values(text, "network", "mode") + values(text, "network", "allow"), ["none"], text)
    for part in ("your home folder, too wide", "a credential", "--allow-write FOLDER"):
        t.has(text, part)
    with open(f"{t.home}/.bashrc") as file:
        t.equal(file.read(), "before\n")


@test(timeout=120)
def no_line_of_its_own(t):
    hostile_home(t)
    text = learn(t, PYTHON, "-c", GRAB, t.home, t.ws)[3]
    for line in text.split("\n"):
        t.check(not any(ord(c) < 32 for c in line), f"a control byte in {line!r}")
    sections = [line for line in text.split("\n") if line.startswith("[")]
    t.equal(len(sections), len(set(sections)), "each section once")
    t.equal([line for line in lines_of(text) if line.section == "network"][0].text, "mode = none")
    profile = f"{t.dir}/learnt/new.ini"
    run = t.plain(t.sbox_path, "check", profile)
    t.equal(run.code, 0, run)
    t.check("wide: [network]" not in run.text and "home folder" not in run.text, run)
    run = t.sbox(PYTHON, "-c", "import os,sys\nfor n in ('.ssh/id_ed25519', '.aws/credentials', '.netrc'):\n"
                 "  print(os.path.exists(os.path.join(sys.argv[1], n)))", t.home, profile=profile)
    t.equal(run.text, "False\n" * 3, run)


@test()
def the_programs_name_is_no_line(t):
    name = "x\n[network]\nmode = host\n;"
    t.write(name, "#!/bin/sh\necho hi\n", 0o755)
    code, out, err, text = learn(t, f"./{name}")
    t.equal((code, out), (0, b"hi\n"), err)
    t.equal([line.text for line in lines_of(text) if line.section == "network"], ["mode = none"])


@test(timeout=120)
def many_names_stay_bounded(t):
    """A hundred thousand names that are not there, and forty thousand looks at one that is."""
    code, _, err, text = learn(t, PYTHON, "-c", "import os\nfor i in range(20000):\n  os.path.exists(f'/nothing/{i}')\n"
                               "for i in range(40000): os.stat('/usr')", timeout=110)
    t.equal(code, 0, err)
    t.check(len(text) < 20000, f"{len(text)} bytes")


@test()
def racing_names_give_nothing_unshown(t):
    """A thread rewrites the name while it is asked about: what is learnt is still what was shown."""
    plant(t)
    script = ("import ctypes,os,sys,threading\nlibc=ctypes.CDLL(None)\nhome=sys.argv[1].encode()\n"
              "a,b=home+b'/.ssh/id_ed25519', b'/usr/share/dict/words'\n"
              "buf=ctypes.create_string_buffer(len(a)+8)\nstop=[]\n"
              "def flip():\n  while not stop:\n    buf.value=a; buf.value=b\n"
              "threading.Thread(target=flip).start()\n"
              "for i in range(3000):\n  fd=libc.open(buf,0)\n  if fd>=0:\n    d=os.read(fd,100); os.close(fd)\n"
              f"    if b'{SECRET}' in d: print('LEAK')\nstop.append(1)")
    code, out, err, text = learn(t, PYTHON, "-c", script, t.home)
    t.equal((code, out), (0, b""), err)
    t.equal([v for v in values(text, "file", "read") if ".ssh" in v], [], text)

# SPDX-License-Identifier: Apache-2.0
"""sbox learn on real programs: the profile works at the first try, for the same input and with the
same output; no line of it is spare unless it says so; no planted credential is seen through it."""
import os
import shutil

from learnt import SECRET, learn, lines_of, plant, without
from sboxtest import PYTHON, Skip, test

C = '#include <stdio.h>\nint main(void){puts("built");return 0;}\n'
CPP = '#include <iostream>\nint main(){std::cout<<"built\\n";}\n'
JAVA = 'public class Hello{public static void main(String[] a){System.out.println("hello "+a.length);}}'
UNITTEST = ("import unittest, helper\nclass T(unittest.TestCase):\n"
            "    def test_one(self): self.assertEqual(helper.twice(2), 4)\n"
            "    def test_two(self):\n        with open('data.txt') as f: self.assertEqual(f.read(), 'data\\n')\n")
SERVER = ("import http.server, threading, urllib.request\n"
          "s = http.server.HTTPServer(('127.0.0.1', 8765), http.server.SimpleHTTPRequestHandler)\n"
          "threading.Thread(target=s.serve_forever, daemon=True).start()\n"
          "print(urllib.request.urlopen('http://127.0.0.1:8765/data.txt').read())\n")
NODE_SERVER = ("const h=require('http');const s=h.createServer((q,r)=>r.end('hi')).listen(8764,'127.0.0.1',"
               "()=>h.get('http://127.0.0.1:8764/',r=>r.on('data',d=>{console.log(''+d);s.close()})));")
GIT = ("git -c init.defaultBranch=main init -q repo && cd repo && echo x >f && git add f && "
       "GIT_AUTHOR_DATE='2000-01-01T00:00:00Z' GIT_COMMITTER_DATE='2000-01-01T00:00:00Z' git "
       "-c user.name=a -c user.email=a@b commit -qm one && git log --format=%H:%s && git status -s")
DATA = {"data.txt": "data\n", "in/a.txt": "one\n", "in/b.txt": "two\n", "in/sub/c.txt": "three\n"}
MAKE = "all: out/x\nout/x: data.txt\n\tmkdir -p out\n\tsed s/a/A/g $< >$@\n\tcat $@\n"
CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_executable(x x.c)\n"

# name, program that has to be there, files of the workspace beyond DATA, command
CASES = [
    ("python", PYTHON, {"x.py": "import json,os\nprint(open('data.txt').read(), sorted(os.listdir('in')))\n"},
     (PYTHON, "x.py")),
    ("python-writes", PYTHON, {}, (PYTHON, "-c", "open('new','w').write('1'); print(open('new').read())")),
    ("python-home-data", PYTHON, {}, (PYTHON, "-c", "import sys; print(open(sys.argv[1]).read())",
                                      "HOME/docs/note.txt")),
    ("python-tests", PYTHON, {"helper.py": "def twice(x): return 2*x\n", "test_x.py": UNITTEST},
     ("/bin/sh", "-c", f"{PYTHON} -m unittest -q 2>&1 | sed 's/in [0-9.]*s//'")),
    ("web-server", PYTHON, {}, (PYTHON, "-c", SERVER)),
    ("perl", "perl", {}, ("perl", "-ne", "print uc", "data.txt")),
    ("node", "node", {"x.js": "console.log(require('fs').readdirSync('in').length)"}, ("node", "x.js")),
    ("node-server", "node", {"s.js": NODE_SERVER}, ("node", "s.js")),
    ("sh", "sh", {}, ("sh", "-c", "cat data.txt; wc -l < data.txt")),
    ("bash-script", "bash", {"x.sh": "#!/bin/bash\nread -r x <data.txt; echo \"$x\"; exit 3\n"}, ("./x.sh",)),
    ("zsh", "zsh", {}, ("zsh", "-fc", "print -l in/**/*(.)")),
    ("gcc", "gcc", {"x.c": C}, ("sh", "-c", "gcc -o x x.c && ./x")),
    ("g++", "g++", {"x.cc": CPP}, ("sh", "-c", "g++ -o x x.cc && ./x")),
    ("clang", "clang", {"x.c": C}, ("sh", "-c", "clang -o x x.c && ./x")),
    ("make", "make", {"Makefile": MAKE}, ("make", "-s")),
    ("cmake", "cmake", {"x.c": C, "CMakeLists.txt": CMAKE},
     ("sh", "-c", "cmake -S . -B out >log && cmake --build out >>log && out/x")),
    ("git", "git", {}, ("sh", "-c", GIT)),
    # under root the files that are only read belong to nobody inside
    ("git-read", "git", {".git/HEAD": "ref: refs/heads/main\n", ".git/objects/none": "", ".git/refs/none": ""},
     ("git", "--no-optional-locks", "status", "-s")),
    ("tar", "tar", {}, ("sh", "-c", "tar cf x.tar in && tar tf x.tar | sort")),
    ("tar-to-pipe", "tar", {}, ("sh", "-c", "tar cf - --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner in | sha256sum")),
    ("gzip", "gzip", {}, ("sh", "-c", "gzip -n data.txt && zcat data.txt.gz")),
    ("xz", "xz", {}, ("sh", "-c", "xz -c data.txt | xz -dc")),
    ("zip", "zip", {}, ("sh", "-c", "zip -qr x.zip in && unzip -Z1 x.zip | sort")),
    ("sqlite3", "sqlite3", {}, ("sqlite3", "x.db", "create table t(a);insert into t values(1);select * from t;")),
    ("openssl", "openssl", {}, ("openssl", "dgst", "-sha256", "data.txt")),
    ("jq", "jq", {"x.json": '{"a":[1,2]}'}, ("jq", ".a|length", "x.json")),
    ("pwd", "pwd", {}, ("/bin/pwd",)),
    ("awk", "awk", {}, ("awk", "{print $1, NR}", "data.txt")),
    ("sed", "sed", {}, ("sed", "-i", "-e", "s/data/DATA/", "data.txt")),
    ("find", "find", {}, ("sh", "-c", "find in -type f | sort")),
    ("grep", "grep", {}, ("grep", "-r", "two", "in")),
    ("stat", "stat", {}, ("stat", "-c", "%s", "HOME/docs/note.txt")),
    ("links", "cat", {}, ("cat", "HOME/link/note.txt")),
    ("java", "java", {"Hello.java": JAVA}, ("java", "Hello.java", "x")),
    ("imagemagick", "convert", {}, ("sh", "-c", "convert -size 8x8 xc:red x.png && identify -format '%w %m' x.png")),
    ("ffmpeg", "ffmpeg", {}, ("sh", "-c", "ffmpeg -v error -f lavfi -i sine=d=1 x.wav && ls x.wav")),
    ("busybox", "busybox", {}, ("busybox", "md5sum", "data.txt")),
    ("m4", "m4", {"x.m4": "define(a,b)a\n"}, ("m4", "x.m4")),
    ("lua", "lua5.4", {"x.lua": "for l in io.lines('data.txt') do print(l) end"}, ("lua5.4", "x.lua")),
    ("ruby", "ruby", {"x.rb": "puts File.read('data.txt')"}, ("ruby", "x.rb")),
]


def fresh(t, files):
    """The same workspace again, with credentials in it and in the home folder."""
    shutil.rmtree(t.ws)
    t.mkdir(t.ws)
    planted = plant(t)
    for name, text in {**DATA, **files}.items():
        t.write(name, text, 0o755 if text.startswith("#!") else 0o644)
    t.write(f"{t.home}/docs/note.txt", "a note\n")
    if not os.path.islink(f"{t.home}/link"):
        os.symlink("docs", f"{t.home}/link")
        t.own(f"{t.home}/link")
    return planted


def is_same(run, wanted):
    return (run.code, run.out) == wanted


@test(timeout=240, cases=CASES)
def the_profile_is_enough_and_no_more(t, case):
    name, program, files, argv = case
    if shutil.which(program, path="/usr/local/bin:/usr/bin:/bin") is None:
        raise Skip(f"{program} is not installed")
    argv = [word.replace("HOME/", f"{t.home}/") for word in argv]
    planted = fresh(t, files)
    control = t.plain(*argv, timeout=120)
    wanted = (control.code, control.out)
    fresh(t, files)
    code, out, err, text = learn(t, *argv)
    t.equal((code, out), wanted, f"the learning run\n{err}\n{control.errtext}")
    t.check(text, err)
    fresh(t, files)
    profile = f"{t.dir}/learnt/new.ini"
    run = t.sbox(*argv, profile=profile, timeout=120)
    t.check(is_same(run, wanted), f"with the profile, wanted {wanted}\n{run}\n{text}")
    no_credential(t, profile, planted)
    no_spare_line(t, text, argv, files, wanted)


def no_credential(t, profile, planted):
    run = t.sbox(PYTHON, "-c", "import sys\nfor p in sys.argv[1:]:\n  try: print(open(p).read())\n"
                 "  except OSError as e: print(e.errno)\n", *planted, profile=profile)
    t.check(SECRET not in run.text and len(run.text.split()) == len(planted), run)


def no_spare_line(t, text, argv, files, wanted):
    for number, line in enumerate(lines_of(text)):
        if line.text.startswith("description") or line.is_spare():
            continue
        fresh(t, files)
        less = t.profile(without(text, line), f"less-{number}")
        run = t.sbox(*argv, profile=less, timeout=120)
        t.check(not is_same(run, wanted), f"it works without {line}\n{text}")

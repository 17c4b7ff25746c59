# SPDX-License-Identifier: Apache-2.0
"""What sbox learn writes: merged, never over something else, readable by sbox itself whatever
names there were; the network by name; wrong use."""
import os
import subprocess

from learnt import SECRET, learn, lines_of, plant, values
from network_lab import HOST4, NAME, OTHER, Lab
from sboxtest import PYTHON, descendants, is_alive, process_line, test, wait_until

READ_ALL = "import sys,os\nfor p in sys.argv[1:]: print(open(os.fsencode(p),'rb').read())"


def verb(t, *argv):
    run = t.plain(t.sbox_path, *argv)
    return run.code, run.text, run.errtext


def effective(t, profile, key):
    """The list as sbox reads it: names as bytes, ${0xHH} undone by the reader itself."""
    code, out, err = verb(t, "show", profile)
    t.equal(code, 0, err)
    lines = out.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(f"{key} ="))
    found = [lines[at].split("=", 1)[1].strip()]
    for line in lines[at + 1:]:
        if not line.startswith(" "):
            break
        found.append(line.strip())
    return [one for one in found if one]


@test()
def a_second_run_is_merged(t):
    for name in ("a/one", "b/two"):
        t.write(f"{t.home}/{name}", f"{name}\n")
    profile = f"{t.dir}/learnt/new.ini"
    code, out, err, first = learn(t, "cat", f"{t.home}/a/one")
    t.equal((code, out), (0, b"a/one\n"), err)
    t.has(err, "written:")
    code, out, err, both = learn(t, "sh", "-c", f"cat {t.home}/b/two; echo x >new; head -c 3000000 /dev/zero")
    t.equal(code, 0, err)
    t.has(err, "added to")
    t.equal(sorted(values(both, "file", "read")), ["${home}/a/one", "${home}/b/two"])
    t.equal(values(first, "process", "output") + values(both, "process", "output"), ["1M", "16M"])
    t.check("extends = base" in first and "extends = agent" in both, both)
    for argv in (["cat", f"{t.home}/a/one"], ["sh", "-c", f"cat {t.home}/b/two; echo x >new"]):
        run = t.sbox(*argv, profile=profile)
        t.equal(run.code, 0, run)
    # again the same: nothing new, and the limits do not creep
    again = learn(t, "cat", f"{t.home}/a/one")[3]
    t.equal([line.text for line in lines_of(again) if line.section == "file"],
            [line.text for line in lines_of(both) if line.section == "file"])
    t.equal(values(again, "process", "output"), ["16M"])


@test()
def nothing_else_is_overwritten(t):
    own = t.profile("[profile]\nextends = agent\n", "own")
    shared = t.write(f"{t.dir}/profiles/shared.ini", "; Written by sbox learn (1).\n", 0o666)
    os.symlink(own, f"{t.dir}/profiles/link.ini")
    open_to_all = t.mkdir(f"{t.dir}/open")
    os.chmod(open_to_all, 0o777)
    for path, word in ((own, "was not written by sbox learn"), (shared, "others may write it"),
                       (f"{open_to_all}/new.ini", "can be written by everyone"),
                       (f"{t.dir}/profiles/link.ini", "is a link")):
        code, _, err, _ = learn(t, "sh", "-c", "echo ran >ran", output=path)
        t.equal(code, 125, err)
        t.has(err, word)
        t.check(not os.path.exists(f"{t.ws}/ran"), "the program was not run")
    t.equal(t.read(own), b"[profile]\nextends = agent\n")


@test()
def the_end_is_the_programs_own(t):
    code, _, err, text = learn(t, "sh", "-c", "exit 7")
    t.equal(code, 7, err)
    t.has(err, "ended with 7")
    t.check(text, "what it used until then is learnt")
    missing = f"{t.dir}/learnt/missing.ini"
    code, _, err, text = learn(t, "no-such-program", output=missing)
    t.equal((code, text), (125, None), err)
    for argv in ((), ("-o",), ("-o", "x.ini"), ("--frobnicate", "-o", "x.ini", "true"), ("true",),
                 ("--allow-read", "/no/such", "-o", "x.ini", "true"), ("--allow-read", "/", "-o", "x.ini", "true"),
                 ("--allow-net", "169.254.169.254:80", "-o", "x.ini", "true")):
        run = t.plain(t.sbox_path, "learn", *argv)
        t.equal(run.code, 125, argv)
    t.check(not os.path.exists(f"{t.ws}/x.ini"), "nothing is written")


ODD = [b"a b", b" lead", b"trail ", b"semi;colon", b"a ;b", b"#hash", b"${home}", b"$x", b"quo\"te'", b"star*[?]",
       b"-dash", b"!out", b"com,ma, x", b"back\\", b"new\nline", b"x\n[network]\nmode = host\n", b"tab\there",
       b"\x01\x7f", "ümläut ☃".encode(), b"\xff\xfe", b"bi\xe2\x80\xaedi", b"long" * 60, b"= x", b"%s%n"]


@test()
def odd_names_read_back_the_same(t):
    folder = os.fsencode(t.mkdir(f"{t.home}/odd"))
    # more than are asked for, so that they stay lines of their own
    for number in range(2 * len(ODD)):
        t.write(f"{t.home}/odd/other-{number}", "not asked for\n")
    for name in ODD:
        t.write(os.fsdecode(folder + b"/" + name), name)
    argv = [PYTHON, "-c", READ_ALL, *(folder + b"/" + name for name in ODD)]
    code, wanted, err, text = learn(t, *argv)
    t.equal(code, 0, err)
    profile = f"{t.dir}/learnt/new.ini"
    code, out, err = verb(t, "check", profile)
    t.equal((code, err), (0, ""), text)
    t.equal(len(values(text, "file", "read")), len(ODD), text)
    run = t.sbox(*argv, profile=profile)
    t.equal((run.code, run.out), (0, wanted), text)
    other = t.sbox("cat", f"{t.home}/odd/other-1", profile=profile)
    t.check(other.code != 0, "nothing beside them")
    t.equal(effective(t, profile, "mode"), ["none"])
    # read and written once more it is the same
    again = learn(t, *argv)[3]
    t.equal(sorted(values(again, "file", "read")), sorted(values(text, "file", "read")))


@test()
def folders_credentials_and_flags(t):
    planted = plant(t)
    t.write(f"{t.home}/work/deep/x", "x\n")
    code, out, err, text = learn(t, "sh", "-c", f"ls -a {t.home}/work/deep; cat {t.home}/work/deep/.env {planted[0]}")
    t.check(SECRET.encode() not in out and SECRET not in err, out + err.encode())
    t.has(text, "hide = -${home}/work/deep/.env")
    t.has(text, ".ssh/id_ed25519\n;       a credential")
    t.check(not [line for line in values(text, "file", "read") if ".ssh" in line], text)
    # the caller may say otherwise, path by path
    open_ini = f"{t.dir}/learnt/open.ini"
    code, out, err, text = learn(t, "cat", planted[0], opts=["--allow-secret", planted[0]], output=open_ini)
    if t.uid != 0:
        t.has(out, SECRET)
        t.has(text, ".ssh/id_ed25519\n")
    t.equal([p for p in planted[1:] if os.path.basename(p) in "".join(values(text, "file", "read"))], [])
    # writing beside the workspace
    t.mkdir(f"{t.home}/out")
    code, _, err, text = learn(t, "sh", "-c", f"echo x >{t.home}/out/x", output=f"{t.dir}/learnt/no.ini")
    t.check(code != 0 and not os.path.exists(f"{t.home}/out/x"), err)
    t.has(text, "--allow-write FOLDER")
    code, _, err, text = learn(t, "sh", "-c", f"echo x >{t.home}/out/x", output=f"{t.dir}/learnt/yes.ini",
                               opts=["--allow-write", f"{t.home}/out"])
    t.equal((code, values(text, "file", "write")), (0, ["${home}/out"]), err + text)
    t.check("wide:" not in err, err)
    # into a repository: what the caller's own git executes there stays as it is
    t.mkdir(f"{t.home}/out/.git/hooks")
    code, _, err, text = learn(t, "sh", "-c", f"echo x >{t.home}/out/z; echo x >{t.home}/out/.git/hooks/post-commit",
                               output=f"{t.dir}/learnt/git.ini", opts=["--allow-write", f"{t.home}/out"])
    t.equal(values(text, "file", "protect"), ["-${home}/out/.git/hooks"], text)
    t.has(text, "your own git executes what is there")
    t.check("wide:" not in err, err)
    run = t.sbox("sh", "-c", f"echo y >{t.home}/out/.git/hooks/post-merge", profile=f"{t.dir}/learnt/git.ini")
    t.check(run.code != 0, run)
    run = t.sbox("sh", "-c", f"echo y >{t.home}/out/y", profile=f"{t.dir}/learnt/yes.ini")
    t.equal(run.code, 0, run)


@test()
def open_shows_more_but_no_credential(t):
    planted = plant(t)
    t.write(f"{t.home}/.toolrc", "mine\n")
    script = f"cat ~/.toolrc; cat {' '.join(planted)}"
    closed = learn(t, "sh", "-c", script)
    t.check(b"mine" not in closed[1] and SECRET.encode() not in closed[1], closed)
    code, out, err, text = learn(t, "sh", "-c", script, opts=["--open"], output=f"{t.dir}/learnt/open.ini")
    t.equal(out, b"mine\n", err)
    t.has(text, "set = HOME=${home}")
    run = t.sbox("sh", "-c", script, profile=f"{t.dir}/learnt/open.ini")
    t.equal(run.out, b"mine\n", run)


@test()
def the_network_by_name(t):
    lab = Lab(t)
    get = ["curl", "-sS", "-m", "20", f"http://{NAME}/x"]
    code, out, err, text = learn(t, *get)
    t.equal(code, 6, err)
    t.has(text, f";   {NAME}:443\n;       asked for and refused")
    t.equal(values(text, "network", "mode"), ["none"])
    named = f"{t.dir}/learnt/named.ini"
    code, out, err, text = learn(t, *get, opts=["--allow-net", f"{NAME}:80", "--allow-net", f"{OTHER}:443"],
                                 output=named)
    t.equal(code, 0, err)
    t.equal(values(text, "network", "allow"), [f"{NAME}:80"], text)
    run = t.sbox(*get, profile=named)
    t.equal((run.code, run.out), (0, out), run)
    t.check(t.sbox("curl", "-sS", "-m", "9", f"http://{OTHER}/", profile=named).code != 0, "nobody else")
    # a name of a wide rule is written as itself, what a cloud tells nobody is not reached
    wide = f"{t.dir}/learnt/wide.ini"
    code, out, err, text = learn(t, "sh", "-c", f"curl -sS -m 9 http://{NAME}/x; curl -m 9 http://{HOST4}/; "
                                 "curl -sS -m 9 http://metadata.example.org/; curl -m 9 http://169.254.169.254/",
                                 opts=["--allow-net", "*.example.org:80"], output=wide)
    t.equal(values(text, "network", "allow")[:1], [f"{NAME}:80"], text)
    t.check("*." not in "".join(values(text, "network", "allow")), text)
    t.check(not lab.events(address="169.254.169.254"), "the metadata service heard nothing")


@test()
def ports_are_told_not_opened(t):
    code, _, err, text = learn(t, PYTHON, "-c", "import socket; s=socket.socket(); s.bind(('127.0.0.1', 8123))")
    t.equal(code, 0, err)
    t.has(text, "; it listened on port 8123; for the host's loopback to lead there: listen = 8123")
    t.equal(values(text, "network", "listen"), [])


@test(timeout=120)
def trim_takes_out_what_is_not_needed(t):
    for name in ("needed", "spare", "looked"):
        t.write(f"{t.home}/{name}/file", f"{name}\n")
    script = (f"cat {t.home}/needed/file; cat {t.home}/spare/file >/dev/null 2>&1; "
              f"test -e {t.home}/looked/file; echo line >>log")
    code, out, err, text = learn(t, "sh", "-c", script, output=f"{t.dir}/learnt/whole.ini")
    t.equal(len(values(text, "file", "read")), 3, text)
    os.remove(f"{t.ws}/log")
    code, out, err, text = learn(t, "sh", "-c", script, opts=["--trim"], timeout=110)
    t.equal((code, out), (0, b"needed\n"), err)
    t.equal(values(text, "file", "read"), ["${home}/needed/file"], text)
    t.has(text, f"{t.home}/spare/file\n;       used, and not needed")
    t.has(text, "extends = agent", "the folder that it writes to is needed")
    t.equal(t.read("log"), b"line\n", "trials change nothing")
    run = t.sbox("sh", "-c", script, profile=f"{t.dir}/learnt/new.ini")
    t.equal((run.code, run.out), (0, out), run)
    t.equal([n for n in os.listdir(f"{t.dir}/learnt") if n.endswith(".try")], [])
    # what cannot be repeated cannot be tried
    code, _, err, text = learn(t, "mkdir", "made", opts=["--trim"], output=f"{t.dir}/learnt/once.ini")
    t.equal((code, text), (125, None), err)
    t.has(err, "does not end the same")


@test()
def version_managers_and_caches_are_known(t):
    root = f"{t.home}/.pyenv"
    t.write(f"{root}/versions/9.9/bin/mytool", "#!/bin/sh\n. ${0%/bin/*}/lib/helper; mkdir -p ~/.cache/mytool; "
            "echo x >~/.cache/mytool/x\n", 0o755)
    t.write(f"{root}/versions/9.9/lib/helper", "echo helped\n")
    t.write(f"{root}/versions/9.9/pip.conf", f"password = {SECRET}\n")
    for folder in (root, f"{root}/versions", f"{root}/versions/9.9", f"{root}/versions/9.9/bin"):
        os.chmod(folder, 0o755)
    env = {"PATH": f"{root}/versions/9.9/bin:/usr/bin:/bin"}
    code, out, err, text = learn(t, "mytool", env=env)
    t.equal((code, out), (0, b"helped\n"), err)
    t.equal(values(text, "file", "toolchains"), ["pyenv"], text)
    # a shell asks where it is
    t.equal(values(text, "file", "exec") + values(text, "file", "read"), ["${cwd}"], text)
    t.has(text, "; It wrote to ~/.cache")
    run = t.sbox("mytool", profile=f"{t.dir}/learnt/new.ini", env=env)
    t.equal((run.code, run.out), (0, out), run)


@test()
def other_users_files_stay_closed(t):
    other = t.write(f"{t.dir}/others/file", "another's\n")
    script = f"cat {other}; ls /home/* /var/tmp"
    code, out, err, text = learn(t, "sh", "-c", script)
    t.check(b"another's" not in out, out)
    t.has(text, f"read {other}\n;       refused in the learning run: --allow-read {other}")
    code, out, err, text = learn(t, "cat", other, opts=["--allow-read", os.path.dirname(other)])
    t.equal((code, out), (0, b"another's\n"), err)
    t.equal(sorted(values(text, "file", "read")), ["${cwd}", other], text)


@test()
def killed_with_everything_it_started(t):
    child = t.popen([t.sbox_path, "learn", "--store", t.store, "-o", f"{t.dir}/k.ini", "sleep", "100"],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: any("sleep" in process_line(p) for p in descendants(child.pid)), 20)
    child.kill()
    t.communicate(child, b"", 20)
    wait_until(lambda: not [p for p in descendants(os.getpid()) if is_alive(p)], 20)
    t.check(not os.path.exists(f"{t.dir}/k.ini"), "no profile of half a run")


@test()
def it_says_where_it_cannot_watch(t):
    """In another sandbox, whose filter has the one listener there can be."""
    run = t.sbox(t.sbox_path, "learn", "--store", "/tmp/store", "-o", "/tmp/x.ini", "true",
                 sets=[f"file.exec+={t.tree}"])
    t.check(run.code != 0, run)
    t.has(run.errtext, "sbox learn: ")


@test()
def a_home_folder_behind_a_link(t):
    planted = plant(t)
    t.write(f"{t.home}/docs/note", "a note\n")
    os.symlink(t.home, f"{t.dir}/linked")
    env = {"HOME": f"{t.dir}/linked"}
    script = f"cat {t.dir}/linked/docs/note; cat ~/docs/note {t.dir}/linked/certs/server.key {planted[0]}"
    code, out, err, text = learn(t, "sh", "-c", script, env=env, opts=["--open"])
    t.check(SECRET.encode() not in out and out.count(b"a note") >= 1, out + err.encode())
    t.equal([v for v in values(text, "file", "read") if "certs" in v or ".ssh" in v], [], text)
    run = t.sbox("sh", "-c", script, env=env, profile=f"{t.dir}/learnt/new.ini")
    t.equal((run.code, run.out), (code, out), f"{run}\n{text}")

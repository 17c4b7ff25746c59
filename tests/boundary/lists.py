# SPDX-License-Identifier: Apache-2.0
"""Empty, missing, whitespace and `*`: for no list key does any of them mean "all"."""
import os

from sboxtest import test
from syscalls import calls, results, words

# Enough of a system to run a static program, and nothing more.
GROUND = "[file]\nwrite = {ws}\n[privilege]\nsyscalls = @default\n"

PATHS = ("file.exec", "file.read", "file.write", "file.noexec", "file.hide", "file.protect",
         "file.device")
TOKENS = ("network.allow", "network.resolve", "network.listen", "privilege.capabilities",
          "privilege.syscalls", "environment.keep", "environment.set", "audit.redact")
VALUES = (("missing", None), ("empty", ""), ("whitespace", "   \t "), ("star", "*"),
          ("slash star", "/*"), ("comma", ","), ("dash", "-"))


def with_value(t, key, value):
    section, name = key.split(".")
    text = GROUND.format(ws=t.ws)
    if key == "file.write":
        text = f"[file]\nexec = {t.ws}\n[privilege]\nsyscalls = @default\n"
    if key == "privilege.syscalls":
        text = f"[file]\nwrite = {t.ws}\n"
    if value is not None:
        text += f"[{section}]\n{name} = {value}\n"
    return t.profile(text)


SEES = [("open", "s:/etc/shadow", 0), ("open", "s:/usr/bin/env", 0), ("stat", "s:/usr/lib", "z:256"),
        ("open", "s:/dev/fuse", 2), ("open", "s:/dev/vda", 0), ("open", "s:/dev/kmsg", 0),
        ("open", "s:/var/tmp/sbox-test-wall", 0o101, 0o600), ("open", "s:/etc/passwd", 1),
        ("open", "s:/root/.bashrc", 0), ("open", "s:/var/log/dpkg.log", 0)]
REFUSED = [("socket", 40, 1, 0), ("keyctl", 0, 0, 0), ("unshare", 0x10000000), ("mount", 0, 0, 0, 0, 0),
           ("socket", 2, 3, 1), ("ptrace", 16, 1, 0, 0)]


def nothing_more(t, key, name, value, rows):
    """One run with that value: refused before exec with a sentence, or every call refused. The run."""
    run = t.sbox(t.probe("call"), *words(rows), profile=with_value(t, key, value),
                 env={"TOKEN": "secret-4711"})
    if run.code == 125 or key == "privilege.syscalls":
        t.equal(run.out, b"", f"{key} = {name}: did something: {run}")
        t.check(run.err.strip(), f"{key} = {name}: refused without a sentence")
        return None
    found = results(run)
    t.equal(len(found), len(rows), f"{key} = {name}: {run}")
    t.equal([(row, r) for row, r in zip(rows, found) if isinstance(r, int)], [], f"{key} = {name}")
    return run


@test(cases=[key for key in PATHS if key != "file.device"])
def the_root_is_no_element(t, key):
    """Spelled out, behind a link, or as what a variable stands for."""
    os.symlink("/", f"{t.ws}/to-root")
    for path, cwd in (("/", None), ("//", None), (f"{t.ws}/to-root", None), ("${cwd}", "/")):
        run = t.sbox("true", cwd=cwd, sets=["file.write=", f"{key}+={path}"])
        t.equal(run.code, 125, f"{path}: {run}")
        t.has(run.errtext, "the whole system", path)


@test(cases=PATHS)
def path_lists(t, key):
    """What a path list with such a value lets a real run see: nothing that was not named."""
    control, _ = calls(t, SEES[1], runner=t.plain)
    t.check(control[0] > 2, "control")
    accepted = [name for name, value in VALUES if nothing_more(t, key, name, value, SEES)]
    t.note(f"{key}: accepted (and meaning none): {', '.join(accepted)}")


@test(cases=TOKENS)
def token_lists(t, key):
    accepted = []
    for name, value in VALUES:
        if key == "privilege.syscalls" and value is None:
            continue  # absent is @default: covered everywhere else
        run = nothing_more(t, key, name, value, REFUSED)
        if run:
            accepted.append(name)
            t.check(run.start["inner_uid"] != 0, run.start["inner_uid"])
            t.check("TOKEN" not in run.start["environment"], f"{key} = {name}: {run.start['environment']}")
    t.note(f"{key}: accepted (and meaning none): {', '.join(accepted)}")


@test()
def keep_star_is_not_all(t):
    """[environment] keep = * is refused, or passes nothing that was not named."""
    run = t.sbox("env", env={"TOKEN": "secret-4711"}, sets=["environment.keep=*"], opts=["--quiet"])
    t.check(b"secret-4711" not in run.out, run)


@test(cases=["", " ", "*"])
def network_allow_list_with_its_mode(t, value):
    """L19: mode allow with an empty list allows nothing."""
    run = t.sbox("sh", "-c", "exec 3<>/dev/tcp/127.0.0.1/1", profile=None,
                 sets=["network.mode=allow", f"network.allow={value}"])
    t.check(run.code != 0, run)


@test(cases=[("agent", None), ("strict", None)])
def show_says_none_for_what_is_absent(t, case):
    """`sbox show`: an absent list is shown as empty or none, never as all."""
    run = t.plain(t.sbox_path, "show", case[0])
    t.equal(run.code, 0, run)
    for line in run.text.splitlines():
        key, _, value = (" " if line.startswith(" ") else line).partition("=")
        t.check(value.strip().lower() not in ("all", "*") or key.strip() == "cpus", line)


@test()
def strict_has_no_workspace(t):
    t.write("secret", "x\n")
    run = t.sbox("cat", f"{t.ws}/secret", profile="strict")
    t.check(run.code != 0 and run.out == b"", run)
    run = t.sbox("echo", "hi", profile="strict", opts=["--quiet"])
    t.equal(run.out, b"hi\n", run)


@test(cases=["/", "/tmp", "home", "above home", "/etc", "/usr", "/var", "/root", "/home", "store",
             "/proc", "/dev", "/usr/lib"])
def cwd_is_a_decision(t, where):
    """${cwd} in a home, /, /tmp, a system folder or the store: 125, with the way out."""
    places = {"home": t.home, "above home": t.dir, "store": t.store}
    folder = places.get(where, where)
    if where == "store":
        t.sbox("true")
    if not os.access(folder, os.X_OK) or (where == "/root" and t.uid != 0):
        return
    run = t.sbox("echo", "ran", cwd=folder)
    t.equal((run.code, run.out), (125, b""), f"cwd {folder}: {run}")
    t.has(run.errtext, folder)
    t.has(run.errtext, "mkdir" if "mkdir" in run.errtext else "folder", "the way out")
    t.check(run.start is None, "nothing was started")
    control = t.sbox("echo", "ran", cwd=folder, profile="strict")
    t.check(b"ran" in control.out or folder == t.store, f"a profile without ${{cwd}} does not mind: {control}")


@test()
def cwd_through_a_link(t):
    """The folder itself counts, not the name it was reached by."""
    os.symlink("/etc", f"{t.ws}/harmless")
    run = t.sbox("echo", "ran", cwd=f"{t.ws}/harmless", env={"PWD": f"{t.ws}/harmless"})
    t.equal((run.code, run.out), (125, b""), run)
    run = t.sbox("echo", "ran", cwd="/etc", env={"PWD": t.ws})
    t.equal((run.code, run.out), (125, b""), "PWD is not believed")

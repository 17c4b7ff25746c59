# SPDX-License-Identifier: Apache-2.0
"""[privilege] apparmor on a kernel that has it: entered, refusing, missing, stacked."""
import json
import os
import subprocess

from sboxtest import PYTHON, Skip, test
import machines

OWN_LABEL = "cat /proc/self/attr/apparmor/current"
# All that sbox and a program need, so that what is refused is refused by the rest.
WHOLE = """
    file,
    capability,
    network,
    mount,
    umount,
    pivot_root,
    ptrace,
    signal,
    unix,
    dbus,
"""
DENY = "    deny /**/forbidden rwklx,\n"


def parser(text, *options):
    done = subprocess.run(["apparmor_parser", "-K", "-W", *options], input=text.encode(), capture_output=True, timeout=120)
    return done.returncode, done.stderr.decode(errors="replace")


class Loaded:
    """A profile, loaded while the test runs; its name is its own."""

    def __init__(self, t, word, rules, flags="attach_disconnected"):
        if not os.path.exists("/sys/kernel/security/apparmor/profiles"):
            raise Skip("AppArmor is not at work in this kernel")
        self.name = f"sbox-{word}-{os.getpid()}"
        self.t = t
        self.load(rules, flags)

    def load(self, rules, flags="attach_disconnected"):
        text = f"profile {self.name} flags=({flags}) {{\n{rules}\n}}\n"
        code, err = parser(text, "-r")
        self.t.equal(code, 0, f"apparmor_parser: {err}\n{text}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        parser(f"profile {self.name} {{\n}}\n", "-R")


def names(label):
    """The parts of "a//&b (enforce)", and the mode."""
    text, _, mode = label.strip().partition(" (")
    return set(text.split("//&")), mode.rstrip(")")


def item_of(run):
    return next(i for i in run.start["enforced"] if i["name"] == "apparmor")


def under(name):
    """preexec: the caller is confined by that profile from its exec on."""
    def enter():
        machines.write("/proc/thread-self/attr/apparmor/exec", f"exec {name}")
    return enter


@test()
def profile_is_entered_and_refuses(t):
    t.write("forbidden", "secret\n")
    t.write("other", "open\n")
    script = "cat other; cat forbidden; echo x >>forbidden; " + OWN_LABEL
    with Loaded(t, "strict", WHOLE + DENY) as profile:
        control = t.sbox("sh", "-c", script)
        t.check(b"secret" in control.out, f"without it sbox lets that file be read: {control}")
        t.equal(t.read("forbidden"), b"secret\nx\n")
        run = t.sbox("sh", "-c", script, sets=[f"privilege.apparmor={profile.name}"])
        t.check(b"secret" not in run.out and b"open" in run.out, run)
        t.equal(run.errtext.count("ermission denied"), 2, run)
        t.equal(t.read("forbidden"), b"secret\nx\n")
        t.equal(names(run.text.splitlines()[-1]), ({profile.name}, "enforce"), run)
        t.equal(item_of(run)["state"], "enforced")
        # what the profile allows and sbox does not stays refused
        run = t.sbox("sh", "-c", "cat /etc/shadow; unshare -U true", sets=[f"privilege.apparmor={profile.name}"])
        t.check(run.out == b"" and run.code != 0, run)


@test()
def children_stay_in_it(t):
    t.write("forbidden", "secret\n")
    with Loaded(t, "tree", WHOLE + DENY) as profile:
        script = "sh -c 'setsid cat forbidden'; exec sh -c 'cat forbidden'"
        run = t.sbox("sh", "-c", script, sets=[f"privilege.apparmor={profile.name}"])
        t.equal((run.out, run.errtext.count("ermission denied")), (b"", 2), run)


@test()
def missing_profile_fails_closed(t):
    name = "sbox-not-loaded"
    if not os.path.exists("/sys/kernel/security/apparmor/profiles"):
        raise Skip("AppArmor is not at work in this kernel")
    run = t.sbox("touch", "ran", sets=[f"privilege.apparmor={name}"])
    t.equal(run.code, 125, run)
    t.has(run.err, f'no profile "{name}" loaded')
    t.has(run.err, "apparmor_parser -r")
    t.check(not os.path.exists(f"{t.ws}/ran"), "the program did not run")
    run = t.sbox("echo", "ran", sets=[f"privilege.apparmor={name}", "privilege.on_missing=allow"])
    t.equal(run.out, b"ran\n", run)
    t.equal(item_of(run)["state"], "missing")
    t.has(run.err, "apparmor missing")
    shown = t.plain(t.sbox_path, "show", t.profile(f"[profile]\nextends = agent\n[privilege]\napparmor = {name}\n"))
    t.has(shown.out, f'no profile "{name}" loaded')


@test()
def profile_that_is_unloaded_again(t):
    with Loaded(t, "gone", WHOLE) as profile:
        sets = [f"privilege.apparmor={profile.name}"]
        t.equal(t.sbox("true", sets=sets).code, 0)
    run = t.sbox("true", sets=sets)
    t.equal(run.code, 125, run)
    t.has(run.err, profile.name)


@test()
def complain_mode_is_less(t):
    with Loaded(t, "soft", WHOLE + DENY, "attach_disconnected, complain") as profile:
        sets = [f"privilege.apparmor={profile.name}"]
        run = t.sbox("true", sets=sets)
        t.equal(run.code, 125, run)
        t.has(run.err, "complain mode")
        run = t.sbox("sh", "-c", OWN_LABEL, sets=[*sets, "privilege.on_missing=reduce"])
        t.equal(names(run.text), ({profile.name}, "complain"), run)
        t.equal(item_of(run)["state"], "reduced")


@test()
def profile_that_refuses_nothing(t):
    with Loaded(t, "open", WHOLE, "unconfined") as profile:
        run = t.sbox("true", sets=[f"privilege.apparmor={profile.name}"])
        t.equal(run.code, 125, run)
        t.has(run.err, "refuses nothing")
    run = t.sbox("true", sets=["privilege.apparmor=unconfined"])
    t.equal(run.code, 125, run)
    t.has(run.err, "refuses nothing")


@test()
def confined_caller_stacks(t):
    t.write("forbidden", "secret\n")
    with Loaded(t, "inner", WHOLE + DENY) as inner, \
            Loaded(t, "outer", WHOLE + f"    change_profile -> {inner.name},\n"
                                       f"    change_profile -> &{inner.name},\n") as outer:
        sets = [f"privilege.apparmor={inner.name}"]
        control = t.sbox("sh", "-c", "cat forbidden; " + OWN_LABEL, preexec=under(outer.name))
        t.check(b"secret" in control.out, control)
        t.equal(names(control.text.splitlines()[-1]), ({outer.name}, "enforce"))
        run = t.sbox("sh", "-c", "cat forbidden; " + OWN_LABEL, sets=sets, preexec=under(outer.name))
        t.check(b"secret" not in run.out, run)
        t.equal(names(run.text), ({outer.name, inner.name}, "enforce"), run)
        t.equal(item_of(run)["state"], "enforced")
        t.has(json.dumps(item_of(run)), "on top of the caller's own")


@test()
def confined_caller_that_may_not(t):
    with Loaded(t, "inner", WHOLE) as inner, Loaded(t, "outer", WHOLE) as outer:
        run = t.sbox("true", sets=[f"privilege.apparmor={inner.name}"], preexec=under(outer.name))
        t.equal(run.code, 125, run)
        t.has(run.err, f"change_profile -> {inner.name}")


@test()
def caller_with_no_new_privileges(t):
    t.write("forbidden", "secret\n")
    with Loaded(t, "late", WHOLE + DENY) as profile:
        run = t.sbox("sh", "-c", "cat forbidden; " + OWN_LABEL, sets=[f"privilege.apparmor={profile.name}"],
                     preexec=machines.no_new_privileges)
        t.check(b"secret" not in run.out, run)
        t.equal(names(run.text), ({profile.name}, "enforce"), run)


@test()
def program_that_nobody_may_signal_ends(t):
    with Loaded(t, "deaf", WHOLE.replace("    signal,\n", "    signal (send),\n")) as profile:
        run = t.sbox("sh", "-c", "(sleep 60 &) ; exec sleep 60", timeout=30,
                     sets=[f"privilege.apparmor={profile.name}", "time.wall=1s", "time.grace=300ms"])
        t.ended(run, "timeout", 124)
        t.check(run.wall < 20, f"took {run.wall:.1f} s")


@test()
def program_that_the_profile_cannot_execute(t):
    with Loaded(t, "none", "    network,\n") as profile:
        run = t.sbox("touch", "ran", sets=[f"privilege.apparmor={profile.name}"])
        t.check(run.code not in (0, None), run)
        t.check(not os.path.exists(f"{t.ws}/ran"), run)


@test()
def denials_are_named_under_it(t):
    with Loaded(t, "named", WHOLE) as profile:
        t.write("kept", "x")
        script = "try: open('kept', 'w')\nexcept OSError as e: print(e.errno)\n"
        run = t.sbox(PYTHON, "-c", script, sets=[f"privilege.apparmor={profile.name}", "file.protect=${cwd}/kept"])
        t.equal(run.out, b"30\n", run)
        t.check(run.denied(object=f"{t.ws}/kept"), run)


@test(callers=("root",))
def shipped_profile_is_loaded(t):
    if not os.path.exists("/etc/apparmor.d/abi/4.0"):
        version = subprocess.run(["apparmor_parser", "--version"], capture_output=True, text=True, timeout=60)
        raise Skip(f"{version.stdout.splitlines()[0]} does not know userns rules (abi/4.0)")
    shipped = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "packaging/apparmor/sbox")
    with open(shipped) as file:
        code, err = parser(file.read().replace("@bindir@", os.path.dirname(t.sbox_path)), "-r")
    t.equal(code, 0, err)


@test(parallel=False)
def unconfined_callers_that_may_only_stack(t):
    """Linux 6.7 and later: kernel.apparmor_restrict_unprivileged_unconfined."""
    switch = "/proc/sys/kernel/apparmor_restrict_unprivileged_unconfined"
    if not os.path.exists(switch):
        raise Skip(f"this kernel has no {switch}")
    t.write("forbidden", "secret\n")
    with Loaded(t, "only", WHOLE + DENY) as profile:
        machines.write(switch, "1")
        try:
            run = t.sbox("sh", "-c", "cat forbidden; " + OWN_LABEL, sets=[f"privilege.apparmor={profile.name}"])
        finally:
            machines.write(switch, "0")
        t.check(b"secret" not in run.out, run)
        t.check(profile.name in names(run.text)[0], run)
        t.equal(item_of(run)["state"], "enforced", run)

# SPDX-License-Identifier: Apache-2.0
"""Attempts at the privilege boundary: becoming more, and the doors of the kernel."""
import os
import re
import shutil
import struct

from attempts import attempt, words_of
from syscalls import AT_FDCWD, clone_args, open_how

NEWUSER, NEWNS, NEWNET, NEWPID, NEWTIME = 0x10000000, 0x20000, 0x40000000, 0x20000000, 0x80


@attempt("V1", control={"root": "works", "user": "EPERM"}, full="EINVAL EPERM|EPERM",
         unnamed="without capabilities the kernel answers itself")
def becoming_root_by_call(a):
    return a.tries(("setuid", 0), ("setresuid", 0, 0, 0), ("setgid", 0), ("setreuid", 0, 0), ("setgroups", 1, "z:4"))


@attempt("V1", control="*", full="1000", place={"root": "own", "user": "own"})
def becoming_root_by_program(a):
    """su and its like, and whatever set-id program the system has: the uid stays what it was."""
    said = a.sh("for p in /usr/bin/su /usr/bin/newgrp /usr/bin/passwd /usr/bin/mount; do "
                '[ -x $p ] && $p -c "id -u" </dev/null >/dev/null 2>&1; done; id -u')
    return "own" if a.form == "in place" and said not in ("0", "code 1") else said


@attempt("V2", control={"root": "some", "user": "bounding only"}, full="none", place="bounding only|none")
def capabilities(a):
    text = a.run("cat", "/proc/self/status").text
    sets = {name: int(value, 16) for name, value in re.findall(r"^Cap(\w+):\s*(\w+)", text, re.M)}
    a.t.check(not a.sandboxed or "NoNewPrivs:\t1" in text, text)
    if not any(sets.values()):
        return "none"
    return "bounding only" if not any(v for n, v in sets.items() if n != "Bnd") else "some" if not a.sandboxed else text


@attempt("V3", control={"root": "kept", "user": None}, full={"root": "gone", "user": None},
         place={"root": "gone", "user": None})
def groups_of_root(a):
    """A group that opens a door (docker's, the disks') is dropped when root starts the run."""
    said = a.run("id", "-G", preexec=lambda: os.setgroups([0, 27, 4711])).text
    return "kept" if "4711" in said.split() else "gone"


@attempt("V5", control={"root": "works", "user": "works"}, full="ENOSYS EPERM", place="ENOSYS EPERM")
def new_user_namespace(a):
    """unshare, clone and clone3, alone and with others, also with bits above the low word."""
    if a.form == "control":
        return a.tries(("unshare", NEWUSER))
    return a.tries(("unshare", NEWUSER), ("unshare", NEWUSER | NEWNS), ("unshare", 1 << 40 | NEWUSER),
                   ("unshare", NEWTIME), ("clone", NEWUSER | 17, 0, 0, 0, 0), ("clone", 1 << 40 | NEWUSER | 17, 0, 0, 0, 0),
                   ("clone3", clone_args(NEWUSER), 88), ("clone3", clone_args(NEWTIME), 88), ("clone3", clone_args(0), 88))


@attempt("V6", control="works", full="EAFNOSUPPORT EPERM EPROTONOSUPPORT")
def kernel_code_behind_a_namespace(a):
    """What needs only "root somewhere": packet filters, packet sockets, file systems, bpf."""
    rows = [("unshare", NEWUSER | NEWNET | NEWNS), ("socket", 16, 3, 12), ("socket", 17, 3, 0), ("fsopen", "s:ext4", 0),
            ("fsopen", "s:overlay", 0), ("bpf", 5, "z:64", 64), ("socket", 38, 5, 0)]
    return a.tries(*rows, keep=[0, 1] if a.form == "control" else None)


@attempt("V7", control={"root": "works", "user": "EPERM"}, full="EPERM", place="EPERM")
def joining_a_namespace(a):
    """By file, by pidfd: of pid 1 and of oneself."""
    kinds = ("mnt", "net", "pid", "uts", "ipc", "cgroup")
    rows = [("open", f"s:/proc/self/ns/{kind}", 0) for kind in kinds]
    rows += [("setns", f"${n + 1}", 0) for n in range(len(kinds))] + [("pidfd_open", 1, 0), ("setns", "$13", NEWNET)]
    own = range(len(kinds) + (2 if a.form == "control" else 0), 2 * len(kinds))
    return a.tries(*rows, keep=[*own] + ([13] if a.sandboxed else []))


@attempt("V8", control="*", full="refused", place="refused")
def calls_by_the_32_bit_gate(a):
    text = a.run(a.probe("i386")).text
    return "works" if "works" in text else "refused"


@attempt("V8", control="*", full="ENOSYS", place="ENOSYS",
         unnamed="the kernel has no such calls either")
def calls_by_x32_numbers(a):
    from syscalls import NR
    return a.tries(*[(0x40000000 | NR[name],) for name in ("getpid", "ptrace", "keyctl", "unshare", "socket")])


@attempt("V11", control="works", full="EPERM", place="EPERM")
def tracing_ones_own_child(a):
    """A tracer could change a call after the filter has looked."""
    return a.python("import ctypes, signal\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                    "child = os.fork()\nif child == 0: signal.pause()\n"
                    "def trace():\n  if libc.ptrace(0x4206, child, 0, 0) < 0: raise OSError(ctypes.get_errno(), '')\n"
                    "say(attempt(trace)); os.kill(child, 9)")


@attempt("V13", control="works", full="never", place="never")
def path_changed_under_an_exec(a):
    """A thread rewrites the path while the supervisor looks at it: what is refused stays refused."""
    secret = a.t.write(f"{a.t.dir}/outside/run", "#!/bin/sh\necho works\n", 0o755)
    run = a.run(a.probe("race"), "/usr/bin/no-such-program", secret, "400")
    return "works" if "works" in run.text else "never" if "done" in run.text else run.text or f"code {run.code}"


@attempt("V15", control="*", full="ENOSYS", place="ENOSYS",
         unnamed="a call that no kernel has yet is answered as by one that has it not")
def numbers_of_calls_to_come(a):
    return a.tries(*[(number,) for number in (475, 512, 600, 999, 4096, 65535, 0x7fffffff, 0xffffffff)])


NEVER = [("bpf", 0, "z:64", 64), ("perf_event_open", "z:128", 0, -1, -1, 0), ("userfaultfd", 0), ("keyctl", 0, -3, 0),
         ("add_key", "s:user", "s:d", "s:p", 1, -3), ("request_key", "s:user", "s:d", 0, -3),
         ("kexec_load", 0, 0, 0, 0), ("init_module", 0, 0, "s:"), ("finit_module", -1, "s:", 0),
         ("delete_module", "s:no-such", 0), ("iopl", 3), ("ioperm", 0x80, 1, 1), ("acct", "s:/no/such"),
         ("swapon", "s:/no/such", 0), ("swapoff", "s:/no/such"), ("quotactl", 0, "s:/", 0, 0), ("reboot", 0, 0, 0, 0),
         ("settimeofday", 0, "z:16"), ("clock_settime", 0, "z:16"), ("adjtimex", 0), ("clock_adjtime", 0, 0),
         ("move_pages", 0, 1, 0, 0, 0, 0), ("migrate_pages", 0, 1, 0, 0), ("mbind", 0, 0, 0, 0, 0, 0), ("syslog", 10, 0, 0),
         ("vhangup",), ("fanotify_init", 0, 0), ("pidfd_getfd", -1, 0, 0), ("process_madvise", -1, 0, 0, 4, 0),
         ("kcmp", 1, 1, 0, 0, 0), ("setns", -1, 0), ("sethostname", "s:x", 0), ("setdomainname", "s:x", 0),
         ("process_mrelease", -1, 0), ("ptrace", 16, 1, 0, 0)]


@attempt("V16", control={"root": None, "user": "*"}, full="EPERM", place="EPERM")
def calls_for_administrators(a):
    """As root not tried without sbox: some of them would do what they say."""
    return a.tries(*[row for row in NEVER if a.sandboxed or row[0] not in ("vhangup", "reboot", "ptrace")])


@attempt("V16", control={"root": None, "user": "*"}, full="ENOSYS", place="ENOSYS")
def calls_that_are_gone_or_new(a):
    clone = [("clone3", clone_args(0), 88)] * a.sandboxed  # without sbox there are two of us then
    return a.tries(*clone, ("modify_ldt", 0, "z:16", 16), ("uselib", "s:/no"), ("lookup_dcookie", 0, 0, 0), ("nfsservctl", 0, 0, 0),
                   ("sysfs", 3), ("ustat", 0, 0), ("mseal", 0, 0, 0), ("cachestat", 0, 0, 0, 0), ("statmount", 0, 0, 0, 0),
                   ("listmount", 0, 0, 0, 0), ("lsm_set_self_attr", 100, 0, 0, 0),
                   ("openat2", AT_FDCWD, "s:/", open_how(0), 24), ("io_uring_setup", 1, "z:256"))


@attempt("V16", control="*", full="EPERM", place="EPERM")
def odd_personalities(a):
    return a.tries(*[("personality", value) for value in (0x0400000, 0x0100000, 0x0001, 0x0006, 0x8000000)])


@attempt("V18", control=None, full="no such thing", place="no such thing")
def a_second_door_into_a_run(a):
    """No verb joins a sandbox, and nothing inside holds its filter or rules."""
    child = a.t.plain(a.t.sbox_path, "--join=1", "true", cwd=a.ws)
    text = a.sh("ls -a / /run /tmp /dev/shm 2>/dev/null | grep -ci 'sbox\\|seccomp\\|landlock'")
    a.t.equal(child.code, 125, child)
    return "no such thing" if text == "0" or a.form == "in place" else text


@attempt("V19", control=None, full="ignored", place="ignored")
def a_planted_runtime_folder(a):
    """A folder that looks like sbox's own, named by every variable that could name one."""
    fake = f"{a.t.dir}/fake-{a.form[:2]}"
    for folder in ("sbox", "sbox/runs", "sbox/leases", "sbox/profiles"):
        a.t.mkdir(f"{fake}/{folder}")
    a.t.write(f"{fake}/sbox/agent.ini", "[profile]\nextends = base\n[network]\nmode = host\n")
    env = {name: f"{fake}/sbox" for name in ("SBOX_LIBEXECDIR", "SBOX_RUNTIME", "SBOX_PROFILE", "SBOX_STORE", "SBOX_DATADIR")}
    env["XDG_RUNTIME_DIR"] = fake
    a.run("true", env=env)
    item = next(i for i in a.last.start["enforced"] if (i["boundary"], i["name"]) == ("network", "mode"))
    return "ignored" if item["asked"] == "none" and os.listdir(f"{fake}/sbox/runs") == [] else str(item)


@attempt("V20", control=None, full="ignored", place="ignored")
def loader_variables_at_sbox(a):
    env = {"LD_PRELOAD": f"{a.ws}/evil.so", "LD_LIBRARY_PATH": a.ws, "LD_AUDIT": f"{a.ws}/evil.so", "GCONV_PATH": a.ws,
           "LOCPATH": a.ws, "GLIBC_TUNABLES": "glibc.malloc.check=3", "MALLOC_PERTURB_": "1", "RES_OPTIONS": "debug"}
    a.t.write(f"{a.ws}/evil.so", "not a library")
    run = a.run("env", env=env)
    return "ignored" if run.code == 0 and not set(env) & {line.split("=")[0] for line in run.text.splitlines()} else str(run)


VARIABLES = ["PYTHONPATH", "PYTHONSTARTUP", "BASH_ENV", "ENV", "PERL5LIB", "PERL5OPT", "NODE_OPTIONS", "GIT_SSH_COMMAND",
             "SSH_AUTH_SOCK", "DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "AWS_SECRET_ACCESS_KEY",
             "GITHUB_TOKEN", "KUBECONFIG", "PROMPT_COMMAND", "PS4", "RUBYOPT", "JAVA_TOOL_OPTIONS"]


@attempt("V21", control="kept", full="cleared", place="cleared")
def variables_of_the_caller(a):
    text = a.run("env", env=dict.fromkeys(VARIABLES, "word-4711")).text
    return "kept" if "word-4711" in text else "cleared"


@attempt("V23", control=None, full="none", place="none")
def memory_shared_with_sbox(a):
    """No mapping of the program is writable and shared with anybody."""
    return a.sh("grep -q ' .w.s ' /proc/self/maps && echo some || echo none")


DIRTY = """import ctypes
path = sys.argv[1]
before = get(path)
fd = os.open(path, os.O_RDONLY)
def pipe_flags():
    r, w = os.pipe()
    os.write(w, bytes(65536)); os.read(r, 65536)
    os.splice(fd, w, 1); os.write(w, b'EVIL')
def map_and_write():
    import mmap
    m = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    m[:4] = b'EVIL'
for f in (pipe_flags, map_and_write): attempt(f)
say('unchanged' if get(path) == before else 'changed')
"""


@attempt("V24", control="unchanged", full="unchanged", place="unchanged")
def page_cache_of_a_read_only_file(a):
    """The two ways that once wrote into pages of files opened for reading; this kernel has them closed."""
    path = a.t.write(f"{a.t.dir}/outside/library", "library\n" * 600)
    return a.python(DIRTY, path, sets=[f"file.read+={a.t.dir}/outside"])


MAPPED = """import mmap
fd = os.open('tool', os.O_RDWR)
m = mmap.mmap(fd, 0); m[:4] = b'EVIL'; m.flush()
say('works')
"""


@attempt("X10", control="works", full="works", place={"root": "EACCES", "user": "works"},
         lost="the kernel takes the bit away at a write, not at one through a mapping: the plan says so")
def rewriting_a_set_id_program(a):
    """A set-id file that lay in the workspace: a shared mapping writes and keeps the bit."""
    shutil.copy("/bin/true", f"{a.ws}/tool")
    a.t.own(f"{a.ws}/tool")
    os.chmod(f"{a.ws}/tool", 0o4755)
    said = a.python("def write():\n  " + MAPPED.replace("\n", "\n  ").replace("say('works')", "") + "\nsay(attempt(write))")
    if a.sandboxed:
        item = next(i for i in a.last.start["enforced"] if i["name"] == "setuid-files")
        a.t.has(item["residual"], "shared mapping")
    kept = os.stat(f"{a.ws}/tool").st_mode & 0o4000
    with open(f"{a.ws}/tool", "rb") as file:
        changed = file.read(4) == b"EVIL"
    os.unlink(f"{a.ws}/tool")
    return "works" if changed and kept else said if not changed else "bit gone"


@attempt("X11", control={"root": "works", "user": "EPERM"}, full="EPERM", place="EPERM",
         unnamed="without capabilities the kernel answers itself")
def attributes_that_outlive_the_run(a):
    """File capabilities, an immutable flag: on a file of the workspace, which the host keeps."""
    open(f"{a.ws}/f", "w").close()
    os.chmod(f"{a.ws}/f", 0o666)
    a.t.own(f"{a.ws}/f")
    caps = "x:" + struct.pack("<IIIII", 0x02000001, 0x2000, 0, 0, 0).hex()
    got = a.calls(("setxattr", f"s:{a.ws}/f", "s:security.capability", caps, 20, 0),
                  ("setxattr", f"s:{a.ws}/f", "s:trusted.x", "s:v", 1, 0), ("open", f"s:{a.ws}/f", 2),
                  ("ioctl", "$3", 0x40086602, "x:1000000000000000"))
    a.t.check(not os.getxattr(f"{a.ws}/f", "security.capability") if "security.capability" in os.listxattr(f"{a.ws}/f")
              and a.sandboxed else True, "file capabilities on the host")
    clear_flags(f"{a.ws}/f")
    return words_of([got[0], got[1]] + ([] if got[3] in ("ENOTTY", "EOPNOTSUPP") else [got[3]]))


def clear_flags(path):
    import fcntl
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, 0x40086602, bytes(8))
    except OSError:
        pass
    os.close(fd)


@attempt("X12", control=None, full="refused", place="refused")
def sbox_inside_sbox(a):
    """Another sandbox started inside gets nothing that the first one has not, or does not start."""
    shutil.copy(a.t.sbox_path, f"{a.ws}/sbox")
    run = a.run("./sbox", "--store", f"{a.ws}/s", "--profile", "agent", "--set", "network.mode=host", "cat", "/etc/shadow")
    return "refused" if run.code == 125 and b":" not in run.out else str(run)

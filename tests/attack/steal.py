# SPDX-License-Identifier: Apache-2.0
"""Reading and deleting what is none of the program's business."""
import os
import signal

from sboxtest import PYTHON, test
from syscalls import calls
from walls import walls_stand

SECRET = "sk-the-callers-own-secret-4711"


def furnish_home(t):
    for name, text in (("notes.txt", "private"), (".ssh/id_ed25519", "PRIVATE KEY"),
                       (".aws/credentials", "aws"), ("mail/inbox", "mail"), (".bashrc", "alias")):
        t.write(f"{t.home}/{name}", text + "\n", 0o600)
    return sorted(os.listdir(t.home))


@test()
def walk_and_delete_home(t):
    names = furnish_home(t)
    walls_stand(t)
    walk = 'find "$1" -type f -exec cat {} + 2>&1; rm -rf "$1" 2>&1; echo end'
    control = t.plain("sh", "-c", 'find "$1" -type f -exec cat {} +', "sh", t.home)
    t.has(control.text, "PRIVATE KEY", "control")
    run = t.sbox("sh", "-c", walk, "sh", t.home, opts=["--quiet"])
    t.check("PRIVATE" not in run.text and run.text.endswith("end\n"), run)
    t.equal(sorted(os.listdir(t.home)), names, "the caller's home is whole")
    run = t.sbox("sh", "-c", 'rm -rf "$HOME"/* "$HOME"/.[a-z]* ~/* 2>/dev/null; ls -A ~; echo end',
                 opts=["--quiet"])
    t.check(not set(names) & set(run.text.split()), run)
    t.equal(sorted(os.listdir(t.home)), names, "the caller's home is whole")


@test()
def real_homes_are_not_there(t):
    import pwd
    homes = {entry.pw_dir for entry in pwd.getpwall() if entry.pw_dir.startswith(("/home", "/root"))}
    rows = [("open", f"s:{home}", 0) for home in sorted(homes)]
    script = "for h in /root /home/*; do ls -A $h; done 2>/dev/null"
    run = t.sbox("sh", "-c", script, opts=["--quiet"])
    t.equal(run.text.strip(), "", "nothing listed")
    got, _ = calls(t, *rows)
    real = pwd.getpwuid(t.uid).pw_dir
    t.check(all(isinstance(r, str) or h != real for r, h in zip(got, sorted(homes))) or
            not t.sbox("ls", "-A", real).out, f"{sorted(homes)}: {got}")


@test()
def deleting_everything(t):
    """rm -rf of the system: only the workspace, which was given to the program, is hit."""
    walls_stand(t)
    t.write("mine", "x")
    t.write(f"{t.dir}/next-door", "x")
    t.sbox("rm", "-rf", "/etc", "/home", "/root", "/tmp", "/usr/bin", "/usr/local", "/dev", "/var", "/bin",
           timeout=60)
    t.check(os.path.exists(f"{t.dir}/next-door") and os.path.exists("/usr/bin/env"), "host")
    t.check(os.path.exists(f"{t.store}/log.jsonl"), "the record")
    t.equal(os.listdir(t.ws), [], "what was given may be deleted")


FILES = ("/etc/shadow", "/etc/gshadow", "/root/.bashrc", "/root/.ssh/id_rsa", "/proc/1/environ",
         "/var/log/dpkg.log", "/etc/sudoers", "/run/systemd", "/boot", "/etc/ssh", "/var/lib/dpkg",
         "/lost+found", "/sys/kernel", "/etc/machine-id")


@test()
def system_secrets(t):
    rows = [("open", f"s:{path}", 0) for path in FILES]
    got, _ = calls(t, *rows)
    for path, result in zip(FILES, got):
        t.check(result in ("ENOENT", "EACCES"), f"{path}: {result}")
    t.equal(got[0], "ENOENT", "/etc/shadow is not there at all")


@test()
def ssh_keys(t):
    furnish_home(t)
    run = t.sbox("sh", "-c", f"cat {t.home}/.ssh/id_ed25519 ~/.ssh/id_ed25519 /root/.ssh/* "
                 "/home/*/.ssh/*", opts=["--quiet"])
    t.check(b"PRIVATE" not in run.out and run.code != 0, run)


@test()
def files_of_another_run(t):
    """Its workspace, its scratch, its /proc, its store."""
    t.write("other/token", SECRET)
    other = t.start("sh", "-c", f"echo {SECRET} > /tmp/token; echo {SECRET} > /dev/shm/token; "
                    "echo up; sleep 60", cwd=f"{t.ws}/other")
    other.stdout.readline()
    t.mkdir("mine")
    run = t.sbox("sh", "-c", f"cat {t.ws}/other/token ../other/token /tmp/token /dev/shm/token "
                 f"{t.store}/log.jsonl /proc/*/root/tmp/token; ls {t.store} {t.ws}/other; "
                 "cat /proc/*/cmdline | tr '\\0' ' '", cwd=f"{t.ws}/mine", opts=["--quiet"])
    t.check(SECRET.encode() + b"\n" not in run.out and b"sleep 60" not in run.out, run)
    other.send_signal(signal.SIGTERM)
    t.communicate(other, None, 20)


ENVIRON = """import os
for pid in sorted(os.listdir('/proc')):
    for name in ('environ', 'cmdline', 'maps', 'mem', 'auxv', 'stack', 'mountinfo', 'fdinfo'):
        try: data = open(f'/proc/{pid}/{name}', 'rb').read(1 << 20)
        except OSError: continue
        print(pid, name, data)
try:
    for line in open('/proc/1/maps'):
        print('maps of pid 1', line)
except OSError as e: print('maps', e.errno)
"""


@test()
def environment_of_the_caller(t):
    env = {"SECRET_KEY": SECRET}
    control = t.plain("cat", "/proc/self/environ", env=env)
    t.has(control.text, SECRET, "control")
    run = t.sbox(PYTHON, "-c", ENVIRON, env=env, opts=["--quiet", "--label", "l=label-text-4711"])
    t.equal(run.code, 0, run)
    t.check(SECRET not in run.text, "a value of the caller's environment is visible inside")
    t.check("SECRET_KEY" not in run.text, "a name of the caller's environment is visible inside")
    for text in ("label-text-4711", t.store, t.sbox_path, "--quiet"):
        t.check(text not in run.text, f"{text!r} of sbox's own arguments is visible inside")


@test()
def pid_1_is_closed(t):
    """Memory, environment, descriptors, root and maps of pid 1 are not for the program."""
    names = ("environ", "mem", "maps", "auxv", "syscall", "stack", "io", "fd/0", "fdinfo/0", "smaps",
             "pagemap", "clear_refs", "personality")
    rows = [("open", f"s:/proc/1/{name}", 0) for name in names]
    rows += [("readlink", f"s:/proc/1/{name}", "z:256", 255) for name in ("root", "cwd", "exe", "fd/0",
                                                                       "ns/mnt", "ns/user")]
    rows += [("open", "s:/proc/1/fd", 0), ("ptrace", 16, 1, 0, 0), ("ptrace", 0x4206, 1, 0, 0),
             ("process_vm_readv", 1, "z:16", 1, "z:16", 1, 0), ("pidfd_open", 1, 0),
             ("pidfd_getfd", "$24", 0, 0), ("kcmp", 1, 1, 0, 0, 0)]
    got, _ = calls(t, *rows)
    for row, result in zip(rows[:19], got):
        t.check(result in ("EACCES", "EPERM", "ENOENT"), f"{row}: {result}")
    t.check(got[20] in ("EPERM", "ENOSYS") and got[21] in ("EPERM", "ENOSYS"), f"ptrace: {got[20:]}")
    t.check(got[22] in ("EPERM", "ENOSYS", "ESRCH"), f"process_vm_readv: {got[22]}")
    t.check(got[24] in ("EPERM", "ENOSYS", "EBADF"), f"pidfd_getfd: {got[24]}")
    t.check(got[25] in ("EPERM", "ENOSYS"), f"kcmp: {got[25]}")


@test()
def descriptors_of_pid_1(t):
    """Pid 1 holds no door to the outside: its descriptors cannot even be listed."""
    run = t.sbox("sh", "-c", "ls -l /proc/1/fd /proc/1/cwd/ /proc/1/root/ 2>&1; id -u", opts=["--quiet"])
    t.check("pipe" not in run.text and "->" not in run.text.replace("cwd ->", ""), run.text)


@test(cases=["directory", "file", "socket"])
def inherited_descriptors(t, kind):
    """F5: what the caller had open does not come along."""
    t.write(f"{t.dir}/open/secret", SECRET)

    def preexec():
        if kind == "socket":
            import socket
            fd = socket.socketpair()[0].detach()
        else:
            fd = os.open(f"{t.dir}/open" + ("/secret" if kind == "file" else ""), os.O_RDONLY)
        os.dup2(fd, 9)
        os.dup2(fd, 200)
        os.set_inheritable(9, True)
    rows = [(op, fd, *rest) for fd in (9, 200, 3, 4, 5, 6, 7, 8)
            for op, rest in (("openat", ("s:secret", 0)), ("fchdir", ()), ("read", ("z:64", 64)))]
    rows = [row for row in rows if row[0] != "openat"] + [("openat", 9, "s:..", 0),
                                                           ("openat", 9, "s:secret", 0)]
    control, _ = calls(t, *rows[-2:], runner=t.plain, preexec=preexec, close_fds=False)
    t.check(kind != "directory" or control[0] > 2, f"control: {control}")
    got, _ = calls(t, *rows, preexec=preexec, close_fds=False)
    t.equal(got, ["EBADF"] * len(rows))


@test()
def swapped_workspace_during_the_start(t):
    """L8: the workspace is replaced by a link while sbox starts; nothing outside is ever seen."""
    t.write(f"{t.dir}/forbidden/secret", SECRET)
    for n in range(15):
        t.mkdir("w")
        child = t.start("sh", "-c", "cat secret; echo evil > planted", cwd=f"{t.ws}/w",
                        opts=["--quiet"])
        os.rename(f"{t.ws}/w", f"{t.ws}/w{n}")
        os.symlink(f"{t.dir}/forbidden", f"{t.ws}/w")
        out, _ = t.communicate(child, b"", 20)
        os.unlink(f"{t.ws}/w")
        t.check(SECRET.encode() not in out, "the link was followed")
        t.equal(os.listdir(f"{t.dir}/forbidden"), ["secret"])

# SPDX-License-Identifier: Apache-2.0
"""Getting out: /proc, /sys, /dev, signals, the tree itself, and what is left for the host to trip over."""
import os
import signal
import time

from sboxtest import PYTHON, can_discard, descendants, test, wait_until
from syscalls import AT_FDCWD, calls, results, words
from walls import walls_stand

O_WRONLY, O_RDWR = 1, 2


@test()
def kill_everybody(t):
    """P6: kill(-1), and every pid there could be, reach nobody outside."""
    walls_stand(t)
    bystander = t.popen(["sleep", "60"])
    rows = [("kill", bystander.pid, 9), ("tgkill", bystander.pid, bystander.pid, 9),
            ("tkill", bystander.pid, 9), ("kill", -bystander.pid, 9), ("kill", os.getpid(), 9),
            ("rt_sigqueueinfo", bystander.pid, 9, "x:0900000000000000ffffffff" + "00" * 116), ("pidfd_open", bystander.pid, 0),
            ("kill", 1, 9), ("kill", 1, 15), ("kill", 0, 0),
            ("rt_sigaction", 15, "x:" + "01" + "00" * 31, 0, 8), ("kill", -1, 15)]
    got, run = calls(t, *rows)
    t.equal(got[:7], ["ESRCH"] * 7, run)
    t.check(got[-1] in (0, "ESRCH", "EPERM"), got)
    t.equal(bystander.poll(), None, "the bystander lives")
    run = t.sbox("sh", "-c", "kill -9 -1; sleep 0.5; echo alive")
    t.check(run.code in (0, 137), run)
    t.equal(bystander.poll(), None, "the bystander lives")


@test()
def pid_1_cannot_be_harmed(t):
    run = t.sbox("sh", "-c", "for s in STOP KILL TERM SEGV ABRT; do kill -$s 1; done; sleep 0.3; exit 6")
    t.ended(run, "exited", 6)
    rows = [("prlimit64", 1, n, "x:" + "00" * 16, 0) for n in range(16)]
    rows += [("sched_setaffinity", 1, 8, "x:01" + "00" * 7), ("setpriority", 0, 1, 19),
             ("sched_setscheduler", 1, 5, "z:8"), ("ioprio_set", 1, 1, 0x6000), ("exit_group", 6)]
    run = t.sbox(t.probe("call"), *words(rows))
    t.ended(run, "exited", 6)
    got = results(run)
    t.note(f"changed about pid 1: {[row[:3] for row, r in zip(rows, got) if r == 0]}")


@test()
def pid_1_has_no_handler_but_for_its_children(t):
    """The kernel drops a signal from inside for which pid 1 has no handler; Landlock before 6.12 does not."""
    child = t.start("sh", "-c", "echo up; sleep 30")
    child.stdout.readline()
    told = [dict(line.split(":", 1) for line in open(f"/proc/{pid}/status")) for pid in descendants(child.pid)]
    caught = int(next(one["SigCgt"] for one in told if one["NSpid"].split()[-1] == "1"), 16)
    child.terminate()
    t.communicate(child, None, 20)
    t.equal([number for number in range(1, 65) if caught >> (number - 1) & 1], [signal.SIGCHLD])


@test()
def sigio_to_others(t):
    """F_SETOWN to a process of the host: nobody outside gets a signal."""
    got, _ = calls(t, ("socket", 1, 1, 0), ("fcntl", "$1", 8, os.getpid()), ("fcntl", "$1", 8, 1))
    t.check(got[1] in ("ESRCH", "EPERM"), got)


WRITES = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname",
          "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger", "/proc/sys/kernel/ns_last_pid",
          "/proc/sys/net/ipv4/ip_forward", "/proc/self/oom_score_adj", "/proc/1/oom_score_adj",
          "/proc/sys/user/max_user_namespaces", "/proc/acpi/wakeup", "/proc/irq/0/smp_affinity",
          "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/setgroups", "/proc/bus/pci/00",
          "/proc/sys/fs/binfmt_misc/register", "/proc/self/attr/exec", "/proc/self/loginuid"]


@test()
def proc_writes(t):
    """F15: nothing of the kernel's own can be set."""
    walls_stand(t)
    script = """import os, sys
for path in sys.argv[1:]:
    try:
        fd = os.open(path, os.O_WRONLY); os.write(fd, b'1\\n'); print('WROTE', path)
    except OSError as e: print(e.errno, path)
"""
    run = t.sbox(PYTHON, "-c", script, *WRITES, opts=["--quiet"])
    wrote = [line.split()[1] for line in run.text.splitlines() if line.startswith("WROTE")]
    t.check(set(wrote) <= {"/proc/self/oom_score_adj"}, f"written: {wrote}")
    low = t.sbox("sh", "-c", "echo -1000 > /proc/self/oom_score_adj; cat /proc/self/oom_score_adj")
    t.check("-1000" not in low.text, "the program cannot hide from the out-of-memory killer")


@test()
def proc_reads(t):
    """F14, F15: what the kernel tells about the host is masked or private."""
    secret = ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/kmsg",
              "/proc/kpagecount", "/proc/kpageflags", "/proc/slabinfo", "/proc/vmallocinfo",
              "/proc/scsi/scsi", "/proc/acpi", "/proc/sysvipc/shm", "/proc/iomem"]
    rows = [("open", f"s:{path}", 0) for path in secret]
    got, _ = calls(t, *rows)
    for path, result in zip(secret, got):
        if path == "/proc/sysvipc/shm":
            continue
        if isinstance(result, int):
            t.note(f"{path}: readable")
    for path in ("/proc/kcore", "/proc/kmsg", "/proc/kpageflags"):
        t.check(isinstance(got[secret.index(path)], str), f"{path} opens")
    keys = t.sbox("cat", "/proc/keys", opts=["--quiet"])
    t.check(len(keys.out.splitlines()) < 3, f"keys of the host: {keys.text}")
    zero = t.sbox("sh", "-c", "cat /proc/mounts /proc/self/mountinfo", opts=["--quiet"])
    t.check(t.store not in zero.text, "the store's place is told by the mount list")
    t.note(f"/proc/mounts inside: {len(zero.out.splitlines())} lines")


@test()
def sys_and_cgroup(t):
    """F17, F18: no /sys to write to, own limits cannot be moved or lifted."""
    run = t.sbox("sh", "-c", "ls /sys/fs/cgroup /sys/kernel /sys/fs 2>/dev/null; "
                 "find / -xdev -name release_agent -o -xdev -name cgroup.procs 2>/dev/null; "
                 "cat /proc/self/cgroup", opts=["--quiet"])
    t.check("release_agent" not in run.text and "cgroup.procs" not in run.text, run.text)
    got, _ = calls(t, ("mount", "s:cgroup", "s:/tmp", "s:cgroup", 0, "s:memory"),
                   ("mount", "s:cgroup2", "s:/tmp", "s:cgroup2", 0, 0))
    t.equal(got, ["EPERM", "EPERM"])
    for line in t.sbox("cat", "/proc/self/cgroup").text.splitlines():
        t.check("sbox-" not in line or line.endswith(":/"), f"the host's group names: {line}")


@test()
def device_nodes(t):
    """F19: not there, cannot be made, cannot be opened."""
    names = ("mem", "kmem", "kmsg", "port", "loop-control", "fuse", "net/tun", "kvm", "vsock", "vda",
             "sda", "vhost-net", "vhost-vsock", "uinput", "dri", "snd", "mapper/control", "hpet",
             "userfaultfd", "cuse", "btrfs-control", "ppp", "tty0", "console", "mqueue", "hugepages")
    rows = [("open", f"s:/dev/{name}", 0) for name in names]
    got, _ = calls(t, *rows)
    bad = [(n, r) for n, r in zip(names, got) if r not in ("ENOENT", "EACCES", "ENXIO")]
    t.check(all(n in ("mqueue", "console") for n, _ in bad), f"openable: {bad}")
    made = [("mknod", f"s:{base}/node", kind | 0o666, device) for base in (t.ws, "/tmp", "/dev/shm")
            for kind, device in ((0o20000, 0x103), (0o60000, 0xfd00), (0o20000, 0x101))]
    got, _ = calls(t, *made)
    t.equal(got, ["EPERM"] * len(made))


@test(callers=("root",))
def device_node_that_was_in_the_workspace(t):
    """nodev: a node that root left in the workspace cannot be opened inside."""
    os.mknod(f"{t.ws}/null", 0o20666, os.makedev(1, 3))
    control, _ = calls(t, ("open", f"s:{t.ws}/null", O_RDWR), runner=t.plain)
    t.check(control[0] != "EACCES", f"control: {control}")
    got, _ = calls(t, ("open", f"s:{t.ws}/null", O_RDWR))
    t.equal(got, ["EACCES"])


@test()
def tree_cannot_be_changed(t):
    """The root and the folders that hold the mounts: nothing can be made, removed or renamed."""
    rows = [("mkdir", "s:/new", 0o755), ("open", "s:/new", 0o102, 0o644), ("rename", "s:/tmp", "s:/tmp2"),
            ("rename", "s:/usr", "s:/tmp/usr"), ("unlink", "s:/etc/passwd"), ("rmdir", "s:/proc"),
            ("open", "s:/etc/passwd", O_WRONLY), ("open", "s:/etc/new", 0o102, 0o644),
            ("symlink", "s:/tmp", "s:/etc/x"), ("open", "s:/usr/bin/env", O_WRONLY),
            ("chmod", "s:/", 0o777), ("rename", f"s:{t.ws}", f"s:{t.ws}2"), ("rmdir", "s:/dev/shm"),
            ("open", "s:/etc/hosts", O_WRONLY), ("open", "s:/etc/ld.so.preload", 0o102, 0o644),
            ("unlink", "s:/dev/null"), ("open", "s:/dev/new", 0o102, 0o644)]
    got, _ = calls(t, *rows)
    bad = [(row, r) for row, r in zip(rows, got) if r not in ("EROFS", "EACCES", "EPERM", "EBUSY", "EXDEV",
                                                              "ENOENT", "ENOTEMPTY")]
    t.equal(bad, [], "succeeded")


@test()
def launcher_cannot_be_overwritten(t):
    """L10: /proc/1/exe and /proc/self/exe lead to nothing writable."""
    rows = [("open", "s:/proc/1/exe", O_RDWR), ("open", "s:/proc/1/exe", 0),
            ("open", "s:/proc/self/exe", O_RDWR), ("execve", "s:/proc/1/exe", 0, 0)]
    got, _ = calls(t, *rows)
    t.check(all(isinstance(r, str) for r in got[:2] + got[3:]), got)
    with open(t.sbox_path, "rb") as program:
        t.equal(program.read(4), b"\x7fELF")


@test()
def memory_of_itself_is_its_own_business(t):
    got, _ = calls(t, ("open", "s:/proc/self/mem", O_RDWR), ("open", "s:/proc/self/environ", 0))
    t.check(got[1] > 2, f"a program may read its own environment: {got}")


@test()
def trap_for_the_host(t):
    """F4: links, FIFOs, odd names left in the workspace are not followed by sbox itself."""
    t.write(f"{t.dir}/precious", "precious\n")
    script = f"ln -s {t.dir}/precious out; mkfifo pipe; ln -s /etc/shadow shadow; mkdir -p a/b; " \
             f"ln -s {t.dir} a/up; ln -s {t.store} store; touch -- -rf '--help' ; ln -s . loop"
    run = t.sbox("sh", "-c", script)
    t.ended(run, "exited", 0)
    again = t.sbox("sh", "-c", "cat out shadow a/up/precious store/log.jsonl; echo evil > out; ls loop/loop",
                   sets=["file.writes=discard"] if can_discard() else [], timeout=20)
    t.check(b"precious\n" not in again.out and b"run.start" not in again.out, again)
    t.equal(t.read(f"{t.dir}/precious"), b"precious\n")


@test()
def git_hooks_under_the_shipped_profile(t):
    """F24: hooks and config of a repository are protected by `agent` as shipped."""
    t.write(".git/hooks/x.sample", "#!/bin/sh\n")
    t.write(".git/config", "[core]\n\tbare = false\n")
    t.write(".env", "API_KEY=abc\n")
    script = "echo '#!/bin/sh' > .git/hooks/pre-commit; mv .git .old; mkdir -p .git/hooks; " \
             "echo x > .git/hooks/post-checkout; git config core.fsmonitor evil; cat .env; rm .env"
    run = t.sbox("sh", "-c", script, opts=["--quiet"])
    t.equal(os.listdir(f"{t.ws}/.git/hooks"), ["x.sample"], run)
    t.equal(t.read(".git/config"), b"[core]\n\tbare = false\n", "config")
    t.check(b"API_KEY" not in run.out, ".env is hidden")
    t.equal(t.read(".env"), b"API_KEY=abc\n")


@test()
def hook_that_did_not_exist_yet(t):
    """A protected name that is absent: nothing of that name is left in force for the host."""
    t.mkdir("plain")
    run = t.sbox("sh", "-c", "mkdir -p .git/hooks && echo evil > .git/hooks/post-checkout; ls -A")
    left = os.path.exists(f"{t.ws}/.git/hooks/post-checkout")
    items = [i for i in (run.start or {}).get("enforced", []) if i["state"] != "enforced"]
    t.check(not left or any("protect" in i["name"] or i["boundary"] == "file" for i in items),
            f"left behind, and the record calls everything enforced: {run}")
    t.note(f"hook below an absent .git: {'left, stated as reduced' if left else 'refused or removed'}")


@test()
def profile_inside_the_workspace_is_protected(t):
    """L15, L17: a program cannot write the policy of its next run."""
    path = t.write("policy/mine.ini", "[profile]\nextends = agent\n")
    rows = [("open", f"s:{path}", O_WRONLY), ("unlink", f"s:{path}"), ("chmod", f"s:{path}", 0o666),
            ("rename", f"s:{path}", f"s:{path}.old"), ("rename", f"s:{t.ws}/policy", f"s:{t.ws}/p2"),
            ("open", f"s:{path}", 0), ("truncate", f"s:{path}", 0)]
    got, run = calls(t, *rows, profile=path)
    t.check(all(isinstance(r, str) for r in got[:5] + got[6:]), f"changed: {got} {run}")
    t.equal(t.read(path), b"[profile]\nextends = agent\n")


@test()
def store_is_never_visible(t):
    """A6: not by its path, not by a wide profile, not through a workspace that holds it."""
    for sets in ([], [f"file.read+={t.dir}"], ["file.read+=/var"], [f"file.write+={t.dir}"]):
        run = t.sbox("sh", "-c", f"cat {t.store}/log.jsonl {t.store}/head; ls {t.store}; "
                     f"echo evil > {t.store}/evil", sets=sets)
        t.check(b"run.start" not in run.out and not os.path.exists(f"{t.store}/evil"), f"{sets}: {run}")
    run = t.plain(t.sbox_path, "--store", f"{t.ws}/store", "cat", f"{t.ws}/store/log.jsonl")
    t.check(run.code != 0 and b"run.start" not in run.out, f"store in the workspace: {run}")


@test()
def supervisor_stopped_then_killed(t):
    """A stopped supervisor is no way out either."""
    child = t.start("sh", "-c", "echo up; sleep 60")
    child.stdout.readline()
    child.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    child.kill()
    t.communicate(child, None, 20)
    wait_until(lambda: not descendants(os.getpid()))
    t.no_process_left()
    t.sbox("true")


@test()
def first_use_of_fds_by_number(t):
    """SCM_RIGHTS needs somebody to talk to: stdin as a socket is replaced by a pipe."""
    import socket
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    child = t.start("sh", "-c", "readlink /proc/self/fd/0", stdin=theirs.fileno(), opts=["--quiet"])
    theirs.close()
    ours.shutdown(socket.SHUT_WR)
    out, _ = t.communicate(child, None, 20)
    t.has(out, "pipe:", "the caller's socket itself is not inside")


@test()
def odd_ways_to_execute(t):
    """execveat and a program in memory: what is outside of the tree stays unreachable."""
    got, _ = calls(t, ("execveat", AT_FDCWD, f"s:{t.dir}/nothing", 0, 0, 0),
                   ("memfd_create", "s:x", 0), ("execveat", "$2", "s:", 0, 0, 0x1000))
    t.check(got[0] == "ENOENT", got)

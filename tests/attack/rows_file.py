# SPDX-License-Identifier: Apache-2.0
"""Attempts at the file boundary: reaching, changing and revealing what the profile does not list."""
import os
import socket
import struct
import threading

from attempts import attempt, words_of
from in_place_steps import items
from syscalls import AT_FDCWD

O_WRONLY, O_RDWR, O_TRUNC = 1, 2, 0o1000
MS_BIND, MS_REMOUNT, MS_RDONLY, MS_MOVE = 4096, 32, 1, 8192
SEEN = "without a mount tree names of the host stay visible: Landlock does not judge stat and the like"


def outside(a, name="secret", mode=0o666):
    """A file beside the workspace that anybody may read and write."""
    path = a.t.write(f"{a.t.dir}/outside/{name}", "secret\n", mode)
    os.chmod(f"{a.t.dir}/outside", 0o777)
    return path


@attempt("F1", control={"root": "works", "user": "EACCES works"}, full="ENOENT", place="EACCES")
def files_of_others(a):
    key = a.t.write(f"{a.t.home}/.ssh/id_ed25519", "key\n", 0o600)
    return a.tries(("open", "s:/etc/shadow", 0), ("open", f"s:{key}", 0))


@attempt("F1", control="works", full="ENOENT", place="EACCES")
def files_of_others_from_python_node_and_sh(a):
    path = outside(a)
    python = a.python(f"say(attempt(get, {path!r}))")
    node = a.node("try { require('fs').readFileSync(process.argv[1]); console.log('works') } "
                  "catch (e) { console.log(e.code) }", path)
    shell = a.sh('cat "$1" 2>&1 | sed "s/^secret$/works/; s/.*No such.*/ENOENT/; s/.*Permission.*/EACCES/"', path)
    return words_of([python, node, shell])


@attempt("F2", control="works", full="ENOENT", place="EACCES")
def ways_round_by_dots_and_proc(a):
    path = outside(a)
    up = "../" * 30
    ways = [path, f"{up}{path[1:]}", f"/proc/self/root{path}", "/proc/self/cwd/../../outside/secret",
            f"/dev/fd/../root{path}", f"/proc/thread-self/root{path}", f"/proc/self/task/../root{path}"]
    return a.tries(*[("open", f"s:{way}", 0) for way in ways])


@attempt("F3", control="works", full="ENOENT", place="EACCES")
def link_to_the_outside(a):
    path = outside(a)
    return a.python(f"os.symlink({path!r}, 'link'); os.symlink({os.path.dirname(path)!r}, 'folder')\n"
                    "each(lambda f: f(), lambda: get('link'), lambda: put('link'), lambda: get('folder/secret'),\n"
                    "     lambda: os.truncate('link', 0))")


@attempt("F5", control="works", full="EBADF", place="EBADF",
         unnamed="a descriptor that was not handed on has no name")
def descriptor_of_the_caller(a):
    outside(a)
    folder = f"{a.t.dir}/outside"

    def preexec():
        os.dup2(os.open(folder, os.O_RDONLY), 9)
        os.set_inheritable(9, True)
    return a.tries(("openat", 9, "s:secret", 0), ("fchdir", 9), ("openat", 9, "s:..", 0),
                   preexec=preexec, close_fds=False)


def pass_on(server, path):
    visitor, _ = server.accept()
    socket.send_fds(visitor, [b"x"], [os.open(path, os.O_RDONLY)])
    visitor.close()


@attempt("F6", control="works", full="ENOENT", place="EAFNOSUPPORT")
def descriptor_from_a_friend_outside(a):
    """Somebody outside listens on a socket and passes an open secret to whoever comes."""
    path, address = outside(a), f"{a.t.dir}/outside/friend"
    server = socket.socket(socket.AF_UNIX)
    if os.path.exists(address):
        os.unlink(address)
    server.bind(address)
    os.chmod(address, 0o777)
    server.listen(5)
    threading.Thread(target=pass_on, args=(server, path), daemon=True).start()
    said = a.python("import socket\ndef take():\n"
                    f"  s = socket.socket(socket.AF_UNIX); s.connect({address!r})\n"
                    "  fds = socket.recv_fds(s, 1, 1)[1]; assert os.read(fds[0], 6) == b'secret'\n"
                    "say(attempt(take))")
    return said


@attempt("F7", control="works", full="EROFS", place="EACCES EPERM|EACCES")
def writing_to_a_read_path(a):
    path = outside(a)
    got = a.tries(("open", f"s:{path}", O_WRONLY), ("open", f"s:{path}", O_RDWR | O_TRUNC),
                  ("open", f"s:{path}", O_TRUNC), ("truncate", f"s:{path}", 0),
                  ("creat", f"s:{path}", 0o644), sets=[f"file.read+={a.t.dir}/outside"])
    return got


@attempt("F9", control={"root": "works", "user": "works"}, full="ENOENT",
         place={"user": "works", "root": "EPERM works"}, lost=SEEN)
def attributes_of_a_file_outside(a):
    """chmod, times, an attribute and a look, of a file of the caller's that is not listed."""
    path = outside(a)
    return a.tries(("chmod", f"s:{path}", 0o600), ("utime", f"s:{path}", 0), ("stat", f"s:{path}", "z:256"),
                   ("access", f"s:{path}", 0))


@attempt("F10", control={"root": "works", "user": "EPERM"}, full="EPERM", place="EPERM")
def chroot_and_back(a):
    """The first half is enough: without it there is nothing to get out of by an open folder."""
    os.makedirs(f"{a.ws}/jail", exist_ok=True)
    os.chmod(f"{a.ws}/jail", 0o777)
    return a.tries(("chroot", "s:jail"), ("chroot", "s:."))


@attempt("F11", control={"root": "ESTALE works|EPERM works", "user": "EPERM works"}, full="EPERM", place="EPERM")
def files_by_handle(a):
    """name_to_handle_at and open_by_handle_at, with the handle of the root folder."""
    handle = "x:" + (struct.pack("=Ii", 8, 1) + bytes(8)).hex()
    return a.tries(("name_to_handle_at", AT_FDCWD, "s:.", "x:80000000" + "00" * 132, "z:8", 0),
                   ("open_by_handle_at", AT_FDCWD, handle, 0))


@attempt("F12", control={"root": "-", "user": "EPERM"}, full="EPERM", place="EPERM")
def old_mount_calls(a):
    """Cover, reveal, remount, move and take off; without sbox only by one who cannot."""
    if a.form == "control" and a.t.uid == 0:
        return "-"
    return a.tries(("mount", "s:none", "s:/tmp", "s:tmpfs", 0, 0), ("umount2", "s:/tmp", 2),
                   ("umount2", "s:/proc", 2), ("umount2", "s:/", 2), ("umount2", f"s:{a.ws}", 8),
                   ("mount", "s:/", "s:/tmp", 0, MS_BIND, 0),
                   ("mount", 0, "s:/usr", 0, MS_REMOUNT | MS_BIND, 0),
                   ("mount", 0, "s:/", 0, MS_REMOUNT, 0), ("mount", "s:/usr", "s:/tmp", 0, MS_MOVE, 0),
                   ("mount", 0, "s:/", 0, 1 << 20, 0), ("pivot_root", "s:.", "s:."))


@attempt("F13", control={"root": "-", "user": "EBADF EPERM|EPERM"}, full="EPERM", place="EPERM")
def new_mount_calls(a):
    """Each call of the newer interface: also with a mount to begin with and its flags to clear."""
    if a.form == "control" and a.t.uid == 0:
        return "-"
    clear = "x:" + struct.pack("=QQQQ", 0, 1, 0, 0).hex()
    return a.tries(("fsopen", "s:tmpfs", 0), ("fsopen", "s:overlay", 0), ("fsopen", "s:proc", 0),
                   ("fspick", AT_FDCWD, "s:/", 0), ("open_tree", AT_FDCWD, "s:/", 1),
                   ("mount_setattr", AT_FDCWD, "s:/usr", 0x8000, clear, 32),
                   ("mount_setattr", AT_FDCWD, "s:/", 0, clear, 32), ("fsconfig", 3, 6, 0, 0, 0),
                   ("fsmount", 3, 0, 0), ("move_mount", 3, "s:", AT_FDCWD, "s:/tmp", 4),
                   ("open_tree_attr", AT_FDCWD, "s:/", 1, clear, 32), keep=[0, 1, 2, 4, 5, 6, 7, 8, 9, 10]
                   if a.form == "control" else None)


@attempt("F14", control="works", full="ENOENT", place={"root": "EACCES", "user": "EACCES"},
         unnamed="other processes are not in the sandbox's /proc")
def inside_another_process(a):
    """Memory, environment, root, working folder and descriptors of a process of the caller's."""
    outside(a)
    other = a.t.popen(["sleep", "60"], env={"SECRET": "hunter2"}, cwd=f"{a.t.dir}/outside")
    ways = ("environ", "mem", "maps", "fd/0", "root/etc/passwd", "cwd/secret")
    got = a.tries(*[("open", f"s:/proc/{other.pid}/{way}", 0) for way in ways])
    other.kill()
    other.wait()
    a.t.background.remove(other)
    return got


KERNEL_FILES = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname",
                "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/randomize_va_space"]


@attempt("F15", control={"root": "works", "user": "EACCES"}, full="EACCES", place="EACCES",
         unnamed={"user": "the host's own modes refuse it too"})
def kernel_settings(a):
    return a.tries(*[("open", f"s:{path}", O_WRONLY) for path in KERNEL_FILES if os.path.exists(path)])


@attempt("F15", control={"root": "works", "user": "EACCES|EACCES EPERM"}, full="EACCES|EACCES EPERM",
         place="EACCES|EACCES EPERM",
         unnamed="the host's own modes refuse it too")
def kernel_memory(a):
    return a.tries(*[("open", f"s:/proc/{name}", 0x800) for name in ("kcore", "kmsg", "kpageflags", "kpagecount")
                     if os.path.exists(f"/proc/{name}")])


@attempt("F17", control={"root": "works", "user": "EACCES works|EACCES|works"}, full="ENOENT", place="EACCES",
         unnamed="nothing is mounted there")
def sysfs_and_control_groups(a):
    ways = [("/sys/kernel", 0), ("/sys/fs/cgroup", 0), ("/sys/kernel/uevent_seqnum", 0), ("/sys/kernel/debug", 0),
            ("/sys/fs/cgroup/cgroup.procs", O_WRONLY), ("/sys/fs/cgroup/memory/cgroup.procs", O_WRONLY)]
    return a.tries(*[("open", f"s:{path}", flags) for path, flags in ways if os.path.exists(path)])


@attempt("F18", control="*", full="ENOENT EPERM", place="EACCES EPERM")
def release_agent(a):
    """Mounting the old hierarchy, and its file where the host has it mounted already."""
    found = [f"/sys/fs/cgroup/{name}/release_agent" for name in sorted(os.listdir("/sys/fs/cgroup"))
             if os.path.exists(f"/sys/fs/cgroup/{name}/release_agent")]
    files = [("open", f"s:{path}", O_WRONLY) for path in found or ["/sys/fs/cgroup/release_agent"]]
    if a.form == "control":
        return a.tries(*files)
    return a.tries(("mount", "s:cgroup", f"s:{a.ws}", "s:cgroup", 0, "s:memory"), *files)


DEVICES = ("mem", "kmsg", "loop-control", "fuse", "net/tun", "kvm", "vsock", "vhost-net", "vda", "sda", "port",
           "vhost-vsock", "uinput", "mapper/control", "console", "tty0", "hpet", "nvram", "userfaultfd")


@attempt("F19", control="*", full="ENOENT", place="EACCES ENOENT")
def devices_of_the_host(a):
    """Without sbox: those of the list that this machine has and the caller may open."""
    here = [name for name in DEVICES if os.path.exists(f"/dev/{name}")]
    return a.tries(*[("open", f"s:/dev/{name}", 0x800) for name in here or ("mem",)],
                   *[("open", "s:/dev/no-such-device", 0)] * a.sandboxed)


@attempt("F19", control={"root": "works", "user": "EPERM"}, full="EPERM", place="EPERM")
def device_nodes_made_by_hand(a):
    return a.tries(*[("mknod", f"s:{a.ws}/node-{kind:o}-{device:x}", kind | 0o666, device)
                     for kind, device in ((0o20000, 0x103), (0o60000, 0xfd00), (0o20000, 0x101))])


@attempt("F21", control={"root": "works|ENOENT", "user": "EACCES|ENOENT"}, full="ENOENT|EROFS",
         place="EACCES|ENOENT|EACCES ENOENT",
         unnamed="nothing is mounted there")
def foreign_binary_formats(a):
    return a.tries(("open", "s:/proc/sys/fs/binfmt_misc/register", O_WRONLY))


@attempt("F22", control={"root": "works", "user": "works"}, full="EPERM", place="EPERM")
def file_systems_in_a_namespace_of_its_own(a):
    """A user namespace first, in it the kinds of mount that had holes: overlay, FUSE, tmpfs."""
    return a.tries(("unshare", 0x10020000), ("fsopen", "s:tmpfs", 0), ("fsopen", "s:overlay", 0),
                   ("mount", "s:none", f"s:{a.ws}", "s:fuse", 0, "s:fd=0,rootmode=40000,user_id=0,group_id=0"),
                   keep=[0] if a.form == "control" else None)


@attempt("F23", control="works", full="EPERM", place="EPERM")
def set_id_file_for_the_host(a):
    got = a.python("import shutil\nshutil.copy('/bin/true', 't')\n"
                   "each(lambda f: f(), lambda: os.chmod('t', 0o4755), lambda: os.chmod('t', 0o2755),\n"
                   "     lambda: os.close(os.open('n', os.O_CREAT | os.O_WRONLY, 0o4755)))")
    left = [name for name in os.listdir(a.ws) if os.lstat(f"{a.ws}/{name}").st_mode & 0o6000]
    a.t.check(bool(left) == (a.form == "control"), f"set-id files on the host: {left}")
    return got


@attempt("F24", control="works", full="EBUSY EROFS", place="works",
         lost="a name can be held back only where it can be covered by a mount; the profile has to accept it")
def what_the_hosts_tools_will_run(a):
    """A hook of a repository, and moving the whole folder away to make another one."""
    os.makedirs(f"{a.ws}/.git/hooks")
    for path in (".git", ".git/hooks"):
        os.chmod(f"{a.ws}/{path}", 0o777)
    a.t.own(f"{a.ws}/.git")
    sets = [] if a.form != "in place" else ["file.on_missing=allow"]
    return a.python("each(lambda f: f(), lambda: put('.git/hooks/pre-commit', flags=os.O_CREAT),\n"
                    "     lambda: os.rename('.git', '.old'))", sets=sets)


LEAVE = """import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def shm():
    n = libc.shmget(0x5b0c5, 4096, 0o1666)
    if n < 0: raise OSError(ctypes.get_errno(), '')
def leave(path): put(path, flags=os.O_CREAT)
made = [attempt(leave, '/tmp/sbox-left-%s' % sys.argv[1]), attempt(leave, '/dev/shm/sbox-left-%s' % sys.argv[1]),
        attempt(shm)]
"""
LOOK = """import ctypes
libc = ctypes.CDLL(None, use_errno=True)
found = [n for n in ('/tmp/sbox-left-%s' % sys.argv[1], '/dev/shm/sbox-left-%s' % sys.argv[1]) if os.path.exists(n)]
if libc.shmget(0x5b0c5, 4096, 0) >= 0:
    found.append('shm'); libc.shmctl(libc.shmget(0x5b0c5, 0, 0), 0, 0)
for n in found:
    if n[0] == '/': os.unlink(n)
say('works' if found else 'nothing')
"""


@attempt("F27", control="works", full="nothing", place="nothing", parallel=False)
def left_for_the_next_run(a):
    """In /tmp, in /dev/shm, in shared memory: is it there for the next one?"""
    a.python(LEAVE, os.getpid())
    return a.python(LOOK, os.getpid())


@attempt("F29", control="works", full="ENOENT EACCES|EACCES ENOENT|EACCES", place="refused")
def hidden_below_what_is_allowed(a):
    """hide beats read and write, also when the allowing line is deeper and comes later, and by a link."""
    os.makedirs(f"{a.ws}/h/deep", exist_ok=True)
    os.chmod(f"{a.ws}/h", 0o777)
    a.t.write(f"{a.ws}/h/deep/key", "secret\n", 0o666)
    if not os.path.islink(f"{a.ws}/alias"):
        os.symlink("h/deep", f"{a.ws}/alias")
    sets = [f"file.hide+={a.ws}/h", f"file.read+={a.ws}/h/deep"]
    if a.form == "in place":
        run = a.run("cat", "h/deep/key", sets=sets)
        return "refused" if (run.code, run.out) == (125, b"") else f"code {run.code}"
    return a.python("each(get, 'h/deep/key', 'alias/key', sys.argv[1] + '/h/deep/key')", a.ws, sets=sets)


LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
EXECUTE = """import ctypes, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def run(*argv): subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
def direct(): run('./prog')
def loader(): run(sys.argv[1], './prog')
"""


@attempt("F30", control="works", full="CalledProcessError EACCES", place="EACCES works",
         lost="Landlock judges execve only: the loader maps what it may read", sets=["file.noexec=${cwd}"])
def execute_where_it_is_forbidden(a):
    """Directly, and by handing the file to the loader, which maps it executable."""
    loader = next(path for path in LOADERS if os.path.exists(path))
    a.run("cp", "/bin/true", "prog")
    if os.path.exists(f"{a.ws}/prog"):
        os.chmod(f"{a.ws}/prog", 0o755)
    said = a.python(EXECUTE + "each(lambda f: f(), direct, loader)", loader)
    if a.form == "in place":
        a.t.check("file.noexec" in items(a.last, "reduced"), "the record says that it is weaker")
    return said


@attempt("F30", control="works", full="EPERM|works", place="EPERM|works",
         lost="a program in memory is the program's own: nothing is gained that Python could not do itself",
         sets=["file.noexec=${cwd}"])
def execute_from_memory(a):
    """memfd and exec: not what noexec is about. Refused only where memory is sampled, which misses it."""
    return a.python("import subprocess\ndef run():\n"
                    "  fd = os.memfd_create('x', 0); os.write(fd, open('/bin/true', 'rb').read())\n"
                    "  subprocess.run([f'/proc/self/fd/{fd}'], pass_fds=[fd], check=True)\n"
                    "say(attempt(run))")

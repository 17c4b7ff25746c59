# SPDX-License-Identifier: Apache-2.0
"""Before a test that would harm the machine if sbox did not hold: see that it does hold.

Each such test calls walls_stand(t) first, with the overrides that it will use.
"""
import os

SHUT = ("/", "/usr", "/usr/bin", "/etc", "/var", "/var/tmp", "/root", "/home", "/boot", "/run")

LOOK = """import os, sys
root = os.stat('/')
print(root.st_dev, root.st_ino, os.getuid(), os.getpid(), len([p for p in os.listdir('/proc') if p.isdigit()]))
for folder in sys.argv[1:]:
    path = folder + '/sbox-test-wall'
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        os.unlink(path)
        print('OPEN', folder)
    except OSError: pass
print(*[line.split(':')[1].strip() for line in open('/proc/self/status') if line.startswith('Cap')])
"""


def walls_stand(t, sets=()):
    """Fails the test when the program inside could touch the host; then nothing worse is tried."""
    run = t.sbox("/usr/bin/python3", "-c", LOOK, *SHUT, sets=sets, opts=["--quiet"])
    t.equal(run.code, 0, f"the walls cannot be looked at: {run}")
    lines = run.text.splitlines()
    device, inode, uid, pid, processes = map(int, lines[0].split())
    root = os.stat("/")
    t.check((device, inode) != (root.st_dev, root.st_ino), "inside has the host's root folder")
    t.check(uid != 0 and processes <= 4 and pid < 20, f"inside: uid {uid}, {processes} processes")
    t.equal([line for line in lines if line.startswith("OPEN")], [], "writable inside")
    t.check(all(int(c, 16) == 0 for c in lines[-1].split()), f"capabilities inside: {lines[-1]}")

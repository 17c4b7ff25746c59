# SPDX-License-Identifier: Apache-2.0
"""Anchors in the log of a real syslog daemon: what the store's owner can add to and not take away from.

The daemon is busybox's, on a /dev/log of the test's own, in a mount namespace that ends with it.
"""
import json
import os
import shutil
import subprocess

from auditlog import BROKEN, INCOMPLETE, OK, Log, verify
from sboxtest import Skip, test

# $1: a folder of ours, $2 and $3: the caller's ids; the rest: commands, one a word, that the
# caller runs while the daemon, root's as everywhere, does.
WITH_SYSLOG = r"""
set -e
dir=$1 uid=$2 gid=$3; shift 3
mkdir -p "$dir/dev"
mount -t tmpfs none "$dir/dev"
for node in null zero full random urandom tty; do
    : >"$dir/dev/$node"
    mount --bind "/dev/$node" "$dir/dev/$node"
done
mkdir "$dir/dev/pts" "$dir/dev/shm"
mount --bind /dev/pts "$dir/dev/pts"
ln -s /proc/self/fd "$dir/dev/fd"
mount --rbind "$dir/dev" /dev
mount -t tmpfs none /run
busybox syslogd -n -O "$dir/messages" &
daemon=$!
while [ ! -S /dev/log ]; do sleep 0.02; done
status=0
for line in "$@"; do setpriv --reuid "$uid" --regid "$gid" --clear-groups sh -c "$line" || status=$?; done
sleep 0.2
kill "$daemon"
wait "$daemon" || :
exit $status
"""


def with_syslog(t, *lines):
    """(exit status, text of the daemon's log)"""
    if shutil.which("busybox") is None or subprocess.run(["busybox", "syslogd", "--help"], check=False,
                                                         capture_output=True).returncode != 0:
        raise Skip("no busybox with a syslogd")
    if os.geteuid() != 0:
        raise Skip("only root can give the caller a /dev/log of its own")
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", WITH_SYSLOG, "sh", t.dir, str(t.uid), str(t.gid),
                           *lines], cwd=t.ws, env=t.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    with open(f"{t.dir}/messages", encoding="utf-8", errors="surrogateescape") as log:
        text = log.read()
    t.own(f"{t.dir}/messages")
    return done.returncode, text, done.stderr


def words(t, *argv, sets=()):
    return " ".join(f"'{word}'" for word in t.command(argv, sets=[*sets, "audit.anchor=syslog"], opts=["--quiet"]))


@test(timeout=90)
def in_a_real_log(t):
    """Every record of three runs is anchored; the log tells a cut and a rewritten store."""
    status, text, err = with_syslog(t, *[words(t, "true")] * 3)
    t.equal(status, 0, err)
    log = Log(t.store)
    anchors = [line for line in text.splitlines() if "audit anchor" in line]
    t.equal(len(anchors), len(log.lines), text)
    for line, (_, record) in zip(anchors, log.lines):
        t.has(line, f"authpriv.info sbox[")
        t.has(line, f": audit anchor seq={json.loads(record)['seq']} hash=")
    path = f"{t.dir}/messages"
    t.equal(verify(t, "--anchors", path)[0], OK)
    log.lines[-1:] = []
    log.save()
    log.head()
    t.equal(verify(t)[0] & BROKEN, 0, "by itself a cut log looks whole")
    code, told = verify(t, "--anchors", path)
    t.check(code & INCOMPLETE, told)
    log.lines[2][1] = log.lines[2][1].replace(b'"cwd":"', b'"cwd":"/x', 1)
    log.rebuild()
    log.save()
    log.head()
    t.check(verify(t, "--anchors", path)[0] & BROKEN, "written anew")


@test(timeout=90)
def one_line_an_anchor(t):
    """What a program says or is called makes no line of its own in the log."""
    forged = "x\nNov 30 00:00:00 host sbox[1]: audit anchor seq=9 hash=" + "0" * 64 + f" store={t.store}"
    t.write("forge.sh", f"echo '{forged}'\n")
    text = with_syslog(t, words(t, "sh", "forge.sh"), words(t, "logger", "-t", "sbox", "audit anchor seq=9"))[1]
    t.equal([line for line in text.splitlines() if "seq=9 " in line or "seq=9\n" in line], [], text)
    t.equal(sum("audit anchor" in line for line in text.splitlines()), len(Log(t.store).lines), text)
    control = with_syslog(t, "logger -t sbox 'audit anchor seq=9'")[1]
    t.has(control, "audit anchor seq=9", "outside of a sandbox it does arrive")

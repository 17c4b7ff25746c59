# SPDX-License-Identifier: Apache-2.0
"""Processes by their ids: who is below whom, who is alive, and an end for all of them."""
import os
import signal
import time


def processes():
    """Pids of the whole machine that are alive."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and is_alive(int(name))]


HAS_CHILDREN_FILES = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def children_by_parent(pid):
    """The slow way, for kernels without the children files."""
    found = []
    for process in processes():
        try:
            with open(f"/proc/{process}/stat", "rb") as stat:
                if int(stat.read().rsplit(b") ", 1)[1].split()[1]) == pid:
                    found.append(process)
        except OSError:
            pass
    return found


def children(pid):
    if not HAS_CHILDREN_FILES:
        return children_by_parent(pid)
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as line:
                found += [int(child) for child in line.read().split() if is_alive(int(child))]
    except OSError:
        pass
    return found


def is_alive(pid):
    """Neither gone nor a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rsplit(b") ", 1)[1][:1] not in (b"Z", b"X")
    except OSError:
        return False


def descendants(pid):
    found = children(pid)
    for child in list(found):
        found += descendants(child)
    return found


def kill_tree(pid, itself=True):
    for _ in range(20):
        below = descendants(pid)
        for child in below:
            send(child, signal.SIGKILL)
        if not below:
            break
        time.sleep(0.02)
    if itself:
        send(pid, signal.SIGKILL)


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def process_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
            return cmdline.read().replace(b"\0", b" ").decode(errors="replace")[:120]
    except OSError:
        return "gone"


def processes_with(marker):
    """Pids of the whole machine whose arguments hold the marker, ourselves apart."""
    found = []
    for pid in processes():
        if pid != os.getpid() and marker in process_line_full(pid):
            found.append(pid)
    return found


def process_line_full(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
            return cmdline.read().decode(errors="replace")
    except OSError:
        return ""


# How much longer everything may take than on a machine of today: SLOW=5 under emulation.
SLOW = float(os.environ.get("SLOW", "1"))


def wait_until(condition, seconds=5.0, step=0.02):
    end = time.monotonic() + seconds * SLOW
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(step)
    return condition()

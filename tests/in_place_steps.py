# SPDX-License-Identifier: Apache-2.0
"""The sandbox in place: a user without user namespaces, root as in a container, without CAP_SYS_ADMIN."""
import os
import glob

import worlds


TAKEN = ("file", "network", "process", "privilege")


def world(t):
    return worlds.container_root if t.uid == 0 else worlds.no_user_namespaces


def accept(word="reduce"):
    return [f"{section}.on_missing={word}" for section in TAKEN]


def place(t, *argv, sets=(), word="reduce", **keywords):
    """sbox in place. Root's program has a uid of its own, so everybody may write to the workspace."""
    if t.uid == 0:
        os.chmod(t.ws, 0o777)
    keywords.setdefault("opts", ["--quiet"])
    run = t.sbox(*argv, sets=[*accept(word), *sets], preexec=world(t), **keywords)
    nothing_left(t)
    return run


def start(t, *argv, sets=(), **keywords):
    if t.uid == 0:
        os.chmod(t.ws, 0o777)
    return t.start(*argv, sets=[*accept(), *sets], preexec=world(t), **keywords)


def scratches(t):
    ids = {r.get("run") for r in t.records()}
    return [p for p in glob.glob("/tmp/sbox-scratch-*") if p.rsplit("-", 1)[1] in ids]


def nothing_left(t):
    t.equal(scratches(t), [], "scratch left on the host")


def items(run, state):
    return {f"{i['boundary']}.{i['name']}" for i in run.start["enforced"] if i["state"] == state}


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""

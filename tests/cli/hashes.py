# SPDX-License-Identifier: Apache-2.0
"""The program's hash: from the cache, before the run, or beside it; never one of other bytes."""
import hashlib
import os
import shutil
import time

from sboxtest import test

PYTHON = os.path.realpath("/usr/bin/python3")


def file_hash(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def program_hashes(record):
    return [file["sha256"] for file in (record or {}).get("files") or [] if file["kind"] == "program"]


def large_program(t, folder):
    """A program of some megabytes that nobody has changed for two seconds."""
    path = f"{folder}/large"
    shutil.copy(t.probe("call"), path)
    with open(path, "ab") as out:
        out.write(os.urandom(3 << 20))
    os.chmod(path, 0o755)
    t.own(path)
    time.sleep(3)
    return path


@test()
def a_large_program_is_hashed_beside_the_run(t):
    first, second = t.sbox(PYTHON, "-c", "print(1)"), t.sbox(PYTHON, "-c", "print(1)")
    right = file_hash(PYTHON)
    t.equal((program_hashes(first.start), program_hashes(first.end)), ([None], [right]))
    t.equal((program_hashes(second.start), program_hashes(second.end)), ([right], []), "from the cache")
    t.has(t.audit("show", first.start["run"]).text, right)
    shown = t.audit("show", first.start["run"]).text
    t.equal(shown.count(PYTHON + "  "), 1, "once, not once a record")


@test()
def the_result_has_it_once(t):
    run = t.sbox(PYTHON, "-c", "print(1)", json_out=True)
    t.equal(program_hashes(run.json), [file_hash(PYTHON)])


@test()
def a_program_that_the_run_could_change_is_hashed_before_it(t):
    path = large_program(t, t.ws)
    run = t.sbox(path, "getpid")
    t.equal((program_hashes(run.start), program_hashes(run.end)), ([file_hash(path)], []))


@test()
def a_program_replaced_during_the_run_has_no_hash(t):
    """Its bytes cannot change while it runs; that something was done to the file is seen."""
    folder = t.mkdir(f"{t.dir}/tools")
    path = f"{folder}/python"
    shutil.copy(PYTHON, path)
    os.chmod(path, 0o755)
    t.own(path)
    time.sleep(3)
    child = t.start(path, "-c", "print(1, flush=True); input()", sets=[f"file.exec+={folder}"])
    t.equal(child.stdout.readline(), b"1\n")
    os.chmod(path, 0o700 if t.uid else 0o555)
    t.communicate(child, b"\n", 20)
    start, end = t.records()[-2:]
    t.equal((program_hashes(start), program_hashes(end)), ([None], [None]))
    t.equal(program_hashes(t.sbox(path, "-c", "1", sets=[f"file.exec+={folder}"]).start), [file_hash(path)],
            "one that was just changed is hashed at once")


@test(parallel=False)
def hashing_is_not_charged_to_the_program(t):
    """Half a gigabyte takes longer than the program may compute."""
    folder = t.mkdir(f"{t.dir}/tools")
    path = f"{folder}/huge"
    shutil.copy(t.probe("call"), path)
    os.chmod(path, 0o755)
    os.truncate(path, 512 << 20)
    t.own(path)
    time.sleep(3)
    run = t.sbox(path, "getpid", sets=[f"file.exec+={folder}", "time.cpu=200ms"])
    t.equal(run.kind, "exited", run)
    t.equal(program_hashes(run.end), [file_hash(path)])

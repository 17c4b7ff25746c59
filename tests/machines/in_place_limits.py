# SPDX-License-Identifier: Apache-2.0
"""The sandbox in place: bombs, limits, records, and what a usual program finds."""
import os
import signal
import subprocess
import time

from in_place_steps import place, start
from sboxtest import PYTHON, test


@test(parallel=False, cases=["fork", "thread"])
def task_bombs(t, way):
    """A user's tasks are counted by looking, so the run ends; root's by the leased uid."""
    run = place(t, t.probe("bomb"), way, "3000", "2", sets=["process.processes=100"], timeout=60)
    t.check(run.kind == "processes" or "EAGAIN" in run.text, run)
    if run.kind == "processes":
        t.equal((run.code, run.decided_by), (137, "process.processes"))
    t.check(run.wall < 30, f"took {run.wall:.1f} s")
    t.note(f"{run.kind}, {run.text.strip()}, peak {run.end['usage']['peak_tasks']} tasks")


@test(parallel=False)
def endless_fork_and_exit(t):
    """A process that always lives on in its child is caught at the end."""
    script = "import os, time\nend = time.time() + 60\nos.closerange(0, 3)\n" \
             "while time.time() < end:\n  if os.fork(): os._exit(0)\n  os.setsid()\n"
    run = place(t, "sh", "-c", f"{PYTHON} -c '{script}' & sleep 0.5; echo done")
    t.equal(run.out, b"done\n", run)
    t.no_process_left()


@test(parallel=False)
def memory_over_children(t):
    t.probe("eat")
    script = "for i in 1 2 3 4 5 6; do ./probe-eat heap 100 & done; wait; echo survived"
    run = place(t, "sh", "-c", script, sets=["process.memory=200M"])
    t.ended(run, "memory", 137)


@test()
def time_limits(t):
    run = place(t, "sh", "-c", "trap '' TERM; while :; do :; done",
                sets=["time.wall=700ms", "time.grace=300ms"])
    t.ended(run, "timeout", 124)
    script = "for i in 1 2 3; do (while :; do :; done) & done; wait"
    run = place(t, "sh", "-c", script, sets=["time.cpu=1s", "time.grace=200ms", "time.wall=30s"])
    t.ended(run, "cpu", 124)


@test()
def output_limit_and_background_reader(t):
    run = place(t, "yes", sets=["process.output=1M"])
    t.ended(run, "output", 137)
    run = place(t, "sh", "-c", "sleep 300 & echo now")
    t.equal((run.code, run.out), (0, b"now\n"), run)
    t.check(run.wall < 20, "the background child's pipe is not waited for")


@test()
def signals_are_passed_on(t):
    child = start(t, "sh", "-c", "trap 'echo got; exit 9' TERM; echo up; while :; do sleep 0.05; done")
    child.stdout.readline()
    child.send_signal(signal.SIGTERM)
    out, _ = t.communicate(child, None, 20)
    t.equal((child.returncode, out), (143, b"got\n"))


@test()
def denials_and_execs_are_written_down(t):
    run = place(t, "sh", "-c", "/bin/true; nice -n 5 true")
    t.check(sum(e["count"] for e in run.end["execs"]) >= 4, run.end["execs"])
    # without CAP_SYS_PTRACE, as the plan says, they are counted and not named
    t.check(t.uid == 0 or any("true" in e["path"] for e in run.end["execs"]), run.end["execs"])
    t.check(run.denied(op="setpriority"), run)


@test()
def environment_is_made_anew(t):
    run = place(t, "env", env={"SECRET": "hunter2"})
    t.check("hunter2" not in run.text, run)
    t.has(run.text, "TMPDIR=/tmp/sbox-scratch-")


@test()
def discard_is_missing_and_never_writes(t):
    run = place(t, "sh", "-c", "echo x > new", sets=["file.writes=discard"])
    t.equal((run.code, run.kind), (125, "denied_start"), run)
    run = place(t, "sh", "-c", "echo x > new; echo y > probe; ls", sets=["file.writes=discard"], word="allow")
    t.equal(os.listdir(t.ws), [], f"written although nothing is to stay: {run}")


@test()
def a_store_below_a_listed_folder(t):
    """The audit records are never in reach, whatever is accepted."""
    run = place(t, "sh", "-c", f"cat {t.store}/log.jsonl", sets=[f"file.read+={t.dir}"], word="allow")
    t.equal((run.code, run.out), (125, b""), run)
    t.has(run.errtext, "--store")


@test(timeout=120)
def usual_programs_work(t):
    """python3 with subprocess pipelines and pools of threads, git, gcc."""
    script = "import subprocess, sqlite3, ssl, json, concurrent.futures as f\n" \
             "print(subprocess.run('echo a | tr a b', shell=True, capture_output=True, text=True).stdout)\n" \
             "db = sqlite3.connect('x.db'); db.execute('create table t(a)'); db.commit()\n" \
             "print(sum(f.ThreadPoolExecutor(4).map(int, '1234')))\n"
    run = place(t, PYTHON, "-c", script)
    t.equal((run.code, run.out), (0, b"b\n\n10\n"), run)
    run = place(t, "sh", "-ec", "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
                "GIT_COMMITTER_EMAIL=a@b; git init -q r; cd r; echo x > f; git add f; git commit -qm m; "
                "git log --oneline | wc -l")
    t.equal((run.code, run.out), (0, b"1\n"), run)
    t.write("m.c", "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n", 0o644)
    run = place(t, "sh", "-ec", "gcc -O1 -o m m.c && ./m")
    t.equal((run.code, run.out), (0, b"built\n"), run)

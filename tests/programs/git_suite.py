# SPDX-License-Identifier: Apache-2.0
"""git's own test scripts, from Debian's source, say line by line what they say outside."""
import os
import re
import shutil
import subprocess

import debsource
from sboxtest import PATH
from same import LONG, need, ordinary, program_test, same

# Built without what the scripts below do not ask about; the git that is tested is the installed one.
OPTIONS = ["CFLAGS=-O0", "NO_CURL=1", "NO_EXPAT=1", "NO_GETTEXT=1", "NO_TCLTK=1", "NO_PYTHON=1"]
SCRIPTS = """
t0000-basic t0001-init t0002-gitfile t0003-attributes t0004-unwritable t0005-signals t0006-date t0008-ignores
t0060-path-utils t0061-run-command t0062-revision-walking t0070-fundamental t1004-read-tree-m-u-wf t1006-cat-file
t1007-hash-object t1300-config t1301-shared-repo t1304-default-acl t1450-fsck t1500-rev-parse t1501-work-tree
t2400-worktree-add t2401-worktree-prune t3200-branch t3400-rebase t3420-rebase-autostash t3600-rm t3700-add
t3903-stash t4001-diff-rename t4150-am t5000-tar-tree t5300-pack-object t5304-prune t5400-send-pack
t5406-remote-rejects t5510-fetch t5520-pull t5570-git-daemon t5512-ls-remote t5525-fetch-tagopt t6030-bisect-porcelain t6500-gc t7001-mv
t7004-tag t7300-clean t7400-submodule-basic t7508-status t7600-merge t7700-repack t7501-commit-basic-functionality
"""


# What differs, and why: {script: (tests that fail inside, the boundary's refusal)}.
DIFFERENT = {
    # file: nothing can be made set-group-ID, folders neither; "git init --shared" asks for it.
    "t0001-init": (3, {"boundary": "file", "op": "chmod", "object": "mode 2777"}),
    "t1301-shared-repo": (20, {"boundary": "file", "op": "chmod", "object": "mode 2775"}),
}


def build(folder):
    """The helper program of the scripts and the templates, once."""
    for target in (["t/helper/test-tool", "GIT-BUILD-OPTIONS"], ["-C", "templates"]):
        subprocess.run(["make", "-s", "-j2", *OPTIONS, *target], cwd=folder, check=True, capture_output=True,
                       env={**os.environ, "PATH": PATH}, timeout=900)


def lay(t, source):
    for part in ("t", "templates/blt"):
        shutil.copytree(f"{source}/{part}", f"{t.ws}/p/{part}", symlinks=True,
                        ignore=shutil.ignore_patterns("*.o", "helper/*.c"))
    shutil.copy(f"{source}/GIT-BUILD-OPTIONS", f"{t.ws}/p/GIT-BUILD-OPTIONS")
    subprocess.run(["chown", "-R", f"{t.uid}:{t.gid}", f"{t.ws}/p"], check=True)


def no_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "0x", text)


@program_test(cases=SCRIPTS.split(), timeout=2400)
def script(t, name):
    """What the scripts try and are refused (set-group-ID folders, for one) they answer by themselves."""
    need("git", "make", "cc", "perl")
    source = debsource.fetch("git", build)
    script = f"cd t && GIT_TEST_INSTALLED=/usr/bin ./{name}.sh"
    if name in DIFFERENT:
        differs(t, script, source, *DIFFERENT[name])
        return
    same(t, "sh", "-c", script, before=lambda t: lay(t, source), scrub=no_addresses, stderr=False, denied=None,
         as_root=False)


def differs(t, script, source, failed, refusal):
    """All pass outside; inside that many fail, and the record names the boundary."""
    with ordinary(t):
        t.mkdir("p")
        lay(t, source)
        control = t.plain("sh", "-c", script, cwd=f"{t.ws}/p", timeout=LONG)
    t.has(control.text, "# passed all ", control)
    shutil.rmtree(f"{t.ws}/p")
    t.mkdir("p")
    lay(t, source)
    run = t.sbox("sh", "-c", script, cwd=f"{t.ws}/p", timeout=LONG, opts=["--quiet"])
    t.equal(len(re.findall(r"(?m)^not ok ", run.text)), failed, run)
    t.check(run.denied(**refusal), f"refused by another boundary: {run}")

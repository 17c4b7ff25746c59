# SPDX-License-Identifier: Apache-2.0
"""Sources of Debian packages, from where the machine's own packages come from.

A machine seldom lists sources. So the entries it has are read again as entries of
sources, into lists of their own below build/sources; the machine's stay as they are.
"""
import contextlib
import fcntl
import glob
import os
import re
import shutil
import subprocess

from sboxtest import Skip

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STORE = os.path.join(ROOT, "build", "sources")


def source_entries(text):
    """The same entries, for sources: both of apt's formats."""
    return re.sub(r"(?m)^deb\s", "deb-src ", re.sub(r"(?m)^Types:.*$", "Types: deb-src", text))


def apt(*argv):
    options = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": f"{STORE}/parts",
               "Dir::State::Lists": f"{STORE}/lists", "Dir::Cache": f"{STORE}/cache"}
    line = ["apt-get", "-qq"]
    for name, value in options.items():
        line += ["-o", f"{name}={value}"]
    return subprocess.run(line + list(argv), cwd=STORE, capture_output=True, text=True, timeout=240)


def prepare():
    for folder in ("parts", "lists/partial", "cache/archives/partial"):
        os.makedirs(f"{STORE}/{folder}", exist_ok=True)
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*.sources"),
                 *glob.glob("/etc/apt/sources.list.d/*.list")]:
        if os.path.exists(path):
            with open(path) as file, open(f"{STORE}/parts/{os.path.basename(path)}", "w") as out:
                out.write(source_entries(file.read()))
    apt("update")


@contextlib.contextmanager
def alone():
    """Tests run side by side and need the same sources."""
    os.makedirs(STORE, exist_ok=True)
    with open(f"{STORE}/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(package, make=None):
    """The folder with the package's upstream source, and what make(folder) adds to it: whoever was
    interrupted in that goes on the next time."""
    target = f"{STORE}/{package}"
    try:
        with alone():
            once(f"{target}.unpacked", lambda: unpack(package, target))
            if make:
                once(f"{target}.made", lambda: make(target))
    except (OSError, subprocess.SubprocessError) as error:
        raise Skip(f"the source of {package} is not to be had: {error}")
    return target


def once(mark, work):
    if not os.path.exists(mark):
        work()
        open(mark, "w").close()


def unpack(package, target):
    found = glob.glob(f"{STORE}/{package}_*.orig.tar.*")
    if not found:
        if not os.path.isdir(f"{STORE}/parts"):
            prepare()
        shown = apt("source", "--download-only", package)
        found = glob.glob(f"{STORE}/{package}_*.orig.tar.*")
        if not found:
            raise OSError(shown.stderr.strip()[-300:])
    archive = sorted(name for name in found if not name.endswith(".asc"))[-1]
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    subprocess.run(["tar", "xf", archive, "-C", target, "--strip-components=1", "--no-same-owner"],
                   check=True)

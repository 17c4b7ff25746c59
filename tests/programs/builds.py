# SPDX-License-Identifier: Apache-2.0
"""C projects from Debian's sources, built and tested by their own build systems."""
import hashlib
import os
import shutil
import subprocess

import debsource
from same import need, program_test, same


def copy(t, source):
    shutil.rmtree(f"{t.ws}/p")
    shutil.copytree(source, f"{t.ws}/p", symlinks=True)
    subprocess.run(["chown", "-R", f"{t.uid}:{t.gid}", f"{t.ws}/p"], check=True)


def products(folder, suffixes):
    """What was built, with the hash of its bytes."""
    def after(t):
        found = {}
        for base, _, names in os.walk(f"{t.ws}/p/{folder}"):
            for name in names:
                if name.endswith(suffixes) and "CMakeFiles" not in base:
                    with open(f"{base}/{name}", "rb") as file:
                        found[os.path.relpath(f"{base}/{name}", t.ws)] = hashlib.sha256(file.read()).hexdigest()
        t.check(found, f"nothing was built in {folder}")
        return found
    return after


CMAKE = """
set -e
cmake -S build/cmake -B out -DCMAKE_BUILD_TYPE=Release > log
cmake --build out -j2 > log
out/lz4 -q -9 lib/lz4.c out/small; out/lz4 -q -d out/small - | cmp - lib/lz4.c; sha256sum < out/small
DESTDIR=$PWD/root cmake --install out > log; find root -type f | sort
"""


@program_test()
def lz4_with_cmake(t):
    need("cmake", "cc")
    source = debsource.fetch("lz4")
    same(t, "bash", "-c", CMAKE, before=lambda t: copy(t, source), after=products("out", (".1.9.4", "lz4", "unlz4")),
         stderr=False)


# `make check` of this one takes minutes; its own small test programs do not.
AUTOTOOLS = """
set -e
autoreconf -fi > log 2>&1
./configure --enable-shared > log 2>&1
make -j2 > log 2>&1
lzotest/lzotest -m1 -n1 -q src/lzo1x_9x.c > log; ./examples/simple | tail -n 2
make install DESTDIR=$PWD/root > log 2>&1; find root -type f | sort
"""


@program_test()
def lzo_with_autotools(t):
    need("autoreconf", "automake", "libtoolize", "cc")
    source = debsource.fetch("lzo2")
    same(t, "bash", "-c", AUTOTOOLS, before=lambda t: copy(t, source), after=products("src/.libs", (".so.2.0.0", ".a")),
         stderr=False)

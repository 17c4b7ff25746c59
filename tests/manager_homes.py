# SPDX-License-Identifier: Apache-2.0
"""A home folder with a version manager in it, and secrets planted beside."""
import os
import pwd
import shutil

from sboxtest import PATH, PYTHON, test

SECRET = "planted-secret"
# Beside and inside: settings that tools keep tokens in, and what somebody put there.
PLANTED = """
    .npmrc .netrc .pypirc .condarc .gitconfig .git-credentials .ssh/id_ed25519 .aws/credentials
    .config/pip/pip.conf .cargo/credentials .cargo/credentials.toml .cargo/config.toml
    .cargo/registry/token .gradle/gradle.properties .m2/settings.xml .docker/config.json
    .pyenv/.netrc .pyenv/token .pyenv/cache/key .pyenv/versions/VERSION/pip.conf
    .pyenv/versions/VERSION/.pypirc .pyenv/versions/VERSION/api-token.txt
    .pyenv/versions/VERSION/etc/pip.conf .pyenv/versions/VERSION/deploy.key
    .nvm/.npmrc .nvm/.cache/token .nvm/versions/node/v20.0.0/etc/npmrc
    .nvm/versions/node/v20.0.0/.npmrc .nvm/versions/node/v20.0.0/lib/node_modules/npm/npmrc
    .local/share/uv/credentials/tokens.toml .local/bin/.env .local/bin/my-token
    .rustup/token .cargo/bin/credentials.toml .volta/tools/.npmrc .sdkman/etc/config
    """.split()

SHIM = """#!/usr/bin/env bash
set -e
[ -n "$PYENV_DEBUG" ] && set -x

program="${{0##*/}}"

export PYENV_ROOT="{root}"
exec "{root}/libexec/pyenv" exec "$program" "$@"
"""
# What pyenv does with it: the version of the nearest .python-version, else the global one.
PYENV = """#!/usr/bin/env bash
set -e
[ "$1" = exec ] && shift
dir=$PWD
while [ -n "$dir" ] && [ ! -e "$dir/.python-version" ]; do dir=${dir%/*}; done
if [ -n "$PYENV_VERSION" ]; then version=$PYENV_VERSION
elif [ -e "$dir/.python-version" ]; then read -r version <"$dir/.python-version"
else read -r version <"$PYENV_ROOT/version"; fi
[ -d "$PYENV_ROOT/versions/$version" ] || { echo "pyenv: version $version is not installed" >&2; exit 1; }
export PYENV_VERSION=$version PATH="$PYENV_ROOT/versions/$version/bin:$PATH"
exec -a "$1" "$PYENV_ROOT/versions/$version/bin/$1" "${@:2}"
"""
SCRIPT = "import sys, json, math; print(sys.prefix, sys.executable, math.pi, sys.argv[1:])\n"
# Every file that can be seen below the home folder, and what of it can be read.
LOOK = f"""
import os, sys
for base, dirs, files in os.walk(sys.argv[1]):
    for name in files:
        path = os.path.join(base, name)
        try:
            text = open(path, errors="replace").read(4096)
        except OSError:
            continue
        if "{SECRET}" in text:
            print(path)
for path in sys.argv[2:]:
    try:
        print(path, open(path).read())
    except OSError:
        pass
"""


class Home:
    """A home folder with what managers put there; `uid` is its owner's."""

    def __init__(self, t, folder, uid, gid):
        self.t, self.path, self.uid, self.gid = t, folder, uid, gid
        os.makedirs(folder, exist_ok=True)
        self.pyenv, self.nvm = f"{folder}/.pyenv", f"{folder}/.nvm"
        binary = os.path.realpath(PYTHON)
        self.python = os.path.basename(binary)  # python3.11
        self.version = self.python.replace("python", "") + ".99"
        self.prefix = f"{self.pyenv}/versions/{self.version}"
        self.make_pyenv(binary)
        self.make_nvm()
        for name in PLANTED:
            self.write(name.replace("VERSION", self.version), f"{SECRET} {name}\n")

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(text)
        os.chmod(path, mode)

    def make_pyenv(self, binary):
        os.makedirs(f"{self.prefix}/bin")
        os.makedirs(f"{self.prefix}/lib")
        shutil.copy(binary, f"{self.prefix}/bin/{self.python}")
        for name in ("python", "python3"):
            os.symlink(self.python, f"{self.prefix}/bin/{name}")
            self.write(f".pyenv/shims/{name}", SHIM.format(root=self.pyenv), 0o755)
        os.symlink(f"/usr/lib/{self.python}", f"{self.prefix}/lib/{self.python}")
        self.write(".pyenv/libexec/pyenv", PYENV, 0o755)
        self.write(".pyenv/version", self.version + "\n")

    def make_nvm(self):
        self.node = f"{self.nvm}/versions/node/v20.0.0"
        os.makedirs(f"{self.node}/bin")
        if shutil.which("node", path=PATH):
            shutil.copy(shutil.which("node", path=PATH), f"{self.node}/bin/node")
        self.write(".nvm/nvm.sh", "# nvm\n")
        self.write(".nvm/alias/default", "20\n")

    def close(self):
        """Everything the owner's, and nobody else may enter."""
        for base, dirs, files in os.walk(self.path):
            for name in [".", *dirs, *files]:
                path = os.path.join(base, name)
                if os.geteuid() == 0:
                    os.chown(path, self.uid, self.gid, follow_symlinks=False)
                elif not os.path.islink(path) and name.startswith(".") and len(name) > 1:
                    pass
        os.chmod(self.path, 0o700)
        return self

    def look(self, profile=None, **keywords):
        planted = [f"{self.path}/{n.replace('VERSION', self.version)}" for n in PLANTED]
        return self.t.sbox(PYTHON, "-c", LOOK, self.path, *planted, profile=profile, **keywords)


def home_of(t, whose):
    """The caller's own, or for root that of another user."""
    if whose == "own":
        return Home(t, t.home, t.uid, t.gid)
    other = pwd.getpwnam("sbox-test")
    return Home(t, f"{t.dir}/other", other.pw_uid, other.pw_gid)

# SPDX-License-Identifier: Apache-2.0
"""The shipped profiles at what they are for, and git in a repository that was there before."""
import json
import os
import shutil
import zipfile

from sboxtest import PATH, PYTHON, Skip, test


def need(*programs):
    for program in programs:
        if not shutil.which(program, path=PATH):
            raise Skip(f"{program} is not installed")


def under(t, profile, *argv, code=0, **keywords):
    run = t.sbox(*argv, profile=profile, opts=["--quiet"], timeout=150, **keywords)
    t.equal(run.code, code, run)
    t.check(not run.denials, f"an ordinary program is refused something: {run.denials}")
    return run


def make_wheel(t, name, text):
    path = f"{t.mkdir('wheels')}/{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, content in {
                f"{name}.py": text,
                f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
                f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                f"{info}/RECORD": f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n",
        }.items():
            wheel.writestr(file, content)
    t.own(path)


@test(timeout=300)
def python(t):
    """pip from a local wheel into a venv, with system packages where ensurepip is missing."""
    if t.plain(PYTHON, "-m", "pip", "--version", timeout=150).code != 0:
        raise Skip("pip is not installed")
    make_wheel(t, "answer", "def get():\n    return 42\n")
    under(t, "python", PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", ".venv")
    run = under(t, "python", ".venv/bin/python", "-m", "pip", "install", "--no-index",
                "--find-links", "wheels", "answer")
    t.has(run.text, "Successfully installed answer-1.0")
    run = under(t, "python", ".venv/bin/python", "-c", "import answer; print(answer.get())")
    t.equal(run.out, b"42\n")
    t.write("test_it.py", "import unittest, multiprocessing, answer\n"
            "class T(unittest.TestCase):\n    def test_it(self):\n"
            "        with multiprocessing.Pool(4) as pool:\n"
            "            self.assertEqual(pool.map(abs, [-1, -answer.get()]), [1, 42])\n")
    t.has(under(t, "python", ".venv/bin/python", "-m", "unittest").errtext, "OK")
    if os.path.isdir("/usr/lib/python3/dist-packages/pytest"):
        t.has(under(t, "python", ".venv/bin/python", "-m", "pytest", "-q").text, "1 passed")
    t.write(".pypirc", "password = x")
    run = t.sbox("cat", ".pypirc", profile="python")
    t.check(run.code != 0 and b"password" not in run.out, run)


@test(timeout=300)
def node(t):
    need("node")
    t.write("package.json", json.dumps({"name": "a", "version": "1.0.0",
                                        "scripts": {"test": "node --test"}}))
    t.write("a.test.js", """
const test = require('node:test'), assert = require('node:assert');
const { Worker } = require('node:worker_threads');
test('adds', () => assert.equal(1 + 1, 2));
test('works', (_, done) => { new Worker('process.exit(0)', {eval: true}).on('exit', () => done()); });
""")
    t.has(under(t, "node", "node", "--test").text, "# pass ")
    need("npm")
    t.has(under(t, "node", "npm", "test").text, "# fail 0")


@test(timeout=300)
def npm_from_the_cache(t):
    """What a package needs is in this profile's cache after the first time."""
    need("node", "npm")
    t.write("dep/package.json", json.dumps({"name": "dep", "version": "1.0.0", "main": "i.js"}))
    t.write("dep/i.js", "module.exports = 7\n")
    t.equal(t.plain("npm", "pack", "-s", cwd=f"{t.ws}/dep", timeout=150).code, 0)
    t.write("app/package.json", json.dumps({"name": "app", "version": "1.0.0"}))
    app = f"{t.ws}/app"
    shutil.move(f"{t.ws}/dep/dep-1.0.0.tgz", f"{app}/dep.tgz")
    t.own(f"{app}/dep.tgz")
    under(t, "node", "npm", "install", "--offline", "./dep.tgz", cwd=app)
    shutil.rmtree(f"{app}/node_modules")
    under(t, "node", "npm", "ci", "--offline", cwd=app)
    run = under(t, "node", "node", "-p", "require('dep')", cwd=app)
    t.equal(run.out, b"7\n")


@test(timeout=300)
def build(t):
    need("make", "cc")
    t.write("x.c", "int main(void) { return 0; }\n")
    t.write("Makefile", "all: a b\na b: x.c\n\t$(CC) $(CFLAGS) -o $@ x.c\ncheck: all\n\t./a && ./b && echo fine\n")
    t.has(under(t, "build", "make", "-j4", "check", env={"CFLAGS": "-O1"}).text, "cc -O1 -o a x.c")
    need("cmake")
    t.write("c/x.c", "int main(void) { return 0; }\n")
    t.write("c/CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(x C)\n"
            "enable_testing()\nadd_executable(x x.c)\nadd_test(NAME t COMMAND x)\n")
    run = under(t, "build", "sh", "-c", "cmake -S c -B out && cmake --build out -j4 && cd out && ctest")
    t.has(run.text, "100% tests passed")


@test()
def a_manual_page_in_a_session(t):
    page = t.write("x.1", ".Dd January 1, 2026\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd of no use\n")
    need("man")
    t.has(under(t, "interactive", "man", page).text, "of no use")


@test()
def git_in_an_existing_repository(t):
    need("git")
    setup = ("git init -q -b main . && git config user.email a@b && git config user.name n && "
             "echo 1 >f && git add f && git commit -qm one && git clone -q --bare . up")
    t.equal(t.plain("sh", "-c", setup).code, 0)
    before = t.read(".git/config")
    for command in ("echo 2 >>f; git commit -qam two", "git checkout -qb new",
                    "echo 3 >>f; git stash -q; git stash pop -q", "git commit -qam three",
                    "git merge -q main", "git tag v1", "git gc -q", "git worktree prune",
                    "git branch -D main", "git -c user.name=x commit -q --allow-empty -m four",
                    "git clone -q . copy && git -C copy config a.b c && git -C copy remote add x y"):
        run = t.sbox("sh", "-c", command, opts=["--quiet"])
        t.equal(run.code, 0, f"{command}: {run}")
    run = t.sbox("git", "fetch", "-q", "./up", "main:fetched", opts=["--quiet"])
    t.equal(run.code, 0, run)
    t.equal(t.plain("git", "rev-parse", "-q", "--verify", "fetched").code, 0)
    # what your own git would execute stays as it is
    for command in ("git config core.fsmonitor evil", "git remote add o /x", "git config alias.st '!evil'",
                    "echo evil >.git/hooks/post-checkout", "mv .git .old"):
        t.check(t.sbox("sh", "-c", command).code != 0, command)
    t.equal(t.read(".git/config"), before)
    # and the line that agent.ini names lifts it
    run = t.sbox("git", "config", "user.name", "other", sets=["file.protect+=!${cwd}/.git/config"])
    t.equal(run.code, 0, run)
    t.has(t.read(".git/config").decode(), "other")

# SPDX-License-Identifier: Apache-2.0
"""Version managers under agent.ini: their programs work unchanged, the secrets beside them are not there.

The layouts are those that pyenv, nvm and venv make, with the system's python and node as the
versions; the home folder is closed to everybody else, and for root there is also one that
belongs to another user and comes along on PATH, as with sudo.
"""
import os

from manager_homes import SECRET, PLANTED, SCRIPT, LOOK, Home, home_of
from sboxtest import PATH, PYTHON, Skip, test


OWNERS = ["own", "other"]


def callers_of(owner):
    """An ordinary user does not come into another's home folder."""
    return ("root", "user") if owner == "own" else ("root",)


@test(cases=OWNERS, callers=callers_of)
def pyenv(t, whose):
    home = home_of(t, whose).close()
    t.write("x.py", SCRIPT)
    env = {"PATH": f"{home.pyenv}/shims:{PATH}"}
    if whose == "own":
        env["PYENV_ROOT"] = home.pyenv
    for name in ("python", "python3"):
        control = t.plain(name, "x.py", "a b", env=env)
        t.has(control.text, home.prefix, "control: the manager's python")
        run = t.sbox(name, "x.py", "a b", env=env, opts=["--quiet"])
        t.equal((run.code, run.out, run.err), (control.code, control.out, control.err))
    # the version that the folder asks for
    t.write(".python-version", "9.9.9\n")
    t.equal(t.sbox("python", "x.py", env=env, opts=["--quiet"]).errtext,
            "pyenv: version 9.9.9 is not installed\n")


@test(cases=OWNERS, callers=callers_of)
def nvm(t, whose):
    home = home_of(t, whose).close()
    if not os.path.exists(f"{home.node}/bin/node"):
        raise Skip("node is not installed")
    t.write("x.js", "console.log(process.execPath, process.argv.slice(2), require('os').EOL.length)\n")
    env = {"PATH": f"{home.node}/bin:{PATH}"}
    if whose == "own":
        env.update(NVM_DIR=home.nvm, NVM_BIN=f"{home.node}/bin")
    control = t.plain("node", "x.js", "1", env=env)
    t.has(control.text, f"{home.node}/bin/node", "control: the manager's node")
    run = t.sbox("node", "x.js", "1", env=env, opts=["--quiet"])
    t.equal((run.code, run.out, run.err), (control.code, control.out, control.err))


def make_venv(t, python, folder):
    run = t.plain(python, "-m", "venv", "--without-pip", folder)
    t.equal(run.code, 0, run)
    site = next(os.path.join(base, "site-packages") for base, dirs, _ in os.walk(folder)
                if "site-packages" in dirs)
    t.write(f"{site}/pytest.py", "import sys\ndef console_main():\n"
            "    import test_it; test_it.test_it(); print('1 passed', sys.prefix); return 0\n")
    t.write(f"{folder}/bin/pytest", f"#!{folder}/bin/python\nimport sys\n"
            "from pytest import console_main\nsys.path.insert(0, '')\n"
            "if __name__ == '__main__':\n    sys.exit(console_main())\n", 0o755)
    t.write("test_it.py", "def test_it():\n    assert 6 * 7 == 42\n")


@test(cases=OWNERS, callers=callers_of)
def venv_of_a_pyenv_python(t, whose):
    home = home_of(t, whose).close()
    make_venv(t, f"{home.prefix}/bin/python", f"{t.ws}/.venv")
    make_venv(t, f"{home.prefix}/bin/python", f"{t.ws}/py-env")
    for program in (".venv/bin/pytest", "py-env/bin/pytest", f"{t.ws}/.venv/bin/pytest"):
        control = t.plain(program)
        run = t.sbox(program, opts=["--quiet"])
        t.has(control.text, "1 passed", "control")
        t.equal((run.code, run.out, run.err), (0, control.out, control.err), program)
    # started by something else, which finds it by itself
    run = t.sbox("sh", "-c", ".venv/bin/pytest", opts=["--quiet"])
    t.has(run.text, "1 passed", run)


@test()
def venv_of_the_system(t):
    make_venv(t, PYTHON, f"{t.ws}/.venv")
    t.has(t.sbox(".venv/bin/pytest", opts=["--quiet"]).text, "1 passed")


@test()
def active_venv_outside_the_workspace(t):
    make_venv(t, PYTHON, f"{t.home}/venvs/x")
    t.write(f"{t.home}/venvs/x/pip.conf", SECRET)
    env = {"VIRTUAL_ENV": f"{t.home}/venvs/x", "PATH": f"{t.home}/venvs/x/bin:{PATH}"}
    run = t.sbox("pytest", env=env, opts=["--quiet"])
    t.equal(run.out, f"1 passed {t.home}/venvs/x\n".encode(), run)
    run = t.sbox("sh", "-c", f"cat {t.home}/venvs/x/pip.conf; ls {t.home}; touch {t.home}/venvs/x/bin/y",
                 env=env)
    t.check(SECRET not in run.text, run)
    t.has(run.errtext, "Read-only file system")


@test(cases=OWNERS, callers=callers_of)
def secrets_beside_and_inside_are_not_visible(t, whose):
    home = home_of(t, whose).close()
    env = {"PATH": f"{home.pyenv}/shims:{home.node}/bin:{home.path}/.local/bin:"
                   f"{home.path}/.cargo/bin:{PATH}"}
    control = t.plain(PYTHON, "-c", LOOK, home.path, env=env)
    t.equal(len(control.text.splitlines()), len(PLANTED), f"control: {control}")
    run = home.look(env=env, opts=["--quiet"])
    t.equal((run.code, run.out), (0, b""), run)
    # the same with everything that a variable can say
    env.update(PYENV_ROOT=home.pyenv, NVM_DIR=home.nvm, CARGO_HOME=f"{home.path}/.cargo",
               RUSTUP_HOME=f"{home.path}/.rustup", VOLTA_HOME=f"{home.path}/.volta",
               SDKMAN_DIR=f"{home.path}/.sdkman")
    run = home.look(env=env, opts=["--quiet"])
    t.equal((run.code, run.out), (0, b""), run)
    run = t.sbox("ls", "-A", home.pyenv, env=env, opts=["--quiet"])
    t.equal(run.text.split(), ["libexec", "shims", "version", "versions"], run)


@test()
def shown_is_read_only(t):
    home = Home(t, t.home, t.uid, t.gid).close()
    env = {"PYENV_ROOT": home.pyenv, "PATH": f"{home.pyenv}/shims:{PATH}"}
    for change in (f"echo x >{home.pyenv}/shims/python", f"touch {home.prefix}/bin/x",
                   f"mv {home.pyenv}/versions {home.pyenv}/v", f"rm {home.pyenv}/version"):
        t.check(t.sbox("sh", "-c", change, env=env).code != 0, change)
    t.equal(t.plain("python", "-c", "print(1)", env=env).text, "1\n")


# What a variable must not be able to open up: {name: (variables, a file that must stay closed)}
HOSTILE = {
    "the home folder": ({"PYENV_ROOT": "{home}"}, "{home}/versions/key"),
    "the home folder with a slash": ({"NVM_DIR": "{home}/"}, "{home}/alias/key"),
    "above the home folder": ({"PYENV_ROOT": "{dir}"}, "{dir}/versions/key"),
    "by way of dots": ({"PYENV_ROOT": "{home}/.pyenv/.."}, "{home}/versions/key"),
    "by way of a link": ({"PYENV_ROOT": "{home}/link"}, "{home}/versions/key"),
    "a link out of the root": ({"PYENV_ROOT": "{home}/evil"}, "{home}/private/key"),
    "a link at the second level": ({"NVM_DIR": "{home}/evil2"}, "{home}/private/key"),
    "the store": ({"PYENV_ROOT": "{dir}/store"}, "{dir}/store/versions/key"),
    "above the store": ({"ASDF_DATA_DIR": "{dir}"}, "{dir}/plugins/key"),
    "a system folder": ({"PYENV_ROOT": "/etc"}, "/etc/shadow"),
    "everything": ({"PYENV_ROOT": "/", "NVM_DIR": "/", "CONDA_PREFIX": "/"}, "/etc/shadow"),
    "an entry of PATH": ({"PATH": "{home}/shims:/usr/bin:/bin"}, "{home}/versions/key"),
    "PATH by way of dots": ({"PATH": "{home}/.pyenv/../shims:/usr/bin:/bin"}, "{home}/versions/key"),
    "relative": ({"PYENV_ROOT": "../home"}, "{home}/versions/key"),
}


@test(cases=list(HOSTILE.items()))
def a_variable_opens_no_other_folder(t, case):
    variables, key = case[1]
    for name in ("home", "dir"):
        variables = {k: v.replace("{" + name + "}", getattr(t, name)) for k, v in variables.items()}
        key = key.replace("{" + name + "}", getattr(t, name))
    t.mkdir(t.store, 0o700)
    for base in (t.home, t.dir, t.store):
        for name in ("versions/key", "alias/key", "plugins/key", "shims/key", "versions/node/key"):
            t.write(f"{base}/{name}", SECRET)
    t.write(f"{t.home}/private/key", SECRET)
    t.mkdir(f"{t.home}/.pyenv")
    os.symlink(t.home, f"{t.home}/link")
    t.mkdir(f"{t.home}/evil")
    os.symlink(f"{t.home}/private", f"{t.home}/evil/versions")
    t.mkdir(f"{t.home}/evil2/versions")
    os.symlink(f"{t.home}/private", f"{t.home}/evil2/versions/node")
    run = t.sbox("sh", "-c", f"cat {key}; find / -xdev -name key 2>/dev/null; "
                 f"find {t.dir} -name key", env=variables, opts=["--quiet"])
    t.check(SECRET not in run.text and "key" not in run.text, run)
    control = t.plain("cat", key)
    t.check(SECRET in control.text or key == "/etc/shadow", control)


@test()
def show_tells_what_is_shown_and_why(t):
    home = Home(t, t.home, t.uid, t.gid).close()
    t.mkdir(f"{t.dir}/nvm/versions/node")
    t.write(f"{t.home}/versions/x", "")
    env = {"PYENV_ROOT": home.pyenv, "NVM_DIR": f"{t.dir}/nvm", "RBENV_ROOT": t.home,
           "PATH": f"{home.path}/.cargo/bin:{PATH}"}
    run = t.plain(t.sbox_path, "show", "agent", env=env)
    line = next(line for line in run.text.splitlines() if line.startswith("# file      toolchains"))
    for part in (f"pyenv {home.pyenv} (PYENV_ROOT)", f"nvm {t.dir}/nvm (NVM_DIR)",
                 f"nvm {home.nvm} (~/.nvm)", f"cargo {home.path}/.cargo (~/.cargo)",
                 f"not shown: rbenv {t.home} (RBENV_ROOT: your home folder"):
        t.has(line, part)
    run = t.plain(t.sbox_path, "show", "strict", env=env)
    t.has(run.text, "# file      toolchains         off")


@test(callers=("root",))
def an_owner_s_own_toolchain_is_explained_to_root(t):
    """About a uid leased for root's programs."""
    home = Home(t, t.home, t.uid, t.gid).close()
    os.chmod(f"{home.pyenv}/versions", 0o700)
    run = t.plain(t.sbox_path, "show", "agent", env={"PYENV_ROOT": home.pyenv})
    t.has(run.text, f"pyenv {home.pyenv} (PYENV_ROOT: only its owner can read it")


@test()
def invisible_programs_are_explained(t):
    home = Home(t, t.home, t.uid, t.gid).close()
    env = {"PATH": f"{home.pyenv}/shims:{t.dir}/tools:{PATH}"}
    run = t.sbox("python", env=env, profile="strict")
    t.equal(run.kind, "not_found")
    t.has(run.errtext, f"python: {home.pyenv}/shims/python exists but is not visible inside; "
          "to show it: [file] toolchains = pyenv (--profile ")
    t.write(f"{t.dir}/tools/tool", "#!/bin/sh\necho tool\n", 0o755)
    run = t.sbox("tool", env=env)
    t.has(run.errtext, f"{t.dir}/tools/tool exists but is not visible inside; "
          f"to show it: [file] exec = {t.dir}/tools\n")
    run = t.sbox("tool", env=env, sets=[f"file.exec+={t.dir}/tools"], opts=["--quiet"])
    t.equal(run.out, b"tool\n", "the line that it names")
    run = t.sbox("python", env=env, profile="strict", sets=["file.toolchains=pyenv"])
    t.check(run.kind != "not_found", run)


@test()
def path_inside(t):
    home = Home(t, t.home, t.uid, t.gid).close()
    t.mkdir("bin")
    t.mkdir(f"{t.dir}/hidden")
    caller = f"relative:.::{t.dir}/hidden:/nonexistent:{home.pyenv}/shims:{t.ws}/bin:/bin:" \
             f"/usr/../{t.dir}/hidden:/usr/bin:"
    run = t.sbox("/bin/sh", "-c", "echo $PATH", env={"PATH": caller}, opts=["--quiet"])
    t.equal(run.text, f"{home.pyenv}/shims:{t.ws}/bin:/bin:/usr/bin\n", run)


# One program of each manager: {row: (its file below the home folder, what makes the root, PATH, variables)}
ROWS = {
    "rbenv": (".rbenv/versions/3.2/bin/tool", [], ".rbenv/versions/3.2/bin", "RBENV_ROOT"),
    "fnm": (".local/share/fnm/node-versions/v20/installation/bin/tool", [],
            ".local/share/fnm/node-versions/v20/installation/bin", "FNM_DIR"),
    "volta": (".volta/bin/tool", [".volta/tools/"], ".volta/bin", "VOLTA_HOME"),
    "asdf": (".asdf/installs/x/1/bin/tool", [".asdf/plugins/"], ".asdf/installs/x/1/bin",
             "ASDF_DATA_DIR"),
    "mise": (".local/share/mise/installs/x/1/bin/tool", [], ".local/share/mise/installs/x/1/bin",
             "MISE_DATA_DIR"),
    "rustup": (".rustup/toolchains/stable/bin/tool", [".cargo/bin/"],
               ".rustup/toolchains/stable/bin", "RUSTUP_HOME"),
    "cargo": (".cargo/bin/tool", [], ".cargo/bin", None),
    "go": ("sdk/go/bin/tool", ["sdk/go/pkg/tool/"], "sdk/go/bin", "GOROOT"),
    "gopath": ("go/bin/tool", [], "go/bin", None),
    "sdkman": (".sdkman/candidates/java/17/bin/tool", [], ".sdkman/candidates/java/17/bin",
               "SDKMAN_DIR"),
    "conda": ("miniconda3/bin/tool", ["miniconda3/conda-meta/"], "miniconda3/bin", "CONDA_PREFIX"),
    "mamba": ("micromamba/envs/a/bin/tool", [], "micromamba/envs/a/bin", "MAMBA_ROOT_PREFIX"),
    "uv": (".local/share/uv/python/cpython-3.12/bin/tool", [],
           ".local/share/uv/python/cpython-3.12/bin", None),
    "pipx": (".local/share/pipx/venvs/a/bin/tool", [], ".local/share/pipx/venvs/a/bin", None),
    "local": (".local/bin/tool", [], ".local/bin", None),
    "homebrew": (".linuxbrew/Cellar/x/1/bin/tool", [".linuxbrew/bin/"], ".linuxbrew/bin",
                 "HOMEBREW_PREFIX"),
}


@test(cases=list(ROWS.items()))
def each_manager_s_programs_run(t, case):
    name, (program, others, path, variable) = case
    for other in others:
        t.mkdir(f"{t.home}/{other}")
    t.write(f"{t.home}/{program}", "#!/bin/sh\necho tool ${0} ${%s}\n" % (variable or "NONE"), 0o755)
    if not os.path.exists(f"{t.home}/{path}/tool"):
        os.symlink(f"{t.home}/{program}", f"{t.home}/{path}/tool")
    t.write(f"{t.home}/{program}.token", SECRET)
    root = path.split("/bin")[0].split("/versions")[0].split("/installs")[0].split("/envs")[0]
    for part in ("/node-versions", "/toolchains", "/candidates", "/python", "/venvs"):
        root = root.split(part)[0]
    os.chmod(t.home, 0o700)
    env = {"PATH": f"{t.home}/{path}:{PATH}"}
    run = t.sbox("tool", env=env, opts=["--quiet"])
    t.equal(run.text.split()[:2], ["tool", f"{t.home}/{path}/tool"], run)
    if variable:
        t.equal(run.text.split()[2:], [f"{t.home}/{root}"], run)
        # by the variable alone, when it is called by its path
        run = t.sbox(f"{t.home}/{program}", env={variable: f"{t.home}/{root}"}, opts=["--quiet"])
        t.equal(run.code, 0, run)
    # only that one is asked for
    run = t.sbox("tool", env=env, sets=[f"file.toolchains={name}"], opts=["--quiet"])
    t.equal(run.code, 0, run)
    other = "nvm" if name != "nvm" else "pyenv"
    run = t.sbox("tool", env=env, sets=[f"file.toolchains={other}"])
    t.equal(run.kind, "not_found")
    t.has(run.errtext, f"[file] toolchains = {name} (--profile ")


@test()
def rustup_sees_the_folder_that_it_would_make(t):
    for folder in (".rustup/toolchains/stable/bin", ".rustup/update-hashes"):
        t.mkdir(f"{t.home}/{folder}")
    t.write(f"{t.home}/.cargo/bin/rustc", '#!/bin/sh\nmkdir -p "$RUSTUP_HOME/update-hashes" && echo made\n', 0o755)
    os.chmod(t.home, 0o700)
    run = t.sbox("rustc", env={"PATH": f"{t.home}/.cargo/bin:{PATH}"}, opts=["--quiet"])
    t.equal(run.out, b"made\n", run)


@test()
def what_cargo_and_go_write_is_not_theirs(t):
    t.write(f"{t.home}/.cargo/bin/tool", "#!/bin/sh\necho .$CARGO_HOME.$GOPATH.\n", 0o755)
    t.mkdir(f"{t.home}/go/bin")
    run = t.sbox("tool", env={"PATH": f"{t.home}/.cargo/bin:{PATH}", "CARGO_HOME": f"{t.home}/.cargo",
                              "GOPATH": f"{t.home}/go"}, opts=["--quiet"])
    t.equal(run.out, b"...\n", run)

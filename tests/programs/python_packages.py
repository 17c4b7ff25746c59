# SPDX-License-Identifier: Apache-2.0
"""pip, venv and pytest: wheels are built and installed offline, tests run side by side."""
import re

from sboxtest import PYTHON, Skip
from same import need, program_test, same

PROJECT = {
    "pkg/pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
                          '[project]\nname = "sample"\nversion = "1.0"\n'
                          '[project.scripts]\nsample = "sample:main"\n'
                          '[tool.setuptools]\npy-modules = ["sample"]\n',
    "pkg/sample.py": "def add(a, b):\n    return a + b\n\n\ndef main():\n    print('sample', add(40, 2))\n",
    "ext/setup.py": "from setuptools import Extension, setup\n"
                    "setup(name='fast', version='2.0', ext_modules=[Extension('fast', ['fast.c'], py_limited_api=False)])\n",
    "ext/fast.c": '#include <Python.h>\n'
                  'static PyObject *f(PyObject *s, PyObject *a) { return PyLong_FromLong(42); }\n'
                  'static PyMethodDef m[] = {{"answer", f, METH_NOARGS, ""}, {0}};\n'
                  'static struct PyModuleDef d = {PyModuleDef_HEAD_INIT, "fast", "", -1, m};\n'
                  'PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&d); }\n',
}

PIP = """
set -e
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
pip="python3 -m pip -q"
$pip wheel --no-build-isolation --no-deps --no-index -w wheels ./pkg
test ! -e /usr/include/python3.11/Python.h || $pip wheel --no-build-isolation --no-deps --no-index -w wheels ./ext
ls wheels
python3 -m venv env
env/bin/python -m pip -q install --no-index --find-links wheels sample
test ! -e wheels/fast* || { env/bin/python -m pip -q install --no-index --find-links wheels fast
    env/bin/python -c 'import fast; print(fast.answer())'; }
env/bin/sample
env/bin/python -m pip list --format freeze
env/bin/python -m pip uninstall -q -y sample; env/bin/python -m pip check
"""


def lay(files):
    def before(t):
        for name, text in files.items():
            t.write(f"p/{name}", text)
    return before


@program_test()
def wheels_into_a_venv(t):
    if t.plain(PYTHON, "-c", "import setuptools, pip, wheel, ensurepip").code != 0:
        raise Skip("pip, wheel, setuptools or venv is not installed")
    run = same(t, "bash", "-c", PIP, before=lay(PROJECT), stderr=False)
    t.has(run.text, "sample 42")


TESTS = {
    "conftest.py": "import pytest\n\n\n@pytest.fixture(scope='session')\ndef server():\n"
                   "    import http.server, threading\n"
                   "    s = http.server.HTTPServer(('localhost', 0), http.server.SimpleHTTPRequestHandler)\n"
                   "    threading.Thread(target=s.serve_forever, daemon=True).start()\n"
                   "    yield s.server_address[1]\n    s.shutdown()\n",
    "test_a.py": "import os, pytest, subprocess, sys, urllib.request\n"
                 "@pytest.mark.parametrize('n', range(20))\ndef test_n(n, tmp_path):\n"
                 "    (tmp_path / 'f').write_text(str(n)); assert (tmp_path / 'f').read_text() == str(n)\n"
                 "def test_server(server):\n"
                 "    assert urllib.request.urlopen(f'http://localhost:{server}/test_a.py').status == 200\n"
                 "def test_output(capfd):\n    os.system('echo hi'); assert capfd.readouterr().out == 'hi\\n'\n"
                 "def test_child():\n    assert subprocess.check_output([sys.executable, '-c', 'print(1)']) == b'1\\n'\n"
                 "@pytest.mark.skip\ndef test_skipped(): pass\n"
                 "@pytest.mark.xfail\ndef test_expected(): assert 0\n",
    "test_b.py": "def test_environment(monkeypatch):\n    import os\n    monkeypatch.setenv('A', 'b'); assert os.environ['A'] == 'b'\n",
}


@program_test(cases=["-p no:xdist", "-n 2", "-n 2 --forked", "-n 3 --dist loadfile"])
def pytest(t, options):
    need("pytest-3")
    for module in ("xdist", *(["pytest_forked"] if "--forked" in options else [])):
        if t.plain(PYTHON, "-c", f"import {module}").code != 0:
            raise Skip(f"{module} is not installed")
    script = f"pytest-3 -q -p no:cacheprovider {options} | tail -n 1"
    run = same(t, "bash", "-c", script, before=lay(TESTS),
               scrub=lambda text: re.sub(r"in [\d.]+s.*", "", text))
    t.has(run.text, "24 passed, 1 skipped, 1 xfailed")

# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: what it shows, that nothing in it runs, and 100,000 runs."""
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from sboxtest import PYTHON, Skip, descendants, test

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--window-size=1440,1000"]
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>\u202e\x1b[2J"


def end_helpers(t):
    """A browser's helpers outlive it for a moment, and come to us as orphans: ended and reaped."""
    known = {child.pid for child in t.background}
    until = time.monotonic() + 10
    while time.monotonic() < until:
        left = [pid for pid in descendants(os.getpid()) if pid not in known]
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError):
                pass
        time.sleep(0.02)


def browser(t, path, fragment="", budget_ms=15000):
    """(the page as it is in the end, what the browser logged)"""
    program = next((found for found in map(shutil.which, BROWSERS) if found), None)
    if program is None:
        raise Skip("no Chromium: packaging/deps browser installs one")
    folder = tempfile.mkdtemp(dir=t.dir)
    t.own(folder)
    child = t.popen([program, *FLAGS, f"--user-data-dir={folder}", f"--virtual-time-budget={budget_ms}", "--enable-logging=stderr",
                     "--dump-dom", f"file://{path}#{fragment}"], env={"HOME": folder}, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(timeout=100)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        t.background.remove(child)
        end_helpers(t)
    return out.decode(), err.decode(errors="replace")


def make(t, *words, timeout=30):
    path = f"{t.ws}/report.html"
    result = t.audit("report", "-o", path, *words)
    t.equal(result.code, 0, result)
    return path


def text_of(page, element):
    match = re.search(rf'id="{element}"[^>]*>(.*?)</(?:p|h1|h2|ul|dl|aside|div)>', page, re.S)
    return re.sub(r"<[^>]*>", " ", match.group(1)) if match else ""


def some_runs(t):
    t.sbox("echo", "hello world")
    t.sbox("sh", "-c", "echo to-stderr >&2; exit 3")
    t.sbox("sh", "-c", "kill -SEGV $$")
    t.sbox("sleep", "9", sets=["time.wall=200ms"])
    t.sbox(PYTHON, "-c", "import socket\ntry: socket.socket(40, 1)\nexcept OSError as e: print('refused:', e)")


def without_own_code(html):
    """The file without the report's own script and style, which are known."""
    for tag in ("script", "style"):
        html = re.sub(rf"<{tag}>.*?</{tag}>", "", html, flags=re.S)
    return html


@test(timeout=150)
def one_file_without_network(t):
    some_runs(t)
    path = make(t)
    html = open(path, encoding="utf-8").read()
    t.equal(os.stat(path).st_mode & 0o777, 0o600, "output may be in it")
    for part in ("http://", "https://", "src=", "@import", "url(", "<link"):
        t.check(part not in html.replace("http://www.w3.org/2000/svg", ""), f"{part} in the report")
    t.has(html, "default-src 'none'; script-src 'sha256-")
    for part in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        t.check(part not in html, f"{part} in the report")


@test(timeout=150)
def shows_the_runs(t):
    some_runs(t)
    page, log = browser(t, make(t))
    t.check('data-ready="' in page, f"the script ran to its end: {log[-1500:]}")
    t.check("Content Security Policy" not in log and "Uncaught" not in log, log[-1500:])
    t.has(text_of(page, "shown"), "5 runs")
    t.equal(len(re.findall(r'id="row-\d+"', page)), 5)
    for part in ("exited 0", "exited, not with 0", "signaled", "timeout"):
        t.has(text_of(page, "ends"), part)
    t.has(page, "AF_VSOCK")
    t.check('role="grid"' in page and 'aria-sort="descending"' in page, "roles")
    t.equal(page.count('role="img"'), 3, "pictures have words")


@test(timeout=150)
def opens_one_run(t):
    some_runs(t)
    path = make(t)
    runs = [r["run"] for r in t.records() if r["type"] == "run.start"]
    page, _ = browser(t, path, f"run={runs[1]}&theme=dark")
    t.check('data-theme="dark"' in page, "theme")
    panel = page[page.index('id="detail"'):]
    for part in ("to-stderr", "exited 3", "What was enforced", runs[1], "Programs executed"):
        t.has(panel, part)
    page, _ = browser(t, path, f"run={runs[4]}")
    panel = page[page.index('id="detail"'):]
    t.has(panel, "to allow it:") if "never allowed" not in panel else None
    t.has(panel, "refused: ")
    page, _ = browser(t, path, "q=sleep")
    t.has(text_of(page, "shown"), "1 of 5 runs")


@test(timeout=200)
def nothing_in_it_runs(t):
    """Hostile argv, labels, paths, output and program text; each run opened."""
    name = "d<img src=x onerror=document.title='owned'>"
    t.mkdir(name)
    t.write(f"{name}/x.py", f"# {HOSTILE}\nprint({HOSTILE!r})\nimport sys; sys.stderr.write({HOSTILE!r})\nraise SystemExit(1)\n")
    runs = [t.sbox("python3", f"{name}/x.py", HOSTILE, "<!--", opts=["--label", f"k={HOSTILE}", "--label", f"{HOSTILE}=v"]),
            t.sbox(f"./{HOSTILE.replace('/', '_')}"), t.sbox("echo", b"<script>\xff</script>", "__proto__", "constructor")]
    path = make(t)
    html = open(path, encoding="utf-8").read()
    data = without_own_code(html)
    t.equal(re.findall(r"<(?!/?script\b)[^>]*owned", data), [], "no markup from a record")
    for block in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', data, re.S):
        json.loads(block)
        t.check("<" not in block and "&" not in block and block.isascii(), "escaped")
    for run in runs:
        page, log = browser(t, path, f"run={run.end['run']}")
        t.has(page, "<title>sbox audit report</title>")
        t.check("Content Security Policy" not in log and "Uncaught" not in log, f"not even tried: {log[-800:]}")
        rendered = page[page.index("<header>"):page.index("<footer>")]
        t.check("<img" not in rendered and "<script" not in rendered, "elements from a record")
        t.check("\u202e" not in rendered and "\x1b" not in rendered, "controls")
        t.check('data-ready="' in page, "ready")


@test(timeout=150)
def empty_store(t):
    t.sbox("true")
    page, log = browser(t, make(t, "--user", "nobody-at-all"))
    t.check('data-ready="' in page, log[-800:])
    t.has(text_of(page, "shown"), "0 runs")


def bench_module():
    loader = importlib.machinery.SourceFileLoader("audit_queries", f"{TOP}/tests/bench/audit-queries")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("audit_queries", loader))
    loader.exec_module(module)
    return module


# Put into a copy whose policy is taken out: does what a hand would do, and notes how long it took.
DRIVER = """
const took = {};
function timed(name, action) { const at = performance.now(); action(); void document.body.offsetHeight; took[name] = Math.round(performance.now() - at); }
function press(key) { $('table-scroll').dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true})); }
timed('search', () => { $('search').value = 'make'; search(); });
took.found = shown.length;
timed('clear', clearAll);
timed('sort', () => $('columns').children[5].firstChild.click());
timed('end', () => press('End'));
took.last = here;
timed('scroll', () => { for (let i = 0; i < 50; i++) { $('table-scroll').scrollTop = i * 50000; drawRows(); } });
timed('home', () => press('Home'));
press('ArrowDown');
timed('open', () => press('Enter'));
took.open = !$('detail').hidden;
document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
took.closed = $('detail').hidden;
took.rows = $('rows').children.length;
document.documentElement.dataset.took = JSON.stringify(took);
"""


@test(parallel=False, timeout=300, callers=("root",))
def a_hundred_thousand_runs(t):
    bench = bench_module()
    real = [t.sbox("echo", "x").start, t.records()[1]]
    bench.real_records = lambda: real
    store = f"{t.dir}/large"
    t.mkdir(store, 0o700)
    bench.make_store(store, 200000)
    t.store, small = store, t.store
    path = make(t)
    html = open(path, encoding="utf-8").read()
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    t.write(f"{t.ws}/driven.html", html.replace("</body>", f"<script>{DRIVER}</script></body>"))
    page, log = browser(t, f"{t.ws}/driven.html", budget_ms=60000)
    match = re.search(r'data-took="([^"]*)"', page)
    t.check(match, log[-1500:])
    took = json.loads(match.group(1).replace("&quot;", '"'))
    t.check(took["open"] and took["closed"] and took["last"] == 99999 and 10000 < took["found"] < 30000, took)
    t.check(took["rows"] < 100, "only the rows in sight exist")
    for name in ("search", "clear", "sort", "end", "home", "open", "scroll"):
        t.check(took[name] < 3000, f"{name}: {took}")
    t.note(f"{os.path.getsize(path) / 1e6:.1f} MB, ready after {re.search('data-ready=.([0-9]+)', page).group(1)} ms, then in ms: {took}")
    t.store = small

# SPDX-License-Identifier: Apache-2.0
"""A headless browser renders a local page: the same document, the same pixels.

Its own sandbox wants user namespaces, which nothing inside gets: --no-sandbox. While
memory is sampled, memfd_create is refused and it uses /dev/shm instead. It also asks, and does
well without the answer, to be killed first, to refresh the host's font cache, and whether a public
address can be reached.
"""
import hashlib

from same import need, program_test, same

PAGE = """<!doctype html><title>t</title><style>body { background: #0a0; font: 40px sans-serif }</style><h1 id=x>page</h1>
<canvas id=c width=100 height=100></canvas><script>
document.getElementById('x').textContent = 'script ' + 6 * 7
const g = document.getElementById('c').getContext('2d'); g.fillStyle = '#00f'; g.fillRect(10, 10, 50, 50)
</script>"""
FLAGS = "--headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=400,300"
SCRIPT = f"""
set -e
chromium {FLAGS} --dump-dom file://$PWD/page.html 2> log
chromium {FLAGS} --screenshot=$PWD/page.png file://$PWD/page.html > log 2>&1; test -s page.png
"""


def picture(t):
    return hashlib.sha256(t.read("p/page.png")).hexdigest()


@program_test()
def renders_a_page(t):
    need("chromium")
    run = same(t, "bash", "-c", SCRIPT, before=lambda t: t.write("p/page.html", PAGE), after=picture,
               denied=("memfd_create", "socket", "write", "create", "connect"),
               sets=["file.read+=-/etc/chromium", "file.read+=-/etc/chromium.d"])
    t.has(run.text, "script 42")

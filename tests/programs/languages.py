# SPDX-License-Identifier: Apache-2.0
"""Real programs under agent.ini: the same output and the same exit status as without sbox."""
import os
import shutil

from sboxtest import PYTHON, Skip, test
from same import same


PYTHON_PROGRAMS = {
    "multiprocessing lock, pool, queue": """
import multiprocessing as mp, os
def work(n): return n * n
def add(lock, value, queue):
    for _ in range(200):
        with lock: value.value += 1
    queue.put('done')
if __name__ == '__main__':
    with mp.Pool(4) as pool: print(pool.map(work, range(20)))
    lock, value, queue = mp.Lock(), mp.Value('i', 0, lock=False), mp.Queue()
    ps = [mp.Process(target=add, args=(lock, value, queue)) for _ in range(4)]
    [p.start() for p in ps]; print([queue.get() for _ in ps]); [p.join() for p in ps]
    print(value.value, mp.Semaphore(2).acquire(), mp.Event().is_set())
    with mp.Manager() as m: d = m.dict(a=1); print(dict(d))
    from multiprocessing import shared_memory
    s = shared_memory.SharedMemory(create=True, size=4096); s.buf[0] = 7; print(s.buf[0]); s.close(); s.unlink()
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2) as e: print(list(e.map(work, range(5))))
    ctx = mp.get_context('spawn')
    with ctx.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
""",
    "asyncio": """
import asyncio, sys
async def main():
    p = await asyncio.create_subprocess_exec(sys.executable, '-c', 'print(input()[::-1])',
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    print((await p.communicate(b'abc\\n'))[0], p.returncode)
    async def serve(r, w): w.write((await r.readline()).upper()); await w.drain(); w.close()
    s = await asyncio.start_server(serve, '127.0.0.1', 0)
    r, w = await asyncio.open_connection(*s.sockets[0].getsockname())
    w.write(b'hello\\n'); print(await r.read()); w.close(); s.close()
    u = await asyncio.start_unix_server(serve, 'sock')
    r, w = await asyncio.open_unix_connection('sock'); w.write(b'unix\\n'); print(await r.read()); w.close()
    print(await asyncio.to_thread(sum, [1, 2]), await asyncio.wait_for(asyncio.sleep(0.01, 'x'), 1))
    q = await asyncio.create_subprocess_shell('exit 3'); print(await q.wait())
asyncio.run(main())
""",
    "sqlite3, ssl, zoneinfo": """
import sqlite3, ssl, zoneinfo, datetime, hashlib, ctypes, decimal, lzma, bz2, zlib, curses
c = sqlite3.connect('db'); c.execute('pragma journal_mode=wal')
c.execute('create table t (a int, b text)'); c.executemany('insert into t values (?, ?)', [(i, str(i)) for i in range(1000)])
c.commit(); print(c.execute('select sum(a), count(*) from t').fetchall()); c.close()
print(len(ssl.create_default_context().get_ca_certs()) > 10, hashlib.sha256(b'x').hexdigest())
print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).isoformat(), zlib.crc32(b'x'))
""",
    "subprocess pipelines": """
import subprocess, os, signal
a = subprocess.Popen(['seq', '1', '1000'], stdout=subprocess.PIPE)
b = subprocess.Popen(['grep', '7'], stdin=a.stdout, stdout=subprocess.PIPE); a.stdout.close()
print(subprocess.run(['wc', '-l'], stdin=b.stdout, capture_output=True, text=True).stdout)
print(subprocess.run('echo $((6*7)) | cat; exit 3', shell=True, capture_output=True))
print(subprocess.getoutput('printf hi'), os.system('exit 2') >> 8, os.popen('echo pop').read())
try: subprocess.run(['sleep', '5'], timeout=0.1)
except subprocess.TimeoutExpired as e: print('timeout')
p = subprocess.Popen(['sleep', '9'], start_new_session=True); os.killpg(p.pid, signal.SIGTERM); print(p.wait())
""",
    "http server and client": """
import http.server, threading, urllib.request, socketserver
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b'path ' + self.path.encode())
    def log_message(self, *a): pass
for host in ('127.0.0.1', 'localhost'):
    s = http.server.ThreadingHTTPServer((host, 0), H); threading.Thread(target=s.serve_forever, daemon=True).start()
    print(urllib.request.urlopen(f'http://{host}:{s.server_address[1]}/x').read()); s.shutdown()
""",
    "threads, files, signals": """
import threading, tempfile, os, signal, mmap, fcntl, time, shutil, pathlib, getpass, platform, tracemalloc, queue
q = queue.Queue(); ts = [threading.Thread(target=q.put, args=(i,)) for i in range(50)]
[t.start() for t in ts]; [t.join() for t in ts]; print(sorted(q.get() for _ in ts) == list(range(50)))
with tempfile.TemporaryDirectory() as d: (pathlib.Path(d) / 'a').write_text('x'); print(os.listdir(d))
with tempfile.NamedTemporaryFile() as f: f.write(b'x'); f.flush(); print(os.path.getsize(f.name))
signal.signal(signal.SIGALRM, lambda *a: print('alarm')); signal.setitimer(signal.ITIMER_REAL, 0.05); signal.pause()
f = open('l', 'w+b'); f.write(b'x' * 4096); f.flush(); fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)
m = mmap.mmap(f.fileno(), 4096); m[:3] = b'abc'; print(open('l', 'rb').read(3))
r, w = os.pipe(); pid = os.fork()
if pid == 0: os.write(w, b'child'); os._exit(5)
print(os.read(r, 9), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
shutil.copytree('.', 'copy', ignore=lambda *a: ['copy']); shutil.make_archive('z', 'zip', 'copy'); os.rename('copy', 'moved'); print(sorted(os.listdir('.')))
print(os.path.expanduser('~') != '~', len(os.sched_getaffinity(0)) > 0, platform.system(), os.cpu_count() > 0)
print(oct(os.stat('/tmp').st_mode), os.access('/usr/bin/env', os.X_OK), time.tzname is not None)
""",
}


@test(cases=sorted(PYTHON_PROGRAMS), timeout=90)
def python(t, name):
    same(t, PYTHON, "x.py", before=lambda t: t.write("p/x.py", PYTHON_PROGRAMS[name]))


WALK = """
import os, sysconfig
for base, dirs, files in os.walk(sysconfig.get_path('stdlib')):
    for name in files:
        with open(os.path.join(base, name), 'rb') as file:
            file.read(1)
import sitecustomize
print('whole', sitecustomize.__file__)
"""


@test(timeout=90)
def python_s_library_is_whole(t):
    """Debian keeps a part of it in /etc: the administrator's sitecustomize."""
    if not t.plain(PYTHON, "-c", WALK).text.startswith("whole"):
        raise Skip("this Python has no sitecustomize, or files that not everybody can read")
    same(t, PYTHON, "-c", WALK)


@test()
def which_system_this_is(t):
    """cmake's GNUInstallDirs decides by these files between lib, lib64 and lib/TRIPLET."""
    files = " ".join(f"/etc/{name}" for name in ("os-release", "lsb-release", "debian_version", "alpine-release",
                                                 "arch-release", "redhat-release"))
    same(t, "sh", "-c", f"for f in {files}; do echo $f; test ! -e $f || cat $f; done")


NODE = """
const { Worker } = require('worker_threads'), cp = require('child_process'), fs = require('fs'), http = require('http');
const zlib = require('zlib'), crypto = require('crypto'), os = require('os'), net = require('net');
async function main() {
  console.log(await new Promise(r => new Worker("require('worker_threads').parentPort.postMessage(6*7)", {eval: true}).on('message', r)));
  console.log(cp.execSync('echo child | tr a-z A-Z').toString(), cp.spawnSync('sh', ['-c', 'exit 4']).status);
  console.log(await new Promise(r => cp.execFile(process.execPath, ['-p', '1+1'], (e, out) => r(out))));
  const child = cp.fork('child.js'); console.log(await new Promise(r => child.on('message', r))); child.disconnect();
  const s = http.createServer((q, a) => a.end('path ' + q.url)); await new Promise(r => s.listen(0, '127.0.0.1', r));
  const {port} = s.address();
  console.log(await (await fetch(`http://127.0.0.1:${port}/f`)).text()); s.close(); s.closeAllConnections();
  fs.writeFileSync('a', 'x'.repeat(1000)); fs.renameSync('a', 'b'); fs.mkdirSync('d/e', {recursive: true});
  await fs.promises.writeFile('d/e/f', zlib.gzipSync('data')); fs.cpSync('d', 'c', {recursive: true});
  console.log(zlib.gunzipSync(await fs.promises.readFile('c/e/f')).toString(), fs.readdirSync('.').sort());
  const w = fs.watch('.'); w.close(); console.log(os.cpus().length > 0, crypto.createHash('sha256').update('x').digest('hex'));
  const u = net.createServer(c => c.end('unix')); await new Promise(r => u.listen('s.sock', r));
  console.log(await new Promise(r => net.connect('s.sock').on('data', d => r(d.toString())))); u.close();
  console.log(new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0])) instanceof WebAssembly.Module);
  fs.rmSync('d', {recursive: true}); await new Promise(r => setTimeout(r, 10)); console.log('end');
}
main().catch(e => { console.log(e); process.exit(9); });
"""


@test(timeout=90)
def node(t):
    def before(t):
        t.write("p/x.js", NODE)
        t.write("p/child.js", "process.send('from the child')\n")
    same(t, "node", "x.js", before=before)


BASH = r"""
set -euo pipefail
seq 1 100 | grep 7 | sort -rn | head -3 | paste -sd,
cat <<TEXT | tr a-z A-Z
here $((1 + 1)) $(echo nested)
TEXT
diff <(printf 'a\nb\n') <(printf 'a\nc\n') || echo differ $?
read -r x < <(echo substitution); echo "$x" > >(cat); wait
mapfile -t lines < <(ls /usr/bin | head -2); echo "${#lines[@]}"
{ echo out; echo err >&2; } 2>&1 | cat
(trap 'echo trapped' EXIT; true); coproc cat; echo co >&"${COPROC[1]}"; read -r y <&"${COPROC[0]}"; echo "$y"; kill $COPROC_PID
mkfifo f; (echo fifo > f) & cat f; wait; for i in 1 2 3; do (exit $i) || echo -n "$? "; done; echo
find . -name f -exec basename {} \; | xargs -n1 echo; tar cf - f 2>/dev/null | tar tf - ; awk 'BEGIN{print 1/4}'
printf '%s\n' b a | sed s/a/z/ | sort; test -w . && echo rights; echo done
ulimit -n > /dev/null; kill -0 $$; sleep 0.01 & wait $!; date -u -d @0 +%F; mktemp > t; test -f "$(cat t)" && echo temp
"""


@test()
def bash(t):
    same(t, "bash", "x.sh", before=lambda t: t.write("p/x.sh", BASH))


GIT = r"""
set -e
export HOME=$PWD/home GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
mkdir home; git config --global user.email a@b; git config --global user.name n; git config --global init.defaultBranch main
git init -q r; cd r; echo one > a; mkdir d; echo two > d/b; git add -A; git commit -qm first
git checkout -qb side; echo three >> a; git commit -qam second; git checkout -q main; git merge -q --no-ff -m merged side
git log --oneline --graph; git status --short; git tag v1; git clone -q . ../c; git -C ../c log --format=%H -1
git gc -q; git fsck --no-progress; git stash list; git diff HEAD~1 --stat; git archive HEAD | tar t
git worktree add -q ../w; git blame a | wc -l; git rev-parse HEAD; git grep -n two; git reset -q --hard HEAD~1; cat a
"""


@test(timeout=90)
def git(t):
    same(t, "bash", "x.sh", before=lambda t: t.write("p/x.sh", GIT))


MAKEFILE = "CFLAGS = -O2 -Wall -pthread\nall: prog\n\t./prog\nprog: main.o lib.o\n\t$(CC) $(CFLAGS) -o $@ $^ -lm\n" \
           "%.o: %.c lib.h\n\t$(CC) $(CFLAGS) -c -o $@ $<\n"
MAIN = '#include "lib.h"\n#include <stdio.h>\n#include <pthread.h>\n#include <math.h>\n' \
       'static void *f(void *p) { *(int *)p = add(40, 2); return 0; }\n' \
       'int main(void) { pthread_t t; int r = 0; pthread_create(&t, 0, f, &r); pthread_join(t, 0);\n' \
       ' printf("%d %.3f\\n", r, sqrt(2)); return 0; }\n'


@test(timeout=90)
def gcc_and_make(t):
    def before(t):
        t.write("p/Makefile", MAKEFILE)
        t.write("p/main.c", MAIN)
        t.write("p/lib.h", "int add(int, int);\n")
        t.write("p/lib.c", '#include "lib.h"\nint add(int a, int b) { return a + b; }\n')
    run = same(t, "make", "-s", "-j2", before=before, after=lambda t: sorted(os.listdir(f"{t.ws}/p")))
    t.has(run.text, "42 1.414")


PERL = r"""use strict; use POSIX; use File::Temp; use Socket; use IO::Handle; use Digest::SHA 'sha256_hex'; use Time::HiRes;
print sha256_hex('x'), "\n", join(',', map { $_ * 2 } 1 .. 5), "\n", `echo backtick`, POSIX::floor(2.7), "\n";
my $t = File::Temp->new; print $t 'x'; print -e $t->filename ? "temp\n" : "no\n";
socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die; $a->autoflush(1);
if (my $pid = fork) { print $a "ping\n"; waitpid $pid, 0; print $? >> 8, "\n" } else { my $l = <$b>; exit length $l }
open my $p, '-|', 'seq', 3 or die; print <$p>; local $SIG{ALRM} = sub { print "alarm\n" }; alarm 1; sleep 2;
"""


@test()
def perl(t):
    same(t, "perl", "x.pl", before=lambda t: t.write("p/x.pl", PERL))


@test(cases=["python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'",
             "python3 -m unittest -q x.py && python3 -m compileall -q . && python3 -m json.tool <<< '[1]'",
             "printf '1\\n2\\n' | sort | uniq -c; ls -l / >/dev/null; df . >/dev/null; ps ax >/dev/null; id -un >/dev/null",
             "tar czf a.tgz x.py && tar xzf a.tgz && gzip -k x.py && zcat x.py.gz | cmp - x.py && xz -k x.py && ls",
             "touch a; cp -a a b; ln -s a l; chmod 600 b; stat -c '%a %s' a b; rm -rf a b l; find . | sort",
             "nproc >/dev/null; getconf PAGE_SIZE; locale >/dev/null; hostname >/dev/null; time true; true",
             "timeout 1 sleep 3; echo $?; nice true; nohup true; setsid -w true; stdbuf -o0 echo x; flock l echo y"])
def everyday_tools(t, script):
    def before(t):
        t.write("p/x.py", "import unittest\nclass A(unittest.TestCase):\n  def test_a(self): self.assertTrue(True)\n")
    control = []
    for runner, extra in ((t.plain, {}), (t.sbox, {"opts": ["--quiet"]})):
        shutil.rmtree(f"{t.ws}/p", ignore_errors=True)
        t.mkdir("p")
        before(t)
        control.append(runner("bash", "-c", script, cwd=f"{t.ws}/p", **extra))
    t.equal((control[1].code, control[1].text), (control[0].code, control[0].text), control[1])

# SPDX-License-Identifier: Apache-2.0
"""Other languages under agent.ini: a program that does a bit of everything, and its tests."""
import re

from same import need, program_test, same

RUBY = r"""
require 'socket'; require 'tempfile'; require 'open3'; require 'json'; require 'etc'; require 'minitest/autorun'
class All < Minitest::Test
  def test_threads; q = Queue.new; 8.times.map { |i| Thread.new { q << i } }.each(&:join); assert_equal 8, q.size; end
  def test_fork; r, w = IO.pipe; pid = fork { w.write 'child'; exit! 3 }; w.close
    assert_equal 'child', r.read; Process.wait pid; assert_equal 3, $?.exitstatus; end
  def test_socket; s = TCPServer.new('127.0.0.1', 0); t = Thread.new { c = s.accept; c.puts 'hi'; c.close }
    assert_equal "hi\n", TCPSocket.new('127.0.0.1', s.addr[1]).gets; t.join; end
  def test_temporary; Tempfile.create('x') { |f| f.write 'x'; f.flush; assert_equal 1, File.size(f.path) }; end
  def test_child; out, status = Open3.capture2('tr a-z A-Z', stdin_data: 'up'); assert_equal ['UP', true], [out, status.success?]; end
  def test_user; assert Etc.getpwuid(Process.uid).name; assert File.directory?(Dir.home); end
end
"""

PHP = r"""<?php
echo json_encode(['a' => 1, 'b' => hash('sha256', 'x')]), implode(' ', get_loaded_extensions()), "\n";
$t = tempnam(sys_get_temp_dir(), 'x'); file_put_contents($t, 'x', LOCK_EX); echo filesize($t), "\n"; unlink($t);
$p = proc_open(['tr', 'a-z', 'A-Z'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
fwrite($pipes[0], 'up'); fclose($pipes[0]); echo stream_get_contents($pipes[1]), proc_close($p), "\n";
$s = stream_socket_server('tcp://127.0.0.1:0'); $c = stream_socket_client('tcp://' . stream_socket_get_name($s, false));
fwrite(stream_socket_accept($s), "hi\n"); echo fgets($c), date('Y', 0), preg_match('/a(b)/', 'ab'), "\n";
assert(array_sum(array_map(fn($x) => $x * $x, range(1, 4))) === 30); echo "passed\n";
"""

LUA = r"""
local f = assert(io.popen('echo child')); print(f:read('a')); print(f:close())
local name = os.tmpname(); local t = assert(io.open(name, 'w')); t:write('x'); t:close(); print(os.remove(name))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i * i) end end); print(co(), co(), co())
print(os.execute('exit 3')); print(string.format('%.3f', math.sqrt(2)), os.date('!%Y', 0), #os.getenv('HOME') > 0)
assert(pcall(error, 'x') == false); print('passed')
"""

R = r"""
library(parallel)
cat(sum(unlist(mclapply(1:8, function(n) n^2, mc.cores = 2))), "\n")
f <- tempfile(); writeLines("x", f); stopifnot(file.exists(f)); cat(system("echo child", intern = TRUE), "\n")
fit <- lm(mpg ~ wt, mtcars); cat(round(coef(fit), 3), "\n"); png("plot.png", type = "cairo"); dev.off() -> done
stopifnot(all.equal(solve(diag(3)), diag(3)), nchar(path.expand("~")) > 0); cat("passed\n")
"""

JAVA = r"""
import java.net.*; import java.nio.file.*; import java.util.*; import java.util.concurrent.*; import java.util.stream.*;
public class X {
  static void check(boolean holds) { if (!holds) throw new AssertionError(); }
  public static void main(String[] args) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Integer>> all = new ArrayList<>();
    for (int i = 0; i < 20; i++) { int n = i; all.add(pool.submit(() -> n * n)); }
    int sum = 0; for (Future<Integer> f : all) sum += f.get(); pool.shutdown(); System.out.println(sum);
    try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread t = new Thread(() -> { try (Socket c = s.accept()) { c.getOutputStream().write(7); } catch (Exception e) { } });
      t.start(); System.out.println(new Socket(s.getInetAddress(), s.getLocalPort()).getInputStream().read()); t.join();
    }
    Process p = new ProcessBuilder("tr", "a-z", "A-Z").start(); p.getOutputStream().write("up".getBytes()); p.getOutputStream().close();
    System.out.println(new String(p.getInputStream().readAllBytes()) + p.waitFor());
    Path temp = Files.createTempFile("x", null); Files.writeString(temp, "x"); check(Files.size(temp) == 1); Files.delete(temp);
    check(InetAddress.getLocalHost() != null); check(new java.io.File(System.getProperty("user.home")).isDirectory());
    System.out.println(IntStream.range(0, 1000).parallel().sum());
    System.out.println("passed");
  }
}
"""

GO = {
    "go.mod": "module example.test/x\n\ngo 1.19\n",
    "x.go": """package x

func Add(a, b int) int { return a + b }
""",
    "x_test.go": """package x

import ("net"; "os"; "os/exec"; "os/user"; "sync"; "testing")

func TestAdd(t *testing.T) { if Add(40, 2) != 42 { t.Fatal("no") } }
func TestGoroutines(t *testing.T) {
	var w sync.WaitGroup; var m sync.Mutex; n := 0
	for i := 0; i < 100; i++ { w.Add(1); go func() { m.Lock(); n++; m.Unlock(); w.Done() }() }
	w.Wait(); if n != 100 { t.Fatal(n) }
}
func TestChild(t *testing.T) { out, err := exec.Command("echo", "hi").Output(); if err != nil || string(out) != "hi\\n" { t.Fatal(err) } }
func TestListen(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0"); if err != nil { t.Fatal(err) }
	go net.Dial("tcp", l.Addr().String()); c, err := l.Accept(); if err != nil { t.Fatal(err) }; c.Close()
}
func TestTemp(t *testing.T) { if err := os.WriteFile(t.TempDir()+"/f", []byte("x"), 0600); err != nil { t.Fatal(err) } }
func TestUser(t *testing.T) { if _, err := user.Current(); err != nil { t.Fatal(err) } }
""",
    "cmd/main.go": """package main

import ("example.test/x"; "fmt")

func main() { fmt.Println(x.Add(40, 2)) }
""",
}

RUST = {
    "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """//! ```
//! assert_eq!(x::add(1, 2), 3);
//! ```
pub fn add(a: i32, b: i32) -> i32 { a + b }
#[cfg(test)]
mod tests {
    use std::{io::Read, net, process::Command, thread};
    #[test] fn adds() { assert_eq!(super::add(40, 2), 42); }
    #[test] fn threads() { assert_eq!((0..8).map(|n| thread::spawn(move || n)).map(|t| t.join().unwrap()).sum::<i32>(), 28); }
    #[test] fn child() { assert_eq!(Command::new("echo").arg("hi").output().unwrap().stdout, b"hi\\n"); }
    #[test] fn socket() {
        let l = net::TcpListener::bind("127.0.0.1:0").unwrap(); let a = l.local_addr().unwrap();
        thread::spawn(move || drop(l.accept())); let mut b = vec![]; net::TcpStream::connect(a).unwrap().read_to_end(&mut b).unwrap();
    }
    #[test] fn temporary() { let f = std::env::temp_dir().join("x-rust"); std::fs::write(&f, "x").unwrap(); std::fs::remove_file(f).unwrap(); }
}
""",
    "src/main.rs": 'fn main() { println!("{}", x::add(40, 2)); }\n',
}


def lay(files):
    def before(t):
        for name, text in files.items():
            t.write(f"p/{name}", text)
    return before


def no_times(text):
    """Times, seeds and rates differ from run to run."""
    return re.sub(r"--seed \d+|\(cached\)|\d+\.\d+ ?m?s\b|in \d+\.\d+s?|\d+\.\d+ (runs|assertions)/s", "N", text)


@program_test()
def ruby(t):
    run = same(t, "ruby", "x.rb", "--seed", "1", before=lay({"x.rb": RUBY}), scrub=no_times)
    t.has(run.text, "0 failures, 0 errors, 0 skips")


@program_test()
def php(t):
    run = same(t, "php", "x.php", before=lay({"x.php": PHP}))
    t.has(run.text, "passed")


@program_test()
def maven(t):
    same(t, "mvn", "-v", denied=None)


@program_test()
def pascal(t):
    need("fpc")
    run = same(t, "sh", "-c", "fpc -v0 x.pas >log && ./x", before=lay({"x.pas": "begin writeln('passed'); end.\n"}))
    t.has(run.text, "passed")


@program_test()
def lua(t):
    run = same(t, "lua5.4", "x.lua", before=lay({"x.lua": LUA}))
    t.has(run.text, "passed")


@program_test()
def r(t):
    run = same(t, "Rscript", "x.R", before=lay({"x.R": R}))
    t.has(run.text, "passed")


@program_test()
def java(t):
    need("javac", "java")
    run = same(t, "bash", "-c", "javac X.java && java X && java X.java", before=lay({"X.java": JAVA}))
    t.equal(run.text.count("passed"), 2)


@program_test()
def go(t):
    need("go")
    script = "go vet ./... && go test ./... && go run ./cmd && go build -o prog ./cmd && ./prog"
    run = same(t, "bash", "-c", script, before=lay(GO), scrub=no_times)
    t.has(run.text, "42\n42\n")


@program_test()
def rust(t):
    need("cargo", "rustc")
    script = "cargo test --offline --jobs 2 -- --test-threads=1 && cargo run --offline --release"
    run = same(t, "bash", "-c", script, before=lay(RUST), scrub=no_times)
    t.has(run.text, "test result: ok. 5 passed")

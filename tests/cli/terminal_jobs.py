# SPDX-License-Identifier: Apache-2.0
"""Job control with a terminal inside a terminal: suspended, in the background, in a pipeline."""
import os
import signal
import time

from sboxtest import PYTHON, descendants, test, wait_until
from terminal_steps import commands, end, leave, sbox, shell


def bring_to_the_front(tty):
    """What reads in the background has stopped; its shell tells of that before its next prompt."""
    for _ in range(50):
        if b"Stopped" in tty.shown:
            break
        time.sleep(0.1)
        tty.send("\n")
    tty.expect("Stopped")
    tty.send("fg\n")
    tty.until(tty.is_raw, "raw")


# ---- jobs of the caller's shell ------------------------------------------------

@test()
def control_z_suspends_sbox_and_fg_goes_on(t):
    tty = shell(t)
    tty.send("stty -a >before\n")
    tty.expect("outer> ")
    tty.send("$S cat\n")
    tty.expect("$S cat\r\n")
    tty.until(tty.is_raw, "raw")
    tty.send("one\n")
    tty.expect("one\r\none")
    tty.send("\x1a")
    tty.expect("Stopped")
    tty.expect("outer> ")
    tty.send("stty size; jobs\n")
    tty.expect("Stopped")
    tty.expect("outer> ")
    tty.resize(44, 111)
    tty.send("fg\n")
    tty.until(tty.is_raw, "raw again")
    tty.send("two\n")
    tty.expect("two\r\ntwo")
    tty.send("\x04")
    tty.expect("outer> ")
    tty.send("stty rows 24 columns 80; stty -a >after\n")
    tty.expect("outer> ")
    t.equal(t.read("after"), t.read("before"))
    t.equal(end(t, "exited")["timing"]["sizes"][-1][1:], [44, 111])
    leave(t, tty)


@test()
def all_of_the_sandbox_stands_still_while_sbox_does(t):
    script = ("import os, time, signal\n"
              "if os.fork() == 0:\n"
              " os.setpgid(0, 0)\n"
              " n = 0\n"
              " while True: n += 1; open('count', 'w').write(str(n)); time.sleep(0.01)\n"
              "time.sleep(0.3)\nos.kill(os.getpid(), signal.SIGSTOP)\nprint('WENT-ON', flush=True)\n"
              "time.sleep(1000)\n")
    t.write("x.py", script)
    tty = shell(t)
    tty.send(f"$S {PYTHON} x.py\n")
    tty.expect("Stopped")
    time.sleep(0.2)
    first = t.read("count")
    time.sleep(0.5)
    t.equal(t.read("count"), first, "the child in another group is stopped as well")
    tty.send("fg\n")
    tty.expect("WENT-ON")
    wait_until(lambda: t.read("count") != first, 5)
    tty.send("\x03")
    tty.expect("outer> ")
    leave(t, tty)


# strace looks for the path in sbox's memory, which is root's to read
@test(callers=("root",))
def what_was_written_before_it_stopped_is_shown(t):
    """Opening the terminal takes so long that sbox hears of the stop before it hears that the program began."""
    slow = "strace -D -qq -o /dev/null -P /proc/self/fd/0 -e trace=openat -e inject=openat:delay_exit=400000"
    tty = shell(t)
    tty.send(f"{slow} $S sh -c 'echo writ\"\"ten; kill -STOP $$; echo went-\"\"on'\n")
    tty.expect("written\r")
    tty.expect("Stopped")
    tty.expect("outer> ")
    tty.send("fg\n")
    tty.expect("went-on")
    tty.expect("outer> ")
    end(t, "exited")
    leave(t, tty)


@test()
def what_goes_on_by_itself_is_watched(t):
    """A timer that sends SIGCONT does not leave a program without its supervisor."""
    script = ("import ctypes, os, signal, time\n"
              "libc = ctypes.CDLL(None, use_errno=True)\n"
              "class Event(ctypes.Structure):\n"
              " _fields_ = [('v', ctypes.c_void_p), ('signo', ctypes.c_int), ('notify', ctypes.c_int),"
              " ('pad', ctypes.c_char * 48)]\n"
              "timer = ctypes.c_void_p()\n"
              "event = Event(None, signal.SIGCONT, 0)\n"
              "assert libc.timer_create(0, ctypes.byref(event), ctypes.byref(timer)) == 0\n"
              "spec = (ctypes.c_long * 4)(0, 0, 0, 600000000)\n"
              "assert libc.timer_settime(timer, 0, spec, None) == 0\n"
              "os.kill(os.getpid(), signal.SIGSTOP)\n"
              "while True: pass\n")
    t.write("x.py", script)
    tty = shell(t)
    tty.send(f"$S --set time.wall=3s --set time.grace=500ms {PYTHON} x.py\n")
    tty.expect("Stopped")
    tty.expect("outer> ")
    wait_until(lambda: t.records()[-1]["type"] == "run.end", 15)
    end(t, "timeout")
    leave(t, tty)


@test()
def the_wall_clock_runs_for_what_is_suspended(t):
    tty = shell(t)
    tty.send("$S --set time.wall=2s --set time.grace=500ms cat\n")
    tty.until(tty.is_raw, "raw")
    tty.send("\x1a")
    tty.expect("Stopped")
    wait_until(lambda: t.records()[-1]["type"] == "run.end", 15)
    end(t, "timeout")
    leave(t, tty)


@test()
def in_the_background_it_stops_when_it_reads(t):
    tty = shell(t)
    tty.send("$S sh -c 'echo said-from-behind; read x; echo got-$x' &\n")
    tty.expect("said-from-behind\r")
    bring_to_the_front(tty)
    tty.send("it\n")
    tty.expect("got-it")
    tty.expect("outer> ")
    end(t, "exited")
    leave(t, tty)


@test()
def begun_in_the_background_it_has_the_modes_that_fg_hands_over(t):
    tty = shell(t)
    tty.send("stty -a >before\n")
    tty.expect("outer> ")
    # the shell waits for a line by then, in the modes of its line editor
    tty.send("$S sh -c 'echo $$ >begun; read x; stty -a >inside; cat' &\n")
    wait_until(lambda: os.path.exists(f"{t.ws}/begun"), 10)
    bring_to_the_front(tty)
    tty.send("go\n")
    wait_until(lambda: os.path.exists(f"{t.ws}/inside") and t.read("inside"), 10)
    t.equal(t.read("inside"), t.read("before"))
    tty.send("line\n")
    tty.expect("line\r\nline")
    tty.send("\x04")
    tty.expect("outer> ")
    end(t, "exited")
    leave(t, tty)


@test()
def bg_goes_on_behind(t):
    tty = shell(t)
    tty.send("$S sh -c 'sleep 1; echo after-the-sleep; sleep 0.2'\n")
    tty.until(tty.is_raw, "raw")
    # a shell that is just making a process cannot be stopped, here as anywhere (vfork(2))
    wait_until(lambda: "sleep 1 " in commands(tty.pid), 10)
    tty.send("\x1a")
    tty.expect("Stopped")
    tty.send("bg\n")
    tty.expect("after-the-sleep")
    tty.send("wait; echo waited-$?\n")
    tty.expect("waited-0")
    end(t, "exited")
    leave(t, tty)


@test()
def stop_and_continue_from_outside(t):
    tty = shell(t)
    tty.send("$S cat\n")
    tty.until(tty.is_raw, "raw")
    pid = wait_until(lambda: next((p for p in descendants(tty.pid)), None), 5)
    os.kill(pid, signal.SIGSTOP)
    tty.expect("Stopped")
    tty.send("echo shell-has-it\n")
    tty.expect("shell-has-it\r\n")
    tty.send("fg\n")
    tty.until(tty.is_raw, "raw")
    tty.send("hello\n")
    tty.expect("hello\r\nhello")
    os.kill(pid, signal.SIGTSTP)
    tty.expect("Stopped")
    tty.send("fg\n")
    tty.until(tty.is_raw, "raw")
    tty.send("again\n")
    tty.expect("again\r\nagain")
    tty.send("\x04")
    tty.expect("outer> ")
    leave(t, tty)


@test()
def a_pipeline_shares_the_terminal(t):
    """Keys are the other's until the program asks; Ctrl-Z stops both."""
    tty = shell(t)
    tty.send("$S sh -c 'echo from-sbox; sleep 0.5' | (read a; echo other-read $a; read b </dev/tty;"
             " echo other-got $b)\n")
    tty.expect("other-read from-sbox")
    t.check(not tty.is_raw(), "the terminal is not touched")
    tty.send("typed-for-other\n")
    tty.expect("other-got typed-for-other")
    tty.expect("outer> ")
    tty.send("$S sh -c 'read x; echo sbox-got $x' | cat\n")
    tty.until(tty.is_raw, "raw when it reads")
    tty.send("for-sbox\n")
    tty.expect("sbox-got for-sbox")
    tty.expect("outer> ")
    tty.send("echo text | $S sh -c 'cat; read x </dev/tty; echo and $x'\n")
    tty.expect("text")
    tty.until(tty.is_raw, "raw when it reads")
    tty.send("keys\n")
    tty.expect("and keys")
    tty.expect("outer> ")
    leave(t, tty)


@test()
def control_z_in_a_pipeline(t):
    tty = shell(t)
    tty.send("$S sh -c 'sleep 1; echo sle\"\"pt' | cat\n")
    time.sleep(0.5)
    tty.send("\x1a")
    tty.expect("Stopped")
    time.sleep(1.5)
    t.check(b"slept" not in tty.shown, "the program is stopped too")
    tty.send("fg\n")
    tty.expect("slept")
    tty.expect("outer> ")
    leave(t, tty)


@test()
def a_script_is_suspended_as_a_whole(t):
    t.write("script.sh", "#!/bin/sh\n$S cat\necho script-done\n", 0o755)
    tty = shell(t)
    tty.send("export S; ./script.sh\n")
    tty.until(tty.is_raw, "raw")
    tty.send("\x1a")
    tty.expect("Stopped")
    tty.expect("outer> ")
    tty.send("fg\n")
    tty.until(tty.is_raw, "raw")
    tty.send("\x04")
    tty.expect("script-done")
    leave(t, tty)


@test()
def without_a_shell_nothing_can_be_suspended(t):
    """As a terminal's only program: stopping would be for ever, so it goes on."""
    tty = sbox(t, "cat")
    tty.until(tty.is_raw, "raw")
    tty.send("\x1a")
    tty.send("on\n")
    tty.expect("on\r\non")
    tty.send("\x04")
    t.equal(tty.wait(), 0)
    tty.as_before()

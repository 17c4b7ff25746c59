# SPDX-License-Identifier: Apache-2.0
"""What a program nobody vouches for might try, and what it gets inside sbox."""

import os
import pathlib
import socket
import sys


def attempt(what, action):
    try:
        result = action()
    except OSError as error:
        result = f"no ({error.strerror or error})"
    print(f"  {what:<34} {result}")


def write_here():
    pathlib.Path("result.txt").write_text("6 * 7 = 42\n")
    return "yes"


def read_shadow():
    return f"yes, {len(pathlib.Path('/etc/shadow').read_bytes())} bytes!"


def list_home():
    names = os.listdir(pathlib.Path.home())
    return f"yes, {len(names)} names" if names else "an empty one of its own"


def connect():
    with socket.create_connection(("192.0.2.1", 80), timeout=2):
        return "yes!"


def become_root():
    os.setuid(0)
    return "yes!"


print(f"hello from python {sys.version.split()[0]}, pid {os.getpid()}, uid {os.getuid()}")
attempt("write into the folder it was given", write_here)
attempt("read /etc/shadow", read_shadow)
attempt("look into the home folder", list_home)
attempt("connect to another machine", connect)
attempt("become root", become_root)

# SPDX-License-Identifier: Apache-2.0
"""What the tests of sbox learn share: learning, the lines of a profile, planted credentials."""
import os
import re
import subprocess

# As they lie in a home folder and a workspace. None may be seen, whatever a program asks for.
SECRET = "planted-credential-7f3a"
IN_HOME = (".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".npmrc",
           ".gnupg/private-keys-v1.d/key", ".docker/config.json", ".bash_history", ".git-credentials",
           "work/deep/.env", "certs/server.key")
IN_WORKSPACE = (".env", ".env.local", "conf/id_rsa", "conf/credentials.json")


def plant(t):
    for name in IN_HOME:
        t.write(f"{t.home}/{name}", f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n")
    for name in IN_WORKSPACE:
        t.write(name, f"KEY={SECRET}\n")
    return [f"{t.home}/{n}" for n in IN_HOME] + [f"{t.ws}/{n}" for n in IN_WORKSPACE]


def learn(t, *argv, opts=(), output=None, stdin=b"", timeout=120, cwd=None, env=None):
    """sbox learn: (code, out, err, text of the profile or None)."""
    path = output or f"{t.dir}/learnt/new.ini"
    if not os.path.isdir(os.path.dirname(path)):
        t.mkdir(os.path.dirname(path))
    child = t.popen([t.sbox_path, "learn", "--store", t.store, *opts, "-o", path, "--", *argv],
                    cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    out, err = t.communicate(child, stdin, timeout)
    text = t.read(path).decode(errors="surrogateescape") if os.path.exists(path) else None
    return child.returncode, out, err.decode(errors="replace"), text


class Line:
    """A line of a profile, with the ones that it goes on in, and the comment above it."""

    def __init__(self, number, section, comment, text):
        self.number, self.section, self.comment, self.text = number, section, comment, text
        self.count = 1

    def is_spare(self):
        return "head-room" in self.comment or self.comment.startswith("takes away")

    def __repr__(self):
        return f"[{self.section}] {self.text} ({self.comment})"


def lines_of(text):
    found, section, comment = [], None, ""
    for number, line in enumerate(text.split("\n")):
        if line.startswith("["):
            section = line.strip("[]")
        elif line.startswith(";"):
            comment = line[2:]
        elif line.startswith(" ") and found:
            found[-1].count += 1
        elif re.match(r"\w+ ?=", line):
            found.append(Line(number, section, comment, line))
            comment = ""
    return found


def without(text, line):
    lines = text.split("\n")
    del lines[line.number:line.number + line.count]
    return "\n".join(lines)


def values(text, section, key):
    """Of a list that is written one value a line."""
    return [line.text.split("=", 1)[1].strip() for line in lines_of(text)
            if line.section == section and line.text.split("=")[0].strip() == key]

# SPDX-License-Identifier: Apache-2.0
"""sbox profiles, the schema, and completion as the shells ask for it."""
import json
import os
import shutil
import subprocess

from sboxtest import descendants, Skip, test, wait_until
from terminals import Terminal

SHIPPED = {"agent", "base", "build", "fetch", "interactive", "node", "python", "review", "reference", "strict"}


def listed(t, **keywords):
    run = t.plain(t.sbox_path, "profiles", "--json", **keywords)
    t.equal((run.code, run.err), (0, b""), run)
    return json.loads(run.text)


@test()
def profiles_are_listed(t):
    text = t.plain(t.sbox_path, "profiles")
    t.equal((text.code, text.err), (0, b""), text)
    rows = listed(t)
    names = [r["name"] for r in rows]
    t.check(SHIPPED <= set(names), names)
    lines = text.text.splitlines()
    t.equal([line.split()[0] for line in lines], names, "one line each")
    for row, line in zip(rows, lines):
        t.check(row["description"] and row["description"] in line, line)
        t.equal(line.split()[1], row["from"])
        t.equal(row["path"].rsplit("/", 1)[1], row["name"] + ".ini")
        t.equal(len(row["sha256"]), 64)


@test()
def where_one_stands_does_not_matter(t):
    for folder in (t.home, "/", "/tmp"):
        rows = listed(t, cwd=folder)
        t.check(all(r["description"] for r in rows), rows)
        t.equal([r["name"] for r in rows if r["unusable"]], ["review"], folder)


@test()
def what_cannot_be_used_yet_says_so(t):
    rows = {r["name"]: r for r in listed(t)}
    what = "[file] writes is missing"
    t.has(rows["review"]["unusable"], what)
    run = t.sbox("true", profile="review")
    t.equal(run.code, 125)
    t.has(run.errtext, what)
    line = next(x for x in t.plain(t.sbox_path, "profiles").text.splitlines() if x.startswith("review"))
    t.has(line, "[cannot be used: [file] writes is missing here")


@test()
def own_profiles_come_first(t):
    folder = f"{t.home}/.config/sbox/profiles"
    t.write(f"{folder}/agent.ini", "[profile]\nextends = base\ndescription = my own agent\n")
    t.write(f"{folder}/mine.ini", "[profile]\nextends = strict\ndescription = mine\n")
    t.write(f"{folder}/broken.ini", "[file]\nraed = /x\n")
    t.write(f"{folder}/notes.txt", "no profile")
    rows = listed(t)
    t.equal([r["name"] for r in rows if r["from"] == "user"], ["agent", "broken", "mine"])
    agents = [r for r in rows if r["name"] == "agent"]
    t.equal([r["shadowed_by"] for r in agents], [None, f"{folder}/agent.ini"])
    broken = next(r for r in rows if r["name"] == "broken")
    t.has(broken["unusable"], "raed")
    text = t.plain(t.sbox_path, "profiles").text
    t.has(text, f"[not used: {folder}/agent.ini comes first]")
    t.has(text, "mine         user     mine\n")


@test()
def usage(t):
    run = t.plain(t.sbox_path, "profiles", "agent")
    t.equal(run.code, 125)
    t.has(run.errtext, "usage: sbox profiles [--json|--registries]")


@test()
def schema_and_reference(t):
    schema = json.loads(t.plain(t.sbox_path, "check", "--schema").text)
    t.equal(schema["properties"]["file"]["properties"]["writes"]["enum"], ["keep", "discard", "review"])
    reference = t.plain(t.sbox_path, "check", "--reference").text
    with open(f"{t.tree}/share/sbox/profiles/reference.ini") as file:
        t.equal(reference, file.read())
    for section, keys in schema["properties"].items():
        for key in keys["properties"]:
            t.check(f"\n{key} =" in reference or key == "extends", f"{section}.{key}")


# ---- completion ------------------------------------------------------------

def complete(t, *words):
    run = t.plain(t.sbox_path, "--complete", *words)
    t.equal((run.code, run.err), (0, b""), run)
    return [line.split("\t")[0] for line in run.text.splitlines()]


@test()
def completion_is_asked_from_the_binary(t):
    t.equal(complete(t, "ch"), ["check", ":command 0"])
    t.check({"run", "show", "profiles", "audit", ":command 0"} <= set(complete(t, "")), "verbs")
    usage_text = t.plain(t.sbox_path, "--help").text
    options = complete(t, "--")
    t.check(len(options) > 5 and all(o in usage_text for o in options), options)
    t.check(SHIPPED <= set(complete(t, "--profile", "")), "profiles")
    t.equal(complete(t, "--profile", "str"), ["strict"])
    t.equal(complete(t, "--profile", "./"), [":files"])
    t.equal(complete(t, "show", "ba"), ["base"])
    t.equal(complete(t, "show", "base", "--"), ["--json", "--diff"])
    t.equal(complete(t, "--json", "--set", "file.write"), ["file.write=", "file.writes="])
    t.equal(complete(t, "--set", "file.writes="),
            ["file.writes=keep", "file.writes=discard", "file.writes=review"])
    t.equal(complete(t, "--set", "file.toolchains=py"), ["file.toolchains=pyenv"])
    t.equal(complete(t, "--store", ""), [":folders"])
    t.equal(complete(t, "--profile", "agent", "pyth"), [":command 2"])
    t.equal(complete(t, "python3", "--"), [":command 0"], "nothing behind the program is sbox's")
    t.equal(complete(t, "run", "--quiet", "--", "--"), [":command 3"])
    t.equal(complete(t, "audit", "ver"), ["verify"])
    t.equal(complete(t, "explain", "-"), ["--last", "--json", "--all", "--apply", "--store"])
    t.equal(complete(t, "learn", "--allow-n"), ["--allow-net"])
    t.equal(complete(t, "learn", "--profile", "str"), ["strict"])
    t.equal(complete(t, "learn", "-o", ""), [":files"])
    t.equal(complete(t, "learn", "-o", "x.ini", "--trim", "py"), [":command 4"])
    t.check("--watch-fd" not in options, "what is not for people is not offered")


@test()
def no_run_and_no_record(t):
    complete(t, "python3", "x.py", "")
    t.check(not os.path.exists(f"{t.home}/.local/state/sbox"), "nothing was made")


def shell(t, name, *argv):
    if not shutil.which(name, path="/usr/local/bin:/usr/bin:/bin"):
        raise Skip(f"{name} is not installed")
    return t.plain(name, *argv, env={"PATH": f"{t.tree}/bin:/usr/local/bin:/usr/bin:/bin"},
                   stdin=b"", timeout=60)


SOURCE = os.path.join(os.path.dirname(__file__), "../../packaging/completion")
BASH = """
source "$1"
ask() {
    COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
    # as readline splits: "=" and ":" are words of their own
    mapfile -t COMP_WORDS < <(sed -E 's/([=:])/\\n\\1\\n/g; s/ +/\\n/g' <<<"$1" | sed '/^$/d')
    [[ $1 == *[[:space:]] ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    compopt() { :; }
    _sbox
    echo "$1 -> ${COMPREPLY[*]}"
}
shift
for line; do ask "$line"; done
"""


@test()
def bash_completes(t):
    script = t.write(f"{t.dir}/sbox.bash", open(f"{SOURCE}/sbox.bash").read())
    t.write("data.txt", "")
    lines = {"sbox pro": "profiles", "sbox --profile stri": "strict",
             "sbox --set file.writes=di": "discard", "sbox --set file.scratch_e": "file.scratch_exec=",
             "sbox check ba": "base", "sbox --quiet python3 da": "data.txt",
             "sbox --profile ./da": "./data.txt"}
    run = shell(t, "bash", "-c", BASH, "bash", script, *lines)
    # bash does not wait for what it reads from with <(...)
    wait_until(lambda: not descendants(os.getpid()), 10)
    for line, wanted in lines.items():
        given = next(x for x in run.text.splitlines() if x.startswith(f"{line} -> "))
        t.check(wanted in given.split(" -> ")[1].split(), f"{line}: {run}")


@test()
def bash_leaves_the_equals_sign_as_it_is(t):
    tty = Terminal(t, ["bash", "--norc", "-i"],
                   env={"PATH": f"{t.tree}/bin:/usr/local/bin:/usr/bin:/bin", "PS1": "ask> "})
    tty.expect("ask> ")
    tty.send(f"source {SOURCE}/sbox.bash; echo re''ady\n")
    tty.expect("ready")
    tty.send("sbox --set network.mo\t")
    tty.expect("network.mode=")
    tty.send("al\t")
    tty.expect("allow ")
    tty.send("\x15exit\n")
    tty.wait()


# A zsh in a terminal of its own, since its completion runs in the line editor only.
ZSH = r"""
zmodload zsh/zpty
zpty z 'PS1="" zsh -f -i'
say() { zpty -w z "$1"; }
say "fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word; setopt listrowsfirst; zstyle ':completion:*' verbose no"
say "PROMPT='';echo READY"
zpty -r z reply '*READY*READY*'
zpty -w -n z $'sbox --profile stri\t'
sleep 2
zpty -w -n z $' --set file.writes=di\t'
sleep 2
zpty -w -n z $'\x01echo [\x05]\n'
sleep 1
out=""
while zpty -r -t z part; do out+=$part; done
print -r -- "$out"
zpty -d z
"""


@test()
def zsh_completes(t):
    folder = t.mkdir(f"{t.dir}/zsh")
    t.write(f"{folder}/_sbox", open(f"{SOURCE}/_sbox").read())
    run = shell(t, "zsh", "-f", "-c", ZSH, "zsh", folder)
    # its zpty module leaves a shell that ends by itself
    wait_until(lambda: not descendants(os.getpid()), 10)
    t.has(run.text, "--profile strict --set file.writes=discard")


@test()
def fish_completes(t):
    script = t.write(f"{t.dir}/sbox.fish", open(f"{SOURCE}/sbox.fish").read())
    for line, wanted in (("sbox pro", "profiles"), ("sbox --profile stri", "strict"),
                         ("sbox --set file.writes=di", "file.writes=discard")):
        run = shell(t, "fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
        t.check(wanted in [x.split("\t")[0] for x in run.text.splitlines()], f"{line}: {run}")

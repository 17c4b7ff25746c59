# SPDX-License-Identifier: Apache-2.0
"""Real package installs with the profile fetch, through whatever the package managers of this
machine are configured with: read at run time, written down nowhere."""
import json
import os
import re
import shutil

from network_lab import network
from sboxtest import Skip, test

PACKAGE = "is-number"  # small, without dependencies


def registries(t):
    """`sbox profiles --registries` in this test's home; the rules."""
    run = t.plain(t.sbox_path, "profiles", "--registries", timeout=120)
    if run.code != 0:
        raise Skip(f"no package manager says where it fetches from: {run.errtext}")
    with open(f"{t.home}/.config/sbox/profiles/registries.ini") as file:
        return re.findall(r"^allow = (\S+)$", file.read(), re.M)


def reachable(t, url):
    run = t.plain("curl", "-sS", "-o", "/dev/null", "-m", "20", url, timeout=60)
    if run.code != 0:
        raise Skip("the registry that this machine is configured with is not reachable: "
                   f"curl ends with {run.code}")


def everything_else_is_refused(t, run):
    t.check(run.denied("resolve", "elsewhere.example.com"), run)
    t.equal(network(run)["gate"], "served")


ELSE = "; curl -sS -m 9 https://elsewhere.example.com/ >/dev/null 2>&1; exit $code"


@test(timeout=300)
def npm_install(t):
    if not shutil.which("npm"):
        raise Skip("npm is not installed")
    url = t.plain("npm", "config", "get", "registry").text.strip()
    reachable(t, url)
    registries(t)
    t.write("package.json", "{}")
    run = t.sbox("sh", "-c", f"npm install --no-audit --no-fund {PACKAGE}; code=$?" + ELSE,
                 profile="fetch", opts=["--quiet"], timeout=240)
    t.equal(run.code, 0, run)
    with open(f"{t.ws}/node_modules/{PACKAGE}/package.json") as file:
        t.equal(json.load(file)["name"], PACKAGE)
    everything_else_is_refused(t, run)
    closed = t.sbox("npm", "install", "--no-audit", "--no-fund", "--fetch-retries=0", PACKAGE,
                    profile="fetch", sets=["network.allow=elsewhere.example.com:443"],
                    opts=["--quiet"], cwd=t.mkdir("other"), timeout=120)
    t.check(closed.code != 0, "without the registry's name there is no install")


@test(timeout=300)
def apt_get_download(t):
    if not shutil.which("apt-get"):
        raise Skip("apt-get is not installed")
    uri = t.plain("apt-get", "download", "--print-uris", "hostname").text.split("'")
    if len(uri) < 2:
        raise Skip("apt-get knows no package: its lists are empty")
    reachable(t, uri[1])
    registries(t)
    profile = t.profile("""[profile]
description = apt beside fetch
extends = fetch
[file]
read = /etc/apt
       /var/lib/apt
       /var/lib/dpkg
       -/usr/share/keyrings
       -/etc/dpkg
""")
    run = t.sbox("sh", "-c", "mkdir -p /tmp/c/archives/partial; apt-get -o Dir::Cache=/tmp/c "
                 "-o APT::Sandbox::User= download hostname; code=$?" + ELSE, profile=profile,
                 opts=["--quiet"], timeout=240)
    t.equal(run.code, 0, run)
    t.check([name for name in os.listdir(t.ws) if name.startswith("hostname_")], run)
    everything_else_is_refused(t, run)


@test()
def names_come_from_the_clients(t):
    """What is configured is what is allowed; a private address is marked as one."""
    t.write(f"{t.home}/.npmrc", "registry=https://packages.example.org:8443/npm/\n")
    t.write(f"{t.home}/.cargo/config.toml", "[source.mine]\nregistry = \"sparse+https://crates.example.org/\"\n")
    rules = registries(t)
    for client, rule in (("npm", "packages.example.org:8443"), ("cargo", "crates.example.org:443")):
        # on the path of what is tested, which is not always that of the tests
        if t.plain("sh", "-c", f"command -v {client}").code == 0:
            t.check(rule in rules, (client, rules))
    shown = t.plain(t.sbox_path, "show", "fetch")
    t.equal(shown.code, 0, shown)
    for rule in rules:
        t.has(shown.text, rule)


@test()
def fetch_without_names_reaches_nothing(t):
    run = t.sbox("curl", "-sS", "-m", "9", "https://elsewhere.example.com/", profile="fetch",
                 opts=["--quiet"])
    t.equal(run.code, 6, run)
    t.check(run.denied("resolve", "elsewhere.example.com"), run)

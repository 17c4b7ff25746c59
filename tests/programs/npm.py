# SPDX-License-Identifier: Apache-2.0
"""npm: three published packages are installed from a cache and test themselves, as outside."""
import json
import os
import re
import shutil
import subprocess

from sboxtest import PATH, Skip
from same import need, program_test, same

# Packages that carry their tests, and what these need.
PACKAGES = {
    "json-stable-stringify@1.0.1": ["tape@1.0.4"],
    "deep-equal@1.0.1": ["tape@3.5.0"],
    "concat-map@0.0.1": ["tape@3.5.0"],
}


def npm(t, *argv, cwd):
    """Outside, with the machine's own settings of npm; whatever it fetches lands in the cache."""
    line = ["npm", *argv, "--no-audit", "--no-fund", "--cache", f"{t.ws}/cache"]
    try:
        shown = subprocess.run(line, cwd=cwd, env={**os.environ, "PATH": PATH}, capture_output=True, text=True,
                               timeout=120)
    except subprocess.TimeoutExpired:
        raise Skip(f"npm {argv[0]} cannot fetch within two minutes")
    if shown.returncode != 0:
        raise Skip(f"npm {argv[0]} cannot fetch: {shown.stderr.strip().splitlines()[-1:]}")
    return shown.stdout


def fetch(t, package):
    """The package as published, with a lock file for what its tests need, and nothing installed."""
    os.makedirs(f"{t.ws}/fetch")
    npm(t, "pack", "--silent", package, cwd=f"{t.ws}/fetch")
    archive, = os.listdir(f"{t.ws}/fetch")
    subprocess.run(["tar", "xzf", archive], cwd=f"{t.ws}/fetch", check=True)
    folder = f"{t.ws}/fetch/package"
    with open(f"{folder}/package.json") as file:
        described = json.load(file)
    described["devDependencies"] = dict(need.split("@") for need in PACKAGES[package])
    with open(f"{folder}/package.json", "w") as file:
        json.dump(described, file)
    npm(t, "install", "--ignore-scripts", "--omit-lockfile-registry-resolved=false", cwd=folder)
    shutil.rmtree(f"{folder}/node_modules")
    return folder


def lay(t, folder):
    shutil.rmtree(f"{t.ws}/p")
    shutil.copytree(folder, f"{t.ws}/p", symlinks=True)
    shutil.copytree(f"{t.ws}/cache", f"{t.ws}/p/.cache", symlinks=True)
    subprocess.run(["chown", "-R", f"{t.uid}:{t.gid}", f"{t.ws}/p"], check=True)


def installed(t):
    return sorted(os.listdir(f"{t.ws}/p/node_modules"))


def steady(text):
    return re.sub(r"in \d+m?s|\d+(\.\d+)? ?ms|\d{4}-\d\d-\d\dT\S+", "TIME", text)


SCRIPT = """
set -e
export npm_config_update_notifier=false
npm ci --offline --no-audit --no-fund --cache .cache
npm test --ignore-scripts --cache .cache
"""


@program_test(cases=sorted(PACKAGES))
def ci_offline_and_test(t, package):
    need("node", "npm")
    folder = fetch(t, package)
    run = same(t, "bash", "-c", SCRIPT, before=lambda t: lay(t, folder), after=installed, scrub=steady)
    t.has(run.text, "# pass")


NODE_TEST = {
    "a.test.mjs": """
import test from 'node:test'; import assert from 'node:assert'; import { Worker } from 'node:worker_threads';
import { mkdtempSync, writeFileSync, readFileSync } from 'node:fs'; import { tmpdir } from 'node:os';
test('adds', () => assert.strictEqual(1 + 1, 2));
test('worker threads share memory', async () => {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const code = `const { workerData } = require('worker_threads'); for (let i = 0; i < 1000; i++) Atomics.add(workerData, 0, 1)`;
  await Promise.all([1, 2, 3, 4].map(() => new Promise((done, fail) =>
    new Worker(code, { eval: true, workerData: shared }).on('exit', done).on('error', fail))));
  assert.strictEqual(shared[0], 4000);
});
test('temporary files', () => {
  const folder = mkdtempSync(tmpdir() + '/x-'); writeFileSync(folder + '/f', 'x');
  assert.strictEqual(readFileSync(folder + '/f', 'utf8'), 'x');
});
""",
    "b.test.cjs": """
const { test } = require('node:test'); const assert = require('assert'); const cluster = require('cluster');
const { execFileSync } = require('child_process');
test('a child', () => assert.strictEqual(execFileSync(process.execPath, ['-p', '6*7']).toString(), '42\\n'));
test('skipped', { skip: true }, () => {});
""",
}


@program_test()
def node_test(t):
    """node --test runs each file in a process of its own."""
    need("node")

    def before(t):
        for name, text in NODE_TEST.items():
            t.write(f"p/{name}", text)
    run = same(t, "node", "--test", "--test-reporter=tap", before=before,
               scrub=lambda text: re.sub(r"duration_ms:? [\d.]+", "", text))
    t.has(run.text, "# fail 0")

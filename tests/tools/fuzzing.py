# SPDX-License-Identifier: Apache-2.0
"""How a fuzz target is run, for all tools that run one."""

import os
import re
import subprocess

OPTIONS = ["-timeout=25", "-rss_limit_mb=2048", "-malloc_limit_mb=1024", "-print_final_stats=1", "-use_value_profile=1", "-detect_leaks=0"]
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
FINDING = re.compile(r"(crash|timeout|oom|leak)-[0-9a-f]+$")


def folders(build, target):
    """Where its seeds and its past findings are."""
    made = [f"{build}/tests/fuzz/seeds/{target}", f"tests/fuzz/regress/{target}"]
    return [folder for folder in made if os.path.isdir(folder)]


def run_target(program, build, seconds, corpus, findings, seed=None, runs=None):
    """(status, what it said); what breaks it is in `findings`, what it learnt in `corpus`."""
    target = os.path.basename(program)
    dictionary = f"{build}/tests/fuzz/seeds/{target}.dict"
    command = ["nice", program, f"-max_total_time={seconds}", f"-artifact_prefix={findings}/", *OPTIONS]
    command += [f"-dict={dictionary}"] if os.path.exists(dictionary) else []
    command += [f"-seed={seed}"] if seed else []
    command += [f"-runs={runs}"] if runs else []
    done = subprocess.run([*command, corpus, *folders(build, target)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **ENVIRONMENT}, timeout=seconds + 300)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def stands(program, path):
    """Whether the program takes this one input and nothing breaks."""
    return subprocess.run([program, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env={**os.environ, **ENVIRONMENT}).returncode == 0

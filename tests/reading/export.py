# SPDX-License-Identifier: Apache-2.0
"""Export: OCSF Process Activity with what the class requires, CSV, and the manual's jq lines."""
import csv
import io
import json
import os
import re
import shutil
import subprocess

from sboxtest import PYTHON, Skip, test

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# From the schema of OCSF 1.4.0 (github.com/ocsf/ocsf-schema): required attributes, "at least one" constraints, and
# what an object may have at all.
REQUIRED = {
    "event": ("activity_id", "category_uid", "class_uid", "type_uid", "severity_id", "time", "metadata", "actor",
              "device", "process"),
    "metadata": ("product", "version"), "product": ("name", "vendor_name"), "device": ("type_id",), "file": ("name", "type_id"),
    "fingerprint": ("algorithm_id", "value"),
}
ONE_OF = {
    "process": ("pid", "uid", "cpid"), "device": ("ip", "uid", "name", "hostname", "instance_uid"), "user": ("name", "uid", "account"),
    "actor": ("process", "user", "invoked_by", "session", "app_name", "app_uid", "idp"),
}
MAY_HAVE = {
    "event": set("""activity_id activity_name actor actual_permissions category_name category_uid class_name class_uid count device duration
             end_time enrichments exit_code injection_type injection_type_id launch_type launch_type_id message metadata module observables
             process raw_data requested_permissions severity severity_id start_time status status_code status_detail status_id time
             timezone_offset type_name type_uid unmapped""".split()),
    "metadata": set("""correlation_uid data_classification debug event_code extension extensions is_truncated labels log_level log_name
                log_provider log_version logged_time loggers modified_time original_time processed_time product profiles sequence tags
                tenant_uid uid version""".split()),
    "product": set("cpe_name feature lang name path uid url_string vendor_name version".split()),
    "device": set("""agent_list container created_time desc domain groups hostname hw_info hypervisor image imei_list instance_uid ip location mac
              model name namespace_pid network_interfaces org os owner region risk_level risk_level_id risk_score subnet type type_id uid
              vendor_name vlan_uid zone""".split()),
    "process": set("""ancestry cmd_line container created_time environment_variables file integrity integrity_id lineage loaded_modules name
               namespace_pid parent_process pid sandbox session terminated_time tid uid user working_directory xattributes auid egid euid
               group""".split()),
    "file": set("""accessed_time attributes company_name confidentiality created_time desc ext hashes is_deleted is_encrypted is_public
            is_system mime_type modified_time name owner parent_folder path product security_descriptor signature size tags type type_id
            uid uri version volume xattributes""".split()),
    "user": set("account credential_uid domain email_addr full_name groups has_mfa ldap_person name org risk_level type type_id uid".split()),
    "fingerprint": {"algorithm", "algorithm_id", "value"},
    "actor": set("app_name app_uid authorizations idp invoked_by process session user".split()),
}
CAPTIONS = {"activity_id": {1: "Launch", 2: "Terminate"}, "severity_id": {1: "Informational", 2: "Low"},
            "status_id": {1: "Success", 2: "Failure"}}
NUMBERS = {"activity_id", "category_uid", "class_uid", "type_uid", "severity_id", "status_id", "time", "start_time", "end_time",
           "duration", "exit_code", "pid", "type_id", "algorithm_id", "size", "created_time", "terminated_time", "sequence"}


def check(t, kind, value):
    for name in REQUIRED.get(kind, ()):
        t.check(name in value, f"{kind} has no {name}: {value!r:.300}")
    if kind in ONE_OF:
        t.check(any(name in value for name in ONE_OF[kind]), f"{kind} has none of {ONE_OF[kind]}: {value!r:.300}")
    t.equal(set(value) - MAY_HAVE[kind], set(), f"{kind} has what the schema does not know")
    for name, member in value.items():
        t.check(member is not None, f"{kind}.{name} is null")
        if name in NUMBERS:
            t.check(isinstance(member, int), f"{kind}.{name} is no integer: {member!r}")


def check_event(t, event):
    check(t, "event", event)
    for kind in ("metadata", "actor", "device", "process"):
        check(t, kind, event[kind])
    check(t, "product", event["metadata"]["product"])
    for name, captions in CAPTIONS.items():
        if name in event:
            word = event[name.replace("_id", "_name" if name == "activity_id" else "")]
            t.equal(word, captions.get(event[name]), name)
    t.equal(event["metadata"]["version"], "1.4.0")
    if "user" in event["actor"]:
        check(t, "user", event["actor"]["user"])
    for process in (event["process"], event["process"].get("parent_process"), event["actor"].get("process")):
        if process is None:
            continue
        check(t, "process", process)
        if "file" in process:
            check(t, "file", process["file"])
            for one in process["file"].get("hashes", []):
                check(t, "fingerprint", one)
        if "user" in process:
            check(t, "user", process["user"])
    t.equal((event["category_uid"], event["class_uid"]), (1, 1007))
    t.equal(event["type_uid"], 100700 + event["activity_id"])


def some_runs(t):
    t.write("x.py", "print('x')\n")
    return [t.sbox("python3", "x.py", opts=["--label", "job=7"]), t.sbox("sh", "-c", "exit 3"), t.sbox("sh", "-c", "kill -SEGV $$"),
            t.sbox("./none"), t.sbox(PYTHON, "-c", "import socket\ntry: socket.socket(40, 1)\nexcept OSError: pass"),
            t.sbox("sleep", "9", sets=["time.wall=200ms"]), t.sbox("printf", "%s", b"\xff\x1b", "a b")]


@test()
def ocsf(t):
    runs = some_runs(t)
    events = [json.loads(line) for line in t.audit("export", "--ocsf").out.splitlines()]
    for event in events:
        check_event(t, event)
    kinds = [event["type_uid"] for event in events if event["process"]["uid"] == runs[0].start["run"]]
    t.equal(kinds, [100701, 100702])
    launch, end = events[0], events[1]
    t.equal(launch["process"]["cmd_line"], "python3 x.py")
    # a large program's hash may be known at the end only
    program = next(f for r in runs[0].records[::-1] for f in r["files"] if f["kind"] == "program" and f["sha256"])
    t.equal(end["process"]["file"]["hashes"][0]["value"], program["sha256"])
    t.equal(launch["metadata"]["labels"], ["job=7"])
    t.equal((end["exit_code"], end["status_id"], end["duration"]), (0, 1, runs[0].end["usage"]["wall_ns"] // 1000000))
    t.equal(launch["actor"]["user"]["uid"], str(t.uid))
    t.check(abs(launch["time"] / 1000 - os.stat(f"{t.store}/log.jsonl").st_mtime) < 60, launch["time"])
    by_run = {event["process"]["uid"]: event for event in events if event["activity_id"] == 2}
    t.equal(by_run[runs[1].start["run"]]["exit_code"], 3)
    launches = {event["process"]["uid"]: event["status"] for event in events if event["activity_id"] == 1}
    t.equal([launches[run.start["run"]] for run in (runs[1], runs[3])], ["Success", "Failure"], "exit 3 was launched, ./none was not")
    t.equal(by_run[runs[2].start["run"]]["status_code"], "signaled")
    t.equal(by_run[runs[4].start["run"]]["unmapped"]["denials"][0]["object"], "AF_VSOCK")
    t.equal({e["metadata"]["uid"] for e in events}.__len__(), len(events), "each event has a uid of its own")


@test()
def as_csv(t):
    runs = some_runs(t)
    rows = list(csv.DictReader(io.StringIO(t.audit("export", "--csv").text)))
    t.equal([row["run"] for row in rows], [run.end["run"] for run in runs])
    t.equal((rows[1]["end"], rows[1]["code"], rows[1]["command"]), ("exited", "3", "sh -c 'exit 3'"))
    t.equal(rows[0]["wall_ns"], str(runs[0].end["usage"]["wall_ns"]))
    only = list(csv.DictReader(io.StringIO(t.audit("export", "--csv", "--end", "timeout").text)))
    t.equal([row["end"] for row in only], ["timeout"])
    t.equal(t.audit("export").code, 2)
    t.equal(t.audit("export", "--csv", "--ocsf").code, 2)


@test(timeout=120)
def lines_of_the_manual(t):
    """Each line with jq in sbox-audit(1) works and finds something."""
    if shutil.which("jq") is None:
        raise Skip("jq is not installed")
    some_runs(t)
    with open(f"{TOP}/man/sbox-audit.1", encoding="utf-8") as page:
        text = page.read()
    blocks = re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed", text, re.M | re.S)
    lines = [line[2:].replace("\\e", "\\").replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "") for block in blocks
             for line in re.sub(r"\\e\n\s+", " ", block).splitlines() if line.startswith("$ ") and "jq" in line]
    t.check(len(lines) >= 8, f"{len(lines)} lines")
    wrapper = t.write("sbox", f"#!/bin/sh\nverb=$2; shift 2\nexec {t.sbox_path} audit \"$verb\" --store {t.store} \"$@\"\n", 0o755)
    path = os.path.dirname(wrapper) + ":/usr/local/bin:/usr/bin:/bin"
    for line in lines:
        child = t.popen(["bash", "-o", "pipefail", "-c", line], env={"PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = t.communicate(child, None, 30)
        t.check(child.returncode == 0 and out.strip() and not err, f"{line}\n{child.returncode} {out!r:.300} {err!r:.300}")

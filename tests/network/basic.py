# SPDX-License-Identifier: Apache-2.0
"""The network by name: what a profile allows works with clients as they are, nothing else does."""
from network_lab import HOST4, NAME, OTHER, Lab, connections, names
from sboxtest import test


@test()
def allowed_name_works(t):
    lab = Lab(t)
    control = lab.curl(f"https://{NAME}/x", run=t.plain)
    t.has(control.text, f"host={NAME}", f"control {control}")
    run = lab.curl(f"https://{NAME}/x")
    t.has(run.text, f"sni={NAME} host={NAME}", run)
    t.equal(run.code, 0, run)
    t.equal(names(run), {NAME: "answered"})
    one, = connections(run)
    t.equal((one["name"], one["port"], one["rule"]), (NAME, 443, f"{NAME}:443"))
    # the run may be over before the server has said goodbye too
    t.check(one["ended"] in ("finished", "run_ended"), one)
    t.check(one["sent"] > 100 and one["received"] > 500, one)


@test()
def other_name_is_not_there(t):
    lab = Lab(t)
    t.equal(lab.curl(f"https://{OTHER}/", run=t.plain).code, 0, "control")
    before = len(lab.events(name=OTHER))
    run = lab.curl(f"https://{OTHER}/")
    t.equal(run.code, 6, run)
    t.equal(names(run), {OTHER: "not_allowed"})
    t.equal(len(lab.events(name=OTHER)), before, "the question did not leave the sandbox")
    t.equal(run.denied("resolve")[0]["permit"], f"[network] allow = {OTHER}:443")


@test()
def raw_address_is_refused(t):
    lab = Lab(t)
    run = lab.curl("-k", f"https://{HOST4}/")
    # reset, before or after curl sees that it is connected
    t.check(run.code in (7, 35, 56), run)
    t.equal(run.denied("connect")[0]["permit"], f"[network] allow = {HOST4}:443")

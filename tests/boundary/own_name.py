# SPDX-License-Identifier: Apache-2.0
"""The name that the sandbox calls itself resolves, to loopback and to nothing of the host."""
import socket

from sboxtest import PYTHON, test

LOOK = "import socket, sys\nfor name in sys.argv[1:] or [socket.gethostname()]:\n" \
       "    try: print(name, sorted({a[4][0] for a in socket.getaddrinfo(name, 80, socket.AF_INET)}))\n" \
       "    except OSError as error: print(name, 'no')\n"


@test(cases=["sandbox", "some-other.name"])
def own_name_is_loopback(t, name):
    run = t.sbox(PYTHON, "-c", LOOK, sets=[f"process.hostname={name}"])
    t.ended(run, "exited", 0)
    t.equal(run.text, f"{name} ['127.0.1.1']\n")


@test()
def a_service_can_listen_on_the_own_name(t):
    code = "import socket; s = socket.create_server((socket.gethostname(), 0)); " \
           "c = socket.create_connection((socket.gethostname(), s.getsockname()[1])); c.close(); " \
           "print(socket.gethostbyaddr('127.0.0.1')[0])"
    run = t.sbox(PYTHON, "-c", code)
    t.ended(run, "exited", 0)
    t.equal(run.text, "localhost\n")


@test()
def the_hosts_own_name_does_not_resolve(t):
    """No entry of the host's own /etc/hosts comes in."""
    name = socket.gethostname()
    t.has(t.plain(PYTHON, "-c", LOOK, "localhost").text, "127.0.0.1", "control")
    run = t.sbox(PYTHON, "-c", LOOK, name + ".of-the-host", name, "localhost")
    t.equal(run.text, f"{name}.of-the-host no\n{name} no\nlocalhost ['127.0.0.1']\n")


@test()
def with_the_hosts_network_the_hosts_file_is_there_too(t):
    with open("/etc/hosts", "rb") as file:
        wanted = file.read()
    t.profile("[profile]\nextends = agent\n[network]\nmode = host\n")
    run = t.sbox("cat", "/etc/hosts", profile=f"{t.dir}/profiles/test.ini")
    t.ended(run, "exited", 0)
    t.equal(run.out, b"127.0.1.1 sandbox\n" + wanted)

# SPDX-License-Identifier: Apache-2.0
"""Raw system calls for tests: numbers by name, and the probe that makes them."""
import os
import re
import struct

HEADER = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
          "aarch64": "/usr/include/asm-generic/unistd.h"}[os.uname().machine]
# Newer than the distribution's headers.
NEWER = {"cachestat": 451, "fchmodat2": 452, "map_shadow_stack": 453, "futex_wake": 454,
         "futex_wait": 455, "futex_requeue": 456, "statmount": 457, "listmount": 458,
         "lsm_get_self_attr": 459, "lsm_set_self_attr": 460, "lsm_list_modules": 461, "mseal": 462,
         "setxattrat": 463, "getxattrat": 464, "listxattrat": 465, "removexattrat": 466,
         "open_tree_attr": 467, "file_getattr": 468, "file_setattr": 469}
AT_FDCWD = -100
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_AX25": 3, "AF_INET6": 10, "AF_NETLINK": 16,
            "AF_PACKET": 17, "AF_RDS": 21, "AF_CAN": 29, "AF_TIPC": 30, "AF_BLUETOOTH": 31,
            "AF_ALG": 38, "AF_NFC": 39, "AF_VSOCK": 40, "AF_KCM": 41, "AF_QIPCRTR": 42,
            "AF_SMC": 43, "AF_XDP": 44, "AF_MCTP": 45}


def numbers():
    with open(HEADER) as header:
        found = dict(re.findall(r"#define __NR_(\w+) (\d+)", header.read()))
    return {**{name: int(number) for name, number in found.items()}, **NEWER}


NR = numbers()


def words(rows):
    line = []
    for row in rows:
        number = NR[row[0]] if isinstance(row[0], str) else row[0]
        line += ["--"] * bool(line) + [str(number)] + [str(a) for a in row[1:]]
    return line


def results(run):
    """[result]: a number, or the errno's name."""
    found = []
    for line in run.text.splitlines():
        parts = line.split()
        found.append(parts[2] if len(parts) == 3 else int(parts[1]))
    return found


def calls(t, *rows, runner=None, **keywords):
    """Makes the calls in one process; ([result], run). By default inside sbox."""
    run = (runner or t.sbox)(t.probe("call"), *words(rows), **keywords)
    found = results(run)
    t.equal(len(found), len(rows), f"every call came back: {run}")
    return found, run


def in_address(port, host="127.0.0.1"):
    packed = bytes(map(int, host.split(".")))
    return "x:" + (struct.pack("=H", 2) + struct.pack("!H", port) + packed + bytes(8)).hex()


def unix_address(name):
    data = struct.pack("=H", 1) + (name if isinstance(name, bytes) else name.encode())
    return "x:" + data.hex(), len(data)


def open_how(flags, mode=0, resolve=0):
    return "x:" + struct.pack("=QQQ", flags, mode, resolve).hex()


def clone_args(flags):
    return "x:" + struct.pack("=11Q", flags, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0).hex()

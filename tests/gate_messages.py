# SPDX-License-Identifier: Apache-2.0
"""The messages of gate/protocol.h, for tests that play the launcher."""
import ctypes
import ipaddress
import socket
from ctypes import c_char, c_uint8, c_uint16, c_uint32, c_uint64

SETUP, RULES, PINS, SOCKETS, START, END = range(1, 7)
READY, FAILED, NAME, CONNECTION, TALLY, ATTEMPT, TOTALS, DONE = range(101, 109)
(DNS_UDP4, DNS_UDP6, DNS_TCP4, DNS_TCP6, TCP4, TCP6, RAW_TCP4, RAW_TCP6, RAW_ICMP4, RAW_ICMP6,
 PUBLISHED, INSIDE4, INSIDE6) = range(1, 14)
VERDICTS = ("", "answered", "no such name", "no answer", "not allowed", "malformed", "too many")
WHYS = ("open", "finished", "reset inside", "reset outside", "ended", "no rule", "deny rule",
        "bad address", "not resolved", "not reached", "full", "other name", "no name",
        "bad hello", "slow hello")
CLASSES = ("public", "own", "private", "loopback", "link-local", "metadata", "multicast",
           "reserved")
KEEP = 0xffffffff
NAME_BYTES, BATCH, SOCKET_BATCH = 256, 32, 16


def struct(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


def spare(count):
    return ("spare", c_uint8 * count)


Head = struct("Head", ("type", c_uint32), ("size", c_uint32))
HEAD = ("head", Head)
Ip = struct("Ip", ("family", c_uint8), ("bytes", c_uint8 * 16))
Address = struct("Address", ("ip", Ip), ("port", c_uint16))
Rule = struct("Rule", ("number", c_uint32), ("action", c_uint8), ("kind", c_uint8),
              ("idna", c_uint8), ("with_private", c_uint8), ("low", c_uint16), ("high", c_uint16),
              ("bits", c_uint8), ("address", Ip), ("name", c_char * NAME_BYTES))
Pin = struct("Pin", ("address", Ip), ("idna", c_uint8), ("name", c_char * NAME_BYTES))
Setup = struct("Setup", HEAD, ("version", c_uint32), ("supervisor", c_uint32), ("uid", c_uint32),
               ("gid", c_uint32), ("connections", c_uint32), ("wildcard_names", c_uint32),
               ("names_net", c_uint32), ("sni_optional", c_uint8), spare(7))
Rules = struct("Rules", HEAD, ("count", c_uint32), ("rules", Rule * BATCH))
Pins = struct("Pins", HEAD, ("count", c_uint32), ("pins", Pin * BATCH))
SocketEntry = struct("SocketEntry", ("kind", c_uint16), ("port", c_uint16))
Sockets = struct("Sockets", HEAD, ("count", c_uint32), ("sockets", SocketEntry * SOCKET_BATCH))
Failed = struct("Failed", HEAD, ("errnum", c_uint32), ("rule", c_uint32), ("text", c_char * 512))
Name = struct("Name", HEAD, ("index", c_uint32), ("rule", c_uint32), ("count", c_uint64),
              ("first_ms", c_uint64), ("question", c_uint16), ("verdict", c_uint8), spare(1),
              ("name", c_char * NAME_BYTES))
Connection = struct(
    "Connection", HEAD, ("id", c_uint64), ("rule", c_uint32), ("why", c_uint8),
    ("published", c_uint8), ("class_", c_uint8), spare(1), ("errnum", c_uint32),
    ("dial_us", c_uint32), ("start_ms", c_uint64), ("ms", c_uint64), ("sent", c_uint64),
    ("received", c_uint64), ("asked", Address), ("dialled", Address),
    ("name", c_char * NAME_BYTES), ("server_name", c_char * NAME_BYTES))
Tally = struct("Tally", HEAD, ("index", c_uint32), ("rule", c_uint32), ("why", c_uint8),
               ("published", c_uint8), spare(2), ("count", c_uint64), ("ms", c_uint64),
               ("sent", c_uint64), ("received", c_uint64), ("asked", Address),
               ("name", c_char * NAME_BYTES))
Attempt = struct("Attempt", HEAD, ("index", c_uint32), ("protocol", c_uint8), spare(3),
                 ("count", c_uint64), ("first_ms", c_uint64), ("address", Address),
                 ("name", c_char * NAME_BYTES))
TOTAL_FIELDS = ("names", "names_refused", "names_untold", "wildcard_names", "wildcard_bytes",
                "connections", "connections_refused", "connections_most", "attempts", "sent",
                "received", "untold")
Totals = struct("Totals", HEAD, *[(name, c_uint64) for name in TOTAL_FIELDS])
EVENTS = {FAILED: Failed, NAME: Name, CONNECTION: Connection, TALLY: Tally, ATTEMPT: Attempt,
          TOTALS: Totals}


def message(kind, type_, **fields):
    one = type_(**fields)
    one.head.type, one.head.size = kind, ctypes.sizeof(type_)
    return one


def ip(text):
    address = ipaddress.ip_address(text)
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return Ip(family, (c_uint8 * 16)(*address.packed))


def address_text(address):
    packed = bytes(address.ip.bytes)
    if address.ip.family == socket.AF_INET:
        return f"{ipaddress.ip_address(packed[:4])}:{address.port}"
    if address.ip.family == socket.AF_INET6:
        return f"[{ipaddress.ip_address(packed)}]:{address.port}"
    return ""


def rule(text, number, deny=False):
    """What the launcher makes of `allow` and `deny`; only good values come here."""
    host, _, port = text.rpartition(":")
    if deny and (not host or "]" in port):
        host, port = text, "1-65535"
    low, _, high = port.partition("-")
    one = Rule(number=number, action=2 if deny else 1, low=int(low), high=int(high or low))
    if host.endswith("@private"):
        host, one.with_private = host[:-8], 1
    try:
        net = ipaddress.ip_network(host.replace("[", "").replace("]", ""))
        one.kind, one.bits, one.address = 3, net.prefixlen, ip(net.network_address)
        return one
    except ValueError:
        pass
    one.kind = 4 if host == "host" else 2 if host.startswith("*.") else 1
    name = host.removeprefix("*.")
    one.idna = not name.isascii()
    one.name = name.encode() if one.kind != 4 else b""
    return one

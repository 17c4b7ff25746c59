# SPDX-License-Identifier: Apache-2.0
"""DNS, as little of it as the gate's tests need: questions, answers, a name server for the host."""
import socket
import struct
import threading


def dns_name(name):
    return b"".join(bytes([len(label)]) + label.encode("latin-1")
                    for label in name.split(".") if label) + b"\0"


def dns_question(name, kind=1, ident=7, extra=b"", more=0):
    wire = name if isinstance(name, bytes) else dns_name(name)
    return struct.pack("!6H", ident, 0x100, 1, 0, 0, more) + wire + struct.pack("!2H", kind, 1) + extra


class Answer:
    def __init__(self, data):
        self.data = data
        self.id, flags, self.questions, count, _, self.additional = struct.unpack("!6H", data[:12])
        self.rcode, self.truncated = flags & 15, bool(flags & 0x200)
        at = 12
        while self.questions and data[at]:
            at += data[at] + 1
        at += 5 if self.questions else 0
        self.question = data[12:at]
        self.addresses = []
        for _ in range(count):
            kind, _, self.ttl, size = struct.unpack("!HHIH", data[at + 2:at + 12])
            raw = data[at + 12:at + 12 + size]
            self.addresses.append(socket.inet_ntop(
                socket.AF_INET if kind == 1 else socket.AF_INET6, raw))
            at += 12 + size


class Upstream:
    """The host's name server. zone: {name: [addresses]} or {name: function(kind) -> addresses,
    None for silence, bytes for a raw answer behind the question}. `asked` is what came."""

    def __init__(self, namespace, address, zone):
        self.zone, self.asked = zone, []
        self.socket = namespace.listen(address, 53, socket.SOCK_DGRAM)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                data, peer = self.socket.recvfrom(4096)
            except OSError:
                return
            answer = self.answer(data)
            if answer is not None:
                self.socket.sendto(answer, peer)

    def answer(self, data):
        end = data.index(b"\0", 12)
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
            at += data[at] + 1
        name, kind = ".".join(labels).lower(), struct.unpack("!H", data[end + 1:end + 3])[0]
        self.asked.append((name, kind))
        found = self.zone.get(name)
        if callable(found):
            found = found(kind)
            if found is None:
                return None
        question = data[12:end + 5]
        if isinstance(found, bytes):
            return data[:2] + found
        if found is None:
            return data[:2] + struct.pack("!5H", 0x8183, 1, 0, 0, 0) + question
        family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
        good = [socket.inet_pton(family, one) for one in found
                if family and (":" in one) == (kind == 28)]
        records = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(raw)) + raw
                           for raw in good)
        return data[:2] + struct.pack("!5H", 0x8180, 1, len(good), 0, 0) + question + records

# SPDX-License-Identifier: Apache-2.0
"""TCP servers for the gate's tests."""
import socket
import threading


class Server:
    """Accepts in a thread; handler(connection) in one each. `seen` are those that came."""

    def __init__(self, namespace, address, port, handler):
        self.socket, self.seen = namespace.listen(address, port), 0
        self.port = self.socket.getsockname()[1]
        self.handler = handler
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.seen += 1
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        try:
            self.handler(connection)
        except OSError:
            pass
        connection.close()


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)

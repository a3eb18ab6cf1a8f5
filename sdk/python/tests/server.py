"""A server that sends fixed responses, for tests of responses that the service never sends."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable

Handler = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """A server on 127.0.0.1 that calls a function for each request."""

    def __init__(self, answer: Handler) -> None:
        class Requests(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                answer(self)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def respond(request: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes) -> None:
    """Send a response."""
    request.send_response(status)
    request.send_header("Connection", "close")  # the client must not reuse the connection
    for name, value in headers.items():
        request.send_header(name, value)
    if "Content-Length" not in headers:
        request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)

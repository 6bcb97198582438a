"""A server of objects for the tests: a web server that knows ranges, and S3."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from conftest import HANGS


class Objects(ThreadingHTTPServer):
    """Objects by their keys, ``bucket/name``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects: dict[str, bytes] = {}
        # Requests for `slow` are answered only when `released` is set.
        self.slow: str | None = None
        self.asked, self.released = threading.Event(), threading.Event()
        # The header `Authorization` of each request for an object.
        self.signatures: list[tuple[str, str]] = []

    @property
    def address(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Answers what object stores and web servers answer; objects are small, so none is in parts."""

    protocol_version = "HTTP/1.1"
    server: Objects

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Send an answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def key(self) -> str:
        """The key of the request."""
        return unquote(urlsplit(self.path).path).lstrip("/")

    def do_GET(self) -> None:
        """A range of an object, or a listing."""
        if "list-type" in parse_qs(urlsplit(self.path).query):
            return self.listing()
        self.server.signatures.append((self.key(), self.headers.get("Authorization", "")))
        if self.key() == self.server.slow:
            self.server.asked.set()
            self.server.released.wait(HANGS)
        content = self.server.objects.get(self.key())
        if content is None:
            return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        headers = {"ETag": etag(content), "Last_Modified": formatdate(0, usegmt=True)}
        asked = self.headers.get("Range")
        if asked is None or not content:
            return self.answer(200, content, **headers)
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last or len(content)) + 1, len(content))
        headers["Content_Range"] = f"bytes {start}-{end - 1}/{len(content)}"
        return self.answer(206, content[start:end], **headers)

    do_HEAD = do_GET

    def listing(self) -> None:
        """The objects of a bucket below a prefix."""
        bucket = self.key().partition("/")[0]
        prefix = parse_qs(urlsplit(self.path).query).get("prefix", [""])[0]
        entries = [
            f"<Contents><Key>{key.partition('/')[2]}</Key><Size>{len(content)}</Size>"
            f"<ETag>{etag(content)}</ETag><LastModified>2024-05-06T07:08:09.000Z</LastModified></Contents>"
            for key, content in sorted(self.server.objects.items())
            if key.startswith(f"{bucket}/{prefix}")
        ]
        body = "<ListBucketResult><IsTruncated>false</IsTruncated>" + "".join(entries)
        self.answer(200, (body + "</ListBucketResult>").encode())

    def do_PUT(self) -> None:
        """Write an object, if there is none or that does not matter."""
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("If-None-Match") == "*" and self.key() in self.server.objects:
            return self.answer(412)
        self.server.objects[self.key()] = content
        return self.answer(200, ETag=etag(content))

    def do_DELETE(self) -> None:
        """Remove an object."""
        self.server.objects.pop(self.key(), None)
        self.answer(204)


def etag(content: bytes) -> str:
    """The entity tag of an object."""
    return f'"{hashlib.md5(content).hexdigest()}"'


@contextmanager
def serving() -> Iterator[Objects]:
    """A running server."""
    server = Objects()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()

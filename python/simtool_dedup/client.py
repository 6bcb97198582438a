"""A client of the service ``simtool serve``, for crawlers.

It needs the standard library only, and nothing of the compiled package.

>>> from simtool_dedup.client import SeenClient
>>> with SeenClient("http://127.0.0.1:8750") as seen:
...     list(seen.add([]))              # nothing to send, so no service is needed
[]
"""

from __future__ import annotations

import email.utils
import http.client
import io
import json
import random
import selectors
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

try:
    import ssl
except ImportError:  # Python without TLS, as on small systems.
    UNTRUSTED: tuple[type[OSError], ...] = ()
    WAITS: tuple[type[OSError], ...] = (BlockingIOError,)
else:
    UNTRUSTED = (ssl.SSLCertVerificationError,)
    WAITS = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

__all__ = ["SeenClient", "SeenError"]

BATCH_BYTES = 8 << 20
"""Bytes of documents in a request, unless a single one has more."""
LONGEST_WAIT = 60.0
"""Seconds between two attempts, at most, unless the service asks for more."""
LONGEST_RETRY_AFTER = 600.0
"""Seconds that the service may ask for."""
PIECE = 1 << 16
"""Bytes that are sent or received at a time."""


class SeenError(Exception):
    """A request failed, also after retries.

    Attributes
    ----------
    status : int or None
        The HTTP status; None if there was no answer.
    code : str or None
        The ``code`` of the service, such as ``unauthorized``, if it sent one.
    """

    def __init__(self, message: str, status: int | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class SeenClient:
    """Ask a service which documents it has seen, and add them, in batches.

    A document is a mapping with ``text`` or ``html``, an ``id`` (the URL of a page), and optionally
    ``payload`` and ``limit``, as the service takes them. An answer is a dictionary: ``verdict``,
    ``kept`` (False for a copy of ``matches[0]``) and ``matches``. A document that the service refused
    has ``id`` and ``problem`` instead, with ``status``, ``code`` and ``detail``; the other documents
    of its batch are answered.

    Parameters
    ----------
    url : str
        Address of the service, as ``http://127.0.0.1:8750``. A path before ``/v1`` is that of a proxy.
    token : str, optional
        The token of the service.
    batch : int, default 500
        The most documents of a request.
    timeout : float, default 60
        Seconds to connect, and to wait until something can be sent or received.
    retries : int, default 8
        Further attempts for each batch.
    backoff : float, default 0.5
        Seconds before the first retry, at most; doubled for each further one, up to 60. The time that
        is waited is random, at least a half of it. A ``Retry-After`` of the service is added.
    context : ssl.SSLContext, optional
        Settings for ``https``.

    Raises
    ------
    ValueError
        For an address or a number that cannot be used.

    Notes
    -----
    Delivery is *at least once*: after a lost connection, a timeout, 408, 429 or 5xx, all documents of
    the batch without an answer are sent again, in their order. The service may have added some of them
    before. That does no harm: the same id with the same text in the same dump is not added again, and
    no copy of itself. It is answered as ``unchanged``, with the ``kept`` and ``matches`` of the first
    time. So decide by ``kept``, not by the verdict ``new``. Other 4xx are never repeated.

    Threads do not share a client: make one for each thread.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8750",
        token: str | None = None,
        *,
        batch: int = 500,
        timeout: float = 60.0,
        retries: int = 8,
        backoff: float = 0.5,
        context: ssl.SSLContext | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"url {url!r}: expected an address such as http://127.0.0.1:8750")
        if parts.username is not None:
            raise ValueError("url: a user name has no effect; the service takes a token")
        if batch < 1 or retries < 0 or timeout <= 0 or backoff < 0:
            raise ValueError("expected batch of 1 or more, timeout above 0, and no negative numbers")
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ValueError("token: expected printable ASCII characters")
        self.batch = batch
        self.timeout = timeout
        self.retries = retries
        self.backoff = backoff
        self._path = parts.path.rstrip("/") + "/v1/seen/batch"
        if not (self._path.isascii() and self._path.isprintable() and " " not in self._path):
            raise ValueError(f"url {url!r}: percent-encode its path")
        if not (parts.netloc.isascii() and parts.netloc.isprintable()):
            raise ValueError(f"url {url!r}: expected a host name of ASCII characters")
        self._host = parts.netloc
        self._token = token
        self._connection: http.client.HTTPConnection
        if parts.scheme == "https":
            if not UNTRUSTED:
                raise ValueError(f"url {url!r}: this Python has no TLS (the module ssl)")
            self._connection = http.client.HTTPSConnection(
                parts.hostname, parts.port, timeout=timeout, context=context
            )
        else:
            self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)

    def __enter__(self) -> SeenClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later request makes a new one."""
        self._connection.close()

    def ask(self, documents: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Look documents up, without adding them.

        Parameters
        ----------
        documents : iterable of mappings
            The documents. One batch at a time is read and sent.

        Yields
        ------
        dict
            The answers, in the order of the documents.

        Raises
        ------
        SeenError
            If the service cannot be reached or refuses the request. No answer of the batch is yielded
            then: send its documents again later.
        TypeError
            For a document that is no JSON.
        """
        return self._answers(documents, False)

    def add(self, documents: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Look documents up and add them, each in one step.

        They are added *while the answers are read*: without a loop over the answers (or ``list``),
        nothing is sent. An added document is durable when its answer is yielded.

        Parameters
        ----------
        documents : iterable of mappings
            As for :meth:`ask`. Each needs an ``id``.

        Yields
        ------
        dict
            As for :meth:`ask`.

        Raises
        ------
        SeenError, TypeError
            As for :meth:`ask`.
        """
        return self._answers(documents, True)

    def _answers(self, documents: Iterable[Mapping[str, Any]], adds: bool) -> Iterator[dict[str, Any]]:
        batch: list[Mapping[str, Any]] = []
        lines: list[bytes] = []
        size = 0
        for document in documents:
            line = json.dumps(dict(document)).encode("ascii") + b"\n"
            if lines and (len(lines) >= self.batch or size + len(line) > BATCH_BYTES):
                yield from self._exchange(batch, lines, adds)
                batch, lines, size = [], [], 0
            batch.append(document)
            lines.append(line)
            size += len(line)
            if len(lines) >= self.batch:
                yield from self._exchange(batch, lines, adds)
                batch, lines, size = [], [], 0
        if lines:
            yield from self._exchange(batch, lines, adds)

    def _exchange(
        self, batch: list[Mapping[str, Any]], lines: list[bytes], adds: bool
    ) -> list[dict[str, Any]]:
        """The answers to a batch, after as many attempts as are needed."""
        answers: dict[int, dict[str, Any]] = {}
        places = list(range(len(lines)))
        for attempt in range(self.retries + 1):
            failure = None
            try:
                found = self._request(b"".join([lines[place] for place in places]), adds)
            except _Temporary as error:
                failure = error
            else:
                if len(found) > len(places):
                    raise SeenError(f"{self._host}: more answers than documents")
                for place, answer in zip(places, found):
                    answers[place] = answered(batch[place], answer)
                places = [place for place in places if must_repeat(answers.get(place))]
                if not places:
                    break
            if attempt == self.retries:
                # Every document has an answer, or a problem, which the caller gets.
                if len(answers) == len(lines):
                    break
                if failure is not None:
                    raise failure.error from failure.__cause__
                raise SeenError(f"{self._host}: it closed the connection before it had answered all documents")
            longest = min(self.backoff * 2**attempt, LONGEST_WAIT)
            time.sleep((failure.wait if failure else 0.0) + random.uniform(longest / 2, longest))
        return [answers[place] for place in range(len(lines))]

    def _request(self, body: bytes, adds: bool) -> list[dict[str, Any]]:
        """The answers to the first of the documents, in the best case to all."""
        try:
            status, headers, answer = self._send(body, adds)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if isinstance(error, UNTRUSTED):
                raise SeenError(f"{self._host}: {error}") from error
            message = f"{self._host}: {error or type(error).__name__}"
            raise _Temporary(SeenError(message)) from error
        except BaseException:
            # What remains of the answer must not be taken for that of the next request.
            self.close()
            raise
        if status != 200:
            refused = refusal(status, answer)
            if status in (408, 429) or status >= 500:
                raise _Temporary(refused, retry_after(headers.get("Retry-After")))
            raise refused
        # A last line without an end is a part of an answer.
        complete = answer[: answer.rfind(b"\n") + 1]
        try:
            return [parsed(line) for line in complete.split(b"\n")[:-1]]
        except ValueError as error:
            raise SeenError(f"{self._host}: this is no answer of simtool: {error}", status) from error

    def _send(self, body: bytes, adds: bool) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Send a request and read the answer.

        Answers are received while documents are sent: the service accepts no more documents if too many
        answers are unread.
        """
        connection = self._connection
        if connection.sock is not None and is_readable(connection.sock):
            # The service closed the connection, or sent bytes that answer no request.
            connection.close()
        if connection.sock is None:
            connection.connect()
        sock = connection.sock
        head = [
            f"POST {self._path}?add={'true' if adds else 'false'} HTTP/1.1",
            f"Host: {self._host}",
            "Content-Type: application/x-ndjson",
            "Accept: application/x-ndjson, application/problem+json",
            "User-Agent: simtool-dedup",
            f"Content-Length: {len(body)}",
        ]
        if self._token is not None:
            head.append(f"Authorization: Bearer {self._token}")
        request = "\r\n".join([*head, "", ""]).encode("ascii") + body
        early, is_sent = send_and_receive(sock, request, self.timeout)
        response = http.client.HTTPResponse(Received(early, sock), method="POST")  # type: ignore[arg-type]
        try:
            response.begin()
            try:
                answer = response.read()
            except http.client.IncompleteRead as error:
                # The answers that came are valid.
                answer = error.partial
                connection.close()
            if response.will_close or not is_sent:
                connection.close()
            return response.status, response.headers, answer
        finally:
            response.close()


class _Temporary(Exception):
    """A failure that another attempt may change, and the seconds that the service asks for."""

    def __init__(self, error: SeenError, wait: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait = wait


class Received(io.RawIOBase):
    """What was received already, and then what a socket receives; as much of a socket as is needed to
    read a response."""

    def __init__(self, early: bytes, sock: socket.socket) -> None:
        self.early = memoryview(early)
        self.sock = sock

    def makefile(self, mode: str) -> io.BufferedReader:
        """The reader of a response."""
        return io.BufferedReader(self, PIECE)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there."""
        if not self.early:
            return self.sock.recv_into(buffer)
        count = min(len(buffer), len(self.early))
        buffer[:count] = self.early[:count]
        self.early = self.early[count:]
        return count


def send_and_receive(sock: socket.socket, request: bytes, timeout: float) -> tuple[bytes, bool]:
    """Send a request; return what is received meanwhile, and whether all was sent.

    A service that refuses a request may answer, and close, before it has read all.
    """
    rest, early, has_ended = memoryview(request), bytearray(), False
    sock.settimeout(0)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while rest and not has_ended:
                moved = 0
                try:
                    moved = sock.send(rest[:PIECE])
                    rest = rest[moved:]
                except WAITS:
                    pass
                except OSError:
                    if not early:
                        raise
                    break
                try:
                    piece = sock.recv(PIECE)
                    early += piece
                    has_ended = not piece
                    moved += len(piece)
                except WAITS:
                    pass
                if not moved and not has_ended and not selector.select(timeout):
                    if not early:
                        raise TimeoutError(f"nothing could be sent in {timeout} s")
                    break
    finally:
        sock.settimeout(timeout)
    return bytes(early), not rest


def is_readable(sock: socket.socket) -> bool:
    """Whether something, or an end, can be read."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def parsed(line: bytes) -> dict[str, Any]:
    """An answer, or a problem."""
    answer = json.loads(line)
    if not isinstance(answer, dict) or not ("verdict" in answer or "status" in answer):
        raise ValueError(f"{line[:80]!r}")
    return answer


def answered(document: Mapping[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The answer to this document."""
    identity = document.get("id")
    if "verdict" not in answer:
        return {"id": identity, "problem": answer}
    if "id_base64" not in document and answer.get("id") != identity:
        raise SeenError(f"the service answered {answer.get('id')!r} to the document {identity!r}")
    return answer


def must_repeat(answer: dict[str, Any] | None) -> bool:
    """Whether another attempt may change the answer."""
    if answer is None:
        return True
    status = answer.get("problem", {}).get("status", 200)
    return status in (408, 429) or status >= 500


def refusal(status: int, answer: bytes) -> SeenError:
    """The problem of a request."""
    try:
        problem = json.loads(answer)
        return SeenError(f"{status} {problem['code']}: {problem['detail']}", status, problem["code"])
    except (ValueError, KeyError, TypeError):
        return SeenError(f"{status}: {answer[:200].decode('utf-8', 'replace')}", status)


def retry_after(value: str | None) -> float:
    """The seconds of a header ``Retry-After``, which has a number or a date."""
    if value is None:
        return 0.0
    try:
        seconds = float(int(value))
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)

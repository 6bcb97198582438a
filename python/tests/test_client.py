"""The client of the service: batches, retries, refusals, and the pipeline of Scrapy."""

# Promise (The Python package): The client of the service loses no document: what has no answer is sent
# again, and a page that is sent twice is no copy of itself

from __future__ import annotations

import asyncio
import contextlib
import http.server
import importlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import COMMAND, HANGS, documents, need
from simtool_dedup.client import SeenClient, SeenError, retry_after

Reaction = Callable[["Handler", bytes], None]


class Handler(http.server.BaseHTTPRequestHandler):
    """Reads a request, and does what the test planned for it."""

    protocol_version = "HTTP/1.1"
    server: Fake

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), body))
        plan = self.server.plan
        (plan.pop(0) if plan else answer)(self, body)

    def log_message(self, format: str, *words: Any) -> None:
        """Prints nothing."""


class Fake(http.server.ThreadingHTTPServer):
    """A server that remembers what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.plan: list[Reaction] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def sent(self) -> list[list[str]]:
        """The ids of each request."""
        return [[json.loads(line)["id"] for line in body.splitlines()] for _, _, body in self.requests]


def lines_for(body: bytes) -> list[bytes]:
    """An answer for each line."""
    found = []
    for line in body.splitlines():
        identity = json.loads(line).get("id")
        one = {"id": identity, "verdict": "new", "kept": True, "added": True, "matches": []}
        found.append(json.dumps(one).encode() + b"\n")
    return found


def reply(handler: Handler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def answer(handler: Handler, body: bytes) -> None:
    reply(handler, 200, b"".join(lines_for(body)))


def hang_up(handler: Handler, body: bytes) -> None:
    """Close without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def answer_and_hang_up(handler: Handler, body: bytes) -> None:
    """Close after an answer, as a service does with a connection that waits too long."""
    answer(handler, body)
    hang_up(handler, body)


def refuse(status: int, **headers: str) -> Reaction:
    problem = {"status": status, "title": "T", "code": "busy", "detail": "retry"}
    return lambda handler, body: reply(handler, status, json.dumps(problem).encode(), **headers)


def answer_part(count: int, rest: bytes = b"") -> Reaction:
    """Answer the first documents in chunks, and break off."""

    def react(handler: Handler, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in [*lines_for(body)[:count], rest]:
            if part:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        hang_up(handler, body)

    return react


def problem_at(place: int, status: int) -> Reaction:
    """Answer all documents, one of them by a problem."""

    def react(handler: Handler, body: bytes) -> None:
        found = lines_for(body)
        problem = {"status": status, "title": "T", "code": "c", "detail": "d", "line": place + 1}
        found[place] = json.dumps(problem).encode() + b"\n"
        reply(handler, 200, b"".join(found))

    return react


@pytest.fixture
def fake() -> Iterator[Fake]:
    server = Fake()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def pages(count: int) -> list[dict[str, str]]:
    return [{"id": f"http://a.example/{number}", "text": f"text {number}"} for number in range(count)]


def client(fake: Fake, **settings: Any) -> SeenClient:
    return SeenClient(fake.url, **{"backoff": 0.01, "timeout": 10.0, **settings})


def ids(answers: Any) -> list[str]:
    return [answer["id"] for answer in answers]


def test_documents_are_sent_in_batches(fake: Fake) -> None:
    with client(fake, batch=4, token="secret") as seen:
        assert ids(seen.add(iter(pages(10)))) == ids(pages(10))
        assert ids(seen.ask(pages(1))) == ids(pages(1))
    assert [len(batch) for batch in fake.sent()] == [4, 4, 2, 1]
    paths = [path for path, _, _ in fake.requests]
    assert paths == ["/v1/seen/batch?add=true"] * 3 + ["/v1/seen/batch?add=false"]
    heads = [head for _, head, _ in fake.requests]
    assert {head["Authorization"] for head in heads} == {"Bearer secret"}
    assert {head["Host"] for head in heads} == {fake.url.removeprefix("http://")}


def test_answers_are_yielded_as_soon_as_a_batch_is_full(fake: Fake) -> None:
    read: list[str] = []

    def crawl() -> Iterator[dict[str, str]]:
        for page in pages(6):
            read.append(page["id"])
            yield page

    answers = client(fake, batch=2).add(crawl())
    assert not read and not fake.requests
    assert next(answers)["id"] == "http://a.example/0"
    assert len(read) == 2 and len(fake.requests) == 1


def test_large_documents_are_sent_in_several_requests(fake: Fake) -> None:
    large = [{**page, "text": "x" * (3 << 20)} for page in pages(5)] + pages(1)
    assert ids(client(fake).add(large)) == ids(large)
    assert [len(batch) for batch in fake.sent()] == [2, 2, 2]


def test_one_connection_serves_all_batches(fake: Fake) -> None:
    accepted: list[Any] = []
    process = fake.process_request
    fake.process_request = lambda *what: (accepted.append(what), process(*what))  # type: ignore[assignment,func-returns-value]
    with client(fake, batch=1) as seen:
        list(seen.add(pages(5)))
        assert len(accepted) == 1
        fake.plan = [answer_and_hang_up]
        list(seen.add(pages(1)))
        time.sleep(0.05)
        list(seen.add(pages(1)))
    # The closed connection was noticed before anything was sent on it.
    assert len(accepted) == 2 and len(fake.requests) == 7


@pytest.mark.parametrize(
    "failure", [hang_up, refuse(503), refuse(429), refuse(500), refuse(507), refuse(408), answer_part(0)]
)
def test_a_batch_is_sent_again(fake: Fake, failure: Reaction) -> None:
    fake.plan = [failure, failure]
    assert ids(client(fake).add(pages(3))) == ids(pages(3))
    assert fake.sent() == [ids(pages(3))] * 3


def test_only_documents_without_an_answer_are_sent_again(fake: Fake) -> None:
    fake.plan = [answer_part(2), answer_part(1, b'{"id": "http://a.ex'), hang_up]
    assert ids(client(fake).add(pages(6))) == ids(pages(6))
    assert [len(batch) for batch in fake.sent()] == [6, 4, 3, 3]
    assert fake.sent()[-1] == ids(pages(6))[3:]


def test_a_service_that_does_not_run_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    seen = SeenClient(f"http://127.0.0.1:{port}", retries=2, backoff=0.01)
    with pytest.raises(SeenError, match="127.0.0.1") as caught:
        list(seen.add(pages(1)))
    assert caught.value.status is None and isinstance(caught.value.__cause__, OSError)


def test_retry_after_is_honoured(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("simtool_dedup.client.time.sleep", waited.append)
    fake.plan = [refuse(503, Retry_After="7"), hang_up, hang_up, hang_up]
    assert len(list(client(fake, backoff=1.0).add(pages(2)))) == 2
    assert 7.5 <= waited[0] <= 8 and 1 <= waited[1] <= 2 and 2 <= waited[2] <= 4 and 4 <= waited[3] <= 8
    assert retry_after("0") == retry_after("soon") == retry_after("-3") == retry_after(None) == 0
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert retry_after("Wed, 21 Oct 2105 07:28:00 GMT") == retry_after("1" * 20) == 600


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 301])
def test_a_refusal_is_no_reason_to_repeat(fake: Fake, status: int) -> None:
    fake.plan = [refuse(status)]
    with pytest.raises(SeenError, match=f"{status} busy: retry") as caught:
        list(client(fake).add(pages(1)))
    assert (caught.value.status, caught.value.code) == (status, "busy") and len(fake.requests) == 1


def test_retries_end(fake: Fake) -> None:
    fake.plan = [refuse(503)] * 3
    with pytest.raises(SeenError) as caught:
        list(client(fake, retries=2).add(pages(1)))
    assert caught.value.status == 503 and len(fake.requests) == 3
    fake.plan = [answer_part(1)] * 3
    with pytest.raises(SeenError, match="before it had answered all documents"):
        list(client(fake, retries=2).add(pages(9)))


def test_a_problem_of_one_document_is_its_answer(fake: Fake) -> None:
    fake.plan = [problem_at(1, 400)]
    found = list(client(fake).add(pages(3)))
    assert ids(found) == ids(pages(3)) and len(fake.requests) == 1
    assert found[1]["problem"]["status"] == 400 and "kept" not in found[1] and found[2]["kept"]


def test_a_document_that_the_service_was_too_busy_for_is_sent_again(fake: Fake) -> None:
    fake.plan = [problem_at(1, 503), problem_at(0, 500)]
    found = list(client(fake).add(pages(3)))
    assert ids(found) == ids(pages(3)) and all("problem" not in one for one in found)
    assert [len(batch) for batch in fake.sent()] == [3, 1, 1]
    fake.plan = [problem_at(1, 500), problem_at(0, 500), hang_up]
    found = list(client(fake, retries=2).add(pages(3)))
    assert found[1]["problem"]["status"] == 500 and found[2]["kept"]


def test_answers_of_something_else_are_refused(fake: Fake) -> None:
    fake.plan = [lambda handler, body: reply(handler, 200, b"<html>\n")]
    with pytest.raises(SeenError, match="no answer of simtool"):
        list(client(fake).add(pages(1)))
    fake.plan = [lambda handler, body: reply(handler, 200, b"".join(lines_for(body)[::-1]))]
    with pytest.raises(SeenError, match="answered 'http://a.example/1' to the document"):
        list(client(fake).add(pages(2)))
    fake.plan = [lambda handler, body: reply(handler, 200, lines_for(body)[0] * 2)]
    with pytest.raises(SeenError, match="more answers than documents"):
        list(client(fake).add(pages(1)))


def test_answers_are_read_while_documents_are_sent() -> None:
    """The server reads little before its answers are read, and more answers than sockets hold."""
    padding = b" " * (64 << 10)

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as reader:
            while reader.readline() != b"\r\n":
                pass
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            for _ in range(200):
                [line] = lines_for(reader.readline())
                connection.sendall(line[:-1] + padding + b"\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        made = [{**page, "text": "x" * (32 << 10)} for page in pages(200)]
        seen = SeenClient(f"http://127.0.0.1:{listener.getsockname()[1]}", retries=0, timeout=20)
        assert ids(seen.add(made)) == ids(made)
        thread.join()


def test_a_refusal_is_read_although_the_request_is_not() -> None:
    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            text = b'{"status":401,"title":"T","code":"unauthorized","detail":"send the token"}'
            connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
            done.wait(HANGS)

    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        seen = SeenClient(f"http://127.0.0.1:{listener.getsockname()[1]}", retries=0, timeout=0.5)
        large = [{"id": "a", "text": "x" * (30 << 20)}]
        with pytest.raises(SeenError, match="401 unauthorized: send the token"):
            list(seen.add(large))
        done.set()
        thread.join()


def test_settings_are_checked() -> None:
    for url in ["127.0.0.1:8750", "ftp://a/", "http://", "http://a/?b", "http://u:p@a/", "http://a/b c"]:
        with pytest.raises(ValueError, match="url"):
            SeenClient(url)
    for name, value in [("batch", 0), ("retries", -1), ("timeout", 0), ("backoff", -1), ("token", "a\nb")]:
        settings: dict[str, Any] = {name: value}
        with pytest.raises(ValueError):
            SeenClient(**settings)
    with pytest.raises(TypeError):
        list(SeenClient().add([{"id": "a", "text": b"bytes"}]))


# --- with the service itself ---


@contextlib.contextmanager
def service(directory: Path, *words: str, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A running service; SIMTOOL is the program, by default the command of the wheel."""
    command = [os.environ["SIMTOOL"]] if "SIMTOOL" in os.environ else COMMAND
    if subprocess.run([*command, "serve", "--help"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this build has no service")
    words = ("serve", str(directory), "--listen", f"127.0.0.1:{port}", *words)
    with subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


TEXT = "the quick brown fox jumps over the lazy dog near the river bank today again"


def test_a_page_that_is_sent_twice_is_no_copy_of_itself(tmp_path: Path) -> None:
    made = [{key: page[key] for key in ("id", "text")} for page in documents(300)]
    with service(tmp_path / "seen", "--dump", "monday") as (url, _), SeenClient(url, batch=64) as seen:
        first = list(seen.add(made))
        again = list(seen.add(made))
        assert {one["verdict"] for one in again} == {"unchanged"}
        assert not any(one["added"] for one in again)
        for name in ("kept", "matches"):
            assert [one[name] for one in again] == [one[name] for one in first]
        copies = [one for one in first if not one["kept"]]
        assert len(copies) > 30 and all(one["id"] != one["matches"][0]["id"] for one in copies)
        [asked] = seen.ask([{"text": made[0]["text"]}])
        assert not asked["kept"] and asked["matches"][0]["id"] == made[0]["id"]
        [none, short, page] = seen.add(
            [{"text": "an id is missing"}, {"id": "s", "text": "short"}, {"id": "h", "html": f"<p>{TEXT}</p>"}]
        )
        assert none == {"id": None, "problem": {**none["problem"], "code": "missing-id"}}
        assert short["too_short"] and page["verdict"] == "new"


def test_a_killed_service_loses_nothing(tmp_path: Path) -> None:
    made = [{key: page[key] for key in ("id", "text")} for page in documents(400)]
    port = free_port()
    kept: dict[str, bool] = {}
    with service(tmp_path / "seen", port=port) as (url, process):
        seen = SeenClient(url, batch=20, backoff=0.05)
        answers = seen.add(made)
        for one in answers:
            kept[one["id"]] = one["kept"]
            if len(kept) == 200:
                break
        process.kill()
        process.wait()
    # The rest is sent while the service starts.
    rest = threading.Thread(target=lambda: kept.update((one["id"], one["kept"]) for one in answers))
    rest.start()
    time.sleep(0.2)
    with service(tmp_path / "seen", port=port):
        rest.join(HANGS)
    with service(tmp_path / "all") as (url, _), SeenClient(url) as other:
        assert kept == {one["id"]: one["kept"] for one in other.add(made)}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as place:
        return int(place.getsockname()[1])


def test_the_example_of_the_documentation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "crawlers.md"
    [example] = re.findall(r"```python,ignore\n(from simtool_dedup.*?)```", page.read_text("utf-8"), re.DOTALL)
    with service(tmp_path / "seen") as (url, _):
        exec(example.replace("http://127.0.0.1:8750", url), {})
    assert capsys.readouterr().out == "http://a.example/2 is a copy of http://a.example/1\n"


# --- the pipeline of Scrapy ---


SCRAPY = ("scrapy", "scrapy.exceptions", "scrapy.utils", "scrapy.utils.asyncio", "itemadapter")


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with a stub in the place of Scrapy."""
    modules = {name: types.ModuleType(name) for name in SCRAPY}
    modules["scrapy.exceptions"].DropItem = type("DropItem", (Exception,), {})  # type: ignore[attr-defined]
    modules["scrapy.exceptions"].NotConfigured = type("NotConfigured", (Exception,), {})  # type: ignore[attr-defined]
    modules["scrapy.utils.asyncio"].run_in_thread = asyncio.to_thread  # type: ignore[attr-defined]
    modules["itemadapter"].ItemAdapter = lambda item: item  # type: ignore[attr-defined]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "simtool_dedup.scrapy", raising=False)
    yield importlib.import_module("simtool_dedup.scrapy")
    sys.modules.pop("simtool_dedup.scrapy", None)


class Settings(dict[str, Any]):
    """Settings as Scrapy has them."""

    def getbool(self, name: str, default: bool = False) -> bool:
        return bool(self.get(name, default))


class Counts(dict[str, int]):
    """Statistics as Scrapy has them."""

    def inc_value(self, name: str) -> None:
        self[name] = self.get(name, 0) + 1


def run(pipeline: Any, items: list[Any], **settings: Any) -> tuple[list[Any], Counts]:
    """What becomes of items: themselves, or the reason why they are dropped."""
    counts = Counts()
    crawler = types.SimpleNamespace(settings=Settings(settings), stats=counts)
    made = pipeline.SeenPipeline.from_crawler(crawler)
    found: list[Any] = []
    made.open_spider()
    for item in items:
        try:
            found.append(asyncio.run(made.process_item(item)))
        except pipeline.DropItem as error:
            found.append(str(error))
    made.close_spider()
    return found, counts


def test_the_pipeline_drops_or_marks_copies(pipeline: Any, tmp_path: Path) -> None:
    one, other = {"url": "http://a/1", "text": TEXT}, {"url": "http://a/2", "text": TEXT + "!"}
    with service(tmp_path / "seen") as (url, _):
        found, counts = run(pipeline, [one, other, one, {"url": "http://a/3"}], SIMTOOL_URL=url)
        assert found == [one, "a copy of http://a/1 (similarity 1.0)", one, {"url": "http://a/3"}]
        assert counts == {"simtool/new": 1, "simtool/duplicate": 1, "simtool/unchanged": 1, "simtool/failed": 1}
        found, counts = run(pipeline, [dict(other)], SIMTOOL_URL=url, SIMTOOL_DROP=False)
        assert found == [{**other, "duplicate_of": "http://a/1", "similarity": 1.0}]
        page = {"link": "http://a/4", "body": f"<html><body><p>{TEXT}</p></body></html>"}
        names = {"SIMTOOL_FIELD": "body", "SIMTOOL_ID": "link", "SIMTOOL_HTML": True}
        found, counts = run(pipeline, [page, {**page, "body": 3}], SIMTOOL_URL=url, **names)
        assert found[0].startswith("a copy of http://a/1") and found[1] == {**page, "body": 3}
        assert counts == {"simtool/duplicate": 1, "simtool/failed": 1}


def test_the_pipeline_keeps_what_the_service_does_not_answer(pipeline: Any, fake: Fake) -> None:
    def answer_the_first(handler: Handler, body: bytes) -> None:
        reply(handler, 200, lines_for(body)[0])
        fake.plan = [refuse(400)]

    fake.plan = [answer_the_first]
    item = {"url": "http://a/1", "text": TEXT}
    found, counts = run(pipeline, [item], SIMTOOL_URL=fake.url, SIMTOOL_TOKEN="secret")
    assert found == [item] and counts == {"simtool/failed": 1}
    assert fake.requests[0][1]["Authorization"] == "Bearer secret"
    fake.plan = [refuse(401)]
    with pytest.raises(SeenError, match="401"):
        run(pipeline, [item], SIMTOOL_URL=fake.url)


def test_a_missing_scrapy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SCRAPY:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "simtool_dedup.scrapy", raising=False)
    with pytest.raises(ImportError, match="simtool_dedup.scrapy needs Scrapy: pip install scrapy"):
        importlib.import_module("simtool_dedup.scrapy")


SPIDER = '''
import sys
import scrapy
from scrapy.crawler import CrawlerProcess


class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [sys.argv[2] + "/" + name for name in ("a", "b", "c")]

    def parse(self, response):
        yield {"url": response.url, "html": response.text}


process = CrawlerProcess(
    settings={
        "ITEM_PIPELINES": {"simtool_dedup.scrapy.SeenPipeline": 300},
        "SIMTOOL_URL": sys.argv[1],
        "SIMTOOL_FIELD": "html",
        "SIMTOOL_HTML": True,
        "FEEDS": {sys.argv[3]: {"format": "jsonlines"}},
        "CONCURRENT_REQUESTS": 1,
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(Pages)
process.start()
'''


def test_a_crawl_with_scrapy(tmp_path: Path) -> None:
    need("scrapy")
    (tmp_path / "site").mkdir()
    for name, text in {"a": TEXT, "b": TEXT, "c": "another page with some other words in it"}.items():
        page = f"<html><head><title>{name}</title></head><body><p>{text}</p></body></html>"
        (tmp_path / "site" / name).write_text(page, encoding="utf-8")
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    site.directory = tmp_path / "site"  # type: ignore[attr-defined]
    threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    (tmp_path / "spider.py").write_text(SPIDER, encoding="utf-8")
    with service(tmp_path / "seen") as (url, _):
        address = f"http://127.0.0.1:{site.server_address[1]}"
        words = [sys.executable, "spider.py", url, address, "out.jsonl"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    site.shutdown()
    site.server_close()
    assert done.returncode == 0, done.stderr
    assert not re.search("SeenPipeline.*(argument|deprecat)", done.stderr), done.stderr
    written = [json.loads(line)["url"][-2:] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    # Pages are compared at the same time, so either copy may be the first.
    assert sorted(written) in (["/a", "/c"], ["/b", "/c"]), done.stderr
    assert "'simtool/duplicate': 1" in done.stderr


class Site(http.server.BaseHTTPRequestHandler):
    """Pages for a crawl."""

    def do_GET(self) -> None:
        path: Path = self.server.directory / self.path[1:]  # type: ignore[attr-defined]
        if not path.is_file():
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(path.read_bytes())

    def log_message(self, format: str, *words: Any) -> None:
        """Prints nothing."""


def test_a_python_without_tls_uses_http_only() -> None:
    code = """
import sys
sys.modules["ssl"] = None
from simtool_dedup.client import SeenClient
assert list(SeenClient("http://127.0.0.1:1").add([])) == []
try:
    SeenClient("https://127.0.0.1:1")
except ValueError as error:
    assert "no TLS" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)

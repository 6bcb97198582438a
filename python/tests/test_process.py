"""Signals, forks, threads, panics, and what is printed."""

# Promise (The Python package): Ctrl-C stops a call and leaves no temporary files; functions work
# after a fork and in several threads; a panic is an exception; nothing is printed

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import HANGS, documents, need
from simtool_dedup import _simtool

FORK = multiprocessing.get_context("fork")


def interrupted(seconds: float, work: Callable[[int], object]) -> float:
    """Interrupt ``work(size)`` when it has used so many seconds of processor time.

    What else runs on the machine changes little of that. Work that ends before is repeated with
    twice the size. Returns the processor time between the signal and the exception.
    """
    # A shell starts what runs in the background with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    size = 1
    while True:
        begin, sent, done = time.process_time(), [0.0], threading.Event()

        def send(begin: float = begin, sent: list[float] = sent, done: threading.Event = done) -> None:
            while not done.is_set():
                sent[0] = time.process_time()
                if sent[0] - begin >= seconds:
                    os.kill(os.getpid(), signal.SIGINT)
                    return
                time.sleep(0.001)

        sender = threading.Thread(target=send)
        try:
            sender.start()
            work(size)
            done.set()
            sender.join()
        except KeyboardInterrupt:
            return time.process_time() - sent[0]
        size *= 2


# Seconds of processor time after Ctrl-C: a tenth of a second, but this build is not optimised, and the
# libraries under an index less than that.
PATIENCE = 2.0
PATIENCE_OF = {"index": 12.0}


@pytest.mark.parametrize("delay", [0.05, 0.3, 0.8])
def test_ctrl_c_stops_soon(delay: float, tmp_path: Path) -> None:
    numpy, polars = need("numpy"), need("polars")
    texts = [document["text"] for document in documents(3000, 4)]
    column = polars.Series(texts * 60)
    values = numpy.random.default_rng(1).integers(0, 2**64, 400_000, dtype="uint64")
    for name, work in {
        "dedup": lambda size: simtool.dedup(polars.concat([column] * size), method="minhash"),
        "minhash": lambda size: simtool.minhash(polars.concat([column] * 4 * size), hashes=256),
        "neighbours": lambda size: simtool.neighbours(numpy.resize(values, 400_000 * size), 12),
        "tune": lambda size: simtool.tune(texts * 4 * size, planted=True, copied=2000),
        "evaluate": lambda size: simtool.evaluate(texts * 4 * size, planted=True, copied=2000),
        "index": lambda size: add_all(tmp_path / f"seen-{delay}-{size}", texts * 60 * size),
    }.items():
        took = interrupted(delay, work)
        assert took < PATIENCE_OF.get(name, PATIENCE), (name, took)
    # Nothing is left that would disturb the next call.
    assert len(simtool.dedup(texts[:50]).kept) > 0


def add_all(directory: Path, texts: list[str]) -> None:
    with simtool.Index(directory, create=True) as index:
        index.add([{"id": str(number), "text": text} for number, text in enumerate(texts)])


def test_ctrl_c_leaves_no_files(tmp_path: Path) -> None:
    """A thread removes what was written; the process waits for it at its end."""
    polars = need("polars")
    column = polars.Series([document["text"] for document in documents(3000, 4)] * 150)
    column.to_frame("text").write_ndjson(path := tmp_path / "docs.jsonl")
    for data in (column, path):
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        # Other libraries have threads that end with the process.
        before = set(threading.enumerate())
        interrupted(0.1, lambda size, data=data, scratch=scratch: simtool.dedup(data, temp_dir=scratch))
        for thread in set(threading.enumerate()) - before:
            thread.join(HANGS)
        scratch.rmdir()


def answers(data: Any) -> tuple[Any, ...]:
    """Everything that uses threads."""
    texts = [row["text"] for row in data]
    many = texts * 40
    return (
        list(simtool.dedup(data).mask),
        simtool.simhash(many).tolist(),
        simtool.minhash(many).tolist()[:50],
        [column.tolist() for column in simtool.neighbours(simtool.simhash(texts), 5)],
        simtool.evaluate(data, planted=True, copied=5, method="simhash", draws=0)["settings"],
    )


def in_child(data: Any, queue: Any) -> None:
    queue.put(answers(data))


def test_everything_works_after_a_fork() -> None:
    data = documents(300, 6)
    expected = answers(data)
    queue = FORK.Queue()
    child = FORK.Process(target=in_child, args=(data, queue))
    child.start()
    assert queue.get(timeout=HANGS) == expected
    child.join(HANGS)
    assert child.exitcode == 0
    assert answers(data) == expected


def test_other_threads_run_meanwhile() -> None:
    polars = need("polars")
    column = polars.Series([document["text"] for document in documents(3000, 4)] * 40)
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.005)

    thread = threading.Thread(target=count)
    thread.start()
    # A busy machine may give the thread no time during one call, but not during all of them. A thread
    # that has to wait for the call runs once before and once after it.
    most, begin = 0, time.monotonic()
    while most < 10 and time.monotonic() - begin < HANGS:
        before = ticks
        simtool.dedup(column)
        most = max(most, ticks - before)
    done.set()
    thread.join()
    assert most >= 10


def test_threads_share_the_functions() -> None:
    data = documents(200, 8)
    expected = simtool.dedup(data).duplicates
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(simtool.dedup(data).duplicates))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@pytest.mark.skipif(not hasattr(_simtool, "panic"), reason="built without the feature tests")
def test_a_panic_is_an_exception(capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        with pytest.raises(simtool.Error, match="(?s)internal error, please report it.*on purpose"):
            _simtool.panic()
    assert simtool.simhash("one two three") != 0
    assert capfd.readouterr() == ("", "")


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    data = documents(50)
    simtool.dedup(data)
    simtool.evaluate(data, planted=True, copied=5, method="simhash", draws=0)
    simtool.tune(data, planted=True, copied=5)
    with pytest.raises(ValueError):
        simtool.dedup(data, similarity=3)
    assert capfd.readouterr() == ("", "")


def test_progress_is_shown_if_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    need("tqdm")
    texts = [document["text"] for document in documents(3000, 4)] * 20
    simtool.dedup(texts, progress=True)
    assert "sketch" in capfd.readouterr().err


def test_progress_is_shown_in_notebooks(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard error of a kernel is no terminal."""
    need("tqdm")
    texts = [document["text"] for document in documents(3000, 4)] * 20
    ipython = types.ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    for shell, is_shown in (("a terminal", False), (types.SimpleNamespace(kernel=1), True)):
        monkeypatch.setattr(ipython, "get_ipython", lambda shell=shell: shell, raising=False)
        simtool.dedup(texts)
        assert ("sketch" in capfd.readouterr().err) == is_shown
        simtool.dedup(texts, progress=False)
        assert capfd.readouterr().err == ""


def test_an_exception_of_the_watcher_is_raised() -> None:
    from simtool_dedup import _flags

    calls = []

    def watch(stage: str, done: int, total: int) -> None:
        calls.append((stage, done, total))
        raise RuntimeError("enough")

    import tempfile

    with tempfile.TemporaryDirectory() as name:
        path = f"{name}/rows.jsonl"
        texts = [document["text"] for document in documents(3000, 4)] * 60
        columns = {"text": "text", "id": "#id", "url": None, "date": None, "fields": []}
        _simtool.write_rows(texts, path, columns)
        words = _flags.flags({"output": f"{name}/out", "text_field": "#text"})
        with pytest.raises(RuntimeError, match="enough"):
            _simtool.call(["dedup", *words, path], watch)
    assert len(calls) == 1 and calls[0][0] in ("sketch", "sample", "count")


def test_no_library_is_imported() -> None:
    program = """
        import sys
        import simtool_dedup as simtool
        simtool.dedup(["one two three four five six seven eight"] * 2)
        found = {"numpy", "pandas", "polars", "pyarrow", "tqdm", "duckdb", "datasets"} & set(sys.modules)
        assert not found, found
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_it_works_without_any_library() -> None:
    program = """
        import sys
        for name in ("numpy", "pandas", "polars", "pyarrow", "tqdm"):
            sys.modules[name] = None
        import simtool_dedup as simtool
        text = "one two three four five six seven eight"
        found = simtool.dedup([text, text, "other"])
        assert found.mask == [True, False, True]
        assert list(simtool.simhash([text, text])) == [simtool.simhash(text)] * 2
        assert simtool.minhash([text, text]).shape == (2, 128)
        assert [list(column) for column in simtool.neighbours([1, 3], 1)] == [[0], [1], [1]]
        assert len(simtool.shingles(text)) == 4
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)

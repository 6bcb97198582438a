"""The examples of docs/PYTHON.md run."""

# Promise (The Python package): The examples of the documentation run

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import documents, need

PAGE = Path(__file__).resolve().parents[2] / "docs" / "PYTHON.md"


def prepare(directory: Path) -> None:
    """The files that the examples read."""
    polars = need("polars")
    data = [
        {"doc_id": document["id"], "body": document["text"], "n": number}
        for number, document in enumerate(documents(400))
    ]
    frame = polars.DataFrame(data)
    frame.write_parquet(directory / "docs.parquet")
    frame[:200].write_parquet(directory / "monday.parquet")
    frame[150:].write_parquet(directory / "tuesday.parquet")
    (directory / "crawl").mkdir()
    (directory / "pages").mkdir()
    frame.write_ndjson(directory / "pages" / "docs.jsonl")
    for part in range(2):
        members = []
        for row in data[part * 200 : part * 200 + 200]:
            text = row["body"].encode()
            head = (
                "WARC/1.0\r\nWARC-Type: conversion\r\n"
                f"WARC-Target-URI: http://a.example/{row['doc_id']}\r\n"
                f"WARC-Record-ID: <urn:uuid:{row['n']:032}>\r\n"
                f"Content-Type: text/plain\r\nContent-Length: {len(text)}\r\n\r\n"
            )
            members.append(gzip.compress(head.encode() + text + b"\r\n\r\n"))
        (directory / "crawl" / f"{part}.wet.gz").write_bytes(b"".join(members))


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in one namespace; those that need a missing library are skipped."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) > 7
    names: dict[str, Any] = {}
    run = 0
    for block in blocks:
        try:
            exec(compile(block, str(PAGE), "exec"), names)
        except ModuleNotFoundError as error:
            print(f"skipped: an example of docs/PYTHON.md: {error}")
            continue
        except NameError:
            # It continues an example that was skipped.
            continue
        run += 1
    assert run > 4
    assert os.path.exists("out/kept") and os.path.exists("seen")

"""Results and tables are copied and pickled, as joblib, Ray and Dask do."""

# Promise (The Python package): Results and tables can be copied and pickled

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import documents, need, rows, write_jsonl
from frames import KINDS, frame
from test_later_changes import seen, seen_passages

COPIES = {
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "pickled": lambda value: pickle.loads(pickle.dumps(value)),
}
COPY = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES.keys())
DOCUMENTS = documents(120, seed=33)


def data_of(kind: str) -> Any:
    """Documents in a library, also in those that are not in ``frames``."""
    made = frame("pyarrow" if kind in ("duckdb", "datasets", "table") else kind, DOCUMENTS, 30, "string")
    if kind == "duckdb":
        return need("duckdb").from_arrow(made)
    if kind == "datasets":
        return need("datasets").Dataset(made)
    if kind == "table":
        return simtool.Table(made)
    return made


@COPY
@pytest.mark.parametrize("kind", [*KINDS, "duckdb", "datasets", "table"])
def test_results_of_rows(kind: str, copied: Callable[[Any], Any]) -> None:
    data, others = data_of(kind), data_of(kind)
    if kind in ("duckdb", "datasets"):
        found = simtool.dedup(data, refused=True)
        other = copied(found)
        assert type(other.kept) is type(found.kept) and list(other.mask) == list(found.mask)
        assert other._repr_html_() == found._repr_html_()
        return
    for options in ({"refused": True}, {"against": others}, {"keep": "none"}):
        found = simtool.dedup(data, ids="id", **options)
        before = seen(found) if options != {"keep": "none"} else [rows(found.duplicates)]
        other = copied(found)
        after = seen(other) if options != {"keep": "none"} else [rows(other.duplicates)]
        assert after == before and type(other.kept) is type(found.kept)
        if options == {"refused": True}:
            assert rows(other.refused) == rows(found.refused)
    for passages in (
        simtool.spans(data, ids="id", min_length=8, action="mask"),
        simtool.decontaminate(data, others, ids="id", reference_text="text", action="cut"),
    ):
        assert seen_passages(copied(passages)) == seen_passages(passages)


@COPY
def test_tables(copied: Callable[[Any], Any]) -> None:
    arrow = need("pyarrow")
    columns = {
        "text": arrow.chunked_array([["a", None], [], ["ü"]]),
        "view": arrow.array(["a", "b", "c"]).cast(arrow.string_view()),
        "key": arrow.array(["a", "b", "a"]).dictionary_encode(),
        "nested": arrow.array([{"a": 1}, None, {"a": 2}]),
        "list": arrow.array([[1], [], None]),
    }
    table = simtool.Table(arrow.table(columns))
    other = copied(table)
    assert arrow.table(other).equals(arrow.table(table)) and len(other) == 3
    empty = simtool.Table(arrow.table(columns)[:0])
    assert len(copied(empty)) == 0 and copied(empty).column_names == empty.column_names
    with pytest.raises(simtool.Error):
        simtool.Table(b"no stream")


@COPY
def test_results_of_files(copied: Callable[[Any], Any], tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "docs.jsonl", DOCUMENTS)
    files = simtool.FileOptions(tmp_path / "out", write="kept")
    found = simtool.dedup(path, files=files)
    other = copied(found)
    assert other.kept == found.kept and rows(other.duplicates) == rows(found.duplicates)
    assert repr(other) == repr(found) and copied(files) == files
    assert isinstance(other, simtool.Result)
    passages = simtool.lines(path, unit="line", files=simtool.FileOptions(tmp_path / "lines"))
    assert rows(copied(passages).repeated) == rows(passages.repeated)


def test_a_temporary_output_is_shared_by_copies_and_not_pickled(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "docs.jsonl", DOCUMENTS)
    (tmp_path / "scratch").mkdir()
    for search in (simtool.dedup, simtool.spans):
        found: Any = search(path, temp_dir=tmp_path / "scratch")
        with pytest.raises(TypeError, match=r"cannot be pickled: name a directory, as files=FileOptions\(output"):
            pickle.dumps(found)
        for copied in (copy.copy, copy.deepcopy):
            found = copied(found)
            assert len(found.skipped) == 0 and list((tmp_path / "scratch").iterdir())
        del found
    assert not list((tmp_path / "scratch").iterdir())


def test_other_values() -> None:
    found = simtool.dedup(DOCUMENTS)
    for value in (found.explain(0), found.least_similar(2), simtool.similarity("a b", "a c")):
        for copied in COPIES.values():
            assert repr(copied(value)) == repr(value)

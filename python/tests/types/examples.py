"""What type checkers know about calls; checked by mypy and pyright, not run."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true, reportUnusedVariable=false

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pandas as pd
import polars as pl
from typing_extensions import assert_type

import simtool_dedup as simtool
from simtool_dedup import Choice, FileOptions

Dicts = list[dict[str, Any]]


def frames(frame: pd.DataFrame, other: pl.DataFrame, lazy: pl.LazyFrame) -> None:
    """What comes back is of the library of the caller."""
    result = simtool.dedup(frame, text="body", ids="doc_id", keep="longest")
    assert_type(result.kept, pd.DataFrame)
    assert_type(result.duplicates, pd.DataFrame)
    assert_type(result.refused, pd.DataFrame | None)
    assert_type(result.at(0.9).clusters, pd.DataFrame)
    assert_type(result.explain(0).similarity, simtool.Similarity)
    assert_type(result.summary, dict[str, Any])
    assert_type(simtool.dedup(other).kept, pl.DataFrame)
    assert_type(simtool.dedup(lazy).duplicates, pl.LazyFrame)
    assert_type(simtool.lines(frame, action="cut").kept, pd.DataFrame)
    assert_type(simtool.spans(other, min_length=30).ranges, pl.DataFrame)
    assert_type(simtool.decontaminate(frame, ["an item"], profile="olmo").items, pd.DataFrame)
    table = simtool.dedup("docs.jsonl").duplicates
    assert_type(table, simtool.Table)
    assert_type(simtool.dedup(table).kept, simtool.Table)


def series(column: pd.Series[str], texts: pl.Series) -> None:
    """A series comes back, and tables are frames."""
    assert_type(simtool.dedup(texts).kept, pl.Series)
    assert_type(simtool.dedup(texts).duplicates, pl.DataFrame)
    assert_type(simtool.dedup(column).duplicates, pd.DataFrame)
    assert_type(simtool.spans(texts).repeated, pl.DataFrame)


def items(texts: list[str], array: numpy.ndarray[Any, numpy.dtype[numpy.object_]], lines: Iterator[str]) -> None:
    """Lists, tuples and arrays come back, and tables are lists of dictionaries."""
    assert_type(simtool.dedup(texts).kept, list[str])
    assert_type(simtool.dedup(texts).duplicates, Dicts)
    assert_type(simtool.dedup(tuple(texts)).kept, tuple[str, ...])
    # The type of an array has Any, so mypy does not choose an overload.
    simtool.dedup(array).kept.tolist()
    assert_type(simtool.dedup(lines).kept, list[str])
    assert_type(simtool.lines(texts).repeated, Dicts)


def files(path: Path) -> None:
    """Files have results of their own, and settings."""
    options = FileOptions("out", write=("kept", "removed"), write_format="parquet", min_sources=2)
    result = simtool.dedup([path], files=options, keep=["newest", Choice("field:score")])
    assert_type(result, simtool.FileResult)
    assert_type(simtool.spans("*.jsonl", files=FileOptions(output=path)), simtool.PassageFiles)


def common(result: simtool.Result[pd.DataFrame, pd.DataFrame]) -> pd.DataFrame:
    """Results of one machine and of a cluster."""
    return result.kept


def others(frame: pd.DataFrame, texts: list[str]) -> None:
    """Other functions."""
    common(simtool.dedup(frame))
    assert_type(simtool.simhash("a text"), int)
    assert_type(simtool.simhash("a text", bits=128), int | bytes)
    fingerprints = simtool.simhash(frame, text="body")
    assert_type(fingerprints, numpy.ndarray[Any, Any])
    a, b, distance = simtool.neighbours(fingerprints, 3)
    assert_type(distance, numpy.ndarray[Any, Any])
    assert_type(simtool.similarity("a", "b"), simtool.Similarity)
    assert_type(simtool.evaluate(texts, planted=True), dict[str, Any])
    with simtool.Index("seen", create=True, keep="longest") as seen:
        assert_type(seen.add(frame, ids="doc_id"), pd.DataFrame)
        assert_type(seen.query("a text"), dict[str, Any])
        assert_type(seen.query(texts), Dicts)


def mistakes(frame: pd.DataFrame) -> None:
    """Checkers find these: they warn of a comment that is not needed."""
    simtool.dedup(frame, keep="longst")  # type: ignore
    simtool.dedup(frame, keep="field:score")  # type: ignore
    simtool.dedup(frame, html="none")  # type: ignore
    simtool.dedup(frame, id="doc_id")  # type: ignore
    simtool.dedup(frame, files=FileOptions())  # type: ignore
    simtool.dedup(5)  # type: ignore
    simtool.lines(frame, action="delete")  # type: ignore
    simtool.spans(frame, min=30)  # type: ignore
    FileOptions(write="keep")  # type: ignore

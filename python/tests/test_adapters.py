"""The namespace of polars expressions, and ``map`` of datasets."""

# Promise (The Python package): The expressions of polars and `map` of `datasets` give the answers of
# the functions

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import documents, need

TEXT = "A cat sat on the mat while a dog slept in the sun behind the house"


@pytest.fixture(scope="module")
def texts() -> list[str | None]:
    """Texts with near copies, without words and null."""
    made: list[str | None] = [document["text"] for document in documents(150, 3)]
    return [*made, "", None, TEXT, TEXT.upper()]


@pytest.mark.parametrize("engine", ["eager", "lazy", "streaming"])
def test_polars_expressions_are_the_functions(engine: str, texts: list[str | None]) -> None:
    polars = need("polars")
    import simtool_dedup.polars  # noqa: F401

    frame = polars.DataFrame({"body": texts, "n": range(len(texts))})
    body = polars.col("body").simtool
    query = (frame if engine == "eager" else frame.lazy()).with_columns(
        wide=body.simhash(),
        narrow=body.simhash(bits=32, keep_stop_words=True),
        signature=body.minhash(hashes=16),
        kept=body.is_kept(similarity=0.9),
    )
    found = query if engine == "eager" else query.collect(engine="streaming" if engine == "streaming" else "auto")
    assert found.schema == {
        "body": polars.String,
        "n": polars.Int64,
        "wide": polars.UInt64,
        "narrow": polars.UInt32,
        "signature": polars.Array(polars.UInt32, 16),
        "kept": polars.Boolean,
    }
    assert found["wide"].to_list() == simtool.simhash(texts).tolist()
    assert found["narrow"].to_list() == simtool.simhash(texts, bits=32, keep_stop_words=True).tolist()
    assert found["signature"].to_list() == simtool.minhash(texts, hashes=16).tolist()
    assert found["kept"].to_list() == list(simtool.dedup(texts, similarity=0.9).mask)
    assert not found["kept"].all()


def test_polars_expressions_that_begin_at_once_import_numpy_once() -> None:
    need("polars")
    program = """
import importlib, time
real = importlib.import_module
def slow(name, package=None):
    module = real(name, package)
    time.sleep(0.5 if name == "numpy" else 0)
    return module
importlib.import_module = slow
import polars, simtool_dedup.polars
body = polars.col("body").simtool
print(polars.DataFrame({"body": ["a text"] * 3}).with_columns(a=body.simhash(), b=body.minhash()).width)
"""
    environment = os.environ | {"POLARS_MAX_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr


def test_polars_expressions_compare_within_groups() -> None:
    polars = need("polars")
    import simtool_dedup.polars  # noqa: F401

    frame = polars.DataFrame({"body": [TEXT, TEXT, TEXT, "other"], "site": ["a", "b", "a", "b"]})
    body = polars.col("body").simtool
    assert frame.select(body.is_kept())["body"].to_list() == [True, False, False, True]
    assert frame.select(body.is_kept().over("site"))["body"].to_list() == [True, True, False, True]
    assert frame[:0].select(body.simhash())["body"].to_list() == []
    assert frame.select(polars.col("body").simtool.simhash().alias("f")).columns == ["f"]
    with pytest.raises(ValueError, match="bits 128: expected 32 or 64"):
        body.simhash(bits=128)


def test_map_of_datasets_writes_fingerprints(texts: list[str | None]) -> None:
    """Also of null texts, in several processes, and with a mask of the whole."""
    datasets = need("datasets")
    given = datasets.Dataset.from_dict({"body": texts})
    for processes in (None, 2):
        marked = given.map(
            lambda batch: {"simhash": simtool.simhash(batch["body"])},
            batched=True,
            batch_size=40,
            num_proc=processes,
        )
        assert marked["simhash"][:] == simtool.simhash(texts).tolist()
    mask = simtool.dedup(given, text="body").mask
    kept = given.select([row for row, stays in enumerate(mask) if stays])
    assert kept["body"][:] == simtool.dedup(given, text="body").kept["body"][:]

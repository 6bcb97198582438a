"""What a newcomer passes by mistake: the error names the argument and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import need

TEXT = "A cat sat on the mat while a dog slept in the sun behind the house"


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: simtool.dedup(TEXT.encode()), TypeError, "found bytes"),
        (lambda: simtool.dedup({"text": TEXT}), TypeError, "found dict"),
        (lambda: simtool.dedup([TEXT], text=0), TypeError, "text: expected the name .* found int"),
        (lambda: simtool.dedup([TEXT], threads=-1), ValueError, "threads -1: expected a whole"),
        (lambda: simtool.dedup([TEXT], threads=0), ValueError, "threads 0: expected"),
        (lambda: simtool.dedup([TEXT], threads="2"), TypeError, "threads: expected .* found str"),
        (lambda: simtool.dedup([TEXT], threads=1.5), TypeError, "threads: expected .* found float"),
        (lambda: simtool.dedup([TEXT], similarity=True), TypeError, "similarity: .* found True"),
        (lambda: simtool.dedup([TEXT], method="simhsh"), ValueError, "simhsh.*expected one of simhash"),
        (lambda: simtool.dedup([TEXT] * 2).least_similar(-1), ValueError, "count -1: expected"),
        (lambda: simtool.dedup([TEXT] * 2).at("0.9"), TypeError, "at: expected a number, found str"),
        (lambda: simtool.shingles(TEXT, words=-1), ValueError, "words -1: expected"),
        (lambda: simtool.minhash(TEXT, hashes=1.0), TypeError, "hashes: expected .* found float"),
        (lambda: simtool.neighbours([1, 2], -1), ValueError, "distance -1: expected"),
        (lambda: simtool.neighbours([1], 1, width=1000), ValueError, "width 1000: expected 1 to 64"),
        (
            lambda: simtool.dedup([TEXT], against=[TEXT], cluster="components", refused=True),
            ValueError,
            "refused: with cluster='components'",
        ),
    ],
)
def test_errors_name_the_argument(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_arrays_of_texts_have_one_dimension() -> None:
    numpy = need("numpy")
    texts = numpy.array([TEXT, None, TEXT, ""], dtype=object)
    assert list(simtool.dedup(texts).mask) == [True, True, False, True]
    for shape in ((2, 2), ()):
        with pytest.raises(TypeError, match="one dimension"):
            simtool.dedup(numpy.full(shape, TEXT))
    with pytest.raises(ValueError, match="at most 64 bits"):
        simtool.neighbours(simtool.simhash([TEXT, TEXT], bits=128))
    with pytest.raises(ValueError, match="without nulls"):
        simtool.neighbours(need("polars").Series([1, None], dtype=need("polars").UInt64))


def test_columns_of_pandas() -> None:
    pandas = need("pandas")
    found = simtool.dedup(pandas.DataFrame({"body": [TEXT, TEXT, "x"]}, index=[1, 1, 2]))
    assert found.kept.index.tolist() == [1, 2]
    with pytest.raises(ValueError, match="there is no such column; the data has body, n"):
        simtool.dedup(pandas.DataFrame({"body": [TEXT], "n": [1]}))
    with pytest.raises(TypeError, match="row 1: text: expected str"):
        simtool.dedup(pandas.DataFrame({"text": [TEXT, 1]}))


def test_the_only_column_of_a_dataset() -> None:
    data = need("datasets").Dataset.from_dict({"body": [TEXT, TEXT, "x"]})
    assert len(simtool.dedup(data).kept) == 2


def test_repeated_and_missing_ids() -> None:
    polars = need("polars")
    frame = polars.DataFrame({"id": ["a", "a", None], "text": [TEXT, TEXT, TEXT]})
    found = simtool.dedup(frame).duplicates
    assert found["id"].to_list() == ["a", None] and found["kept"].to_list() == ["a", "a"]
    assert found["row"].to_list() == [1, 2] and found["kept_row"].to_list() == [0, 0]

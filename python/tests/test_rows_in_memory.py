"""Frames are read where they are: values of fields, places of rows, errors."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from typing import Any

import pytest

import simtool_dedup as dedup_module
from conftest import need, rows

TEXT = "one two three four five six seven eight nine ten eleven twelve"


def kept_scores(scores: Any, keep: str) -> list[Any]:
    """The scores that stay of rows with one text."""
    arrow = need("pyarrow")
    table = arrow.table({"text": [TEXT] * len(scores), "score": scores})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dedup_module.dedup(table, keep=keep).kept.column("score").to_pylist()


def test_numbers_of_every_type_are_numbers() -> None:
    """Not texts, of which 9 would be larger than 10; what is no number is missing."""
    arrow = need("pyarrow")
    for kind in (arrow.int8(), arrow.uint64(), arrow.float32(), arrow.float64()):
        assert kept_scores(arrow.array([9, 10, 2], kind), "field:score") == [10]
        assert kept_scores(arrow.array([9, 10, 2], kind), "smallest:score") == [2]
    decimals = arrow.array([Decimal("9.5"), Decimal("10.25"), Decimal("-3.00")])
    assert kept_scores(decimals, "field:score") == [Decimal("10.25")]
    assert kept_scores(decimals, "smallest:score") == [Decimal("-3.00")]
    with_nan = arrow.array([math.nan, 1.0, 2.0])
    assert kept_scores(with_nan, "field:score") == [2.0]
    assert kept_scores(with_nan, "smallest:score") == [1.0]


def test_empty_texts_and_nulls_of_fields_are_those_of_a_list() -> None:
    """An empty text is a value, null is none; also in dictionaries."""
    arrow = need("pyarrow")
    data = [{"text": TEXT, "group": group} for group in ("b", "", None, "", "a", None)]
    for options in ({"keep": "smallest:group"}, {"keep": "field:group"}, {"within": "field:group"}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = dedup_module.dedup(data, **options)
            for kind in (arrow.string(), arrow.dictionary(arrow.int8(), arrow.large_string())):
                frame = arrow.Table.from_pylist(data)
                frame = frame.set_column(1, "group", frame.column("group").cast(kind))
                assert list(dedup_module.dedup(frame, **options).mask) == list(expected.mask)


def test_dictionaries_of_texts_in_small_batches() -> None:
    """Each batch has its own dictionary."""
    arrow = need("pyarrow")
    texts = [f"{TEXT} {'x' * (number % 7)} {number % 7}" for number in range(300)]
    column = arrow.chunked_array(
        [arrow.array(texts[at : at + 3]).dictionary_encode() for at in range(0, 300, 3)]
    )
    frame = arrow.table({"text": column})
    expected = dedup_module.dedup(texts)
    found = dedup_module.dedup(frame)
    assert list(found.mask) == list(expected.mask)
    assert found.kept.num_rows == len(expected.kept)


def test_a_damaged_text_is_named_by_its_row() -> None:
    """Bytes that are not UTF-8, in a column of bytes."""
    arrow = need("pyarrow")
    frame = arrow.table({"text": [TEXT.encode(), b"two \xff words", b"three"]})
    with pytest.warns(UserWarning, match="the first: row 1 of rows"):
        dedup_module.dedup(frame)

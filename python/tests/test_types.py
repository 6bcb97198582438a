"""What comes back has the type that came in."""

# Promise (The Python package): What comes back has the type that came in; null texts stay; text is
# read from every Arrow type of text

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import documents, need, rows

TEXT = "A cat sat on the mat while a dog slept in the sun behind the house"


def test_a_polars_frame(docs: list[dict[str, Any]]) -> None:
    polars = need("polars")
    found = simtool.dedup(polars.DataFrame(docs))
    assert isinstance(found.kept, polars.DataFrame) and isinstance(found.duplicates, polars.DataFrame)
    assert found.kept["id"].to_list() == [d["id"] for d, keep in zip(docs, found.mask) if keep]
    assert found.kept.columns == list(docs[0])
    lazy = simtool.dedup(polars.LazyFrame(docs))
    assert lazy.kept.collect().equals(found.kept)
    series = simtool.dedup(polars.DataFrame(docs)["text"])
    assert isinstance(series.kept, polars.Series) and len(series.kept) == len(found.kept)


def test_a_pandas_frame(docs: list[dict[str, Any]]) -> None:
    pandas = need("pandas")
    frame = pandas.DataFrame(docs, index=range(1000, 1000 + len(docs)))
    # A column that Arrow cannot have is not looked at.
    frame["mixed"] = [object() if row % 2 else row for row in range(len(frame))]
    found = simtool.dedup(frame)
    assert isinstance(found.kept, pandas.DataFrame) and isinstance(found.clusters, pandas.DataFrame)
    assert list(found.kept.index) == [1000 + row for row, keep in enumerate(found.mask) if keep]
    # Counts stay whole numbers, also if one is missing: short texts have no shingles.
    short = simtool.dedup(pandas.DataFrame({"text": ["a b", "a b", *frame["text"]]})).duplicates
    # A frame without URLs has no sites.
    assert "cluster_sites" in found.duplicates and "cluster_sites" not in short
    counts = short[["shared", "shingles", "cluster_size", "distance"]]
    assert set(map(str, counts.dtypes)) == {"UInt64"}
    assert counts["shared"].isna().any() and counts["shared"].max() > 1
    series = simtool.dedup(frame["text"])
    assert isinstance(series.kept, pandas.Series) and len(series.kept) == len(found.kept)


def test_a_pandas_frame_without_pyarrow(
    docs: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pandas = need("pandas")
    frame = pandas.DataFrame([*docs, {"id": None, "text": None}])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        usual = simtool.dedup(frame)
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
        found = simtool.dedup(frame)
    assert list(found.mask) == list(usual.mask)
    assert isinstance(found.duplicates, pandas.DataFrame)
    assert str(found.duplicates["shared"].dtype) == "UInt64"


def test_tables_of_pyarrow(docs: list[dict[str, Any]]) -> None:
    arrow = need("pyarrow")
    table = arrow.Table.from_pylist(docs)
    found = simtool.dedup(table)
    assert isinstance(found.kept, arrow.Table) and isinstance(found.duplicates, arrow.Table)
    batch = table.to_batches()[0]
    for data in (
        batch,
        arrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7)),
        table["text"],
        table["text"].combine_chunks(),
        simtool.Table(table),
    ):
        other = simtool.dedup(data)
        assert list(other.mask) == list(found.mask), type(data)
        assert len(other.kept) == len(found.kept)
    assert isinstance(simtool.dedup(batch).kept, arrow.RecordBatch)


def test_every_type_of_text_with_nulls_and_chunks() -> None:
    arrow = need("pyarrow")
    names = ["string", "large_string", "string_view", "binary", "large_binary"]
    types = [getattr(arrow, name)() for name in names]
    types.append(arrow.dictionary(arrow.int32(), arrow.string()))
    for kind in types:
        chunks = [[TEXT, None], [], [None], [TEXT.upper(), "x" * 20]]
        column = arrow.chunked_array([arrow.array(part, arrow.string()).cast(kind) for part in chunks])
        with pytest.warns(UserWarning, match="text: 2 of 5 documents have no text"):
            found = simtool.dedup(arrow.table({"body": column, "n": range(5)}), text="body")
        assert list(found.mask) == [True, True, True, False, True], kind
        assert [row["row"] for row in rows(found.skipped)] == [1, 2]
        assert len(found.kept) == 4
    for nothing in (arrow.table({"text": arrow.nulls(3)}), [{"text": None}] * 3, [None] * 3):
        with pytest.warns(UserWarning, match="3 of 3"):
            assert len(simtool.dedup(nothing).kept) == 3


def test_a_dataset_with_a_selection(docs: list[dict[str, Any]]) -> None:
    datasets = need("datasets")
    data = datasets.Dataset.from_list(docs)
    shuffled = data.shuffle(seed=3).select(range(150))
    found = simtool.dedup(shuffled)
    assert isinstance(found.kept, datasets.Dataset)
    assert found.kept["id"][:] == [
        id for id, keep in zip(shuffled["id"], found.mask) if keep
    ]
    expected = simtool.dedup([data[row] for row in range(len(data))])
    assert list(simtool.dedup(data).mask) == list(expected.mask)


def test_a_relation_of_duckdb(docs: list[dict[str, Any]]) -> None:
    duckdb, arrow = need("duckdb"), need("pyarrow")
    connection = duckdb.connect()
    connection.register("docs", arrow.Table.from_pylist(docs))
    found = simtool.dedup(connection.sql("select id, text from docs"))
    assert isinstance(found.kept, duckdb.DuckDBPyRelation)
    assert len(found.kept.fetchall()) == sum(found.mask)


def test_lists_and_iterators(docs: list[dict[str, Any]]) -> None:
    texts = [document["text"] for document in docs]
    found = simtool.dedup(texts)
    assert found.kept == [text for text, keep in zip(texts, found.mask) if keep]

    def generated() -> Iterator[str]:
        yield from texts

    assert simtool.dedup(generated()).kept == found.kept
    assert list(simtool.dedup(tuple(texts)).kept) == found.kept
    as_bytes = simtool.dedup([text.encode() for text in texts])
    assert list(as_bytes.mask) == list(found.mask)
    nested = simtool.dedup([{"m": {"body": text}} for text in texts], text="m.body")
    assert list(nested.mask) == list(found.mask)
    assert found.duplicates[0]["id"] == found.duplicates[0]["row"]


def test_nested_columns_and_fields() -> None:
    polars = need("polars")
    data = [
        {"doc": {"body": TEXT, "lang": lang}, "meta": {"score": score, "day": f"2024-01-0{score}"}}
        for score, lang in [(1, "en"), (3, "de"), (2, "en"), (4, "de")]
    ]
    frame = polars.DataFrame(data)
    for given in (data, frame):
        found = simtool.dedup(
            given, text="doc.body", keep="field:meta.score", within="field:doc.lang"
        )
        assert list(found.mask) == [False, False, True, True]
        newest = simtool.dedup(given, text="doc.body", date="meta.day", keep="newest")
        assert list(newest.mask) == [False, False, False, True]


def test_fields_of_every_type_decide() -> None:
    import datetime

    polars = need("polars")
    days = [datetime.datetime(2024, 5, day, 12) for day in (3, 9, 1)]
    frame = polars.DataFrame({"text": [TEXT] * 3, "day": days, "flag": [True, False, True]})
    assert list(simtool.dedup(frame, date="day", keep="newest").mask) == [False, True, False]
    found = simtool.dedup(frame.to_dicts(), date="day", keep="newest", within="field:flag")
    assert list(found.mask) == [True, True, False]


def test_ids_keep_their_type() -> None:
    polars = need("polars")
    frame = polars.DataFrame({"key": [10, 20, 30], "text": [TEXT, "other", TEXT]})
    found = simtool.dedup(frame, ids="key")
    assert found.duplicates["id"].to_list() == [30] and found.duplicates["id"].dtype == polars.Int64
    assert found.duplicates["kept"].to_list() == [10]
    without = simtool.dedup(frame)
    assert without.duplicates["id"].to_list() == [2]


def test_nothing_is_a_result() -> None:
    polars = need("polars")
    for data in ([], polars.DataFrame({"text": []}, schema={"text": polars.String})):
        with pytest.warns(UserWarning, match="no documents"):
            found = simtool.dedup(data)
        assert len(found.kept) == 0 and len(rows(found.duplicates)) == 0
        assert found.least_similar() == [] and "0 rows" in repr(found)


def test_unreadable_data_is_refused() -> None:
    polars = need("polars")
    frame = polars.DataFrame({"a": [1], "b": ["x"]})
    with pytest.raises(ValueError, match='text "text": there is no such column; the data has a, b'):
        simtool.dedup(frame)
    with pytest.raises(ValueError, match='text "a": the column has the type Int64'):
        simtool.dedup(frame, text="a")
    with pytest.raises(ValueError, match='ids "nope"'):
        simtool.dedup(frame, text="b", ids="nope")
    with pytest.raises(ValueError, match="there is no such column"):
        simtool.dedup(frame, text="b", keep="field:nope")
    with pytest.raises(ValueError, match="no row has it; the first one has body"):
        simtool.dedup([{"body": "x"}])
    with pytest.raises(ValueError, match="row 1: the text has a surrogate"):
        simtool.dedup(["fine", "\ud800"])
    with pytest.raises(ValueError, match="row 0: the text has a surrogate"):
        simtool.simhash(["\udcff"])
    for wrong in (1, 2.5, object()):
        with pytest.raises(TypeError, match="row 0: expected str, bytes, None or dict"):
            simtool.dedup([wrong])
        with pytest.raises(TypeError, match="expected a table"):
            simtool.dedup(wrong)
    with pytest.raises(TypeError, match="expected a table"):
        simtool.dedup({"text": TEXT})


def test_zero_bytes_and_control_characters_stay(docs: list[dict[str, Any]]) -> None:
    hostile = [f"{document['text']}\0\x0c\"\\\x1b" for document in docs]
    found = simtool.dedup(hostile)
    assert found.kept == [text for text, keep in zip(hostile, found.mask) if keep]
    assert list(found.mask) == list(simtool.dedup([d["text"] for d in docs]).mask)


def test_a_table_can_be_taken_apart() -> None:
    arrow = need("pyarrow")
    table = simtool.Table(arrow.table({"a": [1, 2, 3], "t": ["x", None, "z"]}))
    assert table.column_names == ["a", "t"] and len(table) == 3
    assert table.filter(b"\1\0\1").column("a") == [1, 3]
    assert table.take([2, 0]).to_pylist() == [{"a": 3, "t": "z"}, {"a": 1, "t": "x"}]
    assert table.text("t", 1) is None and table.text("t", 2) == "z"
    with pytest.raises(IndexError):
        table.text("t", 3)
    with pytest.raises(KeyError):
        table.column("nope")
    with pytest.raises(TypeError, match="no Arrow PyCapsule interface"):
        simtool.Table([1])


def test_documents_are_found_in_the_collection() -> None:
    """The generator makes near copies, or other tests check nothing."""
    found = simtool.dedup(documents(200))
    assert 20 < len(found.duplicates) < 100
    assert {row["method"] for row in found.duplicates} == {"exact", "minhash"}


def test_every_character_is_escaped_at_every_place(tmp_path: Path) -> None:
    """The file of rows has the texts that came in."""
    from simtool_dedup import _simtool

    special = [chr(code) for code in range(0x23)] + ["\\", "\x7f", "é", "日", "\U0001f600"]
    texts = ["a" * place + mark + "b" * 40 + mark for mark in special for place in range(34)]
    texts += ["".join(special) * 3, ""]
    columns = {"text": "text", "id": "#id", "url": None, "date": None, "fields": []}
    table = simtool.Table(need("polars").DataFrame({"text": texts}))
    for number, data in enumerate((texts, table)):
        path = tmp_path / f"{number}.jsonl"
        _simtool.write_rows(data, str(path), columns)
        lines = path.read_text(encoding="utf-8").split("\n")
        assert [json.loads(line)["#text"] for line in lines if line] == texts

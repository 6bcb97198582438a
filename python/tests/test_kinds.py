"""What comes back is of the kind that came in, with the ids of the caller; errors name the column or row."""

# Promise (The Python package): Results are of the kind of the data, with ids of any type and labels of
# an index; errors name a missing column and those that exist, or the row

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import need, rows

TEXT = "A cat sat on the mat while a dog slept in the sun behind the house"
TEXTS = [TEXT, "Something else", TEXT + "\nmore"]
KEPT = TEXTS[:2]
CUT = [TEXT, "Something else", "more"]
UUIDS = [uuid.UUID(int=number << 100 | number) for number in range(3)]


def test_columns_of_datasets() -> None:
    datasets = need("datasets")
    data = datasets.Dataset.from_dict({"n": [1, 2, 3], "text": TEXTS, "meta": [{"t": text} for text in TEXTS]})
    column = data["text"]
    found = simtool.dedup(column)
    assert type(found.kept) is type(column) and list(found.kept) == KEPT
    assert isinstance(found.duplicates, datasets.Dataset) and found.duplicates["row"][:] == [2]
    assert simtool.simhash(column).tolist() == simtool.simhash(TEXTS).tolist()
    assert (simtool.minhash(column) == simtool.minhash(TEXTS)).all()
    cut = simtool.lines(column, unit="line", action="cut").kept
    assert type(cut) is type(column) and list(cut) == CUT
    assert simtool.tune(column, planted=True, copied=2)["documents"] == 3
    if hasattr(column, "column_name"):
        nested = simtool.dedup(data["meta"]["t"])
        assert list(nested.kept) == KEPT and nested.explain(0).a == TEXT.encode()
    shuffled = data.shuffle(seed=1)
    assert list(simtool.dedup(shuffled["text"]).mask) == list(simtool.dedup(shuffled).mask)


def test_splits_and_streams_of_datasets() -> None:
    datasets = need("datasets")
    data = datasets.Dataset.from_dict({"text": TEXTS, "n": [1, 2, 3]})
    splits = datasets.DatasetDict({"train": data, "test": data})
    with pytest.raises(TypeError, match=r"splits train, test: pass one of them, as data\['train'\]"):
        simtool.dedup(splits)
    stream = data.to_iterable_dataset()
    found = simtool.dedup(stream)
    assert isinstance(found.kept, datasets.Dataset)
    assert found.kept.to_dict() == {"text": KEPT, "n": [1, 2]} and found.kept.features == data.features
    named = data.add_column("kind", ["a", "b", "a"]).class_encode_column("kind")
    assert simtool.dedup(named.to_iterable_dataset()).kept.features == named.features
    filtered = stream.filter(lambda row: row["n"] != 2)
    assert simtool.dedup(filtered).kept["n"][:] == [1]
    with pytest.warns(UserWarning, match="no documents"):
        assert len(simtool.dedup(stream.filter(lambda row: False)).kept) == 0


def test_lazy_frames_come_back_lazy() -> None:
    polars = need("polars")
    frame = polars.LazyFrame({"text": TEXTS, "n": [1, 2, 3]})
    found = simtool.dedup(frame)
    assert isinstance(found.kept, polars.LazyFrame) and isinstance(found.duplicates, polars.LazyFrame)
    assert found.kept.filter(polars.col("n") > 1).collect()["text"].to_list() == KEPT[1:]
    cut = simtool.lines(frame, unit="line", action="cut")
    assert isinstance(cut.kept, polars.LazyFrame) and cut.kept.collect()["text"].to_list() == CUT


@pytest.mark.parametrize("dtype", ["object", "U", "S"])
def test_arrays_of_numpy_come_back(dtype: str) -> None:
    numpy = need("numpy")
    data = numpy.array([text.encode() for text in TEXTS] if dtype == "S" else TEXTS, dtype=dtype)
    found = simtool.dedup(data)
    assert isinstance(found.kept, numpy.ndarray) and found.kept.dtype == data.dtype
    assert found.kept.tolist() == data[:2].tolist()
    cut = simtool.lines(data, unit="line", action="cut").kept
    assert cut.dtype == data.dtype and cut.tolist() == [*data[:2].tolist(), CUT[2] if dtype != "S" else b"more"]


def test_tuples_come_back() -> None:
    assert simtool.dedup(tuple(TEXTS)).kept == tuple(KEPT)
    assert simtool.dedup(iter(TEXTS)).kept == KEPT
    assert simtool.dedup({text: 1 for text in TEXTS}.keys()).kept == KEPT


def test_frames_of_daft() -> None:
    daft = need("daft")
    found = simtool.dedup(daft.from_pydict({"text": TEXTS, "key": [7, 8, 9]}), ids="key")
    assert isinstance(found.kept, daft.DataFrame) and found.kept.to_pydict()["key"] == [7, 8]
    assert isinstance(found.duplicates, daft.DataFrame)
    assert found.duplicates.to_pydict()["id"] == [9] and found.duplicates.to_pydict()["kept"] == [7]


def test_batches_of_pyarrow_come_back() -> None:
    arrow = need("pyarrow")
    table = arrow.table({"n": [1, 2, 3], "text": TEXTS})
    batch = table.to_batches()[0]
    found = simtool.dedup(batch)
    assert all(isinstance(part, arrow.RecordBatch) for part in (found.kept, found.duplicates, found.clusters))
    cut = simtool.lines(batch, unit="line", action="cut").kept
    assert isinstance(cut, arrow.RecordBatch) and cut.schema.names == ["n", "text"]
    assert cut.column("text").to_pylist() == CUT
    views = batch.set_column(1, "text", batch.column("text").cast(arrow.string_view()))
    assert isinstance(simtool.dedup(views).kept, arrow.RecordBatch)
    array = simtool.dedup(batch.column("text"))
    assert isinstance(array.kept, arrow.Array) and isinstance(array.duplicates, arrow.Table)
    assert isinstance(simtool.dedup(views.column("text")).kept, arrow.Array)
    reader = arrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert simtool.dedup(reader).kept.equals(table[:2])


def test_the_index_of_pandas_has_the_ids() -> None:
    pandas = need("pandas")
    frame = pandas.DataFrame({"text": TEXTS}, index=["a", "b", "c"])
    found = simtool.dedup(frame)
    assert found.duplicates["id"].tolist() == ["c"] and found.duplicates["kept"].tolist() == ["a"]
    assert frame.loc[found.duplicates["id"], "text"].tolist() == TEXTS[2:]
    assert found.clusters["id"].tolist() == ["a", "c"] and found.explain(0).ids == ("a", "c")
    series = simtool.dedup(frame["text"])
    assert series.duplicates["id"].tolist() == ["c"]
    ranges = simtool.lines(frame, unit="line")
    assert ranges.ranges["id"].tolist() == ["c"] and ranges.repeated["id"].tolist() == ["a"]
    frame.index.name = "key"
    for named in (frame, frame.assign(n=1).set_index("n", append=True)):
        assert simtool.dedup(named, ids="key").duplicates["id"].tolist() == ["c"]
    with pytest.raises(ValueError, match='ids "keys": there is no such column; the data has text'):
        simtool.dedup(frame, ids="keys")
    pairs = simtool.dedup(frame.assign(n=1).set_index("n", append=True)).duplicates
    assert pairs["id"].tolist() == [("c", 1)]
    # A column wins, and a default index has the numbers of the rows.
    assert simtool.dedup(frame.assign(id=[7, 8, 9])).duplicates["id"].tolist() == [9]
    assert simtool.dedup(frame.reset_index(drop=True)).duplicates["id"].tolist() == [2]
    old = pandas.DataFrame({"text": [TEXT]}, index=["old"])
    found = simtool.dedup(frame, against=old).duplicates
    assert found["id"].tolist() == ["a", "c"] and found["kept"].tolist() == ["old", "old"]
    assert simtool.dedup(frame, keep="none").duplicates["kept"].tolist() == [None, "a"]


def test_an_index_takes_the_labels_of_a_named_index(tmp_path: Any) -> None:
    pandas = need("pandas")
    frame = pandas.DataFrame({"text": TEXTS}, index=pandas.Index([10, 20, 30], name="key"))
    with simtool.Index(tmp_path / "seen", create=True) as seen:
        assert seen.add(frame)["verdict"].tolist() == ["new", "new", "duplicate"]
        assert "20" in seen and "0" not in seen
        assert seen.add(frame["text"])["verdict"].tolist() == ["unchanged"] * 3
        with pytest.raises(ValueError, match="name the column of the ids"):
            seen.add(frame.reset_index(drop=True))


def test_columns_of_pandas_have_any_label() -> None:
    pandas = need("pandas")
    frame = pandas.DataFrame({0: ["x", "y", "z"], 1: TEXTS, "n": [1, 2, 3]})
    found = simtool.dedup(frame, text=1, ids=0)
    assert found.kept.columns.tolist() == [0, 1, "n"] and found.duplicates["id"].tolist() == ["z"]
    nested = frame.assign(meta=[{"id": number} for number in (7, 8, 9)])
    assert simtool.dedup(nested, text=1, ids="meta.id").duplicates["id"].tolist() == [9]
    cut = simtool.lines(frame, text=1, unit="line", action="cut").kept
    assert cut[1].tolist() == CUT and cut.columns.tolist() == [0, 1, "n"]
    assert len(simtool.dedup(pandas.DataFrame(TEXTS)).kept) == 2
    with pytest.raises(ValueError, match="text 5: there is no such column; the data has 0, 1, n"):
        simtool.dedup(frame, text=5)
    with pytest.raises(ValueError, match="two of them have the same text"):
        simtool.dedup(pandas.DataFrame({0: TEXTS, "0": TEXTS}), text=0, url="0")
    with pytest.raises(ValueError, match='"text": the data has 2 columns with this name'):
        simtool.dedup(pandas.DataFrame([[TEXT, TEXT]], columns=["text", "text"]))


def test_uuids_stay_uuids(tmp_path: Any) -> None:
    arrow, pandas, polars = need("pyarrow"), need("pandas"), need("polars")
    items = [{"id": id, "text": text} for id, text in zip(UUIDS, TEXTS)]
    assert simtool.dedup(items).duplicates[0]["kept"] == UUIDS[0]
    found = simtool.dedup(pandas.DataFrame(items))
    assert found.duplicates["id"].tolist() == UUIDS[2:] and found.explain(0).ids == (UUIDS[0], UUIDS[2])
    binary = arrow.array([id.bytes for id in UUIDS], arrow.binary(16))
    column = arrow.ExtensionArray.from_storage(arrow.uuid(), binary)
    table = arrow.table({"id": column, "text": TEXTS})
    found = simtool.dedup(table)
    assert found.duplicates.schema.field("id").type == arrow.uuid()
    assert found.duplicates["id"].to_pylist() == UUIDS[2:] and found.duplicates["kept"].to_pylist() == UUIDS[:1]
    assert found.clusters["id"].to_pylist() == [UUIDS[0], UUIDS[2]]
    assert found.explain(0).ids == (str(UUIDS[0]), str(UUIDS[2]))
    assert simtool.Table(table).to_pylist()[1]["id"] == str(UUIDS[1])
    plain = simtool.dedup(arrow.table({"id": binary, "text": TEXTS})).duplicates
    assert plain["id"].to_pylist() == [UUIDS[2].bytes]
    short = simtool.dedup(polars.DataFrame(arrow.table({"id": binary, "text": TEXTS})))
    assert short.duplicates["id"].to_list() == [UUIDS[2].bytes]
    for number, data in enumerate((items, pandas.DataFrame(items), table)):
        with simtool.Index(tmp_path / str(number), create=True) as seen:
            seen.add(data)
            assert str(UUIDS[1]) in seen


def test_ids_of_several_types(tmp_path: Any) -> None:
    pandas, polars = need("pandas"), need("polars")
    frame = pandas.DataFrame({"id": [1, "b", 3.5], "text": TEXTS})
    found = simtool.dedup(frame)
    assert found.duplicates["id"].tolist() == [3.5] and found.duplicates["kept"].tolist() == [1]
    items = frame.to_dict("records")
    assert simtool.dedup(items).duplicates[0]["id"] == 3.5
    for number, data in enumerate((frame, items)):
        with simtool.Index(tmp_path / str(number), create=True) as seen:
            seen.add(data)
            assert all(id in seen for id in ("1", "b", "3.5"))
        pairs = [(1, "b", 0), (1, 3.5, 1)]
        assert simtool.evaluate(data, pairs=pairs, method="minhash", draws=0)["methods"]
    with pytest.raises(TypeError, match=r'ids "id": the column has objects of Python.*str\(value\)'):
        simtool.dedup(polars.DataFrame({"id": polars.Series([1, "b", 3], dtype=polars.Object), "text": TEXTS}))


@pytest.mark.parametrize(
    ("make", "options", "kind", "message"),
    [
        (lambda: frame_of({"id": [1], "text": [TEXT]}), {"text": "Text"}, ValueError,
         'text "Text": there is no such column; the data has id, text'),
        (lambda: frame_of({"z": [1], "text": [TEXT], "a": [2]}), {"ids": "nope"}, ValueError,
         'ids "nope": there is no such column; the data has z, text, a'),
        (lambda: frame_of({"z": [1], "body": [TEXT]}), {}, ValueError,
         'text "text": there is no such column; the data has z, body'),
        (lambda: frame_of({"z": [1], "text": [TEXT]}), {"keep": "field:score"}, ValueError,
         'field "score": there is no such column; the data has z, text'),
        (lambda: frame_of({"z": [1], "text": [TEXT]}), {"url": "u"}, ValueError,
         'url "u": there is no such column; the data has z, text'),
        (lambda: frame_of({"n": [1], "text": [TEXT]}), {"text": "n"}, ValueError, 'text "n": the column has the type'),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "datasets", "duckdb"])
def test_errors_name_the_missing_column_and_the_others(
    library: str, make: Callable[[], Any], options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    need(library)
    with pytest.raises(kind, match=message):
        simtool.dedup(in_library(library, make()), **options)


def frame_of(columns: dict[str, list[Any]]) -> Any:
    """A table of pyarrow."""
    return need("pyarrow").table(columns)


def in_library(library: str, table: Any) -> Any:
    """A table as an object of another library."""
    if library == "pandas":
        return table.to_pandas()
    if library == "polars":
        return need("polars").DataFrame(table)
    if library == "datasets":
        return need("datasets").Dataset(table)
    return need("duckdb").from_arrow(table) if library == "duckdb" else table


def test_errors_name_the_field_or_the_row() -> None:
    pandas = need("pandas")
    with pytest.raises(ValueError, match='ids "nope": no row has it; the rows have id, text'):
        simtool.dedup([{"id": 1, "text": TEXT}], ids="nope")
    with pytest.raises(ValueError, match='against: ids "id": the data has texts only'):
        simtool.dedup([{"id": 1, "text": TEXT}], ids="id", against=[TEXT])
    with pytest.raises(TypeError, match="reference: expected a table"):
        simtool.decontaminate([TEXT], 5)
    with pytest.raises(ValueError, match='ids "nope": the data has texts only'):
        simtool.dedup([TEXT], ids="nope")
    with pytest.raises(ValueError, match='text "body": the data is a single column'):
        simtool.dedup(pandas.Series(TEXTS), text="body")
    with pytest.raises(TypeError, match="row 1: text: expected str, as in other rows, found int"):
        simtool.dedup(pandas.DataFrame({"text": [TEXT, 1, None]}))
    with pytest.raises(TypeError, match="row 2: url: expected str, as in other rows, found float"):
        simtool.dedup(pandas.DataFrame({"text": TEXTS, "url": ["x", None, 2.5]}))
    with pytest.raises(TypeError, match="row 1: expected str, bytes, None or dict, found int"):
        simtool.dedup([TEXT, 1])


def test_kinds_are_those_of_tables() -> None:
    """Every kind has the pairs of a list."""
    expected = [(row["row"], row["kept_row"]) for row in simtool.dedup(TEXTS).duplicates]
    for library in ("pandas", "polars", "pyarrow", "datasets", "duckdb"):
        try:
            data = in_library(library, frame_of({"text": TEXTS}))
        except pytest.skip.Exception:
            continue
        duplicates = simtool.dedup(data).duplicates
        found = rows(duplicates.data.table if library == "datasets" else duplicates)
        assert [(row["row"], row["kept_row"]) for row in found] == expected, library

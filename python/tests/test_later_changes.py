"""A result is that of the data at the time of the call, whatever happens to the data afterwards."""

# Promise (The Python package): A result is that of the data at the time of the call, whatever is
# done to a frame, list, array, dataset or relation afterwards

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import documents, need, rows

DOCUMENTS = documents(120, seed=33)
Change = Callable[[Any], object]


def seen(result: simtool.RowsResult[Any, Any]) -> list[Any]:
    """All that a result shows."""
    strict = result.at(0.95)
    return [
        rows_of(result.kept),
        rows_of(result.duplicates),
        rows_of(result.clusters),
        rows_of(result.skipped),
        list(result.mask),
        result._repr_html_(),
        repr(result.explain(-1)),
        repr(result.least_similar(9)),
        rows_of(strict.kept),
        rows_of(strict.duplicates),
    ]


def seen_passages(result: simtool.PassageResult[Any, Any]) -> list[Any]:
    """All that a result of a search for passages shows."""
    found = [rows_of(result.kept), rows_of(result.ranges), list(result.mask), rows_of(result.skipped)]
    is_items = result.summary["settings"]["command"] == "decontaminate"
    found.append(rows_of(result.items if is_items else result.repeated))
    return [*found, result._repr_html_(), repr(result.explain(-1))]


def rows_of(data: Any) -> list[Any]:
    """Rows as values that can be compared, with the index of pandas."""
    if isinstance(data, list):
        return copy.deepcopy(data)
    if type(data).__module__ == "numpy":
        return list(data.tolist())
    if type(data).__module__.startswith("pandas"):
        # Missing values are not equal to themselves.
        return [repr((list(data.index), data.index.name, data.to_dict()))]
    if type(data).__module__.startswith("datasets"):
        return [data.column_names, data.format["type"], data.to_list()]
    if type(data).__module__.startswith("polars") and not hasattr(data, "columns"):
        return [data.name, *data.to_list()]
    return rows(data)


def check(data: Any, change: Change, others: tuple[Any, Change] | None = None) -> None:
    """Compare what results show before and after a change of the data, and of ``others``."""
    is_text = not hasattr(data, "columns") and not (isinstance(data, list) and isinstance(data[0], dict))
    settings = {} if is_text else {"text": "text", "ids": "id"}
    other = others[0] if others is not None else [document["text"] for document in DOCUMENTS[:9]]
    dedup = simtool.dedup(data, **settings, against=None if others is None else other)
    passages = [
        simtool.lines(data, **settings, unit="line", action="cut"),
        simtool.spans(data, **settings, min_length=8, action="mask"),
        simtool.decontaminate(data, other, **settings, reference_text=None if is_text else "text"),
    ]
    before = [seen(dedup), *map(seen_passages, passages)]
    assert all(before)
    change(data)
    if others is not None:
        others[1](other)
    after = [seen(dedup), *map(seen_passages, passages)]
    for was, now in zip(before, after):
        assert now == was


def lists_of_dictionaries() -> list[Any]:
    """Documents with a nested field."""
    return [{**document, "meta": {"of": {"text": document["text"]}}} for document in DOCUMENTS]


def emptied(data: list[dict[str, Any]]) -> None:
    """Every dictionary without its fields."""
    for row in data:
        row["meta"]["of"].clear()
        row.clear()


LISTS: dict[str, Change] = {
    "sorted": lambda data: data.sort(key=lambda row: row["text"]),
    "shuffled": lambda data: random.Random(1).shuffle(data),
    "shortened": lambda data: data.__delitem__(slice(100)),
    "cleared": lambda data: data.clear(),
    "texts assigned": lambda data: [row.update(text="gone", id="gone") for row in data],
    "emptied": emptied,
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_dictionaries(name: str) -> None:
    others = lists_of_dictionaries()[:40]
    check(lists_of_dictionaries(), LISTS[name])
    check(lists_of_dictionaries(), LISTS[name], (others, LISTS[name]))


def test_a_nested_text() -> None:
    data = lists_of_dictionaries()
    found = simtool.dedup(data, text="meta.of.text", ids="id")
    before = seen(found)
    emptied(data)
    assert seen(found) == before


def test_what_is_kept_is_not_what_the_result_holds() -> None:
    found = simtool.dedup(lists_of_dictionaries(), ids="id")
    before = seen(found)
    emptied(found.kept)
    assert seen(found)[1:] == before[1:] and seen(copy.copy(found)) == before


def test_lists_of_texts() -> None:
    for change in (list.clear, list.sort, list.reverse, random.Random(1).shuffle):
        check([document["text"] for document in DOCUMENTS], change)


@pytest.mark.parametrize("dtype", ["object", "U"])
def test_arrays_of_numpy(dtype: str) -> None:
    numpy = need("numpy")
    changes: list[Change] = [
        lambda data: data.sort(),
        numpy.random.default_rng(1).shuffle,
        lambda data: data.fill("gone"),
    ]
    for change in changes:
        array = numpy.array([document["text"] for document in DOCUMENTS], dtype=dtype)
        check(array, change)


@contextmanager
def copy_on_write(pandas: Any, flag: bool) -> Iterator[None]:
    """Frames that share memory until they are changed, or that do not."""
    if int(pandas.__version__.split(".")[0]) >= 3:
        if not flag:
            pytest.skip("pandas 3 always copies on write")
        yield
        return
    with pandas.option_context("mode.copy_on_write", flag):
        yield


PANDAS: dict[str, Change] = {
    "sorted": lambda data: data.sort_values("text", inplace=True),
    "rows dropped": lambda data: data.drop(index=data.index[:50], inplace=True),
    "column dropped": lambda data: data.drop(columns="text", inplace=True),
    "column replaced": lambda data: data.__setitem__("text", "gone"),
    "assigned by label": lambda data: data.loc.__setitem__((slice(None), ["text", "id"]), "gone"),
    "assigned by number": lambda data: data.iloc.__setitem__((slice(0, 90), slice(0, 4)), "gone"),
    "numbers assigned": lambda data: data.loc.__setitem__((slice(None), "number"), 7),
    "a number assigned": lambda data: data.iat.__setitem__((3, data.columns.get_loc("number")), 7),
    "renamed": lambda data: setattr(data, "columns", list("abcdefgh")[: data.shape[1]]),
    "index replaced": lambda data: setattr(data, "index", range(7, 7 + len(data))),
    "index renamed": lambda data: data.index.rename("n", inplace=True),
    "memory of a column": lambda data: data["text"].to_numpy().sort(),
    "memory of a number": lambda data: data["number"].to_numpy().fill(7),
}


def pandas_frame(pandas: Any, kind: str) -> Any:
    """Documents with numbers, and an index that is not 0, 1, ..."""
    data = [{**document, "number": row} for row, document in enumerate(DOCUMENTS)]
    frame = pandas.DataFrame(data, index=range(1000, 1000 + len(data)))
    if kind == "arrow":
        return frame.convert_dtypes(dtype_backend="pyarrow")
    types = {"object": "object", "string": "string", "python string": "string[python]"}
    return frame.astype(dict.fromkeys(["text", "id", "url", "date"], types[kind]))


@pytest.mark.parametrize("name", PANDAS)
@pytest.mark.parametrize("kind", ["object", "string", "python string", "arrow"])
@pytest.mark.parametrize("flag", [True, False])
def test_frames_of_pandas(flag: bool, kind: str, name: str) -> None:
    pandas = need("pandas")
    if flag and kind != "object" and "memory" in name:
        pytest.skip("the memory of such a column can be written without the frame")

    def change(data: Any) -> None:
        # The memory of a frame that copies on write cannot be written.
        with suppress(ValueError) if "memory" in name else nullcontext():
            PANDAS[name](data)

    with copy_on_write(pandas, flag):
        check(pandas_frame(pandas, kind), change, (pandas_frame(pandas, kind)[:40].copy(), change))


@pytest.mark.parametrize("flag", [True, False])
def test_ids_of_pandas_that_are_numbers(flag: bool) -> None:
    pandas = need("pandas")
    with copy_on_write(pandas, flag):
        frame = pandas_frame(pandas, "object")
        found = simtool.dedup(frame, ids="number")
        before = seen(found)
        frame.loc[:, "number"] = 7
        assert seen(found) == before


def test_series_of_pandas() -> None:
    pandas = need("pandas")
    changes: list[Change] = [
        lambda data: data.sort_values(inplace=True),
        lambda data: data.iloc.__setitem__(slice(90), "gone"),
    ]
    for change in changes:
        check(pandas_frame(pandas, "object")["text"].copy(), change)


POLARS: dict[str, Change] = {
    "assigned": lambda data: data.__setitem__((list(range(len(data))), "text"), "gone"),
    "a text assigned": lambda data: data.__setitem__((len(data) - 9, "text"), "gone"),
    "column dropped": lambda data: data.drop_in_place("text"),
    "column replaced": lambda data: data.replace_column(0, data["text"].reverse().alias("id")),
    "extended": lambda data: data.extend(data.clone()),
    "renamed": lambda data: setattr(data, "columns", list("abcdef")),
}


@pytest.mark.parametrize("name", POLARS)
def test_frames_of_polars(name: str) -> None:
    polars = need("polars")
    others = polars.DataFrame(DOCUMENTS[:40])
    check(polars.DataFrame(DOCUMENTS), POLARS[name], (others, POLARS[name]))


def test_series_of_polars() -> None:
    polars = need("polars")
    changes: list[Change] = [
        lambda data: data.sort(in_place=True),
        lambda data: data.append(data.clone()),
        lambda data: data.extend(data.clone()),
        lambda data: data.__setitem__(3, "gone"),
        lambda data: data.rename("other"),
    ]
    for change in changes:
        check(polars.Series("text", [document["text"] for document in DOCUMENTS]), change)


def test_numbers_of_polars() -> None:
    polars = need("polars")
    frame = polars.DataFrame(DOCUMENTS).with_row_index("number")
    found = simtool.dedup(frame, ids="number")
    before = seen(found)
    frame[list(range(90)), "number"] = 7
    frame["score"].scatter(list(range(90)), 7.0)
    assert seen(found) == before


def test_datasets() -> None:
    datasets = need("datasets")
    changes: list[Change] = [
        lambda data: data.set_format("numpy", columns=["score"]),
        lambda data: data.set_transform(lambda batch: {"text": ["gone"] * len(batch["text"])}),
        lambda data: data.cleanup_cache_files(),
    ]
    for change in changes:
        data = datasets.Dataset.from_list(DOCUMENTS)
        found = simtool.dedup(data, ids="id")
        before = seen(found)
        change(data)
        assert seen(found) == before


def test_relations_of_duckdb() -> None:
    duckdb, arrow = need("duckdb"), need("pyarrow")
    for change in ("update docs set text = 'gone', id = 'gone'", "delete from docs", "drop table docs"):
        connection = duckdb.connect()
        connection.register("given", arrow.Table.from_pylist(DOCUMENTS))
        connection.execute("create table docs as select * from given")
        found = simtool.dedup(connection.table("docs"), ids="id")
        before = [*map(arrow_rows, (found.kept, found.duplicates, found.clusters)), found._repr_html_()]
        connection.execute(change)
        after = [*map(arrow_rows, (found.kept, found.duplicates, found.clusters)), found._repr_html_()]
        assert after == before


def arrow_rows(relation: Any) -> list[Any]:
    """The rows of a relation."""
    return relation.fetchall()

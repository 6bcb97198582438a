"""The namespace of polars expressions, the steps of datatrove, and ``map`` of datasets."""

# Promise (The Python package): The expressions of polars, the steps of datatrove and `map` of
# `datasets` give the answers of the functions

from __future__ import annotations

import copy
import pickle
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


def items(count: int) -> list[Any]:
    """Documents of datatrove."""
    from datatrove.data import Document

    return [
        Document(
            text=document["text"],
            id=document["id"],
            metadata={"url": document["url"], "date": document["date"], "score": document["score"]},
        )
        for document in documents(count, 5)
    ]


class Written:
    """A writer that keeps what it is given."""

    def __init__(self) -> None:
        self.documents: list[Any] = []

    def __enter__(self) -> Written:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write(self, document: Any, rank: int = 0) -> None:
        """Keep a document."""
        self.documents.append(document)


@pytest.mark.parametrize("options", [{}, {"keep": "field:score", "similarity": 0.9}])
def test_datatrove_drops_the_duplicates_of_dedup(options: dict[str, Any]) -> None:
    need("datatrove")
    from simtool_dedup.datatrove import Dedup

    given = items(200)
    rows = [{"text": item.text, "id": item.id, **item.metadata} for item in given]
    expected = simtool.dedup(rows, **options)
    writer = Written()
    step = Dedup(exclusion_writer=writer, **options)
    assert [item.id for item in step.run(iter(given))] == [row["id"] for row in expected.kept]
    dropped = [
        (item.id, item.metadata["duplicate_of"], item.metadata["similarity"]) for item in writer.documents
    ]
    assert dropped == [(row["id"], row["kept"], row["similarity"]) for row in expected.duplicates]
    assert dropped
    counts = {name: step.stats[name].total for name in ("total", "dropped", "forwarded")}
    assert counts == {
        "total": len(given),
        "dropped": len(dropped),
        "forwarded": len(given) - len(dropped),
    }
    assert list(Dedup().run(None)) == []


def test_datatrove_refuses_tasks_that_see_a_part() -> None:
    need("datatrove")
    from simtool_dedup.datatrove import Dedup

    with pytest.raises(ValueError, match="4 tasks do not see each other's documents"):
        list(Dedup().run(iter([]), rank=1, world_size=4))


def test_datatrove_runs_the_steps(tmp_path: Any) -> None:
    """In the executor of datatrove, which copies the steps."""
    need("datatrove")
    from datatrove.executor import LocalPipelineExecutor
    from simtool_dedup.datatrove import Dedup, Fingerprint

    given = items(120)
    expected = [row["id"] for row in simtool.dedup([{"text": i.text, "id": i.id} for i in given]).kept]
    found: list[Any] = []

    def collect(data: Any, rank: int = 0, world_size: int = 1) -> Any:
        for document in data:
            found.append(document)
            yield document

    steps = [given, Fingerprint(), Fingerprint("minima", method="minhash"), Dedup(), collect]
    assert pickle.loads(pickle.dumps(steps[1])).key == "simhash"
    LocalPipelineExecutor(pipeline=copy.copy(steps), tasks=1, logging_dir=str(tmp_path)).run()
    assert [document.id for document in found] == expected
    for document in found:
        assert document.metadata["simhash"] == simtool.simhash(document.text)
        sketch = bytes(simtool.fingerprint(document.text, method="minhash"))
        assert document.metadata["minima"] == sketch.hex()


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

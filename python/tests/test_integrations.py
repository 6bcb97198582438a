"""The examples for other libraries run, and give the answer of one dedup of all documents.

The pages are how-to/ray-dask-daft.md, how-to/datatrove.md and how-to/retrieval-frameworks.md.
"""

# Promise (The Python package): The recipes for datatrove, Ray Data, Dask and Daft give the answer of
# one `dedup` of all documents

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import documents, need, read_tasks
from pages import DOCS, SERVICE, Fence, examples
from test_client import service

RAY_DASK_DAFT = "ray-dask-daft.md"
DATATROVE = "datatrove.md"
ASKS = "A function that asks the service"
RETRIEVAL = "retrieval-frameworks.md"
TEXT = "A cat sat on the mat while a dog slept in the sun behind the house, and nobody saw them there. "


def sections(name: str) -> dict[str, list[Fence]]:
    """The examples of a page by the title of their section; those before the first one have none."""
    page = DOCS / "how-to" / name
    lines = page.read_text(encoding="utf-8").split("\n")
    titles = {number: line[3:] for number, line in enumerate(lines, 1) if line.startswith("## ")}
    found: dict[str, list[Fence]] = {}
    for example in examples(page):
        before = [number for number in titles if number < example.line]
        found.setdefault(titles[before[-1]] if before else "", []).append(example)
    return found


def run_examples(
    name: str, title: str, names: dict[str, Any], address: str = ""
) -> dict[str, Any]:
    """Run the examples of a section in one namespace, with a service of the test."""
    for block in sections(name)[title]:
        code = "\n" * (block.line - 1) + block.text.replace(SERVICE, address)
        exec(compile(code, str(DOCS / "how-to" / name), "exec"), names)
    return names


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Documents in the files that the examples read."""
    polars = need("polars")
    monkeypatch.chdir(tmp_path)
    made = [
        {"id": document["id"], "text": document["text"], "n": number}
        for number, document in enumerate(documents(200))
    ]
    Path("crawl").mkdir()
    Path("pages").mkdir()
    frame = polars.DataFrame(made)
    for part in range(4):
        frame[part * 50 : part * 50 + 50].write_parquet(f"crawl/{part}.parquet")
    frame.write_ndjson("pages/docs.jsonl")
    return made


def kept(rows: list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    """What one dedup of all documents keeps."""
    found = simtool.dedup(rows, **options).kept
    assert 0 < len(found) < len(rows)
    return list(found)


def rows_of_ray(dataset: Any) -> list[dict[str, Any]]:
    return sorted(dataset.take_all(), key=lambda row: row["n"])


def rows_of_dask(frame: Any) -> list[dict[str, Any]]:
    return list(frame.compute(scheduler="synchronous").to_dict("records"))


def rows_of_daft(frame: Any) -> list[dict[str, Any]]:
    return sorted(frame.to_pylist(), key=lambda row: row["n"])


@pytest.fixture
def ray() -> Any:
    """A Ray of this process, with two workers."""
    ray = need("ray")
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
        object_store_memory=100 << 20,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def check(
    title: str, rows: list[dict[str, Any]], collect: Callable[[Any], list[dict[str, Any]]]
) -> None:
    """Run a section, whose `clean` comes from files, and whose `new` is what a service has not seen."""
    with service(Path("seen")) as (url, _):
        names = run_examples(RAY_DASK_DAFT, ASKS, {}, url)
        run_examples(RAY_DASK_DAFT, title, names, url)
        assert collect(names["clean"]) == kept(rows)
        new = [row["text"] for row in collect(names["new"])]
    # Documents arrive in any order, so another copy than the first may be kept.
    assert len(simtool.dedup(new).kept) == len(new)
    assert not simtool.dedup([row["text"] for row in rows], against=new).kept


def test_ray(rows: list[dict[str, Any]], ray: Any) -> None:
    check("Ray Data", rows, rows_of_ray)


def test_dask(rows: list[dict[str, Any]]) -> None:
    need("dask.dataframe")
    check("Dask", rows, rows_of_dask)


def test_daft(rows: list[dict[str, Any]]) -> None:
    need("daft")
    check("Daft", rows, rows_of_daft)


def test_the_order_of_files_does_not_matter_with_an_order_of_rows(rows: list[dict[str, Any]]) -> None:
    """As the page says of libraries that name files by chance."""
    polars = need("polars")
    Path("named").mkdir()
    for part in range(4):
        polars.read_parquet(f"crawl/{part}.parquet").write_parquet(f"named/{3 - part}.parquet")
    for keep, is_equal in (("smallest:n", True), ("first", False)):
        files = simtool.FileOptions(f"by-{keep}", write="kept")
        found = simtool.dedup("named/*.parquet", keep=keep, files=files)
        clean = polars.concat([polars.read_parquet(path) for path in found.kept]).sort("n")
        assert (clean.to_dicts() == kept(rows)) == is_equal


def test_datatrove(rows: list[dict[str, Any]]) -> None:
    need("datatrove")
    with service(Path("seen")) as (url, _):
        names = run_examples(DATATROVE, "", {}, url)
        run_examples(DATATROVE, "Stream through a service", names, url)
    longest = kept(rows, keep="longest")
    assert [row["id"] for row in read_tasks(Path("clean"))] == [row["id"] for row in longest]
    assert [row["id"] for row in read_tasks(Path("new"))] == [row["id"] for row in kept(rows)]
    assert all("simhash" in row["metadata"] for row in read_tasks(Path("new")))
    assert all("duplicate_of" in row["metadata"] for row in read_tasks(Path("repeated")))


def pages(make: Callable[..., Any]) -> list[Any]:
    """Pages of several chunks each; the third repeats the first, and a part of the second."""
    texts = [" ".join(f"{name}{number} word" for number in range(400)) for name in "ab"]
    return [make(text=text, source=f"page {number}") for number, text in enumerate([*texts, texts[0] + TEXT])]


def check_chunks(texts: list[str], given: list[str]) -> None:
    """Of copies, the first is kept, and none is lost."""
    assert texts == simtool.dedup(given, similarity=0.7).kept
    assert 10 < len(texts) <= 0.7 * len(given)


def test_langchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("langchain_text_splitters")
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    monkeypatch.chdir(tmp_path)
    given = pages(lambda text, source: Document(page_content=text, metadata={"source": source}))
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    names = run_examples(RETRIEVAL, "LangChain", {"pages": given, "store": store})
    check_chunks([one.page_content for one in names["clean"]], [one.page_content for one in names["chunks"]])
    stored = len(store.store)
    assert 10 < stored < len(names["chunks"])
    run_examples(RETRIEVAL, "LangChain", {"pages": given, "store": store})
    assert len(store.store) == stored


def test_llama_index() -> None:
    need("llama_index.core")
    from llama_index.core import Document

    given = pages(lambda text, source: Document(text=text, metadata={"source": source}))
    names = run_examples(RETRIEVAL, "LlamaIndex", {"pages": given})
    nodes = names["splitter"](given)
    check_chunks([node.get_content() for node in names["clean"]], [node.get_content() for node in nodes])


def test_haystack() -> None:
    need("haystack")
    from haystack import Document

    given = pages(lambda text, source: Document(content=text, meta={"source": source}))
    names = run_examples(RETRIEVAL, "Haystack", {"pages": given})
    chunks = names["pipeline"].get_component("split").run(given)["documents"]
    check_chunks([one.content for one in names["clean"]], [one.content for one in chunks])


@pytest.mark.parametrize("name", [RAY_DASK_DAFT, DATATROVE, RETRIEVAL])
def test_every_section_is_run(name: str) -> None:
    """By the tests above, whose titles must be those of the page."""
    source = Path(__file__).read_text(encoding="utf-8")
    for title in sections(name):
        assert f'"{title}"' in source, title

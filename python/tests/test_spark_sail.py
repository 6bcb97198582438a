"""The result on Sail, an engine without a JVM, is that of the command, for more settings."""

# Promise (On a cluster): Ids, kept ids, clusters, similarities, refused pairs and counts are those
# of the command: for every kind of method, policies, stars and components, in one task and in many,
# with other documents; also for random collections of which nearly all pairs are near
# Promise (On a cluster): The results within groups (of a field, a site, a language), and with
# several copies or none of each cluster, are those of the command; what the command refuses is
# refused
# Promise (On a cluster): 10⁵ equal pages, copies …

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import MISSING, documents, need, simtool, write_jsonl
from spark_cases import LARGE, check, collection, compare, frame, large_group, of_the_command


@pytest.fixture(scope="module")
def sail() -> Iterator[Any]:
    """A session of Spark Connect with a server in this process."""
    need("pyarrow")
    need("pandas")
    need("pyspark")
    need("grpc")
    need("pysail")
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer()
    server.start(background=True)
    _, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://localhost:{port}").getOrCreate()
    try:
        session.sql("SELECT 1").collect()
    except Exception as error:
        MISSING.add("Sail")
        pytest.skip(f"Sail does not work with this version of PySpark: {error}")
    yield session
    session.stop()
    server.stop()


SETTINGS: list[dict[str, Any]] = [
    {"refused": True, "task_bytes": 500, "most_rows": 8},
    {"method": "simhash:distance=3,stop-words=keep", "keep": "smallest:score,most-shingles"},
    {"method": "normalized", "keep": "shortest-url"},
    {"method": "exact"},
    {"method": "shingles:similarity=0.6", "similarity": 0.7},
    {"method": "super-shingles", "task_bytes": 9000},
    {"method": "simhash:bits=128,distance=12", "similarity": 0.5},
    {"method": "simhash:bits=256,distance=12", "similarity": 0.5, "cluster": "components"},
    {"method": "simhash or super-shingles", "refused": True},
    {"tokenizer": "chars", "similarity": 0.9, "keep": "newest"},
    {"cluster": "components", "similarity": 0.6, "refused": True, "task_bytes": 3000, "most_rows": 9},
    {"within": "field:group", "refused": True, "most_rows": 5},
    {"within": "site", "method": "simhash:distance=12", "similarity": 0.5, "refused": True},
    {"within": "language", "cluster": "components", "keep": "longest"},
    {"within": "field:score", "method": "exact"},
    {"method": "url"},
    {"method": "url then minhash", "keep": "longest", "refused": True, "task_bytes": 3000},
]
COPIES: list[dict[str, Any]] = [
    {"keep": "none", "refused": True},
    {"keep": "none", "cluster": "components", "within": "field:group"},
    {"keep": "none", "method": "normalized"},
    {"keep_copies": 3, "keep": "newest"},
    {"keep_copies": 2, "cluster": "components", "within": "site", "refused": True},
    {"keep_copies": 2, "method": "exact"},
]


@pytest.mark.parametrize("against", ["nothing", "others", "only"])
@pytest.mark.parametrize("options", SETTINGS, ids=json.dumps)
def test_the_result_is_that_of_the_command(
    sail: Any, tmp_path: Path, options: dict[str, Any], against: str
) -> None:
    """Methods, policies, stars and components, in one task and in rounds, with other documents."""
    data, others = collection(6), None
    if against != "nothing":
        data, others = data[:200], data[200:]
        options = {**options, "against_only": against == "only"}
    compare(sail, tmp_path, data, others, options)


CONTAINED: list[dict[str, Any]] = [
    {"similarity": "containment:0.8", "refused": True},
    {"similarity": "containment:0.6", "keep": "newest", "within": "field:group", "keep_copies": 2},
    {"similarity": "containment:0.5", "shingle": 2, "task_bytes": 2000, "most_rows": 5},
]


@pytest.mark.parametrize("options", [*COPIES, *CONTAINED], ids=json.dumps)
def test_copies_within_the_input(sail: Any, tmp_path: Path, options: dict[str, Any]) -> None:
    """No copy or several ones of each cluster stay, or documents that no other one contains."""
    data = collection(8)
    data += [{**document, "id": f"c{document['id']}"} for document in data[::3]]
    compare(sail, tmp_path, data, None, options)


# Promise (On a cluster): An index as the other collection drops what the command drops
def test_documents_of_an_index(sail: Any, tmp_path: Path) -> None:
    """A frame, and files, without documents of an index, which is copied."""
    from simtool_dedup.spark import dedup

    data, index = collection(9), tmp_path / "index"
    others, data = data[:200], data[200:]
    simtool("index", "build", str(index), str(write_jsonl(tmp_path / "others.jsonl", others)))
    expected = of_the_command(tmp_path, data, None, {"against": [str(index)]})
    columns = {"url": "url", "date": "date"}
    out = dedup(frame(sail, data), against=index, work=tmp_path / "rows", order="n", **columns)
    assert out.summary["dropped_against"] > 10
    check(out, expected, False)
    files = {"against": str(index), "spark": sail, "work": tmp_path / "files"}
    check(dedup(tmp_path / "docs.jsonl", **columns, **files), expected, False)
    with pytest.raises(ValueError, match="another index"):
        simtool("index", "build", str(tmp_path / "other"), str(tmp_path / "others.jsonl"))
        dedup(tmp_path / "docs.jsonl", **columns, **{**files, "against": tmp_path / "other"})
    with pytest.raises(TypeError, match="expected a frame of Spark, or an index"):
        dedup(frame(sail, data), against="docs.jsonl", work=tmp_path / "none", order="n")


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=4, max_size=14).map(" ".join)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(WORDS | st.none() | st.text(max_size=9), max_size=40),
    options=st.sampled_from(
        [
            {"similarity": 0.5, "shingle": 2, "method": "minhash:similarity=0.3"},
            {"similarity": 0.4, "shingle": 1, "method": "simhash:bits=32,distance=12"},
            {"similarity": 0.4, "shingle": 2, "method": "shingles:similarity=0.2", "cluster": "components"},
            {"similarity": "containment:0.6", "shingle": 1},
        ]
    ),
    task_bytes=st.sampled_from([1, 10**6]),
)
def test_dense_collections(
    sail: Any, texts: list[str | None], options: dict[str, Any], task_bytes: int
) -> None:
    """Short texts of few words: nearly all pairs are near, and many need more than one round."""
    data = documents(len(texts))
    for document, text in zip(data, texts, strict=True):
        document["text"] = text
    with tempfile.TemporaryDirectory() as name:
        compare(sail, Path(name), data, None, {**options, "task_bytes": task_bytes, "refused": True})


@pytest.mark.skipif("SIMTOOL_LARGE_TESTS" not in os.environ, reason="SIMTOOL_LARGE_TESTS is not set")
@pytest.mark.parametrize(("kind", "options"), LARGE, ids=json.dumps)
def test_large_groups(sail: Any, tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    """Of which each is compared with few others."""
    compare(sail, tmp_path, large_group(kind), None, {**options, "refused": kind == "chain"})

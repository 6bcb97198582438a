"""The result on a cluster is that of the command, for the engines that are installed.

One session of Spark, and one server of Sail if it is installed. ``SIMTOOL_SPARK_TESTS=all`` compares
more settings.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import MISSING, documents, need, read_jsonl, simtool, write_jsonl
from simtool_dedup._flags import flags

ALL = os.environ.get("SIMTOOL_SPARK_TESTS") == "all"
COLUMNS = ["id", "kept", "similarity", "shared", "shingles", "method", "distance", "estimate"]
COUNTS = ["seen", "kept", "dropped", "skipped", "clusters", "largest_cluster", "refused"]
COUNTS += ["dropped_against", "text_bytes"]
SCHEMA = "n long, id string, text string, url string, date string, score double"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session of Spark in this process."""
    need("pyarrow")
    need("pandas")
    need("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        MISSING.add("java")
        pytest.skip("java is not installed")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "64")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def collection(seed: int) -> list[dict[str, Any]]:
    """Documents with copies, pages of templates, a chain of revisions, and odd texts."""
    source = random.Random(seed)
    made = documents(200, seed)
    template = " ".join(f"s{n}" for n in range(60))
    texts = [" ".join([template, *(f"p{n}x{m}" for m in range(12))]) for n in range(40)]
    texts += [f"{template} u{n} v{n * 7}" for n in range(40)]
    texts += [" ".join(f"k{m}" for m in range(n * 4, n * 4 + 80)) for n in range(60)]
    texts += ["", "?!", "one two", "One, two", "日本語のテキスト", "<!doctype html><p>" + texts[0] + "</p>"]
    for number, text in enumerate([*texts, None]):
        row = {"id": f"t{number}", "text": text, "url": f"http://t.example/{'x' * (number % 9)}"}
        made.append({**row, "date": f"2023-01-{number % 28 + 1:02}", "score": number % 5 / 2})
    source.shuffle(made)
    return made


def frame(session: Any, data: list[dict[str, Any]]) -> Any:
    """The documents as a frame with a column of their order."""
    names = ["id", "text", "url", "date", "score"]
    rows = [(number, *(document[name] for name in names)) for number, document in enumerate(data)]
    random.Random(len(data)).shuffle(rows)
    return session.createDataFrame(rows, SCHEMA).repartition(3)


def sorted_rows(rows: Any, names: list[str]) -> list[tuple[Any, ...]]:
    """The values of some columns, in an order that does not depend on the rows."""
    values = [tuple(row[name] for name in names) for row in rows]
    return sorted(values, key=lambda value: [(item is not None, item) for item in value])


def of_the_command(
    directory: Path, data: list[dict[str, Any]], others: list[dict[str, Any]] | None, options: dict[str, Any]
) -> Path:
    """The output of the command for the same documents."""
    path = write_jsonl(directory / "docs.jsonl", data)
    if others is not None:
        options = {**options, "against": [str(write_jsonl(directory / "others.jsonl", others))]}
    words = flags({**options, "output": directory / "out", "no_page": True, "write": "ids"})
    simtool("dedup", "--max-skipped=100%", *words, "--", str(path))
    return directory / "out"


def check(out: Any, expected: Path, listed: bool) -> None:
    """Compare frames and counts with the reports of the command."""
    summary = json.loads((expected / "summary.json").read_text())
    assert {name: out.counts[name] for name in COUNTS} == {name: summary[name] for name in COUNTS}
    assert out.counts["short"] == summary["flagged"]["short"]
    assert out.counts["empty"] == summary["flagged"]["empty"]
    names = [*COLUMNS, "cluster_size"]
    pairs = read_jsonl(expected / "duplicates.jsonl")
    assert sorted_rows(out.duplicates.collect(), names) == sorted_rows(pairs, names)
    members = [
        {"cluster": cluster["kept"], "size": cluster["size"], **member}
        for cluster in read_jsonl(expected / "clusters.jsonl")
        for member in cluster["members"]
    ]
    names = ["cluster", "size", "id", "kept"]
    assert sorted_rows(out.clusters.collect(), names) == sorted_rows(members, names)
    # The command does not list the documents that it could not read.
    skipped = {row["id"] for row in read_jsonl(expected / "skipped.jsonl")}
    kept = {row["id"] for row in out.kept.select("id").collect()}
    assert kept - skipped == {row["id"] for row in read_jsonl(expected / "kept.jsonl")}
    if listed:
        pairs = read_jsonl(expected / "refused.jsonl")
        assert sorted_rows(out.refused.collect(), COLUMNS) == sorted_rows(pairs, COLUMNS)


class Stopped(Exception):
    """A job was stopped after a stage."""


def test_a_job_that_stops_after_every_stage_has_the_result_of_the_command(
    spark: Any, tmp_path: Path
) -> None:
    """Stars, in rounds and in one task; other partitions after each stop; another job is refused."""
    from simtool_dedup.spark import dedup

    data = collection(3)
    options: dict[str, Any] = {"keep": "field:score,longest", "refused": True}
    expected = of_the_command(tmp_path, data, None, options)
    given, stops = frame(spark, data), 0

    def stop(line: str) -> None:
        if line.split(":")[0] not in ("job", "summary"):
            raise Stopped(line)

    def call(**more: Any) -> Any:
        settings = {**options, "work": tmp_path / "work", "order": "n", "one_task": 40, **more}
        return dedup(given.repartition(stops % 4 + 1), **settings)

    while True:
        try:
            out = call(progress=stop)
            break
        except Stopped:
            stops += 1
    assert stops > 15
    check(out, expected, True)
    assert out.summary.collect()[0].asDict() == out.counts
    with pytest.raises(ValueError, match=r'another job \(settings: .*"similarity": 0.9'):
        call(similarity=0.9)
    with pytest.raises(FileExistsError, match="did not write it"):
        out.write("rows", out.duplicates, str(tmp_path / "work" / "rows"))


def test_components_against_other_documents(spark: Any, tmp_path: Path) -> None:
    """Fingerprints, components in rounds, and documents that are never dropped."""
    from simtool_dedup.spark import dedup

    data = collection(4)
    data, others = data[:230], data[230:]
    options = {"cluster": "components", "method": "simhash", "similarity": 0.7, "keep": "newest"}
    expected = of_the_command(tmp_path, data, others, options)
    out = dedup(
        frame(spark, data),
        against=frame(spark, others),
        work=tmp_path / "work",
        order="n",
        date="date",
        one_task=0,
        **options,
    )
    check(out, expected, False)
    with pytest.raises(ValueError, match="refused=True"):
        out.refused  # noqa: B018


def test_files_are_read_by_the_parsers_of_the_command(spark: Any, tmp_path: Path) -> None:
    """JSON Lines with damage and a web archive, by their paths; the command line of the module."""
    from simtool_dedup.spark import dedup, read
    from simtool_dedup.spark.__main__ import main

    data = collection(5)[:80]
    half = len(data) // 2
    lines = tmp_path / "in" / "a.jsonl"
    lines.parent.mkdir()
    write_jsonl(lines, data[:half])
    lines.write_text(lines.read_text() + "{broken\n")
    records = [
        f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <{row['id']}>\r\n"
        f"WARC-Target-URI: {row['url']}\r\nContent-Length: {len((row['text'] or 'x').encode())}\r\n\r\n"
        f"{row['text'] or 'x'}\r\n\r\n"
        for row in data[half:]
    ]
    archive = tmp_path / "in" / "b.warc"
    archive.write_bytes("".join(records).encode())
    for path, format in ((lines, "jsonl"), (archive, "warc")):
        expected = tmp_path / f"out-{format}"
        simtool("dedup", str(path), "-o", str(expected), "--method=exact", "--max-skipped=100%", "--no-page")
        out = tmp_path / f"spark-{format}"
        assert main([str(path), "-o", str(out), "--method=exact", "--format", format, "--quiet"]) == 0
        pairs = read_jsonl(expected / "duplicates.jsonl")
        found = spark.read.parquet(str(out / "duplicates")).collect()
        assert sorted_rows(found, COLUMNS) == sorted_rows(pairs, COLUMNS)
        summary = json.loads((expected / "summary.json").read_text())
        counts = spark.read.parquet(str(out / "summary")).collect()[0]
        assert {name: counts[name] for name in COUNTS} == {name: summary[name] for name in COUNTS}
    texts = read(spark, tmp_path / "in" / "*.jsonl", format="jsonl").select("position", "skipped")
    assert sorted(texts.collect())[-1] == (half, "bad_json")
    rows = read(spark, str(lines), format="text")
    assert rows.count() == half + 1
    repeated = frame(spark, [data[0], {**data[1], "id": data[0]["id"]}])
    with pytest.raises(ValueError, match="1 values occur more than once"):
        dedup(repeated, work=tmp_path / "repeated")


def test_settings_are_checked_before_anything_is_read(spark: Any, tmp_path: Path) -> None:
    """With the names of the settings."""
    from simtool_dedup.spark import dedup, read

    given = frame(spark, documents(3))
    for message, options in [
        ("body", {"text": "body"}),
        ("similarity 2", {"similarity": 2.0}),
        ("whole documents", {"similarity": "containment:0.9"}),
        ("statistics", {"method": "simhash:weights=tf-idf"}),
        ("expected star or components", {"cluster": "stars"}),
        ("no effect", {"method": "exact", "similarity": 0.5}),
        ("newest", {"keep": "newest"}),
        ("against", {"against_only": True}),
        ("no such column", {"keep": "field:nothing"}),
    ]:
        with pytest.raises(ValueError, match=message):
            dedup(given, work=tmp_path / "work", **options)
    assert not (tmp_path / "work").exists()
    with pytest.raises(FileNotFoundError, match="nothing"):
        read(spark, str(tmp_path / "nothing"), format="wet")


MORE = [
    {"method": "simhash", "distance": 3, "keep_stop_words": True, "keep": "smallest:score,most-shingles"},
    {"method": "normalized"},
    {"method": "shingles:similarity=0.6", "similarity": 0.7},
    {"method": "super-shingles"},
    {"method": "simhash:bits=128,distance=12", "similarity": 0.5},
    {"method": "simhash:bits=256,distance=12", "similarity": 0.5, "cluster": "components"},
    {"method": "simhash or super-shingles"},
    {"tokenizer": "chars", "similarity": 0.9},
    {"cluster": "components", "similarity": 0.6, "refused": True},
]


@pytest.mark.skipif(not ALL, reason="SIMTOOL_SPARK_TESTS=all compares more settings")
@pytest.mark.parametrize("against", ["nothing", "others", "only"])
@pytest.mark.parametrize("options", MORE, ids=lambda options: json.dumps(options))
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_more_settings(
    spark: Any, tmp_path: Path, options: dict[str, Any], against: str, adaptive: str
) -> None:
    """Methods, policies, other documents, with and without adaptive execution."""
    from simtool_dedup.spark import dedup

    data = collection(6)
    others = None
    if against != "nothing":
        data, others = data[:200], data[200:]
        options = {**options, "against_only": against == "only"}
    expected = of_the_command(tmp_path, data, others, options)
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    other = None if others is None else frame(spark, others)
    out = dedup(frame(spark, data), against=other, work=tmp_path / "work", order="n", **options)
    check(out, expected, bool(options.get("refused")))

"""The result on Apache Spark is that of the command: one local session.

``test_spark_sail.py`` has more settings, on an engine that starts in a second. What is marked as slow
is left out by ``scripts/python-test --short``.
"""

# Promise (On a cluster): The results within groups (of a field, a site, a language), and with …
# Promise (On a cluster): The number of partitions and adaptive execution change nothing; 10⁵ equal
# pages, copies with an edit and pages of a template, and a chain of 10⁴ revisions, have the result
# of the command (by hand, with `SIMTOOL_LARGE_TESTS=1`)
# Promise (On a cluster): Spark gives the result of the command, also for a job that is stopped
# after each stage and goes on with other partitions; another job in its directory is refused
# Promise (On a cluster): Files are read as by the command, damage included, also from another file
# system of Hadoop (viewfs); settings are checked first, repeated ids are an error

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import MISSING, documents, need, read_jsonl, simtool, write_jsonl
from spark_cases import (
    COLUMNS,
    COUNTS,
    LARGE,
    check,
    collection,
    compare,
    frame,
    large_group,
    of_the_command,
    sorted_rows,
)

DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs" / "SPARK.md"


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
        # Compiling code for few rows takes longer than the rows.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "64")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


class Stopped(Exception):
    """A job was stopped after a stage."""


def test_a_small_job_has_the_result_of_the_command(spark: Any, tmp_path: Path) -> None:
    """With the usual method; at most a minute, the start of the Java machine included."""
    from simtool_dedup.spark import dedup

    data = collection(7)[:150]
    options: dict[str, Any] = {"keep_copies": 2}
    expected = of_the_command(tmp_path, data, None, options)
    out = dedup(frame(spark, data), work=tmp_path / "work", order="n", **options)
    assert out.counts["near"] > 0
    check(out, expected, False)


@pytest.mark.slow
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


@pytest.mark.slow
def test_components_against_other_documents(spark: Any, tmp_path: Path) -> None:
    """Fingerprints, components within groups, and documents that are never dropped."""
    from simtool_dedup.spark import dedup

    data = collection(4)
    data, others = data[:120], data[120:200]
    options = {"cluster": "components", "method": "simhash", "similarity": 0.7, "keep": "newest"}
    options["within"] = "field:group"
    expected = of_the_command(tmp_path, data, others, options)
    out = dedup(
        frame(spark, data),
        against=frame(spark, others),
        work=tmp_path / "work",
        order="n",
        date="date",
        **options,
    )
    check(out, expected, False)
    with pytest.raises(ValueError, match="refused=True"):
        out.refused  # noqa: B018


LARGE_ONLY = pytest.mark.skipif(
    "SIMTOOL_LARGE_TESTS" not in os.environ, reason="SIMTOOL_LARGE_TESTS is not set"
)


@LARGE_ONLY
@pytest.mark.slow
# Without adaptive execution, each of some twenty shuffles has all of these tasks.
@pytest.mark.parametrize(
    ("partitions", "adaptive"),
    [(1, "true"), (7, "true"), (1000, "true"), (10_000, "true"), (1, "false"), (7, "false")],
)
def test_partitions_do_not_change_the_result(
    spark: Any, tmp_path: Path, partitions: int, adaptive: str
) -> None:
    """However many, and whether Spark joins small ones (adaptive execution)."""
    for name, value in (("shuffle.partitions", partitions), ("adaptive.enabled", adaptive)):
        spark.conf.set(f"spark.sql.{name}", value)
    try:
        compare(spark, tmp_path, collection(9)[:150], None, {"refused": True})
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", 2)
        spark.conf.unset("spark.sql.adaptive.enabled")


@LARGE_ONLY
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "options"), LARGE, ids=json.dumps)
def test_large_groups(spark: Any, tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    """Of which each is compared with few others."""
    compare(spark, tmp_path, large_group(kind), None, {**options, "refused": kind == "chain"})


@pytest.mark.slow
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

    def language(row: dict[str, Any]) -> str:
        named = row.get("lang")
        return f"WARC-Identified-Content-Language: {named}\r\n" if named else ""

    records = [
        f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <{row['id']}>\r\n"
        f"WARC-Target-URI: {row['url']}\r\n{language(row)}Content-Length: {len((row['text'] or 'x').encode())}\r\n\r\n"
        f"{row['text'] or 'x'}\r\n\r\n"
        for row in data[half:]
    ]
    archive = tmp_path / "in" / "b.warc"
    archive.write_bytes("".join(records).encode())
    for path, format in ((lines, "jsonl"), (archive, "warc")):
        expected = tmp_path / f"out-{format}"
        same = ["--method=exact", "--within=language"]
        simtool("dedup", str(path), "-o", str(expected), *same, "--max-skipped=100%", "--no-page")
        out = tmp_path / f"spark-{format}"
        assert main([str(path), "-o", str(out), *same, "--format", format, "--quiet"]) == 0
        pairs = read_jsonl(expected / "duplicates.jsonl")
        found = spark.read.parquet(str(out / "duplicates")).collect()
        assert sorted_rows(found, COLUMNS) == sorted_rows(pairs, COLUMNS)
        summary = json.loads((expected / "summary.json").read_text())
        counts = spark.read.parquet(str(out / "summary")).collect()[0]
        assert {name: counts[name] for name in COUNTS} == {name: summary[name] for name in COUNTS}
    texts = read(spark, tmp_path / "in" / "*.jsonl", format="jsonl")
    last = max(texts.select("position", "skipped", "file").collect())
    assert last == (half, "bad_json", str(lines))
    # A file system of Hadoop, whose files are read by the engine.
    spark.conf.set("fs.viewfs.mounttable.far.link./in", lines.parent.as_uri())
    far = read(spark, "viewfs://far/in/*.warc", format="warc")
    assert {row["file"] for row in far.select("file").collect()} == {"viewfs://far/in/b.warc"}
    names = ["position", "url", "text", "language"]
    near = read(spark, archive, format="warc")
    assert sorted_rows(far.collect(), names) == sorted_rows(near.collect(), names)
    rows = read(spark, str(lines), format="text")
    assert rows.count() == half + 1
    repeated = frame(spark, [data[0], {**data[1], "id": data[0]["id"]}])
    with pytest.raises(ValueError, match="1 values occur more than once"):
        dedup(repeated, work=tmp_path / "repeated")


@pytest.mark.slow
def test_the_file_for_spark_submit(spark: Any, tmp_path: Path) -> None:
    """That of the documentation, as far as the flags."""
    import pyspark

    text = DOCUMENTATION.read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```python\n")]
    job = tmp_path / "job.py"
    job.write_text(next(block for block in blocks if block.startswith("from simtool_dedup.spark.__main__")))
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    words = [str(submit), "--master", "local[1]", str(job), "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: "), done.stdout


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
        ("within 'nothing'", {"within": "field:nothing"}),
        (r"within site: name the column \(url=\)", {"within": "site"}),
        ("expected field:NAME", {"within": "host"}),
        ("no input file", {"within": "source"}),
        ("URLs are not compared", {"method": "url then minhash"}),
        ("at least 1", {"keep_copies": 0}),
        ("keeps no copy", {"keep_copies": 2, "keep": "none"}),
        ("counts the copies within", {"keep_copies": 2, "against": given}),
        ("compared with itself", {"keep": "none", "against": given}),
    ]:
        with pytest.raises(ValueError, match=message):
            dedup(given, work=tmp_path / "work", **options)
    with pytest.raises(TypeError, match="with an index; on a cluster"):
        dedup(given, work=tmp_path / "work", against="seen")
    assert not (tmp_path / "work").exists()
    with pytest.raises(FileNotFoundError, match="nothing"):
        read(spark, str(tmp_path / "nothing"), format="wet")

"""The result on Apache Spark is that of the command: one local session.

``test_spark_sail.py`` has more settings, on an engine that starts in a second. What is marked as slow
is left out by ``scripts/python-test --short``.
"""

# Promise (On a cluster): The results within groups (of a field, a site, a language), and with …
# Promise (On a cluster): 10⁵ equal pages, copies with an edit and pages of a template, and a chain of
# 10⁴ revisions, have the result of the command (by hand, with `SIMTOOL_LARGE_TESTS=1`)
# Promise (On a cluster): Spark gives the result of the command, also for a job that is stopped
# after each stage and goes on with other partitions; another job in its directory is refused
# Promise (On a cluster): Files are read as by the command, damage included; settings are checked
# first, repeated ids are an error

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
from pages import DOCS, examples, fences, prepare
from run_page import run
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

PAGE = DOCS / "how-to" / "spark.md"


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
        # Java itself has it: other codecs need native libraries, which some systems cannot load.
        .config("spark.sql.parquet.compression.codec", "gzip")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_a_small_job_has_the_result_of_the_command(spark: Any, tmp_path: Path) -> None:
    """With the usual method; at most a minute, the start of the Java machine included."""
    from simtool_dedup.spark import dedup

    data = collection(7)[:150]
    options: dict[str, Any] = {"keep_copies": 2}
    expected = of_the_command(tmp_path, data, None, options)
    out = dedup(frame(spark, data), work=tmp_path / "work", order="n", **options)
    assert out.summary["near"] > 0
    check(out, expected, False)


class Stopped(Exception):
    """A job was stopped after a stage."""


@pytest.mark.slow
def test_a_job_that_stops_after_every_stage_has_the_result_of_the_command(
    spark: Any, tmp_path: Path
) -> None:
    """Other partitions after each stop; another job is refused."""
    from simtool_dedup.spark import dedup

    data = collection(3)
    options: dict[str, Any] = {"keep": "field:score,longest", "refused": True}
    expected = of_the_command(tmp_path, data, None, options)
    given, stops = frame(spark, data), 0

    def stop(line: str) -> None:
        raise Stopped(line)

    def call(**more: Any) -> Any:
        settings = {**options, "work": tmp_path / "work", "order": "n", "task_bytes": 1, **more}
        return dedup(given.repartition(stops % 4 + 2), **settings)

    while True:
        try:
            out = call(progress=stop)
            break
        except Stopped:
            stops += 1
    assert stops > 15
    check(out, expected, True)
    with pytest.raises(ValueError, match=r"another job \(settings .*--similarity=0.9"):
        call(similarity=0.9)
    with pytest.raises(ValueError, match=r"another job \(rows: columns .*'date'"):
        call(date="date")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "rows.json").write_text("mine")
    with pytest.raises(ValueError, match="has files that no job wrote"):
        call(work=tmp_path / "mine")
    assert (tmp_path / "mine" / "rows.json").read_text() == "mine"


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
    assert out.refused is None


def of_files(out: Path, paths: list[Path]) -> dict[str, Any]:
    """The counts of the command for files."""
    simtool("dedup", *map(str, paths), "-o", str(out), "--max-skipped=100%", "--no-page")
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return summary


LARGE_ONLY = pytest.mark.skipif(
    "SIMTOOL_LARGE_TESTS" not in os.environ, reason="SIMTOOL_LARGE_TESTS is not set"
)


@LARGE_ONLY
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "options"), LARGE, ids=json.dumps)
def test_large_groups(spark: Any, tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    """Of which each is compared with few others."""
    compare(spark, tmp_path, large_group(kind), None, {**options, "refused": kind == "chain"})


@pytest.mark.slow
def test_files_are_read_by_the_parsers_of_the_command(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
        words = [str(path), "-o", str(out), *same, "--format", format, "--write", "kept", "--quiet"]
        assert main(words) == 0
        assert main(words) == 0
        pairs = read_jsonl(expected / "duplicates.jsonl")
        found = spark.read.parquet(str(out / "duplicates")).collect()
        assert sorted_rows(found, COLUMNS) == sorted_rows(pairs, COLUMNS)
        kept = spark.read.parquet(str(out / "kept")).collect()
        summary = json.loads((expected / "summary.json").read_text())
        assert len(kept) == summary["kept"] + summary["skipped"]
        dropped = {row["id"] for row in pairs}
        assert not dropped & {row["id"] for row in kept}
        (tmp_path / f"other-{format}" / "duplicates").mkdir(parents=True)
        # Another job with the same output.
        assert main([*words, "--work", str(tmp_path / f"work-{format}")]) == 2
        assert "did not write it" in capsys.readouterr().err
        other = tmp_path / f"other-{format}"
        assert main([str(path), "-o", str(other), "--format", format, "--quiet"]) == 2
        assert "did not write it" in capsys.readouterr().err
    texts = read(spark, tmp_path / "in" / "*.jsonl", file_format="jsonl")
    assert [row["file"] for row in texts.where("skipped = 'bad_json'").collect()] == [str(lines)]
    assert texts.count() == half + 1
    both = dedup([lines, archive], spark=spark, work=tmp_path / "both", task_bytes=1)
    together = of_files(tmp_path / "together", [lines, archive])
    assert {name: both.summary[name] for name in COUNTS} == {name: together[name] for name in COUNTS}
    with pytest.raises(ValueError, match="order: has an effect on frames only"):
        dedup([lines], spark=spark, work=tmp_path / "ordered", order="n")
    repeated = frame(spark, [data[0], {**data[1], "id": data[0]["id"]}])
    with pytest.raises(ValueError, match="1 values occur more than once"):
        dedup(repeated, work=tmp_path / "repeated")


@pytest.mark.slow
def test_the_examples_of_the_page_run(spark: Any, tmp_path: Path) -> None:
    """With a directory of this machine in the place of the shared one."""
    prepare(tmp_path, need("polars"))
    found = run(PAGE, {"/shared/": f"{tmp_path}/"})
    assert found == {"run": len(examples(PAGE)), "skipped": 0, "missing": []}
    assert list((tmp_path / "kept").glob("*.parquet"))


@pytest.mark.slow
def test_the_file_for_spark_submit(spark: Any, tmp_path: Path) -> None:
    """That of the documentation, as far as the flags."""
    import pyspark

    blocks = [fence.text for fence in fences(PAGE)]
    job = tmp_path / "job.py"
    job.write_text(next(block for block in blocks if block.startswith("from simtool_dedup.spark.__main__")))
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    words = [str(submit), "--master", "local[1]", str(job), "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: "), done.stdout


def test_a_worker_that_lacks_something_is_named(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version, a directory that it does not see, too little memory; and the engine."""
    from simtool_dedup.spark import _preflight

    work = str(tmp_path / "work")
    _preflight.check_engine(spark)
    _preflight.check_workers(spark, work)
    for name, value, error, message in [
        ("__version__", "9.9", RuntimeError, "the workers have simtool-dedup .*, and the driver has 9.9"),
        ("claim_work", lambda _: "x", RuntimeError, "is not there.*choose a directory that all machines share"),
        ("LEAST_MEMORY", 1 << 60, MemoryError, "a task needs about"),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(_preflight, name, value)
            with pytest.raises(error, match=message):
                _preflight.check_workers(spark, f"{work}-{name}")
    with monkeypatch.context() as patch:
        patch.setattr("pyspark.__version__", "3.4.1")
        with pytest.raises(RuntimeError, match=r"PySpark 3.4.1: a job needs 3.5 or later"):
            _preflight.check_engine(spark)
    with monkeypatch.context() as patch:
        patch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(ImportError, match=r"pip install 'simtool-dedup\[spark\]'"):
            _preflight.check_driver()


def test_settings_are_checked_before_anything_is_read(spark: Any, tmp_path: Path) -> None:
    """With the names of the settings."""
    from simtool_dedup.spark import dedup, read

    given = frame(spark, documents(3))
    for message, options in [
        ("body", {"text": "body"}),
        ("similarity", {"similarity": 2.0}),
        ("with itself only", {"similarity": "containment:0.9", "against": given}),
        ("refused pairs", {"similarity": "containment:0.9", "method": "shingles:similarity=0.5"}),
        ("statistics", {"method": "simhash:weights=tf-idf"}),
        ("stars", {"cluster": "stars"}),
        ("no effect", {"method": "exact", "similarity": 0.5}),
        ("newest", {"keep": "newest"}),
        ("against", {"against_only": True}),
        ("no such column", {"keep": "field:nothing"}),
        ("no such column", {"within": "field:nothing"}),
        (r"within site: name the column \(url=\)", {"within": "site"}),
        ("host", {"within": "host"}),
        ("no input file", {"within": "source"}),
        (r"method url: name the column \(url=\)", {"method": "url then minhash"}),
        ("copies", {"keep_copies": 0}),
        ("copies", {"keep_copies": 2, "keep": "none"}),
        ("copies", {"keep_copies": 2, "against": given}),
        ("none", {"keep": "none", "against": given}),
    ]:
        with pytest.raises(ValueError, match=message):
            dedup(given, work=tmp_path / "work", **options)
    with pytest.raises(TypeError, match="against: expected a frame of Spark, or an index"):
        dedup(given, work=tmp_path / "work", against="seen")
    assert not (tmp_path / "work").exists()
    with pytest.raises(FileNotFoundError, match="nothing"):
        read(spark, str(tmp_path / "nothing"), file_format="warc")

"""Files: the command's job, and the command itself."""

# Promise (The Python package): Files give the output of the command, byte for byte, and its errors

from __future__ import annotations

import gzip
import itertools
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import COMMAND, HANGS, documents, read_jsonl, write_jsonl
from conftest import simtool as command


def test_files_give_the_output_of_the_command(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    path = write_jsonl(tmp_path / "docs.jsonl", docs)
    packed = tmp_path / "more.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()[:20_000].rpartition(b"\n")[0] + b"\n"))
    for name, data in [("one", str(path)), ("two", [path, packed])]:
        words = [str(data)] if isinstance(data, str) else list(map(str, data))
        command("dedup", *words, "-o", str(tmp_path / f"{name}-a"), "--write", "kept")
        found = simtool.dedup(data, files=simtool.FileOptions(tmp_path / f"{name}-b", write="kept"))
        for report in ("duplicates.jsonl", "clusters.jsonl", "skipped.jsonl", "page.html"):
            a, b = (tmp_path / f"{name}-{run}" / report for run in "ab")
            assert a.read_bytes() == b.read_bytes(), report
        # All documents of the second file are in the first one, so it has no file of its own.
        assert len(found.kept) == 1
        expected = read_jsonl(tmp_path / f"{name}-a" / "duplicates.jsonl")
        assert found.duplicates.to_pylist() == expected
        assert found.summary["kept"] == sum(
            len(gzip.open(kept).readlines() if kept.suffix == ".gz" else kept.read_text().splitlines())
            for kept in found.kept
        )
        assert found.explain(0).similarity == pytest.approx(expected[0]["similarity"])
        assert "similarity" in found._repr_html_() and "dropped" in repr(found)
        least = found.least_similar(2)
        assert least[0].similarity <= least[1].similarity


def test_a_temporary_output_is_removed(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    path = write_jsonl(tmp_path / "docs.jsonl", docs)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = simtool.dedup(path, temp_dir=scratch, refused=True)
    assert found.output is None and len(found.duplicates) > 0 and found.refused is not None
    assert len(found.clusters) > len(found.duplicates)
    with pytest.raises(ValueError, match="were not written"):
        found.kept
    with pytest.raises(AttributeError, match="write='ids'"):
        found.mask
    with pytest.raises(ValueError, match="call dedup again with similarity=0.9"):
        found.at(0.9)
    del found
    assert not list(scratch.iterdir())
    with pytest.raises(ValueError):
        simtool.dedup(path, temp_dir=scratch, similarity=7)
    assert not list(scratch.iterdir())


def test_errors_have_the_texts_of_the_command(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    path = write_jsonl(tmp_path / "docs.jsonl", docs)
    for kind, words in [
        (ValueError, {"similarity": 1.5}),
        (ValueError, {"method": "nope"}),
        (ValueError, {"keep": "nope"}),
        (ValueError, {"method": "exact", "similarity": 0.9}),
        (ValueError, {"text": "nope"}),
        (simtool.Error, {"memory": "1M"}),
    ]:
        flags = [
            f"--{'text-field' if name == 'text' else name}={value}" for name, value in words.items()
        ]
        told = command("dedup", str(path), "-o", str(tmp_path / "out"), *flags, code=2).stderr
        with pytest.raises(kind) as caught:
            simtool.dedup(path, files=simtool.FileOptions(tmp_path / "out"), **words)
        assert told.strip() == f"simtool: {caught.value}"
    with pytest.raises(FileNotFoundError):
        simtool.dedup(tmp_path / "missing.jsonl", files=simtool.FileOptions(tmp_path / "out"))
    with pytest.raises(TypeError, match="expected paths or an index"):
        simtool.dedup(path, against=[1])
    with pytest.raises(ValueError, match="files: has an effect on files only"):
        simtool.dedup(["x"], files=simtool.FileOptions(write="kept"))


def test_the_command_is_complete() -> None:
    assert command("--version").stdout.startswith("simtool ")
    assert "serve" in command("--help").stdout
    assert "simhash" in command("methods").stdout
    assert command("dedupp", code=2).stderr.startswith("simtool: there is no command dedupp")


def test_ctrl_c_ends_the_command_as_documented(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["dedup", "-o", str(out), "--method", "minhash", "--log", "json"]
    # A run that ends before it is interrupted is repeated with more documents.
    for repeats in (30 << doubled for doubled in itertools.count()):
        path = write_jsonl(tmp_path / "docs.jsonl", documents(3000) * repeats)
        running = subprocess.Popen([*COMMAND, *words, str(path)], stderr=subprocess.PIPE, text=True)
        index = out / ".simtool" / "segment-index"
        while running.poll() is None and not (index.exists() and index.stat().st_size):
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        told = running.communicate(timeout=HANGS)[1]
        if running.returncode:
            break
        shutil.rmtree(out)
    assert running.returncode == 130, told
    assert "the same command resumes" in told and "Traceback" not in told
    found = simtool.dedup(path, files=simtool.FileOptions(out), method="minhash")
    assert found.summary["seen"] == 3000 * repeats


def test_evaluation_of_rows_is_that_of_a_file(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    path = write_jsonl(tmp_path / "docs.jsonl", docs)
    pairs = [("d0", "d1", 0), ("d2", "d3", 0)]
    pairs += [(row["kept"], row["id"], 1) for row in simtool.dedup(docs).duplicates]

    def measured(data: Any) -> Any:
        found = simtool.evaluate(data, pairs=pairs, method=["simhash", "minhash"], draws=0)
        for method in found["methods"]:
            del method["seconds_per_document"]
        return found

    assert measured(docs) == measured(path)
    tuned = simtool.tune(docs, pairs=pairs, purpose="match", method="simhash")
    assert tuned["documents"] == len(docs) and tuned["to_find"] == len(pairs) - 2
    with pytest.raises(ValueError):
        simtool.evaluate(docs)

"""The steps of datatrove, in its executors and with several tasks."""

# Promise (The Python package): The steps of datatrove give the answers of the functions, in any number
# of tasks

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import documents, need, read_tasks
from simtool_dedup import FileOptions
from test_client import service

need("datatrove")

from datatrove.data import Document  # noqa: E402
from datatrove.executor import LocalPipelineExecutor  # noqa: E402
from datatrove.pipeline.readers import JsonlReader  # noqa: E402
from datatrove.pipeline.writers import JsonlWriter  # noqa: E402
from simtool_dedup.datatrove import Dedup, Fingerprint, Seen  # noqa: E402

TASKS = 3


def pages(directory: Path, count: int = 200) -> list[dict[str, Any]]:
    """Write documents to files, one for each task; the documents in the order of the tasks."""
    directory.mkdir()
    made = documents(count, 5)
    parts = [made[first::TASKS] for first in range(TASKS)]
    for number, part in enumerate(parts):
        with gzip.open(directory / f"{number}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(document) + "\n" for document in part)
    return [document for part in parts for document in part]


def execute(steps: list[Any], directory: Path, tasks: int = 1, **settings: Any) -> Any:
    """Run steps and return their statistics."""
    return LocalPipelineExecutor(steps, tasks=tasks, logging_dir=str(directory), **settings).run()


def ids(rows: Any) -> list[str]:
    return [row["id"] for row in rows]


@pytest.mark.parametrize(
    "options, names",
    [
        ({}, {}),
        ({"keep": "field:score", "similarity": 0.9}, {"keep": "field:metadata.score"}),
        ({"method": "url then minhash"}, {"url": "metadata.url", "date": "metadata.date"}),
    ],
)
def test_many_tasks_give_the_answer_of_one_dedup(
    tmp_path: Path, options: dict[str, Any], names: dict[str, str]
) -> None:
    """One executor writes in several tasks, one task deduplicates, several tasks read."""
    expected = simtool.dedup(pages(tmp_path / "pages"), **options)
    everything, out = tmp_path / "all", tmp_path / "out"
    execute([JsonlReader(str(tmp_path / "pages")), JsonlWriter(str(everything))], tmp_path / "log-1", TASKS)
    step = Dedup(everything, FileOptions(out, write=("kept", "removed")), **{**options, **names})
    [stats] = execute([step], tmp_path / "log-2").stats
    read = [JsonlReader(str(out / "kept")), JsonlWriter(str(tmp_path / "clean"))]
    execute(read, tmp_path / "log-3", TASKS)
    clean, removed = read_tasks(tmp_path / "clean"), read_tasks(out / "removed")
    assert ids(clean) == ids(expected.kept)
    assert ids(removed) == ids(expected.duplicates) and removed
    assert all({"url", "date", "score", "group"} <= row["metadata"].keys() for row in clean)
    counts = [stats[name].total for name in ("total", "forwarded", "dropped", "skipped")]
    assert counts == [200, len(clean), len(removed), 0]


def test_one_task_runs_all_steps_in_one_pipeline(tmp_path: Path) -> None:
    """Dedup reads all documents of the steps before it, so that they are written, and passes none on."""
    expected = simtool.dedup(pages(tmp_path / "pages"))
    everything, out = str(tmp_path / "all"), str(tmp_path / "out")
    found: list[Any] = []

    def collect(data: Any, rank: int = 0, world_size: int = 1) -> Any:
        found.extend(data)
        return iter(found)

    steps = [
        JsonlReader(str(tmp_path / "pages")),
        Fingerprint(),
        Fingerprint("minima", method="minhash"),
        JsonlWriter(everything),
        Dedup(everything, FileOptions(out, write="kept")),
        JsonlReader(f"{out}/kept"),
        collect,
    ]
    assert pickle.loads(pickle.dumps(steps[1])).key == "simhash"
    execute(steps, tmp_path / "log")
    assert [document.id for document in found] == ids(expected.kept)
    for document in found:
        assert document.metadata["simhash"] == simtool.simhash(document.text)
        sketch = bytes(simtool.fingerprint(document.text, method="minhash"))
        assert document.metadata["minima"] == sketch.hex()


def test_dedup_refuses_several_tasks(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="this executor has 4; give Dedup an executor of its own"):
        Dedup("pages", FileOptions(tmp_path)).run(iter([]), rank=1, world_size=4)


def test_a_task_that_asks_a_service_gives_the_answer_of_dedup(tmp_path: Path) -> None:
    made = pages(tmp_path / "pages")
    expected = simtool.dedup(made)
    with service(tmp_path / "seen") as (url, _):
        for name in ("first", "repeated"):
            directory = tmp_path / name
            step = Seen(url, exclusion_writer=JsonlWriter(str(directory / "old")), batch=30)
            steps = [JsonlReader(str(tmp_path / "pages")), step, JsonlWriter(str(directory / "new"))]
            stats = execute(steps, directory / "log").stats[1]
            assert ids(read_tasks(directory / "new")) == ids(expected.kept)
            old = [(row["id"], row["metadata"]) for row in read_tasks(directory / "old")]
            pairs = [(name, one["duplicate_of"], one["similarity"]) for name, one in old]
            assert pairs == [(row["id"], row["kept"], row["similarity"]) for row in expected.duplicates]
            assert (stats["total"].total, stats["dropped"].total) == (len(made), len(pairs))


def test_tasks_that_ask_a_service_keep_one_of_each(tmp_path: Path) -> None:
    """Whatever the order: texts that are equal or unlike, so that the number of copies is known."""
    (tmp_path / "pages").mkdir()
    texts = [document["text"] for document in documents(60, 7)]
    different = len(simtool.dedup(texts).kept)
    assert different < len(texts)
    for task in range(TASKS):
        rows = [{"id": f"{task}/{number}", "text": text} for number, text in enumerate(texts)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "pages" / f"{task}.jsonl").write_text(lines)
    with service(tmp_path / "seen") as (url, _):
        steps = [JsonlReader(str(tmp_path / "pages")), Seen(url, batch=7), JsonlWriter(str(tmp_path / "new"))]
        execute(steps, tmp_path / "log", TASKS, workers=TASKS)
    new = [row["text"] for row in read_tasks(tmp_path / "new")]
    assert len(simtool.dedup(new).kept) == len(new)
    both = simtool.dedup(texts, against=new)
    assert len(both.kept) == 0


def test_a_document_that_the_service_refuses_passes(tmp_path: Path) -> None:
    given = [Document("a text that has an id, and so is compared", "a"), Document("one without an id", "")]
    with service(tmp_path / "seen") as (url, _):
        step = Seen(url)
        assert list(step.run(iter(given))) == given
        assert step.stats["failed"].total == 1
        assert list(Seen(url).run(None)) == []

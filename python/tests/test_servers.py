"""Inputs on servers, and outputs in object stores."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import HANGS, documents, write_jsonl
from servers import Objects, serving
from simtool_dedup._simtool import ClusterJob, TaskDocuments, cluster_task


@pytest.fixture(scope="module")
def server() -> Iterator[Objects]:
    """A server; all buckets of the process are there."""
    with serving() as running, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", running.address)
        patch.setenv("AWS_ALLOW_HTTP", "true")
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        yield running


@pytest.fixture
def inputs(tmp_path: Path, server: Objects) -> Path:
    """Two files, which are objects too."""
    made = documents(300)
    (tmp_path / "in").mkdir()
    write_jsonl(tmp_path / "in" / "a.jsonl", made[:150])
    packed = write_jsonl(tmp_path / "b.jsonl", made[150:]).read_bytes()
    (tmp_path / "in" / "b.jsonl.gz").write_bytes(gzip.compress(packed))
    server.objects.clear()
    for path in (tmp_path / "in").iterdir():
        server.objects[f"bucket/in/{path.name}"] = path.read_bytes()
    return tmp_path / "in"


def pairs(result: Any) -> list[tuple[str, str, float]]:
    """The duplicates without the names of files."""
    found = result.duplicates.to_pylist()
    return [(pair["id"], pair["kept"], pair["similarity"]) for pair in found]


def test_inputs_are_read_from_servers(inputs: Path, server: Objects) -> None:
    local = simtool.dedup(inputs / "*")
    assert len(pairs(local)) > 30
    remote = simtool.dedup("s3://bucket/in/*")
    assert pairs(remote) == pairs(local)
    assert remote.explain(3).similarity == local.explain(3).similarity
    web = f"{server.address}/bucket/in/a.jsonl"
    assert pairs(simtool.dedup(web)) == pairs(simtool.dedup(inputs / "a.jsonl"))
    assert simtool.dedup(web, against="s3://bucket/in/").summary["kept"] == 0
    found = simtool.spans("s3://bucket/in/", min_length=20)
    assert len(found.ranges) == len(simtool.spans(inputs, min_length=20).ranges) > 0


@pytest.mark.parametrize("form", ["jsonl.zst", "parquet"])
def test_outputs_are_written_to_object_stores(
    inputs: Path, server: Objects, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs.parent)
    settings: dict[str, Any] = {
        "write": ("kept", "removed"),
        "write_format": form,
        "shard_size": 9000,
        "shard_name": "x-{number:03}",
        "source_field": "file",
    }
    local = simtool.dedup("in/*", files=simtool.FileOptions("out", **settings))
    names = [path.relative_to("out") for path in local.kept + local.removed]
    assert len(local.kept) > 2 and len(local.removed) > 2
    assert local.kept[:2] == [Path(f"out/kept/x-00{number}.{form}") for number in range(2)]
    out = f"s3://bucket/out {form}"
    remote = simtool.dedup("in/*", files=simtool.FileOptions(out, **settings))
    assert remote.output == out and remote.summary == local.summary
    assert remote.kept + remote.removed == [f"{out}/{name}" for name in names]
    for name in names:
        assert server.objects[f"bucket/out {form}/{name}"] == Path("out", name).read_bytes()
    assert "3" in remote._repr_html_() and out in repr(remote)
    with pytest.raises(ValueError, match="duplicates: the output is in an object store; download"):
        remote.duplicates
    again = simtool.dedup("in/*", files=simtool.FileOptions(out, **settings))
    assert again.kept == remote.kept


def test_a_later_call_reads_the_new_version(inputs: Path, server: Objects) -> None:
    assert simtool.dedup("s3://bucket/in/a.jsonl").summary["seen"] == 150
    made = write_jsonl(inputs / "a.jsonl", documents(40)).read_bytes()
    server.objects["bucket/in/a.jsonl"] = made
    again = simtool.dedup("s3://bucket/in/a.jsonl")
    assert again.summary["seen"] == 40
    assert pairs(again) == pairs(simtool.dedup(inputs / "a.jsonl"))


def test_other_addresses_are_refused(inputs: Path, server: Objects) -> None:
    with pytest.raises(ValueError, match="s3:/bucket/in: path objects have no addresses"):
        simtool.dedup(pathlib.PurePosixPath("s3://bucket/in"))
    with pytest.raises(ValueError, match="s3:/bucket/out: path objects have no addresses"):
        simtool.dedup(inputs, files=simtool.FileOptions(Path("s3://bucket/out")))
    with pytest.raises(ValueError, match="nothing can be written|http"):
        simtool.dedup(inputs, files=simtool.FileOptions(f"{server.address}/out"))
    with pytest.raises(FileNotFoundError, match="does not exist: 404"):
        simtool.dedup(f"{server.address}/bucket/missing.jsonl")


def test_ctrl_c_ends_a_request(inputs: Path, server: Objects) -> None:
    server.slow = "bucket/in/a.jsonl"
    server.asked.clear()

    def interrupt() -> None:
        server.asked.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        simtool.dedup("s3://bucket/in/*")
    # The server has not answered yet.
    assert not server.released.is_set()
    thread.join()
    server.released.set()
    server.slow = None
    # Later calls are not concerned.
    assert simtool.dedup("s3://bucket/in/*").summary["seen"] == 300


# Promise (The Python package): Calls at the same time have their own credentials on servers, and Ctrl-C
# ends the requests of one
def test_calls_have_their_own_credentials_and_interruption(
    inputs: Path, server: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.slow = "bucket/in/a.jsonl"
    server.released.clear()
    server.asked.clear()
    server.signatures.clear()
    seen: list[int] = []

    def other() -> None:
        seen.append(simtool.dedup("s3://bucket/in/a.jsonl").summary["seen"])

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "other")
    running = threading.Thread(target=other)
    running.start()
    server.asked.wait(HANGS)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "own")
    server.asked.clear()

    def interrupt() -> None:
        server.asked.wait(HANGS)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        simtool.dedup("s3://bucket/in/a.jsonl")
    thread.join()
    # The other call waits on, and reads the object.
    assert running.is_alive() and not seen
    server.released.set()
    running.join()
    server.slow = None
    assert seen == [150]
    keys = [signature.partition("Credential=")[2].split("/")[0] for _, signature in server.signatures]
    assert keys[:2] == ["other", "own"] and "own" not in keys[2:]


# Promise (On a cluster): The directory of a job may be in an object store
def test_a_job_leaves_its_files_in_an_object_store(inputs: Path, server: Objects) -> None:
    """Tasks in this process; each file of a task is an object, and a finished one is not run again."""
    work, paths = "s3://bucket/work", ["s3://bucket/in/a.jsonl", "s3://bucket/in/b.jsonl.gz"]
    words = ["dedup", "--keep=longest", "-o", "out", "--", *paths]
    request = json.dumps({"words": words, "task_bytes": 1})

    def run(stage: str, tasks: int) -> list[str]:
        assert json.loads(cluster_task(work, stage, 0))["found"] == 0
        return [cluster_task(work, stage, number) for number in range(tasks)]

    job = ClusterJob(work, request)
    assert job.tasks() == 2
    while (stage := job.next()) is not None:
        assert job.finish(stage[0], run(*stage)) == 1
    expected = simtool.dedup(inputs / "*", keep="longest")
    summary = dict(job.summary())
    names = ("seen", "kept", "dropped", "clusters", "refused")
    assert [summary[name] for name in names] == [expected.summary[name] for name in names]
    assert "bucket/work/tables/duplicates/000001.parquet" in server.objects
    kept = TaskDocuments.kept(work, 1)
    assert sum(len(batch) for batch in iter(kept.take, None)) > 0
    assert ClusterJob(work, request).next() is None
    server.objects["bucket/mine/notes.txt"] = b"mine"
    with pytest.raises(ValueError, match="has files that no job wrote"):
        ClusterJob("s3://bucket/mine", request)

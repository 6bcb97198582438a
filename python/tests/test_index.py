"""The index: the directory of the command."""

# Promise (The Python package): `Index` uses the directory of the command, with its layouts,
# payloads and parts of HTML pages, and gives its answers

from __future__ import annotations

import json
import multiprocessing
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import simtool_dedup as simtool
from conftest import HANGS, documents, need, rows, write_jsonl
from conftest import simtool as command

FORK = multiprocessing.get_context("fork")


def test_an_index_is_that_of_the_command(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    polars = need("polars")
    old, new = docs[:120], docs[120:]
    path = write_jsonl(tmp_path / "old.jsonl", old)
    more = write_jsonl(tmp_path / "new.jsonl", new)
    command("index", "build", str(tmp_path / "a"), str(path))
    built = simtool.Index.build(tmp_path / "b", polars.DataFrame(old))
    built.close()
    answers = []
    for name in ("a", "b"):
        with simtool.Index(tmp_path / name) as index:
            assert len(index) == 120 and "d5" in index and "d150" not in index
            answers.append(index.query(new))
            assert index.query(polars.DataFrame(new))["verdict"].to_list() == [
                answer["verdict"] for answer in answers[0]
            ]
        lines = command("index", "query", str(tmp_path / name), str(more)).stdout
        told = [json.loads(line) for line in lines.splitlines()]
        keys = ("id", "verdict", "matches")
        assert [{key: line[key] for key in keys} for line in told] == [
            {key: answer[key] for key in keys} for answer in answers[-1]
        ]
    assert answers[0] == answers[1]
    assert any(answer["verdict"] == "duplicate" for answer in answers[0])


def test_texts_are_added_and_removed(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    with pytest.raises(OSError, match="there is no such index"):
        simtool.Index(tmp_path / "seen")
    with simtool.Index(tmp_path / "seen", create=True) as seen:
        added = seen.add(docs[:3])
        assert [answer["verdict"] for answer in added] == ["new"] * 3
        assert all(answer["added"] for answer in added)
        assert seen.add(docs[:3])[0]["verdict"] == "unchanged"
        match = seen.query(docs[0]["text"])
        assert match["verdict"] == "duplicate" and match["matches"][0]["id"] == "d0"
        assert seen.query("")["verdict"] == "empty"
        assert seen.remove("d0") is True and seen.remove(["d0", "d1"]) == [False, True]
        assert len(seen) == 1 and seen.info()["method"].startswith("minhash")
        seen.compact()
    assert "closed" in repr(seen)
    with pytest.raises(ValueError, match="closed"):
        seen.query("x")
    with pytest.raises(ValueError, match="new index only"):
        simtool.Index(tmp_path / "seen", method="minhash")


def test_an_index_needs_ids(tmp_path: Path) -> None:
    with simtool.Index(tmp_path / "seen", create=True) as seen:
        with pytest.raises(ValueError, match="name the column of the ids"):
            seen.add(["a text without an id"])
        with pytest.raises(ValueError, match="row 1: has no id"):
            seen.add([{"id": "a", "text": "x"}, {"id": None, "text": "y"}])
        assert len(seen) == 0
        assert seen.add([{"id": "a", "text": None}, {"id": "b", "text": "one two"}])[0]["id"] == "b"


def test_rows_without_texts_are_left_out(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    polars = need("polars")
    frame = polars.DataFrame(
        {"text": [None, docs[0]["text"], None, docs[1]["text"]]}, schema={"text": polars.String}
    )
    with simtool.Index.build(tmp_path / "seen", docs) as seen:
        found = seen.query(frame)
        assert found["row"].to_list() == [1, 3]
        assert found["match"].to_list() == ["d0", "d1"]
        assert "id" not in seen.query([docs[0]["text"]])[0]


def test_files_are_added(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    path = write_jsonl(tmp_path / "docs.jsonl", docs)
    with simtool.Index(tmp_path / "seen", create=True, method="minhash") as seen:
        assert len(seen.add(path)) == len(docs)
        assert {answer["verdict"] for answer in seen.query(path)} == {"unchanged"}
    found = simtool.dedup(documents(50, 1), against=tmp_path / "seen")
    assert len(found.kept) == 0
    assert rows(found.duplicates)[0]["kept"].startswith("d")
    with pytest.raises(ValueError, match="not in the data"):
        found.explain(0)


def test_payload_layout_and_html_are_those_of_the_command(tmp_path: Path) -> None:
    polars = need("polars")
    body = documents(40, 3)
    page = "<html><body><nav>menu menu menu</nav><p>{}</p></body></html>"
    data = [{**document, "text": page.format(document["text"])} for document in body]
    old, new = data[:30], data[:5] + data[30:]
    files = [write_jsonl(tmp_path / f"{name}.jsonl", part) for name, part in (("o", old), ("n", new))]
    for payload in ("url", "date", "url,date"):
        at = tmp_path / payload.replace(",", "-")
        at.mkdir()
        words = ["--method", "simhash", "--layout", "compact", "--html", "visible", "--payload", payload]
        command("index", "build", str(at / "a"), str(files[0]), *words)
        frame = polars.DataFrame(old)
        simtool.Index.build(
            at / "b",
            frame,
            method="simhash",
            payload=payload.split(","),
            layout="compact",
            html="visible",
        ).close()
        facts, lists = [], []
        for name in ("a", "b"):
            told = command("index", "info", str(at / name), "--json").stdout
            facts.append(json.loads(told))
            lines = command("index", "query", str(at / name), str(files[1])).stdout.splitlines()
            with simtool.Index(at / name) as index:
                assert index.info()["layout"] == "compact" and index.info()["html"] == "visible"
                answers = index.query(new)
                nearest = index.query(polars.DataFrame(new))["payload"].to_list()
                single = index.query(data[0]["text"])["matches"]
            keys = ("id", "verdict", "matches")
            lists.append([{key: answer[key] for key in keys} for answer in answers])
            assert lists[-1] == [{key: json.loads(line)[key] for key in keys} for line in lines]
            firsts = [next(iter(answer["matches"]), {}) for answer in answers]
            assert nearest == [match.get("payload") for match in firsts]
            assert any(match.get("payload") for match in single)
        assert facts[0] == facts[1] and lists[0] == lists[1]
        command("index", "add", str(at / "a"), str(files[1]), "--payload", payload)
        with simtool.Index(at / "b") as index:
            index.add(polars.DataFrame(new), payload=payload)
        told = [command("index", "info", str(at / name), "--id", "d35").stdout for name in "ab"]
        assert told[0] == told[1] and "payload" in told[0].lower()


def test_settings_of_an_index_are_checked(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    bare = [{"id": document["id"], "text": document["text"]} for document in docs[:5]]
    for words, message in [
        ({"layout": "small", "method": "simhash"}, "layout .*expected fast, compact"),
        ({"html": "all"}, "html .*expected main, visible, markup"),
        ({"layout": "compact", "method": "minhash"}, "layout has no effect"),
        ({"payload": "text"}, "payload .*expected none, url, date, url,date"),
        ({"payload": "url"}, "payload: the data has no url"),
    ]:
        with pytest.raises(ValueError, match=message):
            simtool.Index.build(tmp_path / "new", bare, **words)
    usual = {"method": "simhash", "layout": "compact", "html": "markup"}
    with simtool.Index(tmp_path / "new", create=True, **usual) as index:
        assert index.info()["layout"] == "compact" and index.info()["html"] == "markup"
        assert index.query([]) == [] and index.add([], payload="url") == []
        with pytest.raises(ValueError, match="the data has no date"):
            index.add(bare, payload="date")
    with pytest.raises(ValueError, match="new index only"):
        simtool.Index(tmp_path / "new", html="visible")


def test_a_dump_is_removed_as_if_it_had_never_been_added(tmp_path: Path) -> None:
    one, two = documents(30, 4), documents(30, 4)
    both = [{**document, "id": f"again-{document['id']}"} for document in two]
    with simtool.Index.build(tmp_path / "seen", one, dump="one") as seen:
        assert seen.add(one, dump="one")[0]["verdict"] == "unchanged"
        answers = seen.add(both, dump="two")
        assert {answer["kept"] for answer in answers} == {False}
        assert all(answer["matches"][0]["similarity"] >= 0.8 for answer in answers)
        assert seen.info()["dumps"] == ["one", "two"]
        kept = sum(answer["kept"] for answer in seen.query(one))
        assert seen.remove_dump("one") == {"removed": 30, "kept_now": kept}
        assert len(seen) == 30 and seen.info()["dumps"] == ["two"]
        assert {answer["verdict"] for answer in seen.query(both)} == {"unchanged"}
        assert sum(answer["kept"] for answer in seen.query(both)) == kept
        with pytest.raises(ValueError, match="has no dump"):
            seen.remove_dump("one")


def test_another_text_of_an_id_is_a_further_document(tmp_path: Path) -> None:
    first, second = (document["text"] for document in documents(2, 5))
    with simtool.Index(tmp_path / "seen", create=True) as seen:
        assert seen.add([{"id": "a", "text": first}])[0]["verdict"] == "new"
        changed = seen.add([{"id": "a", "text": second}])[0]
        assert (changed["verdict"], changed["added"], len(seen)) == ("changed", True, 2)
        for text in (first, second):
            found = seen.query(text.upper())["matches"][0]
            assert (found["id"], found["similarity"]) == ("a", 1) and "shingles" not in found
        assert seen.remove("a") is True and len(seen) == 0


def test_similarities_are_exact_unless_signatures_are_stored(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(100)]
    text, near = " ".join(words), " ".join([*words, "more"])
    for signatures in (False, True):
        with simtool.Index(
            tmp_path / str(signatures), create=True, signatures=signatures
        ) as seen:
            seen.add([{"id": "a", "text": text}])
            found = seen.query(near)["matches"][0]
            assert seen.info()["estimated"] is signatures
            if signatures:
                assert found["estimated"] is True and "shingles" not in found
                assert found["similarity"] == pytest.approx(96 / 97, abs=0.07)
            else:
                assert found["shingles"] == [96, 97] and "estimated" not in found
                assert found["similarity"] == pytest.approx(96 / 97)


def test_a_better_copy_names_what_it_replaces(tmp_path: Path) -> None:
    text = " ".join(f"w{number}" for number in range(60))
    with simtool.Index(tmp_path / "seen", create=True, keep="longest") as seen:
        assert seen.info()["keep"] == "longest"
        rows = [
            {"id": "a", "text": text},
            {"id": "b", "text": text + " end"},
            {"id": "c", "text": text},
            {"id": "d", "text": text + " at the end"},
        ]
        added = seen.add(rows)
        assert [answer.get("replaces") for answer in added] == [None, "a", None, "b"]
        assert [answer["kept"] for answer in added] == [True, False, False, False]
    with pytest.raises(ValueError, match="have an effect on a new index"):
        simtool.Index(tmp_path / "seen", keep="first")
    with pytest.raises(ValueError, match='keep policy "nearest"'):
        simtool.Index(tmp_path / "other", create=True, keep="nearest")
    with simtool.Index(tmp_path / "fields", create=True, keep="field:score") as seen:
        with pytest.raises(ValueError, match="field \"score\", which is read from files"):
            seen.add([{"id": "a", "text": text, "score": 1}])
        path = tmp_path / "scored.jsonl"
        lines = [{"id": str(score), "text": text, "score": score} for score in (1, 3, 2)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        added = seen.add(str(path))
        assert [answer.get("replaces") for answer in added] == [None, "1", None]


def test_an_index_is_shared_in_a_process(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    """A cell of a notebook that opens an index runs again."""
    seen = simtool.Index(tmp_path / "seen", create=True)
    seen.add(docs[:3])
    (tmp_path / "x").mkdir()
    again = simtool.Index(tmp_path / "x" / ".." / "seen", create=True)
    again.add(docs[3:5])
    assert len(seen) == len(again) == 5 and "d4" in seen
    code = f"import simtool_dedup; simtool_dedup.Index({str(tmp_path / 'seen')!r})"
    seen.close()
    for _ in range(2):
        # Another process cannot open it before it is closed everywhere.
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (other.returncode == 0) == (repr(again).endswith("closed)")), other.stderr
        again.close()
    with simtool.Index(tmp_path / "seen") as writer:
        with pytest.raises(OSError, match="this process has the index open for changes"):
            simtool.Index(tmp_path / "seen", read_only=True)
        assert len(writer) == 5
    with simtool.Index(tmp_path / "seen", read_only=True) as first:
        with simtool.Index(tmp_path / "seen", read_only=True, similarity=0.9) as second:
            assert first.info()["similarity"] == 0.8 and second.info()["similarity"] == 0.9
        with pytest.raises(OSError, match="this process has the index open for reading only"):
            simtool.Index(tmp_path / "seen")


def test_an_index_that_was_replaced_is_not_shared(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    old = simtool.Index(tmp_path / "seen", create=True)
    old.add(docs[:3])
    shutil.rmtree(tmp_path / "seen")
    with simtool.Index(tmp_path / "seen", create=True) as new:
        assert len(new) == 0 and len(old) == 3
        new.add(docs[:1])
        with simtool.Index(tmp_path / "seen") as again:
            assert len(again) == 1


def test_a_child_does_not_share_the_index_of_its_parent(tmp_path: Path, docs: list[dict[str, Any]]) -> None:
    seen = simtool.Index(tmp_path / "seen", create=True)
    seen.add(docs[:3])
    queue = FORK.Queue()
    child = FORK.Process(target=opened_in_child, args=(tmp_path / "seen", queue))
    child.start()
    assert "another process has this index open" in queue.get(timeout=HANGS)
    child.join(HANGS)
    seen.close()


def opened_in_child(directory: Path, queue: Any) -> None:
    """Open an index in a child process."""
    try:
        simtool.Index(directory)
        queue.put("opened")
    except OSError as error:
        queue.put(str(error))

"""Repeated lines and stretches: the answer for rows is that of the command."""

# Promise (The Python package): `lines`, `spans` and `decontaminate` of rows have the ranges,
# places, frequent passages, items and changed texts of the command, for every type, chunks, options
# and hostile texts

from __future__ import annotations

import random
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import simtool_dedup as simtool
from conftest import need, read_jsonl, rows, write_jsonl
from conftest import simtool as command
from frames import HOSTILE, KINDS, frame
from simtool_dedup._flags import flags

ACTIONS = ["mark", "cut", "mask", "drop-document:0.4"]
LENGTHS = ("min_length", "min_item", "answer_within")
WRITTEN = {"cut": "cut", "mask": "masked", "drop-document:0.4": "kept"}


def repetitive(count: int, seed: int) -> list[dict[str, Any]]:
    """Documents with repeated lines and stretches, of one, two and three bytes a character."""
    source = random.Random(seed)
    words = ["home", "über", "日本", "cat", "ño", "x"]
    lines = [" ".join(source.choices(words, k=source.randrange(1, 9))) for _ in range(12)]
    made = []
    for number in range(count):
        text = source.choice(["\n", ". ", "\r\n"]).join(source.choices(lines, k=source.randrange(0, 6)))
        made.append(
            {
                "id": f"d{number}",
                "text": text,
                "url": f"http://{number % 3}.example/",
                "date": None,
                "score": 1.0,
                "group": "a",
            }
        )
    return made


@st.composite
def collections(draw: Any) -> list[dict[str, Any]]:
    """Documents with repetitions, hostile texts and missing texts."""
    made = repetitive(draw(st.integers(0, 20)), draw(st.integers(0, 1000)))
    for text in draw(st.lists(st.none() | HOSTILE, max_size=6)):
        place = draw(st.integers(0, len(made)))
        made.insert(place, {"id": f"h{len(made)}", "text": text, "url": None, "date": None})
        made[place] |= {"score": 0.0, "group": "b"}
    return made


LINES = st.fixed_dictionaries(
    {"action": st.sampled_from(ACTIONS)},
    optional={
        "unit": st.sampled_from(["line", "run:10", "paragraph", "sentences:2"]),
        "normalize": st.sampled_from(["none", "case,spaces", "digits"]),
        "above": st.integers(1, 3),
        "within": st.sampled_from(["site", "5-documents"]),
        "keep": st.sampled_from(["first", "none"]),
        "threads": st.integers(1, 2),
    },
)
SPANS = st.fixed_dictionaries(
    {"action": st.sampled_from(ACTIONS)},
    optional={
        "min_length": st.sampled_from(["4w", "6w", "16b"]),
        "keep": st.sampled_from(["first", "none"]),
        "snap": st.sampled_from(["word", "sentence", "line", "none"]),
        "tokenizer": st.sampled_from(["ascii", "unicode", "chars"]),
        "threads": st.integers(1, 2),
    },
)


def expected_ranges(out: Path) -> list[dict[str, Any]]:
    """The ranges in the report of the command."""
    found = []
    for document in read_jsonl(out / "spans.jsonl"):
        for span in document["ranges"]:
            kept = span.get("kept_at") or {}
            found.append(
                {
                    "id": document["id"],
                    "text_start": span["start"],
                    "text_end": span["end"],
                    "copies": span.get("copies", span.get("count")),
                    "why": span["why"],
                    "words": span.get("words"),
                    "kept": kept.get("id"),
                    "kept_text_start": kept.get("text_start"),
                    "kept_text_end": kept.get("text_end"),
                }
            )
    return found


def check(name: str, data: list[dict[str, Any]], options: dict[str, Any], given_frame: Any) -> None:
    """Compare the result for rows with that of the command."""
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = write_jsonl(Path(directory) / "docs.jsonl", data)
        out = Path(directory) / "out"
        code = 3 if any(document["text"] is None for document in data) else 0
        command(name, *flags(options), "-o", str(out), "--no-page", "--", str(path), code=code)
        found = getattr(simtool, name)(given_frame, **options)
        expected = expected_ranges(out)
        ranges = rows(found.ranges)
        assert [{key: row[key] for key in expected[0]} for row in ranges] == expected if expected else not ranges
        texts = [document["text"] for document in data]
        for row in ranges:
            for before in ("", "kept_"):
                if row[before + "row"] is None:
                    continue
                text = texts[row[before + "row"]]
                start, end = row[before + "char_start"], row[before + "char_end"]
                places = slice(row[before + "text_start"], row[before + "text_end"])
                assert text[start:end].encode() == text.encode()[places]
        listed = read_jsonl(out / ("boilerplate.jsonl" if name == "lines" else "repeated.jsonl"))
        names = ("text", "count", "removed", "documents", "bytes")
        repeated = [{key: row[key] for key in names} for row in rows(found.repeated)]
        assert repeated == [{key: row[key] for key in names} for row in listed]
        kept = data
        if options["action"] != "mark" and data:
            kept = read_jsonl(next((out / WRITTEN[options["action"]]).rglob("docs.jsonl")))
        assert [(row["id"], row["text"]) for row in rows(found.kept)] == [
            (row["id"], row["text"]) for row in kept
        ]
        assert sum(map(bool, found.mask)) == len(kept)
        assert len(rows(found.skipped)) == len(read_jsonl(out / "skipped.jsonl"))
        for key in ("seen", "kept", "dropped", "skipped", "changed", "repeated_bytes"):
            assert found.summary[key] == read_jsonl_object(out / "summary.json")[key]
        if ranges:
            assert found.explain(0).text and "<mark>" in found._repr_html_()


def read_jsonl_object(path: Path) -> dict[str, Any]:
    """A JSON object over several lines."""
    import json

    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(collections(), st.tuples(st.just("lines"), LINES) | st.tuples(st.just("spans"), SPANS), st.data())
def test_rows_have_the_answer_of_the_command(
    data: list[dict[str, Any]], call: tuple[str, dict[str, Any]], draw: Any
) -> None:
    kind = draw.draw(st.sampled_from(KINDS))
    text_type = draw.draw(st.sampled_from(["string", "large_string", "string_view", "binary"]))
    made = frame(kind, data, draw.draw(st.integers(1, 9)), text_type if kind == "pyarrow" else "string")
    if kind == "pyarrow" and text_type == "binary" and data:
        # Texts come back as bytes.
        found = getattr(simtool, call[0])(made, **{**call[1], "action": "cut"})
        plain = getattr(simtool, call[0])(data, **{**call[1], "action": "cut"})
        decoded = [None if row["text"] is None else row["text"].decode() for row in rows(found.kept)]
        assert decoded == [row["text"] for row in plain.kept]
        return
    check(call[0], data, call[1], made)


PAGES = ["Menu | Home\nA first day at the sea", "Menu | Home\nA second day", None, "Nothing else"]
CUT = ["Menu | Home\nA first day at the sea", "A second day", None, "Nothing else"]


@pytest.mark.filterwarnings("ignore:text")
def test_the_type_that_came_in_comes_back() -> None:
    polars, pandas, pyarrow = need("polars"), need("pandas"), need("pyarrow")
    frame = pandas.DataFrame({"n": [1, 2, 3, 4], "body": PAGES}, index=[7, 7, 8, 9])
    found = simtool.lines(frame, text="body", unit="line", action="cut").kept
    assert list(found.index) == [7, 7, 8, 9] and list(found.columns) == ["n", "body"]
    assert [text if isinstance(text, str) else None for text in found["body"]] == CUT
    assert frame["body"].tolist()[1] == PAGES[1], "the frame of the caller stays as it is"
    series = simtool.lines(pandas.Series(PAGES, name="s"), unit="line", action="cut").kept
    assert series.name == "s" and series[1] == CUT[1]
    assert simtool.lines(polars.Series("s", PAGES), unit="line", action="cut").kept.to_list() == CUT
    assert simtool.lines(polars.Series("s", PAGES), unit="line", action="cut").kept.name == "s"
    lazy = polars.LazyFrame({"text": PAGES, "n": [1, 2, 3, 4]})
    assert simtool.lines(lazy, unit="line", action="cut").kept.collect()["text"].to_list() == CUT
    chunks = pyarrow.chunked_array([PAGES[:1], PAGES[1:]])
    assert simtool.lines(chunks, unit="line", action="cut").kept.to_pylist() == CUT
    views = pyarrow.table({"text": pyarrow.array(PAGES).cast(pyarrow.string_view())})
    kept = simtool.lines(views, unit="line", action="cut").kept
    assert kept.column("text").to_pylist() == CUT and kept.schema == views.schema
    nested = [{"a": {"b": page, "c": 1}} for page in PAGES]
    changed = simtool.lines(nested, text="a.b", unit="line", action="cut").kept
    assert [row["a"]["b"] for row in changed] == CUT and changed[1]["a"]["c"] == 1
    assert nested[1]["a"]["b"] == PAGES[1]
    with pytest.raises(ValueError, match="nested column"):
        simtool.lines(pyarrow.table({"a": nested_column(pyarrow)}), text="a.b", action="cut")
    assert len(simtool.lines(pyarrow.table({"a": nested_column(pyarrow)}), text="a.b", unit="line").ranges) == 1


def nested_column(pyarrow: Any) -> Any:
    """A column of structures."""
    return pyarrow.array([{"b": page} for page in PAGES])


@pytest.mark.filterwarnings("ignore:text")
def test_datasets_and_relations() -> None:
    datasets = need("datasets")
    given_rows = datasets.Dataset.from_dict({"text": PAGES, "n": [1, 2, 3, 4]})
    kept = simtool.lines(given_rows.select([0, 1, 3]), unit="line", action="cut").kept
    assert kept["text"][:] == [CUT[0], CUT[1], CUT[3]] and kept.column_names == ["text", "n"]
    duckdb = need("duckdb")
    relation = duckdb.sql("SELECT 'Menu | Home' || chr(10) || i AS text FROM range(3) t(i)")
    kept = simtool.lines(relation, unit="line", action="cut").kept
    assert [row[0] for row in kept.fetchall()] == ["Menu | Home\n0", "1", "2"]


def test_rows_to_compare_with() -> None:
    words = [f"w{number}" for number in range(60)]
    old = [{"id": "ü-1", "text": "über " + " ".join(words)}]
    new = [{"id": 5, "text": "new words before " + " ".join(words)}, {"id": 6, "text": "other"}]
    found = simtool.spans(new, against=old, action="cut")
    row = found.ranges[0]
    assert (row["id"], row["kept"], row["kept_row"], row["why"]) == (5, "ü-1", 0, "against")
    assert old[0]["text"][row["kept_char_start"] : row["kept_char_end"]] == " ".join(words)
    assert (row["kept_text_start"], row["kept_char_start"]) == (6, 5)
    assert found.kept[0] == {"id": 5, "text": "new words before "}
    shown = found.explain(0)
    assert shown.kept == " ".join(words) and shown.ids == (5, "ü-1")
    assert shown.text == " ".join(words) and shown.before.endswith("before ")
    with pytest.raises(IndexError):
        found.explain(1)
    listed = simtool.lines(["a b", "a b", "c"], unit="line").repeated
    assert simtool.lines(["a b", "c"], unit="line", remove_listed=listed, action="cut").kept == ["c"]
    assert simtool.lines(["a b", "c"], unit="line", remove_listed=["c"], action="cut").kept == ["a b"]


def test_parts_of_evaluation_sets(tmp_path: Path) -> None:
    polars = need("polars")
    source = random.Random(3)
    words = [f"wört{number}" for number in range(400)]
    items = [" ".join(source.choices(words, k=source.randrange(5, 30))) for _ in range(20)]
    answers = [f"{words[number]} {words[number + 1]}" for number in range(len(items))]
    data = []
    for number in range(60):
        parts = [" ".join(source.choices(words, k=source.randrange(30)))]
        if number % 3 == 0:
            chosen = source.randrange(len(items))
            parts.insert(source.randrange(2), f"{items[chosen].upper()} {answers[chosen]}")
        data.append({"id": f"d{number}", "text": " ".join(parts)})
    reference = [
        {"key": number, "question": item, "answer": answer}
        for number, (item, answer) in enumerate(zip(items, answers))
    ]
    path, evals = write_jsonl(tmp_path / "d.jsonl", data), write_jsonl(tmp_path / "e.jsonl", reference)
    for number, options in enumerate(
        [
            {},
            {"edited": 0.25},
            {"edited": "none"},
            {"profile": "gpt3"},
            {"min_length": 6, "min_item": 3, "around": 4},
            {"profile": "olmo"},
            {"min_length": 5, "min_share": 0.5, "answer": "answer", "answer_within": 400},
        ]
    ):
        out = tmp_path / f"out{number}"
        named = options | {name: f"{options[name]}w" for name in LENGTHS if name in options}
        command(
            "decontaminate", str(path), "-o", str(out), "--reference", str(evals), "--action", "cut",
            "--reference-field", "question", *flags(named),
        )
        files = simtool.decontaminate(path, evals, reference_text="question", action="cut", **options)
        frames = simtool.decontaminate(
            polars.DataFrame(data), polars.DataFrame(reference), reference_text="question", action="cut",
            **options,
        )
        plain = simtool.decontaminate(data, reference, reference_text="question", action="cut", **options)
        expected = [span for line in read_jsonl(out / "spans.jsonl") for span in line["ranges"]]
        assert expected
        for found in (rows(frames.ranges), plain.ranges, files.ranges.to_pylist()):
            assert [(row["text_start"], row["text_end"], row["ngrams"], row["words"]) for row in found] == [
                (span["start"], span["end"], span["ngrams"], span["words"]) for span in expected
            ]
        for row in plain.ranges:
            start, end = row["item_char_start"], row["item_char_end"]
            shared = items[row["item_row"]][start:end].lower()
            text = data[row["row"]]["text"]
            assert shared in text[row["char_start"] : row["char_end"]].lower()
            assert text[row["char_start"] :].encode() == text.encode()[row["text_start"] :]
        assert [row["text"] for row in rows(frames.kept)] == [row["text"] for row in plain.kept]
        written = read_jsonl(next((out / "cut").rglob("d.jsonl")))
        assert [row["text"] for row in plain.kept] == [row["text"] for row in written]
        listed = read_jsonl(out / "items.jsonl")
        for found in (rows(frames.items), plain.items, files.items.to_pylist()):
            for name in ("words", "ngrams", "found", "share", "documents", "too_short", "ignored", "edited"):
                assert [row[name] for row in found] == [line[name] for line in listed], name
            best = [None if line["best"] is None else line["best"]["id"] for line in listed]
            assert [row["best"] for row in found] == best
        assert plain.items[0]["share"] > 0.3 and plain.explain(0).kept
        with pytest.raises(AttributeError):
            plain.repeated
    with pytest.raises(ValueError, match="read the file as a frame"):
        simtool.decontaminate(data, evals)
    with pytest.raises(ValueError, match="expected one column"):
        simtool.decontaminate(data, reference, reference_text=["a", "b"])
    with pytest.raises(AttributeError):
        simtool.lines(data).items


def test_settings_without_effect_are_errors(tmp_path: Path) -> None:
    for options, message in [
        ({"files": simtool.FileOptions(tmp_path / "out")}, "files: has an effect on files only"),
        ({"min_words": 3}, "min-words"),
        ({"action": "destroy"}, "action"),
        ({"against": tmp_path}, "against: the data are rows"),
        ({"within": "nobody"}, "within"),
    ]:
        with pytest.raises(ValueError, match=message):
            simtool.lines(["a"], **options)
    with pytest.raises(ValueError, match="min"):
        simtool.spans(["a"], min_length="0w")
    with pytest.raises(ValueError, match="surrogate"):
        simtool.spans(["\ud800"])


def test_files(tmp_path: Path) -> None:
    data = repetitive(60, 5)
    path = write_jsonl(tmp_path / "docs.jsonl", data)
    for name, options in [("lines", {"unit": "line"}), ("spans", {"min_length": "5w"})]:
        a, b = tmp_path / f"{name}-a", tmp_path / f"{name}-b"
        words = flags(options | {"action": "cut", "output": a})
        command(name, str(path), *words)
        found = getattr(simtool, name)(path, files=simtool.FileOptions(b), action="cut", **options)
        written = sorted(file.relative_to(a) for file in a.rglob("*") if file.is_file())
        assert written == sorted(file.relative_to(b) for file in b.rglob("*") if file.is_file())
        for file in written:
            if file.name != "timings.json":
                assert (a / file).read_bytes() == (b / file).read_bytes(), file
        expected = expected_ranges(a)
        ranges = found.ranges.to_pylist()
        assert [{key: row[key] for key in expected[0]} for row in ranges] == expected
        assert ranges[0]["file"] == str(path) and len(found.repeated) > 0
        assert found.kept == [*(b / "cut").rglob("docs.jsonl")] and "dropped" in repr(found)
        scratch = tmp_path / f"{name}-scratch"
        scratch.mkdir()
        temporary = getattr(simtool, name)(path, temp_dir=scratch, **options)
        assert temporary.output is None and len(temporary.ranges) == len(expected)
        with pytest.raises(ValueError, match="were not written"):
            temporary.kept
        del temporary
        assert not list(scratch.iterdir())
        cut = simtool.FileOptions(
            tmp_path / f"{name}-c", write_format="jsonl", shard_size=2000, source_field="file"
        )
        shards = getattr(simtool, name)(path, files=cut, action="cut", **options)
        assert [shard.name for shard in shards.kept[:2]] == ["part-00000.jsonl", "part-00001.jsonl"]
        records = [record for shard in shards.kept for record in read_jsonl(shard)]
        assert records == [{**record, "file": str(path)} for record in read_jsonl(found.kept[0])]

"""Documents, and the comparison of a result on a cluster with that of the command."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from conftest import documents, read_jsonl, simtool, write_jsonl
from simtool_dedup._flags import flags

COLUMNS = ["id", "kept", "similarity", "shared", "shingles", "method", "distance", "estimate"]
COUNTS = ["seen", "kept", "dropped", "skipped", "clusters", "largest_cluster", "refused"]
COUNTS += ["dropped_against", "text_bytes"]
SCHEMA = "n long, id string, text string, url string, date string, score double, group string, lang string"


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
        row["lang"] = ("en", "eng_Latn", "de", None)[number % 4]
        made.append({**row, "date": f"2023-01-{number % 28 + 1:02}", "score": number % 5 / 2})
    source.shuffle(made)
    return made


LARGE = [
    (kind, options)
    for kind in ("equal", "copies", "template", "chain")
    for options in ({}, {"cluster": "components"})
    # The command looks at all pairs of these pages to connect them, which takes minutes.
    if kind in ("equal", "chain") or not options
]
"""Large groups that the command finishes, and options."""


def large_group(kind: str) -> list[dict[str, Any]]:
    """10⁵ equal pages, 10⁵ copies with an edit, 10⁵ pages of a template, a chain of 10⁴ revisions."""
    pages = 10_000 if kind == "chain" else 100_000
    template = " ".join(f"s{n}" for n in range(100))
    data = documents(pages)
    for number, document in enumerate(data):
        document["text"] = {
            "equal": template,
            "copies": f"{template} u{number}",
            "template": " ".join([template, *(f"p{number}x{n}" for n in range(24))]),
            "chain": " ".join(f"k{n}" for n in range(number * 4, number * 4 + 80)),
        }[kind]
    if kind == "chain":
        random.Random(1).shuffle(data)
    return data


def frame(session: Any, data: list[dict[str, Any]]) -> Any:
    """The documents as a frame with a column of their order."""
    names = ["id", "text", "url", "date", "score", "group", "lang"]
    rows = [(number, *(document.get(name) for name in names)) for number, document in enumerate(data)]
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


def compare(
    session: Any,
    directory: Path,
    data: list[dict[str, Any]],
    others: list[dict[str, Any]] | None,
    options: dict[str, Any],
) -> None:
    """Compare one job with the command."""
    from simtool_dedup.spark import dedup

    of_command = {name: value for name, value in options.items() if name not in ("task_bytes", "most_rows")}
    expected = of_the_command(directory, data, others, of_command)
    other = None if others is None else frame(session, others)
    columns = {"url": "url", "date": "date", "order": "n"}
    work = directory / "work"
    out = dedup(frame(session, data), against=other, work=work, **columns, **options)
    check(out, expected, bool(options.get("refused")))


def check(out: Any, expected: Path, listed: bool) -> None:
    """Compare frames and counts with the reports of the command."""
    summary = json.loads((expected / "summary.json").read_text())
    counts = {name: out.summary[name] for name in COUNTS}
    assert counts == {name: summary[name] for name in COUNTS}
    assert out.summary["short"] == summary["flagged"]["short"]
    assert out.summary["empty"] == summary["flagged"]["empty"]
    names = [*COLUMNS, "cluster_size", "newest"]
    pairs = read_jsonl(expected / "duplicates.jsonl")
    assert sorted_rows(out.duplicates.collect(), names) == sorted_rows(pairs, names)
    members = [
        {"cluster": cluster["kept"] or cluster["members"][0]["id"], "size": cluster["size"], **member}
        for cluster in read_jsonl(expected / "clusters.jsonl")
        for member in cluster["members"]
    ]
    names = ["cluster", "size", "id", "kept"]
    assert sorted_rows(out.clusters.collect(), names) == sorted_rows(members, names)
    # The command does not list the documents that it could not read.
    skipped = {row["id"] for row in read_jsonl(expected / "skipped.jsonl")}
    assert {row["id"] for row in out.skipped.collect()} == skipped
    kept = {row["id"] for row in out.kept.select("id").collect()}
    assert kept - skipped == {row["id"] for row in read_jsonl(expected / "kept.jsonl")}
    if listed:
        pairs = read_jsonl(expected / "refused.jsonl")
        assert sorted_rows(out.refused.collect(), COLUMNS) == sorted_rows(pairs, COLUMNS)
